"""Units: how often each value was given to each item, all that agreement needs to know.

Who gave it plays no part, so anonymous counts will do, also counts streamed from a file larger
than memory. Gold rows are not opinions and weights do not make a vote more than one: both are
left aside. Items with fewer than two votes have nobody to agree with and drop out.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, Ints
from equipoise.estimate import Estimate
from equipoise.resampling import Resampling, resample

DENSE = 2**26  # cells of (items, values) counted without sorting
WIDTH = 256  # replicates at a time


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """Votes of one task, counted by item and value; only items with at least two.

    Attributes
    ----------
    item
        Positions in ``annotations.items``, shape (units,).
    count
        Votes, sparse (units, values).
    value
        What the values mean as numbers, shape (values,); codes where they are names.
    numeric
        Whether `value` holds numbers that the data gave.
    """

    item: Ints
    count: Any
    value: Floats
    numeric: bool

    @property
    def votes(self) -> Floats:
        """Number of votes, shape (units,)."""
        return np.asarray(self.count.sum(axis=1)).ravel()


def units(annotations: Annotations, task: str = "") -> Units:
    """Count the votes of one task by item and value.

    Examples
    --------
    >>> votes = Annotations(kind="nominal", items=("a", "b"), classes=("x", "y"),
    ...     item=np.array([0, 0, 1]), label=np.array([1, 1, 0]))
    >>> units(votes).count.toarray()
    array([[0., 2.]])
    """
    from scipy.sparse import csr_matrix

    if annotations.rank is not None:
        raise InputError(
            "agreement", "rankings", "one label or rating per vote",
            "use reading_agreement for rankings, or ask about one class with against()",
        )  # fmt: skip
    rows = opinions(annotations, task)
    code, value, numeric = _values(annotations, rows)
    times = None if annotations.count is None else annotations.count[rows].astype(np.float64)
    item, column, number = _counted(annotations.item[rows], code, len(value), times)
    votes = np.bincount(item, number, len(annotations.items))
    several = np.flatnonzero(votes >= 2)
    kept = votes[item] >= 2
    start = np.searchsorted(item[kept], np.append(several, len(annotations.items)))
    shape = (len(several), len(value))
    table = csr_matrix((number[kept], column[kept], start), shape=shape)
    return Units(several, table, value, numeric)


def opinions(annotations: Annotations, task: str) -> Ints | slice:
    """Rows of one task that are not gold; all of them as a slice, which copies nothing."""
    chosen = annotations.in_task(task)
    if annotations.is_gold is not None:
        chosen = chosen & ~annotations.is_gold
    if not chosen.any():
        raise InputError(f"agreement, task {task!r}", "no votes", "at least one", "check it")
    return slice(None) if chosen.all() else np.flatnonzero(chosen)


def _values(annotations: Annotations, rows: Ints | slice) -> tuple[Ints, Floats, bool]:
    """Code of each row, and what the codes mean."""
    if annotations.value is not None:
        value, code = np.unique(annotations.value[rows], return_inverse=True)
        return code, value.astype(np.float64), True
    assert annotations.label is not None
    try:
        number = np.array([float(name) for name in annotations.classes])
    except ValueError:
        number = np.array([np.nan])
    if np.isfinite(number).all():
        return annotations.label[rows], number, True
    return annotations.label[rows], np.arange(len(annotations.classes), dtype=float), False


def _counted(
    item: Ints, code: Ints, values: int, times: Floats | None
) -> tuple[Ints, Ints, Floats]:
    """Item, code and number of every pair that occurs."""
    size = (int(item.max()) + 1) * values
    key = item.astype(np.int64, copy=False) * values + code
    if size <= max(DENSE, 4 * len(key)):
        number = np.bincount(key, times, size)
        pair = np.flatnonzero(number)
        return pair // values, pair % values, number[pair].astype(np.float64)
    pair, place = np.unique(key, return_inverse=True)
    return pair // values, pair % values, np.bincount(place, times).astype(np.float64)


def plan_for(annotations: Annotations, plan: Resampling | None) -> Resampling:
    """Check the plan, or make the default: 1,000 resamples of items, seed 0."""
    if plan is None:
        return resample(annotations, "items", replicates=1000)
    if plan.items != annotations.items or plan.kind != "items":
        raise InputError(
            "agreement, plan", f"a plan of {plan.kind} for {len(plan.items):,} items",
            f"a plan of items for these {len(annotations.items):,}",
            "make it with resample(annotations, 'items')",
        )  # fmt: skip
    return plan


def estimated(found: Units, plan: Resampling, compute: Any, low: float = -1.0) -> Estimate:
    """Value and replicates of ``compute(counts)``, counts of units (units, replicates)."""
    once = compute(np.ones((len(found.item), 1)))
    parts = [
        compute(plan.item_counts(first, min(first + WIDTH, plan.replicates))[found.item])
        for first in range(0, plan.replicates, WIDTH)
    ]
    return Estimate(float(once[0]), np.concatenate(parts), plan.fingerprint, (low, 1.0))
