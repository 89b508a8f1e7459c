"""equipoise report: a run folder becomes one page."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.arrays import InputError
from equipoise.cli._screen import counted, print_json, say

if TYPE_CHECKING:
    from equipoise.run import Run

TABLES = (
    "title", "settings", "rows", "differences", "rank_probabilities", "rank_correlation",
    "annotators", "agreement", "notices",
)  # fmt: skip


def report(
    run: Annotated[Path, typer.Argument(help="Folder that `equipoise evaluate --out` wrote.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Where to write the page. Default: report.html in the run folder."),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            help="In place of the page: a new folder for the tables (CSV, Markdown, LaTeX), a "
            "methods paragraph and its references (BibTeX)."
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier export in that folder.")
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print the run's tables as JSON, full precision; a page is then written only "
            "with --out.",
        ),
    ] = False,
) -> None:
    """Turn a run into one self-contained HTML page.

    The page holds everything, asks the network for nothing, and can be mailed or printed.

    Example: equipoise report run --out page.html

    Example: equipoise report run --export paper
    """
    if overwrite and export is None:
        message = "belongs to --export; a page is always written anew"
        raise typer.BadParameter(message, param_hint="--overwrite")
    if export is not None:
        _export(run, export, overwrite=overwrite)
        return
    from equipoise.cli.targets import check_folder
    from equipoise.run import Run

    check_folder("--out", None if out is None else out.absolute().parent)
    made = Run.load(run)
    if out is not None or not as_json:
        _write(made, out or (run if run.is_dir() else run.parent) / "report.html")
    if as_json:
        print_json({name: made.header[name] for name in TABLES if name in made.header})


def write_page(run: Path, page: Path) -> None:
    """Render a run folder into a file."""
    from equipoise.run import Run

    _write(Run.load(run), page)


def _write(made: "Run", page: Path) -> None:
    """Render a run into a file."""
    from equipoise.report import render
    from equipoise.run.folder import write_text

    text = render(made)
    page.parent.mkdir(parents=True, exist_ok=True)
    write_text(page, text)
    say(f"Wrote {page} ({len(text.encode()) / 1024:.0f} KB)")


def _export(run: Path, folder: Path, *, overwrite: bool) -> None:
    """Write the tables, methods and references of a run; an earlier export goes if asked."""
    from equipoise.export import run_texts
    from equipoise.run import Run
    from equipoise.run.text_folder import check_folder, write_folder

    if folder.exists() and not overwrite:
        raise InputError(
            f"--export {folder}", "there already", "a new folder",
            "name another folder, or allow overwriting (--overwrite)",
        )  # fmt: skip
    check_folder(folder, (), overwrite=overwrite)
    texts = run_texts(Run.load(run).header)
    write_folder(folder, texts)
    for stale in (name for name in _tables() if name not in texts):
        (folder / stale).unlink(missing_ok=True)
    say(f"Wrote {folder}: {counted(texts)}")


def _tables() -> list[str]:
    """Files of all tables that an export may hold."""
    from equipoise.export.run_texts import TABLES as NAMES

    endings = ("csv", "md", "tex")
    return [f"tables/{name}.{one}" for name in (*NAMES, "agreement") for one in endings]
