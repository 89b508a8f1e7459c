"""Flips: how few items or votes must go, or change, for the two best models to change places.

Greedy. In each step every candidate is scored exactly, the metric computed anew, and the one
that takes most of the lead is kept, until the second model is ahead. With many candidates,
only those with the largest first-order effect (influence functions) are scored exactly; a
metric without influence function takes those that matter most alone, and refuses more than
5,000 items. Then parts that are not
needed are put back, and the whole set is verified by sorting and scoring everything anew.

Greedy gives an upper bound: a smaller set may exist. It is proved to be the smallest when it
has one part, two and no single part does it, or three and no pair does it; pairs are all tried
where that is affordable.

A move is taking an item away (``items``), taking one vote away (``votes``), or changing one
vote to another class (``changed votes``).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import InputError, choice
from equipoise.metrics import Metric
from equipoise.predictions import Predictions
from equipoise.ranks import goodness
from equipoise.stability._asked import Asked, Progress
from equipoise.stability._flip_search import AHEAD, Search
from equipoise.stability._moves import UNITS, Duel, Member, moves
from equipoise.stability._subject import Subject, study
from equipoise.stability.redrawing import options


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
        if self.most < 1:
            raise InputError("flips, most", f"{self.most}", "at least 1", "50 is usual")


@dataclass(frozen=True, slots=True)
class Flip:
    """The smallest set found for one task.

    Attributes
    ----------
    task, a, b
        Where, and between which models: a is best, b the best of those below it.
    lead, lead_after
        By how much a is better, with all data and after the set; nan when none was found.
    members
        The set, empty when none was found.
    number
        How many items or votes there are.
    verified
        Whether b is ahead when everything is computed anew.
    smallest
        Whether no smaller set exists, by trying all of them.
    cleared
        No set of this size or less flips, by trying all of them.
    """

    task: str
    a: str
    b: str
    lead: float
    lead_after: float
    members: tuple[Member, ...]
    number: int
    verified: bool
    smallest: bool
    cleared: int

    @property
    def share(self) -> float:
        """Size of the set as a share of all items or votes; nan when none was found."""
        return len(self.members) / self.number if self.members else float("nan")


@dataclass(frozen=True, slots=True)
class Flips:
    """What `flips` returns: one `Flip` per task.

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
                "unit": self.unit, "a": one.a, "b": one.b, "lead": one.lead,
                "lead_after": one.lead_after, "size": len(one.members) or None,
                "share": one.share, "number": one.number, "verified": one.verified,
                "smallest": one.smallest, "tried_up_to": self.most,
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
        """The task that hangs on least, in one sentence."""
        found = [one for one in self.tasks if one.members]
        what = {"items": "leaving out", "votes": "leaving out", "changed votes": "changing"}
        noun = "item" if self.unit == "items" else "vote"
        if not found:
            return (
                f"No set of up to {self.most} {noun}s was found whose absence or change puts "
                f"the second model first by {self.labels} {self.metric}; the search is greedy."
            )
        one = min(found, key=lambda flip: (len(flip.members), flip.share))
        size = len(one.members)
        where = f" for {one.task}" if one.task else ""
        bound = "no smaller set does" if one.smallest else "a smaller set may exist"
        return (
            f"By {self.labels} {self.metric}{where}, {what[self.unit]} {size} of "
            f"{one.number:,} {noun}s ({one.share:.2g} of all) puts {one.b} ahead of "
            f"{one.a}; {bound}."
        )


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
        ``labels`` (soft or hard), ``task`` (None is every task), ``most`` (size at which the
        search ends), ``on_missing`` as in `Settings`, and ``progress``.
    """
    told = options(_How, how)
    choice("flips, unit", unit, UNITS)
    if told.labels == "hard" and unit != "items":
        raise InputError(
            f"flips of {unit}", "hard labels", "soft labels: single votes rarely turn a "
            "majority", "choose labels='soft', or unit='items'",
        )  # fmt: skip
    wanted = Asked(
        metric=metric, labels=told.labels, task=told.task, on_missing=told.on_missing
    )
    subjects = study(predictions, annotations, wanted)
    found, notices = [], list(subjects.notices)
    for number, subject in enumerate(subjects.subjects, 1):
        pair, said = _top_two(subject)
        notices += said
        if pair is not None:
            search = Search(Duel(subject, moves(subject, unit), *pair), told.most)
            found.append(_flip(search, annotations))
        if told.progress is not None:
            told.progress(number, len(subjects.subjects))
    return Flips(
        subjects.metric.name, told.labels, unit, told.most, tuple(found), tuple(notices)
    )


def _top_two(subject: Subject) -> tuple[tuple[int, int] | None, list[str]]:
    """Best model and the best of those below it, and which are level with the best."""
    good = goodness(subject.full(), subject.metric.better)
    names = list(subject.aligned.scores)
    where = f" of task {subject.question.task!r}" if subject.question.task else ""
    if np.isnan(good).any() or good.min() == good.max():
        return None, [f"No two models{where} differ by {subject.metric.name}: nothing to flip."]
    best = int(np.argmax(good))
    level = [names[m] for m in np.flatnonzero(good == good[best]) if m != best]
    below = np.flatnonzero(good < good[best])
    said = [
        f"{one} is level with {names[best]}{where}: the next model below is taken."
        for one in level
    ]
    return (best, int(below[np.argmax(good[below])])), said


def _flip(search: Search, annotations: Annotations) -> Flip:
    """Run the search of one task, verify the set and name its parts."""
    duel, names = search.duel, list(search.duel.subject.aligned.scores)
    chosen = search.run()
    after = duel.fresh(chosen) if chosen else float("nan")
    return Flip(
        task=duel.subject.question.task,
        a=names[duel.a],
        b=names[duel.b],
        lead=duel.fresh([]),
        lead_after=after,
        members=tuple(_member(search, one, annotations) for one in chosen),
        number=search.moves.number,
        verified=bool(after < -AHEAD),
        smallest=bool(chosen) and len(chosen) == search.cleared + 1,
        cleared=search.cleared,
    )


def _member(search: Search, move: int, annotations: Annotations) -> Member:
    question, made = search.duel.subject.question, search.moves
    item = question.items[made.item[move]]
    if made.unit == "items":
        return Member(item)
    votes, vote = question.votes, made.vote[move]
    assert votes is not None
    who = (
        None
        if annotations.annotators is None
        else annotations.annotators[votes.annotator[vote]]
    )
    said = votes.label[(votes.vote == vote) & (votes.share > 0)]
    target = int(made.target[move])
    return Member(
        item, who, " or ".join(question.answers[int(code)] for code in said),
        None if target < 0 else question.answers[target],
    )  # fmt: skip
