"""Results of a study: notices, then a folder, JSON or a screen, all of one report.

Advice in a report is in the words of the command that was typed, wherever it goes.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from equipoise.cli._screen import (
    counted,
    note,
    output,
    print_json,
    progress,
    say,
    verb_options,
)
from equipoise.cli.options import OutputOptions
from equipoise.cli.study import CliStudy
from equipoise.wording import Hint, Option, in_command

if TYPE_CHECKING:
    from equipoise.findings import Finding, Report
    from equipoise.notices import Notice, Value


def deliver(report: "Report", study: CliStudy, results: OutputOptions, mark: str) -> None:
    """Say what the reader should know, write the folder, and show the report.

    Parameters
    ----------
    mark
        Name of the JSON file of the folder.
    """
    whole = _whole(report, study)
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


def _whole(report: "Report", study: CliStudy) -> "Report":
    """The report with what the files say, its sources, and advice as options."""
    from equipoise.analyses.words import as_notices

    notices = as_notices(study.notices, study.annotations.notices, report.notices)
    return replace(
        _cited(report, study),
        scope=" ".join(filter(None, [report.scope, f"From {study.source}."])),
        notices=tuple(_in_options(notice) for notice in notices),
        findings=tuple(
            replace(
                finding,
                sentence=in_command(finding.sentence, verb_options()),
                notices=tuple(_in_options(notice) for notice in finding.notices),
            )
            for finding in report.findings
        ),
    )


def _in_options(notice: "Notice") -> "Notice":
    """A notice whose advice names options in place of keywords."""
    return replace(notice, values={name: _words(one) for name, one in notice.values.items()})


def _words(value: "Value") -> "Value":
    value = Hint([value]) if isinstance(value, Option) else value
    return value.in_command(verb_options()) if isinstance(value, Hint) else value


def _facts(report: "Report", study: CliStudy) -> dict[str, Any]:
    """Where the data come from, and every finding by its key."""
    return {
        **({"dataset": dict(study.dataset)} if study.dataset else {}),
        "inputs": [dict(row) for row in study.inputs],
        "metrics": list(study.metrics),
        **{finding.key: _by_name(finding) for finding in report.findings},
    }


def _by_name(finding: "Finding") -> dict[str, Any]:
    """One finding; its rows are those of the table that is called as it is."""
    from equipoise.findings.json import finding_json

    own = [table.rows for table in finding.tables if table.name == finding.key]
    return {**finding_json(finding), **({"rows": own[0]} if own else {})}


def _cited(report: "Report", study: CliStudy) -> "Report":
    """The report with a sentence on a public data set and its sources."""
    from equipoise.export.references import OF_DATA, cite_data

    sentence = cite_data({"dataset": study.dataset})
    if not sentence:
        return report
    first, *others = report.methods
    keys = OF_DATA.get(study.dataset["name"], ())
    return replace(
        report, methods=(first, sentence, *others), references=(*report.references, *keys)
    )
