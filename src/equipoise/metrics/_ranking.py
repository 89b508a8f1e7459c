"""The sort that every ranking metric prepares, and the sums it takes down the sorted items.

Two ways to the same sums: numpy for one call with any kind of weight, the compiled pass for
blocks of replicates. The names of the sums are those of `equipoise.kernels.ranking`. Curves are
read off the cumulative masses down the distinct thresholds.
"""

from typing import NamedTuple

import numpy as np

from equipoise.arrays import Floats, Ints, PerItem
from equipoise.metrics._metric import Block, Order


class Sums(NamedTuple):
    """N, U, A, D, P and Q of one truth: see `equipoise.kernels.ranking`."""

    number: Floats
    mass: Floats
    pairs: Floats
    own: Floats
    printed: Floats
    extra: Floats


def sort_items(scores: Floats) -> Order:
    """Sort by falling score, stably, and mark runs of equal scores.

    Examples
    --------
    >>> sort_items(np.array([0.1, 0.7, 0.7]))
    Order(items=array([1, 2, 0], dtype=int32), last=array([0, 2, 1], dtype=uint8))
    """
    items = np.argsort(-scores, kind="stable").astype(np.int32)
    ranked = scores[items]
    same = ranked[1:] == ranked[:-1]
    after, before = np.append(same, False), np.insert(same, 0, False)
    last = np.where(after, 0, np.where(before, 2, 1)).astype(np.uint8)
    return Order(items, last)


def prepare(scores: Floats) -> tuple[Order, ...]:
    """Sort scores (items,), or each column of class scores (items, classes)."""
    columns = scores[:, None] if scores.ndim == 1 else scores
    return tuple(sort_items(column) for column in columns.T)


def reduce(prepared: tuple[Order, ...], block: Block) -> Floats:
    """Sums of every class in every replicate, shape (classes, SUMS, replicates)."""
    from equipoise.kernels.ranking import fixed_truth, varying_truth

    sums = []
    for order, truth in zip(prepared, block.classes, strict=True):
        if truth.positive.ndim == 1:
            sums.append(fixed_truth(order.items, order.last, truth.positive, block.counts))
        else:
            sure = np.full(len(order.items), 2, np.uint8) if truth.sure is None else truth.sure
            sums.append(varying_truth(*order, truth.positive, sure, block.counts))
    return np.stack(sums)


def run_starts(order: Order) -> Ints:
    """Where each run of equal scores begins in the sorted order."""
    ends = np.flatnonzero(order.last)
    return np.concatenate(([0], ends[:-1] + 1))


def plain_sums(order: Order, positive: PerItem, weight: PerItem, own_weight: PerItem) -> Sums:
    """Sums for one truth with any weights.

    ``own_weight`` weighs an item against itself: the count c for copies of an item, the
    square w^2 for importance weights.
    """
    start = run_starts(order)
    p, w = positive[order.items], weight[order.items]
    d = own_weight[order.items] * p * (1 - p)
    number, mass = np.add.reduceat(w, start), np.add.reduceat(w * p, start)
    own = np.add.reduceat(d, start)
    above, seen = np.cumsum(mass), np.cumsum(number)
    inverse = np.divide(1.0, seen, out=np.zeros_like(seen), where=seen > 0)
    return Sums(
        number=seen[-1],
        mass=above[-1],
        pairs=((number - mass) * (above - mass / 2)).sum(),
        own=own.sum(),
        printed=(mass * above * inverse).sum(),
        extra=(own * inverse).sum(),
    )


def tied_share(order: Order) -> float:
    """Share of items whose score another item has too."""
    return float((order.last != 1).mean())


def repeat_truth(positive: Floats, width: int) -> Floats:
    """Repeat a fixed truth over the replicates of a block, shape (items, replicates)."""
    if positive.ndim == 2:
        return positive
    return np.ascontiguousarray(np.broadcast_to(positive[:, None], (len(positive), width)))


def spread_runs(per_run: Floats, start: Ints, items: int) -> Floats:
    """Give every item of a run the run's value."""
    return np.repeat(per_run, np.diff(np.append(start, items)))
