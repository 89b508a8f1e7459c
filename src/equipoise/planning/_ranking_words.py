"""What the plan of a whole order comes to in words, true also where nothing can be planned."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from equipoise.metrics import titled
from equipoise.planning._words import (
    DEPENDS,
    LEANING,
    LIMIT,
    NEW_PEOPLE,
    OPEN,
    TRUST,
    simulation_notices,
)

if TYPE_CHECKING:
    from equipoise.planning.ranking import RankingDesign, RankingPlan
    from equipoise.planning.size import Size

LEVEL, ONE_WAY = "level", "no spread"
ALIKE = 1e-12
FAR = 20  # times the pilot
ALIKE_BUT_FOR_NUMBERS = {
    OPEN: f"{OPEN}, because its interval holds 0. If it is 0, no study resolves it; half the "
    "difference needs four times as many items.",
    LIMIT: f"The {LEANING}. {NEW_PEOPLE} {LIMIT}",
    LEANING: f"The {LEANING}. {NEW_PEOPLE}",
    DEPENDS: f"By this metric {DEPENDS}. {TRUST}",
}


def stuck(one: "Size") -> str:
    """Why no size can be planned for a pair; nothing where one is."""
    if one.designs:
        return ""
    return ONE_WAY if one.difference > ALIKE else LEVEL


def ranking_finding(plan: "RankingPlan") -> str:
    """How many items and votes the whole order needs, and which pair is the hardest."""
    level = [f"{one.a} and {one.b}" for one in plan.pairs if stuck(one) == LEVEL]
    one_way = [f"{one.a} and {one.b}" for one in plan.pairs if stuck(one) == ONE_WAY]
    said = []
    if level:
        said.append(
            f"No study can be planned for the whole order: {_joined(level)} are level in the "
            "pilot."
        )
    if one_way:
        said.append(
            f"No size can be planned for {_joined(one_way)}: every item of the pilot says the "
            "same about them."
        )
    best = plan.recommended
    return " ".join([*said, *([] if best is None else [_collect(plan, best)])])


def _collect(plan: "RankingPlan", best: "RankingDesign") -> str:
    """Say what to collect, for all pairs or for those that are left."""
    plural = "s" if best.votes_per_item > 1 else ""
    price = (
        "" if math.isnan(best.cost) else f" (the cheapest of these designs: {best.cost:,.2f})"
    )
    few = len(plan.planned)
    what = (
        f"the whole order of {len(plan.models)} models"
        if few == len(plan.pairs)
        else f"the order of the other {_pairs(few)}"
    )
    return (
        f"To find {what} by {titled(plan.pairs[0].metric)} with a chance of at least "
        f"{100 * plan.aim.power:.4g}%, collect {best.items:,} items with "
        f"{best.votes_per_item} vote{plural} each{price}; the pair that is hardest to tell "
        f"apart is {best.a} and {best.b}."
    )


def _pairs(number: int) -> str:
    return f"{number:,} pairs of neighbours" if number > 1 else "pair of neighbours"


def _joined(names: Sequence[str], most: int = 3) -> str:
    """Name a few, and say how many more there are."""
    shown = "; ".join(names[:most])
    return shown if len(names) <= most else f"{shown}; and {_more(len(names) - most)}"


def _more(number: int) -> str:
    return f"{number:,} more pairs" if number > 1 else "1 more pair"


def ranking_notices(plan: "RankingPlan") -> tuple[str, ...]:
    """Every notice once, with the pairs it is about where it is not about all."""
    told: dict[str, list[str]] = {}
    for one in plan.pairs:
        for notice in one.notices:
            told.setdefault(_shared(notice, len(plan.pairs)), []).append(f"{one.a} and {one.b}")
    said = [
        notice if len(pairs) == len(plan.pairs) else f"{_joined(pairs)}: {notice}"
        for notice, pairs in told.items()
    ]
    rows = [(d.votes_per_item, d.pair_power, d.simulated, d.monte_carlo_error)
            for d in plan.designs]  # fmt: skip
    return (*said, *simulation_notices(rows, plan.aim.simulations), *_far(plan))


def _shared(notice: str, pairs: int) -> str:
    """A notice without the numbers of its pair, where there are several."""
    known = [words for begin, words in ALIKE_BUT_FOR_NUMBERS.items() if begin in notice]
    return known[0] if known and pairs > 1 else notice


def _far(plan: "RankingPlan") -> list[str]:
    """Neighbours that hardly differ ask for more than anybody will collect."""
    least = min((one.items for one in plan.designs), default=0)
    few = len(plan.pairs) == 1 or least <= FAR * plan.pairs[0].pilot_items
    if few or plan.aim.difference is not None:
        return []
    return [
        f"The order asks for more than {FAR} times the items of the pilot, because some "
        "neighbours hardly differ: say which difference matters (difference=, --difference), "
        "and every pair is planned as if it were that far apart."
    ]
