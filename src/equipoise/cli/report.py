"""equipoise report: a run folder becomes one page, or the files of a paper."""

import json
from pathlib import Path
from typing import Any

from equipoise.clean.scan_findings import (
    load_scan,
    scan_json,
    scan_report,
)
from equipoise.cli.command import verb
from equipoise.cli.options import Options, misused
from equipoise.cli.results import run_json
from equipoise.cli.screen import counted, print_json, say
from equipoise.read.writing import check_folder, check_ground, way_to, write_folder, write_text
from equipoise.report.page import render
from equipoise.report.page.files import paper_files
from equipoise.report.run import Run
from equipoise.types import InputError, Option, Report, count, hint

SCAN = "scan.json"  # the mark of a scan
EXPORTED = "export.json"  # names what an export wrote, so that the next one can replace it


@verb(
    *("run", "out", "export", "overwrite", "as_json"),
    arguments=("run",),
    required=("run",),
    texts={
        "out": "Where to write the page. Default: report.html in the run folder.",
        "overwrite": "Replace an earlier export in that folder.",
        "as_json": "Print the run's tables as JSON, full precision; a page is then written "
        "only with --out.",
    },
)
def report(options: Options) -> None:
    """Turn a run into one self-contained HTML page.

    The page holds everything, asks the network for nothing, and can be mailed or printed.

    Example: equipoise report run --out page.html

    Example: equipoise report run --export paper
    """
    run, out = options.run, options.out
    assert run is not None
    if options.export is not None:
        _export(run, options.export, overwrite=options.overwrite)
        return
    if options.overwrite:
        raise misused("belongs to --export; a page is always written anew", "overwrite")
    if out is not None:
        check_ground(out.absolute().parent, f"--out {out.absolute().parent}")
    home = run if run.is_dir() else run.parent
    page = out or home / "report.html"
    if _is_scan(run):
        scan = load_scan(run)
        shown = scan_report(scan)
        facts: dict[str, Any] = scan_json(scan)
    else:
        loaded = Run.load(run)
        shown, facts = loaded.report, run_json(loaded)
    if out is not None or not options.as_json:
        _write_report(shown, page)
    if options.as_json:
        print_json(facts)


def _is_scan(run: Path) -> bool:
    """Whether a folder, or its file, is that of a scan."""
    return run.name == SCAN or (run / SCAN).is_file()


def _write_report(report: Report, page: Path) -> None:
    """Render a report into a file."""
    text = render(report)
    with way_to(page):
        write_text(page, text)
    say(f"Wrote {page} ({count(len(text.encode()) // 1024)} KB)")


def _export(run: Path, folder: Path, *, overwrite: bool) -> None:
    """Write the tables, methods and references of a run; an earlier export goes if asked."""
    if folder.exists() and not overwrite:
        raise InputError(
            f"--export {folder}",
            "there already",
            "a new folder",
            hint("name another folder, or allow overwriting ({})", Option("overwrite", True)),
        )
    check_folder(folder, (), overwrite=overwrite)
    report = scan_report(load_scan(run)) if _is_scan(run) else Run.load(run).report
    files = paper_files(report)
    held = json.dumps({"title": report.title, "files": sorted(files)}, indent=1)
    write_folder(folder, {**files, EXPORTED: f"{held}\n"}, mark=EXPORTED)
    say(f"Wrote {folder}: {counted(files)}")
