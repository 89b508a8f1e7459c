"""Groups of items: metric, certainty, entropy and agreement inside and outside of a group.

Every quantity is measured on the items as they are and on the same resamples of items, so that
the difference between two groups, and everything between models, is paired.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.aggregate import dirichlet
from equipoise.agreement import krippendorff_alpha
from equipoise.analyses._group_words import UNDEFINED, Cell
from equipoise.analyses._shuffled import (
    Shuffles,
    bootstrap_by_chance,
    chance,
    shuffles,
    sides,
)
from equipoise.analyses.scoring import StudyScorer, TaskScorer, mean_over_tasks
from equipoise.analyses.words import joined
from equipoise.annotations import COLUMNS, Annotations
from equipoise.arrays import Bools, Floats, PerItem
from equipoise.evaluation.blocks import every_class, majority
from equipoise.metrics._distributions import entropy
from equipoise.resampling import Resampling


class Size(NamedTuple):
    """A group, how many items it has, and whether they are enough to be measured."""

    column: str
    level: str
    items: int
    measured: bool


class Quantity(NamedTuple):
    """What is measured: its name, whose it is, and its bounds."""

    name: str
    model: str
    bounds: tuple[float, float]


class Measures(NamedTuple):
    """One task, ready to be measured on any group of items.

    Attributes
    ----------
    subject
        The task.
    scores
        Numbers per item whose mean over the group is a quantity, by name.
    counts
        Every item once, then the replicates, (items, 1 + replicates).
    """

    subject: TaskScorer
    scores: dict[str, PerItem]
    counts: NDArray[np.uint8]


def quantities(found: StudyScorer, annotations: Annotations) -> list[Quantity]:
    """Everything that can be measured for these annotations."""
    named = [Quantity(found.metric.name, model, found.metric.bounds) for model in found.models]
    if annotations.kind != "interval":
        named.append(Quantity("certainty", "", (0.0, 1.0)))
    named.append(Quantity("entropy", "", (0.0, np.inf)))
    if annotations.rank is None:
        named.append(Quantity("agreement", "", (-1.0, 1.0)))
    return named


def measures(subject: TaskScorer, annotations: Annotations, found: StudyScorer) -> Measures:
    """Work out what does not depend on the group."""
    question = subject.question
    scores = {"entropy": entropy(np.stack(every_class(question.shares)))}
    if annotations.kind != "interval":
        made = dirichlet(annotations, task=question.task)
        sure = dict(zip(made.items, made.certainty, strict=True))
        scores["certainty"] = np.array([sure[name] for name in question.items])
    drawn = subject.item_counts(found.plan)
    once = np.ones((len(drawn), 1), dtype=np.uint8)
    return Measures(subject, scores, np.concatenate([once, drawn], axis=1))


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of items, each measured once, and each pair of them tested once.

    Attributes
    ----------
    study, annotations
        What is measured, and the votes.
    named, parts
        The quantities, and the tasks.
    known, tested
        What was measured and tested before.
    """

    study: StudyScorer
    annotations: Annotations
    named: list[Quantity]
    parts: list[Measures]
    known: dict[bytes, Floats] = field(default_factory=dict)
    tested: dict[frozenset[bytes], list[float]] = field(default_factory=dict)

    def of(self, group: Bools) -> Floats:
        """All quantities of a group, averaged over tasks, (quantities, 1 + replicates).

        Parameters
        ----------
        group
            Which of the annotations' items belong to it, shape (items,).
        """
        key = group.tobytes()
        if key not in self.known:
            counts = [
                one.counts * group[one.subject.question.place][:, None].astype(np.uint8)
                for one in self.parts
            ]
            self.known[key] = self._valued(counts, group, self.study.plan)
        return self.known[key]

    def chances(self, group: Bools, other: Bools) -> list[float]:
        """P-value of the difference in each quantity, as `equipoise.analyses._shuffled`."""
        key = frozenset((group.tobytes(), other.tobytes()))
        if key not in self.tested:
            both, gaps = sides(group, other, self.study.plan), self.of(group) - self.of(other)
            if both.mixed:
                by_chance, degrees = bootstrap_by_chance(gaps, both)
            else:
                one, two = (self._shuffled(plan) for plan in shuffles(both, self.study.plan))
                by_chance, degrees = one - two, sum(both.numbers) - 2
            self.tested[key] = [
                chance(float(gap), drawn, degrees)
                for gap, drawn in zip(gaps[:, 0], by_chance, strict=True)
            ]
        return self.tested[key]

    def _shuffled(self, plan: Shuffles) -> Floats:
        """All quantities of shuffled groups, (quantities, replicates)."""
        counts = [plan.members[one.subject.question.place] for one in self.parts]
        return self._valued(counts, np.asarray(plan.members.any(axis=1)), plan)

    def _valued(
        self, counts: list[NDArray[np.uint8]], group: Bools, plan: Resampling
    ) -> Floats:
        """All quantities on items that stand so often in each column, (quantities, columns)."""
        tasks = []
        for one, times in zip(self.parts, counts, strict=True):
            models = one.subject.scored(list(one.subject.question.shares), times)
            rows, means = list(models), _means(one.scores, times)
            for quantity in self.named[len(models) :]:
                if quantity.name == "agreement":
                    alpha = _agreement(one.subject, group, self.annotations, plan)
                    rows.append(alpha[-times.shape[1] :])
                else:
                    rows.append(means[quantity.name])
            tasks.append(np.stack(rows))
        return mean_over_tasks(tasks)


def _means(scores: dict[str, PerItem], counts: NDArray[np.uint8]) -> dict[str, Floats]:
    """Mean over items in each replicate of all numbers per item at once; nan without items.

    Examples
    --------
    >>> _means({"entropy": np.array([0.2, 0.4])}, np.array([[1, 0], [3, 0]], dtype=np.uint8))
    {'entropy': array([0.35,  nan])}
    """
    together = np.stack([*scores.values(), np.ones(len(counts))])
    *totals, number = together @ counts.astype(np.float64)
    return {
        name: np.where(number > 0, total / np.maximum(number, 1.0), np.nan)
        for name, total in zip(scores, totals, strict=True)
    }


def _agreement(
    subject: TaskScorer, group: Bools, annotations: Annotations, plan: Resampling
) -> Floats:
    """Krippendorff's alpha of the votes on some items, value first."""
    question = subject.question
    inside = np.zeros(len(annotations.items), dtype=bool)
    inside[question.place] = group[question.place]
    rows = annotations.in_task(question.task) & inside[annotations.item]
    if annotations.is_gold is not None:
        rows &= ~annotations.is_gold
    if not rows.any():
        return np.full(1 + plan.replicates, np.nan)
    columns = {
        name: getattr(annotations, name)[rows]
        for name in COLUMNS
        if name != "group" and getattr(annotations, name) is not None
    }
    alpha = krippendorff_alpha(replace(annotations, **columns), task=question.task, plan=plan)
    return np.append(alpha.value, alpha.replicates)


def undefined(size: Size, group: Bools, cells: Sequence[Cell], found: StudyScorer) -> list[str]:
    """Say which quantities have no value in a group, and in which task, if any."""
    names = list(dict.fromkeys(one.quantity for one in cells if one.status == UNDEFINED))
    said = []
    for name in names:
        tasks = (
            [_why(one, group) for one in found.subjects] if name == found.metric.name else []
        )
        why = joined(list(dict.fromkeys(filter(None, tasks))))
        where = f"For {size.column} = {size.level} {name} is undefined"
        said.append(f"{where}: {why}." if why else f"{where}.")
    return said


def _why(subject: TaskScorer, group: Bools) -> str:
    """Why a metric may have no value: no items, or only one label, in this task."""
    question = subject.question
    here = group[question.place]
    task = f" of {question.task}" if question.task else ""
    if not here.any():
        return f"it has no items{task}"
    shares = list(question.shares[:, here])
    labels = np.stack(shares if subject.labels == "soft" else majority(shares))
    return f"all its labels{task} are the same" if np.ptp(labels, axis=1).max() == 0 else ""


def holm(values: Sequence[float]) -> Floats:
    """Holm's adjustment of p-values for all of them being looked at; nan stays nan.

    Examples
    --------
    >>> holm([0.01, 0.04, float("nan"), 0.03])
    array([0.03, 0.06,  nan, 0.06])
    """
    p = np.asarray(values, dtype=np.float64)
    out = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    times = np.arange(len(order), 0, -1)
    out[order] = np.minimum(np.maximum.accumulate(p[order] * times), 1.0)
    return out
