"""TaskScorer: one task with its votes and models, scored against any labels and any items.

Leaving an annotator, a vote or an item out changes the labels and which items count; the
models stay sorted as they are. With several tasks every number is the average over those for
which the metric is defined on the whole panel.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.inference.estimate import Estimate
from equipoise.inference.resampling import Resampling, resample
from equipoise.metrics import Metric, Prepared
from equipoise.scale.engine import current
from equipoise.study import MACRO
from equipoise.study.alignment import Aligned, align
from equipoise.study.analyses.options import AnalysisOptions, checked_options
from equipoise.study.analyses.words import as_notices
from equipoise.study.arguments import as_annotations, as_predictions
from equipoise.study.blocks import chunk_width, pair
from equipoise.study.cautions import missing_classes
from equipoise.study.truth import PanelDraw, TaskTruth, task_truths
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Floats, InputError, Ints, frozen, listed
from equipoise.types.notices import Notice
from equipoise.types.predictions import Predictions
from equipoise.types.votes import Votes
from equipoise.types.words import Option, hint

MOST_BYTES = 2 * 2**30  # of item counts
BUDGET = 2**27  # labels of items, times models, that are scored in all resamples together
FEWEST = 200  # resamples that are drawn however many items
Given = Predictions | Iterable[Predictions]


class _ChunkScorer(NamedTuple):
    """All that scores of a chunk of replicates are made of; may be sent to other processes."""

    metric: Metric
    prepared: Sequence[Prepared]
    shares: Sequence[Floats]
    counts: NDArray[np.uint8]
    ties: str
    soft: bool

    def scored(self, part: slice) -> Floats:
        """Value of each prediction in some replicates, shape (predictions, replicates)."""
        labels = [share if share.ndim == 1 else share[:, part] for share in self.shares]
        times = np.ascontiguousarray(self.counts[:, part])
        whole = self.metric.labels == "distribution"
        block = pair(labels, times, whole=whole, ties=self.ties)[self.soft]
        return np.stack(
            [self.metric.finish(self.metric.reduce(p, block)) for p in self.prepared]
        )


@dataclass(frozen=True, eq=False)
class TaskScorer:
    """One task.

    Attributes
    ----------
    aligned
        The question and the scores of every model on its items.
    metric, labels
        What is computed, against hard or soft labels.
    prepared
        What the metric prepared for each model.
    """

    aligned: Aligned
    metric: Metric
    labels: str
    prepared: tuple[Prepared, ...]

    @property
    def question(self) -> TaskTruth:
        """The truth of the task."""
        return self.aligned.question

    def prepare(self, scores: Floats) -> Prepared:
        """Prepare other scores than the models': (items,), or (items, classes)."""
        if self.metric.labels == "distribution" and scores.ndim == 1:
            return self.metric.prepare(np.stack([1 - scores, scores], axis=1))
        return self.metric.prepare(scores)

    def scored(
        self,
        shares: Sequence[Floats],
        counts: NDArray[np.uint8],
        prepared: Sequence[Prepared] | None = None,
    ) -> Floats:
        """Value of each model, or of each prediction prepared, shape (models, replicates).

        Parameters
        ----------
        shares
            Soft labels by class, each (items,), or (items, replicates).
        counts
            How often each item stands in each replicate, shape (items, replicates).
        """
        predictions = self.prepared if prepared is None else prepared
        width = chunk_width(len(counts), len(shares))
        parts = [slice(a, a + width) for a in range(0, counts.shape[1], width)]
        chunk = _ChunkScorer(
            self.metric, predictions, shares, counts, self.question.ties, self.labels == "soft"
        )
        return np.concatenate(current().map(chunk.scored, parts), axis=1)

    def full(self) -> Floats:
        """Value of each model on all votes, shape (models,)."""
        once = np.ones((len(self.question.items), 1), dtype=np.uint8)
        return np.asarray(self.scored(list(self.question.shares), once)[:, 0])

    def item_counts(self, plan: Resampling) -> NDArray[np.uint8]:
        """How often each item of the task stands in each replicate of the plan."""
        return plan.item_counts(0, plan.replicates)[self.question.place]

    @property
    def votes(self) -> Votes:
        """Who voted for what."""
        assert self.question.votes is not None
        return self.question.votes

    def panel(self, annotators: int) -> PanelDraw:
        """The votes, ready to leave annotators out."""
        return PanelDraw.prepare(self.votes, self.question.masses, annotators)


@dataclass(frozen=True, eq=False)
class ModelScorer:
    """All subjects of one analysis, the plan they share, and what the user should be told."""

    task: str
    models: tuple[str, ...]
    subjects: tuple[TaskScorer, ...]
    plan: Resampling
    asked: AnalysisOptions
    notices: tuple[Notice, ...]

    @property
    def metric(self) -> Metric:
        """The metric of all subjects."""
        return self.subjects[0].metric

    @property
    def facts(self) -> dict[str, Any]:
        """What every result says of the study: the fields of `AnalysisResult` but notices."""
        return {
            "task": self.task,
            "metric": self.metric.name,
            "better": self.metric.better,
            "labels": self.asked.labels,
            "models": self.models,
            "level": self.asked.level,
        }

    def votes_given(self, annotators: int) -> Ints:
        """How many votes each annotator gave in all tasks, gold aside, (annotators,)."""
        voters = np.concatenate([votes.annotator for votes in self.votes])
        return np.bincount(voters[voters >= 0], minlength=annotators)

    @property
    def votes(self) -> list[Votes]:
        """The votes of each subject."""
        return [task.votes for task in self.subjects]

    @property
    def cells(self) -> int:
        """Labels of all items, times models: what scoring everything once costs."""
        questions = [task.question for task in self.subjects]
        labels = sum(len(question.items) * len(question.classes) for question in questions)
        return labels * len(self.models)

    def ends(self, value: Any, replicates: Any, *, difference: bool = False) -> Floats:
        """Percentile intervals; value (...), replicates (..., replicates), result (2, ...)."""
        low, high = self.metric.bounds
        bounds = (low - high, high - low) if difference else (low, high)
        shape, number = np.shape(value), np.shape(replicates)[-1]
        pairs = zip(np.ravel(value), np.reshape(replicates, (-1, number)), strict=True)
        ends = [
            Estimate(float(estimate), drawn, "", bounds).interval(self.asked.level)
            for estimate, drawn in pairs
        ]
        return np.array(ends).reshape(-1, 2).T.reshape(2, *shape)


def affordable(scorer: ModelScorer) -> ModelScorer:
    """The same with fewer resamples where the items are so many that all would take long."""
    number, notices = affordable_resamples(scorer.plan, scorer.cells)
    if not notices:
        return scorer
    plan = replace(scorer.plan, replicates=number)
    return replace(scorer, plan=plan, notices=(*scorer.notices, *notices))


def affordable_resamples(plan: Resampling, cells: int) -> tuple[int, list[Notice]]:
    """How many resamples may be scored, each so many labels, and what is said of fewer."""
    number = max(FEWEST, BUDGET // cells)
    if number >= plan.replicates:
        return plan.replicates, []
    return number, [fewer_drawn("resamples", plan, number)]


def fewer_drawn(what: str, plan: Resampling, number: int) -> Notice:
    """Say that fewer resamples, or panels of a size, are drawn than were asked for."""
    text = (
        f"For {{items:count}} items {{drawn:count}} {what} are drawn instead of "
        "{asked:count}, to keep the time in bounds."
    )
    values = {"items": len(plan.items), "drawn": number, "asked": plan.replicates}
    return Notice(f"fewer_{what.split()[0]}", text, (), values)


def study(predictions: Given, annotations: Annotations, how: Mapping[str, Any]) -> ModelScorer:
    """Align models and votes, and make the plan over items that everything shares.

    `how` are keywords of a caller, which are checked: see `AnalysisOptions`.
    """
    wanted = checked_options(AnalysisOptions, how)
    metric = wanted.scored
    models_given, annotations = as_predictions(predictions), as_annotations(annotations)
    if wanted.task is not None:
        annotations.in_task(wanted.task)
        models_given = [
            prediction for prediction in models_given if prediction.task == wanted.task
        ]
    truths = [replace(truth, ties=wanted.ties) for truth in task_truths(annotations)]
    posed = [truth for truth in truths if wanted.task in (None, truth.task)]
    aligned, notices = align(models_given, posed, on_missing=wanted.on_missing)
    subjects = [_subject(task_aligned, metric, wanted.labels) for task_aligned in aligned]
    defined, undefined = _defined(subjects)
    plan = resample(annotations, "items", replicates=wanted.replicates, seed=wanted.seed)
    if max(len(task.question.items) for task in defined) * plan.replicates > MOST_BYTES:
        got = f"{plan.replicates:,} replicates of {len(plan.items):,} items"
        most = f"at most {MOST_BYTES:,} item counts"
        raise InputError("stability", got, most, "ask for fewer replicates")
    return ModelScorer(
        task=MACRO if len(posed) > 1 else posed[0].task,
        models=tuple(aligned[0].scores),
        subjects=tuple(defined),
        plan=plan,
        asked=wanted,
        notices=as_notices(annotations.notices, notices, undefined),
    )


def _subject(aligned: Aligned, metric: Metric, labels: str) -> TaskScorer:
    question = aligned.question
    if metric.ordered and not question.ordered and len(question.classes) > 1:
        got = f"classes without an order ({listed(question.classes)})"
        do = hint("read the annotations with {}", Option("kind", "ordinal"))
        raise InputError(f"metric {metric.name}", got, "grades in a known order", do)
    number, least = len(question.items), f"at least {metric.min_items}"
    if number < metric.min_items:
        where = f"metric {metric.name}"
        raise InputError(where, f"{number} items", least, "choose a smaller k")
    return task_scorer(aligned, metric, labels)


def task_scorer(aligned: Aligned, metric: Metric, labels: str) -> TaskScorer:
    """Prepare all models of a task."""
    metric = metric.among(aligned.question.classes)
    prepared = (metric.prepare(aligned.seen(model, metric)) for model in aligned.scores)
    return TaskScorer(aligned, metric, labels, tuple(prepared))


def _defined(subjects: list[TaskScorer]) -> tuple[list[TaskScorer], list[Notice]]:
    """Leave tasks out of the average whose metric is undefined, and say so."""
    if len(subjects) == 1:
        return subjects, []
    fine = [task for task in subjects if not np.isnan(task.full()).any()]
    if not fine:
        where, do = f"metric {subjects[0].metric.name}", "choose another metric"
        expected = "both classes among the labels of a task"
        raise InputError(where, "undefined in every task", expected, do)
    undefined = []
    for task in subjects:
        if task not in fine:
            why = str(missing_classes(task.question, task.labels))
            text, about = "Left out of the average: {why}.", (task.question.task,)
            undefined.append(Notice("undefined_task", text, about, {"why": why}))
    return fine, undefined


def freeze(result: Any) -> None:
    """Make every array of a frozen result read-only."""
    for field in fields(result):
        value = getattr(result, field.name)
        if isinstance(value, np.ndarray):
            object.__setattr__(result, field.name, frozen(value))


def mean_over_tasks(parts: Sequence[Floats]) -> Floats:
    """Average of what every subject gave, undefined where one of them is."""
    return np.asarray(np.mean(np.stack(parts), axis=0))
