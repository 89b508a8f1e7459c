r"""Wording: names in a list, capitals, and advice that names what a caller can choose.

The library is used from Python and from a command line. Advice such as *read it with
kind='interval'* is therefore not a plain sentence: it holds an `Option`, which is written as a
keyword in Python and as ``--kind interval`` on the command line. `hint` makes such advice; it
is text (in the words of Python) that remembers its parts, so no program ever searches a
sentence for something to replace.

Nouns: what items, annotators and tasks are called in the words of those who asked.

CSV: the only writer of its cells, and what its readers undo.

Numbers are written at full length and stay numbers, also negative ones; what is undefined or
not there is an empty cell. A text that a spreadsheet would take for a formula, because it
begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return, stands behind an apostrophe,
unless it is a number; so does one that begins with such an apostrophe itself. Our readers take
that apostrophe away again, so every text is read back as it was.

Examples
--------
>>> print(csv_text(["model", "auroc"], [["=1+1", -0.5], ["-1", float("nan")]]), end="")
model,auroc
'=1+1,-0.5
-1,
"""

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from equipoise.types.numbers import count
from equipoise.types.records import immutable

SMALL = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
)  # fmt: skip


@immutable
class Nouns:
    """Singular nouns; plurals follow.

    Examples
    --------
    >>> Nouns("study", "radiologist").items, Nouns().annotators
    ('studies', 'annotators')
    """

    item: str = "item"
    annotator: str = "annotator"
    task: str = "task"
    group: str = "group"
    model: str = "model"
    read: str = "read"  # what annotators did with every item

    @property
    def items(self) -> str:
        """Several items."""
        return plural(self.item)

    @property
    def annotators(self) -> str:
        """Several annotators."""
        return plural(self.annotator)

    @property
    def groups(self) -> str:
        """Several groups of items."""
        return plural(self.group)

    @property
    def models(self) -> str:
        """Several competitors."""
        return plural(self.model)

    @property
    def tasks(self) -> str:
        """Several tasks."""
        return plural(self.task)


OF_JUDGED = {  # what is judged, and by whom, where outputs of systems are
    "ratings": Nouns("output", group="item", model="system", read="rated"),
    "preferences": Nouns("comparison", group="item", model="system", read="made"),
    "results": Nouns("output", group="item", model="system"),
}


def plural(noun: str) -> str:
    """The plural of a regular noun.

    Examples
    --------
    >>> plural("study"), plural("epoch"), plural("image"), plural("day")
    ('studies', 'epochs', 'images', 'days')
    """
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return (
        f"{noun}es"
        if noun.endswith(("s", "x", "z", "ch", "sh")) and noun != "epoch"
        else (f"{noun}s")
    )


def in_words(number: int) -> str:
    """A small number as a word.

    Examples
    --------
    >>> in_words(9), in_words(40)
    ('nine', '40')
    """
    return SMALL[number] if 0 <= number < len(SMALL) else f"{number:,}"


def counted(number: float, noun: str) -> str:
    """A number in digits with its noun.

    Examples
    --------
    >>> counted(500, "study"), counted(1, "study")
    ('500 studies', '1 study')
    """
    return f"{count(number)} {noun if number == 1 else plural(noun)}"


def some(number: int, noun: str) -> str:
    """A small number in words with its noun.

    Examples
    --------
    >>> some(1, "model"), some(3, "study")
    ('one model', 'three studies')
    """
    return f"{in_words(number)} {noun if number == 1 else plural(noun)}"


_FORMULA = re.compile(r"[\s']*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
_SPECIAL = re.compile(r'[",\r\n]')


def csv_text(names: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """A table with a header as comma-separated text."""
    return "".join(map(csv_line, [names, *rows]))


def csv_line(cells: Iterable[object]) -> str:
    r"""One line, with its end.

    Examples
    --------
    >>> csv_line(["a,b", 0.1, None, True]), csv_line([""])
    ('"a,b",0.1,,True\n', '""\n')
    """
    texts = [_cell(value) for value in cells]
    return ('""' if texts == [""] else ",".join(texts)) + "\n"


def guarded(text: str) -> str:
    """A text that no spreadsheet computes.

    Examples
    --------
    >>> guarded("@SUM(A1)"), guarded("'=1"), guarded("-0.5"), guarded("o'clock")
    ("'@SUM(A1)", "''=1", '-0.5', "o'clock")
    """
    return f"'{text}" if _is_formula(text) else text


def unguarded(text: str) -> str:
    """The text that `guarded` was given.

    Examples
    --------
    >>> unguarded("'@SUM(A1)"), unguarded("'-0.5"), unguarded("'tis")
    ('@SUM(A1)', "'-0.5", "'tis")
    """
    return text[1:] if text[:1] == "'" and _is_formula(text[1:]) else text


def unguarded_all(texts: Sequence[str]) -> list[str]:
    """The same for many texts."""
    return [unguarded(text) if text[:1] == "'" else text for text in texts]


def _is_formula(text: str) -> bool:
    return _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if not isinstance(value, str):
        return repr(float(value)) if isinstance(value, float) else str(value)
    text = guarded(value)
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text


PLACEHOLDERS = {
    "annotator_attributes": "FILE",
    "at_least": "VALUE",
    "attributes": "FILE",
    "classes": "A,B,...",
    "columns": "OURS=THEIRS",
    "layout": "NAME",
    "positive": "CLASS",
    "prediction_columns": "OURS=THEIRS",
    "prediction_layout": "NAME",
}


@immutable
class Option:
    """Something a caller can choose.

    Attributes
    ----------
    name
        Name of the keyword; the option is ``--name``.
    value
        What to choose; None leaves it open. True is a flag, a mapping pairs of names.
    python
        How Python says it where that is no keyword, for example ``against()``.
    flag
        Name of the option where it is another than that of the keyword.
    """

    name: str
    value: str | float | bool | Sequence[str] | Mapping[str, str] | None = None
    python: str = ""
    flag: str = ""

    @property
    def option(self) -> str:
        """Name of the option, with underscores."""
        return self.flag or self.name

    def in_python(self) -> str:
        """As a keyword.

        Examples
        --------
        >>> Option("kind", "ordinal").in_python(), Option("classes").in_python()
        ("kind='ordinal'", 'classes=...')
        """
        if self.python:
            return self.python
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        return f"{self.name}={'...' if value is None else repr(value)}"

    def in_command(self) -> str:
        """As an option of the command line.

        Examples
        --------
        >>> Option("columns", {"group": "patient"}).in_command()
        '--columns group=patient'
        >>> Option("exchangeable", True).in_command(), Option("positive").in_command()
        ('--exchangeable', '--positive CLASS')
        """
        flag = f"--{self.option.replace('_', '-')}"
        if self.value is True:
            return flag
        if self.value is None:
            return f"{flag} {PLACEHOLDERS.get(self.option, 'VALUE')}"
        if isinstance(self.value, Mapping):
            return f"{flag} {','.join(f'{a}={b}' for a, b in self.value.items())}"
        if isinstance(self.value, str):
            return f"{flag} {self.value}"
        if isinstance(self.value, float | int):
            return f"{flag} {self.value:.12g}"
        return f"{flag} {','.join(self.value)}"


ONE_CLASS = Option("positive", python="against()")  # a yes/no question about one class
AT_LEAST = Option("at_least", python="at_least()")  # a yes/no question about grades, ratings
GRADES = Option("classes", ("lowest", "...", "highest"), "classes=[lowest, ..., highest]")

Part = str | Option


class Hint(str):
    """Advice: text in the words of Python that can also be said in those of a command."""

    parts: tuple[Part, ...]

    def __new__(cls, parts: Sequence[Part]) -> "Hint":
        """Write the parts one after another."""
        words = "".join(
            part.in_python() if isinstance(part, Option) else part for part in parts
        )
        hint_text = super().__new__(cls, words)
        hint_text.parts = tuple(parts)
        return hint_text

    def __reduce__(self) -> tuple[type["Hint"], tuple[tuple[Part, ...]]]:
        """Pickle with all parts."""
        return type(self), (self.parts,)

    def in_command(self, options: Collection[str] | None = None) -> str:
        """The same in the words of a command that has these options; None is all of them."""
        return "".join(
            part
            if isinstance(part, str)
            else part.in_command()
            if options is None or part.option in options
            else part.in_python()
            for part in self.parts
        )

    def renamed(self, flags: Mapping[str, str]) -> "Hint":
        """The same for a command whose options for some keywords have other names.

        Examples
        --------
        >>> advice = hint("say {}", Option("layout", "wide"))
        >>> advice.renamed({"layout": "prediction_layout"}).in_command()
        'say --prediction-layout wide'
        """
        return Hint(
            [
                replace(part, flag=flags.get(part.name, part.flag))
                if isinstance(part, Option)
                else part
                for part in self.parts
            ]
        )


def hint(template: str, /, *values: Part) -> Hint:
    """Fill options, words and other hints into the places ``{}`` of a template.

    Examples
    --------
    >>> advice = hint("say {} with {} for grades", Option("kind", "ordinal"), Option("classes"))
    >>> advice
    "say kind='ordinal' with classes=... for grades"
    >>> advice.in_command()
    'say --kind ordinal with --classes A,B,... for grades'
    """
    texts = template.split("{}")
    if len(texts) != len(values) + 1:
        message = f"{len(values)} values for {len(texts) - 1} places"
        raise ValueError(message)
    parts: list[Part] = [texts[0]]
    for value, text in zip(values, texts[1:], strict=True):
        parts += [*value.parts] if isinstance(value, Hint) else [value]
        parts.append(text)
    return Hint([part for part in parts if part != ""])


def in_command(text: str, options: Collection[str] | None = None) -> str:
    """Any text in the words of a command; text that is no hint stays as it is."""
    return text.in_command(options) if isinstance(text, Hint) else text


def joined(names: Sequence[str], word: str = "and", *, most: int | None = None) -> str:
    """Names as one would say them; beyond `most`, how many more there are.

    Examples
    --------
    >>> joined(["a", "b", "c"]), joined(["a", "b"], "or"), joined(list("abcde"), most=3)
    ('a, b and c', 'a or b', 'a, b, c and 2 more')
    """
    if most is not None and len(names) > most + 1:
        return f"{', '.join(names[:most])} {word} {len(names) - most} more"
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {word} {names[-1]}"


def capital(sentence: str) -> str:
    """A sentence with a large first letter; the rest stays as it is.

    Examples
    --------
    >>> capital("soft AUROC is undefined.")
    'Soft AUROC is undefined.'
    """
    if isinstance(sentence, Hint) and sentence.parts and isinstance(sentence.parts[0], str):
        return Hint([capital(sentence.parts[0]), *sentence.parts[1:]])
    return sentence[:1].upper() + sentence[1:]


def shortened(text: str, most: int) -> str:
    """Text of at most so many letters: its beginning and its end where it is longer.

    Examples
    --------
    >>> shortened("melanoma", 8), shortened("x" * 3_000_000 + "y", 16)
    ('melanoma', 'xxxxxxxx ... xxy')
    """
    if len(text) <= most:
        return text
    end = (most - 5) // 3
    return f"{text[: most - 5 - end]} ... {text[len(text) - end :]}"


def fitted(parts: Sequence[str], most: int) -> list[str]:
    """Parts of at most so many letters together; only the longest ones are cut.

    Examples
    --------
    >>> fitted(["a.csv", "x" * 1000, "a number"], 30)
    ['a.csv', 'xxxxxxxx ... xxxx', 'a number']
    """
    room, lengths = most, sorted(map(len, parts))
    for place, length in enumerate(lengths):
        share = room // (len(lengths) - place)
        if length > share:
            return [shortened(part, share) for part in parts]
        room -= length
    return list(parts)


def printable(text: str) -> str:
    r"""Text without control characters, changes of direction and lone surrogates.

    Examples
    --------
    >>> printable("a\x1b[31m\u202eb")
    'a�[31m�b'
    """
    if text.isascii() and text.isprintable():
        return "".join(text)  # plain, whatever kind of text it was
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if _unsafe(letter) else letter for letter in text
    )


def _unsafe(character: str) -> bool:
    code = ord(character)
    return (
        (code < 0x20 and character not in "\t\n")
        or 0x7F <= code <= 0x9F
        or 0x202A <= code <= 0x202E
        or code in (0x2028, 0x2029)
        or 0x2066 <= code <= 0x2069
        or 0xD800 <= code <= 0xDFFF
    )
