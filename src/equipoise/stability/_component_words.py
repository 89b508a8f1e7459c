"""Variance components in words: which sources move a result most, as far as intervals tell.

A source counts as moving the result less than the largest when its interval lies wholly below
that of the largest; the others are named without an order.
"""

from collections.abc import Sequence
from math import isnan, sqrt
from typing import NamedTuple

from equipoise.stability._words import capital, joined

SHARES = (
    "Shares are of the total and need not add to one: redrawn items bring their votes along, "
    "and drawing items and annotators together counts their interaction more than once."
)
CHOICE = (
    "Aggregation models are a choice, not a sample: their variance says how far the choice "
    "moves the result, not what another choice would do."
)
TASKS = (
    "With several tasks the result is the average over them. Each redraw takes the same items "
    "and the same annotators in all tasks, so what tasks share does not average out; votes are "
    "redrawn in every task by themselves."
)


class Component(NamedTuple):
    """One part of the variance of one result.

    `result` is a model, or ``a - b`` for the two best; `freedom` the degrees of freedom of the
    interval; `share` the part of the total, nan without one.
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


def component_notes(total: str, *, several: bool) -> list[str]:
    """What the total, the interaction and the average over tasks are."""
    said = [SHARES]
    if total:
        said.append(
            f"The total is the variance when {total} are drawn anew together; the interaction "
            "is what it has beyond the two drawn anew alone, and can be below zero."
        )
    return [*said, CHOICE, *([TASKS] if several else [])]


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
    sizes = [f"{size:.2g}" for size in sorted(one.deviation for one in level)]
    ends = f"standard deviations of {sizes[0]} to {sizes[-1]}"
    if sizes[0] == sizes[-1]:
        ends = f"standard deviations of {sizes[0]}"
    return f"{names} move {what} about equally, as far as their intervals tell: {ends}."


def _short(one: Component) -> str:
    return f"{one.source} {one.deviation:.2g}"


def _long(one: Component) -> str:
    ends = f"{sqrt(max(one.low, 0)):.2g} to {sqrt(max(one.high, 0)):.2g}"
    return f"standard deviation of {one.deviation:.2g} ({ends})"
