r"""Quadratic weighted kappa: agreement in grades, beyond what the marginals alone would give.

.. math::
    \kappa = 1 - \frac{\sum_{kd} c_{kd}\, O_{kd}}{\sum_{kd} c_{kd}\, O_{k\cdot} O_{\cdot d}},
    \qquad c_{kd} = (k - d)^2

O is the confusion table as shares: true grade k, decided grade d. With label distributions an
item adds its share of votes to each true grade. The decision is the most probable grade, the
first of equals. ``cost="linear"`` takes :math:`|k - d|`. It is 1 for perfect agreement, 0 at
chance, and undefined when everything is one class. The grades are the columns, lowest first;
their order is given, never inferred.

References
----------
Cohen (1968), *Weighted kappa*.

Examples
--------
>>> quadratic_weighted_kappa([0, 1, 2, 2], [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]])
0.8
"""

from typing import Any

import numpy as np

from equipoise.arrays import Floats, PerItem, PerReplicate, choice
from equipoise.metrics._decisions import (
    NOTHING,
    ORDINAL,
    confusion,
    confusion_reduce,
    cost_matrix,
    decide,
    decided_loss,
    kappa,
    plain_confusion,
)
from equipoise.metrics._metric import Metric, Prepared, parameters

NAME = "quadratic_weighted_kappa"
COSTS = ORDINAL[::-1]


def quadratic_weighted_kappa(
    y_true: Any, probabilities: Any, *, cost: str = "quadratic", weights: Any = None
) -> float:
    """Chance-corrected agreement in grades; higher is better.

    Parameters
    ----------
    y_true
        Class codes or label distributions (items, classes), the lowest grade first.
    probabilities
        Predicted distributions (items, classes), or of the second of two classes (items,).
    cost
        How a distance in grades counts: ``quadratic`` or ``linear``.
    weights
        Importance weights (items,), or `Copies` of counts.
    """
    choice(f"{NAME}, cost", cost, COSTS)
    table = plain_confusion(y_true, probabilities, weights)
    return float(kappa(table, cost_matrix(cost, len(table)))[0])


def metric(*, cost: str = "quadratic") -> Metric:
    """Quadratic weighted kappa for the engine."""
    choice(f"{NAME}, cost", cost, COSTS)

    def finish(table: Floats) -> PerReplicate:
        return kappa(table, cost_matrix(cost, len(table)))

    def influence(prepared: Prepared, labels: Floats) -> tuple[float, PerItem]:
        return _influence(prepared, labels, cost_matrix(cost, labels.shape[1]))

    return Metric(
        name=parameters(NAME, {"cost": "quadratic"}, {"cost": cost}),
        title=f"{cost} weighted kappa",
        soft_title=f"soft {cost} weighted kappa",
        definition=f"Agreement of vote and most probable grade beyond chance; a {cost} "
        "distance in grades counts against it.",
        family="decisions",
        prepare=decide,
        reduce=confusion_reduce,
        finish=finish,
        bounds=(-1.0, 1.0),
        needs="probabilities",
        ordered=True,
        labels="distribution",
        influence=influence,
        topic="Decisions",
        decides=True,
        references=("cohen1960", "galdran2023"),
    )


def _influence(decided: Prepared, labels: Floats, cost: Floats) -> tuple[float, PerItem]:
    """Value and its derivative by the weight of each item: a ratio of two means."""
    items = len(labels)
    table = confusion(labels, decided, np.full(items, 1 / items))
    true, chosen = table.sum(axis=1), table.sum(axis=0)
    chance = float(true @ cost @ chosen)
    if not chance > NOTHING:
        return float("nan"), np.full(items, np.nan)
    spent = decided_loss(labels.T, decided, cost)
    ratio = float(spent.mean()) / chance
    expected = labels @ (cost @ chosen) + (true @ cost)[decided] - 2 * chance
    slope = -(spent - spent.mean() - ratio * expected) / chance / items
    return 1 - ratio, np.asarray(slope)
