"""One column at a time: text into codes, text into numbers, flags and times.

Ids and labels are text. Surrounding spaces go, leading zeros stay, and in a column that
holds nothing but numbers a fraction of zero goes (``1.0`` is ``1``), because dataframes
turn whole numbers into fractions as soon as one value is missing.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.arrays import Bools, Floats, InputError, Ints
from equipoise.coding.tables import Column, Table

NUMBER = re.compile(r"[-+]?\d+(\.\d*)?")
MISSING_LABELS = frozenset({"", "nan", "null", "<na>"})
TRUE = frozenset({"true", "t", "yes", "y", "1", "1.0"})
FALSE = frozenset({"false", "f", "no", "n", "0", "0.0", ""})


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A column of names as codes; -1 where there is none.

    Attributes
    ----------
    codes
        Shape (rows,), positions in `names`, or -1.
    names
        The distinct names in order of first appearance.
    """

    codes: Ints
    names: tuple[str, ...]


def coded(table: Table, column: str) -> Coded:
    """Code a column of names by first appearance.

    Examples
    --------
    >>> import pyarrow
    >>> ids = Table(name="table", columns={"item": pyarrow.array([7.0, None, 3.0, 7.0])})
    >>> coded(ids, "item").names
    ('7', '3')
    >>> coded(ids, "item").codes
    array([ 0, -1,  1,  0])
    """
    codes, words = words_of(table, column)
    return _by_appearance(codes, whole_numbers(words))


def whole_numbers(words: Sequence[str]) -> list[str]:
    """Drop fractions of zero if all words are numbers (blanks aside), else change nothing.

    Examples
    --------
    >>> whole_numbers(["1.0", "007", "2.50"])
    ['1', '007', '2.50']
    >>> whole_numbers(["1.0", "one"])
    ['1.0', 'one']
    """
    if not any("." in word for word in words):
        return list(words)
    if not all(NUMBER.fullmatch(word) for word in words if word):
        return list(words)
    return [word.rstrip("0").rstrip(".") if is_whole(word) else word for word in words]


def is_whole(word: str) -> bool:
    """Whether a number is written with a fraction of zero: ``1.`` or ``1.00``."""
    _, point, fraction = word.partition(".")
    return bool(point) and not fraction.strip("0")


def numbers(table: Table, column: str, where: Callable[[int], str] | None = None) -> Floats:
    """Read a column as numbers, nan where blank; other text is an error.

    `where` names a row for that message; the table's own naming is the default.
    """
    import pyarrow as pa

    array = _whole(table.columns[column])
    kind = array.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        try:
            return _floats(array.cast(pa.float64()))
        except pa.ArrowException as error:
            raise InputError(
                f"{table.name}, column {column!r}", "whole numbers too large to tell apart",
                "numbers of at most 15 digits", "scale them, or subtract a constant",
            ) from error  # fmt: skip
    codes, words = words_of(table, column)
    values = [_number(word) for word in words]
    bad = [code for code, value in enumerate(values) if value is None]
    rows = np.flatnonzero(np.isin(codes, bad)) if bad else np.empty(0, np.intp)
    if len(rows):
        row = int(rows[0])
        word = words[codes[row]]
        comma = "write a decimal point" if "," in word else "correct the value"
        place = (where or table.where)(row)
        raise InputError(place, f"{column} {word!r}", "a number", comma)
    known = [np.nan if value is None else value for value in values]
    lookup = np.array([*known, np.nan], dtype=np.float64)
    return np.asarray(lookup[codes])


def flags(table: Table, column: str) -> Bools:
    """Read a column of yes and no; blank is no."""
    codes, words = words_of(table, column)
    lower = [word.lower() for word in words]
    bad = [code for code, word in enumerate(lower) if word not in TRUE | FALSE]
    rows = np.flatnonzero(np.isin(codes, bad)) if bad else np.empty(0, np.intp)
    if len(rows):
        row = int(rows[0])
        raise InputError(
            table.where(row), f"{column} {words[codes[row]]!r}", "true or false",
            "write true or false",
        )  # fmt: skip
    return np.array([*(word in TRUE for word in lower), False])[codes]


def times(table: Table, column: str) -> tuple[Ints, Bools]:
    """Read times as milliseconds since 1970 (UTC), and say which rows have one.

    Whole numbers are taken as they are; dates and ISO 8601 text are converted, text
    without a time zone being UTC.
    """
    import pyarrow as pa

    array = _whole(table.columns[column])
    if pa.types.is_temporal(array.type):
        stamp = array.cast(pa.timestamp("us", getattr(array.type, "tz", None)))
        return _milliseconds(stamp)
    codes, words = words_of(table, column)
    used = np.bincount(codes[codes >= 0], minlength=len(words)) > 0
    known = [word for word, use in zip(words, used, strict=True) if use and word]
    if all(NUMBER.fullmatch(word) for word in known):
        values = numbers(table, column)
        there = np.isfinite(values)
        return np.where(there, values, 0).astype(np.int64), there
    text = pa.array([word or None for word in words], pa.string())
    for kind in (pa.timestamp("us", "UTC"), pa.timestamp("us")):
        try:
            moment, there = _milliseconds(text.cast(kind))
        except pa.ArrowInvalid:
            continue
        return np.append(moment, 0)[codes], np.append(there, False)[codes]
    row = int(np.flatnonzero(np.isin(codes, np.flatnonzero(used)))[0])
    raise InputError(
        f"{table.name}, column {column!r}", f"times such as {words[codes[row]]!r}",
        "milliseconds since 1970, or ISO 8601 text, all with or all without a time zone",
        "write them as 2024-05-01T12:30:00Z",
    )  # fmt: skip


def is_missing(words: Sequence[str]) -> Bools:
    """Which labels mean that there is none: blank, nan, null."""
    return np.array([word.lower() in MISSING_LABELS for word in words], dtype=bool)


def _milliseconds(stamps: Any) -> tuple[Ints, Bools]:
    import pyarrow as pa

    there = np.asarray(stamps.is_valid())
    micro = np.asarray(stamps.cast(pa.int64()).fill_null(0))
    return micro // 1000, there


def _number(word: str) -> float | None:
    """Return the number that a word spells, nan for none, None for anything else."""
    if word.lower() in MISSING_LABELS:
        return np.nan
    try:
        return None if "_" in word else float(word)
    except ValueError:
        return None


def _floats(array: Any) -> Floats:
    return np.asarray(array.fill_null(np.nan), dtype=np.float64)


def _whole(column: Column) -> Any:
    """Return the column in one piece."""
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    return column.combine_chunks()


def words_of(table: Table, column: str) -> tuple[Ints, list[str]]:
    """Split a column into codes (-1 for null) and the stripped words they stand for."""
    import pyarrow as pa

    array = _whole(table.columns[column])
    if isinstance(array, pa.ChunkedArray):  # several pieces too large for one
        array = array.cast(pa.large_string()).combine_chunks()
    if pa.types.is_null(array.type):
        return np.full(len(array), -1, dtype=np.int64), []
    try:
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        words = _words(array.dictionary)
    except pa.ArrowException as error:
        raise InputError(
            f"{table.name}, column {column!r}", f"values of type {array.type}",
            "text or numbers", "convert the column to text",
        ) from error  # fmt: skip
    codes = np.asarray(array.indices.cast(pa.int64()).fill_null(-1))
    gone = np.array([word is None for word in words] + [False])
    if gone.any():
        codes = np.where(gone[codes], -1, codes)
    return codes, ["" if word is None else word for word in words]


def _words(dictionary: Any) -> list[str | None]:
    """Spell the distinct values of a column as text; None where there is no value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(dictionary.type):
        values = dictionary.cast(pa.float64()).to_pylist()
        return [None if value is None or value != value else _spelt(value) for value in values]
    text = dictionary.cast(pa.large_string())
    return list(pc.utf8_trim_whitespace(text).to_pylist())


def _spelt(value: float) -> str:
    return f"{value + 0.0:.0f}" if value.is_integer() else repr(value)


def _by_appearance(codes: Ints, words: Sequence[str]) -> Coded:
    """Merge equal words, drop blank and unused ones, and number them by first appearance."""
    merged: dict[str, int] = {}
    lookup = np.array(
        [merged.setdefault(word, len(merged)) if word else -1 for word in words] + [-1],
        dtype=np.int64,
    )
    codes = lookup[codes]
    first = np.full(len(merged) + 1, len(codes), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    order = np.argsort(first[:-1], kind="stable")
    order = order[first[order] < len(codes)]
    position = np.full(len(merged) + 1, -1, dtype=np.int64)
    position[order] = np.arange(len(order))
    names = list(merged)
    return Coded(codes=position[codes], names=tuple(names[code] for code in order))
