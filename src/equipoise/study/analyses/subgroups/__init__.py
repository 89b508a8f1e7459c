"""Subgroups: does the result, and the agreement behind it, hold for every kind of item?

For every value of every attribute: the metric of each model, the mean certainty of the most
plausible class (Dirichlet posterior of the votes), the mean entropy of the votes in nats, and
Krippendorff's alpha, each with an interval that resamples items, and the paired difference to
the rest of the items (or to the largest group). The p-value of a difference comes from
shuffling who belongs to the group: see `subgroups.groups`. Holm's adjustment
counts all differences of the same quantity, and the same difference once: an attribute of two
values makes one comparison, not two.
Alpha also depends on how mixed a group's labels are: compare it together with the entropy.

Groups of fewer than ten items are not measured; they stay in the rows as *too few items*. A
metric without a value in a group, such as AUROC where all labels are the same, is *undefined*.

Examples
--------
>>> import pyarrow
>>> from equipoise.datasets.demo import reading_study
>>> readings, scores = reading_study()
>>> half = ["first" if number < 300 else "second" for number in range(569)]
>>> known = Attributes.from_dataframe(pyarrow.table({"item": readings.items, "half": half}))
>>> parts = subgroups(scores[:1], readings, known, replicates=50)
>>> [(one.level, one.items) for one in parts.sizes]
[('first', 300), ('second', 269)]
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Unpack

import numpy as np

from equipoise.inference.estimate import Estimate
from equipoise.study.analyses.options import AnalysisKeywords
from equipoise.study.analyses.result import StudyResult
from equipoise.study.analyses.scoring import Given, StudyScorer, TaskScorer, study
from equipoise.study.analyses.subgroups.attributes import Attributes, read_attributes
from equipoise.study.analyses.subgroups.groups import Groups, holm
from equipoise.study.blocks import hard_labels
from equipoise.study.study import Study
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Bools, InputError, Ints, choice, short_repr, wrong_type
from equipoise.types.findings import Cell as TableCell
from equipoise.types.findings import Column, Dot, Dots, Finding, Row, Table, columns
from equipoise.types.notices import Notice
from equipoise.types.numbers import count, number
from equipoise.types.words import Option, capital, hint, joined

KEY, TITLE = "subgroups", "Is it the same in every group of items?"
LEAST = 10  # items of a group that is measured
AGAINST = ("rest", "largest")
MEASURED, SMALL, UNDEFINED = "measured", "too few items", "undefined"
EQUAL = 1e-12
DRAWN = 30  # groups in a chart; all are in the table
AXES = {
    "entropy": "entropy of the votes, nats",
    "agreement": "agreement, Krippendorff's alpha",
}
NOTE = (
    "Each group is compared with {against}, on the same resamples of items. A p-value compares "
    "the difference with those that arise when the same items are divided at random, whole "
    "patients where items have them. p-values are corrected for the number of comparisons "
    "(Holm), each counted once; without a correction one in twenty would stand out by chance. "
    "Groups that are too small are counted and not measured."
)
LEGEND = (
    "Entropy: disagreement of the votes (0: unanimous). Agreement: Krippendorff's alpha (1: "
    "complete, 0: by chance). Adjusted p: Holm's, for many comparisons. Brackets: interval "
    "when items are resampled."
)
COLUMNS = (
    Column("column", "attribute"),
    Column("level", "group"),
    *columns(items="count", quantity="text"),
    Column("model", "model", "model", brief=False),
    Column("value", "value", "number", ("low", "high")),
    Column("difference", "difference", "change", ("difference_low", "difference_high")),
    Column("p_holm", "adjusted p", "p"),
    Column("status", "status", brief=False),
)

__all__ = ["Attributes", "Cell", "Size", "Subgroups", "analyse", "read_attributes", "subgroups"]


class Size(NamedTuple):
    """A group, how many items it has, and whether they are enough to be measured."""

    column: str
    level: str
    items: int
    measured: bool


class Cell(NamedTuple):
    """One quantity of one group, and its difference to the items it is compared with.

    `status` is ``measured``, ``too few items`` or ``undefined`` (for example AUROC where all
    labels are the same); without a measure all numbers but the count are nan.
    """

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
    status: str = MEASURED

    @property
    def known(self) -> bool:
        """Whether it has a value."""
        return not np.isnan(self.value)

    @property
    def tested(self) -> bool:
        """Whether its difference has a p-value."""
        return not np.isnan(self.p_holm)

    @property
    def group(self) -> str:
        """The group's name."""
        return f"{self.column} = {self.level}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Subgroups(StudyResult):
    """Every quantity of every group.

    Attributes
    ----------
    against
        ``rest`` (all other items with a value) or ``largest`` (the largest group).
    sizes
        All groups with their numbers of items.
    cells
        Every quantity, group by group.
    """

    against: str
    sizes: tuple[Size, ...]
    cells: tuple[Cell, ...]

    __repr__ = short_repr

    def _known(self, quantity: str) -> list[Cell]:
        return [one for one in self.cells if one.quantity == quantity and one.known]

    @property
    def most_disputed(self) -> Cell | None:
        """The group whose votes have the highest mean entropy."""
        return max(self._known("entropy"), key=lambda one: one.value, default=None)

    @property
    def least_agreement(self) -> Cell | None:
        """The group with the lowest Krippendorff's alpha."""
        return min(self._known("agreement"), key=lambda one: one.value, default=None)

    @property
    def _other(self) -> str:
        return "the rest" if self.against == "rest" else "the largest group"

    @property
    def finding(self) -> str:
        """Where experts disagree most, and whether a model differs, as a sentence or two."""
        if not any(one.measured for one in self.sizes):
            return f"No group has {LEAST} items: nothing is measured."
        votes = "; ".join(filter(None, [self._division(), self._agreement()]))
        text = " ".join(filter(None, [f"{votes}." if votes else "", self._model_difference()]))
        return capital(text) if text else "Nothing is defined in any group."

    def _division(self) -> str:
        """Where votes are most divided, as a part of a sentence; empty when unknown."""
        known, most = self._known("entropy"), self.most_disputed
        if most is None:
            return ""
        value, apart = number(most.value), f"against {number(most.other)} in {self._other}"
        items = count(most.items, "item")
        if _equal(known):
            return f"Votes are equally divided in all {len(known)} groups (entropy {value})"
        if len(known) == 1:
            text = f"The entropy of votes is known for {most.group} alone ({items}): {value}"
            if not most.tested:
                return f"{text}, which could not be compared"
            return f"{text} {apart}, {self._sure(most)}"
        text = f"Votes are most divided for {most.group} ({items}; entropy {value}"
        if most.tested:
            return f"{text} {apart}), {self._sure(most)}"
        own = [one for one in known if one.column == most.column and one.tested]
        rivals = [one for one in own if one.other == most.value]
        if not rivals:
            return f"{text}), which could not be tested"
        least = min(rivals, key=lambda one: one.p_holm)
        return (
            f"{text}), {self._other}; {least.group} has {number(least.value)}, a difference "
            f"{self._sure(least)}"
        )

    def _sure(self, one: Cell) -> str:
        """Whether a difference that was tested is more than chance."""
        sure = one.p_holm < 1 - self.level
        return "more than chance explains" if sure else "not told apart from chance"

    def _agreement(self) -> str:
        """Where agreement is lowest, as a part of a sentence; empty when unknown."""
        known, least = self._known("agreement"), self.least_agreement
        if least is None:
            return ""
        unknown = np.isnan([least.low, least.high]).any()
        ends = "" if unknown else f", {number(least.low, 2)} to {number(least.high, 2)}"
        alpha = f"alpha {number(least.value, 2)}{ends}"
        if len(known) == 1:
            return f"agreement is known for {least.group} alone ({alpha})"
        if _equal(known):
            return f"agreement is the same in all {len(known)} groups ({alpha})"
        return f"agreement is lowest for {least.group} ({alpha})"

    def _model_difference(self) -> str:
        """Whether any model differs between groups, as a sentence; empty if not tested."""
        tested = [one for one in self._known(self.metric) if one.tested]
        if not tested:
            return ""
        first = min(tested, key=lambda one: one.p_holm)
        if not first.p_holm < 1 - self.level:
            return f"No difference in {self.score} between groups is told apart from chance."
        side = "lower" if first.difference < 0 else "higher"
        gap = f"{side} by {number(abs(first.difference))} for {first.group}"
        return f"{capital(self.score)} of {first.model} is {gap}, more than chance explains."

    def rows(self) -> list[dict[str, TableCell]]:
        """One plain dict per group and quantity."""
        names = {"task": self.task, "labels": self.labels, "against": self.against}
        return [{**names, **one._asdict()} for one in self.cells]

    def report(self) -> Finding:
        """The finding for every surface."""
        rows = self.rows()
        brief: list[Row] = [
            row if cell.known else {**row, "value": cell.status}
            for row, cell in zip(rows, self.cells, strict=True)
            if cell.quantity in AXES
        ]
        against = "the largest group" if self.against == "largest" else "all other items"
        methods, references = self._methods()
        table = Table(
            name="subgroups",
            caption=f"Models and agreement by group, against {against}",
            columns=COLUMNS,
            rows=rows,
            brief=brief,
            legend=LEGEND,
        )
        return Finding(
            key=KEY,
            title=TITLE,
            sentence=self.finding,
            tables=(table,),
            charts=self._charts(),
            note=NOTE.format(against=against),
            methods=methods,
            references=references,
            notices=self.notices,
        )

    def _charts(self) -> tuple[Dots, ...]:
        """Disagreement, agreement and the model that is best on average, by group."""
        charts = [_forest(f"subgroups-{key}", AXES[key], self._known(key)) for key in AXES]
        sums: dict[str, float] = {}
        for one in self._known(self.metric):
            if np.isfinite(one.value):
                sums[one.model] = sums.get(one.model, 0.0) + self.sign * one.value
        if sums:
            best = max(sums, key=lambda model: sums[model])
            own = [one for one in self._known(self.metric) if one.model == best]
            charts.append(_forest("subgroups-metric", f"{self.score} of {best}", own))
        return tuple(chart for chart in charts if chart.rows)

    def _methods(self) -> tuple[str, tuple[str, ...]]:
        """The sentence for a paper, and its sources."""
        text, keys = f"Groups of items were compared with {self._other}", []
        if any(one.tested for one in self.cells):
            keys.append("holm1979")
            text += (
                ", with p-values from shuffling which items belong to them, adjusted by Holm's "
                "method [@holm1979] quantity by quantity, each comparison counted once"
            )
        if any(one.quantity == "agreement" for one in self.cells):
            keys.append("krippendorff2004")
            text += "; agreement is Krippendorff's alpha [@krippendorff2004]"
        return f"{text}.", tuple(keys)


def _equal(cells: Sequence[Cell]) -> bool:
    """Whether several groups have one and the same value."""
    values = [one.value for one in cells]
    return len(cells) > 1 and max(values) - min(values) < EQUAL


def _forest(name: str, title: str, cells: Sequence[Cell]) -> Dots:
    """A value with its interval per group that has one."""
    shown = [one for one in cells if np.isfinite(one.value)][:DRAWN]
    return Dots(
        name=name,
        caption=capital(title),
        alternative=f"{capital(title)} in {count(len(shown), 'group')} of items.",
        axis=title,
        rows=[Dot(one.group, one.value, one.low, one.high, model=one.model) for one in shown],
    )


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
        See `equipoise.study.analyses.options.AnalysisOptions`; replicates resample items. With
        ``on_missing="drop"`` items without attributes stay in no group.
    """
    choice("against", against, AGAINST)
    if not isinstance(attributes, Attributes):
        wanted, do = "a table with a row per item", "read it with read_attributes"
        raise wrong_type("attributes", attributes, wanted, do)
    if not attributes.columns:
        wanted, do = "at least one attribute", "add one, such as sex or site"
        raise InputError("attributes", "no column", wanted, do)
    scorer = study(predictions, annotations, how)
    codes, notices = _codes(scorer, annotations, attributes)
    drawn, groups = list(_groups(attributes, codes, against)), Groups(scorer, annotations)
    cells: list[Cell] = []
    compared: list[frozenset[bytes]] = []
    for step, (size, group, other) in enumerate(drawn):
        own = _cells(size, groups, group, other)
        cells += own
        compared += [frozenset((group.tobytes(), other.tobytes()))] * len(own)
        if size.measured:
            notices += _undefined(size, group, own, scorer)
        scorer.asked.tell(step + 1, len(drawn))
    adjusted, many = _adjusted(cells, compared)
    return Subgroups(
        **scorer.facts,
        against=against,
        sizes=tuple(size for size, _, _ in drawn),
        cells=tuple(adjusted),
        notices=(*scorer.notices, *attributes.notices, *notices, *many),
    )


def _codes(
    scorer: StudyScorer, annotations: Annotations, attributes: Attributes
) -> tuple[Ints, list[Notice]]:
    """Codes of the scored items, -1 for all others, (columns, items)."""
    scored = np.zeros(len(annotations.items), dtype=bool)
    for one in scorer.subjects:
        scored[one.question.place] = True
    names = [annotations.items[i] for i in np.flatnonzero(scored)]
    codes = np.full((len(attributes.columns), len(scored)), -1, dtype=np.int64)
    codes[:, scored] = attributes.aligned(names, on_missing=scorer.asked.on_missing)
    missing = len(set(names) - set(attributes.items))
    if not missing:
        return codes, []
    text = "{missing:count} of {items:count} items have no attributes: in no group."
    values = {"missing": missing, "items": len(names)}
    return codes, [Notice("subgroups_missing", text, (), values)]


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
    level, named = groups.scorer.asked.level, groups.named
    nothing = np.full((len(named), 1 + groups.scorer.plan.replicates), np.nan)
    both = size.measured and int(other.sum()) >= LEAST
    inside = groups.of(group) if size.measured else nothing
    outside = groups.of(other) if both else nothing
    p_values = groups.p_values(group, other) if both else [float("nan")] * len(named)
    cells = []
    for quantity, one, rest, p in zip(named, inside, outside, p_values, strict=True):
        width, gap = quantity.bounds[1] - quantity.bounds[0], one - rest
        ends = Estimate(float(one[0]), one[1:], "", quantity.bounds).interval(level)
        apart = Estimate(float(gap[0]), gap[1:], "", (-width, width)).interval(level)
        status = UNDEFINED if np.isnan(one[0]) else MEASURED
        names = (size.column, size.level, size.items, quantity.name, quantity.model)
        values = [float(x) for x in (one[0], *ends, rest[0], gap[0], *apart, p, np.nan)]
        cells.append(Cell._make((*names, *values, status if size.measured else SMALL)))
    return cells


def _adjusted(
    cells: Sequence[Cell], compared: Sequence[frozenset[bytes]]
) -> tuple[list[Cell], list[Notice]]:
    """Fill in p-values that count all differences of the same quantity, each once."""
    same: dict[str, dict[tuple[str, frozenset[bytes]], list[int]]] = {}
    for k, (one, pair) in enumerate(zip(cells, compared, strict=True)):
        if not np.isnan(one.p):
            same.setdefault(one.quantity, {}).setdefault((one.model, pair), []).append(k)
    out = list(cells)
    for each in same.values():
        adjusted = holm([cells[rows[0]].p for rows in each.values()])
        for rows, p in zip(each.values(), adjusted, strict=True):
            for k in rows:
                out[k] = cells[k]._replace(p_holm=float(p))
    number = sum(map(len, same.values()))
    if number < 2:
        return out, []
    text = (
        "{number:count} differences are looked at: some intervals leave out zero by chance "
        "alone. The adjusted p-values (Holm) allow for it, quantity by quantity."
    )
    return out, [Notice("subgroups_many", text, (), {"number": number})]


def _undefined(
    size: Size, group: Bools, cells: Sequence[Cell], scorer: StudyScorer
) -> list[Notice]:
    """Which quantities have no value in a group, and in which task, if any."""
    notices = []
    for name in dict.fromkeys(one.quantity for one in cells if one.status == UNDEFINED):
        reasons = [_why_undefined(task, group) for task in scorer.subjects]
        known = list(dict.fromkeys(filter(None, reasons))) if name == scorer.metric.name else []
        why, named = f": {joined(known)}" if known else "", f"{size.column} = {size.level}"
        values = {"group": named, "quantity": name, "why": why}
        text = "For {group} {quantity} is undefined{why}."
        notices.append(Notice("subgroups_undefined", text, (), values))
    return notices


def _why_undefined(task: TaskScorer, group: Bools) -> str:
    """Why a metric may have no value: no items, or only one label, in this task."""
    question = task.question
    here = group[question.place]
    which = f" of {question.task}" if question.task else ""
    if not here.any():
        return f"it has no items{which}"
    shares = list(question.shares[:, here])
    soft = task.labels == "soft"
    labels = np.stack(shares if soft else hard_labels(shares, question.ties))
    return f"all its labels{which} are the same" if np.ptp(labels, axis=1).max() == 0 else ""


def analyse(study: Study) -> Finding:
    """Groups of the items of a study."""
    if study.attributes is None:
        raise InputError(
            "subgroups",
            "no attributes of items",
            "a table with a row per item",
            hint("give {} such as sex, age or site", Option("attributes")),
        )
    known = study.attributes
    return subgroups(study.predictions, study.annotations, known, **study.single).report()
