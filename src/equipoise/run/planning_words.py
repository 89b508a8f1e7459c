"""What a plan comes to in words, true also where nothing can be planned."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.metrics import titled
from equipoise.planning import NextItems, Size
from equipoise.planning.next_for_ranking import NextForRanking

LEVEL, ONE_WAY = "level", "no spread"
SOURCES = {"items": "the items", "votes": "single votes", "annotators": "who votes"}
ALIKE = 1e-12
FAR = 20  # times the pilot


def stuck(one: Size) -> str:
    """Why no size can be planned for a pair; nothing where one is."""
    if one.designs:
        return ""
    return ONE_WAY if one.difference > ALIKE else LEVEL


def ranking_finding(plans: Sequence[Size], power: float, best: Mapping[str, Any] | None) -> str:
    """How many items and votes the whole order needs, and which pair decides."""
    metric, number = titled(plans[0].metric), len(plans) + 1
    level = [f"{one.a} and {one.b}" for one in plans if stuck(one) == LEVEL]
    one_way = [f"{one.a} and {one.b}" for one in plans if stuck(one) == ONE_WAY]
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
    if best is None:
        return " ".join(said)
    plural = "s" if best["votes_per_item"] > 1 else ""
    cost = float(best["cost"])
    price = "" if math.isnan(cost) else f" (the cheapest of these designs: {cost:,.2f})"
    what = (
        f"the order of the other {_pairs(len(plans) - len(said_pairs))}"
        if (said_pairs := [*level, *one_way])
        else f"the whole order of {number} models"
    )
    said.append(
        f"To find {what} by {metric} with a chance of at least {100 * power:.4g}%, collect "
        f"{best['items']:,} items with {best['votes_per_item']} vote{plural} each{price}; the "
        f"pair that needs most is {best['a']} and {best['b']}."
    )
    return " ".join(said)


def _pairs(number: int) -> str:
    return f"{number:,} pairs of neighbours" if number > 1 else "pair of neighbours"


def _joined(names: Sequence[str], most: int = 3) -> str:
    """Name a few, and say how many more there are."""
    shown = "; ".join(names[:most])
    return shown if len(names) <= most else f"{shown}; and {len(names) - most} more pairs"


def components_finding(one: Size, rows: Sequence[Mapping[str, Any]]) -> str:
    """Where the doubt of the pilot comes from, and what would lessen it."""
    share = {str(row["source"]): float(row["pilot_share"]) for row in rows}
    pair = f"{one.a} and {one.b}"
    if all(math.isnan(part) for part in share.values()):
        return f"Every item of the pilot says the same about {pair}: no doubt to divide."
    if math.isnan(share["votes"]):
        return (
            "No item of the pilot has two votes, so what items and what single votes add to "
            f"the doubt about {pair} cannot be told apart."
        )
    most = max(share, key=lambda name: share[name])
    votes = f"{share['votes']:.0%} of it"
    cure = {
        "items": f"more votes on the same items could remove at most {votes}",
        "votes": f"more votes on the same items could remove up to {votes}",
        "annotators": "neither more items nor more votes of the same people lessen that; "
        "other people do",
    }
    return (
        f"Most of the doubt about {pair} in the pilot comes from {SOURCES[most]} "
        f"({share[most]:.0%} of the variance): {cure[most]}."
    )


def notices_of(plans: Sequence[Size], wanted: NextItems | NextForRanking | None) -> list[str]:
    """Every notice once, with the pairs it is about where it is not about all."""
    told: dict[str, list[str]] = {}
    for one in plans:
        for notice in one.notices:
            told.setdefault(notice, []).append(f"{one.a} and {one.b}")
    said = [
        notice if len(pairs) == len(plans) else f"{_joined(pairs)}: {notice}"
        for notice, pairs in told.items()
    ]
    said += _far(plans) if len(plans) > 1 else []
    more = () if wanted is None else wanted.notices
    return [*said, *(notice for notice in more if notice not in told)]


def _far(plans: Sequence[Size]) -> list[str]:
    """Neighbours that hardly differ ask for more than anybody will collect."""
    able = [one for one in plans if one.designs]
    most = max((min(design.items for design in one.designs) for one in able), default=0)
    if most <= FAR * plans[0].pilot_items or plans[0].aim.difference is not None:
        return []
    return [
        f"The order asks for more than {FAR} times the items of the pilot, because some "
        "neighbours hardly differ: say which difference matters (difference=, --difference), "
        "and every pair is planned as if it were that far apart."
    ]
