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

A tally of votes: the sums that stay in memory while a file streams by.

What is kept between batches is one cell per distinct item, task, label, gold mark and group,
as they are spelt, with the number of its votes, their weight and the row of the first of them.
The cells then go through `equipoise.read.tidy` as any tidy table does, so that kinds,
classes and messages are the same as for a file read whole.

A cell is one whole number that holds a code per column, a few bits each. Cells are summed by a
table of all possible numbers where that is small, else by sorting. What is checked row by row
(who voted, how many votes a row stands for, their weight) is checked here, batch by batch.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from equipoise.read import delimited, parquet
from equipoise.read.files import AnyPath, Content, content, require_file, unknown_ending
from equipoise.read.headers import annotation_headers
from equipoise.read.options import VoteFormat
from equipoise.read.sources import TABULAR
from equipoise.read.tables import (
    BatchedTable,
    CodedNames,
    Table,
    code_ids,
    code_names,
    flags,
    is_missing,
    no_text,
    ratings,
)
from equipoise.read.tidy import (
    blank_labels,
    name_columns,
    no_labels,
    optional_columns,
    tidy_annotations,
)
from equipoise.truth.ratings import Moments
from equipoise.types.annotations import Annotations, Kind
from equipoise.types.arrays import Bools, Floats, InputError, Ints, name_order, unknown_name
from equipoise.types.notices import Notice, notice

KEYS = ("item", "task", "label", "is_gold", "group")
_WIDEST = 62  # bits of a cell
_SPARSE = 8  # cells that a table of all cells may have for each vote before sorting is used


@dataclass(slots=True, eq=False)
class Vocabulary:
    """The distinct values of one column so far; code 0 stands for none."""

    values: Any = None  # a pyarrow Array, the first of it null

    def codes(self, table: Table, column: str) -> Ints:
        """Code a batch of the column, taking in values that are new.

        Examples
        --------
        >>> import pyarrow
        >>> known = Vocabulary()
        >>> known.codes(Table(name="t", columns={"item": pyarrow.array([7, None, 3])}), "item")
        array([1, 0, 2])
        >>> known.codes(Table(name="t", columns={"item": pyarrow.array([5, 3])}), "item")
        array([3, 2])
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        array = _encoded(table, column)
        words = array.dictionary
        if self.values is None:
            self.values = pa.nulls(1, words.type)
        code = np.array(pc.index_in(words, value_set=self.values).fill_null(-1), dtype=np.int64)
        new = code < 0
        if new.any():
            code[new] = len(self.values) + np.arange(int(new.sum()))
            self.values = pa.concat_arrays([self.values, words.filter(pa.array(new))])
        index = array.indices
        if index.null_count:
            index = index.cast(pa.int64()).fill_null(len(words))
        return np.asarray(np.append(code, 0)[np.asarray(index)])

    @property
    def bits(self) -> int:
        """How many bits the largest code needs."""
        return max(len(self.values) - 1, 1).bit_length()

    def column(self, codes: Ints, *, whole: bool) -> Any:
        """Return codes as an arrow column; values that no row has are left out or kept."""
        import pyarrow as pa

        array = pa.DictionaryArray.from_arrays(pa.array(codes), self.values)
        return array if whole else _only_used(array)


class Cells(NamedTuple):
    """Distinct votes: what they are, the row of the first, how many, and their weight."""

    key: Ints
    first: Ints
    votes: Ints
    weight: Floats | None

    def summed(self) -> "Cells":
        """Sum equal cells; earlier rows must come first.

        Examples
        --------
        >>> Cells(np.array([4, 2, 4]), np.arange(3), np.array([1, 1, 5]), None).summed().votes
        array([1, 6])
        """
        key, code = _distinct(self.key)
        first = np.empty(len(key), dtype=np.int64)
        first[code[::-1]] = self.first[::-1]
        votes = np.bincount(code, self.votes).astype(np.int64)
        if self.weight is None:
            return Cells(key, first, votes, None)
        return Cells(key, first, votes, np.bincount(code, self.weight).astype(np.float64))

    def at(self, rows: Ints) -> "Cells":
        """Return some of the cells."""
        weight = None if self.weight is None else self.weight[rows]
        return Cells(self.key[rows], self.first[rows], self.votes[rows], weight)

    def by_appearance(self) -> "Cells":
        """Put the cells in the order of their first rows."""
        return self.at(np.argsort(self.first, kind="stable"))


@dataclass(slots=True, eq=False)
class Tally:
    """All votes so far, summed; `add` takes a batch.

    Attributes
    ----------
    rows, blank
        Number of rows seen, and of those without a label.
    """

    words: dict[str, Vocabulary] = field(default_factory=dict)
    bits: dict[str, int] = field(default_factory=dict)
    parts: list[Cells] = field(default_factory=list)
    missing: Bools = field(default_factory=lambda: np.ones(1, dtype=bool))
    rows: int = 0
    blank: int = 0

    def add(self, table: Table) -> None:
        """Take in a batch whose columns have our names."""
        codes = {
            name: self.words.setdefault(name, Vocabulary()).codes(table, name)
            for name in KEYS
            if name in table.columns
        }
        there = ~self._missing_labels()[codes["label"]]
        check_annotators(table, there)
        count, weight = vote_numbers(table, there)
        self._widen()
        row = self.rows + np.arange(len(there))
        batch = Cells(_pack_codes(codes, self.bits), row, count, weight).summed()
        self.parts.append(batch)
        self.rows += len(there)
        self.blank += int((~there).sum())
        if sum(len(part.key) for part in self.parts[1:]) > len(self.parts[0].key):
            self.parts = [_sum_parts(self.parts)]

    def annotations(
        self, source: Table, whole: Collection[str], options: VoteFormat
    ) -> Annotations:
        """Read the cells, and sum those that are equal once their names are read.

        Parameters
        ----------
        source
            Name, notices and places of the rows.
        whole
            Columns that keep the values no vote has, as columns of codes do.
        """
        table = tidy_annotations(self._table(source, whole), options)
        columns = {name: getattr(table, name) for name in KEYS if name != "group"}
        codes: dict[str, Ints] = {
            name: column.astype(np.int64)
            for name, column in columns.items()
            if column is not None
        }
        bits = {name: max(int(code.max()), 1).bit_length() for name, code in codes.items()}
        assert table.count is not None  # every table of cells has it
        mass = None if table.weight is None else table.weight * table.count
        rows = np.arange(len(table))
        cells = Cells(_pack_codes(codes, bits), rows, table.count, mass).summed()
        if len(cells.key) == len(rows):
            return table
        cells = cells.by_appearance()
        weight = None if cells.weight is None else cells.weight / cells.votes
        shorter = {name: columns[name][cells.first] for name in codes}
        return replace(table, **shorter, count=cells.votes, weight=weight)

    def _table(self, source: Table, whole: Collection[str]) -> Table:
        """Return the cells as a tidy table, with the rows they come from."""
        import pyarrow as pa

        cells = _sum_parts(self.parts).by_appearance()
        codes = _unpack_codes(cells.key, self.bits)
        there = ~self._missing_labels()[codes["label"]]
        noted = source.noting(*self._blank_labels(codes["item"], there))
        if there.any():
            codes = {name: code[there] for name, code in codes.items()}
            cells = cells.at(np.flatnonzero(there))
        columns = {
            name: self.words[name].column(code, whole=name in whole)
            for name, code in codes.items()
        }
        columns["count"] = pa.array(cells.votes)
        if cells.weight is not None:
            columns["weight"] = pa.array(cells.weight / cells.votes)
        place = source.place
        return replace(noted, columns=columns, place=lambda row: place(int(cells.first[row])))

    def _blank_labels(self, item: Ints, there: Bools) -> tuple[Notice, ...]:
        """Say how many labels are blank, and how many items have no other."""
        if not self.blank:
            return ()
        column = self.words["item"].column(item, whole=True)
        names = code_names(Table(name="", columns={"item": column}), "item")
        lost = len(names.names) - len(np.setdiff1d(names.codes[there], [-1]))
        return (blank_labels(self.blank, lost),)

    def _missing_labels(self) -> Bools:
        """Which labels mean that there is none, by code."""
        labels_seen = self.words["label"].values
        if len(self.missing) < len(labels_seen):
            fresh = Table(name="", columns={"label": labels_seen[len(self.missing) :]})
            labels = code_names(fresh, "label")
            gone = np.append(is_missing(labels.names), True)[labels.codes]
            self.missing = np.append(self.missing, gone)
        return self.missing

    def _widen(self) -> None:
        """Give columns more bits where they need them."""
        need = {name: words.bits for name, words in self.words.items()}
        if all(need[name] <= self.bits.get(name, 0) for name in need):
            return
        if sum(need.values()) > _WIDEST:
            raise InputError(
                "streamed votes",
                f"columns {', '.join(need)} with too many distinct values",
                f"together at most {_WIDEST} bits",
                "leave out the column of groups or tasks",
            )
        old, self.bits = self.bits, need
        self.parts = [
            part._replace(key=_pack_codes(_unpack_codes(part.key, old), need))
            for part in self.parts
        ]


def check_annotators(table: Table, there: Bools) -> None:
    """Raise if a row that has a label has no annotator, where the table names them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if "annotator" not in table.columns:
        return
    array = _encoded(table, "annotator")
    words = array.dictionary
    if pa.types.is_large_string(words.type):
        blank = pc.equal(pc.utf8_trim_whitespace(words), "")
    else:
        blank = pc.is_null(words, nan_is_null=True)
    if array.null_count or words.null_count or pc.any(blank).as_py():
        code_ids(replace(table, columns={"annotator": array}).subset(there), "annotator")


def vote_numbers(table: Table, there: Bools) -> tuple[Ints, Floats | None]:
    """How many votes each row stands for, and their weight together if weights are given."""
    columns = table.columns
    numeric = {name: columns[name] for name in ("count", "weight") if name in columns}
    count = np.ones(len(there), dtype=np.int64)
    if not numeric or not there.any():
        return count, np.ones(len(there)) if "weight" in numeric else None
    subset = only_used(replace(table, columns=numeric).subset(there))
    nobody = CodedNames(np.zeros(len(subset), dtype=np.int64), ("",))
    read, _ = optional_columns(subset, nobody)
    if "count" in read:
        count[there] = read["count"]
    if "weight" not in read:
        return count, None
    weight = np.ones(len(there))
    weight[there] = read["weight"]
    return count, weight * count


def only_used(table: Table) -> Table:
    """Leave out words that no row has, as columns of codes may hold those of other batches."""
    import pyarrow as pa

    columns = {
        name: _only_used(array) if pa.types.is_dictionary(array.type) else array
        for name, array in table.columns.items()
    }
    return replace(table, columns=columns)


def _only_used(array: Any) -> Any:
    import pyarrow as pa

    index = np.asarray(array.indices.cast(pa.int64()).fill_null(-1))
    used = np.bincount(index[index >= 0], minlength=len(array.dictionary)) > 0
    code = np.append(np.cumsum(used) - 1, -1)[index]
    return pa.DictionaryArray.from_arrays(
        pa.array(code, mask=code < 0), array.dictionary.filter(pa.array(used))
    )


def _encoded(table: Table, column: str) -> Any:
    """Return a batch of a column as arrow codes and values; text is of the large kind."""
    import pyarrow as pa

    array = table.columns[column]
    try:
        if pa.types.is_null(array.type):
            array = array.cast(pa.large_string())
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        if not pa.types.is_string(array.dictionary.type):
            return array
        return pa.DictionaryArray.from_arrays(
            array.indices, array.dictionary.cast(pa.large_string())
        )
    except pa.ArrowException as error:
        raise no_text(table, column, array.type) from error


def _distinct(key: Ints) -> tuple[Ints, Ints]:
    """Return the distinct keys in order, and which of them each is."""
    size = int(key.max()) + 1
    if size > _SPARSE * len(key) + 1024:
        keys, code = np.unique(key, return_inverse=True)
        return keys, code
    there = np.zeros(size, dtype=bool)
    there[key] = True
    keys = np.flatnonzero(there)
    place = np.empty(size, dtype=np.int64)
    place[keys] = np.arange(len(keys))
    return keys, place[key]


def _pack_codes(codes: Mapping[str, Ints], bits: Mapping[str, int]) -> Ints:
    """Put one code per column into one number."""
    key: Ints = np.zeros(1, dtype=np.int64)
    for name, width in bits.items():
        key = (key << width) | codes[name]
    return key


def _unpack_codes(key: Ints, bits: Mapping[str, int]) -> dict[str, Ints]:
    """Take the codes out of the numbers again.

    Examples
    --------
    >>> _unpack_codes(_pack_codes({"item": np.array([5])}, {"item": 3}), {"item": 3})
    {'item': array([5])}
    """
    codes: dict[str, Ints] = {}
    for name in reversed(list(bits)):
        width = bits[name]
        codes[name] = key & ((1 << width) - 1)
        key = key >> width
    return codes


def _sum_parts(parts: list[Cells]) -> Cells:
    """Sum several sums, the earliest first."""
    weight = [part.weight for part in parts if part.weight is not None]
    return Cells(
        np.concatenate([part.key for part in parts]),
        np.concatenate([part.first for part in parts]),
        np.concatenate([part.votes for part in parts]),
        np.concatenate(weight) if weight else None,
    ).summed()


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
    note = notice("votes_counted", text, votes=int(votes.count.sum()))
    return replace(votes, notices=(*votes.notices, note))


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


def _options(source: BatchedTable, keywords: Mapping[str, Any]) -> VoteFormat:
    """Check the keywords; a file of ours tells its kind and classes itself."""
    options = VoteFormat.of(keywords)
    if options == VoteFormat() and source.kind is not None:
        return VoteFormat.of({"kind": source.kind, "classes": source.classes or None})
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


def _header(source: BatchedTable, options: VoteFormat) -> Table:
    """Find the columns: ours -> the name in the file, only those that are read."""
    name = source.header.name
    otherwise = f"; for other layouts {WHOLE}"
    headers = annotation_headers(source.header, options)
    options = replace(options, columns=headers.columns)
    source.header.required("label", options.columns, otherwise=otherwise)
    header = name_columns(source.header.noting(*headers.notices), options)
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
        fresh_mean = np.bincount(item, weight * value, size) / np.where(fresh > 0, fresh, 1.0)
        around = np.bincount(item, weight * (value - fresh_mean[item]) ** 2, size)
        total = np.where(fresh > 0, number + fresh, 1.0)
        apart = np.where(fresh > 0, fresh_mean - mean, 0.0)
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
        notices = (*source.notices, *notices)
        return Moments(items, number, mean, squares, step, self.task, notices)

    def _joined(self, code: Ints, raw: Ints, size: int) -> tuple[Floats, Floats, Floats]:
        """Join the sums of items that have one name."""
        ratings_of_item, mean = self.sums.number[raw], self.sums.mean[raw]
        number = np.bincount(code, ratings_of_item, size).astype(np.float64)
        centre = np.bincount(code, ratings_of_item * mean, size) / np.where(
            number > 0, number, 1.0
        )
        around = self.sums.squares[raw] + ratings_of_item * (mean - centre[code]) ** 2
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
