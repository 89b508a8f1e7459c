r"""Panel size: how values and orders change with the number of annotators.

Panels of m = 2, ..., M annotators are drawn without replacement from the M there are, the same
people for all items and tasks, and every model is scored on the labels of each. Where there are
no more subsets than asked for, all are taken; others are drawn as two separate panels at a
time, where two fit. With many items fewer panels are drawn. The mean over panels shows how the
value moves with m;

.. math:: \bar v(m) \approx a + b / m

is fitted to it, so that a is the value with ever more annotators *like these*: the assumption
is that the people are exchangeable and that the effect of noise in the labels falls as 1/m,
which holds for smooth metrics to first order. Its interval is the jackknife over annotators
with the quantile of Student's distribution with M - 1 degrees of freedom: the normal one covers
too rarely. How far the choice of annotators moves a value is told by
`equipoise.study.analyses.components`.

*How many are enough?* As many as it takes that two separate panels, of different people, order
the models with a rank correlation of at least 0.95 on average. No two panels of more than half
of the annotators are separate; whoever needs more than that asks a plan, which counts items
and annotators together (`equipoise.study.planning`).

Examples
--------
>>> from equipoise.datasets.demo import reading_study
>>> from equipoise.study import Settings, Study
>>> readings, scores = reading_study()
>>> curve = panel_size(Study.of(scores, readings, settings=Settings(replicates=50)))
>>> curve.sizes
array([2, 3, 4, 5, 6, 7, 8])
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

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
from equipoise.types import (
    Annotations,
    Cell,
    Column,
    Finding,
    Floats,
    InputError,
    Ints,
    Line,
    Lines,
    Names,
    Notice,
    Table,
    capital,
    count,
    estimate,
    joined,
    largest_by,
    number,
    rows_of,
    short_repr,
    spanned,
)

ROOM = 2**23  # cells of labels held at a time
BUDGET = 2**28  # cells of labels, times models, that are scored in all
MOST_SIZES = 20
MOST_TWINS = 2000  # pairs of separate panels that are compared
FEWEST = 12  # panels of a size that are drawn however many items
KEY, TITLE = "panel_size", "Are there enough annotators?"
DRAWN = 12  # models with a line; all are in the table
CLOSE = 0.95  # rank correlation from which on separate panels count as giving one order
NOTE = (
    "All smaller panels are tried, or a random choice of them. The value at each size is the "
    "mean over panels; that with endlessly many annotators is of a line over 1/m. The order is "
    "compared between two panels of one size that share nobody, because a panel resembles the "
    "whole that it is a part of; how many annotators a study needs beyond half of those it has "
    "is told by a plan, which counts items too. Fewer annotators can also shift a soft metric, "
    "because a coarse mean vote is another label."
)
ORDER_LEGEND = (
    "Spearman of separate panels: mean rank correlation between the orders by two panels "
    "without a common member."
)

Members = NDArray[np.uint8]


@dataclass(frozen=True, eq=False, kw_only=True)
class PanelSize:
    """Every model by the number of annotators.

    Attributes
    ----------
    scorer
        What was scored, and how.
    sizes, subsets, coverage
        How many, how many panels were drawn, and the mean share of items that keep a vote.
    mean
        Mean over the panels drawn, shape (sizes, models).
    separate
        Mean rank correlation between two separate panels of that size; nan where two do not
        fit, (sizes,).
    limit
        The fitted a, and the ends of its interval, shape (3, models).
    """

    scorer: ModelScorer
    sizes: Ints
    subsets: Ints
    coverage: Floats
    mean: Floats
    separate: Floats
    limit: Floats

    __repr__ = short_repr

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def models(self) -> Names:
        """Their names."""
        return self.scorer.models

    @property
    def score(self) -> str:
        """What was scored, as one would say it."""
        return score_title(self.scorer.metric.name, self.scorer.settings.labels)

    @property
    def _order(self) -> Ints:
        """Models by their values on all votes, the best first."""
        good = higher_is_better(self.mean[-1], self.scorer.metric.better)
        return np.argsort(-good, kind="stable")

    @property
    def finding(self) -> str:
        """What came out, and how many annotators are enough, as a sentence or two."""
        best = int(self._order[0])
        limit, low, high = self.limit[:, best].tolist()
        sentence = (
            f"{capital(self.score)} of {self.models[best]} is "
            f"{number(float(self.mean[-1, best]))} with these {count(int(self.sizes[-1]))} "
            f"annotators and would be {estimate(limit, low, high)} with endlessly many like "
            "them."
        )
        endless = np.flatnonzero(np.isinf(self.mean).any(axis=0))
        if len(endless) or np.isnan(limit):
            whose = joined([self.models[m] for m in endless], most=NAMED)
            what = f"infinite for {whose}" if whose else "undefined"
            sentence = f"{capital(self.score)} is {what} with some of the panels."
        return f"{sentence} {self._order_words()}" if len(self.models) > 1 else sentence

    def _order_words(self) -> str:
        """How many are enough for the order of the models, in words."""
        compared = np.flatnonzero(~np.isnan(self.separate))
        if not len(compared):
            return (
                "How many are enough cannot be told: no two separate panels can be compared by "
                f"how they order the {len(self.models)} models."
            )
        close = np.flatnonzero(self.separate >= CLOSE - 1e-12)
        place = close[0] if len(close) else compared[-1]
        near = float(np.floor(round(float(self.separate[place]) * 100, 6)) / 100)  # not up
        enough = "so many are enough" if len(close) else "more are needed"
        return (
            f"Two separate panels of {count(int(self.sizes[place]), 'annotator')} order the "
            f"{len(self.models)} models with a mean rank correlation of {number(near, 2)}; "
            f"{enough}, if that is to be at least {number(CLOSE, 2)}."
        )

    def rows(self) -> list[dict[str, Cell]]:
        """One plain dict per size and model."""
        scorer = self.scorer
        return rows_of(
            {
                "task": scorer.task,
                "metric": scorer.metric.name,
                "labels": scorer.settings.labels,
            },
            {"size": self.sizes.tolist(), "model": self.models},
            {
                "subsets": self.subsets,
                "coverage": self.coverage,
                "model": None,
                "mean": self.mean,
                "separate": self.separate,
                **ends_of("limit", self.limit[:1], (self.limit[1:2], self.limit[2:])),
            },
        )

    def report(self) -> Finding:
        """The finding for every surface."""
        rows, several = self.rows(), len(self.models) > 1
        order = Column("separate", "Spearman of separate panels", "number")
        table = Table(
            name=KEY,
            caption=f"{capital(self.score)} by number of annotators",
            columns=(
                Column("size", "annotators", "count"),
                Column("coverage", "items reached", "percent"),
                Column("model", "model", "model"),
                Column("mean", self.score, "number"),
                *([order] if several else []),
                spanned("limit", "endlessly many", brief=False),
            ),
            rows=rows,
            brief=largest_by(rows, "size", "mean"),
            legend=ORDER_LEGEND if several else "",
        )
        bounded = not np.isnan(self.limit[1]).all()
        methods = f"{scored_again(self.models)} on the labels of smaller panels"
        if not np.isnan(self.separate).all():
            methods += ", and the orders by separate panels compared by rank correlation"
        if bounded:
            how = "a jackknife interval over annotators with Student's quantile"
            methods += f"; the limit for ever larger ones has {how} [@efron1993]"
        return Finding(
            key=KEY,
            title=TITLE,
            sentence=self.finding,
            tables=(table,),
            charts=(self._chart(),),
            note=NOTE,
            methods=f"{methods}.",
            references=("efron1993",) if bounded else (),
            notices=(*self.scorer.notices, *self._cautions()),
        )

    def _chart(self) -> Lines:
        """Value by size."""
        sizes, lines = self.sizes.astype(float), []
        for m in self._order[:DRAWN]:
            points = np.stack([sizes, self.mean[:, m]], axis=1).tolist()
            lines.append(Line(self.models[m], points, model=self.models[m]))
        score = capital(self.score)
        return Lines(
            name="panel-size",
            caption=f"{score} by number of annotators",
            alternative=f"{score} for {self.sizes[0]} to {self.sizes[-1]} annotators.",
            x="number of annotators",
            y=self.score,
            lines=lines,
            ticks=[(x, f"{x:g}") for x in sizes.tolist()] if len(sizes) <= DRAWN else (),
        )

    def _cautions(self) -> Iterator[Notice]:
        """Say where panels leave items out, and where fewer were drawn than asked for."""
        if self.coverage[0] <= 0.95:
            text = (
                "Panels of {size:count} reach {share:percent} of the items on average: values "
                "of small panels are those of the items they happen to rate."
            )
            where = {"size": int(self.sizes[0]), "share": float(self.coverage[0])}
            yield Notice("panel_coverage", text, (), where)
        plan, drawn = self.scorer.plan, int(self.subsets.max())
        if drawn == _affordable(self.scorer, len(self.sizes)) < plan.replicates:
            text = (
                "For {items:count} items {drawn:count} panels of a size are drawn instead of "
                "{asked:count}, to keep the time in bounds."
            )
            values = {"items": len(plan.items), "drawn": drawn, "asked": plan.replicates}
            yield Notice("fewer_panels", text, (), values)


@np.errstate(invalid="ignore")  # of two infinite values: undefined
def panel_size(study: Study) -> PanelSize:
    """Score every model on the labels of smaller panels.

    Parameters
    ----------
    study
        Models by the first metric, and votes of at least three annotators; replicates are
        subsets per size.
    """
    scorer = scorer_of(study)
    people, active = _voters(scorer, study.annotations)
    sizes = _some_sizes(len(active))
    most = _affordable(scorer, len(sizes))
    members = [_chosen(int(size), active, people, scorer.plan, most) for size in sizes]
    scored, seen = _panel_values(scorer, np.concatenate(members, axis=1), people)
    ends = np.cumsum([panels.shape[1] for panels in members])[:-1]
    values, coverage = np.split(scored, ends, axis=1), np.split(seen, ends)
    mean = np.stack([size_values.mean(axis=1) for size_values in values])
    limit = fitted(sizes, mean)
    return PanelSize(
        scorer=scorer,
        sizes=sizes,
        subsets=np.array([panels.shape[1] for panels in members]),
        coverage=np.array([reached.mean() for reached in coverage]),
        mean=mean,
        separate=np.array(
            [_separate_correlation(*pair) for pair in zip(values, members, strict=True)]
        ),
        limit=np.stack([limit, *_limit_ends(limit, sizes, values, members, active, scorer)]),
    )


def _affordable(scorer: ModelScorer, sizes: int) -> int:
    """How many panels of a size are drawn: as many as asked for, fewer if they are large."""
    return min(scorer.plan.replicates, max(FEWEST, BUDGET // (scorer.cells * sizes)))


def _voters(scorer: ModelScorer, annotations: Annotations) -> tuple[int, Ints]:
    """How many annotators there are, and the codes of those who voted."""
    got = "anonymous votes"
    if annotations.annotators is not None:
        people = len(annotations.annotators)
        active = np.flatnonzero(scorer.votes_given(people))
        if len(active) >= 3:
            return people, active
        got = count(len(active), "annotator")
    raise InputError("panel size", got, "at least three annotators", "ask more annotators")


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
    members = np.zeros((people, who.shape[1]), dtype=np.uint8)
    np.put_along_axis(members, who, 1, axis=0)
    return members


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


def _separate_correlation(values: Floats, members: Members) -> float:
    """Mean rank correlation of pairs of panels without a common member; nan without any."""
    if len(values) < 2:
        return float("nan")
    common = members.T.astype(np.float32) @ members.astype(np.float32)
    first, two = np.nonzero(np.triu(common == 0))
    if len(first) > MOST_TWINS:
        some = np.linspace(0, len(first) - 1, MOST_TWINS).astype(np.int64)
        first, two = first[some], two[some]
    near = np.atleast_1d(spearman(values[:, first], values[:, two]))
    defined = near[~np.isnan(near)]
    return float(defined.mean()) if len(defined) else float("nan")


def fitted(sizes: Ints, mean: Floats) -> Floats:
    """Least squares of a + b/m to means (sizes, ...): a; undefined for one size."""
    if len(sizes) < 2:
        return np.full(mean.shape[1:], np.nan)
    x = 1 / sizes - (1 / sizes).mean()
    slope = np.tensordot(x, mean, axes=1) / (x @ x)
    return np.asarray(mean.mean(axis=0) - slope * (1 / sizes).mean())


def _limit_ends(
    limit: Floats,
    sizes: Ints,
    values: Sequence[Floats],
    members: Sequence[Members],
    active: Ints,
    scorer: ModelScorer,
) -> Floats:
    """Interval of a by the jackknife: by panels without each annotator, shape (2, models)."""
    without = []
    for person in active:
        left = [np.flatnonzero(panels[person] == 0) for panels in members]
        usable = [s for s, rows in enumerate(left) if len(rows)]
        if len(usable) < 2:
            return np.full((2, len(limit)), np.nan)
        means = [values[s][:, left[s]].mean(axis=1) for s in usable]
        without.append(fitted(sizes[usable], np.stack(means)))
    folds = len(without)
    gap = np.stack(without) - np.mean(without, axis=0)
    times = quantile(scorer.settings.level, folds - 1)
    half = times * np.sqrt((folds - 1) / folds * (gap**2).sum(axis=0))
    return np.asarray(np.clip(np.stack([limit - half, limit + half]), *scorer.metric.bounds))


def quantile(level: float, degrees: float) -> float:
    """Two-sided quantile of Student's distribution.

    Examples
    --------
    >>> quantile(0.95, 7)
    2.364...
    """
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.5 + level / 2))


def analyse(study: Study) -> Finding:
    """Smaller panels of a study."""
    return panel_size(study).report()
