"""Deep Isolation Forest: isolation forests on the outputs of random networks.

50 networks that are never trained, 6 trees each; the score is the mean of the trees' scores,
weighted with how far from its cuts an item lies.
"""

from dataclasses import dataclass
from typing import ClassVar

from equipoise.arrays import Floats
from equipoise.clean.detectors._outliers import OutlierDetector, PyodModel


@dataclass(frozen=True)
class DeepIsolationForest(OutlierDetector):
    """Deep Isolation Forest.

    Attributes
    ----------
    networks
        How many random networks.
    trees
        Trees per network.
    dimensions
        Outputs of a network.
    max_samples
        Items per tree, at most.
    """

    name: ClassVar[str] = "deep_isolation_forest"
    title: ClassVar[str] = "Deep Isolation Forest"
    packages: ClassVar[tuple[str, ...]] = ("pyod", "torch")
    seeded: ClassVar[bool] = True
    references: ClassVar[tuple[str, ...]] = ("xu2023", "zhao2019")
    networks: int = 50
    trees: int = 6
    dimensions: int = 20
    max_samples: int = 256

    def model(self, rows: Floats, seed: int) -> PyodModel:
        """Random networks, on the processor."""
        from pyod.models.dif import DIF

        made: PyodModel = DIF(
            n_ensemble=self.networks,
            n_estimators=self.trees,
            representation_dim=self.dimensions,
            max_samples=min(self.max_samples, len(rows)),
            random_state=seed,
            device="cpu",
        )
        return made
