"""Results of a verb: where they may go, and a report as notices, a folder, JSON or a screen.

Files and folders that a verb writes to are checked before anything is read. Advice in a report
is in the words of the command that was typed, wherever it goes.
"""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import typer

from equipoise.cli.options import Options
from equipoise.cli.reopened import table_files
from equipoise.cli.screen import (
    counted,
    note,
    output,
    print_json,
    progress,
    running,
    say,
    verb_options,
)
from equipoise.cli.study import FilesRead, file_facts
from equipoise.datasets import CATALOGUE
from equipoise.read.writing import check_folder, writable
from equipoise.report.page import write_report
from equipoise.report.run import Run, hash_inputs
from equipoise.report.terminal import evidence_lines, show, show_answer
from equipoise.study.analyses.words import as_notices
from equipoise.types import (
    Hint,
    InputError,
    Names,
    Notice,
    Option,
    Report,
    as_json,
    count,
    finding_json,
    in_command,
    worded,
)

FEW = 3  # analyses that a terminal shows with their tables
NOTES = 3  # notices that a terminal shows
IN_CARD = ("duplicate_models", "threshold_assumed")  # said as the caveat

# ---- where results may go --------------------------------------------------------------------


def check_target(option: str, path: Path | None, endings: Names) -> None:
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

    if not writable(parent):
        where, got = f"{option} {path}", "a folder that is read-only"
        raise InputError(where, got, "one that may be written to", "name another file")


def check_report_folder(options: Options, mark: str) -> None:
    """Refuse a folder that cannot be written, or that holds other things than a report."""
    if options.out is not None:
        check_folder(options.out, (mark, "report.html"), overwrite=options.overwrite)


# ---- what a report becomes -------------------------------------------------------------------


def deliver(report: Report, study: FilesRead, options: Options, mark: str) -> None:
    """Present what a report says of a study, with its notices, files and data set.

    Parameters
    ----------
    mark
        Name of the JSON file of the folder.
    """
    about = as_notices(study.notices, study.study.voted.notices, report.notices)
    scope = " ".join(filter(None, [report.scope, f"From {study.source}."]))
    whole = cited(replace(report, notices=about, scope=scope), study.dataset)
    facts: dict[str, Any] = {
        **({"dataset": dict(study.dataset)} if study.dataset else {}),
        "inputs": file_facts(study.inputs),
        "metrics": [metric.name for metric in study.study.metrics],
    }
    present(whole, options, mark, facts)


def input_facts(inputs: Mapping[str, Path | Sequence[Path] | None]) -> dict[str, Any]:
    """The files that were read, by what they are, as facts of a report."""
    files = {
        role: [given] if isinstance(given, Path) else table_files(given)
        for role, given in inputs.items()
    }
    rows = [row for role, paths in files.items() for row in hash_inputs(role, paths)]
    return {"inputs": file_facts(rows)}


def present(
    report: Report, options: Options, mark: str, facts: Mapping[str, Any] | None = None
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
        with progress("page"):
            files = write_report(options.out, mark, whole, facts=record)
        say(f"Wrote {options.out}: {mark}, report.html, {counted(files)}")
    if options.as_json:
        print_json({**record, **as_json(whole)})
        return
    if whole.card is not None:
        show_answer(output(), whole)
        return

    show(output(), whole)


def in_options(report: Report) -> Report:
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


def _by_key(report: Report) -> dict[str, Any]:
    """Every finding by its key; those of several metrics as a list.

    The rows of a finding are those of the table that is called as it is.
    """
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


def cited(report: Report, dataset: Mapping[str, str]) -> Report:
    """The report with a sentence on a public data set and its sources."""
    source = CATALOGUE.get(dataset.get("name", ""))
    if source is None:
        return report
    methods = (*report.methods[:1], source.methods, *report.methods[1:])
    keys = (*report.references, *source.references)
    return replace(report, methods=methods, references=keys)


def typed_command() -> str:
    """What was typed, for the foot of the page, but for where results go and files lie."""
    context = running()
    if context is None or context.info_name not in sys.argv[1:]:
        return ""
    typed = sys.argv[sys.argv.index(context.info_name) :]
    left_out = ("--out", "--engine", "--address", "--workers")  # they change no number
    shown = [
        Path(word).name if Path(word).is_absolute() else word
        for before, word in zip(("", *typed), typed, strict=False)
        if not {before, word} & {*left_out}
        and not word.startswith((*(f"{option}=" for option in left_out), "--overwrite"))
    ]
    return f"equipoise {shlex.join(shown)}"


def show_run(
    run: Run,
    *,
    out: Path | None = None,
    verbose: bool = False,
    full: bool = False,
    shown: Sequence[str] = (),
) -> None:
    """Print the answer of a run, and of the evidence what was asked for.

    Parameters
    ----------
    out
        Where it was written, for the last line.
    full
        Whether every analysis has a line.
    shown
        Analyses that are printed with their tables.
    """
    console, report = output(), run.report
    if report.card is None:
        show(console, report, verbose=verbose)
        return
    files = [f"Page {out / 'report.html'}", f"numbers {out / 'run.json'}"] if out else []
    show_answer(console, report, files=files)
    if verbose or (shown and len(shown) <= FEW):
        keys = None if verbose else {*shown}
        parts = [finding for finding in report.findings if keys is None or finding.key in keys]
        console.print()
        show(console, replace(report, findings=tuple(parts)), verbose=verbose)
    elif full or shown:
        console.print()
        for line in evidence_lines(report, console.width):
            console.print(line, soft_wrap=True)
    tell_notices(report, verbose=verbose)


def run_json(run: Run) -> dict[str, Any]:
    """The answer, values and differences of a run, and every finding by its key."""
    record, report = run.record, run.report
    card = report.card
    return {
        **({"answer": asdict(card)} if card is not None else {}),
        **as_json(report),
        "metrics": [metric.name for metric in record.metrics],
        "rows": [row._asdict() for row in record.rows],
        "differences": [gap._asdict() for gap in record.differences],
    }


def tell_notices(report: Report, *, verbose: bool = False) -> None:
    """Print what a reader should know on standard error: the first few things, or all."""
    others = [notice for notice in report.all_notices if notice.code not in IN_CARD]
    sentences = worded(others, command=True, options=verb_options())
    say(*(f"Note: {sentence}" for sentence in (sentences if verbose else sentences[:NOTES])))
    if len(sentences) > NOTES and not verbose:
        left = len(sentences) - NOTES
        what = "notice" if left == 1 else "notices"
        say(f"{count(left)} more {what}: --verbose, or the page.")
