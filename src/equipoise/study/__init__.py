"""Evaluation: models against a truth that experts disagree about, always paired."""

from equipoise.study.blocks import LABELS
from equipoise.study.result import MACRO, Difference, Evaluation, Row
from equipoise.study.study import Settings, Study, evaluate
from equipoise.study.thresholds import Thresholds, Tuning, UsedThreshold

__all__ = [
    "LABELS",
    "MACRO",
    "Difference",
    "Evaluation",
    "Row",
    "Settings",
    "Study",
    "Thresholds",
    "Tuning",
    "UsedThreshold",
    "evaluate",
]
