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
interval allows, without an upper end where that includes zero (see `panel_size.panels`).
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

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Unpack

import numpy as np

from equipoise.analyses._shifts import odd_words
from equipoise.analyses.options import AnalysisKeywords, as_options
from equipoise.analyses.panel_size.enough import (
    CLOSE,
    NARROW,
    Range,
    fewest,
    order_range,
    order_words,
    width_range,
    width_words,
)
from equipoise.analyses.panel_size.panels import (
    PanelValues,
    between_separate,
    fewer_votes,
    fitted,
    half_widths,
    limit_ends,
    quantile,
    separate_ends,
    smaller_panels,
    with_all,
)
from equipoise.analyses.scoring import Given, StudyScorer, freeze, study
from equipoise.analyses.study import Study
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, Ints, require_number, require_whole
from equipoise.findings import Band, Cell, Column, Finding, Line, Lines, Table, largest_by
from equipoise.metrics import titled
from equipoise.notices import Notice
from equipoise.numbers import count, number
from equipoise.ranks import higher_is_better
from equipoise.wording import capital

__all__ = ["PanelSize", "Range", "analyse", "panel_size"]

KEY, TITLE = "panel_size", "Are there enough annotators?"
DRAWN = 12  # models with a line; all are in the table
TICKS = 10
NOTE = (
    "All smaller panels are tried, or a random choice of them. The value at each size is the "
    "mean over panels; the half-width is what the choice of annotators alone would add around "
    "it for a fresh panel of that size. Beyond the panel both are extrapolated (dashed): the "
    "value as a + b/m and the variance as 1/m, for m annotators; intervals take Student's "
    "quantile for so few people. The order is compared between two panels of one size that "
    "share nobody, because a panel resembles the whole that it is a part of; beyond half "
    "of the annotators that correlation is extrapolated (Spearman and Brown), with the range "
    "that its jackknife interval allows; models that are nearly tied for any number of "
    "annotators can need more than that. Fewer annotators "
    "can also shift a soft metric, because a coarse mean vote is another label."
)
ORDER_LEGEND = (
    "Spearman of separate panels: mean rank correlation between the orders by two panels "
    "without a common member. Spearman with all: with the order by the whole panel, of which "
    "the smaller ones are a part, so that it is too high."
)
WIDTH_LEGEND = (
    "Half-width: of a value's interval, as far as the panel makes it; in short tables the "
    "widest."
)


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
    better
        Whether ``higher`` or ``lower`` values are better.
    notices
        What the user should know.
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
    better: str = "higher"
    notices: tuple[Notice, ...] = ()

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
    def _noun(self) -> str:
        return "annotator" if self.unit == "annotators" else "vote per item"

    @property
    def finding(self) -> str:
        """What came out, and how many annotators are enough, as a sentence or two."""
        width, most = float(self.half_width[-1].max()), int(self.sizes[-1])
        score = titled(self.metric, self.labels)
        whose = "them" if self.unit == "annotators" else "the votes"
        sentence = (
            f"With {count(most, self._noun)} the half-width of {score} that is due to {whose} "
            f"is at most {number(width)}."
        )
        if np.isnan(width):
            odd = odd_words(self.mean, self.models)
            sentence = f"{capital(score)} is {odd}: its half-width cannot be told."
        if len(self.models) > 1:
            ends = (self.separate_low, self.separate_high)
            models = len(self.models)
            enough = order_words(self.sizes, self.separate, models, self._noun, ends)
        else:
            people = self.enough_for_width(NARROW)
            span = None if people is None else width_range(people, self.degrees, self.level)
            enough = width_words(people, most, self._noun, span)
        return f"{sentence} {enough}"

    def rows(self) -> list[dict[str, Cell]]:
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

    def report(self) -> Finding:
        """The finding for every surface."""
        rows, score = self.rows(), titled(self.metric, self.labels)
        columns = (
            Column("size", self.unit, "count"),
            Column("coverage", "items reached", "percent"),
            Column("model", "model", "model", brief=False),
            Column("mean", score, "number", brief=False),
            Column("half_width", "half-width", "number"),
            Column("separate", "Spearman of separate panels", "number"),
            Column("spearman", "Spearman with all", "number"),
            Column(
                "limit", "endlessly many", "number", ("limit_low", "limit_high"), brief=False
            ),
        )
        one = len(self.models) == 1
        table = Table(
            name="panel_size",
            caption=f"{capital(score)} by number of {self.unit}",
            columns=[c for c in columns if not (one and c.key in ("separate", "spearman"))],
            rows=rows,
            brief=largest_by(rows, "size", "half_width"),
            legend=WIDTH_LEGEND if one else f"{ORDER_LEGEND} {WIDTH_LEGEND}",
        )
        methods, references = self._methods()
        return Finding(
            key=KEY,
            title=TITLE,
            sentence=self.finding,
            tables=(table,),
            charts=self._charts(score),
            note=NOTE,
            methods=methods,
            references=references,
            notices=self.notices,
        )

    def _best_first(self) -> list[int]:
        """Models by their value with the whole panel, the best first."""
        better = higher_is_better(self.mean[-1], self.better)
        return [int(m) for m in np.argsort(-better, kind="stable")[:DRAWN]]

    def _charts(self, score: str) -> tuple[Lines, ...]:
        """Value and half-width over the size, and extrapolated beyond the panel."""
        last = int(self.sizes[-1])
        more = sorted({last + max(1, last * step // 4) for step in range(1, 5)})
        values, widths = [], []
        for place, m in enumerate(self._best_first()):
            name, mean, half = self.models[m], self.mean[:, m], self.half_width[:, m]
            sizes = self.sizes.astype(float).tolist()
            ends = zip(sizes, (mean - half).tolist(), (mean + half).tolist(), strict=True)
            values.append(
                Line(
                    name,
                    list(zip(sizes, mean.tolist(), strict=True)),
                    model=name,
                    band=None if place else Band(list(ends)),
                    beyond=[(float(n), float(self.limit[m] + self.slope[m] / n)) for n in more],
                )
            )
            widths.append(
                Line(
                    name,
                    list(zip(sizes, half.tolist(), strict=True)),
                    model=name,
                    beyond=[(float(n), float(half[-1] * (last / n) ** 0.5)) for n in more],
                )
            )
        ticks = _ticks([int(size) for size in self.sizes], more)
        span = f"for {self.sizes[0]} to {last} {self.unit}, and extrapolated beyond."
        axis, dashed = f"number of {self.unit}", "dashed: extrapolated"
        first = self.models[self._best_first()[0]]
        return (
            Lines(
                name="panel-size",
                caption=f"{capital(score)} by number of {self.unit}; band: {first}; {dashed}",
                alternative=f"{capital(score)} {span}",
                x=axis,
                y=score,
                lines=values,
                ticks=ticks,
            ),
            Lines(
                name="panel-width",
                caption=f"Half-width that they add; {dashed}",
                alternative=f"Half-width of the interval {span}",
                x=axis,
                y="half-width of the interval",
                lines=widths,
                ticks=ticks,
            ),
        )

    def _methods(self) -> tuple[str, tuple[str, ...]]:
        """The sentence for a paper, and its sources."""
        keys: list[str] = []
        start = "The model was" if len(self.models) == 1 else "All models were"
        what = "smaller panels" if self.unit == "annotators" else "fewer votes per item"
        text = f"{start} scored again on the labels of {what}"
        known = self.sizes[~np.isnan(self.separate)]
        if len(known):
            text += (
                ", and the orders by separate parts of the votes compared by rank correlation"
            )
            enough = self.enough_for_order()
            if enough is not None and enough > known[-1]:
                keys += ["spearman1910", "brown1910"]
                text += (
                    ", extrapolated to larger ones by the Spearman-Brown formula "
                    "[@spearman1910; @brown1910]"
                )
                if not np.isnan(self.separate_low):
                    text += " with the range of a jackknife interval"
        if not np.isnan(self.limit_low).all():
            keys.append("efron1993")
            how = "an interval from resampled items"
            if self.unit == "annotators":
                how = "a jackknife interval with Student's quantile"
            text += f"; the limit for ever larger ones has {how} [@efron1993]"
        return f"{text}.", tuple(keys)


def _ticks(known: Sequence[int], more: Sequence[int]) -> list[tuple[float, str]]:
    """Sizes to write under a chart, as many as have room.

    Examples
    --------
    >>> [words for _, words in _ticks([2, 3, 4, 30], [37, 45, 52, 60])]
    ['2', '30', '37', '45', '52', '60']
    """
    every = [*known, *more]
    room = (every[-1] - every[0]) / TICKS
    ticks = every[:1]
    for size in every:
        if size - ticks[-1] >= room - 1e-9 or size == known[-1]:
            ticks.append(size)
    return [(float(size), str(size)) for size in dict.fromkeys(ticks)]


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
    scorer = study(predictions, annotations, as_options(how))
    panels, unit = _panels(scorer, annotations)
    mean = np.stack([one.mean(axis=1) for one in panels.values])
    spread = np.stack([one.std(axis=1) for one in panels.values])
    times = quantile(scorer.asked.level, panels.degrees)
    variance, half = half_widths(panels, spread, times)
    order, low = with_all(scorer, panels)
    limit, slope = fitted(panels.sizes, mean)
    ends = limit_ends(panels, limit, scorer)
    separate = between_separate(panels, len(scorer.models))
    agree = separate_ends(panels, separate, scorer.asked.level)
    return PanelSize(
        task=scorer.task,
        metric=scorer.metric.name,
        better=scorer.metric.better,
        labels=scorer.asked.labels,
        models=scorer.models,
        level=scorer.asked.level,
        unit=unit,
        degrees=panels.degrees,
        sizes=panels.sizes,
        subsets=np.array([one.shape[1] for one in panels.values]),
        coverage=panels.coverage,
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
        notices=(*scorer.notices, *_cautions(panels)),
    )


def _panels(scorer: StudyScorer, annotations: Annotations) -> tuple[PanelValues, str]:
    if annotations.annotators is not None:
        people = len(annotations.annotators)
        active = np.flatnonzero(scorer.votes_given(people))
        if len(active) >= 3:
            return smaller_panels(scorer, active, people), "annotators"
        got = count(len(active), "annotator")
    else:
        votes = [one.question.votes for one in scorer.subjects]
        sizes = np.concatenate([one.sizes for one in votes if one is not None])
        most = int(np.median(sizes))
        if most >= 3:
            return fewer_votes(scorer, most), "votes per item"
        got = f"anonymous votes, {most} on a typical item"
    raise InputError(
        "panel size",
        got,
        "at least three annotators, or three votes per item",
        "ask more annotators",
    )


def _cautions(panels: PanelValues) -> list[Notice]:
    if panels.coverage[0] > 0.95:
        return []
    text = (
        "Panels of {size:count} reach {share:percent} of the items on average: for small "
        "panels the spread is also that of the items they happen to rate."
    )
    values = {"size": int(panels.sizes[0]), "share": float(panels.coverage[0])}
    return [Notice("panel_coverage", text, (), values)]


def _whole(size: int) -> int:
    return require_whole("panel size", size, least=1, do="try 10")


def analyse(study: Study) -> Finding:
    """Smaller and larger panels of a study."""
    return panel_size(study.predictions, study.annotations, **study.single).report()
