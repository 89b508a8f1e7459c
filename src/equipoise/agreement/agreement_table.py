"""Agreement table: every coefficient with its interval and words, annotators, pairs, cautions.

Which coefficients there are depends on what was collected. Labels have Krippendorff's alpha,
Fleiss' kappa, the mean of Cohen's kappas where annotators are known, percent agreement and the
agreement with the first choice of the others; ratings have alpha and percent agreement;
rankings have the leave-one-out agreement of readings.

Examples
--------
>>> votes = Annotations(kind="binary", items=("a", "b", "c"), classes=("no", "yes"),
...     annotators=("ana", "bo"), item=np.array([0, 0, 1, 1, 2, 2]),
...     annotator=np.array([0, 1, 0, 1, 0, 1]), label=np.array([1, 1, 0, 0, 1, 0]))
>>> table = agreement_table(votes)
>>> [(row.name, round(row.value, 3)) for row in table.coefficients][:2]
[("Krippendorff's alpha (nominal)", 0.444), ("Fleiss' kappa", 0.333)]
"""

from typing import NamedTuple, TypedDict, Unpack

import numpy as np

from equipoise.agreement._cautions import cautions
from equipoise.agreement._coefficients import Coefficient, coefficients
from equipoise.agreement._people import Person, people
from equipoise.agreement._shares import WEIGHTS, shares
from equipoise.agreement._study import Study
from equipoise.agreement._votes import opinions
from equipoise.agreement.cohen_kappa_pairs import Pairs, pairs_of
from equipoise.agreement.krippendorff_alpha import LEVELS, default_level
from equipoise.annotations import Annotations
from equipoise.arrays import InputError, Ints, choice, nearest
from equipoise.resampling import resample

MOST_PEOPLE = 1000  # annotators in the matrix of pairs
MOST_CELLS = 2**26  # numbers in its tables by class


class AgreementTable(NamedTuple):
    """Everything that was found about the agreement on one task.

    Attributes
    ----------
    task, kind, level, weights
        Which question, the kind of its labels, the level of alpha, and Cohen's weights.
    items, votes
        How many items and votes there are, gold rows aside; readings where labels are ranked.
    coefficients
        One row each: name, value, interval, words, and the items and votes it rests on.
    annotators
        Those who voted, most votes first; empty when votes are anonymous.
    pairs
        Cohen's kappa of all pairs, most votes first; None without single labels by known
        annotators.
    cautions
        What to keep in mind, one sentence each.
    scope
        What the intervals speak for.
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
    cautions: tuple[str, ...]
    scope: str


class AgreementHow(TypedDict, total=False):
    """Keywords of `agreement_table`."""

    level: str | None
    weights: str
    replicates: int
    seed: int


def agreement_table(
    annotations: Annotations, *, task: str = "", **how: Unpack[AgreementHow]
) -> AgreementTable:
    """Compute all there is to say about the agreement on one task.

    Parameters
    ----------
    task
        Which question.
    **how
        ``level`` of alpha (by default what the kind of the annotations says), ``weights`` of
        Cohen's kappa (``none``), ``replicates`` (1,000) over items or groups, and their
        ``seed`` (0).
    """
    study = _study(annotations, task, how)
    pairs = _pairs(study)
    found = coefficients(study, pairs)
    return AgreementTable(
        task=task,
        kind=annotations.kind,
        level=study.level,
        weights=study.weights,
        items=study.items,
        votes=study.votes,
        coefficients=found,
        annotators=people(study, pairs),
        pairs=pairs,
        cautions=cautions(study, found, pairs),
        scope=study.plan.scope,
    )


def _study(annotations: Annotations, task: str, how: AgreementHow) -> Study:
    for name in how:
        if name not in AgreementHow.__annotations__:
            known = tuple(AgreementHow.__annotations__)
            raise InputError(
                f"agreement_table, keyword {name!r}", "unknown", f"one of {', '.join(known)}",
                nearest(name, known),
            )  # fmt: skip
    level = how.get("level") or default_level(annotations)
    plan = resample(
        annotations, "items", replicates=how.get("replicates", 1000), seed=how.get("seed", 0)
    )
    return Study(
        annotations,
        task,
        opinions(annotations, task),
        choice("agreement_table, level", level, LEVELS),
        choice("agreement_table, weights", how.get("weights", "none"), WEIGHTS),
        plan,
    )


def _pairs(study: Study) -> Pairs | None:
    """Kappa of the pairs of those who voted, most votes first."""
    names = study.annotations.annotators
    if names is None or study.annotations.label is None or study.ranked:
        return None
    order = _by_votes(study)
    if len(order) < 2:
        return None
    found = shares(study.annotations, study.task).of(order)
    return pairs_of(found, tuple(names[a] for a in order), study.weights)


def _by_votes(study: Study) -> Ints:
    """Annotators with at least one vote, most votes first."""
    number = study.by_annotator
    order = np.argsort(-number, kind="stable")
    room = int((MOST_CELLS / (len(study.annotations.classes) + 5)) ** 0.5)
    return order[number[order] > 0][: min(MOST_PEOPLE, room)]
