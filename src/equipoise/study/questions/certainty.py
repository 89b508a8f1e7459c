"""Clear cases: does the verdict depend on the items whose truth the votes leave open?

The certainty of an item is the probability that its leading class really is the most plausible
one, by the model of the truth or else by a Dirichlet distribution over its votes. Variants are
the study on the items of at least some certainty, at cut-offs that occur; an item is clear from
a certainty of 0.99 on.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from equipoise.study.questions.answers import Answer, Question, Variant
from equipoise.study.variants import Contest
from equipoise.truth import dirichlet
from equipoise.types import SURE, Column, Finding, Floats, count

STEPS, LEAST, FINE = 8, 10, 9  # cut-offs, items of a variant, and digits of a certainty


def certainties(contest: Contest) -> Floats:
    """Certainty by code of task and item; nan where there are no votes or no scores."""
    votes = contest.votes
    certainty = np.full((len(votes.tasks), len(votes.items)), np.nan)
    for task in contest.tasks:
        fit = task.question.plausible or dirichlet(votes, task=task.question.task)
        scored = set(task.question.items)
        sure = dict(zip(fit.items, np.round(fit.certainty, FINE), strict=True))
        row = certainty[votes.tasks.index(task.question.task)]
        row[:] = [sure[name] if name in scored else np.nan for name in votes.items]
    return certainty.ravel()


def clear_items(contest: Contest) -> Iterator[Variant]:
    """The contest on items of rising certainty, named in as few digits as tell them apart."""
    certainty = certainties(contest)
    known = certainty[~np.isnan(certainty)]
    cuts = [cut for cut in cutoffs(known)[1:] if (known >= cut).sum() >= LEAST]
    names = ([f"{cut:.{digits}g}" for cut in cuts] for digits in range(3, FINE))
    apart = (labels for labels in names if len(set(labels)) == len(cuts))
    for cut, label in zip(cuts, next(apart, [repr(cut) for cut in cuts]), strict=True):
        clear = contest.of_votes(np.nan_to_num(certainty, nan=-1.0)[contest.cell] >= cut)
        yield Variant(label, clear, facts={"share": float((known >= cut).mean())})


def cutoffs(certainty: Floats) -> list[float]:
    """Certainties to cut at, rising: all that occur, or of many those at even shares.

    The first keeps every item; the smallest that makes an item clear is among them.

    >>> [round(cut, 2) for cut in cutoffs(np.linspace(0.5, 1.0, 1001))]
    [0.5, 0.56, 0.62, 0.69, 0.75, 0.81, 0.88, 0.94, 0.99]
    """
    levels = np.unique(certainty)
    if len(levels) > STEPS:
        places = (np.arange(STEPS) / STEPS * len(certainty)).astype(np.intp)
        levels = np.unique([*np.sort(certainty)[places], *levels[levels >= SURE][:1]])
    return [float(level) for level in levels]


def with_open_items(answer: Answer, finding: Finding) -> Finding:
    """Say first how many items the votes leave open."""
    certainty = certainties(answer.contest)
    certainty = certainty[~np.isnan(certainty)]
    left = int((certainty < SURE).sum())
    text = f"Every item is clear: no certainty is below {SURE:g}."
    if left:
        of = f"{count(left)} of {count(len(certainty), 'item')}"
        text = f"The votes leave {of} open (certainty below {SURE:g})."
    return replace(finding, sentence=f"{text} {finding.sentence}")


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
    note="Certainty: the probability, by the model of the truth or else by a Dirichlet "
    "distribution over the votes, that the leading class is the most plausible; which items "
    "are clear is taken as known. They are also the easy ones, so values rise; what matters is "
    "whether gaps change.",
    methods="Everybody was scored again on the items of at least some certainty, which is the "
    "probability, by the model of the truth or else by Dirichlet distributions, that the "
    "leading class is right [@stutz2025].",
    references=("stutz2025",),
    finish=with_open_items,
)
