r"""Variances that add up: what items, annotators and votes each cause, with intervals.

Redrawn items bring the noise of their votes along, and so do redrawn annotators. With
:math:`V_{\text{items}}, V_{\text{panel}}, V_{\text{votes}}` the variances of the replicates,

.. math:: \text{items} = V_{\text{items}} - V_{\text{votes}}, \quad
    \text{annotators} = V_{\text{panel}} - V_{\text{votes}}, \quad
    \text{votes} = V_{\text{votes}}

and the total is their sum; a part below zero is zero. Intervals of single variances are
:math:`\nu s^2/\chi^2_\nu`, those of differences combine the ends (MOVER), and the total takes
Satterthwaite's :math:`\nu`.
"""

from collections.abc import Mapping
from math import hypot, nan
from typing import NamedTuple

import numpy as np

from equipoise.arrays import Floats

ROUNDING = 1e-24  # variance of numbers that differ by rounding alone
SOURCES = {"items": "items", "panel": "annotators", "votes": "votes"}


class Variance(NamedTuple):
    """A variance with its interval; `raw` is what it was before a negative one became zero."""

    value: float
    low: float
    high: float
    freedom: float
    raw: float


def variance_of(values: Floats, weights: Floats | None = None) -> float:
    """Variance; 0 where it is rounding, nan where a value is undefined or infinite.

    Values with weights are all that there are, not a sample.

    Examples
    --------
    >>> variance_of(np.array([1.0, 2.0, 3.0])), variance_of(np.array([1.0, np.inf]))
    (1.0, nan)
    """
    if not np.isfinite(values).all():
        return nan
    if weights is None:
        found = float(np.var(values, ddof=1))
    else:
        found = float(
            np.average((values - np.average(values, weights=weights)) ** 2, weights=weights)
        )
    return found if found > ROUNDING else 0.0


def chi_square(variance: float, freedom: float, level: float) -> Variance:
    """A variance with the interval of normal data.

    Examples
    --------
    >>> chi_square(1.0, 7.0, 0.95)[:3]
    (1.0, 0.437, 4.142)
    """
    from scipy.special import chdtri

    tail = (1 - level) / 2
    low, high = (variance * freedom / float(chdtri(freedom, p)) for p in (tail, 1 - tail))
    return Variance(variance, low, high, freedom, variance)


def less(whole: Variance, part: Variance) -> Variance:
    """What a variance has beyond another, not below zero.

    Examples
    --------
    >>> less(Variance(3.0, 2.0, 5.0, 9.0, 3.0), Variance(1.0, 1.0, 1.0, 9.0, 1.0))[:3]
    (2.0, 1.0, 4.0)
    >>> less(Variance(1.0, 0.5, 2.0, 9.0, 1.0), Variance(2.0, 1.0, 4.0, 9.0, 2.0))
    Variance(value=0.0, low=0.0, high=0.414, freedom=nan, raw=-1.0)
    """
    raw = whole.value - part.value
    low = raw - hypot(whole.value - whole.low, part.high - part.value)
    high = raw + hypot(whole.high - whole.value, part.value - part.low)
    value, low, high = (nan if np.isnan(raw) else max(one, 0.0) for one in (raw, low, high))
    return Variance(value, low, high, nan, raw)


def split(drawn: Mapping[str, Variance], level: float) -> dict[str, Variance]:
    """Parts by source, and their total where items and votes can be told apart.

    Parameters
    ----------
    drawn
        Variances of the replicates by what is drawn anew: items, panel or votes.

    Examples
    --------
    >>> every = {"items": 3.0, "panel": 1.5, "votes": 1.0}
    >>> drawn = {kind: chi_square(one, 50.0, 0.95) for kind, one in every.items()}
    >>> {source: one.value for source, one in split(drawn, 0.95).items()}
    {'items': 2.0, 'annotators': 0.5, 'votes': 1.0, 'total': 3.5}
    """
    noise = drawn.get("votes")
    if noise is None:
        return {SOURCES[kind]: one for kind, one in drawn.items()}
    found = {
        SOURCES[kind]: noise if kind == "votes" else less(one, noise)
        for kind, one in drawn.items()
    }
    if "items" in drawn:
        total = sum(one.value for one in found.values())
        wider = noise if found["items"].raw < 0 else drawn["items"]
        several = [wider, drawn["panel"], noise] if "panel" in drawn else [wider]
        below = sum(one.value**2 / one.freedom for one in several)
        freedom = total**2 / below if below > 0 else wider.freedom
        found["total"] = chi_square(total, freedom, level)
    return found
