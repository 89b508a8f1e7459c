"""Planning: how large a study must be, for one pair or a whole ranking, as plain facts.

A plan for two models is the plan of a ranking with one pair.
"""

import math
from importlib.metadata import version
from statistics import NormalDist
from typing import Any

from equipoise.arrays import InputError, wrong_type
from equipoise.metrics import named
from equipoise.planning import NextForRanking, NextItems, RankingDesign, RankingPlan, Size
from equipoise.planning._ranking_words import stuck
from equipoise.run.planning_curves import contours, power_grid, power_rows
from equipoise.run.planning_words import components_finding
from equipoise.run.record import plain

Facts = dict[str, Any]
NORMAL = NormalDist()
OF_PAIR = ("a", "b", "pair_power")  # what a design for two models need not say


def plan_facts(
    planned: Size | RankingPlan, wanted: NextItems | NextForRanking | None = None
) -> Facts:
    """Everything about a plan, ready for JSON.

    Parameters
    ----------
    planned
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
    plan = _ranking(planned)
    first, ranking = plan.pairs[0], len(plan.pairs) > 1
    best = None if plan.recommended is None else _row(plan.recommended, ranking=ranking)
    hard = _hardest(plan)
    components = _components(hard, best)
    facts = {
        "schema": 1,
        "equipoise": version("equipoise"),
        "goal": "ranking" if ranking else "pair",
        "finding": plan.finding if ranking else first.finding,
        "metric": _metric(first.metric),
        "models": plan.models,
        "settings": _settings(plan),
        "pilot": {"items": first.pilot_items, "votes_per_item": first.pilot_votes},
        "hardest": {"a": hard.a, "b": hard.b},
        "recommended": best,
        "intervals": _intervals(hard, best),
        "designs": [_row(one, ranking=ranking) for one in plan.designs],
        "power": power_rows(plan),
        "contours": contours(plan),
        "components": components,
        "components_finding": components_finding(hard, components),
        "pairs": [_pair(one, best) for one in plan.pairs],
        "grid": power_grid(plan),
        "next": None if wanted is None else _next(wanted),
        "notices": _notices(plan, wanted),
    }
    return dict(plain(facts))


def _ranking(planned: Size | RankingPlan) -> RankingPlan:
    """Take a plan for two models as one for a ranking of two."""
    if isinstance(planned, RankingPlan):
        return planned
    if not isinstance(planned, Size):
        raise wrong_type("plan", planned, "a plan", "give what plan_size or plan_ranking found")
    designs = [
        RankingDesign(**one._asdict(), a=planned.a, b=planned.b, pair_power=one.power)
        for one in sorted(planned.designs)
    ]
    return RankingPlan(
        aim=planned.aim, pairs=(planned,), designs=tuple(designs), notices=planned.notices
    )


def _row(one: RankingDesign, *, ranking: bool) -> Facts:
    row: Facts = one._asdict()
    return {name: each for name, each in row.items() if ranking or name not in OF_PAIR}


def _notices(plan: RankingPlan, wanted: NextItems | NextForRanking | None) -> list[str]:
    """Every notice once."""
    return list(dict.fromkeys([*plan.notices, *(() if wanted is None else wanted.notices)]))


def _metric(name: str) -> Facts:
    """What the page says of the metric; one of the caller's own has but its name."""
    try:
        one = named(name)
    except InputError:
        return {"name": name, "title": name, "soft_title": f"soft {name}", "definition": ""}
    fields = ("name", "title", "soft_title", "definition")
    return {field: getattr(one, field) for field in fields}


def _settings(plan: RankingPlan) -> Facts:
    """What was asked."""
    names = (
        "power", "votes", "level", "difference", "price_item", "price_vote", "seed", "task",
        "simulations",
    )  # fmt: skip
    return {name: getattr(plan.aim, name) for name in names}


def _hardest(plan: RankingPlan) -> Size:
    """The pair that is hardest to tell apart; without a plan, one that cannot be."""
    best = plan.recommended
    if best is None:
        return min(plan.pairs, key=lambda one: one.difference)
    return next(one for one in plan.pairs if (one.a, one.b) == (best.a, best.b))


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
    """What one pair needs alone, and its chance in the planned study."""
    row: Facts = {
        "a": one.a, "b": one.b, "difference": one.difference, "low": one.low,
        "high": one.high, "resolved": one.resolved, "state": stuck(one) or "planned",
        "votes_per_item": None, "items": None, "items_error": None, "power_in_pilot": None,
        "power_in_study": None,
        "items_deviation": one.spread.items, "votes_deviation": one.spread.votes,
        "annotators_error": one.spread.panel,
    }  # fmt: skip
    if best is not None and one.designs:
        votes = best["votes_per_item"]
        design = next(each for each in one.designs if each.votes_per_item == votes)
        row |= {
            "votes_per_item": votes, "items": design.items, "items_error": design.items_error,
            "power_in_pilot": one.power_with(one.spread.pilot),
            "power_in_study": one.power(best["items"], votes),
        }  # fmt: skip
    return row


def _next(wanted: NextItems | NextForRanking) -> Facts:
    """The items that come next."""
    ranking = isinstance(wanted, NextForRanking)
    return {
        "goal": "ranking" if ranking else "pair",
        "finding": wanted.finding,
        "imagined": wanted.imagined,
        "rows": wanted.rows(),
    }
