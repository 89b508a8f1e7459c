r"""Panel size: how estimate and uncertainty change with the number of annotators.

Panels of m = 2, ..., M annotators are drawn without replacement from the M there are, and every
model is scored on the labels of each. The mean over panels shows how the value moves with m;

.. math:: \bar v(m) \approx a + b / m

is fitted to it, so that a is the value with ever more annotators *like these*: the assumption
is that the people are exchangeable and that the effect of noise in the labels falls as 1/m,
which holds for smooth metrics to first order. Panels drawn from M people vary less than fresh
ones, by the factor 1 - m/M of sampling without replacement; the half-widths here undo it, and
with v the fitted variance of one annotator the half-width with m is :math:`t \sqrt{v / m}`.

The interval of a is the jackknife over annotators. Its spread, as v, comes from M people, so t
is the quantile of Student's law with M - 1 degrees of freedom. For anonymous votes at most m
votes of each item are drawn instead, the interval of a resamples items, and t is normal.

*How many are enough?* As many as it takes that two separate panels, of different people, order
the models with a rank correlation of at least 0.95 on average. Where no two panels that large
fit into the M there are, the Spearman-Brown formula extrapolates from the largest two that do.
Few annotators tell that correlation badly: the number comes with the range that its jackknife
interval allows, without an upper end where that includes zero (see `_order_range`).
The rank correlation with the order by the whole panel is given, too, but is circular: smaller
panels are part of it, so that it is 1 for m = M by construction.

Examples
--------
>>> from equipoise.demo import reading_study
>>> readings, scores = reading_study()
>>> curve = panel_size(scores, readings, replicates=50)
>>> curve.sizes
array([2, 3, 4, 5, 6, 7, 8])
>>> bool(curve.spearman[-1] == 1.0), bool(curve.separate[0] < curve.spearman[0])
(True, True)
"""

from dataclasses import dataclass
from math import ceil
from typing import Any, Unpack

import numpy as np

from equipoise.analyses._curves import fitted, half_widths, limit_ends, quantile
from equipoise.analyses._enough import (
    CLOSE,
    NARROW,
    Range,
    fewest,
    order_range,
    order_words,
    people,
    width_range,
    width_words,
)
from equipoise.analyses._orders import between_separate, separate_ends, with_all
from equipoise.analyses._shifts import odd_words
from equipoise.analyses._subsets import Paths, fewer_votes, smaller_panels
from equipoise.analyses.options import AnalysisKeywords, as_options
from equipoise.analyses.scoring import Given, StudyScorer, freeze, shown, study
from equipoise.analyses.words import capital, counted
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, Ints, require_number, require_whole
from equipoise.metrics import titled


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PanelSize:
    """Every model by the number of annotators (or votes per item).

    Attributes
    ----------
    task, metric, labels, models, level
        What was scored, and the level of the intervals.
    unit
        ``annotators``, or ``votes per item`` when votes are anonymous.
    degrees
        Degrees of freedom of the spread: one less than annotators, infinite for votes.
    sizes, subsets, coverage
        How many, how many panels were drawn, and the mean share of items that keep a vote.
    mean, spread
        Mean and standard deviation over the panels drawn, shape (sizes, models).
    half_width
        Half-width of the interval for a fresh panel of that size, shape (sizes, models).
    spearman, spearman_low
        Rank correlation with the whole panel: mean and lower 2.5 % over panels, (sizes,).
    separate
        Mean rank correlation between two separate panels of that size; nan where two do not
        fit, (sizes,).
    separate_low, separate_high
        Interval of the last of them that is known.
    limit, limit_low, limit_high, slope
        The fitted a with its interval, and b, shape (models,).
    variance
        Fitted variance of one annotator, shape (models,).
    notices
        What the user should know, one sentence each.
    """

    task: str
    metric: str
    labels: str
    models: tuple[str, ...]
    level: float
    unit: str
    degrees: float
    sizes: Ints
    subsets: Ints
    coverage: Floats
    mean: Floats
    spread: Floats
    half_width: Floats
    spearman: Floats
    spearman_low: Floats
    separate: Floats
    separate_low: float
    separate_high: float
    limit: Floats
    limit_low: Floats
    limit_high: Floats
    slope: Floats
    variance: Floats
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        freeze(self)

    def predicted(self, size: int) -> Floats:
        """Value of each model expected with this many annotators, shape (models,)."""
        return np.asarray(self.limit + self.slope / _whole(size))

    def predicted_half_width(self, size: int) -> Floats:
        """Half-width of each model's interval with this many annotators, shape (models,)."""
        return np.asarray(self._times * np.sqrt(self.variance / _whole(size)))

    @property
    def _times(self) -> float:
        return quantile(self.level, self.degrees)

    def enough_for_width(self, half_width: float) -> int | None:
        """Fewest annotators for which every model's half-width is small enough.

        Beyond the panel it is an extrapolation; None when the variance is undefined.
        """
        wanted = require_number("half_width", half_width, above=0, do="try 0.02")
        worst = float(self.variance.max())
        if np.isnan(worst):
            return None
        return max(2, ceil(round(worst * (self._times / wanted) ** 2, 9)))

    def enough_for_order(self, correlation: float = CLOSE) -> int | None:
        """Fewest annotators with which separate panels agree so much on the order of models.

        Beyond half of the panel it is an extrapolation (Spearman-Brown). None when no two
        panels can be compared, or when they do not agree at all.
        """
        wanted = require_number("correlation", correlation, above=-1, below=1, do="try 0.95")
        return fewest(self.sizes, self.separate, wanted)

    def range_for_order(self, correlation: float = CLOSE) -> Range | None:
        """From how many to how many annotators may be enough for such an order.

        It has no upper end where separate panels may not agree at all, and is None where
        nothing is known of how well they agree, or where some size was seen to be enough.
        """
        wanted = require_number("correlation", correlation, above=-1, below=1, do="try 0.95")
        known = self.sizes[~np.isnan(self.separate)]
        enough = self.enough_for_order(wanted)
        if not len(known) or (enough is not None and enough <= known[-1]):
            return None
        return order_range(int(known[-1]), (self.separate_low, self.separate_high), wanted)

    @property
    def finding(self) -> str:
        """What came out, and how many annotators are enough, as a sentence or two."""
        width, most = float(self.half_width[-1].max()), int(self.sizes[-1])
        score = titled(self.metric, self.labels)
        whose = "them" if self.unit == "annotators" else "the votes"
        said = f"With {people(most, self.unit)} the half-width of {score} that is due to "
        said += f"{whose} is at most {shown(width)}."
        if np.isnan(width):
            odd = odd_words(self.mean, self.models)
            said = f"{capital(score)} is {odd}: its half-width cannot be told."
        if len(self.models) > 1:
            ends = (self.separate_low, self.separate_high)
            enough = order_words(self.sizes, self.separate, len(self.models), self.unit, ends)
        else:
            number = self.enough_for_width(NARROW)
            doubt = None if number is None else width_range(number, self.degrees, self.level)
            enough = width_words(number, most, self.unit, doubt)
        return f"{said} {enough}"

    def rows(self) -> list[dict[str, Any]]:
        """One plain dict per size and model."""
        return [
            {
                "task": self.task,
                "metric": self.metric,
                "labels": self.labels,
                "unit": self.unit,
                "size": int(size),
                "subsets": int(self.subsets[s]),
                "coverage": float(self.coverage[s]),
                "model": model,
                "mean": float(self.mean[s, m]),
                "spread": float(self.spread[s, m]),
                "half_width": float(self.half_width[s, m]),
                "fitted": float(self.limit[m] + self.slope[m] / size),
                "spearman": float(self.spearman[s]),
                "spearman_low": float(self.spearman_low[s]),
                "separate": float(self.separate[s]),
                "limit": float(self.limit[m]),
                "limit_low": float(self.limit_low[m]),
                "limit_high": float(self.limit_high[m]),
            }
            for s, size in enumerate(self.sizes)
            for m, model in enumerate(self.models)
        ]


@np.errstate(invalid="ignore")  # of two infinite values: undefined
def panel_size(
    predictions: Given, annotations: Annotations, **how: Unpack[AnalysisKeywords]
) -> PanelSize:
    """Score every model on the labels of smaller panels, and extrapolate to larger ones.

    Parameters
    ----------
    predictions, annotations
        What models and annotators say; at least three annotators, or three votes per item.
    **how
        See `equipoise.analyses.options.AnalysisOptions`; replicates are subsets per size.
    """
    found = study(predictions, annotations, as_options(how))
    paths, unit = _paths(found, annotations)
    mean = np.stack([one.mean(axis=1) for one in paths.values])
    spread = np.stack([one.std(axis=1) for one in paths.values])
    times = quantile(found.asked.level, paths.degrees)
    variance, half = half_widths(paths, spread, times)
    order, low = with_all(found, paths)
    limit, slope = fitted(paths.sizes, mean)
    ends = limit_ends(paths, limit, found)
    separate = between_separate(paths, len(found.models))
    agree = separate_ends(paths, separate, found.asked.level)
    return PanelSize(
        task=found.task,
        metric=found.metric.name,
        labels=found.asked.labels,
        models=found.models,
        level=found.asked.level,
        unit=unit,
        degrees=paths.degrees,
        sizes=paths.sizes,
        subsets=np.array([one.shape[1] for one in paths.values]),
        coverage=paths.coverage,
        mean=mean,
        spread=spread,
        half_width=half,
        spearman=order,
        spearman_low=low,
        separate=separate,
        separate_low=agree[0],
        separate_high=agree[1],
        limit=limit,
        limit_low=ends[0],
        limit_high=ends[1],
        slope=slope,
        variance=variance,
        notices=(*found.notices, *_cautions(paths)),
    )


def _paths(found: StudyScorer, annotations: Annotations) -> tuple[Paths, str]:
    if annotations.annotators is not None:
        people = len(annotations.annotators)
        active = np.flatnonzero(found.votes_given(people))
        if len(active) >= 3:
            return smaller_panels(found, active, people), "annotators"
        got = counted(len(active), "annotator")
    else:
        votes = [one.question.votes for one in found.subjects]
        sizes = np.concatenate([one.sizes for one in votes if one is not None])
        most = int(np.median(sizes))
        if most >= 3:
            return fewer_votes(found, most), "votes per item"
        got = f"anonymous votes, {most} on a typical item"
    raise InputError(
        "panel size", got, "at least three annotators, or three votes per item",
        "ask more annotators",
    )  # fmt: skip


def _cautions(paths: Paths) -> list[str]:
    if paths.coverage[0] > 0.95:
        return []
    return [
        f"Panels of {paths.sizes[0]} reach {paths.coverage[0]:.0%} of the items on average: "
        "for small panels the spread is also that of the items they happen to rate."
    ]


def _whole(size: int) -> int:
    return require_whole("panel size", size, least=1, do="try 10")
