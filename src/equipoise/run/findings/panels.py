"""Panels: a run as its findings read it, one task and one metric at a time.

A `Panel` gives scores by labels and model, and **leads**: the lead of a over b is how much
better a is, ``a - b`` where higher is better and ``b - a`` where lower is better, so that a
positive lead always favours the first model. Nothing is computed here that the run has not
stored, except the sign.

A `Verdict` is who is ahead under one kind of labels. A model is *separated* from the best when
the best is surely better among all pairs of models (in earlier runs: when the interval of its
lead lies above zero). Models that share the best score are best together; none is best where
the scores of all are infinitely bad.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from equipoise.arrays import Floats
from equipoise.findings import Column, Finding
from equipoise.numbers import EXACT, UNDEFINED
from equipoise.run.folder import Run
from equipoise.run.record import (
    Lead,
    MetricRecord,
    PairDifference,
    RankCorrelation,
    RunRecord,
    Score,
    TruthRow,
)
from equipoise.wording import joined

FIXED = "Items are held fixed: the result speaks for these items, not for others like them."
SOFT = "soft"
MOST_NAMES = 6  # that a sentence lists
HALF_DIGIT = 0.0005  # half a unit of the last digit that scores are printed with


def listing(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """Names as a sentence lists them."""
    return joined(list(names), most=most)


def noted_once(section: Sequence[Finding]) -> list[Finding]:
    """The same findings, with the note that all share at the end of their section."""
    notes = {one.note for one in section}
    if len(section) < 2 or len(notes) != 1 or not section[0].note:
        return list(section)
    first = section[0]
    last = Finding(key=first.key, title=first.title, sentence="", note=first.note, brief=False)
    return [*(replace(one, note="") for one in section), last]


@dataclass(frozen=True)
class RunView:
    """A whole run, indexed by task, metric, labels and model."""

    run: Run

    @property
    def record(self) -> RunRecord:
        """What the run holds."""
        return self.run.record

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return self.record.models

    @property
    def level(self) -> str:
        """The level of the intervals, as one writes it."""
        return f"{100 * self.record.settings.level:g}%"

    @property
    def fixed_items(self) -> bool:
        """Whether the run says that its items are not resampled."""
        return self.record.settings.items_redrawn is False

    @property
    def scope(self) -> str:
        """What the result speaks for; earlier runs do not say."""
        return self.record.settings.scope or (FIXED if self.fixed_items else "")

    @property
    def any_model(self) -> bool:
        """Whether the truth of any task comes from a model."""
        return any(row.from_model for row in self.record.truth if row.items)

    @property
    def all_gold(self) -> bool:
        """Whether adjudicated gold settles every item."""
        return all(row.gold == row.items > 0 for row in self.record.truth)

    @property
    def any_several(self) -> bool:
        """Whether any task has several classes."""
        return any(row.several for row in self.record.truth)

    @cached_property
    def metric_names(self) -> dict[str, str]:
        """How the reader chooses a metric: its title, or its name where titles are alike."""
        titles = [one.title for one in self.record.metrics]
        return {
            one.name: one.title if titles.count(one.title) == 1 else one.name
            for one in self.record.metrics
        }

    @cached_property
    def scores(self) -> dict[tuple[str, str, str, str], Score]:
        """Scores by task, metric, labels and model."""
        return {(row.task, row.metric, row.labels, row.model): row for row in self.record.rows}

    @cached_property
    def pairs(self) -> dict[tuple[str, str, str, str, str], PairDifference]:
        """Differences by task, metric, labels and the two models."""
        return {
            (row.task, row.metric, row.labels, row.a, row.b): row
            for row in self.record.differences
        }

    @cached_property
    def front_task(self) -> str:
        """Which task comes first: the macro average if defined, else the first that is."""
        tasks = self.record.tasks
        for task in [tasks[-1], *tasks[:-1]]:
            own = (row for row in self.record.rows if row.task == task)
            if any(not math.isnan(row.value) for row in own):
                return task
        return tasks[0]

    def overview(self, finding: Finding) -> Finding:
        """A finding for the average over tasks."""
        return finding.under(task=self.record.tasks[-1] if len(self.record.tasks) > 1 else "")

    @property
    def task_columns(self) -> list[Column]:
        """The column of the task in tables that files hold for all tasks together."""
        return [Column("task", "task")] if len(self.record.tasks) > 1 else []

    @property
    def panel_columns(self) -> list[Column]:
        """The columns of task and metric in such tables."""
        metric = [Column("metric", "metric")] if len(self.record.metrics) > 1 else []
        return [*self.task_columns, *metric]

    def panels(self) -> list["Panel"]:
        """Every task with every metric, tasks first."""
        return [
            Panel(self, task, metric)
            for task in self.record.tasks
            for metric in self.record.metrics
        ]


@dataclass(frozen=True)
class Panel:
    """One task and one metric."""

    view: RunView
    task: str
    metric: MetricRecord

    @property
    def sign(self) -> int:
        """One where higher is better, else minus one."""
        return -1 if self.metric.better == "lower" else 1

    @property
    def labels(self) -> tuple[str, ...]:
        """Which truths the models were scored against, such as hard and soft."""
        return self.view.record.labels

    @property
    def truths(self) -> list[TruthRow]:
        """Truth of the task; for an average over tasks, of all tasks."""
        every = self.view.record.truth
        return [row for row in every if row.task == self.task] or list(every)

    def under(self, finding: Finding) -> Finding:
        """A finding, shown where the reader chose this task and metric."""
        return finding.under(task=self.task, metric=self.view.metric_names[self.metric.name])

    def title(self, labels: str) -> str:
        """Name the metric under these labels."""
        return (labels == SOFT and self.metric.soft_title) or self.metric.title

    def stored(self, labels: str, model: str) -> Score:
        """Score of one model as the run has it."""
        key = self.task, self.metric.name, labels, model
        return self.view.scores.get(
            key, Score(task=self.task, metric=self.metric.name, labels=labels, model=model)
        )

    def score(self, labels: str, model: str) -> Score:
        """Score of one model; what is undefined has no rank."""
        found = self.stored(labels, model)
        return (
            replace(found, rank=math.nan, p_best=math.nan) if math.isnan(found.value) else found
        )

    def ranked(self, labels: str) -> list[str]:
        """Models with a rank, best first; ties in the order of the run."""
        ranks = {model: self.score(labels, model).rank for model in self.view.models}
        return sorted((m for m in ranks if not math.isnan(ranks[m])), key=lambda m: ranks[m])

    @cached_property
    def order(self) -> list[str]:
        """All models in the order of every figure: by the last labels with ranks (soft)."""
        orders = [self.ranked(labels) for labels in self.labels]
        ranked = next((order for order in reversed(orders) if order), [])
        return ranked + [model for model in self.view.models if model not in ranked]

    def lead(self, labels: str, a: str, b: str) -> Lead:
        """How much better a is than b."""
        models = self.view.models
        swapped = models.index(a) > models.index(b)
        first, second = (b, a) if swapped else (a, b)
        found = self.view.pairs.get((self.task, self.metric.name, labels, first, second))
        if found is None:
            return Lead()
        turn = self.sign * (-1 if swapped else 1)
        low, high = (found.low, found.high) if turn > 0 else (-found.high, -found.low)
        better = 1 - found.p_better if swapped else found.p_better
        return Lead(
            value=turn * found.value,
            low=low,
            high=high,
            p_better=better,
            p_adjusted=found.p_adjusted,
            apart=found.separated,
            judgement=found.reverse if swapped else found.judgement,
        )

    def resampled(self, labels: str, model: str) -> Floats:
        """Replicates of one model."""
        record = self.view.record
        place = (
            record.tasks.index(self.task),
            record.metrics.index(self.metric),
            record.labels.index(labels),
            record.models.index(model),
        )
        return np.asarray(self.view.run.replicates[place])

    def identical(self, labels: str, a: str, b: str) -> bool:
        """Whether two models have the same score, in the data and in every resample."""
        if not abs(self.lead(labels, a, b).value) <= EXACT:
            return False
        first, second = (self.resampled(labels, model) for model in (a, b))
        return bool(np.allclose(first, second, rtol=0, atol=EXACT, equal_nan=True))

    def rank_shares(self, labels: str) -> Floats:
        """Share of resamples by model, in the order of the figures, and rank.

        A model whose score or shares are undefined has an empty row; without any share the
        array is empty.
        """
        for row in self.view.record.rank_probabilities:
            if (row.task, row.metric, row.labels) == (self.task, self.metric.name, labels):
                break
        else:
            return np.empty((0, 0))
        if not row.matrix.size:
            return np.empty((0, 0))
        places = [self.view.models.index(model) for model in self.order]
        shares = np.array(row.matrix, dtype=float)[places]
        known = [not math.isnan(self.score(labels, model).value) for model in self.order]
        shares[~np.array(known) | np.isnan(shares).any(axis=1)] = np.nan
        return shares if np.isfinite(shares).any() else np.empty((0, 0))

    @property
    def correlation(self) -> RankCorrelation:
        """How alike the orders by hard and soft labels are."""
        name = self.metric.name
        for row in self.view.record.rank_correlation:
            if (row.task, row.metric) == (self.task, name):
                return row
        return RankCorrelation(task=self.task, metric=name)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """All pairs, the model further up first."""
        return [(a, b) for i, a in enumerate(self.order) for b in self.order[i + 1 :]]

    @property
    def opening(self) -> str:
        """Opens a sentence that ranks models, where it holds for the items at hand."""
        return "On these items, " if self.view.fixed_items else ""

    def blank_word(self, labels: str) -> str:
        """What keeps models from a verdict: scores that are undefined, or infinite."""
        values = [self.score(labels, model).value for model in self.view.models]
        return "infinite" if any(math.isinf(value) for value in values) else UNDEFINED

    def verdict(self, labels: str) -> "Verdict":
        """Find the best models, the runner-up and those too close to tell."""
        ranked = self.ranked(labels)
        if ranked and self.score(labels, ranked[0]).value * self.sign == -math.inf:
            ranked = []
        first = self.score(labels, ranked[0]).rank if ranked else math.nan
        best = tuple(model for model in ranked if self.score(labels, model).rank == first)
        rest = ranked[len(best) :]
        close = tuple(m for m in rest if not self.lead(labels, best[0], m).separated)
        unranked = tuple(
            model for model in self.view.models if math.isnan(self.score(labels, model).rank)
        )
        return Verdict(self, labels, best, rest[0] if rest else None, close, unranked)

    def verdicts(self) -> list["Verdict"]:
        """Verdict under each kind of labels."""
        return [self.verdict(labels) for labels in self.labels]


@dataclass(frozen=True)
class Verdict:
    """The outcome of one panel under one kind of labels.

    Attributes
    ----------
    panel, labels
        Where the verdict holds.
    best
        Models that share the first rank, in the order of the run; empty if no model has one.
    runner_up
        The best model that is not among them.
    close
        Models after the best that the data do not separate from the first of them.
    unranked
        Models whose score is undefined.
    """

    panel: Panel
    labels: str
    best: tuple[str, ...]
    runner_up: str | None
    close: tuple[str, ...]
    unranked: tuple[str, ...]

    @property
    def lead(self) -> Lead:
        """Lead of the best over the runner-up."""
        if self.runner_up is None:
            return Lead()
        return self.panel.lead(self.labels, self.best[0], self.runner_up)

    @property
    def matters(self) -> bool:
        """Whether the lead over the runner-up is large enough to count."""
        least = self.panel.view.record.settings.matters
        return abs(self.lead.value) >= (HALF_DIGIT if least is None else least)

    @property
    def clear(self) -> bool:
        """Whether one model is separated from every other that has a score."""
        return len(self.best) == 1 and self.runner_up is not None and not self.close

    @property
    def blind(self) -> bool:
        """Whether all that keeps the best from being clear is that no interval is defined."""
        return bool(self.close) and not any(
            self.panel.lead(self.labels, self.best[0], other).defined for other in self.close
        )

    @property
    def identical(self) -> bool:
        """Whether the models that share the first rank agree in every resample."""
        return len(self.best) > 1 and all(
            self.panel.identical(self.labels, self.best[0], other) for other in self.best[1:]
        )
