"""What every table of annotations must satisfy; run once, when the table is made."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from equipoise.arrays import InputError, Ints, frozen, require_unique

if TYPE_CHECKING:
    from equipoise.annotations import Annotations

COLUMNS = (
    "item", "label", "value", "annotator", "task", "rank", "reading", "count", "weight",
    "confidence", "timestamp", "duration_ms", "is_gold", "group",
)  # fmt: skip
WHOLE = ("item", "label", "annotator", "task", "rank", "reading", "count", "group")


def checked_column(name: str, column: Any, table: "Annotations") -> Any:
    """Freeze one column after checking its length."""
    expected = len(table.items) if name == "group" else len(table.item)
    array = np.asarray(column)
    if array.shape != (expected,):
        raise InputError(
            f"annotations, column {name}",
            f"shape {array.shape}",
            f"({expected},)",
            "give one value per row (group: one per item)",
        )
    if name in WHOLE and not np.issubdtype(array.dtype, np.integer):
        raise InputError(
            f"annotations, column {name}",
            f"numbers of type {array.dtype}",
            "whole numbers",
            "give integer codes, counts or ranks",
        )
    if name == "is_gold" and np.isin(array, (0, 1)).all():
        array = array.astype(bool)
    if name == "is_gold" and array.dtype != np.bool_:
        raise InputError(
            "annotations, column is_gold", f"values of type {array.dtype}", "true or false",
            "compare with what marks a gold row in your data",
        )  # fmt: skip
    return frozen(array)


def check_codes(table: "Annotations") -> None:
    """Every code must point into its vocabulary, and names must be unique."""
    pairs: list[tuple[str, Ints | None, Sequence[str] | None]] = [
        ("item", table.item, table.items),
        ("annotator", table.annotator, table.annotators),
        ("label", table.label, table.classes),
        ("task", table.task, table.tasks),
        ("group", table.group, table.groups),
    ]
    for name, codes, names in pairs:
        if names is not None:
            require_unique(names, where=f"annotations, names of {name}")
        if codes is None:
            continue
        if names is None or codes.min() < 0 or codes.max() >= len(names):
            raise InputError(
                f"annotations, column {name}", f"codes {codes.min()} to {codes.max()}",
                f"0 to {len(names or ()) - 1}", f"name every {name} that the codes use",
            )  # fmt: skip
    if (table.annotators is None) != (table.annotator is None):
        raise InputError(
            "annotations, annotators", "names without codes or codes without names",
            "both or neither", "give both, or neither for anonymous votes",
        )  # fmt: skip


def check_numbers(table: "Annotations") -> None:
    """Labels or values must be there, and the optional numbers must make sense."""
    missing = table.value is None if table.kind == "interval" else table.label is None
    if missing:
        what = "value" if table.kind == "interval" else "label"
        raise InputError(
            f"annotations of kind {table.kind}", f"no {what} column", f"a {what} per row",
            "give it, or choose another kind",
        )  # fmt: skip
    if table.kind == "binary" and len(table.classes) != 2:
        raise InputError(
            "annotations of kind binary", f"{len(table.classes)} classes", "two",
            "name both classes, the positive one last, or choose kind nominal",
        )  # fmt: skip
    for name, low, high in (
        ("value", -np.inf, np.inf),
        ("weight", 1e-100, 1e100),
        ("count", 1, np.inf),
        ("confidence", 0, 1),
        ("duration_ms", 0, np.inf),
        ("rank", 0, np.inf),
    ):
        column = getattr(table, name)
        optional = name in ("confidence", "duration_ms")  # nan: not known for this row
        if column is None:
            continue
        bad = ~np.isfinite(column) | (column < low) | (column > high)
        if optional:
            bad &= ~np.isnan(column)
        if bad.any():
            raise InputError(
                f"annotations, column {name}, row {int(np.flatnonzero(bad)[0])}",
                f"{column[bad][0]}", _RANGES[name], "correct or leave out the row",
            )  # fmt: skip


_RANGES = {
    "value": "a finite number",
    "weight": "a positive number, neither tiny nor huge",
    "count": "a whole number of at least 1",
    "confidence": "a number between 0 and 1",
    "duration_ms": "a non-negative number",
    "rank": "a whole number from 0",
}


def check_readings(table: "Annotations") -> None:
    """A ranking names no class twice."""
    if table.rank is None or table.reading is None or table.label is None:
        raise InputError(
            "annotations of kind ranking", "no rank or reading column", "both",
            "give the rank of each class and the reading each row belongs to",
        )  # fmt: skip
    key = table.reading.astype(np.int64) * len(table.classes) + table.label
    order = np.argsort(key, kind="stable")
    twice = np.flatnonzero(np.diff(key[order]) == 0)
    if len(twice):
        row = order[twice[0] + 1]
        raise InputError(
            f"annotations, item {table.items[table.item[row]]!r}",
            f"class {table.classes[table.label[row]]!r} twice in one ranking",
            "each class at most once", "remove the later mention",
        )  # fmt: skip


def a_number(threshold: str | float) -> float:
    """Read a threshold on a scale of ratings."""
    try:
        value = float(threshold)
    except ValueError:
        value = float("nan")
    if value != value:
        raise InputError(
            "annotations, threshold", f"{threshold!r}", "a number", "give one on the scale"
        )
    return value
