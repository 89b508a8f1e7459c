r"""Mean absolute error: how many grades the decision is off.

.. math:: \mathrm{MAE} = \frac1n \sum_i \sum_k \pi_{ik}\, |k - d_i|

In grades, from 0 to K - 1. The decision d is the most probable grade, the first of equals; with
label distributions :math:`\pi` every vote is compared and the distances are averaged. The
grades are the columns, lowest first.

Examples
--------
>>> mean_absolute_error([0, 2], [[0.9, 0.1, 0.0], [0.6, 0.4, 0.0]])
1.0
"""

import math
from typing import Any

from equipoise.arrays import Floats, PerItem, PerReplicate
from equipoise.metrics._decisions import (
    confusion_reduce,
    decide,
    decided_influence,
    decided_loss,
    grades_apart,
    mean_cost,
    plain_confusion,
)
from equipoise.metrics._distributions import checked_distributions
from equipoise.metrics._metric import Metric


def mean_absolute_error(y_true: Any, probabilities: Any, *, weights: Any = None) -> float:
    """Mean distance in grades between decision and votes; lower is better.

    Parameters
    ----------
    y_true
        Class codes or label distributions (items, classes), the lowest grade first.
    probabilities
        Predicted distributions (items, classes), or of the second of two classes (items,).
    weights
        Importance weights (items,), or `Copies` of counts.
    """
    return float(_finish(plain_confusion(y_true, probabilities, weights))[0])


def mean_absolute_error_per_item(y_true: Any, probabilities: Any) -> PerItem:
    """Distance in grades of every item, shape (items,).

    Examples
    --------
    >>> mean_absolute_error_per_item([[0.5, 0, 0.5], [0, 0, 1]], [[0, 1, 0], [1, 0, 0]])
    array([1., 2.])
    """
    labels, predicted = checked_distributions(y_true, probabilities)
    return decided_loss(labels.T, decide(predicted), grades_apart(labels.shape[1]))


def metric() -> Metric:
    """Mean absolute error for the engine."""
    return Metric(
        name="mean_absolute_error",
        title="mean absolute error",
        soft_title="soft mean absolute error",
        definition="Distance in grades between the vote and the most probable grade.",
        family="decisions",
        prepare=decide,
        reduce=confusion_reduce,
        finish=_finish,
        better="lower",
        bounds=(0.0, math.inf),
        needs="probabilities",
        ordered=True,
        labels="distribution",
        influence=decided_influence(grades_apart),
        per_item=mean_absolute_error_per_item,
        topic="Decisions",
        decides=True,
    )


def _finish(table: Floats) -> PerReplicate:
    return mean_cost(table, grades_apart(len(table)))
