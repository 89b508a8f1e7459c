"""Detectors, one file each; `DETECTORS` is the only list of them."""

from equipoise.clean.detector import Detector
from equipoise.clean.detectors.autoencoder import AutoEncoder
from equipoise.clean.detectors.bhn import Bhn
from equipoise.clean.detectors.confident_learning_joint import ConfidentLearningJoint
from equipoise.clean.detectors.confident_learning_margin import ConfidentLearningMargin
from equipoise.clean.detectors.confident_learning_self_confidence import (
    ConfidentLearningSelfConfidence,
)
from equipoise.clean.detectors.deep_isolation_forest import DeepIsolationForest
from equipoise.clean.detectors.deep_svdd import DeepSvdd
from equipoise.clean.detectors.ecod import Ecod
from equipoise.clean.detectors.embedding_distance import EmbeddingDistance
from equipoise.clean.detectors.fine import Fine
from equipoise.clean.detectors.hbos import Hbos
from equipoise.clean.detectors.isolation_forest import IsolationForest
from equipoise.clean.detectors.knn_disagreement import KnnDisagreement
from equipoise.clean.detectors.knn_distance import KnnDistance
from equipoise.clean.detectors.noise_rank import NoiseRank
from equipoise.clean.detectors.phash import PHash
from equipoise.clean.detectors.selfclean_label_errors import SelfCleanLabelErrors
from equipoise.clean.detectors.selfclean_off_topic import SelfCleanOffTopic
from equipoise.clean.detectors.ssim import Ssim
from equipoise.clean.detectors.vae import Vae

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
