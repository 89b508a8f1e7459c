"""Results of a verb: notices, then a folder, JSON or a screen, all of one report."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from equipoise.cli._screen import counted, note, output, print_json, progress, say
from equipoise.cli.options import OutputOptions
from equipoise.cli.study import CliStudy

if TYPE_CHECKING:
    from equipoise.findings import Finding, Report


def deliver(report: "Report", study: CliStudy, results: OutputOptions, mark: str) -> None:
    """Present what a report says of a study, with its notices, files and data set.

    Parameters
    ----------
    mark
        Name of the JSON file of the folder.
    """
    from equipoise.analyses.words import as_notices

    about = as_notices(study.notices, study.annotations.notices, report.notices)
    scope = " ".join(filter(None, [report.scope, f"From {study.source}."]))
    whole = _cited(replace(report, notices=about, scope=scope), study.dataset)
    facts: dict[str, Any] = {"inputs": [dict(row) for row in study.inputs]}
    if study.dataset:
        facts = {"dataset": dict(study.dataset), **facts}
    present(whole, results, mark, facts)


def present(
    report: "Report", results: OutputOptions, mark: str, facts: Mapping[str, Any] | None = None
) -> None:
    """Say what the reader should know, write the folder, and show the report.

    Parameters
    ----------
    mark
        Name of the JSON file of the folder.
    facts
        What the JSON says before the findings, such as the files that were read.
    """
    if results.title:
        report = replace(report, title=results.title)
    record = {**(facts or {}), **_by_key(report)}
    note(report.all_notices)
    if results.out is not None:
        from equipoise.page import write_report

        with progress("page"):
            files = write_report(results.out, mark, report, facts=record)
        say(f"Wrote {results.out}: {mark}, report.html, {counted(files)}")
    if results.as_json:
        from equipoise.findings.json import as_json

        print_json({**record, **as_json(report)})
        return
    from equipoise.findings.screen import show

    show(output(), report)


def _by_key(report: "Report") -> dict[str, Any]:
    """Every finding by its key; those of several metrics as a list."""
    every: dict[str, list[dict[str, Any]]] = {}
    for finding in report.findings:
        every.setdefault(finding.key, []).append(_by_name(finding))
    return {key: found[0] if len(found) == 1 else found for key, found in every.items()}


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
    keys = OF_DATA.get(dataset["name"], ())
    methods = (*report.methods[:1], sentence, *report.methods[1:])
    return replace(report, methods=methods, references=(*report.references, *keys))
