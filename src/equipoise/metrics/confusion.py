r"""Decisions against labels: of all classes together, of one class, and of a consensus.

Confusion matrix, balanced accuracy, MCC and Cohen's kappa, labels hard or soft.

Decisions are those of `equipoise.metrics.decisions`: the largest probability, classes tied for
it sharing the item, a score of exactly 1/2 half a yes. :math:`O_{kd}` is the share of items
with true class k that are decided for d; with label distributions an item adds its share of
votes to each true class, which gives expected counts.

`confusion_matrix`: the counts :math:`n\,O_{kd}` themselves, true classes in rows.

`balanced_accuracy`: the mean over classes of the share that is decided right, which does not
depend on how frequent they are; of a yes/no question the mean of sensitivity and specificity.
Undefined (nan) when a class has no label mass,

.. math:: \mathrm{BA} = \frac1K \sum_k O_{kk} / O_{k\cdot}

`mcc`: Matthews' correlation of labels and decisions, for several classes after Gorodkin. 1 for
perfect decisions, 0 at chance. Undefined when all labels, or all decisions, are one class,

.. math:: \mathrm{MCC} = \frac{\sum_k (O_{kk} - O_{k\cdot} O_{\cdot k})}
    {\sqrt{(1 - \sum_k O_{k\cdot}^2)(1 - \sum_k O_{\cdot k}^2)}}

`cohen_kappa`: agreement with the consensus beyond what the marginals alone would give, all
errors alike; for grades see `quadratic_weighted_kappa`, for agreement among annotators
`equipoise.truth.agreement`. Undefined when labels and decisions are all one class,

.. math:: \kappa = \frac{\sum_k (O_{kk} - O_{k\cdot} O_{\cdot k})}
    {1 - \sum_k O_{k\cdot} O_{\cdot k}}

All take class codes or label distributions (items, classes) and predicted distributions, class
codes, or one probability or decision per item of a yes/no question. `weights` are importance
weights (items,), or `Copies` of counts.

Sensitivity, specificity, predictive values and F1 of decisions, labels hard or soft.

A model decides for a class or not (`equipoise.metrics.decisions`: the largest probability; a
score above 1/2 means yes, one of exactly 1/2 is half a yes and half a no; decisions may be
given as 0 and 1). With :math:`p_i` the share of votes for the class and :math:`d_i` whether it
is decided for,

.. math:: n = \sum_i 1, \quad P = \sum_i p_i, \quad D = \sum_i d_i, \quad
    \mathrm{TP} = \sum_i p_i d_i, \quad \mathrm{TN} = n - P - D + \mathrm{TP}

are expected counts: a vote drawn at random is positive. Hard labels give the ordinary ones.

==============  ==========================  ===================================================
metric          value                       undefined (nan)
==============  ==========================  ===================================================
`sensitivity`   TP / P                      no positive label; also recall, true positive rate
`specificity`   TN / (n - P)                no negative label; also true negative rate
`ppv`           TP / D                      nothing is decided positive; also precision
`npv`           TN / (n - D)                nothing is decided negative
`f1`            2 TP / (P + D)              no positive label, and nothing decided positive
==============  ==========================  ===================================================

Of a yes/no question it is the positive class, the second of two columns. Of several classes
each is taken against the rest and they are averaged: ``average=macro`` weighs them alike,
``weighted`` by their mass, and an undefined class makes the average undefined. To name an
average with a yes/no question averages both answers, as scikit-learn does. ``positive`` looks
at one class alone: its name (``f1:positive=N3``), in a plain call the number of its column.

All are ratios of sums over items, so that the derivative by the weight of an item is

.. math:: \theta = \frac AB = \frac{\sum_i a_i}{\sum_i b_i}, \quad
    g_i = \frac{a_i - \theta b_i}{B}

Soft agreement: how well decisions agree with the consensus of several scorers.

`soft_agreement`: with :math:`\pi_i` the shares of votes of item i and :math:`d_i` the decision
(the largest probability; tied classes share), after Guillot,

.. math:: \mathrm{SA} = \frac1n \sum_i \frac{\pi_{i,\,d_i}}{\max_k \pi_{ik}}

1 for an item whose decision is what most scorers said, or as many as any other class; less, by
the votes that it has, for a minority's class; 0 for what nobody said. Unlike `accuracy`, which
is the share of votes, it is 1 for whoever follows the majority throughout. A scorer is judged
by the votes of the others alone: leave their own out of the labels. With hard labels it is the
accuracy, except that a tied item agrees with each of its classes in full.

It takes class codes or label distributions (items, classes) and predicted distributions, class
codes, or one probability or decision per item of a yes/no question. `weights` are importance
weights (items,), or `Copies` of counts. Undefined (nan) without items.

By a vote for class k an item moves by :math:`([k = d_i] - s_i\,[k = m_i]) / \pi_{i m_i}`, where
:math:`s_i` is its agreement and :math:`m_i` the class with most votes (tied ones share). Labels
that are all settled on one class, or evenly on several, move as a whole: by [k = d].

References
----------
Brodersen et al. (2010), *The balanced accuracy and its posterior distribution*. Matthews
(1975). Gorodkin (2004), *Comparing two K-category assignments by a K-category correlation
coefficient*. Cohen (1960), *A coefficient of agreement for nominal scales*. Altman and Bland
(1994), *Diagnostic tests 1: sensitivity and specificity*, and *2: predictive values*. van
Rijsbergen (1979), *Information Retrieval*. Guillot et al. (2020), *Dreem Open Datasets:
Multi-Scored Sleep Datasets to Compare Human and Automated Sleep Staging*.

Examples
--------
>>> confusion_matrix([0, 1, 1, 2], [0, 1, 2, 2])
array([[1., 0., 0.],
       [0., 1., 1.],
       [0., 0., 1.]])
>>> confusion_matrix([1, 0.75, 0.25], [0.9, 0.8, 0.1])
array([[0.75, 0.25],
       [0.25, 1.75]])
>>> balanced_accuracy([1, 1, 0, 0], [1, 0, 0, 0]), mcc([1, 1, 0, 0], [1, 0, 0, 0])
(0.75, 0.577)
>>> cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0])
0.5
>>> sensitivity([1, 1, 1, 0], [1, 1, 0, 1]), specificity([1, 1, 0, 0], [0.9, 0.2, 0.7, 0.1])
(0.667, 0.5)
>>> ppv([1, 0.75, 0.25, 0], [0.9, 0.8, 0.7, 0.1]), npv([1, 0, 0], [1, 0, 0])
(0.667, 1.0)
>>> f1([0, 1, 2, 2], [0, 2, 2, 2], positive=2), f1([0, 0, 1], [0, 0, 0])
(0.8, 0.0)
>>> ppv([1, 0], [0, 0])
nan
>>> soft_agreement([[0.6, 0.4, 0.0], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]], [1, 1, 2])
0.556
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from equipoise.metrics._metric import (
    AVERAGES,
    Influence,
    Metric,
    PlainMetric,
    Topic,
    average_classes,
    checked_weights,
    parameters,
)
from equipoise.metrics.decisions import (
    by_cost,
    checked_decisions,
    cost_matrix,
    decide,
    from_table,
    kappa,
    kappa_gradient,
    of_decisions,
    plain_decision,
)
from equipoise.metrics.distributions import mean_of_items, over_classes
from equipoise.types import (
    ONE_CLASS,
    Floats,
    InputError,
    Names,
    PerItem,
    PerReplicate,
    choice,
    hint,
    immutable,
    listed,
    nearest,
    ratio,
)

_NOTHING = 1e-12  # a share of items below which a class is not there


def confusion_matrix(y_true: Any, y_pred: Any, *, weights: Any = None) -> Floats:
    """Expected counts of true and decided classes, shape (true, decided)."""
    labels, predicted = checked_decisions(y_true, y_pred)
    weight = checked_weights(weights, len(labels)).weight
    return (labels * weight[:, None]).T @ decide(predicted)


@of_decisions("y_pred")
def balanced_accuracy() -> Metric:
    """Mean over classes of the share decided right; nan when a class has no label mass."""
    text = "Mean over classes of the share of their votes that is decided right."
    metric = from_table(
        "balanced_accuracy", "balanced accuracy", text, _balanced, _balanced_gradient
    )
    return replace(metric, of_class=True, references=("brodersen2010",))


def _balanced(table: Floats) -> PerReplicate:
    true = table.sum(axis=1)
    present = true > _NOTHING * true.sum(axis=0)
    right = ratio(np.einsum("kk...->k...", table), true, defined=present)
    return np.asarray(right.mean(axis=0))


def _balanced_gradient(table: Floats) -> Floats:
    true = table.sum(axis=1)
    right = np.diag(table) / true
    return np.asarray((np.eye(len(table)) - right[:, None]) / true[:, None] / len(table))


@of_decisions("y_pred")
def mcc() -> Metric:
    """Correlation of labels and decisions; nan when either is all one class."""
    text = (
        "Matthews' correlation of votes and decisions: 1 for perfect decisions, 0 at chance; "
        "several classes after Gorodkin."
    )
    metric = from_table("mcc", "MCC", text, _correlation, _correlation_gradient)
    references = ("matthews1975", "gorodkin2004")
    return replace(metric, bounds=(-1.0, 1.0), references=references)


def _correlation(table: Floats) -> PerReplicate:
    total = table.sum(axis=(0, 1))
    shares = ratio(table, total, 0.0)
    true, decided = shares.sum(axis=1), shares.sum(axis=0)
    across = np.einsum("kk...->...", shares) - (true * decided).sum(axis=0)
    spread = [1 - (margin**2).sum(axis=0) for margin in (true, decided)]
    defined = (total > 0) & (spread[0] > _NOTHING) & (spread[1] > _NOTHING)
    below = np.sqrt(np.where(defined, spread[0] * spread[1], 1.0))
    return np.clip(ratio(across, below, defined=defined), -1.0, 1.0)


def _correlation_gradient(table: Floats) -> Floats:
    true, decided = table.sum(axis=1), table.sum(axis=0)
    spread_true, spread_decided = 1 - true @ true, 1 - decided @ decided
    below = np.sqrt(spread_true * spread_decided)
    value = (np.trace(table) - true @ decided) / below
    across = np.eye(len(table)) - decided[:, None] - true[None, :]
    widths = true[:, None] / spread_true + decided[None, :] / spread_decided
    return np.asarray(across / below + value * widths)


@of_decisions("y_pred")
def cohen_kappa() -> Metric:
    """Agreement with the consensus beyond chance; nan when everything is one class."""
    text = "Agreement of vote and decision beyond chance, all errors alike."
    metric = from_table("cohen_kappa", "Cohen's kappa", text, _cohen, _cohen_gradient)
    return replace(metric, bounds=(-1.0, 1.0), references=("cohen1960",))


_cohen = by_cost(kappa, partial(cost_matrix, "zero_one"))
_cohen_gradient = by_cost(kappa_gradient, partial(cost_matrix, "zero_one"))


_LEAST = 1e-12  # of all items: less than that is nothing to divide by
_Scope = int | str  # the column of one class, or an average; empty for the usual


@immutable
class _Ratio:
    """One metric: ``above`` and ``below`` are the parts of n, P, D and TP in A and B."""

    name: str
    title: str
    definition: str
    above: tuple[int, int, int, int]
    below: tuple[int, int, int, int]
    references: Names

    def values(self, table: Floats) -> Floats:
        """Value of every class, shape (classes, ...), of tables (true, decided, ...)."""
        sums = _sums(table)
        above, below = (np.tensordot(part, sums, axes=1) for part in (self.above, self.below))
        defined = below > _LEAST * sums[0]
        return np.clip(ratio(above, below, defined=defined), 0.0, 1.0)

    def denominator(self, column: int, decided: Floats, labels: Floats) -> PerItem:
        """What every item counts in that of a class; both (items, classes)."""
        true, called = labels[:, column], decided[:, column]
        parts = np.stack([np.ones(len(true)), true, called, true * called])
        return np.asarray(self.below) @ parts

    def slopes(self, table: Floats) -> Floats:
        """Derivatives by the shares of a table, shape (classes, true, decided)."""
        sums, values = _sums(table), self.values(table)
        parts = np.array(self.above)[:, None] - np.outer(self.below, values)  # (4, classes)
        parts /= np.asarray(self.below) @ sums
        identity = np.eye(len(table))
        out = np.broadcast_to(parts[0][:, None, None], (len(table),) * 3).copy()
        out += parts[1][:, None, None] * identity[:, :, None]
        out += parts[2][:, None, None] * identity[:, None, :]
        out += parts[3][:, None, None] * identity[:, :, None] * identity[:, None, :]
        return np.asarray(out)


def _sums(table: Floats) -> Floats:
    """n, P, D and TP of every class, shape (4, classes, ...)."""
    true, decided = table.sum(axis=1), table.sum(axis=0)
    number = np.broadcast_to(true.sum(axis=0), true.shape)
    return np.stack([number, true, decided, np.einsum("kk...->k...", table)])


_DIAGNOSTIC, _PREDICTIVE = ("altman_sensitivity1994",), ("altman_predictive1994",)
_RATIOS: Mapping[str, _Ratio] = {
    ratio.name: ratio
    for ratio in (
        _Ratio(
            "sensitivity",
            "sensitivity",
            "Share of positive votes that are decided positive (recall).",
            (0, 0, 0, 1),
            (0, 1, 0, 0),
            _DIAGNOSTIC,
        ),
        _Ratio(
            "specificity",
            "specificity",
            "Share of negative votes that are decided negative.",
            (1, -1, -1, 1),
            (1, -1, 0, 0),
            _DIAGNOSTIC,
        ),
        _Ratio(
            "ppv",
            "PPV",
            "Positive predictive value: share of positive votes among what is decided positive "
            "(precision).",
            (0, 0, 0, 1),
            (0, 0, 1, 0),
            _PREDICTIVE,
        ),
        _Ratio(
            "npv",
            "NPV",
            "Negative predictive value: share of negative votes among what is decided "
            "negative.",
            (1, -1, -1, 1),
            (1, 0, -1, 0),
            _PREDICTIVE,
        ),
        _Ratio(
            "f1",
            "F1",
            "Harmonic mean of sensitivity and positive predictive value.",
            (0, 0, 0, 2),
            (0, 1, 1, 0),
            ("vanrijsbergen1979",),
        ),
    )
}


def _scope_of(name: str, scope: _Scope, classes: int) -> _Scope:
    """Which of so many classes count: of two, usually the second; of more, all alike."""
    if scope == "":
        return 1 if classes == 2 else "macro"
    if isinstance(scope, int) and not 0 <= scope < classes:
        expected = f"the number of a column, 0 to {classes - 1}"
        raise InputError(f"{name}, positive", f"{scope}", expected, "correct it")
    return scope


def _averaged(ratio: _Ratio, table: Floats, scope: _Scope) -> PerReplicate:
    scope, values = _scope_of(ratio.name, scope, len(table)), ratio.values(table)
    if isinstance(scope, int):
        return np.asarray(values[scope])
    return average_classes(values, table.sum(axis=1), scope)


def _gradient(ratio: _Ratio, table: Floats, scope: _Scope) -> Floats:
    scope, slopes = _scope_of(ratio.name, scope, len(table)), ratio.slopes(table)
    if isinstance(scope, int):
        return np.asarray(slopes[scope])
    if scope == "macro":
        return np.asarray(slopes.mean(axis=0))
    values, mass = ratio.values(table), table.sum(axis=1)
    rows = (values - mass @ values)[:, None]  # the weight of a class moves with its row
    return np.asarray(np.tensordot(mass, slopes, axes=1) + rows)


def _ratio_metric(name: str, /, *, positive: str | int = "", average: str = "") -> Metric:
    """The metric for any question: a number as ``positive`` is a column until it is bound."""
    choice(f"{name}, average", average or "macro", AVERAGES)
    if average and positive != "":
        got, do = f"positive {positive} and average {average}", "leave one of them out"
        raise InputError(name, got, "one class, or an average over all", do)

    def bind(classes: Names) -> Metric:
        wanted = str(positive)  # the columns of yes or no are no and yes
        scope: _Scope = average or (1 if len(classes) == 1 else "macro")
        if wanted and wanted not in classes:
            got, expected = f"positive {wanted!r}", f"a scored class ({listed(classes)})"
            ask = hint("leave it out, or ask about that class with {}", ONE_CLASS)
            do = nearest(wanted, list(classes)) if len(classes) > 1 else ask
            raise InputError(f"metric {name}", got, expected, do)
        if wanted and len(classes) > 1:
            scope = classes.index(wanted)
        bound = _scoped(name, positive, average, scope)
        return replace(bound, bind=bind, column=scope if isinstance(scope, int) else None)

    unbound = positive if isinstance(positive, int) else average
    return replace(_scoped(name, positive, average, unbound), bind=bind)


def _of_ratio(name: str, text: str) -> PlainMetric:
    """The plain function of a ratio, in which ``positive`` is the number of a column."""
    make = partial(_ratio_metric, name)

    def call(
        y_true: Any, y_pred: Any, *, positive: int | None = None, average: str = "",
        weights: Any = None,
    ) -> float:  # fmt: skip
        column = "" if positive is None else positive
        if isinstance(positive, bool) or not (column == "" or isinstance(column, int)):
            expected = "the number of a column"
            raise InputError(f"{name}, positive", f"{positive!r}", expected, "count from 0")
        metric = make(positive=column, average=average)
        return plain_decision(metric, y_true, y_pred, weights)

    call.__name__ = call.__qualname__ = name
    vars(call)["metric"], call.__doc__ = make, text
    return cast(PlainMetric, call)


sensitivity = _of_ratio(
    "sensitivity",
    "Share of the positive label mass that is decided positive; nan without any.",
)
specificity = _of_ratio(
    "specificity",
    "Share of the negative label mass that is decided negative; nan without any.",
)
ppv = _of_ratio(
    "ppv", "Positive label mass among what is decided positive; nan where nothing is."
)
npv = _of_ratio(
    "npv", "Negative label mass among what is decided negative; nan where nothing is."
)
f1 = _of_ratio(
    "f1", "Harmonic mean of sensitivity and PPV; nan without a positive label or decision."
)


def _scoped(name: str, positive: str | int, average: str, scope: _Scope) -> Metric:
    """The metric of certain classes."""
    ratio, is_bound = _RATIOS[name], positive == "" or isinstance(scope, int)

    def finish(table: Floats) -> PerReplicate:
        if not is_bound:
            raise InputError(
                f"metric {name}:positive={positive}",
                "columns without names",
                "the names of classes, or the number of a column",
                "score it with evaluate, or bind it: metric.among(classes)",
            )
        return _averaged(ratio, table, scope)

    def gradient(table: Floats) -> Floats:
        return _gradient(ratio, table, scope)

    title = f"{average} {ratio.title}" if average else ratio.title
    title = title if positive == "" else f"{ratio.title} of {positive}"
    values = {"positive": positive, "average": average}
    several = f"With several classes: one-vs-rest, {average or 'macro'}."
    which = several if positive == "" else f"Of {positive} alone."
    return replace(
        from_table(name, title, f"{ratio.definition} {which}", finish, gradient),
        name=parameters(name, {"positive": "", "average": ""}, values),
        topic=Topic.ONE_CLASS,
        of_class=True,
        denominator=partial(ratio.denominator, scope)
        if isinstance(scope, int) and name != "f1"
        else None,
        references=ratio.references,
    )


_TIE = 1e-12  # a share of votes up to which classes are tied


@of_decisions("y_pred")
def soft_agreement() -> Metric:
    """Mean votes of the decision relative to those of the class with most; higher is better."""
    text = (
        "Votes for the decided class relative to those of the class with most: 1 for whoever "
        "follows the majority."
    )

    def per_item(y_true: Any, y_pred: Any) -> PerItem:
        labels, predicted = checked_decisions(y_true, y_pred)
        return _agreement(labels.T, decide(predicted))

    metric = mean_of_items("soft_agreement", "soft agreement", text, decide, _agreement)
    return replace(
        metric,
        better="higher",
        influence=_agreement_influence,
        per_item=per_item,
        topic=Topic.DECISIONS,
        decides=True,
        references=("guillot2020",),
    )


def _agreement_influence(decided: Floats, labels: Floats) -> Influence:
    """Value and derivatives; where classes are tied for most votes, the mean of both sides."""
    number, top = len(labels), labels.max(axis=1, keepdims=True)
    values = _agreement(labels.T, decided)
    leading = labels >= top - _TIE
    slope = decided
    if (labels[~leading] > _TIE).any():
        share = leading / leading.sum(axis=1, keepdims=True)
        slope = (decided - values[:, None] * share) / top
    value = float(values.mean())
    return Influence(value, np.asarray((values - value) / number), slope / number)


def _agreement(labels: Floats, decided: Floats) -> Floats:
    """Of labels (classes, items, ...) and decisions (items, classes)."""
    votes = (over_classes(decided, labels) * labels).sum(axis=0)
    return np.asarray(votes / labels.max(axis=0))
