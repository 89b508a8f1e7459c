"""The most plausible classes of every draw, met with a model's first classes.

One pass per item and draw finds the largest masses, the j-th of which is the bar for the j most
plausible classes. Classes clearly above the bar are in; those level with it (up to rounding)
share the places that are left, all ways of breaking the tie alike. With b level classes for q
places, the expected overlap with a set M is what of M is above plus q/b of what is level, and
the chance of being M is 1 / C(b, q), if M has all above and nothing below. Classes that a model
scores alike share its last places in the same way: a class is in M by a share, and the chance
of being M is the mean over all ways to fill them.

Unmentioned classes that are split evenly are all level with each other. Split at random, only
the sizes of the largest are known, and which class has which is left to chance: r of n above
the bar meet r u / n of the u that M has, and are those u, if r = u, with chance 1 / C(n, r).

The largest masses of every draw, among mentioned and unmentioned classes.

Of n classes that nobody mentioned only the mass of all is known. Split evenly, each has an
equal part. Split by a symmetric Dirichlet(a), their shares are drawn one by one, larger ones
first as a rule (size-biased order): the j-th is a Beta(1 + a, (n - j) a) part of what is left.
What is left bounds every share to come, so drawing stops, exactly, when it is below the
smallest mass wanted.

Draws are taken `TILE` at a time, so that whole cache lines are read and most loops run over
lanes. Every item and draw has its own random stream (`equipoise.kernels.resampling`).

Agreement of two orders of an item's mentioned classes: the model's and each draw's.

Pair by pair, so that ties on either side are seen as they are; items mention few classes.
Masses that differ by rounding alone are level.
"""

import math

import numpy as np
from numba import njit, uint64

from equipoise.kernels import compiled, compiled_as_numpy
from equipoise.kernels.plackett_luce import _gamma, _uniform
from equipoise.kernels.resampling import GOLDEN, _mix

LEVEL = 1e-12  # relative difference up to which masses are level


@compiled
def _count(place, own, spare, scratch):
    """Count classes above the bar of a place and level with it, in a tile of draws.

    ``own`` is the share by which each mentioned class is in the model's set.
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
        inside = own[j]
        for t in range(TILE):
            up = 1.0 if block[j, t] > counts[7, t] else 0.0
            level = (1.0 if block[j, t] >= counts[6, t] else 0.0) - up
            counts[0, t] += up
            counts[1, t] += level
            counts[2, t] += up * inside
            counts[3, t] += level * inside
    _count_unmentioned(spare, scratch[2], counts)


@compiled
def _count_unmentioned(spare, shares, counts):
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


@compiled_as_numpy
def overlaps(truth, member, spans, out):
    """Expected overlaps of the most plausible classes with the model's first, added up.

    ``truth`` is (start, mass, rest, number of unmentioned classes by item, (concentration or
    0, key)); ``spans`` is (places, ranks, weights): the `places` most plausible classes against
    the `ranks` first of the model; ``member`` (spans, entries) is the share by which each
    entry's class is among these. ``out`` is (items, draws).
    """
    start, others = truth[0], truth[3]
    places, reach, weight = spans
    draws = out.shape[1]
    scratch = room(start, places.max())
    counts, total = scratch[3], np.empty(TILE)
    for first in range(0, draws, TILE):
        for i in range(len(others)):
            even = largest(truth, (first, i), scratch)
            total[:] = 0.0
            for s in range(len(places)):
                own = member[s, start[i] : start[i + 1]]
                _count(places[s], own, (others[i], even), scratch)
                free = (reach[s] - own.sum()) / max(others[i], 1)
                for t in range(TILE):
                    level = counts[1, t] + counts[5, t]
                    part = (places[s] - counts[0, t] - counts[4, t]) / level
                    shared = counts[2, t] + counts[4, t] * free
                    shared += part * (counts[3, t] + counts[5, t] * free)
                    total[t] += weight[s] * shared
            for t in range(min(TILE, draws - first)):
                out[i, first + t] = total[t]


@compiled
def _choose(n, k):
    """Number of ways to choose k of n, up to 1,000 of them."""
    k = min(k, n - k)
    ways = 1.0
    for j in range(1, k + 1):
        ways = ways * (n - k + j) / j
    return ways


@compiled
def _chance(level, places, free, ranks):
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


@compiled_as_numpy
def matches(truth, sides, tied, k, out):
    """Chance that the k most plausible classes are the model's first k; out (items, draws).

    ``truth`` is as in `overlaps`. ``sides`` (2, entries) is 1 where an entry's class is surely
    among the model's first, and where it is tied for their last places; ``tied`` (items, 2)
    how many classes are tied, and for how many places.
    """
    start, others = truth[0], truth[3]
    draws = out.shape[1]
    scratch = room(start, k)
    counts, ours = scratch[3], np.empty((2, TILE))
    for first in range(0, draws, TILE):
        for i in range(len(others)):
            sure, open_ = sides[:, start[i] : start[i + 1]]
            even = largest(truth, (first, i), scratch)
            _count(k, open_, (others[i], even), scratch)
            for t in range(TILE):
                ours[0, t], ours[1, t] = counts[2, t], counts[3, t]
            _count(k, sure, (others[i], even), scratch)
            size, named = (sure.sum(), open_.sum()), (tied[i, 0], tied[i, 1])
            for t in range(min(TILE, draws - first)):
                fits = counts[2, t] + counts[3, t] == size[0]
                fits = fits and counts[0, t] == counts[2, t] + ours[0, t]
                out[i, first + t] = 0.0
                if fits:
                    left = (named, size, (ours[0, t], ours[1, t]))
                    out[i, first + t] = _match(k, left, counts[:, t], others[i])


@compiled
def _match(k, model, counts, free):
    """Chance of a draw's set, over all ways to fill the last places of the model's.

    ``model`` is ((tied classes, their places), (mentioned ones sure, and tied), (of the tied
    above the bar, and level with it)).
    """
    (block, places), (sure, named), (up, level) = model
    spare, whole = int(block - named), _choose(int(block), int(places))
    total = 0.0
    for x in range(min(spare, int(places)) + 1):  # unmentioned classes among the tied
        ways, u = int(places - x - up), int(k - places - sure + x)
        r, e = int(counts[4]), int(counts[5])
        if 0 <= ways <= level and r <= u <= r + e:
            ties, left = (int(counts[1] + e), e), (int(k - counts[0] - r), u - r)
            share = _choose(spare, x) * _choose(int(level), ways) / whole
            total += share * _chance(ties, left, free, u)
    return total


@compiled_as_numpy
def top_counts(truth, entry, spare):
    """Add up in how many draws each entry, or any unmentioned class, is largest; ties share.

    ``truth`` is as in `overlaps`, ``entry`` (entries,), ``spare`` (items,).
    """
    start, mass, others = truth[0], truth[1], truth[3]
    scratch = room(start, 1)
    block, counts = scratch[0], scratch[3]
    none = np.zeros(len(entry))
    for first in range(0, len(mass), TILE):
        for i in range(len(others)):
            begin, end = start[i], start[i + 1]
            even = largest(truth, (first, i), scratch)
            _count(1, none[begin:end], (others[i], even), scratch)
            for t in range(min(TILE, len(mass) - first)):
                level = counts[1, t] + counts[5, t]
                spare[i] += counts[5, t] / level
                for j in range(end - begin):
                    entry[begin + j] += (block[j, t] >= counts[6, t]) / level


TILE = 64


@compiled
def room(start, most):
    """Room for one tile: masses, largest masses, shares of the rest, counts, carry, stream."""
    widest = 1
    for i in range(len(start) - 1):
        widest = max(widest, start[i + 1] - start[i])
    return (
        np.empty((widest + most, TILE)), np.empty((most, TILE)), np.empty((most, TILE)),
        np.empty((8, TILE)), np.empty(TILE), np.empty(1, dtype=np.uint64),
    )  # fmt: skip


@compiled
def _gather(mass, first, begin, block):
    """Copy the masses of one item in a tile of draws, (classes, draws); the last may repeat."""
    last = len(mass) - 1
    for t in range(TILE):
        d = min(first + t, last)
        for j in range(len(block)):
            block[j, t] = mass[d, begin + j]


@compiled
def _spread_evenly(rest, spot, others, block, shares):
    """Fill in equal masses of unmentioned classes, as many as can be among the largest."""
    first, i = spot
    for t in range(TILE):
        part = max(rest[min(first + t, len(rest) - 1), i], 0.0) / max(others, 1)
        shares[0, t] = part
        for j in range(len(block)):
            block[j, t] = part


@compiled
def _raise_bars(block, bars, carry):
    """Fill in the largest masses of every draw, falling, shape (places, draws)."""
    for p in range(len(bars)):
        for t in range(TILE):
            bars[p, t] = 0.0
    for j in range(len(block)):
        for t in range(TILE):
            carry[t] = block[j, t]
        for p in range(len(bars)):
            for t in range(TILE):
                new, old = carry[t], bars[p, t]
                bars[p, t] = new if new > old else old
                carry[t] = old if new > old else new


@compiled
def _insert(falling, t, value):
    """Put a mass among the largest of one draw."""
    place = len(falling) - 1
    if value > falling[place, t]:
        while place > 0 and falling[place - 1, t] < value:
            falling[place, t] = falling[place - 1, t]
            place -= 1
        falling[place, t] = value


@compiled
def _part_left(stream, shape, others):
    """What is left after a Beta(1 + a, others a) part: from Beta(1, others a) where cheap."""
    more = others * shape
    if shape > 1.0 or more > 1.0:
        gamma, rest = _gamma(stream, 1.0 + shape), _gamma(stream, more)
        return rest / (gamma + rest)
    while True:
        left, point = _uniform(stream) ** (1.0 / more), _uniform(stream)
        if point <= 1.0 - left or point <= (1.0 - left) ** shape:
            return left


@compiled
def _spread(rest, spot, split, bars, shares):
    """Draw shares of the rest, until no share to come can be among the largest masses.

    ``spot`` is (first draw, item), ``split`` (number of unmentioned classes, concentration,
    key, stream). The largest shares are kept, and added to the largest masses.
    """
    first, i = spot
    others, shape, key, stream = split
    most = len(bars)
    for t in range(TILE):
        d = min(first + t, len(rest) - 1)
        left, n = rest[d, i], others
        for p in range(most):
            shares[p, t] = 0.0
        if left > bars[most - 1, t]:
            word = _mix(uint64(key) + uint64(i + 1) * GOLDEN)
            stream[0] = _mix(word + uint64(d + 1) * GOLDEN)
        while n > 0 and left > bars[most - 1, t]:
            n -= 1
            part = _part_left(stream, shape, n) if n > 0 else 0.0
            _insert(bars, t, left * (1.0 - part))
            _insert(shares, t, left * (1.0 - part))
            left *= part


@compiled
def largest(truth, spot, scratch):
    """Find the largest masses of one item in a tile of draws; say if the split is even.

    ``truth`` is as in `overlaps`, ``spot`` (first draw, item),
    ``scratch`` what `room` made. The shares of an even split are all in the first row.
    """
    start, mass, rest, others, (shape, key) = truth
    first, i = spot
    block, bars, shares, _, carry, stream = scratch
    size, n = start[i + 1] - start[i], others[i]
    _gather(mass, first, start[i], block[:size])
    even = shape == 0.0 or n == 1
    more = min(n, len(bars)) if even else 0
    if even:
        _spread_evenly(rest, spot, n, block[size : size + more], shares)
    _raise_bars(block[: size + more], bars, carry)
    if not even:
        _spread(rest, spot, (n, shape, key, stream), bars, shares)
    return even


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
