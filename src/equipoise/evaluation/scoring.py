"""Evaluate: from predictions and a truth to an `Evaluation`."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import InputError, choice, listed, require_unique
from equipoise.estimate import Method
from equipoise.evaluation.alignment import ON_MISSING, Aligned, align
from equipoise.evaluation.questions import Question, questions
from equipoise.evaluation.result import MACRO, Evaluation
from equipoise.evaluation.scorer import Scorer, with_macro
from equipoise.metrics import DEFAULT, Metric, named
from equipoise.plausibilities import Plausibilities
from equipoise.predictions import Predictions
from equipoise.resampling import Resampling, resample

MOST_BYTES = 4 * 2**30  # of replicates in memory
Truths = Annotations | Plausibilities | Sequence[Plausibilities]


@dataclass(frozen=True, slots=True)
class Settings:
    """How an evaluation is carried out and reported.

    Attributes
    ----------
    level, interval
        Level of the intervals, and how they are made: percentile, basic or normal. Hard
        precision at k always takes Wilson's.
    on_missing
        ``error`` refuses items that only annotations or only predictions have; ``drop``
        scores all models on the items they share, and says what was dropped.
    workers
        Number of threads; 0 means as many as there are cores. Never changes a result.
    progress
        Called as ``progress(done, all)`` after each chunk.
    """

    level: float = 0.95
    interval: Method = "percentile"
    on_missing: str = "error"
    workers: int = 0
    progress: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        choice("settings, interval", self.interval, ("percentile", "basic", "normal"))
        choice("settings, on_missing", self.on_missing, ON_MISSING)
        if not 0 < self.level < 1 or self.workers < 0:
            raise InputError(
                "settings", f"level {self.level}, {self.workers} workers",
                "a level between 0 and 1, and at least 0 workers", "correct them",
            )  # fmt: skip


def evaluate(
    predictions: Predictions | Iterable[Predictions],
    truth: Truths,
    *,
    metrics: Sequence[str | Metric] = DEFAULT,
    resampling: str | Resampling | None = None,
    settings: Settings | None = None,
) -> Evaluation:
    """Score models against a truth that experts disagree about.

    Parameters
    ----------
    predictions
        What each model says, one object per model and task.
    truth
        Annotations (soft label: mean vote; hard label: strict majority), or plausibilities
        (one per task; soft label: their mean).
    metrics
        Names such as ``auroc``, ``auroc:form=strict``, ``precision_at_100``, or `Metric`.
    resampling
        A kind such as ``panel`` or ``items x panel``, or a plan made by `resample`; by
        default what fits the truth.
    settings
        Level, interval, missing items, threads.

    Examples
    --------
    >>> votes = Annotations(kind="binary", items=("a", "b", "c"), classes=("no", "yes"),
    ...     annotators=("ana", "bo"), item=np.array([0, 0, 1, 1, 2, 2]),
    ...     annotator=np.array([0, 1, 0, 1, 0, 1]), label=np.array([1, 1, 1, 0, 0, 0]))
    >>> model = Predictions("resnet", ("a", "b", "c"), np.array([0.9, 0.6, 0.1]))
    >>> evaluate(model, votes, metrics=["auroc"]).estimate("resnet", "auroc").value
    1.0
    """
    how = settings or Settings()
    chosen = _metrics(metrics)
    asked, plan = _asked(truth, resampling)
    given = [predictions] if isinstance(predictions, Predictions) else list(predictions)
    aligned, notices = align(given, asked, on_missing=how.on_missing)
    _check_sizes(aligned, chosen, plan)
    _check_order(aligned, chosen)
    scorer = Scorer(aligned, chosen, plan)
    values, replicates = scorer.run(how.workers, how.progress)
    tasks = [one.question.task for one in aligned]
    if len(tasks) > 1:
        tasks, (values, replicates) = [*tasks, MACRO], with_macro(values, replicates)
    return Evaluation(
        tasks=tuple(tasks),
        models=tuple(aligned[0].scores),
        metrics=tuple(chosen),
        values=values,
        replicates=replicates,
        plan=plan,
        level=how.level,
        interval="normal" if plan.kind == "influence" else how.interval,
        widening=tuple(one.question.widening(plan) for one in aligned),
        questions=tuple(one.question for one in aligned),
        scores=tuple(one.scores for one in aligned),
        influential=scorer.influential(values),
        notices=(*_truth_notices(truth), *notices, *scorer.notices(values)),
    )


def _metrics(metrics: Sequence[str | Metric]) -> list[Metric]:
    chosen = [named(one) if isinstance(one, str) else one for one in metrics]
    if not chosen or len({one.name for one in chosen}) < len(chosen):
        raise InputError(
            "metrics", f"{[one.name for one in chosen]}", "at least one, each once",
            "correct the list",
        )  # fmt: skip
    return chosen


def _check_sizes(aligned: list[Aligned], metrics: list[Metric], plan: Resampling) -> None:
    """Refuse metrics that need more items than a task has, and more replicates than fit."""
    cells = 2 * len(aligned) * len(metrics) * len(aligned[0].scores) * plan.replicates
    if cells * 8 > MOST_BYTES:
        raise InputError(
            "resampling", f"{plan.replicates:,} replicates ({cells * 8 / 2**30:,.0f} GB)",
            f"at most {MOST_BYTES / 2**30:g} GB of replicates", "ask for fewer: 2,000 is usual",
        )  # fmt: skip
    for one in aligned:
        for metric in metrics:
            if len(one.question.items) < metric.min_items:
                task = f", task {one.question.task!r}" if one.question.task else ""
                raise InputError(
                    f"metric {metric.name}{task}", f"{len(one.question.items)} items",
                    f"at least {metric.min_items}", "choose a smaller k",
                )  # fmt: skip


def _check_order(aligned: list[Aligned], metrics: list[Metric]) -> None:
    """Refuse metrics of grades where the order of the classes is not known."""
    for one in aligned:
        question = one.question
        for metric in metrics:
            if metric.ordered and not question.ordered and len(question.classes) > 1:
                raise InputError(
                    f"metric {metric.name}", f"classes without an order "
                    f"({listed(question.classes)})", "grades in a known order",
                    "read the annotations as kind='ordinal' with classes=[lowest, ..., highest]"
                    " (--kind ordinal --classes lowest,...,highest)",
                )  # fmt: skip


def _asked(
    truth: Truths, resampling: str | Resampling | None
) -> tuple[list[Question], Resampling]:
    """Questions of all tasks, placed among the items of one plan."""
    parts = [truth] if isinstance(truth, Annotations | Plausibilities) else list(truth)
    if not parts:
        raise InputError("truth", "nothing", "annotations or plausibilities", "give some")
    _check_parts(parts, several=not isinstance(truth, Annotations | Plausibilities))
    items = tuple(dict.fromkeys(name for part in parts for name in part.items))
    kind = resampling.kind if isinstance(resampling, Resampling) else resampling
    plan = fitting = replace(resample(parts[0], kind), items=items)
    if isinstance(resampling, Resampling):
        plan = resampling
    facts = ("items", "annotators", "draws")
    if any(getattr(plan, fact) != getattr(fitting, fact) for fact in facts):
        raise InputError(
            "resampling", "a plan for another truth", "one for these items and annotators",
            "make it with resample(truth)",
        )  # fmt: skip
    if plan.truth == "posterior":
        for part in parts:
            resample(part, plan.kind)
    asked = [question for part in parts for question in questions(part)]
    require_unique([one.task for one in asked], where="truth, tasks")
    if len(parts) == 1:
        return asked, plan
    place = {name: number for number, name in enumerate(items)}
    return [replace(q, place=np.array([place[i] for i in q.items])) for q in asked], plan


def _check_parts(parts: Sequence[object], *, several: bool) -> None:
    """Refuse what is no truth, and several tables of annotations."""
    kinds = (Plausibilities,) if several else (Annotations, Plausibilities)
    for part in parts:
        if not isinstance(part, kinds):
            raise InputError(
                "truth", f"{type(part).__name__}" + (" in a list" if several else ""),
                "annotations (one table, with a task column for several questions), or "
                "plausibilities, one or one per task",
                "read them with read_annotations, or aggregate them",
            )  # fmt: skip


def _truth_notices(truth: Truths) -> tuple[str, ...]:
    """What the annotations, or the fits, have to say; of some tasks only with their names."""
    if isinstance(truth, Annotations | Plausibilities):
        return tuple(dict.fromkeys(map(str, truth.notices)))
    every = [said for part in truth for said in dict.fromkeys(map(str, part.notices))]
    named = (
        said if not part.task or every.count(said) == len(truth) else f"{part.task}: {said}"
        for part in truth
        for said in map(str, part.notices)
    )
    return tuple(dict.fromkeys(named))
