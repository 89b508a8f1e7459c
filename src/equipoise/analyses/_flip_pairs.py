"""Pairs: whether any two moves together put a rival ahead, by trying all of them.

Two moves of one task are scored together. Moves of two tasks change two terms of the average
and add up.
"""

from itertools import combinations
from math import comb

import numpy as np

from equipoise.analyses._contest import AHEAD, Contest, Move, led
from equipoise.analyses._moves import Moves
from equipoise.arrays import Floats, Ints

COST = 700_000_000  # pairs times items times models up to which all pairs are tried
MOST = 4_000_000  # pairs at once
Best = tuple[float, list[Move]]


def best_pair(contest: Contest, rivals: list[int]) -> tuple[list[Move], bool]:
    """The pair of moves that puts one of some rivals furthest ahead, and if all were tried.

    The pair is empty where none is enough.
    """
    width = len(contest.leaders) + len(rivals)
    many = [comb(len(_apart(one.moves)), 2) for one in contest.fields]
    cost = sum(n * one.items * width for n, one in zip(many, contest.fields, strict=True))
    if cost > COST or max(many) > MOST:
        return [], False
    best: Best = (-AHEAD, [])
    for field in range(len(contest.fields)):
        best = _within(contest, rivals, field, best)
    able = [t for t, one in enumerate(contest.fields) if len(one.kinds)]
    for two in combinations(able, 2):
        best = _between(contest, rivals, two, best)
    return best[1], True


def _within(contest: Contest, rivals: list[int], field: int, best: Best) -> Best:
    """All pairs of moves of one field."""
    one = contest.fields[field]
    pairs = _pairs(one.moves)
    if not len(pairs):
        return best
    models = [*contest.leaders, *rivals]
    values = one.after(pairs, models)
    first = list(range(len(contest.leaders)))
    for place, rival in enumerate(rivals, len(first)):
        now = [each.full[[*contest.leaders, rival]] for each in contest.fields]
        gaps = contest.gaps(values[[*first, place]], field, now)
        at = int(np.argmin(gaps))
        if gaps[at] < best[0]:
            best = float(gaps[at]), [(field, int(move)) for move in pairs[at]]
    return best


def _pairs(moves: Moves) -> Ints:
    """Pairs of moves that differ in what they do, (pairs, 2); no vote moves twice."""
    every = _apart(moves)
    pairs = every[np.stack(np.triu_indices(len(every), 1), axis=1)]
    return np.asarray(pairs[moves.vote[pairs[:, 0]] != moves.vote[pairs[:, 1]]])


def _apart(moves: Moves) -> Ints:
    """Two moves of every kind, where there are so many."""
    return moves.apart(np.arange(len(moves.item)), copies=2)


def _between(contest: Contest, rivals: list[int], two: tuple[int, int], best: Best) -> Best:
    """All pairs of a move of one field and a move of another."""
    for rival in rivals:
        models = [*contest.leaders, rival]
        rest = np.zeros(len(models))
        for t, field in enumerate(contest.fields):
            rest += 0.0 if t in two else field.full[models]
        one, other = (contest.singles[t][models] for t in two)
        at = _lowest(rest, one, other)
        gap = float(led((rest + one[:, at[0]] + other[:, at[1]])[:, None])[0])
        if gap / len(contest.fields) < best[0]:
            pair = [
                (t, int(contest.fields[t].kinds[place]))
                for t, place in zip(two, at, strict=True)
            ]
            best = gap / len(contest.fields), pair
    return best


def _lowest(rest: Floats, one: Floats, other: Floats) -> tuple[int, int]:
    """Where the lead is lowest, a move of each; with one leader the two are independent."""
    if len(rest) == 2:
        return int(np.argmin(led(one))), int(np.argmin(led(other)))
    gaps = led(rest[:, None, None] + one[:, :, None] + other[:, None, :])
    row, column = divmod(int(np.argmin(gaps)), int(gaps.shape[1]))
    return row, column
