"""equipoise check: how files are read, and one file of them that every verb takes."""

from dataclasses import replace
from pathlib import Path

from equipoise.cli.command import verb
from equipoise.cli.options import OF_QUESTION, OF_SCORES, Options
from equipoise.cli.results import check_target
from equipoise.cli.screen import output, print_json, say
from equipoise.cli.study import (
    as_asked,
    check_reading,
    score_keywords,
    stays_on_disk,
    vote_keywords,
    with_gold_file,
)
from equipoise.read.canonical import write_study
from equipoise.read.check_findings import check_report
from equipoise.read.options import ScoreFormat, VoteFormat
from equipoise.read.reader_studies import (
    ENDING,
    TABLE_ENDING,
    reader_study_files,
    write_reader_study,
)
from equipoise.read.sources import CheckedFiles, check_files
from equipoise.report.terminal import show
from equipoise.types import InputError, as_json, joined

ENDINGS = (".csv", ".parquet", ".pq", ENDING)


@verb(
    *("files", "annotations", "predictions", "on_disk"),
    *OF_QUESTION,
    *("gold", *OF_SCORES),
    *("out", "overwrite", "verbose", "as_json"),
    arguments=("files",),
    texts={
        "annotations": "Who said what; repeat it, or name a folder, for one file per "
        "annotator.",
        "predictions": "What each model scored.",
        "out": "File for the whole study, ending in .csv or .parquet: every verb takes it "
        "without options. Readings against a standard alone: ending in .imrmc for iMRMC, in "
        ".mrmcaov.csv for MRMCaov; of several questions a file each, with its name.",
        "overwrite": "Replace that file.",
        "verbose": "Show every table and row.",
    },
    show_all=True,
)
def check(options: Options) -> None:
    """Say how files are read, and make one file of them that every verb takes.

    Which file holds what, in which layout, what was guessed and why; items, annotators, tasks,
    classes, votes per item, ties, repeats, gaps, gold and groups; what models say and for which
    items; whatever is there twice; and the first rows as they were understood. What --gold,
    --positive and --at-least ask is in the file that --out writes, too.

    Example: equipoise check votes.csv scores.csv --out study.csv
    """
    _check_out(options)
    check_reading(options)
    folders = [*(options.files or ()), *(options.annotations or ())]
    if options.on_disk and options.predictions:
        do = "check the folder of votes alone; evaluate says how scores meet them"
        raise InputError("--predictions", "votes that stay on disk", "votes alone", do)
    if stays_on_disk(options, folders) and not options.predictions:
        if options.out is not None:
            do = "leave it out: the folder is the study"
            raise InputError("--out", "votes that stay on disk", "no file", do)
        from equipoise.cli.on_disk import check_on_disk

        check_on_disk(folders, options)
        return
    options = with_gold_file(options)
    checked = check_files(
        options.files or (),
        annotations=options.annotations or (),
        predictions=options.predictions or (),
        votes=VoteFormat(**vote_keywords(options)),
        scores=ScoreFormat(**score_keywords(options)),
        first_votes=options.first_votes,
    )
    if checked.annotations is not None:
        table, models = as_asked(checked.annotations, checked.predictions, options)
        checked = replace(checked, annotations=table, predictions=models)
    report = check_report(checked, command=True)
    if options.as_json:
        print_json(as_json(report))
    else:
        show(output(), report, verbose=options.verbose)
    if options.out is not None:
        _write(checked, options.out, options)


def _check_out(options: Options) -> None:
    """Refuse a file that cannot be written, or that is there."""
    check_target("--out", options.out, ENDINGS)
    if options.out is not None and options.out.exists() and not options.overwrite:
        raise InputError(
            f"--out {options.out}", "a file that is there", "a new one", "add --overwrite"
        )


def _write(checked: CheckedFiles, out: Path, options: Options) -> None:

    if checked.annotations is None:
        raise InputError(
            f"--out {out}", "predictions alone", "a study", "give the annotations, too"
        )
    if out.name.lower().endswith((ENDING, TABLE_ENDING)):
        for path in reader_study_files(out, checked.annotations.tasks):
            _check_out(replace(options, out=path))
        paths = write_reader_study(out, checked.annotations)
        names = joined([*map(str, paths)])
        say(f"Wrote {names}: the readings alone, for programs of reader studies")
        return
    write_study(out, checked.annotations, checked.predictions)
    verb = "evaluate" if checked.predictions else "agreement"
    drop = "" if checked.matches or not checked.predictions else " --on-missing drop"
    say(f"Wrote {out}; take it as it is: equipoise {verb} {out}{drop}")
