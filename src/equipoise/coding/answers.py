"""The rows of a table of predictions: which item, task and model each belongs to.

Columns of numbers are read against these ids, so that every fault can be named by file,
row, model and item, and are then split into one array per model and task.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.arrays import Floats, InputError, Ints
from equipoise.coding.columns import Coded, coded, numbers
from equipoise.coding.options import PredictionOptions
from equipoise.coding.tables import Table


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
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
class Rows:
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
    item: Coded
    task: Coded | None
    model: Coded | None
    others: tuple[str, ...]

    @classmethod
    def of(cls, table: Table, how: PredictionOptions) -> "Rows":
        """Find the columns that name things, and code them."""
        item = table.required("item", how.columns)
        task, model = (table.found(ours, how.columns) for ours in ("task", "model"))
        others = tuple(name for name in table.columns if name not in (item, task, model))
        if not others:
            raise InputError(
                table.name, "no column of predictions", "a column of scores beside the items",
                "check the header and the delimiter",
            )  # fmt: skip
        return cls(
            table,
            _ids(table, item, "item"),
            None if task is None else _ids(table, task, "task"),
            None if model is None else _ids(table, model, "model"),
            others,
        )

    def numbers(self, column: str, model: str) -> Floats:
        """Read a column of finite numbers."""
        values = numbers(self.table, column, lambda row: self._named(row, model))
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            got = "blank or nan" if np.isnan(values[bad[0]]) else f"{values[bad[0]]}"
            raise InputError(
                self._named(bad[0], model), f"{column} is {got}", "a finite number",
                "correct the value or leave the row out",
            )  # fmt: skip
        return values

    def parts(self, answers: Answers) -> Iterator[dict[str, Any]]:
        """Split answers into the arguments of one `Predictions` per model and task."""
        group = np.zeros(len(self.table), dtype=np.int64)
        for ids in (self.model, self.task):
            if ids is not None:
                group = group * len(ids.names) + ids.codes
        self._refuse_twice(group * len(self.item.names) + self.item.codes, answers)
        items = np.array(self.item.names, dtype=object)
        firsts = np.sort(np.unique(group, return_index=True)[1])
        for first in firsts:
            rows = np.flatnonzero(group == group[first])
            yield {
                "model": _name(self.model, first) or answers.model,
                "items": tuple(items[self.item.codes[rows]]),
                "values": answers.values[rows],
                "classes": answers.classes,
                "task": _name(self.task, first) or answers.task,
            }

    def _named(self, row: int, model: str) -> str:
        """Name a row, its model and its item for a message."""
        who = _name(self.model, row) or model
        item = self.item.names[self.item.codes[row]]
        return f"{self.table.where(row)}, predictions of {who!r}, item {item!r}"

    def _refuse_twice(self, key: Ints, answers: Answers) -> None:
        order = np.argsort(key, kind="stable")
        twice = order[1:][key[order][1:] == key[order][:-1]]
        if len(twice):
            raise InputError(
                self._named(int(twice.min()), answers.model), "predicted before",
                "one row per item, task and model", "remove the later rows",
            )  # fmt: skip


def _name(ids: Coded | None, row: int) -> str:
    return "" if ids is None else ids.names[ids.codes[row]]


def _ids(table: Table, column: str, what: str) -> Coded:
    ids = coded(table, column)
    blank = np.flatnonzero(ids.codes < 0)
    if len(blank):
        raise InputError(
            table.where(blank[0]), f"a blank {what}", f"the {what} of every prediction",
            "fill it in or remove the row",
        )  # fmt: skip
    return ids
