r"""Retained samples: how good a model is on what is left when its worst items go.

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
Galdran (2023), *Performance metrics for probabilistic ordinal classifiers*.

Examples
--------
>>> truth, model = [0, 1, 2, 2], [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0.4, 0]]
>>> removed, height = retained_samples_curve(
...     truth, model, metric="accuracy", max_removed=0.25, points=3)
>>> removed, height
(array([0.   , 0.125, 0.25 ]), array([0.75 , 0.857, 1.   ]))
>>> retained_samples_area(truth, model, metric="accuracy", max_removed=0.25, points=3)
0.866
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from equipoise.metrics._metric import (
    Block,
    Metric,
    Prepared,
    Topic,
    checked_weights,
    parameters,
)
from equipoise.metrics._ranking import Runs
from equipoise.metrics.decisions import (
    by_cost,
    cost_matrix,
    decide,
    grades_apart,
    kappa,
    mean_cost,
)
from equipoise.metrics.distributions import (
    RULES,
    ScoreRule,
    checked_distributions,
    expected_loss,
    itself,
)
from equipoise.types.arrays import (
    Floats,
    InputError,
    PerItem,
    PerReplicate,
    choice,
    require_whole,
)
from equipoise.types.numbers import exact_percent

_SCALES = ("mean", "paper")
_EQUAL = 12  # decimals to which scores must differ to stand apart


class _Height(NamedTuple):
    """What is recomputed on the items that are left.

    `value` takes confusion tables (true, decided, ...); `paper` is the same as published.
    """

    value: Callable[[Floats], PerReplicate]
    paper: Callable[[Floats], PerReplicate]
    better: Literal["higher", "lower"]
    bounds: tuple[float, float]
    ordered: bool = True


_kappa = by_cost(kappa, partial(cost_matrix, "quadratic"))
_cost = by_cost(mean_cost, partial(cost_matrix, "linear"))
_grades, _right = by_cost(mean_cost, grades_apart), by_cost(mean_cost, np.eye)
_HEIGHTS: Mapping[str, _Height] = {
    "quadratic_weighted_kappa": _Height(_kappa, _kappa, "higher", (-1.0, 1.0)),
    "expected_cost": _Height(_cost, _grades, "lower", (0.0, 1.0)),
    "accuracy": _Height(_right, _right, "higher", (0.0, 1.0), ordered=False),
}


@dataclass(frozen=True, slots=True)
class Retained:
    """How a retained-samples curve is made.

    Attributes
    ----------
    score
        Which score sorts the items.
    metric
        What is recomputed on those that are left.
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
    def rule(self) -> ScoreRule:
        """The score that sorts the items."""
        return RULES[self.score]

    @property
    def height(self) -> _Height:
        """What is recomputed."""
        return _HEIGHTS[self.metric]

    @property
    def removed(self) -> Floats:
        """Fractions removed, shape (points,)."""
        return np.linspace(0.0, self.max_removed, self.points)

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest area."""
        low, high = self.height.bounds
        if self.scale == "mean":
            return low, high
        top = math.inf if self.metric == "expected_cost" else high * self.width
        return low * self.width, top

    @property
    def width(self) -> float:
        """How wide the axis is: 1, or the percent removed."""
        return 100 * self.max_removed if self.scale == "paper" else 1.0

    def heights(self, tables: Floats) -> Floats:
        """The metric at every cut, (points, replicates), of (true, decided, points, ...)."""
        height = self.height
        return height.paper(tables) if self.scale == "paper" else height.value(tables)

    def area(self, tables: Floats) -> PerReplicate:
        """Mean height by the trapezoid rule, or the area over the percent axis."""
        heights = self.heights(tables)
        mean = ((heights[1:] + heights[:-1]) / 2).mean(axis=0)
        return np.asarray(mean * self.width)

    def reduce(self, prepared: Prepared, block: Block) -> Floats:
        """Tables of every cut in every replicate, (true, decided, points, replicates).

        With one truth for all replicates there is one order of items; where the truth varies,
        each replicate has its own.
        """
        labels = np.stack([truth.positive for truth in block.classes])
        scores = self.scored(labels, prepared)
        decided, removed = decide(prepared), self.removed
        counts = block.counts.T.astype(np.float64)
        if scores.ndim == 1:
            line, masses = Runs.of(-scores), np.ascontiguousarray(labels.T)
            tables = [_cut_tables(line, masses, decided, times, removed) for times in counts]
        else:
            tables = [
                _cut_tables(Runs.of(-score), masses, decided, times, removed)
                for score, masses, times in zip(scores.T, labels.T, counts, strict=True)
            ]
        return np.stack(tables, axis=-1)

    def scored(self, labels: Floats, predicted: Floats) -> Floats:
        """Score of each item, (items, ...), for labels (classes, items, ...)."""
        return np.round(expected_loss(labels, self.rule.losses(predicted)), _EQUAL)


def _cut_tables(
    line: Runs, labels: Floats, decided: Floats, counts: PerItem, removed: Floats
) -> Floats:
    """Confusion tables of what every cut leaves, shape (true, decided, points).

    ``line`` has the items from best to worst, ``labels`` and ``decided`` are (items, classes),
    ``counts`` is what each item counts, and ``removed`` rises.
    """
    held = np.append(0.0, np.cumsum(counts[line.order]))
    sizes = line.sizes
    low, high = (np.repeat(held[end], sizes) for end in (line.start, line.start + sizes))
    left = (1 - removed) * held[-1]
    safe = int(np.searchsorted(high, left[-1], side="right"))  # stay at every cut
    size = np.where(high > low, high - low, 1.0)[safe:]
    share = np.clip((left[:, None] - low[safe:]) / size, 0.0, 1.0)
    mass = (labels * counts[:, None])[line.order]
    chosen = decided[line.order]
    out = np.empty((labels.shape[1], labels.shape[1], len(removed)))
    out[:] = (mass[:safe].T @ chosen[:safe])[..., None]
    for column, shares in enumerate(chosen[safe:].T):
        rows = np.flatnonzero(shares)
        out[:, column] += (share[:, rows] @ (mass[safe:][rows] * shares[rows, None])).T
    return out


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
    tables = _plain_tables(curve, y_true, probabilities, weights)
    return curve.removed, curve.heights(tables)[:, 0]


def retained_samples_area(
    y_true: Any, probabilities: Any, *, weights: Any = None, **how: Any
) -> float:
    """Mean height of the retained-samples curve.

    Parameters
    ----------
    y_true, probabilities, weights, score, metric, max_removed, points, scale
        As in `retained_samples_curve`; ``scale="paper"`` gives the published number.
    """
    curve = Retained(**how)
    return float(curve.area(_plain_tables(curve, y_true, probabilities, weights))[0])


def retained_samples_area_metric(
    *,
    score: str = "ranked_probability_score",
    metric: str = "quadratic_weighted_kappa",
    max_removed: float = 0.2,
    points: int = 41,
    scale: str = "mean",
) -> Metric:
    """Area under the retained-samples curve for the engine."""
    curve = Retained(score, metric, max_removed, points, scale)
    what = curve.metric.replace("_", " ")
    scale = "Area over the percent removed" if curve.scale == "paper" else "Mean height"
    return Metric(
        name=parameters("retained_samples_area", asdict(Retained()), asdict(curve)),
        title=f"retained-samples {what}",
        soft_title=f"retained-samples soft {what}",
        definition=f"{scale} of the {what} when up to {exact_percent(curve.max_removed)} of "
        f"the items, those with the worst {curve.rule.title}, are removed.",
        family=f"retained {curve.score} {curve.max_removed} {curve.points}",
        prepare=itself,
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


def _plain_tables(curve: Retained, y_true: Any, probabilities: Any, weights: Any) -> Floats:
    """Confusion tables at every cut of a plain call, (true, decided, points, 1)."""
    labels, predicted = checked_distributions(y_true, probabilities)
    weight = checked_weights(weights, len(labels)).weight
    line = Runs.of(-curve.scored(labels.T, predicted))
    return _cut_tables(line, labels, decide(predicted), weight, curve.removed)[..., None]
