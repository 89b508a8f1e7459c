"""Layouts of annotations: which one a table has, and wide tables and counts made tidy.

``tidy``: one row per vote, with a column ``label``.
``wide``: one row per item and one column per annotator; a blank cell is a missing vote.
``counts``: one row per item and one column per class, holding numbers of exchangeable votes.

A cell of a count matrix, shape (items, classes), becomes one row with a count; empty cells
become no row. The columns are the classes in their own order, except that a known pair (no/yes,
0/1, ...) is binary.
"""

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, choice, listed, meant
from equipoise.notices import Notice, Value
from equipoise.read.labels import pair_of
from equipoise.read.options import AnnotationOptions
from equipoise.read.tables import Table, from_frame, is_missing, numbers, words_of
from equipoise.read.tidy import tidy_annotations
from equipoise.wording import Option, hint

_LAYOUTS = ("tidy", "wide", "counts")
_WIDE = Option("layout", "wide")


def table_annotations(table: Table, options: AnnotationOptions) -> Annotations:
    """Turn a table in any layout into annotations."""
    layout = _guess_layout(table, options) if options.layout == "auto" else options.layout
    choice(f"{table.name}, layout", layout, _LAYOUTS)
    if layout == "tidy":
        return tidy_annotations(table, options)
    beside, others = _split_items(table, options)
    if layout == "counts":
        return _count_annotations(beside, _cells(table, others), others, options)
    if options.layout == "auto":
        first = table.column_of("item", options.columns) or next(iter(table.columns))
        text = (
            "there is no column 'label': read as a wide table, items in column {column!r}, "
            "annotators {annotators:names}"
        )
        values: dict[str, Value] = {"column": first, "annotators": others}
        beside = beside.noting(Notice("read_as_wide", text, (), values))
    return tidy_annotations(_melted(beside, table, others), replace(options, columns={}))


def count_annotations(
    matrix: Any, options: AnnotationOptions, *, items: Sequence[str] | None = None, name: str
) -> Annotations:
    """Turn an array or a dataframe of counts into annotations.

    Items and classes of an array are named by number unless told.

    Examples
    --------
    >>> matrix = np.array([[2, 0], [1, 1]])
    >>> counts = count_annotations(matrix, AnnotationOptions(), name="votes")
    >>> counts.item, counts.label, counts.count
    (array([0, 1, 1]), array([0, 0, 1]), array([2, 1, 1]))
    """
    import pyarrow as pa

    if not isinstance(matrix, np.ndarray | list | tuple):
        table = _named_frame(matrix, items)
        beside, others = _split_items(table, options)
        return _count_annotations(beside, _cells(table, others), others, options)
    array = np.asarray(matrix)
    if array.ndim != 2 or array.dtype.kind not in "iuf" or not array.size:
        raise InputError(
            name,
            f"an array of shape {array.shape} and type {array.dtype}",
            "numbers of votes, shape (items, classes)",
            "give one row per item",
        )
    rows = list(items) if items is not None else list(range(len(array)))
    classes = options.classes or tuple(str(code) for code in range(array.shape[1]))
    if (len(rows), len(classes)) != array.shape:
        raise InputError(
            name,
            f"an array of shape {array.shape}",
            f"({len(rows)}, {len(classes)})",
            "name every item and every class once",
        )
    beside = Table(name=name, columns={"item": pa.array([str(row) for row in rows])})
    return _count_annotations(beside, array.astype(np.float64), classes, options)


def _guess_layout(table: Table, options: AnnotationOptions) -> str:
    """Tell the layout by the columns; two readings of one table are an error."""
    if table.column_of("label", options.columns) is not None:
        return "tidy"
    votes = any(
        name in table.columns or name in options.columns for name in ("annotator", "worker")
    )
    if votes or get_close_matches("label", table.columns, cutoff=0.75):
        table.required("label", options.columns, otherwise=hint(" if not, say {}", _WIDE))
    _, others = _split_items(table, options)
    try:
        alike = _like_counts(_cells(table, others))
    except InputError:  # some cells are no numbers
        alike = False
    if alike:
        raise InputError(
            f"{table.name}, columns {listed(others)}",
            "whole numbers in every cell",
            "either labels or numbers of votes, and they could be both",
            hint(
                "say {} for numbers of votes, or {} for labels",
                Option("layout", "counts"),
                _WIDE,
            ),
        )
    return "wide"


def _like_counts(cells: Floats) -> bool:
    whole = np.isfinite(cells).all() and (cells >= 0).all() and (cells == np.floor(cells)).all()
    totals = cells.sum(axis=1)
    even = bool((totals == totals[0]).all()) and totals[0] > 1
    return bool(whole) and (even or bool((cells >= 10).any()))


def _cells(table: Table, columns: Sequence[str]) -> Floats:
    """Return all cells as numbers."""
    return np.column_stack([numbers(table, name) for name in columns])


def _split_items(table: Table, options: AnnotationOptions) -> tuple[Table, tuple[str, ...]]:
    """Separate item, task and group from the columns of annotators or classes."""
    theirs = {
        ours: table.column_of(ours, options.columns) for ours in ("item", "task", "group")
    }
    theirs["item"] = theirs["item"] or next(iter(table.columns))
    known = {ours: name for ours, name in theirs.items() if name is not None}
    others = tuple(name for name in table.columns if name not in known.values())
    if not others:
        raise InputError(
            table.name,
            f"only the columns {listed(table.columns)}",
            "a column 'label', or one column per annotator",
            "check the header and delimiter",
        )
    beside = {ours: table.columns[name] for ours, name in known.items()}
    return replace(table, columns=beside), others


def _melted(beside: Table, table: Table, annotators: tuple[str, ...]) -> Table:
    """Make a row of every cell, item by item."""
    import pyarrow as pa

    size = len(annotators)
    words: list[str] = []
    codes = np.empty((len(table), size), dtype=np.int64)
    for number, name in enumerate(annotators):
        each, some = words_of(table, name)
        codes[:, number] = np.where(each < 0, -1, each + len(words))
        words += some
    flat = codes.ravel()
    label = pa.DictionaryArray.from_arrays(
        pa.array(flat, mask=flat < 0), pa.array(words, pa.large_string())
    )
    who = pa.DictionaryArray.from_arrays(
        np.tile(np.arange(size), len(table)), pa.array(annotators)
    )
    source = np.repeat(np.arange(len(table)), size)
    columns = {name: column.take(source) for name, column in beside.columns.items()}
    place = beside.place
    return replace(
        beside,
        columns={**columns, "annotator": who, "label": label},
        place=lambda row: place(row // size),
    )


def _named_frame(frame: Any, items: Sequence[str] | None) -> Table:
    """Take a dataframe, whose items the caller may name."""
    import pyarrow as pa

    table = from_frame(frame)
    if items is None:
        return table
    if len(items) != len(table) or "item" in table.columns:
        raise InputError(
            "counts, items",
            f"{len(items)} names for {len(table)} rows",
            "one name per row, and no column 'item'",
            "name the items once",
        )
    names = pa.array([str(item) for item in items])
    return replace(table, columns={"item": names, **table.columns})


def _count_annotations(
    beside: Table, matrix: Floats, classes: Sequence[str], options: AnnotationOptions
) -> Annotations:
    """Read a count matrix; `beside` has the columns item, task and group of its rows."""
    import pyarrow as pa

    _check_classes(beside, classes, options)
    _check_counts(beside, matrix, classes)
    row, column = np.nonzero(matrix)
    label = pa.DictionaryArray.from_arrays(column, pa.array(classes))
    columns = {name: each.take(row) for name, each in beside.columns.items()}
    columns |= {"label": label, "count": pa.array(matrix[row, column].astype(np.int64))}
    place = beside.place
    table = replace(beside, columns=columns, place=lambda number: place(int(row[number])))
    pair = len(classes) == 2 and pair_of(classes) is not None
    ordered = options.kind == "nominal" or (options.kind is None and not pair)
    if options.classes is None and ordered:
        options = replace(options, classes=tuple(classes), kind="nominal")
    return tidy_annotations(table, replace(options, columns={}))


def _check_classes(beside: Table, classes: Sequence[str], options: AnnotationOptions) -> None:
    """Every column must be a class, and have a name."""
    if is_missing(classes).any():
        raise InputError(
            f"{beside.name}, column names",
            f"{listed(classes)}",
            "the name of every class",
            "name the column",
        )
    for name in classes:
        if options.classes is not None and name not in options.classes:
            raise InputError(
                f"{beside.name}, column {name!r}",
                "not a class",
                f"one of {listed(options.classes, most=8)}",
                meant(name, options.classes),
            )


def _check_counts(beside: Table, matrix: Floats, classes: Sequence[str]) -> None:
    """Every cell must be a number of votes, and every item must have some."""
    bad = ~np.isfinite(matrix) | (matrix < 0) | (matrix != np.floor(matrix))
    if bad.any():
        row, column = (int(spot) for spot in np.argwhere(bad)[0])
        cell = matrix[row, column]
        raise InputError(
            f"{beside.where(row)}, class {classes[column]!r}",
            "a blank count" if np.isnan(cell) else f"count {cell:g}",
            "a non-negative whole number",
            hint("correct it, or say {} if it is a label", _WIDE),
        )
    silent = np.flatnonzero(~matrix.any(axis=1))
    if len(silent):
        names = [str(beside.columns["item"][int(row)].as_py()) for row in silent[:4]]
        more = f" and {len(silent) - 3} more" if len(silent) > 3 else ""
        raise InputError(
            beside.where(silent[0]),
            f"no votes for items {listed(names[:3])}{more}",
            "at least one vote per item",
            "leave out these items",
        )
