"""Subgroups: does the result, and the agreement behind it, hold for every kind of item?

For every value of every attribute: the metric of each model, the mean certainty of the most
plausible class (Dirichlet posterior of the votes), the mean entropy of the votes in nats, and
Krippendorff's alpha, each with an interval that resamples items, and the paired difference to
the rest of the items (or to the largest group). The p-value of a difference comes from
shuffling who belongs to the group: see `equipoise.analyses._shuffled`. Holm's adjustment
counts all differences of the same quantity, and the same difference once: an attribute of two
values makes one comparison, not two.
Alpha also depends on how mixed a group's labels are: compare it together with the entropy.

Groups of fewer than ten items are not measured; they stay in the rows as *too few items*. A
metric without a value in a group, such as AUROC where all labels are the same, is *undefined*.

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
from typing import Any, Unpack

import numpy as np

from equipoise.analyses._attributes import Attributes, read_attributes
from equipoise.analyses._group_words import (
    MEASURED,
    SMALL,
    UNDEFINED,
    Cell,
    agreement,
    differences,
    division,
    measured,
)
from equipoise.analyses._groups import (
    Groups,
    Size,
    holm,
    measures,
    quantities,
    undefined,
)
from equipoise.analyses.options import AnalysisKeywords, as_options
from equipoise.analyses.scoring import Given, StudyScorer, interval_ends, shown, study
from equipoise.analyses.words import capital
from equipoise.annotations import Annotations
from equipoise.arrays import Bools, InputError, Ints, choice, wrong_type
from equipoise.metrics import titled

LEAST = 10  # items of a group that is measured
AGAINST = ("rest", "largest")

__all__ = ["Attributes", "Cell", "Size", "Subgroups", "read_attributes", "subgroups"]


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
        Every quantity, group by group.
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
        return max(measured(self.cells, "entropy"), key=lambda one: one.value, default=None)

    @property
    def least_agreement(self) -> Cell | None:
        """The group with the lowest Krippendorff's alpha."""
        return min(measured(self.cells, "agreement"), key=lambda one: one.value, default=None)

    @property
    def finding(self) -> str:
        """Where experts disagree most, and whether a model differs, as a sentence or two."""
        if not any(one.measured for one in self.sizes):
            return f"No group has {LEAST} items: nothing is measured."
        other = "the rest" if self.against == "rest" else "the largest group"
        votes = [division(self.cells, other, self.level), agreement(self.cells)]
        parts = [f"{'; '.join(filter(None, votes))}." if any(votes) else ""]
        names = self.metric, titled(self.metric, self.labels)
        parts.append(differences(self.cells, names, self.level, shown))
        said = " ".join(filter(None, parts))
        return capital(said) if said else "Nothing is defined in any group."

    def rows(self) -> list[dict[str, Any]]:
        """One plain dict per group and quantity."""
        names = {"task": self.task, "labels": self.labels, "against": self.against}
        return [{**names, **one._asdict()} for one in self.cells]


@np.errstate(invalid="ignore")  # of two infinite values: undefined
def subgroups(
    predictions: Given,
    annotations: Annotations,
    attributes: Attributes,
    *,
    against: str = "rest",
    **how: Unpack[AnalysisKeywords],
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
        See `equipoise.analyses.options.AnalysisOptions`; replicates resample items. With
        ``on_missing="drop"`` items without attributes stay in no group.
    """
    choice("against", against, AGAINST)
    _refuse(attributes)
    found = study(predictions, annotations, as_options(how))
    codes, notices = _codes(found, annotations, attributes)
    named = quantities(found, annotations)
    drawn = list(_groups(attributes, codes, against))
    parts = [measures(one, annotations, found) for one in found.subjects]
    groups = Groups(found, annotations, named, parts)
    cells: list[Cell] = []
    compared: list[frozenset[bytes]] = []
    for step, (size, group, other) in enumerate(drawn):
        cells += _cells(size, groups, group, other)
        compared += [frozenset((group.tobytes(), other.tobytes()))] * len(named)
        if size.measured:
            notices += undefined(size, group, cells[-len(named) :], found)
        found.asked.tell(step + 1, len(drawn))
    cells = _adjusted(cells, compared)
    return Subgroups(
        task=found.task,
        metric=found.metric.name,
        labels=found.asked.labels,
        models=found.models,
        level=found.asked.level,
        against=against,
        sizes=tuple(size for size, _, _ in drawn),
        cells=tuple(cells),
        notices=(
            *found.notices, *attributes.notices, *notices, *_cautions(cells, compared),
        ),
    )  # fmt: skip


def _refuse(attributes: object) -> None:
    if not isinstance(attributes, Attributes):
        raise wrong_type(
            "attributes", attributes, "a table with a row per item",
            "read it with read_attributes",
        )  # fmt: skip
    if not attributes.columns:
        raise InputError(
            "attributes", "no column", "at least one attribute", "add one, such as sex or site"
        )


def _codes(
    found: StudyScorer, annotations: Annotations, attributes: Attributes
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


def _cells(size: Size, groups: Groups, group: Bools, other: Bools) -> list[Cell]:
    """All quantities of one group; p-values are adjusted later."""
    level, named = groups.study.asked.level, groups.named
    nothing = np.full((len(named), 1 + groups.study.plan.replicates), np.nan)
    both = size.measured and int(other.sum()) >= LEAST
    inside = groups.of(group) if size.measured else nothing
    outside = groups.of(other) if both else nothing
    chances = groups.chances(group, other) if both else [float("nan")] * len(named)
    cells = []
    for quantity, one, rest, p in zip(named, inside, outside, chances, strict=True):
        width, gap = quantity.bounds[1] - quantity.bounds[0], one - rest
        ends = interval_ends(one[:1], one[None, 1:], level, quantity.bounds)[:, 0]
        apart = interval_ends(gap[:1], gap[None, 1:], level, (-width, width))[:, 0]
        status = UNDEFINED if np.isnan(one[0]) else MEASURED
        cells.append(
            Cell(
                size.column, size.level, size.items, quantity.name, quantity.model,
                float(one[0]), float(ends[0]), float(ends[1]), float(rest[0]),
                float(gap[0]), float(apart[0]), float(apart[1]), p, float("nan"),
                status if size.measured else SMALL,
            )
        )  # fmt: skip
    return cells


def _adjusted(cells: list[Cell], compared: list[frozenset[bytes]]) -> list[Cell]:
    """Fill in p-values that count all differences of the same quantity, each once."""
    out = list(cells)
    for name in dict.fromkeys(one.quantity for one in cells):
        same: dict[tuple[str, frozenset[bytes]], list[int]] = {}
        for k, (one, pair) in enumerate(zip(cells, compared, strict=True)):
            if one.quantity == name and not np.isnan(one.p):
                same.setdefault((one.model, pair), []).append(k)
        adjusted = holm([cells[rows[0]].p for rows in same.values()])
        for rows, p in zip(same.values(), adjusted, strict=True):
            for k in rows:
                out[k] = cells[k]._replace(p_holm=float(p))
    return out


def _cautions(cells: list[Cell], compared: list[frozenset[bytes]]) -> list[str]:
    number = len({
        (one.quantity, one.model, pair)
        for one, pair in zip(cells, compared, strict=True)
        if not np.isnan(one.p)
    })  # fmt: skip
    if number < 2:
        return []
    return [
        f"{number} differences are looked at: some intervals leave out zero by chance alone. "
        "The adjusted p-values (Holm) allow for it, quantity by quantity."
    ]
