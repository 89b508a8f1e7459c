"""equipoise report: a run folder becomes one page."""

from pathlib import Path
from typing import Annotated

import typer

from equipoise.cli._screen import say


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
) -> None:
    """Turn a run into one self-contained HTML page.

    The page holds everything, asks the network for nothing, and can be mailed or printed.

    Example: equipoise report run --export paper
    """
    if export is not None:
        _export(run, export)
        return
    write_page(run, out or (run if run.is_dir() else run.parent) / "report.html")


def write_page(run: Path, page: Path) -> None:
    """Render a run folder into a file."""
    from equipoise.report import render
    from equipoise.run import Run
    from equipoise.run.folder import write_text

    text = render(Run.load(run))
    page.parent.mkdir(parents=True, exist_ok=True)
    write_text(page, text)
    say(f"Wrote {page} ({len(text.encode()) / 1024:.0f} KB)")


def _export(run: Path, folder: Path) -> None:
    """Write the tables, methods and references of a run into a new folder."""
    from equipoise.export import run_texts
    from equipoise.run import Run
    from equipoise.run.text_folder import check_folder, write_folder

    check_folder(folder, ("tables", "methods.md", "references.bib"))
    texts = run_texts(Run.load(run).header)
    write_folder(folder, texts)
    say(f"Wrote {folder}: {len(texts) - 2} tables, methods.md, references.bib")
