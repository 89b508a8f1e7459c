"""How a table is to be read: the keywords of every reader, checked once.

The fields of `VoteFormat` are the keywords of everything that reads annotations, those of
`ScoreFormat` the keywords of everything that reads predictions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from equipoise.types.annotations import KINDS as KINDS
from equipoise.types.annotations import Kind as Kind
from equipoise.types.arrays import InputError, choice, listed, require_keywords, unknown_name
from equipoise.types.words import Option, hint

ANNOTATION_LAYOUTS = ("auto", "tidy", "wide", "tasks", "counts", "rankings", "label-studio")
PREDICTION_LAYOUTS = ("auto", "long", "wide", "classes", "tasks")
REPEATS = ("keep", "last", "error")
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
    "group",
    "count",
)
LONG = ("item", "task", "model", "score")


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteFormat:
    """How to read annotations.

    Attributes
    ----------
    layout
        How the table is laid out; ``auto`` looks at its columns.
    kind
        The kind of label; None infers it from the labels (never ordinal or interval).
    classes
        Names of the classes; for ordinal labels their order is the scale.
    columns
        Our column name -> the name in the table.
    repeats
        What to do with a second vote of one annotator on one item and task.
    exchangeable
        Forget who voted: annotator names are slots, not persons.
    """

    layout: str = "auto"
    kind: Kind | None = None
    classes: tuple[str, ...] | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    repeats: str = "keep"
    exchangeable: bool = False

    def __post_init__(self) -> None:
        choice("layout", str(self.layout), ANNOTATION_LAYOUTS)
        choice("repeats", str(self.repeats), REPEATS)
        if self.kind is not None:
            choice("kind", str(self.kind), KINDS)
        object.__setattr__(self, "columns", _mapping(self.columns, TIDY))
        object.__setattr__(self, "classes", _class_names(self.classes))

    @classmethod
    def of(cls, keywords: Mapping[str, Any]) -> "VoteFormat":
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreFormat:
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

    layout: str = "auto"
    columns: Mapping[str, str] = field(default_factory=dict)
    classes: tuple[str, ...] | None = None
    tasks: tuple[str, ...] | None = None
    model: str | None = None
    task: str | None = None

    def __post_init__(self) -> None:
        choice("layout", str(self.layout), PREDICTION_LAYOUTS)
        object.__setattr__(self, "columns", _mapping(self.columns, LONG))
        object.__setattr__(self, "classes", _class_names(self.classes))
        if self.tasks is not None:
            object.__setattr__(self, "tasks", tuple(map(str, self.tasks)))

    @classmethod
    def of(cls, keywords: Mapping[str, Any]) -> "ScoreFormat":
        """Check the keywords given by a caller."""
        require_keywords(keywords, tuple(cls.__dataclass_fields__))
        return cls(**keywords)


def _class_names(classes: Iterable[Any] | None) -> tuple[str, ...] | None:
    """Return class names as text: whole numbers without a fraction, spaces stripped.

    Examples
    --------
    >>> _class_names([0.0, 1, " two "])
    ('0', '1', 'two')
    """
    if classes is None:
        return None
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
