r"""Normalised expected cost: what the decisions cost, relative to deciding without looking.

.. math:: \mathrm{NEC} = \mathrm{EC} \Big/ \min_d \frac1n \sum_i \sum_k \pi_{ik}\, c_{kd}

The divisor is the cost of the one class that is the best decision for all items alike. Below 1
the model is worth using; above 1 it is worse than not looking. Undefined where the best
constant decision costs nothing, as when everything is one class.

References
----------
Ferrer (2022), *Analysis and comparison of classification metrics*.

Examples
--------
>>> normalised_expected_cost([0, 0, 1], [[1, 0], [0, 1], [0, 1]])
1.0
"""

import math
from typing import Any

import numpy as np

from equipoise.arrays import Floats, PerReplicate
from equipoise.metrics._decisions import (
    NOTHING,
    ORDINAL,
    Cost,
    best_constant,
    checked_cost,
    confusion_reduce,
    cost_matrix,
    cost_phrase,
    cost_word,
    mean_cost,
    plain_confusion,
)
from equipoise.metrics._metric import Metric
from equipoise.metrics.expected_cost import (
    cost_name,
    deciding,
    decision_family,
    decision_phrase,
)


def normalised_expected_cost(
    y_true: Any,
    probabilities: Any,
    *,
    cost: Any = "zero_one",
    decision: str = "largest",
    weights: Any = None,
) -> float:
    """Mean cost of the decisions over that of the best constant one; lower is better.

    Parameters
    ----------
    y_true, probabilities, cost, decision, weights
        As in `expected_cost`.
    """
    known = checked_cost(cost)
    table = plain_confusion(y_true, probabilities, weights, deciding(known, decision))
    return float(_relative(table, known)[0])


def metric(*, cost: Any = "zero_one", decision: str = "largest") -> Metric:
    """Normalised expected cost for the engine."""
    known = checked_cost(cost)

    def finish(table: Floats) -> PerReplicate:
        return _relative(table, known)

    return Metric(
        name=cost_name("normalised_expected_cost", known, decision),
        title="normalised expected cost",
        soft_title="soft normalised expected cost",
        definition="Mean cost of the decision relative to the best constant one, "
        f"{cost_phrase(known)}{decision_phrase(decision)}",
        family=decision_family(known, decision),
        prepare=deciding(known, decision),
        reduce=confusion_reduce,
        finish=finish,
        better="lower",
        bounds=(0.0, math.inf),
        needs="probabilities",
        ordered=cost_word(known) in ORDINAL,
        labels="distribution",
        topic="Decisions",
        decides=True,
        references=("galdran2023",),
    )


def _relative(table: Floats, cost: Cost) -> PerReplicate:
    matrix = cost_matrix(cost, len(table))
    constant = best_constant(table, matrix)
    known = constant > NOTHING * max(float(matrix.max()), 1e-300)
    value = mean_cost(table, matrix) / np.where(known, constant, 1.0)
    return np.where(known, value, np.nan)
