"""Soft ranking metrics straight from their definitions: look at every pair, item and order."""

import math
from itertools import permutations, product

import numpy as np


def beats(a, b):
    """1 if a is above b, 1/2 if tied."""
    return 1.0 if a > b else 0.5 if a == b else 0.0


def auroc(p, s, form="pairs", weights=None):
    """Sum over all pairs; `weights` are importance weights."""
    w = np.ones(len(p)) if weights is None else weights
    every = [(i, j) for i in range(len(p)) for j in range(len(p)) if i != j]
    won = sum(w[i] * w[j] * p[i] * (1 - p[j]) * beats(s[i], s[j]) for i, j in every)
    pairs = sum(w[i] * w[j] * p[i] * (1 - p[j]) for i, j in every)
    own = sum(w[i] ** 2 * p[i] * (1 - p[i]) for i in range(len(p)))
    product_ = sum(w[i] * p[i] for i in range(len(p))) * sum(w * (1 - p))
    above = {"pairs": won, "strict": won, "trapezoid": won + own / 2, "inclusive": won + own}
    below = pairs if form == "pairs" else product_
    return above[form] / below if below > 0 else math.nan


def average_precision(p, s, form="conditional", weights=None):
    """Ties in blocks: item i meets all items that score at least as high."""
    w = np.ones(len(p)) if weights is None else weights
    total = 0.0
    for i in range(len(p)):
        seen = [j for j in range(len(p)) if s[j] >= s[i]]
        mass = sum(w[j] * p[j] for j in seen)
        own = w[i] * (1 - p[i]) if form == "conditional" else 0.0
        total += w[i] * p[i] * (mass + own) / sum(w[j] for j in seen) if w[i] else 0.0
    positives = sum(w * p)
    return total / positives if positives > 0 else math.nan


def in_one_order(p, form):
    """Average precision of labels that stand in a given order, no ties."""
    total = 0.0
    for i in range(len(p)):
        before = sum(p[:i])
        total += p[i] * (before + (1 if form == "conditional" else p[i])) / (i + 1)
    return total / sum(p) if sum(p) > 0 else math.nan


def orders(s):
    """Every order of the items that respects the scores."""
    blocks = [[i for i in range(len(s)) if s[i] == score] for score in sorted(set(s))[::-1]]
    for parts in product(*(permutations(block) for block in blocks)):
        yield [i for part in parts for i in part]


def random_ties(p, s, form):
    """Mean over every order inside the ties."""
    return float(np.mean([in_one_order([p[i] for i in order], form) for order in orders(s)]))


def expectation(p, s, metric):
    """Mean of a metric over all hard labels in which it is defined, by their chance."""
    total = chance = 0.0
    for labels in product((0.0, 1.0), repeat=len(p)):
        weight = math.prod(x if y else 1 - x for x, y in zip(p, labels, strict=True))
        value = metric(np.array(labels), s) if weight else math.nan
        if not math.isnan(value):
            total, chance = total + weight * value, chance + weight
    return total / chance if chance else math.nan


def top(p, s, k):
    """Mass of the k highest; the tied boundary gives its mass times the fraction taken."""
    edge = sorted(s)[::-1][k - 1]
    above = [x for x, score in zip(p, s, strict=True) if score > edge]
    tied = [x for x, score in zip(p, s, strict=True) if score == edge]
    return sum(above) + sum(tied) * (k - len(above)) / len(tied)


def one_vs_one(truth, scores):
    """Hand and Till: A(a|b) over all ordered pairs of items, then means."""
    items, classes = truth.shape
    every = [(i, j) for i in range(items) for j in range(items) if i != j]

    def value(a, b):
        below = sum(truth[i, a] * truth[j, b] for i, j in every)
        won = sum(
            truth[i, a] * truth[j, b] * beats(scores[i, a], scores[j, a]) for i, j in every
        )
        return won / below if below > 0 else math.nan

    pairs = [(a, b) for a in range(classes) for b in range(a)]
    return float(np.mean([(value(a, b) + value(b, a)) / 2 for a, b in pairs]))


def derivative(function, items, step=1e-5):
    """Slope of a function of item weights in each weight, at weight one."""
    slope = np.empty(items)
    for i in range(items):
        up, down = np.ones(items), np.ones(items)
        up[i] += step
        down[i] -= step
        slope[i] = (function(up) - function(down)) / (2 * step)
    return slope


def counted_average_precision(p, s, counts):
    """Conditional AP of c_i copies of item i, for real c: what a bootstrap replicate sees."""
    total = 0.0
    for i in range(len(p)):
        seen = s >= s[i]
        total += counts[i] * p[i] * ((counts * p)[seen].sum() + 1 - p[i]) / counts[seen].sum()
    return total / (counts * p).sum()
