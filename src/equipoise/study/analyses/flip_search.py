"""Moves: the smallest changes of a task, what each takes from a lead, and scores after a set.

A move leaves out an item (or a whole group of items, where items come in groups), or changes
one vote to another class, all within one task. Values are goodness throughout: what a metric
gives, with its sign turned where lower is better.

What a move takes from the lead of one model over another is, for metrics that are a mean over
items, a difference of item scores and exact; for others it is the influence of the item, or
the derivative by the class shares of its label times the change of the label.

Search: the fewest moves that put any rival ahead of the leaders.

The leaders are all models that are tied at the top, to 12 decimals; every other model is a
rival. A rival has overtaken when it is ahead of all leaders by more than rounding. A set of
moves after which the metric of any task is undefined does not count.

Moves are sorted by what each takes, and the models are scored exactly after the first 1, 2, 4,
... of them, and by bisection between: an upper bound. Where what moves take adds up, the first
k moves leave the lowest lead of all sets of k, so that the bound is the smallest set: with one
leader, of one task, or by the average of several where votes are changed.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.inference.ranks import TIE
from equipoise.metrics import Block
from equipoise.study.analyses.scoring import TaskScorer
from equipoise.study.blocks import every_class
from equipoise.study.uncertainty import influence_of
from equipoise.types import Annotations, Bools, Floats, InputError, Ints, Names, immutable

UNITS = ("items", "changed votes")
AGREES = 1e-9  # how well sums over items must agree with what the metric gives
WIDTH = 1_000_000  # sets times items scored at once


class Member(NamedTuple):
    """One part of a set: an item, a group of items, or a vote and what it is changed to.

    `within` is the task whose item or vote it is.
    """

    item: str
    annotator: str | None = None
    said: str | None = None
    instead: str | None = None
    within: str = ""


class Moves(NamedTuple):
    """Some moves: which item, group or vote, and the class it is changed to, else -1."""

    which: Ints
    target: Ints

    def first(self, number: int) -> "Moves":
        """The first few."""
        return Moves(self.which[:number], self.target[:number])


@immutable(eq=False)
class TaskMoves:
    """One task, its models, and the moves of one kind.

    Attributes
    ----------
    task
        The task and its models.
    unit
        ``items``, ``groups`` or ``changed votes``.
    group, groups
        Group of every item and their names, where items are left out; those that stand alone
        are groups of one.
    """

    task: TaskScorer
    unit: str
    group: Ints | None = None
    groups: Names = ()

    @property
    def items(self) -> int:
        """How many items the task has."""
        return len(self.task.question.items)

    @property
    def number(self) -> int:
        """How many items, groups or votes there are."""
        return len(self._own) if self.group is None else len(self.groups)

    @property
    def sign(self) -> float:
        """1 where higher is better, else -1."""
        return 1.0 if self.task.metric.better == "higher" else -1.0

    @cached_property
    def full(self) -> Floats:
        """Goodness of every model on all data, (models,)."""
        return self.sign * self.task.full()

    @cached_property
    def additive(self) -> bool:
        """Whether what moves take from a lead adds up exactly."""
        if self._each is None:
            return False
        if self.group is not None:
            return True
        shares = np.stack(every_class(self.task.question.shares))
        even = self._scores(np.full(shares.shape, 1 / len(shares)))
        if self._slopes is None or not np.isfinite(even).all():
            return False
        linear = self.items * ((1 / len(shares) - shares) * self._slopes[1]).sum(axis=1)
        return np.allclose(even - self._each, linear, atol=1e-6)

    def ranked(self, leaders: Sequence[int], rival: int, most: int) -> tuple[Moves, Floats]:
        """The moves that take most of the mean lead of some models over a rival, with what."""
        gain, target = self._gains(leaders, rival)
        few = min(most, len(gain))
        top = np.argpartition(-gain, few - 1)[:few] if few else np.arange(0)
        order = top[np.lexsort((top, -gain[top]))]
        return Moves(order, target[order]), gain[order]

    def after(self, moves: Moves, sizes: Sequence[int], models: Sequence[int]) -> Floats:
        """Goodness of models after the first few moves, (models, sizes); nan: undefined."""
        which = np.concatenate([np.arange(size) for size in sizes])
        place = np.repeat(np.arange(len(sizes)), sizes)
        chosen_moves = Moves(moves.which[which], moves.target[which])
        return self._scored(chosen_moves, place, len(sizes), models)

    def fresh(self, moves: Moves) -> Floats:
        """Goodness of every model with everything, also the sorting, made anew, (models,)."""
        shares, left = self._changed(moves, np.zeros(len(moves.which), int), 1)
        keep = np.flatnonzero(left[:, 0])
        if not len(keep):
            return np.full(len(self.full), np.nan)
        once = np.ones((len(keep), 1), dtype=np.uint8)
        truth = [np.ascontiguousarray(share[keep].ravel()) for share in shares]
        aligned, metric = self.task.aligned, self.task.metric
        prepared = [metric.prepare(aligned.seen(m, metric)[keep]) for m in aligned.scores]
        return self.sign * self.task.scored(truth, once, prepared)[:, 0]

    def member(self, which: int, target: int, annotations: Annotations) -> Member:
        """Name what a move is about."""
        question = self.task.question
        if self.group is not None:
            return Member(self.groups[which], within=question.task)
        votes, vote = self.task.votes, self._own[which]
        names = annotations.annotators
        who = None if names is None else names[votes.annotator[vote]]
        codes = votes.label[(votes.vote == vote) & (votes.share > 0)]
        answers = " or ".join(question.answers[int(code)] for code in codes)
        item = question.items[self._item[which]]
        return Member(item, who, answers, question.answers[target], question.task)

    # ---- what single moves take ------------------------------------------------------------

    def _gains(self, leaders: Sequence[int], rival: int) -> tuple[Floats, Ints]:
        """What every move alone takes from the mean lead, (moves,), and its target."""
        gone = np.full(self.number, -1)
        if self.group is not None and self._each is not None:
            per_item = self._differences(leaders, rival)
            return self._unit_sums(np.where(np.isnan(per_item), 0.0, per_item)), gone
        if self._slopes is None:
            raise InputError(
                f"flips, metric {self.task.metric.name}",
                "no influence function",
                "a metric that has derivatives by items and votes",
                "choose auroc, average_precision, accuracy or another such metric",
            )
        of_items, of_labels = self._slopes
        if self.group is not None:
            item_slopes = of_items * self._counted
            gain = self._unit_sums(item_slopes[leaders].mean(axis=0) - item_slopes[rival])
            return np.where(np.isnan(gain), -np.inf, gain), gone
        slope = of_labels[leaders].mean(axis=0) - of_labels[rival]
        target = slope.argmin(axis=0)[self._item]
        gain = self._vote_gains(leaders, rival, Moves(np.arange(self.number), target))
        return np.where(np.isnan(gain), -np.inf, gain), target

    def _vote_gains(self, leaders: Sequence[int], rival: int, moves: Moves) -> Floats:
        """What changing votes takes from the mean lead, to first order."""
        assert self._slopes is not None
        label = self._slopes[1]
        slope = label[leaders].mean(axis=0) - label[rival]
        item, weight = self._item[moves.which], self._weight[moves.which]
        of_answer = (slope[:, item] * self._mass[:, moves.which]).sum(axis=0)
        return np.asarray(weight / self._total[item] * (of_answer - slope[moves.target, item]))

    def _differences(self, leaders: Sequence[int], rival: int) -> Floats:
        """How much better leaders are on every item, for a mean over items, (items,)."""
        assert self._each is not None
        with np.errstate(invalid="ignore"):  # of two infinite scores: undefined
            return np.asarray(self._each[list(leaders)].mean(axis=0) - self._each[rival])

    def _unit_sums(self, per_item: Floats) -> Floats:
        """Sums of items by group."""
        assert self.group is not None
        return np.bincount(self.group, per_item, len(self.groups)).astype(np.float64)

    # ---- the labels, and scores after sets -------------------------------------------------

    def _scored(self, moves: Moves, place: Ints, sets: int, models: Sequence[int]) -> Floats:
        """Goodness of models after each set, (models, sets); nan where undefined.

        `place` is the set that each of the moves belongs to.
        """
        prepared = [self.task.prepared[m] for m in models]
        out = np.empty((len(models), sets))
        width = max(WIDTH // self.items, 1)
        for first in range(0, sets, width):
            use = (place >= first) & (place < first + width)
            chosen_moves, some = (
                Moves(moves.which[use], moves.target[use]),
                min(width, sets - first),
            )
            shares, left = self._changed(chosen_moves, place[use] - first, some)
            out[:, first : first + some] = self.sign * self.task.scored(shares, left, prepared)
        return out

    def _changed(
        self, moves: Moves, place: Ints, sets: int
    ) -> tuple[list[Floats], NDArray[np.uint8]]:
        """Soft labels by class, and which items are left, (items, sets)."""
        shares, (which, target) = self.task.question.shares, moves
        if self.group is not None:
            gone = np.zeros((len(self.groups), sets), dtype=bool)
            gone[which, place] = True
            return list(shares), (~gone[self.group]).astype(np.uint8)
        cell = (self._item[which], place)
        weight, mass = self._weight[which], self._mass[:, which]
        changed: list[Floats] = []
        codes = range(len(mass))[-len(shares) :]
        for code, old in zip(codes, shares, strict=True):
            after = np.repeat((old * self._total)[:, None], sets, axis=1)
            np.add.at(after, cell, weight * ((target == code) - mass[code]))
            changed.append(np.clip(after / self._total[:, None], 0.0, 1.0))
        return changed, np.ones((self.items, sets), dtype=np.uint8)

    @cached_property
    def _own(self) -> Ints:
        """Votes that can move: gold ones never do."""
        return np.flatnonzero(self.task.votes.annotator >= 0)

    @cached_property
    def _item(self) -> Ints:
        """Item of every vote that can move."""
        return np.repeat(np.arange(self.items), self.task.votes.sizes)[self._own]

    @cached_property
    def _weight(self) -> Floats:
        return self.task.votes.weight[self._own]

    @cached_property
    def _mass(self) -> Floats:
        """How much of every vote that can move goes to each class, (classes, votes)."""
        masses = np.stack(self.task.question.masses)[:, self._own]
        return np.stack(every_class(masses))

    @cached_property
    def _total(self) -> Floats:
        """Weight of the votes of every item, (items,)."""
        votes = self.task.votes
        return np.add.reduceat(votes.weight, votes.start[:-1])

    @cached_property
    def _each(self) -> Floats | None:
        """Goodness of every model on every item, (models, items), for a mean over items.

        It is 0 on items that do not count.
        """
        metric = self.task.metric
        if metric.per_item is None or metric.labels == "draws":
            return None
        per_item = np.where(self._counted > 0, self._scores(self._truth), 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = per_item.sum(axis=1) / self._counted.sum()
            agree = np.allclose(mean, self.full, atol=AGREES, equal_nan=True)
        return per_item if agree else None

    def _scores(self, truth: Floats) -> Floats:
        """Goodness of every model on every item against labels (classes, items)."""
        metric, aligned = self.task.metric, self.task.aligned
        assert metric.per_item is not None
        per_model = [metric.per_item(truth.T, aligned.seen(m, metric)) for m in aligned.scores]
        return self.sign * np.stack(per_model)

    @cached_property
    def _block(self) -> Block:
        """Labels as the metric sees them, and which items count: those tied may not."""
        kind = self.task.metric.labels
        return self.task.question.once([kind])[kind][self.task.labels == "soft"]

    @property
    def _truth(self) -> Floats:
        """Labels, (classes, items)."""
        return np.stack([class_block.positive for class_block in self._block.classes])

    @property
    def _counted(self) -> Floats:
        """1 for items that count, else 0, (items,)."""
        return self._block.counts[:, 0].astype(np.float64)

    @cached_property
    def _slopes(self) -> tuple[Floats, Floats] | None:
        """Derivatives of goodness by the weight of items and by the shares of classes.

        Shapes (models, items) and (models, classes, items); None without an influence function.
        """
        if self.task.metric.influence is None:
            return None
        metric, truth = self.task.metric, self._truth
        influences = [influence_of(metric, prepared, truth) for prepared in self.task.prepared]
        labels = np.stack([influence.shares.T for influence in influences])
        if labels.shape[1] == 1:  # a yes/no question: by the share of the positive class
            labels = np.pad(labels, ((0, 0), (1, 0), (0, 0)))
        items = np.stack([influence.items for influence in influences])
        return self.sign * items, self.sign * labels


AHEAD = 1e-12  # how far a rival must be ahead
MANY = 10  # times as many moves as are tried


@immutable
class SmallestSet:
    """The smallest set found, task by task, and whether no smaller one exists."""

    moves: tuple[Moves, ...] = ()
    exact: bool = False

    @property
    def size(self) -> int:
        """How many moves it has; 0 where none was found."""
        return sum(len(moves.which) for moves in self.moves)


@immutable(eq=False)
class LeaderSearch:
    """Who is best in one task, or by the average of several, and what puts another first.

    `task` is the name of the task, or of the average; every one of `scorers` counts the same.
    """

    task: str
    scorers: tuple[TaskMoves, ...]

    @cached_property
    def full(self) -> Floats:
        """Goodness of every model on all data, (models,)."""
        return np.asarray(np.mean([scorer.full for scorer in self.scorers], axis=0))

    @cached_property
    def leaders(self) -> list[int]:
        """Models that are tied at the top; none where a value is undefined."""
        good = np.round(self.full, TIE)
        return [int(m) for m in np.flatnonzero(good == good.max())]

    @cached_property
    def rivals(self) -> list[int]:
        """All other models, the best first."""
        order = np.argsort(-self.full, kind="stable")
        return [int(m) for m in order if m not in self.leaders] if self.leaders else []

    def place(self, model: int) -> int:
        """Rank of a model; those that are tied with it do not count."""
        good = np.round(self.full, TIE)
        return int((good > good[model]).sum()) + 1

    @property
    def number(self) -> int:
        """How many items, groups or votes there are."""
        return sum(scorer.number for scorer in self.scorers)

    def rescored(self, moves: tuple[Moves, ...]) -> Floats:
        """Goodness of every model after a set, everything made anew, (models,)."""
        parts = [
            scorer.fresh(task_moves)
            for scorer, task_moves in zip(self.scorers, moves, strict=True)
        ]
        return np.asarray(np.mean(parts, axis=0))

    @property
    def _adds_up(self) -> bool:
        """Whether no set is smaller than the first moves that put a rival ahead."""
        one_sum = len(self.scorers) == 1 or self.scorers[0].group is None
        single = len(self.leaders) == 1
        return single and one_sum and all(scorer.additive for scorer in self.scorers)

    def smallest(self, most: int) -> SmallestSet:
        """Find the smallest set of at most `most` moves over all rivals."""
        best, exact = SmallestSet(), self._adds_up
        for rival in self.rivals:
            limit = best.size - 1 if best.size else most
            if not limit:
                break
            found = SmallestSet(self._first_moves(rival, limit))
            best = found if found.size else best
        return SmallestSet(best.moves, exact or best.size == 1)

    def _first_moves(self, rival: int, most: int) -> tuple[Moves, ...]:
        """As few as possible of the moves that take most, scored exactly; none if none do."""
        ranked = [scorer.ranked(self.leaders, rival, most) for scorer in self.scorers]
        gain = np.concatenate([taken for _, taken in ranked])
        task = np.repeat(np.arange(len(ranked)), [len(taken) for _, taken in ranked])
        order = np.argsort(-gain, kind="stable")[:most]
        order = order[gain[order] > 0]
        moves, task = [task_moves for task_moves, _ in ranked], task[order]
        sizes = np.unique(np.minimum(2 ** np.arange(len(task).bit_length() + 1), len(task)))
        few = MANY * len(task) < self.number  # then all of them take more than some
        if not len(task) or (few and not self._overtaken(moves, task, rival, sizes[-1:])[0]):
            return ()
        enough = np.flatnonzero(self._overtaken(moves, task, rival, sizes))
        if not len(enough):
            return ()
        works = int(sizes[enough[0]])
        fails = int(sizes[enough[0] - 1]) if enough[0] else 0
        while works - fails > 1:
            middle = (works + fails) // 2
            ahead = self._overtaken(moves, task, rival, np.array([middle]))[0]
            works, fails = (middle, fails) if ahead else (works, middle)
        held = np.bincount(task[:works], minlength=len(moves))
        return tuple(
            task_moves.first(int(k)) for task_moves, k in zip(moves, held, strict=True)
        )

    def _overtaken(self, moves: list[Moves], task: Ints, rival: int, sizes: Ints) -> Bools:
        """Whether a rival is ahead after the first few moves, (sizes,); not where undefined."""
        models = [*self.leaders, rival]
        total = np.zeros((len(models), len(sizes)))
        for place, (scorer, task_moves) in enumerate(zip(self.scorers, moves, strict=True)):
            held = [int((task[:size] == place).sum()) for size in sizes]
            total += scorer.after(task_moves, held, models)
        with np.errstate(invalid="ignore"):  # of two infinite values: undefined
            return np.asarray((total[:-1].max(axis=0) - total[-1]) / len(moves) < -AHEAD)
