"""The pilot: two models on one task, and how their difference depends on items and votes.

The difference is that of a metric with soft labels (mean votes), written so that it is positive
when the first model is better. Everything follows from two derivatives. The influence of an
item, by the jackknife,

    influence_i = (n - 1) (difference - difference without i),

and the effect of a vote for class k on item i: the slope of the difference as the soft label of
i moves towards k. Votes of an item for its classes in their own shares have no effect on
average, so the mean square of their effects is what votes add to the variance.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equipoise.annotations import Annotations
from equipoise.arrays import (
    Bools,
    Floats,
    InputError,
    Ints,
    PerItem,
    listed,
    nearest,
)
from equipoise.ballots import Ballots
from equipoise.evaluation.alignment import Aligned, align
from equipoise.evaluation.blocks import every_class, pair
from equipoise.evaluation.given import given_annotations, given_metrics, given_predictions
from equipoise.evaluation.questions import questions
from equipoise.metrics import Metric
from equipoise.planning._additive import item_differences, mean_of_items
from equipoise.planning._question import (
    one_task,
    require_defined,
    require_finite,
    two_names,
    usable_metric,
)
from equipoise.predictions import Predictions
from equipoise.ranks import goodness

STEP = 1e-4  # of a soft label towards a class, for slopes
WIDTH = 64  # columns scored at once
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Pilot:
    """Two models, one task, one metric.

    Attributes
    ----------
    metric, a, b, task
        The metric, the models (a the better one in the pilot unless named), the task.
    items, votes, answers
        Names of the items, their votes, and what the class codes stand for.
    shares
        Soft labels of the scored classes, shape (classes, items).
    scores
        What the metric prepares, of a and of b.
    unit
        Which group each item belongs to; every item its own when there are none.
    difference
        By how much a is better than b.
    order
        All models, best first.
    notices
        What the user should know.
    """

    metric: Metric
    a: str
    b: str
    task: str
    items: tuple[str, ...]
    votes: Ballots
    answers: tuple[str, ...]
    shares: Floats
    scores: tuple[Floats, Floats]
    unit: Ints
    difference: float
    order: tuple[str, ...]
    notices: tuple[str, ...]

    def distributions(self) -> Floats:
        """Soft labels of all classes, shape (classes, items)."""
        return np.stack(every_class(self.shares))

    def masses(self) -> Floats:
        """How much of each vote goes to each class, shape (classes, votes)."""
        if len(self.shares) > 1:
            return np.stack([self.votes.mass(code) for code in range(len(self.shares))])
        return np.stack(every_class(self.votes.mass(1)[None]))

    @cached_property
    def gold(self) -> Bools:
        """Items whose truth is known: their rows are no votes, shape (items,)."""
        return np.asarray(
            np.logical_or.reduceat(self.votes.annotator < 0, self.votes.start[:-1])
        )

    def with_labels(self, whole: Floats) -> "Pilot":
        """The same models with other soft labels of all classes, shape (classes, items)."""
        shares = whole[1:] if len(self.shares) == 1 else whole
        once = np.ones((len(self.items), 1), dtype=np.uint8)
        gap = differences(self.metric, self._prepared, list(shares), once)
        return replace(self, shares=shares, difference=float(gap[0]))

    def influence(self, progress: Progress | None = None) -> PerItem:
        """Influence of each item on the difference, shape (items,)."""
        each = self._each()
        if each is not None:
            _tell(progress, len(each), len(each))
            return np.asarray(each - self.difference)
        number = len(self.items)
        out = np.empty(number)
        for first in range(0, number, WIDTH):
            stop = min(first + WIDTH, number)
            out[first:stop] = self._without(np.arange(first, stop))
            _tell(progress, stop, number)
        out = (number - 1) * (self.difference - out)
        if np.isnan(out).any():
            raise InputError(
                f"metric {self.metric.name}", "undefined when one item is left out",
                "at least two items of every class", "collect a larger pilot",
            )  # fmt: skip
        return out

    def effects(self, wanted: Bools, progress: Progress | None = None) -> Floats:
        """Effect of a vote for each class where wanted, else 0, shape (classes, items)."""
        whole = self.distributions()
        movable = wanted & (whole < 1)
        each = self._each()
        if each is not None:
            return np.where(movable, self._slopes(whole, each), 0.0)
        klass, item = np.nonzero(movable)
        out = np.zeros(whole.shape)
        for first in range(0, len(item), WIDTH):
            part = slice(first, first + WIDTH)
            shares = self._moved(whole, klass[part], item[part])
            counts = np.ones((len(self.items), shares[0].shape[1]), dtype=np.uint8)
            moved = differences(self.metric, self._prepared, shares, counts)
            out[klass[part], item[part]] = (moved - self.difference) / STEP
            _tell(progress, min(first + WIDTH, len(item)), len(item))
        return out

    @cached_property
    def _prepared(self) -> list[object]:
        return prepare(self.metric, self.scores)

    def _without(self, rows: Ints) -> Floats:
        """The difference without each of some items."""
        counts = np.ones((len(self.items), len(rows)), dtype=np.uint8)
        counts[rows, np.arange(len(rows))] = 0
        return differences(self.metric, self._prepared, list(self.shares), counts)

    def _each(self) -> PerItem | None:
        """Its part in the difference of each item, where the metric is a mean over items."""
        each = item_differences(self.metric, self._prepared, self.distributions().T)
        return each if mean_of_items(each, self.difference, self._without) else None

    def _slopes(self, whole: Floats, each: PerItem) -> Floats:
        """Effects of a metric that is a mean over items: all items are moved at once."""
        found = []
        for code in range(len(whole)):
            towards = (np.arange(len(whole)) == code)[:, None]
            labels = whole + STEP * (towards - whole)
            moved = item_differences(self.metric, self._prepared, labels.T)
            assert moved is not None
            found.append((moved - each) / STEP / len(each))
        return np.stack(found)

    def _moved(self, whole: Floats, klass: Ints, item: Ints) -> list[Floats]:
        """Soft labels of the scored classes with one item moved in each column."""
        column = np.arange(len(item))
        moved = [np.repeat(share[:, None], len(item), axis=1) for share in whole]
        for code, share in enumerate(moved):
            share[item, column] += STEP * ((klass == code) - whole[code, item])
        return moved[1:] if len(self.shares) == 1 else moved


def prepare(metric: Metric, scores: Iterable[Floats]) -> list[object]:
    """What the metric needs of each model."""
    return [metric.prepare(one) for one in scores]


def differences(
    metric: Metric, prepared: list[object], shares: list[Floats], counts: NDArray[np.uint8]
) -> Floats:
    """First model minus second in each column, positive when the first is better."""
    block = pair(shares, counts, whole=metric.labels == "distribution")[1]
    a, b = (metric.finish(metric.reduce(one, block)) for one in prepared)
    return np.asarray(a - b if metric.better == "higher" else b - a)


def pilot(
    predictions: Predictions | Iterable[Predictions],
    annotations: Annotations,
    metric: str | Metric,
    models: tuple[str, str] | None = None,
    task: str | None = None,
) -> Pilot:
    """Bring predictions and votes together; without models, take the two best."""
    chosen = usable_metric(*given_metrics([metric]))
    given, annotations = given_predictions(predictions), given_annotations(annotations)
    models = two_names(models)
    asked = one_task(annotations, task)
    one, notices = _aligned(given, annotations, asked)
    if chosen.ordered and not one.question.ordered and len(one.question.classes) > 1:
        raise InputError(
            f"metric {chosen.name}", "classes without an order", "grades in a known order",
            "read the annotations as ordinal (--kind ordinal)",
        )  # fmt: skip
    whole = chosen.labels == "distribution"
    scores = {m: one.distributions(m) if whole else one.scores[m] for m in one.scores}
    order, (a, b), gap, said = _two(chosen, one, scores, models)
    question = one.question
    assert question.votes is not None
    unit = np.arange(len(question.items))
    if annotations.group is not None:
        unit = np.unique(annotations.group[question.place], return_inverse=True)[1]
    return Pilot(
        metric=chosen, a=a, b=b, task=asked, items=question.items, votes=question.votes,
        answers=question.answers, shares=question.shares, scores=(scores[a], scores[b]),
        unit=unit, difference=gap, order=order,
        notices=(*notices, *said),
    )  # fmt: skip


def _aligned(
    given: list[Predictions], annotations: Annotations, task: str
) -> tuple[Aligned, tuple[str, ...]]:
    """The one task; predictions of items that nobody annotated are left aside."""
    mine = [one for one in given if one.task == task]
    if not mine and len(annotations.tasks) == 1:
        mine = [replace(one, task=task) for one in given if not one.task]
    asked = [one for one in questions(annotations) if one.task == task]
    aligned, notices = align(mine, asked, on_missing="drop")
    if len(aligned[0].question.items) < 3:
        raise InputError(
            "pilot", f"{len(aligned[0].question.items)} items", "at least 3",
            "collect a larger pilot",
        )  # fmt: skip
    return aligned[0], notices


def _two(
    metric: Metric, one: Aligned, scores: dict[str, Floats], models: tuple[str, str] | None
) -> tuple[tuple[str, ...], tuple[str, str], float, tuple[str, ...]]:
    """All models, best first; the two to compare, by how much one is better, and notices.

    Models that score exactly as the best are passed over unless they were asked for.
    """
    for name in models or ():
        if name not in scores:
            raise InputError("models", f"{name!r}", "models of these", nearest(name, scores))
    if len(scores) < 2 or (models is not None and len(set(models)) < 2):
        raise InputError("models", "a single one", "two to compare", "name two models")
    ones = np.ones((len(one.question.items), 1), dtype=np.uint8)
    block = pair(one.question.shares, ones, whole=metric.labels == "distribution")[1]
    wanted = list(models or scores)
    value = [metric.finish(metric.reduce(metric.prepare(scores[m]), block)) for m in wanted]
    good = goodness(np.concatenate(value), metric.better)
    require_defined(metric, good)
    order = np.argsort(-good, kind="stable")
    below = [m for m in order[1:] if models is not None or good[m] < good[order[0]]]
    pick = order[0], (below or order[1:])[0]
    require_finite(metric, [wanted[m] for m in pick if np.isinf(good[m])])
    gap = abs(float(value[pick[0]][0] - value[pick[1]][0]))
    same = [wanted[m] for m in order[1:] if m != pick[1] and good[m] == good[pick[0]]]
    said = f"Passed over, with exactly the value of {wanted[pick[0]]!r}: {listed(same)}."
    return (
        tuple(wanted[m] for m in order), (wanted[pick[0]], wanted[pick[1]]), gap,
        (said,) if same and below else (),
    )  # fmt: skip


def votes_each(two: Pilot) -> float:
    """Votes per item on average, items of known truth apart; 0 when there is no other."""
    voted = two.votes.sizes[~two.gold]
    return float(voted.mean()) if len(voted) else 0.0


def _tell(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)
