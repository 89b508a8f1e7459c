"""What is redrawn for the interval of a threshold: experts, items within their bins, or both.

Experts are those who voted on an item of the sample; others are no part of the panel. Redraws
of both draw the same panels as redraws of experts alone.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from equipoise.analyses._threshold_rules import BOTH, REDRAW, Rule
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, Ints
from equipoise.evaluation.blocks import HALF
from equipoise.evaluation.questions import Question
from equipoise.evaluation.redraw import PanelDraw
from equipoise.resampling import Resampling

OVER: Mapping[str, str] = {
    "experts": "over experts (as published)",
    "items": "over items",
    BOTH: "over experts and items",
}


def panel(question: Question, votes: Annotations) -> Ints:
    """Codes of the experts who voted on the sample; none where votes are anonymous."""
    if question.votes is None or votes.annotators is None:
        return np.empty(0, dtype=np.int64)
    codes = np.unique(question.votes.annotator)
    return codes[codes >= 0]


def redraws(
    question: Question, experts: Ints, bins: Ints, how: Rule
) -> Iterator[tuple[str, Floats, Floats]]:
    """Every possible way to redraw: its name, labels and counts, (items, replicates) both.

    Counts say how often an item stands in a replicate: not at all where none of its experts
    was drawn.
    """
    if len(experts) < 2 and how.redraw != "items":
        got = f"{len(experts)} expert with votes on the sample" if len(experts) else "no names"
        raise InputError(
            f"threshold, redraw {how.redraw}", got, "at least two annotators with ids",
            "add experts, or redraw items alone",
        )  # fmt: skip
    hard = (question.shares[0] > HALF).astype(np.float64)
    fixed = np.repeat(hard[:, None], how.replicates, axis=1)
    times = _items(bins, how)
    if len(experts) > 1:
        labels, present = _panels(question, experts, how)
    for name in REDRAW:
        if name == "items":
            yield name, fixed, times
        elif len(experts) > 1:
            yield name, labels, present * times if name == BOTH else present


def _panels(question: Question, experts: Ints, how: Rule) -> tuple[Floats, Floats]:
    """Majorities of redrawn panels, and whether an item has an expert in them."""
    assert question.votes is not None
    plan = Resampling(
        kind="panel", items=question.items, replicates=how.replicates, seed=how.seed,
        annotators=len(experts),
    )  # fmt: skip
    counts = np.zeros((int(experts.max()) + 1, how.replicates), dtype=np.uint8)
    counts[experts] = plan.annotator_counts(0, how.replicates)
    draw = PanelDraw.prepare(question.votes, question.masses, len(counts))
    shares, present = draw.shares(counts)
    return (shares[0] > HALF).astype(np.float64), present.astype(np.float64)


def _items(bins: Ints, how: Rule) -> Floats:
    """How often each item stands in a redraw of the items of every bin."""
    random = np.random.default_rng(how.seed)
    times = np.ones((len(bins), how.replicates))
    for number in np.unique(bins):
        rows = np.flatnonzero(bins == number)
        even = np.full(len(rows), 1 / len(rows))
        times[rows] = random.multinomial(len(rows), even, how.replicates).T
    return times
