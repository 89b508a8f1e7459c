"""Field: all models of one task, scored after any sets of moves.

Values are goodness throughout: what a metric gives, with its sign turned where lower is better.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from equipoise.analyses._moves import NOTHING, Moves
from equipoise.analyses.scoring import TaskScorer
from equipoise.arrays import Floats, Ints
from equipoise.evaluation.blocks import pair
from equipoise.evaluation.gradients import class_average
from equipoise.metrics import Prepared

ONCE = 25_000_000  # moves times items up to which every move is scored alone: 5,000 items
WIDTH = 1_000_000  # sets times items scored at once
LEAST = 128  # sets scored at once, however many items there are
BLOCKS = 20  # parts of the items whose labels are changed together
Sets = NDArray[np.integer]  # (sets, moves)
Models = list[int]


@dataclass(frozen=True, eq=False)
class Field:
    """One task, its models and its moves."""

    subject: TaskScorer
    moves: Moves

    @property
    def items(self) -> int:
        """How many items the task has."""
        return len(self.subject.question.items)

    @property
    def sign(self) -> float:
        """1 where higher is better, else -1."""
        return 1.0 if self.subject.metric.better == "higher" else -1.0

    @cached_property
    def full(self) -> Floats:
        """Goodness of every model on all data, (models,)."""
        return self.sign * self.subject.full()

    @cached_property
    def kinds(self) -> Ints:
        """Moves that differ in what they do."""
        return self.moves.apart(np.arange(len(self.moves.item)))

    @cached_property
    def copies(self) -> Ints:
        """How many moves of each of `kinds` there are."""
        return self.moves.copies(self.kinds)

    @property
    def exact(self) -> bool:
        """Whether there are few enough moves to score every one alone."""
        return len(self.kinds) * self.items <= ONCE

    @cached_property
    def singles(self) -> Floats:
        """Goodness of every model after each of `kinds` alone, (models, kinds)."""
        return self.after(self.kinds[:, None])

    @cached_property
    def total(self) -> Floats:
        """Weight of the votes of every item, (items,)."""
        votes = self.subject.question.votes
        assert votes is not None
        return np.asarray(np.add.reduceat(votes.weight, votes.start[:-1]))

    def after(self, sets: Sets, models: Models | None = None) -> Floats:
        """Goodness of models after each set, (models, sets); nan where undefined."""
        chosen = range(len(self.subject.prepared)) if models is None else models
        prepared = [self.subject.prepared[m] for m in chosen]
        out = np.empty((len(prepared), len(sets)))
        width = max(WIDTH // self.items, LEAST)
        for first in range(0, len(sets), width):
            part = slice(first, first + width)
            shares, left = self._quick(sets[part])
            out[:, part] = self.sign * self.subject.scored(shares, left, prepared)
        return out

    def fresh(self, chosen: list[int]) -> Floats:
        """Goodness of every model with everything, also the sorting, made anew, (models,)."""
        shares, left = self.shares(np.array([chosen], dtype=np.intp))
        keep = np.flatnonzero(left[:, 0])
        number = len(self.subject.prepared)
        if not len(keep):
            return np.full(number, np.nan)
        once = np.ones((len(keep), 1), dtype=np.uint8)
        truth = [np.ascontiguousarray(one[keep, 0]) for one in shares]
        prepared = [self.subject.metric.prepare(self._scores(m)[keep]) for m in range(number)]
        return np.asarray(self.sign * self.subject.scored(truth, once, prepared)[:, 0])

    def shares(self, sets: Sets) -> tuple[list[Floats], NDArray[np.uint8]]:
        """Soft labels by class and which items are left, each (items, sets)."""
        weight, masses = self._sums(sets)
        left = weight > NOTHING
        safe = np.where(left, weight, 1.0)
        old = self.subject.question.shares[..., None]
        shares = [
            np.clip(np.where(left, m / safe, o), 0.0, 1.0)
            for m, o in zip(masses, old, strict=True)
        ]
        return shares, left.astype(np.uint8)

    def first_order(self) -> Floats:
        """Goodness of every model after each of `kinds`, by influence, (models, kinds).

        Taking an item away changes a value by minus its influence. Changing an item's label
        changes it by its influence with the new label less that with the old; labels are
        changed a twentieth of the items at a time, so that the others stay nearly as they are.
        """
        now, among = self.subject.question.shares, self.kinds
        item = self.moves.item[among]
        effect = -self._slopes(now)[:, item]
        if self.moves.unit != "items":
            after = self.total[item] + self.moves.weight[among]
            mass = (now * self.total)[:, item] + self.moves.mass[:, among]
            new = np.clip(mass / np.where(after > NOTHING, after, 1.0), 0.0, 1.0)
            turn = np.where(after > NOTHING, _turns(item) * BLOCKS + item % BLOCKS, -1)
            for one in np.unique(turn[turn >= 0]):
                use = np.flatnonzero(turn == one)
                changed = now.copy()
                changed[:, item[use]] = new[:, use]
                effect[:, use] += self._slopes(changed)[:, item[use]]
        return self.full[:, None] + effect

    def _quick(self, sets: Sets) -> tuple[list[Floats], NDArray[np.uint8]]:
        """The same as `shares`; where only items go, labels stay as they are."""
        if self.moves.unit != "items":
            return self.shares(sets)
        left = np.ones((self.items, len(sets)), dtype=np.uint8)
        left[self.moves.item[sets], np.arange(len(sets))[:, None]] = 0
        return list(self.subject.question.shares), left

    def _sums(self, sets: Sets) -> tuple[Floats, list[Floats]]:
        """Weight of the votes and mass of every class after each set, each (items, sets)."""
        question, width = self.subject.question, len(sets)
        place = (self.moves.item[sets], np.arange(width)[:, None])
        weight = np.repeat(self.total[:, None], width, axis=1)
        np.add.at(weight, place, self.moves.weight[sets])
        masses = []
        for old, change in zip(question.shares, self.moves.mass, strict=True):
            mass = np.repeat((old * self.total)[:, None], width, axis=1)
            np.add.at(mass, place, change[sets])
            masses.append(mass)
        return weight, masses

    def _slopes(self, labels: Floats) -> Floats:
        """Influence of every item on the goodness of every model, (models, items)."""
        metric = self.subject.metric
        whole = metric.labels == "distribution"
        once = np.ones((labels.shape[1], 1), dtype=np.uint8)
        block = pair(labels, once, whole=whole)[self.subject.labels == "soft"]
        truth = np.stack([one.positive for one in block.classes])
        slopes = [self._slope(each, truth, whole=whole) for each in self.subject.prepared]
        return self.sign * np.stack(slopes)

    def _slope(self, prepared: Prepared, truth: Floats, *, whole: bool) -> Floats:
        metric = self.subject.metric
        assert metric.influence is not None
        if whole:
            return metric.influence(prepared, truth.T)[1]
        parts = [metric.influence(o, p) for o, p in zip(prepared, truth, strict=True)]
        return class_average(parts, truth, metric.average)[1]

    def _scores(self, model: int) -> Floats:
        aligned = self.subject.aligned
        name = list(aligned.scores)[model]
        whole = self.subject.metric.labels == "distribution"
        return aligned.distributions(name) if whole else aligned.scores[name]


def _turns(item: Ints) -> Ints:
    """How many moves of the same item come before each.

    Examples
    --------
    >>> _turns(np.array([3, 1, 3, 3]))
    array([0, 0, 1, 2])
    """
    order = np.argsort(item, kind="stable")
    ranked = item[order]
    first = np.searchsorted(ranked, ranked)
    turns = np.empty(len(item), dtype=np.intp)
    turns[order] = np.arange(len(item)) - first
    return turns
