"""Random resamples from a counter-based stream: replicate r never depends on its block.

Word i of replicate r is ``mix(mix(key + (r + 1) GOLDEN) + (i + 1) GOLDEN)``, with the finaliser
of splitmix64 (Steele, Lea and Flood 2014) as ``mix``: any word of any replicate can be made on
its own, so chunks and threads cannot change a single draw.
"""

import numpy as np
from numba import njit, uint64

from equipoise.kernels import compiled

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
LOW = np.uint64(0xFFFFFFFF)
ROWS = 16  # replicates that are tallied before they become columns
WORDS = 1024  # random words made at once


@njit(cache=True, inline="always")
def _mix(z):
    z = (z ^ (z >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB)
    return z ^ (z >> uint64(31))


@compiled
def _tally_units(state, low, high, tally):
    """Draw the units of one replicate; words are made by the buffer, which vectorises."""
    units = len(tally)
    span, whole = uint64(units), units // 2
    for begin in range(0, whole, WORDS):
        some = min(WORDS, whole - begin)
        for i in range(some):
            z = _mix(state + uint64(begin + i + 1) * GOLDEN)
            low[i] = ((z & LOW) * span) >> uint64(32)
            high[i] = ((z >> uint64(32)) * span) >> uint64(32)
        for i in range(some):
            tally[low[i]] += 1
            tally[high[i]] += 1
    if units % 2:
        z = _mix(state + uint64(whole + 1) * GOLDEN)
        tally[((z & LOW) * span) >> uint64(32)] += 1


@compiled
def draw_counts(key, first, counts):
    """Draw as many units as there are, with replacement; counts (units, replicates) of uint8.

    Column j belongs to replicate ``first + j``. A unit is chosen by the high half of a 32-bit
    product, so its chance is off by at most units / 2^32. A replicate is tallied in a row of
    its own, which stays in the nearest cache, and rows are turned into columns a few at a time.
    """
    units, width = counts.shape
    tally, low = np.empty((ROWS, units), dtype=np.uint8), np.empty(WORDS, dtype=np.uint32)
    high = np.empty_like(low)
    for begin in range(0, width, ROWS):
        rows = min(ROWS, width - begin)
        tally[:rows] = 0
        for j in range(rows):
            state = _mix(uint64(key) + uint64(first + begin + j + 1) * GOLDEN)
            _tally_units(state, low, high, tally[j])
        if rows == ROWS:  # a loop of known length is unrolled
            for i in range(units):
                for j in range(ROWS):
                    counts[i, begin + j] = tally[j, i]
        else:
            for i in range(units):
                for j in range(rows):
                    counts[i, begin + j] = tally[j, i]


@compiled
def add_counts(chosen, counts, out):
    """Add counts of some items to those of their patterns, ``out`` (patterns, replicates).

    ``chosen`` is (items, pattern of every item, share of every item that counts).
    """
    items, pattern, share = chosen
    for i in items:
        row, part = out[pattern[i]], share[i]
        for r in range(len(row)):
            row[r] += part * counts[i, r]


@compiled
def vote_shares(votes, key, first, share):
    """Mean vote of each item after drawing its own votes anew; share (items, replicates).

    ``votes`` is (start, mass, weight): the votes of item i are ``start[i]:start[i + 1]``.
    """
    start, mass, weight = votes
    items, width = share.shape
    state = np.empty(width, dtype=np.uint64)
    for j in range(width):
        state[j] = _mix(uint64(key) + uint64(first + j + 1) * GOLDEN)
    for i in range(items):
        begin, number = start[i], start[i + 1] - start[i]
        span = uint64(number)
        for j in range(width):
            up = total = 0.0
            z = uint64(0)
            for v in range(number):
                if v % 2 == 0:
                    state[j] += GOLDEN
                    z = _mix(state[j])
                half = z & LOW if v % 2 == 0 else z >> uint64(32)
                pick = begin + ((half * span) >> uint64(32))
                up += weight[pick] * mass[pick]
                total += weight[pick]
            share[i, j] = up / total


@compiled
def binomial_shares(tables, key, first, share):
    """The same for equal yes/no votes: one binomial draw per item and replicate.

    ``tables`` is (cell, votes, threshold, guide): ``cell[i]`` is the row of the tables for
    item i, -1 when its votes are unanimous (its share then stands in ``share`` already);
    ``threshold`` holds 32-bit cumulative probabilities and ``guide`` where to start looking
    for the top byte of a draw.
    """
    cell, votes, threshold, guide = tables
    items, width = share.shape
    state = np.empty(width, dtype=np.uint64)
    for j in range(width):
        state[j] = _mix(uint64(key) + uint64(first + j + 1) * GOLDEN)
    for i in range(items):
        if cell[i] < 0:
            continue
        table, begin, vote = threshold[cell[i]], guide[cell[i]], 1.0 / votes[i]
        for j in range(width):
            state[j] += GOLDEN
            u = _mix(state[j]) >> uint64(32)
            k = begin[u >> uint64(24)]
            while u >= table[k]:
                k += 1
            share[i, j] = k * vote
