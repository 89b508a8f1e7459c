"""Stability in a terminal: the verdict, then every finding with the few numbers behind it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from equipoise.cli._stability_cells import share
from equipoise.cli._stability_legends import LEGENDS
from equipoise.cli._stability_lines import LINES, here

if TYPE_CHECKING:
    from rich.console import Console

Facts = Mapping[str, Any]
MOST = 12  # lines of a table
LIKELY = 3  # models that are named with their chance to be best
TITLES = {
    "ranking": "Data drawn anew",
    "flips": "What the lead hangs on",
    "leave_one_out": "Without one annotator",
    "vote_cutoffs": "Items with more votes",
    "panel_size": "Smaller panels",
    "experts": "Models among the experts",
    "critical_difference": "Ranks averaged over tasks",
    "choices": "Other aggregation models",
    "components": "Where the spread comes from",
    "subgroups": "Groups of items",
    "threshold_sweep": "Another majority",
    "certainty": "Clear cases alone",
}


def show(console: "Console", facts: Facts) -> None:
    """Print the verdict, every analysis and what was left out; no note is printed twice."""
    said = set(facts["notices"])
    for sentence in verdict(facts):
        console.print(sentence, markup=False, style="bold")
    console.print()
    for name, title in TITLES.items():
        found = facts.get(name, {})
        if "rows" not in found:
            continue
        console.print(f"[bold]{title}[/bold]")
        for sentence in found.get("findings", [found["finding"]]):
            console.print(sentence, markup=False)
        heads, lines = LINES[name](found, facts)
        print_table(console, heads, lines, LEGENDS[name])
        _sign_test(console, found, facts)
        for note in (one for one in found["notices"] if one not in said):
            console.print(f"Note: {note}", markup=False, style="dim")
        said |= set(found["notices"])
        console.print()
    for name, title in TITLES.items():
        if "left_out" in facts.get(name, {}):
            why = facts[name]["left_out"].removesuffix(".")
            console.print(f"Left out: {title.lower()} ({why}).", markup=False)


def verdict(facts: Facts) -> list[str]:
    """Who leads and by how much, as the page says it; then who is best how often."""
    from equipoise.analyses.words import REDRAWN, joined
    from equipoise.report.stability_head import headline
    from equipoise.report.stability_rows import cast_of

    lead = facts["lead"]
    said = [headline(lead, cast_of(facts), f"{100 * facts['settings']['level']:g}%")]
    every = sorted((row for row in lead["rows"] if row["p_best"]), key=_less_likely)
    likely = [
        row for n, row in enumerate(every) if n < LIKELY or row["model"] in lead["leaders"]
    ]
    if len(lead["rows"]) > 1 and likely:
        drawn = REDRAWN.get(lead["kind"], lead["kind"])
        chances = joined([f"{one['model']} {share(one['p_best'])}" for one in likely])
        said.append(f"P(best) with {drawn} drawn anew: {chances}.")
    return said


def _less_likely(row: Facts) -> float:
    return -float(row["p_best"])


def print_table(
    console: "Console", heads: Sequence[str], lines: list[list[str]], legend: str = ""
) -> None:
    """Print the first lines of a table and what its columns mean.

    Numbers stand right; empty columns are left out.
    """
    from rich.markup import escape
    from rich.table import Table

    if not lines:
        return
    table = Table()
    filled = [number for number in range(len(heads)) if any(line[number] for line in lines)]
    for number in filled:
        justify: Literal["left", "right"] = "left" if _words(lines, number) else "right"
        table.add_column(escape(heads[number]), justify=justify)
    for line in lines[:MOST]:
        table.add_row(*(escape(line[number]) for number in filled))
    console.print(table)
    if len(lines) > MOST:
        console.print(f"... and {len(lines) - MOST:,} more; --out and --json have all.")
    if legend:
        console.print(legend, markup=False, style="dim")


def _sign_test(console: "Console", found: Facts, facts: Facts) -> None:
    """The published test, where it was asked for, and why not to believe it."""
    rows = here(found.get("sign_test", ()), facts)
    for row in rows:
        console.print(
            f"Sign test ({row['kind']}): soft labels win {row['wins']:,}, lose "
            f"{row['losses']:,}, tie {row['ties']:,}; p = {row['p_value']:.2g}.",
            markup=False,
        )
    if rows:
        console.print(rows[0]["warning"], markup=False)


def _words(lines: list[list[str]], number: int) -> bool:
    return any(line[number][:1].isalpha() and line[number] != "inf" for line in lines)
