"""What a plan should tell besides its numbers, one sentence each."""

import math
from typing import TYPE_CHECKING

import numpy as np

from equipoise.metrics import titled
from equipoise.planning._pilot import Pilot

if TYPE_CHECKING:
    from equipoise.planning.size import Design, Size


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
    return [*_difference(plan), *_votes(plan), *_people(plan, two), *_simulated(plan)]


def _difference(plan: "Size") -> list[str]:
    """The pilot's own doubt about the difference."""
    if plan.resolved <= 1e-12:
        return []
    said = []
    if plan.aim.difference is None and plan.low <= 0:
        said.append(
            f"The pilot itself leaves open whether there is a difference: "
            f"{plan.difference:.3g} with an interval of [{plan.low:.3g}, {plan.high:.3g}]. If "
            "it is 0, no study resolves it; if it is smaller than in the pilot, more items are "
            "needed (half the difference needs four times as many)."
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


def _people(plan: "Size", two: Pilot) -> list[str]:
    """People who lean one way do so on every item."""
    if not plan.designs or plan.spread.panel <= 0.1 * plan.spread.pilot:
        return []
    people = len(np.unique(two.votes.annotator[two.votes.annotator >= 0]))
    reach = plan.resolved / plan.spread.panel
    limit = (
        " With these people alone that is too much to resolve the difference, whatever the "
        "number of items: ask others, too."
        if plan.power_with(plan.spread.panel) < plan.aim.power
        else ""
    )
    return [
        f"The {people} annotators lean in ways that more items do not even out: a standard "
        f"error of {plan.spread.panel:.2g} stays ({reach:.2g} of them make the difference). "
        f"The plan counts votes as independent, as from ever new people.{limit}"
    ]


def _simulated(plan: "Size") -> list[str]:
    """Where simulated studies do not bear the formula out, or were not run."""
    said = []
    off = [
        one
        for one in plan.designs
        if abs(one.simulated - one.power) > 3 * one.monte_carlo_error + 0.03
    ]
    if off:
        votes = ", ".join(str(one.votes_per_item) for one in off)
        said.append(
            f"Simulated studies do not bear out the formula for {votes} votes per item: trust "
            "the simulated chance, and take more items where it is lower."
        )
    if plan.aim.simulations and any(math.isnan(one.simulated) for one in plan.designs):
        said.append(
            "Designs with more votes per item than the pilot has, or more than 20,000 items, "
            "rest on the formula alone: they could not be simulated."
        )
    return said
