r"""Critical difference: are models apart when their ranks are averaged over tasks?

With N tasks, k models and average ranks :math:`R_j`, Friedman's statistic with ties is

.. math:: \chi^2 = \frac{12 N}{k (k + 1)\,C} \sum_j \Bigl(R_j - \frac{k + 1}{2}\Bigr)^2,
    \qquad C = 1 - \frac{\sum (t^3 - t)}{N k (k^2 - 1)}

where t runs over the sizes of tied groups in each task. Two models are apart when their average
ranks differ by more than Nemenyi's critical difference

.. math:: CD = q_{\alpha, k} \sqrt{\frac{k (k + 1)}{6 N}}

with q the quantile of the studentised range for k groups and infinite degrees of freedom, over
the root of two. Both take tasks as independent. Tasks on the same items are not, which makes
the test overconfident; the intervals of the average ranks come from resampled data and do not
need that assumption.

References
----------
Demšar, *Statistical comparisons of classifiers over multiple data sets*, JMLR 2006.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan, nan, sqrt
from typing import Any

import numpy as np

from equipoise.analyses.resampling import as_drawn
from equipoise.analyses.scoring import freeze, interval_ends
from equipoise.analyses.study import Study
from equipoise.analyses.words import BRACKETS, with_titles
from equipoise.arrays import Floats, InputError, choice, require_number, wrong_type
from equipoise.evaluation import LABELS, MACRO, Evaluation
from equipoise.findings import Column, Drawing, Finding, Stroke, Table, Words
from equipoise.metrics import titled
from equipoise.notices import Notice
from equipoise.numbers import count, number, p_value
from equipoise.ranks import average_ranks, higher_is_better

TITLE = "Which models do the tasks tell apart?"
LEAST = 3  # tasks below which nothing is said
DEPENDENT = Notice(
    "tasks_share_items",
    "The tasks are about the same items, so they are not independent: Friedman's p-value and "
    "the critical difference tend to be too confident; the intervals of the average ranks come "
    "from resampled data and do not take tasks as independent.",
)
TOO_FEW = Notice(
    "too_few_tasks",
    "With fewer than {least:count} tasks the critical difference is undefined.",
    (),
    {"least": LEAST},
)
NOTE = (
    "Friedman's test asks whether all models could be equally good over the tasks; by Nemenyi "
    "two average ranks must differ by the critical difference to tell models apart. The test "
    "takes tasks as independent. Intervals of the average ranks come from resampled items and "
    "need no such assumption."
)
LEGEND = (
    "Average rank: over tasks, 1 is best. Not apart from: models whose average rank is nearer "
    "than the critical difference. " + BRACKETS
)
START, END, AXIS, LINE = 124.0, 316.0, 66.0, 17.0  # places of the diagram


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CriticalDifference:
    """What `critical_difference` returns.

    Attributes
    ----------
    metric, labels, kind
        What the models are ranked by, and what was drawn anew for the intervals.
    models, tasks
        Names; tasks without a defined value are left out.
    ranks
        Rank of each model in each task, shape (models, tasks); 1 is best.
    low, high
        Intervals of the average ranks, shape (models,).
    statistic, p_value, difference
        Friedman's statistic and p-value, and the critical difference; nan when undefined.
    cliques
        Largest groups of models that are not apart, best first, of two models or more.
    alpha, level
        Level of the test, and of the intervals.
    notices
        What the user should know.
    """

    metric: str
    labels: str
    kind: str
    models: tuple[str, ...]
    tasks: tuple[str, ...]
    ranks: Floats
    low: Floats
    high: Floats
    statistic: float
    p_value: float
    difference: float
    cliques: tuple[tuple[str, ...], ...]
    alpha: float
    level: float
    notices: tuple[Notice, ...] = ()

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def average(self) -> Floats:
        """Average rank of each model over tasks, shape (models,)."""
        if not self.tasks:
            return np.full(len(self.models), nan)
        return np.asarray(self.ranks.mean(axis=1))

    def rows(self) -> list[dict[str, Any]]:
        """One row per model, best first."""
        average, found = self.average, []
        for m in np.argsort(average, kind="stable"):
            near = {
                name for clique in self.cliques if self.models[m] in clique for name in clique
            }
            near.discard(self.models[m])
            row: dict[str, Any] = {"model": self.models[m], "metric": self.metric}
            row |= {"labels": self.labels, "average_rank": float(average[m])}
            row |= {"low": float(self.low[m]), "high": float(self.high[m])}
            row |= {"critical_difference": self.difference, "friedman_p": self.p_value}
            found.append(row | {"not_apart_from": [one for one in self.models if one in near]})
        return found

    @property
    def finding(self) -> str:
        """What the average ranks tell apart, in a sentence, and whether to believe it."""
        what = titled(self.metric, self.labels)
        if np.isnan(self.difference):
            return (
                f"The critical difference by {what} is undefined: it needs at least {LEAST} "
                f"tasks and two models, and there are {len(self.tasks)} and {len(self.models)}."
            )
        if np.isnan(self.p_value):
            return (
                f"All {len(self.models)} models are tied by {what} in each of the "
                f"{len(self.tasks)} tasks: their ranks tell nothing apart."
            )
        best, number_of = self.rows()[0], len(self.models)
        near = len(best["not_apart_from"])
        group = f"{best['model']} and {near} more" if near else f"{best['model']} alone"
        group = f"all {number_of} models" if near == number_of - 1 else group
        caution = "; the tasks share items, so the test is surer than it should be"
        return (
            f"Over {len(self.tasks)} tasks by {what}, average ranks must differ by "
            f"{number(self.difference, 1)} to tell models apart: the best group is {group} "
            f"(Friedman p = {p_value(self.p_value)}){caution * self.shared}."
        )

    def report(self) -> Finding:
        """The finding for every surface."""
        return _report([self])

    def _table(self) -> Table:
        """Average ranks, their intervals, and who is not apart."""
        what = titled(self.metric, self.labels)
        test = f"Friedman p {p_value(self.p_value)}"
        if isnan(self.p_value):
            tied = not isnan(self.difference)
            test = "all models are tied in every task" if tied else "no test"
        columns = (
            Column("metric", "metric", brief=False),
            Column("model", "model", "model"),
            Column("average_rank", "average rank", "number", ("low", "high")),
            Column("not_apart_from", "not apart from", "names"),
        )
        return Table(
            name="critical_difference",
            caption=f"Average ranks by {what}: {test}",
            columns=with_titles(columns, [self.metric]),
            rows=self.rows(),
            legend=LEGEND,
        )

    def _diagram(self) -> list[Drawing]:
        """The diagram of Demšar: ranks on top, names at the sides, lines over groups."""
        rows = [row for row in self.rows() if not isnan(row["average_rank"])]
        if isnan(self.difference) or len(rows) < 2:
            return []
        total, half = len(rows), (len(rows) + 1) // 2
        below = AXIS + 14 + 8 * len(self.cliques)
        strokes, words = self._axis(total)
        for place, row in enumerate(rows):
            left = place < half
            x = _across(row["average_rank"], total)
            y = below + LINE * (place + 1 if left else total - place)
            edge, model = START - 6 if left else END + 6, str(row["model"])
            strokes += [Stroke((x, AXIS), (x, y), model), Stroke((x, y), (edge, y), model)]
            side = edge + (-3 if left else 3)
            label = f"{number(row['average_rank'], 1)} {model}"
            words.append(Words((side, y + 4), label, model, "end" if left else "start"))
        ranks = {row["model"]: _across(row["average_rank"], total) for row in rows}
        for depth, names in enumerate(self.cliques):
            ends = [ranks[name] for name in names if name in ranks]
            y = AXIS + 10 + 8 * depth
            strokes.append(Stroke((min(ends) - 3, y), (max(ends) + 3, y), thick=True))
        return [
            Drawing(
                name=f"critical-difference-{self.metric}",
                caption=f"Average rank over tasks by {titled(self.metric, self.labels)}; thick "
                "lines join models that are not apart",
                alternative=f"Average ranks of {total} models over {len(self.tasks)} tasks, "
                "best on the left.",
                height=below + LINE * half + 10,
                strokes=strokes,
                words=words,
            )
        ]

    def _axis(self, total: int) -> tuple[list[Stroke], list[Words]]:
        """Ranks along the top, and the critical difference above them."""
        step = 1 if total <= 12 else 5
        ticks = [n for n in range(1, total + 1) if n == 1 or n % step == 0]
        end = min(_across(1 + self.difference, total), END)
        strokes = [
            Stroke((START, 34), (end, 34), thick=True),
            Stroke((START, AXIS), (END, AXIS)),
        ]
        strokes += [
            Stroke((_across(n, total), AXIS), (_across(n, total), AXIS - 5)) for n in ticks
        ]
        words = [Words((START, 27), f"critical difference {number(self.difference, 2)}")]
        words += [Words((_across(n, total), AXIS - 9), f"{n}", anchor="middle") for n in ticks]
        return strokes, words

    @property
    def shared(self) -> bool:
        """Whether tasks are about the same items, which makes the test too sure."""
        return DEPENDENT in self.notices


def critical_difference(
    evaluation: Evaluation, metric: str, *, labels: str = "soft", alpha: float = 0.05
) -> CriticalDifference:
    """Compare models by their average rank over the tasks of an evaluation.

    With fewer than three tasks the result is undefined, and says so.
    """
    if not isinstance(evaluation, Evaluation):
        raise wrong_type(
            "critical difference", evaluation, "an evaluation", "give what evaluate returns"
        )
    names = tuple(one.name for one in evaluation.metrics)
    k = names.index(choice("critical difference, metric", metric, names))
    label = LABELS.index(choice("critical difference, labels", labels, LABELS))
    require_number("critical difference, alpha", alpha, above=0, below=1, do="try 0.05")
    single = [t for t, task in enumerate(evaluation.tasks) if task != MACRO]
    known = [t for t in single if not np.isnan(evaluation.values[t, k, label]).any()]
    better, models = evaluation.metrics[k].better, len(evaluation.models)
    ranks = np.empty((models, len(known)))
    for place, t in enumerate(known):
        ranks[:, place] = average_ranks(
            higher_is_better(evaluation.values[t, k, label], better)
        )
    enough = len(known) >= LEAST and models >= 2
    statistic, p_value = friedman(ranks) if enough else (nan, nan)
    difference = nemenyi(models, len(known), alpha) if enough else nan
    low, high = _intervals(evaluation, known, (k, label), ranks)
    cliques = _cliques(ranks.mean(axis=1), difference, evaluation.models) if enough else ()
    return CriticalDifference(
        metric=metric,
        labels=labels,
        kind=evaluation.plan.kind,
        models=evaluation.models,
        tasks=tuple(evaluation.tasks[t] for t in known),
        ranks=ranks,
        low=low,
        high=high,
        statistic=statistic,
        p_value=p_value,
        difference=difference,
        cliques=cliques,
        alpha=alpha,
        level=evaluation.level,
        notices=_notices(evaluation, single, known),
    )


def analyse(study: Study) -> Finding:
    """Average ranks over the tasks of a study, metric by metric."""
    evaluation = study.evaluation
    tasks = [task for task in evaluation.tasks if task != MACRO]
    if len(tasks) < LEAST:
        got, least = count(len(tasks), "task"), f"at least {LEAST} tasks"
        raise InputError("critical difference", got, least, "look at the ranking instead")
    results = []
    for metric in evaluation.metrics:
        labels = study.options.labels
        results.append(critical_difference(evaluation, metric.name, labels=labels))
        study.tell(len(results), len(evaluation.metrics))
    return _report(results)


def _report(results: Sequence[CriticalDifference]) -> Finding:
    """One finding of the results by several metrics, the first in front."""
    first = results[0]
    shared = "; the tasks share items and are not independent" if first.shared else ""
    return Finding(
        key="critical_difference",
        title=TITLE,
        sentence=first.finding,
        tables=tuple(result._table() for result in results),
        charts=tuple(drawing for result in results for drawing in result._diagram()),
        note=NOTE,
        methods="Average ranks over tasks were compared by Friedman's test and Nemenyi's "
        f"critical difference [@demsar2006]{shared}.",
        references=("demsar2006",),
        notices=tuple(dict.fromkeys(note for result in results for note in result.notices)),
    )


def _across(rank: float, models: int) -> float:
    """Place of a rank along the axis."""
    return START + (rank - 1) / (models - 1) * (END - START)


def friedman(ranks: Floats) -> tuple[float, float]:
    """Friedman's statistic, corrected for ties, and its p-value; ranks (models, tasks).

    Examples
    --------
    >>> friedman(np.array([[1, 1, 1, 2], [2, 2, 3, 1], [3, 3, 2, 3]]))
    (4.5, 0.105)
    """
    from scipy.special import chdtrc

    models, tasks = ranks.shape
    ties = sum(
        float((np.unique(one, return_counts=True)[1] ** 3.0).sum()) - models for one in ranks.T
    )
    correction = 1 - ties / (tasks * models * (models**2 - 1))
    if not correction > 1e-12:  # all models level in every task
        return nan, nan
    spread = float(((ranks.mean(axis=1) - (models + 1) / 2) ** 2).sum())
    statistic = 12 * tasks / (models * (models + 1)) * spread / correction
    return statistic, float(chdtrc(models - 1, statistic))


def nemenyi(models: int, tasks: int, alpha: float) -> float:
    """Critical difference of average ranks.

    Examples
    --------
    >>> nemenyi(4, 14, 0.05)
    1.253
    """
    from scipy.stats import studentized_range

    quantile = float(studentized_range.ppf(1 - alpha, models, np.inf)) / sqrt(2)
    return quantile * sqrt(models * (models + 1) / (6 * tasks))


def _cliques(
    average: Floats, difference: float, models: tuple[str, ...]
) -> tuple[tuple[str, ...], ...]:
    """Largest runs of models, by average rank, whose ends are not apart."""
    order = np.argsort(average, kind="stable")
    found: list[tuple[str, ...]] = []
    reached = 0
    for first in range(len(order)):
        inside = average[order] - average[order[first]] <= difference + 1e-12
        stop = int(np.flatnonzero(inside)[-1]) + 1
        if stop - first > 1 and stop > reached:
            found.append(tuple(models[m] for m in order[first:stop]))
            reached = stop
    return tuple(found)


def _intervals(
    evaluation: Evaluation, known: list[int], cell: tuple[int, int], ranks: Floats
) -> tuple[Floats, Floats]:
    """Intervals of the average ranks, from the replicates of all tasks together."""
    models = len(evaluation.models)
    if not known:
        return np.full(models, nan), np.full(models, nan)
    better = evaluation.metrics[cell[0]].better
    drawn = as_drawn(evaluation)[known, cell[0], cell[1]]
    mean = np.mean([average_ranks(higher_is_better(one, better)) for one in drawn], axis=0)
    bounds = (1.0, float(models))
    low, high = interval_ends(ranks.mean(axis=1), mean, evaluation.level, bounds)
    return low, high


def _notices(evaluation: Evaluation, single: list[int], known: list[int]) -> tuple[Notice, ...]:
    lost = tuple(evaluation.tasks[t] for t in single if t not in known)
    text = "Tasks without a defined value are left out: {tasks:names}."
    undefined = Notice("undefined_tasks", text, (), {"tasks": lost})
    sets = [set(question.items) for question in evaluation.questions]
    shared = any(a & b for a, b in combinations(sets, 2))
    every = ((undefined, bool(lost)), (DEPENDENT, shared), (TOO_FEW, len(known) < LEAST))
    return tuple(notice for notice, holds in every if holds)
