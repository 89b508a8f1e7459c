"""The largest masses of every draw, among mentioned and unmentioned classes.

Of n classes that nobody mentioned only the mass of all is known. Split evenly, each has an
equal part. Split by a symmetric Dirichlet(a), their shares are drawn one by one, larger ones
first as a rule (size-biased order): the j-th is a Beta(1 + a, (n - j) a) part of what is left.
What is left bounds every share to come, so drawing stops, exactly, when it is below the
smallest mass wanted.

Draws are taken `TILE` at a time, so that whole cache lines are read and most loops run over
lanes. Every item and draw has its own random stream (`equipoise.kernels.resampling`).
"""

import numpy as np
from numba import uint64

from equipoise.kernels import compiled
from equipoise.kernels.plackett_luce import _gamma, _uniform
from equipoise.kernels.resampling import GOLDEN, _mix

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

    ``truth`` is as in `equipoise.kernels.tops.overlaps`, ``spot`` (first draw, item),
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
