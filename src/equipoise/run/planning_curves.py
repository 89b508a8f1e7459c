"""Curves of a plan: the chance of studies of any size, and the sizes that a chance needs.

If each of the pairs is told apart with chance p_j, all are with a chance of at least 1 - sum of
(1 - p_j), whatever hangs together. Of several pairs the one that needs most items decides.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

from equipoise.planning import Design, Size

Facts = dict[str, Any]
STEPS = 25  # numbers of items along a curve
FEWEST = 3
OTHER = (0.5, 0.95)  # chances drawn beside the one asked for
NORMAL = NormalDist()


def shared_votes(able: list[Size]) -> list[int]:
    """Numbers of votes per item that every pair has a design for."""
    if not able:
        return []
    known = [{one.votes_per_item for one in size.designs} for size in able]
    return sorted(set.intersection(*known))


def design_for(one: Size, votes: int) -> Design:
    """The design of a pair with so many votes per item."""
    return next(design for design in one.designs if design.votes_per_item == votes)


def least_chance(able: Sequence[Size], items: float, votes: float) -> float:
    """Least chance that every pair is told apart."""
    return max(0.0, 1 - sum(1 - one.power(items, votes) for one in able))


def power_rows(able: list[Size], designs: list[Facts]) -> list[Facts]:
    """Chance over numbers of items, on both sides of every design and of the pilot."""
    if not designs:
        return []
    sizes = [*(one["items"] for one in designs), able[0].pilot_items]
    low, high = max(FEWEST, min(sizes) / 3), max(max(sizes) * 1.5, 2 * FEWEST)
    ratio = (high / low) ** (1 / (STEPS - 1))
    numbers = dict.fromkeys(round(low * ratio**step) for step in range(STEPS))
    return [
        {"votes_per_item": votes, "items": number, "power": least_chance(able, number, votes)}
        for votes in (one["votes_per_item"] for one in designs)
        for number in numbers
    ]


def power_grid(able: list[Size], designs: list[Facts]) -> list[Facts]:
    """Chance for some numbers of items by votes per item, and the votes that each needs."""
    if not designs:
        return []
    votes = [one["votes_per_item"] for one in designs]
    return [
        {
            "items": row["items"],
            **{f"power_{number}": least_chance(able, row["items"], number) for number in votes},
            "votes_needed": max(one.votes_needed(row["items"]) for one in able),
        }
        for row in able[0].grid()
    ]


def contours(able: list[Size], power: float, pairs: int) -> list[Facts]:
    """Items that each number of votes needs, for several chances."""
    known = shared_votes(able)
    if not known:
        return []
    votes = sorted({*range(1, min(known[-1], 10) + 1), *known}) if known != [1] else [1]
    rows = []
    for chance in sorted({power, *(one for one in OTHER if abs(one - power) > 0.02)}):
        for number in votes:
            needed = max(_needed(one, number, chance, pairs) for one in able)
            rows.append({"power": chance, "votes_per_item": number, "items": needed})
    return rows


def _needed(one: Size, votes: int, chance: float, pairs: int) -> int:
    """Items that tell one of several pairs apart with its share of the chance."""
    share = 1 - (1 - chance) / pairs
    reach = NORMAL.inv_cdf(0.5 + one.aim.level / 2) + NORMAL.inv_cdf(share)
    ideal = (max(reach, 0.0) / one.resolved * one.standard_error(1, votes)) ** 2
    return max(FEWEST, math.ceil(ideal - 1e-9))
