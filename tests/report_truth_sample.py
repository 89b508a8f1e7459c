"""Annotations to make pages about the truth of: votes of named people, and rankings."""

import numpy as np

from equipoise.types import Annotations

BAD = "\"'><img src=x onerror=alert(1)><!--\x00\u202e"


def votes(people=5, items=12, **extra):
    """Yes/no votes of people of falling skill."""
    random = np.random.default_rng(3)
    truth = random.integers(0, 2, items)
    item, who = (grid.ravel() for grid in np.mgrid[0:items, 0:people])
    wrong = random.random(len(item)) < 0.05 + 0.35 * who / people
    return Annotations(
        kind="binary", classes=("no", "yes"), items=tuple(f"scan {i}" for i in range(items)),
        annotators=tuple(f"reader {a}" for a in range(people)),
        item=item, annotator=who, label=truth[item] ^ wrong, **extra,
    )  # fmt: skip


def rankings(names=None):
    return Annotations.from_rankings(
        [[[[3], [1, 4]], [[1]]], [[[2]], [[2], [0]], [[2]]], [[[0, 1, 2]]]],
        classes=names,
    )
