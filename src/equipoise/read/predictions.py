"""Predictions in any layout and format, one `Predictions` per model and task.

``long``: item, score, and optionally model and task.
``wide``: item, optionally task, and one column per model.
``classes``: item and one column of probabilities per class, optionally model and task.
``tasks``: item, optionally model, and one column per task; guessed where the columns are the
tasks of the annotations. Without a column of items, rows are numbered from 0.

Columns of numbers are read against the ids of their rows, so that every fault can be named by
file, row, model and item, and are then split into one array per model and task.

Decisions: a long or wide table whose every cell is a class of the annotations says which class
a model chose, not how much of anything it saw: the class '4' is not twice the class '2'. They
become class probabilities of 0 and 1. With two classes the names 0 and 1 are scores as well,
and stay scores. Words are decisions also where the classes are not known: then they are the
classes.

Predictions read for the annotations that they answer: their classes, tasks and items.

Where the predictions are probabilities of more classes than anybody named, the classes that
nobody named are added to the annotations, unless the caller named all of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from equipoise.read.annotations import read_table
from equipoise.read.canonical import is_study, study_of
from equipoise.read.files import NUMPY, AnyPath, content, listed_paths, read_array
from equipoise.read.headers import prediction_headers, refuse_swapped_items, require_header
from equipoise.read.options import TIDY, ScoreFormat
from equipoise.read.tables import (
    ITEMS_BY_ROW,
    CodedNames,
    Table,
    array_table,
    code_ids,
    code_names,
    is_missing,
    joint_codes,
    numbers,
    repeated_rows,
    row_numbers,
    word_number,
)
from equipoise.read.values import alike_notices
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Floats, InputError, Ints, listed, meant, unknown_name
from equipoise.types.notices import Notice, notice
from equipoise.types.predictions import Predictions
from equipoise.types.words import Option, hint

_RESERVED = (set(TIDY) - {"count"}) | {"truth", "worker"}  # never a model
PREFIXES = ("", "prob_", "p_", "proba_", "probability_")
_FEWEST_CLASSES = 3  # below which 0 and 1 are scores


class PredictionsRead(NamedTuple):
    """Predictions, what to say of how they were read, and the layout of every file."""

    predictions: tuple[Predictions, ...]
    notices: tuple[Notice, ...] = ()
    layouts: tuple[str, ...] = ()


def read_predictions(
    path_or_paths: AnyPath | Sequence[AnyPath], **keywords: Any
) -> tuple[Predictions, ...]:
    """Read predictions from CSV, TSV, Parquet or NumPy files, also with ``.gz``.

    Parameters
    ----------
    path_or_paths
        One file or several; a folder stands for the tables in it. A file of one model that
        does not name it gives it its stem.
    **keywords
        See `equipoise.read.options.ScoreFormat`: `layout`, `columns`, `classes`,
        `tasks`, `model`, `task`.

    Returns
    -------
    tuple of Predictions
        One per model and task, in the order of the files and of their rows.

    Raises
    ------
    InputError
        If a file or a row of it cannot be used, or if two files give the same model and
        task; the message names model, item and row.
    """
    return predictions_read(path_or_paths, **keywords).predictions


def predictions_read(
    path_or_paths: AnyPath | Sequence[AnyPath], **keywords: Any
) -> PredictionsRead:
    """As `read_predictions`, with what there is to say of it."""
    options = ScoreFormat.of(keywords)
    paths = listed_paths(path_or_paths)
    if len(paths) > 1 and options.model is not None:
        raise InputError(
            "predictions",
            f"{len(paths)} files and model={options.model!r}",
            "a name for one file only",
            "leave out model; each file is named by its stem",
        )
    everything: list[Predictions] = []
    notices: list[Notice] = []
    layouts: list[str] = []
    origin: dict[tuple[str, str], str] = {}
    for path in paths:
        read = _read_file(path, options)
        for prediction in read.predictions:
            key = (prediction.model, prediction.task)
            if key in origin:
                raise InputError(
                    f"{path}, {prediction.where}",
                    f"already given by {origin[key]}",
                    "each model and task once",
                    "rename one of the models",
                )
            everything.append(prediction)
        notices += read.notices
        layouts += read.layouts
        origin |= {
            (prediction.model, prediction.task): str(path) for prediction in read.predictions
        }
    notices += alike_notices(
        "models", tuple(dict.fromkeys(prediction.model for prediction in everything))
    )
    return PredictionsRead(tuple(everything), tuple(dict.fromkeys(notices)), tuple(layouts))


def prediction_columns(path: AnyPath) -> tuple[str, ...]:
    """Names of the columns of a table; none for an array."""
    file = content(path)
    return () if file.suffix in NUMPY else tuple(read_table(file, *NUMPY).columns)


def table_predictions(
    table: Table, options: ScoreFormat, *, model: str = "model"
) -> PredictionsRead:
    """Turn a table into one `Predictions` per model and task, with what there is to say of it.

    `model` is the name where neither the table nor the caller gives one.

    Examples
    --------
    >>> import pyarrow
    >>> from equipoise.read.tables import from_frame
    >>> table = from_frame(pyarrow.table({"item": ["a", "b"], "resnet": [0.2, 0.9]}))
    >>> table_predictions(table, ScoreFormat()).predictions
    (Predictions('resnet', 2 items, scores),)
    >>> chosen = from_frame(pyarrow.table({"item": ["a", "b"], "cnn": [2, 0]}))
    >>> three = ScoreFormat(classes=("0", "1", "2"))
    >>> table_predictions(chosen, three).predictions[0].values
    array([[0., 0., 1.],
           [1., 0., 0.]])
    >>> table_predictions(chosen, ScoreFormat(classes=("0", "1"))).predictions[0].values
    array([2., 0.])
    """
    headers = prediction_headers(table, options)
    if options.layout == "auto":
        require_header(table, headers.columns)
    table, options = table.noting(*headers.notices), replace(options, columns=headers.columns)
    rows = _Rows.of(table, options)
    layout = _guess_layout(rows, options) if options.layout == "auto" else options.layout
    _refuse_names(rows, options, layout)
    who = options.model or model
    notices = rows.table.notices
    if layout == "long":
        answers = _scores_or_decisions(
            rows, options, {who: table.required("score", options.columns)}
        )
    elif layout == "wide":
        answers = _by_model(rows, options)
    elif layout == "tasks":
        answers, task_notices = _by_task(rows, options, who)
        notices += task_notices
    else:
        answers = [_by_class(rows, options, who)]
    parts = tuple(part for answer in answers for part in rows.split(answer))
    return PredictionsRead(parts, notices, (layout,))


def _read_file(path: AnyPath, options: ScoreFormat) -> PredictionsRead:
    file = content(path)
    if is_study(file):
        return PredictionsRead(study_of(file)[1], (), ("study",))
    if file.suffix not in NUMPY:
        return table_predictions(read_table(file, *NUMPY), options, model=file.stem)
    array = read_array(file)
    if _is_tasks(np.asarray(array), options):
        table = array_table(array, file.name, options.tasks)
        return table_predictions(table, replace(options, layout="tasks"), model=file.stem)
    prediction = _from_array(array, options, name=file.name, model=file.stem)
    return PredictionsRead((prediction,), (), ("classes" if prediction.classes else "long",))


def _is_tasks(array: Any, options: ScoreFormat) -> bool:
    """Whether the columns of an array are tasks: as many, and no probabilities of classes."""
    if options.layout == "tasks":
        return True
    tasks = options.tasks or ()
    if options.layout != "auto" or array.ndim != 2 or len(tasks) != array.shape[1]:
        return False
    if len(tasks) < 2 or len(options.classes or ()) != len(tasks):
        return len(tasks) > 1
    return not bool(np.allclose(array.sum(axis=1), 1, atol=1e-3))


def _from_array(values: Any, options: ScoreFormat, *, name: str, model: str) -> Predictions:
    """Take scores, shape (items,), or probabilities, shape (items, classes), of one model."""
    array = np.asarray(values)
    if array.ndim not in (1, 2) or array.dtype.kind not in "iuf" or not array.size:
        raise InputError(
            name,
            f"an array of shape {array.shape} and type {array.dtype}",
            "numbers, shape (items,), (items, classes) or (items, tasks)",
            "save one model's predictions",
        )
    layouts = ("auto", "long" if array.ndim == 1 else "classes")
    if options.layout not in layouts or options.columns:
        raise InputError(
            name,
            f"layout {options.layout!r} or columns for an array of shape {array.shape}",
            "layout 'auto' and no columns",
            "leave them out",
        )
    classes: Sequence[str] = ()
    if array.ndim == 2:
        classes = options.classes or [str(code) for code in range(array.shape[1])]
    return Predictions(
        model=options.model or model,
        items=tuple(str(row) for row in range(len(array))),
        values=array,
        classes=tuple(classes),
        task=options.task or "",
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Answers:
    """One column of scores, or one matrix of probabilities, before it is split.

    Attributes
    ----------
    values
        Shape (rows,) or (rows, classes).
    model, task
        Who answers which question, for rows that do not say so themselves.
    classes
        Names of the classes for probabilities; empty for scores.
    """

    values: Floats
    model: str
    task: str = ""
    classes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The ids of every row, and the names of the columns beside them.

    Attributes
    ----------
    table
        Where the rows come from.
    item, task, model
        Codes of the ids; None where the table has no such column.
    others
        Names of the columns that are not ids.
    """

    table: Table
    item: CodedNames
    task: CodedNames | None
    model: CodedNames | None
    others: tuple[str, ...]

    @classmethod
    def of(cls, table: Table, options: ScoreFormat) -> "_Rows":
        """Find the columns that name things, and code them."""
        table = _numbered(table, options)
        item = table.required("item", options.columns)
        task, model = (table.column_of(ours, options.columns) for ours in ("task", "model"))
        others = tuple(name for name in table.columns if name not in (item, task, model))
        if not others:
            raise InputError(
                table.name,
                "no column of predictions",
                "a column of scores beside the items",
                "check the header and the delimiter",
            )

        def coded(column: str, ours: str) -> CodedNames:
            return code_ids(table, column, ours=ours, of="prediction")

        return cls(
            table,
            coded(item, "item"),
            None if task is None else coded(task, "task"),
            None if model is None else coded(model, "model"),
            others,
        )

    def numbers(self, column: str, model: str) -> Floats:
        """Read a column of finite numbers."""
        values = numbers(self.table, column, lambda row: self.where(row, model))
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            got = "blank or nan" if np.isnan(values[bad[0]]) else f"{values[bad[0]]}"
            raise InputError(
                self.where(bad[0], model),
                f"{column} is {got}",
                "a finite number",
                "correct the value or leave the row out",
            )
        return values

    def split(self, answers: _Answers) -> Iterator[Predictions]:
        """Split answers into one `Predictions` per model and task."""
        twice = repeated_rows(joint_codes(self.model, self.task, self.item))
        if len(twice):
            raise InputError(
                self.where(int(twice[0]), answers.model),
                "predicted before",
                "one row per item, task and model",
                "remove the later rows",
            )
        items = np.array(self.item.names, dtype=object)
        group = np.resize(joint_codes(self.model, self.task), len(self.table))
        firsts = np.sort(np.unique(group, return_index=True)[1])
        for first in firsts:
            rows = np.flatnonzero(group == group[first])
            yield Predictions(
                model=_name(self.model, first) or answers.model,
                items=tuple(items[self.item.codes[rows]]),
                values=answers.values[rows],
                classes=answers.classes,
                task=_name(self.task, first) or answers.task,
            )

    def where(self, row: int, model: str) -> str:
        """Name a row, its model and its item for a message."""
        who = _name(self.model, row) or model
        item = self.item.names[self.item.codes[row]]
        return f"{self.table.where(row)}, predictions of {who!r}, item {item!r}"


def _numbered(table: Table, options: ScoreFormat) -> Table:
    """Number the rows of a table that has nothing but tasks."""
    named = table.column_of("item", options.columns) is not None
    tasks = set(options.tasks or ())
    if named or not (tasks and set(table.columns) <= {*tasks, "model"}):
        return table
    numbered = {"item": row_numbers(len(table)), **table.columns}
    return replace(table, columns=numbered).noting(ITEMS_BY_ROW)


def _name(ids: CodedNames | None, row: int) -> str:
    return "" if ids is None else ids.names[ids.codes[row]]


def _guess_layout(rows: _Rows, options: ScoreFormat) -> str:
    """Tell the layout by the columns."""
    if _about_tasks(rows, options.tasks or ()):
        return "tasks"
    if rows.table.column_of("score", options.columns) is not None:
        return "long"
    if get_close_matches("score", rows.others, cutoff=0.75):
        rows.table.required(
            "score", options.columns, otherwise=hint(" if not, say {}", Option("layout"))
        )
    if options.classes is not None and _about_classes(rows.others, options.classes):
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
        )
    return "wide"


def _about_tasks(rows: _Rows, tasks: Sequence[str]) -> bool:
    """Whether the columns are the annotated tasks, or some of them, or these and others."""
    tasks_here = [name for name in rows.others if name in tasks]
    if not tasks_here or tasks == ("",) or rows.task is not None:
        return False
    if len(tasks_here) in (len(rows.others), len(tasks)):
        return True
    odd = next(name for name in rows.others if name not in tasks)
    if len(tasks_here) == 1:
        return False
    raise InputError(
        f"{rows.table.name}, column {odd!r}",
        f"no annotated task beside {listed(tasks_here)}",
        f"columns of {listed(tasks, most=8)}",
        meant(odd, tasks, "rename or remove the column"),
    )


def _by_task(
    rows: _Rows, options: ScoreFormat, who: str
) -> tuple[list[_Answers], tuple[Notice, ...]]:
    """Columns are tasks; where the annotated ones are known, others are left out."""
    tasks = options.tasks if options.layout == "auto" else None
    chosen = [name for name in rows.others if tasks is None or name in tasks]
    unused = tuple(name for name in rows.others if name not in chosen)
    notices: tuple[Notice, ...] = ()
    if options.layout == "auto":
        text = (
            "columns of predictions named like annotated tasks are read as tasks: {tasks:names}"
        )
        notices += (notice("predicted_tasks", text, tasks=tuple(chosen)),)
    if unused:
        text = "columns {columns:names} are no annotated tasks and are not used"
        if len(unused) == 1:
            text = "column {columns:names} is no annotated task and is not used"
        notices += (notice("unused_predictions", text, columns=unused),)
    answers = []
    for column in chosen:
        part = _scores_or_decisions(rows, replace(options, task=None), {who: column})
        answers += [replace(answer, task=column) for answer in part]
    return answers, notices


def _sums_to_one(rows: _Rows) -> bool:
    try:
        cells = np.column_stack([numbers(rows.table, name) for name in rows.others])
    except InputError:
        return False
    inside = bool(((cells >= 0) & (cells <= 1)).all())
    return inside and bool((np.abs(cells.sum(axis=1) - 1) <= 1e-3).all())


def _about_classes(columns: Sequence[str], classes: Sequence[str]) -> bool:
    """Whether all classes are columns, or so many that the rest must have been forgotten."""
    most = max(len({p + name for name in classes} & set(columns)) for p in PREFIXES)
    return most == len(classes) or (most > 1 and 2 * most > len(columns))


def _common_prefix(columns: Sequence[str]) -> str:
    """Return the prefix such as ``prob_`` that all columns have, or nothing."""
    return next((p for p in PREFIXES[1:] if all(name.startswith(p) for name in columns)), "")


def _refuse_names(rows: _Rows, options: ScoreFormat, layout: str) -> None:
    """A name from the caller must not contradict one in the table."""
    models = rows.model is not None or (layout == "wide" and len(rows.others) > 1)
    tasks = rows.task is not None or layout == "tasks"
    for what, name, inside in (("model", options.model, models), ("task", options.task, tasks)):
        if name is not None and inside:
            raise InputError(
                f"{rows.table.name}, {what}={name!r}",
                f"a table that names its own {what}s",
                f"a table of one {what}",
                f"leave out {what}, or split the table",
            )
    for what, ids, columns in (("task", rows.task, "tasks"), ("model", rows.model, "wide")):
        if ids is not None and layout == columns:
            raise InputError(
                f"{rows.table.name}, layout {layout!r}",
                f"a column {what!r}",
                f"one column per {what}",
                "remove the column or choose another layout",
            )


def _scores_or_decisions(
    rows: _Rows, options: ScoreFormat, columns: Mapping[str, str]
) -> list[_Answers]:
    """What each model says in its column: scores, or decisions for one of the classes."""
    task, classes = options.task or "", _classes_named(rows.table, columns, options)
    codes = _decisions(rows, columns, classes)
    if codes is None:
        return [
            _Answers(rows.numbers(column, who), who, task) for who, column in columns.items()
        ]
    each_class = np.eye(len(classes))
    return [
        _Answers(each_class[chosen], who, task, classes)
        for who, chosen in zip(columns, codes, strict=True)
    ]


def _classes_named(
    table: Table, columns: Mapping[str, str], options: ScoreFormat
) -> tuple[str, ...]:
    """The classes that decisions are among: as known, else the words in the columns."""
    if options.classes is not None:
        return options.classes
    words = {word for column in columns.values() for word in code_names(table, column).names}
    if len(words) < 2 or any(map(_is_number, words)) or is_missing(list(words)).any():
        return ()
    return tuple(sorted(words))


def _is_number(word: str) -> bool:
    """Whether a word is meant as a number, be it with a decimal comma."""
    value = word_number(word.replace(",", "."))
    return value is not None and not np.isnan(value)


def _decisions(
    rows: _Rows, columns: Mapping[str, str], classes: Sequence[str]
) -> list[Ints] | None:
    """Codes of the classes chosen in each column; None unless all cells are classes."""
    if not classes or (len(classes) < _FEWEST_CLASSES and any(map(_is_number, classes))):
        return None
    place = {name: code for code, name in enumerate(classes)}
    codes: list[Ints] = []
    for model, column in columns.items():
        cells = code_names(rows.table, column)
        unknown = [name for name in cells.names if name not in place]
        if unknown and len(unknown) < len(cells.names) and not any(map(_is_number, unknown)):
            row = int(np.flatnonzero(cells.codes == cells.names.index(unknown[0]))[0])
            where, got = rows.where(row, model), f"class {unknown[0]!r}"
            raise unknown_name(where, got, unknown[0], classes)
        if (cells.codes < 0).any() or unknown:
            return None
        codes.append(
            np.array([place[name] for name in cells.names], dtype=np.intp)[cells.codes]
        )
    return codes


def _by_model(rows: _Rows, options: ScoreFormat) -> list[_Answers]:
    """Columns are models; a single one may be renamed by the caller."""
    for column in rows.others:
        if not column.strip() or column.lower().startswith("unnamed:"):
            raise InputError(
                f"{rows.table.name}, column {column!r}",
                "a column without a name",
                "one named column per model",
                "remove it (a dataframe's index: write the file with index=False), or name it",
            )
        if column in _RESERVED:
            raise InputError(
                f"{rows.table.name}, column {column!r}",
                "a name of annotations",
                "one column of scores per model",
                "remove it, or rename it if it is a model",
            )
    names = {options.model or column: column for column in rows.others}
    return _scores_or_decisions(rows, options, names)


def _by_class(rows: _Rows, options: ScoreFormat, model: str) -> _Answers:
    """Columns are classes, with or without a prefix such as ``prob_``."""
    prefix: str | None = _common_prefix(rows.others)
    classes = options.classes
    if classes is None:
        classes = tuple(name.removeprefix(str(prefix)) for name in rows.others)
    else:
        columns = set(rows.others)
        prefix = next((p for p in PREFIXES if {p + name for name in classes} <= columns), None)
    if prefix is None:
        missing = [name for name in classes if name not in rows.others]
        raise InputError(
            f"{rows.table.name}, classes",
            f"no columns for {listed(missing)}",
            f"a column for each of {listed(classes, most=8)}",
            "correct the header or leave out classes",
        )
    matrix: Floats = np.column_stack([rows.numbers(prefix + name, model) for name in classes])
    return _Answers(matrix, model, options.task or "", classes)


_IDS = frozenset({"item", "task", "model", "score"})


def predictions_for(
    annotations: Annotations,
    paths: Sequence[AnyPath],
    *,
    classes_known: bool = False,
    **keywords: Any,
) -> tuple[Annotations, PredictionsRead]:
    """Read predictions; the annotations come back with what there is to say of them.

    Parameters
    ----------
    classes_known
        Whether the caller named all classes, so that predictions can have no others.
    """
    matched = {"classes": annotations.classes or None, "tasks": annotations.tasks}
    try:
        read = predictions_read(paths, **{**keywords, **matched})
    except InputError:
        if classes_known or not _may_have_more(annotations, paths):
            raise
        read = predictions_read(paths, **{**keywords, "layout": "classes"})
        annotations = _with_classes(annotations, read)
    refuse_swapped_items(annotations, list(read.predictions))
    notices = (*annotations.notices, *read.notices)
    return replace(annotations, notices=notices), read


def _may_have_more(annotations: Annotations, paths: Sequence[AnyPath]) -> bool:
    """Whether every table has a column for each class, and for more."""
    if annotations.kind not in ("nominal", "ranking"):
        return False
    for path in paths:
        columns = set(prediction_columns(path)) - _IDS
        all_there = any(
            {prefix + name for name in annotations.classes} <= columns for prefix in PREFIXES
        )
        if not all_there or len(columns) == len(annotations.classes):
            return False
    return True


def _with_classes(annotations: Annotations, read: PredictionsRead) -> Annotations:
    """Add the classes that only the predictions name, and say so."""
    named = dict.fromkeys(
        name for prediction in read.predictions for name in prediction.classes
    )
    extra = tuple(name for name in named if name not in annotations.classes)
    text = "Classes that nobody named are taken from the predictions: {classes:names}."
    note = notice("classes_of_predictions", text, classes=extra)
    classes = (*annotations.classes, *extra)
    return replace(annotations, classes=classes, notices=(*annotations.notices, note))
