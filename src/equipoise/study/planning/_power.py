r"""Components of a difference, and the power of a study of any size.

The variance of a paired difference with G groups of k items, A annotators and m votes on each
item (every item its own group: k = 1, and groups and cells are 0) is

.. math:: \frac{s_{groups}^2}{G} + \frac{s_{items}^2}{G k} + \frac{s_{annotators}^2}{A}
    + \frac{s_{cells}^2}{G m} + \frac{s_{votes}^2}{G k m}

with the components of the pilot's two-way parts (`equipoise.inference`), cells what an
annotator makes of one group beyond the items in it. The power is the probability that the
product's own interval lies above 0: the difference is normal, the mean squares of units and of
annotators are chi-square with their degrees of freedom (A - 1 for annotators), and the half
width is what `equipoise.inference.Spread` makes of them. Without annotators this is noncentral
t.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from equipoise.inference import Population, Reason, Spread
from equipoise.inference.spread import FEW
from equipoise.types.arrays import Floats

POINTS = 16  # of the mean square of annotators
UNITS = 3  # of that of units
SURE = 60  # degrees of freedom from which a mean square is taken as known
STEPS = 22
PIVOT = 64  # of few annotators' mean square, `Spread` has 200


class Shape(NamedTuple):
    """A study but for its number of units.

    Attributes
    ----------
    annotators
        How many there are; 0 where nobody knows who votes.
    votes
        Votes on each item, by different annotators.
    per_unit
        Items of a group; 1 without groups.
    """

    annotators: int
    votes: int
    per_unit: int = 1


@dataclass(frozen=True, slots=True)
class DifferenceVariances:
    """Variances of one difference, each for one of its kind.

    Attributes
    ----------
    groups, items, annotators, cells, votes
        As above.
    tails
        Degrees of freedom of units over their number less one; below 1 with heavy tails.
    """

    items: float
    annotators: float = 0.0
    votes: float = 0.0
    groups: float = 0.0
    cells: float = 0.0
    tails: float = 1.0

    def spread(self, units: float, shape: Shape) -> Spread:
        """What to expect of a study with so many units."""
        people, votes, per_unit = shape
        noise = (self.cells + self.votes / per_unit) / (units * max(votes, 1))
        between = (self.groups + self.items / per_unit) / units
        df = max(self.tails * (units - 1), 1.0)
        if not people:
            alone = Population(annotators=False, reason=Reason.ANONYMOUS)
            return Spread(between + noise, df_items=df, population=alone)
        habits = self.annotators / people
        cells = noise + habits / units  # a cell holds the habit, too
        return Spread(
            between + noise,
            habits + cells,
            cells,
            df_items=df,
            df_annotators=people - 1.0,
            population=Population(effective=float(people)),
        )


def power(expected: Spread, effect: float, level: float) -> float:
    """Probability that the interval of a study lies above 0.

    Examples
    --------
    >>> power(Spread(1.0, df_items=40), 2.88, 0.95)
    0.8
    """
    from scipy.special import nctdtr, ndtr, ndtri, stdtrit

    if not expected.variance > 0:
        return float(effect > 0)
    error, df = expected.standard_error, expected.df_items
    if not expected.annotators > 0:
        quantile = 0.5 + level / 2
        critical = float(stdtrit(df, quantile) if df < 1e6 else ndtri(quantile))
        far = effect / error
        if df >= 1e6 or far > 30:
            return float(ndtr(far - critical))
        return float(1 - nctdtr(df, far, critical))
    known = np.ones(1) if df > SURE else _mean_squares(df, UNITS)
    units = expected.items * (known / known.mean())[:, None]
    people = expected.annotators * _mean_squares(expected.df_annotators, POINTS)[None, :]
    half = half_widths(expected, units, people, level)
    return float(ndtr((effect - half) / error).mean())


def half_widths(expected: Spread, units: Floats, people: Floats, level: float) -> Floats:
    """Half widths of intervals with these parts of units and annotators, as of `Spread`."""
    from scipy.special import stdtrit

    df_units, df_people = expected.df_items, expected.df_annotators
    cells = expected.cells
    variance = units + np.maximum(people - cells, 0.0)
    if df_people >= FEW:
        below = units**2 / df_units + people**2 / df_people
        df = np.maximum(variance**2 / np.maximum(below, 1e-300), 1.0)
        return np.asarray(stdtrit(df, 0.5 + level / 2) * np.sqrt(variance))
    factor = 1 / _mean_squares(df_people, PIVOT)
    each = np.sqrt(units[..., None] + np.maximum(people[..., None] * factor - cells, 0.0))
    each = np.maximum(each, 1e-300)
    low, high = np.zeros(variance.shape), 40 * each.max(axis=-1)
    for _ in range(STEPS):
        middle = (low + high) / 2
        outside = 2 * _tail(middle[..., None] / each, df_units).mean(axis=-1) > 1 - level
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    return np.asarray(high)


def _tail(reach: Floats, df: float) -> Floats:
    """Probability beyond, of Student t; by Wallace's normal approximation from 20 df on."""
    from scipy.special import ndtr, stdtr

    if df < 20:
        return np.asarray(stdtr(df, -reach))
    if df < 1e6:
        reach = (8 * df + 1) / (8 * df + 3) * np.sqrt(df * np.log1p(reach * reach / df))
    return np.asarray(ndtr(-reach))


def _mean_squares(df: float, number: int) -> Floats:
    """Chi-square over its degrees of freedom, at equally probable points."""
    from scipy.special import chdtri

    return np.asarray(chdtri(df, (np.arange(number) + 0.5) / number) / df)
