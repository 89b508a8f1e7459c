r"""Average precision: precision at every positive, averaged, labels hard or soft.

With soft labels :math:`p_i` sorted by falling score and :math:`n_+ = \sum p_i`:

===========  ===================================================================================
form         value
===========  ===================================================================================
conditional  (1/n+) sum_i p_i (1 + sum_{j before i} p_j) / i: item i is positive when it counts;
             reproduces the tables of Lionetti et al. (default)
printed      (1/n+) sum_i p_i (sum_{j <= i} p_j) / i: their eq. 5 as printed, which replaces
             E[Y_i^2] = p_i by p_i^2; equals scikit-learn with sample weights
expected     E[AP | a positive occurs], by quadrature (ties in blocks)
===========  ===================================================================================

Ties: ``block`` treats a run of equal scores as one threshold, as scikit-learn; ``random`` is
the expectation over random orders inside the run, in closed form. Undefined (nan) without
positives.

.. math:: \text{block:}\quad \frac1{n_+} \sum_b \frac{r_b (1 + R_b) - \sum_{i \in b} p_i^2}{N_b}

with :math:`r_b` the mass of a run, :math:`R_b` and :math:`N_b` cumulative including it. The
influence (see `equipoise.metrics.auroc`) is the derivative of
:math:`\frac1U \sum_b (r_b R_b + d_b)/N_b` by the count of an item, centred because the number
of items in a resample is fixed.

References
----------
Lionetti et al., *Clinical Uncertainty Impacts Machine Learning Evaluations*.

Examples
--------
>>> average_precision([1, 0.75, 0.25, 0.5, 0], [0.9, 0.8, 0.7, 0.6, 0.5])
0.942
>>> average_precision([1, 0.75, 0.25, 0.5, 0], [0.9, 0.8, 0.7, 0.6, 0.5], form="printed")
0.854
"""

from typing import Any

import numpy as np

from equipoise.arrays import Floats, InputError, PerItem, PerReplicate, choice
from equipoise.metrics._arguments import Weights, checked_labels, checked_weights
from equipoise.metrics._expected import expected_average_precision, expected_precision_reduce
from equipoise.metrics._metric import (
    AVERAGES,
    Block,
    Metric,
    Order,
    average_classes,
    parameters,
)
from equipoise.metrics._ranking import (
    plain_sums,
    prepare,
    reduce,
    repeat_truth,
    run_starts,
    sort_items,
    spread_runs,
)

FORMS = ("conditional", "printed", "expected")
TIES = ("block", "random")


def average_precision(
    y_true: Any,
    y_score: Any,
    *,
    form: str = "conditional",
    ties: str = "block",
    weights: Any = None,
) -> float:
    """Average precision for hard or soft labels.

    Parameters
    ----------
    y_true, y_score
        Labels in [0, 1] and scores, shape (items,); or class scores (items, classes), which
        give the macro average over one-vs-rest.
    form
        conditional, printed or expected: see the table above.
    ties
        block or random.
    weights
        Importance weights (items,), or `Copies` of counts for repeated items.
    """
    _check(form, ties)
    labels, scores = checked_labels(y_true, y_score)
    if scores.ndim == 2:
        how = {"form": form, "ties": ties, "weights": weights}
        columns = zip(labels.T, scores.T, strict=True)
        return float(np.mean([average_precision(p, s, **how) for p, s in columns]))
    each = checked_weights(weights, len(labels))
    if form == "expected" or ties == "random":
        return _expanded(labels, scores, each, (form, ties))
    sums = plain_sums(sort_items(scores), labels, each.each, each.own)
    above = sums.printed + (sums.extra if form == "conditional" else 0.0)
    return float(above / sums.mass) if sums.mass > 0 else float("nan")


def metric(*, form: str = "conditional", ties: str = "block", average: str = "macro") -> Metric:
    """Average precision for the engine."""
    _check(form, ties)
    choice("average_precision, average", average, AVERAGES)
    defaults = {"form": "conditional", "ties": "block", "average": "macro"}
    given = {"form": form, "ties": ties, "average": average}
    kind = "expected" if form == "expected" else ties

    def finish(sums: Floats) -> PerReplicate:
        mass, values = _values(sums, kind, form)
        return average_classes(values, mass, average)

    families = {"block": "ranking", "random": "random ties", "expected": "expected precision"}
    reductions = {"block": reduce, "random": _random, "expected": expected_precision_reduce}
    return Metric(
        name=parameters("average_precision", defaults, given),
        title="average precision",
        soft_title="soft average precision",
        definition=_definition(form, ties, average),
        family=families[kind],
        prepare=prepare,
        reduce=reductions[kind],
        finish=finish,
        influence=_influence if form == "conditional" and ties == "block" else None,
        average=average,
        topic="Order of items, for scores and probabilities",
        references=("lionetti2025",),
    )


def _check(form: str, ties: str) -> None:
    choice("average_precision, form", form, FORMS)
    choice("average_precision, ties", ties, TIES)
    if form == "expected" and ties == "random":
        raise InputError(
            "average_precision, form expected",
            "ties random",
            "ties block",
            "leave ties out, or choose form conditional",
        )


def _expanded(labels: Floats, scores: Floats, each: Weights, how: tuple[str, str]) -> float:
    """Forms that need whole copies of items."""
    if not each.copies:
        raise InputError(
            f"average_precision, form {how[0]}, ties {how[1]}",
            "importance weights",
            "counts or no weights",
            "wrap whole numbers in Copies, or choose ties block",
        )
    times = each.each.astype(np.intp)
    p, s = np.repeat(labels, times), np.repeat(scores, times)
    if how[0] == "expected":
        return expected_average_precision(s, p) if len(p) else float("nan")
    return metric(form=how[0], ties=how[1])(p, s) if len(p) else float("nan")


def _random(prepared: tuple[Order, ...], block: Block) -> Floats:
    """Mass, conditional and printed sums with random ties, (classes, 3, replicates)."""
    from equipoise.kernels.top import random_ties

    most = int(block.counts.sum(axis=0, dtype=np.int64).max())
    harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, most + 1))))
    width = block.counts.shape[1]
    return np.stack(
        [
            random_ties(*order, repeat_truth(truth.positive, width), block.counts, harmonic)
            for order, truth in zip(prepared, block.classes, strict=True)
        ]
    )


def _values(sums: Floats, kind: str, form: str) -> tuple[Floats, Floats]:
    """Mass and value of each class from the sums of a family."""
    if kind == "expected":
        return sums[:, 0], sums[:, 1]
    if kind == "random":
        mass, above = sums[:, 0], sums[:, 1 if form == "conditional" else 2]
    else:
        mass = sums[:, 1]
        above = sums[:, 4] + sums[:, 5] if form == "conditional" else sums[:, 4]
    return mass, np.where(mass > 0, above / np.where(mass > 0, mass, 1.0), np.nan)


def _definition(form: str, ties: str, average: str) -> str:
    formulas = {
        "conditional": "(1/n+) sum of p_i (1 + mass before i) / rank_i",
        "printed": "(1/n+) sum of p_i (mass up to i) / rank_i",
        "expected": "expected AP over independent labels drawn from the soft labels",
    }
    rule = {
        "block": "a run of equal scores is one threshold",
        "random": "equal scores in random order, in expectation",
    }[ties]
    return (
        f"Average precision, form {form}: {formulas[form]}; ties: {rule}. "
        f"With several classes: one-vs-rest, {average}."
    )


def _influence(order: Order, positive: PerItem) -> tuple[float, PerItem]:
    """Value and influence of average precision, conditional with ties in blocks."""
    start = run_starts(order)
    p = positive[order.items]
    mass, own = np.add.reduceat(p, start), np.add.reduceat(p * (1 - p), start)
    size = np.diff(np.append(start, len(p)))
    above, seen = np.cumsum(mass), np.cumsum(size)
    total = above[-1]
    if total <= 0:
        return float("nan"), np.full(len(p), np.nan)
    term = (mass * above + own) / seen
    value = float(term.sum() / total)
    later_mass = _from_here(mass / seen)
    later_term = _from_here(term / seen)
    slope = (
        p * spread_runs(above / seen + later_mass, start, len(p))
        + p * (1 - p) * spread_runs(1 / seen, start, len(p))
        - spread_runs(later_term, start, len(p))
        - value * p
    ) / total
    influence = np.empty(len(p))
    influence[order.items] = slope - slope.mean()
    return value, influence


def _from_here(values: Floats) -> Floats:
    """Sum of this and all later runs."""
    return np.cumsum(values[::-1])[::-1]
