"""equipoise report: a run folder becomes one page, or the files of a paper."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.arrays import InputError
from equipoise.cli._screen import counted, output, print_json, say
from equipoise.cli.options import command
from equipoise.numbers import count
from equipoise.wording import Option, hint

if TYPE_CHECKING:
    from equipoise.run import Run

PRINTED = (
    "title",
    "settings",
    "rows",
    "differences",
    "rank_probabilities",
    "rank_correlation",
    "annotators",
    "agreement",
    "notices",
)
TABLES = (
    "agreement",
    "agreement_annotators",
    "ambiguous_items",
    "annotators",
    "calibration",
    "certainty",
    "differences",
    "hardest_items",
    "influential_items",
    "rank_correlation",
    "rank_probabilities",
    "reliability_bins",
    "truth",
    "values",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """Which run, and what becomes of it."""

    run: Annotated[Path, typer.Argument(help="Folder that `equipoise evaluate --out` wrote.")]
    out: Annotated[
        Path | None,
        typer.Option(help="Where to write the page. Default: report.html in the run folder."),
    ] = None
    export: Annotated[
        Path | None,
        typer.Option(
            help="In place of the page: a new folder for the tables (CSV, Markdown, LaTeX), a "
            "methods paragraph and its references (BibTeX)."
        ),
    ] = None
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier export in that folder.")
    ] = False
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print the run's tables as JSON, full precision; a page is then written only "
            "with --out.",
        ),
    ] = False

    def __post_init__(self) -> None:
        """Refuse overwriting where nothing is exported."""
        if self.overwrite and self.export is None:
            message = "belongs to --export; a page is always written anew"
            raise typer.BadParameter(message, param_hint="--overwrite")


@command
def report(options: ReportOptions) -> None:
    """Turn a run into one self-contained HTML page.

    The page holds everything, asks the network for nothing, and can be mailed or printed.

    Example: equipoise report run --out page.html

    Example: equipoise report run --export paper
    """
    from equipoise.cli.targets import check_folder
    from equipoise.run import Run

    if options.export is not None:
        _export(options.run, options.export, overwrite=options.overwrite)
        return
    run, out = options.run, options.out
    check_folder("--out", None if out is None else out.absolute().parent)
    loaded = Run.load(run)
    if out is not None or not options.as_json:
        write_page(loaded, out or (run if run.is_dir() else run.parent) / "report.html")
    if options.as_json:
        header = loaded.header
        print_json({name: header[name] for name in PRINTED if name in header})


def show_run(run: "Run") -> None:
    """Print the leaderboards of a run and its verdict."""
    from equipoise.findings.screen import show
    from equipoise.run.findings import terminal_report

    show(output(), terminal_report(run), verbose=True)


def write_page(run: "Run", page: Path) -> None:
    """Render a run into a file."""
    from equipoise.page import render
    from equipoise.run.findings import evaluation_report
    from equipoise.run.folder import write_text

    text = render(evaluation_report(run))
    page.parent.mkdir(parents=True, exist_ok=True)
    write_text(page, text)
    say(f"Wrote {page} ({count(len(text.encode()) // 1024)} KB)")


def _export(run: Path, folder: Path, *, overwrite: bool) -> None:
    """Write the tables, methods and references of a run; an earlier export goes if asked."""
    from equipoise.findings.text import texts
    from equipoise.run import Run
    from equipoise.run.findings import evaluation_report
    from equipoise.run.text_folder import check_folder, write_folder

    if folder.exists() and not overwrite:
        raise InputError(
            f"--export {folder}",
            "there already",
            "a new folder",
            hint("name another folder, or allow overwriting ({})", Option("overwrite", True)),
        )
    check_folder(folder, (), overwrite=overwrite)
    files = texts(evaluation_report(Run.load(run)))
    write_folder(folder, files)
    for name in (f"tables/{table}.{end}" for table in TABLES for end in ("csv", "md", "tex")):
        if name not in files:
            (folder / name).unlink(missing_ok=True)
    say(f"Wrote {folder}: {counted(files)}")
