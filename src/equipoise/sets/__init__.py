"""Prediction sets where annotators disagree: they hold what a new reader would say."""

from equipoise.sets.combining import combine_p_values, drawn_labels, p_values
from equipoise.sets.evaluation import SetsWanted, sets_finding, sets_report
from equipoise.sets.rules import (
    Calibration,
    PredictionSets,
    PValueRule,
    SetRule,
    calibrate,
    calibrate_p_values,
)
from equipoise.sets.scores import (
    conformal_threshold,
    conformity,
    expected_conformity,
    smallest_sets,
)

__all__ = [
    "Calibration",
    "PValueRule",
    "PredictionSets",
    "SetRule",
    "SetsWanted",
    "calibrate",
    "calibrate_p_values",
    "combine_p_values",
    "conformal_threshold",
    "conformity",
    "drawn_labels",
    "expected_conformity",
    "p_values",
    "sets_finding",
    "sets_report",
    "smallest_sets",
]


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
