"""Variance components in words: which sources move a result most, as far as intervals tell.

A source counts as moving the result less than the largest when its interval lies wholly below
that of the largest; the others are named without an order.
"""

from collections.abc import Mapping, Sequence
from math import isnan, sqrt
from typing import NamedTuple

from equipoise.analyses.words import capital, counted, joined
from equipoise.digits import significant
from equipoise.evaluation.questions import Question

CHOICE = (
    "Model choice stands beside the total, not in it: aggregation models are a choice, not a "
    "sample, and their variance says how far the choice moves the result."
)
TASKS = (
    "With several tasks the result is the average over them. Each redraw takes the same items "
    "and the same annotators in all tasks, so what tasks share does not average out; votes are "
    "redrawn in every task by themselves, so noise that the votes of a person share across "
    "tasks counts as of items and annotators."
)


class Component(NamedTuple):
    """One part of the variance of one result.

    `result` is a model, or ``a - b`` for the two best; `freedom` the degrees of freedom of the
    interval, nan for a difference of variances; `share` the part of the total, nan without one.
    """

    task: str
    result: str
    source: str
    variance: float
    low: float
    high: float
    deviation: float
    share: float
    freedom: float


def component_notes(total: str, sources: list[str], below: Mapping[str, int]) -> list[str]:
    """What the parts and the total are, and which parts came out below zero.

    Examples
    --------
    >>> component_notes("", ["items"], {"items": 0})[0]
    'Votes cannot be told apart: what they cause is in items, and there is no total.'
    """
    known = joined([one for one in sources if one != "votes"])
    if total:
        said = [
            f"{capital(total)} add up to the total: how much a fresh study of the same size "
            f"would vary. Drawing anew {known} each brings the noise of votes along; it is "
            "taken off there and counted once, as votes."
        ]
    elif "votes" in sources:
        said = ["Items cannot be drawn anew, so there is no total."]
    else:
        said = [
            f"Votes cannot be told apart: what they cause is in {known}, and there is no total."
        ]
    lost = joined([f"{one} in {number:,}" for one, number in below.items() if number])
    if lost:
        said.append(
            "A source that moves a result no more than votes alone do comes out below 0 and "
            f"is shown as 0 (results: {lost})."
        )
    return [*said, CHOICE]


def task_notes(questions: Sequence[Question]) -> list[str]:
    """What single votes leave open, and what the average over tasks is."""
    single = sum(one.single for one in questions)
    said = [
        f"{counted(single, 'item')} with a single vote: what that vote causes cannot be told "
        "from what the item causes."
    ]
    return [*(said if single else []), *([TASKS] if len(questions) > 1 else [])]


def components_said(parts: Sequence[Component], what: str) -> str:
    """Tell in one sentence what moves a result most; `parts` are single sources of it.

    Examples
    --------
    >>> one = Component("", "a - b", "items", 4.0, 3.0, 5.0, 2.0, 1.0, 9.0)
    >>> two = one._replace(source="votes", variance=1.0, low=0.5, high=2.0, deviation=1.0)
    >>> components_said([one, two], "the difference a - b")
    'Items move the difference a - b most: a standard deviation of 2 (1.7 to 2.2), against ...'
    """
    known = [one for one in parts if not isnan(one.variance)]
    if not known:
        return f"What moves {what} cannot be told: some redraws leave it undefined or infinite."
    most = max(known, key=lambda one: one.variance)
    if most.variance <= 0:
        names = joined([one.source for one in known])
        return f"Nothing that was drawn anew ({names}) moves {what}."
    less = [one for one in known if one.high < most.low]
    level = [one for one in known if one not in less]
    rest = f", against {joined([_short(one) for one in less])}" if less else ""
    names = capital(joined([one.source for one in level]))
    verb = "moves" if most.source == "model choice" else "move"
    if len(known) == 1:
        return f"{names} {verb} {what} by a {_long(most)}; no other source can be looked at."
    if len(level) == 1:
        return f"{names} {verb} {what} most: a {_long(most)}{rest}."
    if less:
        unplaced = joined([_short(one) for one in level if one is not most])
        below = joined([one.source for one in less])
        return (
            f"{capital(most.source)} {verb} {what} more than {below}: a {_long(most)}{rest}; "
            f"the intervals do not place {unplaced}."
        )
    sizes = joined([_short(one) for one in level])
    return (
        f"Which of {joined([one.source for one in level])} moves {what} most is open, their "
        f"intervals overlap: standard deviations of {sizes}."
    )


def _short(one: Component) -> str:
    return f"{one.source} {significant(one.deviation)}"


def _long(one: Component) -> str:
    ends = f"{significant(sqrt(max(one.low, 0)))} to {significant(sqrt(max(one.high, 0)))}"
    return f"standard deviation of {significant(one.deviation)} ({ends})"
