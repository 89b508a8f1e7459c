r"""Curves down the thresholds of a score, labels hard or soft.

When every item scoring at least t is called positive, with :math:`n_+ = \sum p_i` and
:math:`n_- = \sum (1 - p_i)`:

`roc_curve`: false and true positive rates, from (0, 0) to (1, 1). The area under it by
trapezoids is AUROC in the form ``trapezoid``,

.. math:: \mathrm{TPR}(t) = \frac{\sum_i p_i [s_i \ge t]}{n_+}, \quad
    \mathrm{FPR}(t) = \frac{\sum_i (1 - p_i) [s_i \ge t]}{n_-}

`precision_recall_curve`: expected precision and recall. As in scikit-learn the points run from
the lowest threshold up, and end at precision 1, recall 0. The step sum over it is average
precision in the form ``printed``,

.. math:: P(t) = \frac{\sum_i p_i [s_i \ge t]}{\sum_i [s_i \ge t]}, \quad
    R(t) = \frac{\sum_i p_i [s_i \ge t]}{n_+}

Examples
--------
>>> false, true, threshold = roc_curve([1, 0.5, 0], [0.9, 0.5, 0.1])
>>> true
array([0.   , 0.667, 1.   , 1.   ])
>>> precision, recall, threshold = precision_recall_curve([1, 0.5, 0], [0.9, 0.5, 0.1])
>>> precision
array([0.5 , 0.75, 1.  , 1.  ])
"""

from typing import Any, NamedTuple

import numpy as np

from equipoise.metrics._arguments import checked_scores, checked_weights
from equipoise.metrics._ranking import run_starts, sort_items
from equipoise.types.arrays import Floats


def roc_curve(
    y_true: Any, y_score: Any, *, weights: Any = None
) -> tuple[Floats, Floats, Floats]:
    """False positive rates, true positive rates and thresholds, falling.

    A rate is nan when its class has no mass. The first threshold is infinite, as in
    scikit-learn, and no point is dropped.
    """
    seen = _cumulative(y_true, y_score, weights)
    negative = seen.number - seen.mass
    return (
        _ratio(np.append(0.0, negative), negative[-1]),
        _ratio(np.append(0.0, seen.mass), seen.mass[-1]),
        np.append(np.inf, seen.threshold),
    )


def precision_recall_curve(
    y_true: Any, y_score: Any, *, weights: Any = None
) -> tuple[Floats, Floats, Floats]:
    """Precisions, recalls and thresholds, rising; recall is nan without positives."""
    seen = _cumulative(y_true, y_score, weights)
    precision = np.divide(
        seen.mass, seen.number, out=np.full_like(seen.mass, np.nan), where=seen.number > 0
    )
    recall = _ratio(seen.mass, seen.mass[-1])
    return (
        np.append(precision[::-1], 1.0),
        np.append(recall[::-1], 0.0),
        seen.threshold[::-1].copy(),
    )


class _Cumulative(NamedTuple):
    """Number of items and positive mass at or above each distinct threshold, falling."""

    threshold: Floats
    number: Floats
    mass: Floats


def _cumulative(y_true: Any, y_score: Any, weights: Any) -> _Cumulative:
    """Walk down the distinct scores."""
    labels, scores = checked_scores(y_true, y_score, do="draw one curve per class")
    weight = checked_weights(weights, len(labels)).each
    order = sort_items(scores)
    start = run_starts(order)
    return _Cumulative(
        threshold=scores[order.items][start],
        number=np.cumsum(np.add.reduceat(weight[order.items], start)),
        mass=np.cumsum(np.add.reduceat((weight * labels)[order.items], start)),
    )


def _ratio(part: Floats, whole: float) -> Floats:
    """Divide, nan when there is nothing to divide by."""
    return part / whole if whole > 0 else np.full_like(part, np.nan)
