"""Predictions in any layout become the arguments of one `Predictions` per model and task.

``long``: item, score, and optionally model and task.
``wide``: item, optionally task, and one column per model.
``classes``: item and one column of probabilities per class, optionally model and task.
``tasks``: item, optionally model, and one column per task; never guessed.

Long and wide tables whose cells are all classes of the annotations hold decisions.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from equipoise.arrays import Floats, InputError, listed
from equipoise.coding.answers import Answers, Rows
from equipoise.coding.columns import numbers
from equipoise.coding.decisions import decided
from equipoise.coding.options import TIDY, PredictionOptions
from equipoise.coding.tables import Table, from_frame
from equipoise.wording import Option, hint

RESERVED = (set(TIDY) - {"count"}) | {"truth", "worker"}  # never a model
PREFIXES = ("", "prob_", "p_", "proba_", "probability_")


def frame_scores(frame: Any, how: PredictionOptions) -> list[dict[str, Any]]:
    """Turn a dataframe into the arguments of one `Predictions` per model and task.

    Examples
    --------
    >>> import pyarrow
    >>> frame = pyarrow.table({"item": ["a", "b"], "resnet": [0.2, 0.9]})
    >>> frame_scores(frame, PredictionOptions())
    [{'model': 'resnet', 'items': ('a', 'b'), 'values': array([0.2, 0.9]), ...}]
    """
    return table_scores(from_frame(frame), how)


def table_scores(
    table: Table, how: PredictionOptions, *, model: str = "model"
) -> list[dict[str, Any]]:
    """Turn a table into the arguments of one `Predictions` per model and task.

    `model` is the name where neither the table nor the caller gives one.
    """
    rows = Rows.of(table, how)
    layout = _guessed(rows, how) if how.layout == "auto" else how.layout
    _refuse_names(rows, how, layout)
    who = how.model or model
    if layout == "wide":
        answers = _wide(rows, how)
    elif layout == "tasks":
        answers = [Answers(rows.numbers(column, who), who, column) for column in rows.others]
    else:
        answers = [_long(rows, how, who) if layout == "long" else _classes(rows, how, who)]
    return [part for each in answers for part in rows.parts(each)]


def array_scores(
    values: Any, how: PredictionOptions, *, name: str, model: str
) -> dict[str, Any]:
    """Take scores, shape (items,), or probabilities, shape (items, classes), of one model."""
    array = np.asarray(values)
    if array.ndim not in (1, 2) or array.dtype.kind not in "iuf" or not array.size:
        raise InputError(
            name, f"an array of shape {array.shape} and type {array.dtype}",
            "numbers, shape (items,) or (items, classes)", "save one model's predictions",
        )  # fmt: skip
    if how.layout not in ("auto", "long" if array.ndim == 1 else "classes") or how.columns:
        raise InputError(
            name, f"layout {how.layout!r} or columns for an array of shape {array.shape}",
            "layout 'auto' and no columns", "leave them out",
        )  # fmt: skip
    classes: Sequence[str] = ()
    if array.ndim == 2:
        classes = how.classes or [str(code) for code in range(array.shape[1])]
    return {
        "model": how.model or model,
        "items": tuple(str(row) for row in range(len(array))),
        "values": array,
        "classes": tuple(classes),
        "task": how.task or "",
    }


def _guessed(rows: Rows, how: PredictionOptions) -> str:
    """Tell the layout by the columns."""
    if rows.table.found("score", how.columns) is not None:
        return "long"
    if get_close_matches("score", rows.others, cutoff=0.75):
        rows.table.required(
            "score", how.columns, otherwise=hint(" if not, say {}", Option("layout"))
        )
    if how.classes is not None and _about_classes(rows.others, how.classes):
        return "classes"
    marked = _common_prefix(rows.others) != "" or rows.model is not None
    if (len(rows.others) > 2 or (marked and len(rows.others) > 1)) and _sums_to_one(rows):
        return "classes"
    if rows.model is not None:
        raise InputError(
            f"{rows.table.name}, columns {listed(rows.others)}",
            "a model per row but no 'score', and no rows that sum to 1",
            "columns that can be told apart",
            hint(
                "say {} or {}, or {}",
                Option("layout", "classes"),
                Option("layout", "tasks"),
                Option("columns", {"score": "its name"}),
            ),
        )  # fmt: skip
    return "wide"


def _sums_to_one(rows: Rows) -> bool:
    try:
        cells = np.column_stack([numbers(rows.table, name) for name in rows.others])
    except InputError:
        return False
    inside = bool(((cells >= 0) & (cells <= 1)).all())
    return inside and bool((np.abs(cells.sum(axis=1) - 1) <= 1e-3).all())


def _prefix(columns: Sequence[str], classes: Sequence[str]) -> str | None:
    """Return the prefix with which all classes are columns."""
    return next((p for p in PREFIXES if {p + name for name in classes} <= set(columns)), None)


def _about_classes(columns: Sequence[str], classes: Sequence[str]) -> bool:
    """Whether all classes are columns, or so many that the rest must have been forgotten."""
    most = max(len({p + name for name in classes} & set(columns)) for p in PREFIXES)
    return most == len(classes) or (most > 1 and 2 * most > len(columns))


def _common_prefix(columns: Sequence[str]) -> str:
    """Return the prefix such as ``prob_`` that all columns have, or nothing."""
    return next((p for p in PREFIXES[1:] if all(name.startswith(p) for name in columns)), "")


def _refuse_names(rows: Rows, how: PredictionOptions, layout: str) -> None:
    """A name from the caller must not contradict one in the table."""
    models = rows.model is not None or (layout == "wide" and len(rows.others) > 1)
    tasks = rows.task is not None or layout == "tasks"
    for what, given, inside in (("model", how.model, models), ("task", how.task, tasks)):
        if given is not None and inside:
            raise InputError(
                f"{rows.table.name}, {what}={given!r}", f"a table that names its own {what}s",
                f"a table of one {what}", f"leave out {what}, or split the table",
            )  # fmt: skip
    if rows.task is not None and layout == "tasks":
        raise InputError(
            f"{rows.table.name}, layout 'tasks'", "a column 'task'", "one column per task",
            "remove the column or choose another layout",
        )  # fmt: skip
    if rows.model is not None and layout == "wide":
        raise InputError(
            f"{rows.table.name}, layout 'wide'", "a column 'model'", "one column per model",
            "remove the column or choose another layout",
        )  # fmt: skip


def _long(rows: Rows, how: PredictionOptions, model: str) -> Answers:
    column = rows.table.required("score", how.columns)
    return _answers(rows, how, {model: column})[0]


def _answers(rows: Rows, how: PredictionOptions, columns: Mapping[str, str]) -> list[Answers]:
    """What each model says in its column: scores, or decisions for one of the classes."""
    task = how.task or ""
    chosen = decided(rows.table, list(columns.values()), how.classes)
    if chosen is None:
        return [Answers(rows.numbers(each, who), who, task) for who, each in columns.items()]
    classes = how.classes or ()
    return [Answers(one, who, task, classes) for who, one in zip(columns, chosen, strict=True)]


def _wide(rows: Rows, how: PredictionOptions) -> list[Answers]:
    """Columns are models; a single one may be renamed by the caller."""
    for column in rows.others:
        if not column.strip() or column.lower().startswith("unnamed:"):
            raise InputError(
                f"{rows.table.name}, column {column!r}", "a column without a name",
                "one named column per model",
                "remove it (a dataframe's index: write the file with index=False), or name it",
            )  # fmt: skip
        if column in RESERVED:
            raise InputError(
                f"{rows.table.name}, column {column!r}", "a name of annotations",
                "one column of scores per model", "remove it, or rename it if it is a model",
            )  # fmt: skip
    return _answers(rows, how, {how.model or column: column for column in rows.others})


def _classes(rows: Rows, how: PredictionOptions, model: str) -> Answers:
    """Columns are classes, with or without a prefix such as ``prob_``."""
    if how.classes is None:
        prefix = _common_prefix(rows.others)
        classes = tuple(name.removeprefix(prefix) for name in rows.others)
    else:
        found = _prefix(rows.others, how.classes)
        if found is None:
            missing = [name for name in how.classes if name not in rows.others]
            raise InputError(
                f"{rows.table.name}, classes", f"no columns for {listed(missing)}",
                f"a column for each of {listed(how.classes, most=8)}",
                "correct the header or leave out classes",
            )  # fmt: skip
        prefix, classes = found, how.classes
    matrix: Floats = np.column_stack([rows.numbers(prefix + name, model) for name in classes])
    return Answers(matrix, model, how.task or "", classes)
