"""equipoise check: how files are read, and one file of them that every verb takes."""

from pathlib import Path
from typing import TYPE_CHECKING

from equipoise.cli.command import verb
from equipoise.cli.on_disk import check_on_disk, stays_on_disk
from equipoise.cli.options import OF_SCORES, OF_VOTES, Options
from equipoise.cli.results import check_target
from equipoise.cli.screen import output, print_json, say
from equipoise.cli.study import check_reading, score_keywords, vote_keywords
from equipoise.types.arrays import InputError

if TYPE_CHECKING:
    from equipoise.read.check import CheckedFiles

ENDINGS = (".csv", ".parquet", ".pq")


@verb(
    *("files", "annotations", "predictions", "on_disk"),
    *OF_VOTES,
    *("first_votes", *OF_SCORES),
    *("out", "overwrite", "verbose", "as_json"),
    arguments=("files",),
    texts={
        "annotations": "Who said what; repeat it, or name a folder, for one file per "
        "annotator.",
        "predictions": "What each model scored.",
        "out": "File for the whole study, ending in .csv or .parquet: every verb takes it "
        "without options.",
        "overwrite": "Replace that file.",
        "verbose": "Show every table and row.",
    },
    show_all=True,
)
def check(asked: Options) -> None:
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

    _check_out(asked)
    check_reading(asked)
    folders = [*(asked.files or ()), *(asked.annotations or ())]
    if asked.on_disk and asked.predictions:
        do = "check the folder of votes alone; evaluate says how scores meet them"
        raise InputError("--predictions", "votes that stay on disk", "votes alone", do)
    if stays_on_disk(asked, folders) and not asked.predictions:
        if asked.out is not None:
            do = "leave it out: the folder is the study"
            raise InputError("--out", "votes that stay on disk", "no file", do)
        check_on_disk(folders, asked)
        return
    found = check_files(
        FilesToCheck(
            annotations=asked.annotations or (),
            predictions=asked.predictions or (),
            any=asked.files or (),
            vote_keywords=vote_keywords(asked),
            score_keywords=score_keywords(asked),
            first_votes=asked.first_votes,
        )
    )
    report = check_report(found, command=True)
    if asked.as_json:
        print_json(as_json(report))
    else:
        show(output(), report, verbose=asked.verbose)
    if asked.out is not None:
        _write(found, asked.out)


def _check_out(asked: Options) -> None:
    """Refuse a file that cannot be written, or that is there."""
    check_target("--out", asked.out, ENDINGS)
    if asked.out is not None and asked.out.exists() and not asked.overwrite:
        raise InputError(
            f"--out {asked.out}", "a file that is there", "a new one", "add --overwrite"
        )


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
