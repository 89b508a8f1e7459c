"""Votes in batches: columns coded as they come, and equal votes summed.

A vote is one whole number that holds a code per column, a few bits each. Votes are summed by a
table of all possible numbers where that is small, else by sorting. What is checked row by row
(who voted, how many votes a row stands for, their weight) is checked here, batch by batch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from equipoise.arrays import Bools, Floats, InputError, Ints
from equipoise.coding.columns import Coded, coded, is_missing
from equipoise.coding.extras import extra_columns
from equipoise.coding.tables import Table
from equipoise.coding.votes import name_codes

SPARSE = 8  # cells a table of all possible cells may have for each vote, before sorting is used


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

        values = self.values
        if not whole:
            used = np.bincount(codes, minlength=len(values)) > 0
            values, codes = values.filter(pa.array(used)), (np.cumsum(used) - 1)[codes]
        return pa.DictionaryArray.from_arrays(pa.array(codes), values)


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


def missing_labels(table: Table) -> Bools:
    """Which rows of a batch have no label."""
    labels = coded(table, "label")
    return np.append(is_missing(labels.names), True)[labels.codes]


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
        name_codes(replace(table, columns={"annotator": array}).keep(there), "annotator")


def vote_numbers(table: Table, there: Bools) -> tuple[Ints, Floats | None]:
    """How many votes each row stands for, and their weight together if weights are given."""
    given = table.columns
    numeric = {name: given[name] for name in ("count", "weight") if name in given}
    count = np.ones(len(there), dtype=np.int64)
    if not numeric or not there.any():
        return count, np.ones(len(there)) if "weight" in numeric else None
    kept = only_used(replace(table, columns=numeric).keep(there))
    read, _ = extra_columns(kept, Coded(np.zeros(len(kept), dtype=np.int64), ("",)))
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

    columns = dict(table.columns)
    for name, array in table.columns.items():
        if pa.types.is_dictionary(array.type):
            index = np.asarray(array.indices.cast(pa.int64()).fill_null(-1))
            used = np.bincount(index[index >= 0], minlength=len(array.dictionary)) > 0
            code = np.append(np.cumsum(used) - 1, -1)[index]
            columns[name] = pa.DictionaryArray.from_arrays(
                pa.array(code, mask=code < 0), array.dictionary.filter(pa.array(used))
            )
    return replace(table, columns=columns)


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
        raise InputError(
            f"{table.name}, column {column!r}", f"values of type {array.type}",
            "text or numbers", "convert the column to text",
        ) from error  # fmt: skip


def _distinct(key: Ints) -> tuple[Ints, Ints]:
    """Return the distinct keys in order, and which of them each is."""
    size = int(key.max()) + 1
    if size > SPARSE * len(key) + 1024:
        known, code = np.unique(key, return_inverse=True)
        return known, code
    there = np.zeros(size, dtype=bool)
    there[key] = True
    known = np.flatnonzero(there)
    place = np.empty(size, dtype=np.int64)
    place[known] = np.arange(len(known))
    return known, place[key]


def packed(codes: Mapping[str, Ints], bits: Mapping[str, int]) -> Ints:
    """Put one code per column into one number."""
    key: Ints = np.zeros(1, dtype=np.int64)
    for name, width in bits.items():
        key = (key << width) | codes[name]
    return key


def unpacked(key: Ints, bits: Mapping[str, int]) -> dict[str, Ints]:
    """Take the codes out of the numbers again.

    Examples
    --------
    >>> unpacked(packed({"item": np.array([5])}, {"item": 3}), {"item": 3})
    {'item': array([5])}
    """
    codes: dict[str, Ints] = {}
    for name in reversed(list(bits)):
        width = bits[name]
        codes[name] = key & ((1 << width) - 1)
        key = key >> width
    return codes


def joined(parts: list[Cells]) -> Cells:
    """Sum several sums, the earliest first."""
    weight = [part.weight for part in parts if part.weight is not None]
    return Cells(
        np.concatenate([part.key for part in parts]),
        np.concatenate([part.first for part in parts]),
        np.concatenate([part.votes for part in parts]),
        np.concatenate(weight) if weight else None,
    ).summed()


def blank_labels(blank: int, lost: int) -> str:
    """Say that rows without a label are left out, and items that have no other row."""
    says = f"{blank:,} blank {'label is' if blank == 1 else 'labels are'} left out"
    also = f", and with them {lost:,} {'item' if lost == 1 else 'items'} without any other"
    return says + also if lost else says
