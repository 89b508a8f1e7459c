"""equipoise reproduce: published numbers, recomputed from raw data."""

from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli._screen import output, print_json

if TYPE_CHECKING:
    from equipoise.reproduce import Reproduction


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(help="Which result; leave out for a list."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the recomputed rows at full precision.")
    ] = False,
) -> None:
    """Recompute a published table from raw data and show both side by side."""
    from equipoise.arrays import nearest
    from equipoise.reproduce import CATALOGUE

    if name is None:
        for one in CATALOGUE:
            print(one)
        return
    if name not in CATALOGUE:
        message = f"got {name!r}, expected a known result; {nearest(name, CATALOGUE)}"
        raise typer.BadParameter(message, param_hint="NAME")
    result = CATALOGUE[name]()
    if as_json:
        print_json(list(result.rows))
    else:
        _show(result)


def _show(result: "Reproduction") -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=result.title, title_justify="left", title_style="bold")
    for key in result.keys:
        table.add_column(key)
    for column in result.columns:
        table.add_column(column.replace("_", " "), justify="right")
        table.add_column("published", justify="right", style="dim")
    for row in result.rows:
        published = result.published.get(tuple(str(row[key]) for key in result.keys), {})
        cells = []
        for column in result.columns:
            cells.append(f"{row[column]:.4f}")
            cells.append(f"{published[column]:.3f}" if column in published else "-")
        table.add_row(*(escape(str(row[key])) for key in result.keys), *cells)
    agree, cells_in_all = result.agreement()
    screen = output()
    screen.print(table)
    screen.print(f"Published: {result.source}")
    screen.print(
        f"{agree} of {cells_in_all} published cells agree within {result.tolerance:g}."
    )
    screen.print(*result.notes, sep="\n")
