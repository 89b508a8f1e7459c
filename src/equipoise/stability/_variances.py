"""Variances: intervals as for normal data, and how they combine."""

from math import nan, sqrt

import numpy as np

from equipoise.arrays import Floats

ROUNDING = 1e-24  # variance of numbers that differ by rounding alone


def variance_of(values: Floats) -> float:
    """Variance; 0 where it is rounding, nan where a value is undefined or infinite.

    Examples
    --------
    >>> variance_of(np.array([1.0, 2.0, 3.0])), variance_of(np.array([1.0, np.inf]))
    (1.0, nan)
    """
    if not np.isfinite(values).all():
        return nan
    found = float(np.var(values, ddof=1))
    return found if found > ROUNDING else 0.0


def chi_square_ends(variance: float, freedom: float, level: float) -> tuple[float, float]:
    """Interval of a variance as for normal data.

    Examples
    --------
    >>> chi_square_ends(1.0, 7.0, 0.95)
    (0.437, 4.142)
    """
    from scipy.special import chdtri

    tail = (1 - level) / 2
    scaled = variance * freedom
    return float(scaled / chdtri(freedom, tail)), float(scaled / chdtri(freedom, 1 - tail))


def satterthwaite(parts: list[tuple[float, float]]) -> float:
    """Degrees of freedom of a sum of variances, given as (variance, degrees of freedom).

    Examples
    --------
    >>> satterthwaite([(1.0, 10.0), (1.0, 10.0)])
    20.0
    """
    below = sum(value**2 / freedom for value, freedom in parts)
    whole = sum(value for value, _ in parts)
    return float(whole**2 / below) if below > 0 else min(freedom for _, freedom in parts)


def beyond(parts: list[tuple[float, float, float]]) -> tuple[float, float, float]:
    """What the first variance has beyond the others, each given as (value, low, high).

    Examples
    --------
    >>> beyond([(3.0, 2.0, 5.0), (1.0, 1.0, 1.0)])
    (2.0, 1.0, 4.0)
    """
    (whole, low, high), *rest = parts
    value = whole - sum(one[0] for one in rest)
    down = sqrt((whole - low) ** 2 + sum((one[2] - one[0]) ** 2 for one in rest))
    up = sqrt((high - whole) ** 2 + sum((one[0] - one[1]) ** 2 for one in rest))
    return value, value - down, value + up
