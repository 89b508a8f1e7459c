"""equipoise datasets: which public data sets there are, and where they lie."""

from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli._screen import output, print_json

if TYPE_CHECKING:
    from equipoise.datasets import Source


def datasets(
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the public data sets that equipoise can load.

    A set is looked for in the folder that EQUIPOISE_DATA names, then in the cache; else it is
    downloaded when first used and checked against its pinned hash. `--dataset NAME` gives it
    to `evaluate`, `stability`, `compare`, `aggregate`, `agreement` and `plan`.

    Example: equipoise stability --dataset chexpert
    """
    from equipoise.datasets import CATALOGUE, located

    places = {name: located(source) for name, source in CATALOGUE.items()}
    if as_json:
        print_json(
            [
                {
                    "name": name,
                    "title": source.title,
                    "folder": None if places[name] is None else str(places[name]),
                    "licence": source.licence,
                    "citation": source.citation,
                }
                for name, source in CATALOGUE.items()
            ]
        )
        return
    screen = output()
    for name, source in CATALOGUE.items():
        here = places[name]
        screen.print(f"[bold]{name}[/bold]  {source.title}")
        screen.print(f"    {here or _absent(source)}", markup=False)
        screen.print(f"    licence: {source.licence}; cite: {source.citation}")


def _absent(source: "Source") -> str:
    """What becomes of a set that is not here."""
    if source.published:
        return "not here yet: downloaded when first used"
    place = f"{source.folder or source.name}/"
    return f"not here, and no download is published: EQUIPOISE_DATA/{place} must hold it"
