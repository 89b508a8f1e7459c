"""Detectors, one file a family; `DETECTORS` is the only list of them."""

from equipoise.clean.detector import Detector
from equipoise.clean.detectors.duplicates import EmbeddingDistance, PHash, Ssim
from equipoise.clean.detectors.label_errors import (
    RANKINGS,
    Bhn,
    ConfidentLearning,
    Fine,
    KnnDisagreement,
    NoiseRank,
)
from equipoise.clean.detectors.outliers import OUTLIERS
from equipoise.clean.detectors.selfclean import SelfCleanLabelErrors, SelfCleanOffTopic

DETECTORS: tuple[Detector, ...] = (  # every one with its usual hyper-parameters
    *OUTLIERS,
    SelfCleanOffTopic(),
    PHash(),
    Ssim(),
    EmbeddingDistance(),
    *(ConfidentLearning(ranking=ranking) for ranking in RANKINGS),
    NoiseRank(),
    Fine(),
    Bhn(),
    KnnDisagreement(),
    SelfCleanLabelErrors(),
)

__all__ = ["DETECTORS"]
