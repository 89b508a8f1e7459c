"""equipoise clean benchmark: which detectors find the problems of a study, and how surely?"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer

from equipoise.cli.clean_scan import EMBEDDINGS
from equipoise.cli.command import verb
from equipoise.cli.help import metric_names
from equipoise.cli.options import (
    OF_FOLDER,
    Options,
    check_choice,
    misused,
    words,
)
from equipoise.cli.screen import note, output, print_json, progress, say, stages
from equipoise.types.arrays import InputError, nearest

if TYPE_CHECKING:
    from equipoise.clean import Detector
    from equipoise.clean.collection import JudgedCollection
    from equipoise.clean.detector_benchmark import BenchmarkResult
    from equipoise.types.annotations import Annotations
    from equipoise.types.findings import Report

CELLS = "cells"
SEEDS = 3
KEYWORDS = {
    "votes": "votes",
    "labels": "label_table",
    "experts": "expert_votes",
    "encoder": "encoder",
    "images": "images",
    "release": "release",
}  # of a study that is loaded, and their rows of the table


@verb(
    *("clean_study", "votes", "label_table", "expert_votes", "encoder", "images", "release"),
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
def benchmark(asked: Options) -> None:
    """Which detectors find the problems of a study, and how surely?

    Runs every detector of off-topic images, near duplicates and label errors, and compares
    each kind as an evaluation compares models: metrics by soft and majority labels with
    intervals, best groups, ranks, stability, thresholds of experts and cut-offs of votes. A
    detector that cannot run is left out with its reason. `--json` prints a row per task,
    detector, metric and labels, with value, low and high.

    Example: equipoise clean benchmark demo --out demo-run

    Example: equipoise clean benchmark features.npz --labels labels.csv
    --votes label_errors=votes.csv --detectors knn_disagreement,fine --seeds 5

    Example: equipoise clean benchmark demo --detectors all,mine.py:MyDetector
    """
    if asked.listed:
        _list(as_json=asked.as_json)
        return
    if asked.clean_study is None:
        raise typer.BadParameter("give a study of --list, or data with --votes",
                                 param_hint="DATASET")  # fmt: skip
    _check(asked)
    detectors = _detectors(asked)
    _check_out(asked)
    study = _study(asked, asked.clean_study)
    _check_data(study, asked)
    done = _compared(study, detectors, asked)
    for cell in done.left_out if asked.as_json else ():
        say(f"Note: {cell.detector} ({cell.task}) is left out: {cell.reason}")
    if asked.as_json and asked.out is None:
        print_json(done.rows())
        return
    report = _report(done, asked)
    if asked.out is not None:
        _save(done, report, asked.out)
    if asked.as_json:
        print_json(done.rows())
    else:
        _show(report, asked)


def _check(asked: Options) -> None:
    """Refuse unknown words, and votes without a task."""
    from equipoise.clean import TASKS

    _by_task("votes", asked.votes)
    _by_task("expert_votes", asked.expert_votes)
    for task in words(asked.problems):
        check_choice("problems", task, TASKS)
    metric_names(asked.metrics)
    _analyses(asked)
    if asked.replicates is not None and asked.replicates < 2:
        raise misused(f"got {asked.replicates}, expected at least 2", "replicates")


def _by_task(name: str, texts: Sequence[str] | None) -> dict[str, Path]:
    """Files of votes by task."""
    from equipoise.clean import TASKS

    files: dict[str, Path] = {}
    for text in texts or ():
        task, sign, path = text.partition("=")
        if not sign or task not in TASKS or not path or task in files:
            expected = f"TASK=FILE, once per task: {', '.join(TASKS)}"
            raise misused(f"got {text!r}, expected {expected}", name)
        files[task] = Path(path)
    return files


def _analyses(asked: Options) -> tuple[str, ...]:
    """Names of analyses."""
    from equipoise.study.analyses.catalogue import ANALYSES

    some = {
        "all": tuple(ANALYSES),
        "quick": tuple(name for name, analysis in ANALYSES.items() if analysis.quick),
        "none": (),
    }
    text = asked.analyses or "all"
    if text in some:
        return some[text]
    for name in words(text):
        check_choice("analyses", name, (*ANALYSES, *some))
    return tuple(words(text))


def _check_out(asked: Options) -> None:
    """Refuse a folder that cannot be written, or holds another evaluation."""
    from equipoise.clean.benchmark_findings import MARK
    from equipoise.report.run import prepared

    if asked.out is not None:
        overwrite = asked.overwrite or (asked.out / MARK).is_file()
        prepared(asked.out, overwrite=overwrite)


def _check_data(study: "JudgedCollection", asked: Options) -> None:
    """Refuse a folder that holds the benchmark of another study."""
    from equipoise.clean.benchmark_findings import check_data

    if asked.out is not None and not asked.overwrite:
        check_data(asked.out, study)


def _list(*, as_json: bool) -> None:
    """Print detectors and studies."""
    from rich.markup import escape
    from rich.table import Table

    from equipoise.clean import DETECTORS
    from equipoise.clean.collection import TITLES
    from equipoise.clean.studies import STUDIES

    rows = [
        {
            "detector": one.name,
            "task": one.task,
            "title": one.title,
            "needs": list(one.needs),
            "packages": list(one.packages),
            "seeded": one.seeded,
        }
        for one in DETECTORS
    ]
    if as_json:
        print_json({"detectors": rows, "studies": list(STUDIES)})
        return
    table = Table("detector", "looks for", "what it is", "needs", box=None, pad_edge=False)
    for one in DETECTORS:
        known = (one.name, TITLES[one.task].lower(), one.title, ", ".join(one.needs))
        table.add_row(*map(escape, known))
    screen = output()
    screen.print(table)
    screen.print(f"\nStudies: {', '.join(STUDIES)}")


def _detectors(asked: Options) -> "tuple[Detector, ...]":
    from equipoise.clean import DETECTORS
    from equipoise.clean.detector import choose

    known = [one.name for one in DETECTORS]
    chosen = [
        name
        for word in words(asked.detectors) or ("all",)
        for name in (known if word == "all" else [word])
    ]
    return choose(list(dict.fromkeys(chosen)), DETECTORS)


def _study(asked: Options, name: str) -> "JudgedCollection":
    """A study by its name, or of a user's own data and votes."""
    from inspect import signature

    from equipoise.clean.studies import STUDIES

    cache = None if asked.out is None else asked.out / EMBEDDINGS
    if name in STUDIES:
        load = STUDIES[name]
        takes = signature(load).parameters
        for keyword, row in KEYWORDS.items():
            if getattr(asked, row) and keyword not in takes:
                raise misused(f"{name} has its own; leave it out", row)
        with progress(f"reading {name}") as tell:
            keywords = {"encoder": asked.encoder, "images": asked.images,
                        "release": asked.release, "cache": cache, "progress": tell}  # fmt: skip
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
    if not asked.votes:
        raise misused("say what people judged: off_topic=votes.csv", "votes")
    return _own_study(path, asked, cache)


def _own_study(path: Path, asked: Options, cache: Path | None) -> "JudgedCollection":
    from equipoise.clean.collection import JudgedCollection
    from equipoise.clean.reading import read_collection

    encoder = asked.encoder or ("default" if path.is_dir() else None)
    with progress("reading") as tell:
        found = read_collection(
            path, labels=asked.label_table, encoder=encoder, cache=cache, progress=tell
        )
    note(found.notices)
    files = _by_task("votes", asked.votes)
    truths: Any = {task: _votes(file, task) for task, file in files.items()}
    files = _by_task("expert_votes", asked.expert_votes)
    experts: Any = {task: _votes(file, task) for task, file in files.items()}
    return JudgedCollection(
        name=path.stem,
        title=path.stem,
        collection=found.collection,
        truths=truths,
        experts=experts,
    )


def _votes(path: Path, task: str) -> "Annotations":
    """Yes/no votes on a task; a file without a column `task` is all about it."""
    from equipoise.cli.probabilities import read_question, votes_on

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
    from equipoise.read.delimited import read_delimited
    from equipoise.read.files import content

    if path.suffix.lower() not in (".csv", ".tsv"):
        return {}
    names = set(read_delimited(content(path)).columns)
    return {"item": "pair"} if "pair" in names and "item" not in names else {}


def _compared(
    study: "JudgedCollection",
    detectors: "tuple[Detector, ...]",
    asked: Options,
) -> "BenchmarkResult":
    """Run what is not there yet, under a bar."""
    from equipoise.clean.detector_benchmark import Benchmark

    tasks: Any = words(asked.problems)
    plan = Benchmark(
        study,
        detectors,
        tasks=tasks,
        seeds=asked.seeds or SEEDS,
        metrics=metric_names(asked.metrics),
        store=None if asked.out is None else asked.out / CELLS,
        replicates=asked.replicates,
        seed=asked.seed,
        level=asked.level,
    )
    with progress("running detectors") as tell:
        return plan.run(tell)


def _report(done: "BenchmarkResult", asked: Options) -> "Report":
    from equipoise.clean.benchmark_findings import benchmark_report
    from equipoise.cli.evaluate import typed_command
    from equipoise.cli.results import in_options

    names = _analyses(asked)
    with stages((len(names) + 2) * len(done.tasks)) as stage:
        report = benchmark_report(
            done, analyses=names, title=asked.title or "", command=True, stage=stage
        )
    report = in_options(report)
    return replace(report, command=typed_command())


def _save(done: "BenchmarkResult", report: "Report", out: Path) -> None:
    """Write the run, and say what it replaces."""
    from equipoise.clean.benchmark_findings import save

    with progress("page"):
        said = save(done, report, out)
    note(said)


def _show(report: "Report", asked: Options) -> None:
    """Print the answer, the standings of every task, and what was left out."""
    from equipoise.cli.evaluate import tell_notices
    from equipoise.report.terminal import show, show_answer

    console, out = output(), asked.out
    boards = tuple(one for one in report.findings if one.key in ("standings", "distance"))
    files = [f"Page {out / 'report.html'}", f"numbers {out / 'run.json'}"] if out else []
    show_answer(console, replace(report, findings=boards), files=files)
    rest = tuple(
        one
        for one in report.findings
        if asked.verbose or one.key in ("left_out_detectors", "cost")
    )
    console.print()
    show(console, replace(report, findings=rest), verbose=asked.verbose)
    tell_notices(report, verbose=asked.verbose)
