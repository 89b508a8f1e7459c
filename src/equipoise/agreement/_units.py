"""Units: how often each value was given to each item, all that agreement needs to know.

Who gave it plays no part, so anonymous counts will do, also counts streamed from a file larger
than memory. Items with fewer than two votes have nobody to agree with and drop out. Intervals
redraw items, or whole groups; with a single item or group to draw from they are undefined.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.agreement._votes import Votes, counted, votes
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, Ints
from equipoise.estimate import Estimate
from equipoise.resampling import Resampling, resample

WIDTH = 256  # replicates at a time, at most
CELLS = 2**22  # numbers held at a time for a block of replicates
Compute = Callable[[Floats], Floats]  # of counts (units, replicates), one column each


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
    numeric, ordered
        Whether `value` holds numbers that the data gave, and whether they have an order.
    """

    item: Ints
    count: Any
    value: Floats
    numeric: bool
    ordered: bool

    @property
    def votes(self) -> Floats:
        """Number of votes, shape (units,)."""
        return np.asarray(self.count.sum(axis=1)).ravel()


def units(annotations: Annotations, task: str = "") -> Units:
    """Count the votes of one task by item and value.

    Examples
    --------
    >>> table = Annotations(kind="nominal", items=("a", "b"), classes=("x", "y"),
    ...     item=np.array([0, 0, 1]), label=np.array([1, 1, 0]))
    >>> units(table).count.toarray()
    array([[0., 2.]])
    """
    found = votes(annotations, task)
    return units_of(found, counted(found))


def units_of(found: Votes, count: Any) -> Units:
    """Keep the items that have at least two votes."""
    number = np.asarray(count.sum(axis=1)).ravel()
    several = np.flatnonzero(number >= 2)
    kept = count if len(several) == len(number) else count[several]
    return Units(several, kept, found.value, found.numeric, found.ordered)


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


def estimated(
    item: Ints,
    plan: Resampling,
    compute: Compute,
    *,
    low: float = -1.0,
    width: int = 1,
) -> Estimate:
    """Value and replicates of ``compute(counts)``, counts of units (units, replicates).

    Parameters
    ----------
    item
        Which items of the plan the units are.
    low
        Smallest value that is possible.
    width
        Numbers that `compute` holds for each replicate besides one per unit.
    """
    once = float(compute(np.ones((len(item), 1)))[0])
    if not several(item, plan):
        return Estimate(once, np.full(plan.replicates, np.nan), plan.fingerprint, (low, 1.0))
    step = min(WIDTH, max(1, CELLS // max(len(plan.items), width)))
    parts = [
        compute(plan.item_counts(first, min(first + step, plan.replicates))[item].astype(float))
        for first in range(0, plan.replicates, step)
    ]
    return Estimate(once, np.concatenate(parts), plan.fingerprint, (low, 1.0))


def summed(*vectors: Floats) -> Compute:
    """Return the function from counts to sums of vectors over units, (vectors, replicates).

    A sparse product: its bits do not depend on how many threads there are.

    Examples
    --------
    >>> summed(np.array([1.0, 2.0]), np.array([0.0, 3.0]))(np.array([[1.0], [2.0]]))
    array([[5.],
           [6.]])
    """
    from scipy.sparse import csr_matrix

    table = csr_matrix(np.stack(vectors))
    return lambda counts: np.asarray(table @ counts)


def several(item: Ints, plan: Resampling) -> bool:
    """Whether there is more than one item or group to draw from."""
    drawn = item if plan.group is None else np.unique(plan.group[item])
    return len(drawn) > 1
