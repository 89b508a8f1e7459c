r"""Correlation of aleatoric and epistemic uncertainty, next to what it would be by itself.

Spearman's rank correlation with mid-ranks. That the two parts are told apart does not make them
uncorrelated: noise of one size on every logit moves probabilities near one half the most, where
the aleatoric part is largest, too. The *null* is the correlation of such a model: members
:math:`\sigma(\mathrm{logit}\,\bar p + s \epsilon_m)` with the method's own mean and the
constant s that gives its mean epistemic uncertainty. What goes beyond the null says something
about the method; what the null has, too, does not.

The influence of an item on a rank correlation :math:`C / \sqrt{V_x V_y}` of
:math:`F, G` (mid-ranks over n, less one half) is that of

.. math:: dC_a = \tfrac1n (F_a G_a + A_a + B_a - 3 C), \quad
    A_a = \tfrac1n \sum_i k(x_a, x_i) G_i, \quad B_a = \tfrac1n \sum_i k(y_a, y_i) F_i

and of both variances in the same way; k is 1 where the first is smaller, one half where equal.

Examples
--------
>>> rank_correlation(np.array([1.0, 2.0, 2.0, 3.0]), np.array([2.0, 1.0, 3.0, 4.0])).value
0.632
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from equipoise.arrays import Floats, Ints, PerItem
from equipoise.ranks import mid_ranks
from equipoise.uq.decomposition import Decomposition, decompose

_EQUAL = 12  # decimals to which values must differ to stand apart
_LEAST = 1e-7  # distance of a mean from 0 and 1
_SMALL, _LARGE, _HALVINGS = 1e-4, 30.0, 30  # of the size of the noise
_LOOKED_AT = 1000  # items that the size of the noise is found on
_CHUNK = 2000  # items that are drawn together
USUAL_MEMBERS = 20  # where a method has none


class RankCorrelation(NamedTuple):
    """Spearman's correlation, and the influence of every item on it."""

    value: float
    influence: PerItem


def rank_correlation(x: PerItem, y: PerItem) -> RankCorrelation:
    """Rank correlation with mid-ranks; nan where one of them does not vary."""
    number = len(x)
    first, second = (_Ranked.of(np.round(one, _EQUAL)) for one in (x, y))
    a, b = float((first.rank**2).mean()), float((second.rank**2).mean())
    if not (a > 0 and b > 0):
        return RankCorrelation(float("nan"), np.full(number, np.nan))
    both = float((first.rank * second.rank).mean())
    shared = first.rank * second.rank + first.above(second.rank) + second.above(first.rank)
    of_first = first.rank**2 + 2 * first.above(first.rank) - 3 * a
    of_second = second.rank**2 + 2 * second.above(second.rank) - 3 * b
    value = both / np.sqrt(a * b)
    moved = (shared - 3 * both) / np.sqrt(a * b) - value / 2 * (of_first / a + of_second / b)
    return RankCorrelation(float(value), moved / number)


class _Ranked(NamedTuple):
    """Mid-ranks over n, less one half, and the runs of equal values."""

    rank: PerItem
    order: Ints
    start: Ints

    @classmethod
    def of(cls, values: PerItem) -> "_Ranked":
        """Sort values, the smallest first."""
        order = np.argsort(values, kind="stable")
        placed = values[order]
        start = np.flatnonzero(np.append(True, placed[1:] != placed[:-1]))
        rank = (mid_ranks(values) - 0.5) / len(values) - 0.5
        return cls(rank, order, start)

    def above(self, other: PerItem) -> PerItem:
        """Mean over items of what larger ones have, and half of what equal ones have."""
        sums = np.add.reduceat(other[self.order], self.start)
        later = np.append(np.cumsum(sums[:0:-1])[::-1], 0.0)
        out = np.empty(len(other))
        sizes = np.diff(np.append(self.start, len(other)))
        out[self.order] = np.repeat(later + sums / 2, sizes)
        return out / len(other)


def constant_noise(
    mean: Floats,
    epistemic: Floats,
    *,
    members: int,
    seed: int,
    decomposition: str = "information",
) -> Decomposition:
    """The parts of a model with noise of one size on every logit.

    Parameters
    ----------
    mean, epistemic
        The method's probabilities and epistemic uncertainties, (items, classes).
    members
        How many members the method has.
    decomposition
        The one that made `epistemic`.
    """

    def split(said: Floats) -> Decomposition:
        return decompose(said, decomposition=decomposition, logits=True)

    held = np.clip(mean, _LEAST, 1 - _LEAST)
    logits = np.log(held) - np.log1p(-held)
    number = members if members > 1 else USUAL_MEMBERS
    size = _noise_size(split, logits, epistemic, number, seed)
    parts = np.empty((3, *mean.shape))
    for first in range(0, len(mean), _CHUNK):
        rows = slice(first, first + _CHUNK)
        noise = _noise((number, *logits[rows].shape), seed, first + 1)
        parts[:, rows] = split(logits[rows] + size * noise)
    return Decomposition(*parts)


def _noise(shape: tuple[int, ...], seed: int, place: int) -> Floats:
    return np.random.default_rng([seed, place]).standard_normal(shape)


def _noise_size(
    split: Callable[[Floats], Decomposition],
    logits: Floats,
    epistemic: Floats,
    members: int,
    seed: int,
) -> float:
    """The size that gives the same mean epistemic uncertainty, by halving."""
    rows = np.unique(np.linspace(0, len(logits) - 1, _LOOKED_AT).astype(int))
    goal, some = float(epistemic[rows].mean()), logits[rows]
    noise = _noise((members, *some.shape), seed, 0)
    low, high = np.log(_SMALL), np.log(_LARGE)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        made = split(some + np.exp(middle) * noise).EU.mean()
        low, high = (middle, high) if made < goal else (low, middle)
        if high - low < 1e-3:
            break
    return float(np.exp((low + high) / 2))
