"""Slow twins of the compiled loops, on expanded arrays and in Python integers."""

import numpy as np

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def runs(order, last):
    """Items of each run of equal scores, best run first."""
    out, run = [], []
    for item, end in zip(order, last, strict=True):
        run.append(int(item))
        if end:
            out.append(run)
            run = []
    return out


def ranking_sums(blocks, p, counts):
    """The six sums of one replicate, pair by pair; p and counts of shape (items,)."""
    place = {item: number for number, block in enumerate(blocks) for item in block}
    number, mass = sum(counts), sum(counts * p)
    won = 0.0
    for i in place:
        for j in place:
            better = 1.0 if place[i] < place[j] else 0.5 if place[i] == place[j] else 0.0
            won += counts[i] * p[i] * counts[j] * (1 - p[j]) * better
    printed = extra = 0.0
    for rank, block in enumerate(blocks):
        seen = [i for i in place if place[i] <= rank]
        cumulative = sum(counts[i] for i in seen)
        if cumulative:
            run = sum(counts[i] * p[i] for i in block)
            printed += run * sum(counts[i] * p[i] for i in seen) / cumulative
            extra += sum(counts[i] * p[i] * (1 - p[i]) for i in block) / cumulative
    return [number, mass, won, sum(counts * p * (1 - p)), printed, extra]


def class_pairs(blocks, upper, lower, counts):
    """U, V, pairs won and own pairs of one replicate."""
    place = {item: number for number, block in enumerate(blocks) for item in block}
    won = 0.0
    for i in place:
        for j in place:
            better = 1.0 if place[i] < place[j] else 0.5 if place[i] == place[j] else 0.0
            won += counts[i] * upper[i] * counts[j] * lower[j] * better
    return [sum(counts * upper), sum(counts * lower), won, sum(counts * upper * lower)]


def expanded(blocks, p, counts):
    """Labels and scores of the copies that stand in one replicate."""
    copies = [
        (p[i], -float(rank))
        for rank, block in enumerate(blocks)
        for i in block
        for _ in range(int(counts[i]))
    ]
    return np.array([x for x, _ in copies]), np.array([s for _, s in copies])


def mix(z):
    """The finaliser of splitmix64."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def word(key, replicate, number):
    """Word `number` of a replicate, from 0."""
    state = mix((int(key) + (replicate + 1) * GOLDEN) & MASK)
    return mix((state + (number + 1) * GOLDEN) & MASK)


def picks(key, replicate, number, first_word=0):
    """32-bit halves of successive words, low half first."""
    return [
        (word(key, replicate, first_word + k // 2) >> (32 * (k % 2))) & 0xFFFFFFFF
        for k in range(number)
    ]


def draw_counts(key, first, units, width):
    """Units drawn with replacement, (units, replicates)."""
    counts = np.zeros((units, width), dtype=np.uint8)
    for j in range(width):
        for half in picks(key, first + j, units):
            counts[(half * units) >> 32, j] += 1
    return counts


def panel_shares(votes, panel):
    """Mean vote and presence of each item; votes hold (annotator, mass, weight) per item."""
    share = np.zeros((len(votes), panel.shape[1]))
    present = np.zeros(share.shape, dtype=np.uint8)
    for i, ballots in enumerate(votes):
        for r in range(panel.shape[1]):
            total = sum(panel[a, r] * w for a, _, w in ballots)
            if total > 0:
                share[i, r] = sum(panel[a, r] * w * m for a, m, w in ballots) / total
                present[i, r] = 1
    return share, present


def vote_shares(votes, key, first, width):
    """Mean vote after drawing each item's own votes; votes hold (mass, weight) per item."""
    share = np.empty((len(votes), width))
    for j in range(width):
        at = 0
        for i, ballots in enumerate(votes):
            halves = picks(key, first + j, len(ballots), at)
            at += (len(ballots) + 1) // 2
            drawn = [ballots[(half * len(ballots)) >> 32] for half in halves]
            share[i, j] = sum(w * m for m, w in drawn) / sum(w for _, w in drawn)
    return share


def inverse_binomial(half, votes, yes):
    """Number of yes votes whose cumulative chance, in units of 2^-32, first exceeds `half`."""
    from fractions import Fraction
    from math import comb

    share, seen = Fraction(yes, votes), Fraction(0)
    for k in range(votes):
        seen += comb(votes, k) * share**k * (1 - share) ** (votes - k)
        if half < round(seen * 2**32):
            return k
    return votes


def binomial_shares(counts, key, first, width):
    """Share of yes votes per item; counts hold (votes, yes); unanimous items use no word."""
    share = np.empty((len(counts), width))
    for j in range(width):
        at = 0
        for i, (votes, yes) in enumerate(counts):
            share[i, j] = yes / votes
            if 0 < yes < votes:
                half = word(key, first + j, at) >> 32
                share[i, j] = inverse_binomial(half, votes, yes) * (1.0 / votes)
                at += 1
    return share
