r"""Top sets: which j classes are the largest, draw by draw, with ties shared.

In a draw the classes above the j-th largest value are in the set for sure; r seats are left
for the n classes that tie at that value, and each choice of r of them has the chance

.. math:: 1 / \binom{n}{r}

Unmentioned classes are alike, so a set is told by its mentioned classes and by the number t of
unmentioned ones, and each of the :math:`\binom{\text{others}}{t}` sets of that kind is equally
likely. Draws with the same pattern are done once.
"""

from collections import defaultdict
from itertools import combinations
from math import comb

import numpy as np

from equipoise.arrays import Floats, InputError, Ints
from equipoise.plausibilities import Plausibilities

TIE = 1e-12  # masses that differ by less, relatively, are tied
MOST = 20_000  # choices among ties that one draw may leave
Kind = tuple[tuple[int, ...], int]  # places of mentioned classes, number of unmentioned ones


def likeliest_set(
    plausibilities: Plausibilities, item: int, j: int
) -> tuple[tuple[int, ...], Floats]:
    """The likeliest top set of an item as class codes, and its chance in every draw.

    Where unmentioned classes belong to it, the first of them stand for any.

    Examples
    --------
    >>> tied = Plausibilities.dense(np.array([[0.4, 0.3, 0.3]]), items=("case",),
    ...     classes=("x", "y", "z"), method="by hand")
    >>> likeliest_set(tied, 0, 2)
    ((0, 1), array([0.5]))
    """
    inside = slice(*plausibilities.start[item : item + 2])
    own = plausibilities.label[inside]
    others = len(plausibilities.classes) - len(own)
    patterns, inverse = _patterns(plausibilities, item, j)
    number = np.bincount(inverse)
    chances: defaultdict[Kind, dict[int, float]] = defaultdict(dict)
    for row, pattern in enumerate(patterns):
        for kind, chance in _choices(pattern, j, plausibilities.items[item]):
            chances[kind][row] = chance / comb(others, kind[1])
    total = {
        kind: sum(number[row] * chance for row, chance in by_row.items())
        for kind, by_row in chances.items()
    }
    best = min(total, key=lambda kind: (-round(total[kind], 9), kind[1], kind[0]))
    by_pattern = np.zeros(len(patterns))
    by_pattern[list(chances[best])] = list(chances[best].values())
    free = np.setdiff1d(np.arange(len(plausibilities.classes)), own)[: best[1]]
    codes = sorted([int(own[place]) for place in best[0]] + [int(code) for code in free])
    return tuple(codes), by_pattern[inverse]


def _patterns(plausibilities: Plausibilities, item: int, j: int) -> tuple[Ints, Ints]:
    """Distinct patterns of draws, and which one each draw has.

    A pattern has 2 for every mentioned class that is in the set for sure, 1 for one that ties
    for the last seats, else 0; then how many unmentioned classes are in, and how many tie.
    """
    inside = slice(*plausibilities.start[item : item + 2])
    mass = plausibilities.mass[:, inside]
    free = _largest_free(plausibilities, item, j)
    last = np.sort(np.concatenate([mass, free], axis=1), axis=1)[:, -j][:, None]
    others = len(plausibilities.classes) - mass.shape[1]
    high, low = last * (1 + TIE), last * (1 - TIE)
    above = (free > high).sum(axis=1)
    level = ((free >= low) & (free <= high)).sum(axis=1)
    if not plausibilities.rest_shape:  # split evenly, so all others do what the first ones do
        above, level = np.where(above > 0, others, 0), np.where(level > 0, others, 0)
    pattern = np.empty((len(mass), mass.shape[1] + 2), dtype=np.int32)
    pattern[:, :-2] = (mass >= low).astype(np.int32) + (mass > high)
    pattern[:, -2], pattern[:, -1] = above, level
    rows = pattern.view(f"S{pattern.shape[1] * pattern.itemsize}").ravel()
    _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    return pattern[first], inverse


def _largest_free(plausibilities: Plausibilities, item: int, j: int) -> Floats:
    """The j largest masses of unmentioned classes, (draws, at most j)."""
    inside = slice(*plausibilities.start[item : item + 2])
    mass, rest = plausibilities.mass[:, inside], plausibilities.rest[:, item]
    others = len(plausibilities.classes) - mass.shape[1]
    width = min(others, j)
    even = np.repeat(rest[:, None] / max(others, 1), width, axis=1)
    shape = plausibilities.rest_shape
    if not shape or not width:
        return even
    least = np.sort(mass, axis=1)[:, -j] if mass.shape[1] >= j else np.full(len(mass), -1.0)
    open_ = np.flatnonzero(rest > least)  # else no single class of them can be in the set
    random = np.random.default_rng([plausibilities.split_seed, item, 3])
    noise = random.standard_gamma(shape, (len(open_), others))
    total = noise.sum(axis=1, keepdims=True)
    largest = np.partition(noise, -width, axis=1)[:, -width:] / np.where(total > 0, total, 1.0)
    even[open_] = np.where(total > 0, rest[open_][:, None] * largest, even[open_])
    return even


def _choices(pattern: Ints, j: int, item: str) -> list[tuple[Kind, float]]:
    """Kinds of sets a pattern allows, and the chance of each."""
    sure = tuple(np.flatnonzero(pattern[:-2] == 2).tolist())
    tied = np.flatnonzero(pattern[:-2] == 1).tolist()
    taken, open_ = int(pattern[-2]), int(pattern[-1])
    seats = j - len(sure) - taken
    every = comb(len(tied) + open_, seats)
    found: list[tuple[Kind, float]] = []
    for free in range(max(0, seats - len(tied)), min(open_, seats) + 1):
        if len(found) + comb(len(tied), seats - free) > MOST:
            raise InputError(
                f"annotation_certainty, item {item!r}",
                f"{len(tied)} classes that tie for {seats} seats in one draw",
                f"at most {MOST} ways to break a tie", "ask for smaller sets",
            )  # fmt: skip
        chance = comb(open_, free) / every
        found += [
            ((tuple(sorted(sure + some)), taken + free), chance)
            for some in combinations(tied, seats - free)
        ]
    return found
