"""Alone: does the verdict depend on which annotators are asked?

Variants are the study by the votes of one group of annotators (a school, an expertise), where
annotators come in groups, and of each annotator alone who gave enough votes: at least
`LEAST_VOTES`, and at least `FEWEST_EVENTS` for each of two answers.

*Reversals.* A variant reverses the order of two models where their difference by its votes has
the other sign than in the study. Where the study separates the two, the sign is enough; where
it does not, orders differ by chance, so that only differences which are shown count, for other
items and these annotators, adjusted for all variants (Holm).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from equipoise.inference.proportions import FEWEST_EVENTS
from equipoise.study.questions.answers import Question, Variant, holm
from equipoise.study.study import Study
from equipoise.study.truth import no_votes
from equipoise.study.variants import Contest
from equipoise.types import Annotations, Bools, Column, InputError

LEAST_VOTES = 30  # of an annotator who is asked alone
MOST = 40  # annotators who are asked alone, those with most votes


def asked_alone(contest: Contest) -> Iterator[Variant]:
    """The contest by the votes of each group of annotators, and of each annotator.

    Items of known truth (gold) stay what they are.
    """
    votes = contest.votes
    if contest.by_standard:
        raise no_votes("alone")
    gold = votes.gold
    for label, keep in _voices(votes):
        yield Variant(label, contest.of_votes(keep | gold), facts={"votes": int(keep.sum())})


def _voices(votes: Annotations) -> Iterator[tuple[str, Bools]]:
    """Groups of annotators, then annotators with enough votes: a name, and which votes."""
    counting = ~votes.gold
    if votes.annotators is None or votes.annotator is None or not counting.any():
        got, do = "no votes of annotators with ids", "leave this question out"
        raise InputError("alone", got, "votes of people with names", do)
    group = votes.annotator_group
    if group is not None:
        for code, name in enumerate(votes.annotator_groups or ()):
            keep = counting & (group[votes.annotator] == code)
            if keep.any():
                yield name, keep
    load = np.bincount(votes.annotator[counting], minlength=len(votes.annotators))
    busiest = np.sort(np.argsort(-load, kind="stable")[:MOST])
    for who in busiest[load[busiest] >= LEAST_VOTES].tolist():
        keep = counting & (votes.annotator == who)
        if _events(votes, keep) >= FEWEST_EVENTS:
            yield votes.annotators[who], keep


def _events(votes: Annotations, keep: Bools) -> int:
    """Votes for the second commonest answer."""
    if votes.label is None:
        return int(keep.sum())
    return int(np.sort(np.bincount(votes.label[keep], minlength=2))[-2])


class Reversal(NamedTuple):
    """Who orders two models the other way, and by how much."""

    who: str
    value: float
    low: float
    high: float


def reversals(study: Study, first: str, second: str, *, separated: bool) -> list[Reversal]:
    """Groups of annotators, and annotators, who reverse the order of two models.

    Parameters
    ----------
    first, second
        Two models, the first ahead in the study.
    separated
        Whether the study tells them apart.
    """
    contest = Contest.of(study.of_models([first, second]))
    if contest.modelled or len(contest.votes.annotators or ()) < 2:
        return []
    sign = 1.0 if contest.metric.better == "higher" else -1.0
    every_voice, p_values = [], []
    for variant in asked_alone(contest):
        try:
            scored = variant.contest.scored()
            gap = scored.gap(second, first, annotators=False)
        except InputError:  # an answer that the metric needs is missing
            continue
        ends = sorted((sign * gap.low, sign * gap.high))
        every_voice.append(Reversal(variant.label, sign * gap.value, *ends))
        p_values.append(gap.p)
    shown = separated | (holm(p_values) < 1 - study.settings.level)
    return [
        reversal
        for reversal, says in zip(
            every_voice, np.broadcast_to(shown, len(every_voice)), strict=True
        )
        if says and reversal.value > 0
    ]


QUESTION = Question(
    key="alone",
    about="which annotators are asked",
    variants=asked_alone,
    head="by the votes of",
    over="groups of annotators, or annotators, asked alone",
    at="by {} alone",
    reference="all annotators",
    annotators=False,
    facts=(Column("votes", "votes", "count"),),
    note="Every competitor is scored against the votes of one group of annotators, where they "
    f"come in groups, and of each annotator with at least {LEAST_VOTES} votes and "
    f"{FEWEST_EVENTS} for each of two answers.",
    methods="Everybody was scored against the votes of each group of annotators and of each "
    "annotator with enough votes ({number} in all).",
)
