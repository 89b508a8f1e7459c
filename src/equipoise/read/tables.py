"""A table on its way in: named arrow columns, where each row came from, and what a column says.

Files and dataframes both become a `Table`; everything after that speaks arrow and numpy,
and every message can still name the file and the line, or the dataframe and the row.
Rows of dataframes and of Parquet files are counted from 0, lines of text files from 1.

A column becomes codes, numbers or flags; for times see `read.values`. Ids and labels are text.
Surrounding spaces go, leading zeros stay, and in a column that holds nothing but numbers a
fraction of zero goes (``1.0`` is ``1``), because dataframes turn whole numbers into fractions
as soon as one value is missing.

Frames: which kind of dataframe a caller has, and rows as a frame of that kind.

Kinds are named as narwhals names them: ``pandas``, ``polars``, ``pyarrow`` and so on. No
library of frames is imported but the one that is asked for; pyarrow is always there.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import compress, repeat
from operator import is_
from typing import Any

import numpy as np

from equipoise.read.options import LONG, TIDY
from equipoise.types import (
    Bools,
    Floats,
    InputError,
    Ints,
    Names,
    Notice,
    Notices,
    Option,
    hint,
    immutable,
    listed,
    nearest,
    quoted,
)

Column = Any  # a pyarrow Array or ChunkedArray
_NUMBER = re.compile(r"[-+]?\d+(\.\d*)?")
_MISSING_LABELS = frozenset({"", "nan", "null", "<na>"})
_TRUE = frozenset({"true", "t", "yes", "y", "1", "1.0"})
_FALSE = frozenset({"false", "f", "no", "n", "0", "0.0", ""})
ITEMS_BY_ROW = Notice("items_by_row", "there is no column of items: rows are numbered from 0")


@immutable(eq=False, kw_only=True)
class Table:
    """Named columns of one length.

    Attributes
    ----------
    name
        What messages call the table: a file name, or ``table``.
    columns
        Name -> arrow column, all of one length.
    place
        Says where a row stands in the source: ``row 17``.
    notices
        What the user should be told about the table so far.
    reader
        The annotator whose file it is, where it names none.
    labels
        What the column of labels was called.
    """

    name: str
    columns: Mapping[str, Column]
    place: Callable[[int], str] = "row {}".format
    notices: Notices = ()
    reader: str = ""
    labels: str = ""

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self.columns.values()), ()))

    def where(self, row: int) -> str:
        """Name a row for a message."""
        return f"{self.name}, {self.place(int(row))}"

    def subset(self, mask: Bools) -> "Table":
        """Return the rows where `mask` is true; messages still name the original rows."""
        if mask.all():
            return self
        import pyarrow as pa

        chosen, rows = pa.array(mask), np.flatnonzero(mask)
        columns = {name: column.filter(chosen) for name, column in self.columns.items()}
        place = self.place
        return replace(self, columns=columns, place=lambda row: place(int(rows[row])))

    def noting(self, *notices: Notice) -> "Table":
        """Add notices."""
        return replace(self, notices=self.notices + notices)

    def column_of(self, ours: str, columns: Mapping[str, str]) -> str | None:
        """Return the name in this table of our column `ours`, or None.

        A name that the caller gave in `columns` must be there.
        """
        theirs = columns.get(ours)
        if theirs is None:
            return ours if ours in self.columns else None
        if theirs not in self.columns:
            raise InputError(
                f"{self.name}, column {theirs!r}",
                "missing",
                f"the column of each {ours}",
                nearest(theirs, self.columns),
            )
        return theirs

    def required(self, ours: str, columns: Mapping[str, str], *, otherwise: str = "") -> str:
        """Return the name in this table of our column `ours`, or say what is near it."""
        theirs = self.column_of(ours, columns)
        if theirs is not None:
            return theirs
        near = get_close_matches(ours, self.columns, n=1)
        if near:
            raise InputError(
                f"{self.name}, column {near[0]!r}",
                "unknown",
                f"a column {ours!r}",
                hint("did you mean {}?{}", repr(ours), otherwise),
            )
        raise InputError(
            f"{self.name}, column {ours!r}",
            f"missing among {listed(self.columns, most=8)}",
            f"a column {ours!r}",
            hint("say {}{}", Option("columns", {ours: "its name"}), otherwise),
        )

    def nonempty(self) -> "Table":
        """Return the table itself if it has rows."""
        if not len(self):
            raise no_rows(self.name)
        return self


def no_rows(name: str) -> InputError:
    """Say that a table is empty."""
    return InputError(name, "a header but no rows", "at least one row", "check the file")


def unique_names(names: Sequence[str], *, where: str) -> None:
    """Raise if two columns have one name."""
    if len(set(names)) != len(names):
        twice = [name for name in dict.fromkeys(names) if list(names).count(name) > 1]
        raise InputError(
            where,
            f"columns {listed(twice)} more than once",
            "unique column names",
            "rename or remove them; if the first line is data, add a header",
        )


def from_frame(frame: Any) -> Table:
    """Take any dataframe that narwhals knows (pandas, polars, pyarrow, ...).

    Examples
    --------
    >>> import pyarrow
    >>> from_frame(pyarrow.table({"item": ["a", "b"]})).where(1)
    'table, row 1'
    """
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        native = nw.from_native(frame)
    except DuplicateError as error:
        names = [str(name) for name in getattr(frame, "columns", ())]
        unique_names(names, where="table")
        raise InputError("table", str(error), "unique column names", "rename them") from error
    except TypeError as error:
        raise InputError(
            "table",
            f"a {type(frame).__name__}",
            "a dataframe of pandas, polars or pyarrow",
            "make a dataframe of it, or give a path to equipoise.read",
        ) from error
    eager = native.collect() if isinstance(native, nw.LazyFrame) else native
    names = [str(name).strip() for name in eager.columns]
    _refuse_index(nw.maybe_get_index(eager), names)
    unique_names(names, where="table")
    _refuse_unwritable(names)
    columns = (_arrow(series) for series in eager.iter_columns())
    return Table(name="table", columns=dict(zip(names, columns, strict=True))).nonempty()


def array_table(array: Any, name: str, tasks: Sequence[str] | None = None) -> Table:
    """An array of shape (items, tasks) as a table; items, and tasks unless named, by number."""
    import pyarrow as pa

    values = np.asarray(array)
    names = [str(task) for task in range(values.shape[-1] if values.ndim else 0)]
    if values.ndim != 2 or values.dtype.kind not in "iufb" or not values.size:
        raise InputError(
            name,
            f"an array of shape {values.shape} and type {values.dtype}",
            "numbers, shape (items, tasks)",
            "save one row per item and one column per task",
        )
    if tasks is not None and len(tasks) != len(names):
        raise InputError(
            name,
            f"{len(names)} columns",
            f"one for each of the {len(tasks)} tasks {listed(tasks)}",
            "save the tasks in the order of the annotations",
        )
    numbered = values.astype(np.int64) if values.dtype.kind == "b" else values
    columns = dict(zip(tasks or names, map(pa.array, numbered.T), strict=True))
    return Table(name=name, columns={"item": row_numbers(len(values)), **columns})


def row_numbers(rows: int) -> Column:
    """Names for the rows of a table without items, from 0."""
    import pyarrow as pa

    return pa.array([str(row) for row in range(rows)])


def _refuse_index(index: Any, columns: Sequence[str]) -> None:
    """Raise if a pandas index holds ids that would be lost."""
    names = [name for name in getattr(index, "names", ()) if name is not None]
    text = getattr(index, "inferred_type", "integer") in ("string", "mixed")
    if set(names) & {*TIDY, *LONG} or ("item" not in columns and (names or text)):
        raise InputError(
            "table",
            f"an index with {listed(names) if names else 'names in it'}",
            "all data in columns",
            "call frame.reset_index() first",
        )


def _arrow(series: Any) -> Column:
    """Return one column as arrow; a column of mixed Python objects becomes text."""
    import pyarrow as pa

    try:
        return series.to_arrow()
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        missing = series.is_null().to_list()
        rows = enumerate(zip(series.to_list(), missing, strict=True))
        texts = [None if gone else _object_text(value, row) for row, (value, gone) in rows]
        return pa.array(texts, pa.string())


def _object_text(value: Any, row: int) -> str:
    whole = isinstance(value, float) and value.is_integer()
    try:
        text = f"{value:.0f}" if whole else str(value)
        text.encode()
    except ValueError as error:
        half = isinstance(error, UnicodeEncodeError)
        raise InputError(
            f"table, row {row}",
            "half a character" if half else "a whole number of thousands of digits",
            "text or numbers",
            "correct the value",
        ) from error
    return text


def _refuse_unwritable(names: Sequence[str]) -> None:
    """Refuse names of columns that arrow cannot hold."""
    for name in names:
        if "\0" in name or any("\ud800" <= letter <= "\udfff" for letter in name):
            raise InputError(
                "table, columns", f"the name {quoted(name)}", "whole text", "rename the column"
            )


@immutable(eq=False)
class CodedNames:
    """A column of names as codes; -1 where there is none.

    Attributes
    ----------
    codes
        Shape (rows,), positions in `names`, or -1.
    names
        The distinct names in order of first appearance.
    """

    codes: Ints
    names: Names

    @property
    def by_row(self) -> Names:
        """The name in every row, empty where there is none."""
        names = (*self.names, "")
        return tuple(names[code] for code in self.codes.tolist())


def code_names(table: Table, column: str) -> CodedNames:
    """Code a column of names by first appearance.

    Examples
    --------
    >>> import pyarrow
    >>> ids = Table(name="table", columns={"item": pyarrow.array([7.0, None, 3.0, 7.0])})
    >>> code_names(ids, "item").names
    ('7', '3')
    >>> code_names(ids, "item").codes
    array([ 0, -1,  1,  0])
    """
    codes, words = words_of(table, column)
    return _by_appearance(codes, whole_numbers(words))


def code_ids(table: Table, column: str, *, ours: str = "", of: str = "label") -> CodedNames:
    """Code a column of ids; a row without one is an error.

    `ours` is our name of the column where the table has another, `of` what a row holds.
    """
    ids = code_names(table, column)
    blank = np.flatnonzero(ids.codes < 0)
    if len(blank):
        raise InputError(
            table.where(blank[0]),
            f"a blank {ours or column}",
            f"the {ours or column} of every {of}",
            "fill it in or remove the row",
        )
    return ids


def joint_codes(*ids: CodedNames | None) -> Ints:
    """One number per row, equal where all ids are; None says nothing.

    Examples
    --------
    >>> reader = CodedNames(np.array([0, 1, 1]), ("ana", "bo"))
    >>> joint_codes(CodedNames(np.array([4, 4, 5]), tuple("abcdef")), reader, None)
    array([ 8,  9, 11])
    """
    key = np.zeros(1, dtype=np.int64)
    for coded in ids:
        if coded is not None:
            key = key * len(coded.names) + coded.codes
    return key


def repeated_rows(key: Ints) -> Ints:
    """Rows whose key an earlier row has, in order.

    Examples
    --------
    >>> repeated_rows(np.array([5, 2, 5, 2, 5]))
    array([2, 3, 4])
    """
    order = np.argsort(key, kind="stable")
    return np.sort(order[1:][key[order][1:] == key[order][:-1]])


def whole_numbers(words: Sequence[str]) -> list[str]:
    """Drop fractions of zero if all words are numbers (blanks aside), else change nothing.

    Examples
    --------
    >>> whole_numbers(["1.0", "007", "2.50"])
    ['1', '007', '2.50']
    >>> whole_numbers(["1.0", "one"])
    ['1.0', 'one']
    """
    if "." not in "".join(words) or not all(map(_NUMBER.fullmatch, filter(None, words))):
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
    values = numbers_or_none(table, column)
    if values is not None:
        return values
    codes, words = words_of(table, column)
    odd = [code for code, word in enumerate(words) if word_number(word) is None]
    row = int(np.flatnonzero(np.isin(codes, odd))[0])
    word = words[codes[row]]
    comma = "write a decimal point" if "," in word else "correct the value"
    raise InputError((where or table.where)(row), f"{column} {word!r}", "a number", comma)


def numbers_or_none(table: Table, column: str) -> Floats | None:
    """Read a column as numbers, nan where blank; None where a row has other text.

    Text is parsed by arrow, all words at once. Where it takes a word for no number, or finds
    nan, Python has the last word.
    """
    import pyarrow as pa

    array = in_one_piece(table.columns[column])
    kind = array.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        try:
            floats = array.cast(pa.float64())
        except pa.ArrowException as error:
            raise InputError(
                f"{table.name}, column {column!r}",
                "whole numbers too large to tell apart",
                "numbers of at most 15 digits",
                "scale them, or subtract a constant",
            ) from error
        return np.asarray(floats.fill_null(np.nan), dtype=np.float64)
    codes, words = words_of(table, column)
    try:
        lookup = np.asarray(pa.array(words, pa.string()).cast(pa.float64()))
    except pa.ArrowException:
        lookup = np.array([np.nan])
    if np.isnan(lookup).any():
        values = list(map(word_number, words))
        odd = np.fromiter(map(is_, values, repeat(None)), dtype=bool)
        if np.isin(codes, np.flatnonzero(odd)).any():
            return None
        lookup = np.array(values, dtype=np.float64)
    return np.append(lookup, np.nan)[codes]


def ratings(table: Table) -> Floats:
    """Read the labels as amounts; nan is a missing one, infinity an error."""
    value = numbers(table, "label")
    endless = np.flatnonzero(np.isinf(value))
    if len(endless):
        row = int(endless[0])
        raise InputError(
            table.where(row), f"label {value[row]}", "a finite number", "correct the value"
        )
    return value


def flags(table: Table, column: str) -> Bools:
    """Read a column of yes and no; blank is no."""
    codes, words = words_of(table, column)
    lower = [word.lower() for word in words]
    odd = [code for code, word in enumerate(lower) if word not in _TRUE | _FALSE]
    rows = np.flatnonzero(np.isin(codes, odd))
    if len(rows):
        raise InputError(
            table.where(rows[0]),
            f"{column} {words[codes[rows[0]]]!r}",
            "true or false",
            "write true or false",
        )
    return np.array([*(word in _TRUE for word in lower), False])[codes]


def is_missing(words: Sequence[str]) -> Bools:
    """Which labels mean that there is none: blank, nan, null."""
    missing = map(_MISSING_LABELS.__contains__, map(str.lower, words))
    return np.fromiter(missing, dtype=bool, count=len(words))


def without_missing(coded: CodedNames) -> CodedNames:
    """The same without names that mean that there is none."""
    there = ~is_missing(coded.names)
    place = np.append(np.where(there, np.cumsum(there) - 1, -1), -1)
    return CodedNames(place[coded.codes], tuple(compress(coded.names, there)))


def words_of(table: Table, column: str) -> tuple[Ints, list[str]]:
    """Split a column into codes (-1 for null) and the stripped words they stand for."""
    import pyarrow as pa
    import pyarrow.compute as pc

    array = in_one_piece(table.columns[column])
    if isinstance(array, pa.ChunkedArray):  # several pieces too large for one
        array = array.cast(pa.large_string()).combine_chunks()
    if pa.types.is_null(array.type):
        return np.full(len(array), -1, dtype=np.int64), []
    try:
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        if pa.types.is_floating(array.dictionary.type):
            words: list[Any] = _spelt(array.dictionary.cast(pa.float64()).to_pylist())
        else:
            text = array.dictionary.cast(pa.large_string())
            words = pc.utf8_trim_whitespace(text).to_pylist()
    except pa.ArrowException as error:
        raise no_text(table, column, array.type) from error
    codes = np.asarray(array.indices.cast(pa.int64()).fill_null(-1))
    if None in words:
        gone = np.array([word is None for word in words] + [False])
        codes = np.where(gone[codes], -1, codes)
        words = [word or "" for word in words]
    return codes, words


def _spelt(values: Sequence[float | None]) -> list[str | None]:
    """Numbers as text, whole ones without a fraction; None where there is no value."""
    return [
        None if value is None or value != value
        else f"{value + 0.0:.0f}" if value.is_integer() else repr(value)
        for value in values
    ]  # fmt: skip


def no_text(table: Table, column: str, kind: Any) -> InputError:
    """Say that a column holds neither text nor numbers."""
    return InputError(
        f"{table.name}, column {column!r}",
        f"values of type {kind}",
        "text or numbers",
        "convert the column to text",
    )


def word_number(word: str) -> float | None:
    """Return the number that a word spells, nan for none, None for anything else."""
    if word.lower() in _MISSING_LABELS:
        return np.nan
    try:
        return None if "_" in word else float(word)
    except ValueError:
        return None


def in_one_piece(column: Column) -> Any:
    """A column as one array, where it fits into one."""
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    return column.combine_chunks()


def _by_appearance(codes: Ints, words: Sequence[str]) -> CodedNames:
    """Merge equal words, drop blank and unused ones, and number them by first appearance."""
    merged = dict(zip(words, range(len(words)), strict=True))
    if len(merged) < len(words) or "" in merged:
        merged = {}
        places = [merged.setdefault(word, len(merged)) if word else -1 for word in words]
        codes = np.array([*places, -1], dtype=np.int64)[codes]
    first = np.full(len(merged) + 1, len(codes), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    order = np.argsort(first[:-1], kind="stable")
    order = order[first[order] < len(codes)]
    position = np.full(len(merged) + 1, -1, dtype=np.int64)
    position[order] = np.arange(len(order))
    names = list(merged)
    return CodedNames(
        codes=position[codes], names=tuple(map(names.__getitem__, order.tolist()))
    )


USUAL = "pyarrow"  # for callers who gave no frame
EAGER = ("pandas", "polars", "pyarrow", "modin", "cudf")


def frame_kind(thing: object) -> str:
    """The kind of a dataframe, eager or lazy; empty for anything else.

    Examples
    --------
    >>> import pyarrow
    >>> frame_kind(pyarrow.table({"item": [1]})), frame_kind([1]), frame_kind(None)
    ('pyarrow', '', '')
    """
    if not hasattr(type(thing), "columns"):
        return ""
    import narwhals as nw

    frame = nw.from_native(thing, pass_through=True)
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        return ""
    kind = frame.implementation.name.lower()
    return kind if kind in EAGER else USUAL


def to_frame(columns: Mapping[str, Sequence[Any]], kind: str = "") -> Any:
    """Columns as a frame of a kind; without one, a pyarrow table.

    Examples
    --------
    >>> to_frame({"model": ["vit"], "value": [0.9]}).column_names
    ['model', 'value']
    """
    import narwhals as nw

    if kind and kind not in EAGER:
        do = "name one of them, or take pyarrow and convert it"
        raise InputError("backend", repr(kind), f"one of {listed(EAGER, most=5)}", do)
    backend: Any = kind or USUAL
    try:
        return nw.from_dict(dict(columns), backend=backend).to_native()
    except ModuleNotFoundError as error:
        expected = f"one that is installed, such as {USUAL}"
        do = f"pip install {kind}"
        raise InputError("backend", f"{kind!r}, not installed", expected, do) from error


def rows_to_frame(rows: Sequence[tuple[Any, ...]], names: Sequence[str], kind: str = "") -> Any:
    """Rows of named fields as a frame of a kind; without rows the columns are empty."""
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return to_frame(dict(zip(names, map(list, columns), strict=True)), kind)
