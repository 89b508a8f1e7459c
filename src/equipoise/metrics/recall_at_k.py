r"""Recall at k: the share of all positive mass that the k highest scores hold.

.. math:: \mathrm{R@}k = \frac1{n_+} \sum_{i \le k} p_i

A run of equal scores that straddles the k-th place counts with its mass times the fraction
taken. Undefined (nan) without positives.

Examples
--------
>>> recall_at_k([1, 0.75, 0.25, 0.5, 0], [0.9, 0.8, 0.7, 0.6, 0.5], 2)
0.7
"""

from typing import Any

import numpy as np

from equipoise.arrays import Floats, PerReplicate
from equipoise.metrics._metric import Metric
from equipoise.metrics._ranking import prepare
from equipoise.metrics._top import checked_k, plain_top, top_reduce


def recall_at_k(y_true: Any, y_score: Any, k: int, *, weights: Any = None) -> float:
    """Share of the positive mass found among the k highest scores.

    Parameters
    ----------
    y_true, y_score
        Labels in [0, 1] and scores, shape (items,).
    k
        How many items are looked at, at most as many as there are.
    weights
        Importance weights (items,), or `Copies` of counts for repeated items.
    """
    mass, total = plain_top(y_true, y_score, k, weights)
    return mass / total if total > 0 else float("nan")


def metric(*, k: int = 100) -> Metric:
    """Recall at k for the engine."""
    checked_k(k)

    def finish(sums: Floats) -> PerReplicate:
        taken, mass, total = sums
        defined = (taken >= k) & (total > 0)
        return np.where(defined, mass / np.where(total > 0, total, 1.0), np.nan)

    return Metric(
        name=f"recall_at_{k}",
        title=f"R@{k}",
        soft_title=f"soft R@{k}",
        definition=f"Share of all positive mass among the {k} highest scores.",
        family=f"top {k}",
        prepare=prepare,
        reduce=top_reduce(k),
        finish=finish,
        min_items=k,
        topic="Order of items, for scores and probabilities",
        references=("lionetti2025",),
    )
