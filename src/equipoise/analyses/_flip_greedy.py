"""Greedy: step by step, what takes most of the lead over one rival, scored exactly.

Only the kinds of moves that take most of the lead alone are candidates. A step is one move, or
several votes of one item that say the same, because a second one often does more than the
first; both ways are tried. The step that takes most per move is kept, until one of the steps
puts the rival ahead.
"""

from typing import NamedTuple

import numpy as np

from equipoise.analyses._contest import AHEAD, Contest, Move, led, moves_of
from equipoise.analyses._moves import Moves
from equipoise.arrays import Bools, Floats, Ints

FEW = 256  # kinds of moves of a task that a step tries
FEWER = 48  # of these, those that are tried several at once
DEEP = 8  # votes of one item at once


class _Pool(NamedTuple):
    """Steps that one field offers.

    Attributes
    ----------
    steps
        Moves of each step.
    size
        How many they are, (steps,).
    values
        Models after each step, (models, steps).
    """

    steps: list[list[int]]
    size: Ints
    values: Floats


class Greedy:
    """Steps towards one rival.

    Parameters
    ----------
    first
        Lead over the rival after each kind of move alone, field by field.
    """

    def __init__(self, contest: Contest, rival: int, first: list[Floats]) -> None:
        self.contest = contest
        self.models = [*contest.leaders, rival]
        best = [
            one.kinds[np.argsort(gaps, kind="stable")[:FEW]]
            for one, gaps in zip(contest.fields, first, strict=True)
        ]
        both = list(zip(contest.fields, best, strict=True))
        self.near = [one.moves.alike(kinds) for one, kinds in both]
        self.nearest = [one.moves.alike(kinds[:FEWER]) for one, kinds in both]

    def run(self, limit: int) -> list[Move]:
        """Moves that put the rival ahead; empty when `limit` moves do not."""
        found: list[Move] = []
        single = self.contest.fields[0].moves.unit != "votes"
        for deep in (1,) if single else (1, DEEP):
            room = len(found) - 1 if found else limit
            found = self._steps(room, deep) or found
        return found

    def _steps(self, limit: int, deep: int) -> list[Move]:
        """Go one way."""
        chosen: list[Move] = []
        now = [one.full[self.models] for one in self.contest.fields]
        pools = [self._pool(field, chosen, deep) for field in range(len(now))]
        while len(chosen) < limit:
            gap = float(led(np.sum(now, axis=0)[:, None])[0]) / len(now)
            steps = [
                self._best(field, pool, now, (gap, limit - len(chosen)))
                for field, pool in enumerate(pools)
            ]
            field = min(range(len(now)), key=lambda one: steps[one][0])
            ahead, at = steps[field]
            if not ahead < (1.0, np.inf):
                break
            chosen += [(field, move) for move in pools[field].steps[at]]
            now[field] = pools[field].values[:, at]
            if ahead[0] == 0:
                return self._needed(chosen)
            pools[field] = self._pool(field, chosen, deep)
        return []

    def _best(
        self, field: int, pool: _Pool, now: list[Floats], left: tuple[float, int]
    ) -> tuple[tuple[float, float], int]:
        """How good the best step of a field is, small being good, and which it is.

        Steps that put the rival ahead come first, (0, their size); then (1, what they add to
        the lead per move).
        """
        if not pool.steps:
            return (1.0, np.inf), -1
        gap, room = left
        gaps = self.contest.gaps(pool.values, field, now)
        fits: Bools = (pool.size <= room) & np.isfinite(gaps)
        enough = fits & (gaps < -AHEAD)
        if enough.any():
            order = np.lexsort((gaps, np.where(enough, pool.size, np.inf)))
            return (0.0, float(pool.size[order[0]])), int(order[0])
        rate = np.subtract(gaps, gap, out=np.full(len(gaps), np.inf), where=fits) / pool.size
        return (1.0, float(rate.min())), int(np.argmin(rate))

    def _pool(self, field: int, chosen: list[Move], deep: int) -> _Pool:
        """Steps of a field that are left, and the models after each of them."""
        one, mine = self.contest.fields[field], moves_of(chosen, field)
        used = one.moves.vote[mine]
        steps = _steps(one.moves, self.near[field], used, 1)
        if deep > 1:
            steps += _steps(one.moves, self.nearest[field], used, deep)
        size = np.array([len(step) for step in steps], dtype=np.intp)
        values = np.empty((len(self.models), len(steps)))
        for number in np.unique(size):
            use = np.flatnonzero(size == number)
            sets = np.array([[*mine, *steps[place]] for place in use], dtype=np.intp)
            values[:, use] = one.after(sets, self.models)
        return _Pool(steps, size, values)

    def _needed(self, chosen: list[Move]) -> list[Move]:
        """Put back what is not needed."""
        while len(chosen) > 1:
            gaps = np.array([self._gap([o for o in chosen if o != one]) for one in chosen])
            if not gaps.min() < -AHEAD:
                break
            del chosen[int(np.argmin(gaps))]
        return chosen

    def _gap(self, chosen: list[Move]) -> float:
        """Lead over the rival after a set."""
        now = [
            one.after(np.array([moves_of(chosen, t)], dtype=np.intp), self.models)[:, 0]
            for t, one in enumerate(self.contest.fields)
        ]
        return float(self.contest.gaps(now[0][:, None], 0, now)[0])


def _steps(moves: Moves, near: Ints, used: Ints, deep: int) -> list[list[int]]:
    """One move of each kind whose vote is not used; or, up to `deep`, two and more at once."""
    left = near[~np.isin(moves.vote[near], used)]
    if deep == 1:
        return [[int(move)] for move in moves.apart(left)] if len(left) else []
    return [
        run[:number] for run in moves.runs(left) for number in range(2, min(deep, len(run)) + 1)
    ]
