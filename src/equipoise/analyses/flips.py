"""Flips: how few items or votes must go, or change, for another model to be the best.

The leaders are the models that are level at the top, mostly one. A set of moves flips the
result when, after it, some model that was not among them is strictly ahead of all of them:
every other model is tried as the rival, and the smallest set over all of them is reported,
with the model that is then first. A tie among the leaders is no lead, so breaking it is not
a flip; whether a single move breaks it is said in a notice.

A move is taking an item away (``items``), taking one vote away (``votes``), or changing one
vote to another class (``changed votes``), always within one task. By the average of several
tasks, sets may take moves from any of them, and the items or votes of all tasks count. A set
after which the metric is undefined in a task is not taken.

Every move alone is tried exactly. Larger sets are found by greedy steps, rival by rival, which
gives an upper bound, and verified by sorting and scoring everything anew. `smallest` says that
no smaller set exists for any rival: because all single moves and all pairs were tried, or, for
AUROC and for metrics that are a mean over items, because a bound proves it (`_flip_bounds`,
`_flip_exclusion`). Where there are too many candidates to try each alone, influence functions
choose those that are tried, and pass over rivals that are out of reach by several times the sum
of single effects; a metric without influence function then refuses.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

import numpy as np

from equipoise.analyses._contest import AHEAD, Contest
from equipoise.analyses._field import Field
from equipoise.analyses._flip_search import Found, Search
from equipoise.analyses._flip_words import (
    LEVEL,
    NOTHING,
    ONE,
    UNDEFINED,
    Outcome,
    least,
    level,
    together,
    told,
)
from equipoise.analyses._moves import UNITS, Member, moves
from equipoise.analyses.options import AnalysisOptions, Progress
from equipoise.analyses.redrawing import options
from equipoise.analyses.scoring import StudyScorer, study
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, choice, require_whole
from equipoise.evaluation import MACRO
from equipoise.metrics import Metric, titled
from equipoise.predictions import Predictions

__all__ = ["UNITS", "Flip", "FlipHow", "Flips", "Member", "flips"]


class FlipHow(TypedDict, total=False):
    """Keywords of `flips`."""

    labels: str
    task: str | None
    most: int
    on_missing: str
    progress: Progress | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _How:
    labels: str = "soft"
    task: str | None = None
    most: int = 50
    on_missing: str = "error"
    progress: Progress | None = None

    def __post_init__(self) -> None:
        require_whole("flips, most", self.most, least=1, do="50 is usual")


@dataclass(frozen=True, slots=True)
class Flip:
    """The smallest set found for one task, or for the average of all.

    Attributes
    ----------
    task
        Name of the task, or ``macro average``.
    leaders
        The models that are best, several when they are level.
    b
        Who is first after the set; where none was found, the next model below; None where
        there is no other.
    place
        Rank of b before.
    margin
        By how much the leaders are better than the next model below.
    lead, lead_after
        By how much they are better than b, with all data and after the set.
    members
        The set, empty when none was found.
    number
        How many items or votes there are.
    verified
        Whether b is ahead when everything is computed anew.
    smallest
        Whether it is proved that no smaller set exists, for any rival.
    cleared
        No set of this size or less exists.
    idle
        Why nothing was searched: one model, all level, undefined, or no votes; empty when it
        was.
    """

    task: str
    leaders: tuple[str, ...]
    b: str | None
    place: int | None
    margin: float
    lead: float
    lead_after: float
    members: tuple[Member, ...]
    number: int
    verified: bool
    smallest: bool
    cleared: int
    idle: str = ""

    @property
    def a(self) -> str:
        """The leaders in one breath."""
        return together(self.leaders) if self.leaders else ""

    @property
    def share(self) -> float:
        """Size of the set as a share of all items or votes; nan when none was found."""
        return len(self.members) / self.number if self.members else float("nan")


@dataclass(frozen=True, slots=True)
class Flips:
    """What `flips` returns: one `Flip` per task, that of their average first.

    Attributes
    ----------
    metric, labels, unit, most
        What was asked.
    tasks
        The sets.
    notices
        What the user should know, one sentence each.
    """

    metric: str
    labels: str
    unit: str
    most: int
    tasks: tuple[Flip, ...]
    notices: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """One row per task."""
        return [
            {
                "task": one.task, "metric": self.metric, "labels": self.labels,
                "unit": self.unit, "a": one.a, "b": one.b, "place": one.place,
                "margin": one.margin, "lead": one.lead, "lead_after": one.lead_after,
                "size": len(one.members) or None, "share": one.share, "number": one.number,
                "verified": one.verified, "smallest": one.smallest, "cleared": one.cleared,
                "tried_up_to": min(self.most, one.number), "idle": one.idle,
            }
            for one in self.tasks
        ]  # fmt: skip

    def member_rows(self) -> list[dict[str, Any]]:
        """One row per item or vote of every set, in the order they were found."""
        return [
            {"task": one.task, **member._asdict()}
            for one in self.tasks
            for member in one.members
        ]

    @property
    def finding(self) -> str:
        """What the first rank hangs on; by the average first, then the task with least."""
        first, *rest = self.tasks
        found = [one for one in rest if one.members]
        said = told(self.outcome(first))
        if not found or first.task != MACRO:
            return said
        fewest = min(found, key=lambda flip: (len(flip.members), flip.share))
        return f"{said} {least(self.outcome(fewest))}"

    def outcome(self, one: Flip) -> Outcome:
        """What a sentence about one of the tasks says."""
        return Outcome(
            titled(self.metric, self.labels), one.task, self.unit, self.most, one.leaders,
            one.b or "", len(one.members), one.number, one.cleared, one.idle,
        )  # fmt: skip


def flips(
    predictions: Predictions | Iterable[Predictions],
    annotations: Annotations,
    *,
    metric: str | Metric = "auroc",
    unit: str = "items",
    **how: Unpack[FlipHow],
) -> Flips:
    """Find a small set of items or votes that the lead of the best model hangs on.

    Parameters
    ----------
    metric
        Name of a metric, or a `Metric`.
    unit
        ``items`` or ``votes`` (taken away), or ``changed votes``.
    **how
        ``labels`` (soft or hard), ``task`` (None is every task, and their average), ``most``
        (size at which the search ends), ``on_missing`` as in `Settings`, and ``progress``.
    """
    said = options(_How, how)
    choice("flips, unit", unit, UNITS)
    if said.labels == "hard" and unit != "items":
        raise InputError(
            f"flips of {unit}", "hard labels", "soft labels: single votes rarely turn a "
            "majority", "choose labels='soft', or unit='items'",
        )  # fmt: skip
    wanted = AnalysisOptions(
        metric=metric, labels=said.labels, task=said.task, on_missing=said.on_missing,
        replicates=2, progress=said.progress,
    )  # fmt: skip
    found = study(predictions, annotations, wanted)
    contests = _contests(found, unit)
    done = []
    for number, contest in enumerate(contests, 1):
        done.append(_flip(contest, found.models, said.most, annotations))
        wanted.tell(number, len(contests))
    result = Flips(found.metric.name, said.labels, unit, said.most, tuple(done), found.notices)
    ties = [
        level(result.outcome(one), parted=contest.parted)
        for one, contest in zip(done, contests, strict=True)
        if len(one.leaders) > 1 and not one.idle
    ]
    return replace(result, notices=(*found.notices, *ties))


def _contests(found: StudyScorer, unit: str) -> list[Contest]:
    """The average of several tasks, then every task."""
    fields = [Field(one, moves(one, unit)) for one in found.subjects]
    single = [Contest(one.subject.question.task, (one,)) for one in fields]
    return [Contest(MACRO, tuple(fields)), *single] if found.task == MACRO else single


def _flip(
    contest: Contest, models: tuple[str, ...], most: int, annotations: Annotations
) -> Flip:
    """Search one contest, verify the set and name its parts."""
    idle = _idle(contest)
    found = Found([], 0) if idle else Search(contest, min(most, contest.number)).run()
    after = contest.fresh(found.chosen) if found.chosen else contest.full
    rivals = contest.rivals
    b = rivals[int(np.argmax(after[rivals]))] if rivals else None
    lead_after = _lead(contest, after, b) if found.chosen else float("nan")
    return Flip(
        task=contest.task,
        leaders=tuple(models[m] for m in contest.leaders),
        b=None if b is None else models[b],
        place=None if b is None else contest.place(b),
        margin=_lead(contest, contest.full, rivals[0] if rivals else None),
        lead=_lead(contest, contest.full, b),
        lead_after=lead_after,
        members=tuple(_member(contest, *one, annotations) for one in found.chosen),
        number=contest.number,
        verified=bool(lead_after < -AHEAD),
        smallest=bool(found.chosen) and len(found.chosen) == found.cleared + 1,
        cleared=found.cleared,
        idle=idle,
    )


def _idle(contest: Contest) -> str:
    """Why there is nothing to search."""
    if len(contest.full) == 1:
        return ONE
    if not contest.leaders:
        return UNDEFINED
    if not contest.number:
        return NOTHING
    return "" if contest.rivals else LEVEL


def _lead(contest: Contest, values: Floats, b: int | None) -> float:
    """How far the best leader is ahead of a model; nan where there is none."""
    if b is None:
        return float("nan")
    return float(values[contest.leaders].max() - values[b])


def _member(contest: Contest, field: int, move: int, annotations: Annotations) -> Member:
    one = contest.fields[field]
    return one.moves.member(move, one.subject.question, annotations)
