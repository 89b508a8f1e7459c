"""Screen: a report in a terminal, the answer first.

Each finding is its title, its sentences and the brief rows of its first table; what the data
did not allow comes last, with the reasons. Names are shown as text: markup and control
characters in them do nothing.
"""

from collections.abc import Sequence
from typing import Literal

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from equipoise.types.findings.record import Finding, Report, Row, Table, cell
from equipoise.types.words import in_command, printable

MOST = 12  # rows of a brief table


def show(console: Console, report: Report, *, verbose: bool = False) -> None:
    """Print what a report says; `verbose` shows every row, table and note."""
    findings = report.findings if verbose else report.in_front
    for finding in findings:
        if (finding.brief or verbose) and not finding.left_out:
            _finding(console, finding, verbose=verbose)
    missing = [one for one in findings if one.left_out]
    if missing:
        console.print("[bold]Not looked at, and why[/bold]")
        for finding in missing:
            console.print(
                _text(f"{finding.title}: {in_command(finding.sentence)}"), style="dim"
            )


def _finding(console: Console, finding: Finding, *, verbose: bool) -> None:
    console.print(f"[bold]{_text(finding.title)}[/bold]")
    for sentence in (finding.sentence, *finding.more):
        if sentence:
            console.print(_text(in_command(sentence)))
    for table in finding.tables if verbose else finding.tables[:1]:
        rows = table.rows if verbose or table.brief is None else table.brief
        if rows:
            _table(console, table, rows, most=None if verbose else MOST)
    if verbose and finding.note:
        console.print(_text(finding.note), style="dim")
    console.print()


def _table(console: Console, table: Table, rows: Sequence[Row], *, most: int | None) -> None:
    columns = [column for column in table.columns if column.brief or most is None]
    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        side: Literal["left", "right"] = "left" if column.is_text else "right"
        drawn.add_column(_text(column.head), justify=side, overflow="fold")
    for row in rows[:most]:
        drawn.add_row(*(_text(cell(row, column)) for column in columns))
    console.print(drawn)
    if most is not None and len(rows) > most:
        console.print(f"... and {len(rows) - most:,} more rows", style="dim")
    if table.legend:
        console.print(_text(table.legend), style="dim")


def _text(words: str) -> str:
    return escape(printable(words))
