"""Votes of one task as agreement sees them: item, value, how often, and by whom if known.

Gold rows are not opinions and weights do not make a vote more than one: both are left aside.
A vote that one annotator repeats on an item is a vote again. Values stand in their order where
they have one: ratings and classes that are numbers by size, grades as they were declared.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, Ints

DENSE = 2**22  # cells of (items, values) counted without sorting


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """Votes of one task.

    Attributes
    ----------
    item, code
        Positions of items and values, shape (rows,).
    times
        How many votes a row stands for; None means one.
    who
        Positions of annotators; None for anonymous votes.
    items
        Number of items, also those without votes.
    value
        What the codes mean as numbers, shape (values,); codes where they are names.
    numeric, ordered
        Whether `value` holds numbers that the data gave, and whether the codes have an order.
    """

    item: Ints
    code: Ints
    times: Floats | None
    who: Ints | None
    items: int
    value: Floats
    numeric: bool
    ordered: bool

    @property
    def number(self) -> Floats:
        """Votes of each row, shape (rows,)."""
        return np.ones(len(self.item)) if self.times is None else self.times


def votes(annotations: Annotations, task: str = "") -> Votes:
    """Collect the votes of one task.

    Examples
    --------
    >>> table = Annotations(kind="nominal", items=("a", "b"), classes=("3", "1"),
    ...     item=np.array([0, 0, 1]), label=np.array([0, 0, 1]))
    >>> found = votes(table)
    >>> found.code, found.value
    (array([1, 1, 0]), array([1., 3.]))
    """
    if annotations.rank is not None:
        raise InputError(
            "agreement", "rankings", "one label or rating per vote",
            "use reading_agreement for rankings, or ask about one class with against()",
        )  # fmt: skip
    rows = opinions(annotations, task)
    code, value, numeric = _values(annotations, rows)
    known = annotations.annotators is not None and annotations.annotator is not None
    return Votes(
        item=annotations.item[rows],
        code=code,
        times=None if annotations.count is None else annotations.count[rows].astype(float),
        who=annotations.annotator[rows]
        if known and annotations.annotator is not None
        else None,
        items=len(annotations.items),
        value=value,
        numeric=numeric,
        ordered=numeric or annotations.kind == "ordinal" or len(value) <= 2,
    )


def opinions(annotations: Annotations, task: str) -> Ints | slice:
    """Rows of one task that are not gold; all of them as a slice, which copies nothing."""
    chosen = annotations.in_task(task)
    if annotations.is_gold is not None:
        chosen = chosen & ~annotations.is_gold
    if not chosen.any():
        where = f"agreement, task {task!r}" if task else "agreement"
        got = "no votes" if annotations.is_gold is None else "no votes besides gold rows"
        raise InputError(where, got, "at least one", "check the file")
    return slice(None) if chosen.all() else np.flatnonzero(chosen)


def _values(annotations: Annotations, rows: Ints | slice) -> tuple[Ints, Floats, bool]:
    """Code of each row, and what the codes mean."""
    if annotations.value is not None:
        value, code = np.unique(annotations.value[rows], return_inverse=True)
        return code, value.astype(np.float64), True
    assert annotations.label is not None
    label = annotations.label[rows]
    try:
        number = np.array([float(name) for name in annotations.classes])
    except ValueError:
        number = np.array([np.nan])
    if not np.isfinite(number).all():
        return label, np.arange(len(annotations.classes), dtype=float), False
    order = np.argsort(number, kind="stable")
    if annotations.kind == "ordinal" or (np.diff(order) > 0).all():
        return label, number, True
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place[label], number[order], True


def counted(found: Votes, rows: Any = slice(None)) -> Any:
    """How often each value was given to each item, sparse (items, values).

    Parameters
    ----------
    rows
        Which votes to count.
    """
    from scipy.sparse import csr_matrix

    item, code, size = found.item[rows], found.code[rows], len(found.value)
    times = None if found.times is None else found.times[rows]
    key = item.astype(np.int64, copy=False) * size + code
    if found.items * size <= max(DENSE, 4 * len(key)):
        number = np.bincount(key, times, found.items * size)
        pair = np.flatnonzero(number)
        number = number[pair]
    else:
        pair, place = np.unique(key, return_inverse=True)
        number = np.bincount(place, times)
    start = np.searchsorted(pair, np.arange(found.items + 1) * size)
    shape = (found.items, size)
    return csr_matrix((number.astype(np.float64), pair % size, start), shape=shape)
