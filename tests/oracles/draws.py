"""Metrics of possible truths by brute force: full draws, all tie-breaks, one by one."""

from itertools import combinations, pairwise, permutations

import numpy as np

from equipoise.types import Annotations, Plausibilities
from tests.strategies import names


def tied_sets(row, k):
    """All equally likely sets of the k largest classes."""
    bar = sorted(row, reverse=True)[k - 1]
    above = [c for c, value in enumerate(row) if value > bar]
    level = [c for c, value in enumerate(row) if value == bar]
    return [{*above, *some} for some in combinations(level, k - len(above))]


def topk_accuracy(row, scores, k):
    return np.mean([bool(y & c) for y in tied_sets(row, 1) for c in tied_sets(scores, k)])


def set_accuracy(row, scores, k):
    return np.mean([y == c for y in tied_sets(row, k) for c in tied_sets(scores, k)])


def overlap(row, scores, k):
    return np.mean([len(y & c) / k for y in tied_sets(row, k) for c in tied_sets(scores, k)])


def average_overlap(row, scores, k):
    return np.mean([overlap(row, scores, j) for j in range(1, k + 1)])


def average_ranks(values):
    """Mean position of each class over all orders that agree with the values."""
    orders = [
        order
        for order in permutations(range(len(values)))
        if all(values[a] >= values[b] for a, b in pairwise(order))
    ]
    places = np.array([[order.index(c) for c in range(len(values))] for order in orders])
    return places.mean(axis=0)


def spearman_footrule(row, scores):
    size = len(row)
    worst = sum(abs(size - 1 - 2 * place) for place in range(size))
    return 1 - np.abs(average_ranks(row) - average_ranks(scores)).sum() / worst


def dense(values):
    """Plausibilities of (draws, items, classes)."""
    block = np.asarray(values, float)
    return Plausibilities.dense(
        block, items=names(block.shape[1]), classes=names(block.shape[2], "class"), method="x"
    )


def sparse(masses, labels, classes, **more):
    """Plausibilities of one item from masses (draws, entries)."""
    mass = np.asarray(masses, float)
    return Plausibilities(
        items=("item",), classes=names(classes, "class"), start=np.array([0, len(labels)]),
        label=np.array(labels, int), mass=mass, rest=1 - mass.sum(axis=1, keepdims=True),
        method="x", **more,
    )  # fmt: skip


def votes(items=6, classes=4):
    """Three votes for each of a few items."""
    random = np.random.default_rng(2)
    item = np.repeat(np.arange(items), 3)
    return Annotations(
        kind="nominal", items=names(items), classes=names(classes, "class"),
        annotators=("a", "b", "c"), item=item, annotator=np.tile(np.arange(3), items),
        label=random.integers(0, classes, len(item)),
    )  # fmt: skip
