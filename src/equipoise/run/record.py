"""Record: what ``run.json`` holds, as types, and how it is written and read.

Everything an evaluation found, with what is needed to make it again. Undefined numbers are nan
here and null in the file; infinite ones are the words "inf" and "-inf" there (schema 2; a run
has the lowest schema that can hold it, so earlier versions read all runs without them). Parts
that earlier versions did not write have a default, so their runs open too.

`encode` and `decode` are the only places that know the keys of the file.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from equipoise.analyses.gold import GoldGain, GoldScore
from equipoise.arrays import Floats, InputError
from equipoise.evaluation.result import INFERENCES
from equipoise.findings.json import JsonValue, plain
from equipoise.numbers import EXACT
from equipoise.resampling import distinct_panels

SCHEMA = 2
SCHEMAS = (1, 2)  # those that can be read
NAN = math.nan
Matrix = NDArray[np.floating[Any]]
MAYBE = {"maybe": True}  # of a field that is not written where it has its default
Read = TypeVar("Read")


# ---- where it comes from -------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """A file that was read: its role, name, hash and size, and the way to it from the run."""

    role: str
    name: str
    sha256: str
    bytes: int
    path: str | None = field(default=None, metadata=MAYBE)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRecord:
    """The public data set that was read in place of files."""

    name: str
    title: str = field(default="", metadata=MAYBE)
    licence: str = field(default="", metadata=MAYBE)
    citation: str = field(default="", metadata=MAYBE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What was asked, and how the answers were read.

    Attributes
    ----------
    ties
        What became of items tied in the hard label; earlier runs do not say it: negative.
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
    ties: str = "negative"
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
        own = {one.name for one in fields(self)}
        return [
            (_spaced(name), plain(getattr(self, name) if name in own else self.others[name]))
            for name in self.told
        ]


def question(**told: Any) -> Question:
    """A question of which exactly this was told.

    Examples
    --------
    >>> question(positive="ill", scanner="A").items()
    [('positive', 'ill'), ('scanner', 'A')]
    """
    own = {one.name for one in fields(Question)}
    others = {name: value for name, value in told.items() if name not in own}
    known = {name: value for name, value in told.items() if name in own}
    return Question(told=tuple(told), others=others, **known)


def _spaced(name: str) -> str:
    return name.replace("read_as", "read as")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskMethod:
    """How the truth of one task was made."""

    task: str
    method: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthModel:
    """The model that made the truth where it is not the votes themselves."""

    model: str = field(default="", metadata=MAYBE)
    reason: str = field(default="", metadata=MAYBE)
    method: str = field(default="", metadata=MAYBE)
    parameters: Mapping[str, JsonValue] | None = field(default=None, metadata=MAYBE)
    draws: int | None = field(default=None, metadata=MAYBE)
    seed: int | None = field(default=None, metadata=MAYBE)
    tasks: tuple[TaskMethod, ...] = field(default=(), metadata=MAYBE)
    groups: Mapping[str, JsonValue] | None = field(default=None, metadata=MAYBE)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """How replicates were drawn, intervals made and labels taken from votes.

    Attributes
    ----------
    resample, resample_reason, scope, group, items_redrawn
        What was drawn anew and why, what the result speaks for, the groups of items that stay
        together, and whether items were resampled; earlier runs do not say the last.
    all_panels_of
        Number of annotators whose panels are all listed, each counting by its probability; 0
        where replicates count alike.
    population, effective_annotators, decides
        Whom intervals and verdicts speak for (empty in earlier runs), how many annotators the
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
    margin: float | None = field(default=None, metadata=MAYBE)
    matters: float | None = field(default=None, metadata=MAYBE)

    @property
    def by_annotator(self) -> bool:
        """Whether scores are means over annotators, each by their own votes (mrmc)."""
        return bool(self.population) and self.interval != INFERENCES["two-way"]

    @property
    def weights(self) -> Floats | None:
        """How much each replicate counts; None where all count alike."""
        return distinct_panels(self.all_panels_of)[1] if self.all_panels_of else None


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


# ---- scores --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One model's score under one kind of labels; nan is undefined."""

    task: str
    model: str
    metric: str
    labels: str
    value: float = NAN
    low: float = NAN
    high: float = NAN
    rank: float = NAN
    p_best: float = NAN
    standard_error: float = NAN
    df: float = NAN
    rank_low: float = NAN
    rank_high: float = NAN

    @property
    def has_interval(self) -> bool:
        """Whether both ends of the interval are known."""
        return not math.isnan(self.low) and not math.isnan(self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairDifference:
    """Model a minus model b, paired.

    `separated` is a statement about all pairs at once; earlier runs do not have it.
    `judgement` is what the margin makes of a against b, `reverse` of b against a.
    """

    task: str
    metric: str
    labels: str
    a: str
    b: str
    value: float = NAN
    low: float = NAN
    high: float = NAN
    p_better: float = NAN
    standard_error: float = NAN
    df: float = NAN
    p: float = NAN
    p_adjusted: float = NAN
    separated: bool | None = None
    judgement: str = ""
    reverse: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """How much better one model is than another: positive favours the first.

    `apart` is what the run says of all pairs at once; earlier runs say nothing (None).
    """

    value: float = NAN
    low: float = NAN
    high: float = NAN
    p_better: float = NAN
    p_adjusted: float = NAN
    apart: bool | None = None
    judgement: str = ""

    @property
    def separated(self) -> bool:
        """Whether the first model is surely better."""
        if self.apart is None:
            return self.low > EXACT
        return self.apart and self.value > 0

    @property
    def decided(self) -> bool:
        """Whether one of the two is surely better."""
        if self.apart is None:
            return self.low > EXACT or self.high < -EXACT
        return self.apart

    @property
    def defined(self) -> bool:
        """Whether there is an interval at all."""
        return not math.isnan(self.low) and not math.isnan(self.high)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankShares:
    """How often each model holds each rank, shape (models, ranks)."""

    task: str
    metric: str
    labels: str
    matrix: Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCorrelation:
    """How alike the orders by hard and soft labels are."""

    task: str
    metric: str
    spearman: float = NAN
    kendall_tau_b: float = NAN


# ---- the truth -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorRow:
    """Votes, share of yes and agreement with the others of one annotator.

    `median_ms` is None where no durations were recorded, nan where this annotator has none.
    """

    task: str
    annotator: str
    votes: int
    base_rate: float = NAN
    agreement: float = NAN
    median_ms: float | None = field(default=None, metadata=MAYBE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bins:
    """Counts between edges; `below` counts those that are below a threshold."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    below: tuple[int, ...] = field(default=(), metadata=MAYBE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TruthRow:
    """Numbers about one task's truth; see `equipoise.run.recording.truth_row`.

    `no_majority` are the items tied in the hard label; of earlier runs those without a strict
    majority. `gold` counts the items that adjudicated gold settles.
    """

    task: str
    items: int
    from_votes: bool | None = None
    votes: int
    votes_per_item: tuple[float, ...]
    positives_hard: int
    mean_soft: float
    unanimous: int
    no_majority: int = 0
    single_vote: int = 0
    ties: str = "negative"
    classes: tuple[str, ...] = ()
    histogram: Bins
    gold: int = field(default=0, metadata=MAYBE)

    @property
    def several(self) -> bool:
        """Whether the question has several classes."""
        return len(self.classes) > 1

    @property
    def from_model(self) -> bool:
        """Whether the truth comes from a model; earlier runs tell by having no votes."""
        return not self.from_votes if self.from_votes is not None else self.votes == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassVotes:
    """Votes for one class on one item, and of few votes who gave them."""

    class_: str
    votes: float
    who: tuple[str, ...] = field(default=(), metadata=MAYBE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassMass:
    """How plausible a class is."""

    class_: str
    mass: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AmbiguousItem:
    """An item whose truth is open: its certainty, its plausible classes, its votes."""

    item: str
    certainty: float
    entropy: float
    votes: int
    plausible: tuple[ClassMass, ...]
    others: float
    counts: tuple[ClassVotes, ...] = field(default=(), metadata=MAYBE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CertaintyRow:
    """Certainties of the items of one task; `curve` has them sorted, share by certainty."""

    task: str
    method: str
    items: int
    classes: int
    mean: float
    threshold: float
    below: int
    histogram: Bins
    curve: tuple[tuple[float, ...], ...] = ()
    ambiguous: tuple[AmbiguousItem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class InfluentialItem:
    """An item, where votes and models put it, and what leaving it out would change."""

    item: str
    soft_label: float = NAN
    votes: float = NAN
    position_a: float = NAN
    position_b: float = NAN
    influence: float = NAN


@dataclass(frozen=True, slots=True, kw_only=True)
class InfluentialRow:
    """Items that decide between two models of a task."""

    task: str
    metric: str
    a: str
    b: str
    labels: str = "soft"
    items: tuple[InfluentialItem, ...]


# ---- predicted probabilities ---------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """One model: mean distance from the diagonal, means, and bins of (said, seen, items)."""

    model: str
    error: float
    predicted: float
    observed: float
    bins: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityRow:
    """Calibration of all models on one task; `class_` is None for the model's own answer."""

    task: str
    items: int = 0
    bins: int = 10
    class_: str | None
    from_votes: bool = True
    models: tuple[Calibration, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassShares:
    """What was predicted and what was said of one class of an item."""

    class_: str
    predicted: float
    observed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HardItem:
    """An item on which a model does badly."""

    item: str
    score: float
    shares: tuple[ClassShares, ...]
    votes: int | None = None
    counts: tuple[ClassVotes, ...] = field(default=(), metadata=MAYBE)


@dataclass(frozen=True, slots=True, kw_only=True)
class HardestRow:
    """The items of a task on which the best model does worst."""

    task: str
    metric: str
    title: str
    asked: bool
    model: str
    mean: float
    items_scored: int
    classes: tuple[str, ...]
    from_votes: bool
    items: tuple[HardItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetainedCurve:
    """Heights of one model's curve."""

    model: str
    heights: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetainedRow:
    """Curves of all models over the share of items that is removed."""

    task: str
    metric: str
    removed: tuple[float, ...]
    models: tuple[RetainedCurve, ...]


# ---- agreement -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient:
    """A coefficient of agreement with its interval, in words, and what it rests on."""

    name: str
    value: float
    low: float = NAN
    high: float = NAN
    words: str = ""
    items: int = 0
    votes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementAnnotator:
    """How far one annotator agrees with the others."""

    annotator: str
    votes: int
    items: int
    kappa: float = NAN
    agreement: float = NAN
    alpha_without: float = NAN


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementPair:
    """Two annotators."""

    first: str
    second: str
    kappa: float
    items: int
    words: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AgreementPairs:
    """Kappa of pairs, shape (annotators, annotators), and the pairs at both ends."""

    people: int
    annotators: tuple[str, ...]
    kappa: Matrix
    items: Matrix
    closest: tuple[AgreementPair, ...]
    furthest: tuple[AgreementPair, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AgreementRow:
    """How far the annotators agree on one task."""

    task: str
    kind: str
    level: str
    weights: str
    items: int
    votes: int
    scope: str = ""
    cautions: tuple[str, ...] = ()
    coefficients: tuple[Coefficient, ...] = ()
    annotators: tuple[AgreementAnnotator, ...] = ()
    pairs: AgreementPairs | None = None


# ---- the whole -----------------------------------------------------------------------------


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
    rows, differences, rank_probabilities, rank_correlation
        Scores, and all that is paired.
    annotators, truth, certainty, influential, reliability, hardest, retained, agreement
        What is known of the votes, the truth and the predictions.
    gold, gold_gains
        Models and annotators against gold, where items have some.
    notices
        What the reader should know, in sentences.
    """

    title: str
    simulated: str | None = None
    equipoise: str = "undefined"
    versions: Mapping[str, str] = field(default_factory=dict)
    dataset: DatasetRecord | None = field(default=None, metadata=MAYBE)
    inputs: tuple[InputFile, ...] = ()
    question: Question = field(default_factory=Question)
    truth_model: tuple[TruthModel, ...] = ()
    settings: RunSettings
    tasks: tuple[str, ...]
    models: tuple[str, ...]
    labels: tuple[str, ...]
    metrics: tuple[MetricRecord, ...]
    rows: tuple[Score, ...]
    differences: tuple[PairDifference, ...]
    rank_probabilities: tuple[RankShares, ...]
    rank_correlation: tuple[RankCorrelation, ...]
    annotators: tuple[AnnotatorRow, ...]
    truth: tuple[TruthRow, ...]
    certainty: tuple[CertaintyRow, ...] = ()
    influential: tuple[InfluentialRow, ...]
    reliability: tuple[ReliabilityRow, ...] = ()
    hardest: tuple[HardestRow, ...] = ()
    retained: tuple[RetainedRow, ...] = ()
    notices: tuple[str, ...]
    agreement: tuple[AgreementRow, ...] = field(default=(), metadata=MAYBE)
    gold: tuple[GoldScore, ...] = field(default=(), metadata=MAYBE)
    gold_gains: tuple[GoldGain, ...] = field(default=(), metadata=MAYBE)


# ---- writing and reading -------------------------------------------------------------------


def encode(record: RunRecord) -> dict[str, JsonValue]:
    """What ``run.json`` holds, all but the hash of the replicates."""
    content = {one.name: getattr(record, one.name) for one in _written(record)}
    endless = any(_endless(value) for value in content.values())
    return {
        "schema": SCHEMA if endless else 1,
        **{name: _encoded(value) for name, value in content.items()},
        "truth_model": _models(record.truth_model),
    }


def _models(models: Sequence[TruthModel]) -> JsonValue:
    """None is an empty object, one an object, several a list."""
    written = [_encoded(one) for one in models]
    return written if len(written) > 1 else (written or [{}])[0]


def _written(record: Any) -> list[Field[Any]]:
    return [
        one
        for one in fields(record)
        if not one.metadata.get("maybe") or getattr(record, one.name) != one.default
    ]


def encoded(part: object) -> Mapping[str, Any]:
    """A part of a record, as ``run.json`` holds it."""
    made = _encoded(part)
    assert isinstance(made, Mapping)
    return made


def _encoded(value: Any) -> JsonValue:
    if isinstance(value, Question):
        return dict(value.items())
    if is_dataclass(value):
        return {
            one.name.rstrip("_"): _encoded(getattr(value, one.name)) for one in _written(value)
        }
    if isinstance(value, tuple | list):
        return [_encoded(one) for one in value]
    return plain(value)


def _endless(value: Any) -> bool:
    """Whether a value holds an infinite number."""
    if is_dataclass(value):
        return any(_endless(getattr(value, one.name)) for one in fields(value))
    if isinstance(value, Mapping):
        return any(_endless(one) for one in value.values())
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and bool(np.isinf(value).any())
    if isinstance(value, list | tuple):
        return any(_endless(one) for one in value)
    return isinstance(value, float) and math.isinf(value)


def decode(header: Mapping[str, Any]) -> RunRecord:
    """Read what ``run.json`` holds, naming what is not as it should be."""
    if header.get("schema") not in SCHEMAS:
        raise InputError(
            "run.json, schema",
            f"{header.get('schema')!r}",
            f"1 to {SCHEMAS[-1]}",
            "write the run again with this version",
        )
    return read(RunRecord, header)


def read(kind: type[Read], value: object, where: str = "run.json") -> Read:
    """Read a record of some kind from plain JSON.

    Examples
    --------
    >>> read(InputFile, {"role": "votes", "name": "a.csv", "sha256": "", "bytes": "x"})
    Traceback (most recent call last):
    ...
    equipoise.arrays.InputError: run.json, bytes: 'x' (str), expected a whole number; write ...
    """
    made: Read = _record(kind, value, where)
    return made


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _record(kind: Any, value: object, where: str) -> Any:
    if not isinstance(value, Mapping):
        raise _wrong(where, value, "an object with keys")
    if kind is Question:
        known = {str(name).replace(" ", "_"): one for name, one in value.items()}
        hints = _hints(Question)
        return question(
            **{
                name: _value(hints[name], one, f"{where}, {name}")
                if name in hints and one is not None
                else one
                for name, one in known.items()
            }
        )
    made = {}
    for one in fields(kind):
        key = one.name.rstrip("_")
        if key in value:
            made[one.name] = _value(_hints(kind)[one.name], value[key], f"{where}, {key}")
        elif one.default is MISSING and one.default_factory is MISSING:
            raise InputError(
                f"{where}, key {key!r}", "absent", "present", "write the run again"
            )
    return kind(**made)


def _value(hint: Any, value: Any, where: str) -> Any:
    """Read one value as its type says."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _union(inner, value, where)
    if origin is tuple:
        return _list(inner[0], value, where)
    if hint == Matrix:
        return np.array([[_number(one, where) for one in row] for row in value], dtype=float)
    if is_dataclass(hint):
        return _record(hint, value, where)
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise _wrong(where, value, "an object with keys")
        return dict(value)
    return _plain_value(hint, value, where)


def _list(hint: Any, value: Any, where: str) -> tuple[Any, ...]:
    """Read a list; a single model of the truth may stand without one, and none as {}."""
    if hint is TruthModel and isinstance(value, Mapping):
        value = [value] if value else []
    if not isinstance(value, list | tuple):
        raise _wrong(where, value, "a list")
    return tuple(_value(hint, one, f"{where}[{i}]") for i, one in enumerate(value))


def _union(kinds: Sequence[Any], value: Any, where: str) -> Any:
    if value is None:
        return math.nan if float in kinds else None
    for kind in kinds:
        if kind is not type(None):
            try:
                return _value(kind, value, where)
            except InputError as error:
                refused = error
    raise refused


def _plain_value(hint: Any, value: Any, where: str) -> Any:
    if hint is float:
        return _number(value, where)
    if hint is int:
        if isinstance(value, bool) or not isinstance(value, int):
            if value is None:
                return 0
            if not (isinstance(value, float) and value.is_integer()):
                raise _wrong(where, value, "a whole number")
        return int(value)
    if hint is bool and not isinstance(value, bool):
        raise _wrong(where, value, "true or false")
    if hint is str and not isinstance(value, str):
        raise _wrong(where, value, "text")
    return value


def _number(value: Any, where: str) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not (
        isinstance(value, int | float) or value in ("inf", "-inf")
    ):
        raise _wrong(where, value, "a number, null, or the word inf")
    return float(value)


def _wrong(where: str, value: object, expected: str) -> InputError:
    return InputError(
        where, f"{value!r:.40} ({type(value).__name__})", expected, "write the run again"
    )
