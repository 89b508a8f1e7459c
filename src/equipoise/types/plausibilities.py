r"""Plausibilities: what the annotations leave possible about the truth.

Draws of a distribution over classes for every item. Storage is sparse: per item the classes
that anybody mentioned, and the mass left over for all the others together. With 419 classes
of which four are mentioned, a thousand draws of two thousand items cost tens of megabytes.

Posteriors: how plausible truths are distributed, and which class of a draw is on top.

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
from dataclasses import field, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from equipoise.types.arrays import (
    Floats,
    InputError,
    Ints,
    ItemsByClasses,
    Names,
    frozen,
    ratio,
    require_drawn,
    require_simplex,
    require_unique,
    require_whole,
    short_repr,
)
from equipoise.types.notices import Notices
from equipoise.types.records import immutable

Split = tuple[float | None, int]
Seed = tuple[int, ...]
_LOW = -40.0  # of log x: below, distribution functions are powers
_REACH = 9.5  # standard deviations that the grid spans to either side
_PATTERNS = 1024  # taken at a time, so that memory does not grow with the number of shapes
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


@immutable(eq=False)
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
        votes_of_item = np.bincount(item, votes, len(self.rest))
        total = np.bincount(item, self.concentration, len(self.rest)) + self.rest
        scale = ratio(total, votes_of_item, 1.0)
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
        from equipoise.kernels.blocks import code_numbers, hash_numbers

        share = ratio(self.rest, others, 0.0)
        chance, spare = np.zeros(len(self.concentration)), np.zeros(len(self.rest))
        sizes = np.diff(start)
        for size in np.unique(sizes):
            items = np.flatnonzero(sizes == size)
            entry = start[items][:, None] + np.arange(size)
            shape = self.concentration[entry]
            order = np.argsort(shape, axis=1)
            sorted_ = np.take_along_axis(shape, order, axis=1)
            pattern = np.column_stack([sorted_, share[items], others[items]])
            key = np.zeros(len(items), dtype=np.uint64)
            for column in pattern.T.copy():  # patterns are told apart by their hash
                key = hash_numbers(key ^ column.view(np.uint64))
            kind, first = code_numbers(key.view(np.int64), 0, 0)
            values, left = _of_patterns(pattern[first])
            chance[np.take_along_axis(entry, order, axis=1)] = values[kind]
            spare[items] = left[kind]
        return chance, spare

    def subset(self, entries: Ints, items: Ints) -> "Dirichlet":
        """The posterior of some items and their entries."""
        prior = None if self.prior is None else self.prior[entries]
        return Dirichlet(self.concentration[entries], self.rest[items], prior)


@immutable(eq=False)
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


@immutable(eq=False)
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
    power = ratio(1.0, low, np.inf)
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
    mentioned, other, row = code[:, :-1], code[:, -1], np.arange(len(kinds))
    others = np.where(kinds[:, -2] > 0, kinds[:, -1], 0.0)
    times = np.zeros((len(kinds), len(shapes)))
    np.add.at(times, (row[:, None], mentioned), 1)
    times[row, other] += others
    masses = table.integrals(times @ table.log_cdf, times @ shapes)
    return np.take_along_axis(masses, mentioned, axis=1), others * masses[row, other]


@immutable(eq=False)
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

    def integrals(self, log_all: Floats, total: Floats) -> Floats:
        """Integrals of every density times other distribution functions, (patterns, shapes).

        ``log_all`` (patterns, grid) is the product of all distribution functions of a pattern,
        ``total`` the sum of all its shapes: below the grid the integrand is exp(total t) times
        a constant, if the grid begins at `_LOW`.
        """
        product = np.exp(log_all)
        first = product[:, :1] * self.rise[:, 0]
        integral = (product @ self.rise.T - first / 2) * self.step
        if self.whole:
            integral += first / total[:, None] + first * total[:, None] * self.step**2 / 12
        return np.asarray(integral)


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


STORED = 2**28  # bytes of draws up to which they are kept
MOST_BYTES = 4 * 2**30  # of draws that are all needed at once
SURE = 0.99  # certainty from which on an item is clear
TIED = 1e-9  # difference of plausibilities up to which classes are tied


@immutable(eq=False)
class Skills:
    """What a model found out about annotators.

    Attributes
    ----------
    annotators
        Their names.
    meaning
        What `value` is, as words: accuracy, ability, and so on.
    value, low, high
        Shape (annotators,); `low` and `high` are None when the model has no honest interval.
    confusion
        Chance of each answer given each true class, (annotators, classes, classes), or None.
    """

    annotators: Names
    meaning: str
    value: Floats
    low: Floats | None = None
    high: Floats | None = None
    confusion: Floats | None = None

    __repr__ = short_repr


@immutable
class Unanimity:
    """Share of items on which all annotators agree: expected by a fitted model, and seen.

    Attributes
    ----------
    expected, low, high
        What the model expects, and where 95 % of data simulated from it lie.
    observed, items
        What is seen, and among how many items with at least two votes.
    """

    expected: float
    low: float
    high: float
    observed: float
    items: int


class Consensus(NamedTuple):
    """The most plausible class of one item.

    Attributes
    ----------
    label, probability
        The class with the largest mean plausibility, and that; no class where all that were
        mentioned are less plausible than any of the others.
    tied_with
        Other classes of the same plausibility, joined by a bar.
    certainty, entropy
        Probability that the likeliest class is the most plausible one, and entropy of the mean
        in nats.
    """

    task: str
    item: str
    label: str
    probability: float
    tied_with: str
    certainty: float
    entropy: float


@immutable(eq=False, kw_only=True)
class Plausibilities:
    """Possible truths of one task, each a distribution over classes per item.

    Attributes
    ----------
    items, classes
        Names along the item and class axes.
    start, label
        The mentioned classes of item i are ``label[start[i]:start[i + 1]]``.
    mass
        Shape (draws, entries): mass of each mentioned class, in the order of `label`.
    rest
        Shape (draws, items): mass of all unmentioned classes of an item together.
    on_demand
        How many draws there are where too many are asked for to be stored: `mass` and `rest`
        are then the mean alone, and `draw` makes any of them. 0 where all are stored.
    method
        How these were made, as one line for the report.
    task
        Which question they answer; empty when there is only one.
    parameters
        What the model was told, for the record.
    diagnostics
        What the fit says about itself: converged, iterations, trace, and so on.
    law
        The distribution the draws come from, when more of them can be made.
    rest_shape, split_seed
        Concentration of each unmentioned class, and the seed with which a draw splits the rest
        over them; None splits it evenly.
    skills, difficulty
        What the model found out about annotators and about items, shape (items,).
    unanimity
        Whether a model of annotators expects the agreement that is seen.
    ordered
        Whether the order of the classes means something (grades).
    notices
        What the user should know.
    model
        Name of the aggregation model that made them; empty for any other source.

    Examples
    --------
    >>> two = Plausibilities.dense(np.array([[[0.9, 0.1]], [[0.4, 0.6]]]),
    ...     items=("scan-1",), classes=("naevus", "melanoma"), method="by hand")
    >>> two.draw(1)
    array([[0.4, 0.6]])
    >>> two.mean
    array([[0.65, 0.35]])
    """

    items: Names
    classes: Names
    start: Ints
    label: Ints
    mass: Floats
    rest: Floats
    method: str
    task: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    law: Posterior | None = None
    rest_shape: float | None = None
    split_seed: int = 0
    skills: Skills | None = None
    difficulty: Floats | None = None
    unanimity: Unanimity | None = None
    ordered: bool = False
    notices: Notices = ()
    model: str = ""
    on_demand: int = 0

    def __post_init__(self) -> None:
        require_unique(self.items, where="plausibilities, items")
        require_unique(self.classes, where="plausibilities, classes")
        self._check_shapes()
        item = self.entry_items
        for number in range(len(self.mass)):
            total = np.bincount(item, self.mass[number], len(self.items)) + self.rest[number]
            bad = np.flatnonzero(~(np.abs(total - 1) <= 1e-3) | (self.rest[number] < -1e-9))
            if len(bad) or (self.mass[number] < 0).any():
                where = self.items[bad[0]] if len(bad) else "with a negative mass"
                raise InputError(
                    f"plausibilities, draw {number}, item {where!r}",
                    f"masses sum to {total[bad[0]] if len(bad) else np.nan:.6g}",
                    "non-negative masses that sum to 1",
                    "divide each item by its sum",
                )
        for name in ("start", "label", "mass", "rest"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def __repr__(self) -> str:
        task = f", task {self.task!r}" if self.task else ""
        return (
            f"Plausibilities({self.method}: {len(self.items):,} items, "
            f"{len(self.classes):,} classes, {self.draws:,} draws{task})"
        )

    def _check_shapes(self) -> None:
        entries = len(self.label)
        fits = (
            self.start.shape == (len(self.items) + 1,)
            and int(self.start[-1]) == entries
            and self.mass.shape == (len(self.mass), entries)
            and self.rest.shape == (len(self.mass), len(self.items))
            and len(self.mass) > 0
            and int(self.start[0]) == 0
            and bool((np.diff(self.start) >= 0).all())
            and (not entries or 0 <= self.label.min() <= self.label.max() < len(self.classes))
            and self._each_once()
        )
        if not fits:
            raise InputError(
                "plausibilities",
                f"start {self.start.shape}, label {self.label.shape}, mass {self.mass.shape}, "
                f"rest {self.rest.shape}",
                f"{len(self.items) + 1} starts, one label per entry, masses (draws, entries) "
                f"and rest (draws, {len(self.items)})",
                "name each mentioned class once; or make them with Plausibilities.dense",
            )

    def _each_once(self) -> bool:
        """Whether no class is mentioned twice for an item; sorting only if it must."""
        keys = self.entry_items * len(self.classes) + self.label
        return bool((np.diff(keys) > 0).all()) or len(np.unique(keys)) == len(keys)

    @classmethod
    def dense(
        cls, values: Floats, *, items: Names, classes: Names, method: str
    ) -> "Plausibilities":
        """Take full arrays, shape (draws, items, classes) or (items, classes) for one draw."""
        block = np.asarray(values, dtype=np.float64)
        block = block[None] if block.ndim == 2 else block
        if block.ndim != 3 or block.shape[1:] != (len(items), len(classes)):
            raise InputError(
                "plausibilities",
                f"values of shape {np.shape(values)}",
                f"(draws, {len(items)}, {len(classes)})",
                "name every item and class",
            )
        require_simplex(block, where="plausibilities", names=items)
        entries = len(items) * len(classes)
        return cls(
            items=items,
            classes=classes,
            start=np.arange(0, entries + 1, len(classes)),
            label=np.tile(np.arange(len(classes)), len(items)),
            mass=block.reshape(len(block), entries),
            rest=np.zeros((len(block), len(items))),
            method=method,
        )

    def drawn(self, draws: int, *, seed: int) -> "Plausibilities":
        """Return the same plausibilities with this many draws, always the same for a seed."""
        if self.law is None:
            raise InputError(
                f"plausibilities by {self.method}",
                "no law to draw from",
                "a model with draws",
                "choose another aggregation model, or use the draws it has",
            )
        require_drawn("plausibilities, draws", draws, least=1)
        require_whole("plausibilities, seed", seed)
        drawn = replace(
            self, on_demand=draws, split_seed=seed, **_mean_of(self.law, self.start)
        )
        return drawn if drawn._bytes > STORED else drawn.stored()

    def stored(self) -> "Plausibilities":
        """Return the same with every draw in memory, or say that they are too many."""
        if not self.on_demand:
            return self
        if self._bytes > MOST_BYTES:
            raise InputError(
                "draws of possible truths",
                f"{self.draws:,} draws of {len(self.items):,} items "
                f"({round(self._bytes / 2**30):,} GB)",
                f"at most {MOST_BYTES / 2**30:g} GB for what needs all of them at once",
                f"ask for at most {MOST_BYTES * self.draws // self._bytes:,}",
            )
        mass = np.empty((self.draws, len(self.label)))
        rest = np.empty((self.draws, len(self.items)))
        for number in range(self.draws):
            mass[number], rest[number] = self._one(number)
        mass.flags.writeable = rest.flags.writeable = False
        return replace(self, mass=mass, rest=rest, on_demand=0)

    def centred(self) -> "Plausibilities":
        """Return what models are scored against: means at the votes, see `Dirichlet.centred`.

        Draws are made anew around them; without an estimated prior it is the same.
        """
        if not isinstance(self.law, Dirichlet) or self.law.prior is None:
            return self
        law = self.law.centred(self.start)
        centred = replace(self, law=law, on_demand=0, **_mean_of(law, self.start))
        return centred if self.draws == 1 else centred.drawn(self.draws, seed=self.split_seed)

    @property
    def soft(self) -> ItemsByClasses:
        """Soft labels that models are scored against, shape (items, classes)."""
        if not isinstance(self.law, Dirichlet) or self.law.prior is None:
            return self.mean
        return self._full(*self.law.centred(self.start).mean(self.start))

    @property
    def expected(self) -> ItemsByClasses:
        """Mean by the law where there is one, else over draws, shape (items, classes)."""
        return self.mean if self.law is None else self._full(*self.law.mean(self.start))

    @property
    def _bytes(self) -> int:
        """Memory of all draws."""
        return self.draws * (len(self.label) + len(self.items)) * 8

    def _one(self, number: int) -> tuple[Floats, Floats]:
        """Masses and rest of one draw."""
        if not self.on_demand:
            return self.mass[number], self.rest[number]
        assert self.law is not None
        return self.law.draw(self.start, (self.split_seed, number))

    def averaged(self) -> "Plausibilities":
        """Return their mean as the one possible truth."""
        mass, rest = self.mass.mean(axis=0), self.rest.mean(axis=0)
        without_law: dict[str, Any] = {"law": None, "rest_shape": None, "on_demand": 0}
        return replace(self, mass=mass[None], rest=rest[None], **without_law)

    def noted(self, *, task: str, notices: Notices = ()) -> "Plausibilities":
        """Return the same with a task and sentences for the user."""
        return replace(self, task=task, notices=notices)

    def subset(self, rows: Ints) -> "Plausibilities":
        """Only some items, given by position; a random split of the rest is drawn anew."""
        sizes = np.diff(self.start)[rows]
        first = np.repeat(self.start[rows] - np.cumsum(sizes) + sizes, sizes)
        entry = first + np.arange(sizes.sum())
        return replace(
            self,
            items=tuple(self.items[i] for i in rows),
            start=np.concatenate(([0], np.cumsum(sizes))),
            label=self.label[entry],
            mass=self.mass[:, entry],
            rest=self.rest[:, rows],
            law=None if self.law is None else self.law.subset(entry, rows),
            difficulty=None if self.difficulty is None else self.difficulty[rows],
        )

    def top(self) -> tuple[Floats, Floats]:
        """Chance of being the most plausible class: of each entry, and of any other class.

        Exact where the law allows it; else the share of draws, ties split evenly.
        """
        if self.law is not None:
            return self.law.top(self.start, self.others)
        split = (self.rest_shape, self.split_seed)
        return top_share(self.mass, self.rest, self.start, self.others, split)

    @cached_property
    def certainty(self) -> Floats:
        """Chance of the likeliest most plausible class, shape (items,)."""
        entry, rest = self.top()
        others = np.maximum(self.others, 1)
        mentioned = np.zeros(len(self.items))
        np.maximum.at(mentioned, self.entry_items, entry)
        return frozen(np.maximum(mentioned, rest / others))

    def consensus(self) -> list[Consensus]:
        """The most plausible class of every item, and how sure that is.

        Examples
        --------
        >>> votes = Plausibilities.dense(np.array([[0.9, 0.1], [0.5, 0.5]]),
        ...     items=("scan-1", "scan-2"), classes=("naevus", "melanoma"), method="by hand")
        >>> [(one.label, one.tied_with) for one in votes.consensus()]
        [('naevus', ''), ('naevus', 'melanoma')]
        """
        mass, rest = self.mass.mean(axis=0), self.rest.mean(axis=0)
        share = rest / np.maximum(self.others, 1)
        sure, entropy, rows = self.certainty, self.entropy, []
        for i, item in enumerate(self.items):
            entries = slice(int(self.start[i]), int(self.start[i + 1]))
            top = float(mass[entries].max(initial=0.0))
            tied = np.sort(self.label[entries][mass[entries] >= top - TIED])
            names = [self.classes[code] for code in tied if top > share[i] - TIED]
            label, *others = names or [""]
            facts = float(sure[i]), float(entropy[i])
            most = max(top, float(share[i]))
            rows.append(Consensus(self.task, item, label, most, " | ".join(others), *facts))
        return rows

    def to_dataframe(self, *, backend: str = "") -> Any:
        """The consensus of every item as a dataframe: pyarrow, or the kind that is named."""
        from equipoise.read.tables import rows_to_frame

        return rows_to_frame(self.consensus(), Consensus._fields, backend)

    @cached_property
    def entropy(self) -> Floats:
        """Entropy of the mean distribution in nats, shape (items,)."""
        others = np.maximum(self.others, 1)
        mass, rest = self.mass.mean(axis=0), self.rest.mean(axis=0)
        inside = -mass * np.log(np.where(mass > 0, mass, 1.0))
        outside = -rest * np.log(np.where(rest > 0, rest / others, 1.0))
        return frozen(np.bincount(self.entry_items, inside, len(self.items)) + outside)

    @property
    def entry_items(self) -> Ints:
        """Item of each entry, shape (entries,)."""
        return np.repeat(np.arange(len(self.items)), np.diff(self.start))

    @property
    def others(self) -> Ints:
        """Number of classes of each item that nobody mentioned, shape (items,)."""
        return len(self.classes) - np.diff(self.start)

    @property
    def packed(self) -> Any:
        """All draws, as the kernels of `equipoise.kernels.tops` want them."""
        split, packed_draws = (self.rest_shape, self.split_seed), self.stored()
        return packed(packed_draws.mass, packed_draws.rest, self.start, self.others, split)

    @property
    def draws(self) -> int:
        """Number of possible truths."""
        return self.on_demand or len(self.mass)

    def draw(self, number: int) -> ItemsByClasses:
        """Return one possible truth, shape (items, classes). Metrics see nothing else."""
        mass, rest = self._one(number)
        full = self._full(mass, rest)
        if not self.rest_shape or not rest.any():
            return full
        random = np.random.default_rng([self.split_seed, number])
        noise = random.standard_gamma(self.rest_shape, full.shape)
        noise[self.entry_items, self.label] = 0.0
        total = noise.sum(axis=1, keepdims=True)
        free = np.ones(full.shape, dtype=bool)
        free[self.entry_items, self.label] = False
        return ratio(rest[:, None] * noise, total, full, defined=free & (total > 0))

    @property
    def mean(self) -> ItemsByClasses:
        """The average over draws, shape (items, classes)."""
        return self._full(self.mass.mean(axis=0), self.rest.mean(axis=0))

    def _full(self, mass: Floats, rest: Floats) -> ItemsByClasses:
        """Spread the rest evenly over the classes that nobody mentioned."""
        others = self.others
        share = ratio(rest, others, 0.0)
        full = np.repeat(share[:, None], len(self.classes), axis=1)
        full[self.entry_items, self.label] = mass
        return full


def _mean_of(law: Posterior, start: Ints) -> dict[str, Any]:
    """The mean of a law as the one draw."""
    mass, rest = law.mean(start)
    return {"mass": mass[None], "rest": rest[None]}
