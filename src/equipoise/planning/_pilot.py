"""The pilot: two models on one task, and how their difference depends on items and votes.

The difference is that of a metric with soft labels (mean votes), written so that it is positive
when the first model is better. Everything follows from two derivatives. The influence of an
item, by the jackknife,

    influence_i = (n - 1) (difference - difference without i),

and the effect of a vote for class k on item i: the slope of the difference as the soft label of
i moves towards k. Votes of an item for its classes in their own shares have no effect on
average, so the mean square of their effects is what votes add to the variance.

If the difference is the mean of one number d_i per item, then leaving item i out gives
influence_i = d_i - difference, and moving the label of one item moves its own d_i alone, so
that all items can be moved at once. A metric gives d_i by its influence function; whether it is
such a mean is checked on some of the items, by leaving them out.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

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
    wrong_type,
)
from equipoise.evaluation.alignment import Aligned, align
from equipoise.evaluation.arguments import as_annotations, as_metrics, as_predictions
from equipoise.evaluation.blocks import every_class, pair
from equipoise.evaluation.truth import task_truths
from equipoise.metrics import Metric
from equipoise.notices import Notice, as_notices
from equipoise.predictions import Predictions
from equipoise.ranks import higher_is_better
from equipoise.votes import Votes
from equipoise.wording import Option, hint

STEP = 1e-4  # of a soft label towards a class, for slopes
WIDTH = 64  # columns scored at once
CHECKED = 64  # items that are left out to see whether the metric is a mean
CLOSE = 1e-8
BINS = "bins "  # how the family of metrics of binned probabilities begins
DRAWS = 32  # of a single vote on each item
SURE = 4.5  # standard errors
MATTERS = 0.05  # of the difference
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Pilot:
    """Two models, one task, one metric.

    Attributes
    ----------
    metric, a, b
        The metric, and the models (a the better one in the pilot unless named).
    items, votes
        Names of the items, and their votes.
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
    items: tuple[str, ...]
    votes: Votes
    shares: Floats
    scores: tuple[Floats, Floats]
    unit: Ints
    difference: float
    order: tuple[str, ...]
    notices: tuple[Notice, ...]

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
            where, got = f"metric {self.metric.name}", "undefined when one item is left out"
            expected = "at least two items of every class"
            raise InputError(where, got, expected, "collect a larger pilot")
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
        each = _item_differences(self.metric, self._prepared, self.distributions().T)
        if each is None or not np.isfinite(each).all():
            return None
        some = np.unique(np.linspace(0, len(each) - 1, CHECKED).astype(np.int64))
        found = (len(each) - 1) * (self.difference - self._without(some))
        size = max(float(np.abs(each).max()), CLOSE) * len(each)
        same = np.allclose(found, each[some] - self.difference, atol=CLOSE * size)
        return each if same else None

    def _slopes(self, whole: Floats, each: PerItem) -> Floats:
        """Effects of a metric that is a mean over items: all items are moved at once."""
        found = []
        for code in range(len(whole)):
            towards = (np.arange(len(whole)) == code)[:, None]
            labels = whole + STEP * (towards - whole)
            moved = _item_differences(self.metric, self._prepared, labels.T)
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
    chosen = usable_metric(*as_metrics([metric]))
    given, annotations = as_predictions(predictions), as_annotations(annotations)
    models = _two_names(models)
    known, asked = annotations.tasks, annotations.tasks[0] if task is None else task
    if task is None and len(known) > 1:
        do = hint("choose one ({}): {}", Option("task"), ", ".join(known))
        raise InputError("annotations", f"{len(known)} tasks", "one", do)
    if asked not in known:
        raise InputError("task", f"{task!r}", "a task of these", nearest(str(task), known))
    one, notices = _aligned(given, annotations, asked)
    if chosen.ordered and not one.question.ordered and len(one.question.classes) > 1:
        where = f"metric {chosen.name}"
        do = hint("read the annotations with {}", Option("kind", "ordinal"))
        raise InputError(where, "classes without an order", "grades in a known order", do)
    whole = chosen.labels == "distribution"
    scores = {m: one.distributions(m) if whole else one.scores[m] for m in one.scores}
    pick, question = _two_models(chosen, one, scores, models), one.question
    assert question.votes is not None
    unit = np.arange(len(question.items))
    if annotations.group is not None:
        unit = np.unique(annotations.group[question.place], return_inverse=True)[1]
    return Pilot(
        metric=chosen,
        items=question.items,
        votes=question.votes,
        shares=question.shares,
        scores=(scores[pick.a], scores[pick.b]),
        unit=unit,
        **pick._replace(notices=(*notices, *pick.notices))._asdict(),
    )


def neighbours(
    models: list[Predictions], annotations: Annotations, metric: str | Metric, task: str | None
) -> Iterator[tuple[Pilot, int]]:
    """Every model with the next, best first, and the number of such pairs."""
    first = pilot(models, annotations, metric, None, task)
    pairs = list(pairwise(first.order))
    for both in pairs:
        yield pilot(models, annotations, first.metric, both, task), len(pairs)


def _aligned(
    given: list[Predictions], annotations: Annotations, task: str
) -> tuple[Aligned, tuple[Notice, ...]]:
    """The one task; predictions of items that nobody annotated are left aside."""
    mine = [one for one in given if one.task == task]
    if not mine and len(annotations.tasks) == 1:
        mine = [replace(one, task=task) for one in given if not one.task]
    asked = [one for one in task_truths(annotations) if one.task == task]
    aligned, notices = align(mine, asked, on_missing="drop")
    if len(aligned[0].question.items) < 3:
        got = f"{len(aligned[0].question.items)} items"
        raise InputError("pilot", got, "at least 3", "collect a larger pilot")
    return aligned[0], as_notices(notices)


class _TwoModels(NamedTuple):
    """The two models to compare, by how much a is better, and all models, best first."""

    a: str
    b: str
    difference: float
    order: tuple[str, ...]
    notices: tuple[Notice, ...]


def _two_models(
    metric: Metric, one: Aligned, scores: dict[str, Floats], models: tuple[str, str] | None
) -> _TwoModels:
    """Choose two models: those asked for, or the two best.

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
    good = higher_is_better(np.concatenate(value), metric.better)
    if np.isnan(good).any():
        where, got = f"metric {metric.name}", "undefined on the pilot"
        raise InputError(where, got, "votes for every class", "collect a larger pilot")
    order = np.argsort(-good, kind="stable")
    below = [m for m in order[1:] if models is not None or good[m] < good[order[0]]]
    best, rival = order[0], (below or order[1:])[0]
    require_finite(metric, [wanted[m] for m in (best, rival) if np.isinf(good[m])])
    same = tuple(wanted[m] for m in order[1:] if m != rival and good[m] == good[best])
    text = "Passed over, with exactly the value of {best!r}: {same:names}."
    passed = Notice("passed_over", text, values={"best": wanted[best], "same": same})
    return _TwoModels(
        a=wanted[best],
        b=wanted[rival],
        difference=abs(float(value[best][0] - value[rival][0])),
        order=tuple(wanted[m] for m in order),
        notices=(passed,) if same and below else (),
    )


def with_single_votes(two: Pilot, seed: int = 0) -> float | None:
    """Difference with a single vote on each item, nan if undefined; None if it is the same.

    A metric that scores every vote and averages has the same expectation whether an item has
    one vote or many. A distance to the label distribution itself has not: few votes make labels
    look surer than they are. So every item is left a single vote, drawn from its own, some
    times over, and the mean of the differences is compared with that of all votes.
    """
    whole = two.distributions()
    if (whole.max(axis=0) >= 1).all():
        return None
    random, bounds = np.random.default_rng(seed), np.cumsum(whole, axis=0)
    found = []
    for _ in range(DRAWS):
        chosen = (random.random(len(two.items)) * bounds[-1] >= bounds[:-1]).sum(axis=0)
        single = (np.arange(len(whole))[:, None] == chosen).astype(np.float64)
        found.append(two.with_labels(single).difference)
    mean, error = float(np.mean(found)), float(np.std(found)) / math.sqrt(DRAWS)
    moved = abs(mean - two.difference)
    same = moved <= max(SURE * error, MATTERS * abs(two.difference))
    return None if same else mean


def _item_differences(
    metric: Metric, prepared: Sequence[object], labels: Floats
) -> PerItem | None:
    """First model minus second on each item, positive when the first is better.

    None for metrics of another kind. Labels come as (items, classes).
    """
    if metric.influence is None or metric.labels != "distribution":
        return None
    each = []
    for one in prepared:
        value, slope, _ = metric.influence(one, labels)
        each.append(value + len(labels) * slope)
    gap = each[0] - each[1]
    return np.asarray(gap if metric.better == "higher" else -gap)


def _two_names(models: object) -> tuple[str, str] | None:
    """Names of two models; None for the two best."""
    if models is None:
        return None
    several = models if isinstance(models, Sequence) and not isinstance(models, str) else ()
    names = [one for one in several if isinstance(one, str)]
    if len(names) != 2 or len(several) != 2:
        raise wrong_type("models", models, "the names of two models", "name two of them")
    return names[0], names[1]


def usable_metric(metric: Metric) -> Metric:
    """Refuse metrics whose value changes with the number of items, or without votes.

    With bins the distance in each is as large as chance makes it, which more items lessen.
    """
    why = {
        "draws of possible truths": metric.labels == "draws",
        "a fixed number k of items": metric.min_items > 1,
        "bins, whose value depends on the number of items": metric.family.startswith(BINS),
    }
    for what, found in why.items():
        if found:
            expected = "one that means the same for any number of items"
            do = "plan by auroc, average_precision, brier_score or another such metric"
            raise InputError(f"metric {metric.name}", f"a metric of {what}", expected, do)
    return metric


def require_finite(metric: Metric, infinite: Sequence[str]) -> None:
    """Refuse models whose value is infinite, as a log score with a probability of 0."""
    if infinite:
        raise InputError(
            f"metric {metric.name}",
            f"infinite for {listed(infinite)}",
            "finite values",
            "give no class that somebody may choose a probability of 0, or plan by another "
            "metric, as brier_score",
        )


def votes_each(two: Pilot) -> float:
    """Votes per item on average, items of known truth apart; 0 when there is no other."""
    voted = two.votes.sizes[~two.gold]
    return float(voted.mean()) if len(voted) else 0.0


def _tell(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)
