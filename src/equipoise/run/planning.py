"""Planning: how large a study must be, for one pair or a whole ranking, as plain facts.

For a ranking the plan of every neighbouring pair must hold, so the largest one decides: of
each number of votes per item, the pair that needs most items. If each of the k - 1 pairs is
told apart with chance p_j, all are with a chance of at least 1 - sum of (1 - p_j), whatever
hangs together. Pairs that no size can be planned for are named, and left aside.
"""

import math
from collections.abc import Sequence
from importlib.metadata import version
from statistics import NormalDist
from typing import Any

from equipoise.arrays import InputError, wrong_type
from equipoise.metrics import named
from equipoise.planning import NextItems, Size
from equipoise.planning.next_for_ranking import NextForRanking
from equipoise.run.planning_curves import (
    contours,
    design_for,
    least_chance,
    power_grid,
    power_rows,
    shared_votes,
)
from equipoise.run.planning_words import (
    components_finding,
    notices_of,
    ranking_finding,
    stuck,
)
from equipoise.run.record import plain

Facts = dict[str, Any]
NORMAL = NormalDist()


def plan_facts(
    sizes: Size | Sequence[Size], wanted: NextItems | NextForRanking | None = None
) -> Facts:
    """Everything about a plan, ready for JSON.

    Parameters
    ----------
    sizes
        What `plan_size` or `plan_ranking` found.
    wanted
        What `next_items` or `next_for_ranking` found, if asked.

    Examples
    --------
    >>> from equipoise.demo import reading_study
    >>> from equipoise.planning import plan_size
    >>> readings, scores = reading_study()
    >>> facts = plan_facts(plan_size(scores, readings, simulations=0))
    >>> facts["goal"], facts["recommended"]["votes_per_item"]
    ('pair', 8)
    """
    plans = _plans(sizes)
    able = [one for one in plans if one.designs]
    designs = _designs(plans, able)
    best = _best(designs, plans[0])
    hard = _hardest(plans, able, best)
    power = _whole_power(plans)
    ranking = len(plans) > 1
    components = _components(hard, best)
    facts = {
        "schema": 1,
        "equipoise": version("equipoise"),
        "goal": "ranking" if ranking else "pair",
        "finding": ranking_finding(plans, power, best) if ranking else plans[0].finding,
        "metric": _metric(plans[0].metric),
        "models": (plans[0].a, *(one.b for one in plans)),
        "settings": _settings(plans, power),
        "pilot": {"items": plans[0].pilot_items, "votes_per_item": plans[0].pilot_votes},
        "hardest": {"a": hard.a, "b": hard.b},
        "recommended": best,
        "intervals": _intervals(hard, best),
        "designs": designs,
        "power": power_rows(able, designs),
        "contours": contours(able, power, len(plans)),
        "components": components,
        "components_finding": components_finding(hard, components),
        "pairs": [_pair(one, best) for one in plans],
        "grid": power_grid(able, designs),
        "next": None if wanted is None else _next(wanted),
        "notices": notices_of(plans, wanted),
    }
    return dict(plain(facts))


def _plans(sizes: Size | Sequence[Size]) -> tuple[Size, ...]:
    plans = (sizes,) if isinstance(sizes, Size) else tuple(sizes)
    for one in plans:
        if not isinstance(one, Size):
            raise wrong_type("plan", one, "sizes", "give what plan_size or plan_ranking found")
    if not plans:
        raise InputError("plan", "no sizes", "at least one", "give what plan_size found")
    return plans


def _whole_power(plans: tuple[Size, ...]) -> float:
    """Chance asked for all pairs together, of which each has its share."""
    return round(1 - (1 - plans[0].aim.power) * len(plans), 12)


def _metric(name: str) -> Facts:
    """What the page says of the metric; one of the caller's own has but its name."""
    try:
        one = named(name)
    except InputError:
        return {"name": name, "title": name, "soft_title": f"soft {name}", "definition": ""}
    fields = ("name", "title", "soft_title", "definition")
    return {field: getattr(one, field) for field in fields}


def _settings(plans: tuple[Size, ...], power: float) -> Facts:
    """What was asked; perhaps only the pairs that decide were simulated."""
    aim = plans[0].aim
    names = ("level", "difference", "price_item", "price_vote", "seed", "task")
    told = {name: getattr(aim, name) for name in names}
    told["simulations"] = max(one.aim.simulations for one in plans)
    return {"power": power, "pair_power": aim.power, "votes": aim.votes, **told}


def _designs(plans: tuple[Size, ...], able: list[Size]) -> list[Facts]:
    """Of each number of votes the largest plan, with the pair that needs it."""
    found: list[Facts] = []
    for votes in shared_votes(able):
        own = [(one, design_for(one, votes)) for one in able]
        hard, design = max(own, key=lambda pair: pair[1].items)
        row: Facts = design._asdict()
        if len(plans) > 1:
            row = {
                "votes_per_item": votes, "items": design.items,
                "items_error": design.items_error, "votes": design.votes,
                "cost": design.cost, "a": hard.a, "b": hard.b,
                "power": least_chance(able, design.items, votes), "pair_power": design.power,
                "simulated": design.simulated, "monte_carlo_error": design.monte_carlo_error,
            }  # fmt: skip
        found.append(row)
    return found


def _best(designs: list[Facts], first: Size) -> Facts | None:
    """The cheapest design, or without prices the one nearest to the pilot's votes."""
    if not designs:
        return None
    if not math.isnan(designs[0]["cost"]):
        return min(designs, key=lambda one: float(one["cost"]))
    return min(designs, key=lambda one: abs(one["votes_per_item"] - first.pilot_votes))


def _hardest(plans: tuple[Size, ...], able: list[Size], best: Facts | None) -> Size:
    """The pair that decides; without a plan, one that cannot be told apart."""
    if best is None:
        return min(plans, key=lambda one: one.difference)
    return max(able, key=lambda one: design_for(one, best["votes_per_item"]).items)


def _intervals(one: Size, best: Facts | None) -> list[Facts]:
    """The difference in the pilot, and the interval that the study is to find."""
    rows = [
        {
            "study": "pilot", "items": one.pilot_items, "votes_per_item": one.pilot_votes,
            "value": one.difference, "low": one.low, "high": one.high,
        }
    ]  # fmt: skip
    if best is not None:
        items, votes = best["items"], best["votes_per_item"]
        half = NORMAL.inv_cdf(0.5 + one.aim.level / 2) * one.standard_error(items, votes)
        rows.append(
            {
                "study": "planned", "items": items, "votes_per_item": votes,
                "value": one.resolved, "low": one.resolved - half,
                "high": one.resolved + half,
            }
        )  # fmt: skip
    return rows


def _components(one: Size, best: Facts | None) -> list[Facts]:
    """Standard errors by source, in the pilot and in the study; shares are of variances.

    Without two votes on any item, items stand for items and their votes together.
    """
    spread, number = one.spread, one.pilot_items
    items = spread.items / math.sqrt(number)
    votes = math.sqrt(max(spread.pilot**2 - items**2, 0.0))
    if math.isnan(spread.votes):
        items, votes = spread.pilot, math.nan
    pilot = {"items": items, "votes": votes, "annotators": spread.panel}
    planned = dict.fromkeys(pilot, math.nan)
    if best is not None:
        root = math.sqrt(best["items"])
        planned = {
            "items": spread.items / root,
            "votes": spread.votes / root / math.sqrt(best["votes_per_item"]),
            "annotators": spread.panel,
        }
    rows: list[Facts] = [{"source": name} for name in pilot]
    for study, errors in (("pilot", pilot), ("planned", planned)):
        known = [error for error in errors.values() if not math.isnan(error)]
        whole = sum(error**2 for error in known)
        for row in rows:
            error = errors[row["source"]]
            row[study] = error
            row[f"{study}_share"] = error**2 / whole if whole > 0 else math.nan
    return rows


def _pair(one: Size, best: Facts | None) -> Facts:
    """What one pair needs."""
    row: Facts = {
        "a": one.a, "b": one.b, "difference": one.difference, "low": one.low,
        "high": one.high, "resolved": one.resolved, "state": stuck(one) or "planned",
        "votes_per_item": None, "items": None, "items_error": None, "power_in_pilot": None,
        "items_deviation": one.spread.items, "votes_deviation": one.spread.votes,
        "annotators_error": one.spread.panel,
    }  # fmt: skip
    if best is not None and one.designs:
        design = design_for(one, best["votes_per_item"])
        row |= {
            "votes_per_item": design.votes_per_item, "items": design.items,
            "items_error": design.items_error,
            "power_in_pilot": one.power_with(one.spread.pilot),
        }  # fmt: skip
    return row


def _next(wanted: NextItems | NextForRanking) -> Facts:
    """The items that come next."""
    ranking = isinstance(wanted, NextForRanking)
    return {
        "goal": "ranking" if ranking else "pair",
        "finding": wanted.finding,
        "rows": wanted.rows(),
    }
