"""Slow twins of the sort and of the derivatives of ranking metrics: numpy, run by run.

Derivatives are in extended precision, so that what differs is the kernel's rounding.
"""

import numpy as np


def falling(scores):
    """Items by falling score, stably, and where runs of equal scores end."""
    items = np.argsort(-scores, kind="stable").astype(np.int32)
    ranked = scores[items]
    same = ranked[1:] == ranked[:-1]
    after, before = np.append(same, False), np.insert(same, 0, False)
    return items, np.where(after, 0, np.where(before, 2, 1)).astype(np.uint8)


def _runs(order, last, positive):
    """Where runs start, how many items each has, and the mass of sorted items."""
    ends = np.flatnonzero(last)
    start = np.concatenate(([0], ends[:-1] + 1))
    return start, np.diff(np.append(start, len(order))), positive[order].astype(np.longdouble)


def auroc(order, last, positive):
    """Value, and derivatives by the weight and by the soft label of every item."""
    start, size, p = _runs(order, last, positive)
    q = 1 - p
    up, down = np.add.reduceat(p, start), np.add.reduceat(q, start)
    above, below = np.cumsum(up), np.cumsum(down)
    wins = np.repeat(below[-1] - below + down / 2, size) - q / 2
    losses = np.repeat(above - up / 2, size) - p / 2
    pairs = above[-1] * below[-1] - (p * q).sum()
    value = (p * wins).sum() / pairs
    up_pairs, down_pairs = below[-1] - q, above[-1] - p
    items, shares = np.empty_like(p), np.empty_like(p)
    items[order] = (p * wins + q * losses - value * (p * up_pairs + q * down_pairs)) / pairs
    shares[order] = (wins - losses - value * (up_pairs - down_pairs)) / pairs
    return value, items, shares


def average_precision(order, last, positive):
    """The same of average precision, conditional with ties in blocks."""
    start, size, p = _runs(order, last, positive)
    mass, own = np.add.reduceat(p, start), np.add.reduceat(p * (1 - p), start)
    above, seen = np.cumsum(mass), np.cumsum(size)
    total = above[-1]
    term = (mass * above + own) / seen
    value = term.sum() / total
    gain = np.repeat(above / seen + np.cumsum((mass / seen)[::-1])[::-1], size)
    later = np.repeat(np.cumsum((term / seen)[::-1])[::-1], size)
    each = np.repeat(1 / seen.astype(p.dtype), size)
    slope = (p * gain + p * (1 - p) * each - later - value * p) / total
    items, shares = np.empty_like(p), np.empty_like(p)
    items[order] = slope - slope.mean()
    shares[order] = (gain + (1 - 2 * p) * each - value) / total
    return value, items, shares
