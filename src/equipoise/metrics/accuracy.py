r"""Accuracy: how often an annotator would have said what the model decides.

.. math:: \mathrm{acc} = \frac1n \sum_i \pi_{i,\,d_i}

The decision d is the most probable class, the first of equals. With hard labels it is the
usual accuracy; with label distributions :math:`\pi` the chance that a random vote agrees.

Examples
--------
>>> accuracy([[1, 0], [0.25, 0.75]], [[0.9, 0.1], [0.6, 0.4]])
0.625
"""

from typing import Any

import numpy as np

from equipoise.arrays import Floats, PerItem, PerReplicate
from equipoise.metrics._decisions import (
    confusion_reduce,
    decide,
    decided_influence,
    decided_loss,
    mean_cost,
    plain_confusion,
)
from equipoise.metrics._distributions import checked_distributions
from equipoise.metrics._metric import Metric


def accuracy(y_true: Any, probabilities: Any, *, weights: Any = None) -> float:
    """Share of votes that agree with the decision.

    Parameters
    ----------
    y_true
        Class codes or label distributions (items, classes).
    probabilities
        Predicted distributions (items, classes), or of the second of two classes (items,).
    weights
        Importance weights (items,), or `Copies` of counts.
    """
    return float(_finish(plain_confusion(y_true, probabilities, weights))[0])


def accuracy_per_item(y_true: Any, probabilities: Any) -> PerItem:
    """Share of each item's votes that agree with the decision, shape (items,).

    Examples
    --------
    >>> accuracy_per_item([[1, 0], [0.25, 0.75]], [[0.9, 0.1], [0.6, 0.4]])
    array([1.  , 0.25])
    """
    labels, predicted = checked_distributions(y_true, probabilities)
    return decided_loss(labels.T, decide(predicted), np.eye(labels.shape[1]))


def metric() -> Metric:
    """Accuracy for the engine."""
    return Metric(
        name="accuracy",
        title="accuracy",
        soft_title="soft accuracy",
        definition="Chance that a vote is the class with the largest predicted probability.",
        family="decisions",
        prepare=decide,
        reduce=confusion_reduce,
        finish=_finish,
        needs="probabilities",
        labels="distribution",
        influence=decided_influence(np.eye),
        per_item=accuracy_per_item,
        topic="Decisions",
        decides=True,
    )


def _finish(table: Floats) -> PerReplicate:
    return mean_cost(table, np.eye(len(table)))
