"""The result of an evaluation: a table with intervals, and everything paired that follows.

Rows are models by task, metric and labels; ``rank`` is the average rank among the models, and
``p_best`` the share of resamples in which the model is best (ties share). An infinite score is
the worst (or best) of all; an undefined one leaves the ranks undefined.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from equipoise.arrays import Floats, InputError, frozen, listed, nearest
from equipoise.estimate import Estimate, Method
from equipoise.evaluation.influence import Influential
from equipoise.evaluation.truth import TaskTruth
from equipoise.metrics import Metric
from equipoise.notices import Notice
from equipoise.ranks import (
    average_ranks,
    beats,
    higher_is_better,
    kendall_tau_b,
    rank_probabilities,
    spearman,
)
from equipoise.resampling import Resampling

LABELS = ("hard", "soft")
MACRO = "macro average"


class Row(NamedTuple):
    """One line of the table."""

    task: str
    model: str
    metric: str
    labels: str
    value: float
    low: float
    high: float
    rank: float
    p_best: float


class Difference(NamedTuple):
    """Model a minus model b, paired replicate by replicate."""

    task: str
    metric: str
    labels: str
    a: str
    b: str
    value: float
    low: float
    high: float
    p_better: float


class Correlation(NamedTuple):
    """How the ranking by hard labels agrees with that by soft labels, and how stable each is.

    ``mean_spearman_*`` is the mean rank correlation of the replicates' order with the order
    of the values; ``soft_win_rate`` how often the soft order stays nearer to its own.
    """

    task: str
    metric: str
    spearman: float
    kendall_tau_b: float
    mean_spearman_hard: float
    mean_spearman_soft: float
    soft_win_rate: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Evaluation:
    """What `evaluate` returns.

    Attributes
    ----------
    tasks, models, metrics
        Names along the axes; the last task is the macro average when there are several.
    values, replicates
        Shape (tasks, metrics, labels, models), and the same with replicates last; labels
        are hard, then soft.
    widening
        By how much the spread of each task's replicates was widened, shape (tasks,); ranks and
        wins are counted on the replicates as drawn, so that their ties stay ties.
    plan, level, interval
        What was resampled, and how intervals are made.
    questions
        The truth of each task, on the items that were scored.
    scores
        What each model said of the items of each question, by model: shape (items,) or
        (items, classes). May be empty.
    influential
        Items that decide between the two best models of each task.
    notices
        What the user should know; the text of each is its sentence.
    """

    tasks: tuple[str, ...]
    models: tuple[str, ...]
    metrics: tuple[Metric, ...]
    values: Floats
    replicates: Floats
    plan: Resampling
    level: float = 0.95
    interval: Method = "percentile"
    widening: tuple[float, ...] = ()
    questions: tuple[TaskTruth, ...] = ()
    scores: tuple[Mapping[str, Floats], ...] = ()
    influential: tuple[Influential, ...] = ()
    notices: tuple[Notice, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", frozen(self.values))
        object.__setattr__(self, "replicates", frozen(self.replicates))
        kept = tuple({m: frozen(x) for m, x in each.items()} for each in self.scores)
        object.__setattr__(self, "scores", kept)

    def __repr__(self) -> str:
        return (
            f"Evaluation({len(self.models)} models, {len(self.tasks)} tasks, "
            f"{', '.join(one.name for one in self.metrics)}; {self.plan.kind}, "
            f"{self.plan.replicates} replicates)"
        )

    def estimate(
        self, model: str, metric: str, *, labels: str = "soft", task: str | None = None
    ) -> Estimate:
        """One number with its replicates.

        Without a task: the only one, or the macro average.
        """
        return self._estimate(
            *self._cell(metric, labels, task), _place("model", model, self.models)
        )

    def table(self) -> list[Row]:
        """Every model in every task, metric and kind of label."""
        rows = []
        for t, k, label in self._cells():
            good = self._good(t, k, label)
            ranks = average_ranks(
                higher_is_better(self.values[t, k, label], self.metrics[k].better)
            )
            best = rank_probabilities(good, self.plan.weights)[:, 0]
            for m, model in enumerate(self.models):
                estimate = self._estimate(t, k, label, m)
                low, high = estimate.interval(self.level)
                rows.append(
                    Row(
                        self.tasks[t],
                        model,
                        self.metrics[k].name,
                        LABELS[label],
                        estimate.value,
                        low,
                        high,
                        float(ranks[m]),
                        float(best[m]),
                    )
                )
        return rows

    def differences(
        self, metric: str, *, labels: str = "soft", task: str | None = None
    ) -> list[Difference]:
        """Paired differences between any two models, in the order of the models."""
        t, k, label = self._cell(metric, labels, task)
        every = combinations(range(len(self.models)), 2)
        return self._differences((t, k, label), list(every))

    def to_best(
        self, metric: str, *, labels: str = "soft", task: str | None = None
    ) -> list[Difference]:
        """Paired differences of the best model to each other, smallest first."""
        t, k, label = self._cell(metric, labels, task)
        good = higher_is_better(self.values[t, k, label], self.metrics[k].better)
        if np.isnan(good).all():
            return []
        best = int(np.nanargmax(good))
        others = [int(m) for m in np.argsort(-good, kind="stable") if m != best]
        return self._differences((t, k, label), [(best, b) for b in others])

    def rank_probabilities(
        self, metric: str, *, labels: str = "soft", task: str | None = None
    ) -> Floats:
        """How often each model holds each rank, shape (models, ranks)."""
        t, k, label = self._cell(metric, labels, task)
        return rank_probabilities(self._good(t, k, label), self.plan.weights)

    def rank_correlation(self, metric: str, *, task: str | None = None) -> Correlation:
        """Agreement of hard and soft rankings, and the stability of each."""
        t, k, _ = self._cell(metric, "soft", task)
        hard, soft = self.values[t, k]
        stable = [
            spearman(np.broadcast_to(self.values[t, k, x][:, None], reps.shape), reps)
            for x, reps in enumerate(self._drawn(t, k, x) for x in range(len(LABELS)))
        ]
        rounded = np.round(np.stack(stable), 12)
        lost = np.isnan(rounded).any(axis=0)
        both = rounded if lost.all() else np.where(lost, np.nan, rounded)
        first, second = (_mean(one, self.plan.weights) for one in both)
        wins = (rounded[1] > rounded[0]) + (rounded[1] == rounded[0]) / 2
        return Correlation(
            self.tasks[t],
            self.metrics[k].name,
            float(spearman(hard, soft)),
            float(kendall_tau_b(hard, soft)),
            first,
            second,
            _mean(np.where(lost, np.nan, wins), self.plan.weights),
        )

    def _good(self, t: int, k: int, label: int) -> Floats:
        """Replicates as drawn, as higher-is-better, shape (models, replicates)."""
        good = higher_is_better(self._drawn(t, k, label), self.metrics[k].better)
        undefined = np.isnan(self.values[t, k, label]).any()
        return np.full(good.shape, np.nan) if undefined else good

    def _drawn(self, t: int, k: int, label: int) -> Floats:
        """Replicates as drawn, before their spread was widened, shape (models, replicates)."""
        if not self.widening or set(self.widening) == {1.0}:
            return np.asarray(self.replicates[t, k, label])
        tasks = range(len(self.widening)) if self.tasks[t] == MACRO else [t]
        drawn = [
            narrowed(self.replicates[x, k, label], self.widening[x], self.plan.weights)
            for x in tasks
        ]
        if len(drawn) == 1:
            return drawn[0]
        known = [x for x in tasks if not np.isnan(self.values[x, k, label]).any()]
        return np.asarray(np.mean([drawn[x] for x in known or [0]], axis=0))

    def _cells(self) -> Iterator[tuple[int, int, int]]:
        return (
            (t, k, label)
            for t in range(len(self.tasks))
            for k in range(len(self.metrics))
            for label in range(len(LABELS))
        )

    def _cell(self, metric: str, labels: str, task: str | None) -> tuple[int, int, int]:
        return (
            len(self.tasks) - 1 if task is None else _place("task", task, self.tasks),
            _place("metric", metric, tuple(one.name for one in self.metrics)),
            _place("labels", labels, LABELS),
        )

    def _estimate(self, t: int, k: int, label: int, m: int) -> Estimate:
        metric = self.metrics[k]
        single = self.plan.group is None and self.tasks[t] != MACRO
        wilson = metric.trials is not None and LABELS[label] == "hard" and single
        return Estimate(
            float(self.values[t, k, label, m]),
            self.replicates[t, k, label, m],
            self.plan.fingerprint,
            metric.bounds,
            "wilson" if wilson else self.interval,
            metric.trials if wilson else None,
            weights=self.plan.weights,
        )

    def _differences(
        self, cell: tuple[int, int, int], pairs: list[tuple[int, int]]
    ) -> list[Difference]:
        """First minus second model of each pair."""
        t, k, label = cell
        where = self.tasks[t], self.metrics[k].name, LABELS[label]
        every = [self._estimate(t, k, label, m) for m in range(len(self.models))]
        win, found = beats(self._good(t, k, label), self.plan.weights), []
        for a, b in pairs:
            gap = every[a] - every[b]
            low, high = gap.interval(self.level)
            two = self.models[a], self.models[b]
            found.append(Difference(*where, *two, gap.value, low, high, float(win[a, b])))
        return found


def _place(what: str, name: str, known: tuple[str, ...]) -> int:
    if name not in known:
        raise InputError(
            f"evaluation, {what}",
            f"{name!r}",
            f"one of {listed(known, most=8)}",
            nearest(name, known),
        )
    return known.index(name)


def widened(replicates: Floats, factor: float, weights: Floats | None = None) -> Floats:
    """Widen the spread around the mean of the finite replicates, on the last axis."""
    if factor == 1:
        return replicates
    counts = np.ones(replicates.shape[-1]) if weights is None else weights
    defined = np.where(np.isfinite(replicates), counts, 0.0)
    number = defined.sum(axis=-1, keepdims=True)
    finite = np.where(defined > 0, replicates, 0.0)
    centre = (finite * defined).sum(axis=-1, keepdims=True) / np.where(number > 0, number, 1.0)
    return np.asarray(centre + factor * (replicates - centre))


def narrowed(replicates: Floats, factor: float, weights: Floats | None = None) -> Floats:
    """Undo `widened`; the mean is the same before and after."""
    return widened(replicates, 1 / factor, weights)


def _mean(values: Floats, weights: Floats | None) -> float:
    """Mean of what is defined."""
    known = ~np.isnan(values)
    if not known.any():
        return math.nan
    counts = None if weights is None else weights[known]
    return float(np.average(values[known], weights=counts))
