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
"""

from typing import Any

import numpy as np
from numba import njit

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
