"""Cautions: what a number of agreement does not say by itself, one sentence each."""

from collections.abc import Iterator, Sequence

import numpy as np

from equipoise.agreement._coefficients import MOST_WORK, Coefficient, pair_work
from equipoise.agreement._people import MOST_LEFT_OUT
from equipoise.agreement._study import Study
from equipoise.agreement._units import several
from equipoise.agreement.cohen_kappa_pairs import Pairs
from equipoise.agreement.words import OUTSIDE, outside

FEW_SHARED = 10  # items below which the kappa of a pair is hardly more than noise
FEW_ITEMS = 20  # items below which an interval is rough
HIGH, LOW = 0.8, 0.4  # percent agreement and alpha, between which prevalence explains
APART = 0.1  # between alpha and Fleiss' kappa


def cautions(
    study: Study, found: Sequence[Coefficient], pairs: Pairs | None
) -> tuple[str, ...]:
    """Everything to keep in mind about these numbers."""
    said = [*_left_aside(study), *_few(study), *_chance(study, found), *_outside(found)]
    return (*said, *_people(study), *(() if pairs is None else _pairs(study, pairs)))


def _left_aside(study: Study) -> Iterator[str]:
    """What of the data plays no part."""
    table = study.annotations
    if table.is_gold is not None:
        gold = int((table.in_task(study.task) & table.is_gold).sum())
        if gold:
            yield f"{_some(gold, 'gold row')} left aside: a known truth is no opinion."
    if table.weight is not None:
        yield "Votes have weights; agreement counts every vote once."
    votes = study.by_item
    single = int((votes == 1).sum())
    if single:
        yield (
            f"{_some(single, 'item')} of {study.items:,} with a single vote drop out: nobody "
            "to agree with."
        )
    again = _repeated(study)
    if again:
        yield (
            f"{_some(again, 'time')} somebody voted more than once on an item: alpha counts "
            "every vote, Cohen's kappa shares them."
        )


def _repeated(study: Study) -> int:
    """Pairs of annotator and item with more than one vote."""
    table = study.annotations
    if table.annotators is None or table.annotator is None:
        return 0
    key = table.annotator[study.first].astype(np.int64) * len(table.items)
    code = np.unique(key + table.item[study.first], return_inverse=True)[1]
    return int((np.bincount(code, study.times) > 1).sum())


def _few(study: Study) -> Iterator[str]:
    """Whether there is enough to redraw."""
    item = np.flatnonzero(study.by_item >= 2)
    if not len(item):
        yield "No item has two votes, so agreement is undefined."
    elif not several(item, study.plan):
        one = "item" if study.plan.group is None else "group"
        yield f"Only one {one} has two votes, so intervals are undefined."
    elif len(item) < FEW_ITEMS:
        yield f"Only {len(item)} items have two votes: intervals are rough, often too narrow."


def _chance(study: Study, found: Sequence[Coefficient]) -> Iterator[str]:
    """How far chance explains the numbers."""
    value = {row.name.split(" ")[0]: row.value for row in found}
    alpha, same = value.get("Krippendorff's", np.nan), value.get("Percent", np.nan)
    fleiss = value.get("Fleiss'", np.nan)
    if np.isnan(alpha) and same == 1.0:
        yield (
            "All votes are of one class: agreement is complete, and coefficients that "
            "correct for chance are undefined."
        )
    if same >= HIGH and alpha < LOW and study.annotations.label is not None:
        yield _paradox(study, same, alpha)
    if abs(fleiss - alpha) > APART and study.level == "nominal":
        votes = study.by_item[study.by_item >= 2]
        why = (
            f"items have {votes.min():.0f} to {votes.max():.0f} votes"
            if votes.min() < votes.max()
            else f"there are only {votes.sum():.0f} votes, for which alpha corrects"
        )
        yield (
            f"Fleiss' kappa ({fleiss:.2f}) and alpha ({alpha:.2f}) differ because {why}: "
            "prefer alpha."
        )


def _outside(found: Sequence[Coefficient]) -> Iterator[str]:
    """Intervals that leave out their own value."""
    for row in found:
        if not outside(row.value, row.low, row.high):
            continue
        why = "it shifts under resampling"
        if row.name.startswith("Cohen's"):
            why = (
                "a resample holds fewer different items of each pair, which pulls the kappas "
                "of pairs with few shared items towards 0 or leaves them undefined"
            )
        yield (
            f"{OUTSIDE} The interval of {row.name} ({row.low:.3f} to {row.high:.3f}) leaves "
            f"out its value ({row.value:.3f}): {why}. Its width says more than its place."
        )


def _paradox(study: Study, same: float, alpha: float) -> str:
    table = study.annotations
    assert table.label is not None
    rows = study.first
    share = np.bincount(table.label[rows], study.times, len(table.classes)) / study.votes
    top = int(share.argmax())
    return (
        f"Prevalence: {same:.0%} of pairs of votes agree, yet alpha is {alpha:.2f}, because "
        f"{share[top]:.0%} of all votes are {table.classes[top]!r} and chance alone would make "
        f"{float(share @ share):.0%} agree. Alpha here speaks of the rare classes."
    )


def _people(study: Study) -> Iterator[str]:
    """What is not said of single annotators."""
    number = int((study.by_annotator > 0).sum())
    if number == 1:
        yield "There is only one annotator."
    if number > MOST_LEFT_OUT and not study.ranked:
        yield (
            f"With {number:,} annotators alpha without each is not computed (at most "
            f"{MOST_LEFT_OUT})."
        )


def _pairs(study: Study, pairs: Pairs) -> Iterator[str]:
    """What is thin or missing among the pairs."""
    upper = np.triu_indices(len(pairs.annotators), 1)
    items, kappa = pairs.items[upper], pairs.kappa[upper]
    every = len(items)
    alone, few = int((items == 0).sum()), int(((items > 0) & (items < FEW_SHARED)).sum())
    same = int((np.isnan(kappa) & (items > 0)).sum())
    if alone:
        yield f"{alone:,} of {every:,} pairs of annotators share no item."
    if few:
        yield (
            f"{few:,} of {every:,} pairs share fewer than {FEW_SHARED} items: their kappas "
            "are hardly more than noise."
        )
    if same:
        yield (
            f"The kappa of {_some(same, 'pair')} is undefined: both gave all items they share "
            "the same class."
        )
    if pair_work(study, pairs) > MOST_WORK:
        yield "There are too many pairs for an interval of their mean kappa."
    left = int((study.by_annotator > 0).sum()) - len(pairs.annotators)
    if left:
        yield f"{_some(left, 'annotator')} with fewest votes not in the matrix of pairs."
    if study.weights != "none" and study.annotations.kind == "nominal":
        yield (
            f"Classes are nominal, so {study.weights} weights take the order in which classes "
            "are listed; declare kind ordinal if that is a scale."
        )


def _some(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
