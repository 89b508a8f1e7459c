"""The result of an evaluation: a table with intervals, and everything paired that follows.

Rows are models by task, metric and labels. ``low`` and ``high`` are the interval of this value
alone, for items and annotators like these. ``rank`` is the average rank among the models,
``rank_low`` and ``rank_high`` the ranks that the data allow, of all models at once, and of all
tasks at once where a task is meant and not their average. ``p_best``
is the share of resamples in which the model is best (ties share). An infinite score is the
worst (or best) of all; an undefined one leaves the ranks undefined.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from equipoise.inference import Family, Population, TwoWay, family, judge, normal_replicates
from equipoise.inference.estimate import Estimate
from equipoise.inference.intervals import best_claims
from equipoise.inference.looks import Look
from equipoise.inference.ranks import (
    average_ranks,
    beats,
    higher_is_better,
    rank_probabilities,
)
from equipoise.inference.resampling import Resampling
from equipoise.inference.spread import Spread
from equipoise.metrics import Metric
from equipoise.read.tables import rows_to_frame
from equipoise.study.blocks import LABELS
from equipoise.study.thresholds import UsedThreshold
from equipoise.study.truth import TaskTruth
from equipoise.types import (
    Annotations,
    Claim,
    ClaimFamily,
    Estimand,
    Floats,
    InputError,
    Names,
    Notices,
    Predictions,
    choice,
    frozen,
    immutable,
    joined,
    listed,
    nearest,
)

if TYPE_CHECKING:
    from equipoise.report.notebook import Plots
    from equipoise.types import Card

Cells = tuple[tuple[tuple[TwoWay, ...], ...], ...]  # by task, metric and labels
MACRO = "macro average"
INFERENCES = {
    "two-way": "two-way t",
    "mrmc": "two-way t",
    "per_reader_truth": "Obuchowski-Rockette, Hillis' degrees of freedom",
}


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
    standard_error: float = math.nan
    df: float = math.nan
    rank_low: float = math.nan
    rank_high: float = math.nan


class Difference(NamedTuple):
    """Model a minus model b, paired.

    The interval and ``p`` are of this difference alone; ``p_adjusted`` is that among all
    pairs (of a task: of all tasks), by which ``separated`` says whether a and b are surely
    apart. ``judgement`` is what
    the margin makes of a against b, where there is one, and ``reverse`` of b against a.
    """

    task: str
    metric: str
    labels: str
    a: str
    b: str
    value: float
    low: float
    high: float
    p_better: float
    standard_error: float = math.nan
    df: float = math.nan
    p: float = math.nan
    p_adjusted: float = math.nan
    separated: bool = False
    judgement: str = ""
    reverse: str = ""


@immutable(eq=False, kw_only=True)
class Evaluation:
    """What `evaluate` returns.

    Attributes
    ----------
    tasks, models, metrics
        Names along the axes; the last task is the macro average when there are several.
    values, replicates
        Shape (tasks, metrics, labels, models), and the same with replicates last; labels
        are hard, then soft.
    plan, level
        What was resampled, and the level of the intervals.
    cells
        What the uncertainty of all models is made of, by task, metric and labels.
    inference, margin, matters, labels, looks
        As in `Settings`; the last look is this one.
    together
        How many evaluations like this one are one family, such as tasks of other truths.
    questions
        The truth of each task, on the items that were scored.
    scores
        What each model said of the items of each question, by model: shape (items,) or
        (items, classes). May be empty.
    decided
        What thresholds make of these scores, by model, shape (items,).
    thresholds
        The thresholds by which metrics of decisions decide, with where they come from.
    notices
        What the user should know; the text of each is its sentence.
    predictions, annotations
        What was scored, as it was given; annotations are None where the truth is no votes.
    frame
        The caller's kind of dataframe, such as ``pandas``; empty where none was given.
    """

    tasks: Names
    models: Names
    metrics: tuple[Metric, ...]
    values: Floats
    replicates: Floats
    plan: Resampling
    level: float = 0.95
    cells: Cells = ()
    inference: str = "two-way"
    margin: float | None = None
    matters: float | None = None
    labels: str = "soft"
    looks: tuple[Look, ...] = ()
    together: int = 1
    questions: tuple[TaskTruth, ...] = ()
    scores: tuple[Mapping[str, Floats], ...] = ()
    decided: tuple[Mapping[str, Floats], ...] = ()
    thresholds: tuple[UsedThreshold, ...] = ()
    notices: Notices = ()
    predictions: tuple[Predictions, ...] = ()
    annotations: Annotations | None = None
    frame: str = ""
    _families: dict[tuple[int, int, int], Family] = field(default_factory=dict, repr=False)
    _rows: dict[tuple[int, ...], list[Any]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", frozen(self.values))
        object.__setattr__(self, "replicates", frozen(self.replicates))
        scores = tuple({m: frozen(x) for m, x in by_model.items()} for by_model in self.scores)
        object.__setattr__(self, "scores", scores)

    def __repr__(self) -> str:
        tasks = f"{len(self.tasks)} tasks, " if len(self.tasks) > 1 else ""
        names = joined([metric.name for metric in self.metrics], most=4)
        return (
            f"Evaluation({len(self.models)} models, {tasks}{names}; {self.plan.kind}, "
            f"{self.plan.replicates} replicates)"
        )

    # ---- for notebooks -----------------------------------------------------------------------

    def to_dataframe(self, what: str = "scores", *, backend: str = "") -> Any:
        """Rows as a dataframe of the caller's own kind.

        Parameters
        ----------
        what
            ``scores``: every model in every task, metric and kind of label; or
            ``differences``: every pair of models in them.
        backend
            Another kind: ``pandas``, ``polars``, ``pyarrow``. Without one it is that of the
            frames that `evaluate` was given, and pyarrow where there were none.

        Examples
        --------
        >>> from equipoise import evaluate
        >>> from equipoise.datasets.demo import reading_study
        >>> readings, scores = reading_study()
        >>> result = evaluate(scores, readings, metrics=["auroc"])
        >>> result.to_dataframe("differences").column_names[:5]
        ['task', 'metric', 'labels', 'a', 'b']
        """
        choice("to_dataframe", what, ("scores", "differences"))
        kind = backend or self.frame
        if what == "scores":
            return rows_to_frame(self.table(), Row._fields, kind)
        rows = [
            row
            for t, k, label in np.ndindex(self.values.shape[:3])
            for row in self.differences(
                self.metrics[k].name, labels=LABELS[label], task=self.tasks[t]
            )
        ]
        return rows_to_frame(rows, Difference._fields, kind)

    @property
    def verdict(self) -> "Card":
        """The answer; as text it is one sentence."""
        from equipoise.report.answer import evaluation_card

        return evaluation_card(self)

    @property
    def plot(self) -> "Plots":
        """Figures that a notebook shows: ``result.plot.forest()``."""
        from equipoise.report.notebook import Plots

        return Plots(self)

    def report(self, path: str | Path, *, title: str = "") -> Path:
        """Write one self-contained page about all of this; returns its path."""
        from equipoise.report.notebook import write_page

        return write_page(self, path, title=title)

    def _repr_html_(self) -> str:
        from equipoise.report.notebook import notebook_html

        return notebook_html(self)

    # ---- numbers -----------------------------------------------------------------------------

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
        if () not in self._rows:
            self._rows[()] = list(self._table())
        return list(self._rows[()])

    def _table(self) -> Iterator[Row]:
        for t, k, label in np.ndindex(self.values.shape[:3]):
            good = self._good(t, k, label)
            ranks = average_ranks(
                higher_is_better(self.values[t, k, label], self.metrics[k].better)
            )
            best = rank_probabilities(good, self.plan.weights)[:, 0]
            for m, model in enumerate(self.models):
                estimate = self._estimate(t, k, label, m)
                low, high = estimate.interval(self.level)
                rank_range = self._family(t, k, label).ranks[m]
                ends = tuple(float(rank) if rank else math.nan for rank in rank_range)
                spread = estimate.spread
                yield Row(
                    self.tasks[t],
                    model,
                    self.metrics[k].name,
                    LABELS[label],
                    estimate.value,
                    low,
                    high,
                    float(ranks[m]),
                    float(best[m]),
                    estimate.standard_error,
                    math.nan if spread is None else spread.df,
                    *ends,
                )

    def subset(self, models: Sequence[str]) -> "Evaluation":
        """The same of some models, in their order; notices stay behind."""
        rows = [_place("model", name, self.models) for name in models]
        return replace(
            self,
            models=tuple(models),
            values=self.values[..., rows],
            replicates=self.replicates[..., rows, :],
            cells=tuple(
                tuple(tuple(cell.subset(rows) for cell in both) for both in by_metric)
                for by_metric in self.cells
            ),
            scores=tuple({name: by_model[name] for name in models} for by_model in self.scores),
            decided=tuple(
                {name: by_model[name] for name in models if name in by_model}
                for by_model in self.decided
            ),
            thresholds=tuple(
                threshold for threshold in self.thresholds if threshold.model in models
            ),
            predictions=tuple(
                model for name in models for model in self.predictions if model.model == name
            ),
            notices=(),
            _families={},
            _rows={},
        )

    def across_seeds(
        self, methods: Mapping[str, Sequence[str]], *, shared: bool = False
    ) -> "Evaluation":
        """Several runs of a method with different seeds as one competitor.

        Its value is the mean over its runs; its interval counts what other seeds would change
        beside other items and annotators.

        Parameters
        ----------
        methods
            By method that chance has a part in, its runs among the models; models that no
            method names stay as they are.
        shared
            Whether the s-th runs of all methods share what chance decided, such as a split of
            the data; else the runs of different methods are independent.

        Examples
        --------
        >>> from equipoise import evaluate
        >>> from equipoise.datasets.demo import reading_study
        >>> readings, scores = reading_study()
        >>> result = evaluate(scores[:3], readings, metrics=["auroc"])
        >>> runs = [model.model for model in scores[:2]]
        >>> len(result.across_seeds({"both": runs}).models)
        2
        """
        from equipoise.study.seeds import average_runs

        return average_runs(self, methods, shared=shared)

    def two_way(self, metric: str, *, labels: str = "soft", task: str | None = None) -> TwoWay:
        """What the uncertainty of all models in one question is made of."""
        t, k, label = self._cell(metric, labels, task)
        return self.cells[t][k][label]

    def family(self, metric: str, *, labels: str = "soft", task: str | None = None) -> Family:
        """Simultaneous statements about all pairs of models in one question.

        Those on a task hold together with those on all other tasks.
        """
        return self._family(*self._cell(metric, labels, task))

    @property
    def interval(self) -> str:
        """How intervals are made, in a few words."""
        return INFERENCES[self.inference]

    @property
    def population(self) -> Population:
        """Whom the results speak for."""
        return self.cells[-1][0][-1].population

    def _family(self, t: int, k: int, label: int) -> Family:
        key = (t, k, label)
        if key not in self._families:
            higher = self.metrics[k].better == "higher"
            cell, single = self.cells[t][k][label], self.tasks[t] == MACRO
            tasks = 1 if single else max(len(self.tasks) - 1, 1)  # all but their average
            tasks *= self.together
            self._families[key] = family(cell, higher=higher, level=self.level, questions=tasks)
        return self._families[key]

    def claims(
        self, metric: str, *, labels: str = "soft", task: str | None = None
    ) -> tuple[Claim, ...]:
        """What is claimed of every model next to the best there is, all pairs at once."""
        t, k, label = self._cell(metric, labels, task)
        cell, every = self.cells[t][k][label], self._family(t, k, label)
        good = higher_is_better(self.values[t, k, label], self.metrics[k].better)
        title, task = self.metrics[k].called(labels), self.tasks[t]
        where, several = f" ({task})" if task else "", len(self.tasks) > 1 and task != MACRO
        several |= self.together > 1
        among = f"{title} in every task" if several else f"{title}{where}"
        family = ClaimFamily(f"all pairs of models by {among}", len(self.models))
        whose = cell.population.whose(labels)
        estimand, whom = (
            Estimand(f"{title}{where}", whose, "", "the best"),
            cell.population.whom,
        )
        whom, level = cell.population.whom, self.level
        like = Claim(estimand, whom, family, 0.0, 0.0, 0.0, level, self.margin)
        return tuple(best_claims(cell, every, good, self.models, like))

    def differences(
        self, metric: str, *, labels: str = "soft", task: str | None = None
    ) -> list[Difference]:
        """Paired differences between any two models, in the order of the models."""
        t, k, label = self._cell(metric, labels, task)
        if (t, k, label) not in self._rows:
            pairs = combinations(range(len(self.models)), 2)
            self._rows[t, k, label] = self._differences((t, k, label), list(pairs))
        return list(self._rows[t, k, label])

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

    def _good(self, t: int, k: int, label: int) -> Floats:
        """Replicates as higher-is-better, shape (models, replicates)."""
        return higher_is_better(self.drawn(t, k, label), self.metrics[k].better)

    def drawn(self, t: int, k: int, label: int) -> Floats:
        """Replicates of a task, metric and kind of labels, shape (models, replicates).

        Where the value of any model is undefined, so are the replicates of all: models are
        compared on the same tasks or not at all.
        """
        defined = not np.isnan(self.values[t, k, label]).any()
        return np.where(defined, self.replicates[t, k, label], np.nan)

    def _cell(self, metric: str, labels: str, task: str | None) -> tuple[int, int, int]:
        return (
            len(self.tasks) - 1 if task is None else _place("task", task, self.tasks),
            _place("metric", metric, tuple(entry.name for entry in self.metrics)),
            _place("labels", labels, LABELS),
        )

    def _estimate(self, t: int, k: int, label: int, m: int) -> Estimate:
        return Estimate.of(
            self.cells[t][k][label],
            m,
            self.replicates[t, k, label, m],
            self.plan.fingerprint,
            self.metrics[k].bounds,
            self.plan.weights,
        )

    def _judged(self, lead: float, spread: Spread, every: Family, pair: tuple[int, int]) -> str:
        """What the margin makes of a lead, never more than all pairs at once allow."""
        assert self.margin is not None
        alone = len(self.models) == 2 and len(self.tasks) == 1
        low, high = spread.interval(lead, self.level)
        if not alone:
            half = every.critical * spread.standard_error
            low, high = lead - half, lead + half
        ends = every.ends(*pair, low, high)
        return judge(lead, spread, self.margin, self.level, ends, alone=alone).value

    def _differences(
        self, cell: tuple[int, int, int], pairs: list[tuple[int, int]]
    ) -> list[Difference]:
        """First minus second model of each pair."""
        t, k, label = cell
        where = self.tasks[t], self.metrics[k].name, LABELS[label]
        estimates = [self._estimate(t, k, label, m) for m in range(len(self.models))]
        win, rows = beats(self._good(t, k, label), self.plan.weights), []
        every_pair = self._family(t, k, label)
        for a, b in pairs:
            gap = estimates[a] - estimates[b]
            low, high = gap.interval(self.level)
            two = self.models[a], self.models[b]
            spread = gap.spread
            tested, judged = (math.nan,) * 3, ("", "")
            if spread is not None:
                tested = spread.standard_error, spread.df, spread.p_value(gap.value)
            if spread is not None and self.margin is not None and not math.isnan(low):
                sign = 1 if self.metrics[k].better == "higher" else -1
                judged = (
                    self._judged(sign * gap.value, spread, every_pair, (a, b)),
                    self._judged(-sign * gap.value, spread, every_pair, (b, a)),
                )
            adjusted = float(every_pair.p[a, b])
            apart = bool(every_pair.better[a, b] or every_pair.better[b, a])
            share = float(win[a, b])
            ends = gap.value, low, high, share
            rows.append(Difference(*where, *two, *ends, *tested, adjusted, apart, *judged))
        return rows


def _place(what: str, name: str, names: Names) -> int:
    if name not in names:
        raise InputError(
            f"evaluation, {what}",
            f"{name!r}",
            f"one of {listed(names, most=8)}",
            nearest(name, names),
        )
    return names.index(name)


def normal_values(cells: Cells, plan: Resampling, models: Names) -> Floats:
    """Replicates without resampling: jointly normal with the two-way covariance."""
    drawn = partial(
        normal_replicates,
        replicates=plan.replicates,
        key=int(plan.key("influence")),
        models=models,
    )
    return np.array([[[drawn(cell) for cell in both] for both in task] for task in cells])
