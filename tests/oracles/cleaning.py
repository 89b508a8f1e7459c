"""SelfClean from its definitions: a dense matrix of distances, scipy's linkage, recursion."""

import math
from fractions import Fraction

import numpy as np
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import squareform


def distance(x, y):
    """(1 - cos) / 2; zeros are at a right angle to everything but zeros."""
    if not np.any(x) or not np.any(y):
        return 0.0 if np.array_equal(x, y) else 0.5
    x, y = x / np.linalg.norm(x), y / np.linalg.norm(y)
    return min((1 - math.fsum(x * y)) / 2, 1.0)


def matrix(rows):
    """Distances of all pairs."""
    return np.array([[distance(x, y) for y in rows] for x in rows])


def neighbours(apart, k):
    """Places of the k nearest others, ties by place."""
    apart = apart + np.diag(np.full(len(apart), np.inf))
    return np.argsort(apart, axis=1, kind="stable")[:, :k]


def label_errors(apart, labels):
    """1 - s of every item."""
    scores = []
    for i, label in enumerate(labels):
        own = [apart[i, j] for j in range(len(labels)) if j != i and labels[j] == label]
        other = [apart[i, j] for j in range(len(labels)) if labels[j] != label]
        same, diff = min(own, default=max(apart[i])), min(other)
        total = same**2 + diff**2
        scores.append(1 - (diff**2 / total if total else 0.5))
    return np.array(scores)


def joining(apart):
    """Distance at which each two items come into one part, by scipy."""
    return squareform(cophenet(linkage(squareform(apart, checks=False), "single")))


def off_topic(apart, rank):
    """Running area, recursively; parts that join at one distance are children of one node.

    Of equal children the higher comes first, then that with the lowest ``rank``.
    """
    met, values, running = joining(apart), np.empty(len(apart)), [Fraction(0)]

    def height(part):
        return met[np.ix_(part, part)].max() if len(part) > 1 else 0.0

    def visit(part, above):
        share = Fraction(len(part), len(apart))
        running[0] += share * (Fraction(float(above)) - Fraction(float(height(part))))
        if len(part) == 1:
            values[part[0]] = float(running[0])
            return
        rest, children = list(part), []
        while rest:
            child = [j for j in rest if j == rest[0] or met[rest[0], j] < height(part)]
            children.append(child)
            rest = [j for j in rest if j not in child]
        children.sort(key=lambda one: (len(one), -height(one), min(rank[j] for j in one)))
        for child in children:
            visit(child, height(part))

    everything = list(range(len(apart)))
    visit(everything, height(everything))
    return values


def cut(scores, items, alpha, q):
    """The threshold in plain arithmetic; None where only exact zeros are called."""
    from scipy.special import logit
    from scipy.stats import logistic

    low = 1 - scores
    inner = logit(low[(low > 0) & (low < 1)])
    near, far = alpha, math.sqrt(alpha / 2)
    below, above = np.quantile(inner, [near, far])
    scale = (above - below) / (logistic.ppf(far) - logistic.ppf(near))
    law = logistic(below - scale * logistic.ppf(near), scale)
    return 1 - 1 / (1 + np.exp(-law.ppf(q * alpha * items / len(scores))))
