"""Cumulative masses down the thresholds, from which both curves are read off."""

from typing import Any, NamedTuple

import numpy as np

from equipoise.arrays import Floats, InputError
from equipoise.metrics._arguments import checked_labels, checked_weights
from equipoise.metrics._ranking import run_starts, sort_items


class Cumulative(NamedTuple):
    """Number of items and positive mass at or above each distinct threshold, falling."""

    threshold: Floats
    number: Floats
    mass: Floats


def cumulative(y_true: Any, y_score: Any, weights: Any) -> Cumulative:
    """Walk down the distinct scores."""
    labels, scores = checked_labels(y_true, y_score)
    if scores.ndim == 2:
        raise InputError(
            "y_score", f"{scores.shape[1]} classes", "one score per item",
            "draw one curve per class",
        )  # fmt: skip
    weight = checked_weights(weights, len(labels)).each
    order = sort_items(scores)
    start = run_starts(order)
    return Cumulative(
        threshold=scores[order.items][start],
        number=np.cumsum(np.add.reduceat(weight[order.items], start)),
        mass=np.cumsum(np.add.reduceat((weight * labels)[order.items], start)),
    )


def ratio(part: Floats, whole: float) -> Floats:
    """Divide, nan when there is nothing to divide by."""
    return part / whole if whole > 0 else np.full_like(part, np.nan)
