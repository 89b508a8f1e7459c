"""Study: the annotations of one task, their coefficients of agreement, and each annotator."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from equipoise.inference.estimate import Estimate
from equipoise.inference.resampling import Resampling
from equipoise.truth.agreement._votes import (
    AgreementVotes,
    collect_votes,
    count_votes,
    mean_over_items,
    several_votes,
)
from equipoise.truth.agreement.cohen_kappa import Pairs, landis_koch, mean_kappa, shares
from equipoise.truth.agreement.fleiss_kappa import fleiss_kappa, percent_agreement
from equipoise.truth.agreement.krippendorff_alpha import (
    alpha_of,
    krippendorff_alpha,
    krippendorff_words,
)
from equipoise.truth.agreement.reading_agreement import reading_agreement
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Floats, Ints
from equipoise.types.numbers import UNDEFINED
from equipoise.types.votes import vote_counts

MOST_WORK = 4 * 10**9  # products for the interval of the mean kappa
MOST_VALUES = 1000  # different ratings, beyond which exact agreement is not counted
MOST_LEFT_OUT = 200  # annotators up to which each is left out in turn
PLAIN = "not corrected for chance"
NAMES = {
    "alpha": "Krippendorff's alpha",
    "fleiss": "Fleiss' kappa",
    "cohen": "Cohen's kappa, mean of pairs",
    "percent": "Percent agreement",
    "others": "Names the others' first choice",
    "readings": "Reading agreement, leave one out",
}


@dataclass(frozen=True, slots=True, eq=False)
class AgreementStudy:
    """Whose agreement on which task, the rows that are opinions, and how it is measured."""

    annotations: Annotations
    task: str
    rows: Ints | slice
    level: str
    weights: str
    plan: Resampling

    @property
    def ranked(self) -> bool:
        """Whether the annotations are rankings."""
        return self.annotations.rank is not None

    @property
    def first(self) -> Ints:
        """One row of every vote or reading, positions in the annotations."""
        every = np.arange(len(self.annotations))[self.rows]
        if self.annotations.reading is None:
            return every
        return every[np.unique(self.annotations.reading[every], return_index=True)[1]]

    @property
    def times(self) -> Floats:
        """How many votes each of them stands for."""
        return vote_counts(self.annotations, self.first)

    @property
    def items(self) -> int:
        """Items with at least one vote."""
        return len(np.unique(self.annotations.item[self.rows]))

    @property
    def votes(self) -> int:
        """Votes or readings."""
        return int(self.times.sum())

    @property
    def by_item(self) -> Floats:
        """Votes of each item, shape (items,)."""
        table = self.annotations
        return np.bincount(table.item[self.first], self.times, len(table.items)).astype(float)

    @property
    def by_annotator(self) -> Floats:
        """Votes of each annotator, shape (annotators,); empty for anonymous votes."""
        table = self.annotations
        if table.annotators is None or table.annotator is None:
            return np.zeros(0)
        who = table.annotator[self.first]
        return np.bincount(who, self.times, len(table.annotators)).astype(float)


class Coefficient(NamedTuple):
    """One coefficient of agreement.

    Attributes
    ----------
    name
        Which coefficient.
    value, low, high
        The number and its 95 % interval over items; nan where undefined.
    words
        What the number is commonly taken to mean.
    items, votes
        What it rests on: items with at least two votes, and their votes.
    measure
        Which coefficient, in a word: ``alpha``, ``fleiss``, ``cohen``, ``percent``, ``others``
        (the first choice of the others) or ``readings``.
    """

    name: str
    value: float
    low: float
    high: float
    words: str
    items: int
    votes: int
    measure: str = ""

    @property
    def outside(self) -> bool:
        """Whether the interval leaves out its own value."""
        return self.value < self.low or self.value > self.high

    def row(self) -> dict[str, Any]:
        """What people and files are told of it."""
        return {name: part for name, part in self._asdict().items() if name != "measure"}


def coefficients(study: AgreementStudy, pairs: Pairs | None) -> tuple[Coefficient, ...]:
    """All coefficients that the annotations allow."""
    several = study.by_item[study.by_item >= 2]

    def row(measure: str, estimate: Estimate, words: str, variant: str = "") -> Coefficient:
        words = UNDEFINED if np.isnan(estimate.value) else words
        ends, size = estimate.interval(), (len(several), int(several.sum()))
        name = NAMES[measure] + variant
        return Coefficient(name, estimate.value, *ends, words, *size, measure)

    if study.ranked:
        return (row("readings", _readings(study), PLAIN),)
    table, task, plan = study.annotations, study.task, study.plan
    alpha = krippendorff_alpha(table, level=study.level, task=task, plan=plan)
    rows = [row("alpha", alpha, krippendorff_words(alpha.value), f" ({study.level})")]
    if table.label is not None:
        fleiss = fleiss_kappa(table, task=task, plan=plan)
        scale = "" if study.level == "nominal" else " (nominal)"
        rows.append(row("fleiss", fleiss, landis_koch(fleiss.value), scale))
    if pairs is not None:
        mean = _cohen(study, pairs)
        weighted = "" if study.weights == "none" else f", {study.weights} weights"
        rows.append(row("cohen", mean, landis_koch(mean.value), weighted))
    if table.value is None or len(np.unique(table.value)) <= MOST_VALUES:
        rows.append(row("percent", percent_agreement(table, task=task, plan=plan), PLAIN))
    if table.label is not None and table.is_gold is None:
        rows.append(row("others", _readings(study), PLAIN))
    return tuple(rows)


def _cohen(study: AgreementStudy, pairs: Pairs) -> Estimate:
    """Mean kappa of the pairs; without replicates if those would take too long."""
    if pair_work(study, pairs) > MOST_WORK:
        none = np.full(study.plan.replicates, np.nan)
        return Estimate(pairs.mean, none, study.plan.fingerprint, (-1.0, 1.0))
    place = {name: a for a, name in enumerate(study.annotations.annotators or ())}
    known = shares(study.annotations, study.task).of([place[n] for n in pairs.annotators])
    return mean_kappa(known, study.plan, study.weights)


def pair_work(study: AgreementStudy, pairs: Pairs) -> float:
    """Products that the interval of the mean kappa takes."""
    return float(np.triu(pairs.items, 1).sum()) * 4 * study.plan.replicates


def _readings(study: AgreementStudy) -> Estimate:
    """Leave-one-out agreement of readings or votes, as a mean over items."""
    value = reading_agreement(study.annotations, study.task).value
    known = np.isfinite(value)
    item = np.unique(study.annotations.item[study.rows])[known]
    return mean_over_items(item, study.plan, value[known])


class Person(NamedTuple):
    """One annotator.

    Attributes
    ----------
    annotator, votes, items
        Name, votes or readings, and items that somebody else rated, too.
    kappa
        Mean of Cohen's kappas with the others, weighted by the items shared; nan without any.
    agreement
        Mean share of the others' votes on the same items that say the same; nan without any.
    alpha_without
        Krippendorff's alpha of all the others; nan where undefined or not computed.
    """

    annotator: str
    votes: int
    items: int
    kappa: float
    agreement: float
    alpha_without: float


def people(study: AgreementStudy, pairs: Pairs | None) -> tuple[Person, ...]:
    """All annotators who voted, most votes first, then the highest kappa."""
    names, number = study.annotations.annotators, study.by_annotator
    if names is None or not len(number):
        return ()
    none = np.full(len(names), np.nan)
    kappa = none.copy()
    if pairs is not None:
        place = {name: a for a, name in enumerate(names)}
        kappa[[place[name] for name in pairs.annotators]] = pairs.mean_of_each
    order = np.lexsort((np.nan_to_num(-kappa, nan=np.inf), -number))
    order = order[number[order] > 0]
    votes = None if study.ranked else collect_votes(study.annotations, study.task)
    agreement, alpha_without = none, none
    if votes is not None and study.annotations.label is not None:
        agreement = _agreement_with_others(votes, len(names))
    if votes is not None and 1 < len(order) <= MOST_LEFT_OUT:
        alpha_without = _alpha_without(votes, study.level, len(names))
    shared = _shared(study, len(names))
    numbers = zip(kappa.tolist(), agreement.tolist(), alpha_without.tolist(), strict=True)
    every = [
        Person(names[a], int(number[a]), int(shared[a]), *three)
        for a, three in enumerate(numbers)
    ]
    return tuple(every[a] for a in order)


def _shared(study: AgreementStudy, size: int) -> Floats:
    """Items of each annotator that somebody else rated, too."""
    table = study.annotations
    assert table.annotator is not None
    key = table.annotator[study.first].astype(np.int64) * len(table.items)
    key = np.unique(key + table.item[study.first])
    who, item = np.divmod(key, len(table.items))
    several = np.bincount(item, minlength=len(table.items)) > 1
    return np.bincount(who[several[item]], minlength=size).astype(np.float64)


def _agreement_with_others(votes: AgreementVotes, size: int) -> Floats:
    """Mean share of the others' votes that say the same, shape (annotators,)."""
    assert votes.who is not None
    number, values = votes.number, len(votes.value)
    who = votes.who.astype(np.int64)
    own = _total(who * votes.items + votes.item, number)
    said = _total((who * votes.items + votes.item) * values + votes.code, number)
    every = np.bincount(votes.item, number, votes.items)[votes.item]
    alike = _total(votes.item.astype(np.int64) * values + votes.code, number)
    others = every - own
    use = others > 0
    share = (alike - said)[use] / others[use]
    weight = np.bincount(who[use], number[use], size)
    total = np.bincount(who[use], number[use] * share, size)
    return np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), np.nan)


def _total(key: Any, number: Floats) -> Floats:
    """Sum of the rows that have the same key, shape (rows,)."""
    code = np.unique(key, return_inverse=True)[1]
    return np.asarray(np.bincount(code, number)[code], dtype=np.float64)


def _alpha_without(votes: AgreementVotes, level: str, size: int) -> Floats:
    """Alpha without each annotator in turn, shape (annotators,)."""
    assert votes.who is not None
    whole = count_votes(votes)
    order = np.argsort(votes.who, kind="stable")
    start = np.searchsorted(votes.who[order], np.arange(size + 1))
    out = np.full(size, np.nan)
    for a in range(size):
        rows = order[start[a] : start[a + 1]]
        if not len(rows):
            continue
        rest = whole - count_votes(votes, rows)
        rest.eliminate_zeros()
        kept = several_votes(votes, rest)
        out[a] = alpha_of(kept, level)(np.ones((len(kept.item), 1)))[0]
    return out
