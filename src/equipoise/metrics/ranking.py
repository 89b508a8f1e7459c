r"""Ranking: AUROC and average precision, labels hard or soft.

With score :math:`s_i`, soft label :math:`p_i`, :math:`q_i = 1 - p_i`, and
:math:`k_{ij} = 1` if :math:`s_i > s_j`, 1/2 if equal:

.. math:: \mathrm{num} = \sum_{i \ne j} p_i q_j k_{ij}, \quad n_+ = \sum p_i, \quad
    n_- = \sum q_i, \quad D = \sum p_i q_i

`auroc`: the probability that a positive item scores above a negative one.

===========  ===============================  ==================================================
form         value                            which is
===========  ===============================  ==================================================
pairs        num / (n+ n- - D)                the ratio of expectations over independent labels;
                                              chance is 1/2 whatever the labels (default)
trapezoid    (num + D/2) / (n+ n-)            the area under the soft ROC curve, as scikit-learn
                                              with sample weights, xgboost and catboost
strict       num / (n+ n-)                    second line of eq. 4 of Lionetti et al., as in
                                              their tables; chance is below 1/2
inclusive    (num + D) / (n+ n-)              first line of eq. 4; chance is above 1/2
expected     E[AUROC | both classes occur]    by quadrature, exact for any number of items
===========  ===============================  ==================================================

All are equal, and equal to scikit-learn, on hard labels. Undefined (nan) without positives or
without negatives. Several classes: one-vs-rest, or one-vs-one after Hand and Till (2001): the
mean over pairs of classes of A(a|b) and A(b|a), with labels L and
A(a|b) = sum over i != j of L_ia L_jb k(s_ia, s_ja) / sum over i != j of L_ia L_jb.

`average_precision`: precision at every positive, averaged, items sorted by falling score.

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

with :math:`r_b` the mass of a run, :math:`R_b` and :math:`N_b` cumulative including it.

Exact expectations are over independent Bernoulli labels: :math:`1/(1+M) = \int_0^1 t^M dt` and
:math:`E[t^M] = \prod_i (1 - p_i + p_i t)` turn the expectation of a ratio of counts into a
one-dimensional integral of smooth functions, taken by Gauss-Legendre with 48 nodes; O(items)
per node after the sort.

The influence, the derivative :math:`g_i` by the weight of item i at weight one, gives instant
standard errors, paired between models: the variance is :math:`\sum g_i^2` and the covariance of
two models :math:`\sum g_i g'_i` ("soft DeLong"); on hard labels it is DeLong's up to n/(n-1)
factors within each class. For AUROC in the form ``pairs``

.. math:: g_i = \frac{p_i A_i + q_i B_i - \theta\,(p_i (V - q_i) + q_i (U - p_i))}{UV - D},
    \quad A_i = \sum_{j \ne i} q_j k_{ij}, \quad B_i = \sum_{j \ne i} p_j k_{ji}

and for average precision the derivative of :math:`\frac1U \sum_b (r_b R_b + d_b)/N_b` by the
count of an item, centred because the number of items in a resample is fixed.

Both take labels in [0, 1], shape (items,): 0 and 1, or shares of positive votes; and scores
(items,), higher meaning more positive. Class scores (items, classes) with class codes (items,)
or label distributions (items, classes) give the macro average over one-vs-rest. `weights` are
importance weights (items,), or `Copies` of counts for repeated items.

References
----------
Lionetti et al., *Clinical Uncertainty Impacts Machine Learning Evaluations*.

Examples
--------
>>> labels, scores = [1, 0.75, 0.25, 0.5, 0], [0.9, 0.8, 0.7, 0.6, 0.5]
>>> auroc(labels, scores), auroc(labels, scores, form="strict")
(0.9, 0.81)
>>> average_precision(labels, scores), average_precision(labels, scores, form="printed")
(0.942, 0.854)
"""

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from equipoise.metrics._metric import (
    AVERAGES,
    Block,
    Influence,
    Metric,
    Order,
    Prepared,
    Sums,
    Topic,
    Weights,
    average_classes,
    checked_labels,
    checked_weights,
    parameters,
    plain_sums,
    prepare,
    reduce,
    reduce_all,
    repeat_truth,
    run_starts,
    sort_items,
)
from equipoise.types import Floats, InputError, PerItem, PerReplicate, choice, ratio

_AUROC_FORMS = ("pairs", "trapezoid", "strict", "inclusive", "expected")
_PRECISION_FORMS = ("conditional", "printed", "expected")
_TIES = ("block", "random")
_NODES = 48


def auroc(y_true: Any, y_score: Any, *, form: str = "pairs", weights: Any = None) -> float:
    """Area under the ROC curve for hard or soft labels.

    ``form`` is one of pairs, trapezoid, strict, inclusive, expected: see the table above.
    """
    choice("auroc, form", form, _AUROC_FORMS)
    labels, scores = checked_labels(y_true, y_score)
    if scores.ndim == 2:
        return float(auroc_per_class(labels, scores, form=form, weights=weights).mean())
    weight = checked_weights(weights, len(labels))
    if form == "expected":
        p, s = _copied("auroc, form expected", (labels, scores), weight, "form pairs")
        return _expected_auroc(s, p)
    return float(
        _auroc_value(
            plain_sums(sort_items(scores), labels, weight.weight, weight.self_weight), form
        )
    )


def auroc_per_class(
    y_true: Any, y_score: Any, *, form: str = "pairs", weights: Any = None
) -> Floats:
    """One-vs-rest AUROC of every class, shape (classes,).

    Examples
    --------
    >>> auroc_per_class([0, 1, 2], np.eye(3))
    array([1., 1., 1.])
    """
    labels, scores = checked_labels(y_true, np.atleast_2d(y_score))
    columns = zip(labels.T, scores.T, strict=True)
    return np.array([auroc(p, s, form=form, weights=weights) for p, s in columns])


def auroc_one_vs_one(y_true: Any, y_score: Any) -> float:
    """Hand and Till's AUROC: the mean over pairs of classes, labels hard or soft.

    Examples
    --------
    >>> auroc_one_vs_one([0, 1, 2], np.eye(3))
    1.0
    """
    labels, scores = checked_labels(y_true, np.atleast_2d(y_score))
    return auroc_metric(multiclass="ovo")(labels, scores)


def auroc_across_readers(votes: Any, y_score: Any) -> float:
    r"""Soft AUROC over pairs of items judged by different readers.

    Parameters
    ----------
    votes
        Yes/no votes as 0 and 1, shape (items, readers); nan where a reader did not vote.
    y_score
        Scores, shape (items,).

    Notes
    -----
    A positive and a negative vote of one reader share that reader's habits, so that `auroc` of
    mean votes depends a little on the number m of readers (0.745, 0.742, 0.741 for 3, 5 and 8
    where the limit is 0.739). With :math:`y_{ir}` the vote of reader r on item i and
    :math:`m_i` the readers of item i, this leaves pairs of votes of one reader out,

    .. math:: \frac{\sum_{i \ne j} k_{ij} \sum_{r \ne s} y_{ir} (1 - y_{js}) / m_i m_j}
        {\sum_{i \ne j} \sum_{r \ne s} y_{ir} (1 - y_{js}) / m_i m_j}

    and does not depend on m. It needs to know who voted, which metrics of the engine do not.

    Examples
    --------
    >>> said = [[1, 1, 0], [1, 0, 1], [0, 0, 1], [0, 0, 0]]
    >>> auroc_across_readers(said, [0.9, 0.5, 0.6, 0.1])
    0.778
    """
    table, scores = np.asarray(votes, dtype=np.float64), np.asarray(y_score, dtype=np.float64)
    fine = table.ndim == 2 and scores.shape == table.shape[:1] and np.isfinite(scores).all()
    if not fine or not np.isin(table[~np.isnan(table)], (0, 1)).all():
        raise InputError(
            "auroc_across_readers",
            f"votes {table.shape}, scores {scores.shape}",
            "votes of 0, 1 or nan (items, readers) and one finite score per item",
            "give one column per reader",
        )
    read = ~np.isnan(table)
    voted = read.any(axis=1)
    table, read, scores = table[voted], read[voted], scores[voted]
    share = read / read.sum(axis=1, keepdims=True)
    yes, no = np.where(read, table, 0.0) * share, np.where(read, 1 - table, 0.0) * share
    order = sort_items(scores)
    above, pairs = _cross_pairs(yes.sum(axis=1), no.sum(axis=1), order) - sum(
        _cross_pairs(*of_reader, order) for of_reader in zip(yes.T, no.T, strict=True)
    )
    return float(above / pairs) if pairs > 1e-12 else float("nan")


def _cross_pairs(yes: Floats, no: Floats, order: Order) -> Floats:
    """Sums of yes_i no_j k_ij and of yes_i no_j over pairs of different items."""
    return np.array([_pairs(order, yes, no), yes.sum() * no.sum() - yes @ no])


def auroc_metric(
    *, form: str = "pairs", multiclass: str = "ovr", average: str = "macro"
) -> Metric:
    """AUROC for the engine."""
    choice("auroc, form", form, _AUROC_FORMS)
    choice("auroc, multiclass", multiclass, ("ovr", "ovo"))
    choice("auroc, average", average, AVERAGES)
    defaults = {"form": "pairs", "multiclass": "ovr", "average": "macro"}
    chosen = {"form": form, "multiclass": multiclass, "average": average}
    kind = "ovo" if multiclass == "ovo" else "expected" if form == "expected" else "ranking"
    if kind == "ovo" and (form, average) != ("pairs", "macro"):
        raise InputError(
            "auroc, multiclass ovo",
            f"form {form}, average {average}",
            "pairs and macro",
            "leave form and average out: Hand and Till define only this one",
        )

    def finish(sums: Floats) -> PerReplicate:
        if kind == "ovo":
            return _one_vs_one_finish(sums)
        values = (
            sums[:, 1]
            if kind == "expected"
            else _auroc_value(Sums(*np.moveaxis(sums, 1, 0)), form)
        )
        mass = sums[:, 0] if kind == "expected" else sums[:, 1]
        return average_classes(values, mass, average)

    derived = partial(_derived, "auroc_influence")
    reductions: dict[str, Callable[[Prepared, Block], Floats]] = {
        "ranking": reduce,
        "ovo": _one_vs_one_reduce,
        "expected": partial(_expected_sums, expectation=_expected_auroc),
    }
    return Metric(
        name=parameters("auroc", defaults, chosen),
        title="AUROC",
        soft_title="soft AUROC",
        definition=_auroc_definition(form, multiclass, average),
        plain="Soft AUROC is the probability that an item which one annotator calls positive "
        "scores above one that an annotator calls negative; disagreement keeps it below 1 for "
        "any model.",
        family=kind if kind != "expected" else "expected auroc",
        prepare=prepare,
        reduce=reductions[kind],
        reduce_all=reduce_all if kind == "ranking" else None,
        finish=finish,
        influence=derived if form == "pairs" and kind == "ranking" else None,
        average=average,
        topic=Topic.ORDER,
        references=("hand2001", "lionetti2025") if kind == "ovo" else ("lionetti2025",),
    )


def _auroc_value(sums: Sums, form: str) -> Floats:
    """Turn sums into the chosen form; nan where there are no pairs."""
    product = sums.mass * (sums.number - sums.mass)
    shift = {"pairs": -0.5, "trapezoid": 0.0, "strict": -0.5, "inclusive": 0.5}[form]
    below = product - sums.same_item if form == "pairs" else product
    defined = (product > 0) & (below > 1e-12 * product)
    above = np.clip(sums.pairs + shift * sums.same_item, 0.0, None)
    return ratio(above, below, defined=defined)


def _auroc_definition(form: str, multiclass: str, average: str) -> str:
    formulas = {
        "pairs": "sum over i≠j of p_i (1-p_j) k_ij, divided by the sum of p_i (1-p_j)",
        "trapezoid": "area under the soft ROC curve; an item ties with itself",
        "strict": "sum over i≠j of p_i (1-p_j) k_ij, divided by n+ n-",
        "inclusive": "as strict, but an item beats itself",
        "expected": "expected AUROC over independent labels drawn from the soft labels",
    }
    several = "one-vs-one (Hand and Till)" if multiclass == "ovo" else f"one-vs-rest, {average}"
    return (
        f"AUROC, form {form}: {formulas[form]}; k_ij is 1 if i scores above j, 1/2 if equal. "
        f"With several classes: {several}."
    )


def _derived(kernel: str, order: Order, positive: PerItem) -> Influence:
    """Let a kernel fill in value and derivatives; nan where the value is undefined."""
    from equipoise.kernels import influence

    labels = np.ascontiguousarray(positive, dtype=np.float64)
    items, shares = np.empty(len(labels)), np.empty(len(labels))
    value = getattr(influence, kernel)(*order, labels, items, shares)
    return Influence(float(value), items, shares)


def _one_vs_one_reduce(prepared: tuple[Order, ...], block: Block) -> Floats:
    """Sums for every ordered pair of classes, shape (pairs, 2, 4, replicates)."""
    from equipoise.kernels.ranking import class_pairs

    if len(block.classes) < 2:
        raise InputError(
            "auroc, multiclass ovo",
            "a yes/no question",
            "at least two classes",
            "leave multiclass out: there is only one pair",
        )
    width = block.counts.shape[1]
    masses = [repeat_truth(truth.positive, width) for truth in block.classes]
    return np.array(
        [
            [class_pairs(*prepared[x], masses[x], masses[y], block.counts) for x, y in both]
            for both in (((a, b), (b, a)) for a, b in combinations(range(len(masses)), 2))
        ]
    ).reshape(-1, 2, 4, width)


def _one_vs_one_finish(sums: Floats) -> PerReplicate:
    """Mean over pairs; nan when a pair of classes never meets."""
    up, down, pairs, same_item = np.moveaxis(sums, 2, 0)
    below = up * down - same_item
    defined = (up * down > 0) & (below > 1e-12 * up * down)
    value = ratio(pairs - same_item / 2, below, defined=defined)
    return np.asarray(value.mean(axis=1).mean(axis=0))


def average_precision(
    y_true: Any,
    y_score: Any,
    *,
    form: str = "conditional",
    ties: str = "block",
    weights: Any = None,
) -> float:
    """Average precision for hard or soft labels.

    ``form`` is conditional, printed or expected, ``ties`` block or random: see above.
    """
    _check_precision(form, ties)
    labels, scores = checked_labels(y_true, y_score)
    if scores.ndim == 2:
        how = {"form": form, "ties": ties, "weights": weights}
        columns = zip(labels.T, scores.T, strict=True)
        return float(np.mean([average_precision(p, s, **how) for p, s in columns]))
    weight = checked_weights(weights, len(labels))
    if form == "expected" or ties == "random":
        where = f"average_precision, form {form}, ties {ties}"
        p, s = _copied(where, (labels, scores), weight, "ties block")
        if not len(p):
            return float("nan")
        if form == "expected":
            return _expected_precision(s, p)
        return average_precision_metric(form=form, ties=ties)(p, s)
    sums = plain_sums(sort_items(scores), labels, weight.weight, weight.self_weight)
    above = sums.printed + (sums.extra if form == "conditional" else 0.0)
    return float(above / sums.mass) if sums.mass > 0 else float("nan")


def average_precision_metric(
    *, form: str = "conditional", ties: str = "block", average: str = "macro"
) -> Metric:
    """Average precision for the engine."""
    _check_precision(form, ties)
    choice("average_precision, average", average, AVERAGES)
    defaults = {"form": "conditional", "ties": "block", "average": "macro"}
    chosen = {"form": form, "ties": ties, "average": average}
    kind = "expected" if form == "expected" else ties

    def finish(sums: Floats) -> PerReplicate:
        mass, values = _precision_values(sums, kind, form)
        return average_classes(values, mass, average)

    derived = partial(_derived, "precision_influence")
    families = {"block": "ranking", "random": "random ties", "expected": "expected precision"}
    reductions: dict[str, Callable[[Prepared, Block], Floats]] = {
        "block": reduce,
        "random": _random_sums,
        "expected": partial(_expected_sums, expectation=_expected_precision),
    }
    return Metric(
        name=parameters("average_precision", defaults, chosen),
        title="average precision",
        soft_title="soft average precision",
        definition=_precision_definition(form, ties, average),
        plain="Soft average precision is the share of positive votes among the items that "
        "score at least as high as a positive one, on average over positive votes.",
        family=families[kind],
        prepare=prepare,
        reduce=reductions[kind],
        reduce_all=reduce_all if kind == "block" else None,
        finish=finish,
        influence=derived if form == "conditional" and ties == "block" else None,
        average=average,
        topic=Topic.ORDER,
        references=("lionetti2025",),
    )


def _check_precision(form: str, ties: str) -> None:
    choice("average_precision, form", form, _PRECISION_FORMS)
    choice("average_precision, ties", ties, _TIES)
    if form == "expected" and ties == "random":
        raise InputError(
            "average_precision, form expected",
            "ties random",
            "ties block",
            "leave ties out, or choose form conditional",
        )


def _copied(
    where: str, arrays: tuple[Floats, Floats], weight: Weights, other: str
) -> list[Floats]:
    """Labels and scores with whole copies of items, for forms that need them."""
    if not weight.copies:
        do = f"wrap whole numbers in Copies, or choose {other}"
        raise InputError(where, "importance weights", "counts or no weights", do)
    return [np.repeat(array, weight.weight.astype(np.intp)) for array in arrays]


def _random_sums(prepared: tuple[Order, ...], block: Block) -> Floats:
    """Mass, conditional and printed sums with random ties, (classes, 3, replicates)."""
    from equipoise.kernels.ranking import random_ties

    most = int(block.counts.sum(axis=0, dtype=np.int64).max())
    harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, most + 1))))
    width = block.counts.shape[1]
    return np.stack(
        [
            random_ties(*order, repeat_truth(truth.positive, width), block.counts, harmonic)
            for order, truth in zip(prepared, block.classes, strict=True)
        ]
    )


def _precision_values(sums: Floats, kind: str, form: str) -> tuple[Floats, Floats]:
    """Mass and value of each class from the sums of a family."""
    if kind == "expected":
        return sums[:, 0], sums[:, 1]
    if kind == "random":
        mass, above = sums[:, 0], sums[:, 1 if form == "conditional" else 2]
    else:
        mass = sums[:, 1]
        above = sums[:, 4] + sums[:, 5] if form == "conditional" else sums[:, 4]
    return mass, ratio(above, mass)


def _precision_definition(form: str, ties: str, average: str) -> str:
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


def _expected_auroc(scores: PerItem, positive: PerItem) -> float:
    """E[AUROC] given that both classes occur; nan when they cannot."""
    if not len(scores):
        return float("nan")
    rare = positive if positive.mean() < 0.5 else 1 - positive
    possible = _any(rare) - float(np.prod(rare))
    if not possible > 0:
        return float("nan")
    order = sort_items(scores)
    total = 0.0
    for mass in (positive, 1 - positive):
        for t, step in _nodes(float(mass.sum())):
            factor = 1 - mass + mass * t
            scale = _product(factor)
            if scale > 0:
                total += (
                    step * scale * _pairs(order, positive / factor, (1 - positive) / factor)
                )
    return float(total / len(scores) / possible)


def _expected_precision(scores: PerItem, positive: PerItem) -> float:
    """E[AP] given that a positive occurs, ties in blocks; nan when none can."""
    possible = _any(positive)
    if not possible > 0:
        return float("nan")
    order = sort_items(scores)
    start = run_starts(order)
    p = positive[order.items]
    seen = np.append(start[1:], len(p)).astype(np.float64)
    total = 0.0
    for t, step in _nodes(float(p.sum())):
        factor = 1 - p + p * t
        scale = _product(factor)
        if scale > 0:
            r = p / factor
            run, square = np.add.reduceat(r, start), np.add.reduceat(r * r, start)
            total += step * scale * ((run + t * (run * np.cumsum(run) - square)) / seen).sum()
    return float(total / possible)


def _expected_sums(
    prepared: Prepared, block: Block, expectation: Callable[[PerItem, PerItem], float]
) -> Floats:
    """Mass and expectation of every class in every replicate, (classes, 2, replicates).

    Each replicate is expanded: slow, exact, for small data.
    """
    width = block.counts.shape[1]
    out = np.empty((len(prepared), 2, width))
    for k, (order, truth) in enumerate(zip(prepared, block.classes, strict=True)):
        positive = repeat_truth(truth.positive, width)
        place = np.empty(len(order.items))
        place[order.items] = -np.cumsum(np.append(0, order.last[:-1] > 0))
        for r in range(width):
            times = block.counts[:, r]
            p = np.repeat(positive[:, r], times)
            out[k, 0, r] = p.sum()
            out[k, 1, r] = expectation(np.repeat(place, times), p) if len(p) else np.nan
    return out


def _nodes(mass: float) -> list[tuple[float, float]]:
    """Nodes and weights on (0, 1), crowded near 1 where the integrand lives."""
    x, w = np.polynomial.legendre.leggauss(_NODES)
    length = min(1.0, 60.0 / max(mass, 1e-9))
    return [(1 - 0.5 * (a + 1) * length, 0.5 * length * b) for a, b in zip(x, w, strict=True)]


def _any(chance: Floats) -> float:
    """Chance that at least one of independent events happens, exact for tiny chances."""
    with np.errstate(divide="ignore"):
        return float(-np.expm1(np.log1p(-chance).sum()))


def _product(factors: Floats) -> float:
    """Product without underflow on the way; 0 when a factor is 0."""
    return float(np.exp(np.log(factors).sum())) if (factors > 0).all() else 0.0


def _pairs(order: Order, upper: Floats, lower: Floats) -> float:
    """Sum over i != j of u_i v_j k_ij."""
    start = run_starts(order)
    u, v = upper[order.items], lower[order.items]
    run, fall = np.add.reduceat(u, start), np.add.reduceat(v, start)
    above = np.cumsum(run)
    return float((fall * (above - run / 2)).sum() - (u * v).sum() / 2)
