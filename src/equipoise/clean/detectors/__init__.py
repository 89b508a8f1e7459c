"""Detectors, one file each; `DETECTORS` is the only list of them."""

from equipoise.clean.detector import Detector

DETECTORS: tuple[Detector, ...] = ()  # every one with its usual hyper-parameters

__all__ = ["DETECTORS"]
