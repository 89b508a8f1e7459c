r"""Retained-samples curve: how good a model is on what is left when its worst items go.

.. math:: h(f) = M(\{\text{the } (1 - f)\, n \text{ items of best score}\})

Items are sorted by a score of their own, such as the ranked probability score. The worst
fraction f is removed, for f from 0 to `max_removed`, and a metric M of the decisions is
recomputed on the rest. A score that finds the harmful errors makes the curve rise fast.

A cut keeps exactly (1 - f) n items. Items of equal score stand as one run (scores that agree to
12 decimals are equal); where the cut falls inside a run, or inside a single item, each item of
the run stays by the same share. The curve is therefore continuous in f and does not depend on
the order of items.

References
----------
Galdran (2023), *Performance metrics for probabilistic ordinal classifiers*.

Examples
--------
>>> truth, model = [0, 1, 2, 2], [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0.4, 0]]
>>> removed, height = retained_samples_curve(
...     truth, model, metric="accuracy", max_removed=0.25, points=3)
>>> removed, height
(array([0.   , 0.125, 0.25 ]), array([0.75 , 0.857, 1.   ]))
"""

from typing import Any, TypedDict, Unpack

from equipoise.arrays import Floats
from equipoise.metrics._arguments import checked_weights
from equipoise.metrics._decisions import decide
from equipoise.metrics._distributions import checked_distributions
from equipoise.metrics._retained import Line, Retained, cut_tables


class Curve(TypedDict, total=False):
    """Parameters of a retained-samples curve, as the fields of `Retained`."""

    score: str
    metric: str
    max_removed: float
    points: int
    scale: str


def retained_samples_curve(
    y_true: Any, probabilities: Any, *, weights: Any = None, **how: Unpack[Curve]
) -> tuple[Floats, Floats]:
    """Fractions removed, and the metric on the rest; both (points,), nan where undefined.

    Parameters
    ----------
    y_true
        Class codes or label distributions (items, classes), the lowest grade first.
    probabilities
        Predicted distributions (items, classes), or of the second of two classes (items,).
    weights
        Importance weights (items,), or `Copies` of counts.
    score
        What sorts the items: ``ranked_probability_score``, ``squared_absolute_rps``,
        ``brier_score`` or ``log_score``.
    metric
        What is recomputed: ``quadratic_weighted_kappa``, ``expected_cost`` (linear cost,
        from 0 to 1) or ``accuracy``.
    max_removed, points
        The curve goes from 0 to this fraction (0.2) in so many points (41).
    scale
        ``mean``, or ``paper`` for the expected cost in grades, not divided by K - 1.
    """
    curve = Retained(**how)
    tables = plain_tables(curve, y_true, probabilities, weights)
    return curve.removed, curve.heights(tables)[:, 0]


def plain_tables(curve: Retained, y_true: Any, probabilities: Any, weights: Any) -> Floats:
    """Confusion tables at every cut of a plain call, (true, decided, points, 1)."""
    labels, predicted = checked_distributions(y_true, probabilities)
    each = checked_weights(weights, len(labels)).each
    line = Line.of(curve.scored(labels.T, predicted))
    return cut_tables(line, labels, decide(predicted), each, curve.removed)[..., None]
