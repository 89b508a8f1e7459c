"""Isolation Forest: how few random cuts set an item apart.

Trees cut a random feature at a random place; the score falls with the mean depth at which an
item is alone (100 trees of at most 256 items).
"""

from dataclasses import dataclass
from typing import ClassVar

from equipoise.arrays import Floats
from equipoise.clean.detectors._outliers import OutlierDetector, PyodModel


@dataclass(frozen=True)
class IsolationForest(OutlierDetector):
    """Isolation Forest.

    Attributes
    ----------
    trees
        How many.
    max_samples
        Items per tree, at most.
    """

    name: ClassVar[str] = "isolation_forest"
    title: ClassVar[str] = "Isolation Forest"
    seeded: ClassVar[bool] = True
    references: ClassVar[tuple[str, ...]] = ("liu2008", "zhao2019")
    trees: int = 100
    max_samples: int = 256

    def model(self, rows: Floats, seed: int) -> PyodModel:
        """Trees of random cuts."""
        from pyod.models.iforest import IForest

        made: PyodModel = IForest(
            n_estimators=self.trees,
            max_samples=min(self.max_samples, len(rows)),
            random_state=seed,
        )
        return made
