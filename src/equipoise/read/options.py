"""Options: what Python's keywords and the command line have in common, and how tables are read.

`SHARED` has a row for every keyword that is also an option of the command line: its default,
the words or bounds that it knows, and its help. `Settings` and the formats below take their
defaults and checks from it, the table of the command line its help, choices and bounds too.

The fields of `VoteFormat` are the keywords of everything that reads annotations, those of
`ScoreFormat` the keywords of everything that reads predictions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from equipoise.types import KINDS as KINDS
from equipoise.types import (
    InputError,
    Names,
    Option,
    choice,
    hint,
    immutable,
    listed,
    require_keywords,
    require_number,
    require_whole,
    unknown_name,
)
from equipoise.types.annotations import Kind as Kind

ANNOTATION_LAYOUTS = ("auto", "tidy", "wide", "tasks", "counts", "rankings", "label-studio")
PREDICTION_LAYOUTS = ("auto", "long", "wide", "classes", "tasks")
TIDY = (
    "item",
    "annotator",
    "label",
    "task",
    "rank",
    "confidence",
    "weight",
    "timestamp",
    "duration_ms",
    "is_gold",
    "arm",
    "phase",
    "group",
    "count",
)
PHASES = ("core", "extra", "adjudication", "gold", "training", "repeat")
LONG = ("item", "task", "model", "score")


class Shared(NamedTuple):
    """What a keyword and an option of one name have in common.

    Attributes
    ----------
    default, text
        What it is where nobody says anything, and what the help says of it.
    choices
        Words that it knows, for one that knows some.
    least, most
        Bounds of a whole number.
    positive
        Whether a number must lie above 0.
    """

    default: Any
    text: str
    choices: Names = ()
    least: int | None = None
    most: int | None = None
    positive: bool = False


SHARED: Mapping[str, Shared] = {
    "repeats": Shared(
        "keep",
        "Several votes of one annotator on one item: `keep`, `last` or `error`.",
        choices=("keep", "last", "error"),
    ),
    "phases": Shared(
        "core,extra",
        "Which votes count where they have a `phase`: some of `core`, `extra`, `adjudication`, "
        "`gold`, `training` and `repeat`.",
    ),
    "normalise": Shared(
        "none",
        "Ratings of every annotator before they count: `none`, `z` (less their mean, over "
        "their standard deviation) or `rank` (their place among all that this person rated).",
        choices=("none", "z", "rank"),
    ),
    "on_missing": Shared(
        "error",
        "Items that only one side has: `error`, or `drop` and say so.",
        choices=("error", "drop"),
    ),
    "circular": Shared(
        "error",
        "A model that is an annotator too: `error`, or `drop` its votes and say so.",
        choices=("error", "drop", "keep"),
    ),
    "labels": Shared(
        "soft",
        "`soft` (share of votes) or `hard` (majority): the labels that decide. Default: soft.",
        choices=("hard", "soft"),
    ),
    "kind": Shared(
        None,
        "`binary`, `nominal`, `ordinal`, `interval`, `ranking`; inferred if left out.",
        choices=KINDS,
    ),
    "exchangeable": Shared(
        default=False, text="Annotator names are arbitrary slots, not persons."
    ),
    "gold": Shared(
        "truth",
        "Who is the reference standard: an annotator, or a file of its own. Rows marked "
        "`is_gold` are: the `truth` of their items, or `ignore` them (the votes count), or "
        "`only` items that have some.",
    ),
    "ties": Shared(
        "half",
        "Items tied in the hard label: `half` (tied classes share them, a yes/no tie "
        "counts 1/2), `negative` (strict majority), or `drop` (left out for hard labels).",
        choices=("half", "negative", "drop"),
    ),
    "prediction_layout": Shared(
        "auto",
        "Predictions: `auto`, `long`, `wide`, `classes`, `tasks`.",
        choices=PREDICTION_LAYOUTS,
    ),
    "layout": Shared(
        "auto",
        "Annotations: `auto`, `tidy`, `wide`, `tasks` (a column per task; a row per item and "
        "annotator, or a file per annotator), `counts`, `rankings`, `label-studio`.",
    ),
    "level": Shared(0.95, "Interval level."),
    "alpha": Shared(
        0.1, "Probability that a set misses what a new reader says.", positive=True
    ),
    "score": Shared(
        "probability",
        "By what classes are in a set: `probability`, `aps` (adaptive), or `raps` (with a "
        "penalty on large sets).",
        choices=("probability", "aps", "raps"),
    ),
    "guarantee": Shared(
        "average",
        "Of the sets by item: `average` over readers and studies, or `two_way`, a lower bound.",
        choices=("average", "two_way"),
    ),
    "by": Shared(
        None,
        "A threshold for each: `class`, `groups` (those of --groups), or a column of "
        "--attributes.",
    ),
    "margin": Shared(
        None, "How much worse a model may be and still count as no worse.", positive=True
    ),
    "look": Shared(
        None,
        "Which look at a growing study this is, of how many: `2/4`. Error is spent over the "
        "looks; earlier ones are known from the run in --out, or the one that is named.",
    ),
    "matters": Shared(
        None,
        "The smallest difference that counts; by default half a unit of the last "
        "printed digit.",
        positive=True,
    ),
    "most": Shared(50, "Size at which searches end.", least=1),
    "replicates": Shared(
        None,
        "Number of resamples; by default 1,000, fewer for more than 20,000 items.",
        least=1,
    ),
    "items": Shared(
        "random",
        "`random`: these items stand for others like them; `fixed`: they are all that count.",
        choices=("random", "fixed"),
    ),
    "annotators": Shared(
        "random",
        "`random`: these annotators stand for others like them; `fixed`: they are "
        "the standard.",
        choices=("random", "fixed"),
    ),
    "inference": Shared(
        "two-way",
        "`two-way`: against hard and soft labels; `mrmc`: against gold, with readers "
        "by Obuchowski and Rockette's analysis (aided against unaided where votes have an "
        "`arm`, models alone against the mean reader); `per_reader_truth`: that analysis "
        "of each annotator's own votes.",
        choices=("two-way", "mrmc", "per_reader_truth"),
    ),
    "annotator_group": Shared(
        None,
        "Annotators come in groups, such as schools: the column of `--annotator-attributes` "
        "that says in which. The result then speaks for other groups.",
    ),
    "item_group": Shared(
        None,
        "Items come in groups, such as sites: the column of `--attributes` that says in which; "
        "groups that the annotations have (patients) lie inside them.",
    ),
    "seed": Shared(0, "Same seed, same bytes.", least=0),
}


def check_shared(where: str, options: object, but: Sequence[str] = ()) -> None:
    """Refuse words that options of some names do not know, and numbers that must be above 0."""
    for name, row in SHARED.items():
        if name in but or not hasattr(options, name):
            continue
        value = getattr(options, name)
        if value is not None and row.choices:
            choice(f"{where}{name}", value, row.choices)
        if row.least is not None and value is not None:
            require_whole(f"{where}{name}", value, least=row.least, do="leave it out")
        if row.positive:
            require_positive(f"{where}{name}", value)


def require_positive(where: str, value: object) -> None:
    """Refuse what is no number above 0; nothing is fine."""
    if value is not None:
        require_number(where, value, above=0, do="leave it out, or say how much counts")


@immutable(kw_only=True)
class _Format:
    """How a table is laid out, and what stands in it."""

    layout: str = SHARED["layout"].default
    columns: Mapping[str, str] = field(default_factory=dict)
    classes: Names | None = None

    @classmethod
    def of(cls, keywords: Mapping[str, Any]) -> Self:
        """Check the keywords given by a caller.

        Examples
        --------
        >>> VoteFormat.of({"kind": "ordinal", "classes": [1, 2, 3]}).classes
        ('1', '2', '3')
        >>> VoteFormat.of({"knd": "ordinal"})
        Traceback (most recent call last):
        ...
        equipoise.InputError: keyword 'knd': unknown, expected one of 'layout', ...
        """
        require_keywords(keywords, tuple(cls.__dataclass_fields__))
        return cls(**keywords)

    def _check(self, layouts: Names, columns: Names) -> None:
        choice("layout", str(self.layout), layouts)
        object.__setattr__(self, "columns", _mapping(self.columns, columns))
        if self.classes is not None:
            object.__setattr__(self, "classes", _class_names(self.classes))


@immutable(kw_only=True)
class VoteFormat(_Format):
    """How to read annotations.

    Attributes
    ----------
    layout
        How the table is laid out; ``auto`` looks at its columns.
    kind
        ``binary``, ``nominal``, ``ordinal``, ``interval`` or ``ranking``; None infers it from
        the labels (never ordinal or interval).
    classes
        Names of the classes; for ordinal labels their order is the scale.
    columns
        Our column name -> the name in the table.
    repeats
        What to do with a second vote of one annotator on one item and task: ``keep``, ``last``
        or ``error``.
    exchangeable
        Forget who voted: annotator names are slots, not persons.
    phases
        Phases whose votes count, separated by commas.
    """

    kind: Kind | None = None
    repeats: str = SHARED["repeats"].default
    exchangeable: bool = SHARED["exchangeable"].default
    phases: str = SHARED["phases"].default

    def __post_init__(self) -> None:
        self._check(ANNOTATION_LAYOUTS, TIDY)
        for phase in str(self.phases).split(","):
            choice("phases", phase.strip(), PHASES)
        check_shared("", self)

    def refuse(self, *names: str, where: str) -> None:
        """Raise if a keyword was given that means nothing for this source."""
        for name in names:
            if getattr(self, name) != getattr(VoteFormat(), name):
                raise InputError(
                    f"{where}, keyword {name!r}",
                    f"{getattr(self, name)!r}",
                    "nothing: it has no meaning here",
                    f"leave out {name}",
                )


@immutable(kw_only=True)
class ScoreFormat(_Format):
    """How to read predictions.

    Attributes
    ----------
    layout
        How the table is laid out; ``auto`` looks at its columns.
    columns
        Our column name -> the name in the table.
    classes
        Names of the annotations' classes, where known.
    tasks
        Names of the annotations' tasks, where known: columns with these names are tasks.
    model
        Name of the model, for a table of one model that does not name it.
    task
        The question answered, for a table that does not name it.
    """

    tasks: Names | None = None
    model: str | None = None
    task: str | None = None

    def __post_init__(self) -> None:
        self._check(PREDICTION_LAYOUTS, LONG)
        if self.tasks is not None:
            object.__setattr__(self, "tasks", tuple(map(str, self.tasks)))


def _class_names(classes: Iterable[Any]) -> Names:
    """Return class names as text: whole numbers without a fraction, spaces stripped.

    Examples
    --------
    >>> _class_names([0.0, 1, " two "])
    ('0', '1', 'two')
    """
    if isinstance(classes, str | bytes) or not isinstance(classes, Iterable):
        raise InputError(
            "classes", f"{classes!r}", "a list of names, in order", f"write [{classes!r}, ...]"
        )
    names = tuple(map(_name, classes))
    if not names or len(set(names)) != len(names):
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        raise InputError(
            "classes",
            f"{listed(twice)} twice" if twice else "an empty list",
            "each class once, in order",
            "correct the list of classes",
        )
    return names


def _name(name: Any) -> str:
    whole = isinstance(name, float) and name.is_integer()
    return f"{name:.0f}" if whole else str(name).strip()


def _mapping(columns: Any, allowed: Sequence[str]) -> Mapping[str, str]:
    """Check that `columns` maps our names to theirs."""
    if not isinstance(columns, Mapping):
        raise InputError(
            "columns",
            f"{columns!r}",
            "a mapping from our column names to yours",
            hint("write for example {}", Option("columns", {"item": "Case ID"})),
        )
    for ours in columns:
        if ours not in allowed:
            raise unknown_name(f"columns, name {ours!r}", "unknown", ours, allowed, most=12)
    named = zip(map(str, columns), map(str, columns.values()), strict=True)
    return MappingProxyType(dict(named))
