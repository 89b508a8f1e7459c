"""Sums behind every ranking metric: one linear pass down the sorted items, many replicates.

Items come sorted by falling score. ``last`` says where runs of equal scores end: 1 an item
alone, 2 the last of a tied run, 0 inside one. Truth is the positive mass p of each item, the
same in all replicates or in each its own; counts say how often an item stands in each
replicate, (items, replicates). The pass returns for every truth an array (SUMS, replicates)
with the rows

===  ==================================================================================
N    number of items, sum of c
U    positive mass, sum of c p
A    pairs won, sum over i, j of c_i p_i c_j (1 - p_j) [s_i > s_j, 1/2 if equal or i = j]
D    sum of c p (1 - p): what an item paired with itself contributes
P    sum over tied runs of r R / N: r the run's mass, R and N cumulative with the run
Q    sum over tied runs of d / N: d the run's part of D
===  ==================================================================================

from which every form of AUROC and AP with ties in blocks follows in O(1).

Most items of a rare finding have p = 0. They need no arithmetic but a whole number: the pass
counts items seen in 32-bit integers (64 where those could overflow), and only items with mass
pay for the rest. It adds up pairs lost, mass times negatives above, and A = U (N - U) - lost.
Hard labels make every term a multiple of 1/4, so that A is exact; with soft ones its error is
at most items / 2^52 of U (N - U), as that of adding up pairs won. Several truths (hard and
soft labels) share the walk and the counting. Items with the same votes share a row of masses,
so that what is looked up stays in a near cache.

Compilers may ignore undefined values and the sign of zero, which lets the loops vectorise, but
not merge or reorder operations: kernels that were just compiled and kernels loaded from the
cache then give the same bytes.

Positive mass among the first k items, and pairs between two classes, per replicate.

Items by falling score: a stable radix sort of doubles, exact to their last bit.

The bits of a double, turned so that larger scores have smaller keys, sort as whole numbers:
passes of 13 bits each, lowest first, move keys and items together, and a pass in which all
keys agree is left out (the low bits of scores that were 32-bit numbers). Equal scores keep the
order of their items; 0 and -0 are equal; what is no number comes last and is tied with nothing.

The sorted order is unique, so nothing about it can depend on threads or blocks.
"""

from typing import Any

import numpy as np
from numba import njit, uint64

from equipoise.kernels import compiled, compiled_as_numpy

SUMS = 6
TILE = 128  # replicates that are walked together; a constant, so that loops vectorise
_MASS, _LOST, _OWN, _PRINTED, _EXTRA = 0, TILE, 2 * TILE, 3 * TILE, 4 * TILE
_STATE = 5 * TILE


def counter(items: int) -> Any:
    """A zero wide enough to count items whose counts are of uint8."""
    return np.int32(0) if items <= (2**31 - 1) // 255 else np.int64(0)


@njit(cache=True, fastmath={"nnan", "nsz"}, error_model="numpy")
def _close_run(seen, before, run, s):
    """Add a run of tied items, given its mass and own pairs, and what was seen before it."""
    for r in range(len(seen)):
        n, size, up = np.float64(seen[r]), np.float64(seen[r] - before[r]), run[r]
        s[r + _LOST] += up * (n - s[r] - 0.5 * (size + up))
        s[r] += up
        s[r + _OWN] += run[r + TILE]
        s[r + _PRINTED] += up * s[r] / max(n, 1.0)
        s[r + _EXTRA] += run[r + TILE] / max(n, 1.0)
        run[r] = 0.0
        run[r + TILE] = 0.0


@njit(cache=True, fastmath={"nnan", "nsz"}, error_model="numpy")
def _finish(seen, s, out):
    """Write the six sums of one truth, shape (SUMS, replicates)."""
    for r in range(len(seen)):
        n = np.float64(seen[r])
        out[0, r] = n
        out[1, r] = s[r]
        out[2, r] = max(s[r] * (n - s[r]) - s[r + _LOST], 0.0)
        out[3, r] = s[r + _OWN]
        out[4, r] = s[r + _PRINTED]
        out[5, r] = s[r + _EXTRA]


@njit(cache=True, fastmath={"nnan", "nsz"}, error_model="numpy")
def _add_alone(place, mass, counts, seen, s):
    """Add an item without ties to a truth, ``place`` (item, truth), given its masses."""
    item, t = place
    for r in range(len(seen)):
        k, n, p = np.float64(counts[item, r]), np.float64(seen[r]), mass[r]
        up, q = k * p, 1.0 - p
        share, itself = up / max(n, 1.0), p + 0.5 * q
        s[t, r + _LOST] += up * (n - s[t, r] - k * itself)
        s[t, r] += up
        s[t, r + _OWN] += up * q
        s[t, r + _PRINTED] += share * s[t, r]
        s[t, r + _EXTRA] += share * q


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"}, error_model="numpy")
def ranking_sums(order, last, truths, counts, zero):
    """Sums of several truths in at most `TILE` replicates, shape (truths, SUMS, replicates).

    ``truths`` is (pattern, rows, sure). Items with the same votes have the same row, whose
    number is ``pattern[i]``; where ``pattern`` is empty, each item has its own. ``rows``
    (patterns, truths, replicates) hold the positive mass, which is the same in all replicates
    where there is one column. ``sure`` (patterns, truths) promises of several columns that a
    row is 0 (value 0) or 1 (value 1) throughout; any other value promises nothing. Most items
    of a real panel are sure, which saves a division. ``zero`` is `counter` of the items.
    """
    (pattern, rows, sure), width = truths, counts.shape[1]
    truth_count = rows.shape[1]
    s, run = np.zeros((truth_count, _STATE)), np.zeros((truth_count, 2 * TILE))
    seen, before = np.full(width, zero), np.full(width, zero)
    mass = np.empty(TILE)
    shared, varying = len(pattern) > 0, rows.shape[2] > 1
    for i in range(len(order)):
        item, end = order[i], last[i]
        cell = pattern[item] if shared else item
        if end != 1 and (i == 0 or last[i - 1] != 0):
            for r in range(width):  # an assignment of slices takes 2 s to compile
                before[r] = seen[r]
        for r in range(width):
            seen[r] += counts[item, r]
        for t in range(truth_count):
            p = rows[cell, t, 0]
            state = sure[cell, t] if varying else 0 if p == 0.0 else 1 if p == 1.0 else 2
            if state == 1 and end == 1:
                for r in range(width):
                    k, n = np.float64(counts[item, r]), np.float64(seen[r])
                    s[t, r + _LOST] += k * (n - s[t, r] - k)
                    s[t, r] += k
                    s[t, r + _PRINTED] += k / max(n, 1.0) * s[t, r]
            elif state != 0:
                for r in range(width):
                    mass[r] = rows[cell, t, r] if varying else p
                if end == 1:
                    _add_alone((item, t), mass, counts, seen, s)
                    continue
                for r in range(width):
                    up = counts[item, r] * mass[r]
                    run[t, r] += up
                    run[t, r + TILE] += up * (1.0 - mass[r])
            if end == 2:
                _close_run(seen, before, run[t], s[t])
    out = np.empty((truth_count, SUMS, width))
    for t in range(truth_count):
        _finish(seen, s[t], out[t])
    return out


@compiled_as_numpy
def top_mass(order, last, positive, counts, k):
    """Mass of the top k, shape (2, replicates): how many items were taken, and their mass.

    A tied run that straddles the k-th place gives its mass times the fraction taken. Truth
    and counts are (items, replicates). Stops as soon as every replicate is full.
    """
    items, width = order.shape[0], counts.shape[1]
    out = np.zeros((2, width))
    taken, mass = out[0], out[1]
    run_number, run_mass = np.zeros(width), np.zeros(width)
    for i in range(items):
        c, p = counts[order[i]], positive[order[i]]
        for r in range(width):
            run_number[r] += c[r]
            run_mass[r] += c[r] * p[r]
        if last[i] == 0:
            continue
        full = True
        for r in range(width):
            room = min(run_number[r], k - taken[r])
            if room > 0.0:
                mass[r] += run_mass[r] * (room / run_number[r])
                taken[r] += room
            full = full and taken[r] >= k
            run_number[r] = 0.0
            run_mass[r] = 0.0
        if full:
            break
    return out


@compiled_as_numpy
def class_pairs(order, last, upper, lower, counts):
    """Sums for one class against another, shape (4, replicates): U, V, pairs won, own pairs.

    ``upper`` and ``lower`` are the masses of the two classes, (items, replicates).
    """
    items, width = order.shape[0], counts.shape[1]
    out = np.zeros((4, width))
    up, down, pairs, ties = out[0], out[1], out[2], out[3]
    run_up, run_down = np.zeros(width), np.zeros(width)
    for i in range(items):
        c, u, v = counts[order[i]], upper[order[i]], lower[order[i]]
        for r in range(width):
            run_up[r] += c[r] * u[r]
            run_down[r] += c[r] * v[r]
            ties[r] += c[r] * u[r] * v[r]
        if last[i] == 0:
            continue
        for r in range(width):
            pairs[r] += run_down[r] * (up[r] + 0.5 * run_up[r])
            up[r] += run_up[r]
            down[r] += run_down[r]
            run_up[r] = 0.0
            run_down[r] = 0.0
    return out


@compiled_as_numpy
def random_ties(order, last, positive, counts, harmonic):
    """Average precision over random orders inside ties, shape (3, replicates).

    Rows: positive mass, the conditional sum, the printed sum. ``harmonic[n]`` is the n-th
    harmonic number, which sums 1 / rank over a run in closed form. Truth and counts are
    (items, replicates); copies of an item are tied with each other.
    """
    items, width = order.shape[0], counts.shape[1]
    out = np.zeros((3, width))
    mass, conditional, printed = out[0], out[1], out[2]
    number = np.zeros(width, dtype=np.int64)
    run_number = np.zeros(width, dtype=np.int64)
    run_mass, run_square = np.zeros(width), np.zeros(width)
    for i in range(items):
        c, p = counts[order[i]], positive[order[i]]
        for r in range(width):
            run_number[r] += c[r]
            run_mass[r] += c[r] * p[r]
            run_square[r] += c[r] * p[r] * p[r]
        if last[i] == 0:
            continue
        for r in range(width):
            t, before = run_number[r], number[r]
            if t > 0:
                inverse = harmonic[before + t] - harmonic[before]
                both = 0.0
                if t > 1:
                    later = t - (before + 1) * inverse
                    both = (run_mass[r] ** 2 - run_square[r]) / (t * (t - 1.0)) * later
                single = run_mass[r] / t * inverse
                conditional[r] += single * (1.0 + mass[r]) + both
                printed[r] += single * mass[r] + run_square[r] / t * inverse + both
            number[r] += t
            mass[r] += run_mass[r]
            run_number[r] = 0
            run_mass[r] = 0.0
            run_square[r] = 0.0
    return out


DIGIT = 13
PASSES = 5
_SIZE = 1 << DIGIT
_MASK = np.uint64(_SIZE - 1)
_SIGN = np.uint64(1 << 63)
_NOTHING = np.uint64(2**64 - 1)


@compiled
def _falling_keys(scores, key, tally):
    """Keys that rise as scores fall, and how often each digit of each pass occurs."""
    bits = scores.view(np.uint64)
    for i in range(len(scores)):
        b = bits[i]
        if scores[i] == 0.0:
            b = uint64(0)
        k = b if b & _SIGN else ~(b | _SIGN)
        if scores[i] != scores[i]:
            k = _NOTHING
        key[i] = k
        for p in range(PASSES):
            tally[p, k & _MASK] += 1
            k >>= uint64(DIGIT)


@compiled
def _move(source, target, shift, place):
    """One pass: keys and items to where their digit has its place."""
    key, item = source
    key_to, item_to = target
    for i in range(len(key)):
        k = key[i]
        digit = (k >> shift) & _MASK
        spot = place[digit]
        place[digit] = spot + 1
        key_to[spot] = k
        item_to[spot] = item[i]


@compiled
def falling(scores):
    """Positions of the items, best first (int32), and where runs end (`Order`), uint8."""
    number = len(scores)
    key, tally = np.empty(number, np.uint64), np.zeros((PASSES, _SIZE), np.int64)
    _falling_keys(scores, key, tally)
    item = np.arange(number).astype(np.int32)
    key_to, item_to = np.empty_like(key), np.empty_like(item)
    for p in range(PASSES):
        if tally[p].max() == number:
            continue
        place = np.cumsum(tally[p]) - tally[p]
        _move((key, item), (key_to, item_to), uint64(p * DIGIT), place)
        key, key_to = key_to, key
        item, item_to = item_to, item
    last = np.empty(number, np.uint8)
    before = False
    for i in range(number):
        after = i + 1 < number and key[i] == key[i + 1] and key[i] != _NOTHING
        last[i] = 0 if after else 2 if before else 1
        before = after
    return item, last
