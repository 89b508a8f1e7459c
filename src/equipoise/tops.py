"""Tops: how often each class is the most plausible one, counted over draws."""

import numpy as np

from equipoise.arrays import Floats, Ints


def top_share(
    mass: Floats, rest: Floats, start: Ints, others: Ints, split: tuple[float | None, int]
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
    item = np.repeat(np.arange(len(others)), np.diff(start))
    entry, spare = np.zeros(mass.shape[1]), np.zeros(len(others))
    shape, seed = split
    for number, (named, left) in enumerate(zip(mass, rest, strict=True)):
        best = np.zeros(len(others))
        np.maximum.at(best, item, named)
        other = np.where(others > 0, left / np.maximum(others, 1), -1.0)
        many = others
        if shape:
            open_ = np.flatnonzero(left > best)
            other[open_] = left[open_] * _largest(others[open_], shape, (seed, number))
            many = np.minimum(others, 1)
        top = np.maximum(best, other)
        first, second = named == top[item], (other == top) * many
        tied = np.bincount(item, first, len(others)) + second
        entry += first / tied[item]
        spare += second / tied
    return entry / len(mass), spare / len(mass)


def _largest(others: Ints, shape: float, key: tuple[int, int]) -> Floats:
    """Largest share of a symmetric Dirichlet over each number of classes."""
    random = np.random.default_rng([*key, 1])
    largest = np.ones(len(others))
    for place, number in enumerate(others):
        share = random.standard_gamma(shape, number)
        total = share.sum()
        largest[place] = share.max() / total if total > 0 else 1.0
    return largest
