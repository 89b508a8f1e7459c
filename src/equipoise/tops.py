"""Tops: how often each class is the most plausible one, counted over draws."""

from typing import Any

import numpy as np

from equipoise.arrays import Floats, Ints

Split = tuple[float | None, int]


def packed(mass: Floats, rest: Floats, start: Ints, others: Ints, split: Split) -> Any:
    """Arguments as the kernels of `equipoise.kernels.tops` want them; see `top_share`."""
    shape, seed = split
    key = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    return (
        np.ascontiguousarray(start, dtype=np.int64),
        np.ascontiguousarray(mass, dtype=np.float64),
        np.ascontiguousarray(rest, dtype=np.float64),
        np.ascontiguousarray(others, dtype=np.int64),
        (float(shape or 0.0), np.uint64(key)),
    )


def top_share(
    mass: Floats, rest: Floats, start: Ints, others: Ints, split: Split
) -> tuple[Floats, Floats]:
    """Share of draws in which each entry, or any unmentioned class, is largest.

    Parameters
    ----------
    mass, rest, start
        As in `Plausibilities`.
    others
        Number of unmentioned classes of each item.
    split
        Concentration with which the rest is split over them, and a seed; without one it is
        split evenly. Ties share their draw evenly.
    """
    from equipoise.kernels.tops import top_counts

    entry, spare = np.zeros(mass.shape[1]), np.zeros(len(others))
    top_counts(packed(mass, rest, start, others, split), entry, spare)
    return entry / len(mass), spare / len(mass)
