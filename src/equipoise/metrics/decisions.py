r"""Decisions: metrics of the class a model chooses, labels hard or soft.

The decision :math:`d_i` is the class with the largest probability. Classes tied for it (to
1e-12) share the item: each is decided for by 1/t, and every sum over :math:`d_i` below is their
mean, so that no result depends on the order of the classes. :math:`\pi_i` is the label
distribution of item i, :math:`c_{kd}` what deciding for class d costs when k is true.

`accuracy`: how often an annotator would have said what the model decides. With hard labels it
is the usual accuracy; with label distributions the probability that a random vote agrees,

.. math:: \mathrm{acc} = \frac1n \sum_i \pi_{i,\,d_i}

`mean_absolute_error`: how many grades the decision is off, from 0 to K - 1; with label
distributions every vote is compared and the distances are averaged. The grades are the columns,
lowest first,

.. math:: \mathrm{MAE} = \frac1n \sum_i \sum_k \pi_{ik}\, |k - d_i|

`expected_cost`: what the decisions cost on average over votes. The cost is ``zero_one``, every
error alike, ``linear`` (:math:`|i-j|/(K-1)`), ``quadratic`` (its square), or a given matrix
(true, decided) of finite numbers of at least 0, one row per true class. The diagonal of a given
matrix may be positive: a right decision can cost something too, such as a treatment. The
decision is the most probable class (``decision="largest"``) or, as Bayes would decide, the
class whose cost is least in expectation under the model's own probabilities
(``decision="least_cost"``),

.. math:: \mathrm{EC} = \frac1n \sum_i \sum_k \pi_{ik}\, c_{k,\,d_i}

`normalised_expected_cost`: what the decisions cost, relative to deciding without looking. The
divisor is the cost of the one class that is the best decision for all items alike. Below 1 the
model is worth using; above 1 it is worse than not looking. Undefined where the best constant
decision costs nothing, as when everything is one class,

.. math:: \mathrm{NEC} = \mathrm{EC} \Big/ \min_d \frac1n \sum_i \sum_k \pi_{ik}\, c_{kd}

`quadratic_weighted_kappa`: agreement in grades, beyond what the marginals alone would give. O
is the confusion table as shares: true grade k, decided grade d. With label distributions an
item adds its share of votes to each true grade. ``cost="linear"`` takes :math:`|k - d|`. It is
1 for perfect agreement, 0 at chance, and undefined when everything is one class. The grades are
the columns, lowest first; their order is given, never inferred,

.. math::
    \kappa = 1 - \frac{\sum_{kd} c_{kd}\, O_{kd}}{\sum_{kd} c_{kd}\, O_{k\cdot} O_{\cdot d}},
    \qquad c_{kd} = (k - d)^2

All take class codes or label distributions (items, classes), and predicted distributions
(items, classes), those of the second of two classes (items,), or decisions as class codes.
`weights` are importance weights (items,), or `Copies` of counts. Every metric is a function of
the confusion table, label mass of every true class among the items decided for every class, so
they share one pass.

References
----------
Ferrer (2022), *Analysis and comparison of classification metrics*. Cohen (1968), *Weighted
kappa*.

Examples
--------
>>> accuracy([[1, 0], [0.25, 0.75]], [[0.9, 0.1], [0.6, 0.4]])
0.625
>>> accuracy([0, 1], [[0.5, 0.5], [0.5, 0.5]])
0.5
>>> mean_absolute_error([0, 2], [[0.9, 0.1, 0.0], [0.6, 0.4, 0.0]])
1.0
>>> expected_cost([0, 2], [[0.9, 0.1, 0.0], [0.4, 0.25, 0.35]], cost="linear")
0.5
>>> expected_cost([0, 2], [[0.9, 0.1, 0.0], [0.4, 0.25, 0.35]], cost="linear",
...     decision="least_cost")
0.25
>>> normalised_expected_cost([0, 0, 1], [[1, 0], [0, 1], [0, 1]])
1.0
>>> quadratic_weighted_kappa([0, 1, 2, 2], [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]])
0.8
"""

import hashlib
import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from equipoise.metrics._metric import (
    Block,
    Influence,
    Metric,
    PlainMetric,
    Prepared,
    Topic,
    parameters,
    plain,
    plain_value,
)
from equipoise.metrics.distributions import checked_distributions, expected_loss
from equipoise.types import (
    Bools,
    Floats,
    InputError,
    PerItem,
    PerReplicate,
    choice,
    frozen,
    nearest,
    ratio,
)

_ORDINAL = ("linear", "quadratic")
_COSTS = {
    "zero_one": "1 for every error",
    "linear": "the distance in grades, from 0 to 1",
    "quadratic": "the squared distance in grades, from 0 to 1",
}
_TIE = 1e-12  # probabilities, and costs relative to the largest, up to which classes are tied
_NOTHING = 1e-14  # a share of label mass below which a class is not there
_KAPPA = "quadratic_weighted_kappa"
_FEW = 16  # classes up to which every cell of a confusion table is summed

_Cost = str | Floats
Costs = Callable[[int], Floats]
_Decide = Callable[[Floats], Floats]
Gradient = Callable[[Floats], Floats]


def decide(probabilities: Floats) -> Floats:
    """Choose the most probable class; tied classes share, shape (items, classes).

    Examples
    --------
    >>> decide(np.array([[0.4, 0.4, 0.2], [0.1, 0.2, 0.7]]))
    array([[0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """
    return _shared(probabilities >= probabilities.max(axis=1, keepdims=True) - _TIE)


def _shared(chosen: Bools) -> Floats:
    """Equal shares of the classes chosen for each item, shape (items, classes)."""
    return np.asarray(chosen / chosen.sum(axis=1, keepdims=True))


def checked_decisions(y_true: Any, predicted: Any) -> tuple[Floats, Floats]:
    """Label and predicted distributions, (items, classes); class codes are decisions too.

    Examples
    --------
    >>> checked_decisions([0, 2], [1, 2])[1]
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    labels, codes = np.asarray(y_true), np.asarray(predicted)
    numeric = all(array.dtype.kind in "biuf" and array.size for array in (labels, codes))
    several = numeric and codes.ndim == 1 and (labels.ndim == 2 or labels.max() > 1)
    if not several or not np.isin(codes % 1, 0).all() or codes.min() < 0:
        return checked_distributions(y_true, predicted)
    classes = labels.shape[1] if labels.ndim == 2 else 1 + int(max(labels.max(), codes.max()))
    if codes.max() >= classes:
        return checked_distributions(y_true, predicted)
    return checked_distributions(y_true, np.eye(classes)[codes.astype(np.intp)])


def plain_decision(metric: Metric, y_true: Any, predicted: Any, weights: Any = None) -> float:
    """Value of a plain call of a metric of decisions."""
    return plain_value(metric, checked_decisions(y_true, predicted), weights)


def of_decisions(prediction: str) -> Callable[[Callable[..., Metric]], PlainMetric]:
    """Turn what makes a metric of decisions into a plain function; see `plain`."""
    return plain(plain_decision, "y_true", prediction, weights=True)


@of_decisions("probabilities")
def accuracy() -> Metric:
    """Share of votes that agree with the decision."""
    text = "Chance that a vote is the class with the largest predicted probability."
    metric = _mean_metric("accuracy", "accuracy", text, np.eye, decide)
    return replace(metric, better="higher", denominator=lambda _, labels: np.ones(len(labels)))


@of_decisions("probabilities")
def mean_absolute_error() -> Metric:
    """Mean distance in grades between decision and votes; lower is better."""
    text = "Distance in grades between the vote and the most probable grade."
    name = "mean_absolute_error"
    metric = _mean_metric(name, "mean absolute error", text, grades_apart, decide)
    return replace(metric, bounds=(0.0, math.inf), ordered=True)


@of_decisions("probabilities")
def expected_cost(*, cost: Any = "zero_one", decision: str = "largest") -> Metric:
    """Mean cost of the decisions; lower is better.

    Parameters
    ----------
    y_true, probabilities, weights
        As everywhere in this file.
    cost
        ``zero_one``, ``linear``, ``quadratic``, or a matrix (true, decided).
    decision
        ``largest`` probability, or ``least_cost`` in expectation.
    """
    checked = _checked_cost(cost)
    costs, choose = partial(cost_matrix, checked), _deciding(checked, decision)
    most = 1.0 if isinstance(checked, str) else max(float(checked.max()), 1e-300)
    text = f"Mean cost of the decision, {_cost_phrase(checked, decision)}"
    metric = _mean_metric("expected_cost", "expected cost", text, costs, choose)
    return _costly(replace(metric, bounds=(0.0, most)), checked, decision)


@of_decisions("probabilities")
def normalised_expected_cost(*, cost: Any = "zero_one", decision: str = "largest") -> Metric:
    """Mean cost of the decisions over that of the best constant one; lower is better.

    The parameters are those of `expected_cost`.
    """
    checked = _checked_cost(cost)
    name, title = "normalised_expected_cost", "normalised expected cost"
    how = _cost_phrase(checked, decision)
    text = f"Mean cost of the decision relative to the best constant one, {how}"
    finish, gradient = partial(_relative, checked), partial(_relative_gradient, checked)
    choose = _deciding(checked, decision)
    metric = from_table(name, title, text, finish, gradient, choose)
    return _costly(replace(metric, better="lower", bounds=(0.0, math.inf)), checked, decision)


def _relative(cost: _Cost, table: Floats) -> PerReplicate:
    matrix = cost_matrix(cost, len(table))
    total = table.sum(axis=(0, 1))
    spent = np.tensordot(matrix.T, table.sum(axis=1), axes=1).min(axis=0)
    constant = ratio(spent, total)
    defined = constant > _NOTHING * max(float(matrix.max()), 1e-300)
    return ratio(mean_cost(table, matrix), constant, defined=defined)


def _relative_gradient(cost: _Cost, table: Floats) -> Floats:
    """Derivative of the ratio of two means; the best constant decision is held.

    Where several constant decisions are best, it is the mean of them.
    """
    matrix = cost_matrix(cost, len(table))
    by_decision = table.sum(axis=1) @ matrix
    scale = max(float(matrix.max()), 1e-300)
    constant = float(by_decision.min())
    blind = matrix[:, by_decision <= constant + _TIE * scale].mean(axis=1)
    value = float((matrix * table).sum()) / constant
    return np.asarray((matrix - value * blind[:, None]) / constant)


@of_decisions("probabilities")
def quadratic_weighted_kappa(*, cost: str = "quadratic") -> Metric:
    """Chance-corrected agreement in grades; higher is better.

    A distance in grades counts by its ``cost``, ``quadratic`` or ``linear``.
    """
    choice(f"{_KAPPA}, cost", cost, _ORDINAL[::-1])
    costs = partial(cost_matrix, cost)
    finish, gradient = by_cost(kappa, costs), by_cost(kappa_gradient, costs)
    text = (
        f"Agreement of vote and most probable grade beyond chance; a {cost} distance in grades "
        "counts against it."
    )
    return replace(
        from_table(_KAPPA, f"{cost} weighted kappa", text, finish, gradient),
        name=parameters(_KAPPA, {"cost": "quadratic"}, {"cost": cost}),
        bounds=(-1.0, 1.0),
        ordered=True,
        references=("cohen1960", "galdran2023"),
    )


def kappa_gradient(table: Floats, cost: Floats) -> Floats:
    """Derivative of `kappa` by the shares of the confusion table, (true, decided)."""
    true, chosen = table.sum(axis=1), table.sum(axis=0)
    chance = float(true @ cost @ chosen)
    ratio = float((cost * table).sum()) / chance
    blind = (cost @ chosen)[:, None] + (true @ cost)[None, :]
    return np.asarray(-(cost - ratio * blind) / chance)


def _table_influence(
    finish: Callable[[Floats], PerReplicate], gradient: Gradient
) -> Callable[[Prepared, Floats], Influence]:
    """Derivatives of a function of the confusion table, by those of its shares.

    The table is a mean over items of label times decision, so that an item moves it towards
    its own, and a vote towards its row.
    """

    def influence(decided: Prepared, labels: Floats) -> Influence:
        number = len(labels)
        table = labels.T @ decided / number
        value = float(finish(table[..., None])[0])
        if np.isnan(value):
            nothing = np.full(labels.shape, np.nan)
            return Influence(value, nothing[:, 0], nothing)
        shares = decided @ gradient(table).T
        per_item = (labels * shares).sum(axis=1)
        return Influence(value, ((per_item - per_item.mean()) / number), shares / number)

    return influence


def from_table(
    name: str,
    title: str,
    definition: str,
    finish: Callable[[Floats], PerReplicate],
    gradient: Gradient,
    choose: _Decide = decide,
) -> Metric:
    """A metric that is a function of the confusion table.

    ``finish`` takes tables (true, decided, replicates), ``gradient`` one table of shares, where
    the value is defined.
    """
    return Metric(
        name=name,
        title=title,
        soft_title=f"soft {title}",
        definition=definition,
        family="decisions",
        prepare=choose,
        reduce=_confusion_sums,
        finish=finish,
        influence=_table_influence(finish, gradient),
        needs="probabilities",
        labels="distribution",
        topic=Topic.DECISIONS,
        decides=True,
    )


def _mean_metric(
    name: str, title: str, definition: str, costs: Costs, choose: _Decide
) -> Metric:
    """A metric that is the mean cost of decisions; ``costs(classes)`` is its matrix."""

    def per_item(y_true: Any, probabilities: Any) -> PerItem:
        labels, predicted = checked_decisions(y_true, probabilities)
        return expected_loss(labels.T, choose(predicted) @ costs(labels.shape[1]).T)

    finish, gradient = by_cost(mean_cost, costs), by_cost(lambda _, matrix: matrix, costs)
    metric = from_table(name, title, definition, finish, gradient, choose)
    return replace(metric, better="lower", per_item=per_item)


def _costly(metric: Metric, cost: _Cost, decision: str) -> Metric:
    """The metric with a cost and a way to decide in its name; those that decide alike share."""
    word = cost if isinstance(cost, str) else "given"
    usual = {"cost": "zero_one", "decision": "largest"}
    family = metric.family
    if decision != "largest":
        digest = word if isinstance(cost, str) else hashlib.sha256(cost.tobytes()).hexdigest()
        family = f"decisions by {digest}"
    return replace(
        metric,
        name=parameters(metric.name, usual, {"cost": word, "decision": decision}),
        family=family,
        ordered=word in _ORDINAL,
        references=("galdran2023",),
    )


def _cost_phrase(cost: _Cost, decision: str) -> str:
    """What an error costs and how the class is chosen, for the definition of a metric."""
    cost_words = _COSTS[cost] if isinstance(cost, str) else "by the given matrix"
    how = "most probable class" if decision == "largest" else "class of least expected cost"
    return f"{cost_words}; the decision is the {how}."


def _deciding(cost: _Cost, decision: str) -> _Decide:
    """The function that decides: by the largest probability, or by the least cost."""
    if choice("decision", decision, ("largest", "least_cost")) == "largest":
        return decide
    return _by_least(cost) if isinstance(cost, str) else partial(_least_cost, cost)


@cache
def _by_least(cost: str) -> _Decide:
    """One function per cost, so that metrics of one family share it."""
    return partial(_least_cost, cost)


def _least_cost(cost: _Cost, predicted: Floats) -> Floats:
    """Decide for what costs least in expectation; tied classes share, (items, classes).

    Examples
    --------
    >>> _least_cost("linear", np.array([[0.4, 0.25, 0.35]]))
    array([[0., 1., 0.]])
    """
    matrix = cost_matrix(cost, predicted.shape[1])
    expected = predicted @ matrix
    least = expected.min(axis=1, keepdims=True)
    return _shared(expected <= least + _TIE * float(matrix.max()))


def _confusion_sums(prepared: Prepared, block: Block) -> Floats:
    """Confusion table of each replicate, shape (true, decided, replicates).

    Sums are not left to the linear algebra library: replicates are shared out among threads
    already, and threads of its own would stand in their way. Items that share a pattern of
    votes are counted first.
    """
    from equipoise.kernels.resampling import add_counts

    size, counts, pattern = len(block.classes), block.counts, block.classes[0].pattern
    if size > _FEW:
        return _sparse_confusion_sums(prepared, block)
    out = np.zeros((size, size, counts.shape[1]))
    sums = "i,ir->r" if block.classes[0].rows.ndim == 1 else "ir,ir->r"
    for decided, column in enumerate(prepared.T):
        rows = np.flatnonzero(column)
        if not len(rows):
            continue
        chosen: Any = slice(None)
        if pattern is None:
            chosen, times = rows, counts[rows] * column[rows, None]
        else:
            times = np.zeros((len(block.classes[0].rows), counts.shape[1]))
            add_counts((rows, pattern, np.ascontiguousarray(column)), counts, times)
        for true in range(size):
            mass = block.classes[true].rows[chosen].astype(np.float64, copy=False)
            out[true, decided] = np.einsum(sums, mass, times)
    return out


def _sparse_confusion_sums(prepared: Prepared, block: Block) -> Floats:
    """The same of many classes: only items that may be of a class are summed for it.

    A pass over the items per class, whatever was decided, so that time is linear in classes.
    """
    size, counts, pattern = len(block.classes), block.counts, block.classes[0].pattern
    decided, row = map(np.asarray, np.nonzero(prepared.T))
    times = counts[row] * prepared[row, decided][:, None]
    if pattern is not None:
        key = decided * len(block.classes[0].rows) + pattern[row]
        order = np.argsort(key, kind="stable")
        first = np.flatnonzero(np.diff(key[order], prepend=-1))
        times = np.add.reduceat(times[order], first, axis=0)
        decided, row = decided[order[first]], pattern[row[order[first]]].astype(np.intp)
    out = np.zeros((size, size, counts.shape[1]))
    for truth, cells in zip(block.classes, out, strict=True):
        present = truth.rows != 0 if truth.sure is None else truth.sure != 0
        entry = np.flatnonzero(present[row])
        if not len(entry):
            continue
        mass = truth.rows[row[entry]]
        first = np.flatnonzero(np.diff(decided[entry], prepend=-1))
        moved = (mass[:, None] if mass.ndim == 1 else mass) * times[entry]
        cells[decided[entry[first]]] = np.add.reduceat(moved, first, axis=0)
    return out


def _checked_cost(cost: Any) -> _Cost:
    """Return the word, or the matrix as a read-only square array."""
    if isinstance(cost, str):
        if cost not in _COSTS:
            raise InputError(
                "cost",
                f"{cost!r}",
                f"one of {', '.join(_COSTS)}, or in Python a matrix",
                nearest(cost, _COSTS),
            )
        return cost
    try:
        matrix = np.asarray(cost, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "cost",
            "values that are not numbers",
            "a word, or a matrix (true, decided)",
            f"known words are {', '.join(_COSTS)}",
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


def cost_matrix(cost: _Cost, classes: int) -> Floats:
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
            return (gap > 0).astype(np.float64)
        return (gap / (classes - 1)) ** (1 if cost == "linear" else 2)
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
    return np.abs(grade[:, None] - grade)


def mean_cost(table: Floats, cost: Floats) -> PerReplicate:
    """Mean cost by confusion tables (true, decided, ...); nan without mass, shape (...)."""
    total = table.sum(axis=(0, 1))
    return ratio(np.tensordot(cost, table, axes=2), total)


def by_cost(
    function: Callable[[Floats, Floats], Floats], costs: Costs
) -> Callable[[Floats], Floats]:
    """A function of confusion tables, given one of tables and of the costs of decisions."""
    return lambda table: function(table, costs(len(table)))


def kappa(table: Floats, cost: Floats) -> PerReplicate:
    """One minus the cost relative to that of the product of marginals, shape (...)."""
    total = table.sum(axis=(0, 1))
    safe = np.where(total > 0, total, 1.0)
    true, decided = table.sum(axis=1) / safe, table.sum(axis=0) / safe
    chance = np.einsum("td,t...,d...->...", cost, true, decided)
    defined = (total > 0) & (chance > _NOTHING)
    return 1 - ratio(mean_cost(table, cost), chance, defined=defined)
