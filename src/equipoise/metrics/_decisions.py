"""Decisions: the class a model chooses, and how often it does so for each true class.

The decision is the class with the largest probability, the first of equals. Sums are the
confusion table: label mass of every true class among the items decided for every class. Every
metric of decisions is a function of that table, so they share one pass.

What deciding for one class costs when the truth is another is a word or a matrix (true,
decided): ``zero_one`` counts every error alike, ``linear`` is :math:`|i - j|/(K - 1)` and
``quadratic`` its square. A given matrix holds finite numbers of at least 0, one row per true
class. Its diagonal may be positive: a right decision can cost something too, such as a
treatment.
"""

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from equipoise.arrays import (
    Floats,
    InputError,
    Ints,
    PerItem,
    PerReplicate,
    choice,
    frozen,
    nearest,
)
from equipoise.metrics._arguments import checked_weights
from equipoise.metrics._distributions import checked_distributions, expected_loss
from equipoise.metrics._metric import Block, Prepared

ORDINAL = ("linear", "quadratic")
COSTS = ("zero_one", *ORDINAL)
NOTHING = 1e-14  # a share of label mass below which a class is not there

Cost = str | Floats
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


def checked_cost(cost: Any) -> Cost:
    """Return the word, or the matrix as a read-only square array."""
    if isinstance(cost, str):
        if cost not in COSTS:
            raise InputError(
                "cost",
                f"{cost!r}",
                f"one of {', '.join(COSTS)}, or in Python a matrix",
                nearest(cost, COSTS),
            )
        return cost
    try:
        matrix = np.asarray(cost, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "cost",
            "values that are not numbers",
            "a word, or a matrix (true, decided)",
            f"known words are {', '.join(COSTS)}",
        ) from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise InputError(
            "cost",
            f"shape {matrix.shape}",
            "(classes, classes)",
            "give one row per true class and one column per decision",
        )
    wrong = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))
    if len(wrong):
        true, decided = wrong[0]
        raise InputError(
            f"cost, row {true}, column {decided}",
            f"{matrix[true, decided]:g}",
            "a finite number of at least 0",
            "add the same number to every cost, or correct it",
        )
    return frozen(matrix)


def cost_matrix(cost: Cost, classes: int) -> Floats:
    """Cost of each decision for each truth, shape (true, decided).

    Examples
    --------
    >>> cost_matrix("linear", 3)
    array([[0. , 0.5, 1. ],
           [0.5, 0. , 0.5],
           [1. , 0.5, 0. ]])
    """
    if isinstance(cost, str):
        gap = grades_apart(classes)
        if cost == "zero_one":
            return np.asarray((gap > 0).astype(np.float64))
        return np.asarray((gap / (classes - 1)) ** (1 if cost == "linear" else 2))
    if len(cost) != classes:
        raise InputError(
            "cost",
            f"shape {cost.shape}",
            f"({classes}, {classes}), one row per class",
            "leave no class out, and add none",
        )
    return cost


def grades_apart(classes: int) -> Floats:
    """Distance in grades, :math:`|i - j|`, shape (classes, classes)."""
    grade = np.arange(classes, dtype=np.float64)
    return np.asarray(np.abs(grade[:, None] - grade))


def cost_word(cost: Cost) -> str:
    """The word for a cost in a metric's name: itself, or ``given``."""
    return cost if isinstance(cost, str) else "given"


def cost_key(cost: Cost) -> str:
    """A key that tells any two costs apart."""
    return cost if isinstance(cost, str) else hashlib.sha256(cost.tobytes()).hexdigest()


def cost_phrase(cost: Cost) -> str:
    """What an error costs, for the definition of a metric."""
    if not isinstance(cost, str):
        return "by the given matrix"
    return {
        "zero_one": "1 for every error",
        "linear": "the distance in grades, from 0 to 1",
        "quadratic": "the squared distance in grades, from 0 to 1",
    }[cost]


def least_cost(predicted: Floats, cost: Cost) -> Ints:
    """Decide for what costs least in expectation, the first of equals, shape (items,).

    Examples
    --------
    >>> least_cost(np.array([[0.4, 0.25, 0.35]]), "linear")
    array([1])
    """
    expected = predicted @ cost_matrix(cost, predicted.shape[1])
    return np.asarray(np.round(expected, 12).argmin(axis=1))


def mean_cost(table: Floats, cost: Floats) -> PerReplicate:
    """Mean cost by confusion tables (true, decided, ...); nan without mass, shape (...)."""
    total = table.sum(axis=(0, 1))
    spent = np.tensordot(cost, table, axes=2)
    return np.where(total > 0, spent / np.where(total > 0, total, 1.0), np.nan)


def best_constant(table: Floats, cost: Floats) -> PerReplicate:
    """Mean cost of the one decision that is best for all items alike, shape (...)."""
    total = table.sum(axis=(0, 1))
    spent = np.tensordot(cost.T, table.sum(axis=1), axes=1).min(axis=0)
    return np.where(total > 0, spent / np.where(total > 0, total, 1.0), np.nan)


def kappa(table: Floats, cost: Floats) -> PerReplicate:
    """One minus the cost relative to that of the product of marginals, shape (...)."""
    total = table.sum(axis=(0, 1))
    safe = np.where(total > 0, total, 1.0)
    true, decided = table.sum(axis=1) / safe, table.sum(axis=0) / safe
    chance = np.einsum("td,t...,d...->...", cost, true, decided)
    known = (total > 0) & (chance > NOTHING)
    return np.where(known, 1 - mean_cost(table, cost) / np.where(known, chance, 1.0), np.nan)


def decision_word(decision: str) -> str:
    """Check how the class is chosen: by the largest probability or the least cost."""
    return choice("decision", decision, ("largest", "least_cost"))
