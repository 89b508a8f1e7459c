"""Enough: how many annotators it takes, by separate panels or by width, in number and words."""

from math import ceil
from typing import NamedTuple

import numpy as np

from equipoise.arrays import Floats, Ints
from equipoise.numbers import count, number

CLOSE = 0.95  # rank correlation from which on separate panels count as giving one order
NARROW = 0.02  # half-width that is taken as enough where there is no order
FAR = 1000  # annotators up to which an extrapolation is written out


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


class Range(NamedTuple):
    """How many annotators may be enough: from, and to; no end where none can be told."""

    low: int
    high: int | None


def order_range(size: int, ends: tuple[float, float], wanted: float) -> Range | None:
    """How many annotators separate panels need, by the interval of their correlation.

    Parameters
    ----------
    size, ends
        A size of panels, and the interval of their mean correlation.

    Examples
    --------
    >>> order_range(4, (0.5, 0.9), 0.95), order_range(4, (-0.1, 0.9), 0.95)
    (Range(low=9, high=76), Range(low=9, high=None))
    """
    least = prophecy(size, ends[1], wanted)
    return None if least is None else Range(max(2, least), prophecy(size, ends[0], wanted))


def width_range(enough: float, degrees: float, level: float) -> Range | None:
    """How many annotators a half-width needs, as their variance is known from so few.

    Examples
    --------
    >>> width_range(20, 7, 0.95), width_range(20, float("inf"), 0.95)
    (Range(low=9, high=83), None)
    """
    from scipy.special import chdtri

    if np.isinf(degrees):
        return None
    tails = ((1 - level) / 2, (1 + level) / 2)
    low, high = (enough * degrees / float(chdtri(degrees, tail)) for tail in tails)
    return Range(max(2, ceil(round(low, 9))), max(2, ceil(round(high, 9))))


def width_words(enough: int | None, most: int, noun: str, span: Range | None = None) -> str:
    """How many are enough for one model, in words; `most` is the size of the panel."""
    if enough is None:
        return "How many are enough cannot be told."
    return f"For a half-width of {number(NARROW, 2)}, {_about(enough, most, noun, span)}."


def order_words(
    sizes: Ints,
    separate: Floats,
    models: int,
    noun: str,
    ends: tuple[float, float] = (np.nan, np.nan),
) -> str:
    """How many are enough for the order of the models, in words.

    Parameters
    ----------
    noun
        What is counted: ``annotator``, or ``vote per item``.
    ends
        Interval of the last correlation that is known.

    Examples
    --------
    >>> order_words(np.array([2, 3, 4]), np.array([0.9, np.nan, np.nan]), 3, "annotator")
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
        f"Two separate panels of {count(int(sizes[last]), noun)} order the {models} models "
        f"with a mean rank correlation of {_cut_off(float(separate[last]))}"
    )
    if enough is None:
        return f"{seen}: how many are enough cannot be told."
    if enough == sizes[last]:
        return f"{seen}; so many are enough, if that is to be at least {number(CLOSE, 2)}."
    span = order_range(int(sizes[last]), ends, CLOSE)
    about = _about(enough, int(sizes[last]), noun, span)
    return f"{seen}; if that is to be at least {number(CLOSE, 2)}, {about}."


def _cut_off(correlation: float) -> str:
    """Two decimals, cut off so that no value is rounded up to the limit."""
    return number(float(np.floor(round(correlation * 100, 6)) / 100), 2)


def _about(enough: int, most: int, noun: str, span: Range | None) -> str:
    """A number that may be an extrapolation, with its range, and that it is enough."""
    if enough <= most:
        return f"{count(enough, noun)} are enough"
    words, far = f"about {count(enough, noun)}", max(FAR, most)
    if enough > far:
        words = f"more than {count(far, noun)}"
    if span is None:
        return f"{words} would be enough (extrapolated)"
    ends = f"{count(span.low)} or more"
    if span.high is not None and span.high <= far:
        ends = f"{count(span.low)} to {count(span.high)}"
    return f"{words} ({ends}) would be enough (extrapolated)"
