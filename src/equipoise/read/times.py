"""Times: columns of moments, in milliseconds since 1970 (UTC), and exact in their order.

Dates are dates. Text is ISO 8601, all with or all without a time zone; without one it is UTC.
Whole numbers are milliseconds as they are. Numbers of which one has a fraction are seconds if
all are smaller than 1e11 (as milliseconds they would lie before 1973), else milliseconds; what
is smaller than a millisecond still counts in the order.
"""

import re
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.read.tables import Table, in_one_piece, is_missing, word_number, words_of
from equipoise.types.arrays import Bools, InputError, Ints, quoted

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
    codes, words = words_of(table, column)
    used = np.bincount(codes[codes >= 0], minlength=len(words)) > 0
    there = used & ~is_missing(words) if words else used
    known = [word for word, has in zip(words, there, strict=True) if has]
    numeric = _leading(known, lambda some: all(word_number(word) is not None for word in some))
    if numeric == len(known):
        moment, order = _numbers(table, column, known, _rows_of(codes, there))
    else:
        moment, order = _texts(table, column, known, (_rows_of(codes, there), numeric))
    place = np.full(len(words) + 1, -1, dtype=np.int64)
    place[np.flatnonzero(there)] = np.arange(len(known))
    spot = place[codes]
    moment, order = np.append(moment, 0), np.append(order, 0)
    return _Times(moment[spot], order[spot], spot >= 0)


def _rows_of(codes: Ints, there: Bools) -> Ints:
    """The first row of each word that is there."""
    first = np.full(len(there) + 1, len(codes), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return first[:-1][there]


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


def _numbers(table: Table, column: str, words: Sequence[str], rows: Ints) -> tuple[Ints, Ints]:
    """Milliseconds and order of moments that are written as numbers."""
    if all(_WHOLE.fullmatch(word) for word in words):
        whole = np.array([int(word) for word in words], dtype=np.int64)
        return whole, whole
    exact: NDArray[Any] = np.array([_exact(word) for word in words], dtype=object)
    size = np.abs(exact)
    large = np.flatnonzero(size > _LARGEST)
    if len(large):
        first = large[np.argmin(rows[large])]
        raise _fault(table, int(rows[first]), column, words[first])
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


def _texts(
    table: Table, column: str, words: Sequence[str], found: tuple[Ints, int]
) -> tuple[Ints, Ints]:
    """Milliseconds and order of ISO 8601 text; `found`: rows, and how many are numbers."""
    import pyarrow as pa

    rows, numeric = found
    by_row = np.argsort(rows, kind="stable")
    text = pa.array([words[code] for code in by_row], pa.string())
    longest = 0
    for unit, zone in _KINDS:
        kind = pa.timestamp(unit, zone)
        length = _leading(text, partial(_casts, kind))
        longest = max(longest, length)
        if length == len(words):
            fine = np.empty(len(words), dtype=np.int64)
            fine[by_row] = np.asarray(text.cast(kind).cast(pa.int64()))
            return fine // _PER_MILLISECOND[unit], fine
    first = by_row[min(max(longest, _numeric_rows(words, by_row, numeric)), len(words) - 1)]
    raise _fault(table, int(rows[first]), column, words[first])


def _numeric_rows(words: Sequence[str], by_row: Ints, numeric: int) -> int:
    """How many moments are numbers before the first, in the order of rows, that is none."""
    if not numeric:
        return 0
    odd = (place for place, code in enumerate(by_row) if word_number(words[code]) is None)
    return next(odd, len(words))


def _casts(kind: Any, text: Any) -> bool:
    import pyarrow as pa

    try:
        text.cast(kind)
    except pa.ArrowException:
        return False
    return True


def _leading(sequence: Any, holds: Callable[[Any], bool]) -> int:
    """Length of the longest beginning for which something holds that holds for shorter ones."""
    if holds(sequence):
        return len(sequence)
    low, high = 0, len(sequence)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(sequence[:middle]) else (low, middle)
    return low


def _fault(table: Table, row: int, column: str, word: str) -> InputError:
    return InputError(
        table.where(row),
        f"{column} {quoted(word)}",
        _EXPECTED,
        "write times as 2024-05-01T12:30:00Z",
    )
