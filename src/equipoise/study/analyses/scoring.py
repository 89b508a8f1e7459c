"""TaskScorer: one task with its votes and models, scored against any labels and any items.

Leaving an annotator, a vote or an item out changes the labels and which items count; the
models stay sorted as they are. With several tasks every number is the average over those for
which the metric is defined on the whole panel.
"""

from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.inference.resampling import Resampling, resample
from equipoise.metrics import Metric, Prepared
from equipoise.scale.engine import current
from equipoise.study import MACRO
from equipoise.study.alignment import Aligned
from equipoise.study.analyses.words import as_notices
from equipoise.study.blocks import chunk_bytes, chunk_width, pair
from equipoise.study.cautions import missing_classes
from equipoise.study.scoring import metrics_of_tasks
from equipoise.study.study import Settings, Study
from equipoise.study.truth import TaskTruth
from equipoise.types import (
    Floats,
    InputError,
    Names,
    Notice,
    Notices,
    Progress,
    Votes,
    frozen,
    immutable,
)


def _scored_part(
    task: "TaskScorer",
    prepared: Sequence[Prepared],
    shares: Sequence[Floats],
    counts: NDArray[np.uint8],
    part: slice,
) -> Floats:
    """Value of each prediction in some replicates, shape (predictions, replicates)."""
    labels = [share if share.ndim == 1 else share[:, part] for share in shares]
    times = np.ascontiguousarray(counts[:, part])
    metric, soft = task.metric, task.labels == "soft"
    whole = metric.labels == "distribution"
    block = pair(labels, times, whole=whole, ties=task.question.ties)[soft]
    return np.stack([metric.finish(metric.reduce(p, block)) for p in prepared])


@immutable(eq=False)
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
        scored = partial(_scored_part, self, predictions, shares, counts)
        engine = current().within(chunk_bytes(len(counts), len(shares)))
        return np.concatenate(engine.map(scored, parts), axis=1)

    def full(self) -> Floats:
        """Value of each model on all votes, shape (models,)."""
        once = np.ones((len(self.question.items), 1), dtype=np.uint8)
        return self.scored(list(self.question.shares), once)[:, 0]

    @property
    def votes(self) -> Votes:
        """Who voted for what."""
        assert self.question.votes is not None
        return self.question.votes


@immutable(eq=False)
class ModelScorer:
    """All tasks of a study by its first metric, and the plan over items that they share."""

    task: str
    models: Names
    subjects: tuple[TaskScorer, ...]
    plan: Resampling
    settings: Settings
    tell: Progress
    notices: Notices

    @property
    def metric(self) -> Metric:
        """The metric of all subjects."""
        return self.subjects[0].metric

    @property
    def score(self) -> str:
        """What is scored, in words."""
        return self.metric.called(self.settings.labels)


def scorer_of(study: Study) -> ModelScorer:
    """The models of a study ready to be scored against any labels; votes must be its truth."""
    votes, metric = study.annotations, study.metrics[0]
    if metric.labels == "draws":
        do = "choose a metric of labels, such as auroc or accuracy"
        raise InputError(f"metric {metric.name}", "votes", "draws of an aggregation model", do)
    plan = resample(votes, "items", replicates=study.plan.replicates, seed=study.seed)
    (metric,) = metrics_of_tasks([metric], list(study.aligned), plan)
    subjects = []
    for task in study.aligned:
        prepared = (metric.prepare(task.seen(model, metric)) for model in task.scores)
        subjects.append(TaskScorer(task, metric, study.settings.labels, tuple(prepared)))
    defined, undefined = _defined(subjects)
    return ModelScorer(
        task=MACRO if len(study.truths) > 1 else study.truths[0].task,
        models=tuple(study.aligned[0].scores),
        subjects=tuple(defined),
        plan=plan,
        settings=study.settings,
        tell=study.tell,
        notices=as_notices(votes.notices, study.dropped, undefined),
    )


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
