"""Moves: the smallest changes of the data, and all models of a task scored after any of them.

A move takes away an item, takes away one vote, or changes one vote to another class, all within
one task. Each is a change of an item's sums (weight of its votes, and mass of every class), so
taking away an item is taking away all its votes, and any set of moves is scored in the same
way. Values are goodness throughout: what a metric gives, with its sign turned where lower is
better.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.analyses.scoring import TaskScorer
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, Ints
from equipoise.evaluation.blocks import pair
from equipoise.evaluation.uncertainty import class_average

UNITS = ("items", "votes", "changed votes")
NOTHING = 1e-9  # weight at which an item has no votes left


class Member(NamedTuple):
    """One part of a set: an item, or one vote; `instead` is what a vote is changed to.

    `within` is the task whose item or vote it is.
    """

    item: str
    annotator: str | None = None
    said: str | None = None
    instead: str | None = None
    within: str = ""


@dataclass(frozen=True, eq=False)
class Moves:
    """All moves of one kind, `unit`; there are `number` items or votes.

    Attributes
    ----------
    item, vote
        Item and vote that each move is about, shape (moves,); no vote moves twice. For items
        the vote is the item.
    weight, mass
        Change of the item's sums, shape (moves,) and (classes, moves).
    target
        Class that a vote is changed to, shape (moves,); -1 where it is taken away.
    """

    unit: str
    item: Ints
    vote: Ints
    weight: Floats
    mass: Floats
    target: Ints
    number: int

    def distinct(self, among: Ints, copies: int = 1) -> Ints:
        """Moves that differ in what they do, at most `copies` of each kind, in order."""
        left, found = among, []
        for _ in range(copies):
            first = np.sort(np.unique(self._effects[left], return_index=True)[1])
            found.append(left[first])
            left = np.delete(left, first)
            if not len(left):
                break
        return np.sort(np.concatenate(found))

    def with_same_effect(self, among: Ints) -> Ints:
        """All moves that do the same as some, in order."""
        return np.flatnonzero(np.isin(self._effects, self._effects[among]))

    def copies(self, among: Ints) -> Ints:
        """How many moves do the same as each of some."""
        return np.asarray(np.bincount(self._effects)[self._effects[among]])

    def by_effect(self, among: Ints) -> list[list[int]]:
        """Moves by what they do."""
        order = among[np.argsort(self._effects[among], kind="stable")]
        cut = np.flatnonzero(np.diff(self._effects[order])) + 1
        return [[int(move) for move in run] for run in np.split(order, cut) if len(run)]

    @cached_property
    def _effects(self) -> Ints:
        """A number for what each move does, shape (moves,)."""
        rows = np.round(np.stack([self.item, self.weight, *self.mass], axis=1), 12)
        return np.asarray(np.unique(rows, axis=0, return_inverse=True)[1]).ravel()


def possible_moves(task: TaskScorer, unit: str) -> Moves:
    """Every move of a kind; gold votes are never moved."""
    question = task.question
    votes = question.votes
    assert votes is not None
    if unit == "items":
        every, total = np.arange(len(question.items)), _vote_weight(task)
        gone = np.full(len(every), -1)
        return Moves(unit, every, every, -total, -question.shares * total, gone, len(every))
    own = np.flatnonzero(votes.annotator >= 0)
    item = np.repeat(np.arange(len(votes.sizes)), votes.sizes)[own]
    mass = np.stack(question.masses)[:, own]
    weight = votes.weight[own]
    if unit == "votes":
        gone = np.full(len(own), -1)
        return Moves(unit, item, own, -weight, -weight * mass, gone, len(own))
    classes = len(mass)
    ends = np.array([[0.0, 1.0]]) if classes == 1 else np.eye(classes)
    parts = []
    for code, end in enumerate(ends.T):
        change = weight * (end[:, None] - mass)
        use = np.abs(change).sum(axis=0) > NOTHING
        parts.append((item[use], own[use], change[:, use], np.full(use.sum(), code)))
    item, vote, mass, target = (
        np.concatenate(part, axis=-1) for part in zip(*parts, strict=True)
    )
    return Moves(unit, item, vote, np.zeros(len(item)), mass, target, len(own))


def _vote_weight(task: TaskScorer) -> Floats:
    """Weight of the votes of every item, (items,)."""
    votes = task.question.votes
    assert votes is not None
    return np.asarray(np.add.reduceat(votes.weight, votes.start[:-1]))


ONCE = 25_000_000  # moves times items up to which every move is scored alone: 5,000 items
WIDTH = 1_000_000  # sets times items scored at once
LEAST = 128  # sets scored at once, however many items there are
BLOCKS = 20  # parts of the items whose labels are changed together
Sets = NDArray[np.integer]  # (sets, moves)
Models = list[int]


@dataclass(frozen=True, eq=False)
class RemovalScorer:
    """One task, its models and its moves."""

    task: TaskScorer
    moves: Moves

    @property
    def items(self) -> int:
        """How many items the task has."""
        return len(self.task.question.items)

    @property
    def sign(self) -> float:
        """1 where higher is better, else -1."""
        return 1.0 if self.task.metric.better == "higher" else -1.0

    @cached_property
    def full(self) -> Floats:
        """Goodness of every model on all data, (models,)."""
        return self.sign * self.task.full()

    @cached_property
    def kinds(self) -> Ints:
        """Moves that differ in what they do."""
        return self.moves.distinct(np.arange(len(self.moves.item)))

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
        return _vote_weight(self.task)

    def after(self, sets: Sets, models: Models | None = None) -> Floats:
        """Goodness of models after each set, (models, sets); nan where undefined."""
        chosen = range(len(self.task.prepared)) if models is None else models
        prepared = [self.task.prepared[m] for m in chosen]
        out = np.empty((len(prepared), len(sets)))
        width = max(WIDTH // self.items, LEAST)
        for first in range(0, len(sets), width):
            part = slice(first, first + width)
            some = sets[part]
            if self.moves.unit == "items":  # labels stay as they are
                left = np.ones((self.items, len(some)), dtype=np.uint8)
                left[self.moves.item[some], np.arange(len(some))[:, None]] = 0
                shares = list(self.task.question.shares)
            else:
                shares, left = self.shares(some)
            out[:, part] = self.sign * self.task.scored(shares, left, prepared)
        return out

    def fresh(self, chosen: list[int]) -> Floats:
        """Goodness of every model with everything, also the sorting, made anew, (models,)."""
        shares, left = self.shares(np.array([chosen], dtype=np.intp))
        keep = np.flatnonzero(left[:, 0])
        if not len(keep):
            return np.full(len(self.task.prepared), np.nan)
        once = np.ones((len(keep), 1), dtype=np.uint8)
        truth = [np.ascontiguousarray(one[keep, 0]) for one in shares]
        aligned, whole = self.task.aligned, self.task.metric.labels == "distribution"
        scores = [
            aligned.distributions(m) if whole else aligned.scores[m] for m in aligned.scores
        ]
        prepared = [self.task.metric.prepare(one[keep]) for one in scores]
        return np.asarray(self.sign * self.task.scored(truth, once, prepared)[:, 0])

    def shares(self, sets: Sets) -> tuple[list[Floats], NDArray[np.uint8]]:
        """Soft labels by class and which items are left, each (items, sets)."""
        place = (self.moves.item[sets], np.arange(len(sets))[:, None])

        def after(whole: Floats, change: Floats) -> Floats:
            total = np.repeat(whole[:, None], len(sets), axis=1)
            np.add.at(total, place, change[sets])
            return total

        weight, shares = after(self.total, self.moves.weight), []
        left = weight > NOTHING
        for old, change in zip(self.task.question.shares, self.moves.mass, strict=True):
            share = after(old * self.total, change) / np.where(left, weight, 1.0)
            shares.append(np.clip(np.where(left, share, old[:, None]), 0.0, 1.0))
        return shares, left.astype(np.uint8)

    def member(self, move: int, annotations: Annotations) -> Member:
        """Name what a move is about."""
        moves, question = self.moves, self.task.question
        item, votes, vote = question.items[moves.item[move]], question.votes, moves.vote[move]
        if moves.unit == "items":
            return Member(item, within=question.task)
        assert votes is not None
        known = annotations.annotators
        who = None if known is None else known[votes.annotator[vote]]
        codes = votes.label[(votes.vote == vote) & (votes.share > 0)]
        said = " or ".join(question.answers[int(code)] for code in codes)
        target = int(moves.target[move])
        instead = None if target < 0 else question.answers[target]
        return Member(item, who, said, instead, question.task)

    def first_order(self) -> Floats:
        """Goodness of every model after each of `kinds`, by influence, (models, kinds).

        Taking an item away changes a value by minus its influence. Changing an item's label
        changes it by its influence with the new label less that with the old; labels are
        changed a twentieth of the items at a time, so that the others stay nearly as they are.
        """
        now, among = self.task.question.shares, self.kinds
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

    def _slopes(self, labels: Floats) -> Floats:
        """Influence of every item on the goodness of every model, (models, items)."""
        metric = self.task.metric
        whole = metric.labels == "distribution"
        once = np.ones((labels.shape[1], 1), dtype=np.uint8)
        ties = self.task.question.ties
        block = pair(labels, once, whole=whole, ties=ties)[self.task.labels == "soft"]
        truth = np.stack([one.positive for one in block.classes])
        influence, slopes = metric.influence, []
        assert influence is not None
        for each in self.task.prepared:
            if whole:
                slopes.append(influence(each, truth.T)[1])
            else:
                parts = [influence(o, p) for o, p in zip(each, truth, strict=True)]
                slopes.append(class_average(parts, truth, metric.average)[1])
        return self.sign * np.stack(slopes)


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
