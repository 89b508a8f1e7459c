"""Run: the folder that the command line, the page and the review app share.

``run.json`` holds what was asked and read, every value with its interval, all paired
differences, and the report that was made of them; ``replicates.npy`` the resamples, and
``report.html`` the page for people. ``run.json`` names the hash of the replicates and has a
seal, the hash of all that it says: what was edited, swapped or damaged is noticed on opening.
The page and the tables for people may be written into. Disputed items lie beside it as a table
for adjudication. Runs of earlier versions are refused with a sentence that says so.

Nothing in it depends on when or where it was made: the same inputs and seed give the same
bytes, as long as the files lie in the same way around the folder of the run. `encode` and
`decode` are the only places that know the keys of the file.
"""

import hashlib
import io
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import field, fields, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.inference.looks import Look
from equipoise.metrics import hard_labels_rule
from equipoise.read import codec
from equipoise.read.codec import check_sealed, sealed
from equipoise.read.files import content, file_sha256, read_array, read_json
from equipoise.read.writing import check_folder, write_folder
from equipoise.report.page import render
from equipoise.report.text import as_csv
from equipoise.study import LABELS, Evaluation
from equipoise.study.result import Difference, Row
from equipoise.types import (
    MAYBE,
    InputError,
    JsonValue,
    Names,
    Pairs,
    Report,
    Table,
    count,
    immutable,
    short_repr,
    worded,
)

SCHEMA = 5
HEADER = "run.json"
REPLICATES = "replicates.npy"
PAGE = "report.html"
RUN_FILES = (HEADER, PAGE)
PACKAGES = ("numpy", "numba", "scipy", "pyarrow")


def unsaid() -> Any:
    """A field that is None, and left out of the file, where nothing was said."""
    return field(default=None, metadata=MAYBE)


# ---- where it comes from -------------------------------------------------------------------


@immutable(kw_only=True)
class InputFile:
    """A file that was read: its role, name, hash and size, and the way to it from the run."""

    role: str
    name: str
    sha256: str
    bytes: int
    path: str | None = unsaid()


@immutable(kw_only=True)
class StoredQuestion:
    """What was asked, and how the answers were read; what was not said is None.

    `read_as` is the kind and the classes of the annotations as they were read, `ties` what
    became of items tied in the hard label.
    """

    positive: str | tuple[str, ...] | None = unsaid()
    at_least: str | int | float | None = unsaid()
    kind: str | None = unsaid()
    exchangeable: bool | None = unsaid()
    layout: str | None = unsaid()
    prediction_layout: str | None = unsaid()
    repeats: str | None = unsaid()
    phases: str | None = unsaid()
    on_missing: str | None = unsaid()
    gold: str | None = unsaid()
    ties: str | None = unsaid()
    first_votes: int | None = unsaid()
    normalise: str | None = unsaid()
    circular: str | None = unsaid()
    truth: str | None = unsaid()
    by_group: bool | None = unsaid()
    within: str | None = unsaid()
    read_as: str | None = unsaid()
    classes: tuple[str, ...] | None = unsaid()
    columns: Mapping[str, str] | None = unsaid()
    prediction_columns: Mapping[str, str] | None = unsaid()


@immutable(kw_only=True)
class TruthModel:
    """The model that made the truth where it is not the votes themselves."""

    model: str = field(metadata=MAYBE, default="")
    reason: str = field(metadata=MAYBE, default="")
    method: str = field(metadata=MAYBE, default="")
    parameters: Mapping[str, JsonValue] | None = unsaid()
    draws: int | None = unsaid()
    seed: int | None = unsaid()
    tasks: tuple[Mapping[str, str], ...] = field(metadata=MAYBE, default=())
    groups: Mapping[str, JsonValue] | None = unsaid()


@immutable(kw_only=True)
class RunSettings:
    """How replicates were drawn, intervals made and labels taken from votes.

    Attributes
    ----------
    resample, resample_reason, scope, group, items_redrawn
        What was drawn anew and why, what the result speaks for, the groups of items that stay
        together, and whether items were resampled.
    population, decides
        Whom intervals and verdicts speak for, and whether there are enough for a verdict.
    margin, matters
        How much worse still counts as no worse, and the smallest difference that counts.
    looks
        Looks at a growing study, the last of which this is; empty where none was named.
    """

    resample: str
    resample_reason: str
    replicates: int
    seed: int
    plan: str
    level: float
    interval: str
    soft: str
    hard: str
    group: str | None = None
    scope: str = ""
    items_redrawn: bool | None = None
    population: str = ""
    decides: bool = True
    margin: float | None = unsaid()
    matters: float | None = unsaid()
    looks: tuple[Look, ...] = field(default=(), metadata=MAYBE)


@immutable(kw_only=True)
class MetricRecord:
    """What the page says about a metric; `labels` is what it compares predictions with."""

    name: str
    title: str
    soft_title: str = ""
    better: str = "higher"
    bounds: tuple[float, ...] = (0.0, 1.0)
    definition: str = ""
    labels: str = "classes"


@immutable(kw_only=True)
class Provenance:
    """Where an evaluation comes from.

    Attributes
    ----------
    title, simulated
        Heading of the page, and a sentence to show first when any part of the data is
        simulated.
    inputs, dataset
        Files that were read (`hash_inputs`), or the public data set in place of them: its
        name, title, licence and citation.
    question, truth_model
        How the labels were read, and how the truth was made where it is not the votes.
    asked
        Further options that were set, by name, so that the run can be repeated.
    """

    title: str = "Evaluation"
    simulated: str | None = None
    dataset: Mapping[str, str] | None = field(default=None, metadata=MAYBE)
    inputs: tuple[InputFile, ...] = ()
    question: StoredQuestion = field(default_factory=StoredQuestion)
    truth_model: TruthModel | None = field(default=None, metadata=MAYBE)
    asked: Mapping[str, JsonValue] = field(default_factory=dict)


@immutable(kw_only=True, eq=False)
class RunRecord(Provenance):
    """Everything one evaluation found, with what is needed to make it again.

    Attributes
    ----------
    equipoise, versions, settings
        How it was made.
    tasks, models, labels, metrics
        Names along the axes; the last task is the macro average when there are several.
    rows, differences
        Scores, and all that is paired.
    notices
        What the reader should know, in sentences.
    report
        What was said of it; None until it is made.
    """

    equipoise: str = "undefined"
    versions: Mapping[str, str] = field(default_factory=dict)
    settings: RunSettings
    tasks: Names
    models: Names
    labels: Names
    metrics: tuple[MetricRecord, ...]
    rows: tuple[Row, ...]
    differences: tuple[Difference, ...]
    notices: Names
    report: Report | None = field(default=None, metadata=MAYBE)


def encode(record: RunRecord) -> dict[str, JsonValue]:
    """What ``run.json`` holds, all but the hash of the replicates."""
    return {"schema": SCHEMA, **codec.encode(record)}


def decode(header: Mapping[str, Any]) -> RunRecord:
    """Read what ``run.json`` holds, naming what is not as it should be."""
    if header.get("schema") != SCHEMA:
        raise InputError(
            "run.json, schema",
            f"{header.get('schema')!r}",
            f"{SCHEMA}",
            "write the run again with this version",
        )
    return codec.read(RunRecord, dict(header))


# ---- the folder ----------------------------------------------------------------------------


@immutable(eq=False)
class Run:
    """Everything one evaluation found, with what is needed to make it again.

    Attributes
    ----------
    record
        What ``run.json`` holds: settings, definitions, inputs and all tables.
    replicates
        Shape (tasks, metrics, labels, models, replicates).
    """

    record: RunRecord
    replicates: NDArray[np.float64]

    __repr__ = short_repr

    def __post_init__(self) -> None:
        """Refuse replicates of another run."""
        axes = (self.record.tasks, self.record.metrics, self.record.labels, self.record.models)
        shape = tuple(len(axis) for axis in axes)
        fits = self.replicates.ndim == 5 and self.replicates.shape[:4] == shape
        if not fits or self.replicates.dtype.kind != "f":
            raise InputError(
                "replicates",
                f"shape {self.replicates.shape} of {self.replicates.dtype}",
                f"{(*shape, 'replicates')}",
                "keep run.json and its replicates together",
            )

    @property
    def header(self) -> Mapping[str, JsonValue]:
        """The record as plain JSON."""
        return encode(self.record)

    @property
    def report(self) -> Report:
        """What was said of it."""
        return self.record.report or Report(title=self.record.title, findings=())

    def save(
        self, folder: Path, *, overwrite: bool = False, beside: Mapping[str, str] | None = None
    ) -> Path:
        """Write the run into a folder; an earlier run there is only replaced if asked.

        Parameters
        ----------
        beside
            Further texts by their names, which come and go with the run.
        """
        check_folder(folder, RUN_FILES, overwrite=overwrite)
        array = io.BytesIO()
        np.save(array, self.replicates)
        header = dict(self.header)
        header["replicates"] = {
            "file": REPLICATES,
            "sha256": hashlib.sha256(array.getbuffer()).hexdigest(),
            "shape": list(self.replicates.shape),
        }
        files: dict[str, str | bytes] = {
            **(beside or {}),
            REPLICATES: array.getvalue(),
            PAGE: render(self.report),
            **{f"{table.name}.csv": as_csv(table.rows) for table in downloads(self.report)},
            HEADER: codec.json_lines(sealed(header)) + "\n",
        }
        write_folder(folder, files, mark=HEADER)
        return folder

    @classmethod
    def load(cls, folder: Path) -> "Run":
        """Read a run and check that it is whole."""
        target = Path(folder)
        target = target.parent if target.name == HEADER else target
        header = _header(target)
        path = target / REPLICATES
        named = header.get("replicates")
        expected = named.get("sha256") if isinstance(named, dict) else None
        if not path.is_file() or file_sha256(path) != expected:
            got = "changed or damaged" if path.exists() else "missing"
            raise InputError(
                f"{path}", got, "the replicates that run.json names", "run evaluate again"
            )
        record = decode(header)  # which names a field that is not as it should be
        check_sealed(header, None, f"{target / HEADER}", "run evaluate again")
        return cls(record, read_array(content(path)))


def downloads(report: Report) -> list[Table]:
    """Tables that lie in the folder as files of their own."""
    return [table for part in report.findings for table in part.tables if table.download]


def _header(target: Path) -> dict[str, Any]:
    """Read ``run.json`` of a folder."""
    path = target / HEADER
    if not path.is_file():
        raise InputError(
            f"{target}",
            "no run.json",
            "a folder written by equipoise evaluate --out",
            "check the path, or run evaluate first",
        )
    try:
        header = read_json(content(path))
    except InputError:
        header = None
    if not isinstance(header, dict) or "schema" not in header:
        raise InputError(
            f"{path}", "not a run header", "JSON with a schema number", "run evaluate again"
        )
    schema = header["schema"]
    if schema != SCHEMA:
        earlier = isinstance(schema, int) and schema < SCHEMA
        raise InputError(
            f"{path}",
            f"schema {schema}: a run of {'an earlier' if earlier else 'another'} version, "
            "which this one does not open",
            f"schema {SCHEMA}",
            "evaluate its files again (run.json names them under inputs), or open it with the "
            "version that wrote it",
        )
    return header


# ---- recording -----------------------------------------------------------------------------


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


def record(
    evaluation: Evaluation,
    provenance: Provenance,
    report: Report,
    *,
    soft: str = "mean vote",
    hard: str | None = None,
) -> Run:
    """Make the run of an evaluation, with what is said of it.

    Parameters
    ----------
    soft, hard
        How soft and hard labels were made; None is by the rule of the evaluation.
    """
    origin: dict[str, Any] = {
        part.name: getattr(provenance, part.name) for part in fields(Provenance)
    }
    run = RunRecord(
        **origin,
        equipoise=version("equipoise"),
        versions={
            "python": platform.python_version(),
            **{name: version(name) for name in PACKAGES},
        },
        settings=_settings(evaluation, soft, _hard_rule(evaluation) if hard is None else hard),
        tasks=evaluation.tasks,
        models=evaluation.models,
        labels=LABELS,
        metrics=tuple(
            MetricRecord(
                **{part.name: getattr(metric, part.name) for part in fields(MetricRecord)}
            )
            for metric in evaluation.metrics
        ),
        rows=tuple(evaluation.table()),
        differences=tuple(
            gap
            for task in evaluation.tasks
            for metric in evaluation.metrics
            for labels in LABELS
            for gap in evaluation.differences(metric.name, labels=labels, task=task)
        ),
        notices=tuple(worded(evaluation.notices)),
    )
    whole = replace(
        report,
        title=provenance.title,
        banner=provenance.simulated or "",
        settings=(*report.settings, *_provenance(run)),
    )
    replicates = evaluation.replicates.astype(np.float64, copy=False)
    return Run(replace(run, report=whole), replicates)


def _provenance(run: RunRecord) -> Pairs:
    """Versions, plan and hashes of the inputs."""
    return (
        *((name, str(number)) for name, number in run.versions.items()),
        ("Plan", run.settings.plan),
        *(
            (f"{file.role}: {file.name}", f"{count(file.bytes)} bytes, SHA-256 {file.sha256}")
            for file in run.inputs
        ),
    )


def _settings(evaluation: Evaluation, soft: str, hard: str) -> RunSettings:
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
        decides=evaluation.population.decides,
        margin=evaluation.margin,
        matters=evaluation.matters,
        looks=evaluation.looks,
        soft=soft,
        hard=hard,
        group=group,
        scope=evaluation.population.scope,
        items_redrawn=evaluation.population.items,
    )


def _hard_rule(evaluation: Evaluation) -> str:
    """How hard labels were made of votes."""
    questions, kinds = evaluation.questions, [metric.labels for metric in evaluation.metrics]
    classes = max(len(truth.classes) for truth in questions)
    return hard_labels_rule(kinds, classes=classes, ties=questions[0].ties)
