"""What a user should be told before trusting a number: thin votes, ties, undefined values."""

from collections.abc import Sequence

import numpy as np

from equipoise.arrays import Bools, Floats, listed
from equipoise.evaluation.alignment import Aligned
from equipoise.evaluation.blocks import every_class, plurality
from equipoise.evaluation.questions import Question
from equipoise.metrics import Metric
from equipoise.resampling import Resampling

PLUG_IN = ("total_variation", "jensen_shannon", "entropy_correlation")
FEW_ANNOTATORS = 5
FEW_REPLICATES = 200


def votes_notices(
    questions: Sequence[Question], plan: Resampling, metrics: Sequence[Metric]
) -> list[str]:
    """Sentences about the votes and the plan, none when all is well."""
    said = _majorities(questions, metrics)
    items = sum(len(one.items) for one in questions)
    single = sum(one.single for one in questions)
    if plan.kind == "votes" and single:
        said.append(
            f"{single:,} of {items:,} items have a single vote; drawing it again changes "
            "nothing, so intervals are too narrow. 'items' counts what the votes cannot."
        )
    if plan.truth == "panel" and plan.annotators < FEW_ANNOTATORS:
        said.append(
            f"The panel has only {plan.annotators} annotators: intervals are rough and tend "
            "to be too narrow."
        )
    fixed = [one.name for one in metrics if one.labels == "draws"]
    if plan.kind == "posterior" and fixed:
        said.append(
            f"Hard labels of {listed(fixed)} are the mean of the draws: with items held fixed "
            "nothing of them is redrawn, and their intervals have no width. 'items x "
            "posterior' gives them one."
        )
    said += _plug_in(plan, metrics)
    if plan.over_items and items == len(questions):
        said.append("There is a single item: intervals over items mean nothing.")
    if plan.replicates < FEW_REPLICATES:
        said.append(
            f"Only {plan.replicates:,} replicates: intervals are rough; ask for 1,000 or more."
        )
    if plan.group is not None and not plan.over_items and plan.kind != "influence":
        said.append(
            "The groups of items are not used: items are held fixed. 'items x "
            f"{plan.truth}' redraws whole groups."
        )
    return said


def _plug_in(plan: Resampling, metrics: Sequence[Metric]) -> list[str]:
    """Warn of metrics that take the noise of a few votes for disagreement."""
    noisy = [one.name for one in metrics if one.name in PLUG_IN or "plug_in" in one.name]
    if not noisy or plan.truth is None:
        return []
    return [
        f"{listed(noisy)} compare with the label distribution itself: a few votes scatter "
        f"around it, which counts as distance, and redrawing the {plan.truth} adds more. Their "
        "values are too pessimistic and their intervals show scatter, not where the value with "
        "many votes lies."
    ]


def _majorities(questions: Sequence[Question], metrics: Sequence[Metric]) -> list[str]:
    """What hard labels make of items without a majority, for the metrics that see them."""
    items = sum(len(one.items) for one in questions)
    undecided = sum(one.undecided for one in questions)
    binary = all(len(one.classes) == 1 for one in questions)
    asked = {one.labels for one in metrics}
    what = "votes" if any(one.votes is not None for one in questions) else "mass"
    said = []
    if undecided and ("classes" in asked or (binary and "distribution" in asked)):
        said.append(
            f"{undecided:,} of {items:,} items have no strict majority"
            f"{' of votes' if what == 'votes' else ' in the mean of the draws'}: "
            f"hard labels count them as {'negative' if binary else 'no class'}."
        )
    level = sum(_level(one) for one in questions)
    if level and "distribution" in asked and not binary:
        names = listed([one.name for one in metrics if one.labels == "distribution"])
        said.append(
            f"{level:,} of {items:,} items have several classes with equally much of the "
            f"{what}: the hard labels of {names} share them evenly; elsewhere they are the "
            f"class with most {what}."
        )
    return said


def _level(question: Question) -> int:
    """Items whose most voted classes are several."""
    return int((np.maximum.reduce(plurality(question.shares)) < 1 - 1e-9).sum())


def why_undefined(question: Question, metric: Metric, labels: str) -> str:
    """Why a score has no value for any model, as far as the truth says."""
    if metric.labels == "classes":
        return missing_classes(question, labels)
    if metric.labels == "draws":
        _, within, group = metric.name.partition("|")
        if within:
            return f"no item can have its most plausible class where {group}"
        return "no possible truth of any item defines it (orders need two mentioned classes)"
    masses = _distributions(question, labels)
    if np.allclose(masses, masses[:1]):
        return "all items have the same label"
    return "labels or predictions do not vary enough between items to define it"


def missing_classes(question: Question, labels: str) -> str:
    """Which classes no item, or every item, belongs to."""
    if len(question.classes) == 1:
        return "every item is positive, or none is"
    truth = question.hard if labels == "hard" else question.shares
    mass = truth.sum(axis=1)
    empty = [
        name
        for name, one in zip(question.classes, mass, strict=True)
        if one <= 0 or one >= len(question.items)
    ]
    return f"no item, or every item, belongs to class {listed(empty)}"


def infinite_notices(
    aligned: Aligned, metrics: Sequence[Metric], values: Floats, labels: Sequence[str]
) -> list[str]:
    """Items to whose class a model gives no chance, which makes its score infinite."""
    said = []
    models, task = list(aligned.scores), aligned.question.task
    for k, label, m in np.argwhere(np.isinf(values)):
        if metrics[k].labels != "distribution":
            continue
        rows = _impossible(aligned, models[m], labels[label])
        names = listed([aligned.question.items[i] for i in np.flatnonzero(rows)])
        said.append(
            f"{metrics[k].name} of {models[m]!r} with {labels[label]} labels"
            f"{f' of task {task!r}' if task else ''} is infinite: it gives probability 0 to "
            f"a class that {int(rows.sum()):,} of {len(rows):,} items have ({names})."
        )
    return said


def _impossible(aligned: Aligned, model: str, labels: str) -> Bools:
    """Items that have a class to which the model gives probability 0, shape (items,)."""
    masses = _distributions(aligned.question, labels)
    return np.asarray(((masses > 0) & (aligned.distributions(model) <= 0)).any(axis=1))


def _distributions(question: Question, labels: str) -> Floats:
    """Labels as metrics of whole distributions take them, shape (items, classes)."""
    make = plurality if labels == "hard" else every_class
    return np.stack(make(question.shares), axis=1)
