"""Options of the command line, as typed records that check themselves.

A verb takes records in place of thirty parameters, and `command` spreads their fields out for
typer::
    @command
    def stability(files: StudyFiles, reading: ReadingOptions, output: OutputOptions) -> None:
        ...

Each field carries its `typer.Option`. A record is frozen and refuses wrong words when it is
made, which is wrong usage (exit code 2). Records that read votes build on each other:

- `VoteReading`: kind, classes, exchangeable, columns, layout, repeats, first_votes;
- `QuestionReading`: and positive, at_least;
- `StudyReading`: and prediction_columns, prediction_layout;
- `ReadingOptions`: and on_missing, gold, ties, circular.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import (
    Annotated,
    Any,
    ClassVar,
    NoReturn,
    TypeVar,
    get_args,
    get_type_hints,
)

import typer

from equipoise.types.annotations import GOLD
from equipoise.types.arrays import MOST_DRAWN, InputError, choice, nearest

FILES, MEANING = "Files", "What the labels mean"
UNCERTAINTY, RESULT, RARE = "Uncertainty", "Result", "Rare"
RARE_NAMES = {
    *("draws", "burn_in", "reliability", "prior", "bootstrap"),  # of a model of the truth
    *("by_group", "within"),
    *("replicates", "simulations", "infinite", "reach"),
    *("votes_per_item", "items_per_group", "price_item", "price_vote", "price_annotator"),
    *("expert_columns", "prediction_columns", "prediction_layout", "on_missing"),
    "title",
}  # options that no help shows, in whichever verb; others say so themselves

OF_DATA = (  # numbers of any size
    "seed", "found", "audited", "positives", "unaudited", "per_bin", "next_items",
)  # fmt: skip

Given = TypeVar("Given")
Value = TypeVar("Value")


def panel(title: str, /, **texts: str) -> Callable[..., Any]:
    """A panel of the help, with the text of each of its options, by name.

    Examples
    --------
    >>> sample = panel("Sample", bins="How many bins.")
    >>> sample("bins", "--bins", "-b", min=1).help
    'How many bins.'
    """

    def option(name: str, *flags: str, **limits: Any) -> Any:
        return typer.Option(*flags, rich_help_panel=title, help=texts[name], **limits)

    return option


def command(
    verb: Callable[..., None] | None = None, *, show_all: bool = False, heavy: str = ""
) -> Callable[..., Any]:
    """Spread the fields of a verb's records out into parameters that typer understands.

    Arguments come first, then options in the order of the records and their fields. Options
    that are rare are hidden: `--set NAME=VALUE` sets them, and so does their own flag.

    Parameters
    ----------
    show_all
        Whether rare options are shown in the help, too.
    heavy
        What the verb has that an engine can run: ``maps``, or ``cells`` that jobs can make,
        too. It then has the options of the engine, and runs on it.

    Examples
    --------
    >>> @command
    ... def show(output: OutputOptions, *, wide: bool = False) -> None:
    ...     print(output.as_json, wide)
    >>> show(as_json=True)
    True False
    >>> list(signature(show).parameters)
    ['out', 'overwrite', 'title', 'as_json', 'wide', 'settings_by_name']
    """
    if verb is None:
        return partial(command, show_all=show_all, heavy=heavy)
    hints = get_type_hints(verb, include_extras=True)
    engine = _engine_options() if heavy else None
    records: dict[str, type[Any]] = {}
    parameters: list[Parameter] = []
    for name, own in signature(verb).parameters.items():
        if not is_dataclass(hints[name]):
            how = own.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY)
            parameters.append(how)
            continue
        records[name] = hints[name]
        parameters += _parameters(hints[name])
    parameters += _parameters(engine) if engine else []
    parameters.sort(key=_is_option)
    rare = {one.name: one for one in parameters if _is_rare(one)}
    parameters = [
        _with_help(one, hidden=not show_all) if one.name in rare else one for one in parameters
    ]
    if rare and not show_all:
        parameters.append(_setter(rare))

    @wraps(verb)
    def spread(**options: Any) -> None:
        for word in options.pop(SET, None) or ():
            name, value = _setting(word, rare)
            options[name] = value
        _refuse_endless(options)
        made = {name: _record(record, options) for name, record in records.items()}
        if engine is None:
            verb(**made, **options)
            return
        with _record(engine, options).use(cells=heavy == "cells"):
            verb(**made, **options)

    spread.__dict__["__signature__"] = Signature(parameters, return_annotation=None)
    spread.__annotations__ = {one.name: one.annotation for one in parameters}
    return spread


def _refuse_endless(options: Mapping[str, Any]) -> None:
    """Refuse to draw, train or simulate more often than a machine can, before it begins."""
    for name, value in options.items():
        whole = isinstance(value, int) and not isinstance(value, bool)
        if whole and name not in OF_DATA and value > MOST_DRAWN:
            got = value if value < 10**18 else "a huge number"
            message = f"got {got}, expected at most {MOST_DRAWN:,}"
            raise misused(message, name)


def _record(kind: type[Any], options: dict[str, Any]) -> Any:
    """Make a record, and the records in it, of their options, and take them away."""
    types, own = get_type_hints(kind), dict[str, object]()
    for name in [one.name for one in fields(kind)]:
        if is_dataclass(types[name]):
            own[name] = _record(types[name], options)
        elif name in options:
            own[name] = options.pop(name)
    return kind(**own)


def _engine_options() -> type[Any]:
    from equipoise.cli._engine import EngineOptions

    return EngineOptions


# ---- rare options --------------------------------------------------------------------------

SET = "settings_by_name"


def _info(parameter: Parameter) -> Any:
    """What typer was told of an option; None of an argument."""
    kinds = getattr(parameter.annotation, "__metadata__", ())
    return next((one for one in kinds if isinstance(one, typer.models.OptionInfo)), None)


def _is_rare(parameter: Parameter) -> bool:
    info = _info(parameter)
    return info is not None and (info.hidden or parameter.name in RARE_NAMES)


def _with_help(parameter: Parameter, *, hidden: bool) -> Parameter:
    """A rare option that the help shows, or not."""
    info = copy(_info(parameter))
    info.hidden = hidden
    kind = get_args(parameter.annotation)[0]
    return parameter.replace(annotation=Annotated[kind, info])


def _setter(rare: Mapping[str, Parameter]) -> Parameter:
    names = ", ".join(f"`{name}`" for name in rare)
    info = typer.Option(
        "--set",
        metavar="NAME=VALUE",
        rich_help_panel=RARE,
        help=f"Rare settings, as often as needed: {names}. How files are read is said, and "
        "settled once for all, by `equipoise check`. `--set help` explains them.",
    )
    return Parameter(
        SET, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[list[str] | None, info]
    )


def _setting(word: str, rare: Mapping[str, Parameter]) -> tuple[str, Any]:
    """Read ``name=value``."""
    if word == "help":
        _explain(rare)
    name, sign, text = word.partition("=")
    name = name.strip().lstrip("-").replace("-", "_")
    if not sign or name not in rare:
        known = ", ".join(rare)
        close = nearest(name, list(rare))
        message = f"got {word!r}, expected NAME=VALUE with one of {known}; {close}"
        raise misused(message, "set")
    kind, info = get_args(rare[name].annotation)[0], _info(rare[name])
    value = _converted(name, kind, text.strip())
    limits = (info.min, info.max)
    if isinstance(value, int | float) and not isinstance(value, bool):
        low, high = limits
        if (low is not None and value < low) or (high is not None and value > high):
            ends = f"at least {low}" if high is None else f"{low} to {high}"
            message = f"got {name}={text}, expected {ends}"
            raise misused(message, "set")
    return name, value


def _explain(rare: Mapping[str, Parameter]) -> NoReturn:
    """Print what every rare setting means, and stop."""
    from equipoise.cli._catalogue import help_text
    from equipoise.cli._screen import output

    console = output()
    for name, one in rare.items():
        usual = "" if one.default in (None, False) else f" [{one.default}]"
        console.print(f"  {name}{usual}", style="bold", markup=False)
        console.print(f"      {help_text(_info(one).help).replace('`', '')}", markup=False)
    raise typer.Exit


def _converted(name: str, kind: Any, text: str) -> Any:
    """A text as the type of an option."""
    kinds = [one for one in (get_args(kind) or (kind,)) if one is not type(None)]
    first = kinds[0]
    if first is bool:
        known = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
        if text.lower() not in known:
            message = f"got {name}={text}, expected yes or no"
            raise misused(message, "set")
        return known[text.lower()]
    try:
        return first(text)
    except ValueError:
        what = {int: "a whole number", float: "a number"}.get(first, first.__name__)
        message = f"got {name}={text}, expected {what}"
        raise misused(message, "set") from None


def _parameters(record: type[Any]) -> list[Parameter]:
    """A parameter for each field of a record, and of the records in it."""
    types = get_type_hints(record, include_extras=True)
    made = []
    for one in fields(record):
        if is_dataclass(types[one.name]):
            made += _parameters(types[one.name])
            continue
        default = Parameter.empty if one.default is MISSING else one.default
        how = {"default": default, "annotation": types[one.name]}
        made.append(Parameter(one.name, Parameter.KEYWORD_ONLY, **how))
    return made


def _is_option(parameter: Parameter) -> bool:
    """Whether a parameter is no argument."""
    kinds = getattr(parameter.annotation, "__metadata__", ())
    return not any(isinstance(one, typer.models.ArgumentInfo) for one in kinds)


_file = panel(
    FILES,
    votes="Who said what.",
    all_votes="Who said what: `item, annotator, label` in CSV, TSV or Parquet, or another "
    "layout that `equipoise check` knows. Repeat it, or name a folder, for one file per "
    "annotator.",
    scores="What each model scored: `item, [task], model, score`, or a column per model, class "
    "or task; class names are decisions. A folder stands for the tables in it.",
    dataset="A public data set of `equipoise datasets` in place of the annotations, and of "
    "the predictions where it comes with some and none are given.",
    columns="Other names in the annotations, OURS=THEIRS: `item=Study,group=patient`.",
    layout="Annotations: `auto`, `tidy`, `wide`, `tasks` (one annotator's file, a column "
    "per task), `counts`, `rankings`, `label-studio`.",
    repeats="Several votes of one annotator on one item: `keep`, `last` or `error`.",
    prediction_columns="The same for the predictions.",
    prediction_layout="`auto`, `long`, `wide`, `classes`, `tasks`.",
    on_missing="Items that only one side has: `error`, or `drop` and say so.",
    circular="A model that is an annotator too: `error`, or `drop` its votes and say so.",
)
_meaning = panel(
    MEANING,
    kind="`binary`, `nominal`, `ordinal`, `interval`, `ranking`; inferred if left out.",
    classes="All classes, comma-separated, or a .txt file with one per line; grades "
    "lowest first.",
    exchangeable="Annotator names are arbitrary slots, not persons.",
    first_votes="Only the first so many votes on an item, by timestamp or else by row: where "
    "votes were added after disagreement.",
    positive="Ask about one class: is it this one?",
    at_least="Grades or ratings: is it at least this?",
    gold="Rows marked `is_gold`: the `truth` of their items, `ignore` (the votes "
    "count), or `only` items that have some.",
    task="Which question; all if left out, repeat for several.",
    ties="Items tied in the hard label: `half` (tied classes share them, a yes/no tie "
    "counts 1/2), `negative` (strict majority), or `drop` (left out for hard labels).",
)
_uncertainty = panel(UNCERTAINTY, seed="Same seed, same bytes.", level="Interval level.")
_result = panel(
    RESULT,
    out="Folder for the record (JSON), tables (CSV, Markdown, LaTeX), figures (SVG), "
    "methods.md, references.bib and report.html.",
    overwrite="Replace an earlier one there.",
    title="Heading of the page.",
    as_json="Print everything as JSON.",
)
AsJson = Annotated[bool, _result("as_json", "--json")]
Seed = Annotated[int, _uncertainty("seed", min=0)]
Level = Annotated[float, _uncertainty("level", min=0.5, max=0.999)]
TaskNames = Annotated[list[str] | None, _meaning("task")]
VotesPath = Annotated[Path | None, _file("votes", "--annotations", "-a")]
VotesPaths = Annotated[list[Path] | None, _file("all_votes", "--annotations", "-a")]
ScorePaths = Annotated[list[Path] | None, _file("scores", "--predictions", "-p")]
DatasetName = Annotated[str | None, _file("dataset", "--dataset")]
PredictionColumns = Annotated[str | None, _file("prediction_columns")]
PredictionLayout = Annotated[str, _file("prediction_layout")]


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteReading:
    """How a file of annotations is read."""

    kind: Annotated[str | None, _meaning("kind")] = None
    classes: Annotated[str | None, _meaning("classes")] = None
    exchangeable: Annotated[bool, _meaning("exchangeable", "--exchangeable", hidden=True)] = (
        False
    )
    columns: Annotated[str | None, _file("columns", hidden=True)] = None
    layout: Annotated[str, _file("layout", hidden=True)] = "auto"
    repeats: Annotated[str, _file("repeats", hidden=True)] = "keep"
    first_votes: Annotated[int | None, _meaning("first_votes", min=1, hidden=True)] = None

    OF_VOTES: ClassVar[tuple[str, ...]] = (
        *("kind", "classes", "exchangeable", "columns", "layout", "repeats"),
    )

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        from equipoise.read.options import KINDS, REPEATS

        check_choice("kind", self.kind, KINDS)
        check_choice("layout", self.layout, self.layouts())
        check_choice("repeats", self.repeats, REPEATS)
        self.column_names()

    def layouts(self) -> tuple[str, ...]:
        """The layouts that the file may have."""
        from equipoise.read.options import ANNOTATION_LAYOUTS

        return ANNOTATION_LAYOUTS

    def class_names(self) -> list[str]:
        """The classes, from a list or from a text file with one class per line."""
        text = self.classes
        if text is None or not text.endswith(".txt"):
            return words(text)
        from equipoise.read.files import content

        try:
            lines = content(text).data.decode("utf-8-sig").splitlines()
        except UnicodeDecodeError:
            raise InputError(text, "no UTF-8 text", "a class per line", "save it so") from None
        return [line.strip() for line in lines if line.strip()]

    def column_names(self) -> dict[str, str]:
        """Names of columns in the file, by ours."""
        return column_map(self.columns, "columns")

    def keywords(self) -> Mapping[str, Any]:
        """The keywords of everything that reads annotations."""
        names = ("layout", "kind", "repeats", "exchangeable")
        own = {name: getattr(self, name) for name in names}
        made = {"classes": self.class_names() or None, "columns": self.column_names()}
        return own | made


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionReading(VoteReading):
    """How a file of annotations is read, and the yes/no question asked of it."""

    positive: Annotated[str | None, _meaning("positive")] = None
    at_least: Annotated[str | None, _meaning("at_least")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionReading:
    """How files of predictions are read."""

    prediction_columns: PredictionColumns = None
    prediction_layout: PredictionLayout = "auto"

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        from equipoise.read.options import PREDICTION_LAYOUTS

        check_choice("prediction_layout", self.prediction_layout, PREDICTION_LAYOUTS)
        self.prediction_column_names()

    def prediction_column_names(self) -> dict[str, str]:
        """Names of columns in the files of predictions, by ours."""
        return column_map(self.prediction_columns, "prediction_columns")

    def keywords(self) -> Mapping[str, Any]:
        """The keywords of everything that reads predictions."""
        return {"layout": self.prediction_layout, "columns": self.prediction_column_names()}


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyReading(QuestionReading):
    """How annotations and predictions are read."""

    prediction_columns: PredictionColumns = None
    prediction_layout: PredictionLayout = "auto"

    OF_SCORES: ClassVar[tuple[str, ...]] = ("prediction_columns", "prediction_layout")

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        super(StudyReading, self).__post_init__()
        self.predictions.keywords()

    @property
    def predictions(self) -> PredictionReading:
        """How the predictions are read."""
        return PredictionReading(
            prediction_columns=self.prediction_columns,
            prediction_layout=self.prediction_layout,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingOptions(StudyReading):
    """How annotations and predictions are read and matched."""

    on_missing: Annotated[str, _file("on_missing", hidden=True)] = "error"
    gold: Annotated[str, _meaning("gold", hidden=True)] = "truth"
    ties: Annotated[str, _meaning("ties", hidden=True)] = "half"
    circular: Annotated[str, _file("circular", hidden=True)] = "error"

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        from equipoise.study.alignment import ON_MISSING
        from equipoise.study.blocks import TIES
        from equipoise.study.circularity import CIRCULAR

        super(ReadingOptions, self).__post_init__()
        check_choice("on_missing", self.on_missing, ON_MISSING)
        check_choice("gold", self.gold, GOLD)
        check_choice("ties", self.ties, TIES)
        check_choice("circular", self.circular, CIRCULAR)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFiles:
    """A study: two files, or a public data set."""

    annotations: VotesPaths = None
    predictions: ScorePaths = None
    dataset: DatasetName = None

    def __post_init__(self) -> None:
        """Refuse an unknown data set, and annotations beside one."""
        _check_dataset(self.dataset, self.annotations)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyFiles(DataFiles):
    """A study: files of any role, a public data set, or the folder of an evaluation."""

    study: Annotated[
        list[Path] | None,
        typer.Argument(
            show_default=False,
            metavar="[STUDY]...",
            help="A study that `equipoise check --out` wrote, annotations and predictions in "
            "any mix, told by their columns, or the folder of an earlier evaluation, whose "
            "files are looked for where they lay. Or give -a and -p.",
        ),
    ] = None

    def __post_init__(self) -> None:
        """Refuse a data set beside files or a folder, which have their own data."""
        if self.study and self.dataset is not None:
            raise misused(
                f"got {self.study[0]} too, which has its own data; leave out one of the two, "
                "or give predictions with -p",
                "dataset",
            )
        super(StudyFiles, self).__post_init__()


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteFile:
    """Annotations: a file, or a public data set."""

    annotations: Annotated[
        list[Path] | None,
        typer.Argument(
            show_default=False,
            help="Who said what: CSV, TSV or Parquet with `item, annotator, label` (optional "
            "`task, rank, confidence, weight, timestamp, duration_ms, is_gold, group`), a "
            "wide table of items by annotators, a count matrix (npy, CSV), rankings JSON, a "
            "Label Studio export, or a study that `equipoise check --out` wrote; several files "
            "or a folder for one file per annotator.",
        ),
    ] = None
    dataset: DatasetName = None

    def __post_init__(self) -> None:
        """Refuse an unknown data set, annotations beside one, and neither."""
        _check_dataset(self.dataset, self.annotations)
        if self.dataset is None and not self.annotations:
            message = "give ANNOTATIONS, or --dataset NAME (see `equipoise datasets`)"
            raise typer.BadParameter(message, param_hint="ANNOTATIONS")

    @property
    def name(self) -> str:
        """Name of the study: of its data set, or of its file."""
        return self.dataset or (self.annotations[0].stem if self.annotations else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """Where results go: a folder, or standard output as JSON."""

    out: Annotated[Path | None, _result("out")] = None
    overwrite: Annotated[bool, _result("overwrite", "--overwrite")] = False
    title: Annotated[str | None, _result("title")] = None
    as_json: AsJson = False

    def check_folder(self, *names: str) -> None:
        """Refuse a folder that cannot be written, or that holds other things than ours."""
        from equipoise.read.writing import check_folder

        if self.out is not None:
            check_folder(self.out, names, overwrite=self.overwrite)


def _check_dataset(name: str | None, annotations: Sequence[Path] | None) -> None:
    """Refuse the name of an unknown data set, and annotations beside one."""
    if name is None:
        return
    from equipoise.datasets import CATALOGUE

    check_choice("dataset", name, tuple(CATALOGUE))
    if annotations:
        raise misused(f"got {annotations[0].name!r} too, expected one of the two", "dataset")


def check_reading(dataset: str | None, reading: VoteReading, *, own_scores: bool) -> None:
    """Refuse options about reading files where a data set or a study is read as it is."""
    if dataset is None:
        return
    names = list(reading.OF_VOTES)
    if isinstance(reading, StudyReading) and not own_scores:
        names += reading.OF_SCORES
    why = f"is about reading files, and {dataset} is read as it is; leave it out"
    refuse_unused(reading, names, why)


def non_default(record: Any, names: Iterable[str]) -> dict[str, Any]:
    """Those of some options that differ from their defaults, with their values.

    Examples
    --------
    >>> non_default(VoteReading(layout="wide"), ("kind", "layout"))
    {'layout': 'wide'}
    """
    usual = {one.name: one.default for one in fields(record)}
    own = {name: getattr(record, name) for name in names if name in usual}
    return {name: value for name, value in own.items() if value != usual[name]}


def refuse_unused(record: Any, names: Iterable[str], why: str) -> None:
    """Refuse options that would do nothing: the first of some that was given."""
    for name in non_default(record, names):
        raise misused(why, name)


def metric_names(text: str | None) -> list[str]:
    """Metrics by their full names; refuses an empty list and unknown ones.

    Examples
    --------
    >>> metric_names("auroc, brier_score"), metric_names(None)
    (['auroc', 'brier_score'], [])
    """
    from equipoise.metrics import named

    if text is not None and not words(text):
        raise misused("got nothing, expected a metric", "metric")
    return [checked("--metric", named, word).name for word in words(text)]


def words(text: str | None) -> list[str]:
    """Split a comma-separated list.

    Examples
    --------
    >>> words("auroc, average_precision")
    ['auroc', 'average_precision']
    """
    return [word.strip() for word in (text or "").split(",") if word.strip()]


def column_map(text: str | None, name: str) -> dict[str, str]:
    """Read ``item=Study,annotator=Reader``: our name, then the name in the file."""
    pairs = {}
    for word in words(text):
        ours, sign, theirs = word.partition("=")
        if not sign or not ours.strip() or not theirs.strip():
            message = f"got {word!r}, expected OURS=THEIRS, for example item=Study"
            raise misused(message, name)
        pairs[ours.strip()] = theirs.strip()
    return pairs


def flag(name: str) -> str:
    """The option of a parameter.

    Examples
    --------
    >>> flag("prediction_layout")
    '--prediction-layout'
    """
    return f"--{name.replace('_', '-')}"


def checked(option: str, function: Callable[[Given], Value], value: Given) -> Value:
    """Apply a function that refuses bad words, and call that wrong usage."""
    try:
        return function(value)
    except InputError as error:
        message = error.in_command().removeprefix(f"{option}: ")
        raise typer.BadParameter(message, param_hint=option) from None


def check_choice(name: str, value: str | None, known: Sequence[str]) -> None:
    """Refuse a word that an option does not know; None is an option that was left out."""
    if value is not None:
        checked(flag(name), lambda word: choice(flag(name), word, known), value)


def misused(why: str, name: str) -> typer.BadParameter:
    """Wrong usage of an option, by its name."""
    return typer.BadParameter(why, param_hint=flag(name))
