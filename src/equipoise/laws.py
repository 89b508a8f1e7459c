r"""Laws: how plausible truths are distributed, so that more of them can be drawn at any time.

Both laws are sparse as `Plausibilities` are: numbers for the mentioned classes of each item
(entries) and one for all its other classes together (rest).

``Dirichlet``: an item's distribution over classes is Dirichlet. The chance that class k has the
largest share needs no draws: with independent gamma variables of shapes :math:`\alpha_j`

.. math:: P(\text{top} = k) = \int_0^\infty f_{\alpha_k}(x) \prod_{j \ne k} F_{\alpha_j}(x)\,dx

taken by the trapezoidal rule in log x, which converges exponentially for these integrands.

``Labels``: the class is known but for chance; a draw is one class per item.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from equipoise.arrays import Floats, Ints

TAIL = 40.0  # e^-40 is what the integrals leave out at either end


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
        """Gamma variables over their sum; an item whose sum underflows takes its largest."""
        random = np.random.default_rng(seed)
        mass = random.standard_gamma(self.concentration, (draws, len(self.concentration)))
        rest = random.standard_gamma(self.rest, (draws, len(self.rest)))
        item = _item_of(start)
        total = np.stack([np.bincount(item, row, len(self.rest)) for row in mass]) + rest
        empty = total <= 0
        if empty.any():
            first = self.mean(start)
            mass = np.where(empty[:, item], first[0], mass)
            rest = np.where(empty, first[1], rest)
            total = np.where(empty, 1.0, total)
        return mass / total[:, item], rest / total

    def top(self, start: Ints, others: Ints) -> tuple[Floats, Floats]:
        """Exact chance that each entry, or any other class, has the largest share.

        Examples
        --------
        >>> law = Dirichlet(np.array([2.0, 1.0]), np.array([0.0]))
        >>> law.top(np.array([0, 2]), np.array([0]))[0]
        array([0.75, 0.25])
        """
        each = np.divide(self.rest, others, out=np.zeros(len(self.rest)), where=others > 0)
        shapes, code = np.unique(
            np.concatenate([self.concentration, each]), return_inverse=True
        )
        table = _Table.of(shapes, float(np.add.reduceat(self.concentration, start[:-1]).min()))
        entry, rest = code[: len(self.concentration)], code[len(self.concentration) :]
        chance, spare = np.empty(len(entry)), np.zeros(len(rest))
        for i in range(len(rest)):
            own = entry[start[i] : start[i + 1]]
            log_all = table.log_cdf[own].sum(axis=0)
            if others[i] and each[i] > 0:
                log_all = log_all + others[i] * table.log_cdf[rest[i]]
                spare[i] = others[i] * table.integral(rest[i], log_all)
            chance[start[i] : start[i + 1]] = [table.integral(k, log_all) for k in own]
        return chance, spare


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


LAWS: Mapping[str, type[Dirichlet] | type[Labels]] = {"dirichlet": Dirichlet, "labels": Labels}


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Gamma distribution functions of all occurring shapes on one grid of log x."""

    log_cdf: Floats
    log_density: Floats
    step: float

    @classmethod
    def of(cls, shapes: Floats, least: float) -> "_Table":
        """Lay out the grid; `least` is the smallest sum of shapes of any item."""
        from scipy.special import gammainc, gammaln, xlogy

        largest = max(float(shapes.max()), 1.0)
        step = min(0.05, 0.25 / np.sqrt(largest))
        top = np.log(largest + 12 * np.sqrt(largest) + TAIL)
        t = np.arange(-TAIL / max(least, 1e-3), top, step)
        x, shape = np.exp(t), np.maximum(shapes, 1e-300)[:, None]
        cdf = gammainc(shape, x)
        tiny = xlogy(shape, x) - gammaln(shape + 1)  # what the logarithm tends to at 0
        log_cdf = np.where(cdf > 1e-250, np.log(np.maximum(cdf, 1e-300)), tiny)
        log_cdf[shapes <= 0] = 0.0
        log_density = xlogy(shape, x) - x - gammaln(shape)
        return cls(log_cdf, log_density, step)

    def integral(self, shape: int, log_all: Floats) -> float:
        """Integral of the density of one shape times the other distribution functions."""
        integrand = np.exp(self.log_density[shape] - self.log_cdf[shape] + log_all)
        return float(integrand.sum() * self.step)


def _item_of(start: Ints) -> Ints:
    """Item of each entry."""
    return np.repeat(np.arange(len(start) - 1), np.diff(start))
