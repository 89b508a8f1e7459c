"""Curves of a + b/m, and of a variance that falls as 1/m, fitted to panels of several sizes.

A spread that is estimated from A annotators has A - 1 degrees of freedom: intervals take
Student's quantile, not the normal one, which would cover too rarely. Many anonymous votes have
so many that both are the same.
"""

from statistics import NormalDist

import numpy as np

from equipoise.analyses._subsets import Paths
from equipoise.analyses.scoring import StudyScorer
from equipoise.arrays import Floats, Ints

LEAST_ROOM = 0.05  # share of a fresh panel's variance below which subsets say too little


def half_widths(paths: Paths, spread: Floats, times: float) -> tuple[Floats, Floats]:
    """Fitted variance of one annotator (models,), half-width by size (sizes, models)."""
    told = np.flatnonzero(paths.room > LEAST_ROOM)
    if not len(told):
        return np.full(spread.shape[1], np.nan), np.full(spread.shape, np.nan)
    fresh = spread[told] ** 2 / paths.room[told, None]
    variance = (fresh * paths.sizes[told, None]).mean(axis=0)
    half = np.sqrt(variance / paths.sizes[:, None])
    half[told] = np.sqrt(fresh)
    return variance, np.asarray(times * half)


def fitted(sizes: Ints, mean: Floats) -> tuple[Floats, Floats]:
    """Least squares of a + b/m to means (sizes, ...): a and b; undefined for one size."""
    if len(sizes) < 2:
        return np.full(mean.shape[1:], np.nan), np.full(mean.shape[1:], np.nan)
    x = 1 / sizes - (1 / sizes).mean()
    slope = np.tensordot(x, mean, axes=1) / (x @ x)
    return np.asarray(mean.mean(axis=0) - slope * (1 / sizes).mean()), np.asarray(slope)


def limit_ends(paths: Paths, limit: Floats, found: StudyScorer) -> Floats:
    """Interval of a, shape (2, models): jackknife of annotators, or redrawn items."""
    if paths.redrawn is not None:
        return found.ends(limit, fitted(paths.sizes, paths.redrawn)[0])
    people = len(paths.members[0])
    without = []
    for person in range(people):
        left = [np.flatnonzero(one[person] == 0) for one in paths.members]
        told = [s for s, rows in enumerate(left) if len(rows)]
        if len(told) < 2:
            return np.full((2, len(limit)), np.nan)
        means = [paths.values[s][:, left[s]].mean(axis=1) for s in told]
        without.append(fitted(paths.sizes[told], np.stack(means))[0])
    gap = np.stack(without) - np.mean(without, axis=0)
    times = quantile(found.asked.level, paths.degrees)
    half = times * np.sqrt((people - 1) / people * (gap**2).sum(axis=0))
    return np.asarray(np.clip(np.stack([limit - half, limit + half]), *found.metric.bounds))


def quantile(level: float, degrees: float) -> float:
    """Two-sided quantile of Student's law; of the normal law for endless degrees of freedom.

    Examples
    --------
    >>> quantile(0.95, 7), quantile(0.95, np.inf)
    (2.364..., 1.959...)
    """
    from scipy.special import stdtrit

    if np.isinf(degrees):
        return NormalDist().inv_cdf(0.5 + level / 2)
    return float(stdtrit(degrees, 0.5 + level / 2))
