"""equipoise clean benchmark: which detectors find the problems of a study, and how surely?"""

from collections.abc import Sequence
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

from equipoise.clean import DETECTORS, TASKS, Detector
from equipoise.clean.benchmark_findings import MARK, benchmark_report, check_data, save
from equipoise.clean.collection import TITLES, JudgedCollection
from equipoise.clean.detector import choose
from equipoise.clean.detector_benchmark import Benchmark, BenchmarkResult
from equipoise.clean.reading import read_collection
from equipoise.clean.studies import STUDIES
from equipoise.cli.clean_scan import EMBEDDINGS
from equipoise.cli.command import verb
from equipoise.cli.help import analysis_names, metric_names
from equipoise.cli.options import (
    OF_FOLDER,
    Options,
    check_choice,
    misused,
    words,
)
from equipoise.cli.probabilities import read_question, votes_on
from equipoise.cli.results import in_options, tell_notices, typed_command
from equipoise.cli.screen import note, output, print_json, progress, say, stages
from equipoise.read.sources import Source
from equipoise.read.writing import check_folder
from equipoise.report.run import RUN_FILES
from equipoise.report.terminal import show, show_answer
from equipoise.types import Annotations, InputError, Report, nearest

CELLS = "cells"
SEEDS = 3
KEYWORDS = {
    "votes": "votes",
    "labels": "label_table",
    "encoder": "encoder",
    "images": "images",
    "release": "release",
}  # of a study that is loaded, and their rows of the table


@verb(
    *("clean_study", "votes", "label_table", "encoder", "images", "release"),
    *("detectors", "problems", "seeds", "metrics", "analyses", "replicates", "seed", "level"),
    *("listed", *OF_FOLDER, "verbose"),
    arguments=("clean_study",),
    rare=("encoder", "analyses"),
    texts={
        "encoder": "What embeds images, as in `equipoise clean scan`. Default of a folder of "
        "images: `default`.",
        "detectors": "Some detectors, comma-separated; one of your own as `path.py:Class`, and "
        "`all` for those of --list. Default: all that the data allow.",
        "metrics": "Metrics, comma-separated, the most important first. Default: AUROC, "
        "average precision, and precision and recall at 100, 500 and 1,000 as far as there "
        "are items.",
        "analyses": "Analyses of `equipoise evaluate --analyses`, comma-separated, or `quick`, "
        "`all`, `none`. Default: all.",
        "replicates": "Number of resamples.",
        "out": "Folder for the run (run.json), the page (report.html) and every finished part "
        "(cells): the same command again goes on where it was stopped, and does no part twice.",
        "overwrite": "Replace the benchmark of another study, or another run, there.",
        "as_json": "Print rows as JSON: task, detector, metric, labels, value, low, high, and "
        "what chance reaches.",
        "verbose": "Print every finding, table and notice.",
    },
    heavy="cells",
)
def benchmark(options: Options) -> None:
    """Which detectors find the problems of a study, and how surely?

    Runs every detector of off-topic images, near duplicates and label errors, and compares
    each kind as an evaluation compares models: metrics by soft and majority labels with
    intervals, best groups, ranks, stability and cut-offs of votes. A
    detector that cannot run is left out with its reason. `--json` prints a row per task,
    detector, metric and labels, with value, low and high.

    Example: equipoise clean benchmark demo --out demo-run

    Example: equipoise clean benchmark features.npz --labels labels.csv
    --votes label_errors=votes.csv --detectors knn_disagreement,fine --seeds 5

    Example: equipoise clean benchmark demo --detectors all,mine.py:MyDetector
    """
    if options.listed:
        _list(as_json=options.as_json)
        return
    if options.clean_study is None:
        raise typer.BadParameter("give a study of --list, or data with --votes",
                                 param_hint="DATASET")  # fmt: skip
    _check(options)
    detectors = _detectors(options)
    _check_out(options)
    study = _study(options, options.clean_study)
    if options.out is not None and not options.overwrite:
        check_data(options.out, study)
    done = _compared(study, detectors, options)
    for cell in done.left_out if options.as_json else ():
        say(f"Note: {cell.detector} ({cell.task}) is left out: {cell.reason}")
    if options.as_json and options.out is None:
        print_json(done.rows())
        return
    report = _report(done, options)
    if options.out is not None:
        with progress("page"):
            save(done, report, options.out)
    if options.as_json:
        print_json(done.rows())
    else:
        _show(report, options)


def _check(options: Options) -> None:
    """Refuse unknown words, and votes without a task."""
    _by_task("votes", options.votes)
    for task in words(options.problems):
        check_choice("problems", task, TASKS)
    metric_names(options.metrics)
    analysis_names(options.analyses or "all")
    if options.replicates is not None and options.replicates < 2:
        raise misused(f"got {options.replicates}, expected at least 2", "replicates")


def _by_task(name: str, texts: Sequence[str] | None) -> dict[str, Path]:
    """Files of votes by task."""
    files: dict[str, Path] = {}
    for text in texts or ():
        task, sign, path = text.partition("=")
        if not sign or task not in TASKS or not path or task in files:
            expected = f"TASK=FILE, once per task: {', '.join(TASKS)}"
            raise misused(f"got {text!r}, expected {expected}", name)
        files[task] = Path(path)
    return files


def _check_out(options: Options) -> None:
    """Refuse a folder that cannot be written, or holds another evaluation."""
    if options.out is not None:
        overwrite = options.overwrite or (options.out / MARK).is_file()
        check_folder(options.out, RUN_FILES, overwrite=overwrite)


def _list(*, as_json: bool) -> None:
    """Print detectors and studies."""
    rows = [
        {
            "detector": detector.name,
            "task": detector.task,
            "title": detector.title,
            "needs": list(detector.needs),
            "packages": list(detector.packages),
            "seeded": detector.seeded,
        }
        for detector in DETECTORS
    ]
    if as_json:
        print_json({"detectors": rows, "studies": list(STUDIES)})
        return
    table = Table("detector", "looks for", "what it is", "needs", box=None, pad_edge=False)
    for detector in DETECTORS:
        cells = (
            detector.name,
            TITLES[detector.task].lower(),
            detector.title,
            ", ".join(detector.needs),
        )
        table.add_row(*map(escape, cells))
    screen = output()
    screen.print(table)
    screen.print(f"\nStudies: {', '.join(STUDIES)}")


def _detectors(options: Options) -> tuple[Detector, ...]:

    names = [detector.name for detector in DETECTORS]
    chosen = [
        name
        for word in words(options.detectors) or ("all",)
        for name in (names if word == "all" else [word])
    ]
    return choose(list(dict.fromkeys(chosen)), DETECTORS)


def _study(options: Options, name: str) -> JudgedCollection:
    """A study by its name, or of a user's own data and votes."""
    cache = None if options.out is None else options.out / EMBEDDINGS
    if name in STUDIES:
        load = STUDIES[name]
        takes = signature(load).parameters
        for keyword, row in KEYWORDS.items():
            if getattr(options, row) and keyword not in takes:
                raise misused(f"{name} has its own; leave it out", row)
        with progress(f"reading {name}") as tell:
            names = ("encoder", "images", "release")
            keywords = {name: getattr(options, name) for name in names}
            keywords |= {"cache": cache, "progress": tell}
            study: JudgedCollection = load(
                **{key: v for key, v in keywords.items() if key in takes and v is not None}
            )
        return study
    path = Path(name)
    if not path.exists():
        raise typer.BadParameter(
            f"got {name!r}, expected a study ({', '.join(STUDIES)}) or a path; "
            f"{nearest(name, list(STUDIES))}",
            param_hint="DATASET",
        )
    if not options.votes:
        raise misused("say what people judged: off_topic=votes.csv", "votes")
    return _own_study(path, options, cache)


def _own_study(path: Path, options: Options, cache: Path | None) -> JudgedCollection:

    encoder = options.encoder or ("default" if path.is_dir() else None)
    with progress("reading") as tell:
        data = read_collection(
            path, labels=options.label_table, encoder=encoder, cache=cache, progress=tell
        )
    note(data.notices)
    files = _by_task("votes", options.votes)
    truths: Any = {task: _votes(file, task) for task, file in files.items()}
    return JudgedCollection(
        name=path.stem,
        title=path.stem,
        collection=data,
        truths=truths,
    )


def _votes(path: Path, task: str) -> Annotations:
    """Yes/no votes on a task; a file without a column `task` is all about it."""
    table = read_question([path], Options(), _pair_column(path))
    if table.tasks != ("",):
        if task not in table.tasks:
            raise InputError(
                f"{path}, column task",
                f"votes on {', '.join(table.tasks)}",
                f"some on {task}",
                "name the task that they are on, or leave the column out",
            )
        table = replace(votes_on(table, task, path), tasks=("",))
        table = table.of_items(np.bincount(table.item, minlength=len(table.items)) > 0)
    if table.kind != "binary":
        raise InputError(
            f"{path}",
            f"{table.kind} votes",
            "yes or no: is it a problem?",
            "keep one column of yes/no labels",
        )
    return table


def _pair_column(path: Path) -> dict[str, str]:
    """Where the votes of `equipoise clean rounds` name their pairs."""
    names = Source(path).columns
    return {"item": "pair"} if "pair" in names and "item" not in names else {}


def _compared(
    study: JudgedCollection,
    detectors: tuple[Detector, ...],
    options: Options,
) -> BenchmarkResult:
    """Run what is not there yet, under a bar."""
    tasks: Any = words(options.problems)
    plan = Benchmark(
        study,
        detectors,
        tasks=tasks,
        seeds=options.seeds or SEEDS,
        metrics=metric_names(options.metrics),
        store=None if options.out is None else options.out / CELLS,
        replicates=options.replicates,
        seed=options.seed,
        level=options.level,
    )
    with progress("running detectors") as tell:
        return plan.run(tell)


def _report(done: BenchmarkResult, options: Options) -> Report:

    names = analysis_names(options.analyses or "all")
    with stages((len(names) + 2) * len(done.tasks)) as stage:
        report = benchmark_report(
            done, analyses=names, title=options.title or "", command=True, stage=stage
        )
    report = in_options(report)
    return replace(report, command=typed_command())


def _show(report: Report, options: Options) -> None:
    """Print the answer, the standings of every task, and what was left out."""
    console, out = output(), options.out
    boards = tuple(
        finding for finding in report.findings if finding.key in ("standings", "distance")
    )
    files = [f"Page {out / 'report.html'}", f"numbers {out / 'run.json'}"] if out else []
    show_answer(console, replace(report, findings=boards), files=files)
    rest = tuple(
        finding
        for finding in report.findings
        if options.verbose or finding.key == "left_out_detectors"
    )
    console.print()
    show(console, replace(report, findings=rest), verbose=options.verbose)
    tell_notices(report, verbose=options.verbose)
