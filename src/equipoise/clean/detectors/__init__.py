"""Detectors, one file a family; `DETECTORS` is the only list of them."""

from equipoise.clean.detector import CatalogueDetector
from equipoise.clean.detectors.duplicates import DUPLICATES
from equipoise.clean.detectors.label_errors import LABEL_ERRORS
from equipoise.clean.detectors.outliers import OUTLIERS
from equipoise.clean.detectors.selfclean import SELFCLEAN

DETECTORS: tuple[CatalogueDetector, ...] = (  # every one with its usual hyper-parameters
    *OUTLIERS,
    SELFCLEAN[0],
    *DUPLICATES,
    *LABEL_ERRORS,
    SELFCLEAN[1],
)

__all__ = ["DETECTORS"]
