"""From words to classes: which kind of label a column holds, and what its scale is.

Without being told, labels are ``binary`` if they are one of the pairs in `_PAIRS`, in any
case of letters, and ``nominal`` otherwise; a column of ranks makes them ``ranking``.
An order is never guessed: ``ordinal`` needs `classes`, and ``interval`` must be asked for.

Times: columns of moments, in milliseconds since 1970 (UTC), and exact in their order.

Dates are dates. Text is ISO 8601, all with or all without a time zone; without one it is UTC.
Whole numbers are milliseconds as they are. Numbers of which one has a fraction are seconds if
all are smaller than 1e11 (as milliseconds they would lie before 1973), else milliseconds; what
is smaller than a millisecond still counts in the order.

Spelling: names that look alike and are told apart nevertheless.

``Ana``, ``ana`` and ``Ana`` with a zero-width space in it are three annotators, because nobody
but the user knows whether they are one. The reader says so: compared are the names without what
cannot be seen, in one Unicode form (NFKC), with single spaces and without upper case.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal, InvalidOperation
from functools import partial
from itertools import count, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.read.options import Kind, VoteFormat
from equipoise.read.tables import (
    CodedNames,
    Table,
    code_names,
    in_one_piece,
    is_whole,
    without_missing,
    word_number,
)
from equipoise.types import (
    GRADES,
    Bools,
    InputError,
    Ints,
    Names,
    Notices,
    Option,
    are_steps,
    hint,
    immutable,
    listed,
    notice,
    quoted,
    unknown_name,
)

_PAIRS = (
    ("0", "1"),
    ("false", "true"),
    ("no", "yes"),
    ("n", "y"),
    ("negative", "positive"),
    ("neg", "pos"),
)
_SEVERAL = re.compile("[,;|]")
_OF_RATINGS = frozenset({"rating", "grade", "severity", "score", "stage", "mos", "stars"})
_DOUBTFUL = frozenset({"na", "n/a", "none", "?"})
_TWO_CLASSES = Option("classes", ("negative", "positive"), "classes=[negative, positive]")


@immutable(eq=False)
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
    classes: Names
    label: Ints
    notices: Notices = ()


def scale_of(
    words: Sequence[str], options: VoteFormat, *, name: str, header: str = ""
) -> ClassScale:
    """Choose the classes for the distinct labels of a column; `header` is what it was called.

    Examples
    --------
    >>> scale_of(["Yes"], VoteFormat(), name="votes.csv").classes
    ('No', 'Yes')
    >>> scale_of(["10", "9"], VoteFormat(kind="nominal"), name="votes.csv").classes
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
        pairs = ", ".join("/".join(known_pair) for known_pair in _PAIRS)
        odd = [
            word
            for word in words
            if not any(word.lower() in known_pair for known_pair in _PAIRS)
        ]
        raise InputError(
            f"{name}, kind 'binary'",
            f"unknown labels {listed(odd or words)}",
            f"labels of one of the pairs {pairs}",
            hint("say {}", _TWO_CLASSES),
        )
    if pair is not None and options.kind in (None, "binary"):
        return _binary_scale(words, pair)
    if options.kind != "ranking":
        _refuse_several_in_one(words, name)
    if options.kind is None and header not in ("", "label") and are_ratings(header):
        classes = tuple(sorted(words, key=lambda word: (_value(word) or 0.0, word)))
        if are_steps(classes):
            return _graded_scale(words, classes)
    return _nominal_scale(words, options, name=name)


def are_ratings(header: str) -> bool:
    """Whether a column of labels is called ratings or grades, or the like.

    Examples
    --------
    >>> are_ratings("Rating"), are_ratings("label")
    (True, False)
    """
    return "".join(filter(str.isalpha, header.casefold())) in _OF_RATINGS


def _graded_scale(words: Sequence[str], classes: Names) -> ClassScale:
    """Whole numbers in a column of ratings are grades, from the lowest to the highest."""
    text = (
        "the numbers {classes:names} are read as grades in this order; say {nominal} for "
        "classes without an order, or {interval} for amounts"
    )
    note = notice(
        "numbers_as_grades",
        text,
        classes=classes,
        nominal=Option("kind", "nominal"),
        interval=Option("kind", "interval"),
    )
    return ClassScale("ordinal", classes, _places(words, classes), (note,))


def _refuse_several_in_one(words: Sequence[str], name: str) -> None:
    """Ask about labels such as ``flu,cold``, whose parts are labels too.

    Examples
    --------
    >>> _refuse_several_in_one(["flu", "flu,cold", "other, rare"], "votes.csv")
    >>> _refuse_several_in_one(["flu", "flu,cold", "cold"], "votes.csv")
    Traceback (most recent call last):
    ...
    equipoise.InputError: votes.csv, column 'label': several labels in one, ...
    """
    if not any(map(_SEVERAL.search, words)):
        return
    parts = {word: [part.strip() for part in _SEVERAL.split(word)] for word in words}
    uses = Counter(part for several in parts.values() for part in set(several))
    for word, several in parts.items():
        if len(several) > 1 and all(part and uses[part] > 1 for part in several):
            raise InputError(
                f"{name}, column 'label'",
                f"several labels in one, such as {word!r}",
                "one label a vote",
                hint("say yes or no in a column per label and {}, or, where each is a class of "
                     "its own, name all in a file: {}", Option("layout", "tasks"),
                     Option("classes", "classes.txt")),
            )  # fmt: skip


def pair_of(words: Sequence[str]) -> tuple[str, str] | None:
    """Return the known pair (negative, positive) that holds all the words, in lower case."""
    lower = set(map(str.lower, words))
    for pair in _PAIRS:
        if lower and lower <= set(pair):
            return pair
    return None


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
    words: Sequence[str], options: VoteFormat, classes: Names, *, name: str
) -> ClassScale:
    """Use the classes that the caller named; ``1.0`` matches ``1``."""
    if options.kind == "binary" and len(classes) != 2:
        raise InputError(
            f"{name}, kind 'binary'",
            f"{len(classes)} classes",
            "two",
            hint("say {}, or choose another kind", _TWO_CLASSES),
        )
    label = _places(map(_matching_key, words), map(_matching_key, classes))
    paired = len(classes) == 2 and pair_of(classes) is not None
    return ClassScale(options.kind or ("binary" if paired else "nominal"), classes, label)


def _places(words: Iterable[str], classes: Iterable[str]) -> Ints:
    """The place of every word among some; -1 where it is none of them."""
    place = dict(zip(classes, count(), strict=False))
    return np.fromiter(map(place.get, words, repeat(-1)), dtype=np.int64)


def _binary_scale(words: Sequence[str], pair: tuple[str, str]) -> ClassScale:
    """Spell the two classes as the file does; the missing one follows the other's case."""
    spelt = dict(zip(map(str.lower, reversed(words)), reversed(words), strict=True))
    style = words[0]
    recase = str.upper if style.isupper() else str.title if style[0].isupper() else str.lower
    classes = tuple(map(spelt.get, pair, map(recase, pair)))
    label = _places(map(str.lower, words), pair)
    if set(words) <= set(classes):
        return ClassScale("binary", classes, label)
    odd = tuple(word for word in words if word not in classes)
    text = "labels {labels:names} are read as {classes:names}, apart from upper case"
    note = notice("case_of_labels", text, labels=odd, classes=classes)
    return ClassScale("binary", classes, label, (note,))


def _nominal_scale(words: Sequence[str], options: VoteFormat, *, name: str) -> ClassScale:
    """Sort the labels, numbers by value; numbers with fractions need to be explained."""
    values = list(map(_value, words))
    numeric = None not in values
    odd = [word for word in words if float(word) % 1] if numeric else []
    if options.kind is None and odd:
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
    whole = numeric and not odd
    classes = tuple(sorted(words))
    if whole:
        classes = tuple(word for _, word in sorted(zip(values, words, strict=True)))
    notices = _other_readings(classes, options, whole=whole)
    return ClassScale(options.kind or "nominal", classes, _places(words, classes), notices)


def _other_readings(classes: Names, options: VoteFormat, *, whole: bool) -> Notices:
    """Say what a reader might have meant otherwise."""
    notices = []
    if not _DOUBTFUL.isdisjoint(map(str.lower, classes)):
        doubtful = tuple(word for word in classes if word.lower() in _DOUBTFUL)
        text = "{classes:names} is kept as a class; leave the cell blank if missing"
        notices.append(notice("missing_as_class", text, classes=doubtful))
    if whole and options.kind is None and len(classes) > 2:
        text = (
            "the numbers {classes:names} are read as unordered classes; say {ordinal} with "
            "{scale} for grades, or {interval} for amounts"
        )
        note = notice(
            "numbers_as_classes",
            text,
            classes=classes,
            ordinal=Option("kind", "ordinal"),
            scale=Option("classes", classes) if are_steps(classes) else GRADES,
            interval=Option("kind", "interval"),
        )
        notices.append(note)
    return tuple(notices)


def _value(word: str) -> float | None:
    value = word_number(word)
    return value if value is not None and np.isfinite(value) else None


def _matching_key(word: str) -> str:
    """Return what labels and classes of the caller are matched by."""
    number = _value(word) is not None and is_whole(word)
    return word.rstrip("0").rstrip(".") if number else word


_WHOLE = re.compile(r"[-+]?\d{1,18}")
_SECONDS = 10**11  # below which numbers with fractions are seconds
_LARGEST = 2**63 - 1
_KINDS = (("ns", "UTC"), ("ns", None), ("us", "UTC"), ("us", None))  # of ISO 8601 text
_PER_MILLISECOND = {"ns": 1_000_000, "us": 1_000}
_EXPECTED = (
    "milliseconds since 1970, seconds with fractions, or ISO 8601 text, all with or all "
    "without a time zone"
)


class _Times(NamedTuple):
    """Moments, one per row.

    Attributes
    ----------
    milliseconds
        Since 1970 in UTC; 0 where there is none.
    order
        Larger where a moment is later, equal where moments are, finer than milliseconds.
    there
        Which rows have a moment.
    """

    milliseconds: Ints
    order: Ints
    there: Bools


def times(table: Table, column: str) -> _Times:
    """Read a column of moments.

    Examples
    --------
    >>> import pyarrow
    >>> seconds = pyarrow.array(["1700000000.7", "1700000000.2"])
    >>> times(Table(name="table", columns={"timestamp": seconds}), "timestamp")[:2]
    (array([1700000000700, 1700000000200]), array([1, 0]))
    """
    import pyarrow as pa

    array = in_one_piece(table.columns[column])
    if pa.types.is_temporal(array.type):
        return _dates(table, column, array)
    coded = without_missing(code_names(table, column))
    read = _numbers if _are_numbers(coded.names) else _texts
    moment, order = read(table, column, coded)
    moment, order = np.append(moment, 0), np.append(order, 0)
    return _Times(moment[coded.codes], order[coded.codes], coded.codes >= 0)


def _are_numbers(words: Iterable[str]) -> bool:
    return all(word_number(word) is not None for word in words)


def _dates(table: Table, column: str, array: Any) -> _Times:
    """Moments of a column of dates or times of a known unit."""
    import pyarrow as pa

    unit = "ns" if getattr(array.type, "unit", "") == "ns" else "us"
    try:
        stamp = array.cast(pa.timestamp(unit, getattr(array.type, "tz", None)))
        fine = np.asarray(stamp.cast(pa.int64()).fill_null(0))
    except pa.ArrowException as error:
        raise InputError(
            f"{table.name}, column {column!r}",
            f"values of type {array.type} that are no moments",
            _EXPECTED,
            "write them as 2024-05-01T12:30:00Z",
        ) from error
    return _Times(fine // _PER_MILLISECOND[unit], fine, np.asarray(stamp.is_valid()))


def _numbers(table: Table, column: str, coded: CodedNames) -> tuple[Ints, Ints]:
    """Milliseconds and order of moments that are written as numbers."""
    words = coded.names
    if all(_WHOLE.fullmatch(word) for word in words):
        whole = np.array([int(word) for word in words], dtype=np.int64)
        return whole, whole
    exact: NDArray[Any] = np.array([_exact(word) for word in words], dtype=object)
    size = np.abs(exact)
    large = np.flatnonzero(size > _LARGEST)
    if len(large):
        raise _fault(table, column, coded, int(large[0]))
    fractions = any(value != value.to_integral_value() for value in exact)
    factor = 1000 if fractions and bool((size < _SECONDS).all()) else 1
    moment = np.array([int((value * factor).to_integral_value()) for value in exact])
    return moment.astype(np.int64), np.unique(exact, return_inverse=True)[1].astype(np.int64)


def _exact(word: str) -> Decimal:
    """The number that a word spells; a power that no number has is beyond all, or zero."""
    try:
        value = Decimal(word)
    except InvalidOperation:
        value = Decimal(float(word))
    return value if value.is_finite() else Decimal(2 * _LARGEST)


def _texts(table: Table, column: str, coded: CodedNames) -> tuple[Ints, Ints]:
    """Milliseconds and order of ISO 8601 text."""
    import pyarrow as pa

    text = pa.array(coded.names, pa.string())
    for unit, zone in _KINDS:
        kind = pa.timestamp(unit, zone)
        if _casts(kind, text):
            fine = np.asarray(text.cast(kind).cast(pa.int64()))
            return fine // _PER_MILLISECOND[unit], fine
    casts = [partial(_casts, pa.timestamp(*kind)) for kind in _KINDS]
    longest = [_leading(text, casts_all) for casts_all in casts]
    longest.append(_leading(coded.names, _are_numbers))
    raise _fault(table, column, coded, max(longest))


def _casts(kind: Any, text: Any) -> bool:
    import pyarrow as pa

    try:
        text.cast(kind)
    except pa.ArrowException:
        return False
    return True


def _leading(sequence: Any, holds: Callable[[Any], bool]) -> int:
    """Length of the longest beginning for which something holds that holds for shorter ones."""
    low, high = 0, len(sequence)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(sequence[:middle]) else (low, middle)
    return low


def _fault(table: Table, column: str, coded: CodedNames, number: int) -> InputError:
    """Refuse a word where it stands first."""
    row = int(np.flatnonzero(coded.codes == number)[0])
    got, do = f"{column} {quoted(coded.names[number])}", "write times as 2024-05-01T12:30:00Z"
    return InputError(table.where(row), got, _EXPECTED, do)


_MOST = 200_000  # names up to which they are compared


def alike_notices(what: str, names: Sequence[str]) -> Notices:
    r"""Say which names may be one, such as ``what="annotators"``.

    Examples
    --------
    >>> [str(one) for one in alike_notices("annotators", ["Ana", "Ben", "ana\u200b"])]
    ["'Ana' and 'ana\\u200b' are read as different annotators, though they look alike"]
    """
    sets = alike_names(names) if len(names) <= _MOST else []
    if not sets:
        return ()
    text = f"{{names:names}} are read as different {what}, though they look alike"
    return tuple(notice("alike_names", text, names=tuple(same)) for same in sets[:3])


def alike_names(names: Sequence[str]) -> list[list[str]]:
    """Names that are the same to the eye."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(_look(name), []).append(name)
    if len(alike) == len(names):
        return []
    return [same for same in alike.values() if len(same) > 1]


def _look(name: str) -> str:
    """What a reader sees of a name."""
    if name.isascii():
        return " ".join(name.casefold().split())
    seen = "".join(letter for letter in name if unicodedata.category(letter) != "Cf")
    return " ".join(unicodedata.normalize("NFKC", seen).casefold().split())
