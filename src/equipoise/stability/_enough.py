"""Enough: how many annotators it takes, by separate panels or by width, in number and words."""

from math import ceil

import numpy as np

from equipoise.arrays import Floats, Ints
from equipoise.stability._counted import counted

CLOSE = 0.95  # rank correlation from which on separate panels count as giving one order
NARROW = 0.02  # half-width that is taken as enough where there is no order
FAR = 1000  # annotators up to which an extrapolation is written out
ONE = {"annotators": "annotator", "votes per item": "vote per item"}


def fewest(sizes: Ints, separate: Floats, wanted: float) -> int | None:
    """Fewest annotators with which separate panels correlate so much.

    Parameters
    ----------
    sizes, separate
        Sizes of panels and the mean correlation of two separate ones, nan where unknown.

    Examples
    --------
    >>> fewest(np.array([2, 3]), np.array([0.7, 0.8]), 0.75)
    3
    >>> fewest(np.array([2, 3]), np.array([0.7, 0.8]), 0.9)
    7
    """
    known = np.flatnonzero(~np.isnan(separate))
    if not len(known):
        return None
    reached = known[separate[known] >= wanted - 1e-12]
    if len(reached):
        return int(sizes[reached[0]])
    return prophecy(int(sizes[known[-1]]), float(separate[known[-1]]), wanted)


def prophecy(size: int, correlation: float, wanted: float) -> int | None:
    """How many annotators separate panels need for a wanted correlation (Spearman-Brown).

    The correlation of two panels of one size is taken as a reliability, whose odds r / (1 - r)
    grow with the size; None where it is not positive, or where the wanted one is 1.

    Examples
    --------
    >>> prophecy(4, 0.8, 0.9), prophecy(4, -0.1, 0.9)
    (9, None)
    """
    if not 0 < correlation < 1 or wanted >= 1:
        return None
    return max(
        1, ceil(round(size * wanted * (1 - correlation) / correlation / (1 - wanted), 9))
    )


def people(number: int, unit: str) -> str:
    """A number of annotators, or of votes per item."""
    return counted(number, ONE[unit])


def width_words(number: int | None, most: int, unit: str) -> str:
    """How many are enough for one model, in words; `most` is the size of the panel."""
    if number is None:
        return "How many are enough cannot be told."
    return f"For a half-width of {NARROW:g}, {_about(number, most, unit)}."


def order_words(sizes: Ints, separate: Floats, models: int, unit: str) -> str:
    """How many are enough for the order of the models, in words.

    Examples
    --------
    >>> order_words(np.array([2, 3, 4]), np.array([0.9, np.nan, np.nan]), 3, "annotators")
    'Two separate panels of 2 annotators order the 3 models with a mean rank correlation of...'
    """
    known = np.flatnonzero(~np.isnan(separate))
    if not len(known):
        return (
            "How many are enough cannot be told: no two separate panels can be compared by "
            f"how they order the {models} models."
        )
    enough, last = fewest(sizes, separate, CLOSE), int(known[-1])
    if enough is not None and enough <= sizes[last]:
        last = int(np.flatnonzero(sizes == enough)[0])
    seen = (
        f"Two separate panels of {people(int(sizes[last]), unit)} order the {models} models "
        f"with a mean rank correlation of {_rounded(float(separate[last]))}"
    )
    if enough is None:
        return f"{seen}: how many are enough cannot be told."
    if enough == sizes[last]:
        return f"{seen}; so many are enough, if that is to be at least {CLOSE:g}."
    about = _about(enough, int(sizes[last]), unit)
    return f"{seen}; if that is to be at least {CLOSE:g}, {about}."


def _rounded(correlation: float) -> str:
    """Two decimals, cut off so that no value is rounded up to the limit."""
    return f"{np.floor(round(correlation * 100, 6)) / 100:.2f}"


def _about(number: int, most: int, unit: str) -> str:
    """A number that may be an extrapolation, and that it is enough."""
    if number > max(FAR, most):
        return f"more than {people(max(FAR, most), unit)} would be enough"
    if number > most:
        return f"about {people(number, unit)} would be enough (extrapolated)"
    return f"{people(number, unit)} are enough"
