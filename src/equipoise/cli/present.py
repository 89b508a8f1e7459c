"""A report as a verb presents it: notices, then a folder, a terminal or JSON."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.cli._screen import counted, note, output, print_json, progress, say
from equipoise.cli.options import OutputOptions
from equipoise.findings.json import as_json

if TYPE_CHECKING:
    from equipoise.findings import Report


def present(
    report: "Report",
    how: OutputOptions,
    *,
    mark: str,
    folder: Path | None = None,
    facts: Mapping[str, Any] | None = None,
) -> None:
    """Say the notices, write the folder where one was asked for, and show the report.

    Parameters
    ----------
    mark
        Name of the JSON file that says that the folder is whole.
    folder
        Where to write; None writes nothing.
    facts
        What the JSON file holds before the report, such as the files that were read.
    """
    if how.title:
        report = replace(report, title=how.title)
    note(report.all_notices)
    if folder is not None:
        from equipoise.page import write_report

        with progress("page"):
            files = write_report(folder, mark, report, facts=facts)
        say(f"Wrote {folder}: {mark}, report.html, {counted(files)}")
    if how.as_json:
        print_json(as_json(report))
    else:
        from equipoise.findings.screen import show

        show(output(), report)
