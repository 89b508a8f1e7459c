"""Cleaning: which images do not belong, which are there twice, and which labels are wrong.

A detector scores the items (or pairs) of a `Collection`; what comes out are `Predictions`.
"""

from equipoise.clean.collection import Collection, ImageSource, Pairs, pair_name, split_pair
from equipoise.clean.detector import TASKS, Detector
from equipoise.clean.detectors import DETECTORS

__all__ = [
    "DETECTORS",
    "TASKS",
    "Collection",
    "Detector",
    "ImageSource",
    "Pairs",
    "pair_name",
    "split_pair",
]
