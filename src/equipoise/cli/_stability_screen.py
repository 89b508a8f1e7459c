"""Tables in a terminal: numbers right, empty columns left out, a line on what columns mean."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.console import Console

MOST = 12  # lines of a table


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


def _words(lines: list[list[str]], number: int) -> bool:
    return any(line[number][:1].isalpha() and line[number] != "inf" for line in lines)
