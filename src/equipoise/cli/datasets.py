"""equipoise datasets: which public data sets there are, and where they lie."""

from typing import Annotated

import typer

from equipoise.cli._screen import output, print_json


def datasets(
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the public data sets that equipoise can load.

    A set is looked for in the folder that EQUIPOISE_DATA names, then in the cache; else it is
    downloaded when first used and checked against its pinned hash.
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
        screen.print(f"    {here if here else 'not here yet: downloaded when first used'}")
        screen.print(f"    licence: {source.licence}; cite: {source.citation}")
