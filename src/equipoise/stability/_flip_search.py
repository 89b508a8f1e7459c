"""Flip search: greedy steps with exact scores, then all pairs where that is affordable."""

import numpy as np

from equipoise.arrays import Floats, InputError, Ints
from equipoise.stability._moves import Duel, Moves

ALL = 4_000_000  # candidates times items up to which every step scores all candidates
ONCE = 25_000_000  # the same for the first step: 5,000 items
PAIRS = 100_000_000  # pairs times items up to which all pairs are tried
FEW = 256  # candidates per step beyond that
AHEAD = 1e-12  # how far the second model must be ahead


class Search:
    """Greedy search of one task."""

    def __init__(self, duel: Duel, most: int) -> None:
        self.duel, self.most = duel, most
        self.moves: Moves = duel.moves
        self.items = len(duel.subject.question.items)
        every = self.moves.apart(np.arange(len(self.moves.item)))
        self.able = duel.subject.metric.influence is not None
        self.cleared, self.order = 0, every
        self.exact = len(every) * self.items <= ONCE
        if not self.exact and not self.able:
            raise InputError(
                f"flips, metric {duel.subject.metric.name}",
                f"{len(every):,} candidates among {self.items:,} items",
                f"at most {ONCE:,} (candidates times items) without an influence function",
                "choose auroc or average_precision in their default forms, or fewer items",
            )  # fmt: skip

    def run(self) -> list[int]:
        """Moves of the smallest set found; empty when there is none."""
        chosen: list[int] = []
        while len(chosen) < self.most:
            pool = self._pool(chosen)
            if not len(pool):
                return self._by_pairs([])
            gaps = self.duel.gaps(np.array([[*chosen, one] for one in pool], dtype=np.intp))
            if not chosen and self.exact:
                self.order = pool[np.argsort(gaps, kind="stable")]
                self.cleared = int(gaps.min() >= -AHEAD)
            chosen.append(int(pool[np.argmin(gaps)]))
            if gaps.min() < -AHEAD:
                return self._by_pairs(self._needed(chosen))
        return self._by_pairs([])

    def _pool(self, chosen: list[int]) -> Ints:
        """Candidates of the next step."""
        used = np.isin(self.moves.vote, self.moves.vote[chosen]) if chosen else None
        if used is None and self.exact:
            return self.order
        left = np.arange(len(self.moves.item)) if used is None else np.flatnonzero(~used)
        if len(self.order) * self.items <= ALL:
            return self.moves.apart(left) if len(left) else left
        if self.able:
            near = left if self.moves.unit == "items" else self.moves.apart(left)
            effect = self.duel.first_order(chosen, near)
            return near[np.argsort(effect, kind="stable")[:FEW]]
        return self.order[np.isin(self.order, left)][:FEW]

    def _needed(self, chosen: list[int]) -> list[int]:
        """Put back what is not needed."""
        while len(chosen) > 1:
            without = [[*chosen[:i], *chosen[i + 1 :]] for i in range(len(chosen))]
            gaps = self.duel.gaps(np.array(without, dtype=np.intp))
            if not gaps.min() < -AHEAD:
                break
            chosen = without[int(np.argmin(gaps))]
        return chosen

    def _by_pairs(self, chosen: list[int]) -> list[int]:
        """Try all pairs where a larger set, or none, was found and it is affordable."""
        if 0 < len(chosen) <= 2 or not self.cleared or self.most < 2:
            return chosen
        every = self.moves.apart(np.arange(len(self.moves.item)), copies=2)
        if len(every) ** 2 / 2 * self.items > PAIRS:
            return chosen
        pairs = every[np.stack(np.triu_indices(len(every), 1), axis=1)]
        pairs = pairs[self.moves.vote[pairs[:, 0]] != self.moves.vote[pairs[:, 1]]]
        gaps: Floats = self.duel.gaps(pairs) if len(pairs) else np.array([np.inf])
        if gaps.min() < -AHEAD:
            return [int(one) for one in pairs[np.argmin(gaps)]]
        self.cleared = 2
        return chosen
