"""Moves: the smallest changes of the data.

A move takes away an item, takes away one vote, or changes one vote to another class, all within
one task. Each is a change of an item's sums (weight of its votes, and mass of every class), so
taking away an item is taking away all its votes, and any set of moves is scored in the same
way.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from equipoise.analyses.scoring import TaskScorer
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, Ints
from equipoise.evaluation.questions import Question

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
    """All moves of one kind.

    Attributes
    ----------
    unit
        One of `UNITS`.
    item, vote
        Item and vote that each move is about, shape (moves,); no vote moves twice. For items
        the vote is the item.
    weight, mass
        Change of the item's sums, shape (moves,) and (classes, moves).
    target
        Class that a vote is changed to, shape (moves,); -1 where it is taken away.
    number
        How many items or votes there are.
    """

    unit: str
    item: Ints
    vote: Ints
    weight: Floats
    mass: Floats
    target: Ints
    number: int

    def apart(self, among: Ints, copies: int = 1) -> Ints:
        """Moves that differ in what they do, at most `copies` of each kind, in order."""
        left, found = among, []
        for _ in range(copies):
            first = np.sort(np.unique(self._deeds[left], return_index=True)[1])
            found.append(left[first])
            left = np.delete(left, first)
            if not len(left):
                break
        return np.sort(np.concatenate(found))

    def alike(self, among: Ints) -> Ints:
        """All moves that do the same as some, in order."""
        return np.flatnonzero(np.isin(self._deeds, self._deeds[among]))

    def copies(self, among: Ints) -> Ints:
        """How many moves do the same as each of some."""
        return np.asarray(np.bincount(self._deeds)[self._deeds[among]])

    def runs(self, among: Ints) -> list[list[int]]:
        """Moves by what they do."""
        order = among[np.argsort(self._deeds[among], kind="stable")]
        cut = np.flatnonzero(np.diff(self._deeds[order])) + 1
        return [[int(move) for move in run] for run in np.split(order, cut) if len(run)]

    def member(self, move: int, question: Question, annotations: Annotations) -> Member:
        """Name what a move is about."""
        item = question.items[self.item[move]]
        if self.unit == "items":
            return Member(item, within=question.task)
        votes, vote = question.votes, self.vote[move]
        assert votes is not None
        known = annotations.annotators
        who = None if known is None else known[votes.annotator[vote]]
        said = votes.label[(votes.vote == vote) & (votes.share > 0)]
        target = int(self.target[move])
        return Member(
            item, who, " or ".join(question.answers[int(code)] for code in said),
            None if target < 0 else question.answers[target], question.task,
        )  # fmt: skip

    @cached_property
    def _deeds(self) -> Ints:
        """A number for what each move does, shape (moves,)."""
        rows = np.round(np.stack([self.item, self.weight, *self.mass], axis=1), 12)
        return np.asarray(np.unique(rows, axis=0, return_inverse=True)[1]).ravel()


def moves(subject: TaskScorer, unit: str) -> Moves:
    """Every move of a kind; gold votes are never moved."""
    question = subject.question
    votes = question.votes
    assert votes is not None
    total = np.add.reduceat(votes.weight, votes.start[:-1])
    if unit == "items":
        every = np.arange(len(question.items))
        return Moves(
            unit, every, every, -total, -question.shares * total, np.full(len(every), -1),
            len(every),
        )  # fmt: skip
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
    for target, end in enumerate(ends.T):
        change = weight * (end[:, None] - mass)
        use = np.abs(change).sum(axis=0) > NOTHING
        parts.append((item[use], own[use], change[:, use], np.full(use.sum(), target)))
    joined = [np.concatenate(part, axis=-1) for part in zip(*parts, strict=True)]
    still = np.zeros(len(joined[0]))
    return Moves(unit, joined[0], joined[1], still, joined[2], joined[3], len(own))
