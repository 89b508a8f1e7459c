"""Agreement of two orders of an item's mentioned classes: the model's and each draw's.

Pair by pair, so that ties on either side are seen as they are; items mention few classes.
Masses that differ by rounding alone are level (`equipoise.kernels.tops`).
"""

import numpy as np
from numba import njit

from equipoise.kernels import compiled
from equipoise.kernels.top_class import TILE
from equipoise.kernels.tops import LEVEL


@njit(cache=True, inline="always")
def _sign(first, second):
    """1 if `one` is larger, -1 if smaller, 0 if they are level."""
    if abs(first - second) <= LEVEL * max(abs(first), abs(second)):
        return 0
    return 1 if first > second else -1


@compiled
def _kendall(score, mass):
    """Kendall's tau-b of two short lists; nan if one of them is all level."""
    agree = strict = strict_mass = 0
    for a in range(len(score)):
        for b in range(a):
            x, y = _sign(score[a], score[b]), _sign(mass[a], mass[b])
            agree += x * y
            strict += x * x
            strict_mass += y * y
    if strict == 0 or strict_mass == 0:
        return np.nan
    return agree / np.sqrt(float(strict) * strict_mass)


@compiled
def _footrule(score, mass):
    """1 minus the share of the largest footrule distance of average ranks; nan if alone."""
    size = len(score)
    if size < 2:
        return np.nan
    twice = 0
    for a in range(size):
        apart = 0
        for b in range(size):
            apart += _sign(score[a], score[b]) - _sign(mass[a], mass[b])
        twice += abs(apart)
    return 1.0 - 0.5 * twice / (size * size // 2)


@compiled
def similarities(start, score, mass, tau, out):
    """Tau-b or footrule of every item and draw; scores (entries,), mass (draws, entries)."""
    items, draws = out.shape
    for first in range(0, draws, TILE):
        for i in range(items):
            begin, end = start[i], start[i + 1]
            for d in range(first, min(first + TILE, draws)):
                pair = score[begin:end], mass[d, begin:end]
                out[i, d] = _kendall(*pair) if tau else _footrule(*pair)
