"""Detectors, one file each; `DETECTORS` is the only list of them."""

from equipoise.clean.detector import Detector
from equipoise.clean.detectors.autoencoder import AutoEncoder
from equipoise.clean.detectors.deep_isolation_forest import DeepIsolationForest
from equipoise.clean.detectors.deep_svdd import DeepSvdd
from equipoise.clean.detectors.ecod import Ecod
from equipoise.clean.detectors.hbos import Hbos
from equipoise.clean.detectors.isolation_forest import IsolationForest
from equipoise.clean.detectors.knn_distance import KnnDistance
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
)

__all__ = ["DETECTORS"]
