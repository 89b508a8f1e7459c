"""The most plausible classes of every draw, met with a model's first classes.

One pass per item and draw finds the largest masses, the j-th of which is the bar for the j most
plausible classes. Classes clearly above the bar are in; those level with it (up to rounding)
share the places that are left, all ways of breaking the tie alike. With b level classes for q
places, the expected overlap with a set M is what of M is above plus q/b of what is level, and
the chance of being M is 1 / C(b, q), if M has all above and nothing below.

Unmentioned classes that are split evenly are all level with each other. Split at random
(`equipoise.kernels.largest`), only the sizes of the largest are known, and which class has
which is left to chance: r of n above the bar meet r u / n of the u that M has, and are those u,
if r = u, with chance 1 / C(n, r).
"""

import math
from typing import Any

import numpy as np
from numba import njit

from equipoise.kernels.largest import TILE, largest, room

LEVEL = 1e-12  # relative difference up to which masses are level


@njit(cache=True, nogil=True)
def leaders(scores: Any, out: Any) -> None:
    """The best classes of every item, best first, the first of equals first; out (items, k)."""
    items, classes = scores.shape
    k = out.shape[1]
    for i in range(items):
        row, best = scores[i], out[i]
        for c in range(classes):
            place = min(c, k)
            if place == k and not row[c] > row[best[k - 1]]:
                continue
            place = min(place, k - 1)
            while place > 0 and row[best[place - 1]] < row[c]:
                best[place] = best[place - 1]
                place -= 1
            best[place] = c


@njit(cache=True)
def _count(place: Any, own: Any, reach: Any, spare: Any, scratch: Any) -> None:
    """Count classes above the bar of a place and level with it, in a tile of draws.

    ``own`` is the model's rank of each mentioned class; its set are the ranks below `reach`.
    ``spare`` is (number of unmentioned classes, whether they are split evenly). Rows of the
    counts: mentioned classes above and level, those of them in the set, unmentioned ones above
    and level, and the bar's lower and upper edge.
    """
    block, bars, counts = scratch[0], scratch[1], scratch[3]
    for t in range(TILE):
        bar = bars[place - 1, t]
        for row in range(6):
            counts[row, t] = 0.0
        counts[6, t], counts[7, t] = bar * (1.0 - LEVEL), bar * (1.0 + LEVEL)
    for j in range(len(own)):
        inside = 1.0 if own[j] < reach else 0.0
        for t in range(TILE):
            up = 1.0 if block[j, t] > counts[7, t] else 0.0
            level = (1.0 if block[j, t] >= counts[6, t] else 0.0) - up
            counts[0, t] += up
            counts[1, t] += level
            counts[2, t] += up * inside
            counts[3, t] += level * inside
    _count_unmentioned(spare, scratch[2], counts)


@njit(cache=True)
def _count_unmentioned(spare: Any, shares: Any, counts: Any) -> None:
    """Fill in the rows of unmentioned classes; a bar of 0 is level with all without mass."""
    others, even = spare
    times = float(others) if even else 1.0
    for p in range(1 if even else len(shares)):
        for t in range(TILE):
            up = times if shares[p, t] > counts[7, t] else 0.0
            counts[4, t] += up
            counts[5, t] += (times if shares[p, t] >= counts[6, t] else 0.0) - up
    for t in range(TILE):
        if counts[7, t] == 0.0:
            counts[5, t] = others - counts[4, t]


@njit(cache=True)
def _reached(own: Any, reach: Any) -> Any:
    """How many unmentioned classes are among the model's first `reach`."""
    number = reach
    for rank in own:
        number -= rank < reach
    return number


@njit(cache=True, nogil=True, error_model="numpy")
def overlaps(truth: Any, rank: Any, spans: Any, out: Any) -> None:
    """Expected overlaps of the most plausible classes with the model's first, added up.

    ``truth`` is (start, mass, rest, number of unmentioned classes by item, (concentration or
    0, key)); ``rank`` the model's rank of each entry's class; ``spans`` is (places, ranks,
    weights): the `places` most plausible classes against the `ranks` first of the model.
    ``out`` is (items, draws).
    """
    start, others = truth[0], truth[3]
    places, reach, weight = spans
    draws = out.shape[1]
    scratch = room(start, places.max())
    counts, total = scratch[3], np.empty(TILE)
    for first in range(0, draws, TILE):
        for i in range(len(others)):
            own = rank[start[i] : start[i + 1]]
            even = largest(truth, (first, i), scratch)
            total[:] = 0.0
            for s in range(len(places)):
                _count(places[s], own, reach[s], (others[i], even), scratch)
                free = _reached(own, reach[s]) / max(others[i], 1)
                for t in range(TILE):
                    level = counts[1, t] + counts[5, t]
                    part = (places[s] - counts[0, t] - counts[4, t]) / level
                    shared = counts[2, t] + counts[4, t] * free
                    shared += part * (counts[3, t] + counts[5, t] * free)
                    total[t] += weight[s] * shared
            for t in range(min(TILE, draws - first)):
                out[i, first + t] = total[t]


@njit(cache=True)
def _choose(n: Any, k: Any) -> Any:
    """Number of ways to choose k of n, up to 1,000 of them."""
    k = min(k, n - k)
    ways = 1.0
    for j in range(1, k + 1):
        ways = ways * (n - k + j) / j
    return ways


@njit(cache=True)
def _chance(level: Any, places: Any, free: Any, ranks: Any) -> Any:
    """Chance that a tie, and the names of unmentioned classes, fall as the model says.

    ``level`` is (level classes, of them unmentioned), ``places`` (left for them, for
    unmentioned ones), ``free`` the number of unmentioned classes, ``ranks`` how many of them
    the model's set has.
    """
    if max(level[0], free) <= 1000:
        ways = _choose(level[1], places[1])
        return ways / _choose(level[0], places[0]) / _choose(free, ranks)
    ways = 0.0
    for sign, n, k in ((1, level[1], places[1]), (-1, level[0], places[0]), (-1, free, ranks)):
        ways += sign * (math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0))
    return math.exp(ways)


@njit(cache=True, nogil=True, error_model="numpy")
def matches(truth: Any, rank: Any, k: Any, out: Any) -> None:
    """Chance that the k most plausible classes are the model's first k; out (items, draws).

    ``truth`` and ``rank`` are as in `overlaps`.
    """
    start, others = truth[0], truth[3]
    draws = out.shape[1]
    scratch = room(start, k)
    counts = scratch[3]
    for first in range(0, draws, TILE):
        for i in range(len(others)):
            own = rank[start[i] : start[i + 1]]
            u = _reached(own, k)
            even = largest(truth, (first, i), scratch)
            _count(k, own, k, (others[i], even), scratch)
            for t in range(min(TILE, draws - first)):
                up, r, e = counts[0, t], counts[4, t], counts[5, t]
                fits = up == counts[2, t] and counts[2, t] + counts[3, t] == k - u
                out[i, first + t] = 0.0
                if fits and 0 <= u - r <= e:
                    ties = (int(counts[1, t] + e), int(e))
                    left = (int(k - up - r), int(u - r))
                    out[i, first + t] = _chance(ties, left, others[i], u)


@njit(cache=True, nogil=True, error_model="numpy")
def top_counts(truth: Any, entry: Any, spare: Any) -> None:
    """Add up in how many draws each entry, or any unmentioned class, is largest; ties share.

    ``truth`` is as in `overlaps`, ``entry`` (entries,), ``spare`` (items,).
    """
    start, mass, others = truth[0], truth[1], truth[3]
    scratch = room(start, 1)
    block, counts = scratch[0], scratch[3]
    none = np.zeros(len(entry), dtype=np.int64)
    for first in range(0, len(mass), TILE):
        for i in range(len(others)):
            begin, end = start[i], start[i + 1]
            even = largest(truth, (first, i), scratch)
            _count(1, none[begin:end], 0, (others[i], even), scratch)
            for t in range(min(TILE, len(mass) - first)):
                level = counts[1, t] + counts[5, t]
                spare[i] += counts[5, t] / level
                for j in range(end - begin):
                    entry[begin + j] += (block[j, t] >= counts[6, t]) / level
