"""Votes of one task as agreement sees them, and how often each value was given to each item.

Gold rows are not opinions and weights do not make a vote more than one: both are left aside.
A vote that one annotator repeats on an item is a vote again. Values stand in their order where
they have one: ratings and classes that are numbers by size, grades as they were declared.

Most coefficients need only `Units`: who voted plays no part, so anonymous counts will do, also
counts streamed from a file larger than memory. Items with fewer than two votes have nobody to
agree with and drop out. Intervals resample items, or whole groups; with a single item or group
to draw from they are undefined.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.inference.estimate import Estimate
from equipoise.inference.resampling import Resampling, resample
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Floats, InputError, Ints
from equipoise.types.votes import gold_rows, vote_counts
from equipoise.types.words import Option, hint

DENSE = 2**22  # cells of (items, values) count_votes without sorting
WIDTH = 256  # replicates at a time, at most
CELLS = 2**22  # numbers held at a time for a block of replicates
Compute = Callable[[Floats], Floats]  # of counts (units, replicates), one column each


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Values:
    """What was said: `value` are the codes as numbers, or codes where they are names.

    `numeric` tells whether these are numbers that the data gave, `ordered` whether the codes
    have an order.
    """

    value: Floats
    numeric: bool
    ordered: bool


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AgreementVotes(Values):
    """Votes of one task.

    Attributes
    ----------
    item, code
        Positions of items and values, shape (rows,).
    number
        How many votes a row stands for.
    who
        Positions of annotators; None for anonymous votes.
    items
        Number of items, also those without votes.
    """

    item: Ints
    code: Ints
    number: Floats
    who: Ints | None
    items: int


def collect_votes(annotations: Annotations, task: str = "") -> AgreementVotes:
    """Collect the votes of one task.

    Examples
    --------
    >>> table = Annotations(kind="nominal", items=("a", "b"), classes=("3", "1"),
    ...     item=np.array([0, 0, 1]), label=np.array([0, 0, 1]))
    >>> found = collect_votes(table)
    >>> found.code, found.value
    (array([1, 1, 0]), array([1., 3.]))
    """
    if annotations.rank is not None:
        do = hint(
            "use reading_agreement for rankings, or ask about one class with {}",
            Option("positive", python="against()"),
        )
        raise InputError("agreement", "rankings", "one label or rating per vote", do)
    rows = opinions(annotations, task)
    code, value, numeric = _values(annotations, rows)
    who = None if annotations.annotators is None else annotations.annotator
    return AgreementVotes(
        item=annotations.item[rows],
        code=code,
        number=vote_counts(annotations, rows),
        who=None if who is None else who[rows],
        items=len(annotations.items),
        value=value,
        numeric=numeric,
        ordered=numeric or annotations.kind == "ordinal" or len(value) <= 2,
    )


def opinions(annotations: Annotations, task: str) -> Ints | slice:
    """Rows of one task that are not gold; all of them as a slice, which copies nothing."""
    chosen = annotations.in_task(task) & ~gold_rows(annotations)
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
    number = class_numbers(annotations.classes)
    if not np.isfinite(number).all():
        return label, np.arange(len(annotations.classes), dtype=float), False
    order = np.argsort(number, kind="stable")
    if annotations.kind == "ordinal" or (np.diff(order) > 0).all():
        return label, number, True
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place[label], number[order], True


def class_numbers(classes: Sequence[str]) -> Floats:
    """Classes as numbers, shape (classes,); a single nan where some are none."""
    try:
        return np.array([float(name) for name in classes])
    except ValueError:
        return np.array([np.nan])


def count_votes(found: AgreementVotes, rows: Any = slice(None)) -> Any:
    """How often each value was given to each item in some rows, sparse (items, values)."""
    from scipy.sparse import csr_matrix

    item, code, size = found.item[rows], found.code[rows], len(found.value)
    times = found.number[rows]
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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Units(Values):
    """Items of one task with at least two votes: their positions, and votes by value.

    `item` has shape (units,), `count` is sparse (units, values).
    """

    item: Ints
    count: Any

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
    found = collect_votes(annotations, task)
    return several_votes(found, count_votes(found))


def several_votes(found: AgreementVotes, count: Any) -> Units:
    """Keep the items that have at least two votes."""
    number = np.asarray(count.sum(axis=1)).ravel()
    several = np.flatnonzero(number >= 2)
    kept = count if len(several) == len(number) else count[several]
    own = {name: getattr(found, name) for name in Values.__slots__}
    return Units(item=several, count=kept, **own)


def plan_for(annotations: Annotations, plan: Resampling | None) -> Resampling:
    """Check the plan, or make the default: 1,000 resamples of items, seed 0."""
    if plan is None:
        return resample(annotations, "items", replicates=1000)
    if plan.items != annotations.items or plan.kind != "items":
        got = f"a plan of {plan.kind} for {len(plan.items):,} items"
        expected = f"a plan of items for these {len(annotations.items):,}"
        do = "make it with resample(annotations, 'items')"
        raise InputError("agreement, plan", got, expected, do)
    return plan


def undefined(counts: Floats) -> Floats:
    """Compute nothing: nan for every replicate."""
    return np.full(counts.shape[1], np.nan)


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


def mean_over_items(item: Ints, plan: Resampling, value: Floats) -> Estimate:
    """Mean of one value per unit, none below 0, with replicates over items."""
    total = summed(value)

    def compute(counts: Floats) -> Floats:
        number = counts.sum(axis=0)
        return np.where(number > 0, total(counts)[0] / np.maximum(number, 1.0), np.nan)

    return estimated(item, plan, compute, low=0.0)


def several(item: Ints, plan: Resampling) -> bool:
    """Whether there is more than one item or group to draw from."""
    drawn = item if plan.group is None else np.unique(plan.group[item])
    return len(drawn) > 1
