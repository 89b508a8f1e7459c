"""Confusion: which classes the first model takes for which, by the votes."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from equipoise.answer.standing import Answer
from equipoise.findings import Column, Finding, Heat, Table
from equipoise.metrics import confusion_matrix
from equipoise.numbers import percent

MOST = 6  # tasks that are shown


class _Cell(NamedTuple):
    """Votes for one class that were decided as another."""

    task: str
    votes_for: str
    decided: str
    expected: float
    share: float


def confusions(answer: Answer) -> Iterator[Finding]:
    """The confusion matrix of the first model in every task, where decisions are scored."""
    done, leader = answer.evaluation, answer.front.models[0]
    if not any(metric.decides for metric in done.metrics):
        return
    charts, cells = [], []
    for place in range(min(MOST, len(done.questions))):
        made, own = _task(answer, leader, place)
        charts.append(made)
        cells += own
    wrong = [one for one in cells if one.votes_for != one.decided and one.share == one.share]
    if not wrong:
        return
    worst = max(wrong, key=lambda one: one.share)
    where = f" in {worst.task}" if worst.task else ""
    yield Finding(
        key="confusion",
        title=f"What {leader} takes for what",
        sentence=f"Of the votes for {worst.votes_for}{where}, {percent(worst.share)} are "
        f"decided as {worst.decided}.",
        charts=tuple(charts),
        tables=(
            Table(
                name="confusion",
                caption=f"Expected counts and shares of votes, decisions of {leader}",
                columns=(
                    Column("task", "task"),
                    Column("votes_for", "votes for"),
                    Column("decided", "decided"),
                    Column("expected", "expected count", "number"),
                    Column("share", "share", "percent"),
                ),
                rows=[one._asdict() for one in cells],
                brief=(),
            ),
        ),
    )


def _task(answer: Answer, leader: str, place: int) -> tuple[Heat, list[_Cell]]:
    """One matrix: of the votes for each class, the share decided as each."""
    done = answer.evaluation
    truth, scores = done.questions[place], done.scores[place][leader]
    decided = done.decided[place].get(leader) if place < len(done.decided) else None
    yes_no = len(truth.classes) == 1
    classes = (f"not {truth.classes[0]}", truth.classes[0]) if yes_no else truth.classes
    labels = truth.shares[0] if yes_no else truth.shares.T
    table = confusion_matrix(labels, scores if decided is None else decided)
    whole = table.sum(axis=1, keepdims=True)
    shares = np.divide(table, whole, out=np.full(table.shape, np.nan), where=whole > 0)
    where = f", {truth.task}" if truth.task else ""
    chart = Heat(
        name=f"confusion-{place + 1}",
        caption=f"Of the votes for each class, what {leader} decides{where}",
        rows=classes,
        columns=classes,
        values=shares,
        x="decided",
        y="votes",
    )
    cells = [
        _Cell(truth.task, a, b, float(table[i, j]), float(shares[i, j]))
        for i, a in enumerate(classes)
        for j, b in enumerate(classes)
    ]
    return chart, cells
