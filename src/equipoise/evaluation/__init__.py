"""Evaluation: models against a truth that experts disagree about, always paired."""

from equipoise.evaluation.blocks import LABELS
from equipoise.evaluation.result import MACRO, Correlation, Difference, Evaluation, Row
from equipoise.evaluation.scoring import Settings, evaluate
from equipoise.evaluation.thresholds import Thresholds, Tuning, UsedThreshold

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
