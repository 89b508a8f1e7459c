"""What a benchmark of detectors says, as one report and as one run folder.

The card answers every task in a sentence: which detectors cannot be told from the best, which
fall behind, and which are no better than chance. Everything an evaluation says of one task
stands under the reader's choice of the task.

Its folder holds the run of all detectors and what it is about. It belongs to
one study, known by its name and the names of its items: the same study goes on there with other
detectors, tasks or votes, and another one is refused.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from json import dumps
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.clean.collection import TITLES, JudgedCollection
from equipoise.clean.detector_benchmark import BenchmarkResult, TaskBenchmark, versions
from equipoise.read.codec import read
from equipoise.read.files import content, read_json
from equipoise.report.answer import Answer, AnswerContent, answer_report
from equipoise.report.run import Provenance, Run, record
from equipoise.scale.cells import digest
from equipoise.study import LABELS
from equipoise.study.analyses.catalogue import ANALYSES
from equipoise.types import (
    Card,
    Finding,
    InputError,
    Names,
    Nouns,
    Progress,
    Report,
    Standings,
    Table,
    capital,
    cite,
    columns,
    count,
    counted,
    immutable,
    in_words,
    joined,
    number,
    percent,
)

NAMED = 3  # detectors that a sentence names
SOURCES = ("groger2025",)
PACKAGES = ("sklearn", "pyod", "faiss", "torch")  # that decide what detectors find
Stage = Callable[[str], Progress]
MARK = "benchmark.json"


def benchmark_report(
    result: BenchmarkResult,
    *,
    analyses: Sequence[str] = tuple(ANALYSES),
    title: str = "",
    command: bool = False,
    stage: Stage | None = None,
) -> Report:
    """Everything that is said of a benchmark.

    Parameters
    ----------
    analyses
        Names of analyses of every task.
    title
        Its heading; empty is that of the data.
    command
        Whether advice is in the words of the command line.
    stage
        Called with the name of each step, gives what is told how far the step is.
    """
    parts = []
    for compared in result.tasks:
        nouns = result.data.nouns
        if compared.task == "near_duplicates":
            nouns = Nouns("pair", nouns.annotator, group="cluster")
        wanted = AnswerContent(analyses=analyses, nouns=nouns, command=command)
        parts.append(_task_report(compared, wanted, stage))
    shown = [name for compared in result.tasks for name in compared.evaluation.models]
    references = {detector.name: detector.references for detector in result.detectors}
    data = result.data
    return Report(
        title=title or data.title,
        banner=data.simulated,
        scope=" ".join(_unique(part.scope for part in parts)),
        models=tuple(shown),
        card=_card(result, parts),
        findings=(*_findings_of_tasks(result.tasks, parts), *_left_out(result)),
        known=(
            count(len(shown), "detector"),
            count(len(result.tasks), "kind") + " of problem",
            counted(len(data.collection), data.nouns.item),
        ),
        terms=_unique(term for part in parts for term in part.terms),
        settings=_unique(pair for part in parts for pair in part.settings),
        notices=(*result.notices, *(note for part in parts for note in part.notices)),
        methods=_methods(result, parts),
        references=_unique(
            (
                *SOURCES,
                *(key for name in shown for key in references[name]),
                *(key for part in parts for key in part.references),
            )
        ),
        task=parts[0].task,
    ).with_families()


def _unique(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))


# ---- the answer ----------------------------------------------------------------------------


def _no_better_than_chance(compared: TaskBenchmark) -> Names:
    """Detectors whose interval reaches down to the chance level of the metric that decides."""
    front = Answer(compared.evaluation).front
    level = compared.chance(front.metric.name, front.labels)
    return tuple(
        name
        for name, low in zip(front.models, front.low.tolist(), strict=True)
        if not math.isnan(level) and low <= level
    )


def _with_chance(compared: TaskBenchmark, answer: str) -> str:
    """The answer of a task, and who is no better than chance."""
    lost = _no_better_than_chance(compared)
    if not lost:
        return answer
    are = "is" if len(lost) == 1 else "are"
    clause = f"{joined(lost, most=NAMED)} {are} no better than chance"
    if len(lost) == len(compared.seeds):
        clause = "none is surely better than chance"
    return f"{answer.removesuffix('.')}; {clause}."


def _card(done: BenchmarkResult, parts: Sequence[Report]) -> Card:
    """The cards of all tasks as one."""
    cards = {part.task: part.card for part in parts if part.card is not None}
    missing = {missing.detector: None for missing in done.left_out}
    caveat = ""
    if missing:
        was = "was" if len(missing) == 1 else "were"
        caveat = (
            f"{capital(joined(list(missing), most=NAMED))} {was} left out, with reasons below."
        )
    return Card(
        answer=" ".join(f"{task}: {card.answer}" for task, card in cards.items()),
        lede=" ".join(f"{task}: {card.lede}" for task, card in cards.items() if card.lede),
        standing=_unique(pair for card in cards.values() for pair in card.standing),
        holds_for=" ".join(f"{task}: {card.holds_for}" for task, card in cards.items()),
        caveat=caveat,
        claims=tuple(
            claim.about(task) for task, card in cards.items() for claim in card.claims
        ),
    )


# ---- findings of a task --------------------------------------------------------------------


def _leaderboard(compared: TaskBenchmark, board: Finding, answer: str) -> Finding:
    """The standings of a task with all metrics of all detectors, and what chance reaches."""
    done = compared.evaluation
    shares = " and ".join(
        f"{percent(compared.prevalence(labels))} by {words}"
        for labels, words in (("hard", "majority"), ("soft", "votes"))
    )
    units = ""
    if done.plan.group is not None:
        number_of = count(int(done.plan.group.max()) + 1)
        units = f" Pairs that share images are drawn together ({number_of} groups)."
    levels = (number(compared.chance(metric.name, "soft")) for metric in done.metrics)
    foot = (("chance", tuple(levels)),)
    return replace(
        board,
        title="Which detectors find the problems?",
        sentence=f"{TITLES[compared.task]}: {answer}",
        charts=tuple(
            replace(chart, foot=foot) if isinstance(chart, Standings) else chart
            for chart in board.charts
        ),
        note=f"Problems are {shares}, which is the level of chance for average precision and "
        "P@k; for AUROC it is 0.5. A detector is called no better than chance where its "
        f"interval reaches down to that.{units}",
        nav="Detectors",
    )


def _task_report(compared: TaskBenchmark, wanted: AnswerContent, stage: Stage | None) -> Report:
    """What the evaluation of a task says."""
    title = TITLES[compared.task]
    tell = stage or (lambda _: lambda *__: None)
    report = answer_report(
        compared.study, wanted, lambda step: tell(f"{title.lower()}: {step}")
    )
    assert report.card is not None
    answer = _with_chance(compared, report.card.answer)
    shown = [
        _leaderboard(compared, part, answer)
        if part.key == "standings"
        else replace(part, nav="Gaps")
        if part.key == "distance"
        else part
        for part in report.findings
    ]
    return replace(
        report,
        card=replace(report.card, answer=answer),
        findings=tuple(shown),
        notices=tuple(notice.of(title) for notice in report.notices),
        task=title,
    )


def _findings_of_tasks(
    tasks: Sequence[TaskBenchmark], parts: Sequence[Report]
) -> Iterator[Finding]:
    """Findings of all tasks, those of one kind together, under the choice of a task.

    Each has names of files of its own.
    """
    shown = [
        replace(
            part,
            task=report.task,
            tables=tuple(replace(t, name=f"{compared.task}-{t.name}") for t in part.tables),
            charts=tuple(replace(c, name=f"{compared.task}-{c.name}") for c in part.charts),
            claims=tuple(claim.about(report.task) for claim in part.claims),
        )
        for compared, report in zip(tasks, parts, strict=True)
        for part in report.findings
    ]
    for key in _unique(part.key for part in shown):
        yield from (part for part in shown if part.key == key)


# ---- who is not there ----------------------------------------------------------------------


def _left_out(result: BenchmarkResult) -> list[Finding]:
    rows = [
        {"task": TITLES[missing.task], "detector": missing.detector, "reason": missing.reason}
        for missing in result.left_out
    ]
    verb = "was" if len(rows) == 1 else "were"
    table = Table(
        name="left-out-detectors",
        caption="Why",
        columns=columns(task="text", detector="model", reason="text"),
        rows=rows,
        open=True,
    )
    finding = Finding(
        key="left_out_detectors",
        title="Detectors without a result",
        sentence=f"{capital(count(len(rows), 'detector'))} {verb} left out; the next run "
        "tries again.",
        tables=(table,),
        evidence=True,
    )
    return [finding] if rows else []


# ---- how it was done -----------------------------------------------------------------------


def _methods(done: BenchmarkResult, parts: Sequence[Report]) -> Names:
    """Sentences for the methods of a paper."""
    named = []
    for detector in done.detectors:
        if any(detector.name in part.evaluation.models for part in done.tasks):
            settings = ", ".join(
                f"{name} {value!r}" for name, value in detector.settings.items()
            )
            words = f" ({settings})" if settings else ""
            named.append(f"{detector.title}{words}{cite(*detector.references)}")
    seeded = max(
        (size for compared in done.tasks for size in compared.seeds.values()), default=1
    )
    runs = ""
    if seeded > 1:
        runs = (
            f" Detectors that chance has a part in were run with {in_words(seeded)} seeds; "
            "their values are means, and the variance between seeds is part of the intervals."
        )
    tasks = joined([TITLES[compared.task].lower() for compared in done.tasks])
    source = done.data.source
    return _unique(
        (
            f"Detectors of {tasks} were compared as rankings{cite(*SOURCES)}: "
            f"{'; '.join(named)}.{runs}",
            *([source.methods] if source is not None else []),
            *(sentence for part in parts for sentence in part.methods),
        )
    )


# ---- the folder ----------------------------------------------------------------------------


def benchmark_run(done: BenchmarkResult, report: Report) -> Run:
    """One run of all tasks, without replicates: what every detector scored lies in cells."""
    study = done.data
    source = study.source
    provenance = Provenance(
        title=report.title,
        simulated=study.simulated or None,
        dataset=None if source is None else source.facts,
    )
    used = _unique(
        (*PACKAGES, *(name for detector in done.detectors for name in detector.packages))
    )
    packages = {name: text for name, text in versions(used).items() if text}
    report = replace(report, settings=(*report.settings, *packages.items()))
    runs = {
        compared.task: record(compared.evaluation, provenance, report).record
        for compared in done.tasks
    }
    first = next(iter(runs.values()))
    metrics = {metric.name: metric for run in runs.values() for metric in run.metrics}
    models = _unique(name for run in runs.values() for name in run.models)
    merged = replace(
        first,
        versions={**first.versions, **packages},
        tasks=tuple(runs),
        models=models,
        metrics=tuple(metrics.values()),
        rows=tuple(row._replace(task=task) for task, run in runs.items() for row in run.rows),
        differences=tuple(
            gap._replace(task=task) for task, run in runs.items() for gap in run.differences
        ),
        settings=replace(
            first.settings, plan=" ".join(run.settings.plan for run in runs.values())
        ),
        notices=_unique(text for run in runs.values() for text in run.notices),
    )
    return Run(merged, np.empty((len(runs), len(metrics), len(LABELS), len(models), 0)))


@immutable
class _About:
    """What a folder is about: a study, and the hash of its items."""

    study: str
    items: str

    @classmethod
    def of(cls, data: JudgedCollection) -> "_About":
        """What a benchmark of a study is about."""
        return cls(data.name, digest([sorted(data.collection.items)]))


def check_data(folder: Path, data: JudgedCollection) -> None:
    """Refuse a folder that holds the benchmark of another study."""
    path, about = folder / MARK, _About.of(data)
    there = read(_About, read_json(content(path)), str(path)) if path.is_file() else about
    if there != about:
        other = "" if there.study != data.name else ", of other items"
        raise InputError(
            f"{folder}",
            f"holds a benchmark on {there.study}{other}",
            f"one on {data.name}, or a new folder",
            "name another folder, or allow overwriting (--overwrite)",
        )


def save(done: BenchmarkResult, report: Report, folder: Path) -> None:
    """Write the run, and what it is about."""
    beside = {MARK: dumps(asdict(_About.of(done.data)), indent=1) + "\n"}
    benchmark_run(done, report).save(folder, overwrite=True, beside=beside)
