"""Count matrices, shape (items, classes): each cell is a number of exchangeable votes.

A cell becomes one row with a count; empty cells become no row. The columns are the
classes in their own order, except that a known pair (no/yes, 0/1, ...) is binary.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from equipoise.arrays import Floats, InputError, listed, meant
from equipoise.coding.columns import is_missing, numbers
from equipoise.coding.labels import pair_of
from equipoise.coding.options import AnnotationOptions
from equipoise.coding.tables import Table, from_frame
from equipoise.coding.votes import vote_columns
from equipoise.wording import Option, hint


def matrix_columns(
    matrix: Any, how: AnnotationOptions, *, items: Sequence[str] | None = None, name: str
) -> dict[str, Any]:
    """Turn an array or a dataframe of counts into the arguments of `Annotations`.

    Items and classes of an array are named by number unless told.

    Examples
    --------
    >>> counts = matrix_columns(np.array([[2, 0], [1, 1]]), AnnotationOptions(), name="votes")
    >>> counts["item"], counts["label"], counts["count"]
    (array([0, 1, 1]), array([0, 0, 1]), array([2, 1, 1]))
    """
    import pyarrow as pa

    if not isinstance(matrix, np.ndarray | list | tuple):
        return vote_columns(*table_counts(_framed(matrix, items), how))
    array = np.asarray(matrix)
    if array.ndim != 2 or array.dtype.kind not in "iuf" or not array.size:
        raise InputError(
            name, f"an array of shape {array.shape} and type {array.dtype}",
            "numbers of votes, shape (items, classes)", "give one row per item",
        )  # fmt: skip
    rows = list(items) if items is not None else list(range(len(array)))
    classes = how.classes or tuple(str(code) for code in range(array.shape[1]))
    if (len(rows), len(classes)) != array.shape:
        raise InputError(
            name, f"an array of shape {array.shape}", f"({len(rows)}, {len(classes)})",
            "name every item and every class once",
        )  # fmt: skip
    beside = Table(name=name, columns={"item": pa.array([str(row) for row in rows])})
    return vote_columns(*count_votes(beside, array.astype(np.float64), classes, how))


def table_counts(table: Table, how: AnnotationOptions) -> tuple[Table, AnnotationOptions]:
    """Make a tidy table of a table of counts, and say how to read it."""
    beside, classes = split_items(table, how)
    matrix = np.column_stack([numbers(table, name) for name in classes])
    return count_votes(beside, matrix, classes, how)


def split_items(table: Table, how: AnnotationOptions) -> tuple[Table, tuple[str, ...]]:
    """Separate item, task and group from the columns of annotators or classes."""
    theirs = {ours: table.found(ours, how.columns) for ours in ("item", "task", "group")}
    theirs["item"] = theirs["item"] or next(iter(table.columns))
    known = {ours: name for ours, name in theirs.items() if name is not None}
    others = tuple(name for name in table.columns if name not in known.values())
    if not others:
        raise InputError(
            table.name, f"only the columns {listed(table.columns)}",
            "a column 'label', or one column per annotator", "check the header and delimiter",
        )  # fmt: skip
    beside = {ours: table.columns[name] for ours, name in known.items()}
    return replace(table, columns=beside), others


def _framed(frame: Any, items: Sequence[str] | None) -> Table:
    """Take a dataframe, whose items the caller may name."""
    import pyarrow as pa

    table = from_frame(frame)
    if items is None:
        return table
    if len(items) != len(table) or "item" in table.columns:
        raise InputError(
            "counts, items", f"{len(items)} names for {len(table)} rows",
            "one name per row, and no column 'item'", "name the items once",
        )  # fmt: skip
    names = pa.array([str(item) for item in items])
    return replace(table, columns={"item": names, **table.columns})


def count_votes(
    beside: Table, matrix: Floats, classes: Sequence[str], how: AnnotationOptions
) -> tuple[Table, AnnotationOptions]:
    """Make a tidy table of a count matrix, and say how to read it.

    Parameters
    ----------
    beside
        The columns item, task and group of the matrix's rows.
    """
    import pyarrow as pa

    _check_classes(beside, classes, how)
    _check_cells(beside, matrix, classes)
    row, column = np.nonzero(matrix)
    label = pa.DictionaryArray.from_arrays(column, pa.array(classes))
    columns = {name: each.take(row) for name, each in beside.columns.items()}
    columns |= {"label": label, "count": pa.array(matrix[row, column].astype(np.int64))}
    place = beside.place
    table = replace(beside, columns=columns, place=lambda number: place(int(row[number])))
    pair = len(classes) == 2 and pair_of(classes) is not None
    ordered = how.kind == "nominal" or (how.kind is None and not pair)
    if how.classes is None and ordered:
        how = replace(how, classes=tuple(classes), kind="nominal")
    return table, replace(how, columns={})


def _check_classes(beside: Table, classes: Sequence[str], how: AnnotationOptions) -> None:
    """Every column must be a class, and have a name."""
    if is_missing(classes).any():
        raise InputError(
            f"{beside.name}, column names", f"{listed(classes)}", "the name of every class",
            "name the column",
        )  # fmt: skip
    for name in classes:
        if how.classes is not None and name not in how.classes:
            raise InputError(
                f"{beside.name}, column {name!r}", "not a class",
                f"one of {listed(how.classes, most=8)}", meant(name, how.classes),
            )  # fmt: skip


def _check_cells(beside: Table, matrix: Floats, classes: Sequence[str]) -> None:
    """Every cell must be a number of votes, and every item must have some."""
    bad = ~np.isfinite(matrix) | (matrix < 0) | (matrix != np.floor(matrix))
    if bad.any():
        row, column = (int(spot) for spot in np.argwhere(bad)[0])
        cell = matrix[row, column]
        raise InputError(
            f"{beside.where(row)}, class {classes[column]!r}",
            "a blank count" if np.isnan(cell) else f"count {cell:g}",
            "a non-negative whole number",
            hint("correct it, or say {} if it is a label", Option("layout", "wide")),
        )  # fmt: skip
    silent = np.flatnonzero(~matrix.any(axis=1))
    if len(silent):
        names = [str(beside.columns["item"][int(row)].as_py()) for row in silent[:4]]
        more = f" and {len(silent) - 3} more" if len(silent) > 3 else ""
        raise InputError(
            beside.where(silent[0]), f"no votes for items {listed(names[:3])}{more}",
            "at least one vote per item", "leave out these items",
        )  # fmt: skip
