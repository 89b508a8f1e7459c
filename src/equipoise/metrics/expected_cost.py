r"""Expected cost: what the model's decisions cost on average.

.. math:: \mathrm{EC} = \frac1n \sum_i \sum_k \pi_{ik}\, c_{k,\,d_i}

The cost c of deciding for one class when another is true is ``zero_one``, ``linear``
(:math:`|i-j|/(K-1)`), ``quadratic`` (its square), or a given matrix (true, decided) of numbers
of at least 0. The diagonal of a given matrix may be positive: a right decision can cost
something too. The decision is the most probable class (``decision="largest"``) or, as Bayes
would decide, the class whose cost is least in expectation under the model's own probabilities
(``decision="least_cost"``); the first of equals in both. With label distributions :math:`\pi`
the cost is averaged over votes.

References
----------
Ferrer (2022), *Analysis and comparison of classification metrics*.

Examples
--------
>>> expected_cost([0, 2], [[0.9, 0.1, 0.0], [0.4, 0.25, 0.35]], cost="linear")
0.5
>>> expected_cost([0, 2], [[0.9, 0.1, 0.0], [0.4, 0.25, 0.35]], cost="linear",
...     decision="least_cost")
0.25
"""

from functools import cache, partial
from typing import Any

from equipoise.arrays import Floats, Ints, PerItem, PerReplicate
from equipoise.metrics._decisions import (
    ORDINAL,
    Cost,
    Decide,
    checked_cost,
    confusion_reduce,
    cost_key,
    cost_matrix,
    cost_phrase,
    cost_word,
    decide,
    decided_influence,
    decided_loss,
    decision_word,
    least_cost,
    mean_cost,
    plain_confusion,
)
from equipoise.metrics._distributions import checked_distributions
from equipoise.metrics._metric import Metric, parameters


def expected_cost(
    y_true: Any,
    probabilities: Any,
    *,
    cost: Any = "zero_one",
    decision: str = "largest",
    weights: Any = None,
) -> float:
    """Mean cost of the decisions; lower is better.

    Parameters
    ----------
    y_true
        Class codes or label distributions (items, classes).
    probabilities
        Predicted distributions (items, classes), or of the second of two classes (items,).
    cost
        ``zero_one``, ``linear``, ``quadratic``, or a matrix (true, decided).
    decision
        ``largest`` probability, or ``least_cost`` in expectation.
    weights
        Importance weights (items,), or `Copies` of counts.
    """
    known = checked_cost(cost)
    table = plain_confusion(y_true, probabilities, weights, deciding(known, decision))
    return float(mean_cost(table, cost_matrix(known, len(table)))[0])


def expected_cost_per_item(
    y_true: Any, probabilities: Any, *, cost: Any = "zero_one", decision: str = "largest"
) -> PerItem:
    """Cost of the decision for every item, shape (items,).

    Examples
    --------
    >>> expected_cost_per_item([0, 2], [[0.9, 0.1, 0.0], [0.4, 0.35, 0.25]], cost="linear")
    array([0., 1.])
    """
    known = checked_cost(cost)
    labels, predicted = checked_distributions(y_true, probabilities)
    decided = deciding(known, decision)(predicted)
    return decided_loss(labels.T, decided, cost_matrix(known, labels.shape[1]))


def metric(*, cost: Any = "zero_one", decision: str = "largest") -> Metric:
    """Expected cost for the engine."""
    known = checked_cost(cost)

    def finish(table: Floats) -> PerReplicate:
        return mean_cost(table, cost_matrix(known, len(table)))

    return Metric(
        name=cost_name("expected_cost", known, decision),
        title="expected cost",
        soft_title="soft expected cost",
        definition=f"Mean cost of the decision, {cost_phrase(known)}"
        f"{decision_phrase(decision)}",
        family=decision_family(known, decision),
        prepare=deciding(known, decision),
        reduce=confusion_reduce,
        finish=finish,
        better="lower",
        bounds=(0.0, 1.0 if isinstance(known, str) else max(float(known.max()), 1e-300)),
        needs="probabilities",
        ordered=cost_word(known) in ORDINAL,
        labels="distribution",
        influence=decided_influence(lambda classes: cost_matrix(known, classes)),
        per_item=partial(expected_cost_per_item, cost=known, decision=decision),
        topic="Decisions",
        decides=True,
        references=("galdran2023",),
    )


def deciding(cost: Cost, decision: str) -> Decide:
    """The function that decides: by the largest probability, or by the least cost."""
    if decision_word(decision) == "largest":
        return decide
    if isinstance(cost, str):
        return _by_least(cost)

    def by_given(predicted: Floats) -> Ints:
        return least_cost(predicted, cost)

    return by_given


@cache
def _by_least(cost: str) -> Decide:
    """One function per cost, so that metrics of one family share it."""

    def by_least(predicted: Floats) -> Ints:
        return least_cost(predicted, cost)

    return by_least


def decision_family(cost: Cost, decision: str) -> str:
    """Metrics that decide alike share the confusion table."""
    return "decisions" if decision == "largest" else f"decisions by {cost_key(cost)}"


def decision_phrase(decision: str) -> str:
    """How the class is chosen, as the end of a sentence."""
    how = "most probable class" if decision == "largest" else "class of least expected cost"
    return f"; the decision is the {how}."


def cost_name(name: str, cost: Cost, decision: str) -> str:
    """Name of a metric of costs with the parameters that differ from the default."""
    return parameters(
        name,
        {"cost": "zero_one", "decision": "largest"},
        {"cost": cost_word(cost), "decision": decision},
    )
