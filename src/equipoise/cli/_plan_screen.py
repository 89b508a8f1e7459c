"""A plan in a terminal: the pilot, the designs, the votes that come next."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from equipoise.wording import in_command

if TYPE_CHECKING:
    from rich.console import Console

    from equipoise.planning import NextForRanking, NextItems, RankingPlan, Size

    Wanted = NextItems | NextForRanking

SHOWN = 10
PAIRS = (
    "Items alone: what the pair needs by itself for the chance asked for, with the votes per "
    "item of the plan named below. Chance in the study: that of the pair in this plan."
)
GAIN = {
    "pair": "Expected gain: by how much one more vote on the item is expected to lower the "
    "variance of the difference, in squared units of the metric.",
    "ranking": "Expected gain: the fall, by one more vote on the item, of the number of pairs "
    "of neighbours that two redraws of what all voters would say put in different order.",
}
LEGEND = "Votes needed: on each of so many items, for the chance that was asked for."


def show(
    console: "Console",
    found: "Size | RankingPlan",
    wanted: "Wanted | None",
    facts: Mapping[str, Any],
) -> None:
    """Print the plan for two models, or for a whole order."""
    from equipoise.planning import Size

    if isinstance(found, Size):
        _show_pair(console, found, wanted)
    else:
        _show_ranking(console, facts)


def _show_pair(console: "Console", size: "Size", wanted: "Wanted | None") -> None:
    from equipoise.export.titles import metric_title

    console.print(
        f"Pilot: {size.a} is better than {size.b} by {size.difference:.3g} "
        f"[{size.low:.3g}, {size.high:.3g}] in {metric_title(size.metric)} (soft labels), on "
        f"{size.pilot_items:,} items with {_each(size.pilot_votes)} each.",
        markup=False,
    )
    if size.designs:
        _designs(console, size)
        _power(console, size)
    console.print(in_command(size.finding), markup=False)
    if wanted is not None:
        _next(console, wanted)


def _show_ranking(console: "Console", facts: Mapping[str, Any]) -> None:
    """Print the plan for a whole order: what it comes to, its designs, and every pair."""
    from equipoise.cli._stability_screen import print_table

    pilot = facts["pilot"]
    console.print(
        f"Pilot: {len(facts['models'])} models by {facts['metric']['title']} (soft labels), on "
        f"{pilot['items']:,} items with {_each(pilot['votes_per_item'])} each.",
        markup=False,
    )
    heads = (
        "votes per item", "items needed", "votes in all", "cost", "chance, at least",
        "hardest pair", "its chance", "simulated",
    )  # fmt: skip
    print_table(console, heads, [_design_line(one) for one in facts["designs"]])
    console.print("Each model against the next", style="bold")
    of_pair = ("better", "than", "by", "items alone", "chance in the study", "state")
    print_table(console, of_pair, [_pair_line(one) for one in facts["pairs"]], PAIRS)
    console.print(facts["finding"], markup=False)
    found = facts["next"]
    if found is not None:
        names = list(found["rows"][0]) if found["rows"] else []
        lines = [[_cell(row[name]) for name in names] for row in found["rows"][:SHOWN]]
        if lines:
            console.print(_first(len(found["rows"])), style="bold")
            print_table(console, names, lines, GAIN["ranking"])
        _rest(console, len(found["rows"]))
        console.print(found["finding"], markup=False)


def _design_line(one: Mapping[str, Any]) -> list[str]:
    from equipoise.report.numerals import percent
    from equipoise.report.plan_rows import money

    cost = "" if one["cost"] is None else money(float(one["cost"]))
    pair = f"{one['a']} and {one['b']}" if "a" in one else ""
    own = "" if "a" not in one else percent(one["pair_power"])
    share, error = one["simulated"], one["monte_carlo_error"]
    drawn = "" if share is None else _simulated(share, error)
    return [
        f"{one['votes_per_item']}", f"{one['items']:,}", f"{one['votes']:,}", cost,
        percent(one["power"]), pair, own, drawn,
    ]  # fmt: skip


def _pair_line(one: Mapping[str, Any]) -> list[str]:
    from equipoise.report.numerals import percent

    gap = f"{one['difference']:.3g} [{one['low']:.3g}, {one['high']:.3g}]"
    items = "" if one["items"] is None else f"{one['items']:,}"
    chance = "" if one["items"] is None else percent(one["power_in_study"])
    return [one["a"], one["b"], gap, items, chance, one["state"]]


def _cell(value: Any) -> str:
    return f"{value:.2g}" if isinstance(value, float) else f"{value}"


def _designs(console: "Console", size: "Size") -> None:
    from rich.table import Table

    from equipoise.report.plan_rows import money

    table = Table(
        title=f"Studies that resolve {size.resolved:.3g} with a chance of {size.aim.power:.0%}",
        title_justify="left", title_style="bold",
    )  # fmt: skip
    priced = size.cheapest is not None
    names = ["votes per item", "items needed", "votes in all", *(["cost"] if priced else [])]
    for name in (*names, "chance by formula", "simulated"):
        table.add_column(name, justify="right")
    for one in size.designs:
        cost = [money(one.cost)] if priced else []
        table.add_row(
            f"{one.votes_per_item}", _about(one.items, one.items_error), f"{one.votes:,}",
            *cost,
            f"{one.power:.0%}", _simulated(one.simulated, one.monte_carlo_error),
        )  # fmt: skip
    console.print(table)


def _power(console: "Console", size: "Size") -> None:
    from rich.table import Table

    table = Table(title="Chance of resolving it", title_justify="left", title_style="bold")
    table.add_column("items", justify="right")
    rows = size.grid()
    for name in rows[0]:
        if name.startswith("power_"):
            number = name.removeprefix("power_")
            table.add_column(f"{number} vote{'' if number == '1' else 's'}", justify="right")
    table.add_column("votes needed", justify="right")
    for row in rows:
        powers = [f"{value:.0%}" for name, value in row.items() if name.startswith("power_")]
        table.add_row(f"{row['items']:,}", *powers, _needed(row["votes_needed"]))
    console.print(table)
    console.print(LEGEND, markup=False, style="dim")


def _next(console: "Console", wanted: "Wanted") -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=_first(len(wanted.items)), title_justify="left", title_style="bold")
    table.add_column("item")
    for name in ("votes so far", "soft label", "expected gain"):
        table.add_column(name, justify="right")
    for row in wanted.rows()[:SHOWN]:
        table.add_row(
            escape(row["item"]), f"{row['votes so far']}", f"{row['soft label']:.2f}",
            f"{row['expected gain']:.2g}",
        )  # fmt: skip
    if wanted.items:
        console.print(table)
        console.print(GAIN["pair"], markup=False, style="dim")
    _rest(console, len(wanted.items))
    console.print(wanted.finding, markup=False)


def _first(number: int) -> str:
    return f"Votes that tell most (first {min(SHOWN, number)})"


def _rest(console: "Console", number: int) -> None:
    if number > SHOWN:
        console.print(f"... and {number - SHOWN:,} more; --out and --json have all.")


def _each(votes: float) -> str:
    """Votes on each item of the pilot; none where all truths are known."""
    if votes == 0:
        return "a known truth"
    return f"{votes:.3g} vote{'' if votes == 1 else 's'}"


def _about(items: int, error: float) -> str:
    return f"{items:,}" if math.isnan(error) else f"{items:,} ± {error:,.0f}"


def _simulated(share: float, error: float) -> str:
    return "" if math.isnan(share) else f"{share:.0%} ± {error:.0%}"


def _needed(votes: float) -> str:
    if math.isnan(votes):
        return ""
    return "no number is enough" if math.isinf(votes) else f"{votes:,.0f}"
