"""Estimate: a number that carries its own uncertainty, and only compares in pairs.

The interval is that of the number's spread (`equipoise.inference`). Numbers that are only known
by resampling have the quantiles of their replicates instead. An undefined replicate counts
against both ends: as the lowest for the lower end and as the highest for the upper. An end that
so many are undefined to decide is itself undefined. A replicate can be infinite (a log score
that met a zero probability); then an end can be, too. Where a plan lists all its resamples,
each counts by its probability: a quantile is then the first replicate at which the cumulated
probability reaches it, from its own side.
"""

import math
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from equipoise.types import Floats, InputError, frozen, immutable, numbers, short_repr

if TYPE_CHECKING:
    from equipoise.inference import Spread, TwoWay


@immutable(eq=False)
class Estimate:
    """A metric's value and its uncertainty.

    There is no ``<``: the only comparison is the paired difference and its interval.

    Attributes
    ----------
    value
        The metric on the data as they are; nan when undefined.
    replicates
        The metric on each resample, shape (replicates,).
    plan
        Fingerprint of the plan; only estimates of the same plan can be paired.
    bounds
        Smallest and largest possible value; intervals are cut there.
    spread
        What the uncertainty is made of; None where only resamples tell.
    weights
        How much each replicate counts, adding up to 1; None where all count alike.

    Examples
    --------
    >>> better = Estimate(0.9, np.array([0.88, 0.90, 0.92]), "plan")
    >>> worse = Estimate(0.8, np.array([0.79, 0.80, 0.81]), "plan")
    >>> (better - worse).interval(0.9)
    (0.091, 0.109)
    """

    value: float
    replicates: Floats
    plan: str
    bounds: tuple[float, float] = (-math.inf, math.inf)
    spread: "Spread | None" = None
    _source: "tuple[TwoWay, int] | None" = field(default=None, repr=False)
    weights: Floats | None = None

    __repr__ = short_repr

    def __post_init__(self) -> None:
        object.__setattr__(self, "replicates", frozen(np.asarray(self.replicates, float)))

    @classmethod
    def of(
        cls,
        cell: "TwoWay",
        model: int,
        replicates: Floats,
        plan: str,
        bounds: tuple[float, float],
        weights: Floats | None = None,
    ) -> "Estimate":
        """One model of a question."""
        spread = cell.of(model)
        value = float(cell.values[model])
        return cls(value, replicates, plan, bounds, spread, (cell, model), weights)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Lower and upper end; nan where they are undefined."""
        if self.spread is None:
            return self.resampled(level)
        return self.spread.interval(self.value, level, self.bounds)

    def resampled(self, level: float = 0.95) -> tuple[float, float]:
        """Quantiles of the replicates; nan where the value or too many are undefined."""
        if not 0 < level < 1:
            raise InputError(
                "interval", f"level {level}", "a number between 0 and 1", "try 0.95"
            )
        if math.isnan(self.value):
            return math.nan, math.nan
        tail = (1 - level) / 2
        if self.weights is not None:
            low, high = _weighted_quantiles(self.replicates, self.weights, tail)
        else:
            low, high = _quantiles(self._defined(), len(self.replicates), tail)
        return self._cut(low), self._cut(high)

    def _cut(self, end: float) -> float:
        return end if math.isnan(end) else min(max(end, self.bounds[0]), self.bounds[1])

    @property
    def shift(self) -> float:
        """How far the defined replicates lie from the value on average."""
        defined = self._defined()
        return self._mean(defined) - self.value if len(defined) else math.nan

    @property
    def standard_error(self) -> float:
        """Of the value; where only resamples tell, their standard deviation."""
        if self.spread is not None:
            return self.spread.standard_error
        defined = self._defined()
        if np.isinf(defined).any():
            return math.inf
        if not len(defined):
            return math.nan
        return math.sqrt(self._mean((defined - self._mean(defined)) ** 2))

    def _defined(self) -> Floats:
        return self.replicates[~np.isnan(self.replicates)]

    def _mean(self, values: Floats) -> float:
        """Mean of something about the defined replicates."""
        if self.weights is None:
            return float(values.mean())
        return float(np.average(values, weights=self.weights[~np.isnan(self.replicates)]))

    @property
    def undefined(self) -> float:
        """Share of replicates that are undefined."""
        if not len(self.replicates):
            return 0.0
        lost = np.isnan(self.replicates)
        return float(lost.mean() if self.weights is None else self.weights[lost].sum())

    def __sub__(self, other: "Estimate") -> "Estimate":
        """Paired difference; both estimates must come from the same plan."""
        if self.plan != other.plan:
            raise InputError(
                "difference of estimates",
                f"plans {self.plan!r} and {other.plan!r}",
                "one plan",
                "evaluate both models in one call",
            )
        with np.errstate(invalid="ignore"):  # of two infinite ones: undefined
            gaps = self.replicates - other.replicates
        width = max(self.bounds[1] - self.bounds[0], other.bounds[1] - other.bounds[0])
        return Estimate(
            self.value - other.value,
            gaps,
            self.plan,
            (-width, width),
            self._between(other),
            weights=self.weights,
        )

    def _between(self, other: "Estimate") -> "Spread | None":
        """Spread of the difference, where both come from one question."""
        if self._source is None or other._source is None:
            return None
        (cell, a), (same, b) = self._source, other._source
        return cell.between(a, b) if cell is same else None

    def __str__(self) -> str:
        return numbers.estimate(self.value, *self.interval())


def effective_wilson(
    share: float, variance: float, trials: int, level: float
) -> tuple[float, float]:
    """Wilson's interval of a share, for as many trials as its variance stands for.

    Examples
    --------
    >>> effective_wilson(0.39, 0.39 * 0.61 / 100, 500, 0.95) == wilson(39, 100)
    True
    """
    binomial = share * (1 - share)
    defined = variance > 0 and binomial > 0
    size = min(binomial / variance, trials) if defined else float(trials)
    return wilson(share * size, size, level)


def wilson(successes: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval for a share; successes may be fractional (a tied boundary).

    Examples
    --------
    >>> wilson(39, 100)
    (0.300, 0.488)
    """
    from statistics import NormalDist

    z = NormalDist().inv_cdf(0.5 + level / 2)
    share = successes / trials
    below = 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / below
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials**2)) / below
    low = 0.0 if successes <= 0 else max(0.0, centre - half)
    high = 1.0 if successes >= trials else min(1.0, centre + half)
    return low, high


def _quantiles(defined: Floats, number: int, tail: float) -> tuple[float, float]:
    """Linear quantiles of replicates, the undefined ones below all, then above all.

    nan where a quantile falls on an undefined replicate.
    """
    missing = number - len(defined)
    places = tail * (number - 1) - missing, (1 - tail) * (number - 1)
    around = [math.floor(place) + step for place in places for step in (0, 1)]
    needed = sorted({place for place in around if 0 <= place < len(defined)})
    ordered = np.partition(defined, needed) if needed else defined
    return _between(ordered, places[0]), _between(ordered, places[1])


def _weighted_quantiles(
    replicates: Floats, weights: Floats, tail: float
) -> tuple[float, float]:
    """The same where replicates count by weights: each end from its own side, no line between.

    Examples
    --------
    >>> _weighted_quantiles(np.array([3.0, 1.0, 2.0]), np.array([0.2, 0.3, 0.5]), 0.25)
    (1.0, 2.0)
    """
    return _first_beyond(replicates, weights, tail), -_first_beyond(-replicates, weights, tail)


def _first_beyond(replicates: Floats, weights: Floats, tail: float) -> float:
    """The smallest replicate up to which at least the tail lies; undefined ones lie below."""
    order = np.argsort(np.where(np.isnan(replicates), -np.inf, replicates), kind="stable")
    order = order[np.argsort(~np.isnan(replicates[order]), kind="stable")]
    place = int(np.searchsorted(np.cumsum(weights[order]), tail - numbers.EXACT))
    return float(replicates[order[min(place, len(order) - 1)]])


def _between(ordered: Floats, place: float) -> float:
    """The value at a place that may lie between two; nan outside."""
    below, above = math.floor(place), math.ceil(place)
    if below < 0 or above >= len(ordered):
        return math.nan
    end, after = float(ordered[below]), float(ordered[above])
    return end if after == end else end + (place - below) * (after - end)
