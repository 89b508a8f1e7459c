r"""Variance components: how much of a result's spread comes from where, as parts that add up.

A study of n items and A annotators varies by items/n + annotators/A + votes/(nA). For each
model's value, and for the difference of the two best models, replicates that resample only one
thing show items with the noise of their votes, annotators with the noise of their votes, or the
votes of each item alone. The noise of votes is taken off the first two and counted once
(`equipoise.analyses.components.variances`); the total is what a fresh study of the same size
would vary by.

Intervals are chi-square with
:math:`1/\nu = 1/\nu_{\text{units}} + 1/(\text{replicates} - 1)`. For items and votes
:math:`\nu_{\text{units}}` allows for single items that matter much more than others
(`equipoise.analyses.components.influences`); annotators have their effective number less one,
so that eight of them give a wide interval however many replicates there are.

A source counts as moving a result less than the largest when its interval lies wholly below
that of the largest; the others are named without an order.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite, isnan, nan, sqrt
from typing import Any, NamedTuple, Unpack

import numpy as np

from equipoise.analyses.components.influences import Influences, Places, gap_of
from equipoise.analyses.components.variances import (
    SOURCES,
    chi_square,
    split,
    variance_of,
)
from equipoise.analyses.options import (
    USUAL,
    ResamplingKeywords,
    ResamplingOptions,
    checked_options,
)
from equipoise.analyses.resampling import evaluate_resampled, possible_kinds, voting
from equipoise.analyses.study import Study
from equipoise.analyses.words import as_notices, score_title
from equipoise.annotations import Annotations
from equipoise.arrays import InputError, choice, require_whole
from equipoise.evaluation import LABELS, MACRO, Evaluation
from equipoise.evaluation.arguments import as_annotations, as_metrics, as_predictions
from equipoise.evaluation.truth import TaskTruth
from equipoise.findings import Column, Dot, Dots, Finding, Table
from equipoise.metrics import Metric
from equipoise.notices import Notice
from equipoise.numbers import count, percent, significant
from equipoise.predictions import Predictions
from equipoise.ranks import higher_is_better
from equipoise.wording import capital, joined

TITLE = "Where does the uncertainty come from?"
TOTAL = "total"
NOTE = (
    "The standard deviation that each source alone would cause: other items, other "
    "annotators, or other votes of the same annotators. Their variances (not their standard "
    "deviations) add up to the total, by which a fresh study of the same size would vary: "
    "resampled items and annotators bring the noise of votes along, which is taken off and "
    "counted once, as votes. A source that moves a result no more than votes alone do has "
    "none. Lines are intervals; where two overlap, which source is the larger is open. With "
    "several tasks everything is about the average over them, and each resample takes the same "
    "items and annotators in all. The axis is logarithmic: equal steps are equal factors."
)
LEGEND = (
    "Standard deviation: of the result by that source alone; the noise of votes is taken off "
    "items and annotators and counted once. Shares are of the variance and add up to the "
    "total."
)
COLUMNS = (
    Column("task", "task", brief=False),
    Column("result", "result"),
    Column("source", "source"),
    Column(
        "deviation",
        "standard deviation [interval]",
        "figures",
        ("deviation_low", "deviation_high"),
    ),
    Column("share", "share of total variance", "percent"),
)
OVER_TASKS = Notice(
    "components_over_tasks",
    "With several tasks the result is the average over them. Each resample takes the same "
    "items and the same annotators in all tasks, so what tasks share does not average out; "
    "votes are resampled in every task by themselves, so noise that the votes of a person "
    "share across tasks counts as of items and annotators.",
)
ADD_UP = (
    "{total} add up to the total: how much a fresh study of the same size would vary. "
    "Resampling {drawn} each brings the noise of votes along; it is taken off there and "
    "counted once, as votes."
)
NO_ITEMS = Notice("no_total", "Items cannot be resampled, so there is no total.")
NO_VOTES = "Votes cannot be told apart: what they cause is in {drawn}, and there is no total."
BELOW = (
    "A source that moves a result no more than votes alone do comes out below 0 and is shown "
    "as 0 (results: {results})."
)
SINGLE = (
    "{items:count} items with a single vote: what that vote causes cannot be told from what "
    "the item causes."
)


class Component(NamedTuple):
    """One part of the variance of one result.

    `result` is a model, or ``a - b`` for the two best; `freedom` the degrees of freedom of the
    interval, nan for a difference of variances; `share` the part of the total, nan without one.
    """

    task: str
    result: str
    source: str
    variance: float
    low: float
    high: float
    deviation: float
    share: float
    freedom: float

    @property
    def ends(self) -> tuple[float, float]:
        """Interval of the standard deviation."""
        low, high = (sqrt(max(one, 0)) if isfinite(one) else one for one in self[4:6])
        return low, high


class ComponentKeywords(ResamplingKeywords, total=False):
    """Keywords of `variance_components`."""

    labels: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Components(ResamplingOptions):
    labels: str = "soft"

    def __post_init__(self) -> None:
        ResamplingOptions.__post_init__(self)
        choice("components, labels", self.labels, LABELS)
        require_whole("replicates", self.replicates, least=2, do=USUAL)


@dataclass(frozen=True, slots=True)
class Components:
    """What `variance_components` returns.

    Attributes
    ----------
    metric, labels, level, models
        What was asked, and the models in their order.
    total
        What the total is the sum of, such as ``items, annotators and votes``; empty when
        there is none.
    parts
        All components.
    notices
        What the user should know, one sentence each.
    """

    metric: str
    labels: str
    level: float
    models: tuple[str, ...]
    total: str
    parts: tuple[Component, ...]
    notices: tuple[Notice, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """One row per task, result and source."""
        asked = {"metric": self.metric, "labels": self.labels}
        names = ("deviation_low", "deviation_high")
        return [
            asked | part._asdict() | dict(zip(names, part.ends, strict=True))
            for part in self.parts
        ]

    @property
    def _what(self) -> str:
        return score_title(self.metric, self.labels, self.parts[-1].task)

    def _of(self, result: str) -> list[Component]:
        """All sources of one result of the last task."""
        task = self.parts[-1].task
        return [part for part in self.parts if (part.task, part.result) == (task, result)]

    @property
    def finding(self) -> str:
        """What moves the difference of the two best models most, in one sentence."""
        result, what = self.parts[-1].result, self._what
        alone = result in self.models
        if alone and len(self.models) > 1:
            return f"What moves {what} cannot be told: it is undefined for some model."
        sources = [part for part in self._of(result) if part.source != TOTAL]
        moved = f"{what} of {result}" if alone else f"the difference {result} in {what}"
        return _sentence(sources, moved)

    def report(self) -> Finding:
        """The finding for every surface."""
        last, rows = self.parts[-1], self.rows()
        here = [row for row in rows if row["task"] == last.task]
        table = Table(
            name="components",
            caption=f"Standard deviation of {self._what} by source",
            columns=COLUMNS,
            rows=rows,
            brief=[row for row in here if row["result"] not in self.models] or here,
            legend=LEGEND,
        )
        charts = [self._dots("components-difference", last.result)]
        pair = [a for a in self.models for b in self.models if last.result == f"{a} - {b}"]
        if last.result not in self.models and pair:
            charts.append(self._dots("components-value", pair[0]))
        return Finding(
            key="components",
            title=TITLE,
            sentence=self.finding,
            tables=(table,),
            charts=tuple(charts),
            note=NOTE,
            methods=self._methods(),
            references=("satterthwaite1946",),
            notices=self.notices,
        )

    def _dots(self, name: str, result: str) -> Dots:
        """The sources of one result: standard deviations, with shares of the variance."""
        rows = []
        for part in self._of(result):
            share = f" ({percent(part.share)})" if 0 < part.share < 1 else ""
            words = f"{significant(part.deviation)}{share}" if part.deviation else "none"
            remark = "undefined" if isnan(part.variance) else words
            rows.append(Dot(part.source, part.deviation, *part.ends, remark=remark))
        return Dots(
            name=name,
            caption=f"Standard deviation of {self._what} by its source: {result}; shares are "
            "of the total variance",
            axis="standard deviation",
            rows=rows,
            logarithmic=True,
        )

    def _methods(self) -> str:
        """What was done, in the words of a paper."""
        every = list(dict.fromkeys(part.source for part in self.parts))
        sources = [source for source in every if source != TOTAL]
        drawn = [f"resampled {source}" for source in sources if source != "votes"]
        off = f", the variance of resampled votes taken off that of {joined(drawn)}"
        return (
            f"The variance of each result was split into what {joined(sources)} contribute"
            f"{off if TOTAL in every else ''}, with chi-square intervals, for sums with "
            "Satterthwaite's degrees of freedom [@satterthwaite1946]."
        )


def variance_components(
    predictions: Predictions | Iterable[Predictions],
    annotations: Annotations,
    *,
    metric: str | Metric = "auroc",
    **how: Unpack[ComponentKeywords],
) -> Components:
    """Where the spread of every model's value, and of the top two's difference, comes from.

    Parameters
    ----------
    **how
        ``replicates``, ``seed``, ``settings``, ``progress`` as in `ResamplingOptions`;
        ``labels`` (soft or hard).
    """
    told = checked_options(_Components, how)
    given, every = as_predictions(predictions), as_annotations(annotations)
    truth, aside = voting(given, every, told.settings.on_missing)
    plans, notices = possible_kinds(truth, None)
    kinds = [kind for kind in SOURCES if kind in plans]
    if not kinds:
        do = " ".join(map(str, notices)) or "give more data"
        got, expected = "nothing that can be resampled", "items, annotators or votes"
        raise InputError("components", got, expected, do)
    world, scored = _World(told), as_metrics([metric])
    for number, kind in enumerate(kinds, 1):
        world.done[kind] = evaluate_resampled(
            given, truth, metrics=scored, kind=kind, options=told
        )
        told.tell(number, len(kinds))
    first = world.first
    results = [(t, places) for t in range(len(first.tasks)) for places in world.results(t)]
    parts = [part for t, places in results for part in world.parts(t, places)]
    total = joined(world.sources) if any(part.source == TOTAL for part in parts) else ""
    notes = _notices(total, world.sources, world.below, first.questions)
    return Components(
        metric=scored[0].name,
        labels=told.labels,
        level=told.settings.level,
        models=first.models,
        total=total,
        parts=tuple(parts),
        notices=as_notices(aside, notices, notes, first.notices),
    )


def analyse(study: Study) -> Finding:
    """Where the spread of the results of a study comes from."""
    given, (metric, *_) = (study.predictions, study.annotations), study.options.metrics
    labels = study.options.labels
    return variance_components(*given, metric=metric, labels=labels, **study.resampled).report()


@dataclass(frozen=True, eq=False)
class _World:
    """Everything that was evaluated, by what is resampled."""

    told: _Components
    done: dict[str, Evaluation] = field(default_factory=dict)
    below: dict[str, int] = field(default_factory=dict)

    @property
    def first(self) -> Evaluation:
        """One of the evaluations; what is not resampled is the same in all."""
        return next(iter(self.done.values()))

    @property
    def sources(self) -> list[str]:
        """What was resampled, in words."""
        return [SOURCES[kind] for kind in self.done]

    def results(self, t: int) -> list[Places]:
        """Places of the model, or of the two models, of every result of a task."""
        values = self.first.values[t, 0, self._label]
        found: list[Places] = [(m,) for m in range(len(values))]
        good = higher_is_better(values, self.first.metrics[0].better)
        if len(values) > 1 and not np.isnan(good).any():
            best, second = np.argsort(-good, kind="stable")[:2]
            found.append((int(best), int(second)))
        return found

    def parts(self, t: int, places: Places) -> list[Component]:
        """All components of one result."""
        drawn = {}
        for kind, one in self.done.items():
            value = variance_of(
                gap_of(one.replicates[t, 0, self._label], places), one.plan.weights
            )
            drawn[kind] = chi_square(
                value, self._freedom(kind, t, places), self.told.settings.level
            )
        made = split(drawn, self.told.settings.level)
        for source, each in made.items():
            self.below[source] = self.below.get(source, 0) + (each.raw < 0)
        whole = made[TOTAL].value if TOTAL in made else nan
        task = self.first.tasks[t]
        name = " - ".join(self.first.models[m] for m in places)
        parts = []
        for source, each in made.items():
            deviation = nan if isnan(each.value) else sqrt(each.value)
            share = each.value / whole if whole > 0 else nan
            parts.append(
                Component(task, name, source, *each[:3], deviation, share, each.freedom)
            )
        return parts

    @property
    def _label(self) -> int:
        return LABELS.index(self.told.labels)

    @cached_property
    def _influences(self) -> Influences:
        return Influences(self.first, self._label)

    def _tasks(self, t: int) -> list[int]:
        """The task, or those in the average: all that are defined for every model."""
        if self.first.tasks[t] != MACRO:
            return [t]
        lost = np.isnan(self.first.values[:t, 0, self._label]).any(axis=-1)
        return [int(one) for one in np.flatnonzero(~lost)] or list(range(t))

    def _freedom(self, kind: str, t: int, places: Places) -> float:
        """Degrees of freedom: of the units, and of the replicates unless all are listed."""
        tasks = self._tasks(t)
        if kind == "panel":  # those with more votes count more
            votes = [self.first.questions[t].votes for t in tasks]
            who = np.concatenate([one.annotator for one in votes if one is not None])
            load = np.bincount(who[who >= 0]).astype(np.float64)
            units = float(load.sum() ** 2 / max((load**2).sum(), 1.0)) - 1
        else:
            look = self._influences.items if kind == "items" else self._influences.votes
            units = look(tasks, places)
        plan = self.done[kind].plan
        drawn = 0.0 if plan.weights is not None else 1 / (plan.replicates - 1)
        return 1 / (1 / max(units, 1.0) + drawn)


def _notices(
    total: str, sources: list[str], below: Mapping[str, int], questions: Sequence[TaskTruth]
) -> list[Notice]:
    """What the parts and the total are, which came out below zero, what tasks leave open."""
    drawn = joined([source for source in sources if source != "votes"])
    if total:
        values = {"total": capital(total), "drawn": drawn}
        notices = [Notice("components_add_up", ADD_UP, (), values)]
    elif "votes" in sources:
        notices = [NO_ITEMS]
    else:
        notices = [Notice("no_total", NO_VOTES, (), {"drawn": drawn})]
    lost = joined([f"{source} in {count(times)}" for source, times in below.items() if times])
    if lost:
        notices.append(Notice("components_below_zero", BELOW, (), {"results": lost}))
    single = sum(question.single for question in questions)
    if single:
        notices.append(Notice("single_votes", SINGLE, (), {"items": single}))
    return [*notices, *([OVER_TASKS] if len(questions) > 1 else [])]


def _sentence(parts: Sequence[Component], what: str) -> str:
    """Tell in one sentence what moves a result most; `parts` are single sources of it.

    Examples
    --------
    >>> one = Component("", "a - b", "items", 4.0, 3.0, 5.0, 2.0, 1.0, 9.0)
    >>> two = one._replace(source="votes", variance=1.0, low=0.5, high=2.0, deviation=1.0)
    >>> _sentence([one, two], "the difference a - b")
    'Items move the difference a - b most: a standard deviation of 2 (1.7 to 2.2), against ...'
    """
    known = [one for one in parts if not isnan(one.variance)]
    if not known:
        why = "some resamples leave it undefined or infinite"
        return f"What moves {what} cannot be told: {why}."
    most = max(known, key=lambda one: one.variance)
    if most.variance <= 0:
        names = joined([one.source for one in known])
        return f"Nothing that was resampled ({names}) moves {what}."
    less = [one for one in known if one.high < most.low]
    tied = [one for one in known if one not in less]
    names, size = joined([one.source for one in tied]), significant(most.deviation)
    ends = " to ".join(significant(end) for end in most.ends)
    spread = f"a standard deviation of {size} ({ends})"
    rest = f", against {_sizes(less)}" if less else ""
    if len(known) == 1:
        return f"{capital(names)} move {what} by {spread}; no other source can be looked at."
    if len(tied) == 1:
        return f"{capital(names)} move {what} most: {spread}{rest}."
    if less:
        below = joined([one.source for one in less])
        unplaced = _sizes([one for one in tied if one is not most])
        return (
            f"{capital(most.source)} move {what} more than {below}: {spread}{rest}; the "
            f"intervals do not place {unplaced}."
        )
    return (
        f"Which of {names} moves {what} most is open, their intervals overlap: standard "
        f"deviations of {_sizes(tied)}."
    )


def _sizes(parts: Sequence[Component]) -> str:
    return joined([f"{one.source} {significant(one.deviation)}" for one in parts])
