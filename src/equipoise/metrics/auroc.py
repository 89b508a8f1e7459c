r"""AUROC: the chance that a positive item scores above a negative one, labels hard or soft.

With score :math:`s_i`, soft label :math:`p_i`, :math:`q_i = 1 - p_i`, and
:math:`k_{ij} = 1` if :math:`s_i > s_j`, 1/2 if equal:

.. math:: \mathrm{num} = \sum_{i \ne j} p_i q_j k_{ij}, \quad n_+ = \sum p_i, \quad
    n_- = \sum q_i, \quad D = \sum p_i q_i

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

The influence, the derivative :math:`g_i` by the weight of item i at weight one, gives instant
standard errors, paired between models: the variance is :math:`\sum g_i^2` and the covariance of
two models :math:`\sum g_i g'_i` ("soft DeLong"); on hard labels it is DeLong's up to n/(n-1)
factors within each class. In the form ``pairs``

.. math:: g_i = \frac{p_i A_i + q_i B_i - \theta\,(p_i (V - q_i) + q_i (U - p_i))}{UV - D},
    \quad A_i = \sum_{j \ne i} q_j k_{ij}, \quad B_i = \sum_{j \ne i} p_j k_{ji}

References
----------
Lionetti et al., *Clinical Uncertainty Impacts Machine Learning Evaluations*.

Examples
--------
>>> auroc([1, 0.75, 0.25, 0.5, 0], [0.9, 0.8, 0.7, 0.6, 0.5])
0.9
>>> auroc([1, 0.75, 0.25, 0.5, 0], [0.9, 0.8, 0.7, 0.6, 0.5], form="strict")
0.81
"""

from itertools import combinations
from typing import Any

import numpy as np

from equipoise.arrays import Floats, InputError, PerItem, PerReplicate, choice
from equipoise.metrics._arguments import checked_labels, checked_weights
from equipoise.metrics._expected import expected_auroc, expected_reduce
from equipoise.metrics._metric import (
    AVERAGES,
    Block,
    Metric,
    Order,
    average_classes,
    parameters,
)
from equipoise.metrics._ranking import (
    Sums,
    plain_sums,
    prepare,
    reduce,
    repeat_truth,
    run_starts,
    sort_items,
    spread_runs,
)

FORMS = ("pairs", "trapezoid", "strict", "inclusive", "expected")


def auroc(y_true: Any, y_score: Any, *, form: str = "pairs", weights: Any = None) -> float:
    """Area under the ROC curve for hard or soft labels.

    Parameters
    ----------
    y_true
        Labels in [0, 1], shape (items,): 0 and 1, or shares of positive votes. With class
        scores: class codes (items,) or label distributions (items, classes).
    y_score
        Scores (items,), higher meaning more positive, or class scores (items, classes),
        which give the macro average over one-vs-rest.
    form
        One of pairs, trapezoid, strict, inclusive, expected: see the table above.
    weights
        Importance weights (items,), or `Copies` of counts for repeated items.
    """
    choice("auroc, form", form, FORMS)
    labels, scores = checked_labels(y_true, y_score)
    if scores.ndim == 2:
        return float(auroc_per_class(labels, scores, form=form, weights=weights).mean())
    each = checked_weights(weights, len(labels))
    if form == "expected":
        if not each.copies:
            raise InputError(
                "auroc, form expected",
                "importance weights",
                "counts or no weights",
                "wrap whole numbers in Copies, or choose form pairs",
            )
        times = each.each.astype(np.intp)
        return expected_auroc(np.repeat(scores, times), np.repeat(labels, times))
    return float(_value(plain_sums(sort_items(scores), labels, each.each, each.own), form))


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
    return metric(multiclass="ovo")(labels, scores)


def metric(*, form: str = "pairs", multiclass: str = "ovr", average: str = "macro") -> Metric:
    """AUROC for the engine."""
    choice("auroc, form", form, FORMS)
    choice("auroc, multiclass", multiclass, ("ovr", "ovo"))
    choice("auroc, average", average, AVERAGES)
    defaults = {"form": "pairs", "multiclass": "ovr", "average": "macro"}
    given = {"form": form, "multiclass": multiclass, "average": average}
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
        values = sums[:, 1] if kind == "expected" else _value(_named(sums), form)
        mass = sums[:, 0] if kind == "expected" else sums[:, 1]
        return average_classes(values, mass, average)

    reductions = {"ranking": reduce, "ovo": _one_vs_one_reduce, "expected": expected_reduce}
    return Metric(
        name=parameters("auroc", defaults, given),
        title="AUROC",
        soft_title="soft AUROC",
        definition=_definition(form, multiclass, average),
        family=kind if kind != "expected" else "expected auroc",
        prepare=prepare,
        reduce=reductions[kind],
        finish=finish,
        influence=_influence if form == "pairs" and kind == "ranking" else None,
        average=average,
        topic="Order of items, for scores and probabilities",
        references=("hand2001", "lionetti2025") if kind == "ovo" else ("lionetti2025",),
    )


def _named(sums: Floats) -> Sums:
    """Name the rows of (classes, SUMS, replicates)."""
    return Sums(*np.moveaxis(sums, 1, 0))


def _value(sums: Sums, form: str) -> Floats:
    """Turn sums into the chosen form; nan where there are no pairs."""
    product = sums.mass * (sums.number - sums.mass)
    shift = {"pairs": -0.5, "trapezoid": 0.0, "strict": -0.5, "inclusive": 0.5}[form]
    below = product - sums.own if form == "pairs" else product
    defined = (product > 0) & (below > 1e-12 * product)
    above = np.clip(sums.pairs + shift * sums.own, 0.0, None)
    return np.where(defined, above / np.where(defined, below, 1.0), np.nan)


def _definition(form: str, multiclass: str, average: str) -> str:
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


def _influence(order: Order, positive: PerItem) -> tuple[float, PerItem]:
    """Value and influence of AUROC, form ``pairs``, shape (items,)."""
    start = run_starts(order)
    p = positive[order.items]
    q = 1 - p
    up, down = np.add.reduceat(p, start), np.add.reduceat(q, start)
    above, below = np.cumsum(up), np.cumsum(down)
    total_up, total_down = above[-1], below[-1]
    wins = spread_runs(total_down - below + down / 2, start, len(p)) - q / 2
    losses = spread_runs(above - up / 2, start, len(p)) - p / 2
    pairs = total_up * total_down - (p * q).sum()
    if not pairs > 1e-12 * total_up * total_down:
        return float("nan"), np.full(len(p), np.nan)
    value = float((p * wins).sum() / pairs)
    slope = p * wins + q * losses - value * (p * (total_down - q) + q * (total_up - p))
    influence = np.empty(len(p))
    influence[order.items] = slope / pairs
    return value, influence


def _one_vs_one_reduce(prepared: tuple[Order, ...], block: Block) -> Floats:
    """Sums for every ordered pair of classes, shape (pairs, 2, 4, replicates)."""
    from equipoise.kernels.top import class_pairs

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
    up, down, pairs, own = np.moveaxis(sums, 2, 0)
    below = up * down - own
    defined = (up * down > 0) & (below > 1e-12 * up * down)
    value = np.where(defined, (pairs - own / 2) / np.where(defined, below, 1.0), np.nan)
    return np.asarray(value.mean(axis=1).mean(axis=0))
