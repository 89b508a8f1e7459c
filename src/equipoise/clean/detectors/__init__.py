"""Detectors, one file a family; `DETECTORS` is the only list of them."""

from equipoise.clean.detector import Detector
from equipoise.clean.detectors.bhn import Bhn
from equipoise.clean.detectors.confident_learning import (
    ConfidentLearningJoint,
    ConfidentLearningMargin,
    ConfidentLearningSelfConfidence,
)
from equipoise.clean.detectors.embedding_distance import EmbeddingDistance
from equipoise.clean.detectors.fine import Fine
from equipoise.clean.detectors.knn_disagreement import KnnDisagreement
from equipoise.clean.detectors.noise_rank import NoiseRank
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
from equipoise.clean.detectors.phash import PHash
from equipoise.clean.detectors.selfclean import SelfCleanLabelErrors, SelfCleanOffTopic
from equipoise.clean.detectors.ssim import Ssim

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
