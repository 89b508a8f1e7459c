"""What a plan should tell besides its numbers, one sentence each."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from equipoise.metrics import titled
from equipoise.planning._pilot import Pilot
from equipoise.planning._single_votes import with_single_votes

if TYPE_CHECKING:
    from equipoise.planning.size import Design, Size


OPEN = "The pilot itself leaves open whether there is a difference"
LEANING = "annotators lean in ways that more items do not even out"
NEW_PEOPLE = "The plan counts votes as independent, as from ever new people."
LIMIT = (
    "With these people alone that is too much to resolve the difference, whatever the number "
    "of items: ask others, too."
)
DEPENDS = "the difference itself depends on the votes per item"
TRUST = (
    "Designs are planned as if it stayed the same, so trust only those with about as many "
    "votes per item as the pilot."
)


def said(plan: "Size") -> str:
    """What a plan comes to, as a sentence."""
    if not plan.designs and plan.difference > 1e-12:
        return (
            f"Every item of the pilot says the same about {plan.a} and {plan.b}: its spread is "
            "0, and no size can be planned from it."
        )
    if not plan.designs:
        return (
            f"No number of items or votes tells {plan.a} from {plan.b} by "
            f"{titled(plan.metric)}: their difference in the pilot is 0."
        )
    near = min(plan.designs, key=lambda one: abs(one.votes_per_item - plan.pilot_votes))
    best = plan.cheapest or near
    return (
        f"To find that {plan.a} is better than {plan.b} by {plan.resolved:.3g} in "
        f"{titled(plan.metric)} with a chance of {plan.aim.power:.0%}, collect "
        f"{_items(best)}{_reason(plan, best)}."
    )


def _items(one: "Design") -> str:
    plural = "s" if one.votes_per_item > 1 else ""
    items = "item" if one.items == 1 else "items"
    return f"{one.items:,} {items} with {one.votes_per_item} vote{plural} each"


def _reason(plan: "Size", best: "Design") -> str:
    """Why this design of all."""
    if plan.cheapest is not None:
        return f" (the cheapest of these designs: {best.cost:,.6g})"
    if len(plan.designs) == 1:
        return ""
    same = abs(best.votes_per_item - plan.pilot_votes) < 0.05
    if plan.pilot_votes == 0:
        return " (every truth of the pilot is known, so it cannot tell what more votes bring)"
    why = (
        "as many votes per item as in the pilot"
        if same
        else f"of these designs the nearest to the {plan.pilot_votes:.3g} of the pilot"
    )
    fewest = min(plan.designs, key=lambda one: one.votes)
    other = (
        "the fewest votes in all"
        if fewest is best
        else f"fewest votes in all: {_items(fewest)}"
    )
    return f" ({why}; {other}; the prices of an item and of a vote would decide)"


def size_notices(plan: "Size", two: Pilot) -> list[str]:
    """Everything that limits what the plan can promise."""
    known = [*_difference(plan), *_votes(plan), *_gold(plan, two), *_people(plan, two)]
    rows = [(d.votes_per_item, d.power, d.simulated, d.monte_carlo_error)
            for d in plan.designs]  # fmt: skip
    return [*known, *_single(plan, two), *simulation_notices(rows, plan.aim.simulations)]


def _difference(plan: "Size") -> list[str]:
    """The pilot's own doubt about the difference."""
    if plan.resolved <= 1e-12:
        return []
    said = []
    if plan.aim.difference is None and plan.low <= 0:
        said.append(
            f"{OPEN}: {plan.difference:.3g} with an interval of [{plan.low:.3g}, "
            f"{plan.high:.3g}]. If it is 0, no study resolves it; if it is smaller than in the "
            "pilot, more items are needed (half the difference needs four times as many)."
        )
    return said


def _votes(plan: "Size") -> list[str]:
    """What votes alone can do on the items of the pilot."""
    if math.isnan(plan.spread.votes):
        return [
            "No item of the pilot has two votes, so nobody can say what a second vote on an "
            "item brings: only designs with one vote per item are planned."
        ]
    if not plan.designs:
        return []
    if plan.spread.items == 0:
        return [
            "The votes of the pilot explain all of its spread, so nothing can be said about "
            "what items add: designs with many votes on few items are too optimistic. Collect "
            "a larger pilot before trusting them."
        ]
    items, needed = plan.pilot_items, plan.votes_needed(plan.pilot_items)
    if math.isinf(needed):
        return [
            f"Votes alone cannot resolve it: with the {items:,} items of the pilot the items "
            "themselves vary too much, however many votes each has. More items are needed."
        ]
    if needed > plan.pilot_votes:
        return [f"With the {items:,} items of the pilot, {needed:,.0f} votes each would do."]
    return [f"The {items:,} items of the pilot would do with {needed:,.0f} votes each."]


def _gold(plan: "Size", two: Pilot) -> list[str]:
    """Known truths need no votes, in the pilot and in the study."""
    number = int(two.gold.sum())
    if not number or not plan.designs:
        return []
    which = "all" if number == plan.pilot_items else f"{number:,}"
    return [
        f"The truth of {which} of the {plan.pilot_items:,} items of the pilot is known. The "
        "plan takes it that the same share of the items of the study comes with a known truth, "
        "which is worth any number of votes."
    ]


def _people(plan: "Size", two: Pilot) -> list[str]:
    """People who lean one way do so on every item."""
    if not plan.designs or plan.spread.panel <= 0.1 * plan.spread.pilot:
        return []
    people = len(np.unique(two.votes.annotator[two.votes.annotator >= 0]))
    reach = plan.resolved / plan.spread.panel
    limit = f" {LIMIT}" if plan.power_with(plan.spread.panel) < plan.aim.power else ""
    return [
        f"The {people} {LEANING}: a standard error of {plan.spread.panel:.2g} stays "
        f"({reach:.2g} of them make the difference). {NEW_PEOPLE}{limit}"
    ]


def _single(plan: "Size", two: Pilot) -> list[str]:
    """Where the difference itself is another with other numbers of votes."""
    if not plan.designs or plan.aim.difference is not None:
        return []
    single = with_single_votes(two)
    if single is None:
        return []
    value = "undefined" if math.isnan(single) else f"{single:.3g}"
    return [
        f"By {titled(plan.metric)} {DEPENDS}: with a single vote on each item of the pilot it "
        f"is {value} and not {plan.difference:.3g}. {TRUST}"
    ]


def simulation_notices(
    rows: Sequence[tuple[int, float, float, float]], simulations: int
) -> list[str]:
    """Where simulated studies do not bear the formula out, or were not run.

    Parameters
    ----------
    rows
        Votes per item, chance by the formula, simulated chance and its error, of each design.
    simulations
        How many studies were asked for.
    """
    said = []
    off = [
        votes for votes, power, share, error in rows if abs(share - power) > 3 * error + 0.03
    ]
    if off:
        votes = ", ".join(map(str, off)) + (" vote" if off == [1] else " votes")
        said.append(
            f"Simulated studies do not bear out the formula for {votes} per item: trust "
            "the simulated chance, and take more items where it is lower."
        )
    if simulations and any(math.isnan(share) for _, _, share, _ in rows):
        said.append(
            "Designs with more votes per item than the pilot has, or more than 20,000 items, "
            "rest on the formula alone: they could not be simulated."
        )
    return said
