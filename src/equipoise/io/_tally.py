"""A tally of votes: the sums that stay in memory while a file streams by.

What is kept between batches is one cell per distinct item, task, label, gold mark and group,
as they are spelt, with the number of its votes, their weight and the row of the first of them.
The cells then go through `equipoise.coding.votes` as any tidy table does, so that kinds,
classes and messages are the same as for a file read whole.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from equipoise.arrays import Bools, InputError, Ints
from equipoise.coding.batches import (
    Cells,
    Vocabulary,
    blank_labels,
    check_annotators,
    joined,
    missing_labels,
    packed,
    unpacked,
    vote_numbers,
)
from equipoise.coding.columns import coded
from equipoise.coding.options import AnnotationOptions
from equipoise.coding.tables import Table
from equipoise.coding.votes import vote_columns

KEYS = ("item", "task", "label", "is_gold", "group")
WIDEST = 62  # bits of a cell


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
        there = ~self._missing()[codes["label"]]
        check_annotators(table, there)
        count, weight = vote_numbers(table, there)
        self._widen()
        row = self.rows + np.arange(len(there))
        batch = Cells(packed(codes, self.bits), row, count, weight).summed()
        self.parts.append(batch)
        self.rows += len(there)
        self.blank += int((~there).sum())
        if sum(len(part.key) for part in self.parts[1:]) > len(self.parts[0].key):
            self.parts = [joined(self.parts)]

    def table(self, source: Table, whole: Collection[str]) -> Table:
        """Return the cells as a tidy table, with the rows they come from.

        Parameters
        ----------
        source
            Name, notices and places of the rows.
        whole
            Columns that keep the values no vote has, as columns of codes do.
        """
        import pyarrow as pa

        cells = joined(self.parts).by_appearance()
        codes = unpacked(cells.key, self.bits)
        there = ~self._missing()[codes["label"]]
        told = source.saying(*self._told(codes["item"], there))
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
        return replace(told, columns=columns, place=lambda row: place(int(cells.first[row])))

    def _told(self, item: Ints, there: Bools) -> tuple[str, ...]:
        """Say how many labels are blank, and how many items have no other."""
        if not self.blank:
            return ()
        column = self.words["item"].column(item, whole=True)
        names = coded(Table(name="", columns={"item": column}), "item")
        lost = len(names.names) - len(np.setdiff1d(names.codes[there], [-1]))
        return (blank_labels(self.blank, lost),)

    def _missing(self) -> Bools:
        """Which labels mean that there is none, by code."""
        known = self.words["label"].values
        if len(self.missing) < len(known):
            fresh = Table(name="", columns={"label": known[len(self.missing) :]})
            self.missing = np.append(self.missing, missing_labels(fresh))
        return self.missing

    def _widen(self) -> None:
        """Give columns more bits where they need them."""
        need = {name: words.bits for name, words in self.words.items()}
        if all(need[name] <= self.bits.get(name, 0) for name in need):
            return
        if sum(need.values()) > WIDEST:
            raise InputError(
                "streamed votes", f"columns {', '.join(need)} with too many distinct values",
                f"together at most {WIDEST} bits", "leave out the column of groups or tasks",
            )  # fmt: skip
        old, self.bits = self.bits, need
        self.parts = [
            part._replace(key=packed(unpacked(part.key, old), need)) for part in self.parts
        ]


def collapsed(table: Table, how: AnnotationOptions) -> dict[str, Any]:
    """Read a table of cells, and sum those that are equal once their names are read."""
    columns = vote_columns(table, how)
    names = [name for name in KEYS if name in columns and name != "group"]
    codes: dict[str, Ints] = {name: columns[name].astype(np.int64) for name in names}
    bits = {name: max(int(code.max()), 1).bit_length() for name, code in codes.items()}
    mass = columns["weight"] * columns["count"] if "weight" in columns else None
    rows = np.arange(len(columns["item"]))
    cells = Cells(packed(codes, bits), rows, columns["count"], mass).summed()
    if len(cells.key) == len(rows):
        return columns
    cells = cells.by_appearance()
    columns |= {name: columns[name][cells.first] for name in names} | {"count": cells.votes}
    if cells.weight is not None:
        columns["weight"] = cells.weight / cells.votes
    return columns
