"""Subgroups: does the result, and the agreement behind it, hold for every kind of item?

For every value of every attribute: the metric of each model, the mean certainty of the most
plausible class (Dirichlet posterior of the votes), the mean entropy of the votes in nats, and
Krippendorff's alpha, each with an interval that resamples items, and the paired difference to
the rest of the items (or to the largest group). The p-value of a difference takes its spread
over the resamples as normal; Holm's adjustment counts all differences of the same quantity.
Alpha also depends on how mixed a group's labels are: compare it together with the entropy.

Groups of fewer than ten items are only counted.

Examples
--------
>>> import pyarrow
>>> from equipoise.demo import reading_study
>>> readings, scores = reading_study()
>>> half = ["first" if number < 300 else "second" for number in range(569)]
>>> known = Attributes.from_dataframe(pyarrow.table({"item": readings.items, "half": half}))
>>> parts = subgroups(scores[:1], readings, known, replicates=50)
>>> [(one.level, one.items) for one in parts.sizes]
[('first', 300), ('second', 269)]
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import Bools, Floats, Ints, choice
from equipoise.stability._asked import How, asked
from equipoise.stability._attributes import Attributes, read_attributes
from equipoise.stability._groups import (
    Quantity,
    chance,
    holm,
    in_group,
    measures,
    quantities,
)
from equipoise.stability._subject import Given, Study, interval_ends, study

LEAST = 10  # items of a group that is measured
AGAINST = ("rest", "largest")

__all__ = ["Attributes", "Cell", "Size", "Subgroups", "read_attributes", "subgroups"]


class Size(NamedTuple):
    """A group, how many items it has, and whether they are enough to be measured."""

    column: str
    level: str
    items: int
    measured: bool


class Cell(NamedTuple):
    """One quantity of one group, and its difference to the items it is compared with."""

    column: str
    level: str
    items: int
    quantity: str
    model: str
    value: float
    low: float
    high: float
    other: float
    difference: float
    difference_low: float
    difference_high: float
    p: float
    p_holm: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Subgroups:
    """Every quantity of every group.

    Attributes
    ----------
    task, metric, labels, models, level
        What was scored, and the level of the intervals.
    against
        ``rest`` (all other items with a value) or ``largest`` (the largest group).
    sizes
        All groups with their numbers of items.
    cells
        What was measured, group by group.
    notices
        What the user should know, one sentence each.
    """

    task: str
    metric: str
    labels: str
    models: tuple[str, ...]
    level: float
    against: str
    sizes: tuple[Size, ...]
    cells: tuple[Cell, ...]
    notices: tuple[str, ...] = ()

    @property
    def most_disputed(self) -> Cell | None:
        """The group whose votes have the highest mean entropy."""
        found = [one for one in self.cells if one.quantity == "entropy"]
        return max(found, key=lambda one: one.value, default=None)

    @property
    def least_agreement(self) -> Cell | None:
        """The group with the lowest Krippendorff's alpha."""
        named = (one for one in self.cells if one.quantity == "agreement")
        return min(
            (one for one in named if not np.isnan(one.value)),
            key=lambda one: one.value,
            default=None,
        )

    @property
    def finding(self) -> str:
        """Where experts disagree most, as a sentence."""
        most, least = self.most_disputed, self.least_agreement
        if most is None:
            return f"No group has {LEAST} items: nothing is measured."
        if np.isnan(most.p_holm):
            against = f"entropy {most.value:.2f}), which was not compared with others"
        else:
            sure = most.p_holm < 1 - self.level
            against = f"entropy {most.value:.2f} against {most.other:.2f}), " + (
                "more than chance explains" if sure else "not told apart from chance"
            )
        said = (
            f"Votes are most divided for {most.column} = {most.level} ({most.items} items; "
            f"{against}"
        )
        if least is None:
            return f"{said}."
        return (
            f"{said}; agreement is lowest for {least.column} = {least.level} "
            f"(alpha {least.value:.2f}, {least.low:.2f} to {least.high:.2f})."
        )

    def rows(self) -> list[dict[str, Any]]:
        """One plain dict per group and quantity; groups that are too small have counts only."""
        names = {"task": self.task, "labels": self.labels, "against": self.against}
        small = [
            {
                **names,
                "column": one.column,
                "level": one.level,
                "items": one.items,
                "quantity": "items",
            }
            for one in self.sizes
            if not one.measured
        ]
        return [{**names, **one._asdict()} for one in self.cells] + small


@np.errstate(invalid="ignore")  # of two infinite values: undefined
def subgroups(
    predictions: Given,
    annotations: Annotations,
    attributes: Attributes,
    *,
    against: str = "rest",
    **how: Unpack[How],
) -> Subgroups:
    """Measure models and agreement in every group of items.

    Parameters
    ----------
    predictions, annotations
        What models and annotators say.
    attributes
        What is known of the items: `read_attributes`, or `Attributes.from_dataframe`.
    against
        ``rest`` or ``largest``: what each group is compared with.
    **how
        See `equipoise.stability._asked.Asked`; replicates resample items. With
        ``on_missing="drop"`` items without attributes stay in no group.
    """
    choice("subgroups, against", against, AGAINST)
    found = study(predictions, annotations, asked(how))
    codes, notices = _codes(found, annotations, attributes)
    named = quantities(found, annotations)
    drawn = list(_groups(attributes, codes, against))
    parts = [measures(one, annotations, found) for one in found.subjects]
    known: dict[bytes, Floats] = {}

    def of(group: Bools) -> Floats:
        key = group.tobytes()
        if key not in known:
            known[key] = in_group(parts, named, group, found, annotations)
        return known[key]

    cells: list[Cell] = []
    for step, (size, group, other) in enumerate(drawn):
        if size.measured:
            outside = of(other) if other.sum() >= LEAST else np.full((1, 1), np.nan)
            cells += _cells(size, named, (of(group), outside), found)
        found.asked.tell(step + 1, len(drawn))
    return Subgroups(
        task=found.task,
        metric=found.metric.name,
        labels=found.asked.labels,
        models=found.models,
        level=found.asked.level,
        against=against,
        sizes=tuple(size for size, _, _ in drawn),
        cells=_adjusted(cells),
        notices=(*found.notices, *attributes.notices, *notices, *_cautions(cells)),
    )


def _codes(
    found: Study, annotations: Annotations, attributes: Attributes
) -> tuple[Ints, list[str]]:
    """Codes of the scored items, -1 for all others, (columns, items)."""
    scored = np.zeros(len(annotations.items), dtype=bool)
    for one in found.subjects:
        scored[one.question.place] = True
    names = [annotations.items[i] for i in np.flatnonzero(scored)]
    codes = np.full((len(attributes.columns), len(scored)), -1, dtype=np.int64)
    codes[:, scored] = attributes.aligned(names, on_missing=found.asked.on_missing)
    missing = len(set(names) - set(attributes.items))
    if not missing:
        return codes, []
    return codes, [f"{missing:,} of {len(names):,} items have no attributes: in no group."]


def _groups(
    attributes: Attributes, codes: Ints, against: str
) -> Iterator[tuple[Size, Bools, Bools]]:
    """Every group, which items it has, and which it is compared with."""
    for column, levels, own in zip(attributes.columns, attributes.levels, codes, strict=True):
        number = np.bincount(own[own >= 0], minlength=len(levels))
        for code, level in enumerate(levels):
            group = own == code
            other = (own >= 0) & ~group
            if against == "largest":
                other = (own == int(np.argmax(number))) & ~group
            items = int(number[code])
            yield Size(column, level, items, items >= LEAST), group, other


def _cells(
    size: Size, named: list[Quantity], both: tuple[Floats, Floats], found: Study
) -> list[Cell]:
    """All quantities of one group; p-values are adjusted later."""
    inside, outside = both[0], np.broadcast_to(both[1], both[0].shape)
    gaps = inside - outside
    cells = []
    for quantity, one, other, gap in zip(named, inside, outside, gaps, strict=True):
        low, high = quantity.bounds
        level, width = found.asked.level, high - low
        ends = interval_ends(one[:1], one[None, 1:], level, quantity.bounds)[:, 0]
        apart = interval_ends(gap[:1], gap[None, 1:], level, (-width, width))[:, 0]
        cells.append(
            Cell(
                size.column, size.level, size.items, quantity.name, quantity.model,
                float(one[0]), float(ends[0]), float(ends[1]), float(other[0]),
                float(gap[0]), float(apart[0]), float(apart[1]),
                chance(float(gap[0]), gap[1:]), float("nan"),
            )
        )  # fmt: skip
    return cells


def _adjusted(cells: list[Cell]) -> tuple[Cell, ...]:
    """Fill in p-values that count all differences of the same quantity."""
    out = list(cells)
    for name in dict.fromkeys(one.quantity for one in cells):
        rows = [k for k, one in enumerate(cells) if one.quantity == name]
        for k, p in zip(rows, holm([cells[k].p for k in rows]), strict=True):
            out[k] = cells[k]._replace(p_holm=float(p))
    return tuple(out)


def _cautions(cells: list[Cell]) -> list[str]:
    number = sum(not np.isnan(one.p) for one in cells)
    if number < 2:
        return []
    return [
        f"{number} differences are looked at: some intervals leave out zero by chance alone. "
        "The adjusted p-values (Holm) allow for it, quantity by quantity."
    ]
