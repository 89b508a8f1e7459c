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

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from equipoise.metrics._metric import (
    Block,
    Metric,
    Prepared,
    Topic,
    checked_weights,
    fixed_block,
    parameters,
)
from equipoise.metrics._ranking import Runs
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
    itself,
    of_probabilities,
)
from equipoise.types import (
    Floats,
    InputError,
    PerItem,
    PerReplicate,
    choice,
    exact_percent,
    require_whole,
)

_SCALES = ("mean", "paper")
_EQUAL = 12  # decimals to which scores must differ to stand apart


_HEIGHTS: Mapping[str, Metric] = {
    "quadratic_weighted_kappa": quadratic_weighted_kappa.metric(),
    "expected_cost": expected_cost.metric(cost="linear"),
    "accuracy": accuracy.metric(),
}


@dataclass(frozen=True)
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
        return np.round(expected_loss(labels, self.rule.prepare(predicted)), _EQUAL)


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
    labels, predicted = checked_distributions(y_true, probabilities)
    weight: Any = checked_weights(weights, len(labels)).weight[:, None]
    tables = curve.reduce(predicted, fixed_block(labels, weight))
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
