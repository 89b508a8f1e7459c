"""equipoise check: how files are read, and one file of them that every verb takes."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli._screen import output, print_json, say
from equipoise.cli.on_disk import DiskOptions, check_on_disk
from equipoise.cli.options import (
    FILES,
    RESULT,
    AsJson,
    PredictionReading,
    VoteReading,
    command,
)
from equipoise.cli.targets import check_target
from equipoise.types.arrays import InputError

if TYPE_CHECKING:
    from equipoise.read.check import CheckedFiles

ENDINGS = (".csv", ".parquet", ".pq")


@dataclass(frozen=True, slots=True, kw_only=True)
class _CheckFiles:
    """Files of any role, or with the role that is given."""

    files: Annotated[
        list[Path] | None,
        typer.Argument(
            show_default=False,
            help="Annotations and predictions in any mix: what each holds is told by its "
            "columns, and said. A folder stands for the tables in it.",
        ),
    ] = None
    annotations: Annotated[
        list[Path] | None,
        typer.Option(
            "--annotations",
            "-a",
            rich_help_panel=FILES,
            help="Who said what; repeat it, or name a folder, for one file per annotator.",
        ),
    ] = None
    predictions: Annotated[
        list[Path] | None,
        typer.Option(
            "--predictions", "-p", rich_help_panel=FILES, help="What each model scored."
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _CheckResult:
    """Where the study goes, and how much is shown."""

    out: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=RESULT,
            help="File for the whole study, ending in .csv or .parquet: every verb takes it "
            "without options.",
        ),
    ] = None
    overwrite: Annotated[
        bool, typer.Option("--overwrite", rich_help_panel=RESULT, help="Replace that file.")
    ] = False
    verbose: Annotated[
        bool,
        typer.Option("--verbose", rich_help_panel=RESULT, help="Show every table and row."),
    ] = False
    as_json: AsJson = False

    def __post_init__(self) -> None:
        """Refuse a file that cannot be written, or that is there."""
        check_target("--out", self.out, ENDINGS)
        if self.out is not None and self.out.exists() and not self.overwrite:
            raise InputError(
                f"--out {self.out}", "a file that is there", "a new one", "add --overwrite"
            )


@command(show_all=True)
def check(
    files: _CheckFiles,
    reading: VoteReading,
    scores: PredictionReading,
    result: _CheckResult,
    disk: DiskOptions,
) -> None:
    """Say how files are read, and make one file of them that every verb takes.

    Which file holds what, in which layout, what was guessed and why; items, annotators, tasks,
    classes, votes per item, ties, repeats, gaps, gold and groups; what models say and for which
    items; whatever is there twice; and the first rows as they were understood.

    Example: equipoise check votes.csv scores.csv --out study.csv
    """
    from equipoise.read.check import FilesToCheck, check_files
    from equipoise.read.check_report import check_report
    from equipoise.report.terminal import show
    from equipoise.types.findings.record import as_json

    folders = [*(files.files or ()), *(files.annotations or ())]
    if disk.on_disk and files.predictions:
        do = "check the folder of votes alone; evaluate says how scores meet them"
        raise InputError("--predictions", "votes that stay on disk", "votes alone", do)
    if disk.chosen(folders) and not files.predictions:
        if result.out is not None:
            do = "leave it out: the folder is the study"
            raise InputError("--out", "votes that stay on disk", "no file", do)
        check_on_disk(folders, reading, as_json=result.as_json)
        return
    wanted = FilesToCheck(
        annotations=files.annotations or (),
        predictions=files.predictions or (),
        any=files.files or (),
        vote_keywords=reading.keywords(),
        score_keywords=scores.keywords(),
        first_votes=reading.first_votes,
    )
    found = check_files(wanted)
    report = check_report(found, command=True)
    if result.as_json:
        print_json(as_json(report))
    else:
        show(output(), report, verbose=result.verbose)
    if result.out is not None:
        _write(found, result.out)


def _write(found: "CheckedFiles", out: Path) -> None:
    from equipoise.read.canonical import write_study

    if found.annotations is None:
        raise InputError(
            f"--out {out}", "predictions alone", "a study", "give the annotations, too"
        )
    write_study(out, found.annotations, found.predictions)
    verb = "evaluate" if found.predictions else "agreement"
    drop = "" if found.matches or not found.predictions else " --on-missing drop"
    say(f"Wrote {out}; take it as it is: equipoise {verb} {out}{drop}")
