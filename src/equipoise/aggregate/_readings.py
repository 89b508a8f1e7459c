"""Readings: every mention of a class in a ranking, weighed by its place."""

import numpy as np

from equipoise.aggregate._entries import Entries, entries
from equipoise.annotations import Annotations
from equipoise.arrays import InputError


def weigh(annotations: Annotations, task: str, *, share_ties: bool) -> Entries:
    """Sum 1 / block number over readings, the block's share split over it or not."""
    if annotations.rank is None or annotations.reading is None or annotations.label is None:
        return entries(annotations, task)
    rows = np.flatnonzero(annotations.in_task(task))
    if annotations.is_gold is not None and annotations.is_gold[rows].any():
        raise InputError(
            "inverse rank", "gold rows among rankings",
            "readings only: a known truth has no ranks",
            "leave gold rows out, or choose dirichlet or mean_vote, which take first choices",
        )  # fmt: skip
    if not len(rows):
        raise InputError(
            f"annotations, task {task!r}", "no readings", "at least one", "check it"
        )
    block = dense_blocks(annotations, rows)
    tied = np.ones(len(rows))
    if share_ties:
        key = annotations.reading[rows].astype(np.int64) * (int(block.max()) + 1) + block
        code = np.unique(key, return_inverse=True)[1]
        tied = np.bincount(code)[code].astype(np.float64)
    weight = np.ones(len(rows)) if annotations.weight is None else annotations.weight[rows]
    if annotations.count is not None:
        weight = weight * annotations.count[rows]
    value = weight / ((block + 1) * tied)
    classes = len(annotations.classes)
    pair = annotations.item[rows].astype(np.int64) * classes + annotations.label[rows]
    known, code = np.unique(pair, return_inverse=True)
    votes = np.bincount(code, value).astype(np.float64)
    item, place = np.unique(known // classes, return_inverse=True)
    start = np.searchsorted(place, np.arange(len(item) + 1))
    return Entries(
        items=tuple(annotations.items[i] for i in item),
        classes=annotations.classes,
        start=start,
        label=known % classes,
        votes=votes,
        total=np.bincount(place, votes).astype(np.float64),
    )


def dense_blocks(annotations: Annotations, rows: np.ndarray) -> np.ndarray:
    """Number the blocks of each reading 0, 1, 2, ... whatever the ranks were."""
    assert annotations.rank is not None and annotations.reading is not None
    rank, reading = annotations.rank[rows], annotations.reading[rows]
    order = np.lexsort((rank, reading))
    new = np.diff(reading[order], prepend=-1) != 0
    step = (np.diff(rank[order], prepend=-1) != 0) & ~new
    number = np.cumsum(step)
    first = np.maximum.accumulate(np.where(new, number, 0))
    block = np.empty(len(rows), dtype=np.int64)
    block[order] = number - first
    return block
