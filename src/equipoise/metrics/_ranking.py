"""The sort that every ranking metric prepares, and the sums it takes down the sorted items.

Two ways to the same sums: numpy for one call with any kind of weight, the compiled pass for
blocks of replicates. The names of the sums are those of `equipoise.kernels.ranking`. Curves are
read off the cumulative masses down the distinct thresholds.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.metrics._metric import Block, Order, Truth
from equipoise.types import Floats, Ints, PerItem, ratio

_MANY = 5_000  # items from which on a radix sort is faster


class Sums(NamedTuple):
    """N, U, A, D, P and Q of one truth: see `equipoise.kernels.ranking`."""

    number: Floats
    mass: Floats
    pairs: Floats
    same_item: Floats
    printed: Floats
    extra: Floats


def sort_items(scores: Floats) -> Order:
    """Sort by falling score, stably, and mark runs of equal scores.

    Examples
    --------
    >>> sort_items(np.array([0.1, 0.7, 0.7]))
    Order(items=array([1, 2, 0], dtype=int32), last=array([0, 2, 1], dtype=uint8))
    """
    if len(scores) >= _MANY:
        from equipoise.kernels.sorting import falling

        return Order(*falling(np.ascontiguousarray(scores, dtype=np.float64)))
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
    return reduce_all(prepared, (block,))[0]


def reduce_all(prepared: tuple[Order, ...], blocks: Sequence[Block]) -> list[Floats]:
    """The same of several blocks; those with the same counts share one walk down the items."""
    if any(block.counts is not blocks[0].counts for block in blocks):
        return [reduce(prepared, block) for block in blocks]
    of_classes = [
        _sums(order, truths, blocks[0].counts)
        for order, truths in zip(
            prepared, zip(*(block.classes for block in blocks), strict=True), strict=True
        )
    ]
    return [np.stack([sums[b] for sums in of_classes]) for b in range(len(blocks))]


def _sums(order: Order, truths: Sequence[Truth], counts: NDArray[np.uint8]) -> Floats:
    """Sums of some truths, shape (truths, SUMS, replicates)."""
    from equipoise.kernels.ranking import TILE, counter, ranking_sums

    first, width = truths[0], counts.shape[1]
    same = [t.pattern is first.pattern and t.rows.shape == first.rows.shape for t in truths]
    if not all(same):
        return np.concatenate([_sums(order, [truth], counts) for truth in truths])
    rows = np.stack([truth.rows.reshape(len(truth.rows), -1) for truth in truths], axis=1)
    sure = np.full(rows.shape[:2] if rows.shape[2] > 1 else (0, len(truths)), 2, np.uint8)
    for column, truth in zip(sure.T, truths, strict=True):
        if len(column) and truth.sure is not None:
            column[:] = truth.sure
    pattern = np.empty(0, np.int32) if first.pattern is None else first.pattern
    parts = []
    for begin in range(0, width, TILE):
        tile = slice(begin, begin + TILE)
        some = rows if rows.shape[2] == 1 else np.ascontiguousarray(rows[..., tile])
        times = np.ascontiguousarray(counts[:, tile])
        parts.append(ranking_sums(*order, (pattern, some, sure), times, counter(len(times))))
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2)


def run_starts(order: Order) -> Ints:
    """Where each run of equal scores begins in the sorted order."""
    ends = np.flatnonzero(order.last)
    return np.concatenate(([0], ends[:-1] + 1))


class Runs(NamedTuple):
    """Items in an order, and where runs of equal ones begin: (items,) and (runs,)."""

    order: Ints
    start: Ints

    @classmethod
    def of(cls, falling: PerItem) -> "Runs":
        """The highest first."""
        order = np.argsort(-falling, kind="stable")
        placed = falling[order]
        return cls(order, np.flatnonzero(np.append(True, placed[1:] != placed[:-1])))

    @property
    def sizes(self) -> Ints:
        """How many items every run has, (runs,)."""
        return np.diff(np.append(self.start, len(self.order)))

    def sums(self, values: Floats) -> Floats:
        """Sums of (items, ...) over every run, (runs, ...)."""
        return np.add.reduceat(values[self.order], self.start, axis=0)

    def spread(self, per_run: PerItem) -> PerItem:
        """Every item has what its run has."""
        out = np.empty(len(self.order))
        out[self.order] = np.repeat(per_run, self.sizes)
        return out


def plain_sums(order: Order, positive: PerItem, weight: PerItem, self_weight: PerItem) -> Sums:
    """Sums for one truth with any weights.

    ``self_weight`` weighs an item against itself: the count c for copies of an item, the
    square w^2 for importance weights.
    """
    start = run_starts(order)
    p, w = positive[order.items], weight[order.items]
    d = self_weight[order.items] * p * (1 - p)
    number, mass = np.add.reduceat(w, start), np.add.reduceat(w * p, start)
    same_item = np.add.reduceat(d, start)
    above, seen = np.cumsum(mass), np.cumsum(number)
    inverse = ratio(1.0, seen, 0.0)
    return Sums(
        number=seen[-1],
        mass=above[-1],
        pairs=((number - mass) * (above - mass / 2)).sum(),
        same_item=same_item.sum(),
        printed=(mass * above * inverse).sum(),
        extra=(same_item * inverse).sum(),
    )


def tied_share(order: Order) -> float:
    """Share of items whose score another item has too."""
    return float((order.last != 1).mean())


def repeat_truth(positive: Floats, width: int) -> Floats:
    """Repeat a fixed truth over the replicates of a block, shape (items, replicates)."""
    if positive.ndim == 2:
        return positive
    return np.ascontiguousarray(np.broadcast_to(positive[:, None], (len(positive), width)))
