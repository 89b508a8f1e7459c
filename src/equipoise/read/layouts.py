"""Layouts of annotations: which one a table has, and other layouts made tidy.

``tidy``: one row per vote, with a column ``label``.
``wide``: one row per item and one column per annotator; a blank cell is a missing vote.
``tasks``: one row per item and one column per task, all of one annotator, whom a column or the
name of the file names; without a column of items, rows are numbered from 0.
``counts``: one row per item and one column per class, holding numbers of exchangeable votes.

Several tables are read as one. Where none says who voted, each file is one annotator's.

A guess is said first, and refused where it makes no sense: a wide table names every item once,
and its columns share their labels.

A cell of a count matrix, shape (items, classes), becomes one row with a count; empty cells
become no row. The columns are the classes in their own order, except that a known pair (no/yes,
0/1, ...) is binary.
"""

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from equipoise.annotations import MOST_VOTES, Annotations
from equipoise.arrays import Floats, InputError, choice, listed, meant
from equipoise.notices import Notice, Value
from equipoise.read.headers import annotation_headers, require_header
from equipoise.read.labels import pair_of
from equipoise.read.options import TIDY, AnnotationOptions
from equipoise.read.tables import (
    Table,
    code_names,
    from_frame,
    is_missing,
    numbers,
    repeated_rows,
    words_of,
)
from equipoise.read.tidy import name_columns, tidy_annotations
from equipoise.wording import Option, hint

_LAYOUTS = ("tidy", "wide", "tasks", "counts")
_WIDE, _TASKS = Option("layout", "wide"), Option("layout", "tasks")
_TIDY = Option("columns", {"item": "...", "annotator": "...", "label": "..."})
_BESIDE_TASKS = tuple(name for name in TIDY if name not in ("label", "task", "rank", "count"))
_FEW_ROWS = 5  # below which columns may share no label by accident
_MANY_WORDS = 20  # rows from which a different word in each is no label


class NamedTable(NamedTuple):
    """A table, and the annotator whose file it is where it names none."""

    table: Table
    reader: str = ""


class _Layout(NamedTuple):
    """How a table is laid out, and whether that is a guess."""

    name: str
    guessed: bool = False


def table_annotations(
    table: Table, options: AnnotationOptions, reader: str = ""
) -> Annotations:
    """Turn a table in any layout into annotations; `reader` is whose file of tasks it is."""
    sure = _confirmed(options)
    table, options = _by_header(table, options)
    layout = _layout(table, options)
    if layout.name == "counts":
        beside, others = _split_items(table, options)
        return _count_annotations(beside, _cells(table, others), others, options)
    tidy = _tidied(NamedTable(table, reader), options, layout)
    return tidy_annotations(tidy, replace(options, columns=sure))


def annotations_of_tables(
    tables: Sequence[NamedTable], options: AnnotationOptions
) -> Annotations:
    """Read several tables as one, each in its layout; files without annotators are theirs.

    Examples
    --------
    >>> import pyarrow
    >>> ana = from_frame(pyarrow.table({"item": ["a", "b"], "edema": [0, 1]}))
    >>> bo = from_frame(pyarrow.table({"item": ["a", "b"], "edema": [1, 1]}))
    >>> both = annotations_of_tables([NamedTable(ana, "ana"), NamedTable(bo, "bo")],
    ...     AnnotationOptions())
    >>> both.annotators, both.tasks, both.label
    (('ana', 'bo'), ('edema',), array([0, 1, 1, 1]))
    """
    if len(tables) == 1:
        return table_annotations(tables[0].table, options, tables[0].reader)
    headed = [_by_header(one.table, options) for one in tables]
    named = [NamedTable(own[0], one.reader) for one, own in zip(tables, headed, strict=True)]
    each = [own[1] for own in headed]
    layouts = _layouts(named, each, options.layout)
    parts = [
        _with_reader(one, _tidied(one, own, layout), own)
        for one, own, layout in zip(named, each, layouts, strict=True)
    ]
    return tidy_annotations(_stacked(parts), replace(options, columns=_confirmed(options)))


def layouts_of(tables: Sequence[NamedTable], options: AnnotationOptions) -> list[str]:
    """How each of some tables is laid out, read alone or as one."""
    headed = [_by_header(one.table, options) for one in tables]
    if len(headed) == 1:
        return [_layout(*headed[0]).name]
    named = [NamedTable(own[0], one.reader) for one, own in zip(tables, headed, strict=True)]
    return [one.name for one in _layouts(named, [own[1] for own in headed], options.layout)]


def _confirmed(options: AnnotationOptions) -> dict[str, str]:
    """Columns that the caller named, by our names once they have them: not in doubt."""
    return {ours: ours for ours in ("item", "annotator") if ours in options.columns}


def _by_header(table: Table, options: AnnotationOptions) -> tuple[Table, AnnotationOptions]:
    """Find the columns that go by other names, and say so."""
    known = annotation_headers(table, options)
    if options.layout == "auto":
        require_header(table, known.columns)
    return table.noting(*known.notices), replace(options, columns=known.columns)


def _layout(table: Table, options: AnnotationOptions) -> _Layout:
    if options.layout == "auto":
        name = _guess_layout(table, options)
        return _Layout(name, guessed=name != "tidy")
    return _Layout(choice(f"{table.name}, layout", options.layout, _LAYOUTS))


def _layouts(
    tables: Sequence[NamedTable], each: Sequence[AnnotationOptions], asked: str
) -> list[_Layout]:
    """Layouts of several tables: alike without labels, about the same items, they are tasks."""
    if asked == "counts":
        raise InputError(
            "annotations",
            f"{len(tables)} files of counts",
            "one",
            "put the counts of all items into one table",
        )
    pairs = list(zip(tables, each, strict=True))
    if asked != "auto" or any(one.table.column_of("label", own.columns) for one, own in pairs):
        return [_layout(one.table, own) for one, own in pairs]
    split = [_split_items(one.table, own) for one, own in pairs]
    if len({frozenset(others) for _, others in split}) > 1:
        return [_layout(one.table, own) for one, own in pairs]
    items = [set(code_names(beside, "item").names) for beside, _ in split]
    if not set.intersection(*items):
        raise InputError(
            f"{tables[0].table.name} and {len(tables) - 1} more, columns {listed(split[0][1])}",
            "the same columns in every file, and no item that all files have",
            "columns that can be told apart",
            hint("say {} if columns are annotators, or {} for one annotator per file",
                 _WIDE, _TASKS),
        )  # fmt: skip
    return [_Layout("tasks", guessed=True)] * len(tables)


def _tidied(one: NamedTable, options: AnnotationOptions, layout: _Layout) -> Table:
    """A table in the tidy layout with our names."""
    table = one.table
    if layout.name == "tidy":
        return name_columns(table, options)
    if layout.name == "tasks":
        return _tasks(one, options, layout)
    beside, others = _split_items(table, options)
    if layout.guessed:
        _refuse_nonsense(beside, table, others, options)
        first = table.column_of("item", options.columns) or next(iter(table.columns))
        text = (
            "there is no column 'label': read as a wide table, items in column {column!r}, "
            "annotators {annotators:names}; say {tasks} if these are questions to one annotator"
        )
        values: dict[str, Value] = {"column": first, "annotators": others, "tasks": _TASKS}
        guess = Notice("read_as_wide", text, (), values)
        beside = replace(beside, notices=(guess, *beside.notices))
    return _melted(beside, table, others, "annotator")


def _tasks(one: NamedTable, options: AnnotationOptions, layout: _Layout) -> Table:
    """One annotator's answers, a column per task."""
    import pyarrow as pa

    table = one.table
    known = {ours: table.column_of(ours, options.columns) for ours in _BESIDE_TASKS}
    columns = {ours: table.columns[name] for ours, name in known.items() if name is not None}
    notices: list[Notice] = []
    taken = {name for name in known.values() if name is not None}
    if "item" not in columns:
        item, notice = _item_column(table)
        columns, notices = {"item": item[1], **columns}, [notice]
        taken.add(item[0])
    tasks = tuple(name for name in table.columns if name not in taken)
    if not tasks or is_missing(tasks).any():
        raise InputError(
            f"{table.name}, columns",
            f"{listed(table.columns, most=8)}",
            "a named column per task beside the items",
            "check the header and the delimiter",
        )
    if "annotator" not in columns and one.reader:
        columns["annotator"] = pa.array([one.reader] * len(table))
    if layout.guessed:
        text = (
            "each file is read as one annotator's, named like the file, with a column per "
            "task: {tasks:names}"
        )
        notices.insert(0, Notice("read_as_tasks", text, (), {"tasks": tasks}))
    beside = replace(table, columns=columns, notices=(*notices, *table.notices))
    return _melted(beside, table, tasks, "task")


def _item_column(table: Table) -> tuple[tuple[str, Any], Notice]:
    """The first column where it names every row, else numbers of rows; and what to say."""
    import pyarrow as pa

    first = next(iter(table.columns))
    names = code_names(table, first)
    values: dict[str, Value] = {"column": first}
    if len(names.names) == len(table) and len(table) > 1 and len(table.columns) > 1:
        text = "items are in the first column, {column!r}, which is different in every row"
        return (first, table.columns[first]), Notice("items_in_first", text, (), values)
    text = "there is no column of items: rows are numbered from 0"
    return ("", pa.array([str(row) for row in range(len(table))])), Notice("items_by_row", text)


def _with_reader(one: NamedTable, tidy: Table, options: AnnotationOptions) -> Table:
    """Name the annotator of a file that names none."""
    import pyarrow as pa

    if "annotator" in tidy.columns or not one.reader:
        return tidy
    item = code_names(tidy, "item")
    task = code_names(tidy, "task").codes if "task" in tidy.columns else 0
    twice = repeated_rows(task * len(item.names) + item.codes)
    if len(twice) and not options.exchangeable:
        raise InputError(
            tidy.where(int(twice[0])),
            f"item {item.names[item.codes[twice[0]]]!r} a second time, and no annotators",
            "one vote on each item in the file of one annotator",
            hint("add a column 'annotator', or say {}", Option("exchangeable", value=True)),
        )
    text = (
        "files without a column of annotators are read as one annotator's, named like the file"
    )
    who = pa.array([one.reader] * len(tidy))
    return replace(
        tidy,
        columns={**tidy.columns, "annotator": who},
        notices=(Notice("file_is_annotator", text), *tidy.notices),
    )


def _stacked(tables: Sequence[Table]) -> Table:
    """Tables one below the other; a column that some lack is blank there."""
    import pyarrow as pa

    lengths = [len(one) for one in tables]
    starts = np.cumsum([0, *lengths])
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(name for one in tables for name in one.columns):
        words: list[str] = []
        codes = []
        for one in tables:
            if name not in one.columns:
                codes.append(np.full(len(one), -1, dtype=np.int64))
                continue
            own, some = words_of(one, name)
            codes.append(np.where(own < 0, -1, own + len(words)))
            words += some
        flat = np.concatenate(codes)
        columns[name] = pa.DictionaryArray.from_arrays(
            pa.array(flat, mask=flat < 0), pa.array(words, pa.large_string())
        )

    def place(row: int) -> str:
        number = int(np.searchsorted(starts, row, side="right")) - 1
        return tables[number].where(row - int(starts[number]))

    said: dict[Notice, list[str]] = {}
    for one in tables:
        for notice in one.notices:
            said.setdefault(notice, []).append(one.name)
    notices = tuple(
        notice if len(names) == len(tables) else notice.of(*names)
        for notice, names in said.items()
    )
    return Table(name=f"{len(tables)} files", columns=columns, place=place, notices=notices)


def _refuse_nonsense(
    beside: Table, table: Table, others: Sequence[str], options: AnnotationOptions
) -> None:
    """Refuse a guess by which a table repeats items, or has columns that hold no labels."""
    item = code_names(beside, "item")
    task = code_names(beside, "task").codes if "task" in beside.columns else 0
    twice = repeated_rows(task * len(item.names) + item.codes)
    first = table.column_of("item", options.columns) or next(iter(table.columns))
    if len(twice):
        name = item.names[item.codes[twice[0]]]
        raise InputError(
            f"{table.name}, column {first!r}",
            f"there is no column 'label', and {name!r} stands in several rows",
            "a column of labels, or one row per item (a wide table)",
            hint("say {} if rows are votes, or {} if columns are questions to one annotator",
                 _TIDY, _TASKS),
        )  # fmt: skip
    if options.classes is not None or options.kind == "interval":
        return
    held = {name: set(code_names(table, name).names) for name in others}
    for name, words in held.items():
        rest = set().union(*(own for other, own in held.items() if other != name))
        many = (
            len(words) >= _MANY_WORDS and len(words) > 0.9 * len(table) and not _numeric(words)
        )
        apart = len(others) > 1 and len(table) >= _FEW_ROWS and bool(words) and not words & rest
        if many or apart:
            got = (
                "a different word in almost every row" if many else "no value of another column"
            )
            raise InputError(
                f"{table.name}, column {name!r}",
                f"{got} (first {listed(sorted(words))})",
                "the labels of one annotator, as there is no column 'label'",
                hint("say {} if rows are votes, {} if it names the items, or leave it out",
                     _TIDY, Option("columns", {"item": name})),
            )  # fmt: skip


def _numeric(words: set[str]) -> bool:
    try:
        return bool(np.isfinite([float(word) for word in words]).all())
    except ValueError:
        return False


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
    people = table.column_of("annotator", options.columns)
    votes = people is not None or "worker" in table.columns
    if votes or get_close_matches("label", table.columns, cutoff=0.75):
        table.required(
            "label",
            options.columns,
            otherwise=hint(" if not, say {} or, for a column per task, {}", _WIDE, _TASKS),
        )
    _, others = _split_items(table, options)
    try:
        alike = _like_counts(_cells(table, others), others, options)
    except InputError:  # some cells are no numbers
        alike = False
    if alike:
        raise InputError(
            f"{table.name}, columns {listed(others)}",
            "whole numbers in every cell",
            "either labels or numbers of votes, and they could be both: the columns are named "
            "like classes, add up alike, rise where others fall, or hold large numbers",
            hint(
                "say {} for numbers of votes, or {} for labels",
                Option("layout", "counts"),
                _WIDE,
            ),
        )
    return "wide"


def _like_counts(cells: Floats, names: Sequence[str], options: AnnotationOptions) -> bool:
    """Whether cells may be numbers of votes.

    Labels of people who see the same items rise together, so that the variance of their sum is
    above the sum of their variances; votes for one class are missing from the others.

    Examples
    --------
    >>> votes = np.array([[4, 0], [1, 4], [0, 7], [5, 1], [6, 2]], dtype=float)
    >>> _like_counts(votes, ("a", "b"), AnnotationOptions())
    True
    >>> _like_counts(np.sort(votes, axis=0), ("a", "b"), AnnotationOptions())
    False
    >>> _like_counts(np.sort(votes, axis=0), ("no", "yes"), AnnotationOptions())
    True
    """
    whole = np.isfinite(cells).all() and (cells >= 0).all() and (cells == np.floor(cells)).all()
    if not whole or len(names) < 2:
        return bool(whole) and bool((cells >= 10).any())
    totals = cells.sum(axis=1)
    even = bool((totals == totals[0]).all()) and totals[0] > 1
    if even or (cells >= 10).any() or set(names) <= set(options.classes or ()):
        return True
    if cells.max() < 2:
        return False
    named = len(names) == 2 and pair_of(names) is not None and not set(names) <= {"0", "1"}
    apart = totals.var() < cells.var(axis=0).sum() and (totals > 0).all()
    return named or (len(cells) >= _FEW_ROWS and bool(apart))


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


def _melted(beside: Table, table: Table, names: tuple[str, ...], ours: str) -> Table:
    """Make a row of every cell, item by item; the name of its column goes into `ours`."""
    import pyarrow as pa

    size = len(names)
    words: list[str] = []
    codes = np.empty((len(table), size), dtype=np.int64)
    for number, name in enumerate(names):
        each, some = words_of(table, name)
        codes[:, number] = np.where(each < 0, -1, each + len(words))
        words += some
    flat = codes.ravel()
    label = pa.DictionaryArray.from_arrays(
        pa.array(flat, mask=flat < 0), pa.array(words, pa.large_string())
    )
    column = pa.DictionaryArray.from_arrays(
        np.tile(np.arange(size), len(table)), pa.array(names)
    )
    source = np.repeat(np.arange(len(table)), size)
    columns = {name: each.take(source) for name, each in beside.columns.items()}
    place = beside.place
    return replace(
        beside,
        columns={**columns, ours: column, "label": label},
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
    whole = np.isfinite(matrix) & (matrix == np.floor(matrix))
    bad = ~(whole & (matrix >= 0) & (matrix <= MOST_VOTES))
    if bad.any():
        row, column = (int(spot) for spot in np.argwhere(bad)[0])
        cell = matrix[row, column]
        raise InputError(
            f"{beside.where(row)}, class {classes[column]!r}",
            "a blank count" if np.isnan(cell) else f"count {cell:g}",
            f"a whole number from 0 to {MOST_VOTES:,}",
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
