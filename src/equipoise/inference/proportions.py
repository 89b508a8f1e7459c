r"""Proportions: one interval for sensitivity, specificity, predictive values and their like.

A proportion is a weighted share of units that succeeded, :math:`p = \sum w_i x_i / \sum w_i`,
with x between 0 and 1 and w what a unit counts: 1, or with soft labels the share of votes that
call it positive. It has the exact interval of Clopper and Pearson on the *effective* number of
units (Korn and Graubard 1998), and is that interval itself where units are independent and
count alike. With :math:`s_i = w_i (x_i - p) / \sum w` and S its sums over clusters of units,

.. math::

    n = \frac{(\sum w)^2}{\sum w^2}, \quad M = \frac{\sum_g W_g^2}{\sum w^2}, \quad
    G = \frac{n}{M}, \quad
    \hat\rho = \frac{\sum S_g^2 / \sum s_i^2 - 1}{M - 1} + \text{the bias of centring}

.. math::

    \rho = \frac{k \hat\rho + 5 \rho_0}{k + 5}, \qquad
    D = 1 + (M - 1) \rho + \frac{n V_a}{p (1 - p)}, \qquad
    n_e = \frac{n}{D} \Big( \frac{t_{n-1}}{t_\nu} \Big)^2 \le n

k is the effective number of units with the rarer outcome, :math:`\rho_0` the correlation that
other proportions of the study have (.3 where nobody knows), :math:`V_a` the variance by
annotators (`equipoise.inference.two_way`) and
:math:`\nu = D^2 / [1/(n-1) + (D-1)^2 / (G-1)]`. At p = 0 or 1 the data say nothing of
correlation or variance, so that :math:`\rho_0` and the share after one more success and one
more failure take their place. The interval rises with every success.

The difference of two proportions of the same units is the mean of D = x - y. Tango's score
interval takes the two kinds of discordant units, scaled by :math:`n_e / n`.

References
----------
Clopper and Pearson, Biometrika 1934. Korn and Graubard, Survey Methodology 1998. Tango,
Statistics in Medicine 1998. Donner and Zou, Statistical Methods in Medical Research 2012. Dean
and Pagano, Survey Practice 2015.

Examples
--------
>>> proportion(np.repeat([1.0, 0.0], [33, 1]))
Proportion(value=0.971, low=0.847, high=0.999, trials=34.0, effective=34.0)
>>> proportion(np.ones(34)).low
0.897
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from equipoise.types import Floats, Ints, immutable

UNKNOWN = 0.3  # correlation within clusters, where nothing is known of it
PRIOR = 5  # units of the rarer outcome that it counts for
FEWEST_CLUSTERS = 4  # effective, below which an unknown correlation withholds the interval
FEWEST_EVENTS = 5  # of each of two answers, below which nobody is judged by them
_ALONE = 1 + 1e-9  # units of a cluster, up to which units are their own clusters
_NOTHING = 1e-12


class Proportion(NamedTuple):
    """A share, the ends of its interval, and what it rests on.

    Attributes
    ----------
    value, low, high
        Ends are nan where too few clusters say nothing of their likeness.
    trials, effective
        Kish's number of units, and how many independent ones they are worth.
    """

    value: float
    low: float
    high: float
    trials: float
    effective: float


@immutable
class Trials:
    """What a share, or a paired difference of two, rests on.

    Attributes
    ----------
    value
        The share or the difference.
    number, clusters
        Kish's number of units, and of clusters.
    by_unit, by_cluster
        Sum of squared influences on the value, of units and of clusters.
    events
        Effective number of units with the rarer outcome.
    annotators
        Variance that annotators add; 0 where they are not random.
    """

    value: float
    number: float
    clusters: float
    by_unit: float
    by_cluster: float
    events: float
    annotators: float = 0.0

    @classmethod
    def of(
        cls,
        outcome: Floats,
        weights: Floats | None = None,
        cluster: Ints | None = None,
        annotators: float = 0.0,
    ) -> "Trials":
        """From outcomes, 0 to 1 or -1 to 1 for a difference, weights and codes of clusters."""
        weight = np.ones(len(outcome)) if weights is None else np.asarray(weights, float)
        total, square = float(weight.sum()), float(weight @ weight)
        if not total > 0:
            return cls(math.nan, 0.0, 0.0, 0.0, 0.0, 0.0)
        number, value = total**2 / square, float(weight @ outcome) / total
        influence = weight * (outcome - value) / total
        by_unit = by_cluster = float(influence @ influence)
        clusters = number
        if cluster is not None:
            loads = np.bincount(cluster, weight)
            clusters = total**2 / float(loads @ loads)
            sums = np.bincount(cluster, influence)
            by_cluster = float(sums @ sums)
        other = np.abs(outcome).max(initial=0.0)
        rarer = min(float(weight @ (outcome != 0)), float(weight @ (outcome != other)))
        return cls(
            value, number, clusters, by_unit, by_cluster, number * rarer / total, annotators
        )

    @classmethod
    def of_influence(
        cls, value: float, influence: Floats, weights: Floats, cluster: Ints
    ) -> "Trials":
        """From the influence of units on a share, instead of their outcomes."""
        total, square = float(weights.sum()), float(weights @ weights)
        loads, sums = np.bincount(cluster, weights), np.bincount(cluster, influence)
        number = total**2 / square if total > 0 else 0.0
        return cls(
            value,
            number,
            total**2 / float(loads @ loads) if total > 0 else 0.0,
            float(influence @ influence),
            float(sums @ sums),
            number * min(value, 1 - value),
        )

    @property
    def precision(self) -> float:
        """How many successes and failures an outcome is worth: as a share of votes, several."""
        binomial = self.value * (1 - self.value)
        if not (self.by_unit * self.number > _NOTHING and binomial > 0):
            return 1.0
        return max(binomial / (self.by_unit * self.number), 1.0)

    @property
    def size(self) -> float:
        """Effective number of units of a cluster."""
        return self.number / self.clusters

    def correlation(self, pooled: float | None = None) -> float:
        """Likeness of units of one cluster, drawn to that of the study."""
        prior = UNKNOWN if pooled is None else pooled
        if self.by_unit <= 0 or self.events <= 0:
            return prior
        excess = (self.by_cluster / self.by_unit - 1) / (self.size - 1)
        excess += (1 + (self.size - 1) * max(excess, 0.0)) / self.number
        likeness = min(max(excess, 0.0), 1.0)
        return (self.events * likeness + PRIOR * prior) / (self.events + PRIOR)

    def effective(self, level: float = 0.95, pooled: float | None = None) -> float:
        """How many independent units these are worth, at most as many as they are."""
        from scipy.special import stdtrit

        n, clustered = self.number, self.size > _ALONE
        inside = (self.size - 1) * self.correlation(pooled) if clustered else 0.0
        design = 1 + inside + self.annotators * n / max(self._variance(), _NOTHING)
        if design <= _ALONE:
            return n
        df = design**2 / (1 / max(n - 1, 1) + (design - 1) ** 2 / max(self.clusters - 1, 0.5))
        tail = 0.5 + level / 2
        shrunk = stdtrit(max(n - 1, 1), tail) / stdtrit(max(df, 1), tail)
        return float(min(n / design * shrunk**2, n))

    def _variance(self) -> float:
        """Of one unit."""
        if self.by_unit > 0:
            return self.by_unit * self.number
        share = (abs(self.value) * self.number + 1) / (self.number + 2)
        return share * (1 - share)

    def withheld(self, pooled: float | None = None) -> bool:
        """Whether clusters are too few to tell how alike their units are."""
        return pooled is None and self.size > _ALONE and self.clusters < FEWEST_CLUSTERS


def proportion(
    outcome: Floats,
    weights: Floats | None = None,
    cluster: Ints | None = None,
    *,
    annotators: float = 0.0,
    pooled: float | None = None,
    level: float = 0.95,
) -> Proportion:
    """A weighted share and its interval.

    Parameters
    ----------
    outcome
        Success of every unit, from 0 to 1.
    weights
        What each unit counts; None is 1.
    cluster
        Codes of the clusters that units come in.
    annotators
        Variance that annotators add to the share.
    pooled
        Correlation within clusters over all classes and competitors, where known.
    level
        Of the interval.
    """
    trials = Trials.of(np.asarray(outcome, float), weights, cluster, annotators)
    return interval_of(trials, level=level, pooled=pooled)


def interval_of(
    trials: Trials, *, level: float = 0.95, pooled: float | None = None
) -> Proportion:
    """The interval of a share from what it rests on."""
    if math.isnan(trials.value) or trials.withheld(pooled):
        return Proportion(trials.value, math.nan, math.nan, trials.number, math.nan)
    effective = trials.effective(level, pooled)
    ends = clopper_pearson(trials.value, effective, level)
    return Proportion(trials.value, *ends, trials.number, effective)


def clopper_pearson(share: float, trials: float, level: float = 0.95) -> tuple[float, float]:
    """Exact interval of a share of independent trials, whose number may be a fraction.

    Examples
    --------
    >>> clopper_pearson(15 / 16, 16)
    (0.698, 0.998)
    """
    from scipy.special import betaincinv

    tail, hits = (1 - level) / 2, share * trials
    low = 0.0 if hits <= _NOTHING else float(betaincinv(hits, trials - hits + 1, tail))
    miss = trials - hits
    high = 1.0 if miss <= _NOTHING else float(betaincinv(hits + 1, miss, 1 - tail))
    return low, high


def paired_difference(
    outcomes: Floats,
    weights: Floats | None = None,
    cluster: Ints | None = None,
    *,
    annotators: float = 0.0,
    pooled: float | None = None,
    level: float = 0.95,
) -> Proportion:
    """First share minus second of the same units, outcomes (2, units); as `proportion`.

    Examples
    --------
    >>> paired_difference(np.repeat([[1, 1, 0, 0], [1, 0, 1, 0]], [40, 9, 2, 10], axis=1))[:3]
    (0.115, 0.010, 0.232)
    """
    first, second = np.asarray(outcomes, float)
    weight = np.ones(len(first)) if weights is None else np.asarray(weights, float)
    trials = Trials.of(first - second, weight, cluster, annotators)
    if math.isnan(trials.value) or trials.withheld(pooled):
        return Proportion(trials.value, math.nan, math.nan, trials.number, math.nan)
    effective = trials.effective(level, pooled)
    ahead, behind = (
        float(weight @ np.maximum(sign * (first - second), 0) / weight.sum())
        for sign in (1, -1)
    )
    ends = tango(ahead * effective, behind * effective, effective, level)
    return Proportion(trials.value, *ends, trials.number, effective)


def tango(
    ahead: float, behind: float, trials: float, level: float = 0.95
) -> tuple[float, float]:
    """Score interval of the difference of two paired shares; counts may be fractions.

    Parameters
    ----------
    ahead, behind
        How many units succeed in the first alone, and in the second alone.
    trials
        How many units there are.
    level
        Of the interval.
    """
    from statistics import NormalDist

    critical, value = NormalDist().inv_cdf(0.5 + level / 2), (ahead - behind) / trials

    def score(gap: float) -> float:
        linear = -ahead - behind + (2 * trials - ahead + behind) * gap
        constant = -behind * gap * (1 - gap)
        root = math.sqrt(max(linear**2 - 8 * trials * constant, 0.0))
        share = (root - linear) / (4 * trials)
        variance = trials * (2 * share + gap * (1 - gap))
        return (ahead - behind - trials * gap) / math.sqrt(max(variance, _NOTHING))

    return _outermost(score, value, -1.0, critical), _outermost(score, value, 1.0, critical)


def _outermost(
    score: Callable[[float], float], inner: float, outer: float, critical: float
) -> float:
    """The gap between an inner and an outer one up to which a score is not critical."""
    for _ in range(60):
        middle = (inner + outer) / 2
        if abs(score(middle)) < critical:
            inner = middle
        else:
            outer = middle
    return (inner + outer) / 2


def ratio_interval(
    first: tuple[float, float, float], second: tuple[float, float, float]
) -> tuple[float, float, float]:
    """Ratio of two independent shares, each with its ends, and the ends of the ratio.

    Donner and Zou's (2012) recovery of variances: the ratio has an interval of the level of
    both. Infinite where the second share may be 0.

    Examples
    --------
    >>> likelihood = ratio_interval((0.9, 0.8, 0.95), (0.1, 0.05, 0.2))
    >>> tuple(round(x, 2) for x in likelihood)
    (9.0, 4.45, 18.03)
    """
    (a, a_low, a_high), (b, b_low, b_high) = first, second

    def root(near: float, far: float) -> float:
        return math.sqrt(max((a * b) ** 2 - near * far * (2 * a - near) * (2 * b - far), 0.0))

    if math.isnan(a + b + a_low + b_low) or a == b == 0:
        return (math.nan,) * 3
    below = a * b + root(a_low, b_high)
    low = a_low * (2 * a - a_low) / below if below > _NOTHING else 0.0
    if b_low <= _NOTHING:
        return (a / b if b > 0 else math.inf), low, math.inf
    return a / b, low, (a * b + root(a_high, b_low)) / (b_low * (2 * b - b_low))
