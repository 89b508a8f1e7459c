r"""Sensitivity, specificity, predictive values and F1 of decisions, labels hard or soft.

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

References
----------
Altman and Bland (1994), *Diagnostic tests 1: sensitivity and specificity*, and *2: predictive
values*. van Rijsbergen (1979), *Information Retrieval*.

Examples
--------
>>> sensitivity([1, 1, 1, 0], [1, 1, 0, 1]), specificity([1, 1, 0, 0], [0.9, 0.2, 0.7, 0.1])
(0.667, 0.5)
>>> ppv([1, 0.75, 0.25, 0], [0.9, 0.8, 0.7, 0.1]), npv([1, 0, 0], [1, 0, 0])
(0.667, 1.0)
>>> f1([0, 1, 2, 2], [0, 2, 2, 2], positive=2), f1([0, 0, 1], [0, 0, 0])
(0.8, 0.0)
>>> ppv([1, 0], [0, 0])
nan
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from equipoise.metrics._metric import AVERAGES, Metric, Topic, average_classes, parameters
from equipoise.metrics.decisions import from_table, plain_table
from equipoise.types.arrays import Floats, InputError, PerReplicate, choice, listed, nearest
from equipoise.types.words import ONE_CLASS, hint

_LEAST = 1e-12  # of all items: less than that is nothing to divide by


@dataclass(frozen=True, slots=True)
class _Ratio:
    """One metric: ``above`` and ``below`` are the parts of n, P, D and TP in A and B."""

    name: str
    title: str
    definition: str
    above: tuple[int, int, int, int]
    below: tuple[int, int, int, int]
    references: tuple[str, ...]

    def values(self, table: Floats) -> Floats:
        """Value of every class, shape (classes, ...), of tables (true, decided, ...)."""
        sums = _sums(table)
        above, below = (np.tensordot(part, sums, axes=1) for part in (self.above, self.below))
        known = below > _LEAST * sums[0]
        return np.where(known, np.clip(above / np.where(known, below, 1.0), 0.0, 1.0), np.nan)

    def slopes(self, table: Floats) -> Floats:
        """Derivatives by the shares of a table, shape (classes, true, decided)."""
        sums, values = _sums(table), self.values(table)
        parts = np.array(self.above)[:, None] - np.outer(self.below, values)  # (4, classes)
        parts /= np.asarray(self.below) @ sums
        own = np.eye(len(table))
        out = np.broadcast_to(parts[0][:, None, None], (len(table),) * 3).copy()
        out += parts[1][:, None, None] * own[:, :, None]
        out += parts[2][:, None, None] * own[:, None, :]
        out += parts[3][:, None, None] * own[:, :, None] * own[:, None, :]
        return np.asarray(out)


def _sums(table: Floats) -> Floats:
    """n, P, D and TP of every class, shape (4, classes, ...)."""
    true, decided = table.sum(axis=1), table.sum(axis=0)
    number = np.broadcast_to(true.sum(axis=0), true.shape)
    return np.stack([number, true, decided, np.einsum("kk...->k...", table)])


_DIAGNOSTIC, _PREDICTIVE = ("altman_sensitivity1994",), ("altman_predictive1994",)
_RATIOS: Mapping[str, _Ratio] = {
    one.name: one
    for one in (
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


def sensitivity(
    y_true: Any, y_pred: Any, *, positive: int | None = None, average: str = "",
    weights: Any = None,
) -> float:  # fmt: skip
    """Share of the positive label mass that is decided positive; nan without any."""
    return _plain("sensitivity", y_true, y_pred, _Scope(positive, average), weights)


def specificity(
    y_true: Any, y_pred: Any, *, positive: int | None = None, average: str = "",
    weights: Any = None,
) -> float:  # fmt: skip
    """Share of the negative label mass that is decided negative; nan without any."""
    return _plain("specificity", y_true, y_pred, _Scope(positive, average), weights)


def ppv(
    y_true: Any, y_pred: Any, *, positive: int | None = None, average: str = "",
    weights: Any = None,
) -> float:  # fmt: skip
    """Positive label mass among what is decided positive; nan where nothing is."""
    return _plain("ppv", y_true, y_pred, _Scope(positive, average), weights)


def npv(
    y_true: Any, y_pred: Any, *, positive: int | None = None, average: str = "",
    weights: Any = None,
) -> float:  # fmt: skip
    """Negative label mass among what is decided negative; nan where nothing is."""
    return _plain("npv", y_true, y_pred, _Scope(positive, average), weights)


def f1(
    y_true: Any, y_pred: Any, *, positive: int | None = None, average: str = "",
    weights: Any = None,
) -> float:  # fmt: skip
    """Harmonic mean of sensitivity and PPV; nan without a positive label or decision."""
    return _plain("f1", y_true, y_pred, _Scope(positive, average), weights)


@dataclass(frozen=True, slots=True)
class _Scope:
    """Which classes count: the column of one, or an average; neither is the usual."""

    column: int | None
    average: str

    def of(self, where: str, classes: int) -> "_Scope":
        """The same of so many classes: of two, usually the second; of more, all alike."""
        if self.column is None:
            usual = _Scope(1, "") if classes == 2 else _Scope(None, "macro")
            return self if self.average else usual
        if not 0 <= self.column < classes:
            expected = f"the number of a column, 0 to {classes - 1}"
            raise InputError(f"{where}, positive", f"{self.column}", expected, "correct it")
        return self


def _plain(name: str, y_true: Any, y_pred: Any, scope: _Scope, weights: Any) -> float:
    column = scope.column
    if column is not None and (isinstance(column, bool) or not isinstance(column, int)):
        expected = "the number of a column"
        raise InputError(f"{name}, positive", f"{column!r}", expected, "count from 0")
    _check(name, "" if column is None else column, scope.average)
    table = plain_table(y_true, y_pred, weights)
    return float(_averaged(_RATIOS[name], table, scope)[0])


def _check(name: str, positive: str | int, average: str) -> None:
    choice(f"{name}, average", average or "macro", AVERAGES)
    if average and positive != "":
        got, do = f"positive {positive} and average {average}", "leave one of them out"
        raise InputError(name, got, "one class, or an average over all", do)


def _averaged(ratio: _Ratio, table: Floats, scope: _Scope) -> PerReplicate:
    scope, values = scope.of(ratio.name, len(table)), ratio.values(table)
    if scope.column is not None:
        return np.asarray(values[scope.column])
    return average_classes(values, table.sum(axis=1), scope.average)


def _gradient(ratio: _Ratio, table: Floats, scope: _Scope) -> Floats:
    scope, slopes = scope.of(ratio.name, len(table)), ratio.slopes(table)
    if scope.column is not None:
        return np.asarray(slopes[scope.column])
    if scope.average == "macro":
        return np.asarray(slopes.mean(axis=0))
    values, mass = ratio.values(table), table.sum(axis=1)
    rows = (values - mass @ values)[:, None]  # the weight of a class moves with its row
    return np.asarray(np.tensordot(mass, slopes, axes=1) + rows)


def _made(name: str, /, *, positive: str | int = "", average: str = "") -> Metric:
    """The metric for any question: a number as ``positive`` is a column until it is bound."""
    _check(name, positive, average)

    def bind(classes: tuple[str, ...]) -> Metric:
        scope, wanted = _Scope(None, average or "macro"), str(positive)
        if len(classes) == 1:  # yes or no: its columns are no and yes
            scope = _Scope(None, average) if average else _Scope(1, "")
        if wanted and wanted not in classes:
            got, expected = f"positive {wanted!r}", f"a scored class ({listed(classes)})"
            ask = hint("leave it out, or ask about that class with {}", ONE_CLASS)
            do = nearest(wanted, list(classes)) if len(classes) > 1 else ask
            raise InputError(f"metric {name}", got, expected, do)
        if wanted and len(classes) > 1:
            scope = _Scope(classes.index(wanted), "")
        bound = _scoped(name, positive, average, scope)
        return replace(bound, bind=bind, column=scope.column)

    column = positive if isinstance(positive, int) else None
    return replace(_scoped(name, positive, average, _Scope(column, average)), bind=bind)


sensitivity_metric = partial(_made, "sensitivity")
specificity_metric = partial(_made, "specificity")
ppv_metric = partial(_made, "ppv")
npv_metric = partial(_made, "npv")
f1_metric = partial(_made, "f1")


def _scoped(name: str, positive: str | int, average: str, scope: _Scope) -> Metric:
    """The metric of certain classes."""
    ratio, known = _RATIOS[name], positive == "" or scope.column is not None

    def finish(table: Floats) -> PerReplicate:
        if not known:
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
    given = {"positive": positive, "average": average}
    several = f"With several classes: one-vs-rest, {average or 'macro'}."
    which = several if positive == "" else f"Of {positive} alone."
    return replace(
        from_table(name, title, f"{ratio.definition} {which}", finish, gradient),
        name=parameters(name, {"positive": "", "average": ""}, given),
        topic=Topic.ONE_CLASS,
        of_class=True,
        references=ratio.references,
    )
