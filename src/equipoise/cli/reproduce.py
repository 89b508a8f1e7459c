"""equipoise reproduce: published numbers, recomputed from raw data."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli._screen import output, print_json, progress

if TYPE_CHECKING:
    from equipoise.datasets.reproduce import Reproduction


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(help="Which result; leave out for a list."),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print the recomputed rows at full precision, each with `value`, "
            "`published`, `tolerance` and `agrees` (null where nothing was published); "
            "without a name, the list.",
        ),
    ] = False,
) -> None:
    """Recompute a published table from raw data and show both side by side."""
    from equipoise.datasets.reproduce import CATALOGUE, recompute
    from equipoise.types.arrays import nearest

    if name is None:
        _list(as_json=as_json)
        return
    if name not in CATALOGUE:
        message = f"got {name!r}, expected a known result; {nearest(name, CATALOGUE)}"
        raise typer.BadParameter(message, param_hint="NAME")
    with progress(f"recomputing {name}") as tell:
        result = recompute(name, tell)
    if as_json:
        print_json(result.record())
    else:
        _show(result)


def _list(*, as_json: bool) -> None:
    """Print names and first lines of what can be reproduced."""
    from equipoise.datasets.reproduce import CATALOGUE, describe

    rows = [{"name": name, "description": describe(name)} for name in CATALOGUE]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        print(f"{row['name']:<22}{row['description']}")


def _show(result: "Reproduction") -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=result.title, title_justify="left", title_style="bold")
    for key in result.keys:
        table.add_column(key)
    for column in result.columns:
        table.add_column(column.replace("_", " "), justify="right")
        if column in result.compared():
            table.add_column("published", justify="right", style="dim")
    by_row = isinstance(result.tolerance, Mapping)
    if by_row:
        table.add_column("tolerance", justify="right", style="dim")
    for row in result.rows:
        table.add_row(*map(escape, _cells(result, row)))
    screen = output()
    screen.print(table)
    screen.print(f"Published: {result.source}")
    screen.print(result.verdict())
    screen.print(*result.notes, sep="\n")


def _cells(result: "Reproduction", row: Mapping[str, str | float]) -> list[str]:
    """One row of the table, as text."""
    key = result.key(row)
    published = result.published.get(key, {})
    cells = list(key)
    for column in result.columns:
        ours, theirs = result.formats.get(column, (".4f", ".3f"))
        cells.append(format(row[column], ours))
        if column in result.compared():
            cells.append(format(published[column], theirs) if column in published else "-")
    if isinstance(result.tolerance, Mapping):
        cells.append(f"{result.tolerance[key]:.2g}" if key in result.tolerance else "-")
    return cells
