"""Detectors, one file a family; `DETECTORS` is the only list of them."""

from equipoise.clean.detector import Detector
from equipoise.clean.detectors.classifier_based import (
    Bhn,
    ConfidentLearningJoint,
    ConfidentLearningMargin,
    ConfidentLearningSelfConfidence,
)
from equipoise.clean.detectors.duplicates import EmbeddingDistance, PHash, Ssim
from equipoise.clean.detectors.label_geometry import Fine, KnnDisagreement, NoiseRank
from equipoise.clean.detectors.outliers import (
    AutoEncoder,
    DeepIsolationForest,
    DeepSvdd,
    Ecod,
    Hbos,
    IsolationForest,
    KnnDistance,
    Vae,
)
from equipoise.clean.detectors.selfclean import SelfCleanLabelErrors, SelfCleanOffTopic

DETECTORS: tuple[Detector, ...] = (  # every one with its usual hyper-parameters
    KnnDistance(),
    IsolationForest(),
    Hbos(),
    Ecod(),
    AutoEncoder(),
    Vae(),
    DeepSvdd(),
    DeepIsolationForest(),
    SelfCleanOffTopic(),
    PHash(),
    Ssim(),
    EmbeddingDistance(),
    ConfidentLearningSelfConfidence(),
    ConfidentLearningMargin(),
    ConfidentLearningJoint(),
    NoiseRank(),
    Fine(),
    Bhn(),
    KnnDisagreement(),
    SelfCleanLabelErrors(),
)

__all__ = ["DETECTORS"]
