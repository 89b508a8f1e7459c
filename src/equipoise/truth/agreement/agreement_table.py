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
>>> table.report().sentence
"Krippendorff's alpha (nominal) is 0.444, below 0.667: too low to treat one label as the truth."
"""

from collections.abc import Iterator, Sequence
from typing import TypedDict, Unpack

import numpy as np

from equipoise.inference.resampling import resample
from equipoise.truth.agreement._study import (
    MOST_LEFT_OUT,
    MOST_WORK,
    AgreementStudy,
    Coefficient,
    coefficients,
    pair_work,
    people,
)
from equipoise.truth.agreement._votes import opinions, several
from equipoise.truth.agreement.agreement_report import SHOWN, AgreementTable
from equipoise.truth.agreement.cohen_kappa import WEIGHTS, Pairs, pairs_of, shares
from equipoise.truth.agreement.krippendorff_alpha import LEVELS, default_level
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import InputError, choice, nearest
from equipoise.types.notices import Notice, Value, notice
from equipoise.types.votes import gold_rows

MOST_PEOPLE = 1000  # annotators in the matrix of pairs
MOST_CELLS = 2**26  # numbers in its tables by class
FEW_SHARED = 10  # items below which the kappa of a pair is hardly more than noise
FEW_ITEMS = 20  # items below which an interval is rough
HIGH, LOW = 0.8, 0.4  # percent agreement and alpha, between which prevalence explains
APART = 0.1  # between alpha and Fleiss' kappa


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
    rows = coefficients(study, pairs)
    table = AgreementTable(
        task=task,
        kind=annotations.kind,
        level=study.level,
        weights=study.weights,
        items=study.items,
        votes=study.votes,
        coefficients=rows,
        annotators=people(study, pairs),
        pairs=pairs,
        cautions=tuple(_cautions(study, rows, pairs)),
        scope=study.plan.scope,
    )
    return table.summary()


def agreement_summaries(annotations: Annotations) -> tuple[AgreementTable, ...]:
    """What an evaluation tells of its annotators: the agreement on every task that has one.

    There is none for anonymous votes, for items of a single group, and for gold rankings. The
    more tasks there are, the fewer annotators stand in each matrix of pairs.
    """
    gold, group = gold_rows(annotations), annotations.group
    tasks = [task for task in annotations.tasks if (annotations.in_task(task) & ~gold).any()]
    drawable = group is None or len(np.unique(group)) > 1
    ranked = annotations.is_gold is not None and annotations.rank is not None
    if annotations.annotators is None or not drawable or ranked:
        return ()
    shown = max(12, int(SHOWN / max(len(tasks), 1) ** 0.5))
    return tuple(agreement_table(annotations, task=one).summary(shown=shown) for one in tasks)


def _study(annotations: Annotations, task: str, how: AgreementHow) -> AgreementStudy:
    known = tuple(AgreementHow.__annotations__)
    for name in how:
        if name not in known:
            where, expected = f"agreement_table, keyword {name!r}", f"one of {', '.join(known)}"
            raise InputError(where, "unknown", expected, nearest(name, known))
    level = how.get("level") or default_level(annotations.kind)
    drawn = how.get("replicates", 1000), how.get("seed", 0)
    plan = resample(annotations, "items", replicates=drawn[0], seed=drawn[1])
    return AgreementStudy(
        annotations,
        task,
        opinions(annotations, task),
        choice("agreement_table, level", level, LEVELS),
        choice("agreement_table, weights", how.get("weights", "none"), WEIGHTS),
        plan,
    )


def _pairs(study: AgreementStudy) -> Pairs | None:
    """Kappa of the pairs of those who voted, most votes first."""
    names, number = study.annotations.annotators, study.by_annotator
    if names is None or study.annotations.label is None or study.ranked:
        return None
    order = np.argsort(-number, kind="stable")
    room = int((MOST_CELLS / (len(study.annotations.classes) + 5)) ** 0.5)
    order = order[number[order] > 0][: min(MOST_PEOPLE, room)]
    if len(order) < 2:
        return None
    known = shares(study.annotations, study.task).of(order)
    return pairs_of(known, tuple(names[a] for a in order), study.weights)


def _some(code: str, number: int, noun: str, rest: str, **values: Value) -> Iterator[Notice]:
    """A notice that begins with how many there are; none where there are none."""
    if number:
        head = "{number:count} " + noun + "s" * (number != 1)
        yield notice(code, f"{head} {rest}", number=number, **values)


def _cautions(
    study: AgreementStudy, rows: Sequence[Coefficient], pairs: Pairs | None
) -> Iterator[Notice]:
    """Everything to keep in mind about these numbers."""
    yield from _left_aside(study)
    yield from _few(study)
    yield from _prevalence(study, rows)
    for row in rows:
        if row.outside:
            yield _outside(row)
    number = int((study.by_annotator > 0).sum())
    if number == 1:
        yield Notice("one_annotator", "There is only one annotator.")
    if number > MOST_LEFT_OUT and not study.ranked:
        text = (
            "With {annotators:count} annotators alpha without each is not computed (at most "
            "{most:count})."
        )
        yield notice("not_left_out", text, annotators=number, most=MOST_LEFT_OUT)
    if pairs is not None:
        yield from _thin_pairs(study, pairs)


def _left_aside(study: AgreementStudy) -> Iterator[Notice]:
    """What of the data plays no part."""
    table = study.annotations
    if table.is_gold is not None:
        gold = int((table.in_task(study.task) & table.is_gold).sum())
        rest = "left aside: a known truth is no opinion."
        yield from _some("gold_rows", gold, "gold row", rest)
    if table.weight is not None:
        yield Notice("weights", "Votes have weights; agreement counts every vote once.")
    single = int((study.by_item == 1).sum())
    rest = "of {items:count} with a single vote drop out: nobody to agree with."
    yield from _some("single_votes", single, "item", rest, items=study.items)
    if table.annotators is None or table.annotator is None:
        return
    key = table.annotator[study.first].astype(np.int64) * len(table.items)
    code = np.unique(key + table.item[study.first], return_inverse=True)[1]
    rest = (
        "somebody voted more than once on an item: alpha counts every vote, Cohen's kappa "
        "shares them."
    )
    again = int((np.bincount(code, study.times) > 1).sum())
    yield from _some("repeated_votes", again, "time", rest)


def _few(study: AgreementStudy) -> Iterator[Notice]:
    """Whether there is enough to resample."""
    item = np.flatnonzero(study.by_item >= 2)
    if not len(item):
        yield Notice("no_pairs", "No item has two votes, so agreement is undefined.")
    elif not several(item, study.plan):
        text = "Only one {unit} has two votes, so intervals are undefined."
        yield notice("one_unit", text, unit="item" if study.plan.group is None else "group")
    elif len(item) < FEW_ITEMS:
        text = "Only {items:count} items have two votes: intervals are rough, often too narrow."
        yield notice("few_items", text, items=len(item))


def _prevalence(study: AgreementStudy, rows: Sequence[Coefficient]) -> Iterator[Notice]:
    """How far chance explains the numbers."""
    value = {row.measure: row.value for row in rows}
    alpha, same, fleiss = (value.get(name, np.nan) for name in ("alpha", "percent", "fleiss"))
    if np.isnan(alpha) and same == 1.0:
        text = (
            "All votes are of one class: agreement is complete, and coefficients that correct "
            "for chance are undefined."
        )
        yield Notice("one_class", text)
    table = study.annotations
    if same >= HIGH and alpha < LOW and table.label is not None:
        votes = np.bincount(table.label[study.first], study.times, len(table.classes))
        share = votes / study.votes
        top = int(share.argmax())
        yield notice(
            "prevalence",
            "Prevalence: {same:percent} of pairs of votes agree, yet alpha is {alpha:number}, "
            "because {share:percent} of all votes are {name:names} and chance alone would make "
            "{chance:percent} agree. Alpha here speaks of the rare classes.",
            same=same,
            alpha=alpha,
            share=float(share[top]),
            name=(table.classes[top],),
            chance=float(share @ share),
        )
    if abs(fleiss - alpha) > APART and study.level == "nominal":
        sizes = study.by_item[study.by_item >= 2]
        low, high = float(sizes.min()), float(sizes.max())
        why = "items have {low:count} to {high:count} votes"
        numbers: dict[str, Value] = {"low": low, "high": high}
        if low == high:
            why = "there are only {votes:count} votes, for which alpha corrects"
            numbers = {"votes": float(sizes.sum())}
        text = "Fleiss' kappa ({fleiss:number}) and alpha ({alpha:number}) differ because "
        text += f"{why}: prefer alpha."
        yield notice("fleiss_apart", text, fleiss=fleiss, alpha=alpha, **numbers)


def _outside(row: Coefficient) -> Notice:
    """An interval that leaves out its own value."""
    why = "it shifts under resampling"
    if row.measure == "cohen":
        why = (
            "a resample holds fewer different items of each pair, which pulls the kappas of "
            "pairs with few shared items towards 0 or leaves them undefined"
        )
    text = (
        "† The interval of {name} ({low:number} to {high:number}) leaves out its value "
        "({value:number}): {why}. Its width says more than its place."
    )
    numbers = {"low": row.low, "high": row.high, "value": row.value}
    return notice("interval_apart", text, name=row.name, **numbers, why=why)


def _thin_pairs(study: AgreementStudy, pairs: Pairs) -> Iterator[Notice]:
    """What is thin or missing among the pairs."""
    upper = np.triu_indices(len(pairs.annotators), 1)
    items, kappa = pairs.items[upper], pairs.kappa[upper]
    alone, few = int((items == 0).sum()), int(((items > 0) & (items < FEW_SHARED)).sum())
    same = int((np.isnan(kappa) & (items > 0)).sum())
    some = "{pairs:count} of {every:count} pairs "
    if alone:
        text = some + "of annotators share no item."
        yield notice("pairs_apart", text, pairs=alone, every=len(items))
    if few:
        text = some + (
            "share fewer than {least:count} items: their kappas are hardly more than noise."
        )
        yield notice("thin_pairs", text, pairs=few, every=len(items), least=FEW_SHARED)
    if same:
        text = "The kappa of {pairs:count} pair" + "s" * (same != 1) + " is undefined: both "
        text += "gave all items they share the same class."
        yield notice("pairs_of_one_class", text, pairs=same)
    if pair_work(study, pairs) > MOST_WORK:
        text = "There are too many pairs for an interval of their mean kappa."
        yield Notice("too_many_pairs", text)
    left = int((study.by_annotator > 0).sum()) - len(pairs.annotators)
    rest = "with fewest votes not in the matrix of pairs."
    yield from _some("pairs_left_out", left, "annotator", rest)
    if study.weights != "none" and study.annotations.kind == "nominal":
        text = (
            "Classes are nominal, so {weights} weights take the order in which classes are "
            "listed; declare kind ordinal if that is a scale."
        )
        yield notice("weights_without_order", text, weights=study.weights)
