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
) -> None:
    """Turn a run into one self-contained HTML page.

    The page holds everything, asks the network for nothing, and can be mailed or printed.
    """
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
