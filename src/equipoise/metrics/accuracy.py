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

from equipoise.arrays import Floats, PerReplicate
from equipoise.metrics._arguments import checked_weights
from equipoise.metrics._decisions import confusion, confusion_reduce, decide
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
    labels, predicted = checked_distributions(y_true, probabilities)
    each = checked_weights(weights, len(labels)).each
    return float(_finish(confusion(labels, decide(predicted), each)[..., None])[0])


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
    )


def _finish(table: Floats) -> PerReplicate:
    total = table.sum(axis=(0, 1))
    right = np.einsum("kkr->r", table)
    return np.where(total > 0, right / np.where(total > 0, total, 1.0), np.nan)
