r"""Ratings summed as a file streams by: number, mean and squares around it, item by item.

Sums of two batches a and b of one item are joined without cancellation (Chan, Golub, LeVeque
1983), with the difference :math:`\delta = \bar y_b - \bar y_a` of their means:

.. math:: n = n_a + n_b, \quad \bar y = \bar y_a + \delta \frac{n_b}{n}, \quad
    S = S_a + S_b + \delta^2 \frac{n_a n_b}{n}

The smallest difference between two unequal ratings is exact up to a million distinct ratings.
With more, every other one of them is forgotten as often as needed, and the difference is the
smallest that was seen; the normal model uses it only as a lower limit of the scatter.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from equipoise.aggregate.normal import Moments, Ratings
from equipoise.arrays import Bools, Floats, InputError, Ints, listed, meant
from equipoise.coding.batches import (
    Vocabulary,
    blank_labels,
    check_annotators,
    only_used,
    vote_numbers,
)
from equipoise.coding.columns import flags, numbers
from equipoise.coding.tables import Table
from equipoise.coding.votes import name_codes

DISTINCT = 1_000_000  # ratings remembered to find the smallest difference between two
NEVER = np.iinfo(np.int64).max


class Sums:
    """Number, mean and squares of several items, to which more ratings can be added."""

    def __init__(self) -> None:
        self.number, self.mean, self.squares = (np.zeros(0) for _ in range(3))

    def add(self, item: Ints, value: Floats, weight: Floats, size: int) -> None:
        """Add ratings; `size` is how many items are known by now.

        Examples
        --------
        >>> sums = Sums()
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
class Rated:
    """All ratings of one task so far; `add` takes a batch."""

    task: str
    items: Vocabulary = field(default_factory=Vocabulary)
    sums: Sums = field(default_factory=Sums)
    first: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    known: Floats = field(default_factory=lambda: np.zeros(0))
    tasks: dict[str, None] = field(default_factory=dict)
    step: float = np.inf
    rows: int = 0
    blank: int = 0
    blank_items: Bools = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def add(self, table: Table) -> None:
        """Take in a batch whose columns have our names."""
        value = _finite(table)
        there = ~np.isnan(value)
        check_annotators(table, there)
        count, weight = vote_numbers(table, there)
        item = self.items.codes(table, "item")
        self._appeared(item, there)
        asked = there & self._asked(table, there)
        self._refuse_gold(table, asked)
        mass = (count if weight is None else weight).astype(np.float64)
        size = len(self.items.values)
        self.sums.add(item[asked], value[asked], mass[asked], size)
        self._gaps(value[asked])
        self.rows += len(there)
        self.blank += int((~there).sum())

    def moments(self, source: Table, *, whole: bool) -> Moments:
        """Name the items, join those that are spelt differently, and say what was found."""
        raw = np.argsort(self.first, kind="stable")
        raw = raw[self.first[raw] < NEVER]
        if not len(raw):
            raise InputError(
                f"{source.name}, column 'label'", "no label in any row", "at least one",
                "fill it in",
            )  # fmt: skip
        place, first = source.place, self.first[raw]
        cells = replace(
            source,
            columns={"item": self.items.column(raw, whole=whole)},
            place=lambda row: place(int(first[row])),
        )
        names = name_codes(cells, "item")
        rated = np.bincount(names.codes, self.sums.number[raw]) > 0
        if not rated.any():
            raise self._unknown()
        joined = self._joined(names.codes, raw, len(names.names))
        step = self.step if np.isfinite(self.step) else 0.0
        number, mean, squares = (part[rated] for part in joined)
        kept = Ratings(number, mean, squares, step)
        items = tuple(name for name, has in zip(names.names, rated, strict=True) if has)
        lost = int((self.blank_items & (self.first == NEVER)).sum())
        says = (blank_labels(self.blank, lost),) if self.blank else ()
        return Moments(items, kept, self.task, (*source.notices, *says))

    def _joined(self, code: Ints, raw: Ints, size: int) -> tuple[Floats, Floats, Floats]:
        """Join the sums of items that have one name."""
        own, mean = self.sums.number[raw], self.sums.mean[raw]
        number = np.bincount(code, own, size).astype(np.float64)
        centre = np.bincount(code, own * mean, size) / np.where(number > 0, number, 1.0)
        around = self.sums.squares[raw] + own * (mean - centre[code]) ** 2
        return number, centre, np.bincount(code, around, size).astype(np.float64)

    def _appeared(self, item: Ints, there: Bools) -> None:
        """Remember the first row with a rating of each item."""
        more = len(self.items.values) - len(self.first)
        self.first = np.append(self.first, np.full(more, NEVER))
        self.blank_items = np.append(self.blank_items, np.zeros(more, dtype=bool))
        self.blank_items[item[~there]] = True
        fresh = np.flatnonzero(there & (self.first[item] == NEVER))[::-1]
        self.first[item[fresh]] = self.rows + fresh

    def _asked(self, table: Table, there: Bools) -> Bools:
        """Which rows belong to the task."""
        if "task" not in table.columns:
            self.tasks[""] = None
            return np.full(len(table), self.task == "")
        kept = name_codes(
            replace(table, columns={"task": table.columns["task"]}).keep(there), "task"
        )
        self.tasks |= dict.fromkeys(kept.names)
        mine = kept.names.index(self.task) if self.task in kept.names else -1
        asked = np.zeros(len(table), dtype=bool)
        asked[there] = kept.codes == mine
        return asked

    def _refuse_gold(self, table: Table, asked: Bools) -> None:
        if "is_gold" not in table.columns:
            return
        marks = replace(table, columns={"is_gold": table.columns["is_gold"]}).keep(asked)
        if flags(only_used(marks), "is_gold").any():
            raise InputError(
                "normal", "gold rows", "ratings only",
                "leave gold rows out: they settle an item",
            )  # fmt: skip

    def _gaps(self, value: Floats) -> None:
        """Find the smallest difference between unequal ratings."""
        self.known = np.union1d(self.known, value)
        self.step = min(self.step, np.diff(self.known).min(initial=np.inf))
        while len(self.known) > DISTINCT:
            self.known = self.known[::2]

    def _unknown(self) -> InputError:
        known = tuple(self.tasks)
        return InputError(
            "annotations, task", f"{self.task!r}", f"one of {listed(known)}",
            meant(self.task, known),
        )  # fmt: skip


def _finite(table: Table) -> Floats:
    """Read ratings; nan is a missing one, infinity an error."""
    labels = only_used(replace(table, columns={"label": table.columns["label"]}))
    value = numbers(labels, "label")
    endless = np.flatnonzero(np.isinf(value))
    if len(endless):
        row = int(endless[0])
        raise InputError(
            table.where(row), f"label {value[row]}", "a finite number", "correct the value"
        )
    return value
