r"""HBOS: how rare an item's value of each feature is.

.. math:: s_i = -\sum_f \log_2 (h_f(x_{if}) + \alpha)

with :math:`h_f` a histogram of feature f with 10 bins of equal width, up to a constant.
"""

from dataclasses import dataclass
from typing import ClassVar

from equipoise.arrays import Floats
from equipoise.clean.detectors._outliers import OutlierDetector, PyodModel


@dataclass(frozen=True)
class Hbos(OutlierDetector):
    """Histogram-based outlier score.

    Attributes
    ----------
    bins
        Bins per feature.
    alpha
        Added to the height of each bin.
    tolerance
        How far beyond the outermost bins a value may lie, in widths of a bin.
    """

    name: ClassVar[str] = "hbos"
    title: ClassVar[str] = "HBOS"
    references: ClassVar[tuple[str, ...]] = ("goldstein2012", "zhao2019")
    bins: int = 10
    alpha: float = 0.1
    tolerance: float = 0.5

    def model(self, rows: Floats, seed: int) -> PyodModel:
        """One histogram per feature."""
        from pyod.models.hbos import HBOS

        del rows, seed
        made: PyodModel = HBOS(n_bins=self.bins, alpha=self.alpha, tol=self.tolerance)
        return made
