"""Class ranks: a model's first classes, laid beside the classes that each item mentions.

Metrics of the most plausible classes need only which classes a model puts first; of equal
scores the class with the lowest index comes first. Metrics of order need its scores of the
mentioned classes.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from equipoise.arrays import Floats, InputError, Ints, PerItem, require_finite
from equipoise.metrics._draws import Met
from equipoise.plausibilities import Plausibilities
from equipoise.tops import packed

INSERTED = 64  # up to so many first classes insertion is faster than sorting all of them


class First(NamedTuple):
    """A model's first classes of every item, best first, shape (items, k), and of how many."""

    first: Ints
    classes: int


def class_scores(probabilities: Any) -> Floats:
    """Return scores of all classes, (items, classes), or say what is wrong with them."""
    try:
        scores = np.ascontiguousarray(probabilities, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "probabilities", "values that are not numbers", "an array of numbers (items, "
            "classes)", "encode them first",
        ) from None  # fmt: skip
    if scores.ndim != 2 or 0 in scores.shape:
        raise InputError(
            "probabilities", f"shape {scores.shape}", "(items, classes), at least one of each",
            "give one row per item and one column per class of the plausibilities",
        )  # fmt: skip
    require_finite(scores, where="probabilities")
    return scores


def first_classes(probabilities: Any, k: int) -> First:
    """A model's first k classes of every item, the first of equals first.

    Examples
    --------
    >>> first_classes([[0.2, 0.4, 0.4], [0.5, 0.5, 0.0]], 2).first
    array([[1, 2],
           [0, 1]], dtype=int32)
    """
    from equipoise.kernels.tops import leaders

    scores = class_scores(probabilities)
    items, classes = scores.shape
    if k > classes:
        raise InputError("k", f"{k}", f"at most the {classes} classes", "choose a smaller k")
    if k > INSERTED:
        order = [np.argsort(-row, kind="stable")[:k] for row in scores]
        return First(np.array(order, dtype=np.int32), classes)
    first = np.zeros((items, k), dtype=np.int32)
    leaders(scores, first)
    return First(first, classes)


def require_fit(shape: tuple[int, ...], plausibilities: Plausibilities) -> None:
    """Raise unless a prediction is about these items and classes."""
    full = (len(plausibilities.items), len(plausibilities.classes))
    if shape != full:
        raise InputError(
            "probabilities", f"shape {shape}", f"{full}",
            "align them with the items and classes of the plausibilities",
        )  # fmt: skip


def entry_items(plausibilities: Plausibilities) -> Ints:
    """Item of each entry."""
    return np.repeat(np.arange(len(plausibilities.items)), np.diff(plausibilities.start))


def entry_ranks(model: First, plausibilities: Plausibilities) -> Ints:
    """Rank that a model gives the class of each entry; k for all that are not among its first.

    Examples
    --------
    >>> truth = Plausibilities.dense(np.array([[0.5, 0.3, 0.2]]), items=("scan",),
    ...     classes=("a", "b", "c"), method="by hand")
    >>> entry_ranks(First(np.array([[2, 0]]), 3), truth)
    array([1, 2, 0])
    """
    first = model.first
    require_fit((len(first), model.classes), plausibilities)
    item, k = entry_items(plausibilities), first.shape[1]
    rank = np.full(len(item), k)
    for place in range(k):
        rank[first[item, place] == plausibilities.label] = place
    return rank


def unmentioned(rank: Ints, k: int, plausibilities: Plausibilities) -> PerItem:
    """Share of an item's unmentioned classes that are among the model's first k."""
    named = np.bincount(entry_items(plausibilities), rank < k, len(plausibilities.items))
    return np.asarray((k - named) / np.maximum(others(plausibilities), 1))


def others(plausibilities: Plausibilities) -> Ints:
    """Number of classes of each item that nobody mentioned."""
    return np.asarray(len(plausibilities.classes) - np.diff(plausibilities.start))


def kernel_truth(plausibilities: Plausibilities) -> Any:
    """Plausibilities as the kernels want them."""
    one = plausibilities
    split = (one.rest_shape, one.split_seed)
    return packed(one.mass, one.rest, one.start, others(one), split)


def overlap_table(
    rank: Ints, plausibilities: Plausibilities, spans: Sequence[tuple[int, int, float]]
) -> Floats:
    """Weighted sum of expected overlaps in every draw, shape (items, draws).

    A span (j, k, w) adds w times the number of the j most plausible classes that are among the
    model's first k.
    """
    from equipoise.kernels.tops import overlaps

    value = np.empty((len(plausibilities.items), plausibilities.draws))
    places, ranks, weights = (np.array(part) for part in zip(*spans, strict=True))
    spread = (places, ranks, weights.astype(np.float64))
    overlaps(kernel_truth(plausibilities), rank, spread, value)
    return value


def overlap_meet(
    spans: Sequence[tuple[int, int, float]],
) -> Callable[[First, Plausibilities], Met]:
    """Meet a model's first classes with plausibilities by their overlaps."""

    def meet(model: First, plausibilities: Plausibilities) -> Met:
        rank = entry_ranks(model, plausibilities)
        return Met(overlap_table(rank, plausibilities, spans))

    return meet


def order_meet(name: str) -> Callable[[Floats, Plausibilities], Met]:
    """Meet a model's scores with plausibilities by the order of the mentioned classes.

    The name is that of a kernel: kendall or footrule.
    """

    def meet(scores: Floats, plausibilities: Plausibilities) -> Met:
        from equipoise.kernels import orders

        require_fit(scores.shape, plausibilities)
        own = scores[entry_items(plausibilities), plausibilities.label]
        value = np.empty((len(plausibilities.items), plausibilities.draws))
        start, mass = kernel_truth(plausibilities)[:2]
        getattr(orders, name)(start, own, mass, value)
        return Met(value)

    return meet
