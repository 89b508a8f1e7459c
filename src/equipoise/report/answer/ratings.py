"""Ratings: how far people agree on systems' outputs, and which outputs split them.

Ratings have a distance: an output is disputed when two ratings of it lie at least half of the
scale apart, a comparison when somebody prefers each of its two sides.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from equipoise.study.analyses.words import RowUnderWay
from equipoise.study.study import Study
from equipoise.truth.agreement import AgreementTable, agreement_summaries
from equipoise.types import (
    Annotations,
    Column,
    Finding,
    Floats,
    Ints,
    Names,
    Nouns,
    Row,
    Table,
    Votes,
    columns,
    count,
    number,
)

FAR = {"ratings": 0.5, "preferences": 1.0}  # of the scale, from which on two judgements are far
SHOWN = 12  # rows of a list on the page
MOST = 500  # rows of a list


class _Judgements(NamedTuple):
    """The votes of a task as numbers on their scale, and their outputs, by vote."""

    task: str
    votes: Votes
    value: Floats
    output: Ints


def agreement_on_outputs(study: Study, nouns: Nouns) -> Finding | None:
    """Alpha of every task, and how severe everybody is; None where nothing was judged twice."""
    table = study.opinions
    several = any((votes.sizes > 1).any() for votes in study.task_votes.values())
    if table.annotators is None or not several:
        return None
    kind = study.judged or "ratings"
    summaries = [part for part in agreement_summaries(table) if part.coefficients]
    people = [row for task in _judgements(study) for row in _people(task, table.annotators)]
    if not summaries:
        return None
    return Finding(
        key="agreement",
        title="Agreement",
        sentence=f"{_alpha_words(summaries)}{_severity_words(people, nouns, kind)}.",
        tables=(_alpha_table(summaries), _people_table(people)),
        notices=tuple(caution for part in summaries for caution in part.cautions),
        nav="Agreement",
    )


def disputed_outputs(study: Study, nouns: Nouns) -> Finding | None:
    """Outputs whose judgements lie far apart, the furthest first; None where there are none."""
    table = study.opinions
    assert table.scale is not None
    low, high = table.scale
    far = FAR[study.judged or "ratings"] * (high - low)
    rows = [row for task in _judgements(study) for row in _far_apart(task, table, far)]
    judged = sum(int((task.votes.sizes >= 2).sum()) for task in _judgements(study))
    if not rows:
        return None
    rows.sort(key=lambda row: (-row["apart"], row["task"], row["output"]))
    what = f"have ratings at least {number(far, 1)} apart"
    if study.judged == "preferences":
        what = f"split the {nouns.annotators}"
    of = f"{count(len(rows))} of {count(judged)} {nouns.items}"
    several = len(table.tasks) > 1
    return Finding(
        key="disputed",
        title=f"Disputed {nouns.items}",
        sentence=f"{of} {what}: a worklist for adjudication.",
        tables=(
            Table(
                name="disputed",
                caption=f"{count(len(rows))} disputed {nouns.items}, the furthest apart first",
                columns=(
                    *(columns(task="text") if several else ()),
                    Column("output", nouns.item),
                    *columns(mean="number", apart="number"),
                    Column("judgements", study.judged or "ratings"),
                ),
                rows=rows[:MOST],
                brief=rows[:SHOWN],
            ),
        ),
        nav="Disputed",
    )


def _judgements(study: Study) -> Iterator[_Judgements]:
    table = study.opinions
    assert table.scale is not None
    low, high = table.scale
    for task, votes in study.task_votes.items():
        value = low + (high - low) * votes.mass(1)
        yield _Judgements(task, votes, value, np.repeat(votes.items, votes.sizes))


def _people(task: _Judgements, names: Names) -> Iterator[RowUnderWay]:
    """How often, how high and how widely everybody rates, and beside the others."""
    who, value = task.votes.annotator, task.value
    total = np.add.reduceat(value, task.votes.start[:-1])
    size = np.repeat(task.votes.sizes, task.votes.sizes)
    others = (np.repeat(total, task.votes.sizes) - value) / np.maximum(size - 1, 1)
    for code, name in enumerate(names):
        mine = who == code
        if not mine.any():
            continue
        shared = mine & (size > 1)
        above = float((value - others)[shared].mean()) if shared.any() else float("nan")
        yield {
            "task": task.task,
            "annotator": name,
            "votes": int(mine.sum()),
            "mean": float(value[mine].mean()),
            "deviation": float(value[mine].std()),
            "above": above,
            "correlation": _correlation(value[shared], others[shared]),
        }


def _correlation(a: Floats, b: Floats) -> float:
    if len(a) < 3 or a.std() == 0 or b.std() == 0:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])


def _alpha_words(summaries: Sequence[AgreementTable]) -> str:
    """Agreement beyond chance, of one task or from the lowest to the highest."""
    alphas = sorted((part.coefficients[0].value, part.task) for part in summaries)
    first = number(alphas[0][0], 2)
    if len(alphas) == 1:
        return f"Agreement beyond chance is {first} (1 is full)"
    lowest, highest = (
        f"{number(value, 2)} ({task})" for value, task in (alphas[0], alphas[-1])
    )
    return f"Agreement beyond chance runs from {lowest} to {highest} (1 is full)"


def _severity_words(people: Sequence[RowUnderWay], nouns: Nouns, judged: str) -> str:
    """How far apart annotators' means lie, of ratings."""
    if judged != "ratings" or len(people) < 2:
        return ""
    by_task: dict[str, list[float]] = {}
    for row in people:
        by_task.setdefault(row["task"], []).append(row["mean"])
    gap, task = max((max(means) - min(means), task) for task, means in by_task.items())
    where = f" (on {task})" if len(by_task) > 1 else ""
    return f"; mean ratings of {nouns.annotators} lie up to {number(gap, 2)} apart{where}"


def _alpha_table(summaries: Sequence[AgreementTable]) -> Table:
    rows: list[Row] = [
        {"task": part.task, "measure": first.name, "value": first.value, "low": first.low,
         "high": first.high, "outputs": first.items, "words": first.words}
        for part in summaries
        for first in part.coefficients[:1]
    ]  # fmt: skip
    return Table(
        name="agreement",
        caption="Agreement of annotators, with 95 % intervals",
        columns=(
            Column("task", "task", brief=False),
            *columns(measure="text"),
            Column("value", "value", "number", ("low", "high")),
            *columns(outputs="count", words="text"),
        ),
        rows=rows,
    )


def _people_table(rows: Sequence[RowUnderWay]) -> Table:
    return Table(
        name="annotators",
        caption="How every annotator judges; above: the mean difference to the others on the "
        "same outputs",
        columns=(
            Column("task", "task", brief=False),
            *columns(annotator="text", votes="count", mean="number"),
            Column("deviation", "standard deviation", "number"),
            Column("above", "above the others by", "change"),
            Column("correlation", "correlation with the others", "number"),
        ),
        rows=rows,
        brief=rows[:SHOWN],
    )


def _far_apart(task: _Judgements, table: Annotations, far: float) -> Iterator[RowUnderWay]:
    """Outputs with two judgements that are far apart."""
    votes, start = task.votes, task.votes.start[:-1]
    highest = np.maximum.reduceat(task.value, start)
    lowest = np.minimum.reduceat(task.value, start)
    names = table.annotators or ()
    for place in np.flatnonzero(highest - lowest >= far - 1e-9):
        rows = slice(votes.start[place], votes.start[place + 1])
        said = zip(votes.annotator[rows].tolist(), task.value[rows].tolist(), strict=True)
        yield {
            "task": task.task,
            "output": table.items[votes.items[place]],
            "mean": float(task.value[rows].mean()),
            "apart": float(highest[place] - lowest[place]),
            "judgements": ", ".join(
                f"{names[who]} {value:g}" if names else f"{value:g}" for who, value in said
            ),
        }
