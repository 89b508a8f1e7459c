"""Merged items: items that cannot be told apart count together.

Two items on which the same experts gave the same votes are copies of each other for every
expert and every group of experts; two such items with equal scores are so for a model, too. A
metric that takes copies as counts has the same value on the merged items, which are often far
fewer. Metrics that cut the scores into equally full bins, or items into shares to be left out,
look at single items before they are counted and are not merged.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.arrays import Floats, Ints
from equipoise.metrics import Metric

WORTH = 4  # counts of merged items take four times the room


class Merged(NamedTuple):
    """Cells of items that are alike.

    Attributes
    ----------
    first
        An item of each cell, shape (cells,).
    code
        The cell of each item, shape (items,).
    counts
        How often the items of each cell stand in each replicate, shape (cells, replicates).
    """

    first: Ints
    code: Ints
    counts: NDArray[Any]

    @property
    def smaller(self) -> bool:
        """Whether anything was merged."""
        return len(self.first) < len(self.code)


def can_merge(metric: Metric) -> bool:
    """Whether the metric of merged items is that of the items themselves."""
    return not metric.family.startswith(("bins", "retained")) and "|" not in metric.family


def merged(alike: Floats, counts: NDArray[np.uint8]) -> Merged:
    """Merge items with equal rows, if that makes them few enough to be worth it.

    Parameters
    ----------
    alike
        Everything by which items are told apart, shape (items, columns).
    counts
        How often each item stands in each replicate, shape (items, replicates).

    Examples
    --------
    >>> rows = np.array([[0.0]] * 3 + [[1.0]] * 5)
    >>> merged(rows, np.ones((8, 1), dtype=np.uint8)).counts.ravel()
    array([3, 5], dtype=uint32)
    """
    rows = np.ascontiguousarray(alike, dtype=np.float64) + 0.0  # no negative zero
    bytes_ = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, code = np.unique(bytes_, return_index=True, return_inverse=True)
    if len(first) * WORTH > len(rows):
        return apart(counts)
    order = np.argsort(code, kind="stable")
    starts = np.searchsorted(code[order], np.arange(len(first)))
    return Merged(first, code, np.add.reduceat(counts[order], starts, axis=0, dtype=np.uint32))


def apart(counts: NDArray[np.uint8]) -> Merged:
    """Every item a cell of its own."""
    every = np.arange(len(counts))
    return Merged(every, every, counts)
