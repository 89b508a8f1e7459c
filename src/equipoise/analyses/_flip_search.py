"""Flip search: the fewest moves that put any rival ahead of the leaders.

1. Every move alone, for all rivals at once.
2. Greedy, rival by rival, the cheapest first. Where there are too many moves to score each
   alone, a rival is passed over that stays behind even if moves take `HOPE` times as much
   together as the sum of what each takes alone by its influence. In each step the candidates
   are scored exactly, and the one that takes most of the lead is kept, until the rival is
   ahead; then parts that are not needed are put back. A rival is given up at the size of the
   best set so far, and not begun where a bound proves that it cannot do better.
3. All pairs, for the rivals that no bound excludes, where that is affordable.

No smaller set exists where steps 1 and 3, a bound, or a closer look at the pairs of items
exclude it for every rival.
"""

from dataclasses import dataclass

import numpy as np

from equipoise.analyses._contest import AHEAD, SURE, Contest, Move, led
from equipoise.analyses._flip_exclusion import excluded
from equipoise.analyses._flip_greedy import Greedy
from equipoise.analyses._flip_pairs import best_pair
from equipoise.arrays import Floats

HOPE = 3.0  # how much more moves may take together than the sum of what each takes alone


@dataclass(frozen=True, slots=True)
class Found:
    """The smallest set found, empty if none, and the size up to which none exists."""

    chosen: list[Move]
    cleared: int


class Search:
    """Search of one contest, for sets of at most `most` moves."""

    def __init__(self, contest: Contest, most: int) -> None:
        self.contest, self.most = contest, most
        self.lowest = contest.lowest(most)

    def run(self) -> Found:
        """Find the smallest set over all rivals."""
        one = self._alone()
        if one is not None:
            return Found([one], 0)
        best = self._greedy_over_rivals()
        tried = int(self.contest.exact)
        if tried and self.most > 1 and len(best) != 2:
            near = [rival for rival in self.contest.rivals if self._proved(rival) < 2]
            pair, every = best_pair(self.contest, near) if near else ([], True)
            best, tried = pair or best, 1 + (every and not pair)
        proved = min(self._proved(rival) for rival in self.contest.rivals)
        cleared = min(max(tried, proved), self.most)
        less = len(best) - 1
        return Found(best, less if cleared < less and self._excluded(less) else cleared)

    def _excluded(self, size: int) -> bool:
        """Whether no rival can do with so few moves, looking closer at those left open."""
        near = [rival for rival in self.contest.rivals if self._proved(rival) < size]
        return all(excluded(self.contest, rival, size) for rival in near)

    def _proved(self, rival: int) -> int:
        """Size up to which a bound excludes a rival."""
        return int(np.argmax(np.append(self.lowest[rival] < -SURE, True))) - 1

    def _alone(self) -> Move | None:
        """The best single move, if one is enough; only where all were scored."""
        best: tuple[float, Move] = (-AHEAD, (-1, -1))
        if self.contest.exact:
            for rival in self.contest.rivals:
                for field, gaps in enumerate(self._first(rival)):
                    at = int(np.argmin(gaps)) if len(gaps) else -1
                    if at >= 0 and gaps[at] < best[0]:
                        best = gaps[at], (field, int(self.contest.fields[field].kinds[at]))
        return best[1] if best[1][0] >= 0 else None

    def _first(self, rival: int) -> list[Floats]:
        """Lead over a rival after each kind of move alone, field by field."""
        models = [*self.contest.leaders, rival]
        now = [one.full[models] for one in self.contest.fields]
        return [
            self.contest.gaps(values[models], field, now)
            for field, values in enumerate(self.contest.singles)
        ]

    def _greedy_over_rivals(self) -> list[Move]:
        """The smallest set that greedy steps find for any rival."""
        best: list[Move] = []
        added = {rival: self._added(rival) for rival in self.contest.rivals}
        for rival in sorted(added, key=lambda one: _cost(*added[one])):
            limit = len(best) - 1 if best else self.most
            if limit < 1 + self.contest.exact:
                break
            lead, taken = added[rival]
            hopeless = HOPE * taken[min(limit, len(taken)) - 1] < lead
            if self._proved(rival) < limit and (self.contest.exact or not hopeless):
                best = Greedy(self.contest, rival, self._first(rival)).run(limit) or best
        return best

    def _added(self, rival: int) -> tuple[float, Floats]:
        """Lead over a rival, and what 1, 2, ... moves take if their effects add up."""
        models = [*self.contest.leaders, rival]
        lead = float(led(self.contest.full[models][:, None])[0])
        each = zip(self.contest.fields, self._first(rival), strict=True)
        gains = np.concatenate(
            [np.repeat(_gained(lead, gaps), field.copies) for field, gaps in each]
        )
        few = min(4 * self.most, len(gains))
        top = -np.partition(-gains, few - 1)[:few]
        return lead, np.cumsum(np.maximum(-np.sort(-top), 0.0))


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
