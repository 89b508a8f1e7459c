"""Cases: a few items close up, with what was said of them and what that leaves possible.

The least certain item, one in the middle and the most certain one. Per class the mean mass and
quantiles over draws; classes beyond the eighth and those that nobody mentioned stand together
as all others.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from equipoise.study.analyses.truth_certainty import ranked
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Floats, Ints
from equipoise.types.findings import Chart, Column, Dot, Dots, Finding, Table, columns
from equipoise.types.numbers import UNDEFINED, count, number, percent
from equipoise.types.plausibilities import Plausibilities

SEED = 0
SHOWN = 8  # classes of a case
DRAWS = 400  # for quantiles
ROOM = 4_000_000  # masses held at a time
QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}
HEADS = {"q05": "5%", "q25": "25%", "median": "median", "q75": "75%", "q95": "95%"}
NOTHING = 1e-9  # mass that is rounding
READINGS = 40  # readings of a case that are written out
ROLES = ("most ambiguous", "in the middle", "most certain")


@dataclass(frozen=True, slots=True, kw_only=True)
class _ClassShare:
    """What a class, or all others together, may have of an item.

    Attributes
    ----------
    name, mean
        The class, and its mean mass.
    quantiles
        Of its mass over draws, at 5, 25, 50, 75 and 95 %; None where there is one draw.
    first
        Share of readings that name it first, tied ones in equal parts; None for none.
    """

    name: str
    mean: float
    quantiles: tuple[float, ...] | None = None
    first: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseReading:
    """What somebody said of an item: blocks of classes, best first, and how often."""

    annotator: str | None
    blocks: tuple[tuple[str, ...], ...]
    times: int

    @property
    def words(self) -> str:
        """As one would say it: best first, ties with an equals sign.

        Examples
        --------
        >>> CaseReading(annotator=None, blocks=(("naevus",), ("wart", "scar")), times=1).words
        'naevus > wart = scar'
        """
        return " > ".join(" = ".join(block) for block in self.blocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ItemCase:
    """An item close up.

    Attributes
    ----------
    item, role, certainty
        Its name, which of the three cases it is, and its certainty.
    classes
        The most plausible classes, and last all others together where they have any mass.
    readings, left_out
        What was said of it, and how many readings are not listed.
    """

    item: str
    role: str
    certainty: float
    classes: tuple[_ClassShare, ...]
    readings: tuple[CaseReading, ...]
    left_out: int

    @property
    def finding(self) -> str:
        """What the leading class may have."""
        head = f"Item {self.item}, {self.role} (certainty {number(self.certainty)})"
        if not self.classes:
            return f"{head}: {UNDEFINED}."
        lead = self.classes[0]
        text = f"{head}: class {lead.name} leads with {percent(lead.mean)}"
        if lead.quantiles is None:
            return f"{text}."
        low, high = percent(lead.quantiles[0]), percent(lead.quantiles[-1])
        if low == high:
            return f"{text}, in nearly every draw."
        return f"{text} on average; nine of ten draws give it {low} to {high}."

    def chart(self, place: int) -> Chart:
        """Draw the classes: mean, middle half and nine tenths of the draws, first choices."""
        dots = []
        for one in self.classes:
            low, start, _, end, high = one.quantiles or (np.nan,) * 5
            inner = None if one.quantiles is None else (start, end)
            dots.append(
                Dot(one.name, one.mean, low, high, inner=inner, remark=percent(one.mean))
            )
            if one.first is not None:
                remark = percent(one.first)
                dots.append(Dot(one.name, one.first, series="named first", remark=remark))
        lead = f": {self.classes[0].name} has {percent(self.classes[0].mean)}" * bool(dots)
        return Dots(
            name=f"case-{place + 1}",
            caption=f"Plausibility of the classes of {self.item}, {self.role}",
            alternative=f"Plausibility of {count(len(self.classes))} classes of {self.item}"
            f"{lead}.",
            axis="share of the class",
            rows=dots,
        )


def truth_cases(
    annotations: Annotations, plausibilities: Plausibilities
) -> tuple[_ItemCase, ...]:
    """The least certain item, one in the middle, and the most certain one."""
    made, order = plausibilities, ranked(plausibilities)
    chosen = dict.fromkeys([int(order[0]), int(order[len(order) // 2]), int(order[-1])])
    roles = ROLES if len(chosen) == 3 else (ROLES[0], ROLES[2])
    certainty, drawn = made.certainty, _item_draws(made, list(chosen))
    cases = []
    for role, i in zip(roles, chosen, strict=False):
        readings, first = _readings(annotations, made.task, made.items[i])
        case = _ItemCase(
            item=made.items[i],
            role=role,
            certainty=float(certainty[i]),
            classes=_shares(made, i, None if drawn is None else drawn[i], first),
            readings=readings[:READINGS],
            left_out=max(0, len(readings) - READINGS),
        )
        cases.append(case)
    return tuple(cases)


def cases_finding(cases: Sequence[_ItemCase], *, seed: int | None = None) -> Finding:
    """A few items close up; `seed` is that of draws that were made for it."""
    first, *others = (one.finding for one in cases)
    spread = any(share.quantiles for one in cases for share in one.classes)
    note = "Dot: plausibility; this model has no spread around it."
    if spread:
        drawn = "" if seed is None else f" (seed {seed})"
        note = (
            "Dot: mean plausibility. Thick line: the middle half of the draws; thin line: 5% "
            f"to 95% of them{drawn}."
        )
    note += " Named first: share of readings that name the class first, ties in equal parts."
    left = sum(one.left_out for one in cases)
    more = f"; {count(left)} more are left out" if left else ""
    quantiles = [Column(key, head, "number") for key, head in HEADS.items()] if spread else []
    shares = Table(
        name="cases",
        caption="Share of each class",
        columns=[
            Column("item", "item"),
            Column("class", "class"),
            Column("mean", "mean", "number"),
            *quantiles,
            Column("first", "named first", "percent"),
        ],
        rows=[
            {
                "item": case.item,
                "class": one.name,
                "mean": one.mean,
                **(dict(zip(QUANTILES, one.quantiles, strict=True)) if one.quantiles else {}),
                "first": one.first or 0.0,
            }
            for case in cases
            for one in case.classes
        ],
    )
    said = Table(
        name="readings",
        caption=f"What was said{more}",
        columns=columns(item="text", annotator="text", said="text", times="count"),
        rows=[
            {
                "item": case.item,
                "annotator": "anonymous" if one.annotator is None else one.annotator,
                "said": one.words,
                "times": one.times,
            }
            for case in cases
            for one in case.readings
        ],
    )
    return Finding(
        key="cases",
        title="Cases close up",
        sentence=first,
        more=tuple(others),
        tables=(shares, said),
        charts=tuple(one.chart(place) for place, one in enumerate(cases)),
        note=note,
        brief=False,
    )


def _item_draws(made: Plausibilities, items: Sequence[int]) -> dict[int, Floats] | None:
    """Draws of some items; None where a draw is a single class, or there is only one draw.

    As many are made at a time as memory allows, each lot from the next seed.
    """
    if made.law is None and made.draws == 1:
        return None
    if made.law is not None and made.law.name == "labels":
        return None
    entries = {i: slice(int(made.start[i]), int(made.start[i + 1])) for i in items}
    if made.law is None:
        rows = np.linspace(0, made.draws - 1, min(DRAWS, made.draws)).astype(np.intp)
        return {i: made.mass[rows, own] for i, own in entries.items()}
    lot, lots = max(1, min(DRAWS, ROOM // max(1, len(made.label)))), []
    for place, first in enumerate(range(0, DRAWS, lot)):
        mass = made.drawn(min(lot, DRAWS - first), seed=SEED + place).mass
        lots.append({i: mass[:, own].copy() for i, own in entries.items()})
    return {i: np.concatenate([one[i] for one in lots]) for i in items}


def _shares(
    made: Plausibilities, i: int, drawn: Floats | None, first: dict[str, float]
) -> tuple[_ClassShare, ...]:
    """Mean and quantiles of the most plausible classes, and of all others."""
    entries = slice(int(made.start[i]), int(made.start[i + 1]))
    mean, label = made.mass[:, entries].mean(axis=0), made.label[entries]
    order = np.argsort(-mean, kind="stable")[:SHOWN]

    def share(name: str, mean: float, masses: Floats | None) -> _ClassShare:
        ends = list(QUANTILES.values())
        spread = (
            None if masses is None else tuple(np.quantile(masses.clip(0, 1), ends).tolist())
        )
        return _ClassShare(name=name, mean=mean, quantiles=spread, first=first.get(name))

    shares = [
        share(made.classes[label[k]], float(mean[k]), None if drawn is None else drawn[:, k])
        for k in order
    ]
    shares = [one for one in shares if one.mean > NOTHING or one.first]
    left, rest = len(made.classes) - len(order), 1.0 - float(mean[order].sum())
    if left and rest >= NOTHING:
        others = None if drawn is None else 1.0 - drawn[:, order].sum(axis=1)
        shares.append(replace(share(count(left, "other"), rest, others), first=None))
    return tuple(shares)


def _readings(
    annotations: Annotations, task: str, item: str
) -> tuple[tuple[CaseReading, ...], dict[str, float]]:
    """What was said of an item, and which share names each class first.

    A vote is a reading with one block of one class; equal readings of anonymous annotators
    are counted together, most frequent first.
    """
    here = annotations.in_task(task) & (annotations.item == annotations.items.index(item))
    rows = np.flatnonzero(here)
    reading = rows if annotations.reading is None else annotations.reading[rows]
    names, who, gold = annotations.annotators, annotations.annotator, annotations.is_gold
    times: Counter[tuple[str | None, tuple[tuple[str, ...], ...]]] = Counter()
    for code in np.unique(reading):
        own = rows[reading == code]
        name = None if names is None or who is None else names[who[own[0]]]
        if gold is not None and gold[own[0]]:
            name = "known truth"
        votes = 1 if annotations.count is None else int(annotations.count[own[0]])
        times[name, _blocks(annotations, own)] += votes
    first: dict[str, float] = {}
    for (_, blocks), each in times.items():
        for name in blocks[0]:
            first[name] = first.get(name, 0.0) + each / len(blocks[0]) / times.total()
    lines = (
        CaseReading(annotator=name, blocks=blocks, times=each)
        for (name, blocks), each in times.most_common()
    )
    return tuple(lines), first


def _blocks(annotations: Annotations, rows: Ints) -> tuple[tuple[str, ...], ...]:
    """The classes of one reading in order, those of equal rank together."""
    if annotations.value is not None:
        return ((f"{annotations.value[rows[0]]:g}",),)
    assert annotations.label is not None
    names = [annotations.classes[code] for code in annotations.label[rows]]
    if annotations.rank is None:
        return ((names[0],),)
    places = annotations.rank[rows].tolist()
    return tuple(
        tuple(name for name, place in zip(names, places, strict=True) if place == rank)
        for rank in sorted(set(places))
    )
