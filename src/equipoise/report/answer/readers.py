"""Readers: how far annotators agree, and which items split them."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from equipoise.study.study import Study
from equipoise.truth.agreement import AgreementTable, agreement_summaries
from equipoise.types import (
    Annotations,
    Bools,
    Column,
    Finding,
    Floats,
    Ints,
    Names,
    Nouns,
    Strip,
    Strips,
    Table,
    Votes,
    capital,
    collect_votes,
    number,
    percent,
)

DISPUTED = 1 / 3  # share against the commonest answer from which on an item is disputed


def disputed(shares: Floats, sizes: Ints) -> Bools:
    """Which items split the annotators: at least a third is against the commonest answer.

    Parameters
    ----------
    shares
        Of every class among the votes of an item, (classes, items).
    sizes
        Votes per item.

    Examples
    --------
    >>> disputed(np.array([[0.75, 0.625], [0.25, 0.375]]), np.array([8, 8]))
    array([False,  True])
    """
    return np.asarray((1 - shares.max(axis=0) >= DISPUTED - 1e-9) & (sizes >= 2))


class TaskVotes(NamedTuple):
    """Votes on a task, and the share of each class among those of an item, (classes, items)."""

    votes: Votes
    shares: Floats
    task: str


def task_votes(study: Study, scored: Mapping[str, Ints]) -> dict[str, TaskVotes]:
    """Votes of every task; none of ratings.

    Parameters
    ----------
    scored
        Which items count in every task, by their places among the items of the annotations.
    """
    annotations = study.opinions
    if annotations.kind == "interval":
        return {}
    votes_of = study.task_votes
    if annotations is not study.voted:
        votes_of = {
            task: collect_votes(annotations, task)
            for task in scored
            if annotations.in_task(task).any()
        }
    by_task = {}
    for task in [task for task in votes_of if task in scored]:
        votes = votes_of[task]
        use = np.flatnonzero(np.isin(votes.items, scored[task]))
        votes = votes if len(use) == len(votes.items) else votes.subset(use)
        shares = [votes.shares(k) for k in range(len(annotations.classes))]
        by_task[task] = TaskVotes(votes, np.stack(shares), task)
    return by_task


# ---- agreement -----------------------------------------------------------------------------


def agreement_finding(
    annotations: Annotations,
    votes: Mapping[str, TaskVotes],
    nouns: Nouns,
    annotators: str = "random",
) -> Finding | None:
    """Votes, agreement and rates per task, as strips."""
    summaries = agreement_summaries(annotations)
    if annotators == "fixed":
        summaries = tuple(table.for_these_annotators() for table in summaries)
    tables = {summary.task: summary for summary in summaries}
    rows = [
        _strip(annotations, item_votes, tables.get(task)) for task, item_votes in votes.items()
    ]
    if not rows or all(not row.shares for row in rows):
        return None
    yes_no = annotations.kind == "binary"
    measure = next(
        (t.coefficients[0].name for t in tables.values() if t.coefficients), "agreement"
    )
    chart = Strips(
        name="agreement",
        caption=f"How the votes on every {nouns.item} split",
        votes_title=f"Votes, {nouns.items} from no to yes"
        if yes_no
        else f"Votes, {nouns.items} from all alike to most split",
        alpha_title=f"Agreement, {measure}, 95%",
        rates_title="How often each says yes"
        if yes_no
        else f"How often each names {rows[0].named or 'the commonest class'}",
        rows=rows,
    )
    return Finding(
        key="agreement",
        title="Agreement",
        sentence=f"{_agreement_title(rows, nouns, yes_no=yes_no)}.",
        charts=(chart,),
        tables=(_agreement_table(rows),),
        notices=tuple(caution for table in tables.values() for caution in table.cautions),
        nav="Agreement",
    )


def _strip(
    annotations: Annotations, cast_in_task: TaskVotes, table: AgreementTable | None
) -> Strip:
    votes, shares, task = cast_in_task
    several = votes.sizes >= 2
    split = disputed(shares, votes.sizes)
    yes_no = annotations.kind == "binary"
    side = shares[1] if yes_no else 1 - shares.max(axis=0)
    total, top = int(several.sum()), 0.5 if yes_no else 1 - 1 / max(shares.shape[0], 2)
    kinds = np.stack([np.round(side[several], 2), split[several]], axis=1)
    steps, number_of = np.unique(kinds, axis=0, return_counts=True)
    parts = []
    for (step, divided), many in zip(steps, number_of, strict=True):
        against = min(step, 1 - step) if yes_no else step
        parts.append((many / total, float(min(1.0, against / top)), bool(divided)))
    ends = (
        (float((side[several] == 0).mean()), float((side[several] == 1).mean()))
        if total
        else (math.nan, math.nan)
    )
    most = 1 if yes_no else int(shares.sum(axis=1).argmax())
    alpha = (math.nan,) * 3
    if table is not None and table.coefficients:
        first = table.coefficients[0]
        alpha = (first.value, first.low, first.high)
    return Strip(
        task=task,
        shares=tuple(parts),
        left=f"{percent(ends[0])} all say no" if yes_no else f"{percent(ends[0])} all agree",
        right=f"{percent(ends[1])} all say yes" if yes_no else "",
        split=f"{percent(float(split[several].mean()) if total else math.nan)} split",
        alpha=alpha,
        rates=_rates(annotations, votes, most),
        named="" if yes_no else annotations.classes[most],
    )


def _rates(annotations: Annotations, votes: Votes, label: int) -> tuple[tuple[str, float], ...]:
    """How often each annotator names a class; nothing of anonymous votes."""
    names = annotations.annotators
    if names is None:
        return ()
    rates = naming_rates(votes, label, len(names), votes.annotator >= 0).tolist()
    return tuple((n, rate) for n, rate in zip(names, rates, strict=True) if rate == rate)


def naming_rates(votes: Votes, label: int, people: int, use: Bools) -> Floats:
    """How often each annotator names a class among some votes; nan of those without any."""
    who = votes.annotator[use]
    named = np.bincount(who, votes.mass(label)[use], people)
    many = np.bincount(who, minlength=people)
    return np.asarray(np.divide(named, many, out=np.full(people, np.nan), where=many > 0))


def _agreement_title(rows: Sequence[Strip], nouns: Nouns, *, yes_no: bool) -> str:
    """Where annotators differ most in their rates, and where they agree least."""
    people = capital(nouns.annotators)
    wide = max(rows, key=_reach)
    defined = [row for row in rows if math.isfinite(row.alpha[0])]
    reach = _reach(wide)
    sentence = ""
    if reach > 0 and len(wide.rates) > 1:
        low, high = (f(rate for _, rate in wide.rates) for f in (min, max))
        what = (
            f"call {wide.task}"
            if yes_no and wide.task
            else ("say yes" if yes_no else f"name {wide.named or 'the commonest class'}")
        )
        sentence = (
            f"{people} {what} in {percent(low)} to {percent(high)} of their {nouns.items}"
        )
    if not defined:
        return sentence or _split_words(rows, nouns)
    if len(defined) == 1:
        only = defined[0]
        agree = f"agreement beyond chance is {number(only.alpha[0], 2)} (1 is full)"
        return f"{sentence}; {agree}" if sentence else capital(agree)
    least = min(defined, key=lambda row: row.alpha[0])
    worst = f"agree least on {least.task}"
    return f"{sentence}; they {worst}" if sentence else f"{people} {worst}"


def _split_words(rows: Sequence[Strip], nouns: Nouns) -> str:
    """How much of a task is split, where nothing else is known."""
    most = max(rows, key=lambda row: sum(part for part, _, split in row.shares if split))
    share = sum(part for part, _, split in most.shares if split)
    where = f" of {most.task}" if most.task else ""
    return f"{percent(share)} of the {nouns.items}{where} split the {nouns.annotators}"


def _reach(strip: Strip) -> float:
    rates = [rate for _, rate in strip.rates]
    return max(rates) - min(rates) if rates else 0.0


def _agreement_table(rows: Sequence[Strip]) -> Table:
    return Table(
        name="agreement",
        caption="Agreement by task",
        columns=(
            Column("task", "task"),
            Column("alpha", "agreement", "number", ("low", "high")),
            Column("split", "split", "percent"),
            Column("lowest", "lowest rate", "percent"),
            Column("highest", "highest rate", "percent"),
        ),
        rows=[
            {
                "task": row.task,
                "alpha": row.alpha[0],
                "low": row.alpha[1],
                "high": row.alpha[2],
                "split": float(sum(part for part, _, divided in row.shares if divided)),
                "lowest": min((r for _, r in row.rates), default=math.nan),
                "highest": max((r for _, r in row.rates), default=math.nan),
            }
            for row in rows
        ],
        brief=(),
    )


def foot_rows(finding: Finding | None, tasks: Sequence[str]) -> tuple[tuple[str, Names], ...]:
    """Agreement and split items of every task, for the foot of the matrix."""
    if finding is None:
        return ()
    chart = finding.charts[0]
    assert isinstance(chart, Strips)
    strips = {row.task: row for row in chart.rows}
    if not set(tasks) <= set(strips):
        return ()
    return (
        ("alpha", tuple(number(strips[task].alpha[0], 2) for task in tasks)),
        ("split", tuple(strips[task].split.removesuffix(" split") for task in tasks)),
    )
