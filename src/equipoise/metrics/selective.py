r"""Doubtful items left to experts: a model's confidence, and what is left without its worst.

Selective prediction: whether a model's own confidence tells where it is right.

The confidence of an item is its largest probability; the model decides for that class, and is
right by the label mass :math:`c_i` of it (0 or 1 with hard labels), wrong by
:math:`e_i = 1 - c_i`. Any score of uncertainty becomes such a confidence: a decision keeps its
side of one half and stands the further from it, the smaller the uncertainty.

`error_detection_auroc`: whether wrong items have the lower confidence. Errors are the positive
class: read the other way round, a good score would be near 0. Undefined where the model is
right, or wrong, on all items,

.. math:: \mathrm{AUROC}\bigl(-\max_k p_{ik},\ e_i\bigr)

`risk_coverage_area`: items are taken by falling confidence; the error among the first k,
averaged over k = 1, ..., n (AURC),

.. math:: \mathrm{AURC} = \frac1n \sum_{k=1}^n R_k, \quad R_k = \frac1k \sum_{i \le k} e_i

`excess_risk_coverage_area`: how much of it is not due to the number of errors: the same less
the AURC of the best order there is, errors last. The optimum is that of these n items, not its
limit :math:`\bar e + (1 - \bar e) \ln (1 - \bar e)`,

.. math:: \mathrm{E\text{-}AURC} = \mathrm{AURC} - \min_{\text{orders}} \mathrm{AURC}

`accuracy_coverage_area`: the mean accuracy over coverages, 1 - AURC; with ``steps=20`` by
trapezoids on coverages of 5 %, 10 %, ..., 100 %, divided by the width of that range,

.. math:: \mathrm{AUAC} = \frac{1}{1 - 1/s} \int_{1/s}^{1} \bigl(1 - R(\kappa)\bigr) d\kappa

`accuracy_coverage_curve`: coverages from 1/steps to 1, and the accuracy among the most
confident items of each,

.. math:: \Bigl(\tfrac{j}{s},\ 1 - R\bigl(\tfrac{j}{s}\bigr)\Bigr), \quad j = 1, \dots, s

Items of equal confidence (to 12 decimals) stand in a random order: every cut inside them takes
each by the same share, which is the mean over their orders. Harmonic numbers sum such runs,
:math:`\sum_{j \le m} (E + j \bar e)/(N + j) = m \bar e + (E - \bar e N)(H_{N+m} - H_N)`, and
their continuation to real counts has the derivatives that intervals rest on. With steps, what
one more item moves across a cut is the error near the cut, within half a step of it.

All take class codes or label distributions (items, classes), for two classes also one number in
[0, 1] per item, and predicted distributions (items, classes), or of the second of two classes
(items,).

Retained samples: how good a model is on what is left when its worst items go.

`retained_samples_curve`: items are sorted by a score of their own, such as the ranked
probability score. The worst fraction f is removed, for f from 0 to `max_removed`, and a metric
M of the decisions is recomputed on the rest. A score that finds the harmful errors makes the
curve rise fast,

.. math:: h(f) = M(\{\text{the } (1 - f)\, n \text{ items of best score}\})

A cut keeps exactly (1 - f) n items. Items of equal score stand as one run (scores that agree to
12 decimals are equal); where the cut falls inside a run, or inside a single item, each item of
the run stays by the same share. The curve is therefore continuous in f and does not depend on
the order of items.

`retained_samples_area`: the mean height of the curve, by trapezoids on an even grid (41 points
up to 0.2 by default). Undefined where the metric is undefined at any of the cuts,

.. math:: A = \frac{1}{f_{\max}} \int_0^{f_{\max}} h(f)\, df

``scale="paper"`` gives the published number: the area over the percent removed, which is the
mean height times 100 :math:`f_{\max}` (times 20 by default), with the expected cost in grades,
:math:`|i - j|`, not divided by K - 1.

References
----------
Geifman, Uziel and El-Yaniv (2019), *Bias-reduced uncertainty estimation for deep neural
classifiers*. Traub et al. (2024), *Overcoming common flaws in the evaluation of selective
classification systems*.
Galdran (2023), *Performance metrics for probabilistic ordinal classifiers*.

Examples
--------
>>> labels, model = [0, 1, 1, 0], [0.1, 0.8, 0.4, 0.3]
>>> error_detection_auroc(labels, model)
1.0
>>> risk_coverage_area(labels, model), excess_risk_coverage_area(labels, model)
(0.0625, 0.0)
>>> accuracy_coverage_area(labels, model), accuracy_coverage_area(labels, model, steps=4)
(0.9375, 0.9583)
>>> accuracy_coverage_curve(labels, model, steps=2)
(array([0.5, 1. ]), array([1.  , 0.75]))
>>> truth, model = [0, 1, 2, 2], [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0.4, 0]]
>>> removed, height = retained_samples_curve(
...     truth, model, metric="accuracy", max_removed=0.25, points=3)
>>> removed, height
(array([0.   , 0.125, 0.25 ]), array([0.75 , 0.857, 1.   ]))
>>> retained_samples_area(truth, model, metric="accuracy", max_removed=0.25, points=3)
0.866
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from equipoise.metrics._metric import (
    Block,
    Influence,
    Metric,
    Runs,
    Topic,
    Truth,
    checked_weights,
    fixed_block,
    parameters,
    sort_items,
)
from equipoise.metrics._metric import reduce as ranked_sums
from equipoise.metrics.decisions import (
    accuracy,
    decide,
    expected_cost,
    mean_absolute_error,
    quadratic_weighted_kappa,
)
from equipoise.metrics.distributions import (
    RULES,
    checked_distributions,
    expected_loss,
    of_probabilities,
)
from equipoise.metrics.ranking import auroc_metric
from equipoise.types import (
    Floats,
    InputError,
    Ints,
    ItemsByReplicates,
    PerItem,
    PerReplicate,
    choice,
    exact_percent,
    immutable,
    ratio,
    require_whole,
)

STEPS = 20
_EQUAL = 12  # decimals to which confidences must differ to stand apart
_MOST_STEPS = 10_000
_SOURCES = ("geifman2019", "traub2024")


class _Decided(NamedTuple):
    """Confidence, (items,), and share of every class in the decision, (items, classes)."""

    confidence: PerItem
    classes: Floats

    def errors(self, labels: Floats) -> Floats:
        """By how much every item is wrong, (items, ...), for labels (classes, items, ...)."""
        return np.clip(1 - expected_loss(labels, self.classes), 0.0, 1.0)

    def errors_in(self, block: Block) -> Floats:
        """The same of a block, (items,) or (items, replicates)."""
        return self.errors(np.stack([truth.positive for truth in block.classes]))


def _decided(probabilities: Floats) -> _Decided:
    return _Decided(np.round(probabilities.max(axis=1), _EQUAL), decide(probabilities))


class _Stages(NamedTuple):
    """Runs in line: items and error of each, and of all before it; all (runs, ...)."""

    size: Floats
    error: Floats
    before: Floats
    error_before: Floats

    @classmethod
    def of(cls, runs: Runs, errors: Floats, counts: Floats) -> "_Stages":
        """Errors (items,) or (items, replicates), counts (items, replicates)."""
        wide = errors[:, None] if errors.ndim < counts.ndim else errors
        size, error = runs.sums(counts), runs.sums(counts * wide)
        return cls(size, error, np.cumsum(size, 0) - size, np.cumsum(error, 0) - error)

    @property
    def mean(self) -> Floats:
        """Error of a run per item."""
        return ratio(self.error, self.size, 0.0)

    def area(self, harmonic: Any) -> PerReplicate:
        """Mean over k of the error among the first k; nan without items."""
        grown = harmonic(self.before + self.size) - harmonic(self.before)
        total = (self.error + (self.error_before - self.mean * self.before) * grown).sum(0)
        return ratio(total, self.size.sum(0))


def _table(most: int) -> Any:
    """Harmonic numbers of whole counts, by table."""
    numbers = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, most + 1))))
    return lambda number: numbers[number.astype(np.intp)]


def _areas(prepared: _Decided, block: Block) -> Floats:
    """AURC, and that of the best order: (2, replicates)."""
    counts, errors = block.counts.astype(np.float64), prepared.errors_in(block)
    harmonic = _table(int(counts.sum(axis=0).max(initial=0)))
    area = _Stages.of(Runs.of(prepared.confidence), errors, counts).area(harmonic)
    if errors.ndim == 1:
        best = _Stages.of(Runs.of(-errors), errors, counts).area(harmonic)
    else:
        replicates = zip(errors.T, counts.T, strict=True)
        stages = [
            _Stages.of(Runs.of(-wrong), wrong, times[:, None]) for wrong, times in replicates
        ]
        best = np.array([stage.area(harmonic)[0] for stage in stages])
    return np.stack([area, best])


def _heights(prepared: _Decided, block: Block, steps: int) -> Floats:
    """Accuracy at every coverage, (steps, replicates)."""
    runs, errors = Runs.of(prepared.confidence), prepared.errors_in(block)
    stages = _Stages.of(runs, errors, block.counts.astype(np.float64))
    ends = np.concatenate([np.zeros((1, stages.size.shape[1])), stages.before + stages.size])
    wrong = np.concatenate([np.zeros((1, ends.shape[1])), stages.error_before + stages.error])
    number = np.where(ends[-1] > 0, ends[-1], np.nan)
    covered = _coverages(steps)[:, None] * number
    replicates = zip(covered.T, ends.T, wrong.T, strict=True)
    return 1 - np.stack([np.interp(*points) for points in replicates], axis=1) / covered


def _coverages(steps: int) -> Floats:
    return np.arange(1, steps + 1) / steps


def _mean_height(heights: Floats) -> PerReplicate:
    """By trapezoids; a single step is the accuracy itself."""
    if len(heights) == 1:
        return np.asarray(heights[0])
    return np.asarray(((heights[1:] + heights[:-1]) / 2).mean(axis=0))


# ---- derivatives -----------------------------------------------------------------------------


def _area_slopes(runs: Runs, errors: PerItem) -> tuple[float, PerItem, PerItem]:
    """AURC of an order, its derivatives by weights (centred) and by errors, both (items,)."""
    from scipy.special import digamma, polygamma

    def harmonic(number: Floats) -> Floats:
        return np.asarray(digamma(number + 1) + np.euler_gamma)

    def slope(number: Floats) -> Floats:
        return np.asarray(polygamma(1, number + 1))

    stages = _Stages.of(runs, errors, np.ones((len(errors), 1)))
    value = float(stages.area(harmonic)[0])
    size, _, before, error_before = (part[:, 0] for part in stages)
    mean, after = stages.mean[:, 0], before + size
    grown, lead = harmonic(after) - harmonic(before), error_before - mean * before
    later = _from_next(grown), _from_next(lead * (slope(after) - slope(before)) - mean * grown)
    part = before / size * grown
    inside, moved = 1 - part, lead * slope(after) + mean * part
    by_error = runs.spread(inside + later[0]) / len(errors)
    by_weight = errors * by_error + (runs.spread(moved + later[1]) - value) / len(errors)
    return value, by_weight - by_weight.mean(), by_error


def _from_next(values: PerItem) -> PerItem:
    """Sum of all later runs."""
    return np.append(np.cumsum(values[:0:-1])[::-1], 0.0)


def _area_influence(
    prepared: _Decided, labels: Floats, *, sign: float = 1.0, excess: bool = False
) -> Influence:
    errors = prepared.errors(labels.T)
    value, items, slopes = _area_slopes(Runs.of(prepared.confidence), errors)
    if excess:
        best = _area_slopes(Runs.of(-errors), errors)
        value, items, slopes = value - best[0], items - best[1], slopes - best[2]
    constant = 1.0 if sign < 0 else 0.0
    shares = -sign * slopes[:, None] * prepared.classes
    return Influence(constant + sign * value, sign * items, shares)


def _height_influence(prepared: _Decided, labels: Floats, *, steps: int) -> Influence:
    """Of every coverage c: 1/n (-R + (s_i (e_i - e_c) + c e_c) / c), then by trapezoids.

    s_i is the share of item i that is kept, e_c the error near the cut.
    """
    errors = prepared.errors(labels.T)
    runs, number = Runs.of(prepared.confidence), len(errors)
    size, error, before, error_before = (
        part[:, 0] for part in _Stages.of(runs, errors, np.ones((number, 1)))
    )
    ends = np.append(0.0, before + size)
    wrong = np.append(0.0, error_before + error)
    near = np.clip(_coverages(steps) + np.array([[-0.5], [0.5]]) / steps, 0.0, 1.0) * number
    low, high = np.interp(near, ends, wrong)
    weight = np.ones(steps) if steps < 3 else np.append(np.append(0.5, np.ones(steps - 2)), 0.5)
    weight = weight / weight.sum()
    value, items, slopes = 1.0, np.zeros(number), np.zeros(number)
    for c, w, cut in zip(
        _coverages(steps), weight, (high - low) / (near[1] - near[0]), strict=True
    ):
        risk = float(np.interp(c * number, ends, wrong)) / (c * number)
        inside = runs.spread(np.clip((c * number - before) / size, 0.0, 1.0))
        value -= w * risk
        items -= w / number * ((inside * (errors - cut)) / c + cut - risk)
        slopes -= w * inside / (c * number)
    return Influence(value, items, -slopes[:, None] * prepared.classes)


def _error_influence(prepared: _Decided, labels: Floats) -> Influence:
    whole = auroc_metric()
    assert whole.influence is not None
    errors = prepared.errors(labels.T)
    value, items, slopes = whole.influence(sort_items(-prepared.confidence), errors)
    return Influence(value, items, -slopes[:, None] * prepared.classes)


# ---- metrics ---------------------------------------------------------------------------------


@of_probabilities()
def error_detection_auroc() -> Metric:
    """AUROC of low confidence against being wrong; higher is better."""
    whole = auroc_metric()

    def reduce(prepared: _Decided, block: Block) -> Floats:
        errors = np.ascontiguousarray(prepared.errors_in(block))
        order = sort_items(-prepared.confidence)
        return ranked_sums((order,), Block((Truth(errors),), block.counts))

    return Metric(
        name="error_detection_auroc",
        title="error AUROC",
        soft_title="soft error AUROC",
        definition="AUROC of low confidence (one less the largest probability) against being "
        "wrong; errors are the positive class.",
        family="error detection",
        prepare=_decided,
        reduce=reduce,
        finish=whole.finish,
        needs="probabilities",
        labels="distribution",
        influence=_error_influence,
        topic=Topic.RETAINED,
        references=("traub2024",),
    )


@of_probabilities()
def risk_coverage_area() -> Metric:
    """Mean error among the most confident items, over all coverages; lower is better."""
    return Metric(
        name="risk_coverage_area",
        title="AURC",
        soft_title="soft AURC",
        definition="Error among the k most confident items, averaged over k from 1 to all.",
        family="coverage",
        prepare=_decided,
        reduce=_areas,
        finish=lambda areas: areas[0],
        better="lower",
        needs="probabilities",
        labels="distribution",
        influence=_area_influence,
        topic=Topic.RETAINED,
        references=_SOURCES,
    )


@of_probabilities()
def excess_risk_coverage_area() -> Metric:
    """AURC less that of the best order of the same items; lower is better."""
    return replace(
        risk_coverage_area.metric(),
        name="excess_risk_coverage_area",
        title="E-AURC",
        soft_title="soft E-AURC",
        definition="AURC less the AURC of the best order of the same items, errors last.",
        finish=lambda areas: np.maximum(areas[0] - areas[1], 0.0),
        influence=partial(_area_influence, excess=True),
    )


@of_probabilities()
def accuracy_coverage_area(*, steps: int = 0) -> Metric:
    """Mean accuracy among the most confident items, over coverages; higher is better.

    Parameters
    ----------
    y_true, probabilities
        As for every metric of this module.
    steps
        Number of coverages, evenly spread up to all items; 0 is every number of items.
    """
    _checked_steps("accuracy_coverage_area", steps, least=0)
    how = f"{steps} even steps of coverage" if steps else "every number of items"
    areas = replace(
        risk_coverage_area.metric(),
        name=parameters("accuracy_coverage_area", {"steps": 0}, {"steps": steps}),
        title="AUAC",
        soft_title="soft AUAC",
        definition=f"Accuracy among the most confident items, averaged over {how}.",
        finish=lambda areas: 1 - areas[0],
        better="higher",
        influence=partial(_area_influence, sign=-1.0),
        curve=partial(accuracy_coverage_curve, steps=steps or STEPS),
    )
    if not steps:
        return areas
    return replace(
        areas,
        family=f"coverage {steps}",
        reduce=partial(_heights, steps=steps),
        finish=_mean_height,
        influence=partial(_height_influence, steps=steps),
    )


def accuracy_coverage_curve(
    y_true: Any, probabilities: Any, *, steps: int = STEPS
) -> tuple[Floats, Floats]:
    """Coverages, and the accuracy among so many of the most confident items; (steps,) both."""
    _checked_steps("accuracy_coverage_curve", steps, least=1)
    labels, predicted = checked_distributions(y_true, probabilities)
    return _coverages(steps), _heights(_decided(predicted), fixed_block(labels), steps)[:, 0]


def _checked_steps(name: str, steps: int, *, least: int) -> None:
    do = "20 are steps of 5 %"
    require_whole(f"{name}, steps", steps, least=least, most=_MOST_STEPS, do=do)


_SCALES = ("mean", "paper")
_SHORT = {
    "rps": "ranked_probability_score",
    "sa_rps": "squared_absolute_rps",
    "brier": "brier_score",
    "log": "log_score",
    "qwk": "quadratic_weighted_kappa",
    "cost": "expected_cost",
}

_HEIGHTS: Mapping[str, Metric] = {
    "quadratic_weighted_kappa": quadratic_weighted_kappa.metric(),
    "expected_cost": expected_cost.metric(cost="linear"),
    "accuracy": accuracy.metric(),
}


@immutable
class Retained:
    """How a retained-samples curve is made.

    Attributes
    ----------
    score
        Which score sorts the items; ``rps``, ``sa_rps``, ``brier`` and ``log`` are short names.
    metric
        What is recomputed on those that are left; ``qwk`` and ``cost`` are short names.
    max_removed, points
        The curve goes from 0 to this fraction in so many points.
    scale
        ``mean``: mean height. ``paper``: area over the percent removed, with raw distances
        in grades as the cost.
    """

    score: str = "ranked_probability_score"
    metric: str = "quadratic_weighted_kappa"
    max_removed: float = 0.2
    points: int = 41
    scale: str = "mean"

    def __post_init__(self) -> None:
        for name in ("score", "metric"):
            object.__setattr__(self, name, _SHORT.get(getattr(self, name), getattr(self, name)))
        choice("retained samples, score", self.score, tuple(RULES))
        choice("retained samples, metric", self.metric, tuple(_HEIGHTS))
        choice("retained samples, scale", self.scale, _SCALES)
        fraction = self.max_removed
        real = isinstance(fraction, int | float) and not isinstance(fraction, bool)
        if not real or not 0 < fraction < 1:
            raise InputError(
                "retained samples, max_removed",
                f"{fraction!r}",
                "a fraction between 0 and 1",
                "try 0.2",
            )
        require_whole("retained samples, points", self.points, least=2, do="try 41")

    @property
    def rule(self) -> Metric:
        """The score that sorts the items."""
        return RULES[self.score]()

    @property
    def height(self) -> Metric:
        """What is recomputed; the published cost is in grades."""
        if self.scale == "paper" and self.metric == "expected_cost":
            return mean_absolute_error.metric()
        return _HEIGHTS[self.metric]

    @property
    def removed(self) -> Floats:
        """Fractions removed, shape (points,)."""
        return np.linspace(0.0, self.max_removed, self.points)

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest area."""
        low, high = self.height.bounds
        return low * self.width, high * self.width

    @property
    def width(self) -> float:
        """How wide the axis is: 1, or the percent removed."""
        return 100 * self.max_removed if self.scale == "paper" else 1.0

    def area(self, tables: Floats) -> PerReplicate:
        """Mean height by the trapezoid rule, or the area over the percent axis."""
        heights = self.height.finish(tables)
        mean = ((heights[1:] + heights[:-1]) / 2).mean(axis=0)
        return np.asarray(mean * self.width)

    def reduce(self, prepared: "_Graded", block: Block) -> Floats:
        """Tables of every cut in every replicate, (true, decided, points, replicates).

        With one truth for all replicates there is one order of items; where the truth varies,
        each replicate has its own.
        """
        counts = block.counts
        labels = np.stack([truth.positive for truth in block.classes])
        if labels.ndim == 2:
            return _cut_tables(prepared.line(labels), counts, self.removed)
        tables = [
            _cut_tables(
                _Line.of(labels[..., r], prepared), counts[:, [min(r, counts.shape[1] - 1)]],
                self.removed,
            )
            for r in range(labels.shape[2])
        ]  # fmt: skip
        return np.concatenate(tables, axis=-1)

    def prepare(self, predicted: Floats) -> "_Graded":
        """Decisions, and what every class would cost by the score."""
        return _Graded(decide(predicted), self.rule.prepare(predicted), {})


class _Line(NamedTuple):
    """Items from the best to the worst score: order, where runs begin, labels, decisions."""

    order: Ints
    start: Ints
    labels: Floats
    decided: Floats

    @classmethod
    def of(cls, labels: Floats, prepared: "_Graded") -> "_Line":
        """Labels are (classes, items); runs end with the number of items."""
        scores = np.round(expected_loss(labels, prepared.losses), _EQUAL)
        runs = Runs.of(-scores)
        start = np.append(runs.start, len(scores))
        placed = (np.ascontiguousarray(x[runs.order]) for x in (labels.T, prepared.decided))
        return cls(runs.order, start, *placed)


class _Graded(NamedTuple):
    """Shares of every class in the decision, and losses by class, (items, classes).

    `lines` keeps the items sorted for the fixed truths that were met.
    """

    decided: Floats
    losses: Floats
    lines: dict[bytes, _Line]

    def line(self, labels: Floats) -> _Line:
        """The items in line, sorted once for a truth, (classes, items)."""
        key = blake2b(labels.tobytes()).digest()
        if key not in self.lines:
            self.lines[key] = _Line.of(labels, self)
        return self.lines[key]


def _cut_tables(line: _Line, counts: ItemsByReplicates, removed: Floats) -> Floats:
    """Confusion tables of what every cut leaves, shape (true, decided, points, replicates).

    ``counts`` is what each item counts, (items, replicates); ``removed`` rises.
    """
    from equipoise.kernels.retained import retained_tables

    left = counts.sum(axis=0, dtype=np.float64)[:, None] * (1 - removed)
    placed = np.ascontiguousarray(counts[line.order])
    tables = retained_tables(line.start, line.labels, line.decided, placed, left)
    classes = line.labels.shape[1]
    return np.asarray(tables).reshape(classes, classes, *tables.shape[1:])


def retained_samples_curve(
    y_true: Any, probabilities: Any, *, weights: Any = None, **how: Any
) -> tuple[Floats, Floats]:
    """Fractions removed, and the metric on the rest; both (points,), nan where undefined.

    Parameters
    ----------
    y_true
        Class codes or label distributions (items, classes), the lowest grade first.
    probabilities
        Predicted distributions (items, classes), or of the second of two classes (items,).
    weights
        Importance weights (items,), or `Copies` of counts.
    score
        What sorts the items: ``ranked_probability_score``, ``squared_absolute_rps``,
        ``brier_score`` or ``log_score``.
    metric
        What is recomputed: ``quadratic_weighted_kappa``, ``expected_cost`` (linear cost,
        from 0 to 1) or ``accuracy``.
    max_removed, points
        The curve goes from 0 to this fraction (0.2) in so many points (41).
    scale
        ``mean``, or ``paper`` for the expected cost in grades, not divided by K - 1.
    """
    curve = Retained(**how)
    labels, predicted = checked_distributions(y_true, probabilities)
    weight: Any = checked_weights(weights, len(labels)).weight[:, None]
    tables = curve.reduce(curve.prepare(predicted), fixed_block(labels, weight))
    return curve.removed, curve.height.finish(tables)[:, 0]


@of_probabilities(weights=True)
def retained_samples_area(
    *,
    score: str = "ranked_probability_score",
    metric: str = "quadratic_weighted_kappa",
    max_removed: float = 0.2,
    points: int = 41,
    scale: str = "mean",
) -> Metric:
    """Mean height of the retained-samples curve.

    Parameters
    ----------
    y_true, probabilities, weights, score, metric, max_removed, points, scale
        As in `retained_samples_curve`; ``scale="paper"`` gives the published number.
    """
    curve = Retained(score, metric, max_removed, points, scale)
    what = curve.metric.replace("_", " ")
    by = "" if curve.score == Retained().score else f" by {curve.rule.title}"
    scale = "Area over the percent removed" if curve.scale == "paper" else "Mean height"
    return Metric(
        name=parameters("retained_samples_area", asdict(Retained()), asdict(curve)),
        title=f"retained-samples {what}{by}",
        soft_title=f"retained-samples soft {what}{by}",
        definition=f"{scale} of the {what} when up to {exact_percent(curve.max_removed)} of "
        f"the items, those with the worst {curve.rule.title}, are removed.",
        family=f"retained {curve.score} {curve.max_removed} {curve.points}",
        prepare=curve.prepare,
        reduce=curve.reduce,
        finish=curve.area,
        better=curve.height.better,
        bounds=curve.bounds,
        needs="probabilities",
        ordered=curve.rule.ordered or curve.height.ordered,
        labels="distribution",
        curve=partial(retained_samples_curve, **asdict(curve)),
        topic=Topic.RETAINED,
        references=("galdran2023",),
    )
