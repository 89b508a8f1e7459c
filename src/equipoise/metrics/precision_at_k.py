r"""Precision at k: the positive share among the k highest scores, labels hard or soft.

.. math:: \mathrm{P@}k = \frac1k \sum_{i \le k} p_i

A run of equal scores that straddles the k-th place counts with its mass times the fraction
taken, which is the expectation over random orders. With hard labels its interval is Wilson's:
a share of k fixed trials. Undefined (nan) in a resample of fewer than k items.

Examples
--------
>>> precision_at_k([1, 0.75, 0.25, 0.5, 0], [0.9, 0.8, 0.7, 0.6, 0.5], 2)
0.875
"""

from typing import Any

import numpy as np

from equipoise.arrays import Floats, PerReplicate
from equipoise.metrics._metric import Metric
from equipoise.metrics._ranking import prepare
from equipoise.metrics._top import checked_k, plain_top, top_reduce


def precision_at_k(y_true: Any, y_score: Any, k: int, *, weights: Any = None) -> float:
    """Positive share among the k highest scores.

    Parameters
    ----------
    y_true, y_score
        Labels in [0, 1] and scores, shape (items,).
    k
        How many items are looked at, at most as many as there are.
    weights
        Importance weights (items,), or `Copies` of counts for repeated items.
    """
    mass, _ = plain_top(y_true, y_score, k, weights)
    return mass / k


def metric(*, k: int = 100) -> Metric:
    """Precision at k for the engine."""
    checked_k(k)

    def finish(sums: Floats) -> PerReplicate:
        taken, mass, _ = sums
        return np.where(taken >= k, mass / k, np.nan)

    return Metric(
        name=f"precision_at_{k}",
        title=f"P@{k}",
        soft_title=f"soft P@{k}",
        definition=f"Mean label of the {k} highest scores; a tied boundary counts in part. "
        "With hard labels the interval is Wilson's, unless items come in groups.",
        family=f"top {k}",
        prepare=prepare,
        reduce=top_reduce(k),
        finish=finish,
        min_items=k,
        trials=k,
        topic="Order of items, for scores and probabilities",
        references=("lionetti2025", "wilson1927"),
    )
