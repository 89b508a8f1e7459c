"""Redraw: the mean vote of each item after its votes, or its voters, are drawn again."""

from dataclasses import dataclass
from functools import cache
from math import comb, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.types.arrays import Floats, Ints
from equipoise.types.votes import Votes

MOST = 64  # binomial tables are kept for items of at most this many votes


@dataclass(frozen=True, slots=True, eq=False)
class PanelDraw:
    """Mean votes when annotators are drawn anew: two sparse products per class.

    Attributes
    ----------
    yes
        Per scored class, weight times mass of each annotator's votes, sparse (items,
        annotators + 1); the last column holds gold votes.
    all
        The same with the weight alone.
    """

    yes: tuple[Any, ...]
    all: Any

    @classmethod
    def prepare(cls, votes: Votes, masses: list[Floats], annotators: int) -> "PanelDraw":
        """Lay out who voted for what."""
        from scipy.sparse import csr_matrix

        column = np.where(votes.annotator < 0, annotators, votes.annotator)
        shape = (len(votes.sizes), annotators + 1)
        whole = csr_matrix((votes.weight, column, votes.start), shape=shape)
        parts = []
        for mass in masses:
            part = csr_matrix((votes.weight * mass, column.copy(), votes.start.copy()), shape)
            part.eliminate_zeros()
            parts.append(part)
        return cls(tuple(parts), whole)

    def shares(self, panel: NDArray[np.uint8]) -> tuple[list[Floats], NDArray[np.uint8]]:
        """Mean votes when annotator a counts ``panel[a, r]`` times in replicate r.

        Returns the shares of each class and whether any voter of the item is left, all of
        shape (items, replicates). Gold counts once in every replicate.
        """
        gold = np.ones((1, panel.shape[1]))
        times = np.vstack([panel.astype(np.float64), gold])
        total = self.all @ times
        present = total > 0
        safe = np.where(present, total, 1.0)
        return [part @ times / safe for part in self.yes], present.astype(np.uint8)


def inflation(votes: Votes, shares: Floats) -> float:
    """Factor that undoes how much too small the spread of redrawn votes is.

    The mean of m votes drawn from m votes has (m - 1)/m of the variance it should have. With
    equal m this is sqrt(m / (m - 1)); otherwise items count by their part of the variance.
    """
    size = votes.sizes.astype(np.float64)
    several = size > 1
    variance = (shares * (1 - shares)).sum(axis=0)[several] / size[several]
    if not variance.sum() > 0:
        return 1.0
    better = variance * size[several] / (size[several] - 1)
    return sqrt(float(better.sum() / variance.sum()))


def panel_inflation(votes: Votes) -> float:
    """The same for a panel: sqrt(m / (m - 1)) with m the effective number of annotators.

    Annotators who vote more count more: m = (sum of votes)^2 / sum of squared votes.
    """
    load = np.bincount(votes.annotator[votes.annotator >= 0]).astype(np.float64)
    if not load.any():
        return 1.0
    effective = float(load.sum() ** 2 / (load**2).sum())
    return sqrt(effective / (effective - 1)) if effective > 1 + 1e-9 else 1.0


@dataclass(frozen=True, slots=True, eq=False)
class VoteDraw:
    """Draws of one class's mean vote from each item's own votes.

    `tables` is set when all votes are yes or no and count alike: then the number of yes votes
    is binomial and one random word per item is enough.
    """

    votes: Votes
    mass: Floats
    tables: tuple[Ints, Ints, NDArray[np.uint64], NDArray[np.uint8]] | None
    start_share: Floats

    @classmethod
    def one_by_one(cls, votes: Votes, mass: Floats) -> "VoteDraw":
        """Draw every vote; classes drawn with the same key get the same votes."""
        yes = np.add.reduceat(mass, votes.start[:-1])
        return cls(votes, mass, None, yes / votes.sizes)

    @classmethod
    def binomial(cls, votes: Votes, mass: Floats) -> "VoteDraw":
        """Draw the number of yes votes where that is all that matters, else every vote."""
        plain = np.isin(mass, (0.0, 1.0)).all() and (votes.weight == votes.weight[0]).all()
        size = votes.sizes
        if not plain or size.max() > MOST:
            return cls.one_by_one(votes, mass)
        yes = np.add.reduceat(mass, votes.start[:-1]).astype(np.int64)
        split = (yes > 0) & (yes < size)
        cells, code = np.unique(size[split] * (MOST + 1) + yes[split], return_inverse=True)
        cell = np.full(len(size), -1, dtype=np.int64)
        cell[split] = code
        pairs = [divmod(int(c), MOST + 1) for c in cells]
        threshold = np.array([_thresholds(m, k) for m, k in pairs], dtype=np.uint64)
        guide = np.array([_guide(m, k) for m, k in pairs], dtype=np.uint8)
        shape = (len(pairs), -1) if pairs else (0, MOST + 1)
        tables = (cell, size, threshold.reshape(shape), guide.reshape(len(pairs), 256))
        return cls(votes, mass, tables, yes / size)

    def shares(self, key: np.uint64, first: int, stop: int) -> Floats:
        """Mean votes in replicates first..stop, shape (items, replicates)."""
        from equipoise.kernels.resampling import binomial_shares, vote_shares

        share = np.repeat(self.start_share[:, None], stop - first, axis=1)
        if self.tables is not None:
            binomial_shares(self.tables, key, first, share)
        else:
            vote_shares((self.votes.start, self.mass, self.votes.weight), key, first, share)
        return share


@cache
def _thresholds(votes: int, yes: int) -> tuple[int, ...]:
    """Cumulative binomial probabilities in units of 2^-32, padded with 2^32."""
    share = yes / votes
    chance = [comb(votes, j) * share**j * (1 - share) ** (votes - j) for j in range(votes + 1)]
    steps = np.minimum(np.round(np.cumsum(chance) * 2**32), 2**32).astype(np.uint64)
    steps[votes:] = 2**32
    return tuple(int(s) for s in steps) + (2**32,) * (MOST - votes)


@cache
def _guide(votes: int, yes: int) -> tuple[int, ...]:
    """For each top byte of a draw, the first outcome it can mean."""
    starts = np.arange(256, dtype=np.uint64) << np.uint64(24)
    steps = np.array(_thresholds(votes, yes), dtype=np.uint64)
    return tuple(int(s) for s in np.searchsorted(steps, starts, side="right"))
