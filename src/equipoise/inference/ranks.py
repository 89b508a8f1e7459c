"""Ranks of models, and how two rankings agree, with ties treated as ties.

Rank 1 is best; tied models share the average of their ranks. Values that differ by less than
1e-12 are tied: several public leaderboard models are identical. Everything works on an array
of shape (models, replicates) at once.
"""

import numpy as np

from equipoise.types import Bools, Floats, Ints, ratio

TIE = 12  # decimals to which values must differ to rank apart


def higher_is_better(values: Floats, better: str) -> Floats:
    """Values as higher-is-better, rounded so that ties are ties."""
    return np.round(values if better == "higher" else -values, TIE)


def average_ranks(good: Floats) -> Floats:
    """Average rank of each model along the first axis; nan where any model is undefined.

    Examples
    --------
    >>> average_ranks(np.array([0.9, 0.7, 0.9]))
    array([1.5, 3. , 1.5])
    """
    above, level = _standing(good)
    ranks = above + (level + 1) / 2
    return np.where(np.isnan(good).any(axis=0), np.nan, ranks)


def mid_ranks(values: Floats) -> Floats:
    """Ranks from 1 of many values, the smallest first; equal values share the mean rank.

    Examples
    --------
    >>> mid_ranks(np.array([0.3, 0.1, 0.3]))
    array([2.5, 1. , 2.5])
    """
    _, place, size = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(size) - (size - 1) / 2)[place]


def rank_probabilities(good: Floats, weights: Floats | None = None) -> Floats:
    """How often each model holds each rank, shape (models, ranks); tied models share ranks.

    Parameters
    ----------
    good
        Shape (models, replicates). Replicates with an undefined model are left out; when
        none is left the result is nan.
    weights
        How much each replicate counts; None where all count alike.

    Examples
    --------
    >>> rank_probabilities(np.array([[0.9, 0.7, 0.9], [0.8, 0.8, 0.8]]))
    array([[0.667, 0.333],
           [0.333, 0.667]])
    """
    models = len(good)
    defined, counts = _defined(good, weights)
    if not defined.shape[1]:
        return np.full((models, models), np.nan)
    above, level = _standing(defined)
    times = np.stack(
        [_times_at_rank(a, n, counts, models) for a, n in zip(above, level, strict=True)]
    )
    return np.asarray(times / counts.sum())


def _defined(good: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
    """Replicates in which every model is defined, and how much each of them counts."""
    whole = ~np.isnan(good).any(axis=0)
    counts = np.ones(good.shape[1]) if weights is None else weights
    return good[:, whole], counts[whole]


def _times_at_rank(above: Ints, level: Ints, counts: Floats, models: int) -> Floats:
    """How often one model holds each rank; a tie of n counts 1/n for each of its ranks."""
    alone = level == 1
    times = np.bincount(above[alone], counts[alone], minlength=models).astype(np.float64)
    if alone.all():
        return times
    first, number, ranks = above[~alone], level[~alone], np.arange(models)[:, None]
    holds = (ranks >= first) & (ranks < first + number)
    return np.asarray(times + (holds * (counts[~alone] / number)).sum(axis=1))


def beats(good: Floats, weights: Floats | None = None) -> Floats:
    """How often each model beats each other, ties half, shape (models, models).

    Replicates count by weights where there are any, as for `rank_probabilities`.

    Examples
    --------
    >>> float(beats(np.array([[0.9, 0.7], [0.8, 0.7]]))[0, 1])
    0.75
    """
    defined, counts = _defined(good, weights)
    if not defined.shape[1]:
        return np.full((len(good), len(good)), np.nan)
    wins = [
        (of_model > defined) @ counts + (of_model == defined) @ counts / 2
        for of_model in defined
    ]
    return np.asarray(np.stack(wins) / counts.sum())


def _standing(good: Floats) -> tuple[Ints, Ints]:
    """How many models stand above each one, and how many beside it with itself."""
    above = [_times(good > of_model) for of_model in good]
    return np.stack(above), np.stack([_times(good == of_model) for of_model in good])


def _times(true: Bools) -> Ints:
    """How often something is true along the first axis; bytes are summed faster than truths."""
    return np.asarray(true.view(np.uint8).sum(axis=0, dtype=np.int64))


def spearman(a: Floats, b: Floats) -> Floats:
    """Rank correlation of two sets of values along the first axis; nan when one is constant.

    Examples
    --------
    >>> float(spearman(np.array([0.81, 0.8, 0.79, 0.75]), np.array([0.6, 0.64, 0.59, 0.5])))
    0.8
    """
    x, y = average_ranks(np.round(a, TIE)), average_ranks(np.round(b, TIE))
    return _correlation(x - x.mean(axis=0), y - y.mean(axis=0))


def kendall_tau_b(a: Floats, b: Floats) -> Floats:
    """Kendall's tau-b along the first axis; nan when one is constant.

    Examples
    --------
    >>> float(kendall_tau_b(np.array([1, 2, 3, 4, 5, 6]), np.array([2, 1, 3, 3, 6, 5])))
    0.690
    """
    x, y = average_ranks(np.round(a, TIE)), average_ranks(np.round(b, TIE))
    upper = np.triu_indices(len(x), 1)
    signs = [np.sign(v[upper[0]] - v[upper[1]]) for v in (x, y)]
    return _correlation(*signs)


def _correlation(x: Floats, y: Floats) -> Floats:
    """Sum of products over the root of the sums of squares, along the first axis."""
    below = np.sqrt((x * x).sum(axis=0) * (y * y).sum(axis=0))
    value = ratio((x * y).sum(axis=0), below)
    return value if value.ndim else value[()]
