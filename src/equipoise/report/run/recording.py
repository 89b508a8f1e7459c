"""Recording: turn an evaluation and its report into the record of a run.

Nothing in it depends on when or where it was made: the same inputs and seed give the same
bytes, as long as the files lie in the same way around the folder of the run.
"""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib.metadata import version
from pathlib import Path

import numpy as np

from equipoise.metrics import Metric, hard_labels_rule
from equipoise.read.files import file_sha256
from equipoise.report.run.folder import Run
from equipoise.report.run.record import (
    DatasetRecord,
    InputFile,
    MetricRecord,
    RunRecord,
    RunSettings,
    StoredQuestion,
    TruthModel,
)
from equipoise.study import LABELS, Evaluation
from equipoise.types.findings import Report
from equipoise.types.findings.record import JsonValue
from equipoise.types.notices import worded
from equipoise.types.numbers import count

PACKAGES = ("numpy", "numba", "scipy", "pyarrow")


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an evaluation comes from.

    Attributes
    ----------
    title
        Heading of the page.
    inputs
        What was read, see `hash_inputs`.
    soft, hard
        How soft and hard labels were made; None is by the rule of the evaluation.
    simulated
        A sentence to show first when any part of the data is simulated.
    question
        How the labels were read, see `equipoise.report.run.record.question`.
    truth_model
        How the truth was made where it is not the votes themselves.
    dataset
        The public data set that was read in place of files.
    asked
        Further options that were set, by name.
    """

    title: str = "Evaluation"
    inputs: tuple[InputFile, ...] = ()
    soft: str = "mean vote"
    hard: str | None = None
    simulated: str | None = None
    question: StoredQuestion = field(default_factory=StoredQuestion)
    truth_model: TruthModel | None = None
    dataset: DatasetRecord | None = None
    asked: Mapping[str, JsonValue] = field(default_factory=dict)


def hash_inputs(
    role: str, paths: Sequence[Path], home: Path | None = None
) -> tuple[InputFile, ...]:
    """Name, hash and size of the files that were read.

    Parameters
    ----------
    home
        The folder that results are written to, if they are: each row then has the ``path``
        from there to its file, so that the file is found again.
    """
    rows = []
    for path in paths:
        digest, size = file_sha256(path), path.stat().st_size
        way = None if home is None else _route(home, path)
        rows.append(InputFile(role=role, name=path.name, sha256=digest, bytes=size, path=way))
    return tuple(rows)


def _route(home: Path, path: Path) -> str:
    """The way from a folder to a file, with slashes; absolute only where there is no other.

    Examples
    --------
    >>> _route(Path("pages/study"), Path("data/votes.csv"))
    '../../data/votes.csv'
    """
    try:
        return Path(os.path.relpath(path, home)).as_posix()
    except ValueError:  # on another drive
        return Path(path).absolute().as_posix()


def record(evaluation: Evaluation, provenance: Provenance, report: Report) -> Run:
    """Make the run of an evaluation, with what is said of it."""
    run = RunRecord(
        title=provenance.title,
        simulated=provenance.simulated,
        equipoise=version("equipoise"),
        versions={
            "python": platform.python_version(),
            **{name: version(name) for name in PACKAGES},
        },
        dataset=provenance.dataset,
        inputs=provenance.inputs,
        question=provenance.question,
        truth_model=provenance.truth_model,
        settings=_settings(evaluation, provenance),
        tasks=evaluation.tasks,
        models=evaluation.models,
        labels=LABELS,
        metrics=tuple(map(_metric, evaluation.metrics)),
        rows=tuple(evaluation.table()),
        differences=tuple(
            gap
            for task in evaluation.tasks
            for metric in evaluation.metrics
            for labels in LABELS
            for gap in evaluation.differences(metric.name, labels=labels, task=task)
        ),
        notices=tuple(worded(evaluation.notices)),
        asked=provenance.asked,
    )
    whole = replace(
        report,
        title=provenance.title,
        banner=provenance.simulated or "",
        settings=(*report.settings, *_provenance(run)),
    )
    replicates = evaluation.replicates.astype(np.float64, copy=False)
    return Run(replace(run, report=whole), replicates)


def _provenance(run: RunRecord) -> tuple[tuple[str, str], ...]:
    """Versions, plan and hashes of the inputs."""
    return (
        *((name, str(number)) for name, number in run.versions.items()),
        ("Plan", run.settings.plan),
        *(
            (f"{file.role}: {file.name}", f"{count(file.bytes)} bytes, SHA-256 {file.sha256}")
            for file in run.inputs
        ),
    )


def _settings(evaluation: Evaluation, provenance: Provenance) -> RunSettings:
    plan = evaluation.plan
    group = None
    if evaluation.population.items and plan.group is not None:
        group = f"{int(plan.group.max()) + 1} groups of items"
    return RunSettings(
        resample=plan.kind,
        resample_reason=plan.reason,
        replicates=plan.replicates,
        seed=plan.seed,
        plan=plan.fingerprint,
        level=evaluation.level,
        interval=evaluation.interval,
        population=evaluation.population.whom,
        effective_annotators=evaluation.population.effective,
        decides=evaluation.population.decides,
        margin=evaluation.margin,
        matters=evaluation.matters,
        soft=provenance.soft,
        hard=_hard_rule(evaluation) if provenance.hard is None else provenance.hard,
        group=group,
        scope=evaluation.population.scope,
        items_redrawn=evaluation.population.items,
        all_panels_of=0 if plan.weights is None else plan.panel_size,
    )


def _hard_rule(evaluation: Evaluation) -> str:
    """How hard labels were made of votes."""
    questions, kinds = evaluation.questions, [metric.labels for metric in evaluation.metrics]
    classes = max(len(truth.classes) for truth in questions)
    return hard_labels_rule(kinds, classes=classes, ties=questions[0].ties)


def _metric(metric: Metric) -> MetricRecord:
    return MetricRecord(
        **{entry.name: getattr(metric, entry.name) for entry in fields(MetricRecord)}
    )
