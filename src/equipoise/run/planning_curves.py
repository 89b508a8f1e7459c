"""Curves of a plan: the chance of studies of any size, and the sizes that a chance needs.

Of several pairs it is the least chance that all are told apart, as in the plan itself, so that
curves, contours and designs meet.
"""

from typing import Any

from equipoise.planning import RankingPlan
from equipoise.planning._together import FEWEST, items_needed, votes_needed

Facts = dict[str, Any]
STEPS = 25  # numbers of items along a curve
OTHER = (0.5, 0.95)  # chances drawn beside the one asked for


def power_rows(plan: RankingPlan) -> list[Facts]:
    """Chance over numbers of items, on both sides of every design and of the pilot."""
    if not plan.designs:
        return []
    sizes = [*(one.items for one in plan.designs), plan.pairs[0].pilot_items]
    low, high = max(FEWEST, min(sizes) / 3), max(max(sizes) * 1.5, 2 * FEWEST)
    ratio = (high / low) ** (1 / (STEPS - 1))
    numbers = dict.fromkeys(round(low * ratio**step) for step in range(STEPS))
    return [
        {"votes_per_item": votes, "items": number, "power": plan.power(number, votes)}
        for votes in (one.votes_per_item for one in plan.designs)
        for number in numbers
    ]


def power_grid(plan: RankingPlan) -> list[Facts]:
    """Chance for some numbers of items by votes per item, and the votes that each needs."""
    if not plan.designs:
        return []
    votes = [one.votes_per_item for one in plan.designs]
    return [
        {
            "items": number,
            **{f"power_{each}": plan.power(number, each) for each in votes},
            "votes_needed": votes_needed(plan.planned, number, plan.aim.power),
        }
        for number in plan.pairs[0].sizes()
    ]


def contours(plan: RankingPlan) -> list[Facts]:
    """Items that each number of votes needs, for several chances."""
    known = [one.votes_per_item for one in plan.designs]
    if not known:
        return []
    votes = sorted({*range(1, min(known[-1], 10) + 1), *known}) if known != [1] else [1]
    power = plan.aim.power
    return [
        {
            "power": chance,
            "votes_per_item": number,
            "items": items_needed(plan.planned, number, chance),
        }
        for chance in sorted({power, *(one for one in OTHER if abs(one - power) > 0.02)})
        for number in votes
    ]
