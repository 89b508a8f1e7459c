"""Moves: the smallest changes of the data, and what a metric makes of sets of them.

A move takes away an item, takes away one vote, or changes one vote to another class. Each is a
change of an item's sums (weight of its votes, and mass of every class), so taking away an item
is taking away all its votes, and any set of moves is scored in the same way.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.arrays import Floats, Ints
from equipoise.evaluation.blocks import pair
from equipoise.evaluation.gradients import class_average
from equipoise.metrics import Prepared
from equipoise.stability._subject import Subject

UNITS = ("items", "votes", "changed votes")
WIDTH = 256  # sets scored at once
BLOCKS = 20  # parts of the items whose labels are changed together
NOTHING = 1e-9  # weight at which an item has no votes left


class Member(NamedTuple):
    """One part of a set: an item, or one vote; `instead` is what a vote is changed to."""

    item: str
    annotator: str | None = None
    said: str | None = None
    instead: str | None = None


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

    @cached_property
    def _deeds(self) -> Ints:
        """A number for what each move does, shape (moves,)."""
        rows = np.round(np.stack([self.item, self.weight, *self.mass], axis=1), 12)
        return np.asarray(np.unique(rows, axis=0, return_inverse=True)[1]).ravel()


def moves(subject: Subject, unit: str) -> Moves:
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


@dataclass(frozen=True, eq=False)
class Duel:
    """The better model a against b: how far it is ahead after sets of moves."""

    subject: Subject
    moves: Moves
    a: int
    b: int

    def gaps(self, sets: NDArray[np.integer]) -> Floats:
        """Lead of a after each set, moves in rows, shape (sets,); inf where undefined."""
        out = np.empty(len(sets))
        for first in range(0, len(sets), WIDTH):
            part = slice(first, first + WIDTH)
            out[part] = self._lead(*self._quick(sets[part]))
        return np.where(np.isnan(out), np.inf, out)

    def _quick(self, sets: NDArray[np.integer]) -> tuple[list[Floats], NDArray[np.uint8]]:
        """The same as `shares`; where only items go, labels stay as they are."""
        if self.moves.unit != "items":
            return self.shares(sets)
        left = np.ones((len(self.subject.question.items), len(sets)), dtype=np.uint8)
        left[self.moves.item[sets], np.arange(len(sets))[:, None]] = 0
        return list(self.subject.question.shares), left

    def shares(self, sets: NDArray[np.integer]) -> tuple[list[Floats], NDArray[np.uint8]]:
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

    def _sums(self, sets: NDArray[np.integer]) -> tuple[Floats, list[Floats]]:
        """Weight of the votes and mass of every class after each set, each (items, sets)."""
        question, width = self.subject.question, len(sets)
        assert question.votes is not None
        total = np.add.reduceat(question.votes.weight, question.votes.start[:-1])
        place = (self.moves.item[sets], np.arange(width)[:, None])
        weight = np.repeat(total[:, None], width, axis=1)
        np.add.at(weight, place, self.moves.weight[sets])
        masses = []
        for old, change in zip(question.shares, self.moves.mass, strict=True):
            mass = np.repeat((old * total)[:, None], width, axis=1)
            np.add.at(mass, place, change[sets])
            masses.append(mass)
        return weight, masses

    def fresh(self, chosen: list[int]) -> float:
        """Lead of a with the set applied and everything, also the sorting, made anew."""
        shares, left = self.shares(np.array([chosen], dtype=np.intp))
        keep = np.flatnonzero(left[:, 0])
        if not len(keep):
            return float("nan")
        once = np.ones((len(keep), 1), dtype=np.uint8)
        truth = [np.ascontiguousarray(one[keep, 0]) for one in shares]
        return float(self._lead(truth, once, keep)[0])

    def first_order(self, chosen: list[int], among: Ints) -> Floats:
        """Change of the lead by each of some more moves, by influence functions.

        Taking an item away changes the lead by minus its influence. Changing an item's label
        changes it by its influence with the new label less that with the old; labels are
        changed a twentieth of the items at a time, so that the others stay nearly as they are.
        """
        sets = np.array([chosen], dtype=np.intp)
        weight, masses = self._sums(sets)
        labels, left = self.shares(sets)
        now, keep = np.stack(labels)[..., 0], np.flatnonzero(left[:, 0])
        two = [self.subject.metric.prepare(self._scores(m)[keep]) for m in (self.a, self.b)]
        item = self.moves.item[among]
        effect = -self._slope(two, now, keep)[item]
        if self.moves.unit == "items":
            return effect
        after = weight[item, 0] + self.moves.weight[among]
        mass = np.stack(masses)[:, item, 0] + self.moves.mass[:, among]
        new = np.clip(mass / np.where(after > NOTHING, after, 1.0), 0.0, 1.0)
        turn = np.where(after > NOTHING, _turns(item) * BLOCKS + item % BLOCKS, -1)
        for one in np.unique(turn[turn >= 0]):
            use = np.flatnonzero(turn == one)
            changed = now.copy()
            changed[:, item[use]] = new[:, use]
            effect[use] += self._slope(two, changed, keep)[item[use]]
        return effect

    def _slope(self, prepared: list[Prepared], labels: Floats, keep: Ints) -> Floats:
        """Influence of every item on the lead, shape (items,); 0 for those that are gone."""
        metric = self.subject.metric
        assert metric.influence is not None
        whole = metric.labels == "distribution"
        once = np.ones((len(keep), 1), dtype=np.uint8)
        block = pair(labels[:, keep], once, whole=whole)[self.subject.labels == "soft"]
        truth = np.stack([one.positive for one in block.classes])
        slopes = []
        for each in prepared:
            if whole:
                slopes.append(metric.influence(each, truth.T)[1])
            else:
                parts = [metric.influence(o, p) for o, p in zip(each, truth, strict=True)]
                slopes.append(class_average(parts, truth, metric.average)[1])
        found = np.zeros(labels.shape[1])
        found[keep] = self._sign * (slopes[0] - slopes[1])
        return found

    @property
    def _sign(self) -> float:
        return 1.0 if self.subject.metric.better == "higher" else -1.0

    def _scores(self, model: int) -> Floats:
        aligned = self.subject.aligned
        name = list(aligned.scores)[model]
        whole = self.subject.metric.labels == "distribution"
        return aligned.distributions(name) if whole else aligned.scores[name]

    def _lead(
        self, shares: list[Floats], counts: NDArray[np.uint8], keep: Ints | None = None
    ) -> Floats:
        two = [self.subject.prepared[m] for m in (self.a, self.b)]
        if keep is not None:
            two = [self.subject.metric.prepare(self._scores(m)[keep]) for m in (self.a, self.b)]
        first, second = self.subject.scored(shares, counts, two)
        return np.asarray(self._sign * (first - second))


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
