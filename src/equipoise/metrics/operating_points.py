r"""Sensitivity at a given specificity and the reverse, labels hard or soft.

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

References
----------
Pepe (2003), *The Statistical Evaluation of Medical Tests for Classification and Prediction*.

Examples
--------
>>> labels, scores = [1, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
>>> sensitivity_at_specificity(labels, scores, specificity=0.6)
1.0
>>> sensitivity_at_specificity(labels, scores), specificity_at_sensitivity(labels, scores)
(0.667, 0.667)
"""

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from equipoise.metrics._arguments import checked_labels, checked_weights
from equipoise.metrics._metric import (
    Block,
    Influence,
    Metric,
    Order,
    Prepared,
    Topic,
    average_classes,
    parameters,
)
from equipoise.metrics._ranking import Runs, prepare, repeat_truth, run_starts, sort_items
from equipoise.types.arrays import Floats, PerItem, PerReplicate, require_number
from equipoise.types.numbers import exact_percent

_TIE = 1e-12  # a share of the label mass up to which a rate is the one asked for


def sensitivity_at_specificity(
    y_true: Any, y_score: Any, *, specificity: float = 0.9, weights: Any = None
) -> float:
    """Largest sensitivity at a specificity of at least the given one."""
    return _plain(_Point("sensitivity", "specificity", specificity), y_true, y_score, weights)


def sensitivity_at_specificity_metric(*, specificity: float = 0.9) -> Metric:
    """Sensitivity at a specificity for the engine."""
    return _made(_Point("sensitivity", "specificity", specificity))


def specificity_at_sensitivity(
    y_true: Any, y_score: Any, *, sensitivity: float = 0.9, weights: Any = None
) -> float:
    """Largest specificity at a sensitivity of at least the given one."""
    return _plain(_Point("specificity", "sensitivity", sensitivity), y_true, y_score, weights)


def specificity_at_sensitivity_metric(*, sensitivity: float = 0.9) -> Metric:
    """Specificity at a sensitivity for the engine."""
    return _made(_Point("specificity", "sensitivity", sensitivity))


class _Point(NamedTuple):
    """A point of the ROC curve: what is read where another rate is at least `rate`."""

    read: str
    given: str
    rate: float

    @property
    def name(self) -> str:
        """Name of the metric without its parameter."""
        return f"{self.read}_at_{self.given}"

    def checked(self) -> "_Point":
        """The point with a rate that can be asked for."""
        where = f"{self.name}, {self.given}"
        rate = require_number(where, self.rate, above=0, below=1, do="try 0.9")
        return self._replace(rate=rate)

    @property
    def downward(self) -> bool:
        """Whether items are called from the highest score down: then positives are hits."""
        return self.read == "sensitivity"


class _Runs(NamedTuple):
    """Hits and misses of runs of equal scores, in the order in which they are called.

    Both of shape (runs, replicates): positive and negative label mass, or the reverse.
    """

    hits: Floats
    misses: Floats


def _runs(order: Order, positive: Floats, counts: Floats, *, downward: bool) -> _Runs:
    """Label mass (items, replicates) of every run."""
    start = run_starts(order)
    p, c = positive[order.items], counts[order.items]
    up, down = np.add.reduceat(p * c, start), np.add.reduceat((1 - p) * c, start)
    return _Runs(up, down) if downward else _Runs(down[::-1], up[::-1])


class _Called(NamedTuple):
    """How far down runs are called: `full` runs, a `part` of the next, and their hit rate."""

    value: PerReplicate
    full: Any
    part: Floats


def _called(runs: _Runs, allowed: float) -> _Called:
    """Call runs until the misses are an allowed share; nan without hits or misses."""
    total = runs.hits.sum(axis=0), runs.misses.sum(axis=0)
    known = (total[0] > 0) & (total[1] > 0)
    missed = np.cumsum(runs.misses, axis=0)
    target = allowed * missed[-1]
    full = (missed <= target + _TIE * missed[-1]).sum(axis=0)
    there = np.minimum(full, len(missed) - 1)
    column = np.arange(missed.shape[1])
    before = np.where(full > 0, missed[np.maximum(full - 1, 0), column], 0.0)
    step = runs.misses[there, column]
    part = np.clip((target - before) / np.where(step > 0, step, 1.0), 0.0, 1.0)
    part = np.where(full < len(missed), part, 0.0)
    hit = np.vstack([np.zeros(len(column)), np.cumsum(runs.hits, axis=0)])
    found = hit[full, column] + part * runs.hits[there, column]
    value = np.where(known, found / np.where(known, total[0], 1.0), np.nan)
    return _Called(np.clip(value, 0.0, 1.0), full, part)


def _plain(point: _Point, y_true: Any, y_score: Any, weights: Any) -> float:
    point = point.checked()
    labels, scores = checked_labels(y_true, y_score)
    if scores.ndim == 2:
        columns = zip(labels.T, scores.T, strict=True)
        return float(np.mean([_plain(point, p, s, weights) for p, s in columns]))
    each = checked_weights(weights, len(labels)).each[:, None]
    runs = _runs(sort_items(scores), labels[:, None], each, downward=point.downward)
    return float(_called(runs, 1 - point.rate).value[0])


def _made(point: _Point) -> Metric:
    point = point.checked()
    word = f"{exact_percent(point.rate)} {point.given}"
    text = (
        f"Largest {point.read} at a {point.given} of at least {exact_percent(point.rate)}, "
        "read off the ROC curve. With several classes: one-vs-rest, macro."
    )
    return Metric(
        name=parameters(point.name, {point.given: 0.9}, {point.given: point.rate}),
        title=f"{point.read} at {word}",
        soft_title=f"soft {point.read} at {word}",
        definition=text,
        family=f"{point.name} {point.rate!r}",
        prepare=prepare,
        reduce=_reduction(point),
        finish=lambda sums: average_classes(sums[:, 1], sums[:, 0], "macro"),
        influence=partial(_influence, point),
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
            runs = _runs(order, positive, counts, downward=point.downward)
            mass = np.einsum("ir,ir->r", positive, counts)
            out.append(np.stack([mass, _called(runs, 1 - point.rate).value]))
        return np.stack(out)

    return reduce


def _influence(point: _Point, order: Order, positive: PerItem) -> Influence:
    """Value and derivatives; the slope of the curve is that of a line across it."""
    once, allowed = np.ones((len(positive), 1)), 1 - point.rate
    runs = _runs(order, positive[:, None], once, downward=point.downward)
    found = _called(runs, allowed)
    value = float(found.value[0])
    if math.isnan(value):
        nothing = np.full(len(positive), np.nan)
        return Influence(value, nothing, nothing)
    hits, misses = float(runs.hits.sum()), float(runs.misses.sum())
    taken = np.zeros(len(runs.hits))
    taken[: found.full[0]] = 1.0
    if found.full[0] < len(taken):
        taken[found.full[0]] = found.part[0]
    line = Runs(order.items, run_starts(order))
    called = line.spread(taken if point.downward else taken[::-1])
    slope = _slope(runs, allowed, math.sqrt(allowed * (1 - allowed) / misses))
    hit, miss = (called - value) / hits, slope * (called - allowed) / misses
    sign = 1.0 if point.downward else -1.0
    own, other = (positive, 1 - positive)[:: int(sign)]
    return Influence(value, own * hit - other * miss, sign * (hit + miss))


def _slope(runs: _Runs, allowed: float, width: float) -> float:
    """Rise of hits per miss, both as rates, across the curve at an allowed share of misses."""
    low, high = max(allowed - width, 0.0), min(allowed + width, 1.0)
    ends = [float(_called(runs, one).value[0]) for one in (low, high)]
    return (ends[1] - ends[0]) / (high - low)
