"""A plan in a terminal: the pilot, the designs, the votes that come next."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from equipoise.cli._hints import in_options

if TYPE_CHECKING:
    from rich.console import Console

    from equipoise.planning import NextItems, Size
    from equipoise.planning.next_for_ranking import NextForRanking

    Wanted = NextItems | NextForRanking

SHOWN = 10
PAIRS = "Items needed: with the votes per item of the plan named below."
LEGEND = "Votes needed: on each of so many items, for the chance that was asked for."


def show(console: "Console", size: "Size", wanted: "Wanted | None") -> None:
    """Print the plan."""
    console.print(
        f"Pilot: {size.a} is better than {size.b} by {size.difference:.3g} "
        f"[{size.low:.3g}, {size.high:.3g}] in {size.metric} (soft labels), on "
        f"{size.pilot_items:,} items with {size.pilot_votes:.3g} votes each.",
        markup=False,
    )
    if size.designs:
        _designs(console, size)
        _power(console, size)
    console.print(in_options(size.finding), markup=False)
    if wanted is not None:
        _next(console, wanted)


def show_ranking(console: "Console", facts: Mapping[str, Any]) -> None:
    """Print the plan for a whole order: what it comes to, its designs, and every pair."""
    from equipoise.cli._stability_screen import print_table

    pilot = facts["pilot"]
    console.print(
        f"Pilot: {len(facts['models'])} models by {facts['metric']['name']} (soft labels), on "
        f"{pilot['items']:,} items with {pilot['votes_per_item']:.3g} votes each.",
        markup=False,
    )
    heads = ("votes per item", "items needed", "votes in all", "cost", "the pair that decides")
    print_table(console, heads, [_design_line(one) for one in facts["designs"]])
    console.print("Each model against the next", style="bold")
    heads = ("better", "than", "by", "items needed", "state")
    print_table(console, heads, [_pair_line(one) for one in facts["pairs"]], PAIRS)
    console.print(facts["finding"], markup=False)
    found = facts["next"]
    if found is not None:
        names = list(found["rows"][0])
        print_table(console, names, [[_cell(row[n]) for n in names] for row in found["rows"]])
        console.print(found["finding"], markup=False)


def _design_line(one: Mapping[str, Any]) -> list[str]:
    cost = "" if one["cost"] is None else money(float(one["cost"]))
    pair = f"{one['a']} and {one['b']}" if "a" in one else ""
    return [f"{one['votes_per_item']}", f"{one['items']:,}", f"{one['votes']:,}", cost, pair]


def _pair_line(one: Mapping[str, Any]) -> list[str]:
    gap = f"{one['difference']:.3g} [{one['low']:.3g}, {one['high']:.3g}]"
    items = "" if one["items"] is None else f"{one['items']:,}"
    return [one["a"], one["b"], gap, items, one["state"]]


def _cell(value: Any) -> str:
    return f"{value:.2g}" if isinstance(value, float) else f"{value}"


def _designs(console: "Console", size: "Size") -> None:
    from rich.table import Table

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

    title = f"Votes that tell most (first {min(SHOWN, len(wanted.items))})"
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("item")
    for name in ("votes so far", "soft label", "expected gain"):
        table.add_column(name, justify="right")
    for row in wanted.rows()[:SHOWN]:
        table.add_row(
            escape(row["item"]), f"{row['votes so far']}", f"{row['soft label']:.2f}",
            f"{row['expected gain']:.2g}",
        )  # fmt: skip
    console.print(table)
    if len(wanted.items) > SHOWN:
        console.print(f"... and {len(wanted.items) - SHOWN:,} more; --out and --json have all.")
    console.print(wanted.finding, markup=False)


def money(cost: float) -> str:
    """A price with as many decimals as it deserves.

    Examples
    --------
    >>> money(141582.4), money(12.5)
    ('141,582', '12.50')
    """
    return f"{cost:,.0f}" if cost >= 100 else f"{cost:.2f}"


def _about(items: int, error: float) -> str:
    return f"{items:,}" if math.isnan(error) else f"{items:,} ± {error:,.0f}"


def _simulated(share: float, error: float) -> str:
    return "" if math.isnan(share) else f"{share:.0%} ± {error:.0%}"


def _needed(votes: float) -> str:
    if math.isnan(votes):
        return ""
    return "no number is enough" if math.isinf(votes) else f"{votes:,.0f}"
