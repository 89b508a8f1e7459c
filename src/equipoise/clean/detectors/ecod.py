"""ECOD: how far in the tails of every feature an item lies.

The larger of the sums over features of minus the log of the left, of the right, and of the
longer tail's probability under the empirical distribution. It has no hyper-parameters.
"""

from dataclasses import dataclass
from typing import ClassVar

from equipoise.arrays import Floats
from equipoise.clean.detectors._outliers import OutlierDetector, PyodModel


@dataclass(frozen=True)
class Ecod(OutlierDetector):
    """Outliers by empirical cumulative distributions."""

    name: ClassVar[str] = "ecod"
    title: ClassVar[str] = "ECOD"
    references: ClassVar[tuple[str, ...]] = ("li2022", "zhao2019")

    def model(self, rows: Floats, seed: int) -> PyodModel:
        """Empirical distributions of all features."""
        from pyod.models.ecod import ECOD

        del rows, seed
        made: PyodModel = ECOD()
        return made
