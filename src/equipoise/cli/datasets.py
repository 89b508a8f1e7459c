"""equipoise datasets, demo and reproduce: public data, a study to try, published numbers."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import typer

from equipoise.cli.command import verb
from equipoise.cli.options import Options
from equipoise.cli.screen import output, print_json, progress, say

if TYPE_CHECKING:
    from equipoise.datasets import Source
    from equipoise.datasets.reproduce import Reproduction

DEMO = Path("equipoise-demo")


@verb("as_json", texts={"as_json": "Print as JSON."})
def datasets(options: Options) -> None:
    """List the public data sets that equipoise can load.

    A set is looked for in the folder that EQUIPOISE_DATA names, then in the cache; else it is
    downloaded when first used and checked against its pinned hash. `--dataset NAME` gives it
    to `evaluate`, `aggregate`, `agreement` and `plan`.

    Example: equipoise evaluate --dataset chexpert
    """
    from equipoise.datasets import CATALOGUE, located

    places = {name: located(source) for name, source in CATALOGUE.items()}
    if options.as_json:
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


@verb(
    *("out", "seed", "overwrite", "as_json"),
    texts={
        "out": "Folder for the two input files, the run and the page. Default: equipoise-demo.",
        "seed": "Seed of the simulated readers.",
        "overwrite": "Replace an earlier demo in that folder.",
        "as_json": "Print the leaderboard as JSON, full precision.",
    },
)
def demo(options: Options) -> None:
    """Run a whole reading study on bundled data and open the doors to your own.

    Real tumours (Wisconsin breast cancer data), real classifiers trained on the spot, and a
    panel of eight SIMULATED readers of different skill and leaning. Writes the two input
    files, the run and the page.
    """
    from equipoise.cli.evaluate import Demonstration, run_evaluation
    from equipoise.datasets.demo import SIMULATED, write_study
    from equipoise.read.writing import check_folder
    from equipoise.report.run import RUN_FILES
    from equipoise.types import Nouns

    out = options.out or DEMO
    check_folder(out, RUN_FILES, overwrite=options.overwrite, where=f"--out {out}")
    with TemporaryDirectory() as place:
        with progress("training seven classifiers"):
            files = write_study(Path(place), options.seed)
        study = Options(
            annotations=[files[0]],
            predictions=[files[1]],
            positive="malignant",
            title="Demo: seven classifiers, eight simulated readers",
            out=out,
            overwrite=options.overwrite,
            as_json=options.as_json,
        )
        texts = {path.name: path.read_text(encoding="utf-8") for path in files}
        nouns = Nouns("tumour", "reader")
        run_evaluation(study, Demonstration(SIMULATED, nouns, texts))
    votes, scores = (out / name for name in texts)
    if options.as_json:
        say(SIMULATED)
    say(
        "The same by hand, and for your own two files:",
        f"  equipoise evaluate --annotations {votes} --positive malignant "
        f"--predictions {scores} --out my-run",
    )


@verb(
    *("name", "page", "as_json"),
    arguments=("name",),
    texts={
        "page": "File for a page with the table and its charts, ending in .html.",
        "as_json": "Print the recomputed rows at full precision, each with `value`, "
        "`published`, `tolerance` and `agrees` (null where nothing was published); without a "
        "name, the list.",
    },
)
def reproduce(options: Options) -> None:
    """Recompute a published table or figure from raw data and show both side by side.

    Example: equipoise reproduce dermatology-ddx --page dermatology.html
    """
    from equipoise.cli.results import check_target
    from equipoise.datasets.reproduce import CATALOGUE, recompute
    from equipoise.read.writing import write_text
    from equipoise.report.page import render
    from equipoise.types import nearest

    check_target("--page", options.page, (".html", ".htm"))
    name = options.name
    if name is None:
        _list(as_json=options.as_json)
        return
    if name not in CATALOGUE:
        message = f"got {name!r}, expected a known result; {nearest(name, CATALOGUE)}"
        raise typer.BadParameter(message, param_hint="NAME")
    with progress(f"recomputing {name}") as tell:
        result = recompute(name, tell)
    if options.page is not None:
        write_text(options.page, render(result.report()))
        say(f"Wrote {options.page}")
    if options.as_json:
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
