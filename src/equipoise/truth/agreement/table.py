"""Agreement table: every coefficient with its interval and words, annotators, pairs, cautions.

Labels have Krippendorff's alpha, Fleiss' kappa, the mean of Cohen's kappas where annotators are
known, percent agreement and the agreement with the first choice of the others; ratings have
alpha and percent agreement; rankings have the leave-one-out agreement of readings.

Examples
--------
>>> votes = Annotations(kind="binary", items=("a", "b", "c"), classes=("no", "yes"),
...     annotators=("ana", "bo"), item=np.array([0, 0, 1, 1, 2, 2]),
...     annotator=np.array([0, 1, 0, 1, 0, 1]), label=np.array([1, 1, 0, 0, 1, 0]))
>>> table = agreement_table(votes)
>>> [(row.name, round(row.value, 3)) for row in table.coefficients][:2]
[("Krippendorff's alpha (nominal)", 0.444), ("Fleiss' kappa", 0.333)]
>>> table.report().sentence
"Krippendorff's alpha (nominal) is 0.444, below 0.667: too low to treat one label as the truth."
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from equipoise.inference.estimate import Estimate
from equipoise.inference.resampling import Resampling, resample
from equipoise.truth.agreement import coefficients as measure
from equipoise.truth.agreement.coefficients import (
    LEVELS,
    WEIGHTS,
    Pairs,
    TaskVotes,
    crossed_coefficient,
    landis_koch,
)
from equipoise.truth.agreement.readings import reading_agreement
from equipoise.types import (
    UNDEFINED,
    Annotations,
    Floats,
    Ints,
    Names,
    Notice,
    Notices,
    Value,
    choice,
    immutable,
    notice,
    plain,
    ratio,
    refusing_wrong_types,
    short_repr,
    vote_counts,
)

if TYPE_CHECKING:
    from equipoise.types import Finding

MOST_PEOPLE, MOST_CELLS = 1000, 2**26  # annotators in the matrix of pairs; numbers it takes
MOST_WORK = 4 * 10**9  # products for the interval of the mean kappa
MOST_VALUES = 1000  # different ratings, beyond which exact agreement is not counted
MOST_LEFT_OUT = 200  # annotators up to which each is left out in turn
SHOWN = 60  # annotators in the matrix of pairs that is shown, those with most votes
EXTREME, LISTED = 5, 60  # pairs named at each end; pairs beyond which only those are listed
FEW_SHARED, FEW_ITEMS = 10, 20  # below which a kappa is noise, and an interval rough
HIGH, LOW = 0.8, 0.4  # percent agreement and alpha, between which prevalence explains
APART = 0.1  # between alpha and Fleiss' kappa
PairRow = dict[str, Any]  # first, second, kappa, items, words
CROSSED = ("alpha", "fleiss", "percent")  # for annotators like these, too
SCOPE = "Intervals are for items, and where named annotators, like these."
FIXED = "Intervals are for items like these and these annotators."
PLAIN = "not corrected for chance"
NAMES = {
    "alpha": "Krippendorff's alpha",
    "fleiss": "Fleiss' kappa",
    "cohen": "Cohen's kappa, mean of pairs",
    "percent": "Percent agreement",
    "others": "Names the others' first choice",
    "readings": "Reading agreement, leave one out",
}


class Coefficient(NamedTuple):
    """A coefficient, its 95 % interval, in words, what it rests on, and what is random.

    `alone` is its interval over items alone.

    `measure` is ``alpha``, ``fleiss``, ``cohen``, ``percent``, ``others`` or ``readings``.
    """

    name: str
    value: float
    low: float
    high: float
    words: str
    items: int
    votes: int
    whom: str
    alone: tuple[float, float]
    measure: str = ""

    def row(self) -> dict[str, Any]:
        """What people and files are told of it."""
        return {
            name: part
            for name, part in self._asdict().items()
            if name not in ("alone", "measure")
        }


class Person(NamedTuple):
    """An annotator: votes, items that somebody else rated too, and agreement with the others.

    `kappa` is the mean of Cohen's kappas weighted by items shared, `agreement` the mean share
    of the others' votes that say the same, `alpha_without` alpha of all the others.
    """

    annotator: str
    votes: int
    items: int
    kappa: float
    agreement: float
    alpha_without: float


def shown_pairs(pairs: Pairs) -> Pairs:
    """The matrix of those with most votes, the highest mean kappa first."""
    mean = np.nan_to_num(pairs.mean_of_each[:SHOWN], nan=-2.0)
    order = np.argsort(-mean, kind="stable")
    grid = np.ix_(order, order)
    names = tuple(pairs.annotators[a] for a in order)
    return Pairs(names, pairs.kappa[grid], pairs.items[grid])


def closest_and_furthest(pairs: Pairs) -> tuple[list[PairRow], list[PairRow]]:
    """The pairs that agree most, and those that agree least, the furthest first."""
    a, b = np.triu_indices(len(pairs.annotators), 1)
    kappa = pairs.kappa[a, b]
    defined = np.isfinite(kappa)
    many = defined & (pairs.items[a, b] >= FEW_SHARED)
    use = np.flatnonzero(many if many.any() else defined)
    falling = use[np.argsort(-kappa[use], kind="stable")]
    half = min(EXTREME, (len(falling) + 1) // 2)
    ends = (falling[:half], falling[::-1][: min(EXTREME, len(falling) - half)])
    closest, furthest = ([_pair(pairs, a[p], b[p]) for p in end] for end in ends)
    return closest, furthest


def pair_rows(pairs: Pairs) -> list[PairRow]:
    """All pairs of few annotators, else those at both ends."""
    size = len(pairs.annotators)
    if size > SHOWN or size * (size - 1) // 2 > LISTED:
        return [row for end in closest_and_furthest(pairs) for row in end]
    matrix = shown_pairs(pairs)
    rows = (_pair(matrix, i, j) for i in range(size) for j in range(i + 1, size))
    order = ("first", "second", "kappa", "words", "items")
    return [{key: row[key] for key in order} for row in rows]


def _pair(pairs: Pairs, a: int, b: int) -> PairRow:
    """A cell of the matrix."""
    kappa, names = float(pairs.kappa[a, b]), pairs.annotators
    items, words = int(pairs.items[a, b]), landis_koch(kappa)
    return {
        "first": names[a],
        "second": names[b],
        "kappa": kappa,
        "items": items,
        "words": words,
    }


class AgreementTable(NamedTuple):
    """Everything that was found about the agreement on one task.

    `items` and `votes` are without gold rows (readings where labels are ranked), `annotators`
    those who voted, most votes first, `pairs` None without single labels by known annotators,
    and `scope` what the intervals speak for.
    """

    task: str
    kind: str
    level: str
    weights: str
    items: int
    votes: int
    coefficients: tuple[Coefficient, ...]
    annotators: tuple[Person, ...]
    pairs: Pairs | None
    cautions: Notices
    scope: str

    def __repr__(self) -> str:
        return short_repr(self)

    def as_json(self) -> dict[str, object]:
        """For people who asked for JSON; undefined is None."""
        return {
            **dict(zip(self._fields[:6], self, strict=False)),
            "scope": self.scope,
            "cautions": [str(caution) for caution in self.cautions],
            "coefficients": [plain(coefficient.row()) for coefficient in self.coefficients],
            "annotators": [plain(person._asdict()) for person in self.annotators],
            "pairs": None if self.pairs is None else _pairs_as_json(self.pairs),
        }

    def for_these_annotators(self) -> "AgreementTable":
        """The same with intervals over items alone, for annotators who are the standard."""
        rows = (
            row._replace(low=row.alone[0], high=row.alone[1], whom=row.whom.split()[0])
            for row in self.coefficients
        )
        return self._replace(coefficients=tuple(rows), scope=FIXED)

    @property
    def known(self) -> Names:
        """How much there is: items, votes and annotators."""
        from equipoise.truth.agreement.report import known

        return known(self)

    def findings(self) -> "tuple[Finding, ...]":
        """Coefficients, annotators and pairs, each by itself."""
        from equipoise.truth.agreement.report import findings

        return findings(self)

    def report(self) -> "Finding":
        """Coefficients, annotators and pairs as one finding."""
        from equipoise.truth.agreement.report import joined

        return joined(self)


def _pairs_as_json(pairs: Pairs) -> dict[str, object]:
    """The matrix that is shown, and both ends of all."""
    matrix, (closest, furthest) = shown_pairs(pairs), closest_and_furthest(pairs)
    return {
        "people": len(pairs.annotators),
        "annotators": list(matrix.annotators),
        "kappa": plain(matrix.kappa.tolist()),
        "items": matrix.items.tolist(),
        "closest": closest,
        "furthest": furthest,
    }


@refusing_wrong_types
def agreement_table(
    annotations: Annotations,
    *,
    task: str = "",
    level: str | None = None,
    weights: str = "none",
    replicates: int = 1000,
    seed: int = 0,
) -> AgreementTable:
    """Compute all there is to say about the agreement on one task.

    Parameters
    ----------
    task
        Which question.
    level, weights
        Level of alpha, by default what the kind of the annotations says; weights of Cohen's
        kappa.
    replicates, seed
        Resamples of items or groups, and their seed.
    """
    opinions = _TaskOpinions(
        annotations,
        task,
        resample(annotations, "items", replicates=replicates, seed=seed),
        measure.opinions(annotations, task),
        choice(
            "agreement_table, level", level or measure.default_level(annotations.kind), LEVELS
        ),
        choice("agreement_table, weights", weights, WEIGHTS),
    )
    rows = tuple(opinions.coefficients())
    return AgreementTable(
        task=task,
        kind=annotations.kind,
        level=opinions.level,
        weights=opinions.weights,
        items=opinions.items,
        votes=int(opinions.times.sum()),
        coefficients=rows,
        annotators=opinions.people(),
        pairs=opinions.pairs,
        cautions=tuple(_cautions(opinions, {row.measure: row for row in rows})),
        scope=opinions.scope(rows),
    )


def agreement_summaries(annotations: Annotations) -> tuple[AgreementTable, ...]:
    """What an evaluation tells of its annotators: the agreement on every task that has one.

    There is none for anonymous votes, for items of a single group, and for gold rankings.
    """
    gold, group = annotations.gold, annotations.group
    tasks = [task for task in annotations.tasks if (annotations.in_task(task) & ~gold).any()]
    lone = group is not None and len(np.unique(group)) < 2
    ranked = annotations.is_gold is not None and annotations.rank is not None
    if annotations.annotators is None or lone or ranked:
        return ()
    return tuple(agreement_table(annotations, task=task) for task in tasks)


@immutable(eq=False)
class _TaskOpinions:
    """Whose agreement on which task, and how it is measured."""

    table: Annotations
    task: str
    plan: Resampling
    rows: Ints | slice
    level: str
    weights: str

    @property
    def ranked(self) -> bool:
        """Whether the annotations are rankings."""
        return self.table.rank is not None

    @cached_property
    def first(self) -> Ints:
        """One row of every vote or reading, positions in the annotations."""
        rows = np.arange(len(self.table))[self.rows]
        if self.table.reading is None:
            return rows
        return rows[np.unique(self.table.reading[rows], return_index=True)[1]]

    @cached_property
    def times(self) -> Floats:
        """How many votes each of them stands for."""
        return vote_counts(self.table, self.first)

    @cached_property
    def items(self) -> int:
        """Items with at least one vote."""
        return len(np.unique(self.table.item[self.rows]))

    @cached_property
    def by_item(self) -> Floats:
        """Votes of each item, shape (items,)."""
        table = self.table
        return np.bincount(table.item[self.first], self.times, len(table.items)).astype(float)

    @cached_property
    def by_annotator(self) -> Floats:
        """Votes of each annotator, shape (annotators,); empty for anonymous votes."""
        table = self.table
        if table.annotators is None or table.annotator is None:
            return np.zeros(0)
        who = table.annotator[self.first]
        return np.bincount(who, self.times, len(table.annotators)).astype(float)

    @cached_property
    def who_and_item(self) -> Any:
        """One number for each annotator and item, by row of `first`."""
        assert self.table.annotator is not None
        who = self.table.annotator[self.first].astype(np.int64)
        return who * len(self.table.items) + self.table.item[self.first]

    @cached_property
    def shares(self) -> tuple[Names, list[Any]] | None:
        """Who voted, most votes first, and their shares; None where pairs have no kappa."""
        names, number = self.table.annotators, self.by_annotator
        if names is None or self.table.label is None or self.ranked:
            return None
        order = np.argsort(-number, kind="stable")
        room = int((MOST_CELLS / (len(self.table.classes) + 5)) ** 0.5)
        order = order[number[order] > 0][: min(MOST_PEOPLE, room)]
        if len(order) < 2:
            return None
        by_class = [table[order] for table in measure.shares(self.table, self.task)]
        return tuple(names[a] for a in order), by_class

    @cached_property
    def pairs(self) -> Pairs | None:
        """Kappa of all pairs of them."""
        if self.shares is None:
            return None
        names, by_class = self.shares
        return measure.pairs_of(by_class, names, self.weights)

    @property
    def too_many(self) -> bool:
        """Whether the interval of the mean kappa would take too long."""
        assert self.pairs is not None
        work = float(np.triu(self.pairs.items, 1).sum()) * 4 * self.plan.replicates
        return work > MOST_WORK

    def coefficients(self) -> Iterator[Coefficient]:
        """All coefficients that the annotations allow."""
        several = self.by_item[self.by_item >= 2]
        size = len(several), int(several.sum())

        def row(
            key: str, estimate: Estimate, words: Callable[[float], str], variant: str = ""
        ) -> Coefficient:
            value = estimate.value
            meaning = UNDEFINED if np.isnan(value) else words(value)
            alone, (both, whom) = estimate.interval(), self.crossed(key, estimate)
            ends = both.interval()
            return Coefficient(
                NAMES[key] + variant, value, *ends, meaning, *size, whom, alone, key
            )

        def uncorrected(_: float) -> str:
            return PLAIN

        if self.ranked:
            yield row("readings", self.readings(), uncorrected)
            return
        table, task, plan = self.table, self.task, self.plan
        alpha = measure.krippendorff_alpha(table, level=self.level, task=task, plan=plan)
        yield row("alpha", alpha, measure.krippendorff_words, f" ({self.level})")
        if table.label is not None:
            fleiss = measure.fleiss_kappa(table, task=task, plan=plan)
            yield row("fleiss", fleiss, landis_koch, " (nominal)" * (self.level != "nominal"))
        if self.pairs is not None:
            weighted = "" if self.weights == "none" else f", {self.weights} weights"
            yield row("cohen", self.mean_kappa(), landis_koch, weighted)
        if table.value is None or len(np.unique(table.value)) <= MOST_VALUES:
            percent = measure.percent_agreement(table, task=task, plan=plan)
            yield row("percent", percent, uncorrected)
        if table.label is not None and table.is_gold is None:
            yield row("others", self.readings(), uncorrected)

    @cached_property
    def votes(self) -> TaskVotes:
        """Who gave which label."""
        return measure.collect(self.table, self.task)

    def crossed(self, key: str, estimate: Estimate) -> tuple[Estimate, str]:
        """The same for annotators like these, where that can be told; and whom it is for."""
        units = "items" if self.plan.group is None else "groups"
        if key not in CROSSED or not estimate.standard_error > 0 or self.votes.who is None:
            return estimate, units
        level = self.level if key == "alpha" else "nominal"
        cell = crossed_coefficient(self.votes, key, level, self.plan)
        if not (cell.population.annotators and cell.of(0).standard_error > 0):
            return estimate, units
        return replace(estimate, spread=cell.of(0)), f"{units} and annotators"

    def scope(self, rows: Sequence[Coefficient]) -> str:
        """What the intervals speak for."""
        if all(row.alone == (row.low, row.high) or np.isnan(row.low) for row in rows):
            return self.plan.scope
        group = self.plan.group
        wholes = "" if group is None else f" {int(group.max()) + 1} groups count as wholes."
        return f"{SCOPE}{wholes}"

    def mean_kappa(self) -> Estimate:
        """Mean kappa of the pairs; without replicates if those would take too long."""
        assert self.shares is not None and self.pairs is not None
        if not self.too_many:
            return measure.mean_kappa(self.shares[1], self.plan, self.weights)
        none = np.full(self.plan.replicates, np.nan)
        return Estimate(self.pairs.mean, none, self.plan.fingerprint, (-1.0, 1.0))

    def readings(self) -> Estimate:
        """Leave-one-out agreement of readings or votes, as a mean over items."""
        value = np.full(len(self.table.items), np.nan)
        agreement = reading_agreement(self.table, self.task)
        value[np.unique(self.table.item[self.rows])] = agreement.value
        return measure.mean_over_items(value, self.plan)

    def people(self) -> tuple[Person, ...]:
        """All annotators who voted, most votes first, then the highest kappa."""
        names, number = self.table.annotators, self.by_annotator
        if names is None or not len(number):
            return ()
        kappa, agreement, without = np.full((3, len(names)), np.nan)
        if self.pairs is not None:
            place = {name: a for a, name in enumerate(names)}
            kappa[[place[name] for name in self.pairs.annotators]] = self.pairs.mean_of_each
        order = np.lexsort((np.nan_to_num(-kappa, nan=np.inf), -number))
        order = order[number[order] > 0]
        if not self.ranked:
            votes = self.votes
            if self.table.label is not None:
                agreement = _agreement_with_others(votes, len(names))
            if 1 < len(order) <= MOST_LEFT_OUT:
                without = _alpha_without(votes, self.level, len(names))
        who, item = np.divmod(np.unique(self.who_and_item), len(self.table.items))
        several = np.bincount(item, minlength=len(self.table.items)) > 1
        shared = np.bincount(who[several[item]], minlength=len(names))
        return tuple(
            Person(names[a], int(number[a]), int(shared[a]), *map(float, three))
            for a, three in zip(
                order, np.stack((kappa, agreement, without), 1)[order], strict=True
            )
        )


def _agreement_with_others(votes: TaskVotes, size: int) -> Floats:
    """Mean share of the others' votes that say the same, shape (annotators,)."""
    assert votes.who is not None
    times, values = votes.times, len(votes.value)
    item, who = votes.item.astype(np.int64), votes.who.astype(np.int64)
    by_same_person, by_anybody = (
        measure.same_key(key, times) for key in (who * votes.items + item, item)
    )
    same_by_person, same_by_anybody = (
        measure.same_key(key * values + votes.code, times)
        for key in (who * votes.items + item, item)
    )
    use = by_anybody > by_same_person
    share = (same_by_anybody - same_by_person)[use] / (by_anybody - by_same_person)[use]
    weight, total = (np.bincount(who[use], times[use] * v, size) for v in (1.0, share))
    return ratio(total, weight)


def _alpha_without(votes: TaskVotes, level: str, size: int) -> Floats:
    """Alpha without each annotator in turn, shape (annotators,)."""
    assert votes.who is not None
    whole, once = votes.counts(), np.ones((votes.items, 1))
    order = np.argsort(votes.who, kind="stable")
    cuts = np.searchsorted(votes.who[order], np.arange(1, size))
    out = np.full(size, np.nan)
    for a, rows in enumerate(np.split(order, cuts)):
        if len(rows):
            count, _ = measure.pairable(whole - votes.counts(rows))
            out[a] = measure.alpha_of(count, votes.value, level)(once)[0]
    return out


def _cautions(opinions: _TaskOpinions, rows: Mapping[str, Coefficient]) -> Iterator[Notice]:
    """Everything to keep in mind about these numbers."""
    for code, holds, text, *values in (
        *_left_aside(opinions),
        *_few(opinions),
        *_prevalence(opinions, rows),
        *_outside(rows.values()),
        *_people(opinions),
        *_thin_pairs(opinions),
    ):
        if holds:
            numbers: dict[str, Value] = values[0] if values else {}
            yield notice(code, text, **numbers)


def _some(code: str, number: int, noun: str, rest: str, **values: Value) -> tuple[Any, ...]:
    """A caution that begins with how many there are; none where there are none."""
    text = "{number:count} " + noun + "s" * (number != 1) + f" {rest}"
    return code, number, text, {"number": number, **values}


def _left_aside(opinions: _TaskOpinions) -> Iterator[tuple[Any, ...]]:
    """What of the data plays no part."""
    table = opinions.table
    gold = int((table.in_task(opinions.task) & table.gold).sum())
    yield _some("gold_rows", gold, "gold row", "left aside: a known truth is no opinion.")
    text = "Votes have weights; agreement counts every vote once."
    yield "weights", table.weight is not None, text
    rest = "of {items:count} with a single vote drop out: nobody to agree with."
    single = int((opinions.by_item == 1).sum())
    yield _some("single_votes", single, "item", rest, items=opinions.items)
    if len(opinions.by_annotator):
        code = np.unique(opinions.who_and_item, return_inverse=True)[1]
        again = int((np.bincount(code, opinions.times) > 1).sum())
        rest = "somebody voted more than once on an item: alpha counts every vote, Cohen's "
        yield _some("repeated_votes", again, "time", rest + "kappa shares them.")


def _few(opinions: _TaskOpinions) -> Iterator[tuple[Any, ...]]:
    """Whether there is enough to resample."""
    use = opinions.by_item >= 2
    items, several = int(use.sum()), measure.several(use, opinions.plan)
    yield "no_pairs", not items, "No item has two votes, so agreement is undefined."
    text = "Only one {unit} has two votes, so intervals are undefined."
    unit = "item" if opinions.plan.group is None else "group"
    yield "one_unit", items and not several, text, {"unit": unit}
    text = "Only {items:count} items have two votes: intervals are rough, often too narrow."
    yield "few_items", several and items < FEW_ITEMS, text, {"items": items}


def _prevalence(
    opinions: _TaskOpinions, rows: Mapping[str, Coefficient]
) -> Iterator[tuple[Any, ...]]:
    """How far chance explains the numbers."""
    alpha, same, fleiss = (
        rows[name].value if name in rows else np.nan for name in ("alpha", "percent", "fleiss")
    )
    text = (
        "All votes are of one class: agreement is complete, and coefficients that correct "
        "for chance are undefined."
    )
    yield "one_class", np.isnan(alpha) and same == 1.0, text
    table = opinions.table
    if same >= HIGH and alpha < LOW and table.label is not None:
        votes = np.bincount(table.label[opinions.first], opinions.times, len(table.classes))
        share = votes / votes.sum()
        top = int(share.argmax())
        text = (
            "Prevalence: {same:percent} of pairs of votes agree, yet alpha is {alpha:number}, "
            "because {share:percent} of all votes are {name:names} and chance alone would make "
            "{chance:percent} agree. Alpha here speaks of the rare classes."
        )
        numbers = {"same": same, "alpha": alpha, "share": float(share[top])}
        named = {"name": (table.classes[top],), "chance": float(share @ share)}
        yield "prevalence", True, text, {**numbers, **named}
    if abs(fleiss - alpha) > APART and opinions.level == "nominal":
        sizes = opinions.by_item[opinions.by_item >= 2]
        numbers = {"low": float(sizes.min()), "high": float(sizes.max())}
        why = "items have {low:count} to {high:count} votes"
        if numbers["low"] == numbers["high"]:
            why = "there are only {votes:count} votes, for which alpha corrects"
            numbers = {"votes": float(sizes.sum())}
        text = "Fleiss' kappa ({fleiss:number}) and alpha ({alpha:number}) differ because "
        numbers |= {"fleiss": fleiss, "alpha": alpha}
        yield "fleiss_apart", True, f"{text}{why}: prefer alpha.", numbers


def _outside(rows: "Sequence[Coefficient] | Any") -> Iterator[tuple[Any, ...]]:
    """Intervals that leave out their own value."""
    text = (
        "† The interval of {name} ({low:number} to {high:number}) leaves out its value "
        "({value:number}): {why}. Its width says more than its place."
    )
    fewer = (
        "a resample holds fewer different items of each pair, which pulls the kappas of "
        "pairs with few shared items towards 0 or leaves them undefined"
    )
    for row in rows:
        why = fewer if row.measure == "cohen" else "it shifts under resampling"
        numbers = {"name": row.name, "low": row.low, "high": row.high, "value": row.value}
        outside = row.value < row.low or row.value > row.high
        yield "interval_apart", outside, text, {**numbers, "why": why}


def _people(opinions: _TaskOpinions) -> Iterator[tuple[Any, ...]]:
    number = int((opinions.by_annotator > 0).sum())
    yield "one_annotator", number == 1, "There is only one annotator."
    text = "With {annotators:count} annotators alpha without each is not computed (at most "
    many = number > MOST_LEFT_OUT and not opinions.ranked
    facts = {"annotators": number, "most": MOST_LEFT_OUT}
    yield "not_left_out", many, text + "{most:count}).", facts


def _thin_pairs(opinions: _TaskOpinions) -> Iterator[tuple[Any, ...]]:
    """What is thin or missing among the pairs."""
    if (pairs := opinions.pairs) is None:
        return
    upper = np.triu_indices(len(pairs.annotators), 1)
    items, kappa = pairs.items[upper], pairs.kappa[upper]
    alone, few = int((items == 0).sum()), int(((items > 0) & (items < FEW_SHARED)).sum())
    same = int((np.isnan(kappa) & (items > 0)).sum())
    some, total = "{pairs:count} of {every:count} pairs ", {"every": len(items)}
    text = "of annotators share no item."
    yield "pairs_apart", alone, some + text, {"pairs": alone, **total}
    text = "share fewer than {least:count} items: their kappas are hardly more than noise."
    yield "thin_pairs", few, some + text, {"pairs": few, **total, "least": FEW_SHARED}
    text = "The kappa of {pairs:count} pair" + "s" * (same != 1) + " is undefined: both "
    text += "gave all items they share the same class."
    yield "pairs_of_one_class", same, text, {"pairs": same}
    text = "There are too many pairs for an interval of their mean kappa."
    yield "too_many_pairs", opinions.too_many, text
    left = int((opinions.by_annotator > 0).sum()) - len(pairs.annotators)
    rest = "with fewest votes not in the matrix of pairs."
    yield _some("pairs_left_out", left, "annotator", rest)
    text = (
        "Classes are nominal, so {weights} weights take the order in which classes are "
        "listed; declare kind ordinal if that is a scale."
    )
    unordered = opinions.weights != "none" and opinions.table.kind == "nominal"
    yield "weights_without_order", unordered, text, {"weights": opinions.weights}
