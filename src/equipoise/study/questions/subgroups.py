"""Subgroups: does the verdict depend on the kind of item?

Variants are the study on the items of each group, such as one sex or site, each compared with
the rest of the items. Beside the competitors' values stand how divided votes are (entropy of
the votes on an item, on average), how far annotators agree (Krippendorff's alpha), and what is
attainable: the mean value of the annotators there, each against the mean vote of the others.
Where annotators themselves reach less, so does every model, and a lower value says nothing of
the model: what may be claimed is how gaps between models change, and what a model has beyond
the annotators there, each left out of the truth that both are scored on, in one family of all
groups and models (`equipoise.study.competitors`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from equipoise.inference.reader_contrasts import ReaderContrasts, Readings, compare_readers
from equipoise.inference.resampling import resample
from equipoise.metrics import Metric
from equipoise.metrics.distributions import entropy
from equipoise.read.attributes import Attributes
from equipoise.study.alignment import Aligned
from equipoise.study.blocks import every_class
from equipoise.study.competitors import (
    MATCHED,
    OTHERS,
    SIDES,
    ModelScores,
    ReaderTable,
    Row,
    TaskReaders,
    by_others,
    gains_over,
    usual_metric,
    with_shared_units,
)
from equipoise.study.questions.answers import Answer, Question, Variant
from equipoise.study.variants import Contest
from equipoise.truth.agreement import krippendorff_alpha
from equipoise.types import (
    Cell,
    Claim,
    Column,
    Decision,
    Finding,
    InputError,
    Ints,
    Option,
    Table,
    columns,
    hint,
    joined,
    notice,
    spanned,
    wrong_type,
)

GROUPS = "models against annotators, in groups of items"
BESIDE = (
    "Beyond annotators: the mean over annotators, weighed by information, of the competitor's "
    "value less the annotator's, both against the mean vote of the others. Intervals hold at "
    "once over all groups and competitors."
)
LEAST = 10  # items of a group, and of the rest
MISSING = "{missing:count} of {items:count} items have no attributes: in no group."


def groups_of_items(contest: Contest) -> Iterator[Variant]:
    """The contest on the items of each group, against the rest."""
    for label, here, rest in _groups(contest):
        facts = {"attainable": attainable(here), **_votes_of(here)}
        yield Variant(label, here, against=rest, facts=facts)


def _groups(contest: Contest) -> Iterator[tuple[str, Contest, Contest]]:
    """Every group with its items, and the rest."""
    known, votes, wanted = contest.attributes, contest.votes, "a table with a row per item"
    if known is None:
        remedy = hint("give {} such as sex, age or site", Option("attributes"))
        raise InputError("subgroups", "no attributes of items", wanted, remedy)
    if not isinstance(known, Attributes):
        raise wrong_type("attributes", known, wanted, "read it with read_attributes")
    if not known.columns:
        wanted, do = "at least one attribute", "add one, such as sex or site"
        raise InputError("attributes", "no column", wanted, do)
    names = _scored(contest)
    codes = np.full((len(known.columns), len(votes.items)), -1)
    places = [place for place, name in enumerate(votes.items) if name in names]
    codes[:, places] = known.aligned(list(names), on_missing=contest.settings.on_missing)
    for column, levels, code in zip(known.columns, known.levels, codes, strict=True):
        for number, level in enumerate(levels):
            inside, outside = code == number, (code != number) & (code >= 0)
            if min(inside.sum(), outside.sum()) < LEAST:
                continue
            here, rest = (contest.of_votes(side[votes.item]) for side in (inside, outside))
            yield f"{column} = {level}", here, rest


def attainable(contest: Contest) -> float:
    """Mean value of the annotators, each against the others; nan where none has items enough.

    Each counts by its items, of which it has at least `LEAST` that others voted on, too.
    """
    values, numbers = [], []
    for task in contest.tasks:
        question = task.question
        votes, names = question.votes, contest.votes.annotators
        if votes is None or names is None:
            continue
        item = np.repeat(np.arange(len(votes.sizes)), votes.sizes)
        answer = np.stack(question.masses, axis=1)
        every = Readings.of_votes(item, votes.annotator, item, votes.weight, answer)
        for reader in range(len(names)):
            readings = every.of(np.flatnonzero(every.reader == reader))
            number = len(readings.item)
            value = _value(contest.metric, readings) if number >= LEAST else np.nan
            if np.isfinite(value):
                values.append(value)
                numbers.append(number)
    return float(np.average(values, weights=numbers)) if values else np.nan


def _value(metric: Metric, readings: Readings) -> float:
    truth, answer = readings.truth, readings.answer
    if answer.shape[1] > 1:
        return metric(truth, answer)
    if metric.labels == "classes":
        return metric(truth[:, 0], answer[:, 0])
    return metric(np.hstack([1 - truth, truth]), np.hstack([1 - answer, answer]))


def _scored(contest: Contest) -> dict[str, None]:
    """Names of the items that are scored in any task, in the order of the votes."""
    scored = {name for task in contest.tasks for name in task.question.items}
    return dict.fromkeys(name for name in contest.votes.items if name in scored)


def beside_annotators(contest: Contest) -> ReaderTable | None:
    """Models next to annotators, each left out of the truth, in every group of items.

    None where nobody knows who voted, and where nobody can be compared.
    """
    votes, first = contest.votes, contest.tasks[0]
    if votes.annotators is None or votes.annotator is None:
        return None
    codes, scores = np.unique(votes.annotator[~votes.gold]), _scores(first, contest.metric)
    groups = tuple(
        TaskReaders(
            task=label,
            contrasts=_contrasts(here, codes),
            items=np.zeros(len(codes), dtype=np.int64),
            rates=np.full((3, len(codes)), np.nan),
        )
        for label, here, _ in _groups(contest)
    )
    some = next((group.contrasts for group in groups if group.contrasts), None)
    if some is None:
        return None
    return ReaderTable(
        truth=OTHERS,
        models=contest.competitors,
        readers=tuple(votes.annotators[code] for code in codes),
        rows=scores.rows,
        contrasts=some,
        tasks=groups,
        titles=scores.titles,
        yes_no=len(first.question.classes) == 1,
        settings=contest.settings,
    )


def _scores(task: Aligned, metric: Metric) -> ModelScores:
    """What is compared with annotators, who decide: decisions, or scores at their alarms."""
    several = len(task.question.classes) > 1
    if not (several or metric.decides):
        by_alarms = tuple(Row(model, MATCHED) for model in task.scores)
        return ModelScores(by_alarms, task.scores, {}, {}, None)
    if not metric.decides:
        metric = usual_metric(task)
    seen = {model: task.seen(model, metric) for model in task.scores}
    rows = tuple(Row(model, metric.name) for model in seen)
    if not several and metric.name in SIDES:
        called = {model: both[:, 1] for model, both in seen.items()}
        return ModelScores(rows, {}, called, {}, None)
    if not several:
        seen = {model: both[:, 1:] for model, both in seen.items()}
    return ModelScores(rows, {}, {}, seen, metric)


def _contrasts(contest: Contest, codes: Ints) -> ReaderContrasts | None:
    """Every competitor less every annotator with items enough."""
    how, people, group = contest.settings, contest.votes.annotator_group, contest.plan.group
    laid = with_shared_units(
        contest.tasks,
        group,
        [
            None if task.question.votes is None else by_others(task.question, codes)
            for task in contest.tasks
        ],
    )
    parts = []
    for task, readings in zip(contest.tasks, laid, strict=True):
        if readings is not None:
            enough = np.flatnonzero(np.bincount(readings.reader) >= LEAST)
            scores = _scores(task, contest.metric)
            parts.append((readings, gains_over(readings, scores, enough, len(codes))))
    return compare_readers(
        parts,
        len(contest.competitors),
        units="items" if group is None else "groups",
        items=how.items == "random",
        annotators=how.annotators == "random",
        group=None if people is None else people[codes],
    )


def with_annotators_beside(answer: Answer, finding: Finding) -> Finding:
    """Add what competitors have over annotators in every group, and items in no group."""
    finding, table = with_missing_items(answer, finding), beside_annotators(answer.contest)
    claims = {} if table is None else table.task_claims(table.models, (), GROUPS)
    if table is None or not claims:
        return finding
    rows: list[dict[str, Cell]] = [
        {
            "group": group,
            "competitor": competitor,
            "beyond": claim.value,
            "beyond_low": claim.low,
            "beyond_high": claim.high,
            "decision": claim.decision.value,
            "population": str(claim.population),
        }
        for (group, competitor), claim in claims.items()
    ]
    beside = Table(
        name="subgroups_annotators",
        caption=f"Competitors less annotators, {table.titles[table.rows[0].measure]}; positive "
        "is better",
        columns=(
            *columns(group="text", competitor="text"),
            spanned("beyond", "beyond annotators", "change"),
            *columns(decision="text", population="text"),
        ),
        rows=rows,
        brief=(),
        legend=BESIDE,
    )
    return replace(
        finding,
        more=(*finding.more, *_in_words(finding.claims, claims)),
        tables=(*finding.tables, beside),
        claims=(*finding.claims, *claims.values()),
    )


def _in_words(
    of_gaps: Sequence[Claim], claims: Mapping[tuple[str, str], Claim]
) -> Iterator[str]:
    """Of whom the gaps speak, and what is shown against annotators, by whose truth."""
    for claim in of_gaps[:1]:
        yield f"By {claim.estimand.truth}, for {claim.population}."
    shown = [
        f"{competitor} is {claim.decision.value} in {group}"
        for (group, competitor), claim in claims.items()
        if claim.decision is not Decision.NOT_SHOWN
    ]
    first = next(iter(claims.values()))
    text = joined(shown, most=4) or "a difference is not shown in any group"
    yield f"Against annotators, {first.estimand.truth}, for {first.population}: {text}."


def with_missing_items(answer: Answer, finding: Finding) -> Finding:
    """Say how many items are in no group for want of attributes."""
    names, known = _scored(answer.contest), answer.contest.attributes
    missing = len(names.keys() - set(known.items)) if known is not None else 0
    more = [notice("subgroups_missing", MISSING, missing=missing, items=len(names))]
    return replace(finding, notices=(*finding.notices, *more * bool(missing)))


def _votes_of(contest: Contest) -> dict[str, Cell]:
    """How divided the votes are, and how far annotators agree, on average over tasks."""
    questions = [task.question for task in contest.tasks]
    spread = [entropy(np.stack(every_class(one.shares))).mean() for one in questions]
    facts: dict[str, Cell] = {"entropy": float(np.mean(spread))}
    votes = contest.votes.rows(~contest.votes.gold)
    if votes.rank is None and len(votes.item):
        plan = resample(votes, "items", replicates=1)
        alpha = [krippendorff_alpha(votes, task=one.task, plan=plan) for one in questions]
        facts["agreement"] = float(np.mean([estimate.value for estimate in alpha]))
    return facts


QUESTION = Question(
    key="subgroups",
    about="the kind of item",
    variants=groups_of_items,
    head="group",
    over="groups of items",
    at="for {}",
    reference="the other items",
    of_votes=False,
    nothing=f"No group, and the rest beside it, have {LEAST} items: nothing is measured.",
    facts=(
        Column("attainable", "annotators themselves", "number"),
        Column("entropy", "entropy of votes", "number"),
        Column("agreement", "Krippendorff's alpha", "number"),
    ),
    note="Every group is compared with the items that are not in it. Groups of fewer than "
    f"{LEAST} items are left out. Entropy: how divided the votes on an item are, on average. "
    "Annotators themselves: their mean value by this metric, each against the mean vote of the "
    "others, which is what can be attained there.",
    methods="Everybody was scored in each of {number} groups of items and compared with the "
    "other items, with p-values adjusted by Holm's method [@holm1979]; agreement is "
    "Krippendorff's alpha [@krippendorff2004].",
    references=("holm1979", "krippendorff2004"),
    finish=with_annotators_beside,
)
