r"""Partial rankings: average overlap of two rankings with ties and without an end.

A ranking is a list of blocks; the classes of a block are tied, and classes that are not ranked
form one last block. A soft permutation matrix has the chance of each class to stand at each
place when ties are broken at random: 1/s for the s classes of a block at each of its s places.
With the cumulative chances :math:`A_j(c)` and :math:`B_j(c)` of class c to be among the first j

.. math:: \mathrm{AO}(a, b) = \frac1L \sum_{j=1}^L \frac1j \sum_c A_j(c)\,B_j(c)

is the mean average overlap over all pairs of complete rankings. Because a ranking with ties
does not even agree with itself, it is divided by
:math:`\sqrt{\mathrm{AO}(a, a)\,\mathrm{AO}(b, b)}`, so that :math:`\mathrm{AO}(b, b) = 1`.

References
----------
Stutz et al., *Evaluating medical AI systems in dermatology under uncertain ground truth*.

Examples
--------
>>> average_overlap_of_rankings([["x", "y"], ["z"]], [["x"], ["z"]], 2, ["x", "y", "z"])
0.577
>>> average_overlap_of_rankings([["x", "y"]], [["x", "y"]], 2, ["x", "y", "z"])
1.0
"""

from collections.abc import Sequence

import numpy as np

from equipoise.types.arrays import Floats, InputError, nearest, require_unique

Ranking = Sequence[Sequence[str]]


def average_overlap_of_rankings(
    a: Ranking, b: Ranking, length: int, classes: Sequence[str], *, normalised: bool = True
) -> float:
    """Average overlap of two partial rankings, in [0, 1].

    Parameters
    ----------
    a, b
        Blocks of tied classes, best first; each class at most once.
    length
        How many places are looked at, at most as many as there are classes.
    classes
        All classes that could have been ranked.
    normalised
        Whether to divide by the agreement of each ranking with itself.
    """
    require_unique(classes, where="classes")
    if isinstance(length, bool) or not isinstance(length, int | np.integer):
        raise InputError("length", f"{length!r}", "a whole number", "say how many places")
    if not 1 <= length <= len(classes):
        raise InputError(
            "length",
            f"{length}",
            f"1 to {len(classes)}, the number of classes",
            "choose another length",
        )
    first = _among_first(a, length, classes, "ranking a")
    second = _among_first(b, length, classes, "ranking b")
    value = _overlap(first, second)
    if normalised:
        value /= np.sqrt(_overlap(first, first) * _overlap(second, second))
    return float(min(value, 1.0))


def _overlap(first: Floats, second: Floats) -> float:
    """Mean over places of the expected overlap at that place."""
    places = np.arange(1, len(first) + 1)
    return float(((first * second).sum(axis=1) / places).mean())


def _among_first(ranking: Ranking, length: int, classes: Sequence[str], where: str) -> Floats:
    """Chance of each class to be among the first 1..length, shape (length, classes)."""
    codes = _codes(ranking, classes, where)
    ranked = {code for block in codes for code in block}
    codes.append([code for code in range(len(classes)) if code not in ranked])
    chance = np.zeros((len(classes), len(classes)))
    place = 0
    for block in codes:
        if block:
            chance[place : place + len(block), block] = 1 / len(block)
            place += len(block)
    return np.asarray(chance.cumsum(axis=0)[:length])


def _codes(ranking: Ranking, classes: Sequence[str], where: str) -> list[list[int]]:
    """Blocks as positions in `classes`, or what is wrong with them."""
    index = {name: code for code, name in enumerate(classes)}
    if isinstance(ranking, str) or any(isinstance(block, str) for block in ranking):
        raise InputError(
            where,
            "names without blocks",
            "a list of blocks of tied classes",
            "write a class that stands alone as ['name']",
        )
    names = [name for block in ranking for name in block]
    if not names or not all(len(block) for block in ranking):
        raise InputError(
            where,
            "an empty ranking or block",
            "at least one class in every block",
            "leave it out",
        )
    for name in names:
        if name not in index:
            advice = nearest(str(name), map(str, classes))
            raise InputError(where, f"class {name!r} unknown", "one of the classes", advice)
    require_unique(names, where=where, do="rank every class once")
    return [[index[name] for name in block] for block in ranking]
