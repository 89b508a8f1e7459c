"""Coefficients: one row each, with the interval and what the number is taken to mean."""

from typing import NamedTuple

import numpy as np

from equipoise.agreement._shares import shares
from equipoise.agreement._study import Study
from equipoise.agreement._units import estimated, summed
from equipoise.agreement.cohen_kappa_pairs import Pairs, mean_kappa
from equipoise.agreement.fleiss_kappa import fleiss_kappa
from equipoise.agreement.krippendorff_alpha import krippendorff_alpha
from equipoise.agreement.percent_agreement import percent_agreement
from equipoise.agreement.reading_agreement import reading_agreement
from equipoise.agreement.words import krippendorff_words, landis_koch
from equipoise.arrays import Floats
from equipoise.estimate import Estimate

PLAIN = "not corrected for chance"
MOST_WORK = 4 * 10**9  # products for the interval of the mean kappa
MOST_VALUES = 1000  # different ratings, beyond which exact agreement is not counted
READINGS = "Reading agreement, leave one out"
OTHERS = "Names the others' first choice"


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
    """

    name: str
    value: float
    low: float
    high: float
    words: str
    items: int
    votes: int


def coefficients(study: Study, pairs: Pairs | None) -> tuple[Coefficient, ...]:
    """All coefficients that the annotations allow."""
    if study.ranked:
        return (_row(study, READINGS, _readings(study), PLAIN),)
    table, task, plan = study.annotations, study.task, study.plan
    alpha = krippendorff_alpha(table, level=study.level, task=task, plan=plan)
    name = f"Krippendorff's alpha ({study.level})"
    rows = [_row(study, name, alpha, krippendorff_words(alpha.value))]
    if table.label is not None:
        fleiss = fleiss_kappa(table, task=task, plan=plan)
        name = "Fleiss' kappa" if study.level == "nominal" else "Fleiss' kappa (nominal)"
        rows.append(_row(study, name, fleiss, landis_koch(fleiss.value)))
    if pairs is not None:
        mean = _cohen(study, pairs)
        how = "" if study.weights == "none" else f", {study.weights} weights"
        words = landis_koch(mean.value)
        rows.append(_row(study, f"Cohen's kappa, mean of pairs{how}", mean, words))
    if table.value is None or len(np.unique(table.value)) <= MOST_VALUES:
        same = percent_agreement(table, task=task, plan=plan)
        rows.append(_row(study, "Percent agreement", same, PLAIN))
    if table.label is not None and table.is_gold is None:
        rows.append(_row(study, OTHERS, _readings(study), PLAIN))
    return tuple(rows)


def _row(study: Study, name: str, found: Estimate, words: str) -> Coefficient:
    low, high = found.interval()
    votes = study.by_item
    several = votes[votes >= 2]
    return Coefficient(
        name, found.value, low, high, words if found.value == found.value else "undefined",
        len(several), int(several.sum()),
    )  # fmt: skip


def _cohen(study: Study, pairs: Pairs) -> Estimate:
    """Mean kappa of the pairs; without replicates if those would take too long."""
    if pair_work(study, pairs) > MOST_WORK:
        none = np.full(study.plan.replicates, np.nan)
        return Estimate(pairs.mean, none, study.plan.fingerprint, (-1.0, 1.0))
    place = {name: a for a, name in enumerate(study.annotations.annotators or ())}
    found = shares(study.annotations, study.task).of([place[n] for n in pairs.annotators])
    return mean_kappa(found, study.plan, study.weights)


def pair_work(study: Study, pairs: Pairs) -> float:
    """Products that the interval of the mean kappa takes."""
    return float(np.triu(pairs.items, 1).sum()) * 4 * study.plan.replicates


def _readings(study: Study) -> Estimate:
    """Leave-one-out agreement of readings or votes, as a mean over items."""
    table = study.annotations
    found = reading_agreement(table, study.task)
    item = np.unique(table.item[study.rows])
    known = np.isfinite(found.value)
    total = summed(found.value[known])

    def compute(counts: Floats) -> Floats:
        number = counts.sum(axis=0)
        return np.where(number > 0, total(counts)[0] / np.maximum(number, 1.0), np.nan)

    return estimated(item[known], study.plan, compute, low=0.0)
