"""One-vs-one AUROC after Hand and Till (2001), for soft labels.

A(a|b) = sum over i != j of L_ia L_jb k(s_ia, s_ja) / sum over i != j of L_ia L_jb; the value of
a pair of classes is the mean of A(a|b) and A(b|a), the metric the mean over pairs.
"""

from itertools import combinations

import numpy as np

from equipoise.arrays import Floats, InputError, PerReplicate
from equipoise.metrics._metric import Block, Order


def one_vs_one_reduce(prepared: tuple[Order, ...], block: Block) -> Floats:
    """Sums for every ordered pair of classes, shape (pairs, 2, 4, replicates)."""
    from equipoise.kernels.top import class_pairs

    if len(block.classes) < 2:
        raise InputError(
            "auroc, multiclass ovo", "a yes/no question", "at least two classes",
            "leave multiclass out: there is only one pair",
        )  # fmt: skip
    width = block.counts.shape[1]
    masses = [spread(truth.positive, width) for truth in block.classes]
    return np.array(
        [
            [class_pairs(*prepared[x], masses[x], masses[y], block.counts) for x, y in both]
            for both in (((a, b), (b, a)) for a, b in combinations(range(len(masses)), 2))
        ]
    ).reshape(-1, 2, 4, width)


def one_vs_one_finish(sums: Floats) -> PerReplicate:
    """Mean over pairs; nan when a pair of classes never meets."""
    up, down, pairs, own = np.moveaxis(sums, 2, 0)
    below = up * down - own
    defined = (up * down > 0) & (below > 1e-12 * up * down)
    value = np.where(defined, (pairs - own / 2) / np.where(defined, below, 1.0), np.nan)
    return np.asarray(value.mean(axis=1).mean(axis=0))


def spread(positive: Floats, width: int) -> Floats:
    """Repeat a fixed truth over the replicates of a block, shape (items, replicates)."""
    if positive.ndim == 2:
        return positive
    return np.ascontiguousarray(np.broadcast_to(positive[:, None], (len(positive), width)))
