"""Search: the fewest moves that put any rival ahead of the leaders.

The leaders are all models that are tied at the top, to 12 decimals; every other model is a
rival. A rival has overtaken when it is ahead of all leaders by more than rounding. A set of
moves after which the metric of any task is undefined does not count.

Where moves add up, the k moves that take most of the lead leave the lowest, so one sort gives
the smallest set. By the average of several tasks the moves are shared out between them: the
lowest lead of each task after 0, 1, ... moves is added up in the best way. With several leaders
the moves are sorted by their mean lead, and the set is the smallest if one of the leaders alone
needs as many.

Elsewhere moves are sorted by what each takes to first order, and the models are scored exactly
after the first 1, 2, 4, ... of them, and by bisection between: an upper bound.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from equipoise.analyses.flips.moves import Moves, TaskMoves
from equipoise.arrays import Bools, Floats, Ints
from equipoise.ranks import TIE

AHEAD = 1e-12  # how far a rival must be ahead
MANY = 10  # times as many moves as are tried


@dataclass(frozen=True, slots=True)
class SmallestSet:
    """The smallest set found, task by task, and whether no smaller one exists."""

    moves: tuple[Moves, ...] = ()
    exact: bool = False

    @property
    def size(self) -> int:
        """How many moves it has; 0 where none was found."""
        return sum(len(one.which) for one in self.moves)


@dataclass(frozen=True, eq=False)
class LeaderSearch:
    """Who is best in one task, or by the average of several, and what puts another first.

    `task` is the name of the task, or of the average; every one of `scorers` counts the same.
    """

    task: str
    scorers: tuple[TaskMoves, ...]

    @cached_property
    def full(self) -> Floats:
        """Goodness of every model on all data, (models,)."""
        return np.asarray(np.mean([one.full for one in self.scorers], axis=0))

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
        return sum(one.number for one in self.scorers)

    def rescored(self, moves: tuple[Moves, ...]) -> Floats:
        """Goodness of every model after a set, everything made anew, (models,)."""
        parts = [one.fresh(own) for one, own in zip(self.scorers, moves, strict=True)]
        return np.asarray(np.mean(parts, axis=0))

    def smallest(self, most: int) -> SmallestSet:
        """Find the smallest set of at most `most` moves over all rivals."""
        best, every = SmallestSet(), True
        for rival in self.rivals:
            limit = best.size - 1 if best.size else most
            if not limit:
                break
            found = self._added_up if self._additive else self._by_influence
            one = found(rival, limit)
            every &= one.exact
            best = one if one.size else best
        return SmallestSet(best.moves, every or best.size == 1)

    @property
    def _additive(self) -> bool:
        return all(one.additive for one in self.scorers)

    def _added_up(self, rival: int, most: int) -> SmallestSet:
        """The smallest set where what moves take adds up; exact unless said otherwise."""
        found = self._sorted_out(self.leaders, rival, most)
        needed = [found.size]
        if len(self.leaders) > 1:
            needed = [self._sorted_out([one], rival, most).size for one in self.leaders]
        least = max(needed) if all(needed) else 0
        even = len(self.scorers) == 1 or self.scorers[0].unit != "groups"
        return SmallestSet(found.moves, even and found.size == least)

    def _sorted_out(self, leaders: list[int], rival: int, most: int) -> SmallestSet:
        """The first moves, by their mean lead, after which a rival is ahead of some leaders."""
        moves = [one.ranked(leaders, rival, most)[0] for one in self.scorers]
        each = zip(self.scorers, moves, strict=True)
        leads = [scorer.leads(leaders, rival, own) for scorer, own in each]
        for split in _shared_out([one.mean(axis=0) for one in leads], most):
            after = sum(lead[:, k] for lead, k in zip(leads, split, strict=True))
            if np.max(after) / len(leads) < -AHEAD:
                taken = zip(moves, split, strict=True)
                return SmallestSet(tuple(own.first(int(k)) for own, k in taken))
        return SmallestSet()

    def _by_influence(self, rival: int, most: int) -> SmallestSet:
        """A small set of the moves that take most to first order, scored exactly."""
        ranked = [one.ranked(self.leaders, rival, most) for one in self.scorers]
        gain = np.concatenate([taken for _, taken in ranked])
        task = np.repeat(np.arange(len(ranked)), [len(taken) for _, taken in ranked])
        order = np.argsort(-gain, kind="stable")[:most]
        order = order[gain[order] > 0]
        moves, task = [own for own, _ in ranked], task[order]
        sizes = np.unique(np.minimum(2 ** np.arange(len(task).bit_length() + 1), len(task)))
        few = MANY * len(task) < self.number  # then all of them take more than some
        if not len(task) or (few and not self._overtaken(moves, task, rival, sizes[-1:])[0]):
            return SmallestSet()
        enough = np.flatnonzero(self._overtaken(moves, task, rival, sizes))
        if not len(enough):
            return SmallestSet()
        works = int(sizes[enough[0]])
        fails = int(sizes[enough[0] - 1]) if enough[0] else 0
        while works - fails > 1:
            middle = (works + fails) // 2
            ahead = self._overtaken(moves, task, rival, np.array([middle]))[0]
            works, fails = (middle, fails) if ahead else (works, middle)
        held = np.bincount(task[:works], minlength=len(moves))
        return SmallestSet(tuple(own.first(int(k)) for own, k in zip(moves, held, strict=True)))

    def _overtaken(self, moves: list[Moves], task: Ints, rival: int, sizes: Ints) -> Bools:
        """Whether a rival is ahead after the first few moves, (sizes,); not where undefined."""
        models = [*self.leaders, rival]
        total = np.zeros((len(models), len(sizes)))
        for place, (scorer, own) in enumerate(zip(self.scorers, moves, strict=True)):
            held = [int((task[:size] == place).sum()) for size in sizes]
            total += scorer.after(own, held, models)
        with np.errstate(invalid="ignore"):  # of two infinite values: undefined
            return np.asarray((total[:-1].max(axis=0) - total[-1]) / len(moves) < -AHEAD)


def _shared_out(curves: list[Floats], most: int) -> Ints:
    """How to share out 1, 2, ... moves between tasks, (sizes, tasks), for the lowest sum.

    Parameters
    ----------
    curves
        Lowest value of each task after 0, 1, ... moves.

    Examples
    --------
    >>> _shared_out([np.array([5.0, 3.0, 2.9]), np.array([1.0, 0.5, -9.0])], 3)
    array([[1, 0],
           [0, 2],
           [1, 2]])
    """
    total = curves[0][: most + 1]
    split = np.arange(len(total))[:, None]
    for curve in curves[1:]:
        size = min(most + 1, len(total) + len(curve) - 1)
        best, last = np.full(size, np.inf), np.zeros(size, dtype=np.intp)
        for k, value in enumerate(curve[:size]):
            at = slice(k, min(len(total) + k, size))
            lower = total[: at.stop - k] + value < best[at]
            best[at][lower] = (total[: at.stop - k] + value)[lower]
            last[at][lower] = k
        before = np.minimum(np.arange(size) - last, len(split) - 1)
        split, total = np.column_stack([split[before], last]), best
    return split[1:]
