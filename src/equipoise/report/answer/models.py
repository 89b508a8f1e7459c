r"""Models: the decision by task, and how far below the best every model may lie.

Confusion: which classes the first model takes for which, by the votes.

Standing: who is in the best group, and how far below the best every model may lie.

All pairs of models hold together (`equipoise.inference.intervals`). A model is in the best
group when no other is surely better. How far a model i lies below the best, whichever that is,
is :math:`\max_j \theta_j - \theta_i`; with c the quantile of the largest |t| over all pairs it
is at most :math:`\max_j (\hat\theta_j - \hat\theta_i + c \, s_{ij})` and at least
:math:`\max_j (\hat\theta_j - \hat\theta_i - c \, s_{ij})`, both never below 0 (Hsu 1996); a
model that is surely worse than i cannot be the one that i lies below.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from equipoise.inference import Population, Reason
from equipoise.inference.intervals import distances
from equipoise.inference.ranks import higher_is_better
from equipoise.metrics import Metric, confusion_matrix
from equipoise.study import LABELS, MACRO, Evaluation
from equipoise.types import (
    Bools,
    Cell,
    Claim,
    Column,
    Dot,
    Dots,
    Duplicates,
    Finding,
    Floats,
    Heat,
    Names,
    Nouns,
    Standings,
    Table,
    bound,
    capital,
    chosen,
    columns,
    duplicate_models,
    exact_percent,
    immutable,
    in_words,
    joined,
    percent,
    ratio,
    rows_of,
)
from equipoise.types import Standing as Place

NICE = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)  # leading digits of a margin to name


@immutable(eq=False)
class RankedModels:
    """All models in one question, the best first.

    Attributes
    ----------
    task, metric, labels
        The question.
    models
        Names, the best first; those without a value last.
    values, low, high
        Scores with the ends of their intervals, (models,).
    inside
        Whether no other model is surely better, (models,); an infinite score never is inside.
    gap, least, most
        How far each is below the best model seen, and at least and at most below the best there
        is, all pairs at once, (models,); nan where no verdict is possible.
    population
        Whom it speaks for.
    claims
        How every model compares with the best there is.
    """

    task: str
    metric: Metric
    labels: str
    models: Names
    values: Floats
    low: Floats
    high: Floats
    inside: Bools
    gap: Floats
    least: Floats
    most: Floats
    population: Population
    claims: tuple[Claim, ...] = ()

    @property
    def whose(self) -> str:
        """Whose truth it is."""
        return self.population.whose(self.labels)

    @property
    def title(self) -> str:
        """What is scored, in words."""
        return self.metric.soft_title if self.labels == "soft" else self.metric.title

    @property
    def known(self) -> int:
        """How many models have a value; these come first."""
        return int(np.isfinite(self.values).sum())

    @property
    def best_group(self) -> Names:
        """Models that may be the best."""
        return tuple(self.models[m] for m in range(self.known) if self.inside[m])

    @property
    def behind(self) -> Names:
        """Models than which another is surely better."""
        return tuple(self.models[m] for m in range(self.known) if not self.inside[m])

    @property
    def decides(self) -> bool:
        """Whether a verdict between models is possible."""
        return self.known > 1 and self.population.decides and not np.isnan(self.most[0])

    def within(self, margin: float) -> Names:
        """Models that are surely less than the margin below the best."""
        return tuple(
            name for name, most in zip(self.models, self.most, strict=True) if most < margin
        )

    @property
    def telling_margin(self) -> float | None:
        """A round margin within which some of the models surely lie, but not all; or None."""
        bounds = self.most[: self.known]
        if not self.decides or not np.isfinite(bounds).all():
            return None
        lowest, highest = float(bounds.min()), float(bounds.max())
        for power in range(-6, 3):
            for digit in NICE:
                margin = digit * 10.0**power
                if lowest < margin <= highest and len(self.within(margin)) > 1:
                    return margin
        return None


@immutable(eq=False)
class Answer:
    """What an evaluation says, ready for words and drawings.

    Attributes
    ----------
    evaluation
        What was evaluated; its first metric is the one that decides.
    labels
        Labels that decide, ``soft`` unless the metric has no other.
    """

    evaluation: Evaluation
    labels: str = "soft"

    @property
    def metric(self) -> Metric:
        """The metric that decides."""
        return self.evaluation.metrics[0]

    @property
    def by_standard(self) -> bool:
        """Whether a reference standard is the truth."""
        return self.evaluation.population.reason is Reason.GOLD

    @property
    def judged(self) -> bool:
        """Whether people said what systems' outputs are worth."""
        votes = self.evaluation.annotations
        return votes is not None and bool(votes.judged)

    @property
    def rated(self) -> bool:
        """Whether votes are numbers on a scale, of which there are no hard labels."""
        votes = self.evaluation.annotations
        return votes is not None and votes.scale is not None

    @property
    def tasks(self) -> Names:
        """Names of the tasks, without their average."""
        return tuple(task for task in self.evaluation.tasks if task != MACRO)

    @cached_property
    def front(self) -> RankedModels:
        """All models in the question that decides: the average over tasks, or the only one."""
        return self.standing(self._front_task(), self.metric, self.labels)

    def _front_task(self) -> str:
        """The last task whose values are not all undefined."""
        defined = ~np.isnan(self._values).all(axis=1)
        places = np.flatnonzero(defined)
        return self.evaluation.tasks[int(places[-1]) if len(places) else -1]

    @property
    def averaged(self) -> int:
        """How many tasks the average is of: those in which every model has a value."""
        whole = np.asarray(~np.isnan(self._values).any(axis=1))
        return int(whole[: len(self.tasks)].sum())

    @property
    def mean_of(self) -> str:
        """Of how many tasks the average is, in words."""
        whole = in_words(len(self.tasks))
        if self.averaged == len(self.tasks):
            return whole
        return f"{in_words(self.averaged)} of {whole}"

    @property
    def _values(self) -> Floats:
        """Values by the metric that decides, (tasks, models)."""
        place = LABELS.index(self.labels)
        return self.evaluation.values[:, 0, place]

    @cached_property
    def columns(self) -> tuple[RankedModels, ...]:
        """Every task under the metric that decides; of a single task, every metric."""
        if len(self.tasks) > 1:
            columns = [(task, self.metric) for task in self.tasks]
        else:
            task, others = self.evaluation.tasks[-1], self.evaluation.metrics[1:]
            columns = [(task, metric) for metric in others]
        return tuple(self.standing(*column, self.labels) for column in columns)

    @cached_property
    def duplicates(self) -> tuple[Duplicates, ...]:
        """Models that give the same scores, item by item."""
        done = self.evaluation
        tasks = [question.task for question in done.questions]
        return duplicate_models(zip(tasks, done.scores, strict=False))

    def same(self, task: str) -> frozenset[str]:
        """Models whose scores in a task are those of another; of the average, in every task."""
        macro = task == MACRO
        return frozenset(
            name
            for duplicate in self.duplicates
            if (duplicate.everywhere if macro else task in duplicate.tasks)
            for name in duplicate.models
        )

    def standing(self, task: str, metric: Metric, labels: str) -> RankedModels:
        """All models in one question."""
        done, name = self.evaluation, metric.name
        where = {"labels": labels, "task": task}
        cell, family = done.two_way(name, **where), done.family(name, **where)
        estimates = [done.estimate(model, name, **where) for model in done.models]
        values = np.array([estimate.value for estimate in estimates])
        ends = np.array([estimate.interval(done.level) for estimate in estimates])
        good = higher_is_better(values, metric.better)
        order = np.lexsort(
            (np.array(done.models), -np.nan_to_num(good, nan=-math.inf))
        )  # ties by name
        order = order[np.argsort(~np.isfinite(values[order]), kind="stable")]
        gap, least, most = distances(cell, family, good)
        return RankedModels(
            task,
            metric,
            labels,
            tuple(done.models[m] for m in order),
            values[order],
            ends[order, 0],
            ends[order, 1],
            (~family.better.any(axis=0) & ~np.isinf(values))[order],
            gap[order],
            least[order],
            np.maximum(0.0, most[order]),
            cell.population,
            done.claims(name, **where),
        )


def typical_reach(standing: RankedModels) -> float:
    """Half the length of a typical interval of a value."""
    with np.errstate(invalid="ignore"):
        half = (standing.high - standing.low) / 2
    finite = half[np.isfinite(half)]
    return float(np.median(finite)) if len(finite) else math.nan


def all_inside(columns: Sequence[RankedModels]) -> Names:
    """Models in the best group of every question, in the order of the first."""
    groups = [set(column.best_group) for column in columns if column.known]
    return tuple(n for n in columns[0].models if all(n in group for group in groups))


NAMED = 3


def standings_finding(
    answer: Answer, nouns: Nouns, foot: tuple[tuple[str, Names], ...] = ()
) -> Finding | None:
    """The matrix of models by tasks (or by metrics), coloured by best group.

    Parameters
    ----------
    foot
        Further rows under the matrix, each with a text for every task.
    """
    if answer.front.known == 0:
        return None
    chart = standings_chart(answer, foot)
    return Finding(
        key="standings",
        title=f"Models by {nouns.task}" if len(answer.tasks) > 1 else "Scores",
        sentence=f"{_title(answer, nouns)}.",
        more=tuple(_notes(answer, nouns)),
        charts=(chart,),
        tables=(_values_table(answer),),
        claims=_claims_of([answer.front, *answer.columns]),
        nav=capital(nouns.tasks) if len(answer.tasks) > 1 else "Scores",
    )


def metrics_finding(answer: Answer, *, asked: bool = False) -> Finding | None:
    """The other metrics on average over tasks; None where they stand in the matrix.

    Parameters
    ----------
    asked
        Whether somebody named them, so that a terminal prints all their values.
    """
    done = answer.evaluation
    if len(answer.tasks) < 2 or len(done.metrics) < 2 or not answer.front.decides:
        return None
    task, labels = answer.front.task, answer.labels
    standings = [answer.standing(task, metric, labels) for metric in done.metrics]
    chart = replace(
        _matrix(answer, standings, [_metric_head(standing) for standing in standings]),
        name="metrics",
        caption=f"Every metric, {task}",
    )
    return Finding(
        key="metrics",
        title="Every metric",
        sentence="",
        charts=(chart,),
        brief=asked,
        claims=_claims_of(standings),
    )


def _claims_of(standings: Sequence[RankedModels]) -> tuple[Claim, ...]:
    return tuple(claim for standing in standings for claim in standing.claims)


def standings_chart(answer: Answer, foot: tuple[tuple[str, Names], ...] = ()) -> Standings:
    """Models by tasks, or by metrics where there is one task."""
    standings = (answer.front, *answer.columns)
    several = len(answer.tasks) > 1
    metric = capital(answer.front.title) if several or not answer.columns else "Scores"
    way = ", lower is better" if answer.metric.better == "lower" else ""
    return replace(
        _matrix(answer, standings, [_head(answer, standing) for standing in standings]),
        caption=f"{metric}{way}",
        metric=metric,
        foot=tuple((title, ("", *texts)) for title, texts in foot) if several else (),
    )


def _matrix(
    answer: Answer, standings: Sequence[RankedModels], heads: Sequence[str]
) -> Standings:
    """All models in some questions, of which the first is that which decides."""
    models = answer.front.models
    return Standings(
        name="standings",
        caption="",
        metric="Scores",
        columns=tuple(heads),
        models=models,
        cells=[[_place(answer, column, name) for column in standings] for name in models],
        intervals=tuple(
            (float(low), float(high))
            for low, high in zip(answer.front.low, answer.front.high, strict=True)
        ),
        known_to=tuple(typical_reach(standing) for standing in standings),
    )


def _metric_head(standing: RankedModels) -> str:
    lower = " (lower is better)" if standing.metric.better == "lower" else ""
    return f"{standing.title}{lower}"


def _head(answer: Answer, standing: RankedModels) -> str:
    if len(answer.tasks) < 2:
        return _metric_head(standing)
    if standing.task == MACRO:
        return f"Mean of {answer.mean_of}"
    return standing.task


def _place(answer: Answer, column: RankedModels, name: str) -> Place:
    m = column.models.index(name)
    return Place(
        value=float(column.values[m]),
        inside=bool(column.inside[m]),
        best=column.known > 1 and float(column.gap[m]) == 0.0,
        same=name in answer.same(column.task),
        judged=column.decides,
    )


def _title(answer: Answer, nouns: Nouns) -> str:
    """What the matrix shows."""
    if len(answer.tasks) < 2:
        return "The scores"
    if not any(standing.decides for standing in answer.columns):
        return f"Every {nouns.task} by itself"
    stay = all_inside(answer.columns)
    if not stay:
        return f"No model is in the best group for every {nouns.task}"
    return f"In the best group for every {nouns.task}: {joined(stay, most=6)}"


def _notes(answer: Answer, nouns: Nouns) -> list[str]:
    """What one needs to read the matrix."""
    notes = []
    if answer.front.known > 1:
        notes.append(
            "Intervals of single values may overlap while models differ: all models score the "
            f"same {nouns.items}, so differences are known better than values."
        )
    return [*notes, *([answer.metric.plain] if answer.metric.plain else [])]


def _values_table(answer: Answer) -> Table:
    done = answer.evaluation
    rows = [row._asdict() for row in done.table()]
    titles = {metric.name: metric.title for metric in done.metrics}
    return Table(
        name="values",
        caption=f"Every model by {'task, ' * (len(answer.tasks) > 1)}metric and labels; "
        f"{exact_percent(done.level)} intervals of single values, possible ranks of all models "
        "at once",
        columns=(
            Column("task", "task"),
            Column("metric", "metric", words=titles),
            *columns(labels="text", model="model"),
            Column("value", "value", "number", ("low", "high")),
            Column("rank", "rank", "rank", ("rank_low", "rank_high")),
            Column("p_best", "best in (share of resamples)", "resample_share"),
        ),
        rows=rows,
        brief=(),
    )


# ---- distance below the best ---------------------------------------------------------------


def distance_finding(answer: Answer) -> Finding | None:
    """How far below the best model, whichever it is, all pairs together."""
    front, done = answer.front, answer.evaluation
    if not front.decides:
        return None
    chart = distance_chart(front, level=done.level, margin=done.margin)
    return Finding(
        key="distance",
        title="Distance from the best",
        sentence=f"{_distance_title(answer)}.",
        charts=(chart,),
        tables=(_distance_table(front),),
        claims=front.claims,
        nav="Models",
    )


def distance_chart(standing: RankedModels, *, level: float, margin: float | None) -> Dots:
    """Every model's distance from the best of one question, with its simultaneous bound."""
    metric = standing.metric
    sign = -1.0 if metric.better == "higher" else 1.0
    named = standing.models[: standing.known]
    ends = zip(named, standing.least, standing.most, strict=False)
    rows = [
        Dot(
            label=name,
            value=sign * float(standing.gap[m]),
            low=min(sign * float(most), sign * float(least)),
            high=max(sign * float(most), sign * float(least)),
            model=name,
            remark=f"at most {bound(float(most))}" if most > 0 else "the best",
            hollow=not standing.inside[m],
            strong=margin is not None and bool(most < margin),
        )
        for m, (name, least, most) in enumerate(ends)
    ]
    side = "below" if sign < 0 else "above"
    inside = " Bold: inside the margin." if margin is not None else ""
    return Dots(
        name="distance",
        caption=f"How far {side} the best model, whichever it is. Dot: gap seen. Line: "
        f"{exact_percent(level)}, all models together.{inside}",
        axis=f"{metric.title}, distance from the best",
        rows=rows,
        zero=True,
        zero_title="the best",
        margin=margin,
    )


def _distance_title(answer: Answer) -> str:
    front, margin = answer.front, answer.evaluation.margin
    side = "below" if answer.metric.better == "higher" else "above"
    if margin is None:
        farthest = float(front.most[: front.known].max())
        if farthest < 0.0005:
            return "All are as good as the best"
        return f"None is more than {bound(farthest)} {side} the best"
    good = capital(in_words(len(front.within(margin))))
    of, size = in_words(front.known), chosen(margin)
    return f"{good} of {of} are shown to be within {size} of the best"


def _distance_table(front: RankedModels) -> Table:
    rows: list[dict[str, Cell]] = [
        {
            "model": name,
            "inside": bool(front.inside[m]),
            "gap": float(front.gap[m]),
            "least": "above 0"
            if front.least[m] == 0 and not front.inside[m]
            else float(front.least[m]),
            "most": float(front.most[m]),
        }
        for m, name in enumerate(front.models)
    ]
    return Table(
        name="distance",
        caption="How far from the best model, whichever it is",
        columns=(
            Column("model", "model", "model"),
            Column("inside", "in the best group"),
            Column("gap", "gap seen", "number"),
            Column("least", "at least", "number"),
            Column("most", "at most", "bound"),
        ),
        rows=rows,
        brief=(),
    )


# ---- confusion -----------------------------------------------------------------------------

MOST = 6  # tasks that are shown


def confusions(answer: Answer) -> Iterator[Finding]:
    """The confusion matrix of the first model in every task, where decisions are scored."""
    done, leader = answer.evaluation, answer.front.models[0]
    if not any(metric.decides for metric in done.metrics):
        return
    charts: list[Heat] = []
    rows: list[dict[str, Cell]] = []
    worst: list[tuple[float, str, str]] = []
    for place, truth in enumerate(done.questions[:MOST]):
        chart, expected = _confusion(answer, leader, place)
        classes = {"votes_for": chart.rows, "decided": chart.columns}
        cells = {
            "votes_for": None,
            "decided": None,
            "expected": expected,
            "share": chart.values,
        }
        charts.append(chart)
        rows += rows_of({"task": truth.task}, classes, cells)
        wrong = np.where(np.eye(len(chart.values)) > 0, np.nan, chart.values)
        if not np.isnan(wrong).all():
            share = float(np.nanmax(wrong))
            a, b = np.argwhere(wrong == share)[0]
            where = f" in {truth.task}" if truth.task else ""
            worst.append((share, f"{chart.rows[a]}{where}", chart.columns[b]))
    if not worst:
        return
    share, votes_for, decided = max(worst, key=lambda mistake: mistake[0])
    of = "items" if answer.by_standard else "votes"
    yield Finding(
        key="confusion",
        title=f"What {leader} takes for what",
        sentence=f"Of the {of} for {votes_for}, {percent(share)} are decided as {decided}.",
        charts=tuple(charts),
        tables=(
            Table(
                name="confusion",
                caption=f"Expected counts and shares of {of}, decisions of {leader}",
                columns=(
                    *columns(task="text", votes_for="text", decided="text"),
                    Column("expected", "expected count", "number"),
                    Column("share", "share", "percent"),
                ),
                rows=rows,
                brief=(),
            ),
        ),
    )


def _confusion(answer: Answer, leader: str, place: int) -> tuple[Heat, Floats]:
    """Of the votes for each class, the share and the expected number decided as each."""
    done = answer.evaluation
    truth, scores = done.questions[place], done.scores[place][leader]
    decided = done.decided[place].get(leader) if place < len(done.decided) else None
    yes_no = len(truth.classes) == 1
    classes = (f"not {truth.classes[0]}", truth.classes[0]) if yes_no else truth.classes
    labels = truth.shares[0] if yes_no else truth.shares.T
    table = confusion_matrix(labels, scores if decided is None else decided)
    whole = table.sum(axis=1, keepdims=True)
    where = f", {truth.task}" if truth.task else ""
    of = "items of" if answer.by_standard else "votes for"
    chart = Heat(
        name=f"confusion-{place + 1}",
        caption=f"Of the {of} each class, what {leader} decides{where}",
        rows=classes,
        columns=classes,
        values=ratio(table, whole),
        x="decided",
        y=of.split()[0],
    )
    return chart, table
