r"""Laws: how plausible truths are distributed, so that more of them can be drawn at any time.

Laws are sparse as `Plausibilities` are: numbers for the mentioned classes of each item
(entries) and one for all its other classes together (rest).

``Dirichlet``: an item's distribution over classes is Dirichlet. The chance that a class has the
largest share needs no draws: see `equipoise.top_quadrature`.

``Labels``: the class is known but for chance; a draw is one class per item.

``NormalLaw``: an item's ratings are normal, its level and scatter normal-inverse-gamma, and the
classes are the two sides of a threshold.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from equipoise.arrays import Floats, Ints
from equipoise.top_quadrature import dirichlet_top


class Law(Protocol):
    """What plausibilities need of a law."""

    @property
    def name(self) -> str:
        """Name in stored files."""
        ...

    def mean(self, start: Ints) -> tuple[Floats, Floats]:
        """Mean mass of entries (entries,) and of the rest (items,)."""
        ...

    def draw(self, start: Ints, draws: int, seed: int) -> tuple[Floats, Floats]:
        """Masses (draws, entries) and rest (draws, items)."""
        ...

    def top(self, start: Ints, others: Ints) -> tuple[Floats, Floats]:
        """Chance of being the largest: of each entry, and of any of the `others` classes."""
        ...

    def kept(self, entries: Ints, items: Ints) -> "Law":
        """The law of some items and their entries, both by position."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Dirichlet:
    """Independent Dirichlet distributions.

    Attributes
    ----------
    concentration
        Of each mentioned class, shape (entries,).
    rest
        Of all other classes of an item together, shape (items,).
    """

    concentration: Floats
    rest: Floats
    name: str = "dirichlet"

    def mean(self, start: Ints) -> tuple[Floats, Floats]:
        """Concentration over its sum."""
        item = _item_of(start)
        total = np.bincount(item, self.concentration, len(self.rest)) + self.rest
        return self.concentration / total[item], self.rest / total

    def draw(self, start: Ints, draws: int, seed: int) -> tuple[Floats, Floats]:
        """Gamma variables over their sum, as logarithms, so that small shapes do not vanish."""
        random = np.random.default_rng(seed)
        mass = _log_gamma(random, self.concentration, draws)
        rest = _log_gamma(random, self.rest, draws)
        item = _item_of(start)
        top = rest.copy()
        for row, best in zip(mass, top, strict=True):
            np.maximum.at(best, item, row)
        mass, rest = np.exp(mass - top[:, item]), np.exp(rest - top)
        total = np.stack([np.bincount(item, row, len(self.rest)) for row in mass]) + rest
        return mass / total[:, item], rest / total

    def top(self, start: Ints, others: Ints) -> tuple[Floats, Floats]:
        """Exact chance that each entry, or any other class, has the largest share.

        Examples
        --------
        >>> law = Dirichlet(np.array([2.0, 1.0]), np.array([0.0]))
        >>> law.top(np.array([0, 2]), np.array([0]))[0]
        array([0.75, 0.25])
        """
        return dirichlet_top(self.concentration, self.rest, start, others)

    def kept(self, entries: Ints, items: Ints) -> "Dirichlet":
        """The law of some items and their entries."""
        return Dirichlet(self.concentration[entries], self.rest[items])


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """One class per item, with these chances.

    Attributes
    ----------
    chance
        Of each mentioned class, shape (entries,).
    rest
        Of all other classes together, shape (items,).
    """

    chance: Floats
    rest: Floats
    name: str = "labels"

    def mean(self, start: Ints) -> tuple[Floats, Floats]:
        """The chances themselves."""
        del start
        return self.chance, self.rest

    def draw(self, start: Ints, draws: int, seed: int) -> tuple[Floats, Floats]:
        """One class per item and draw."""
        random = np.random.default_rng(seed)
        item = _item_of(start)
        above = np.cumsum(self.chance)
        before = np.concatenate(([0.0], above))[start[:-1]]
        below = above - self.chance - before[item]
        point = random.random((draws, len(self.rest)))
        hit = (point[:, item] >= below) & (point[:, item] < below + self.chance)
        mass = hit.astype(np.float64)
        taken = np.stack([np.bincount(item, row, len(self.rest)) for row in mass])
        return mass, 1.0 - taken

    def top(self, start: Ints, others: Ints) -> tuple[Floats, Floats]:
        """The chances themselves."""
        del others
        return self.mean(start)

    def kept(self, entries: Ints, items: Ints) -> "Labels":
        """The law of some items and their entries."""
        return Labels(self.chance[entries], self.rest[items])


@dataclass(frozen=True, slots=True, eq=False)
class NormalLaw:
    """Normal-inverse-gamma distributions of level and scatter, asked about a threshold.

    Attributes
    ----------
    level, worth, shape, scale
        The four numbers m, k, a and b of each item, shape (items,).
    threshold
        Classes are below it, and at least it, in this order.
    """

    level: Floats
    worth: Floats
    shape: Floats
    scale: Floats
    threshold: float
    name: str = "normal"

    def mean(self, start: Ints) -> tuple[Floats, Floats]:
        """Exact: tails of the Student-t distribution of the next rating."""
        del start
        return self._tails(1 + 1 / self.worth)

    def draw(self, start: Ints, draws: int, seed: int) -> tuple[Floats, Floats]:
        """Draw scatter, then level, then the share of ratings on either side."""
        from scipy.special import ndtr

        del start
        random = np.random.default_rng(seed)
        shape = (draws, len(self.level))
        scatter = np.sqrt(self.scale / random.standard_gamma(self.shape, shape))
        offset = (self.level - self.threshold) / scatter
        offset = offset + random.standard_normal(shape) / np.sqrt(self.worth)
        mass = np.stack([ndtr(-offset), ndtr(offset)], axis=2).reshape(draws, -1)
        return mass, np.zeros(shape)

    def top(self, start: Ints, others: Ints) -> tuple[Floats, Floats]:
        """Exact: the chance that the level lies on either side of the threshold."""
        del start, others
        return self._tails(1 / self.worth)

    def kept(self, entries: Ints, items: Ints) -> "NormalLaw":
        """The law of some items."""
        del entries
        return NormalLaw(
            level=self.level[items],
            worth=self.worth[items],
            shape=self.shape[items],
            scale=self.scale[items],
            threshold=self.threshold,
        )

    def _tails(self, variance: Floats) -> tuple[Floats, Floats]:
        """Student-t chances of both classes; `variance` in units of the scatter squared."""
        from scipy.special import stdtr

        spread = np.sqrt(variance * self.scale / self.shape)
        offset = (self.level - self.threshold) / spread
        both = np.stack([stdtr(2 * self.shape, -offset), stdtr(2 * self.shape, offset)], axis=1)
        return both.ravel(), np.zeros(len(self.level))


LAWS: Mapping[str, type[Dirichlet] | type[Labels] | type[NormalLaw]] = {
    "dirichlet": Dirichlet,
    "labels": Labels,
    "normal": NormalLaw,
}


def _log_gamma(random: np.random.Generator, shape: Floats, draws: int) -> Floats:
    """Logarithms of gamma variables, (draws, shapes); a shape of 0 gives minus infinity.

    A variable of shape a is one of shape a + 1 times a uniform one to the power 1 / a.
    """
    size = (draws, len(shape))
    small = shape < 1
    value = np.log(random.standard_gamma(np.where(small, shape + 1, shape), size))
    power = np.divide(1.0, shape, out=np.full(len(shape), np.inf), where=shape > 0)
    if small.any():
        value[:, small] -= random.standard_exponential((draws, int(small.sum()))) * power[small]
    return value


def _item_of(start: Ints) -> Ints:
    """Item of each entry."""
    return np.repeat(np.arange(len(start) - 1), np.diff(start))
