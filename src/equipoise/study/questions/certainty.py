"""Clear cases: does the verdict depend on the items whose truth the votes leave open?

The certainty of an item is the probability that its leading class really is the most plausible
one, by a Dirichlet distribution over its votes. Variants are the study on the items of at least
some certainty, at cut-offs that occur; an item is clear from a certainty of 0.99 on.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from equipoise.study.questions.answers import Answer, Question, Variant
from equipoise.study.variants import Contest
from equipoise.truth import dirichlet
from equipoise.types.arrays import Floats
from equipoise.types.findings import Cell, Column, Finding, Table, columns
from equipoise.types.numbers import percent
from equipoise.types.plausibilities import SURE

STEPS = 8  # cut-offs, where more certainties occur
LEAST = 10  # items of a variant
FINE = 9  # digits of a certainty


def certainties(contest: Contest) -> Floats:
    """Certainty by code of task and item; nan where there are no votes or no scores."""
    votes = contest.votes
    found = np.full(len(votes.tasks) * len(votes.items), np.nan)
    place = {name: number for number, name in enumerate(votes.items)}
    for task in contest.tasks:
        question = task.question
        made = dirichlet(votes, task=question.task)
        sure = dict(zip(made.items, np.round(made.certainty, FINE), strict=True))
        first = votes.tasks.index(question.task) * len(votes.items)
        found[[first + place[name] for name in question.items]] = [
            sure[name] for name in question.items
        ]
    return found


def clear_items(contest: Contest) -> Iterator[Variant]:
    """The contest on items of rising certainty."""
    certainty = certainties(contest)
    known = certainty[~np.isnan(certainty)]
    cuts = [cut for cut in cutoffs(known)[1:] if (known >= cut).sum() >= LEAST]
    for cut, label in zip(cuts, _told_apart(cuts), strict=True):
        keep = np.nan_to_num(certainty, nan=-1.0)[contest.cell] >= cut
        facts = {"share": float((known >= cut).mean())}
        yield Variant(label, contest.of_votes(keep), facts=facts)


def cutoffs(certainty: Floats) -> list[float]:
    """Certainties to cut at, rising: all that occur, or of many those at even shares.

    The first keeps every item; the smallest that makes an item clear is among them.

    Examples
    --------
    >>> cutoffs(np.array([0.5, 0.5, 0.9, 1.0]))
    [0.5, 0.9, 1.0]
    >>> [round(cut, 2) for cut in cutoffs(np.linspace(0.5, 1.0, 1001))]
    [0.5, 0.56, 0.62, 0.69, 0.75, 0.81, 0.88, 0.94, 0.99]
    """
    levels = np.unique(certainty)
    if len(levels) > STEPS:
        places = (np.arange(STEPS) / STEPS * len(certainty)).astype(np.intp)
        levels = np.unique([*np.sort(certainty)[places], *levels[levels >= SURE][:1]])
    return [float(level) for level in levels]


def _told_apart(cuts: list[float]) -> list[str]:
    """Cut-offs in as few digits as tell them apart."""
    for digits in range(3, FINE):
        names = [f"{cut:.{digits}g}" for cut in cuts]
        if len(set(names)) == len(cuts):
            return names
    return [repr(cut) for cut in cuts]


def with_open_items(answer: Answer, finding: Finding) -> Finding:
    """Say first how many items the votes leave open."""
    votes, known = answer.contest.votes, certainties(answer.contest)
    by_task = dict(zip(votes.tasks, known.reshape(len(votes.tasks), -1), strict=True))
    if len(by_task) > 1:
        by_task["all tasks together"] = known
    rows: list[dict[str, Cell]] = []
    for task, sure in by_task.items():
        here = sure[~np.isnan(sure)]
        if len(here):
            below = int((here < SURE).sum())
            facts: dict[str, Cell] = {
                "task": task,
                "items": len(here),
                "mean": float(here.mean()),
            }
            rows.append({**facts, "below": below, "share_below": below / len(here)})
    share = float((known[~np.isnan(known)] < SURE).mean())
    table = Table(
        name="certainty_shares",
        caption=f"Items with a certainty below {SURE:g}",
        columns=(
            *columns(task="text", items="count"),
            Column("mean", "mean certainty", "number"),
            Column("below", "uncertain", "count"),
            Column("share_below", "share uncertain", "percent"),
        ),
        rows=rows,
        brief=(),
    )
    text = f"The votes leave {percent(share)} of the items open (certainty below {SURE:g})."
    if not share:
        text = f"Every item is clear: no certainty is below {SURE:g}."
    sentence = f"{text} {finding.sentence}"
    return replace(finding, sentence=sentence, tables=(*finding.tables, table))


QUESTION = Question(
    key="certainty",
    about="the unclear cases",
    variants=clear_items,
    head="certainty at least",
    over="cut-offs",
    at="on items of certainty {} or more",
    reference="all items",
    nothing="All are equally certain, so none can be left out.",
    facts=(Column("share", "share of items", "percent"),),
    note="The certainty of an item is the probability, by a Dirichlet distribution over its "
    "votes, that the class with most votes really is the most plausible one; it is taken as "
    "known which items are clear. Clear items are also the easy ones, so values rise; what "
    "matters is whether gaps change.",
    methods="Everybody was scored again on the items of at least some certainty, the "
    "probability by a Dirichlet distribution over the votes that the leading class is the most "
    "plausible [@stutz2025].",
    references=("stutz2025",),
    finish=with_open_items,
)
