"""Contested items: does the verdict depend on the items on which annotators differ?

An item is contested where two annotators say something else; of ratings, where two of them lie
at least half of the scale apart. Unanimous items tell whether a competitor does what everybody
agrees on, contested ones whether it sides with the majority, which nobody does always.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from equipoise.study.questions.answers import Answer, Question, Variant
from equipoise.study.variants import Contest
from equipoise.types import (
    Bools,
    Column,
    Finding,
    Floats,
    capital,
    estimate,
    joined,
    percent,
)

FAR = 0.5  # of a scale of ratings, from which on two differ
LEAST = 10  # items of a variant


def contested_items(contest: Contest) -> Bools:
    """Whether two annotators differ, by row of the votes; rankings differ by their first."""
    votes, cell = contest.votes, contest.cell
    said: Floats
    if votes.value is not None:
        low, high = votes.scale or (0.0, 1.0)
        said, least = (votes.value - low) / (high - low), FAR
    else:
        assert votes.label is not None
        said, least = votes.label.astype(np.float64), 1.0
    use = ~votes.gold if votes.rank is None else (votes.rank == 0) & ~votes.gold
    size = int(cell.max()) + 1
    highest, lowest = np.full(size, -np.inf), np.full(size, np.inf)
    np.maximum.at(highest, cell[use], said[use])
    np.minimum.at(lowest, cell[use], said[use])
    return np.asarray((highest - lowest >= least - 1e-9)[cell])


def two_halves(contest: Contest) -> Iterator[Variant]:
    """The contest on unanimous items, and on contested ones."""
    contested, cell = contested_items(contest), contest.cell
    items = len(np.unique(cell))
    for label, rows in (("unanimous items", ~contested), ("contested items", contested)):
        number = len(np.unique(cell[rows]))
        if LEAST <= number < items:
            share = number / items
            yield Variant(label, contest.of_votes(rows), facts={"share": share})


def with_values(answer: Answer, finding: Finding) -> Finding:
    """Say first how the best of the study does on both halves."""
    parts = []
    for outcome in answer.outcomes:
        line = next((line for line in outcome.lines if line.competitor == answer.best), None)
        if line is not None and np.isfinite(line.value):
            share = percent(float(str(outcome.facts["share"])))
            ends = estimate(line.value, line.low, line.high)
            parts.append(f"{ends} on {outcome.label} ({share})")
    if len(parts) < 2:
        return finding
    text = f"{capital(answer.score)} of {answer.best}: {joined(parts)}."
    return replace(finding, sentence=f"{text} {finding.sentence}")


QUESTION = Question(
    key="contested",
    about="the items on which annotators differ",
    variants=two_halves,
    head="items",
    over="halves",
    at="on {}",
    reference="all items",
    nothing="Annotators differ on nearly all items, or on nearly none.",
    facts=(Column("share", "share of items", "percent"),),
    note="An item is contested where two annotators say something else, or rate it at least "
    "half of the scale apart. Unanimous items are also the easy ones, so values rise there; "
    "what matters is whether gaps change.",
    methods="Everybody was scored again on unanimous and on contested items.",
    finish=with_values,
)
