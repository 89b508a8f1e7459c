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
is the quantile of Student's distribution with M - 1 degrees of freedom.

*How many are enough?* As many as it takes that two separate panels, of different people, order
the models with a rank correlation of at least 0.95 on average. Where no two panels that large
fit into the M there are, the Spearman-Brown formula extrapolates from the largest two that do.
Few annotators tell that correlation badly: the number comes with the range that its jackknife
interval allows, without an upper end where that includes zero.

*Panels.* Annotators are drawn without replacement, the same people for all items and tasks;
when there are no more subsets than asked for, all are taken; others are drawn as two separate
panels at a time, where two fit. With many items fewer panels are drawn, so that the time stays
in bounds; each is scored once.

*Curves.* Of a + b/m, and of a variance that falls as 1/m. A spread that is estimated from A
annotators has A - 1 degrees of freedom: intervals take Student's quantile, not the normal one,
which would cover too rarely.

*Folds.* The intervals of a and of the mean rank correlation r of two separate panels leave out
one after the other: annotators (for r groups of them where there are more than ten, and the
others are halved in the same random order as without leaving out, so that only who is missing
makes a difference), with all tasks. What a fold says of r is brought to one size of panels by
the Spearman-Brown formula; its jackknife spread on Fisher's scale, atanh r, and Student's
quantile for so many folds give the ends.

Examples
--------
>>> from equipoise.datasets.demo import reading_study
>>> from equipoise.study import Settings, Study
>>> readings, scores = reading_study()
>>> curve = panel_size(Study.of(scores, readings, settings=Settings(replicates=50)))
>>> curve.sizes
array([2, 3, 4, 5, 6, 7, 8])
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil, comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.inference.ranks import higher_is_better, spearman
from equipoise.inference.resampling import Resampling
from equipoise.study.analyses.scoring import (
    ModelScorer,
    freeze,
    mean_over_tasks,
    scorer_of,
)
from equipoise.study.analyses.words import NAMED, ends_of, score_title, scored_again
from equipoise.study.study import Study
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import (
    Floats,
    InputError,
    Ints,
    short_repr,
)
from equipoise.types.findings import (
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

ROOM = 2**23  # cells of labels held at a time
BUDGET = 2**28  # cells of labels, times models, that are scored in all
MOST_SIZES = 20
MOST_TWINS = 2000  # pairs of separate panels that are compared
LEAST_ROOM = 0.05  # share of a fresh panel's variance below which subsets say too little
FOLDS = 10
HALVINGS = 200  # of the annotators beside a fold
FEWEST = 12  # panels of a size, or halvings of a fold, that are drawn however many items
NEAR = 0.999  # largest correlation on Fisher's scale

Members = NDArray[np.uint8]


class PanelValues(NamedTuple):
    """Values of every model by size of the panel.

    Attributes
    ----------
    sizes, coverage
        Numbers of annotators, rising, and the mean share of items that
        keep a vote, (sizes,).
    values
        For each size the values, (models, subsets).
    room
        What part of the variance of a fresh panel subsets of this one show, (sizes,).
    twins
        For each size the values of separate panels, (2, models, pairs); no pairs where two
        do not fit.
    degrees
        Degrees of freedom of a spread over panels.
    limits
        The limit a, some left out in turn, (folds, models); no folds where it has none.
    folds, fold_size
        Mean correlation of separate panels of this size, some left out in turn, (folds,).
    most
        How many panels of a size were drawn at most.
    """

    sizes: Ints
    coverage: Floats
    values: list[Floats]
    room: Floats
    twins: list[Floats]
    degrees: float
    limits: Floats
    folds: Floats
    fold_size: int
    most: int

    def half_widths(self, spread: Floats, times: float) -> tuple[Floats, Floats]:
        """Fitted variance of one annotator (models,), half-width by size (sizes, models)."""
        usable = np.flatnonzero(self.room > LEAST_ROOM)
        if not len(usable):
            return np.full(spread.shape[1], np.nan), np.full(spread.shape, np.nan)
        fresh = spread[usable] ** 2 / self.room[usable, None]
        variance = (fresh * self.sizes[usable, None]).mean(axis=0)
        half = np.sqrt(variance / self.sizes[:, None])
        half[usable] = np.sqrt(fresh)
        return variance, np.asarray(times * half)

    def limit_ends(self, limit: Floats, scorer: ModelScorer) -> Floats:
        """Interval of a by the jackknife, shape (2, models)."""
        folds = len(self.limits)
        if folds < 2:
            return np.full((2, len(limit)), np.nan)
        gap = self.limits - self.limits.mean(axis=0)
        times = quantile(scorer.settings.level, folds - 1)
        half = times * np.sqrt((folds - 1) / folds * (gap**2).sum(axis=0))
        return np.asarray(
            np.clip(np.stack([limit - half, limit + half]), *scorer.metric.bounds)
        )

    def between_separate(self) -> Floats:
        """Mean rank correlation of separate panels, over the pairs that have one, (sizes,)."""
        if len(self.values[0]) < 2:
            return np.full(len(self.sizes), np.nan)
        return np.array([_mean_correlation(first, two) for first, two in self.twins])

    def separate_ends(self, separate: Floats, level: float) -> tuple[float, float]:
        """Interval of the last correlation of separate panels that is known."""
        defined = np.flatnonzero(~np.isnan(separate))
        if not len(defined) or len(self.folds) < 2:
            return float("nan"), float("nan")
        last = int(defined[-1])
        times = float(self.sizes[last] / self.fold_size)
        student = quantile(level, len(self.folds) - 1)
        return correlation_ends(float(separate[last]), self.folds, times, student)


def _some_sizes(most: int) -> Ints:
    """Sizes from 2 to the most, all of them or about twenty.

    Examples
    --------
    >>> _some_sizes(5)
    array([2, 3, 4, 5])
    """
    if most <= MOST_SIZES + 1:
        return np.arange(2, most + 1)
    return np.unique(np.geomspace(2, most, MOST_SIZES).round().astype(np.int64))


def _affordable(scorer: ModelScorer, times: int, most: int) -> int:
    """How many panels may be scored, each so many times: at most so many, fewer if large."""
    return min(most, max(FEWEST, BUDGET // (scorer.cells * times)))


def smaller_panels(scorer: ModelScorer, active: Ints, people: int) -> PanelValues:
    """Score all models on the labels of smaller panels of `people`, who are `active`."""
    sizes = _some_sizes(len(active))
    most = _affordable(scorer, len(sizes), scorer.plan.replicates)
    chosen = [_chosen(int(size), active, people, scorer.plan, most) for size in sizes]
    halves, fold_size = _halved_folds(scorer, active, people)
    memberships = [*chosen, *halves]
    unlike, place = np.unique(np.concatenate(memberships, axis=1), axis=1, return_inverse=True)
    scored, seen = _panel_values(scorer, np.ascontiguousarray(unlike), people)
    spans = np.split(
        place.ravel(), np.cumsum([members.shape[1] for members in memberships])[:-1]
    )
    values = [scored[:, span] for span in spans[: len(sizes)]]
    ends = [scored[:, span] for span in spans[len(sizes) :]]
    return PanelValues(
        sizes=sizes,
        coverage=np.array([seen[span].mean() for span in spans[: len(sizes)]]),
        values=values,
        room=1 - sizes / len(active),
        twins=[
            _separate(size_values, who) for size_values, who in zip(values, chosen, strict=True)
        ],
        degrees=len(active) - 1,
        limits=_limits_without(sizes, values, [members[active] for members in chosen]),
        folds=np.array(
            [_mean_correlation(*np.split(halves_of_fold, 2, axis=1)) for halves_of_fold in ends]
        ),
        fold_size=fold_size,
        most=most,
    )


def _panel_values(scorer: ModelScorer, members: Members, people: int) -> tuple[Floats, Floats]:
    """Values (models, panels), averaged over tasks, and the share of items with a vote."""
    parts, seen = [], []
    for task in scorer.subjects:
        panel = task.panel(people)
        width = max(1, ROOM // (len(task.question.items) * len(task.question.classes)))
        done, present = [], []
        for first in range(0, members.shape[1], width):
            shares, voted = panel.shares(members[:, first : first + width])
            done.append(task.scored(shares, voted))
            present.append(voted.mean(axis=0))
            scorer.tell(min(first + width, members.shape[1]), members.shape[1])
        parts.append(np.concatenate(done, axis=1))
        seen.append(np.concatenate(present))
    return mean_over_tasks(parts), np.mean(seen, axis=0)


def _separate(values: Floats, members: Members) -> Floats:
    """Values of pairs of panels without a common member, (2, models, pairs)."""
    common = members.T.astype(np.float32) @ members.astype(np.float32)
    first, two = np.nonzero(np.triu(common == 0))
    if len(first) > MOST_TWINS:
        some = np.linspace(0, len(first) - 1, MOST_TWINS).astype(np.int64)
        first, two = first[some], two[some]
    return np.stack([values[:, first], values[:, two]])


def _chosen(size: int, active: Ints, people: int, plan: Resampling, most: int) -> Members:
    """Who belongs to which subset, shape (annotators, subsets)."""
    if comb(len(active), size) <= most:
        who = np.array(list(combinations(active, size))).T
    else:
        random = np.random.default_rng(int(plan.key(f"panel size/{size}")))
        fit = 2 if 2 * size <= len(active) else 1
        order = np.argsort(random.random((len(active), -(-most // fit))), axis=0)
        places = [order[k * size : (k + 1) * size] for k in range(fit)]
        who = active[np.concatenate(places, axis=1)[:, :most]]
    return _members(who, people)


def _halved_folds(scorer: ModelScorer, active: Ints, people: int) -> tuple[list[Members], int]:
    """For each fold both halves of who is left, one after the other, and the halves' size."""
    groups = np.arange(len(active)) % min(FOLDS, len(active))
    size = (len(active) - int(np.bincount(groups).max())) // 2
    if size < 1 or len(scorer.models) < 2:
        return [], size
    unlike = comb(len(active), size)  # panels, each scored once
    folds = int(groups.max()) + 1
    number = HALVINGS if unlike <= HALVINGS else _affordable(scorer, 2 * folds, HALVINGS)
    random = np.random.default_rng(int(scorer.plan.key("halved panels")))
    order = np.argsort(random.random((len(active), number)), axis=0)
    memberships = []
    for fold in range(folds):
        left = order.T[(groups[order] != fold).T].reshape(number, -1).T
        halves = [active[left[k * size : (k + 1) * size]] for k in range(2)]
        memberships.append(np.concatenate([_members(who, people) for who in halves], axis=1))
    return memberships, size


def _members(who: Ints, people: int) -> Members:
    """Panels by the codes of their members, as (annotators, panels)."""
    out = np.zeros((people, who.shape[1]), dtype=np.uint8)
    np.put_along_axis(out, who, 1, axis=0)
    return out


def _limits_without(
    sizes: Ints, values: Sequence[Floats], members: Sequence[Members]
) -> Floats:
    """The limit by panels without each annotator, (annotators, models)."""
    without = []
    for person in range(len(members[0])):
        left = [np.flatnonzero(panel_members[person] == 0) for panel_members in members]
        usable = [s for s, rows in enumerate(left) if len(rows)]
        if len(usable) < 2:
            return np.empty((0, len(values[0])))
        means = [values[s][:, left[s]].mean(axis=1) for s in usable]
        without.append(fitted(sizes[usable], np.stack(means))[0])
    return np.stack(without)


def fitted(sizes: Ints, mean: Floats) -> tuple[Floats, Floats]:
    """Least squares of a + b/m to means (sizes, ...): a and b; undefined for one size."""
    if len(sizes) < 2:
        return np.full(mean.shape[1:], np.nan), np.full(mean.shape[1:], np.nan)
    x = 1 / sizes - (1 / sizes).mean()
    slope = np.tensordot(x, mean, axes=1) / (x @ x)
    return np.asarray(mean.mean(axis=0) - slope * (1 / sizes).mean()), np.asarray(slope)


def quantile(level: float, degrees: float) -> float:
    """Two-sided quantile of Student's distribution.

    Examples
    --------
    >>> quantile(0.95, 7)
    2.364...
    """
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.5 + level / 2))


def _mean_correlation(first: Floats, two: Floats) -> float:
    """Mean rank correlation of two sets of values (models, panels); nan where none has one."""
    near = np.atleast_1d(spearman(first, two))
    defined = near[~np.isnan(near)]
    return float(defined.mean()) if len(defined) else float("nan")


def correlation_ends(
    value: float, folds: Floats, times: float, quantile: float
) -> tuple[float, float]:
    """Interval of a mean correlation by its jackknife folds; nan where one is undefined.

    Parameters
    ----------
    value
        The correlation of panels that are `times` as large as those of the folds.
    quantile
        Two-sided quantile of Student's distribution.

    Examples
    --------
    >>> correlation_ends(0.8, np.array([0.79, 0.8, 0.82]), 1.0, 2.0)
    (0.76..., 0.83...)
    """
    if len(folds) < 2 or np.isnan(value) or np.isnan(folds).any():
        return float("nan"), float("nan")
    larger = times * folds / np.maximum(1 + (times - 1) * folds, 1e-9)
    on_scale = np.arctanh(np.clip(larger, -NEAR, NEAR))
    number = len(folds)
    spread = np.sqrt((number - 1) / number * ((on_scale - on_scale.mean()) ** 2).sum())
    middle = np.arctanh(np.clip(value, -NEAR, NEAR))
    low, high = (float(np.tanh(middle + side * quantile * spread)) for side in (-1, 1))
    return min(low, value), max(high, value)


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


Range = tuple[int, int | None]  # how many may be enough: from, and to where that can be told


@dataclass(frozen=True, eq=False, kw_only=True)
class PanelSize:
    """Every model by the number of annotators.

    Attributes
    ----------
    task, metric, labels, better, models, level
        What was scored, whether ``higher`` or ``lower`` is better, and the level of intervals.
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
    notices
        What the user should know.
    """

    task: str
    metric: str
    labels: str
    better: str
    models: tuple[str, ...]
    level: float
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
    notices: tuple[Notice, ...] = ()

    __repr__ = short_repr

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def score(self) -> str:
        """What was scored, as one would say it."""
        return score_title(self.metric, self.labels)

    @property
    def _times(self) -> float:
        return quantile(self.level, self.degrees)

    @property
    def enough_for_width(self) -> int | None:
        """Fewest annotators for which every model's half-width is narrow enough.

        Beyond the panel it is an extrapolation; None when the variance is undefined.
        """
        worst = float(self.variance.max())
        if np.isnan(worst):
            return None
        return max(2, ceil(round(worst * (self._times / NARROW) ** 2, 9)))

    @property
    def enough_for_order(self) -> int | None:
        """Fewest annotators with which separate panels agree closely on the order of models.

        Beyond half of the panel it is an extrapolation (Spearman-Brown). None when no two
        panels can be compared, or when they do not agree at all.
        """
        compared = self._compared
        if not len(compared):
            return None
        reached = compared[self.separate[compared] >= CLOSE - 1e-12]
        if len(reached):
            return int(self.sizes[reached[0]])
        return prophecy(
            int(self.sizes[compared[-1]]), float(self.separate[compared[-1]]), CLOSE
        )

    @property
    def range_for_order(self) -> Range | None:
        """From how many to how many annotators may be enough for such an order.

        It has no upper end where separate panels may not agree at all, and is None where
        nothing is known of how well they agree, or where some size was seen to be enough.
        """
        sizes, enough = self.sizes[self._compared], self.enough_for_order
        if not len(sizes) or (enough is not None and enough <= sizes[-1]):
            return None
        ends = (self.separate_high, self.separate_low)
        least, most = (prophecy(int(sizes[-1]), end, CLOSE) for end in ends)
        return None if least is None else (max(2, least), most)

    @property
    def _compared(self) -> Ints:
        """Places of the sizes of which two separate panels were compared."""
        return np.flatnonzero(~np.isnan(self.separate))

    @property
    def finding(self) -> str:
        """What came out, and how many annotators are enough, as a sentence or two."""
        width, most = float(self.half_width[-1].max()), int(self.sizes[-1])
        sentence = (
            f"With {count(most, 'annotator')} the half-width of {self.score} that is due to "
            f"them is at most {number(width)}."
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
        enough = self.enough_for_width
        if enough is None:
            return "How many are enough cannot be told."
        about = self._about(enough, int(self.sizes[-1]), self._width_range(enough))
        return f"For a half-width of {number(NARROW, 2)}, {about}."

    def _width_range(self, enough: int) -> Range:
        """How many annotators a half-width needs, as their variance is known from so few."""
        from scipy.special import chdtri

        tails = ((1 - self.level) / 2, (1 + self.level) / 2)
        ends = (enough * self.degrees / float(chdtri(self.degrees, tail)) for tail in tails)
        low, high = (max(2, ceil(round(end, 9))) for end in ends)
        return low, high

    def _order_words(self) -> str:
        """How many are enough for the order of the models, in words."""
        compared, models = self._compared, len(self.models)
        if not len(compared):
            return (
                "How many are enough cannot be told: no two separate panels can be compared by "
                f"how they order the {models} models."
            )
        enough, last = self.enough_for_order, int(compared[-1])
        if enough is not None and enough <= self.sizes[last]:
            last = int(np.flatnonzero(self.sizes == enough)[0])
        size = int(self.sizes[last])
        near = np.floor(round(float(self.separate[last]) * 100, 6)) / 100  # never rounded up
        seen = (
            f"Two separate panels of {count(size, 'annotator')} order the {models} models "
            f"with a mean rank correlation of {number(float(near), 2)}"
        )
        if enough is None:
            return f"{seen}: how many are enough cannot be told."
        if enough == size:
            return f"{seen}; so many are enough, if that is to be at least {number(CLOSE, 2)}."
        about = self._about(enough, size, self.range_for_order)
        return f"{seen}; if that is to be at least {number(CLOSE, 2)}, {about}."

    def _about(self, enough: int, most: int, span: Range | None) -> str:
        """A number that may be an extrapolation, with its range, and that it is enough."""
        if enough <= most:
            return f"{count(enough, 'annotator')} are enough"
        words, far = f"about {count(enough, 'annotator')}", max(FAR, most)
        if enough > far:
            words = f"more than {count(far, 'annotator')}"
        if span is None:
            return f"{words} would be enough (extrapolated)"
        low, high = span
        ends = f"{count(low)} or more"
        if high is not None and high <= far:
            ends = f"{count(low)} to {count(high)}"
        return f"{words} ({ends}) would be enough (extrapolated)"

    def rows(self) -> list[dict[str, Cell]]:
        """One plain dict per size and model."""
        return rows_of(
            {"task": self.task, "metric": self.metric, "labels": self.labels},
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
                **ends_of(
                    "limit", self.limit[None], (self.limit_low[None], self.limit_high[None])
                ),
            },
        )

    def report(self) -> Finding:
        """The finding for every surface."""
        rows, single_model, ends = (
            self.rows(),
            len(self.models) == 1,
            ("limit_low", "limit_high"),
        )
        columns = (
            Column("size", "annotators", "count"),
            Column("coverage", "items reached", "percent"),
            Column("model", "model", "model", brief=False),
            Column("mean", self.score, "number", brief=False),
            Column("half_width", "half-width", "number"),
            Column("separate", "Spearman of separate panels", "number"),
            Column("limit", "endlessly many", "number", ends, brief=False),
        )
        table = Table(
            name="panel_size",
            caption=f"{capital(self.score)} by number of annotators",
            columns=[c for c in columns if not (single_model and c.key == "separate")],
            rows=rows,
            brief=largest_by(rows, "size", "half_width"),
            legend=WIDTH_LEGEND if single_model else f"{ORDER_LEGEND} {WIDTH_LEGEND}",
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
            band = () if values else tuple(ends)
            points = list(zip(sizes, mean.tolist(), strict=True))
            beyond = [(float(n), float(self.limit[m] + self.slope[m] / n)) for n in more]
            values.append(Line(name, points, model=name, band=band, beyond=beyond))
            points = list(zip(sizes, half.tolist(), strict=True))
            beyond = [(float(n), float(half[-1] * (last / n) ** 0.5)) for n in more]
            widths.append(Line(name, points, model=name, beyond=beyond))
        ticks = _ticks([int(size) for size in self.sizes], more)
        span = f"for {self.sizes[0]} to {last} annotators, and extrapolated beyond."
        axis, score = "number of annotators", capital(self.score)
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
        text = f"{scored_again(self.models)} on the labels of smaller panels"
        sizes = self.sizes[self._compared]
        if len(sizes):
            text += (
                ", and the orders by separate parts of the votes compared by rank correlation"
            )
            enough = self.enough_for_order
            if enough is not None and enough > sizes[-1]:
                keys += ["spearman1910", "brown1910"]
                text += (
                    ", extrapolated to larger ones by the Spearman-Brown formula "
                    "[@spearman1910; @brown1910]"
                )
                if not np.isnan(self.separate_low):
                    text += " with the range of a jackknife interval"
        if not np.isnan(self.limit_low).all():
            keys.append("efron1993")
            how = "a jackknife interval over annotators with Student's quantile"
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


def _ticks(sizes: Sequence[int], more: Sequence[int]) -> list[tuple[float, str]]:
    """Sizes to write under a chart, as many as have room.

    Examples
    --------
    >>> [words for _, words in _ticks([2, 3, 4, 30], [37, 45, 52, 60])]
    ['2', '30', '37', '45', '52', '60']
    """
    all_sizes = [*sizes, *more]
    room = (all_sizes[-1] - all_sizes[0]) / TICKS
    ticks = all_sizes[:1]
    for size in all_sizes:
        if size - ticks[-1] >= room - 1e-9 or size == sizes[-1]:
            ticks.append(size)
    return [(float(size), str(size)) for size in dict.fromkeys(ticks)]


@np.errstate(invalid="ignore")  # of two infinite values: undefined
def panel_size(study: Study) -> PanelSize:
    """Score every model on the labels of smaller panels, and extrapolate to larger ones.

    Parameters
    ----------
    study
        Models by the first metric, and votes of at least three annotators; replicates are
        subsets per size.
    """
    scorer = scorer_of(study)
    panels = _panels(scorer, study.annotations)
    mean = np.stack([size_values.mean(axis=1) for size_values in panels.values])
    spread = np.stack([size_values.std(axis=1) for size_values in panels.values])
    times = quantile(scorer.settings.level, panels.degrees)
    variance, half = panels.half_widths(spread, times)
    limit, slope = fitted(panels.sizes, mean)
    separate = panels.between_separate()
    return PanelSize(
        **scorer.facts,
        degrees=panels.degrees,
        sizes=panels.sizes,
        subsets=np.array([size_values.shape[1] for size_values in panels.values]),
        coverage=panels.coverage,
        mean=mean,
        spread=spread,
        half_width=half,
        **ends_of("separate", separate, panels.separate_ends(separate, scorer.settings.level)),
        **ends_of("limit", limit, panels.limit_ends(limit, scorer)),
        slope=slope,
        variance=variance,
        notices=(*scorer.notices, *_cautions(panels, scorer.plan)),
    )


def _panels(scorer: ModelScorer, annotations: Annotations) -> PanelValues:
    got = "anonymous votes"
    if annotations.annotators is not None:
        people = len(annotations.annotators)
        active = np.flatnonzero(scorer.votes_given(people))
        if len(active) >= 3:
            return smaller_panels(scorer, active, people)
        got = count(len(active), "annotator")
    raise InputError("panel size", got, "at least three annotators", "ask more annotators")


def _cautions(panels: PanelValues, plan: Resampling) -> list[Notice]:
    """Say where panels leave items out, and where fewer were drawn than asked for."""
    notices: list[Notice] = []
    if panels.coverage[0] <= 0.95:
        text = (
            "Panels of {size:count} reach {share:percent} of the items on average: for small "
            "panels the spread is also that of the items they happen to rate."
        )
        where = {"size": int(panels.sizes[0]), "share": float(panels.coverage[0])}
        notices.append(Notice("panel_coverage", text, (), where))
    drawn = max(size_values.shape[1] for size_values in panels.values)
    if drawn == panels.most < plan.replicates:
        text = (
            "For {items:count} items {drawn:count} panels of a size are drawn instead of "
            "{asked:count}, to keep the time in bounds."
        )
        values = {"items": len(plan.items), "drawn": drawn, "asked": plan.replicates}
        notices.append(Notice("fewer_panels", text, (), values))
    return notices


def analyse(study: Study) -> Finding:
    """Smaller and larger panels of a study."""
    return panel_size(study).report()
