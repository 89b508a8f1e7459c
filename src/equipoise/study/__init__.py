"""Evaluation: models against a truth that experts disagree about, always paired."""

from equipoise.study.blocks import LABELS
from equipoise.study.result import MACRO, Correlation, Difference, Evaluation, Row
from equipoise.study.scoring import Settings, evaluate
from equipoise.study.thresholds import Thresholds, Tuning, UsedThreshold

__all__ = [
    "LABELS",
    "MACRO",
    "Correlation",
    "Difference",
    "Evaluation",
    "Row",
    "Settings",
    "Thresholds",
    "Tuning",
    "UsedThreshold",
    "evaluate",
]
