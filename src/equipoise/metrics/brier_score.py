r"""Brier score: squared distance to what the annotators said, averaged over their votes.

.. math:: \mathrm{BS}(p, y) = \sum_k (p_k - [y = k])^2 \in [0, 2]

Label distributions: every vote is scored and the scores are averaged (``soft="expected"``).
``soft="plug_in"`` scores the distribution itself, :math:`\sum_k (p_k - \pi_k)^2`, which is
smaller by the votes' own spread and, with few votes, too large by their noise. Proper: nobody
does better than by saying what they believe.

References
----------
Brier (1950), *Verification of forecasts expressed in terms of probability*.

Examples
--------
>>> brier_score([[0.5, 0.5]], [[0.5, 0.5]])
0.5
>>> brier_score([[0.5, 0.5]], [[0.5, 0.5]], soft="plug_in")
0.0
"""

from typing import Any

import numpy as np

from equipoise.arrays import Floats, PerItem
from equipoise.metrics._distributions import over_classes, weighted_mean
from equipoise.metrics._metric import Metric
from equipoise.metrics._rules import Rule, rule_metric, rule_per_item


def brier_score(
    y_true: Any, probabilities: Any, *, soft: str = "expected", weights: Any = None
) -> float:
    """Mean squared distance between predicted and observed classes; lower is better.

    Parameters
    ----------
    y_true
        Class codes or label distributions (items, classes); for two classes also one number
        in [0, 1] per item.
    probabilities
        Predicted distributions (items, classes), or of the second of two classes (items,).
    soft
        ``expected`` scores every vote, ``plug_in`` the label distribution.
    weights
        Importance weights (items,), or `Copies` of counts.
    """
    return weighted_mean(brier_score_per_item(y_true, probabilities, soft=soft), weights)


def brier_score_per_item(y_true: Any, probabilities: Any, *, soft: str = "expected") -> PerItem:
    """Brier score of every item, shape (items,).

    Examples
    --------
    >>> brier_score_per_item([0, 1], [[1.0, 0.0], [1.0, 0.0]])
    array([0., 2.])
    """
    return rule_per_item(RULE, y_true, probabilities, soft=soft)


def metric(*, soft: str = "expected") -> Metric:
    """Brier score for the engine."""
    return rule_metric(RULE, soft)


def _losses(predicted: Floats) -> Floats:
    """Score if the truth were each class, shape (items, classes)."""
    square = (predicted**2).sum(axis=1, keepdims=True)
    return np.asarray(np.maximum(square - 2 * predicted + 1, 0.0))


def _distance(labels: Floats, predicted: Floats) -> Floats:
    return np.asarray(((over_classes(predicted, labels) - labels) ** 2).sum(axis=0))


RULE = Rule(
    name="brier_score",
    title="Brier score",
    definition="Squared distance between predicted probabilities and the class, summed over "
    "classes.",
    bounds=(0.0, 2.0),
    losses=_losses,
    distance=_distance,
    references=("brier1950",),
)
