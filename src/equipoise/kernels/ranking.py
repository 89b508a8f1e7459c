"""Sums behind every ranking metric: one linear pass down the sorted items, many replicates.

Items come sorted by falling score. ``last`` says where runs of equal scores end: 1 an item
alone, 2 the last of a tied run, 0 inside one. Truth is the positive mass p of each item, fixed
(items,) or per replicate (items, replicates); counts say how often an item stands in each
replicate, (items, replicates). Both passes return an array (SUMS, replicates) with the rows

===  ==================================================================================
N    number of items, sum of c
U    positive mass, sum of c p
A    pairs won, sum over i, j of c_i p_i c_j (1 - p_j) [s_i > s_j, 1/2 if equal or i = j]
D    sum of c p (1 - p): what an item paired with itself contributes
P    sum over tied runs of r R / N: r the run's mass, R and N cumulative with the run
Q    sum over tied runs of d / N: d the run's part of D
===  ==================================================================================

from which every form of AUROC and AP with ties in blocks follows in O(1).

Compilers may ignore undefined values and the sign of zero, which lets the loops vectorise, but
not merge or reorder operations: kernels that were just compiled and kernels loaded from the
cache then give the same bytes.
"""

from typing import Any

import numpy as np
from numba import njit

SUMS = 6


@njit(cache=True, fastmath={"nnan", "nsz"}, error_model="numpy")
def _certain_yes(c: Any, sums: Any) -> None:
    """Add an item alone whose label is 1."""
    number, mass, printed = sums[0], sums[1], sums[4]
    for r in range(len(number)):
        number[r] += c[r]
        mass[r] += c[r]
        printed[r] += c[r] * mass[r] / max(number[r], 1.0)


@njit(cache=True, fastmath={"nnan", "nsz"}, error_model="numpy")
def _extend_run(c: Any, p: Any, run: Any) -> None:
    """Add an item to the run of tied items at hand; p is its truth in each replicate."""
    number, mass, own = run
    for r in range(len(number)):
        number[r] += c[r]
        mass[r] += c[r] * p[r]
        own[r] += c[r] * p[r] * (1.0 - p[r])


@njit(cache=True, fastmath={"nnan", "nsz"}, error_model="numpy")
def _close_run(run: Any, sums: Any) -> None:
    """Add a run of tied items, given its number, mass and own pairs; empty the run."""
    number, mass, pairs, own, printed, extra = sums
    run_number, run_mass, run_own = run
    for r in range(len(number)):
        number[r] += run_number[r]
        pairs[r] += (run_number[r] - run_mass[r]) * (mass[r] + 0.5 * run_mass[r])
        mass[r] += run_mass[r]
        own[r] += run_own[r]
        printed[r] += run_mass[r] * mass[r] / max(number[r], 1.0)
        extra[r] += run_own[r] / max(number[r], 1.0)
        run_number[r] = 0.0
        run_mass[r] = 0.0
        run_own[r] = 0.0


@njit(cache=True)
def _empty(width: Any) -> Any:
    """The six sums, and the three of a run: separate arrays, so that loops vectorise."""
    sums = (
        np.zeros(width), np.zeros(width), np.zeros(width),
        np.zeros(width), np.zeros(width), np.zeros(width),
    )  # fmt: skip
    return sums, (np.zeros(width), np.zeros(width), np.zeros(width))


@njit(cache=True)
def _stacked(sums: Any) -> Any:
    out = np.empty((SUMS, len(sums[0])))
    out[0], out[1], out[2] = sums[0], sums[1], sums[2]
    out[3], out[4], out[5] = sums[3], sums[4], sums[5]
    return out


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"}, error_model="numpy")
def fixed_truth(order: Any, last: Any, positive: Any, counts: Any) -> Any:
    """Truth (items,) the same in all replicates; counts (items, replicates) of uint8."""
    width = counts.shape[1]
    sums, run = _empty(width)
    number, mass, pairs, own, printed, extra = sums
    for i in range(len(order)):
        c, p = counts[order[i]], positive[order[i]]
        if last[i] == 1 and p == 0.0:
            for r in range(width):
                number[r] += c[r]
                pairs[r] += c[r] * mass[r]
        elif last[i] == 1 and p == 1.0:
            _certain_yes(c, sums)
        elif last[i] == 1:
            for r in range(width):
                up = c[r] * p
                number[r] += c[r]
                share = up / max(number[r], 1.0)
                pairs[r] += (c[r] - up) * (mass[r] + 0.5 * up)
                mass[r] += up
                own[r] += up * (1.0 - p)
                printed[r] += share * mass[r]
                extra[r] += share * (1.0 - p)
        else:
            _extend_run(c, np.full(width, p), run)
            if last[i] == 2:
                _close_run(run, sums)
    return _stacked(sums)


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"}, error_model="numpy")
def varying_truth(order: Any, last: Any, positive: Any, sure: Any, counts: Any) -> Any:
    """Truth (items, replicates) different in each replicate; counts (items, replicates).

    ``sure[i]`` promises that item i is 0 (value 0) or 1 (value 1) in every replicate; any
    other value promises nothing. Most items of a real panel are sure, which saves a division.
    """
    width = counts.shape[1]
    sums, run = _empty(width)
    number, mass, pairs, own, printed, extra = sums
    for i in range(len(order)):
        c, p, known = counts[order[i]], positive[order[i]], sure[order[i]]
        if last[i] == 1 and known == 0:
            for r in range(width):
                number[r] += c[r]
                pairs[r] += c[r] * mass[r]
        elif last[i] == 1 and known == 1:
            _certain_yes(c, sums)
        elif last[i] == 1:
            for r in range(width):
                up = c[r] * p[r]
                number[r] += c[r]
                share = up / max(number[r], 1.0)
                pairs[r] += (c[r] - up) * (mass[r] + 0.5 * up)
                mass[r] += up
                own[r] += up * (1.0 - p[r])
                printed[r] += share * mass[r]
                extra[r] += share * (1.0 - p[r])
        else:
            _extend_run(c, p, run)
            if last[i] == 2:
                _close_run(run, sums)
    return _stacked(sums)
