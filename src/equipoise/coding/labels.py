"""From words to classes: which kind of label a column holds, and what its scale is.

Without being told, labels are ``binary`` if they are one of the pairs in `PAIRS`, in any
case of letters, and ``nominal`` otherwise; a column of ranks makes them ``ranking``.
An order is never guessed: ``ordinal`` needs `classes`, and ``interval`` must be asked for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.arrays import InputError, Ints, listed, meant
from equipoise.coding.columns import Coded, is_whole
from equipoise.coding.options import AnnotationOptions
from equipoise.wording import GRADES, Option, hint

PAIRS = (
    ("0", "1"), ("false", "true"), ("no", "yes"), ("n", "y"),
    ("negative", "positive"), ("neg", "pos"),
)  # fmt: skip
TWO = Option("classes", ("negative", "positive"), "classes=[negative, positive]")
DOUBTFUL = frozenset({"na", "n/a", "none", "?"})


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
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

    kind: str
    classes: tuple[str, ...]
    label: Ints
    notices: tuple[str, ...] = ()


def scale_of(words: Sequence[str], how: AnnotationOptions, *, name: str) -> Scale:
    """Choose the classes for the distinct labels of a column.

    Examples
    --------
    >>> scale_of(["Yes"], AnnotationOptions(), name="votes.csv").classes
    ('No', 'Yes')
    >>> scale_of(["10", "9"], AnnotationOptions(kind="nominal"), name="votes.csv").classes
    ('9', '10')
    """
    if how.classes is not None:
        return _given(words, how, name=name)
    if how.kind == "ordinal":
        raise InputError(
            f"{name}, kind 'ordinal'", f"labels {listed(words)} without an order",
            "the grades in order", hint("say {}", GRADES),
        )  # fmt: skip
    pair = pair_of(words)
    if how.kind == "binary" and pair is None:
        known = ", ".join("/".join(each) for each in PAIRS)
        odd = [word for word in words if not any(word.lower() in each for each in PAIRS)]
        raise InputError(
            f"{name}, kind 'binary'", f"unknown labels {listed(odd or words)}",
            f"labels of one of the pairs {known}", hint("say {}", TWO),
        )  # fmt: skip
    if pair is not None and how.kind in (None, "binary"):
        return _binary(words, pair)
    return _nominal(words, how, name=name)


def pair_of(words: Sequence[str]) -> tuple[str, str] | None:
    """Return the known pair (negative, positive) that holds all the words, in lower case."""
    lower = {word.lower() for word in words}
    return next((pair for pair in PAIRS if lower and lower <= set(pair)), None)


def class_codes(
    labels: Coded, scale: Scale, *, where: Callable[[int], str], kind: str | None
) -> Ints:
    """Code the rows of a column on a scale; a label outside it is an error naming the row."""
    codes = np.append(scale.label, -1)[labels.codes]
    outside = (codes < 0) & (labels.codes >= 0)
    if outside.any():
        row = int(np.flatnonzero(outside)[0])
        word = labels.names[labels.codes[row]]
        got = f"grade {word!r} outside the scale" if kind == "ordinal" else f"label {word!r}"
        raise InputError(
            where(row), got, f"one of {listed(scale.classes, most=8)}",
            meant(word, scale.classes),
        )  # fmt: skip
    return codes


def _given(words: Sequence[str], how: AnnotationOptions, *, name: str) -> Scale:
    """Use the classes that the caller named; ``1.0`` matches ``1``."""
    assert how.classes is not None
    if how.kind == "binary" and len(how.classes) != 2:
        raise InputError(
            f"{name}, kind 'binary'", f"{len(how.classes)} classes", "two",
            hint("say {}, or choose another kind", TWO),
        )  # fmt: skip
    position = {_key(name): code for code, name in enumerate(how.classes)}
    label = np.array([position.get(_key(word), -1) for word in words], dtype=np.int64)
    paired = len(how.classes) == 2 and pair_of(how.classes) is not None
    kind = how.kind or ("binary" if paired else "nominal")
    return Scale(kind, how.classes, label)


def _binary(words: Sequence[str], pair: tuple[str, str]) -> Scale:
    """Spell the two classes as the file does; the missing one follows the other's case."""
    spelt: dict[str, str] = {}
    for word in words:
        spelt.setdefault(word.lower(), word)
    style = next(iter(spelt.values()))
    recase = str.upper if style.isupper() else str.title if style[0].isupper() else str.lower
    classes = tuple(spelt.get(each, recase(each)) for each in pair)
    label = np.array([pair.index(word.lower()) for word in words], dtype=np.int64)
    odd = [word for word in words if word not in classes]
    says = f"labels {listed(odd)} are read as {listed(classes)}, apart from upper case"
    return Scale("binary", classes, label, (says,) if odd else ())


def _nominal(words: Sequence[str], how: AnnotationOptions, *, name: str) -> Scale:
    """Sort the labels, numbers by value; numbers with fractions need to be explained."""
    values = [_value(word) for word in words]
    known = [value for value in values if value is not None]
    numeric = len(known) == len(words)
    whole = numeric and all(value.is_integer() for value in known)
    if how.kind is None and numeric and not whole:
        odd = [word for word, value in zip(words, known, strict=True) if not value.is_integer()]
        raise InputError(
            f"{name}, column 'label'", f"numbers with fractions such as {odd[0]!r}",
            "names or whole numbers",
            hint(
                "say {}, or {} with {}",
                Option("kind", "interval"),
                Option("kind", "ordinal"),
                GRADES,
            ),
        )  # fmt: skip
    pairs = zip(known, words, strict=True) if whole else [(0.0, word) for word in words]
    classes = tuple(word for _, word in sorted(pairs))
    position = {word: code for code, word in enumerate(classes)}
    label = np.array([position[word] for word in words], dtype=np.int64)
    return Scale(how.kind or "nominal", classes, label, _doubts(classes, how, whole=whole))


def _doubts(classes: Sequence[str], how: AnnotationOptions, *, whole: bool) -> tuple[str, ...]:
    """Say what a reader might have meant otherwise."""
    notices = []
    doubtful = [word for word in classes if word.lower() in DOUBTFUL]
    if doubtful:
        notices.append(
            f"{listed(doubtful)} is kept as a class; leave the cell blank if missing"
        )
    if whole and how.kind is None and len(classes) > 2:
        notices.append(
            hint(
                "the numbers {} are read as unordered classes; say {} with {} for grades, or "
                "{} for amounts",
                listed(classes),
                Option("kind", "ordinal"),
                Option("classes", python="classes=[...]"),
                Option("kind", "interval"),
            )
        )
    return tuple(notices)


def _value(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if np.isfinite(value) and "_" not in word else None


def _key(word: str) -> str:
    """Return what labels and given classes are matched by."""
    number = _value(word) is not None and is_whole(word)
    return word.rstrip("0").rstrip(".") if number else word
