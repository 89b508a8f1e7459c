"""Scorer: every model, metric and task under one plan, against hard and soft labels.

Each model is sorted once per task. A chunk of replicates is drawn once and scored for all
models, so everything is paired; each metric family takes one linear pass per model.
"""

import os
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from equipoise.arrays import Floats, listed
from equipoise.evaluation.alignment import Aligned
from equipoise.evaluation.cautions import missing_classes, votes_notices
from equipoise.evaluation.engine import chunk_width, map_chunks
from equipoise.evaluation.gradients import gradient_replicates
from equipoise.evaluation.influential import Influential, influential_items
from equipoise.evaluation.result import LABELS, widened
from equipoise.metrics import Block, Metric, tied_share
from equipoise.resampling import Resampling


def with_macro(values: Floats, replicates: Floats) -> tuple[Floats, Floats]:
    """Append the average over tasks; tasks whose value is undefined are left out of it."""
    defined = ~np.isnan(values)
    number = defined.sum(axis=0)
    safe = np.maximum(number, 1)
    macro = np.where(number > 0, np.nansum(values, axis=0) / safe, np.nan)
    parts = np.where(defined[..., None], replicates, 0.0).sum(axis=0) / safe[..., None]
    parts = np.where(number[..., None] > 0, parts, np.nan)
    return np.concatenate([values, macro[None]]), np.concatenate([replicates, parts[None]])


class _Work(NamedTuple):
    """One task and one run of replicates, always of full width.

    The last run may reach beyond what was asked for: vector and scalar code round in different
    ways, and a replicate must not depend on how many follow it.
    """

    task: int
    first: int
    stop: int


class Scorer:
    """Scores all models of all tasks; sorted once, when made."""

    def __init__(self, aligned: list[Aligned], metrics: list[Metric], plan: Resampling) -> None:
        self.aligned, self.metrics, self.plan = aligned, metrics, plan
        self.families = {one.family: one for one in metrics}
        prepares = {one.prepare for one in metrics}
        self.prepared = [
            [{p: p(scores) for p in prepares} for scores in one.scores.values()]
            for one in aligned
        ]

    def run(
        self, workers: int, progress: Callable[[int, int], None] | None
    ) -> tuple[Floats, Floats]:
        """Values (tasks, metrics, labels, models), and the same with replicates last."""
        values = np.stack(
            [
                np.stack(
                    [self._score(t, block)[..., 0] for block in one.question.once()], axis=1
                )
                for t, one in enumerate(self.aligned)
            ]
        )
        if self.plan.kind == "influence":
            orders = [[next(iter(p.values())) for p in task] for task in self.prepared]
            return values, gradient_replicates(self.aligned, orders, self.metrics, self.plan)
        return values, self._resampled(values, workers, progress)

    def _resampled(
        self,
        values: Floats,
        workers: int,
        progress: Callable[[int, int], None] | None,
    ) -> Floats:
        work = []
        for t, one in enumerate(self.aligned):
            width = chunk_width(len(one.question.items), len(one.question.classes))
            work += [_Work(t, a, a + width) for a in range(0, self.plan.replicates, width)]
        threads = workers or os.cpu_count() or 1
        results = map_chunks(self._chunk, work, workers=threads, progress=progress)
        out = np.empty((*values.shape, self.plan.replicates))
        for part, result in zip(work, results, strict=True):
            room = out[part.task, ..., part.first : part.stop]
            room[:] = result[..., : room.shape[-1]]
        for t, task in enumerate(self.aligned):
            out[t] = widened(out[t], task.question.widening(self.plan))
        return out

    def _chunk(self, work: _Work) -> Floats:
        """Scores of one chunk, shape (metrics, labels, models, replicates)."""
        blocks = self.aligned[work.task].question.block(self.plan, work.first, work.stop)
        return np.stack([self._score(work.task, block) for block in blocks], axis=1)

    def _score(self, task: int, block: Block) -> Floats:
        """Scores against one truth, shape (metrics, models, replicates)."""
        out = np.empty((len(self.metrics), len(self.prepared[task]), block.counts.shape[1]))
        for m, prepared in enumerate(self.prepared[task]):
            sums = {
                f: one.reduce(prepared[one.prepare], block) for f, one in self.families.items()
            }
            for k, metric in enumerate(self.metrics):
                out[k, m] = metric.finish(sums[metric.family])
        return out

    def influential(self, values: Floats) -> tuple[Influential, ...]:
        """Items that decide between the two best models of each task, by soft labels."""
        metric = next((one for one in self.metrics if one.influence is not None), None)
        if metric is None or len(self.aligned[0].scores) < 2:
            return ()
        soft = values[:, self.metrics.index(metric), LABELS.index("soft")]
        found = [
            influential_items(one, [p[metric.prepare] for p in prepared], metric, soft[t])
            for t, (one, prepared) in enumerate(zip(self.aligned, self.prepared, strict=True))
        ]
        return tuple(one for one in found if one is not None)

    def notices(self, values: Floats) -> list[str]:
        """What the user should know about ties and undefined values."""
        said = votes_notices([one.question for one in self.aligned], self.plan)
        said += self._ties() if any("average_precision" in m.name for m in self.metrics) else []
        for t, one in enumerate(self.aligned):
            task = f" of task {one.question.task!r}" if one.question.task else ""
            for k, label in np.argwhere(np.isnan(values[t]).all(axis=2)):
                said.append(
                    f"{self.metrics[k].title} with {LABELS[label]} labels{task} is undefined: "
                    f"{missing_classes(one.question, LABELS[label])}."
                )
        return said

    def _ties(self) -> list[str]:
        """Models with more than one score in a hundred tied."""
        tied: dict[str, float] = {}
        for one, models in zip(self.aligned, self.prepared, strict=True):
            for model, prepared in zip(one.scores, models, strict=True):
                share = max(tied_share(order) for p in prepared.values() for order in p)
                tied[model] = max(tied.get(model, 0.0), share)
        many = {model: share for model, share in tied.items() if share > 0.01}
        if not many:
            return []
        return [
            f"Up to {max(many.values()):.1%} of the scores of {listed(many)} are tied: their "
            "average precision depends on the tie rule (ties=block unless chosen otherwise)."
        ]
