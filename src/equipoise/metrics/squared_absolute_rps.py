r"""Squared absolute RPS: the squared mean distance of cumulative probabilities, for grades.

.. math::
    \mathrm{saRPS}(p, y) = \Bigl(\frac{1}{K - 1} \sum_{i<K} |P_i - [y \le i]|\Bigr)^2 \in [0, 1]

For one vote it is the square of the expected distance :math:`E_p|X - y| / (K - 1)`.

**Not proper.** A model that says what it believes can be beaten by one that does not: with the
truth (.2, .6, .2) the expected score is .124 for saying the truth and .100 for saying
(0, 1, 0). Rank models by the ranked probability score unless this one must be reproduced.

The normalisation :math:`1/(K-1)` stands inside the square, so that the score varies in [0, 1];
printed outside of it, the score would reach K - 1. Label distributions: every vote is scored
and the scores are averaged (``soft="expected"``); ``plug_in`` takes the cumulative label
distribution in place of :math:`[y \le i]`.

References
----------
Galdran (2023), *Performance metrics for probabilistic ordinal classifiers*.

Examples
--------
>>> squared_absolute_rps([[0.2, 0.6, 0.2]], [[0.2, 0.6, 0.2]])
0.124
>>> squared_absolute_rps([[0.2, 0.6, 0.2]], [[0, 1, 0]])
0.100
"""

from typing import Any

import numpy as np

from equipoise.arrays import Floats, PerItem
from equipoise.metrics._distributions import over_classes, weighted_mean
from equipoise.metrics._metric import Metric
from equipoise.metrics._rules import Rule, rule_metric, rule_per_item


def squared_absolute_rps(
    y_true: Any, probabilities: Any, *, soft: str = "expected", weights: Any = None
) -> float:
    """Mean squared absolute RPS; lower is better, but it is not proper.

    Parameters
    ----------
    y_true
        Class codes or label distributions (items, classes), the lowest grade first.
    probabilities
        Predicted distributions (items, classes), or of the second of two classes (items,).
    soft
        ``expected`` scores every vote, ``plug_in`` the label distribution.
    weights
        Importance weights (items,), or `Copies` of counts.
    """
    each = squared_absolute_rps_per_item(y_true, probabilities, soft=soft)
    return weighted_mean(each, weights)


def squared_absolute_rps_per_item(
    y_true: Any, probabilities: Any, *, soft: str = "expected"
) -> PerItem:
    """Squared absolute RPS of every item, shape (items,).

    Examples
    --------
    >>> squared_absolute_rps_per_item([0, 1], [[0, 1, 0], [0.3, 0.4, 0.3]])
    array([0.25, 0.09])
    """
    return rule_per_item(RULE, y_true, probabilities, soft=soft)


def metric(*, soft: str = "expected") -> Metric:
    """Squared absolute RPS for the engine."""
    return rule_metric(RULE, soft)


def _losses(predicted: Floats) -> Floats:
    """Score if the truth were each class, shape (items, classes)."""
    classes = predicted.shape[1]
    below = np.cumsum(predicted, axis=1)[:, :-1]
    reached = np.tril(np.ones((classes, classes)))[:-1]  # (cut, class): class <= cut
    return np.stack([np.abs(below - one).mean(axis=1) ** 2 for one in reached.T], axis=1)


def _distance(labels: Floats, predicted: Floats) -> Floats:
    gap = np.cumsum(over_classes(predicted, labels) - labels, axis=0)[:-1]
    return np.asarray(np.abs(gap).mean(axis=0) ** 2)


RULE = Rule(
    name="squared_absolute_rps",
    title="squared absolute RPS",
    definition="Squared mean distance between the predicted chance of at most each grade and "
    "what the grade says. Not proper: with the truth (.2, .6, .2) it is .124 for saying the "
    "truth and .100 for saying (0, 1, 0).",
    bounds=(0.0, 1.0),
    losses=_losses,
    distance=_distance,
    ordered=True,
    proper=False,
    topic="Grades in a known order",
    references=("galdran2023",),
)
