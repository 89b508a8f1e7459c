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
is the quantile of Student's distribution with M - 1 degrees of freedom. For anonymous votes at
most m votes of each item are drawn instead, the jackknife is over tenths of the items, and t of
the half-widths is normal.

*How many are enough?* As many as it takes that two separate panels, of different people, order
the models with a rank correlation of at least 0.95 on average. Where no two panels that large
fit into the M there are, the Spearman-Brown formula extrapolates from the largest two that do.
Few annotators tell that correlation badly: the number comes with the range that its jackknife
interval allows, without an upper end where that includes zero (see `panel_size.panels`).

Examples
--------
>>> from equipoise.datasets.demo import reading_study
>>> readings, scores = reading_study()
>>> curve = panel_size(scores, readings, replicates=50)
>>> curve.sizes
array([2, 3, 4, 5, 6, 7, 8])

"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import NamedTuple, Unpack

import numpy as np

from equipoise.inference.ranks import higher_is_better
from equipoise.inference.resampling import Resampling
from equipoise.study.analyses.options import AnalysisKeywords
from equipoise.study.analyses.panel_size.panels import (
    PanelValues,
    fewer_votes,
    fitted,
    quantile,
    smaller_panels,
)
from equipoise.study.analyses.result import StudyResult, ends_of
from equipoise.study.analyses.scoring import Given, StudyScorer, fewer_drawn, study
from equipoise.study.analyses.study import Study
from equipoise.study.analyses.words import NAMED, scored_again
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import (
    Floats,
    InputError,
    Ints,
    require_number,
    require_whole,
    short_repr,
)
from equipoise.types.findings import (
    Band,
    Cell,
    Column,
    Finding,
    Line,
    Lines,
    Table,
    largest_by,
    rows_of,
)
from equipoise.types.notices import Notice
from equipoise.types.numbers import count, number
from equipoise.types.words import capital, joined

__all__ = ["PanelSize", "Range", "analyse", "panel_size"]

KEY, TITLE = "panel_size", "Are there enough annotators?"
DRAWN = 12  # models with a line; all are in the table
TICKS = 10
CLOSE = 0.95  # rank correlation from which on separate panels count as giving one order
NARROW = 0.02  # half-width that is taken as enough where there is no order
FAR = 1000  # annotators up to which an extrapolation is written out
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
    "without a common member."
)
WIDTH_LEGEND = (
    "Half-width: of a value's interval, as far as the panel makes it; in short tables the "
    "widest."
)


class Range(NamedTuple):
    """How many annotators may be enough: from, and to; no end where none can be told."""

    low: int
    high: int | None


@dataclass(frozen=True, eq=False, kw_only=True)
class PanelSize(StudyResult):
    """Every model by the number of annotators (or votes per item).

    Attributes
    ----------
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
    separate
        Mean rank correlation between two separate panels of that size; nan where two do not
        fit, (sizes,).
    separate_low, separate_high
        Interval of the last of them that is known.
    limit, limit_low, limit_high, slope
        The fitted a with its interval, and b, shape (models,).
    variance
        Fitted variance of one annotator, shape (models,).
    """

    unit: str
    degrees: float
    sizes: Ints
    subsets: Ints
    coverage: Floats
    mean: Floats
    spread: Floats
    half_width: Floats
    separate: Floats
    separate_low: float
    separate_high: float
    limit: Floats
    limit_low: Floats
    limit_high: Floats
    slope: Floats
    variance: Floats

    __repr__ = short_repr

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
        known = self._compared
        if not len(known):
            return None
        reached = known[self.separate[known] >= wanted - 1e-12]
        if len(reached):
            return int(self.sizes[reached[0]])
        return prophecy(int(self.sizes[known[-1]]), float(self.separate[known[-1]]), wanted)

    def range_for_order(self, correlation: float = CLOSE) -> Range | None:
        """From how many to how many annotators may be enough for such an order.

        It has no upper end where separate panels may not agree at all, and is None where
        nothing is known of how well they agree, or where some size was seen to be enough.
        """
        wanted = require_number("correlation", correlation, above=-1, below=1, do="try 0.95")
        known, enough = self.sizes[self._compared], self.enough_for_order(wanted)
        if not len(known) or (enough is not None and enough <= known[-1]):
            return None
        ends = (self.separate_high, self.separate_low)
        least, most = (prophecy(int(known[-1]), end, wanted) for end in ends)
        return None if least is None else Range(max(2, least), most)

    @property
    def _compared(self) -> Ints:
        """Places of the sizes of which two separate panels were compared."""
        return np.flatnonzero(~np.isnan(self.separate))

    @property
    def _noun(self) -> str:
        return "annotator" if self.unit == "annotators" else "vote per item"

    @property
    def finding(self) -> str:
        """What came out, and how many annotators are enough, as a sentence or two."""
        width, most = float(self.half_width[-1].max()), int(self.sizes[-1])
        whose = "them" if self.unit == "annotators" else "the votes"
        sentence = (
            f"With {count(most, self._noun)} the half-width of {self.score} that is due to "
            f"{whose} is at most {number(width)}."
        )
        if np.isnan(width):
            endless = np.flatnonzero(np.isinf(self.mean).any(axis=0))
            whose = joined([self.models[m] for m in endless], most=NAMED)
            sentence = (
                f"{capital(self.score)} is {f'infinite for {whose}' if whose else 'undefined'} "
                "with some of the panels: its half-width cannot be told."
            )
        enough = self._order_words() if len(self.models) > 1 else self._width_words()
        return f"{sentence} {enough}"

    def _width_words(self) -> str:
        """How many are enough for one model, in words."""
        enough = self.enough_for_width(NARROW)
        if enough is None:
            return "How many are enough cannot be told."
        about = self._about(enough, int(self.sizes[-1]), self._width_range(enough))
        return f"For a half-width of {number(NARROW, 2)}, {about}."

    def _width_range(self, enough: int) -> Range | None:
        """How many annotators a half-width needs, as their variance is known from so few."""
        from scipy.special import chdtri

        if np.isinf(self.degrees):
            return None
        tails = ((1 - self.level) / 2, (1 + self.level) / 2)
        ends = (enough * self.degrees / float(chdtri(self.degrees, tail)) for tail in tails)
        return Range(*(max(2, ceil(round(end, 9))) for end in ends))

    def _order_words(self) -> str:
        """How many are enough for the order of the models, in words."""
        known, models = self._compared, len(self.models)
        if not len(known):
            return (
                "How many are enough cannot be told: no two separate panels can be compared by "
                f"how they order the {models} models."
            )
        enough, last = self.enough_for_order(), int(known[-1])
        if enough is not None and enough <= self.sizes[last]:
            last = int(np.flatnonzero(self.sizes == enough)[0])
        size = int(self.sizes[last])
        near = np.floor(round(float(self.separate[last]) * 100, 6)) / 100  # never rounded up
        seen = (
            f"Two separate panels of {count(size, self._noun)} order the {models} models "
            f"with a mean rank correlation of {number(float(near), 2)}"
        )
        if enough is None:
            return f"{seen}: how many are enough cannot be told."
        if enough == size:
            return f"{seen}; so many are enough, if that is to be at least {number(CLOSE, 2)}."
        about = self._about(enough, size, self.range_for_order())
        return f"{seen}; if that is to be at least {number(CLOSE, 2)}, {about}."

    def _about(self, enough: int, most: int, span: Range | None) -> str:
        """A number that may be an extrapolation, with its range, and that it is enough."""
        if enough <= most:
            return f"{count(enough, self._noun)} are enough"
        words, far = f"about {count(enough, self._noun)}", max(FAR, most)
        if enough > far:
            words = f"more than {count(far, self._noun)}"
        if span is None:
            return f"{words} would be enough (extrapolated)"
        ends = f"{count(span.low)} or more"
        if span.high is not None and span.high <= far:
            ends = f"{count(span.low)} to {count(span.high)}"
        return f"{words} ({ends}) would be enough (extrapolated)"

    def rows(self) -> list[dict[str, Cell]]:
        """One plain dict per size and model."""
        return rows_of(
            {**self.named, "unit": self.unit},
            {"size": self.sizes.tolist(), "model": self.models},
            {
                "subsets": self.subsets,
                "coverage": self.coverage,
                "model": None,
                "mean": self.mean,
                "spread": self.spread,
                "half_width": self.half_width,
                "fitted": self.limit + self.slope / self.sizes[:, None],
                "separate": self.separate,
                **self.with_ends("limit", at=None),
            },
        )

    def report(self) -> Finding:
        """The finding for every surface."""
        rows, one, ends = self.rows(), len(self.models) == 1, ("limit_low", "limit_high")
        columns = (
            Column("size", self.unit, "count"),
            Column("coverage", "items reached", "percent"),
            Column("model", "model", "model", brief=False),
            Column("mean", self.score, "number", brief=False),
            Column("half_width", "half-width", "number"),
            Column("separate", "Spearman of separate panels", "number"),
            Column("limit", "endlessly many", "number", ends, brief=False),
        )
        table = Table(
            name="panel_size",
            caption=f"{capital(self.score)} by number of {self.unit}",
            columns=[c for c in columns if not (one and c.key == "separate")],
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
            charts=self._charts(),
            note=NOTE,
            methods=methods,
            references=references,
            notices=self.notices,
        )

    def _charts(self) -> tuple[Lines, ...]:
        """Value and half-width over the size, and extrapolated beyond the panel."""
        last, sizes = int(self.sizes[-1]), self.sizes.astype(float).tolist()
        more = sorted({last + max(1, last * step // 4) for step in range(1, 5)})
        good = higher_is_better(self.mean[-1], self.better)
        best = np.argsort(-good, kind="stable")[:DRAWN]
        values: list[Line] = []
        widths: list[Line] = []
        for m in best:
            name, mean, half = self.models[m], self.mean[:, m], self.half_width[:, m]
            ends = zip(sizes, (mean - half).tolist(), (mean + half).tolist(), strict=True)
            band = None if values else Band(list(ends))
            points = list(zip(sizes, mean.tolist(), strict=True))
            beyond = [(float(n), float(self.limit[m] + self.slope[m] / n)) for n in more]
            values.append(Line(name, points, model=name, band=band, beyond=beyond))
            points = list(zip(sizes, half.tolist(), strict=True))
            beyond = [(float(n), float(half[-1] * (last / n) ** 0.5)) for n in more]
            widths.append(Line(name, points, model=name, beyond=beyond))
        ticks = _ticks([int(size) for size in self.sizes], more)
        span = f"for {self.sizes[0]} to {last} {self.unit}, and extrapolated beyond."
        axis, score = f"number of {self.unit}", capital(self.score)
        value = Lines(
            name="panel-size",
            caption=f"{score} by {axis}; band: {self.models[best[0]]}; dashed: extrapolated",
            alternative=f"{score} {span}",
            x=axis,
            y=self.score,
            lines=values,
            ticks=ticks,
        )
        width = replace(
            value,
            name="panel-width",
            caption="Half-width that they add; dashed: extrapolated",
            alternative=f"Half-width of the interval {span}",
            y="half-width of the interval",
            lines=widths,
        )
        return value, width

    def _methods(self) -> tuple[str, tuple[str, ...]]:
        """The sentence for a paper, and its sources."""
        keys: list[str] = []
        what = "smaller panels" if self.unit == "annotators" else "fewer votes per item"
        text = f"{scored_again(self.models)} on the labels of {what}"
        known = self.sizes[self._compared]
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
            over = self.unit if self.unit == "annotators" else "items"
            how = f"a jackknife interval over {over} with Student's quantile"
            text += f"; the limit for ever larger ones has {how} [@efron1993]"
        return f"{text}.", tuple(keys)


def prophecy(size: int, correlation: float, wanted: float) -> int | None:
    """How many annotators separate panels need for a wanted correlation (Spearman-Brown).

    The correlation of two panels of one size is taken as a reliability, whose odds r / (1 - r)
    grow with the size; None where it is not positive, or where the wanted one is 1.

    Examples
    --------
    >>> prophecy(4, 0.8, 0.9), prophecy(4, -0.1, 0.9)
    (9, None)
    """
    if not 0 < correlation < 1 or wanted >= 1:
        return None
    return max(
        1, ceil(round(size * wanted * (1 - correlation) / correlation / (1 - wanted), 9))
    )


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
        See `equipoise.study.analyses.options.AnalysisOptions`; replicates are subsets per size.
    """
    scorer = study(predictions, annotations, how)
    panels, unit = _panels(scorer, annotations)
    mean = np.stack([one.mean(axis=1) for one in panels.values])
    spread = np.stack([one.std(axis=1) for one in panels.values])
    times = quantile(scorer.asked.level, panels.degrees)
    variance, half = panels.half_widths(spread, times)
    limit, slope = fitted(panels.sizes, mean)
    separate = panels.between_separate()
    return PanelSize(
        **scorer.facts,
        unit=unit,
        degrees=panels.degrees,
        sizes=panels.sizes,
        subsets=np.array([one.shape[1] for one in panels.values]),
        coverage=panels.coverage,
        mean=mean,
        spread=spread,
        half_width=half,
        **ends_of("separate", separate, panels.separate_ends(separate, scorer.asked.level)),
        **ends_of("limit", limit, panels.limit_ends(limit, scorer)),
        slope=slope,
        variance=variance,
        notices=(*scorer.notices, *_cautions(panels, scorer.plan)),
    )


def _panels(scorer: StudyScorer, annotations: Annotations) -> tuple[PanelValues, str]:
    if annotations.annotators is not None:
        people = len(annotations.annotators)
        active = np.flatnonzero(scorer.votes_given(people))
        if len(active) >= 3:
            return smaller_panels(scorer, active, people), "annotators"
        got = count(len(active), "annotator")
    else:
        most = int(np.median(np.concatenate([one.sizes for one in scorer.votes])))
        if most >= 3:
            return fewer_votes(scorer, most), "votes per item"
        got = f"anonymous votes, {most} on a typical item"
    wanted = "at least three annotators, or three votes per item"
    raise InputError("panel size", got, wanted, "ask more annotators")


def _cautions(panels: PanelValues, plan: Resampling) -> list[Notice]:
    """Say where panels leave items out, and where fewer were drawn than asked for."""
    made: list[Notice] = []
    if panels.coverage[0] <= 0.95:
        text = (
            "Panels of {size:count} reach {share:percent} of the items on average: for small "
            "panels the spread is also that of the items they happen to rate."
        )
        where = {"size": int(panels.sizes[0]), "share": float(panels.coverage[0])}
        made.append(Notice("panel_coverage", text, (), where))
    drawn = max(one.shape[1] for one in panels.values)
    if drawn == panels.most < plan.replicates:
        made.append(fewer_drawn("panels of a size", plan, drawn))
    return made


def _whole(size: int) -> int:
    return require_whole("panel size", size, least=1, do="try 10")


def analyse(study: Study) -> Finding:
    """Smaller and larger panels of a study."""
    return panel_size(study.predictions, study.annotations, **study.single).report()
