"""Readers as competitors: do the models do better than the people who set the truth?

A reader is a competitor like any model. Variants are the study without the votes of one reader,
on the items that this reader and somebody else read, with the reader among the competitors; by
metrics of decisions, models at their thresholds. A difference between a model and a reader is
paired: both are scored against the same votes of the others on the same items.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from equipoise.study.questions.answers import Answer, Question, Variant
from equipoise.study.variants import Contest
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Bools, InputError
from equipoise.types.findings import Column, Dot, Dots, Finding, Table, spanned
from equipoise.types.numbers import change, count, estimate
from equipoise.types.predictions import Predictions
from equipoise.types.votes import gold_rows, row_weights
from equipoise.types.words import capital, joined

MOST = 100  # readers
SHOWN = 24  # readers in a chart
KINDS = ("binary", "nominal", "ordinal")  # of labels that a reader can be scored by


def readers_among_models(contest: Contest) -> Iterator[Variant]:
    """Each reader next to the models, against the votes of all others."""
    votes, gold, cell = contest.votes, gold_rows(contest.votes), contest.cell
    _refuse_without_readers(votes)
    assert votes.annotators is not None and votes.annotator is not None
    load = np.bincount(votes.annotator[~gold], minlength=len(votes.annotators))
    names = votes.annotators
    order = sorted(range(len(names)), key=lambda who: (-load[who], names[who]))[:MOST]
    for who in order:
        own = (votes.annotator == who) & ~gold
        others = np.isin(cell, cell[own]) & ~own
        own &= np.isin(cell, cell[others])
        if own.any():
            left = contest.of_votes(others)
            answers = tuple(_answers(votes, own, names[who]))
            name = (
                names[who] if names[who] not in left.competitors else f"{names[who]} (reader)"
            )
            yield Variant(name, left.with_competitor(name, answers))


class Difference(NamedTuple):
    """A model minus a reader, on the same items and votes."""

    reader: str
    competitor: str
    items: int
    reader_value: float
    value: float
    difference: float
    difference_low: float
    difference_high: float
    p: float


def differences(answer: Answer) -> list[Difference]:
    """Every model minus every reader."""
    found = []
    for outcome in answer.outcomes:
        scored, reader = outcome.scored, outcome.label
        if scored is None:
            continue
        values = dict(zip(scored.competitors, scored.table.values.tolist(), strict=True))
        for name in answer.whole.competitors:
            gap = scored.gap(name, reader)
            sides = (values[reader], values[name])
            found.append(Difference(reader, name, scored.items, *sides, *gap))
    return found


def best_model_among_readers(answer: Answer) -> tuple[str, list[Difference]]:
    """The model with the best mean over the readers' truths, and how far it is ahead."""
    sign = 1 if answer.whole.metric.better == "higher" else -1
    every = differences(answer)
    means = {
        name: sign * np.mean([row.value for row in every if row.competitor == name])
        for name in dict.fromkeys(row.competitor for row in every)
    }
    best = max(means, key=lambda name: (not math.isnan(means[name]), means[name]), default="")
    rows = [row for row in every if row.competitor == best and not math.isnan(row.difference)]
    return best, sorted(rows, key=lambda row: sign * row.difference)


def how_many_readers_are_beaten(answer: Answer) -> str:
    """How many readers the best model beats, and how many surely."""
    best, rows = best_model_among_readers(answer)
    sign = 1 if answer.whole.metric.better == "higher" else -1
    if not rows:
        return f"No reader can be compared with the models by {answer.score}."
    ahead = sum(sign * row.difference > 0 for row in rows)
    sides = [sorted((sign * row.difference_low, sign * row.difference_high)) for row in rows]
    surely = sum(low > 0 for low, _ in sides)
    worse = [row.reader for row, (_, high) in zip(rows, sides, strict=True) if high < 0]
    ends = [
        f"{estimate(row.difference, row.difference_low, row.difference_high, change)} "
        f"({row.reader})"
        for row in ([rows[0], rows[-1]] if len(rows) > 1 else rows)
    ]
    number = "all" if surely == len(rows) else count(surely) if surely else "none"
    text = f"surely better than {number}"
    if worse:
        text += f" and surely worse than {joined(worse, most=3)}"
    return (
        f"By {answer.score}, {best} does better than {ahead} of {count(len(rows), 'reader')} "
        f"against the votes of the others, {text}; the difference is {' to '.join(ends)}."
    )


def with_differences(answer: Answer, finding: Finding) -> Finding:
    """Add every model minus every reader, and the best model in a chart."""
    best, rows = best_model_among_readers(answer)
    side = "right" if answer.whole.metric.better == "higher" else "left"
    table = Table(
        name="models_minus_readers",
        caption="Every model minus every reader, on the same items and votes",
        columns=(
            Column("competitor", "model", "model"),
            Column("reader", "reader"),
            Column("items", "items", "count"),
            Column("value", "model's value", "number"),
            Column("reader_value", "reader's value", "number"),
            spanned("difference", "difference", "change"),
            Column("p", "p", "p"),
        ),
        rows=[row._asdict() for row in differences(answer)],
        brief=[row._asdict() for row in rows],
    )
    chart = Dots(
        name="readers",
        caption=f"{best} minus each reader; {side} of 0: the model is better",
        alternative=f"{capital(answer.score)} of {best} minus that of each reader.",
        axis=f"difference in {answer.score}",
        rows=[
            Dot(row.reader, row.difference, row.difference_low, row.difference_high)
            for row in rows[:SHOWN]
        ],
        zero=True,
    )
    beaten = sum(row.difference * (1 if side == "right" else -1) > 0 for row in rows)
    verdict = f"{best} beats {beaten} of {len(rows)} readers" if rows else finding.verdict
    charts = (chart,) if len(rows) > 1 else ()
    return replace(finding, verdict=verdict, tables=(table, *finding.tables), charts=charts)


def _refuse_without_readers(annotations: Annotations) -> None:
    """Raise unless at least two people gave labels under their names."""
    names = annotations.annotators
    if names is None or len(names) < 2 or annotations.kind not in KINDS:
        got = "anonymous votes" if names is None else f"{len(names)} annotator"
        if names is not None and len(names) > 1:
            got = f"annotations of kind {annotations.kind}"
        raise InputError(
            "readers",
            got,
            "labels of at least two annotators with ids",
            "leave readers out, or name who voted",
        )


def _answers(annotations: Annotations, own: Bools, name: str) -> Iterator[Predictions]:
    """What one annotator says, task by task; repeated answers are averaged."""
    assert annotations.label is not None
    several = annotations.kind != "binary"
    for task in annotations.tasks:
        rows = np.flatnonzero(own & annotations.in_task(task))
        if not len(rows):
            continue
        item, inverse = np.unique(annotations.item[rows], return_inverse=True)
        said = np.zeros((len(item), len(annotations.classes)))
        np.add.at(said, (inverse, annotations.label[rows]), row_weights(annotations, rows))
        said /= said.sum(axis=1, keepdims=True)
        yield Predictions(
            name,
            tuple(annotations.items[i] for i in item),
            said if several else said[:, 1],
            annotations.classes if several else (),
            task,
        )


QUESTION = Question(
    key="readers",
    about="readers competing",
    variants=readers_among_models,
    head="reader left out",
    over="studies without one reader",
    at="without {}",
    reference="all readers",
    annotators=False,
    decides=True,
    note="Every reader is scored as if it were a model, against the votes of all others on the "
    "items that it read, and the models against the same votes on the same items, at their "
    "thresholds. Differences speak for this reader and these models, on other items and with "
    "other readers like the others to set the truth; they are not adjusted for the number of "
    "readers.",
    methods="Each of {number} readers was scored like a model against the votes of the others "
    "on the items it read, and compared with the models on the same items and votes, with "
    "paired two-way intervals.",
    sentence=how_many_readers_are_beaten,
    finish=with_differences,
)
