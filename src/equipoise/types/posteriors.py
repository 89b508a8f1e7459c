r"""Posteriors: how plausible truths are distributed, and which class of a draw is on top.

Posteriors are sparse as `Plausibilities` are: numbers for the mentioned classes of each item
(entries) and one for all its other classes together (rest). Draws of them are made one by one,
each from a seed of its own, so that a draw is the same whether it is stored or made again.

``Dirichlet``: an item's distribution over classes is Dirichlet.

``Categorical``: the class is known but for these probabilities; a draw is one class per item.

``NormalPosterior``: an item's ratings are normal, its level and scatter normal-inverse-gamma,
and the classes are the two sides of a threshold.

The probability that a class has the largest share needs no draws (`Posterior.top`). For a
Dirichlet, with independent gamma variables of shapes :math:`\alpha_j`

.. math:: P(\text{top} = k) = \int_0^\infty f_{\alpha_k}(x) \prod_{j \ne k} F_{\alpha_j}(x)\,dx

taken by the trapezoidal rule in t = log x, which converges exponentially for these integrands.
The grid spans where the variable of the largest shape can be; where that reaches down to
:math:`t_0 = -40` every F is :math:`x^\alpha / \Gamma(\alpha + 1)` and the rest of the integral
is known in closed form, so shapes may be as small as 1e-9 and as large as 1e9. Items with the
same shapes have the same answer: each pattern of shapes is taken once, patterns of like size
together, with the distribution functions of a few hundred shapes in memory at a time.

Where there are only draws, `top_share` counts over them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from equipoise.types.arrays import Floats, Ints

Split = tuple[float | None, int]
Seed = tuple[int, ...]
_LOW = -40.0  # of log x: below, distribution functions are powers
_REACH = 9.5  # standard deviations that the grid spans to either side
_PATTERNS = 256  # taken at a time, so that memory does not grow with the number of shapes
_ALIKE = 1.2  # ratio of the largest shapes of patterns taken together


class Posterior(Protocol):
    """What plausibilities need of a posterior."""

    @property
    def name(self) -> str:
        """Name in stored files."""
        ...

    def mean(self, start: Ints) -> tuple[Floats, Floats]:
        """Mean mass of entries (entries,) and of the rest (items,)."""
        ...

    def draw(self, start: Ints, seed: Seed) -> tuple[Floats, Floats]:
        """One draw: masses (entries,) and rest (items,)."""
        ...

    def top(self, start: Ints, others: Ints) -> tuple[Floats, Floats]:
        """Chance of being the largest: of each entry, and of any of the `others` classes."""
        ...

    def subset(self, entries: Ints, items: Ints) -> "Posterior":
        """The posterior of some items and their entries, both by position."""
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
    prior
        Which part of `concentration` is an estimated prior, shape (entries,), as all of `rest`
        is; None where there is none.
    """

    concentration: Floats
    rest: Floats
    prior: Floats | None = None
    name: str = "dirichlet"

    def centred(self, start: Ints) -> "Dirichlet":
        """As certain, but with the mean at the votes; itself without an estimated prior.

        Examples
        --------
        >>> law = Dirichlet(np.array([4.5, 1.5]), np.zeros(1), np.array([0.5, 0.5]))
        >>> law.centred(np.array([0, 2])).concentration
        array([4.8, 1.2])
        """
        if self.prior is None:
            return self
        item, votes = _item_of(start), self.concentration - self.prior
        own = np.bincount(item, votes, len(self.rest))
        total = np.bincount(item, self.concentration, len(self.rest)) + self.rest
        scale = np.divide(total, own, out=np.ones(len(own)), where=own > 0)
        return Dirichlet(votes * scale[item], np.zeros(len(self.rest)))

    def mean(self, start: Ints) -> tuple[Floats, Floats]:
        """Concentration over its sum."""
        item = _item_of(start)
        total = np.bincount(item, self.concentration, len(self.rest)) + self.rest
        return self.concentration / total[item], self.rest / total

    def draw(self, start: Ints, seed: Seed) -> tuple[Floats, Floats]:
        """Gamma variables over their sum, as logarithms, so that small shapes do not vanish."""
        random = np.random.default_rng(seed)
        mass = _log_gamma(random, self.concentration)
        rest = _log_gamma(random, self.rest)
        item = _item_of(start)
        top = rest.copy()
        np.maximum.at(top, item, mass)
        mass, rest = np.exp(mass - top[item]), np.exp(rest - top)
        total = np.bincount(item, mass, len(rest)) + rest
        return mass / total[item], rest / total

    def top(self, start: Ints, others: Ints) -> tuple[Floats, Floats]:
        """Exact chance that each entry, or any other class, has the largest share.

        Examples
        --------
        >>> law = Dirichlet(np.array([2.0, 1.0]), np.array([0.0]))
        >>> law.top(np.array([0, 2]), np.array([0]))[0]
        array([0.75, 0.25])
        """
        each = np.divide(self.rest, others, out=np.zeros(len(self.rest)), where=others > 0)
        chance, spare = np.zeros(len(self.concentration)), np.zeros(len(self.rest))
        sizes = np.diff(start)
        for size in np.unique(sizes):
            items = np.flatnonzero(sizes == size)
            entry = start[items][:, None] + np.arange(size)
            shape = self.concentration[entry]
            order = np.argsort(shape, axis=1)
            sorted_ = np.take_along_axis(shape, order, axis=1)
            pattern = np.column_stack([sorted_, each[items], others[items]])
            kinds, kind = np.unique(pattern, axis=0, return_inverse=True)
            values, left = _of_patterns(kinds)
            kind = kind.ravel()
            chance[np.take_along_axis(entry, order, axis=1)] = values[kind]
            spare[items] = left[kind]
        return chance, spare

    def subset(self, entries: Ints, items: Ints) -> "Dirichlet":
        """The posterior of some items and their entries."""
        prior = None if self.prior is None else self.prior[entries]
        return Dirichlet(self.concentration[entries], self.rest[items], prior)


@dataclass(frozen=True, slots=True, eq=False)
class Categorical:
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

    def draw(self, start: Ints, seed: Seed) -> tuple[Floats, Floats]:
        """One class per item."""
        random = np.random.default_rng(seed)
        item = _item_of(start)
        above = np.cumsum(self.chance)
        before = np.concatenate(([0.0], above))[start[:-1]]
        below = above - self.chance - before[item]
        point = random.random(len(self.rest))[item]
        mass = ((point >= below) & (point < below + self.chance)).astype(np.float64)
        return mass, 1.0 - np.bincount(item, mass, len(self.rest))

    def top(self, start: Ints, others: Ints) -> tuple[Floats, Floats]:
        """The chances themselves."""
        del others
        return self.mean(start)

    def subset(self, entries: Ints, items: Ints) -> "Categorical":
        """The posterior of some items and their entries."""
        return Categorical(self.chance[entries], self.rest[items])


@dataclass(frozen=True, slots=True, eq=False)
class NormalPosterior:
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

    def draw(self, start: Ints, seed: Seed) -> tuple[Floats, Floats]:
        """Draw scatter, then level, then the share of ratings on either side."""
        from scipy.special import ndtr

        del start
        random = np.random.default_rng(seed)
        scatter = np.sqrt(self.scale / random.standard_gamma(self.shape))
        offset = (self.level - self.threshold) / scatter
        offset = offset + random.standard_normal(len(self.level)) / np.sqrt(self.worth)
        return np.stack([ndtr(-offset), ndtr(offset)], axis=1).ravel(), np.zeros(len(offset))

    def top(self, start: Ints, others: Ints) -> tuple[Floats, Floats]:
        """Exact: the chance that the level lies on either side of the threshold."""
        del start, others
        return self._tails(1 / self.worth)

    def subset(self, entries: Ints, items: Ints) -> "NormalPosterior":
        """The posterior of some items."""
        del entries
        return NormalPosterior(
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


POSTERIORS: Mapping[str, type[Dirichlet] | type[Categorical] | type[NormalPosterior]] = {
    "dirichlet": Dirichlet,
    "labels": Categorical,
    "normal": NormalPosterior,
}


def _log_gamma(random: "np.random.Generator", shape: Floats) -> Floats:
    """Logarithms of gamma variables; a shape of 0 gives minus infinity.

    A variable of shape a is one of shape a + 1 times a uniform one to the power 1 / a.
    """
    small = shape < 1
    value = np.log(random.standard_gamma(np.where(small, shape + 1, shape)))
    low = shape[small]
    power = np.divide(1.0, low, out=np.full(len(low), np.inf), where=low > 0)
    value[small] -= random.standard_exponential(len(low)) * power
    return value


def _item_of(start: Ints) -> Ints:
    """Item of each entry."""
    return np.repeat(np.arange(len(start) - 1), np.diff(start))


def _of_patterns(kinds: Floats) -> tuple[Floats, Floats]:
    """Chances for patterns (patterns, mentioned + 2): shapes, shape of others, their number."""
    values, spare = np.zeros((len(kinds), kinds.shape[1] - 2)), np.zeros(len(kinds))
    largest = kinds[:, :-1].max(axis=1)
    for rows in _alike(largest):
        values[rows], spare[rows] = _some(kinds[rows], largest[rows])
    total = values.sum(axis=1) + spare  # 1 but for rounding: 1e-11, or 2e-7 at shapes of 1e8
    return values / total[:, None], spare / total


def _alike(largest: Floats) -> Iterator[Ints]:
    """Rows whose largest shapes are alike, some hundreds at a time."""
    order = np.argsort(largest, kind="stable")
    first = 0
    while first < len(order):
        limit = max(_ALIKE * largest[order[first]], largest[order[first]] + 10)
        stop = int(np.searchsorted(largest[order], limit, side="right"))
        stop = min(max(stop, first + 1), first + _PATTERNS)
        yield order[first:stop]
        first = stop


def _some(kinds: Floats, largest: Floats) -> tuple[Floats, Floats]:
    shapes, code = np.unique(kinds[:, :-1], return_inverse=True)
    code = code.reshape(len(kinds), -1)
    table = _Table.of(shapes, float(largest.min()), float(largest.max()))
    own, other, many = code[:, :-1], code[:, -1], kinds[:, -1]
    log_all, total = table.log_cdf[own].sum(axis=1), shapes[own].sum(axis=1)
    spare, rows = np.zeros(len(kinds)), np.flatnonzero((many > 0) & (kinds[:, -2] > 0))
    if len(rows):
        log_all[rows] += many[rows, None] * table.log_cdf[other[rows]]
        total[rows] += many[rows] * shapes[other[rows]]
        found = table.integrals(other[rows, None], log_all[rows], total[rows])
        spare[rows] = many[rows] * found[:, 0]
    return table.integrals(own, log_all, total), spare


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Gamma distribution functions of some shapes on one grid of t = log x."""

    log_cdf: Floats
    rise: Floats  # derivative of log_cdf, between 0 and the shape
    step: float
    whole: bool

    @classmethod
    def of(cls, shapes: Floats, least: float, most: float) -> "_Table":
        """Lay out the grid for patterns whose largest shapes lie between least and most."""
        from scipy.special import gammainc, gammaln

        step = min(0.05, 0.25 / np.sqrt(max(most, 1.0)))
        root = 1 - 1 / (9 * least) - _REACH / (3 * np.sqrt(least))
        low = np.log(least * root**3) if root > 0.05 else _LOW
        low = max(_LOW, float(low))
        top = np.log(most + 1.5 * _REACH * np.sqrt(max(most, 1.0)) - _LOW)
        t = low + step * np.arange(int(np.ceil((top - low) / step)) + 1)
        x, shape = np.exp(t), np.maximum(shapes, 1e-300)[:, None]
        cdf = gammainc(shape, x)
        # where the distribution function underflows: its series, summed as if geometric
        ratio = np.minimum(x / (shape + 1), 1 - 1e-9)
        tiny = shape * t - x - gammaln(shape + 1) - np.log1p(-ratio)
        log_cdf = np.where(cdf > 1e-250, np.log(np.maximum(cdf, 1e-300)), tiny)
        log_cdf[shapes <= 0] = 0.0
        rise = np.exp(shape * t - x - gammaln(shape) - log_cdf)
        return cls(log_cdf, rise, step, low <= _LOW)

    def integrals(self, shapes: Ints, log_all: Floats, total: Floats) -> Floats:
        """Integral of the density of each shape times the other distribution functions.

        ``shapes`` (patterns, shapes) are numbers of rows of the table, ``log_all`` (patterns,
        grid) the product of all distribution functions of a pattern. ``total`` is the sum of
        all its shapes: below the grid the integrand is exp(total t) times a constant, if the
        grid begins at `_LOW`.
        """
        rise, product = self.rise[shapes], np.exp(log_all)
        first = rise[..., 0] * product[:, :1]
        found = (np.einsum("psg,pg->ps", rise, product) - first / 2) * self.step
        if self.whole:
            found += first / total[:, None] + first * total[:, None] * self.step**2 / 12
        return np.asarray(found)


def packed(mass: Floats, rest: Floats, start: Ints, others: Ints, split: Split) -> Any:
    """Arguments as the kernels of `equipoise.kernels.tops` want them; see `top_share`."""
    shape, seed = split
    key = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    return (
        np.ascontiguousarray(start, dtype=np.int64),
        np.ascontiguousarray(mass, dtype=np.float64),
        np.ascontiguousarray(rest, dtype=np.float64),
        np.ascontiguousarray(others, dtype=np.int64),
        (float(shape or 0.0), np.uint64(key)),
    )


def top_share(
    mass: Floats, rest: Floats, start: Ints, others: Ints, split: Split
) -> tuple[Floats, Floats]:
    """Share of draws in which each entry, or any unmentioned class, is largest.

    Parameters
    ----------
    mass, rest, start
        As in `Plausibilities`.
    others
        Number of unmentioned classes of each item.
    split
        Concentration with which the rest is split over them, and a seed; without one it is
        split evenly. Ties share their draw evenly.
    """
    from equipoise.kernels.tops import top_counts

    entry, spare = np.zeros(mass.shape[1]), np.zeros(len(others))
    top_counts(packed(mass, rest, start, others, split), entry, spare)
    return entry / len(mass), spare / len(mass)
