"""Sums behind every ranking metric: one linear pass down the sorted items, many replicates.

Items come sorted by falling score. ``last`` says where runs of equal scores end: 1 an item
alone, 2 the last of a tied run, 0 inside one. Truth is the positive mass p of each item, fixed
(items,) or per replicate (items, replicates); counts say how often an item stands in each
replicate, (items, replicates). Both passes return for every truth an array (SUMS, replicates)
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
at most items / 2^52 of U (N - U), as that of adding up pairs won. Several fixed truths (hard
and soft labels) share the walk and the counting.

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
def _close_run(seen: Any, before: Any, run: Any, s: Any) -> None:
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
def _finish(seen: Any, s: Any, out: Any) -> None:
    """Write the six sums of one truth, shape (SUMS, replicates)."""
    for r in range(len(seen)):
        n = np.float64(seen[r])
        out[0, r] = n
        out[1, r] = s[r]
        out[2, r] = max(s[r] * (n - s[r]) - s[r + _LOST], 0.0)
        out[3, r] = s[r + _OWN]
        out[4, r] = s[r + _PRINTED]
        out[5, r] = s[r + _EXTRA]


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"}, error_model="numpy")
def fixed_truths(order: Any, last: Any, positive: Any, counts: Any, zero: Any) -> Any:
    """Truths (items, truths) the same in all replicates, of which there are at most `TILE`.

    ``counts`` (items, replicates) are of uint8, and ``zero`` is `counter` of the items.
    Returns (truths, SUMS, replicates).
    """
    truths, width = positive.shape[1], counts.shape[1]
    s, run = np.zeros((truths, _STATE)), np.zeros((truths, 2 * TILE))
    seen, before = np.full(width, zero), np.full(width, zero)
    for i in range(len(order)):
        row, end = order[i], last[i]
        if end != 1 and (i == 0 or last[i - 1] != 0):
            before[:] = seen
        for r in range(width):
            seen[r] += counts[row, r]
        for t in range(truths):
            p = positive[row, t]
            q = 1.0 - p
            if end == 1 and p == 1.0:
                for r in range(width):
                    k, n = np.float64(counts[row, r]), np.float64(seen[r])
                    s[t, r + _LOST] += k * (n - k - s[t, r])
                    s[t, r] += k
                    s[t, r + _PRINTED] += k * s[t, r] / max(n, 1.0)
            elif end == 1 and p != 0.0:
                itself = p + 0.5 * q
                for r in range(width):
                    k, n = np.float64(counts[row, r]), np.float64(seen[r])
                    up = k * p
                    share = up / max(n, 1.0)
                    s[t, r + _LOST] += up * (n - s[t, r] - itself * k)
                    s[t, r] += up
                    s[t, r + _OWN] += up * q
                    s[t, r + _PRINTED] += share * s[t, r]
                    s[t, r + _EXTRA] += share * q
            elif p != 0.0:
                for r in range(width):
                    up = counts[row, r] * p
                    run[t, r] += up
                    run[t, r + TILE] += up * q
            if end == 2:
                _close_run(seen, before, run[t], s[t])
    out = np.empty((truths, SUMS, width))
    for t in range(truths):
        _finish(seen, s[t], out[t])
    return out


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"}, error_model="numpy")
def varying_truth(order: Any, last: Any, truth: Any, counts: Any, zero: Any) -> Any:
    """Truth (items, replicates) different in each replicate, of which there are at most `TILE`.

    ``truth`` is (positive, sure), and ``sure[i]`` promises that item i is 0 (value 0) or 1
    (value 1) in every replicate; any other value promises nothing. Most items of a real panel
    are sure, which saves a division. Returns (SUMS, replicates).
    """
    positive, sure = truth
    width = counts.shape[1]
    s, run = np.zeros(_STATE), np.zeros(2 * TILE)
    seen, before = np.full(width, zero), np.full(width, zero)
    for i in range(len(order)):
        row, known, end = order[i], sure[order[i]], last[i]
        if end != 1 and (i == 0 or last[i - 1] != 0):
            before[:] = seen
        for r in range(width):
            seen[r] += counts[row, r]
        if end == 1 and known == 1:
            for r in range(width):
                k, n = np.float64(counts[row, r]), np.float64(seen[r])
                s[r + _LOST] += k * (n - k - s[r])
                s[r] += k
                s[r + _PRINTED] += k * s[r] / max(n, 1.0)
        elif end == 1 and known != 0:
            for r in range(width):
                k, n, p = np.float64(counts[row, r]), np.float64(seen[r]), positive[row, r]
                up, q = k * p, 1.0 - p
                share = up / max(n, 1.0)
                s[r + _LOST] += up * (n - s[r] - (up + 0.5 * k * q))
                s[r] += up
                s[r + _OWN] += up * q
                s[r + _PRINTED] += share * s[r]
                s[r + _EXTRA] += share * q
        elif known != 0:
            for r in range(width):
                up = counts[row, r] * positive[row, r]
                run[r] += up
                run[r + TILE] += up * (1.0 - positive[row, r])
        if end == 2:
            _close_run(seen, before, run, s)
    out = np.empty((SUMS, width))
    _finish(seen, s, out)
    return out
