r"""Thresholds of a score: its curves, single points of them, the k highest, and net benefit.

Curves down the thresholds of a score, labels hard or soft.

When every item scoring at least t is called positive, with :math:`n_+ = \sum p_i` and
:math:`n_- = \sum (1 - p_i)`:

`roc_curve`: false and true positive rates, from (0, 0) to (1, 1). The area under it by
trapezoids is AUROC in the form ``trapezoid``,

.. math:: \mathrm{TPR}(t) = \frac{\sum_i p_i [s_i \ge t]}{n_+}, \quad
    \mathrm{FPR}(t) = \frac{\sum_i (1 - p_i) [s_i \ge t]}{n_-}

`precision_recall_curve`: expected precision and recall. As in scikit-learn the points run from
the lowest threshold up, and end at precision 1, recall 0. The step sum over it is average
precision in the form ``printed``,

.. math:: P(t) = \frac{\sum_i p_i [s_i \ge t]}{\sum_i [s_i \ge t]}, \quad
    R(t) = \frac{\sum_i p_i [s_i \ge t]}{n_+}

Sensitivity at a given specificity and the reverse, labels hard or soft.

The ROC curve of soft labels (`equipoise.metrics.roc_curve`) is read where one of its rates is
given. `sensitivity_at_specificity` is the largest sensitivity at a specificity of at least the
one asked for, `specificity_at_sensitivity` the largest specificity at a sensitivity of at
least the one asked for. Between two thresholds the curve is a straight line: equal scores, and
an item whose label is shared, are called in part, which is the expectation of a random choice
among them. With hard labels and no ties this is the usual rule, the best of the thresholds that
keep what is asked. The threshold is chosen on the same items that are scored, so that a value
says what the score could do, not what a threshold fixed beforehand will.

Both take labels in [0, 1] and scores, shape (items,), any scale, higher meaning more positive,
and importance weights (items,), or `Copies` of counts. Class scores (items, classes) give the
mean over classes, each against the rest. Undefined (nan) without positive or without negative
label mass.

The derivative by the weight of an item has two parts: what the item adds at the threshold, and
how it moves the threshold. With :math:`f_i` the part of item i that is called positive,
:math:`\theta` the sensitivity and :math:`\alpha` one less the specificity,

.. math:: g_i = \frac{p_i (f_i - \theta)}{n_+} - R'\,\frac{q_i (f_i - \alpha)}{n_-}

The slope R' of the ROC curve there is that of a line through the curve at one standard error of
:math:`\alpha` to either side: as far as the threshold moves by chance.

Precision and recall at k: the positive mass among the k highest scores.

`precision_at_k`: the positive share among them,

.. math:: \mathrm{P@}k = \frac1k \sum_{i \le k} p_i

`recall_at_k`: the share of all positive mass that they hold; undefined (nan) without positives,

.. math:: \mathrm{R@}k = \frac1{n_+} \sum_{i \le k} p_i

Labels may be hard or soft. A run of equal scores that straddles the k-th place counts with its
mass times the fraction taken, which is the expectation over random orders. Both take labels in
[0, 1] and scores, shape (items,), how many items are looked at, at most as many as there are,
and importance weights (items,), or `Copies` of counts for repeated items. Undefined (nan) in a
resample of fewer than k items.

Net benefit: what acting on a model's probabilities is worth, labels hard or soft.

`net_benefit`: whoever acts when the probability is at least t, and holds a needless action
t/(1-t) times as bad as a missed one, gains

.. math:: \mathrm{NB}(t) = \frac{\mathrm{TP}}{n} - \frac{\mathrm{FP}}{n}\,\frac{t}{1-t}

in units of true positives per item. With label distributions TP and FP are expected counts: a
vote drawn at random is positive. A probability of exactly t (to 1e-12) means to act. Several
classes: each against the rest, the mean over classes. It needs probabilities that mean what
they say; scores of another scale are refused. Undefined (nan) without items.

`decision_curve`: the net benefit over a range of thresholds, beside those of acting on
everybody and on nobody. A model is useful at t when it is worth more than both,

.. math:: \mathrm{NB}_\mathrm{all}(t) = \bar p - (1 - \bar p)\,\frac{t}{1-t}, \quad
    \mathrm{NB}_\mathrm{none} = 0

References
----------
Pepe (2003), *The Statistical Evaluation of Medical Tests for Classification and Prediction*.
Vickers and Elkin (2006), *Decision curve analysis: a novel method for evaluating prediction
models*.

Examples
--------
>>> false, true, threshold = roc_curve([1, 0.5, 0], [0.9, 0.5, 0.1])
>>> true
array([0.   , 0.667, 1.   , 1.   ])
>>> precision, recall, threshold = precision_recall_curve([1, 0.5, 0], [0.9, 0.5, 0.1])
>>> precision
array([0.5 , 0.75, 1.  , 1.  ])
>>> labels, scores = [1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
>>> sensitivity_at_specificity(labels, scores, specificity=0.6)
1.0
>>> sensitivity_at_specificity(labels, scores), specificity_at_sensitivity(labels, scores)
(0.667, 0.667)
>>> precision_at_k([1, 0.75, 0.25, 0.5, 0], [0.9, 0.8, 0.7, 0.6, 0.5], 2)
0.875
>>> recall_at_k([1, 0.75, 0.25, 0.5, 0], [0.9, 0.8, 0.7, 0.6, 0.5], 2)
0.7
>>> net_benefit([1, 1, 0, 0], [0.9, 0.4, 0.3, 0.05], threshold=0.2)
0.438
>>> curve = decision_curve([1, 1, 0, 0], [0.9, 0.4, 0.3, 0.05], thresholds=[0.2, 0.5])
>>> curve.model, curve.treat_all
(array([0.438, 0.25 ]), array([0.375, 0.   ]))
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from equipoise.metrics._metric import (
    Block,
    Influence,
    Metric,
    Order,
    Prepared,
    Runs,
    Topic,
    average_classes,
    checked_k,
    checked_labels,
    checked_scores,
    checked_weights,
    parameters,
    plain,
    plain_value,
    prepare,
    repeat_truth,
    run_starts,
    sort_items,
)
from equipoise.metrics.distributions import (
    checked_distributions,
    expected_loss,
    mean_of_items,
    of_probabilities,
)
from equipoise.types import (
    ONE_CLASS,
    Floats,
    InputError,
    Names,
    PerItem,
    PerReplicate,
    exact_percent,
    hint,
    number,
    ratio,
    require_number,
)


def roc_curve(
    y_true: Any, y_score: Any, *, weights: Any = None
) -> tuple[Floats, Floats, Floats]:
    """False positive rates, true positive rates and thresholds, falling.

    A rate is nan when its class has no mass. The first threshold is infinite, as in
    scikit-learn, and no point is dropped.
    """
    threshold, number, mass = _cumulative(y_true, y_score, weights)
    negative = number - mass
    return (
        ratio(np.append(0.0, negative), negative[-1]),
        ratio(np.append(0.0, mass), mass[-1]),
        np.append(np.inf, threshold),
    )


def precision_recall_curve(
    y_true: Any, y_score: Any, *, weights: Any = None
) -> tuple[Floats, Floats, Floats]:
    """Precisions, recalls and thresholds, rising; recall is nan without positives."""
    threshold, number, mass = _cumulative(y_true, y_score, weights)
    precision, recall = ratio(mass, number), ratio(mass, mass[-1])
    return np.append(precision[::-1], 1.0), np.append(recall[::-1], 0.0), threshold[::-1].copy()


def _cumulative(y_true: Any, y_score: Any, weights: Any) -> tuple[Floats, Floats, Floats]:
    """Distinct thresholds, falling; number of items and positive mass at or above each."""
    labels, scores = checked_scores(y_true, y_score, do="draw one curve per class")
    weight = checked_weights(weights, len(labels)).weight
    order = sort_items(scores)
    start = run_starts(order)
    number = np.cumsum(np.add.reduceat(weight[order.items], start))
    mass = np.cumsum(np.add.reduceat((weight * labels)[order.items], start))
    return scores[order.items][start], number, mass


_TIE = 1e-12  # a share of the label mass up to which a rate is the one asked for


def _plain_point(metric: Metric, y_true: Any, y_score: Any, weights: Any = None) -> float:
    """Value of a plain call."""
    return plain_value(metric, checked_labels(y_true, y_score), weights)


of_scores = plain(_plain_point, "y_true", "y_score", weights=True)


@of_scores
def sensitivity_at_specificity(*, specificity: float = 0.9) -> Metric:
    """Largest sensitivity at a specificity of at least the given one."""
    return _point_metric(_Point("sensitivity", "specificity", specificity))


@of_scores
def specificity_at_sensitivity(*, sensitivity: float = 0.9) -> Metric:
    """Largest specificity at a sensitivity of at least the given one."""
    return _point_metric(_Point("specificity", "sensitivity", sensitivity))


class _Point(NamedTuple):
    """A point of the ROC curve: what is read where another rate is at least `rate`."""

    read: str
    condition: str
    rate: float

    @property
    def name(self) -> str:
        """Name of the metric without its parameter."""
        return f"{self.read}_at_{self.condition}"

    def checked(self) -> "_Point":
        """The point with a rate that can be asked for."""
        where = f"{self.name}, {self.condition}"
        rate = require_number(where, self.rate, above=0, below=1, do="try 0.9")
        return self._replace(rate=rate)

    @property
    def downward(self) -> bool:
        """Whether items are called from the highest score down: then positives are hits."""
        return self.read == "sensitivity"


def _hits_and_misses(
    order: Order, positive: Floats, counts: Floats, *, downward: bool
) -> tuple[Floats, Floats]:
    """Hits and misses of runs of equal scores, in the order in which they are called.

    Both of shape (runs, replicates): positive and negative label mass, or the reverse.
    """
    start = run_starts(order)
    p, c = positive[order.items], counts[order.items]
    up, down = np.add.reduceat(p * c, start), np.add.reduceat((1 - p) * c, start)
    return (up, down) if downward else (down[::-1], up[::-1])


def _called(
    hits: Floats, misses: Floats, allowed: float
) -> tuple[PerReplicate, Any, PerReplicate]:
    """Call runs until the misses are an allowed share; nan without hits or misses.

    Returns the hit rate, how many runs are called in full, and what part of the next.
    """
    total = hits.sum(axis=0), misses.sum(axis=0)
    defined = (total[0] > 0) & (total[1] > 0)
    missed = np.cumsum(misses, axis=0)
    target = allowed * missed[-1]
    full = (missed <= target + _TIE * missed[-1]).sum(axis=0)
    there = np.minimum(full, len(missed) - 1)
    column = np.arange(missed.shape[1])
    before = np.where(full > 0, missed[np.maximum(full - 1, 0), column], 0.0)
    step = misses[there, column]
    part = np.clip((target - before) / np.where(step > 0, step, 1.0), 0.0, 1.0)
    part = np.where(full < len(missed), part, 0.0)
    hit = np.vstack([np.zeros(len(column)), np.cumsum(hits, axis=0)])
    hit_mass = hit[full, column] + part * hits[there, column]
    value = ratio(hit_mass, total[0], defined=defined)
    return np.clip(value, 0.0, 1.0), full, part


def _point_metric(point: _Point) -> Metric:
    point = point.checked()
    word = f"{exact_percent(point.rate)} {point.condition}"
    text = (
        f"Largest {point.read} at a {point.condition} of at least {exact_percent(point.rate)}, "
        "read off the ROC curve. With several classes: one-vs-rest, macro."
    )
    return Metric(
        name=parameters(point.name, {point.condition: 0.9}, {point.condition: point.rate}),
        title=f"{point.read} at {word}",
        soft_title=f"soft {point.read} at {word}",
        definition=text,
        family=f"{point.name} {point.rate!r}",
        prepare=prepare,
        reduce=_reduction(point),
        finish=lambda sums: average_classes(sums[:, 1], sums[:, 0], "macro"),
        influence=partial(_point_influence, point),
        topic=Topic.POINTS,
        references=("pepe2003",),
    )


@cache
def _reduction(point: _Point) -> Callable[[Prepared, Block], Floats]:
    """Positive mass and value of every class, shape (classes, 2, replicates)."""

    def reduce(prepared: Prepared, block: Block) -> Floats:
        counts = block.counts.astype(np.float64)
        out = []
        for order, truth in zip(prepared, block.classes, strict=True):
            positive = repeat_truth(truth.positive, counts.shape[1])
            runs = _hits_and_misses(order, positive, counts, downward=point.downward)
            mass = np.einsum("ir,ir->r", positive, counts)
            out.append(np.stack([mass, _called(*runs, 1 - point.rate)[0]]))
        return np.stack(out)

    return reduce


def _point_influence(point: _Point, order: Order, positive: PerItem) -> Influence:
    """Value and derivatives; the slope of the curve is that of a line across it."""
    once, allowed = np.ones((len(positive), 1)), 1 - point.rate
    runs = _hits_and_misses(order, positive[:, None], once, downward=point.downward)
    rate, full, part = _called(*runs, allowed)
    value = float(rate[0])
    if math.isnan(value):
        nothing = np.full(len(positive), np.nan)
        return Influence(value, nothing, nothing)
    hits, misses = float(runs[0].sum()), float(runs[1].sum())
    taken = np.zeros(len(runs[0]))
    taken[: full[0]] = 1.0
    taken[full[0] : full[0] + 1] = part
    line = Runs(order.items, run_starts(order))
    called = line.spread(taken if point.downward else taken[::-1])
    slope = _slope(*runs, allowed, math.sqrt(allowed * (1 - allowed) / misses))
    hit, miss = (called - value) / hits, slope * (called - allowed) / misses
    sign = 1.0 if point.downward else -1.0
    hit_mass, miss_mass = (positive, 1 - positive)[:: int(sign)]
    return Influence(value, hit_mass * hit - miss_mass * miss, sign * (hit + miss))


def _slope(hits: Floats, misses: Floats, allowed: float, width: float) -> float:
    """Rise of hits per miss, both as rates, across the curve at an allowed share of misses."""
    low, high = max(allowed - width, 0.0), min(allowed + width, 1.0)
    ends = [float(_called(hits, misses, share)[0][0]) for share in (low, high)]
    return (ends[1] - ends[0]) / (high - low)


def precision_at_k(y_true: Any, y_score: Any, k: int, *, weights: Any = None) -> float:
    """Positive share among the k highest scores."""
    return _plain_top(precision_at_k_metric(k=k), y_true, y_score, weights)


def precision_at_k_metric(*, k: int = 100) -> Metric:
    """Precision at k for the engine."""

    def finish(sums: Floats) -> PerReplicate:
        taken, mass, _ = sums
        return np.where(taken > k - _TIE, mass / k, np.nan)

    text = f"Mean label of the {k} highest scores; a tied boundary counts in part."
    metric = _top_metric(f"precision_at_{k}", f"P@{k}", text, k, finish)
    return replace(metric, trials=k)


def recall_at_k(y_true: Any, y_score: Any, k: int, *, weights: Any = None) -> float:
    """Share of the positive mass found among the k highest scores."""
    return _plain_top(recall_at_k_metric(k=k), y_true, y_score, weights)


def recall_at_k_metric(*, k: int = 100) -> Metric:
    """Recall at k for the engine."""

    def finish(sums: Floats) -> PerReplicate:
        taken, mass, total = sums
        return ratio(mass, total, defined=(taken > k - _TIE) & (total > 0))

    text = f"Share of all positive mass among the {k} highest scores."
    return _top_metric(f"recall_at_{k}", f"R@{k}", text, k, finish)


def _top_metric(
    name: str, title: str, definition: str, k: int, finish: Callable[[Floats], PerReplicate]
) -> Metric:
    """A metric of the k highest scores."""
    return Metric(
        name=name,
        title=title,
        soft_title=f"soft {title}",
        definition=definition,
        family=f"top {k}",
        prepare=prepare,
        reduce=_top_sums(checked_k(k)),
        finish=finish,
        min_items=k,
        topic=Topic.ORDER,
        references=("lionetti2025",),
    )


def _plain_top(metric: Metric, y_true: Any, y_score: Any, weights: Any) -> float:
    """Value of one plain call, of at least k items."""
    labels, scores = checked_scores(y_true, y_score, do="take the column of one class")
    size = checked_weights(weights, len(labels)).weight.sum()
    if size < metric.min_items:
        items, do = f"at most the {size:g} items", "choose a smaller k"
        raise InputError("k", f"{metric.min_items}", items, do)
    return plain_value(metric, (labels, scores), weights)


def _top_sums(k: int) -> Callable[[Prepared, Block], Floats]:
    """Reduction for the engine: items taken, their mass, all mass, shape (3, replicates)."""

    def reduce(prepared: tuple[Order, ...], block: Block) -> Floats:
        from equipoise.kernels.ranking import top_mass

        if len(block.classes) != 1:
            raise InputError(
                "precision or recall at k",
                f"{len(block.classes)} classes",
                "a yes/no question",
                hint("ask about one class with {}", ONE_CLASS),
            )
        positive = block.classes[0].positive
        wide = repeat_truth(positive, block.counts.shape[1])
        top = top_mass(*prepared[0], wide, block.counts, k)
        total = np.einsum("ir,ir->r", wide, block.counts.astype(np.float64))
        return np.vstack([top, total])

    return reduce


_THRESHOLDS = np.arange(1, 100) / 100


class DecisionCurve(NamedTuple):
    """Net benefit at each threshold, all of shape (thresholds,)."""

    threshold: Floats
    model: Floats
    treat_all: Floats
    treat_none: Floats


@of_probabilities(weights=True)
def net_benefit(*, threshold: float = 0.1) -> Metric:
    """True positives per item, less false ones at the odds of the threshold."""
    at = _checked(threshold)
    word = exact_percent(at)
    text = (
        f"True positives per item less false ones times {number(at / (1 - at))}, acting at a "
        f"probability of at least {word}."
    )

    def made(classes: Names | None) -> Metric:
        # a yes/no question has two columns, of which the second counts; so has a table of two
        alone = None if classes is None else len(classes) == 1
        metric = mean_of_items(
            "net_benefit",
            f"net benefit at {word}",
            text,
            _acting(at, alone=alone),
            expected_loss,
        )
        return replace(
            metric,
            name=parameters("net_benefit", {"threshold": 0.1}, {"threshold": at}),
            soft_title=f"soft {metric.title}",
            family=f"net benefit at {at!r}",
            better="higher",
            bounds=(-at / (1 - at), 1.0),
            topic=Topic.POINTS,
            bind=made,
            column=1 if alone else None,
            references=("vickers2006",),
        )

    return made(None)


@cache
def _acting(threshold: float, *, alone: bool | None) -> Callable[[Floats], Floats]:
    """One function per threshold, so that a bound metric prepares what others prepared."""

    def prepare(predicted: Floats) -> Floats:
        yes_no = predicted.shape[1] == 2 if alone is None else alone
        return _gains(predicted, threshold, yes_no=yes_no)

    return prepare


def _gains(predicted: Floats, threshold: float, *, yes_no: bool) -> Floats:
    """What acting as the probabilities say is worth if the truth is each class.

    Shape (items, classes): of a yes/no question the second column is the class that is acted
    on, else each of them in turn, and their mean counts.
    """
    odds = threshold / (1 - threshold)
    acted = (predicted >= threshold - _TIE).astype(np.float64)
    if yes_no:
        acted[:, 0] = 0.0
    share = 1.0 if yes_no else 1 / predicted.shape[1]
    return np.asarray(share * ((1 + odds) * acted - odds * acted.sum(axis=1, keepdims=True)))


def decision_curve(
    y_true: Any, probabilities: Any, *, thresholds: Any = None, weights: Any = None
) -> DecisionCurve:
    """Net benefit of a model, of acting on everybody and of acting on nobody.

    Parameters
    ----------
    y_true, probabilities
        Labels in [0, 1] and probabilities of a yes/no question, shape (items,).
    thresholds
        Probabilities between 0 and 1, by default 0.01, 0.02, ..., 0.99.
    weights
        Importance weights (items,), or `Copies` of counts.
    """
    labels, predicted = checked_distributions(y_true, probabilities)
    if labels.shape[1] != 2:
        got, expected = f"{labels.shape[1]} classes", "one probability per item"
        raise InputError("probabilities", got, expected, "draw one curve per class")
    wanted = _THRESHOLDS if thresholds is None else np.asarray(thresholds, dtype=np.float64)
    at = np.array([_checked(float(threshold)) for threshold in np.atleast_1d(wanted)])
    values, treat_all = (
        [net_benefit(labels, p, threshold=t, weights=weights) for t in at]
        for p in (predicted, np.tile([0.0, 1.0], (len(labels), 1)))
    )
    return DecisionCurve(at, np.array(values), np.array(treat_all), np.zeros(len(at)))


def _checked(threshold: float) -> float:
    """A probability that can be acted on."""
    where = "net benefit, threshold"
    require_number(where, threshold, above=0, below=1, do="try 0.1")
    return float(threshold)
