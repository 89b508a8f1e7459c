"""Results of a study: notices, then a folder, JSON or a screen, all of one report."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from equipoise.cli._screen import counted, note, output, print_json, progress, say
from equipoise.cli.options import OutputOptions
from equipoise.cli.study import CliStudy

if TYPE_CHECKING:
    from equipoise.findings import Finding, Report


def deliver(report: "Report", study: CliStudy, results: OutputOptions, mark: str) -> None:
    """Say what the reader should know, write the folder, and show the report.

    Parameters
    ----------
    mark
        Name of the JSON file of the folder.
    """
    from equipoise.analyses.words import as_notices

    about = as_notices(study.notices, study.annotations.notices, report.notices)
    scope = " ".join(filter(None, [report.scope, f"From {study.source}."]))
    whole = replace(report, notices=about, scope=scope)
    whole = _cited(whole, study.dataset)
    note(whole.all_notices)
    if results.out is not None:
        from equipoise.page import write_report

        with progress("page"):
            files = write_report(results.out, mark, whole, facts=_facts(whole, study))
        say(f"Wrote {results.out}: {mark}, report.html, {counted(files)}")
    if results.as_json:
        from equipoise.findings.json import as_json

        print_json({**_facts(whole, study), **as_json(whole)})
        return
    from equipoise.findings.screen import show

    show(output(), whole)


def _facts(report: "Report", study: CliStudy) -> dict[str, Any]:
    """Where the data come from, and every finding by its key."""
    return {
        **({"dataset": dict(study.dataset)} if study.dataset else {}),
        "inputs": [dict(row) for row in study.inputs],
        **{finding.key: _by_name(finding) for finding in report.findings},
    }


def _by_name(finding: "Finding") -> dict[str, Any]:
    """One finding; its rows are those of the table that is called as it is."""
    from equipoise.findings.json import finding_json

    own = [table.rows for table in finding.tables if table.name == finding.key]
    return {**finding_json(finding), **({"rows": own[0]} if own else {})}


def _cited(report: "Report", dataset: Mapping[str, str]) -> "Report":
    """The report with a sentence on a public data set and its sources."""
    from equipoise.export.references import OF_DATA, cite_data

    sentence = cite_data({"dataset": dataset})
    if not sentence:
        return report
    first, *others = report.methods
    keys = OF_DATA.get(dataset["name"], ())
    return replace(
        report, methods=(first, sentence, *others), references=(*report.references, *keys)
    )
