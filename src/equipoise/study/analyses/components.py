r"""Variance components: how much of the uncertainty comes from where, as parts that add up.

A study of n items and A annotators varies by items/n + annotators/A + votes/(nA). Two-way
inference (`equipoise.inference`) knows, of each model's value and of the difference of the two
best, what items cause with the noise of their votes (:math:`V_i`), what annotators cause with
that noise (:math:`V_r`), and the noise alone (:math:`V_c`):

.. math:: \text{votes} = \min(V_c, V_i), \quad \text{items} = V_i - \text{votes}, \quad
    \text{annotators} = \max(V_r - V_c, 0)

Their sum, with the spread over possible truths where a model of them is the truth, and that of
seeds where a value is the mean over several runs, is the variance for items and annotators like
these, by which a fresh study of the same size would vary. Intervals are chi-square with the
degrees of freedom of items (fewer where few items matter most) and of annotators, the noise of
votes taken as known.

A source counts as moving a result less than the largest when its interval lies wholly below
that of the largest; the others are named without an order.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from equipoise.inference import Population, Reason, Spread, TwoWay
from equipoise.inference.ranks import higher_is_better
from equipoise.study import Evaluation
from equipoise.study.analyses.words import as_notices, score_title
from equipoise.study.study import Study
from equipoise.types import (
    Column,
    Dot,
    Dots,
    Finding,
    Names,
    Notice,
    Notices,
    Table,
    capital,
    columns,
    immutable,
    joined,
    number,
    percent,
    short_repr,
    significant,
)

TITLE = "Where does the uncertainty come from?"
ROUNDING = 1e-12  # of the variance of a number that did not vary
ITEMS, ANNOTATORS, VOTES, DRAWS = "items", "annotators", "votes", "possible truths"
SEEDS = "seeds"
TOTAL = "total"
SMALL = 0.0005  # half a unit of the last printed digit
NOTE = (
    "The standard deviation that each source alone would cause: other items, other "
    "annotators, or other votes of the same annotators. Their variances (not their standard "
    "deviations) add up to the total, by which a fresh study of the same size would vary; the "
    "noise of votes is counted once, as votes. Lines are intervals; where two overlap, which "
    "source is the larger is open. With several tasks everything is about the average over "
    "them. The axis is logarithmic: equal steps are equal factors."
)
LEGEND = (
    "Standard deviation: of the result by that source alone; the noise of votes is taken off "
    "items and annotators and counted once. Shares are of the variance and add up to the "
    "total."
)
COLUMNS = (
    Column("task", "task", brief=False),
    *columns("text", "result", "source"),
    Column(
        "deviation",
        "standard deviation [interval]",
        "figures",
        ("deviation_low", "deviation_high"),
    ),
    Column("share", "share of total variance", "percent"),
)
UNSEEN = {
    Reason.ANONYMOUS: "Votes are anonymous: what annotators have in common is in no part.",
    Reason.SINGLE: "Votes cannot be told apart: what they cause is in items.",
    Reason.GOLD: "Labels are a reference standard: nothing comes from annotators or votes.",
    Reason.FIXED: "These annotators are the standard: what others would add is in no part.",
}
OVER_TASKS = Notice(
    "components_over_tasks",
    "With several tasks the result is the average over them; what an annotator says of an item "
    "in all tasks counts as one vote.",
)
SINGLE = (
    "{items:count} items with a single vote: what that vote causes cannot be told from what "
    "the item causes."
)


class Component(NamedTuple):
    """One part of the variance of one result.

    `result` is a model, or ``a - b`` for the two best; `freedom` the degrees of freedom of the
    interval; `share` the part of the total.
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
        low, high = (math.sqrt(end) if math.isfinite(end) else end for end in self[4:6])
        return low, high


@immutable
class Components:
    """What `variance_components` returns.

    Attributes
    ----------
    metric, labels, level, models, score
        What was asked, the models in their order, and what was scored in words.
    parts
        All components.
    notices
        What the user should know, one sentence each.
    """

    metric: str
    labels: str
    level: float
    models: Names
    score: str
    parts: tuple[Component, ...]
    notices: Notices = ()

    __repr__ = short_repr

    def rows(self) -> list[dict[str, Any]]:
        """One row per task, result and source."""
        scored = {"metric": self.metric, "labels": self.labels}
        names = ("deviation_low", "deviation_high")
        return [
            scored | part._asdict() | dict(zip(names, part.ends, strict=True))
            for part in self.parts
        ]

    def _of(self, result: str) -> list[Component]:
        """All sources of one result of the last task."""
        task = self.parts[-1].task
        return [part for part in self.parts if (part.task, part.result) == (task, result)]

    @property
    def finding(self) -> str:
        """What moves the difference of the two best models most, in one sentence."""
        result, what = self.parts[-1].result, self.score
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
            caption=f"Standard deviation of {self.score} by source",
            columns=COLUMNS,
            rows=rows,
            brief=[row for row in here if row["result"] not in self.models] or here,
            legend=LEGEND,
        )
        sources = dict.fromkeys(part.source for part in self.parts)
        return Finding(
            key="components",
            title=TITLE,
            sentence=self.finding,
            tables=(table,),
            charts=(self._dots(last.result),),
            note=NOTE,
            methods="The two-way variance of each result was split into what "
            f"{joined([source for source in sources if source != TOTAL])} contribute, with "
            "chi-square intervals, for the total with Satterthwaite's degrees of freedom "
            "[@satterthwaite1946].",
            references=("satterthwaite1946",),
            notices=self.notices,
        )

    def _dots(self, result: str) -> Dots:
        """The sources of one result: standard deviations, with shares of the variance."""
        rows = []
        for part in self._of(result):
            share = f" ({percent(part.share)})" if 0 < part.share < 1 else ""
            words = f"{significant(part.deviation)}{share}" if part.deviation else "none"
            remark = "undefined" if math.isnan(part.variance) else words
            rows.append(Dot(part.source, part.deviation, *part.ends, remark=remark))
        return Dots(
            name="components",
            caption=f"Standard deviation of {self.score} by its source: {result}; shares are "
            "of the total variance",
            axis="standard deviation",
            rows=rows,
            logarithmic=True,
        )


def variance_components(done: Evaluation, labels: str = "soft") -> Components:
    """Where the spread of every model's value, and of the top two's difference, comes from.

    Parameters
    ----------
    done
        The evaluation; its first metric is looked at, against ``soft`` or ``hard`` labels.
    """
    metric, parts = done.metrics[0], []
    for task in done.tasks:
        cell = done.two_way(metric.name, labels=labels, task=task)
        for places in _results(cell, metric.better):
            name = " - ".join(done.models[m] for m in places)
            spread = cell.of(*places) if len(places) == 1 else cell.between(*places)
            parts += _parts(spread, (task, name), done.level)
    return Components(
        metric=metric.name,
        labels=labels,
        level=done.level,
        models=done.models,
        score=score_title(metric, labels, done.tasks[-1]),
        parts=tuple(parts),
        notices=as_notices(_notices(done), done.notices),
    )


def analyse(study: Study) -> Finding:
    """Where the spread of the results of a study comes from."""
    return variance_components(study.evaluation, study.settings.labels).report()


def _results(cell: TwoWay, better: str) -> list[tuple[int, ...]]:
    """Places of the model, or of the two best models, of every result of a task."""
    results: list[tuple[int, ...]] = [(m,) for m in range(len(cell.values))]
    good = higher_is_better(cell.values, better)
    if len(results) > 1 and not np.isnan(good).any():
        best, second = np.argsort(-good, kind="stable")[:2]
        results.append((int(best), int(second)))
    return results


def _parts(spread: Spread, names: tuple[str, str], level: float) -> list[Component]:
    """All components of one result."""
    rounding = ROUNDING * spread.floor
    of_items, people, noise = (
        0.0 if variances <= rounding else variances
        for variances in (spread.items, spread.annotators, spread.cells)
    )
    whole = replace(spread, items=of_items, population=Population(), floor=0.0)
    sources = [(ITEMS, of_items, spread.df_items, noise)]
    reason = spread.population.reason
    if reason not in UNSEEN and reason is not Reason.MODEL:
        sources.append((ANNOTATORS, people, spread.df_annotators, noise))
    else:
        whole = replace(whole, annotators=0.0, cells=0.0)
    if reason not in (Reason.SINGLE, Reason.GOLD, Reason.RESULTS, Reason.MODEL):
        sources.append((VOTES, min(noise, of_items), spread.df_items, 0.0))
    if reason is Reason.MODEL:
        sources.append((DRAWS, spread.draws, spread.df_items, 0.0))
    if spread.seeds > 0:
        sources.append((SEEDS, spread.seeds, spread.df_seeds, 0.0))
    total = whole.variance
    sources.append((TOTAL, total, whole.df, 0.0))
    components = []
    for source, variance, freedom, less in sources:
        value, low, high = (
            end if math.isnan(end) else max(end - less, 0.0)
            for end in _chi_square(variance, freedom, level)
        )
        share = value / total if total > 0 else math.nan
        deviation = math.nan if math.isnan(value) else math.sqrt(value)
        components.append(
            Component(*names, source, value, low, high, deviation, share, freedom)
        )
    return components


def _chi_square(variance: float, freedom: float, level: float) -> tuple[float, float, float]:
    """A variance with the interval of normal data; nan where it is not finite.

    Examples
    --------
    >>> _chi_square(1.0, 7.0, 0.95)
    (1.0, 0.437, 4.142)
    """
    from scipy.special import chdtri

    if not math.isfinite(variance):
        return math.nan, math.nan, math.nan
    tail = (1 - level) / 2
    low, high = (variance * freedom / float(chdtri(freedom, p)) for p in (tail, 1 - tail))
    return variance, low, high


def _notices(done: Evaluation) -> list[Notice]:
    """What the parts leave open."""
    reason, notices = done.population.reason, []
    if reason in UNSEEN:
        notices.append(Notice("components_unseen", UNSEEN[reason]))
    single = sum(question.single for question in done.questions)
    if single and reason is not Reason.SINGLE:
        notices.append(Notice("single_votes", SINGLE, (), {"items": single}))
    return [*notices, *([OVER_TASKS] if len(done.questions) > 1 else [])]


def _sentence(parts: Sequence[Component], what: str) -> str:
    """Tell in one sentence what moves a result most; `parts` are single sources of it.

    Examples
    --------
    >>> one = Component("", "a - b", "items", 4.0, 3.0, 5.0, 2.0, 1.0, 9.0)
    >>> two = one._replace(source="votes", variance=1.0, low=0.5, high=2.0, deviation=1.0)
    >>> _sentence([one, two], "the difference a - b")
    'Items move the difference a - b most: a standard deviation of 2 (1.7 to 2.2), against ...'
    """
    defined = [part for part in parts if not math.isnan(part.variance)]
    if not defined:
        return f"What moves {what} cannot be told: it is undefined or infinite."
    most = max(defined, key=lambda part: part.variance)
    if most.variance <= 0:
        return f"No {joined([part.source for part in defined], 'or')} move {what}."
    if most.deviation < SMALL:
        names = joined([part.source for part in defined])
        return f"None of {names} moves {what} by as much as {number(2 * SMALL)}."
    less = [part for part in defined if part.high < most.low]
    tied = [part for part in defined if part not in less]
    names, size = joined([part.source for part in tied]), significant(most.deviation)
    ends = " to ".join(significant(end) for end in most.ends)
    spread = f"a standard deviation of {size} ({ends})"
    rest = f", against {_sizes(less)}" if less else ""
    if len(defined) == 1:
        return f"{capital(names)} move {what} by {spread}; no other source can be looked at."
    if len(tied) == 1:
        return f"{capital(names)} move {what} most: {spread}{rest}."
    if less:
        below = joined([part.source for part in less])
        others = [part for part in tied if part is not most]
        unplaced = joined([f"{part.source} ({significant(part.deviation)})" for part in others])
        return (
            f"{capital(most.source)} move {what} more than {below}: {spread}{rest}; whether "
            f"{unplaced} move it less cannot be told."
        )
    return (
        f"Which of {names} moves {what} most is open, their intervals overlap: standard "
        f"deviations of {_sizes(tied)}."
    )


def _sizes(parts: Sequence[Component]) -> str:
    return joined([f"{part.source} {significant(part.deviation)}" for part in parts])
