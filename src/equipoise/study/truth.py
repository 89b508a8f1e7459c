"""Truth: that of one task, ready to be scored as it is or drawn anew under a plan.

The soft label of an item is its mean vote (or the mean of its possible truths), its hard label
the class with most votes; what becomes of ties is told in `equipoise.study.blocks`. A
yes/no task has one scored class, the positive; a nominal task, which has no positive class,
scores each class against the rest.

Where it was recorded, how long annotators took over their answers is kept beside it. An answer
is a row, or one reading of a ranking (its first row tells how long it took). Gold rows are
nobody's answer, and a row without a duration tells nothing.

Redrawn, an item has the mean vote after its votes, or its voters, are drawn again.
"""

from collections.abc import Collection
from dataclasses import replace
from functools import cache, cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.inference.resampling import Resampling
from equipoise.metrics.ratings import ends_of_scale, scale_in_words
from equipoise.study.arguments import as_annotations
from equipoise.study.blocks import Pair, hard_labels, pair, tied_items
from equipoise.types import (
    Annotations,
    Bools,
    Floats,
    InputError,
    Ints,
    Names,
    Option,
    Plausibilities,
    Votes,
    collect_votes,
    hint,
    immutable,
    short_repr,
)


def no_votes(where: str) -> InputError:
    """That an analysis of votes has none to vary: a reference standard is the truth."""
    got, wanted = "a reference standard of every item", "a truth that votes make"
    return InputError(where, got, wanted, hint("choose {}", Option("gold", "ignore")))


MOST = 64  # binomial tables are kept for items of at most this many votes


@immutable(eq=False)
class PanelDraw:
    """Mean votes when annotators are drawn anew: two sparse products per class.

    Items with the same votes by the same people have the same mean votes in every replicate:
    they share a pattern, and only patterns are worked out.

    Attributes
    ----------
    yes
        Per scored class, weight times mass of each annotator's votes, sparse (patterns,
        annotators + 1); the last column holds gold votes.
    all
        The same with the weight alone.
    pattern
        The pattern of every item, shape (items,).
    """

    yes: tuple[Any, ...]
    all: Any
    pattern: NDArray[np.int32]

    @classmethod
    def prepare(cls, votes: Votes, masses: list[Floats], annotators: int) -> "PanelDraw":
        """Lay out who voted for what."""
        from scipy.sparse import csr_matrix

        from equipoise.kernels.blocks import vote_patterns

        pattern, first = vote_patterns(votes.start, votes.annotator, votes.weight, *masses)
        column = np.where(votes.annotator < 0, annotators, votes.annotator)
        shape = (len(votes.sizes), annotators + 1)

        def table(weight: Floats) -> Any:
            return csr_matrix((weight, column, votes.start), shape)[first]

        parts = [table(votes.weight * mass) for mass in masses]
        return cls(tuple(parts), table(votes.weight), pattern)

    def of_patterns(self, panel: NDArray[np.uint8]) -> tuple[list[Floats], NDArray[np.uint8]]:
        """Mean votes when annotator a counts ``panel[a, r]`` times in replicate r.

        Returns the shares of each class and whether any voter of the item is left, all of
        shape (patterns, replicates). Gold counts once in every replicate.
        """
        times = np.vstack([panel, np.ones(panel.shape[1])])
        total = self.all @ times
        present = total > 0
        safe = np.where(present, total, 1.0)
        return [part @ times / safe for part in self.yes], present.astype(np.uint8)

    def shares(self, panel: NDArray[np.uint8]) -> tuple[list[Floats], NDArray[np.uint8]]:
        """The same by item, all of shape (items, replicates)."""
        shares, present = self.of_patterns(panel)
        return [share[self.pattern] for share in shares], present[self.pattern]


@immutable(eq=False)
class VoteDraw:
    """Draws of one class's mean vote from each item's own votes.

    `tables` is set when all votes are yes or no and count alike: then the number of yes votes
    is binomial and one random word per item is enough.
    """

    votes: Votes
    mass: Floats
    tables: tuple[Ints, Ints, NDArray[np.uint64], NDArray[np.uint8]] | None
    start_share: Floats

    @classmethod
    def one_by_one(cls, votes: Votes, mass: Floats) -> "VoteDraw":
        """Draw every vote; classes drawn with the same key get the same votes."""
        yes = np.add.reduceat(mass, votes.start[:-1])
        return cls(votes, mass, None, yes / votes.sizes)

    @classmethod
    def binomial(cls, votes: Votes, mass: Floats) -> "VoteDraw":
        """Draw the number of yes votes where that is all that matters, else every vote."""
        plain = np.isin(mass, (0.0, 1.0)).all() and (votes.weight == votes.weight[0]).all()
        size = votes.sizes
        if not plain or size.max() > MOST:
            return cls.one_by_one(votes, mass)
        yes = np.add.reduceat(mass, votes.start[:-1]).astype(np.int64)
        split = (yes > 0) & (yes < size)
        cells, code = np.unique(size[split] * (MOST + 1) + yes[split], return_inverse=True)
        cell = np.full(len(size), -1, dtype=np.int64)
        cell[split] = code
        pairs = [divmod(int(c), MOST + 1) for c in cells]
        threshold = np.array([_thresholds(m, k) for m, k in pairs], dtype=np.uint64)
        guide = np.array([_guide(m, k) for m, k in pairs], dtype=np.uint8)
        tables = (cell, size, threshold.reshape(-1, MOST + 1), guide.reshape(-1, 256))
        return cls(votes, mass, tables, yes / size)

    def shares(self, key: np.uint64, first: int, stop: int) -> Floats:
        """Mean votes in replicates first..stop, shape (items, replicates)."""
        from equipoise.kernels.resampling import binomial_shares, vote_shares

        share = np.repeat(self.start_share[:, None], stop - first, axis=1)
        if self.tables is not None:
            binomial_shares(self.tables, key, first, share)
        else:
            vote_shares((self.votes.start, self.mass, self.votes.weight), key, first, share)
        return share


@cache
def _thresholds(votes: int, yes: int) -> tuple[int, ...]:
    """Cumulative binomial probabilities in units of 2^-32, padded with 2^32."""
    share = yes / votes
    chance = [comb(votes, j) * share**j * (1 - share) ** (votes - j) for j in range(votes + 1)]
    steps = np.minimum(np.round(np.cumsum(chance) * 2**32), 2**32).astype(np.uint64)
    steps[votes:] = 2**32
    return tuple(int(s) for s in steps) + (2**32,) * (MOST - votes)


@cache
def _guide(votes: int, yes: int) -> tuple[int, ...]:
    """For each top byte of a draw, the first outcome it can mean."""
    starts = np.arange(256, dtype=np.uint64) << np.uint64(24)
    steps = np.array(_thresholds(votes, yes), dtype=np.uint64)
    return tuple(int(s) for s in np.searchsorted(steps, starts, side="right"))


KEPT_BYTES = 2**28  # of draws made full, up to which they are kept


@immutable(eq=False)
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


@immutable(eq=False)
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
    judged
        Whether items are outputs of the systems that compete.
    """

    task: str
    items: Names
    place: Ints
    classes: Names
    shares: Floats
    ordered: bool = False
    votes: Votes | None = None
    plausible: Plausibilities | None = None
    times: _ResponseTimes | None = None
    answers: Names = ()
    ties: str = "half"
    judged: bool = False

    __repr__ = short_repr

    @property
    def rated(self) -> bool:
        """Whether votes are numbers on a scale."""
        return ends_of_scale(self.classes) is not None

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
        if plan.truth == "panel":
            draw = self._panel_draw(plan)
            shares, present = draw.of_patterns(plan.annotator_counts(first, stop))
            if not present.all():
                counts = counts * present[draw.pattern]
            return self._pairs(shares, counts, labels, draw.pattern)
        return self._pairs(self._drawn_labels(plan, first, stop), counts, labels)

    def _pairs(
        self,
        shares: Floats | list[Floats],
        counts: NDArray[np.uint8],
        labels: Collection[str],
        pattern: NDArray[np.int32] | None = None,
    ) -> dict[str, Pair]:
        """Hard and soft blocks of every kind of label asked for."""
        same = len(shares) > 1 and self.ties != "negative"  # both kinds, of several classes
        kinds = {name: same or name == "distribution" for name in labels}
        pairs = {
            whole: pair(list(shares), counts, whole=whole, ties=self.ties, pattern=pattern)
            for whole in set(kinds.values())
        }
        return {name: pairs[whole] for name, whole in kinds.items()}

    def _drawn_labels(self, plan: Resampling, first: int, stop: int) -> list[Floats]:
        """Soft labels by each class, each of shape (items, replicates)."""
        if plan.truth == "posterior":
            assert self.scored is not None
            numbers = plan.draw_numbers(first, stop, self.scored.draws)
            if self._keeps_draws:
                return [np.ascontiguousarray(draws[:, numbers]) for draws in self.draws]
            return list(self._full_draws(numbers))
        assert self.votes is not None
        key = plan.key(f"votes/{self.task}")
        return [draw.shares(key, first, stop) for draw in self._vote_draws]

    @cached_property
    def scored(self) -> Plausibilities | None:
        """Possible truths as metrics of classes meet them: the means are the soft labels."""
        return None if self.plausible is None else self.plausible.centred()

    @property
    def _keeps_draws(self) -> bool:
        """Whether the draws made full are few enough to be kept."""
        assert self.scored is not None
        return len(self.classes) * len(self.items) * self.scored.draws * 8 <= KEPT_BYTES

    @cached_property
    def draws(self) -> Floats:
        """Draws of possible truths made full, shape (classes, items, draws)."""
        assert self.scored is not None
        return self._full_draws(np.arange(self.scored.draws))

    def _full_draws(self, numbers: Ints) -> Floats:
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
            draw = PanelDraw.prepare(self.votes, self.masses, plan.annotators)
            self._panels[plan.annotators] = draw
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

    def subset(self, keep: Bools) -> "TaskTruth":
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

    def of_votes(self, votes: Votes) -> "TaskTruth":
        """By some of its votes alone, on the items that still have any."""
        assert self.votes is not None
        left = self.subset(np.isin(self.votes.items, votes.items))
        codes = range(len(self.classes)) if len(self.classes) > 1 else [1]
        shares = np.stack([votes.shares(code) for code in codes])
        return replace(left, shares=shares, votes=votes, times=None)


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
    scored = names if several else ((names or ("", "positive"))[1],)
    if annotations.scale is not None:
        scored = (scale_in_words(*annotations.scale),)
    return TaskTruth(
        task=task,
        items=tuple(annotations.items[i] for i in votes.items),
        place=votes.items,
        classes=scored,
        shares=np.stack([votes.shares(code) for code in codes]),
        ordered=annotations.kind == "ordinal",
        votes=votes,
        times=_response_times(annotations, task, votes.items),
        answers=names or ("not positive", "positive"),
        judged=bool(annotations.judged),
    )


def yes_no_truth(annotations: Annotations, where: str) -> TaskTruth:
    """The one yes/no question that annotations ask, or a refusal."""
    truths = task_truths(as_annotations(annotations))
    if len(truths) > 1 or len(truths[0].classes) > 1:
        got = f"{len(truths)} tasks, classes {annotations.classes}"
        positive = Option("positive", python="Annotations.against")
        do = hint("ask about one class with {}", positive)
        raise InputError(where, got, "one yes/no question", do)
    return truths[0]


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
    use = annotations.opinions(task) & (place[annotations.item] >= 0)
    use &= ~np.isnan(annotations.duration_ms)
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
