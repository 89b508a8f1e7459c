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
from equipoise.evaluation.cautions import infinite_notices, votes_notices, why_undefined
from equipoise.evaluation.draw_scores import draw_scores, draw_truth
from equipoise.evaluation.engine import chunk_width, map_chunks
from equipoise.evaluation.gradients import gradient_replicates
from equipoise.evaluation.influential import Influential, influential_items
from equipoise.evaluation.result import LABELS, widened
from equipoise.metrics import Block, Metric, tied_share
from equipoise.resampling import Resampling


def with_macro(values: Floats, replicates: Floats) -> tuple[Floats, Floats]:
    """Append the average over the tasks whose value is defined for every model."""
    whole = ~np.isnan(values).any(axis=-1, keepdims=True)
    defined = np.broadcast_to(whole, values.shape)
    number = defined.sum(axis=0)
    safe = np.maximum(number, 1)
    macro = np.where(number > 0, np.where(defined, values, 0.0).sum(axis=0) / safe, np.nan)
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
        self.families = {one.family: one for one in metrics if one.labels != "draws"}
        self.labels = {one.labels for one in self.families.values()}
        kinds = {one.prepare: one.labels for one in self.families.values()}
        self.prepared = [
            [
                {p: p(one.scores[m] if k == "classes" else one.distributions(m))
                 for p, k in kinds.items()}
                for m in one.scores
            ]
            for one in aligned
        ]  # fmt: skip
        of_draws = next((one for one in metrics if one.labels == "draws"), None)
        self.truths = [draw_truth(one.question, of_draws) for one in aligned if of_draws]
        self.errors: dict[str, float] = {}

    def run(
        self, workers: int, progress: Callable[[int, int], None] | None
    ) -> tuple[Floats, Floats]:
        """Values (tasks, metrics, labels, models), and the same with replicates last."""
        values = np.stack(
            [
                self._both(t, one.question.once(self.labels))[..., 0]
                for t, one in enumerate(self.aligned)
            ]
        )
        if self.plan.kind == "influence":
            found = gradient_replicates(self.aligned, self.prepared, self.metrics, self.plan)
            return values, found
        replicates = self._resampled(values, workers, progress)
        self._draws(values, replicates, workers)
        return values, replicates

    def _draws(self, values: Floats, replicates: Floats, workers: int) -> None:
        """Fill in the metrics that meet every draw, one model after another."""
        cells = [
            (t, k, m)
            for t, one in enumerate(self.aligned)
            for k, metric in enumerate(self.metrics)
            for m in range(len(one.scores))
            if metric.labels == "draws"
        ]

        def fill(cell: tuple[int, int, int]) -> None:
            t, k, m = cell
            one, metric = self.aligned[t], self.metrics[k]
            model = list(one.scores)[m]
            found = draw_scores(one, self.truths[t], metric, model, self.plan)
            values[t, k, :, m], replicates[t, k, :, m], error = found
            self.errors[metric.name] = max(self.errors.get(metric.name, 0.0), error)

        map_chunks(fill, cells, workers=workers or os.cpu_count() or 1)

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
        question = self.aligned[work.task].question
        return self._both(
            work.task, question.blocks(self.plan, work.first, work.stop, self.labels)
        )

    def _both(self, task: int, blocks: dict[str, tuple[Block, Block]]) -> Floats:
        """Scores by hard and soft labels, shape (metrics, labels, models, replicates)."""
        width = next((one[0].counts.shape[1] for one in blocks.values()), 1)
        out = np.full((len(self.metrics), 2, len(self.prepared[task]), width), np.nan)
        for label in range(2):
            for m, prepared in enumerate(self.prepared[task]):
                sums = {
                    name: one.reduce(prepared[one.prepare], blocks[one.labels][label])
                    for name, one in self.families.items()
                }
                for k, metric in enumerate(self.metrics):
                    if metric.labels != "draws":
                        out[k, label, m] = metric.finish(sums[metric.family])
        return out

    def influential(self, values: Floats) -> tuple[Influential, ...]:
        """Items that decide between the two best models of each task, by soft labels."""
        able = (m for m in self.metrics if m.influence is not None and m.labels == "classes")
        metric = next(able, None)
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
        asked = [one.question for one in self.aligned]
        said = votes_notices(asked, self.plan, self.metrics)
        said += self._ties() if any("average_precision" in m.name for m in self.metrics) else []
        for t, one in enumerate(self.aligned):
            task = f" of task {one.question.task!r}" if one.question.task else ""
            for k, label in np.argwhere(np.isnan(values[t]).all(axis=2)):
                said.append(
                    f"{self.metrics[k].title} with {LABELS[label]} labels{task} is undefined: "
                    f"{why_undefined(one.question, self.metrics[k], LABELS[label])}."
                )
            said += infinite_notices(one, self.metrics, values[t], LABELS)
        return said + [
            f"{name}: the Monte Carlo error of its draws is {error:.2g}."
            for name in (metric.name for metric in self.metrics)
            if (error := self.errors.get(name, 0.0)) > 0
        ]

    def _ties(self) -> list[str]:
        """Models with more than one score in a hundred tied."""
        tied: dict[str, float] = {}
        ranking = {one.prepare for one in self.metrics if one.labels == "classes"}
        for one, models in zip(self.aligned, self.prepared, strict=True):
            for model, prepared in zip(one.scores, models, strict=True):
                orders = [o for p in ranking & prepared.keys() for o in prepared[p]]
                share = max(tied_share(order) for order in orders)
                tied[model] = max(tied.get(model, 0.0), share)
        many = {model: share for model, share in tied.items() if share > 0.01}
        if not many:
            return []
        return [
            f"Up to {max(many.values()):.1%} of the scores of {listed(many)} are tied: their "
            "average precision depends on the tie rule (ties=block unless chosen otherwise)."
        ]
