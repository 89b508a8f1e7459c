"""equipoise clean benchmark: which detectors find the problems of a study, and how surely?"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from equipoise.cli._screen import output, print_json, progress, say, stages
from equipoise.cli.clean_scan import EMBEDDINGS
from equipoise.cli.options import (
    FILES,
    RESULT,
    Level,
    OutputOptions,
    QuestionReading,
    Seed,
    check_choice,
    command,
    metric_names,
    misused,
    panel,
    words,
)
from equipoise.types.arrays import InputError

if TYPE_CHECKING:
    from equipoise.clean import Detector
    from equipoise.clean.collection import JudgedCollection
    from equipoise.clean.detector_benchmark import BenchmarkResult
    from equipoise.types.annotations import Annotations
    from equipoise.types.findings import Report

CELLS = "cells"
_file = panel(
    FILES,
    votes="Yes/no votes on a kind of problem, TASK=FILE: `off_topic=votes.csv` with item, "
    "annotator, label; of `near_duplicates` an item is a pair, `a | b`. Once per kind; a file "
    "with a column task, such as the page of `equipoise clean scan` hands out, may serve "
    "several.",
    experts="The same of a panel of experts on some of the items, for the threshold at which "
    "they call it a problem.",
    labels="Labels of the images, for label errors: item, label.",
    encoder="What embeds images, as in `equipoise clean scan`. Default of a folder of images: "
    "`default`.",
    images="Folder of the images, or a file of embeddings, of a study that does not bring them "
    "along, such as `cleanpatrick`.",
    release="Folder of the published files of such a study. Both are looked for in the folder "
    "that EQUIPOISE_DATA names where nothing is said.",
)
_what = panel(
    "What is compared",
    detectors="Some detectors, comma-separated; one of your own as `path.py:Class`, and `all` "
    "for those of --list. Default: all that the data allow.",
    tasks="Some of `off_topic`, `near_duplicates`, `label_errors`. Default: all with votes.",
    seeds="Runs of a detector that chance has a part in; its value is their mean, and how they "
    "differ is part of the interval.",
    listed="List detectors and data sets, and stop.",
)
_result = panel(
    RESULT,
    metric="Metrics, comma-separated, the most important first. Default: AUROC, average "
    "precision, and precision and recall at 100, 500 and 1,000 as far as there are items.",
    analyses="Analyses of `equipoise evaluate --analyses`, comma-separated, or `quick`, `all`, "
    "`none`.",
    out="Folder for the run (run.json), the page (report.html) and every finished part "
    "(cells): the same command again goes on where it was stopped, and does no part twice.",
    overwrite="Replace the benchmark of another study, or another run, there.",
    replicates="Number of resamples.",
    as_json="Print rows as JSON: task, detector, metric, labels, value, low, high, and what "
    "chance reaches.",
    verbose="Print every finding, table and notice.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _BenchmarkData:
    """What detectors are compared on."""

    dataset: Annotated[
        str | None,
        typer.Argument(
            show_default=False,
            help="A study of `--list`, such as `demo`; or a folder of images, or a file of "
            "embeddings (npz, npy, Parquet, CSV), with --votes.",
        ),
    ] = None
    votes: Annotated[list[str] | None, _file("votes")] = None
    labels: Annotated[Path | None, _file("labels")] = None
    experts: Annotated[list[str] | None, _file("experts", hidden=True)] = None
    encoder: Annotated[str | None, _file("encoder", hidden=True)] = None
    images: Annotated[Path | None, _file("images", hidden=True)] = None
    release: Annotated[Path | None, _file("release", hidden=True)] = None

    def __post_init__(self) -> None:
        """Refuse votes without a task."""
        self.by_task("votes")
        self.by_task("experts")

    def by_task(self, name: str) -> dict[str, Path]:
        """Files of votes by task."""
        from equipoise.clean import TASKS

        found: dict[str, Path] = {}
        for text in getattr(self, name) or ():
            task, sign, path = text.partition("=")
            if not sign or task not in TASKS or not path or task in found:
                expected = f"TASK=FILE, once per task: {', '.join(TASKS)}"
                raise misused(f"got {text!r}, expected {expected}", name)
            found[task] = Path(path)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparison:
    """Which detectors, how often, by what."""

    detectors: Annotated[str | None, _what("detectors")] = None
    tasks: Annotated[str | None, _what("tasks")] = None
    seeds: Annotated[int, _what("seeds", min=1)] = 3
    metric: Annotated[str | None, _result("metric")] = None
    analyses: Annotated[str, _result("analyses", hidden=True)] = "all"
    replicates: Annotated[int | None, _result("replicates", min=2)] = None
    seed: Seed = 0
    level: Level = 0.95
    listed: Annotated[bool, _what("listed", "--list")] = False

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        from equipoise.clean import TASKS

        for task in words(self.tasks):
            check_choice("tasks", task, TASKS)
        metric_names(self.metric)
        self.wanted()

    def wanted(self) -> tuple[str, ...]:
        """Names of analyses."""
        from equipoise.study.analyses.catalogue import ANALYSES

        some = {
            "all": tuple(ANALYSES),
            "quick": tuple(name for name, one in ANALYSES.items() if one.quick),
            "none": (),
        }
        if self.analyses in some:
            return some[self.analyses]
        for name in words(self.analyses):
            check_choice("analyses", name, (*ANALYSES, *some))
        return tuple(words(self.analyses))


@dataclass(frozen=True, slots=True, kw_only=True)
class _BenchmarkResult(OutputOptions):
    """Where results go."""

    out: Annotated[Path | None, _result("out")] = None
    overwrite: Annotated[bool, _result("overwrite", "--overwrite")] = False
    as_json: Annotated[bool, _result("as_json", "--json")] = False
    verbose: Annotated[bool, _result("verbose", "--verbose")] = False


@command(heavy="cells")
def benchmark(data: _BenchmarkData, asked: _Comparison, result: _BenchmarkResult) -> None:
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
        _list(as_json=result.as_json)
        return
    if data.dataset is None:
        raise typer.BadParameter("give a study of --list, or data with --votes",
                                 param_hint="DATASET")  # fmt: skip
    detectors = _detectors(asked)
    _check_out(result)
    study = _study(data, result.out)
    _check_data(study, result)
    done = _compared(study, detectors, asked, result.out)
    for one in done.left_out if result.as_json else ():
        say(f"Note: {one.detector} ({one.task}) is left out: {one.reason}")
    if result.as_json and result.out is None:
        print_json(done.rows())
        return
    report = _report(done, asked, result)
    if result.out is not None:
        _save(done, report, result.out)
    if result.as_json:
        print_json(done.rows())
    else:
        _show(report, result)


def _check_out(result: _BenchmarkResult) -> None:
    """Refuse a folder that cannot be written, or holds another evaluation."""
    from equipoise.clean.benchmark_findings import MARK
    from equipoise.report.run import prepared

    if result.out is not None:
        overwrite = result.overwrite or (result.out / MARK).is_file()
        prepared(result.out, overwrite=overwrite)


def _check_data(study: "JudgedCollection", result: _BenchmarkResult) -> None:
    """Refuse a folder that holds the benchmark of another study."""
    from equipoise.clean.benchmark_findings import check_data

    if result.out is not None and not result.overwrite:
        check_data(result.out, study)


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


def _detectors(asked: _Comparison) -> "tuple[Detector, ...]":
    from equipoise.clean import DETECTORS
    from equipoise.clean.detector import choose

    known = [one.name for one in DETECTORS]
    chosen = [
        name
        for word in words(asked.detectors) or ("all",)
        for name in (known if word == "all" else [word])
    ]
    return choose(list(dict.fromkeys(chosen)), DETECTORS)


def _study(data: _BenchmarkData, out: Path | None) -> "JudgedCollection":
    """A study by its name, or of a user's own data and votes."""
    from inspect import signature

    from equipoise.clean.studies import STUDIES

    assert data.dataset is not None
    cache = None if out is None else out / EMBEDDINGS
    if data.dataset in STUDIES:
        load = STUDIES[data.dataset]
        takes = signature(load).parameters
        for name in ("votes", "labels", "experts", "encoder", "images", "release"):
            if getattr(data, name) and name not in takes:
                raise misused(f"{data.dataset} has its own; leave it out", name)
        with progress(f"reading {data.dataset}") as tell:
            given = {"encoder": data.encoder, "images": data.images, "release": data.release,
                     "cache": cache, "progress": tell}  # fmt: skip
            known = {n: one for n, one in given.items() if n in takes and one is not None}
            study: JudgedCollection = load(**known)
        return study
    path = Path(data.dataset)
    if not path.exists():
        from equipoise.types.arrays import nearest

        raise typer.BadParameter(
            f"got {data.dataset!r}, expected a study ({', '.join(STUDIES)}) or a path; "
            f"{nearest(data.dataset, list(STUDIES))}",
            param_hint="DATASET",
        )
    if not data.votes:
        raise misused("say what people judged: off_topic=votes.csv", "votes")
    return _own_study(path, data, cache)


def _own_study(path: Path, data: _BenchmarkData, cache: Path | None) -> "JudgedCollection":
    from equipoise.clean.collection import JudgedCollection
    from equipoise.clean.reading import read_collection
    from equipoise.cli._screen import note

    encoder = data.encoder or ("default" if path.is_dir() else None)
    with progress("reading") as tell:
        found = read_collection(
            path, labels=data.labels, encoder=encoder, cache=cache, progress=tell
        )
    note(found.notices)
    truths: Any = {task: _votes(file, task) for task, file in data.by_task("votes").items()}
    experts: Any = {task: _votes(file, task) for task, file in data.by_task("experts").items()}
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

    table = read_question(path, QuestionReading(), _pair_column(path))
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
    asked: _Comparison,
    out: Path | None,
) -> "BenchmarkResult":
    """Run what is not there yet, under a bar."""
    from equipoise.clean.detector_benchmark import Benchmark

    tasks: Any = words(asked.tasks)
    plan = Benchmark(
        study,
        detectors,
        tasks=tasks,
        seeds=asked.seeds,
        metrics=metric_names(asked.metric),
        store=None if out is None else out / CELLS,
        replicates=asked.replicates,
        seed=asked.seed,
        level=asked.level,
    )
    with progress("running detectors") as tell:
        return plan.run(tell)


def _report(done: "BenchmarkResult", asked: _Comparison, result: _BenchmarkResult) -> "Report":
    from equipoise.clean.benchmark_findings import benchmark_report
    from equipoise.cli._results import in_options
    from equipoise.cli.evaluate import typed_command

    with stages((len(asked.wanted()) + 2) * len(done.tasks)) as stage:
        report = in_options(
            benchmark_report(
                done,
                analyses=asked.wanted(),
                title=result.title or "",
                command=True,
                stage=stage,
            )
        )
    return replace(report, command=typed_command())


def _save(done: "BenchmarkResult", report: "Report", out: Path) -> None:
    """Write the run, and say what it replaces."""
    from equipoise.clean.benchmark_findings import save
    from equipoise.cli._screen import note

    with progress("page"):
        said = save(done, report, out)
    note(said)


def _show(report: "Report", result: _BenchmarkResult) -> None:
    """Print the answer, the standings of every task, and what was left out."""
    from equipoise.cli.evaluate import tell_notices
    from equipoise.report.terminal import show, show_answer

    console, out = output(), result.out
    boards = tuple(one for one in report.findings if one.key in ("standings", "distance"))
    files = [f"Page {out / 'report.html'}", f"numbers {out / 'run.json'}"] if out else []
    show_answer(console, replace(report, findings=boards), files=files)
    rest = tuple(
        one
        for one in report.findings
        if result.verbose or one.key in ("left_out_detectors", "cost")
    )
    console.print()
    show(console, replace(report, findings=rest), verbose=result.verbose)
    tell_notices(report, verbose=result.verbose)
