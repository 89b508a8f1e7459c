"""Annotations from a file of any known format, in any layout, made tidy.

Tables are delimited text or Parquet, told by the ending of the file; their layouts are

``tidy``: one row per vote, with a column ``label``.
``wide``: one row per item and one column per annotator; a blank cell is a missing vote.
``tasks``: one row per item and annotator and one column per task; the annotator stands in a
column, or is the one whose name the file has. Without a column of items, rows are numbered
from 0.
``counts``: one row per item and one column per class, holding numbers of exchangeable votes.

Several tables are read as one. Where none says who voted, each file is one annotator's.

A guess is said first, and refused where it makes no sense: a wide table names every item once,
and its columns share their labels.

A cell of a count matrix, shape (items, classes), becomes one row with a count; empty cells
become no row. The columns are the classes in their own order, except that a known pair (no/yes,
0/1, ...) is binary.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from equipoise.read.files import AnyPath
from equipoise.read.headers import (
    WHO,
    annotation_headers,
    group_hint,
    no_tasks,
    require_header,
)
from equipoise.read.label_studio import is_label_studio, label_studio_annotations
from equipoise.read.options import TIDY, VoteFormat
from equipoise.read.rankings import ranking_annotations
from equipoise.read.sources import (
    ARRAY,
    JSON_TEXT,
    STUDY,
    TABLE,
    TABULAR,
    Source,
    sources_of,
)
from equipoise.read.tables import (
    ITEMS_BY_ROW,
    Table,
    array_table,
    code_names,
    from_frame,
    is_missing,
    joint_codes,
    numbers,
    repeated_rows,
    row_numbers,
    words_of,
)
from equipoise.read.tidy import name_columns, tidy_annotations
from equipoise.read.values import pair_of
from equipoise.types import (
    MOST_VOTES,
    Annotations,
    Floats,
    InputError,
    Ints,
    Names,
    Notice,
    Option,
    choice,
    hint,
    listed,
    notice,
    unknown_name,
)

_LAYOUTS = ("tidy", "wide", "tasks", "counts")
_WIDE, _TASKS = Option("layout", "wide"), Option("layout", "tasks")
_TIDY = Option("columns", {"item": "...", "annotator": "...", "label": "..."})
_BESIDE_TASKS = tuple(name for name in TIDY if name not in ("label", "task", "rank", "count"))
_FEW_ROWS = 5  # below which columns may share no label by accident
_MANY_WORDS = 20  # rows from which a different word in each is no label

_NO_ARM = "no arm"
_ARM = re.compile(r"((un)?(aided|assisted)|with(out)?|control|baseline)(?![a-z])", re.I)


class _Part(NamedTuple):
    """A table of votes, its columns found: how it is read, and how it is laid out."""

    table: Table
    options: VoteFormat
    layout: str

    @property
    def guessed(self) -> bool:
        """Whether its layout is a guess."""
        return self.options.layout == "auto" and self.layout != "tidy"


def annotations_of_tables(tables: Sequence[Table], options: VoteFormat) -> Annotations:
    """Read tables as one, each in its layout; of several, files without annotators are theirs.

    Examples
    --------
    >>> import pyarrow
    >>> ana = from_frame(pyarrow.table({"item": ["a", "b"], "edema": [0, 1]}))
    >>> bo = from_frame(pyarrow.table({"item": ["a", "b"], "edema": [1, 1]}))
    >>> both = annotations_of_tables([replace(ana, reader="ana"), replace(bo, reader="bo")],
    ...     VoteFormat())
    >>> both.annotators, both.tasks, both.label
    (('ana', 'bo'), ('edema',), array([0, 1, 1, 1]))
    """
    parts = _with_layouts(tables, options)
    first = parts[0]
    if first.layout == "counts":
        beside, others = _split_items(first.table, first.options)
        return _count_annotations(beside, _cells(first.table, others), others, first.options)
    if len(parts) == 1:
        table = _tidy_table(first)
    else:
        tidy = _in_arms([_tidy_table(part) for part in parts])
        both = zip(parts, tidy, strict=True)
        table = _stack_tables([_with_reader(part, part_table) for part, part_table in both])
    # columns that the caller named have our names by now, and are not in doubt
    sure = {ours: ours for ours in WHO if ours in options.columns} if options.columns else {}
    return tidy_annotations(table, replace(options, columns=sure))


def _with_layouts(tables: Sequence[Table], options: VoteFormat) -> list[_Part]:
    """Find the columns that go by other names, say so, and find the layout of every table."""
    parts = []
    for table in tables:
        headers = annotation_headers(table, options)
        if options.layout == "auto" and "item" not in table.columns:
            require_header(table, headers.columns)
        if headers.notices:
            table = table.noting(*headers.notices)
        parts.append(_Part(table, replace(options, columns=headers.columns), options.layout))
    if len(parts) > 1 and _are_tasks(parts, options.layout):
        return [part._replace(layout="tasks") for part in parts]
    for number, part in enumerate(parts):
        layout = part.layout
        if layout == "auto":
            layout = _guess_layout(part.table, part.options)
        choice(f"{part.table.name}, layout", layout, _LAYOUTS)
        parts[number] = part._replace(layout=layout)
    return parts


def _are_tasks(parts: Sequence[_Part], layout: str) -> bool:
    """Whether several tables are tasks: alike without labels, about the same items."""
    if layout == "counts":
        raise InputError(
            "annotations",
            f"{len(parts)} files of counts",
            "one",
            "put the counts of all items into one table",
        )
    if layout != "auto" or any(
        part.table.column_of("label", part.options.columns) for part in parts
    ):
        return False
    split = [_split_items(part.table, part.options) for part in parts]
    if len({frozenset(others) for _, others in split}) > 1:
        return False
    items = [set(code_names(beside, "item").names) for beside, _ in split]
    if not set.intersection(*items):
        raise InputError(
            f"{parts[0].table.name} and {len(parts) - 1} more, columns {listed(split[0][1])}",
            "the same columns in every file, and no item that all files have",
            "columns that can be told apart",
            hint("say {} if columns are annotators, or {} for one annotator per file",
                 _WIDE, _TASKS),
        )  # fmt: skip
    return True


def _tidy_table(part: _Part) -> Table:
    """A table in the tidy layout with our names."""
    table, options = part.table, part.options
    if part.layout == "tidy":
        return name_columns(table, options)
    if part.layout == "tasks":
        return _tidy_tasks(part)
    beside, others = _split_items(table, options)
    if part.guessed:
        _refuse_nonsense(beside, table, others, options)
        first = table.column_of("item", options.columns) or next(iter(table.columns))
        text = (
            "there is no column 'label': read as a wide table, items in column {column!r}, "
            "annotators {annotators:names}; say {tasks} if these are questions to one annotator"
        )
        guess = notice("read_as_wide", text, column=first, annotators=others, tasks=_TASKS)
        beside = replace(beside, notices=(guess, *beside.notices))
    return _melt_columns(beside, table, others, "annotator")


def _tidy_tasks(part: _Part) -> Table:
    """One annotator's answers, a column per task."""
    import pyarrow as pa

    table = part.table
    theirs = {ours: table.column_of(ours, part.options.columns) for ours in _BESIDE_TASKS}
    columns = {ours: table.columns[name] for ours, name in theirs.items() if name is not None}
    notices: list[Notice] = []
    taken = {name for name in theirs.values() if name is not None}
    if "item" not in columns:
        item, items_notice = _item_column(table)
        columns, notices = {"item": item[1], **columns}, [items_notice]
        taken.add(item[0])
    tasks = tuple(name for name in table.columns if name not in taken)
    unused = no_tasks(table, tasks)
    if unused:
        tasks = tuple(name for name in tasks if name not in unused)
        verb = "is no task" if len(unused) == 1 else "are no tasks"
        text = f"{{columns:names}} {verb} and not used"
        notices.append(notice("unused_columns", text, columns=unused))
        notices += () if "group" in columns else group_hint(unused)
    if not tasks or is_missing(tasks).any():
        raise InputError(
            f"{table.name}, columns",
            f"{listed(table.columns, most=8)}",
            "a named column per task beside the items",
            "check the header and the delimiter",
        )
    if "annotator" not in columns and table.reader:
        columns["annotator"] = pa.array([table.reader] * len(table))
    if part.guessed:
        text = (
            "each file is read as one annotator's, named like the file, with a column per "
            "task: {tasks:names}"
        )
        notices.insert(0, notice("read_as_tasks", text, tasks=tasks))
    beside = replace(table, columns=columns, notices=(*notices, *table.notices))
    return _melt_columns(beside, table, tasks, "task")


def _item_column(table: Table) -> tuple[tuple[str, Any], Notice]:
    """The first column where it names every row, else numbers of rows; and what to say."""
    first = next(iter(table.columns))
    names = code_names(table, first)
    if len(names.names) == len(table) and len(table) > 1 and len(table.columns) > 1:
        text = "items are in the first column, {column!r}, which is different in every row"
        return (first, table.columns[first]), notice("items_in_first", text, column=first)
    return ("", row_numbers(len(table))), ITEMS_BY_ROW


def _in_arms(tables: Sequence[Table]) -> list[Table]:
    """The same with an arm of every vote where tables have arms, or are named like some.

    Files of several readers each may be named like arms of a study, such as aided.csv; what
    stands beside arms in a file without any has none, as a reference standard.
    """
    have = [table for table in tables if "arm" in table.columns]
    named = [table for table in tables if "annotator" in table.columns
             and _ARM.match(table.reader)]  # fmt: skip
    if not have and len(named) < 2:
        return list(tables)
    done = []
    for table in tables:
        note: tuple[Notice, ...] = ()
        if not have and table in named:
            arms = tuple(part.reader for part in named)
            text = "files are read as arms, named like them: {arms:names}"
            note = (notice("files_are_arms", text, arms=arms),)
        if "arm" not in table.columns and "is_gold" not in table.columns:
            table = _with_column(table, "arm", table.reader if note else _NO_ARM)
        done.append(table.noting(*note))
    return done


def _with_column(table: Table, name: str, value: str) -> Table:
    import pyarrow as pa

    column = pa.array([value] * len(table))
    return replace(table, columns={**table.columns, name: column})


def _with_reader(part: _Part, tidy: Table) -> Table:
    """Name the annotator of a file that names none."""
    if "annotator" in tidy.columns or not tidy.reader:
        return tidy
    twice = _repeated_item(tidy)
    if twice is not None and not part.options.exchangeable:
        row, name = twice
        raise InputError(
            tidy.where(row),
            f"item {name!r} a second time, and no annotators",
            "one vote on each item in the file of one annotator",
            hint("add a column 'annotator', or say {}", Option("exchangeable", value=True)),
        )
    text = (
        "files without a column of annotators are read as one annotator's, named like the file"
    )
    named = _with_column(tidy, "annotator", tidy.reader)
    return replace(named, notices=(notice("file_is_annotator", text), *tidy.notices))


def _repeated_item(table: Table) -> tuple[int, str] | None:
    """The first row whose item an earlier row has, for the same task, and the item's name."""
    item = code_names(table, "item")
    task = code_names(table, "task") if "task" in table.columns else None
    twice = repeated_rows(joint_codes(task, item))
    return (int(twice[0]), item.names[item.codes[twice[0]]]) if len(twice) else None


def _stack_tables(tables: Sequence[Table]) -> Table:
    """Tables one below the other; a column that some lack is blank there."""
    starts = np.cumsum([0, *map(len, tables)])
    columns = {
        name: _one_column(
            words_of(table, name) if name in table.columns else (np.full(len(table), -1), [])
            for table in tables
        )
        for name in dict.fromkeys(name for table in tables for name in table.columns)
    }

    def place(row: int) -> str:
        number = int(np.searchsorted(starts, row, side="right")) - 1
        return tables[number].where(row - int(starts[number]))

    files_by_notice: dict[Notice, list[str]] = {}
    for table in tables:
        for note in table.notices:
            files_by_notice.setdefault(note, []).append(table.name)
    notices = tuple(
        note if len(names) == len(tables) else note.of(*names)
        for note, names in files_by_notice.items()
    )
    labels = tables[0].labels if len({table.labels for table in tables}) == 1 else ""
    name = f"{len(tables)} files"
    return Table(name=name, columns=columns, place=place, notices=notices, labels=labels)


def _one_column(parts: Iterable[tuple[Ints, list[str]]], *, across: bool = False) -> Any:
    """Columns of coded words as one: one below the other, or `across`, row by row."""
    import pyarrow as pa

    words: list[str] = []
    codes = []
    for part_codes, some in parts:
        codes.append(np.where(part_codes < 0, -1, part_codes + len(words)))
        words += some
    flat = np.column_stack(codes).ravel() if across else np.concatenate(codes)
    return pa.DictionaryArray.from_arrays(
        pa.array(flat, mask=flat < 0), pa.array(words, pa.large_string())
    )


def _refuse_nonsense(
    beside: Table, table: Table, others: Sequence[str], options: VoteFormat
) -> None:
    """Refuse a guess by which a table repeats items, or has columns that hold no labels."""
    twice = _repeated_item(beside)
    first = table.column_of("item", options.columns) or next(iter(table.columns))
    if twice is not None:
        raise InputError(
            f"{table.name}, column {first!r}",
            f"there is no column 'label', and {twice[1]!r} stands in several rows",
            "a column of labels, or one row per item (a wide table)",
            hint("say {} if rows are votes, or {} if columns are questions to each annotator",
                 _TIDY, _TASKS),
        )  # fmt: skip
    if options.classes is not None or options.kind == "interval":
        return
    held = {name: set(code_names(table, name).names) for name in others}
    for name, words in held.items():
        rest = set().union(*(values for other, values in held.items() if other != name))
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
    matrix: Any, options: VoteFormat, *, items: Sequence[str] | None = None, name: str
) -> Annotations:
    """Turn an array or a dataframe of counts into annotations.

    Items and classes of an array are named by number unless told.

    Examples
    --------
    >>> matrix = np.array([[2, 0], [1, 1]])
    >>> counts = count_annotations(matrix, VoteFormat(), name="votes")
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


def _guess_layout(table: Table, options: VoteFormat) -> str:
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


def _like_counts(cells: Floats, names: Sequence[str], options: VoteFormat) -> bool:
    """Whether cells may be numbers of votes.

    Labels of people who see the same items rise together, so that the variance of their sum is
    above the sum of their variances; votes for one class are missing from the others.

    Examples
    --------
    >>> votes = np.array([[4, 0], [1, 4], [0, 7], [5, 1], [6, 2]], dtype=float)
    >>> _like_counts(votes, ("a", "b"), VoteFormat())
    True
    >>> _like_counts(np.sort(votes, axis=0), ("a", "b"), VoteFormat())
    False
    >>> _like_counts(np.sort(votes, axis=0), ("no", "yes"), VoteFormat())
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


def _split_items(table: Table, options: VoteFormat) -> tuple[Table, Names]:
    """Separate item, task and group from the columns of annotators or classes."""
    theirs = {
        ours: table.column_of(ours, options.columns) for ours in ("item", "task", "group")
    }
    theirs["item"] = theirs["item"] or next(iter(table.columns))
    names = {ours: name for ours, name in theirs.items() if name is not None}
    others = tuple(name for name in table.columns if name not in names.values())
    if not others:
        raise InputError(
            table.name,
            f"only the columns {listed(table.columns)}",
            "a column 'label', or one column per annotator",
            "check the header and delimiter",
        )
    beside = {ours: table.columns[name] for ours, name in names.items()}
    return replace(table, columns=beside), others


def _melt_columns(beside: Table, table: Table, names: Names, ours: str) -> Table:
    """Make a row of every cell, item by item; the name of its column goes into `ours`."""
    import pyarrow as pa

    size = len(names)
    label = _one_column((words_of(table, name) for name in names), across=True)
    column = pa.DictionaryArray.from_arrays(
        np.tile(np.arange(size), len(table)), pa.array(names)
    )
    source = np.repeat(np.arange(len(table)), size)
    columns = {name: values.take(source) for name, values in beside.columns.items()}
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
    beside: Table, matrix: Floats, classes: Sequence[str], options: VoteFormat
) -> Annotations:
    """Read a count matrix; `beside` has the columns item, task and group of its rows."""
    import pyarrow as pa

    _check_classes(beside, classes, options)
    _check_counts(beside, matrix, classes)
    row, column = np.nonzero(matrix)
    label = pa.DictionaryArray.from_arrays(column, pa.array(classes))
    columns = {name: values.take(row) for name, values in beside.columns.items()}
    columns |= {"label": label, "count": pa.array(matrix[row, column].astype(np.int64))}
    place = beside.place
    table = replace(beside, columns=columns, place=lambda number: place(int(row[number])))
    pair = len(classes) == 2 and pair_of(classes) is not None
    ordered = options.kind == "nominal" or (options.kind is None and not pair)
    if options.classes is None and ordered:
        options = replace(options, classes=tuple(classes), kind="nominal")
    return tidy_annotations(table, replace(options, columns={}))


def _check_classes(beside: Table, classes: Sequence[str], options: VoteFormat) -> None:
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
            where = f"{beside.name}, column {name!r}"
            raise unknown_name(where, "not a class", name, options.classes)


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


def read_annotations(
    path_or_paths: AnyPath | Sequence[AnyPath], **keywords: Any
) -> Annotations:
    """Read annotations from CSV, TSV, Parquet, JSON or NumPy files, also with ``.gz``.

    Parameters
    ----------
    path_or_paths
        A file, or several tables that are read as one; a folder stands for the tables in it.
        The ending tells the format: ``.csv``, ``.tsv`` and ``.txt`` are delimited text;
        ``.parquet`` and ``.pq`` are Parquet; ``.json`` holds nested rankings or an export of
        Label Studio; ``.npy`` holds a count matrix, or with layout ``tasks`` the labels of
        one annotator, shape (items, tasks).
    **keywords
        See `equipoise.read.options.VoteFormat`: `layout`, `kind`, `classes`,
        `columns`, `repeats`, `exchangeable`.

    Returns
    -------
    Annotations
        Coded and checked. Its `notices` say what the reader decided.

    Raises
    ------
    InputError
        If the file or a row of it cannot be used; the message names the row.
    """
    return annotations_of(sources_of(path_or_paths), VoteFormat.of(keywords))


def annotations_of(sources: Sequence[Source], options: VoteFormat) -> Annotations:
    """Read annotations from files that may have been opened before."""
    first = sources[0]
    if len(sources) > 1:
        return annotations_of_tables([_table_of(file, options) for file in sources], options)
    if first.form == STUDY:
        refused = ("layout", "kind", "classes", "columns", "repeats", "phases")
        options.refuse(*refused, where=first.content.name)
        annotations: Annotations = first.held[0]
        return annotations.anonymous() if options.exchangeable else annotations
    if first.form == JSON_TEXT:
        return _from_json(first, options)
    if first.form == ARRAY:
        return _from_array(first, options)
    table = replace(first.held, reader=first.content.stem)
    return annotations_of_tables([table], options)


def annotation_layouts(sources: Sequence[Source], options: VoteFormat) -> list[str]:
    """How each of some files of annotations is laid out, which are read as one."""
    tables = [source.held for source in sources if source.form == TABLE]
    of_tables = iter(_with_layouts(tables, options) if tables else ())
    layouts = []
    for source in sources:
        layout = "tasks" if options.layout == "tasks" else "counts"
        if source.form == TABLE:
            layout = next(of_tables).layout
        elif source.form == JSON_TEXT:
            layout = "label-studio" if is_label_studio(source.held) else "rankings"
        layouts.append(layout)
    return layouts


def _table_of(source: Source, options: VoteFormat) -> Table:
    """One of several tables, with the name of the annotator whose file it may be."""
    file = source.content
    if source.form == STUDY:
        raise InputError(
            file.name,
            "a whole study among several files",
            "tables of annotations",
            "give the study alone",
        )
    if file.suffix in TABULAR:
        table: Table = replace(source.held, reader=file.stem)
        return table
    if source.form == ARRAY and options.layout == "tasks":
        return replace(array_table(source.held, file.name), reader=file.stem)
    raise InputError(
        file.name,
        "one of several files of annotations",
        f"tables ending in {', '.join(TABULAR)}",
        "give it alone",
    )


def _from_array(source: Source, options: VoteFormat) -> Annotations:
    """Take counts, or one annotator's labels of several tasks."""
    name = source.content.name
    choice(f"{name}, layout", options.layout, ("auto", "counts", "tasks"))
    options.refuse("columns", where=name)
    if options.layout == "tasks":
        return annotations_of_tables([_table_of(source, options)], options)
    return count_annotations(source.held, options, name=name)


def _from_json(source: Source, options: VoteFormat) -> Annotations:
    """Take rankings, or an export of Label Studio."""
    name, layouts = source.content.name, ("auto", "rankings", "label-studio")
    layout = choice(f"{name}, layout", options.layout, layouts)
    studio = layout == "label-studio" or (layout == "auto" and is_label_studio(source.held))
    read = label_studio_annotations if studio else ranking_annotations
    return read(source.held, options, name=name)
