"""Positive mass among the k highest scores: the sums behind precision and recall at k."""

from collections.abc import Callable
from typing import Any

import numpy as np

from equipoise.arrays import Floats, InputError
from equipoise.metrics._arguments import checked_labels, checked_weights
from equipoise.metrics._metric import Block, Order, Prepared
from equipoise.metrics._ranking import repeat_truth, run_starts, sort_items
from equipoise.wording import ONE_CLASS, hint


def checked_k(k: int) -> int:
    """Return k if it is a whole number of at least 1."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InputError(
            "k", f"{k!r}", "a whole number of at least 1", "say how many to look at"
        )
    return int(k)


def plain_top(y_true: Any, y_score: Any, k: int, weights: Any) -> tuple[float, float]:
    """Mass of the top k, and of all, for one plain call."""
    checked_k(k)
    labels, scores = checked_labels(y_true, y_score)
    if scores.ndim == 2:
        raise InputError(
            "y_score",
            f"{scores.shape[1]} classes",
            "one score per item",
            "take the column of one class",
        )
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


def top_reduce(k: int) -> Callable[[Prepared, Block], Floats]:
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
