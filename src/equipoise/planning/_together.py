"""Several pairs in one study: the chance that all are told apart, and the size that gives it.

If pair j is told apart with chance p_j, all are with a chance of at least

    1 - sum over j of (1 - p_j),

whatever hangs together. More items and more votes raise every p_j, so the smallest study that
gives a chance is found by doubling and halving.
"""

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from equipoise.planning.size import Size

FEWEST = 3  # items of a study
MOST_VOTES = 2**40  # on an item; what needs more is not reached by votes
ROUNDING = 1e-12  # of a chance
NORMAL = NormalDist()


def least_chance(pairs: Sequence["Size"], items: float, votes: float) -> float:
    """Least chance that every pair is told apart; nan where not known."""
    return max(0.0, 1 - sum(1 - one.power(items, votes) for one in pairs))


def weakest(pairs: Sequence["Size"], items: float, votes: float) -> "Size":
    """The pair that a study is least likely to tell apart."""
    return min(pairs, key=lambda one: one.power(items, votes))


def items_needed(pairs: Sequence["Size"], votes: int, chance: float) -> int:
    """Fewest items that with so many votes on each tell all pairs apart with a chance."""
    return _smallest(
        lambda items: least_chance(pairs, items, votes) >= chance - ROUNDING, FEWEST
    )


def votes_needed(pairs: Sequence["Size"], items: int, chance: float) -> float:
    """Fewest votes on each of so many items; infinite when votes cannot do it."""
    if any(math.isnan(one.spread.votes) for one in pairs):
        return math.nan
    for most in (math.inf, MOST_VOTES):
        if least_chance(pairs, items, most) < chance - ROUNDING:
            return math.inf
    return _smallest(lambda votes: least_chance(pairs, items, votes) >= chance - ROUNDING, 1)


def items_doubt(pairs: Sequence["Size"], items: int, votes: int) -> float:
    """Standard error of the items needed, relative to them, as spreads are estimated.

    Each pair counts by how much the chance of all hangs on its spread, and the errors of pairs
    that share items and votes are taken to go the same way, so that it is rather too large.
    """
    hangs = [_slope(one, items, votes) for one in pairs]
    if not sum(hangs) > 0:
        return weakest(pairs, items, votes).spread.doubt(votes)
    parts = zip(pairs, hangs, strict=True)
    return sum(one.spread.doubt(votes) * part for one, part in parts if part) / sum(hangs)


def _slope(one: "Size", items: int, votes: int) -> float:
    """Change of the chance of a pair with the logarithm of its standard error."""
    error = one.standard_error(items, votes)
    if error == 0:
        return 0.0
    reach = one.resolved / error
    return NORMAL.pdf(reach - NORMAL.inv_cdf(0.5 + one.aim.level / 2)) * reach


def _smallest(enough: Callable[[int], bool], least: int) -> int:
    """Smallest whole number that is enough, where all above it are, too.

    Examples
    --------
    >>> _smallest(lambda number: number >= 1000, 3), _smallest(lambda number: True, 3)
    (1000, 3)
    """
    high = least
    while not enough(high):
        high *= 2
    low = max(least - 1, high // 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
