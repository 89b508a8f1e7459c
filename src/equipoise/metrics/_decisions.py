"""Decisions: the class a model chooses, and how often it does so for each true class.

The decision is the class with the largest probability, the first of equals. Sums are the
confusion table: label mass of every true class among the items decided for every class. Every
metric of decisions is a function of that table, so they share one pass.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from equipoise.arrays import Floats, Ints, PerItem
from equipoise.metrics._arguments import checked_weights
from equipoise.metrics._distributions import checked_distributions, expected_loss
from equipoise.metrics._metric import Block, Prepared

Decide = Callable[[Floats], Ints]


def decide(probabilities: Floats) -> Ints:
    """Choose the most probable class, the first of equals, shape (items,).

    Examples
    --------
    >>> decide(np.array([[0.4, 0.4, 0.2], [0.1, 0.2, 0.7]]))
    array([0, 2])
    """
    return np.asarray(probabilities.argmax(axis=1))


def confusion_reduce(prepared: Prepared, block: Block) -> Floats:
    """Confusion table of each replicate, shape (true, decided, replicates).

    Sums are not left to the linear algebra library: replicates are shared out among threads
    already, and threads of its own would stand in their way.
    """
    size, counts = len(block.classes), block.counts
    out = np.zeros((size, size, counts.shape[1]))
    sums = "i,ir->r" if block.classes[0].positive.ndim == 1 else "ir,ir->r"
    for decided in np.unique(prepared):
        rows = np.flatnonzero(prepared == decided)
        times = counts[rows].astype(np.float64)
        for true, truth in enumerate(block.classes):
            mass = truth.positive[rows].astype(np.float64)
            out[true, decided] = np.einsum(sums, mass, times)
    return out


def plain_confusion(
    y_true: Any, probabilities: Any, weights: Any, choose: Decide = decide
) -> Floats:
    """Confusion table of a plain call, shape (true, decided, 1)."""
    labels, predicted = checked_distributions(y_true, probabilities)
    each = checked_weights(weights, len(labels)).each
    return confusion(labels, choose(predicted), each)[..., None]


def confusion(labels: Floats, decisions: Ints, weights: Floats) -> Floats:
    """Confusion table (true, decided) of one truth (items, classes), items weighed."""
    size = labels.shape[1]
    table = np.zeros((size, size))
    np.add.at(table.T, decisions, labels * weights[:, None])
    return table


def decided_loss(labels: Floats, decisions: Ints, cost: Floats) -> Floats:
    """What the decision costs each item on average over its label distribution.

    ``labels`` is (classes, items, ...), ``cost`` (true, decided); the result is (items, ...).
    """
    return expected_loss(labels, cost[:, decisions].T)


def decided_influence(
    costs: Callable[[int], Floats],
) -> Callable[[Prepared, Floats], tuple[float, PerItem]]:
    """Value and influence of a mean cost of decisions; ``costs(classes)`` is its matrix."""

    def influence(prepared: Prepared, labels: Floats) -> tuple[float, PerItem]:
        values = decided_loss(labels.T, prepared, costs(labels.shape[1]))
        value = float(values.mean())
        return value, np.asarray((values - value) / len(values))

    return influence
