"""Half panels: does the verdict depend on which half of the annotators votes?

Variants are the study by the votes of each of two halves of the annotators, who share nobody,
for some random splits; of an odd number one is left out. Where halves give the verdict of the
study, half as many annotators would have done; where they do not, the panel is none too large.
How many annotators a study needs is asked of a plan (`equipoise.study.planning`), which counts
items, too.
"""

from collections.abc import Iterator

import numpy as np

from equipoise.study.questions.answers import Question, Variant
from equipoise.study.variants import Contest
from equipoise.types import Cell, Column, InputError, count, joined

SPLITS, LEAST = 5, 4  # random splits, and annotators from which two halves are panels
NAMED = 6  # annotators of a half, in a table


def by_halves(contest: Contest) -> Iterator[Variant]:
    """The contest by the votes of each half of its annotators."""
    votes, counting = contest.votes, ~contest.votes.gold
    names, got = votes.annotators, "anonymous votes"
    people: list[int] = []
    if names is not None and votes.annotator is not None:
        codes = np.unique(votes.annotator[counting]).tolist()
        people = sorted(codes, key=lambda code: names[code])
        got = count(len(people), "annotator")
    if names is None or votes.annotator is None or len(people) < LEAST:
        wanted, do = f"at least {count(LEAST)} annotators with ids", "ask more annotators"
        raise InputError("half_panels", got, wanted, do)
    random = np.random.default_rng(int(contest.plan.key("half panels")))
    for split in range(1, SPLITS + 1):
        order, size = random.permutation(people), len(people) // 2
        for name, half in (("a", order[:size]), ("b", order[size : 2 * size])):
            voted = counting & np.isin(votes.annotator, half)
            members = joined(sorted(names[code] for code in half), most=NAMED)
            facts: dict[str, Cell] = {"annotators": members, "votes": int(voted.sum())}
            yield Variant(f"{split}{name}", contest.of_votes(voted | ~counting), facts=facts)


QUESTION = Question(
    key="half_panels",
    about="which half of the annotators votes",
    variants=by_halves,
    head="half",
    over="halves of the annotators",
    at="by half {}",
    reference="all annotators",
    annotators=False,
    facts=(Column("annotators", "annotators", brief=False), Column("votes", "votes", "count")),
    note=f"Annotators are split at random into two halves that share nobody, {SPLITS} times, "
    "and everybody is scored by the votes of each half. How many annotators a study needs is "
    "told by a plan.",
    methods="Everybody was scored by the votes of separate halves of the annotators ({number} "
    "halves, of random splits).",
)
