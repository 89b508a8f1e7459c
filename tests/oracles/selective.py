"""Slow twins of selective prediction: every order of tied items, item by item."""

from itertools import pairwise, permutations

import numpy as np


def risks(errors):
    """Error among the first k, for every k."""
    return [float(np.mean(errors[:k])) for k in range(1, len(errors) + 1)]


def area(confidence, errors):
    """AURC as the mean over all orders in which the confidence does not rise."""
    found = []
    for order in permutations(range(len(errors))):
        placed = [confidence[k] for k in order]
        if all(a >= b for a, b in pairwise(placed)):
            found.append(np.mean(risks([errors[k] for k in order])))
    return float(np.mean(found))


def best_area(errors):
    """The least AURC of all orders."""
    return min(float(np.mean(risks(order))) for order in permutations(errors))


def error_auroc(confidence, errors):
    """Share of pairs of a wrong and a right item in which the wrong one is less confident."""
    pairs = [
        (confidence[i] < confidence[j]) + 0.5 * (confidence[i] == confidence[j])
        for i in range(len(errors))
        for j in range(len(errors))
        if errors[i] == 1 and errors[j] == 0
    ]
    return float(np.mean(pairs)) if pairs else np.nan


def cut_tables(scores, labels, decided, counts, removed):
    """Confusion tables of what every cut leaves, (true, decided, points), of one replicate.

    Every item of a run of equal scores keeps the share of the run that the cut leaves.
    """
    left = (1 - np.asarray(removed)) * counts.sum()
    out = np.zeros((labels.shape[1], labels.shape[1], len(left)))
    for point, number in enumerate(left):
        for value in np.unique(scores):
            run = np.flatnonzero(scores == value)
            share = min(max(number / max(counts[run].sum(), 1e-300), 0.0), 1.0)
            number -= counts[run].sum()
            for i in run:
                out[:, :, point] += share * counts[i] * np.outer(labels[i], decided[i])
    return out
