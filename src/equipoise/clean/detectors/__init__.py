"""Detectors, one file each; `DETECTORS` is the only list of them."""

from equipoise.clean.detector import Detector
from equipoise.clean.detectors.embedding_distance import EmbeddingDistance
from equipoise.clean.detectors.selfclean_label_errors import SelfCleanLabelErrors
from equipoise.clean.detectors.selfclean_off_topic import SelfCleanOffTopic

DETECTORS: tuple[Detector, ...] = (  # every one with its usual hyper-parameters
    SelfCleanOffTopic(),
    EmbeddingDistance(),
    SelfCleanLabelErrors(),
)

__all__ = ["DETECTORS"]
