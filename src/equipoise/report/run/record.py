"""Record: what ``run.json`` holds, as types, and how it is written and read.

What was asked and read, every value with its interval, all paired differences, and the report
that was made of them. Runs of earlier versions are refused with a sentence that says so.

`encode` and `decode` are the only places that know the keys of the file.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, get_type_hints

from equipoise.read import codec
from equipoise.read.codec import read_value
from equipoise.study.result import Difference, Row
from equipoise.types.arrays import InputError
from equipoise.types.findings import Report
from equipoise.types.findings.charts import MAYBE
from equipoise.types.findings.record import JsonValue, plain

SCHEMA = 4
NAN = math.nan


# ---- where it comes from -------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """A file that was read: its role, name, hash and size, and the way to it from the run."""

    role: str
    name: str
    sha256: str
    bytes: int
    path: str | None = field(metadata=MAYBE, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRecord:
    """The public data set that was read in place of files."""

    name: str
    title: str = field(metadata=MAYBE, default="")
    licence: str = field(metadata=MAYBE, default="")
    citation: str = field(metadata=MAYBE, default="")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredQuestion:
    """What was asked, and how the answers were read.

    Attributes
    ----------
    ties
        What became of items tied in the hard label.
    told
        Names of what is part of the record, in the order of the file; the rest was not said.
    read_as
        Kind and classes of the annotations as they were read.
    """

    told: tuple[str, ...] = ()
    positive: str | tuple[str, ...] | None = None
    at_least: str | int | float | None = None
    kind: str | None = None
    exchangeable: bool = False
    layout: str = "auto"
    prediction_layout: str = "auto"
    repeats: str = "keep"
    on_missing: str = "error"
    gold: str = "truth"
    ties: str = "half"
    first_votes: int | None = None
    circular: str = "error"
    truth: str = "votes"
    by_group: bool = False
    within: str | None = None
    read_as: str | tuple[str, ...] = ""
    classes: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    prediction_columns: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, JsonValue] = field(default_factory=dict)

    def items(self) -> list[tuple[str, JsonValue]]:
        """What was told, by its name in the file."""
        names = {entry.name for entry in fields(self)}
        return [
            (
                name.replace("read_as", "read as"),
                plain(getattr(self, name) if name in names else self.others[name]),
            )
            for name in self.told
        ]

    def to_json(self) -> dict[str, JsonValue]:
        """What the file holds: what was told."""
        return dict(self.items())

    @classmethod
    def from_json(cls, value: Mapping[str, Any], where: str) -> "StoredQuestion":
        """Read what was told; unknown names stay as they are."""
        hints = get_type_hints(cls)
        stored = {str(name).replace(" ", "_"): content for name, content in value.items()}
        return question(
            **{
                name: read_value(hints[name], content, f"{where}, {name}")
                if name in hints and content is not None
                else content
                for name, content in stored.items()
            }
        )


def question(**answers: Any) -> StoredQuestion:
    """A question of which exactly this was told.

    Examples
    --------
    >>> question(positive="ill", scanner="A").items()
    [('positive', 'ill'), ('scanner', 'A')]
    """
    names = {entry.name for entry in fields(StoredQuestion)}
    others = {name: value for name, value in answers.items() if name not in names}
    declared = {name: value for name, value in answers.items() if name in names}
    return StoredQuestion(told=tuple(answers), others=others, **declared)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TaskMethod:
    """How the truth of one task was made."""

    task: str
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthModel:
    """The model that made the truth where it is not the votes themselves."""

    model: str = field(metadata=MAYBE, default="")
    reason: str = field(metadata=MAYBE, default="")
    method: str = field(metadata=MAYBE, default="")
    parameters: Mapping[str, JsonValue] | None = field(metadata=MAYBE, default=None)
    draws: int | None = field(metadata=MAYBE, default=None)
    seed: int | None = field(metadata=MAYBE, default=None)
    tasks: tuple[_TaskMethod, ...] = field(metadata=MAYBE, default=())
    groups: Mapping[str, JsonValue] | None = field(metadata=MAYBE, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """How replicates were drawn, intervals made and labels taken from votes.

    Attributes
    ----------
    resample, resample_reason, scope, group, items_redrawn
        What was drawn anew and why, what the result speaks for, the groups of items that stay
        together, and whether items were resampled.
    all_panels_of
        Number of annotators whose panels are all listed, each counting by its probability; 0
        where replicates count alike.
    population, effective_annotators, decides
        Whom intervals and verdicts speak for, how many annotators the
        design is worth, and whether that is enough for a verdict.
    margin, matters
        How much worse still counts as no worse, and the smallest difference that counts.
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
    all_panels_of: int = 0
    population: str = ""
    effective_annotators: float = NAN
    decides: bool = True
    margin: float | None = field(metadata=MAYBE, default=None)
    matters: float | None = field(metadata=MAYBE, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRecord:
    """What the page says about a metric; `labels` is what it compares predictions with."""

    name: str
    title: str
    soft_title: str = ""
    better: str = "higher"
    bounds: tuple[float, ...] = (0.0, 1.0)
    definition: str = ""
    labels: str = "classes"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunRecord:
    """Everything one evaluation found, with what is needed to make it again.

    Attributes
    ----------
    title, simulated
        Heading of the page, and a sentence to show first when data are simulated.
    equipoise, versions, dataset, inputs, question, truth_model, settings
        How it was made.
    tasks, models, labels, metrics
        Names along the axes; the last task is the macro average when there are several.
    rows, differences
        Scores, and all that is paired.
    notices
        What the reader should know, in sentences.
    asked
        Further options that were set, by name, so that the run can be repeated.
    report
        What was said of it; None until it is made.
    """

    title: str
    simulated: str | None = None
    equipoise: str = "undefined"
    versions: Mapping[str, str] = field(default_factory=dict)
    dataset: DatasetRecord | None = field(metadata=MAYBE, default=None)
    inputs: tuple[InputFile, ...] = ()
    question: StoredQuestion = field(default_factory=StoredQuestion)
    truth_model: TruthModel | None = field(metadata=MAYBE, default=None)
    settings: RunSettings
    tasks: tuple[str, ...]
    models: tuple[str, ...]
    labels: tuple[str, ...]
    metrics: tuple[MetricRecord, ...]
    rows: tuple[Row, ...]
    differences: tuple[Difference, ...]
    notices: tuple[str, ...]
    asked: Mapping[str, JsonValue] = field(default_factory=dict)
    report: Report | None = field(metadata=MAYBE, default=None)


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
