r"""Ranked probability score: squared distance of cumulative probabilities, for grades.

.. math:: \mathrm{RPS}(p, y) = \frac{1}{K - 1} \sum_{i<K} (P_i - [y \le i])^2 \in [0, 1]

:math:`P_i` is the predicted probability of grade i or lower, so a wrong grade costs more the
further it is from the truth. For two classes it is half of the Brier score. Other packages
leave out :math:`1/(K-1)`. Label distributions: every vote is scored and the scores are averaged
(``soft="expected"``); ``plug_in`` puts the cumulative label distribution in place of
:math:`[y \le i]`. Proper: nobody does better than by saying what they believe.

The grades are the columns, lowest first; their order is given, never inferred.

References
----------
Epstein (1969), *A scoring system for probability forecasts of ranked categories*.

Examples
--------
>>> ranked_probability_score([0], [[0.25, 0.75, 0.0]])
0.281
>>> ranked_probability_score([0], [[0.25, 0.0, 0.75]])
0.5625
"""

from typing import Any

import numpy as np

from equipoise.arrays import Floats, PerItem
from equipoise.metrics._distributions import over_classes, weighted_mean
from equipoise.metrics._metric import Metric
from equipoise.metrics._rules import Rule, rule_metric, rule_per_item


def ranked_probability_score(
    y_true: Any, probabilities: Any, *, soft: str = "expected", weights: Any = None
) -> float:
    """Mean squared distance between cumulative distributions; lower is better.

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
    each = ranked_probability_score_per_item(y_true, probabilities, soft=soft)
    return weighted_mean(each, weights)


def ranked_probability_score_per_item(
    y_true: Any, probabilities: Any, *, soft: str = "expected"
) -> PerItem:
    """Ranked probability score of every item, shape (items,).

    Examples
    --------
    >>> ranked_probability_score_per_item([0, 2], [[0, 1, 0], [0.5, 0, 0.5]])
    array([0.5 , 0.25])
    """
    return rule_per_item(RULE, y_true, probabilities, soft=soft)


def metric(*, soft: str = "expected") -> Metric:
    """Ranked probability score for the engine."""
    return rule_metric(RULE, soft)


def _losses(predicted: Floats) -> Floats:
    """Score if the truth were each class, shape (items, classes)."""
    classes = predicted.shape[1]
    below = np.cumsum(predicted, axis=1)[:, :-1]
    reached = np.tril(np.ones((classes, classes)))[:-1]  # (cut, class): class <= cut
    return np.stack([((below - one) ** 2).mean(axis=1) for one in reached.T], axis=1)


def _distance(labels: Floats, predicted: Floats) -> Floats:
    gap = np.cumsum(over_classes(predicted, labels) - labels, axis=0)[:-1]
    return np.asarray((gap**2).mean(axis=0))


RULE = Rule(
    name="ranked_probability_score",
    title="ranked probability score",
    definition="Squared distance between the predicted chance of at most each grade and what "
    "the grade says, averaged over the cuts between grades.",
    bounds=(0.0, 1.0),
    losses=_losses,
    distance=_distance,
    ordered=True,
    topic="Grades in a known order",
    references=("galdran2023",),
)
