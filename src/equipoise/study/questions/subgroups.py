"""Subgroups: does the verdict depend on the kind of item?

Variants are the study on the items of each group, such as one sex or site, each compared with
the rest of the items. Beside the competitors' values stand how divided votes are (entropy of
the votes on an item, on average) and how far annotators agree (Krippendorff's alpha).
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from equipoise.inference.resampling import resample
from equipoise.metrics.distributions import entropy
from equipoise.read.attributes import Attributes
from equipoise.study.blocks import every_class
from equipoise.study.questions.answers import Answer, Question, Variant
from equipoise.study.variants import Contest
from equipoise.truth.agreement import krippendorff_alpha
from equipoise.types.arrays import Bools, InputError, wrong_type
from equipoise.types.findings import Cell, Column, Finding
from equipoise.types.notices import notice
from equipoise.types.votes import gold_rows
from equipoise.types.words import Option, hint

LEAST = 10  # items of a group, and of the rest
MISSING = "{missing:count} of {items:count} items have no attributes: in no group."


def groups_of_items(contest: Contest) -> Iterator[Variant]:
    """The contest on the items of each group, against the rest."""
    known, votes = contest.attributes, contest.votes
    if known is not None and not isinstance(known, Attributes):
        wanted, do = "a table with a row per item", "read it with read_attributes"
        raise wrong_type("attributes", known, wanted, do)
    if known is None:
        got, wanted = "no attributes of items", "a table with a row per item"
        remedy = hint("give {} such as sex, age or site", Option("attributes"))
        raise InputError("subgroups", got, wanted, remedy)
    if not known.columns:
        wanted, do = "at least one attribute", "add one, such as sex or site"
        raise InputError("attributes", "no column", wanted, do)
    scored = _scored(contest)
    codes = np.full((len(known.columns), len(votes.items)), -1)
    names = [votes.items[i] for i in np.flatnonzero(scored)]
    codes[:, scored] = known.aligned(names, on_missing=contest.settings.on_missing)
    for column, levels, code in zip(known.columns, known.levels, codes, strict=True):
        for number, level in enumerate(levels):
            inside, outside = code == number, (code != number) & (code >= 0)
            if min(inside.sum(), outside.sum()) < LEAST:
                continue
            here, rest = (contest.of_votes(side[votes.item]) for side in (inside, outside))
            yield Variant(f"{column} = {level}", here, against=rest, facts=_votes_of(here))


def _scored(contest: Contest) -> Bools:
    """Which items of the votes are scored in any task, shape (items,)."""
    names = {name for task in contest.tasks for name in task.question.items}
    return np.array([name in names for name in contest.votes.items])


def with_missing_items(answer: Answer, finding: Finding) -> Finding:
    """Say how many items are in no group for want of attributes."""
    contest, known = answer.contest, answer.contest.attributes
    assert known is not None
    scored = {contest.votes.items[i] for i in np.flatnonzero(_scored(contest))}
    missing = len(scored - set(known.items))
    if not missing:
        return finding
    said = notice("subgroups_missing", MISSING, missing=missing, items=len(scored))
    return replace(finding, notices=(*finding.notices, said))


def _votes_of(contest: Contest) -> dict[str, Cell]:
    """How divided the votes are, and how far annotators agree, on average over tasks."""
    questions = [task.question for task in contest.tasks]
    spread = [entropy(np.stack(every_class(one.shares))).mean() for one in questions]
    facts: dict[str, Cell] = {"entropy": float(np.mean(spread))}
    votes = contest.votes.rows(~gold_rows(contest.votes))
    if votes.rank is None and len(votes.item):
        plan = resample(votes, "items", replicates=1)
        alpha = [krippendorff_alpha(votes, task=one.task, plan=plan) for one in questions]
        facts["agreement"] = float(np.mean([estimate.value for estimate in alpha]))
    return facts


QUESTION = Question(
    key="subgroups",
    about="the kind of item",
    variants=groups_of_items,
    head="group",
    over="groups of items",
    at="for {}",
    reference="the other items",
    nothing=f"No group, and the rest beside it, have {LEAST} items: nothing is measured.",
    facts=(
        Column("entropy", "entropy of votes", "number"),
        Column("agreement", "Krippendorff's alpha", "number"),
    ),
    note="Every group is compared with the items that are not in it. Groups of fewer than "
    f"{LEAST} items are left out. Entropy: how divided the votes on an item are, on average.",
    methods="Everybody was scored in each of {number} groups of items and compared with the "
    "other items, with p-values adjusted by Holm's method [@holm1979]; agreement is "
    "Krippendorff's alpha [@krippendorff2004].",
    references=("holm1979", "krippendorff2004"),
    finish=with_missing_items,
)
