"""Leave one annotator out: does the verdict hang on a single person?

Variants are the study without the votes of each annotator; of many, of those with most votes.
Items that nobody else read drop out of the variant and are counted. The annotator left out is a
certain person, so that changes speak for other items and these annotators. Cohen's kappa
compares the labels that the remaining votes decide with those of the whole panel.

References
----------
Gröger et al., *CleanPatrick: a benchmark for image data cleaning*, appendix I.
"""

from collections.abc import Iterator

import numpy as np

from equipoise.study.questions.answers import Question, Variant
from equipoise.study.variants import Contest
from equipoise.types import Column, InputError

MOST = 100  # annotators left out in turn


def without_each_annotator(contest: Contest) -> Iterator[Variant]:
    """The contest without the votes of each annotator in turn."""
    votes, counting = contest.votes, ~contest.votes.gold
    if votes.annotators is None or votes.annotator is None:
        got, do = "anonymous votes", "look at components, which says what votes add"
        raise InputError("leave_one_out", got, "at least two annotators with ids", do)
    if len(votes.annotators) < 2:
        got, do = "a single annotator", "collect votes of others"
        raise InputError("leave_one_out", got, "at least two annotators with ids", do)
    load = np.bincount(votes.annotator[counting], minlength=len(votes.annotators))
    busiest = np.sort(np.argsort(-load, kind="stable")[:MOST])
    rated = len(np.unique(contest.cell))
    for who in busiest[load[busiest] > 0].tolist():
        keep = (votes.annotator != who) | ~counting
        lost = rated - len(np.unique(contest.cell[keep]))
        facts = {"votes": int(load[who]), "items_lost": lost}
        if keep.any():
            yield Variant(votes.annotators[who], contest.of_votes(keep), facts=facts)


QUESTION = Question(
    key="leave_one_out",
    about="one annotator",
    variants=without_each_annotator,
    head="without",
    over="studies without one annotator",
    at="without {}",
    reference="all annotators",
    annotators=False,
    kappa=True,
    facts=(Column("votes", "votes", "count"), Column("items_lost", "items lost", "count")),
    note="Every competitor is scored again without the votes of one annotator; of more than "
    f"{MOST} annotators those with most votes are left out in turn. Kappa of labels: Cohen's "
    "kappa of the labels that the others decide with those of all (1: the same, 0: no better "
    "than guessing).",
    methods="Everybody was scored again without each of {number} annotators in turn "
    "[@groger2025], and the labels of the others compared with those of all by Cohen's kappa "
    "[@cohen1960].",
    references=("groger2025", "cohen1960"),
)
