"""A table on its way in: named arrow columns, and where each row came from.

Files and dataframes both become a `Table`; everything after that speaks arrow and numpy,
and every message can still name the file and the line, or the dataframe and the row.
Rows of dataframes and of Parquet files are counted from 0, lines of text files from 1.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from equipoise.arrays import Bools, InputError, listed, nearest
from equipoise.coding.options import LONG, TIDY
from equipoise.wording import Option, hint

Column = Any  # a pyarrow Array or ChunkedArray


def plain_row(row: int) -> str:
    """Name a row of a table that has no line numbers."""
    return f"row {row}"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
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
    """

    name: str
    columns: Mapping[str, Column]
    place: Callable[[int], str] = plain_row
    notices: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self.columns.values()), ()))

    def where(self, row: int) -> str:
        """Name a row for a message."""
        return f"{self.name}, {self.place(int(row))}"

    def keep(self, mask: Bools) -> "Table":
        """Return the rows where `mask` is true; messages still name the original rows."""
        if mask.all():
            return self
        import pyarrow as pa

        chosen, rows = pa.array(mask), np.flatnonzero(mask)
        columns = {name: column.filter(chosen) for name, column in self.columns.items()}
        place = self.place
        return replace(self, columns=columns, place=lambda row: place(int(rows[row])))

    def saying(self, *notices: str) -> "Table":
        """Add notices."""
        return replace(self, notices=self.notices + notices)

    def found(self, ours: str, columns: Mapping[str, str]) -> str | None:
        """Return the name in this table of our column `ours`, or None.

        A name that the caller gave in `columns` must be there.
        """
        theirs = columns.get(ours)
        if theirs is None:
            return ours if ours in self.columns else None
        if theirs not in self.columns:
            raise InputError(
                f"{self.name}, column {theirs!r}", "missing", f"the column of each {ours}",
                nearest(theirs, self.columns),
            )  # fmt: skip
        return theirs

    def required(self, ours: str, columns: Mapping[str, str], *, otherwise: str = "") -> str:
        """Return the name in this table of our column `ours`, or say what is near it."""
        theirs = self.found(ours, columns)
        if theirs is not None:
            return theirs
        near = get_close_matches(ours, self.columns, n=1)
        if near:
            raise InputError(
                f"{self.name}, column {near[0]!r}", "unknown", f"a column {ours!r}",
                hint("did you mean {}?{}", repr(ours), otherwise),
            )  # fmt: skip
        raise InputError(
            f"{self.name}, column {ours!r}", f"missing among {listed(self.columns, most=8)}",
            f"a column {ours!r}",
            hint("say {}{}", Option("columns", {ours: "its name"}), otherwise),
        )  # fmt: skip

    def nonempty(self) -> "Table":
        """Return the table itself if it has rows."""
        if not len(self):
            raise InputError(
                self.name, "a header but no rows", "at least one row", "check the file"
            )
        return self


def unique_names(names: Sequence[str], *, where: str) -> None:
    """Raise if two columns have one name."""
    if len(set(names)) != len(names):
        twice = [name for name in dict.fromkeys(names) if list(names).count(name) > 1]
        raise InputError(
            where, f"columns {listed(twice)} more than once", "unique column names",
            "rename or remove them",
        )  # fmt: skip


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
            "table", f"a {type(frame).__name__}", "a dataframe of pandas, polars or pyarrow",
            "make a dataframe of it, or give a path to equipoise.io",
        ) from error  # fmt: skip
    eager = native.collect() if isinstance(native, nw.LazyFrame) else native
    names = [str(name).strip() for name in eager.columns]
    _refuse_index(nw.maybe_get_index(eager), names)
    unique_names(names, where="table")
    columns = (_arrow(series) for series in eager.iter_columns())
    return Table(name="table", columns=dict(zip(names, columns, strict=True))).nonempty()


def _refuse_index(index: Any, columns: Sequence[str]) -> None:
    """Raise if a pandas index holds ids that would be lost."""
    names = [name for name in getattr(index, "names", ()) if name is not None]
    text = getattr(index, "inferred_type", "integer") in ("string", "mixed")
    if set(names) & {*TIDY, *LONG} or ("item" not in columns and (names or text)):
        raise InputError(
            "table", f"an index with {listed(names) if names else 'names in it'}",
            "all data in columns", "call frame.reset_index() first",
        )  # fmt: skip


def _arrow(series: Any) -> Column:
    """Return one column as arrow; a column of mixed Python objects becomes text."""
    import pyarrow as pa

    try:
        return series.to_arrow()
    except (pa.ArrowException, TypeError, ValueError):
        missing = series.is_null().to_list()
        pairs = zip(series.to_list(), missing, strict=True)
        return pa.array([None if gone else _object_text(each) for each, gone in pairs])


def _object_text(value: Any) -> str:
    whole = isinstance(value, float) and value.is_integer()
    return f"{value:.0f}" if whole else str(value)
