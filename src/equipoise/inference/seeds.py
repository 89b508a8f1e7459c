r"""Seeds: several runs of one method are one competitor, and how they differ counts.

A method that chance has a part in is run K times. With :math:`T_s` the value of run s and
:math:`C` any covariance of the runs by items, annotators, cells or draws,

.. math:: \bar T = \frac1K \sum_s T_s, \qquad
    \mathrm{Cov}(\bar T_a, \bar T_b) = \frac{1}{K_a K_b} \sum_{s \in a} \sum_{u \in b} C_{su},
    \qquad V_s = \frac{1}{K (K-1)} \sum_s (T_s - \bar T)^2

The last is what other seeds would change, with K - 1 degrees of freedom. Runs of two methods
are independent, so that of a difference it is the sum of both, unless seeds are shared: then
run s of one is paired with run s of the other. As :math:`T_s - T_u` on the same items holds
some of the noise of items, :math:`V_s` is rather too large than too small.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from equipoise.arrays import Floats, InputError
from equipoise.inference.two_way import TwoWay


def seed_means(cell: TwoWay, runs: Sequence[Sequence[int]], *, shared: bool = False) -> TwoWay:
    """Competitors in place of their runs.

    Parameters
    ----------
    runs
        Places of the runs of every competitor; one run for a method without chance.
    shared
        Whether run s of all competitors with several runs has the same seed, which moves them
        together.

    Examples
    --------
    >>> from equipoise.inference import Population
    >>> zero = np.zeros((2, 2))
    >>> cell = TwoWay(np.array([0.7, 0.9]), zero + 1, zero, zero, zero, zero + 99, 0.0, 0.0,
    ...     Population())
    >>> spread = seed_means(cell, [[0, 1]]).of(0)
    >>> spread.items, spread.seeds, spread.df_seeds
    (1.0, 0.01, 1.0)
    """
    seeds = _covariance(cell.values, runs, shared=shared)
    values = np.array([cell.values[list(places)].mean() for places in runs])
    return replace(
        cell,
        values=values,
        items=_means(cell.items, runs),
        annotators=_means(cell.annotators, runs),
        cells=_means(cell.cells, runs),
        draws=_means(cell.draws, runs),
        df_items=_smallest(cell.df_items, runs),
        seeds=seeds,
        df_seeds=_freedom(seeds, runs, shared=shared),
    )


def _means(covariance: Floats, runs: Sequence[Sequence[int]]) -> Floats:
    """Covariance of means over runs."""
    sizes = np.array([len(one) for one in runs])
    return _by_runs(np.add, covariance, runs) / np.outer(sizes, sizes)


def _smallest(df: Floats, runs: Sequence[Sequence[int]]) -> Floats:
    """Degrees of freedom of items: the fewest among the runs of both."""
    return _by_runs(np.minimum, df, runs)


def _by_runs(function: np.ufunc, matrix: Floats, runs: Sequence[Sequence[int]]) -> Floats:
    """Reduce rows and columns of a matrix to one per competitor."""
    order = [place for one in runs for place in one]
    start = np.cumsum([0, *(len(one) for one in runs[:-1])])
    rows = function.reduceat(matrix[np.ix_(order, order)], start, axis=0)
    return np.asarray(function.reduceat(rows, start, axis=1))


def _covariance(values: Floats, runs: Sequence[Sequence[int]], *, shared: bool) -> Floats:
    """Covariance of the means by seeds, shape (competitors, competitors)."""
    found = np.zeros((len(runs), len(runs)))
    several = [place for place, own in enumerate(runs) if len(own) > 1]
    sizes = sorted({len(runs[place]) for place in several})
    if shared and len(sizes) > 1:
        raise InputError(
            "seeds",
            f"{sizes[0]} and {sizes[-1]} runs of two methods",
            "the same number, where seeds are shared",
            "run every method with the same seeds",
        )
    if shared and several:
        each = np.stack([values[list(runs[place])] for place in several])
        found[np.ix_(several, several)] = np.cov(each) / sizes[0]
        return found
    for place in several:
        found[place, place] = np.var(values[list(runs[place])], ddof=1) / len(runs[place])
    return found


def _freedom(seeds: Floats, runs: Sequence[Sequence[int]], *, shared: bool) -> Floats:
    """Degrees of freedom of seeds, of values on the diagonal and of differences elsewhere."""
    own, own_df = np.diag(seeds), np.array([len(one) - 1.0 for one in runs])
    found = np.full(seeds.shape, np.inf)
    for a in range(len(runs)):
        for b in range(len(runs)):
            moving = [m for m in {a, b} if own[m] > 0]
            if not moving:
                continue
            below = sum(own[m] ** 2 / own_df[m] for m in moving)
            found[a, b] = sum(own[m] for m in moving) ** 2 / below
            if shared and len(moving) == 2:
                found[a, b] = own_df[a]
    return found
