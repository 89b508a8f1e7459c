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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import chain, filterfalse
from typing import Any, NamedTuple

import numpy as np

from equipoise.read.files import NUMPY, AnyPath, unknown_ending
from equipoise.read.headers import (
    prediction_headers,
    refuse_swapped_items,
    require_header,
    unused_note,
)
from equipoise.read.options import LONG, TIDY, ScoreFormat
from equipoise.read.sources import ARRAY, STUDY, TABLE, TABULAR, Source, sources_of
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
    numbers_or_none,
    repeated_rows,
    row_numbers,
    word_number,
)
from equipoise.read.values import alike_notices
from equipoise.types import (
    Annotations,
    Floats,
    InputError,
    Ints,
    Models,
    Names,
    Notices,
    Option,
    Predictions,
    hint,
    immutable,
    listed,
    meant,
    notice,
    unknown_name,
)

_RESERVED = (set(TIDY) - {"count"}) | {"truth", "worker"}  # never a model
PREFIXES = ("", "prob_", "p_", "proba_", "probability_")
_FEWEST_CLASSES = 3  # below which 0 and 1 are scores


class PredictionsRead(NamedTuple):
    """Predictions, what to say of how they were read, and the layout of every file."""

    predictions: Models
    notices: Notices = ()
    layouts: Names = ()


def read_predictions(path_or_paths: AnyPath | Sequence[AnyPath], **keywords: Any) -> Models:
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
    options = ScoreFormat.of(keywords)
    return predictions_of(sources_of(path_or_paths), options).predictions


def predictions_of(sources: Sequence[Source], options: ScoreFormat) -> PredictionsRead:
    """Read predictions from files that may have been opened before."""
    if len(sources) > 1 and options.model is not None:
        raise InputError(
            "predictions",
            f"{len(sources)} files and model={options.model!r}",
            "a name for one file only",
            "leave out model; each file is named by its stem",
        )
    origin: dict[tuple[str, str], Source] = {}
    models: dict[str, None] = {}
    read = []
    for source in sources:
        read.append(_read_source(source, options))
        for prediction in read[-1].predictions:
            models[prediction.model] = None
            before = origin.setdefault((prediction.model, prediction.task), source)
            if before is not source:
                raise InputError(
                    f"{source.path}, {prediction.where}",
                    f"already given by {before.path}",
                    "each model and task once",
                    "rename one of the models",
                )
    predictions, notices, layouts = map(
        tuple, map(chain.from_iterable, zip(*read, strict=True))
    )
    alike = alike_notices("models", tuple(models))
    return PredictionsRead(predictions, tuple(dict.fromkeys((*notices, *alike))), layouts)


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
    if options.layout == "auto" and "item" not in table.columns:
        require_header(table, headers.columns)
    options = replace(options, columns=headers.columns)
    if headers.notices:
        table = table.noting(*headers.notices)
    rows = _rows_of(table, options)
    layout = _guess_layout(rows, options) if options.layout == "auto" else options.layout
    _refuse_names(rows, options, layout)
    who, notices = options.model or model, rows.table.notices
    if layout == "long":
        score = table.required("score", options.columns)
        answers = _scores_or_decisions(rows, options, {who: score})
        unused = tuple(name for name in rows.others if name != score)
        notices += (unused_note(unused),) if unused else ()
    elif layout == "wide":
        answers = _scores_or_decisions(rows, options, _model_columns(rows, options))
    elif layout == "tasks":
        answers, task_notices = _by_task(rows, options, who)
        notices += task_notices
    else:
        answers = [_by_class(rows, options, who)]
    return PredictionsRead(rows.split(answers), notices, (layout,))


def _read_source(source: Source, options: ScoreFormat) -> PredictionsRead:
    """Read one file: a study, a table, or an array of one model."""
    file = source.content
    if source.form == STUDY:
        return PredictionsRead(source.held[1], (), (STUDY,))
    if file.suffix in TABULAR:
        return table_predictions(source.held, options, model=file.stem)
    if source.form != ARRAY:
        raise unknown_ending(file, (*TABULAR, *NUMPY))
    array = np.asarray(source.held)
    if _is_tasks(array, options):
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


class _Answers(NamedTuple):
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
    classes: Names = ()


@immutable(eq=False)
class _Rows:
    """The ids of every row, and the names of the columns beside them.

    Attributes
    ----------
    table
        Where the rows come from.
    ids
        Codes of item, task and model, of those that the table has.
    others
        Names of the columns that are not ids.
    """

    table: Table
    ids: Mapping[str, CodedNames]
    others: Names

    def numbers(self, column: str, model: str) -> Floats:
        """Read a column of finite numbers."""
        values = numbers_or_none(self.table, column)
        if values is None:
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

    def split(self, answers: Sequence[_Answers]) -> Models:
        """Split answers into one `Predictions` per model and task."""
        ids = self.ids
        twice = repeated_rows(joint_codes(*ids.values()))
        if len(twice):
            raise InputError(
                self.where(int(twice[0]), answers[0].model),
                "predicted before",
                "one row per item, task and model",
                "remove the later rows",
            )
        names = np.array(ids["item"].names, dtype=object)
        group = np.resize(joint_codes(ids.get("model"), ids.get("task")), len(self.table))
        firsts = np.sort(np.unique(group, return_index=True)[1])
        parts = []
        for first in firsts:
            rows = np.flatnonzero(group == group[first])
            items = tuple(names[ids["item"].codes[rows]])
            parts.append((rows, items, self.name("model", first), self.name("task", first)))
        predictions = []
        for answer in answers:
            for rows, items, model, task in parts:
                predictions.append(
                    Predictions(
                        model or answer.model,
                        items,
                        answer.values[rows],
                        answer.classes,
                        task or answer.task,
                    )
                )
        return tuple(predictions)

    def name(self, ours: str, row: int) -> str:
        """The name of an id in some row; empty where the table has none."""
        return self.ids[ours].names[self.ids[ours].codes[row]] if ours in self.ids else ""

    def where(self, row: int, model: str) -> str:
        """Name a row, its model and its item for a message."""
        who = self.name("model", row) or model
        return (
            f"{self.table.where(row)}, predictions of {who!r}, item {self.name('item', row)!r}"
        )


def _rows_of(table: Table, options: ScoreFormat) -> _Rows:
    """Find the columns that name things, and code them."""
    if options.tasks and table.column_of("item", options.columns) is None:
        table = _numbered(table, options.tasks)
    named: dict[str, str] = {}
    for ours in ("item", "task", "model"):
        column = table.column_of(ours, options.columns)
        if column is None and ours == "item":
            column = table.required(ours, options.columns)
        if column is not None:
            named[ours] = column
    others = tuple(filterfalse(set(named.values()).__contains__, table.columns))
    if not others:
        raise InputError(
            table.name,
            "no column of predictions",
            "a column of scores beside the items",
            "check the header and the delimiter",
        )
    ids = {}
    for ours, column in named.items():
        ids[ours] = code_ids(table, column, ours=ours, of="prediction")
    return _Rows(table, ids, others)


def _numbered(table: Table, tasks: Sequence[str]) -> Table:
    """Number the rows of a table that has nothing but tasks."""
    if not set(table.columns) <= {*tasks, "model"}:
        return table
    numbered = {"item": row_numbers(len(table)), **table.columns}
    return replace(table, columns=numbered).noting(ITEMS_BY_ROW)


def _guess_layout(rows: _Rows, options: ScoreFormat) -> str:
    """Tell the layout by the columns."""
    others = rows.others
    if options.tasks not in (None, ("",)) and _about_tasks(rows, options.tasks or ()):
        return "tasks"
    if rows.table.column_of("score", options.columns) is not None:
        return "long"
    if get_close_matches("score", others, cutoff=0.75):
        rows.table.required(
            "score", options.columns, otherwise=hint(" if not, say {}", Option("layout"))
        )
    if options.classes is not None and _about_classes(others, options.classes):
        return "classes"
    marked = len(others) == 2 and ("model" in rows.ids or _common_prefix(others) != "")
    if (marked or len(others) > 2) and _sums_to_one(rows):
        return "classes"
    if "model" in rows.ids:
        raise InputError(
            f"{rows.table.name}, columns {listed(others)}",
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
    if not tasks_here or "task" in rows.ids:
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


def _by_task(rows: _Rows, options: ScoreFormat, who: str) -> tuple[list[_Answers], Notices]:
    """Columns are tasks; where the annotated ones are known, others are left out."""
    tasks = options.tasks if options.layout == "auto" else None
    chosen = [name for name in rows.others if tasks is None or name in tasks]
    unused = tuple(name for name in rows.others if name not in chosen)
    notices: Notices = ()
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
        answers += [answer._replace(task=column) for answer in part]
    return answers, notices


def _sums_to_one(rows: _Rows) -> bool:
    """Whether all cells are shares that are 1 together in every row."""
    total = np.zeros(len(rows.table))
    for column in rows.others:
        cells = numbers_or_none(rows.table, column)
        if cells is None or not bool(((cells >= 0) & (cells <= 1)).all()):
            return False
        total += cells
    return bool((np.abs(total - 1) <= 1e-3).all())


def _about_classes(columns: Sequence[str], classes: Sequence[str]) -> bool:
    """Whether all classes are columns, or so many that the rest must have been forgotten."""
    here, most = set(columns), 0
    for prefix in PREFIXES:
        most = max(most, len(here.intersection(map(prefix.__add__, classes))))
    return most == len(classes) or (most > 1 and 2 * most > len(columns))


def _common_prefix(columns: Sequence[str]) -> str:
    """Return the prefix such as ``prob_`` that all columns have, or nothing."""
    for prefix in PREFIXES[1:]:
        if min(columns).startswith(prefix) and max(columns).startswith(prefix):
            return prefix
    return ""


def _refuse_names(rows: _Rows, options: ScoreFormat, layout: str) -> None:
    """A name from the caller must not contradict one in the table."""
    models = "model" in rows.ids or (layout == "wide" and len(rows.others) > 1)
    tasks = "task" in rows.ids or layout == "tasks"
    for what, name, inside in (("model", options.model, models), ("task", options.task, tasks)):
        if name is not None and inside:
            raise InputError(
                f"{rows.table.name}, {what}={name!r}",
                f"a table that names its own {what}s",
                f"a table of one {what}",
                f"leave out {what}, or split the table",
            )
    for what, columns in (("task", "tasks"), ("model", "wide")):
        if what in rows.ids and layout == columns:
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
    task, classes = options.task or "", options.classes
    if classes is None:
        classes = _words_as_classes(rows.table, columns.values())
    numeric = any(map(_is_number, classes))
    if len(classes) >= _FEWEST_CLASSES or (classes and not numeric):
        codes = _decisions(rows, columns, classes)
        if codes is not None:
            shares = np.eye(len(classes))
            return [
                _Answers(shares[chosen], who, task, classes)
                for who, chosen in zip(columns, codes, strict=True)
            ]
    answers = []
    for who, column in columns.items():
        answers.append(_Answers(rows.numbers(column, who), who, task))
    return answers


def _words_as_classes(table: Table, columns: Iterable[str]) -> Names:
    """The words in columns as the classes that decisions are among; none for numbers."""
    words = {word for column in columns for word in code_names(table, column).names}
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
    place = dict(zip(classes, range(len(classes)), strict=True))
    codes: list[Ints] = []
    for model, column in columns.items():
        cells = code_names(rows.table, column)
        unknown = [*filterfalse(place.__contains__, cells.names)]
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


def _model_columns(rows: _Rows, options: ScoreFormat) -> dict[str, str]:
    """Columns by their models, a single one renamed by the caller; refuses odd names."""
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
    names = rows.others if options.model is None else (options.model,)
    return dict(zip(names, rows.others, strict=True))


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


_IDS = frozenset(LONG)


def predictions_for(
    annotations: Annotations,
    files: Sequence[AnyPath] | Sequence[Source],
    *,
    classes_known: bool = False,
    **keywords: Any,
) -> tuple[Annotations, PredictionsRead]:
    """Read predictions; the annotations come back with what there is to say of them.

    Parameters
    ----------
    files
        Files, or files that may have been opened before.
    classes_known
        Whether the caller named all classes, so that predictions can have no others.
    """
    sources = sources_of(files)
    if annotations.systems is not None:
        return _of_judges(annotations, sources, keywords)
    matched = {"classes": annotations.classes or None, "tasks": annotations.tasks}
    options = ScoreFormat(**{**keywords, **matched})
    try:
        read = predictions_of(sources, options)
    except InputError:
        if classes_known or not _may_have_more(annotations, sources):
            raise
        read = predictions_of(sources, ScoreFormat(**{**keywords, "layout": "classes"}))
        annotations = _with_classes(annotations, read)
    refuse_swapped_items(annotations, read.predictions)
    notices = (*annotations.notices, *read.notices)
    return replace(annotations, notices=notices), read


def _of_judges(
    votes: Annotations, sources: Sequence[Source], keywords: Mapping[str, Any]
) -> tuple[Annotations, PredictionsRead]:
    """What judges say of outputs that people rated: the ratings are a truth like any other."""
    from equipoise.read.judged import as_predictions, with_unrated

    named = keywords.get("columns") or {}
    parts = []
    for source in sources:
        if source.form != TABLE:
            raise InputError(
                f"{source.path}", f"a {source.form}", "a table of scores", "write it as CSV"
            )
        table = as_predictions(source.held, named)
        votes = with_unrated(votes, source.held, named)
        left = {ours: name for ours, name in named.items() if ours not in ("item", "system")}
        options = ScoreFormat(**{**keywords, "columns": left, "tasks": votes.tasks})
        parts.append(table_predictions(table, options))
    models = tuple(model for part in parts for model in part.predictions)
    if len(votes.tasks) > 1 and all(model.task == "" for model in models):
        models = tuple(replace(model, task=task) for model in models for task in votes.tasks)
    notices = tuple(notice for part in parts for notice in part.notices)
    layouts = tuple(layout for part in parts for layout in part.layouts)
    truth = replace(votes, judged="", notices=(*votes.notices, *notices))
    return truth, PredictionsRead(models, notices, layouts)


def _may_have_more(annotations: Annotations, sources: Sequence[Source]) -> bool:
    """Whether every table has a column for each class, and for more."""
    if annotations.kind not in ("nominal", "ranking"):
        return False
    for source in sources:
        columns = set(source.columns) - _IDS
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
