"""Layouts of annotations: which one a table has, and wide tables made tidy.

``tidy``: one row per vote, with a column ``label``.
``wide``: one row per item and one column per annotator; a blank cell is a missing vote.
``counts``: one row per item and one column per class, holding numbers of votes.
"""

from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from equipoise.arrays import Floats, InputError, choice, listed
from equipoise.coding.columns import numbers, words_of
from equipoise.coding.counts import split_items, table_counts
from equipoise.coding.options import AnnotationOptions
from equipoise.coding.tables import Table, from_frame
from equipoise.coding.votes import vote_columns
from equipoise.wording import Option, hint

LAYOUTS = ("tidy", "wide", "counts")
WIDE = Option("layout", "wide")


def frame_columns(frame: Any, how: AnnotationOptions) -> dict[str, Any]:
    """Turn a dataframe in any layout into the arguments of `Annotations`."""
    return table_columns(from_frame(frame), how)


def table_columns(table: Table, how: AnnotationOptions) -> dict[str, Any]:
    """Turn a table in any layout into the arguments of `Annotations`."""
    layout = _guessed(table, how) if how.layout == "auto" else how.layout
    choice(f"{table.name}, layout", layout, LAYOUTS)
    if layout == "tidy":
        return vote_columns(table, how)
    if layout == "counts":
        return vote_columns(*table_counts(table, how))
    beside, others = split_items(table, how)
    if how.layout == "auto":
        first = table.found("item", how.columns) or next(iter(table.columns))
        beside = beside.saying(
            f"there is no column 'label': read as a wide table, items in column {first!r}, "
            f"annotators {listed(others)}"
        )
    return vote_columns(_melted(beside, table, others), replace(how, columns={}))


def _guessed(table: Table, how: AnnotationOptions) -> str:
    """Tell the layout by the columns; two readings of one table are an error."""
    if table.found("label", how.columns) is not None:
        return "tidy"
    votes = any(
        name in table.columns or name in how.columns for name in ("annotator", "worker")
    )
    if votes or get_close_matches("label", table.columns, cutoff=0.75):
        table.required("label", how.columns, otherwise=hint(" if not, say {}", WIDE))
    _, others = split_items(table, how)
    cells = _cells(table, others)
    if cells is not None and _like_counts(cells):
        raise InputError(
            f"{table.name}, columns {listed(others)}", "whole numbers in every cell",
            "either labels or numbers of votes, and they could be both",
            hint(
                "say {} for numbers of votes, or {} for labels",
                Option("layout", "counts"),
                WIDE,
            ),
        )  # fmt: skip
    return "wide"


def _like_counts(cells: Floats) -> bool:
    whole = np.isfinite(cells).all() and (cells >= 0).all() and (cells == np.floor(cells)).all()
    totals = cells.sum(axis=1)
    even = bool((totals == totals[0]).all()) and totals[0] > 1
    return bool(whole) and (even or bool((cells >= 10).any()))


def _cells(table: Table, others: tuple[str, ...]) -> Floats | None:
    """Return all cells as numbers, or None if some are not."""
    try:
        return np.column_stack([numbers(table, name) for name in others])
    except InputError:
        return None


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
