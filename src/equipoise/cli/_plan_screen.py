"""A plan in a terminal: the pilot, the designs, the votes that come next."""

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from equipoise.planning import NextItems, Size

SHOWN = 10


def facts(size: "Size", wanted: "NextItems | None") -> dict[str, Any]:
    """Everything, for JSON."""
    told: dict[str, Any] = {
        "metric": size.metric,
        "models": [size.a, size.b],
        "pilot": {
            "items": size.pilot_items,
            "votes_per_item": size.pilot_votes,
            "difference": size.difference,
            "low": size.low,
            "high": size.high,
        },
        "resolved": size.resolved,
        "spread": {
            "items": size.spread.items,
            "votes": size.spread.votes,
            "panel": size.spread.panel,
        },
        "designs": size.rows(),
        "grid": size.grid(),
        "finding": size.finding,
        "notices": list(size.notices),
    }
    if wanted is not None:
        told["next"] = {"finding": wanted.finding, "items": wanted.rows()}
    return told


def show(console: "Console", size: "Size", wanted: "NextItems | None") -> None:
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
    console.print(size.finding, markup=False)
    if wanted is not None:
        _next(console, wanted)


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


def _next(console: "Console", wanted: "NextItems") -> None:
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
