r"""Log score: how surprised the model is by what the annotators said.

.. math:: \mathrm{LS}(p, y) = -\log p_y \in [0, \infty]

In nats. It is infinite when the model gives no probability to a class that somebody chose; it
is never clipped, so one such item makes the mean infinite. Label distributions: every vote is
scored and the scores are averaged (``soft="expected"``, the cross entropy);
``soft="plug_in"`` leaves out the votes' own entropy,
:math:`\sum_k \pi_k \log(\pi_k / p_k)`, which is the Kullback-Leibler divergence and with few
votes too large by their noise. Proper: nobody does better than by saying what they believe.

References
----------
Good (1952), *Rational decisions*.

Examples
--------
>>> log_score([[0.5, 0.5]], [[0.5, 0.5]])
0.693
>>> log_score([[0.5, 0.5]], [[1.0, 0.0]])
inf
"""

import math
from typing import Any

import numpy as np

from equipoise.arrays import Floats, PerItem
from equipoise.metrics._distributions import entropy, expected_loss, weighted_mean
from equipoise.metrics._metric import Metric
from equipoise.metrics._rules import Rule, rule_metric, rule_per_item


def log_score(
    y_true: Any, probabilities: Any, *, soft: str = "expected", weights: Any = None
) -> float:
    """Mean negative log probability of what was observed; lower is better.

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
    return weighted_mean(log_score_per_item(y_true, probabilities, soft=soft), weights)


def log_score_per_item(y_true: Any, probabilities: Any, *, soft: str = "expected") -> PerItem:
    """Log score of every item, shape (items,).

    Examples
    --------
    >>> log_score_per_item([0, 1], [[1.0, 0.0], [1.0, 0.0]])
    array([ 0., inf])
    """
    return rule_per_item(RULE, y_true, probabilities, soft=soft)


def metric(*, soft: str = "expected") -> Metric:
    """Log score for the engine."""
    return rule_metric(RULE, soft)


def _losses(predicted: Floats) -> Floats:
    """Score if the truth were each class, shape (items, classes)."""
    possible = predicted > 0
    return np.where(possible, 0.0 - np.log(np.where(possible, predicted, 1.0)), np.inf)


def _distance(labels: Floats, predicted: Floats) -> Floats:
    return np.maximum(expected_loss(labels, _losses(predicted)) - entropy(labels), 0.0)


RULE = Rule(
    name="log_score",
    title="log score",
    definition="Negative logarithm of the probability given to the class, in nats; infinite "
    "where a class that was chosen has no probability.",
    bounds=(0.0, math.inf),
    losses=_losses,
    distance=_distance,
    infinite="probability 0 to what the labels say of at least one item",
)
