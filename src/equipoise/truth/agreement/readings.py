r"""Reading agreement: is what the others put first among the classes that a reading names?

With readings :math:`b^1, \dots, b^R` of an item and inverse ranks IRN (see
`equipoise.truth.inverse_rank`) of all but one of them,

.. math:: \frac{1}{R} \sum_{r=1}^{R}
    \Big[\arg\max_k \mathrm{IRN}(k;\, b^s, s \ne r) \in b^r\Big]

Where several classes share the first place of the others, one of them in the reading is a hit.
An item with a single reading has nobody to agree with: undefined. ``ties="full"`` (default, as
the published figures) gives every class of the i-th block 1/i, ``"split"`` shares it. A plain
vote is a reading of length one; a row that counts n votes is n readings.

References
----------
Stutz et al., *Evaluating medical AI systems in dermatology under uncertain ground truth*,
Appendix E.

Examples
--------
>>> votes = Annotations(kind="nominal", items=("a", "b"), classes=("x", "y"),
...     item=np.array([0, 0, 0, 1]), label=np.array([0, 0, 1, 1]))
>>> reading_agreement(votes).value
array([0.667,   nan])
"""

import numpy as np

from equipoise.types import (
    Annotations,
    Floats,
    InputError,
    Ints,
    Names,
    PerItem,
    choice,
    dense_blocks,
    frozen,
    immutable,
    refusing_wrong_types,
    short_repr,
    vote_counts,
)

TIES = ("full", "split")
CLOSE = 1e-9  # sums of 1/i that differ by less are the same sum in another order
ROUNDING = 1e-14  # of what was subtracted: the reading itself from all


@immutable(eq=False)
class ReadingAgreement:
    """Names of items that have readings, the share that agrees (nan for one), their number."""

    items: Names
    value: PerItem
    readings: Ints

    __repr__ = short_repr

    def __post_init__(self) -> None:
        for name in ("value", "readings"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    @property
    def mean(self) -> float:
        """Average over the items for which it is defined; nan without any."""
        defined = self.value[np.isfinite(self.value)]
        return float(defined.mean()) if len(defined) else np.nan


@refusing_wrong_types
def reading_agreement(
    annotations: Annotations, task: str = "", ties: str = "full"
) -> ReadingAgreement:
    """Leave one reading out at a time and look for the others' first choice in it."""
    choice("reading_agreement, ties", ties, TIES)
    rows = np.flatnonzero(annotations.in_task(task))
    if not len(rows):
        raise InputError(f"annotations, task {task!r}", "no readings", "at least one", "check")
    if annotations.gold[rows].any():
        opinions = "readings only: a known truth is no opinion"
        raise InputError("reading_agreement", "gold rows", opinions, "leave gold rows out")
    if annotations.label is None:
        where = f"reading_agreement, annotations of kind {annotations.kind}"
        do = "turn ratings into a yes/no question with at_least"
        raise InputError(where, "ratings", "classes or rankings", do)
    reading = np.arange(len(rows))
    if annotations.reading is not None:
        reading = np.unique(annotations.reading[rows], return_inverse=True)[1]
    items, item = np.unique(annotations.item[rows], return_inverse=True)
    worth, count = _worth(annotations, rows, reading, ties), vote_counts(annotations, rows)
    hit = _hits(item, reading, annotations.label[rows], worth)
    first = np.unique(reading, return_index=True)[1]
    number, hits = (
        np.bincount(item[first], count[first] * factor, len(items)) for factor in (1.0, hit)
    )
    return ReadingAgreement(
        items=tuple(annotations.items[i] for i in items),
        value=np.where(number > 1, hits / number, np.nan),
        readings=number.astype(np.int64),
    )


def _worth(
    annotations: Annotations, rows: Ints, reading: Ints, ties: str
) -> tuple[Floats, Floats]:
    """What a row adds for one reading, and for all the readings it counts."""
    single = np.ones(len(rows))
    if annotations.rank is not None and annotations.reading is not None:
        block = dense_blocks(annotations, rows)
        single = 1.0 / (block + 1)
        if ties == "split":
            code = np.unique(reading * (block.max() + 1) + block, return_inverse=True)[1]
            single = single / np.bincount(code)[code]
    if annotations.weight is not None:
        single = single * annotations.weight[rows]
    return single, single if annotations.count is None else single * annotations.count[rows]


def _hits(item: Ints, reading: Ints, label: Ints, worth: tuple[Floats, Floats]) -> Floats:
    """Whether each reading names a class that the others put first, shape (readings,)."""
    single, all_counted = worth
    classes = int(label.max()) + 1
    pairs, entry = np.unique(item * classes + label, return_inverse=True)
    total = np.bincount(entry, all_counted)
    start = np.searchsorted(pairs, np.arange(int(item.max()) + 2) * classes)
    item_of = item[np.unique(reading, return_index=True)[1]]
    width = np.diff(start)[item_of]
    base = np.cumsum(width) - width
    place = np.arange(int(width.sum())) - np.repeat(base - start[item_of], width)
    others, named = total[place], np.zeros(len(place), dtype=bool)
    spot = base[reading] + entry - start[item]
    others[spot] -= single
    named[spot] = True
    best, scale = (
        np.repeat(np.maximum.reduceat(mass, base), width) for mass in (others, total[place])
    )
    close = CLOSE * np.abs(best) + ROUNDING * scale
    return np.maximum.reduceat((named & (others >= best - close)).astype(float), base)
