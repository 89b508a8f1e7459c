"""From words to classes: which kind of label a column holds, and what its scale is.

Without being told, labels are ``binary`` if they are one of the pairs in `_PAIRS`, in any
case of letters, and ``nominal`` otherwise; a column of ranks makes them ``ranking``.
An order is never guessed: ``ordinal`` needs `classes`, and ``interval`` must be asked for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.read.options import AnnotationOptions, Kind
from equipoise.read.tables import CodedNames, is_whole, word_number
from equipoise.types.annotations import are_steps
from equipoise.types.arrays import InputError, Ints, listed, unknown_name
from equipoise.types.notices import Notice, notice
from equipoise.types.words import GRADES, Option, hint

_PAIRS = (
    ("0", "1"),
    ("false", "true"),
    ("no", "yes"),
    ("n", "y"),
    ("negative", "positive"),
    ("neg", "pos"),
)
_DOUBTFUL = frozenset({"na", "n/a", "none", "?"})
_TWO_CLASSES = Option("classes", ("negative", "positive"), "classes=[negative, positive]")


@dataclass(frozen=True, slots=True, eq=False)
class ClassScale:
    """The classes of a column of labels.

    Attributes
    ----------
    kind
        ``binary``, ``nominal``, ``ordinal`` or ``ranking``.
    classes
        Names of the classes, in order.
    label
        Class of each word of the column, shape (words,); -1 if it is none of them.
    notices
        What the user should be told about the choice made.
    """

    kind: Kind
    classes: tuple[str, ...]
    label: Ints
    notices: tuple[Notice, ...] = ()


def scale_of(words: Sequence[str], options: AnnotationOptions, *, name: str) -> ClassScale:
    """Choose the classes for the distinct labels of a column.

    Examples
    --------
    >>> scale_of(["Yes"], AnnotationOptions(), name="votes.csv").classes
    ('No', 'Yes')
    >>> scale_of(["10", "9"], AnnotationOptions(kind="nominal"), name="votes.csv").classes
    ('9', '10')
    """
    if options.classes is not None:
        return _named_scale(words, options, options.classes, name=name)
    if options.kind == "ordinal":
        raise InputError(
            f"{name}, kind 'ordinal'",
            f"labels {listed(words)} without an order",
            "the grades in order",
            hint("say {}", GRADES),
        )
    pair = pair_of(words)
    if options.kind == "binary" and pair is None:
        known = ", ".join("/".join(each) for each in _PAIRS)
        odd = [word for word in words if not any(word.lower() in each for each in _PAIRS)]
        raise InputError(
            f"{name}, kind 'binary'",
            f"unknown labels {listed(odd or words)}",
            f"labels of one of the pairs {known}",
            hint("say {}", _TWO_CLASSES),
        )
    if pair is not None and options.kind in (None, "binary"):
        return _binary_scale(words, pair)
    return _nominal_scale(words, options, name=name)


def pair_of(words: Sequence[str]) -> tuple[str, str] | None:
    """Return the known pair (negative, positive) that holds all the words, in lower case."""
    lower = {word.lower() for word in words}
    return next((pair for pair in _PAIRS if lower and lower <= set(pair)), None)


def class_codes(
    labels: CodedNames, scale: ClassScale, *, where: Callable[[int], str], kind: str | None
) -> Ints:
    """Code the rows of a column on a scale; a label outside it is an error naming the row."""
    codes = np.append(scale.label, -1)[labels.codes]
    outside = (codes < 0) & (labels.codes >= 0)
    if outside.any():
        row = int(np.flatnonzero(outside)[0])
        word = labels.names[labels.codes[row]]
        got = f"grade {word!r} outside the scale" if kind == "ordinal" else f"label {word!r}"
        raise unknown_name(where(row), got, word, scale.classes)
    return codes


def _named_scale(
    words: Sequence[str], options: AnnotationOptions, classes: tuple[str, ...], *, name: str
) -> ClassScale:
    """Use the classes that the caller named; ``1.0`` matches ``1``."""
    if options.kind == "binary" and len(classes) != 2:
        raise InputError(
            f"{name}, kind 'binary'",
            f"{len(classes)} classes",
            "two",
            hint("say {}, or choose another kind", _TWO_CLASSES),
        )
    position = {_matching_key(name): code for code, name in enumerate(classes)}
    label = np.array([position.get(_matching_key(word), -1) for word in words], dtype=np.int64)
    paired = len(classes) == 2 and pair_of(classes) is not None
    return ClassScale(options.kind or ("binary" if paired else "nominal"), classes, label)


def _binary_scale(words: Sequence[str], pair: tuple[str, str]) -> ClassScale:
    """Spell the two classes as the file does; the missing one follows the other's case."""
    spelt: dict[str, str] = {}
    for word in words:
        spelt.setdefault(word.lower(), word)
    style = next(iter(spelt.values()))
    recase = str.upper if style.isupper() else str.title if style[0].isupper() else str.lower
    classes = tuple(spelt.get(each, recase(each)) for each in pair)
    label = np.array([pair.index(word.lower()) for word in words], dtype=np.int64)
    odd = tuple(word for word in words if word not in classes)
    text = "labels {labels:names} are read as {classes:names}, apart from upper case"
    said = notice("case_of_labels", text, labels=odd, classes=classes)
    return ClassScale("binary", classes, label, (said,) if odd else ())


def _nominal_scale(
    words: Sequence[str], options: AnnotationOptions, *, name: str
) -> ClassScale:
    """Sort the labels, numbers by value; numbers with fractions need to be explained."""
    values = [_value(word) for word in words]
    known = [value for value in values if value is not None]
    numeric = len(known) == len(words)
    whole = numeric and all(value.is_integer() for value in known)
    if options.kind is None and numeric and not whole:
        odd = [word for word, value in zip(words, known, strict=True) if not value.is_integer()]
        raise InputError(
            f"{name}, column 'label'",
            f"numbers with fractions such as {odd[0]!r}",
            "names or whole numbers",
            hint(
                "say {}, or {} with {}",
                Option("kind", "interval"),
                Option("kind", "ordinal"),
                GRADES,
            ),
        )
    pairs = zip(known, words, strict=True) if whole else [(0.0, word) for word in words]
    classes = tuple(word for _, word in sorted(pairs))
    position = {word: code for code, word in enumerate(classes)}
    label = np.array([position[word] for word in words], dtype=np.int64)
    notices = _other_readings(classes, options, whole=whole)
    return ClassScale(options.kind or "nominal", classes, label, notices)


def _other_readings(
    classes: tuple[str, ...], options: AnnotationOptions, *, whole: bool
) -> tuple[Notice, ...]:
    """Say what a reader might have meant otherwise."""
    notices = []
    doubtful = tuple(word for word in classes if word.lower() in _DOUBTFUL)
    if doubtful:
        text = "{classes:names} is kept as a class; leave the cell blank if missing"
        notices.append(notice("missing_as_class", text, classes=doubtful))
    if whole and options.kind is None and len(classes) > 2:
        text = (
            "the numbers {classes:names} are read as unordered classes; say {ordinal} with "
            "{scale} for grades, or {interval} for amounts"
        )
        said = notice(
            "numbers_as_classes",
            text,
            classes=classes,
            ordinal=Option("kind", "ordinal"),
            scale=Option("classes", classes) if are_steps(classes) else GRADES,
            interval=Option("kind", "interval"),
        )
        notices.append(said)
    return tuple(notices)


def _value(word: str) -> float | None:
    value = word_number(word)
    return value if value is not None and np.isfinite(value) else None


def _matching_key(word: str) -> str:
    """Return what labels and classes of the caller are matched by."""
    number = _value(word) is not None and is_whole(word)
    return word.rstrip("0").rstrip(".") if number else word
