"""A tally of votes: the sums that stay in memory while a file streams by.

What is kept between batches is one cell per distinct item, task, label, gold mark and group,
as they are spelt, with the number of its votes, their weight and the row of the first of them.
The cells then go through `equipoise.read.tidy` as any tidy table does, so that kinds,
classes and messages are the same as for a file read whole.

A cell is one whole number that holds a code per column, a few bits each. Cells are summed by a
table of all possible numbers where that is small, else by sorting. What is checked row by row
(who voted, how many votes a row stands for, their weight) is checked here, batch by batch.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from equipoise.read.options import AnnotationOptions
from equipoise.read.tables import CodedNames, Table, code_ids, code_names, is_missing, no_text
from equipoise.read.tidy import blank_labels, optional_columns, tidy_annotations
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Bools, Floats, InputError, Ints
from equipoise.types.notices import Notice

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
        self, source: Table, whole: Collection[str], options: AnnotationOptions
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
        known = self.words["label"].values
        if len(self.missing) < len(known):
            fresh = Table(name="", columns={"label": known[len(self.missing) :]})
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
        known, code = np.unique(key, return_inverse=True)
        return known, code
    there = np.zeros(size, dtype=bool)
    there[key] = True
    known = np.flatnonzero(there)
    place = np.empty(size, dtype=np.int64)
    place[known] = np.arange(len(known))
    return known, place[key]


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
