"""Families: which models are surely apart, all pairs at once, and the ranks that are possible.

All pairs of models are one family. Step-down max-t (Romano and Wolf 2005) with the two-way
covariance and the median of the pairs' degrees of freedom keeps the probability of any false
separation at 1 - level; of few annotators the mean square is a pivot, as it is for one pair
(`equipoise.inference.spread`). A model's rank is at least one more than the number of models
that are surely better (Mogstad and others 2024); those that may be first are the best group.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.inference.spread import Spread
from equipoise.inference.two_way import TwoWay
from equipoise.types.arrays import Bools, Floats, Ints, short_repr

DRAWS = 20_000
SEED = 20070101
_CHUNK = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """Simultaneous statements about all pairs of models of one question.

    Attributes
    ----------
    better
        ``better[a, b]``: a is surely better than b, shape (models, models).
    p
        Adjusted p-values of the differences, symmetric, 1 on the diagonal; nan where a value
        is undefined.
    ranks
        Lowest and highest rank of every model that the data allow, shape (models, 2); 0 where
        undefined.
    critical
        Quantile of the largest |t|: what simultaneous intervals multiply standard errors by.
    """

    better: Bools
    p: Floats
    ranks: Ints
    critical: float

    __repr__ = short_repr

    @property
    def best(self) -> Bools:
        """Models that may be the best, shape (models,)."""
        return np.asarray(self.ranks[:, 0] == 1)


def family(cell: TwoWay, *, higher: bool = True, level: float = 0.95) -> Family:
    """All pairs of models of a question at once.

    Parameters
    ----------
    higher
        Whether a higher value is better.
    """
    number = len(cell.values)
    p = np.full((number, number), np.nan)
    known = np.flatnonzero(np.isfinite(cell.values) & np.isfinite(np.diag(cell.covariance())))
    ranks = np.zeros((number, 2), dtype=np.int64)
    better = np.zeros((number, number), dtype=bool)
    p[known, known] = 1.0
    ranks[known] = 1, len(known)
    if len(known) < 2 or not cell.population.decides:
        return Family(better, p, ranks, np.nan)
    order = known[
        np.lexsort((_rounded(np.diag(cell.items)[known]), -_rounded(cell.values[known])))
    ]
    found, critical = _adjusted(cell, order, level)
    p[np.ix_(order, order)] = found
    sign = 1.0 if higher else -1.0
    with np.errstate(invalid="ignore"):
        gap = sign * (cell.values[:, None] - cell.values[None, :])
        better = (p < 1 - level) & (gap > 0)
    ranks[known, 0] = 1 + better[np.ix_(known, known)].sum(axis=0)
    ranks[known, 1] = len(known) - better[np.ix_(known, known)].sum(axis=1)
    return Family(better, p, ranks, critical)


def _rounded(values: Floats) -> Floats:
    """Values without the digits in which two machines may differ, so that ties are ties."""
    scale = np.abs(values).max()
    return np.round(values / scale, 9) if scale > 0 else values


def _adjusted(cell: TwoWay, order: Ints, level: float) -> tuple[Floats, float]:
    """Step-down p-values of all pairs of some models, and the first critical value."""
    first, second = np.triu_indices(len(order), 1)
    spreads = [
        cell.between(int(order[a]), int(order[b])) for a, b in zip(first, second, strict=True)
    ]
    gaps = cell.values[order[first]] - cell.values[order[second]]
    error = np.array([one.standard_error for one in spreads])
    moving = error > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(
            moving,
            np.abs(gaps) / np.where(moving, error, 1.0),
            np.where(gaps == 0, 0.0, np.inf),
        )
    covariance = cell.covariance()[np.ix_(order, order)]
    own = np.diag(covariance)
    variance = own[first] + own[second] - 2 * covariance[first, second]
    scale = np.sqrt(np.maximum(variance, 1e-300))
    down = np.argsort(-t, kind="stable")
    exceed = np.zeros(len(t))
    largest = []
    random = np.random.default_rng(SEED)
    for z, wide in zip(_draws(covariance, random), _widths(spreads, random), strict=False):
        size = np.abs(z[:, first] - z[:, second]) * wide
        drawn = np.where(moving, size / scale, 0.0)[:, down]
        most = np.maximum.accumulate(drawn[:, ::-1], axis=1)[:, ::-1]
        exceed += (most >= t[down]).sum(axis=0)
        largest.append(most[:, 0])
    p = np.empty(len(t))
    p[down] = np.maximum.accumulate((1 + exceed) / (1 + DRAWS))
    p[t == 0] = 1.0
    for place, one in enumerate(spreads):  # never surer than the pair by itself
        p[place] = max(p[place], one.p_value(float(gaps[place])))
    square = np.eye(len(order))
    square[first, second] = square[second, first] = np.minimum(p, 1.0)
    return square, float(np.quantile(np.concatenate(largest), level))


def _draws(covariance: Floats, random: np.random.Generator) -> Iterator[Floats]:
    """Chunks of normal values with this covariance, shape (draws, models)."""
    own = np.maximum(np.diag(covariance), 1e-300)
    jitter = np.diag(own) * 1e-10  # models that are the same have no root
    size, direction = np.linalg.eigh((covariance + covariance.T) / 2 + jitter)
    # the symmetric root: rounding cannot turn it, however alike models are
    root = (direction * np.sqrt(np.maximum(size, 0.0))) @ direction.T
    for _ in range(DRAWS // _CHUNK):
        yield random.standard_normal((_CHUNK, len(covariance))) @ root.T


def _widths(spreads: Sequence[Spread], random: np.random.Generator) -> Iterator[Floats]:
    """By how much estimated errors are too small, shape (draws, pairs or 1), without end.

    Of few annotators the mean square is a pivot, the same draw of it for all pairs.
    """
    if not any(one.pivotal for one in spreads):
        usual = float(np.median([one.df for one in spreads]))
        while True:
            yield _student(usual, random)
    items, annotators, cells = np.array([one.parts for one in spreads]).T
    df, usual = spreads[0].df_annotators, float(np.median([one.df_rest for one in spreads]))
    found = items + np.maximum(annotators - cells, 0.0)
    while True:
        square = annotators * df / random.chisquare(df, (_CHUNK, 1))
        wide = items + np.maximum(square - cells, 0.0)
        ratio = np.where(found > 0, wide / np.where(found > 0, found, 1.0), 1.0)
        yield np.sqrt(ratio) * _student(usual, random)


def _student(df: float, random: np.random.Generator) -> Floats:
    """What turns normal draws into Student's t, shape (draws, 1)."""
    if not np.isfinite(df):
        return np.ones((_CHUNK, 1))
    return np.asarray(np.sqrt(df / random.chisquare(df, (_CHUNK, 1))))
