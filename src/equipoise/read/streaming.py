r"""Votes and ratings of files larger than memory, read batch by batch and summed on the way.

`stream_votes` keeps one number per item and class that was voted for, `stream_ratings` three
per item: memory grows with the items, never with the votes. Who voted is checked and then
dropped, so models of annotators need `read_annotations`.

Ratings are summed as number, mean and squares around it. Sums of two batches a and b of one
item are joined without cancellation (Chan, Golub, LeVeque 1983), with the difference
:math:`\delta = \bar y_b - \bar y_a` of their means:

.. math:: n = n_a + n_b, \quad \bar y = \bar y_a + \delta \frac{n_b}{n}, \quad
    S = S_a + S_b + \delta^2 \frac{n_a n_b}{n}

The smallest difference between two unequal ratings is exact up to a million distinct ratings.
With more, every other one of them is forgotten as often as needed, and the difference is the
smallest that was seen; the normal model uses it only as a lower limit of the scatter.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.read import delimited, parquet
from equipoise.read.files import AnyPath, Content, content, require_file, unknown_ending
from equipoise.read.formats import TABULAR
from equipoise.read.headers import annotation_headers
from equipoise.read.options import AnnotationOptions, annotation_options
from equipoise.read.tables import BatchedTable, Table, code_ids, flags, ratings
from equipoise.read.tally import (
    KEYS,
    Tally,
    Vocabulary,
    check_annotators,
    only_used,
    vote_numbers,
)
from equipoise.read.tidy import blank_labels, name_columns, no_labels
from equipoise.truth.normal import Moments, Ratings
from equipoise.types.annotations import Annotations, Kind
from equipoise.types.arrays import Bools, Floats, InputError, Ints, name_order, unknown_name
from equipoise.types.notices import notice

_READ = (*KEYS, "annotator", "count", "weight")
WHOLE = "read the file whole with read_annotations"
_SMALL = 1 << 16  # bytes up to which a file is looked at whole before it is opened
DISTINCT = 1_000_000  # ratings remembered to find the smallest difference between two
_NEVER = np.iinfo(np.int64).max
Progress = Callable[[int, int], None]


def stream_votes(
    path: AnyPath,
    *,
    classes: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    kind: Kind | None = None,
    progress: Progress | None = None,
) -> Annotations:
    """Count the votes of a tidy file, CSV or Parquet, without holding them in memory.

    The result is that of `read_annotations` without annotators, equal votes made one row with a
    `count`. Votes that have weights keep their number, and their mean weight. A file with
    several faults may have another of them named first.

    Parameters
    ----------
    path
        Delimited text (``.csv``, ``.tsv``, ``.txt``, also with ``.gz``) or Parquet, one row
        per vote.
    classes, columns, kind
        As for `read_annotations`; kinds ``interval`` and ``ranking`` are refused.
    progress
        Called as ``progress(done, all)`` with numbers of rows after each batch.

    Returns
    -------
    Annotations
        Anonymous, with `count`; `notices` say what was left out.

    Raises
    ------
    InputError
        If the file or a row of it cannot be used; the message names the row.
    """
    source = _open_batched(path)
    chosen = {"classes": classes, "columns": columns or {}, "kind": kind}
    options = _options(source, chosen)
    _refuse_kind(source.header.name, options.kind)
    header = _header(source, options)
    tally = Tally()
    for table in _batches(source, header, progress):
        tally.add(table)
    if not tally.rows:
        replace(header, columns={}).nonempty()
    whole = [ours for ours, theirs in header.columns.items() if theirs in source.coded]
    votes = tally.annotations(header, whole, replace(options, columns={}))
    assert votes.count is not None  # a tally always has it
    text = "{votes:count} votes are counted by item and class; who gave them is not kept"
    said = notice("votes_counted", text, votes=int(votes.count.sum()))
    return replace(votes, notices=(*votes.notices, said))


def stream_ratings(
    path: AnyPath,
    *,
    task: str = "",
    columns: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Moments:
    """Sum the ratings of a tidy file for `normal_of_moments`, without holding them in memory.

    Parameters
    ----------
    path, columns, progress
        As for `stream_votes`; the labels are numbers.
    task
        Which question, where the file has a column of tasks.

    Returns
    -------
    Moments
        Number, mean and squares of each item's ratings; weights and counts repeat a rating.
    """
    source = _open_batched(path)
    options = _options(source, {"columns": columns or {}, "kind": "interval"})
    header = _header(source, options)
    sums = _RatingSums(task)
    for table in _batches(source, header, progress):
        sums.add(table)
    if not sums.rows:
        replace(header, columns={}).nonempty()
    return sums.moments(header, whole=header.columns["item"] in source.coded)


def _open_batched(path: AnyPath) -> BatchedTable:
    """Open a Parquet file or delimited text, also with ``.gz``, without reading it whole."""
    try:
        place = Path(path)
        require_file(place)
        with place.open("rb"):
            small = place.stat().st_size < _SMALL
    except (OSError, TypeError, ValueError) as error:
        content(path)  # says what is wrong
        raise InputError(
            str(path), f"cannot be opened ({error})", "a readable file", "check the path"
        ) from error
    if small:
        content(place)
    file = Content.of(place)
    if file.suffix in delimited.ENDINGS:
        return delimited.batched_text(file, place)
    if file.suffix in parquet.ENDINGS:
        return parquet.batched_parquet(file, place)
    raise unknown_ending(file, TABULAR)


def _options(source: BatchedTable, keywords: Mapping[str, Any]) -> AnnotationOptions:
    """Check the keywords; a file of ours tells its kind and classes itself."""
    options = annotation_options(keywords)
    if options == AnnotationOptions() and source.kind is not None:
        return annotation_options({"kind": source.kind, "classes": source.classes or None})
    return options


def _refuse_kind(name: str, kind: str | None) -> None:
    if kind == "interval":
        raise InputError(
            f"{name}, kind 'interval'",
            "ratings",
            "votes for classes",
            f"use stream_ratings, or {WHOLE}",
        )
    if kind == "ranking":
        raise InputError(f"{name}, kind 'ranking'", "rankings", "one label per row", WHOLE)


def _header(source: BatchedTable, options: AnnotationOptions) -> Table:
    """Find the columns: ours -> the name in the file, only those that are read."""
    name = source.header.name
    otherwise = f"; for other layouts {WHOLE}"
    known = annotation_headers(source.header, options)
    options = replace(options, columns=known.columns)
    source.header.required("label", options.columns, otherwise=otherwise)
    header = name_columns(source.header.noting(*known.notices), options)
    if "rank" in header.columns:
        raise InputError(f"{name}, column 'rank'", "rankings", "one label per row", WHOLE)
    idle = tuple(ours for ours in header.columns if ours not in _READ)
    if idle:
        text = "columns {columns:names} are not kept when streamed"
        header = header.noting(notice("columns_not_streamed", text, columns=idle))
    read = {ours: theirs for ours, theirs in header.columns.items() if ours in _READ}
    return replace(header, columns=read).noting(*source.notices)


def _batches(source: BatchedTable, header: Table, progress: Progress | None) -> Iterator[Table]:
    """Yield tables of the columns wanted, each knowing where its rows stand in the file."""
    done = 0
    for batch in source.batches(list(header.columns.values())):
        columns = {ours: batch[theirs] for ours, theirs in header.columns.items()}
        table = replace(header, columns=columns, place=_shifted(header.place, done))
        if not len(table):
            continue
        yield table
        done += len(table)
        if progress is not None:
            progress(done, max(done, source.rows))


def _shifted(place: Callable[[int], str], by: int) -> Callable[[int], str]:
    return lambda row: place(by + row)


class RatingSums:
    """Number, mean and squares of several items, to which more ratings can be added."""

    def __init__(self) -> None:
        self.number, self.mean, self.squares = (np.zeros(0) for _ in range(3))

    def add(self, item: Ints, value: Floats, weight: Floats, size: int) -> None:
        """Add ratings; `size` is how many items are known by now.

        Examples
        --------
        >>> sums = RatingSums()
        >>> for pair in (np.array([1.0, 2.0]), np.array([6.0, 7.0])):
        ...     sums.add(np.array([0, 0]), pair, np.ones(2), 1)
        >>> sums.number, sums.mean, sums.squares
        (array([4.]), array([4.]), array([26.]))
        """
        more = size - len(self.number)
        number, mean, squares = (
            np.append(part, np.zeros(more)) for part in (self.number, self.mean, self.squares)
        )
        fresh = np.bincount(item, weight, size)
        own = np.bincount(item, weight * value, size) / np.where(fresh > 0, fresh, 1.0)
        around = np.bincount(item, weight * (value - own[item]) ** 2, size)
        total = np.where(fresh > 0, number + fresh, 1.0)
        apart = np.where(fresh > 0, own - mean, 0.0)
        self.mean = mean + apart * fresh / total
        self.squares = squares + around + apart**2 * number * fresh / total
        self.number = number + fresh


@dataclass(slots=True, eq=False)
class _RatingSums:
    """All ratings of one task so far; `add` takes a batch."""

    task: str
    items: Vocabulary = field(default_factory=Vocabulary)
    sums: RatingSums = field(default_factory=RatingSums)
    first: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    known: Floats = field(default_factory=lambda: np.zeros(0))
    tasks: dict[str, None] = field(default_factory=dict)
    step: float = np.inf
    rows: int = 0
    blank: int = 0
    blank_items: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def add(self, table: Table) -> None:
        """Take in a batch whose columns have our names."""
        labels = only_used(replace(table, columns={"label": table.columns["label"]}))
        value = ratings(labels)
        there = ~np.isnan(value)
        check_annotators(table, there)
        count, weight = vote_numbers(table, there)
        item = self.items.codes(table, "item")
        self._note_first_rows(item, there)
        mine = there & self._of_task(table, there)
        self._refuse_gold(table, mine)
        mass = (count if weight is None else weight).astype(np.float64)
        self.sums.add(item[mine], value[mine], mass[mine], len(self.items.values))
        self._find_step(value[mine])
        self.rows += len(there)
        self.blank += int((~there).sum())

    def moments(self, source: Table, *, whole: bool) -> Moments:
        """Name the items, join those that are spelt differently, and say what was left out."""
        raw = np.argsort(self.first, kind="stable")
        raw = raw[self.first[raw] < _NEVER]
        if not len(raw):
            raise no_labels(source)
        place, first = source.place, self.first[raw]
        cells = replace(
            source,
            columns={"item": self.items.column(raw, whole=whole)},
            place=lambda row: place(int(first[row])),
        )
        names = code_ids(cells, "item")
        rated = np.bincount(names.codes, self.sums.number[raw]) > 0
        if not rated.any():
            where, got = "annotations, task", f"{self.task!r}"
            raise unknown_name(where, got, self.task, self.tasks, most=3)
        step = self.step if np.isfinite(self.step) else 0.0
        joined = self._joined(names.codes, raw, len(names.names))
        there = np.flatnonzero(rated)
        order = name_order([names.names[place] for place in there.tolist()])
        there = there if order is None else there[order]
        number, mean, squares = (part[there] for part in joined)
        items = tuple(names.names[place] for place in there.tolist())
        lost = int((self.blank_items & (self.first == _NEVER)).sum())
        notices = (blank_labels(self.blank, lost),) if self.blank else ()
        summed = Ratings(number, mean, squares, step)
        return Moments(items, summed, self.task, (*source.notices, *notices))

    def _joined(self, code: Ints, raw: Ints, size: int) -> tuple[Floats, Floats, Floats]:
        """Join the sums of items that have one name."""
        own, mean = self.sums.number[raw], self.sums.mean[raw]
        number = np.bincount(code, own, size).astype(np.float64)
        centre = np.bincount(code, own * mean, size) / np.where(number > 0, number, 1.0)
        around = self.sums.squares[raw] + own * (mean - centre[code]) ** 2
        return number, centre, np.bincount(code, around, size).astype(np.float64)

    def _note_first_rows(self, item: Ints, there: Bools) -> None:
        """Remember the first row with a rating of each item."""
        more = len(self.items.values) - len(self.first)
        self.first = np.append(self.first, np.full(more, _NEVER))
        self.blank_items = np.append(self.blank_items, np.zeros(more, dtype=bool))
        self.blank_items[item[~there]] = True
        fresh = np.flatnonzero(there & (self.first[item] == _NEVER))[::-1]
        self.first[item[fresh]] = self.rows + fresh

    def _of_task(self, table: Table, there: Bools) -> Bools:
        """Which rows belong to the task."""
        if "task" not in table.columns:
            self.tasks[""] = None
            return np.full(len(table), self.task == "")
        column = replace(table, columns={"task": table.columns["task"]})
        rated = code_ids(column.subset(there), "task")
        self.tasks |= dict.fromkeys(rated.names)
        code = rated.names.index(self.task) if self.task in rated.names else -1
        mine = np.zeros(len(table), dtype=bool)
        mine[there] = rated.codes == code
        return mine

    def _refuse_gold(self, table: Table, mine: Bools) -> None:
        if "is_gold" not in table.columns:
            return
        marks = replace(table, columns={"is_gold": table.columns["is_gold"]}).subset(mine)
        if flags(only_used(marks), "is_gold").any():
            raise InputError(
                "normal",
                "gold rows",
                "ratings only",
                "leave gold rows out: they settle an item",
            )

    def _find_step(self, value: Floats) -> None:
        """Find the smallest difference between unequal ratings."""
        self.known = np.union1d(self.known, value)
        self.step = min(self.step, np.diff(self.known).min(initial=np.inf))
        while len(self.known) > DISTINCT:
            self.known = self.known[::2]
