"""Truth: that of one task, ready to be scored as it is or drawn anew under a plan.

The soft label of an item is its mean vote (or the mean of its possible truths), its hard label
the class with most votes; what becomes of ties is told in `equipoise.study.blocks`. A
yes/no task has one scored class, the positive; a nominal task, which has no positive class,
scores each class against the rest.

Where it was recorded, how long annotators took over their answers is kept beside it. An answer
is a row, or one reading of a ranking (its first row tells how long it took). Gold rows are
nobody's answer, and a row without a duration tells nothing.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.inference.resampling import Resampling
from equipoise.study.arguments import as_annotations
from equipoise.study.blocks import Pair, hard_labels, pair, tied_items
from equipoise.study.redraw import PanelDraw, VoteDraw, inflation, panel_inflation
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Bools, Floats, InputError, Ints, short_repr
from equipoise.types.plausibilities import Plausibilities
from equipoise.types.votes import Votes, collect_votes
from equipoise.types.words import Option, hint

KEPT_BYTES = 2**28  # of draws made full, up to which they are kept


@dataclass(frozen=True, slots=True, eq=False)
class _ResponseTimes:
    """Durations of the answers to one question.

    Attributes
    ----------
    item, annotator
        Position of the item in the question, and code of the annotator, shape (answers,).
    milliseconds
        How long the answer took, shape (answers,).
    """

    item: Ints
    annotator: Ints
    milliseconds: Floats

    __repr__ = short_repr

    def subset(self, keep: Bools) -> "_ResponseTimes":
        """Only the answers about some items, which move up to their new positions."""
        use = keep[self.item]
        item = (np.cumsum(keep) - 1)[self.item[use]]
        return _ResponseTimes(item, self.annotator[use], self.milliseconds[use])

    def medians(self) -> dict[int, float]:
        """Median duration by annotator code.

        Examples
        --------
        >>> took = np.array([10.0, 30.0, 5.0])
        >>> _ResponseTimes(np.zeros(3, int), np.array([0, 0, 2]), took).medians()
        {0: 20.0, 2: 5.0}
        """
        order = np.argsort(self.annotator, kind="stable")
        codes, first = np.unique(self.annotator[order], return_index=True)
        parts = np.split(self.milliseconds[order], first[1:])
        return {
            int(code): float(np.median(part)) for code, part in zip(codes, parts, strict=True)
        }


@dataclass(frozen=True, eq=False)
class TaskTruth:
    """The truth of one task.

    Attributes
    ----------
    task
        Name of the task; empty when there is only one.
    items
        Names of its items.
    place
        Where these items stand among the items of the plan, shape (items,).
    classes
        The classes that are scored: the positive one, or all of them.
    shares
        Soft labels, shape (classes, items).
    ordered
        Whether the order of the classes means something.
    votes, plausible
        Where the soft labels come from: votes, or draws of possible truths.
    times
        How long annotators took, where that is known.
    answers
        What the class codes of `votes` stand for.
    ties
        What becomes of items tied in the hard label: half, negative or drop.
    """

    task: str
    items: tuple[str, ...]
    place: Ints
    classes: tuple[str, ...]
    shares: Floats
    ordered: bool = False
    votes: Votes | None = None
    plausible: Plausibilities | None = None
    times: _ResponseTimes | None = None
    answers: tuple[str, ...] = ()
    ties: str = "half"

    __repr__ = short_repr

    @property
    def hard(self) -> Floats:
        """Hard labels, shape (classes, items)."""
        return np.stack(hard_labels(self.shares, self.ties))

    @cached_property
    def tied(self) -> Bools:
        """Items with several classes with most votes, shape (items,)."""
        return tied_items(self.shares)

    @property
    def single(self) -> int:
        """Items with a single vote that is not gold."""
        if self.votes is None:
            return 0
        alone = self.votes.sizes == 1
        return int((self.votes.annotator[self.votes.start[:-1][alone]] >= 0).sum())

    def once(self, labels: Collection[str] = ("classes",)) -> dict[str, Pair]:
        """Hard and soft truth with every item counting once, by kind of label."""
        counts = np.ones((len(self.items), 1), dtype=np.uint8)
        return self._pairs(self.shares, counts, labels)

    def blocks(
        self, plan: Resampling, first: int, stop: int, labels: Collection[str] = ("classes",)
    ) -> dict[str, Pair]:
        """Hard and soft truth in replicates first..stop of the plan, by kind of label."""
        counts = plan.item_counts(first, stop)[self.place]
        if plan.truth is None or not labels:
            return self._pairs(self.shares, counts, labels)
        shares, present = self._drawn(plan, first, stop)
        if present is not None:
            counts = counts * present
        return self._pairs(shares, counts, labels)

    def _pairs(
        self,
        shares: Floats | list[Floats],
        counts: NDArray[np.uint8],
        labels: Collection[str],
    ) -> dict[str, Pair]:
        """Hard and soft blocks of every kind of label asked for."""
        return {
            name: pair(list(shares), counts, whole=name == "distribution", ties=self.ties)
            for name in labels
        }

    def _drawn(self, plan: Resampling, first: int, stop: int) -> tuple[list[Floats], Any]:
        if plan.truth == "posterior":
            assert self.scored is not None
            numbers = plan.draw_numbers(first, stop, self.scored.draws)
            if self._kept:
                return [np.ascontiguousarray(draws[:, numbers]) for draws in self.draws], None
            return list(self._made(numbers)), None
        assert self.votes is not None
        if plan.truth == "panel":
            return self._panel_draw(plan).shares(plan.annotator_counts(first, stop))
        key = plan.key(f"votes/{self.task}")
        return [draw.shares(key, first, stop) for draw in self._vote_draws], None

    @cached_property
    def scored(self) -> Plausibilities | None:
        """Possible truths as metrics of classes meet them: the means are the soft labels."""
        return None if self.plausible is None else self.plausible.centred()

    @property
    def _kept(self) -> bool:
        """Whether the draws made full are few enough to be kept."""
        assert self.scored is not None
        return len(self.classes) * len(self.items) * self.scored.draws * 8 <= KEPT_BYTES

    @cached_property
    def draws(self) -> Floats:
        """Draws of possible truths made full, shape (classes, items, draws)."""
        assert self.scored is not None
        return self._made(np.arange(self.scored.draws))

    def _made(self, numbers: Ints) -> Floats:
        """Some draws made full, shape (classes, items, draws)."""
        assert self.scored is not None
        full = np.empty((len(self.classes), len(self.items), len(numbers)))
        first = len(self.scored.classes) - len(self.classes)
        for place, draw in enumerate(numbers.tolist()):  # each splits its rest once
            full[:, :, place] = self.scored.draw(draw)[:, first:].T
        return full

    @cached_property
    def masses(self) -> list[Floats]:
        """How much of each vote goes to each scored class, each of shape (votes,)."""
        assert self.votes is not None
        codes = [1] if len(self.classes) == 1 else range(len(self.classes))
        return [self.votes.mass(code) for code in codes]

    def _panel_draw(self, plan: Resampling) -> PanelDraw:
        """Who voted for what, laid out once for all chunks."""
        if plan.annotators not in self._panels:
            assert self.votes is not None
            made = PanelDraw.prepare(self.votes, self.masses, plan.annotators)
            self._panels[plan.annotators] = made
        return self._panels[plan.annotators]

    @cached_property
    def _panels(self) -> dict[int, PanelDraw]:
        return {}

    @cached_property
    def _vote_draws(self) -> list[VoteDraw]:
        assert self.votes is not None
        if len(self.masses) == 1:
            return [VoteDraw.binomial(self.votes, self.masses[0])]
        return [VoteDraw.one_by_one(self.votes, mass) for mass in self.masses]

    def widening(self, plan: Resampling) -> float:
        """By how much the spread of replicates must be widened under the plan."""
        if self.votes is None or plan.kind not in ("votes", "panel"):
            return 1.0
        if plan.kind == "panel":
            return panel_inflation(self.votes)
        return inflation(self.votes, self.shares)

    def kept(self, keep: Bools) -> "TaskTruth":
        """Only some of the items."""
        rows = np.flatnonzero(keep)
        return replace(
            self,
            items=tuple(self.items[i] for i in rows),
            place=self.place[rows],
            shares=self.shares[:, rows],
            votes=None if self.votes is None else self.votes.subset(rows),
            plausible=None if self.plausible is None else self.plausible.subset(rows),
            times=None if self.times is None else self.times.subset(keep),
        )


def task_truths(truth: Annotations | Plausibilities) -> list[TaskTruth]:
    """The truth of every task."""
    if isinstance(truth, Annotations):
        return [_from_votes(truth, task) for task in truth.tasks]
    first = 1 if len(truth.classes) == 2 else 0
    return [
        TaskTruth(
            task=truth.task,
            items=truth.items,
            place=np.arange(len(truth.items)),
            classes=truth.classes[first:],
            shares=np.ascontiguousarray(truth.soft[:, first:].T),
            ordered=truth.ordered,
            plausible=truth,
        )
    ]


def _from_votes(annotations: Annotations, task: str) -> TaskTruth:
    votes = collect_votes(annotations, task)
    names = annotations.classes
    if len(names) == 1:
        raise InputError(
            f"annotations, task {task!r}",
            f"a single class ({names[0]!r})",
            "at least two classes",
            "declare all classes of the question",
        )
    several = annotations.kind == "nominal" or (
        annotations.kind != "interval" and len(names) > 2
    )
    codes = range(len(names)) if several else [1]
    return TaskTruth(
        task=task,
        items=tuple(annotations.items[i] for i in votes.items),
        place=votes.items,
        classes=names if several else ((names or ("", "positive"))[1],),
        shares=np.stack([votes.shares(code) for code in codes]),
        ordered=annotations.kind == "ordinal",
        votes=votes,
        times=_response_times(annotations, task, votes.items),
        answers=names or ("not positive", "positive"),
    )


def yes_no_truth(annotations: Annotations, where: str) -> TaskTruth:
    """The one yes/no question that annotations ask, or a refusal."""
    asked = task_truths(as_annotations(annotations))
    if len(asked) > 1 or len(asked[0].classes) > 1:
        got = f"{len(asked)} tasks, classes {annotations.classes}"
        positive = Option("positive", python="Annotations.against")
        do = hint("ask about one class with {}", positive)
        raise InputError(where, got, "one yes/no question", do)
    return asked[0]


def _response_times(annotations: Annotations, task: str, items: Ints) -> _ResponseTimes | None:
    """Durations of one task; None where no annotator or no duration is known.

    Parameters
    ----------
    items
        The items of the question, as positions in ``annotations.items``.
    """
    if annotations.annotator is None or annotations.duration_ms is None:
        return None
    place = np.full(len(annotations.items), -1)
    place[items] = np.arange(len(items))
    use = annotations.in_task(task) & (place[annotations.item] >= 0)
    use &= ~np.isnan(annotations.duration_ms)
    if annotations.is_gold is not None:
        use &= ~annotations.is_gold
    rows = np.flatnonzero(use)
    if annotations.reading is not None:
        rows = rows[np.unique(annotations.reading[rows], return_index=True)[1]]
    if not len(rows):
        return None
    return _ResponseTimes(
        place[annotations.item[rows]],
        annotations.annotator[rows].astype(np.intp),
        annotations.duration_ms[rows].astype(np.float64),
    )
