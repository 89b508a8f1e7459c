"""Sorted certainty: the certainties of items from the least to the most, as a line to draw.

A place along the line is the share of items that are no more certain. Items that are equally
certain are one level piece; where there are many different certainties the line runs through
evenly spaced ranks.
"""

import numpy as np

from equipoise.arrays import Floats

LEVELS = 50  # different certainties up to which every one has its own piece
POINTS = 101


def sorted_points(certainty: Floats) -> list[list[float]]:
    """Points (share of items, certainty), rising in both.

    Examples
    --------
    >>> sorted_points(np.array([1.0, 0.5, 1.0, 1.0]))
    [[0.0, 0.5], [0.25, 0.5], [0.25, 1.0], [1.0, 1.0]]
    >>> sorted_points(np.array([]))
    []
    """
    rising = np.sort(np.round(certainty, 6))
    if not len(rising):
        return []
    levels, first = np.unique(rising, return_index=True)
    if len(levels) <= LEVELS:
        ends = np.append(first[1:], len(rising))
        return [
            [round(float(place) / len(rising), 6), float(level)]
            for level, *places in zip(levels, first, ends, strict=True)
            for place in places
        ]
    ranks = np.unique(np.linspace(0, len(rising) - 1, POINTS).round().astype(np.intp))
    shares = ranks / (len(rising) - 1)
    return [[round(float(s), 6), float(c)] for s, c in zip(shares, rising[ranks], strict=True)]
