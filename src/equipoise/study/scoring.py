"""Scoring: every model, metric and task under one plan, against hard and soft labels.

Each model is sorted once per task. A chunk of replicates is drawn once and scored for all
models, so everything is paired; each metric family takes one linear pass per model.

Metrics of draws meet every draw of the possible truths, item by item. Their soft value is the
mean over draws. The hard value takes the mean plausibility as the one truth, as if the experts'
uncertainty were settled.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from equipoise.inference import Reason
from equipoise.inference.resampling import Resampling
from equipoise.metrics import Block, Metric, Order, Prepared
from equipoise.metrics._metric import Topic
from equipoise.metrics.draws import draw_error, item_influence
from equipoise.scale.engine import current, threads
from equipoise.study.alignment import Aligned
from equipoise.study.blocks import LABELS, chunk_bytes, chunk_width
from equipoise.study.cautions import (
    draw_notices,
    tie_notices,
    value_notices,
    votes_notices,
)
from equipoise.study.per_reader_truth import PER_READER, reader_cells
from equipoise.study.result import MACRO, Cells, Evaluation, normal_values
from equipoise.study.truth import TaskTruth
from equipoise.study.uncertainty import DRAWS, TargetPopulation, Uncertainty
from equipoise.truth import MODELS
from equipoise.types import (
    Annotations,
    Floats,
    InputError,
    Ints,
    Notice,
    Option,
    Plausibilities,
    Posterior,
    Progress,
    Seed,
    added_votes,
    duplicate_models,
    duplicate_notices,
    hint,
    is_panel,
    listed,
    notice,
)

if TYPE_CHECKING:
    from equipoise.study.study import Settings, Study

MODEL = Option(
    "truth",
    "auto",
    "dirichlet(annotations).drawn(1000, seed=0) or plackett_luce(annotations)",
)
GRADES = Option("classes", ("lowest", "...", "highest"), "classes=[lowest, ..., highest]")
LANES = 64  # replicates that vector code takes together, or a multiple of it
MOST_BYTES = 4 * 2**30  # of replicates in memory


def score_study(study: "Study") -> Evaluation:
    """Score the competitors of a study, whose predictions have their thresholds."""
    how, plan, aligned = study.settings, study.plan, list(study.aligned)
    copies = duplicate_notices(
        duplicate_models((task.question.task, task.scores) for task in aligned)
    )
    metrics = metrics_of_tasks(study.metrics, aligned, plan)
    scorer = _Scorer(aligned, metrics, plan, how, study.tell)
    values, replicates = scorer.run()
    tasks = [task.question.task for task in aligned]
    if len(tasks) > 1:
        tasks, (values, replicates) = [*tasks, MACRO], _with_macro(values, replicates)
    if how.inference == PER_READER:
        values, cells = scorer.by_readers(values)
    else:
        cells = scorer.uncertainty(values)
    if plan.kind == "influence":
        replicates = normal_values(cells, plan, tuple(aligned[0].scores))
    return Evaluation(
        tasks=tuple(tasks),
        models=tuple(aligned[0].scores),
        metrics=tuple(metrics),
        values=values,
        replicates=replicates,
        plan=plan,
        level=how.level,
        cells=cells,
        inference=how.inference,
        margin=how.margin,
        matters=how.matters,
        looks=how.looks,
        labels=how.labels,
        questions=tuple(task.question for task in aligned),
        scores=tuple(task.scores for task in aligned),
        decided=tuple(task.decided for task in aligned),
        thresholds=study.used,
        notices=(
            *_truth_notices(study),
            *study.dropped,
            *copies,
            *study.notices,
            *scorer.notices(values),
        ),
        predictions=study.predictions,
        annotations=study.truth if isinstance(study.truth, Annotations) else None,
        frame=study.frame,
    )


def metrics_of_tasks(
    metrics: Sequence[Metric], aligned: list[Aligned], plan: Resampling
) -> list[Metric]:
    """Metrics for the classes of the tasks; refuses what these tasks do not allow."""
    _check_sizes(aligned, metrics, plan)
    _check_order(aligned, metrics)
    _check_marks(aligned, metrics)
    return [_bind_classes(metric, aligned) for metric in metrics]


def _check_sizes(aligned: list[Aligned], metrics: Sequence[Metric], plan: Resampling) -> None:
    """Refuse metrics that need more items than a task has, and more replicates than fit."""
    cells = 2 * len(aligned) * len(metrics) * len(aligned[0].scores) * plan.replicates
    if cells * 8 > MOST_BYTES:
        raise InputError(
            "resampling",
            f"{plan.replicates:,} replicates ({cells * 8 / 2**30:,.0f} GB)",
            f"at most {MOST_BYTES / 2**30:g} GB of replicates",
            "ask for fewer: 2,000 is usual",
        )
    for entry in aligned:
        for metric in metrics:
            if len(entry.question.items) < metric.min_items:
                task = f", task {entry.question.task!r}" if entry.question.task else ""
                raise InputError(
                    f"metric {metric.name}{task}",
                    f"{len(entry.question.items)} items",
                    f"at least {metric.min_items}",
                    "choose a smaller k",
                )


def _check_order(aligned: list[Aligned], metrics: Sequence[Metric]) -> None:
    """Refuse metrics of grades where the order of the classes is not known."""
    for entry in aligned:
        question = entry.question
        for metric in metrics:
            if metric.ordered and not question.ordered and len(question.classes) > 1:
                raise InputError(
                    f"metric {metric.name}",
                    f"classes without an order ({listed(question.classes)})",
                    "grades in a known order",
                    hint(
                        "read the annotations as {} with {}", Option("kind", "ordinal"), GRADES
                    ),
                )


def _check_marks(aligned: list[Aligned], metrics: Sequence[Metric]) -> None:
    """Refuse metrics of judged outputs for predictions, and those of predictions for marks."""
    for entry in aligned:
        question = entry.question
        for metric in metrics:
            of_outputs, of_numbers = metric.topic == Topic.JUDGED, metric.topic == Topic.RATINGS
            if of_outputs == question.judged and not (of_numbers and len(question.classes) > 1):
                continue
            got = f"{len(question.classes)} classes" if of_numbers else "predictions of labels"
            wanted = "ratings, or yes and no" if of_numbers else "outputs that people judged"
            if question.judged:
                got, wanted = "outputs that people judged", "predictions"
            do = "choose mean_rating, win_rate or mean_score" if question.judged else (
                "choose another metric: --list-metrics says which there are")  # fmt: skip
            raise InputError(f"metric {metric.name}", got, wanted, do)


def _bind_classes(metric: Metric, aligned: Sequence[Aligned]) -> Metric:
    """The metric for the classes of every task, which must agree about the one it looks at."""
    bound = [metric.among(entry.question.classes) for entry in aligned]
    if len({variant.column for variant in bound}) > 1:
        raise InputError(
            f"metric {metric.name}",
            "tasks with different classes",
            "the same classes in the same order in every task",
            "evaluate one task at a time",
        )
    return bound[0]


def _truth_notices(study: "Study") -> list[Notice]:
    """What the annotations, or the fits, have to say; of some tasks only with their names."""
    truth = study.truth
    if isinstance(truth, Annotations):
        return [*truth.notices, *added_votes(truth), *_arms_notices(truth)]
    votes = () if study.votes is None else study.votes.notices
    alone = len(truth) == 1
    fits = [
        notice if alone else notice.of(part.task) for part in truth for notice in part.notices
    ]
    return [*votes, *fits]


def _arms_notices(truth: Annotations) -> list[Notice]:
    """That votes with aid are truth, where nobody said what is."""
    if truth.arms is None or truth.gold.any():
        return []
    text = (
        "Votes of the arms {arms:listed} count alike in the truth; readers who saw a model "
        "lean to it. Mark a reference standard with is_gold, or leave an arm out."
    )
    return [notice("arms_in_truth", text, arms=truth.arms)]


def _with_macro(values: Floats, replicates: Floats) -> tuple[Floats, Floats]:
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
    """One task and one run of replicates, a multiple of `LANES` of them.

    The last run may reach beyond what was asked for: vector and scalar code round in different
    ways, and a replicate must not depend on how many follow it.
    """

    task: int
    first: int
    stop: int


def _families(metrics: Sequence[Metric]) -> dict[str, Metric]:
    """A metric of each family, which stands for its reduction; those of draws have none."""
    return {metric.family: metric for metric in metrics if metric.labels != "draws"}


class _ChunkScorer(NamedTuple):
    """All that scores of a chunk of replicates are made of; may be sent to other processes."""

    questions: list[TaskTruth]
    prepared: list[list[dict[Any, Prepared]]]
    metrics: list[Metric]
    plan: Resampling

    def score_chunk(self, work: _Work) -> Floats:
        """Scores of one chunk, shape (metrics, labels, models, replicates)."""
        labels = {metric.labels for metric in _families(self.metrics).values()}
        question = self.questions[work.task]
        blocks = question.blocks(self.plan, work.first, work.stop, labels)
        return self.score_labels(work.task, blocks)

    def score_labels(
        self, task: int, blocks: dict[str, tuple[Block, Block]], workers: int = 1
    ) -> Floats:
        """Scores by hard and soft labels, shape (metrics, labels, models, replicates)."""
        width = next((pair[0].counts.shape[1] for pair in blocks.values()), 1)
        families = _families(self.metrics)

        def scores_of_model(prepared: dict[Any, Prepared]) -> Floats:
            sums = {
                name: metric.reduce_each(prepared[metric.prepare], blocks[metric.labels])
                for name, metric in families.items()
            }
            scores = np.full((len(self.metrics), 2, width), np.nan)
            for k, metric in enumerate(self.metrics):
                if metric.labels != "draws":
                    for label in range(2):
                        scores[k, label] = metric.finish(sums[metric.family][label])
            return scores

        by_model = threads(workers).map(scores_of_model, self.prepared[task])
        return np.stack(by_model, axis=2)


class DrawScorer(NamedTuple):
    """All that scores by metrics of draws are made of; may be sent to other processes.

    `plan` draws replicates; None makes none.
    """

    aligned: Sequence[Aligned]
    truths: list["_DrawTruth"]
    metrics: Sequence[Metric]
    plan: Resampling | None
    blocks: list[Ints]

    @classmethod
    def of(
        cls,
        aligned: Sequence[Aligned],
        metrics: Sequence[Metric],
        plan: Resampling | None,
        blocks: list[Ints],
    ) -> "DrawScorer":
        """The same with what the metrics of a task share; `blocks` are those left out."""
        first = next(metric for metric in metrics if metric.labels == "draws")
        truths = [_draw_truth(entry.question, first) for entry in aligned]
        return cls(aligned, truths, metrics, plan, blocks)

    @property
    def cells(self) -> list[tuple[int, int, int]]:
        """Places of task, metric and model of everything to score."""
        return [
            (t, k, m)
            for t, entry in enumerate(self.aligned)
            for k, metric in enumerate(self.metrics)
            for m in range(len(entry.scores))
            if metric.labels == "draws"
        ]

    def score_cell(self, cell: tuple[int, int, int]) -> "DrawScores":
        """Score one model of a task by one metric against every draw."""
        t, k, m = cell
        aligned, truth, metric = self.aligned[t], self.truths[t], self.metrics[k]
        block, items = self.blocks[t], len(aligned.question.items)
        assert metric.score_draws is not None
        prepared = metric.prepare(aligned.distributions(list(aligned.scores)[m]))
        tables = [metric.score_draws(prepared, possible) for possible in truth]

        def score_label(label: int, counts: Any, numbers: Ints | None = None) -> Floats:
            return metric.finish(metric.reduce(tables[label], Block((), counts, numbers)))

        source = MODELS.get(truth.possible.model)
        once = np.ones((items, 1), dtype=np.uint8)
        values = np.array([score_label(label, once)[0] for label in range(2)])
        number = 1 + int(block.max())
        left = (block[:, None] != np.arange(number)).astype(np.uint8)
        without = np.stack([score_label(label, left) for label in range(2)])
        several = min(truth.possible.draws, DRAWS)
        ones = np.ones((items, several), dtype=np.uint8)
        drawn = np.stack(
            [np.full(several, values[0]), score_label(1, ones, np.arange(several))]
        )
        return DrawScores(
            values=values,
            replicates=self._replicates(t, score_label),
            without=without,
            drawn=drawn,
            error=draw_error(tables[1], chained=source is not None and source.chains),
            items=np.stack([item_influence(table) for table in tables]),
        )

    def _replicates(self, t: int, score_label: Callable[..., Floats]) -> Floats:
        """Replicates of one model, shape (2, replicates)."""
        plan = self.plan
        if plan is None:
            return np.empty((2, 0))
        question, draws = self.aligned[t].question, self.truths[t].possible.draws
        replicates = np.full((2, plan.replicates), np.nan)
        width = chunk_width(len(question.items), 4)
        starts = range(0, plan.replicates if plan.kind != "influence" else 0, width)
        for first in starts:
            counts = plan.item_counts(first, first + width)[question.place]
            room = replicates[:, first : first + width]
            for label in range(2):
                numbers = None
                if label and plan.truth == "posterior":
                    numbers = plan.draw_numbers(first, first + width, draws)
                room[label] = score_label(label, counts, numbers)[: room.shape[1]]
        return replicates


class _Scorer:
    """Scores all models of all tasks; sorted once, when made."""

    def __init__(
        self,
        aligned: list[Aligned],
        metrics: list[Metric],
        plan: Resampling,
        how: "Settings",
        tell: "Progress",
    ) -> None:
        self.aligned, self.metrics, self.plan = aligned, metrics, plan
        self.workers, self.tell = how.workers, tell
        families = _families(metrics)
        self.labels = {metric.labels for metric in families.values()}
        kinds = {metric.prepare: metric for metric in families.values()}

        def prepare_cell(part: tuple[Aligned, str]) -> dict[Any, Prepared]:
            entry, m = part
            by_way = {p: p(entry.seen(m, metric)) for p, metric in kinds.items()}
            return {
                metric.prepare: by_way[families[metric.family].prepare]
                for metric in metrics
                if metric.labels != "draws"
            }

        cells = [(entry, m) for entry in aligned for m in entry.scores]
        prepared_cells = threads(self.workers).map(prepare_cell, cells)
        models = len(aligned[0].scores)
        self.prepared = [prepared_cells[t * models :][:models] for t in range(len(aligned))]
        self.errors: dict[str, float] = {}
        target = target_population(aligned, plan, how)
        self.shared = Uncertainty(aligned, self.prepared, plan, target, self.workers)
        questions = [entry.question for entry in aligned]
        self.chunks = _ChunkScorer(questions, self.prepared, metrics, plan)
        self.drawn: dict[tuple[int, int, int], DrawScores] = {}

    def run(self) -> tuple[Floats, Floats]:
        """Values (tasks, metrics, labels, models), and the same with replicates last."""
        values = np.stack(
            [
                self.chunks.score_labels(t, entry.question.once(self.labels), self.workers)[
                    ..., 0
                ]
                for t, entry in enumerate(self.aligned)
            ]
        )
        if self.plan.kind == "influence":
            replicates = np.full((*values.shape, self.plan.replicates), np.nan)
        else:
            replicates = self._resample(values)
        self._score_draws(values, replicates)
        return values, replicates

    def uncertainty(self, values: Floats) -> Cells:
        """Two-way parts of every task, metric and kind of label."""
        by_metric = []
        for k, metric in enumerate(self.metrics):
            both = []
            for label in range(len(LABELS)):
                task_values = values[:, k, label]
                if metric.labels != "draws":
                    both.append(self.shared.cells(metric, label, task_values))
                    continue
                models, tasks = range(task_values.shape[1]), range(len(self.aligned))
                scores = [[self.drawn[t, k, m] for m in models] for t in tasks]
                without = np.array([[score.without[label] for score in row] for row in scores])
                drawn = np.array([[score.drawn[label] for score in row] for row in scores])
                both.append(self.shared.cells_of_draws(metric, task_values, without, drawn))
            by_metric.append(both)
        return tuple(
            tuple(tuple(both[label][t] for label in range(len(LABELS))) for both in by_metric)
            for t in range(len(values))
        )

    def by_readers(self, values: Floats) -> tuple[Floats, Cells]:
        """Values and their parts by each annotator's own votes, alike for both labels."""
        by_metric = [reader_cells(self.shared, metric) for metric in self.metrics]
        cells = tuple(
            tuple((by_task[t],) * len(LABELS) for by_task in by_metric)
            for t in range(len(values))
        )
        reader_values = np.array(
            [[[cell.values for cell in both] for both in task] for task in cells]
        )
        return reader_values, cells

    def _score_draws(self, values: Floats, replicates: Floats) -> None:
        """Fill in the metrics that meet every draw, one model after another."""
        if all(metric.labels != "draws" for metric in self.metrics):
            return
        blocks = self.shared.block_of(self.shared.most_blocks)
        drawing = DrawScorer.of(self.aligned, self.metrics, self.plan, blocks)
        scored = current(self.workers).map(drawing.score_cell, drawing.cells)
        for cell, scores in zip(drawing.cells, scored, strict=True):
            t, k, m = cell
            values[t, k, :, m], replicates[t, k, :, m] = scores.values, scores.replicates
            self.drawn[cell] = scores
            name = self.metrics[k].name
            self.errors[name] = max(self.errors.get(name, 0.0), scores.error)

    def _resample(self, values: Floats) -> Floats:
        work = []
        for t, entry in enumerate(self.aligned):
            width = chunk_width(len(entry.question.items), len(entry.question.classes))
            whole = -(-self.plan.replicates // LANES) * LANES
            work += [_Work(t, a, min(a + width, whole)) for a in range(0, whole, width)]
        sizes = [(len(x.question.items), len(x.question.classes)) for x in self.aligned]
        engine = current(self.workers).within(max(chunk_bytes(*size) for size in sizes))
        results = engine.map(self.chunks.score_chunk, work, progress=self.tell)
        out = np.empty((*values.shape, self.plan.replicates))
        for part, result in zip(work, results, strict=True):
            room = out[part.task, ..., part.first : part.stop]
            room[:] = result[..., : room.shape[-1]]
        return out

    def notices(self, values: Floats) -> Iterator[Notice]:
        """What the user should know about votes, ties, and undefined or infinite values."""
        truths = [entry.question for entry in self.aligned]
        yield from votes_notices(truths, self.plan, self.metrics)
        if any("average_precision" in metric.name for metric in self.metrics):
            yield from tie_notices(self.aligned, self._orders())
        for entry, task_values in zip(
            self.aligned, values, strict=False
        ):  # the last may be their macro
            yield from value_notices(entry, self.metrics, task_values, LABELS)
        yield from draw_notices(self.metrics, self.errors)

    def _orders(self) -> list[list[list[Order]]]:
        """Sorted scores by task and model, one order per class."""
        ranking = {metric.prepare for metric in self.metrics if metric.labels == "classes"}
        return [
            [[o for p in ranking & prepared.keys() for o in prepared[p]] for prepared in models]
            for models in self.prepared
        ]


class _DrawTruth(NamedTuple):
    """The truth of a task as metrics of draws meet it: their mean, and all of them."""

    mean: Plausibilities
    possible: Plausibilities


class _CachedLaw:
    """A law that works out once which classes are on top, for all models and metrics."""

    def __init__(self, law: Posterior) -> None:
        self.law, self.name = law, law.name
        self._lock = Lock()
        self._top: tuple[Floats, Floats] | None = None

    def __reduce__(self) -> tuple[type["_CachedLaw"], tuple[Posterior]]:
        """Another process remembers for itself."""
        return type(self), (self.law,)

    def mean(self, start: Ints) -> tuple[Floats, Floats]:
        """As the law."""
        return self.law.mean(start)

    def draw(self, start: Ints, seed: Seed) -> tuple[Floats, Floats]:
        """As the law."""
        return self.law.draw(start, seed)

    def top(self, start: Ints, others: Ints) -> tuple[Floats, Floats]:
        """As the law, of which there is one for one set of items."""
        with self._lock:
            if self._top is None:
                self._top = self.law.top(start, others)
            return self._top

    def subset(self, entries: Ints, items: Ints) -> Posterior:
        """As the law, with nothing remembered."""
        return self.law.subset(entries, items)


def _draw_truth(question: TaskTruth, metric: Metric) -> _DrawTruth:
    """Make ready what the metrics of draws of a task share, or say why there are no draws."""
    plausible = question.plausible
    if plausible is None:
        raise InputError(
            f"metric {metric.name}",
            "votes",
            "plausibilities: a model of the truth with draws",
            hint("choose a model: {}", MODEL),
        )
    if plausible.law is not None and plausible.draws == 1:
        raise InputError(
            f"metric {metric.name}",
            f"plausibilities by {plausible.method} with their mean alone",
            "draws",
            "make some: .drawn(1000, seed=0)",
        )
    mean, plausible = plausible.averaged(), plausible.stored()
    if plausible.law is not None:
        plausible = replace(plausible, law=_CachedLaw(plausible.law))
    return _DrawTruth(mean, plausible)


class DrawScores(NamedTuple):
    """One model by a metric of draws; every array is by hard and soft labels.

    Attributes
    ----------
    values, replicates
        Shape (2,) and (2, replicates).
    without
        Values without each block of items, shape (2, blocks).
    drawn
        Values in each draw of the possible truths, shape (2, draws).
    error
        Monte Carlo error of the soft value.
    items
        Influence of every item, shape (2, items).
    """

    values: Floats
    replicates: Floats
    without: Floats
    drawn: Floats
    error: float
    items: Floats


def target_population(
    aligned: Sequence[Aligned], plan: Resampling, how: "Settings"
) -> TargetPopulation:
    """Whom a result should speak for."""
    return TargetPopulation(
        how.items == "random",
        how.annotators == "random",
        panel_is_named(aligned, plan),
        Reason.ALONE if plan.annotators == 1 else Reason.NONE,
    )


def panel_is_named(aligned: Sequence[Aligned], plan: Resampling) -> bool:
    """Whether votes are by people who rated many items, so that they can be told apart."""
    items, people = [], []
    for entry in aligned:
        votes = entry.question.votes
        if votes is None or plan.annotators < 2:
            return False
        named = votes.annotator >= 0
        items.append(np.repeat(entry.question.place, votes.sizes)[named])
        who = votes.annotator[named]
        people.append(who if plan.annotator_group is None else plan.annotator_group[who])
    return is_panel(np.concatenate(items), np.concatenate(people), len(plan.items))
