"""Search: the fewest moves that put any rival ahead of the leaders.

The leaders are all models that are tied at the top, to 12 decimals; every other model is a
rival. A rival has overtaken when it is ahead of all leaders by more than rounding. A set of
moves after which the metric of any task is undefined does not count.

1. Every move alone, for all rivals at once.
2. Greedy, rival by rival, the cheapest first. Where there are too many moves to score each
   alone, a rival is passed over that stays behind even if moves take `HOPE` times as much
   together as the sum of what each takes alone by its influence. In each step the candidates
   are scored exactly, and the one that takes most of the lead is kept, until the rival is
   ahead; then parts that are not needed are put back. A rival is given up at the size of the
   best set so far, and not begun where a bound proves that it cannot do better.
3. All pairs, for the rivals that no bound excludes, where that is affordable. Two moves of one
   task are scored together; moves of two tasks change two terms of the average and add up.

No smaller set exists where steps 1 and 3, a bound, or a closer look at the pairs of items
exclude it for every rival.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from equipoise.analyses.flips.bounds import AHEAD, SLACK, excluded, lowest_leads
from equipoise.analyses.flips.moves import ONCE, Moves, RemovalScorer
from equipoise.arrays import Bools, Floats, InputError, Ints
from equipoise.ranks import TIE

HOPE = 3.0  # how much more moves may take together than the sum of what each takes alone
FEW = 256  # kinds of moves of a task that a greedy step tries
FEWER = 48  # of these, those that are tried several at once
DEEP = 8  # votes of one item at once
COST = 700_000_000  # pairs times items times models up to which all pairs are tried
MOST_PAIRS = 4_000_000  # pairs at once
Move = tuple[int, int]  # which task, and which of its moves


@dataclass(frozen=True, slots=True)
class SmallestSet:
    """The smallest set found, empty if none, and the size up to which none exists."""

    moves: list[Move]
    cleared: int


@dataclass(frozen=True, eq=False)
class LeaderSearch:
    """Who is best in one task, or by the average of several, and what puts another first.

    `task` is the name of the task, or of the average; every one of `scorers` counts the same.
    """

    task: str
    scorers: tuple[RemovalScorer, ...]

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
        """How many items or votes there are."""
        return sum(one.moves.number for one in self.scorers)

    @cached_property
    def exact(self) -> bool:
        """Whether every move is scored alone; else influence functions take their place."""
        for one in self.scorers:
            metric = one.task.metric
            if not one.exact and metric.influence is None:
                raise InputError(
                    f"flips, metric {metric.name}",
                    f"{len(one.kinds):,} candidates among {one.items:,} items",
                    f"at most {ONCE:,} (candidates times items) without an influence function",
                    "choose auroc or average_precision in their default forms, or fewer items",
                )
        return all(one.exact for one in self.scorers)

    @cached_property
    def singles(self) -> list[Floats]:
        """Goodness in every task after each of its kinds of moves alone, (models, kinds)."""
        return [one.singles if self.exact else one.first_order() for one in self.scorers]

    @cached_property
    def parted(self) -> bool | None:
        """Whether one move alone parts tied leaders; None where that is not known."""
        if not self.exact:
            return None
        for scorer, values in zip(self.scorers, self.singles, strict=True):
            with np.errstate(invalid="ignore"):  # of two infinite values: not apart
                shift = (values - scorer.full[:, None])[self.leaders]
                apart = np.ptp(shift, axis=0) > AHEAD * len(self.scorers)
            if apart.any():
                return True
        return False

    def gaps(self, own: Floats, task: int, now: list[Floats]) -> Floats:
        """Lead of the best leader over a rival, (sets,); inf where undefined.

        `own` is the goodness in one task, leaders first and the rival last, (1 + leaders,
        sets), and `now` that of the same models in every task.
        """
        rest = sum((one for t, one in enumerate(now) if t != task), np.zeros(len(own)))
        return _lead_over_last(rest[:, None] + own) / len(self.scorers)

    def lowest(self, most: int) -> dict[int, Floats]:
        """Lowest lead that at most 0, 1, ... moves can leave over each rival, as far as known.

        A rival must pass every leader: the one that is hardest to pass counts.
        """
        pairs = [(a, b) for b in self.rivals for a in self.leaders]
        ahead, behind = [a for a, _ in pairs], [b for _, b in pairs]
        parts = [lowest_leads(one, ahead, behind, most) for one in self.scorers]
        total = parts[0]
        for part in parts[1:]:
            total = _shared_out(total, part)
        total = total.reshape(len(self.rivals), len(self.leaders), most + 1).max(axis=1)
        return dict(zip(self.rivals, total / len(self.scorers), strict=True))

    def rescored(self, moves: list[Move]) -> Floats:
        """Goodness of every model after a set, everything made anew, (models,)."""
        parts = [one.fresh(_in_task(moves, t)) for t, one in enumerate(self.scorers)]
        return np.asarray(np.mean(parts, axis=0))

    def smallest(self, most: int) -> SmallestSet:
        """Find the smallest set of at most `most` moves over all rivals."""
        lowest = self.lowest(most)
        proved = {rival: _proved(lowest[rival]) for rival in self.rivals}
        single = self._single()
        if single is not None:
            return SmallestSet([single], 0)
        best = self._greedy_over_rivals(most, proved)
        tried = int(self.exact)
        if tried and most > 1 and len(best) != 2:
            near = [rival for rival in self.rivals if proved[rival] < 2]
            pair, every = self._best_pair(near) if near else ([], True)
            best, tried = pair or best, 1 + (every and not pair)
        cleared = min(max(tried, min(proved.values())), most)
        less = len(best) - 1
        near = [rival for rival in self.rivals if proved[rival] < less]
        if cleared < less and all(
            excluded(self.scorers, self.leaders, rival, less) for rival in near
        ):
            cleared = less
        return SmallestSet(best, cleared)

    def _single(self) -> Move | None:
        """The best single move, if one is enough; only where all were scored."""
        best: tuple[float, Move | None] = (-AHEAD, None)
        for rival in self.rivals if self.exact else ():
            for task, gaps in enumerate(self._after_singles(rival)):
                at = int(np.argmin(gaps)) if len(gaps) else -1
                if at >= 0 and gaps[at] < best[0]:
                    best = gaps[at], (task, int(self.scorers[task].kinds[at]))
        return best[1]

    def _after_singles(self, rival: int) -> list[Floats]:
        """Lead over a rival after each kind of move alone, task by task."""
        models = [*self.leaders, rival]
        now = [one.full[models] for one in self.scorers]
        singles = enumerate(self.singles)
        return [self.gaps(values[models], task, now) for task, values in singles]

    def _greedy_over_rivals(self, most: int, proved: dict[int, int]) -> list[Move]:
        """The smallest set that greedy steps find for any rival."""
        best: list[Move] = []
        added = {rival: self._added(rival, most) for rival in self.rivals}
        for rival in sorted(added, key=lambda one: _cost(*added[one])):
            limit = len(best) - 1 if best else most
            if limit < 1 + self.exact:
                break
            lead, taken = added[rival]
            hopeless = HOPE * taken[min(limit, len(taken)) - 1] < lead
            if proved[rival] < limit and (self.exact or not hopeless):
                best = _Greedy(self, rival, self._after_singles(rival)).run(limit) or best
        return best

    def _added(self, rival: int, most: int) -> tuple[float, Floats]:
        """Lead over a rival, and what 1, 2, ... moves take if their effects add up."""
        models = [*self.leaders, rival]
        lead = float(_lead_over_last(self.full[models][:, None])[0])
        each = zip(self.scorers, self._after_singles(rival), strict=True)
        parts = [np.repeat(_gained(lead, gaps), scorer.copies) for scorer, gaps in each]
        gains = np.concatenate(parts)
        few = min(4 * most, len(gains))
        top = -np.partition(-gains, few - 1)[:few]
        return lead, np.cumsum(np.maximum(-np.sort(-top), 0.0))

    def _best_pair(self, rivals: list[int]) -> tuple[list[Move], bool]:
        """The pair of moves that puts one of some rivals furthest ahead, and if all were tried.

        The pair is empty where none is enough.
        """
        width = len(self.leaders) + len(rivals)
        many = [comb(len(_two_of_each(one.moves)), 2) for one in self.scorers]
        cost = sum(n * one.items * width for n, one in zip(many, self.scorers, strict=True))
        if cost > COST or max(many) > MOST_PAIRS:
            return [], False
        best = _Pair(-AHEAD, [])
        for task in range(len(self.scorers)):
            best = self._pair_within(rivals, task, best)
        able = [t for t, one in enumerate(self.scorers) if len(one.kinds)]
        for first, second in combinations(able, 2):
            for rival in rivals:
                best = self._pair_between(rival, first, second, best)
        return best.moves, True

    def _pair_within(self, rivals: list[int], task: int, best: "_Pair") -> "_Pair":
        """All pairs of moves of one task."""
        scorer = self.scorers[task]
        every = _two_of_each(scorer.moves)
        pairs = every[np.stack(np.triu_indices(len(every), 1), axis=1)]
        pairs = pairs[scorer.moves.vote[pairs[:, 0]] != scorer.moves.vote[pairs[:, 1]]]
        if not len(pairs):
            return best
        values = scorer.after(pairs, [*self.leaders, *rivals])
        first = list(range(len(self.leaders)))
        for place, rival in enumerate(rivals, len(first)):
            now = [each.full[[*self.leaders, rival]] for each in self.scorers]
            gaps = self.gaps(values[[*first, place]], task, now)
            at = int(np.argmin(gaps))
            if gaps[at] < best.gap:
                best = _Pair(float(gaps[at]), [(task, int(move)) for move in pairs[at]])
        return best

    def _pair_between(self, rival: int, first: int, second: int, best: "_Pair") -> "_Pair":
        """All pairs of a move of one task and a move of another."""
        models = [*self.leaders, rival]
        rest = np.zeros(len(models))
        for t, scorer in enumerate(self.scorers):
            rest += 0.0 if t in (first, second) else scorer.full[models]
        one, other = self.singles[first][models], self.singles[second][models]
        a, b = _lowest_of_two(rest, one, other)
        gap = float(_lead_over_last((rest + one[:, a] + other[:, b])[:, None])[0])
        if gap / len(self.scorers) >= best.gap:
            return best
        kinds = self.scorers[first].kinds, self.scorers[second].kinds
        pair = [(first, int(kinds[0][a])), (second, int(kinds[1][b]))]
        return _Pair(gap / len(self.scorers), pair)


class _Pair(NamedTuple):
    """Two moves, and the lead that they leave."""

    gap: float
    moves: list[Move]


class _Pool(NamedTuple):
    """Steps that one task offers, how many moves they have, and the models after each."""

    steps: list[list[int]]
    size: Ints
    values: Floats


class _Greedy:
    """Step by step, what takes most of the lead over one rival, scored exactly.

    Only the kinds of moves that take most of the lead alone are candidates. A step is one move,
    or several votes of one item that say the same, because a second one often does more than
    the first; both ways are tried. The step that takes most per move is kept, until one of the
    steps puts the rival ahead. `first` is the lead over the rival after each kind of move
    alone, task by task.
    """

    def __init__(self, search: LeaderSearch, rival: int, first: list[Floats]) -> None:
        self.search = search
        self.models = [*search.leaders, rival]
        self.near, self.nearest = [], []
        for one, gaps in zip(search.scorers, first, strict=True):
            kinds = one.kinds[np.argsort(gaps, kind="stable")[:FEW]]
            self.near.append(one.moves.with_same_effect(kinds))
            self.nearest.append(one.moves.with_same_effect(kinds[:FEWER]))

    def run(self, limit: int) -> list[Move]:
        """Moves that put the rival ahead; empty when `limit` moves do not."""
        moves = self._steps(limit, 1)
        if self.search.scorers[0].moves.unit == "votes":
            moves = self._steps(len(moves) - 1 if moves else limit, DEEP) or moves
        return moves

    def _steps(self, limit: int, deep: int) -> list[Move]:
        """Go one way."""
        chosen: list[Move] = []
        now = [one.full[self.models] for one in self.search.scorers]
        pools = [self._pool(task, chosen, deep) for task in range(len(now))]
        while len(chosen) < limit:
            gap = float(_lead_over_last(np.sum(now, axis=0)[:, None])[0]) / len(now)
            room = limit - len(chosen)
            steps = []
            for task, pool in enumerate(pools):
                gaps = self.search.gaps(pool.values, task, now) if pool.steps else np.empty(0)
                steps.append(_best_step(pool, gaps, gap, room))
            task = min(range(len(now)), key=lambda one: steps[one][0])
            ahead, at = steps[task]
            if not ahead < (1.0, np.inf):
                break
            chosen += [(task, move) for move in pools[task].steps[at]]
            now[task] = pools[task].values[:, at]
            if ahead[0] == 0:
                return self._needed(chosen)
            pools[task] = self._pool(task, chosen, deep)
        return []

    def _pool(self, task: int, chosen: list[Move], deep: int) -> _Pool:
        """Steps of a task that are left, and the models after each of them."""
        scorer, mine = self.search.scorers[task], _in_task(chosen, task)
        used = scorer.moves.vote[mine]
        steps = _offered(scorer.moves, self.near[task], used, 1)
        if deep > 1:
            steps += _offered(scorer.moves, self.nearest[task], used, deep)
        size = np.array([len(step) for step in steps], dtype=np.intp)
        values = np.empty((len(self.models), len(steps)))
        for use in (np.flatnonzero(size == number) for number in np.unique(size)):
            sets = np.array([[*mine, *steps[place]] for place in use], dtype=np.intp)
            values[:, use] = scorer.after(sets, self.models)
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
        sets = [np.array([_in_task(chosen, t)], dtype=np.intp) for t in range(len(self.near))]
        both = zip(self.search.scorers, sets, strict=True)
        now = [one.after(some, self.models)[:, 0] for one, some in both]
        return float(self.search.gaps(now[0][:, None], 0, now)[0])


def _best_step(
    pool: _Pool, gaps: Floats, gap: float, room: int
) -> tuple[tuple[float, float], int]:
    """How good the best step of a task is, small being good, and which it is.

    Steps that put the rival ahead come first, (0, their size); then (1, what they add to the
    lead per move).
    """
    if not pool.steps:
        return (1.0, np.inf), -1
    fits: Bools = (pool.size <= room) & np.isfinite(gaps)
    enough = fits & (gaps < -AHEAD)
    if enough.any():
        order = np.lexsort((gaps, np.where(enough, pool.size, np.inf)))
        return (0.0, float(pool.size[order[0]])), int(order[0])
    rate = np.subtract(gaps, gap, out=np.full(len(gaps), np.inf), where=fits) / pool.size
    return (1.0, float(rate.min())), int(np.argmin(rate))


def _offered(moves: Moves, near: Ints, used: Ints, deep: int) -> list[list[int]]:
    """One move of each kind whose vote is not used; or, up to `deep`, two and more at once."""
    left = near[~np.isin(moves.vote[near], used)]
    if deep == 1:
        return [[int(move)] for move in moves.distinct(left)] if len(left) else []
    runs = [run[:deep] for run in moves.by_effect(left)]
    return [run[:number] for run in runs for number in range(2, len(run) + 1)]


def _two_of_each(moves: Moves) -> Ints:
    """Two moves of every kind, where there are so many."""
    return moves.distinct(np.arange(len(moves.item)), copies=2)


def _lowest_of_two(rest: Floats, one: Floats, other: Floats) -> tuple[int, int]:
    """Where the lead is lowest, a move of each; with one leader the two are independent."""
    if len(rest) == 2:
        return int(np.argmin(_lead_over_last(one))), int(np.argmin(_lead_over_last(other)))
    gaps = _lead_over_last(rest[:, None, None] + one[:, :, None] + other[:, None, :])
    row, column = divmod(int(np.argmin(gaps)), int(gaps.shape[1]))
    return row, column


def _lead_over_last(values: Floats) -> Floats:
    """How far the best of all but the last row is ahead of the last; inf where undefined."""
    with np.errstate(invalid="ignore"):  # of two infinite values: undefined
        gap = values[:-1].max(axis=0) - values[-1]
    return np.where(np.isnan(gap), np.inf, gap)


def _in_task(moves: Sequence[Move], task: int) -> list[int]:
    """Moves of a set that are of one task."""
    return [move for t, move in moves if t == task]


def _proved(lowest: Floats) -> int:
    """Size up to which a bound excludes a rival."""
    return int(np.argmax(np.append(lowest < -SLACK, True))) - 1


def _gained(lead: float, gaps: Floats) -> Floats:
    """What each move takes from a lead; nothing where it stays infinite.

    Examples
    --------
    >>> _gained(np.inf, np.array([np.inf, 0.5]))
    array([ 0., inf])
    """
    return np.subtract(lead, gaps, out=np.zeros(len(gaps)), where=gaps != lead)


def _cost(lead: float, taken: Floats) -> float:
    """How many moves would do if effects added up; more than all, by what then is left."""
    enough = np.flatnonzero((taken > lead) | np.isinf(taken))
    return float(enough[0]) if len(enough) else len(taken) + lead - float(taken[-1])


def _shared_out(one: Floats, other: Floats) -> Floats:
    """Lowest sum of two bounds when the moves are shared out between them, row by row.

    Examples
    --------
    >>> _shared_out(np.array([[5.0, 3.0, 2.0]]), np.array([[1.0, 0.0, -4.0]]))
    array([[6., 4., 1.]])
    """
    out = np.full_like(one, np.inf)
    for moved in range(one.shape[1]):
        width = one.shape[1] - moved
        with np.errstate(invalid="ignore"):  # an infinite lead and an unknown bound: unknown
            both = one[:, :width] + other[:, moved, None]
        out[:, moved:] = np.minimum(out[:, moved:], np.where(np.isnan(both), -np.inf, both))
    return out
