"""Results of a verb: where they may go, and a report as notices, a folder, JSON or a screen.

Files and folders that a verb writes to are checked before anything is read. Advice in a report
is in the words of the command that was typed, wherever it goes.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from equipoise.cli.options import Options
from equipoise.cli.reopened import table_files
from equipoise.cli.screen import (
    counted,
    note,
    output,
    print_json,
    progress,
    say,
    verb_options,
)
from equipoise.cli.study import FilesRead, file_facts
from equipoise.types.arrays import InputError
from equipoise.types.notices import Notice
from equipoise.types.words import Hint, Option, in_command

if TYPE_CHECKING:
    from equipoise.types.findings import Report


# ---- where results may go --------------------------------------------------------------------


def check_target(option: str, path: Path | None, endings: tuple[str, ...]) -> None:
    """Refuse a file that could not be written, before anything is read."""
    if path is None:
        return
    parent = path.absolute().parent
    if path.is_dir():
        where, do = f"{option} {path}", f"name a file in it: {path / ('truth' + endings[0])}"
        raise InputError(where, "a folder", f"a file that ends in {endings[0]}", do)
    if path.suffix.lower() not in endings:
        message = f"got {path.name!r}, expected a name that ends in {endings[0]}"
        raise typer.BadParameter(message, param_hint=option)
    if not parent.is_dir():
        got = f"there is no folder {str(path.parent)!r}"
        do = "make the folder first, or name another file"
        raise InputError(f"{option} {path}", got, "a file in a folder that exists", do)
    if os.path.lexists(path) and not path.is_file():
        got = "a link to nothing, a pipe or a device"
        raise InputError(f"{option} {path}", got, "a file", "name another file")
    from equipoise.read.writing import writable

    if not writable(parent):
        where, got = f"{option} {path}", "a folder that is read-only"
        raise InputError(where, got, "one that may be written to", "name another file")


def check_folder(option: str, path: Path | None) -> None:
    """Refuse a folder that could not be written to, before anything is read."""
    from equipoise.read.writing import check_ground

    if path is not None:
        check_ground(path, f"{option} {path}")


def check_report_folder(options: Options, mark: str) -> None:
    """Refuse a folder that cannot be written, or that holds other things than a report."""
    from equipoise.read.writing import check_folder as check

    if options.out is not None:
        check(options.out, (mark, "report.html"), overwrite=options.overwrite)


# ---- what a report becomes -------------------------------------------------------------------


def deliver(report: "Report", study: FilesRead, options: Options, mark: str) -> None:
    """Present what a report says of a study, with its notices, files and data set.

    Parameters
    ----------
    mark
        Name of the JSON file of the folder.
    """
    from equipoise.study.analyses.words import as_notices

    about = as_notices(study.notices, study.study.voted.notices, report.notices)
    scope = " ".join(filter(None, [report.scope, f"From {study.source}."]))
    whole = cited(replace(report, notices=about, scope=scope), study.dataset)
    facts: dict[str, Any] = {
        **({"dataset": dict(study.dataset)} if study.dataset else {}),
        "inputs": file_facts(study.inputs),
        "metrics": list(study.metrics),
    }
    present(whole, options, mark, facts)


def input_facts(inputs: Mapping[str, Path | Sequence[Path] | None]) -> dict[str, Any]:
    """The files that were read, by what they are, as facts of a report."""
    from equipoise.report.run import hash_inputs

    files = {
        role: [given] if isinstance(given, Path) else table_files(given)
        for role, given in inputs.items()
    }
    rows = [row for role, paths in files.items() for row in hash_inputs(role, paths)]
    return {"inputs": file_facts(rows)}


def present(
    report: "Report", options: Options, mark: str, facts: Mapping[str, Any] | None = None
) -> None:
    """Say what the reader should know, write the folder, and show the report.

    Parameters
    ----------
    mark
        Name of the JSON file of the folder.
    facts
        What the JSON says before the findings, such as the files that were read.
    """
    whole = in_options(report)
    if options.title:
        whole = replace(whole, title=options.title)
    record = {**(facts or {}), **_by_key(whole)}
    note(whole.all_notices)
    if options.out is not None:
        from equipoise.report.page import write_report

        with progress("page"):
            files = write_report(options.out, mark, whole, facts=record)
        say(f"Wrote {options.out}: {mark}, report.html, {counted(files)}")
    if options.as_json:
        from equipoise.types.findings import as_json

        print_json({**record, **as_json(whole)})
        return
    if whole.card is not None:
        from equipoise.report.terminal import show_answer

        show_answer(output(), whole)
        return
    from equipoise.report.terminal import show

    show(output(), whole)


def in_options(report: "Report") -> "Report":
    """The report with advice that names options in place of keywords."""
    return replace(
        report,
        notices=tuple(_renamed(notice) for notice in report.notices),
        findings=tuple(
            replace(
                finding,
                sentence=in_command(finding.sentence, verb_options()),
                more=tuple(in_command(sentence, verb_options()) for sentence in finding.more),
                notices=tuple(_renamed(notice) for notice in finding.notices),
            )
            for finding in report.findings
        ),
    )


def _renamed(notice: Notice) -> Notice:
    values = {n: Hint([v]) if isinstance(v, Option) else v for n, v in notice.values.items()}
    words = {
        name: value.in_command(verb_options()) if isinstance(value, Hint) else value
        for name, value in values.items()
    }
    return replace(notice, values=words)


def _by_key(report: "Report") -> dict[str, Any]:
    """Every finding by its key; those of several metrics as a list.

    The rows of a finding are those of the table that is called as it is.
    """
    from equipoise.types.findings import finding_json

    by_key: dict[str, list[dict[str, Any]]] = {}
    for finding in report.findings:
        facts: dict[str, Any] = {**finding_json(finding)}
        rows = [table.rows for table in finding.tables if table.name == finding.key]
        if rows and rows[0] is not finding.tables[0].rows:
            facts = {**facts, finding.tables[0].name: facts["rows"], "rows": rows[0]}
        by_key.setdefault(finding.key, []).append(facts)
    return {
        key: several[0] if len(several) == 1 else several for key, several in by_key.items()
    }


def cited(report: "Report", dataset: Mapping[str, str]) -> "Report":
    """The report with a sentence on a public data set and its sources."""
    from equipoise.datasets import CATALOGUE

    source = CATALOGUE.get(dataset.get("name", ""))
    if source is None:
        return report
    methods = (*report.methods[:1], source.methods, *report.methods[1:])
    keys = (*report.references, *source.references)
    return replace(report, methods=methods, references=keys)
