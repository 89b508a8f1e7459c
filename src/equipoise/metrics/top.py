r"""Precision and recall at k: the positive mass among the k highest scores.

`precision_at_k`: the positive share among them,

.. math:: \mathrm{P@}k = \frac1k \sum_{i \le k} p_i

`recall_at_k`: the share of all positive mass that they hold; undefined (nan) without positives,

.. math:: \mathrm{R@}k = \frac1{n_+} \sum_{i \le k} p_i

Labels may be hard or soft. A run of equal scores that straddles the k-th place counts with its
mass times the fraction taken, which is the expectation over random orders. Both take labels in
[0, 1] and scores, shape (items,), how many items are looked at, at most as many as there are,
and importance weights (items,), or `Copies` of counts for repeated items. Undefined (nan) in a
resample of fewer than k items.

Examples
--------
>>> precision_at_k([1, 0.75, 0.25, 0.5, 0], [0.9, 0.8, 0.7, 0.6, 0.5], 2)
0.875
>>> recall_at_k([1, 0.75, 0.25, 0.5, 0], [0.9, 0.8, 0.7, 0.6, 0.5], 2)
0.7
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from equipoise.metrics._arguments import checked_k, checked_scores, checked_weights
from equipoise.metrics._metric import Block, Metric, Order, Prepared, Topic
from equipoise.metrics._ranking import prepare, repeat_truth, run_starts, sort_items
from equipoise.types.arrays import Floats, InputError, PerReplicate
from equipoise.types.words import ONE_CLASS, hint


def precision_at_k(y_true: Any, y_score: Any, k: int, *, weights: Any = None) -> float:
    """Positive share among the k highest scores."""
    mass, _ = _plain_top(y_true, y_score, k, weights)
    return mass / k


def precision_at_k_metric(*, k: int = 100) -> Metric:
    """Precision at k for the engine."""

    def finish(sums: Floats) -> PerReplicate:
        taken, mass, _ = sums
        return np.where(taken >= k, mass / k, np.nan)

    text = f"Mean label of the {k} highest scores; a tied boundary counts in part."
    made = _top_metric(f"precision_at_{k}", f"P@{k}", text, k, finish)
    return replace(made, trials=k)


def recall_at_k(y_true: Any, y_score: Any, k: int, *, weights: Any = None) -> float:
    """Share of the positive mass found among the k highest scores."""
    mass, total = _plain_top(y_true, y_score, k, weights)
    return mass / total if total > 0 else float("nan")


def recall_at_k_metric(*, k: int = 100) -> Metric:
    """Recall at k for the engine."""

    def finish(sums: Floats) -> PerReplicate:
        taken, mass, total = sums
        defined = (taken >= k) & (total > 0)
        return np.where(defined, mass / np.where(total > 0, total, 1.0), np.nan)

    text = f"Share of all positive mass among the {k} highest scores."
    return _top_metric(f"recall_at_{k}", f"R@{k}", text, k, finish)


def _top_metric(
    name: str, title: str, definition: str, k: int, finish: Callable[[Floats], PerReplicate]
) -> Metric:
    """A metric of the k highest scores."""
    return Metric(
        name=name,
        title=title,
        soft_title=f"soft {title}",
        definition=definition,
        family=f"top {k}",
        prepare=prepare,
        reduce=_top_sums(checked_k(k)),
        finish=finish,
        min_items=k,
        topic=Topic.ORDER,
        references=("lionetti2025",),
    )


def _plain_top(y_true: Any, y_score: Any, k: int, weights: Any) -> tuple[float, float]:
    """Mass of the top k, and of all, for one plain call."""
    checked_k(k)
    labels, scores = checked_scores(y_true, y_score, do="take the column of one class")
    weight = checked_weights(weights, len(labels)).each
    if weight.sum() < k:
        raise InputError(
            "k", f"{k}", f"at most the {weight.sum():g} items", "choose a smaller k"
        )
    order = sort_items(scores)
    start = run_starts(order)
    number = np.add.reduceat(weight[order.items], start)
    mass = np.add.reduceat((weight * labels)[order.items], start)
    before = np.cumsum(number) - number
    taken = np.clip(k - before, 0.0, number)
    share = np.divide(taken, number, out=np.zeros_like(taken), where=number > 0)
    return float((mass * share).sum()), float(mass.sum())


def _top_sums(k: int) -> Callable[[Prepared, Block], Floats]:
    """Reduction for the engine: items taken, their mass, all mass, shape (3, replicates)."""

    def reduce(prepared: tuple[Order, ...], block: Block) -> Floats:
        from equipoise.kernels.top import top_mass

        if len(block.classes) != 1:
            raise InputError(
                "precision or recall at k",
                f"{len(block.classes)} classes",
                "a yes/no question",
                hint("ask about one class with {}", ONE_CLASS),
            )
        positive = block.classes[0].positive
        wide = repeat_truth(positive, block.counts.shape[1])
        top = top_mass(*prepared[0], wide, block.counts, k)
        total = np.einsum("ir,ir->r", wide, block.counts.astype(np.float64))
        return np.vstack([top, total])

    return reduce
