"""Notices: what a reader should know, as data that each surface puts into its own words.

A notice has a code (what is said), a template, the tasks or models it is about, and the values
for the template. Notices of one code that differ in whom they are about, or in one number, are
said once: *3 to 12 items are odd (Edema 3, Effusion 12).* Nothing ever reads the sentences.

In a template ``{items:count}`` writes a count, ``{share:percent}`` a share, ``{value:number}``
a number, ``{names:names}`` a list of names as quoted text, ``{models:listed}`` unquoted, and
``{advice}`` text, an `Option` or a `Hint`.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, field
from numbers import Integral
from string import Formatter
from typing import Any, cast

from equipoise.types.arrays import Names
from equipoise.types.numbers import change, count, number, percent, rank
from equipoise.types.records import immutable
from equipoise.types.words import Hint, Option, joined, shortened

Value = str | float | int | Option | Names
PLAIN = "plain"  # the code of text that came without one
MOST = 12  # names that are listed
PLAIN_FORMAT = re.compile(r",?(\.\d)?[fge]?")  # other ways of Python to write a number
LONGEST_NAME, LONGEST = 60, 800  # letters of a name in a notice, and of a whole one
WRITERS: Mapping[str, Callable[[float | None], str]] = {
    "count": count,
    "percent": percent,
    "number": number,
    "change": change,
    "rank": rank,
}


@immutable
class Notice:
    """One thing a reader should know.

    Attributes
    ----------
    code
        What is said, the same for every task and model: ``few_votes``.
    text
        The sentence, with places for the values.
    about
        Tasks or models of which it is said; empty where it is said of everything.
    values
        What stands in the places.

    Examples
    --------
    >>> str(Notice("odd", "{items:count} items are odd.", ("Edema",), {"items": 3}))
    'Edema: 3 items are odd.'
    """

    code: str
    text: str
    about: Names = ()
    values: Mapping[str, Value] = field(default_factory=dict)

    def __str__(self) -> str:
        return worded([self])[0]

    def __hash__(self) -> int:
        return hash((self.code, self.text, self.about, tuple(self.values)))

    def of(self, *about: str) -> "Notice":
        """The same, said of some tasks or models; an empty name adds nothing."""
        named = (*(name for name in about if name), *self.about)
        return Notice(self.code, self.text, tuple(dict.fromkeys(named)), self.values)


Notices = tuple[Notice, ...]


def notice(code: str, text: str, /, **values: Value) -> Notice:
    """A notice about everything, with the values of its places.

    Examples
    --------
    >>> str(notice("odd", "{items:count} items are odd.", items=3))
    '3 items are odd.'
    """
    return Notice(code, text, (), values)


def as_notice(thing: Notice | str) -> Notice:
    """A notice itself, or plain text as one.

    Examples
    --------
    >>> as_notice("Items are odd.").code
    'plain'
    """
    return thing if isinstance(thing, Notice) else Notice(PLAIN, "{text}", (), {"text": thing})


def as_notices(things: Iterable["str | Notice"]) -> Notices:
    """Notices as they are, and plain sentences as notices of their own.

    Examples
    --------
    >>> [str(one) for one in as_notices(["Few votes."])]
    ['Few votes.']
    """
    return tuple(map(as_notice, things))


def to_json(notice: Notice) -> str | dict[str, Any]:
    """A notice as JSON can hold it, whole; plain text stays text.

    Examples
    --------
    >>> odd = Notice("odd", "{items:count} items are odd.", (), {"items": 3})
    >>> to_json(odd)
    {'code': 'odd', 'text': '{items:count} items are odd.', 'about': [], 'values': {'items': 3}}
    >>> from_json(to_json(odd)) == odd
    True
    """
    if notice.code == PLAIN and not notice.about:
        return str(notice.values["text"])
    return {
        "code": notice.code,
        "text": notice.text,
        "about": list(notice.about),
        "values": {name: value_to_json(value) for name, value in notice.values.items()},
    }


def from_json(record: str | Mapping[str, Any]) -> Notice:
    """The notice that `to_json` took apart."""
    if isinstance(record, str):
        return as_notice(record)
    values = {name: value_from_json(value) for name, value in record["values"].items()}
    notice_read = Notice(record["code"], record["text"], tuple(record["about"]), values)
    if not all(
        isinstance(text, str)
        for text in (notice_read.code, notice_read.text, *notice_read.about)
    ):
        raise TypeError("a notice of something else than text")
    worded(
        [notice_read], command=True
    )  # which stumbles over a template that does not fit its values
    return notice_read


def value_to_json(value: Value) -> Any:
    """A value of a notice, or advice, as JSON can hold it."""
    if isinstance(value, Option):
        return asdict(value)
    if isinstance(value, Hint):
        return {"hint": [value_to_json(part) for part in value.parts]}
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, str):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def value_from_json(value: Any) -> Value:
    """The value that `value_to_json` took apart."""
    if isinstance(value, list):
        return tuple(str(name) for name in value)
    if not isinstance(value, Mapping):
        return cast(Value, value)
    if "hint" in value:
        return Hint([cast(str | Option, value_from_json(part)) for part in value["hint"]])
    chosen = value["value"]
    return Option(**{**value, "value": tuple(chosen) if isinstance(chosen, list) else chosen})


def worded(
    notices: Iterable[Notice], *, command: bool = False, options: Collection[str] | None = None
) -> list[str]:
    """Say each thing once, where it first came up.

    Parameters
    ----------
    command
        Whether to name options of the command line in place of keywords.
    options
        Options that the command has; None is all.

    Examples
    --------
    >>> odd = Notice("odd", "{items:count} items are odd.", (), {"items": 3})
    >>> more = Notice("odd", "{items:count} items are odd.", ("b",), {"items": 12})
    >>> worded([odd.of("a"), more])
    ['3 to 12 items are odd (a 3, b 12).']
    >>> worded([odd.of("a"), odd.of("b")]), worded([odd, odd])
    (['3 items are odd (a and b).'], ['3 items are odd.'])
    """
    groups: dict[tuple[str, str, Names], list[Notice]] = {}
    for note in notices:
        fixed = tuple(
            repr(value)
            for value in note.values.values()
            if isinstance(value, bool) or not isinstance(value, float | int)
        )
        groups.setdefault((note.code, note.text, fixed), []).append(note)
    write = _Words(command=command, options=options)
    sentences = (sentence for same in groups.values() for sentence in _sentences(same, write))
    return list(dict.fromkeys(shortened(sentence, LONGEST) for sentence in sentences))


def _sentences(same: Sequence[Notice], write: "_Words") -> list[str]:
    """One sentence for all where they differ in one number at most, else one each."""
    first = same[0]
    moving = [
        key for key in first.values if any(n.values[key] != first.values[key] for n in same[1:])
    ]
    if len(moving) > 1 or (moving and not all(note.about for note in same)):
        return [sentence for note in same for sentence in _sentences([note], write)]
    if not moving:
        about = list(dict.fromkeys(name for note in same for name in note.about))
        everything = any(not note.about for note in same)
        return [
            _sentence(write.format(first.text, **first.values), [] if everything else about)
        ]
    (key,) = moving
    ordered = sorted(same, key=lambda note: float(str(note.values[key])))
    low, high = (write.fill(first.text, key, note) for note in (ordered[0], ordered[-1]))
    text = write.format(first.text, **{**first.values, key: Hint([f"{low} to {high}"])})
    behind = [
        f"{joined(_short(note.about))} {write.fill(note.text, key, note)}" for note in same
    ]
    return [f"{text.removesuffix('.')} ({', '.join(behind)})."]


def _sentence(text: str, about: Sequence[str]) -> str:
    if not about:
        return text
    names = _short(about)
    if len(names) == 1:
        return f"{names[0]}: {text}"
    return f"{text.removesuffix('.')} ({joined(names, most=MOST)})."


def _short(names: Iterable[str]) -> list[str]:
    return [shortened(name, LONGEST_NAME) for name in names]


class _Words(Formatter):
    """Fills values into a template, options in the words of the surface."""

    def __init__(self, *, command: bool, options: Collection[str] | None) -> None:
        self.command, self.options = command, options

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        """A value by its name alone: templates of files get at no attributes."""
        return self.get_value(field_name, args, kwargs), field_name

    def fill(self, text: str, key: str, notice: Notice) -> str:
        """One value as the template writes it."""
        specs = {name: spec or "" for _, name, spec, _ in self.parse(text) if name}
        return self.format_field(notice.values[key], specs.get(key, ""))

    def format_field(self, value: Any, format_spec: str) -> str:
        """Write a value by the name of its kind."""
        if isinstance(value, Option):
            value = Hint([value])
        if isinstance(value, Hint):
            return value.in_command(self.options) if self.command else str(value)
        if format_spec in WRITERS:
            return WRITERS[format_spec](value)
        if format_spec == "names":
            return joined([repr(name) for name in _short(value)], most=MOST)
        if format_spec == "listed":
            return joined(_short(value), most=MOST)
        if not PLAIN_FORMAT.fullmatch(format_spec):
            raise ValueError(f"no way to write a value: {format_spec:.40}")
        return str(super().format_field(value, format_spec))
