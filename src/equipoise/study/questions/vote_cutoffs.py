"""Vote cut-offs: does the verdict depend on items with few votes?

Variants are the study on the items with at least k votes; an item of known truth (gold) is not
thinly rated, and stays at every cut-off.

References
----------
Gröger et al., *CleanPatrick: a benchmark for image data cleaning*, appendix J.
"""

from collections.abc import Iterator

import numpy as np

from equipoise.study.questions.answers import Question, Variant
from equipoise.study.variants import Contest
from equipoise.types import Column, vote_counts

CUTOFFS = (1, 3, 5, 7, 10, 15)


def items_with_votes(contest: Contest) -> Iterator[Variant]:
    """The contest on the items with at least k votes."""
    votes, cell, gold = contest.votes, contest.cell, contest.votes.gold
    weight = vote_counts(votes)
    if votes.reading is not None:  # a ranking is one vote, however many rows it has
        weight = weight * (np.diff(votes.reading, prepend=-1) != 0)
    number = np.bincount(cell[~gold], weight[~gold], int(cell.max()) + 1)[cell]
    settled = np.isin(cell, cell[gold])
    for least in CUTOFFS:
        keep = settled | (number >= least)
        if keep.any() and not keep.all():
            share = len(np.unique(cell[keep])) / len(np.unique(cell))
            yield Variant(str(least), contest.of_votes(keep), facts={"share": share})


QUESTION = Question(
    key="vote_cutoffs",
    about="items with few votes",
    variants=items_with_votes,
    head="votes at least",
    over="cut-offs",
    at="with at least {} votes per item",
    reference="all items",
    nothing="No cut-off leaves out some of the items and keeps others.",
    facts=(Column("share", "share of items", "percent"),),
    note="Competitors are scored on the items with at least so many votes. Items with many "
    "votes may be other items, for example hard ones that were sent to more people, so a "
    "change need not be an effect of the votes. Items of known truth stay at every cut-off.",
    methods="Everybody was scored again on items with at least {labels} votes [@groger2025].",
    references=("groger2025",),
)
