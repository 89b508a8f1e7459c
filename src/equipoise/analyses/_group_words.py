"""What subgroups say: where votes are most divided, and whether a model differs."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from equipoise.analyses.words import capital

MEASURED, SMALL, UNDEFINED = "measured", "too few items", "undefined"
EQUAL = 1e-12


class Cell(NamedTuple):
    """One quantity of one group, and its difference to the items it is compared with.

    `status` is ``measured``, ``too few items`` or ``undefined`` (for example AUROC where all
    labels are the same); without a measure all numbers but the count are nan.
    """

    column: str
    level: str
    items: int
    quantity: str
    model: str
    value: float
    low: float
    high: float
    other: float
    difference: float
    difference_low: float
    difference_high: float
    p: float
    p_holm: float
    status: str = MEASURED

    @property
    def group(self) -> str:
        """The group's name."""
        return f"{self.column} = {self.level}"


def measured(cells: Sequence[Cell], quantity: str) -> list[Cell]:
    """Cells of one quantity that have a value."""
    return [one for one in cells if one.quantity == quantity and not np.isnan(one.value)]


def division(cells: Sequence[Cell], other: str, level: float) -> str:
    """Where votes are most divided, as a part of a sentence; empty when nothing is known."""
    known = measured(cells, "entropy")
    if not known:
        return ""
    if _level(known):
        return f"Votes are equally divided in {_groups(known)} (entropy {known[0].value:.3f})"
    most = max(known, key=lambda one: one.value)
    if len(known) == 1:
        said = f"The entropy of votes is known for {most.group} alone ({most.items:,} items): "
        said = f"{said}{most.value:.3f}"
        if np.isnan(most.p_holm):
            return f"{said}, which could not be compared"
        return f"{said} against {most.other:.3f} in {other}, {_sure(most, level)}"
    said = f"Votes are most divided for {most.group} ({most.items:,} items; entropy "
    said = f"{said}{most.value:.3f}"
    if not np.isnan(most.p_holm):
        return f"{said} against {most.other:.3f} in {other}), {_sure(most, level)}"
    rivals = [
        one for one in known
        if one.column == most.column and one.other == most.value and not np.isnan(one.p_holm)
    ]  # fmt: skip
    if not rivals:
        return f"{said}), which could not be tested"
    least = min(rivals, key=lambda one: one.p_holm)
    return (
        f"{said}), {other}; {least.group} has {least.value:.3f}, a difference "
        f"{_sure(least, level)}"
    )


def _sure(one: Cell, level: float) -> str:
    """Whether a difference that was tested is more than chance."""
    if one.p_holm < 1 - level:
        return "more than chance explains"
    return "not told apart from chance"


def agreement(cells: Sequence[Cell]) -> str:
    """Where agreement is lowest, as a part of a sentence; empty when nothing is known."""
    known = measured(cells, "agreement")
    if not known:
        return ""
    least = min(known, key=lambda one: one.value)
    ends = f", {least.low:.2f} to {least.high:.2f}"
    alpha = f"alpha {least.value:.2f}{'' if np.isnan([least.low, least.high]).any() else ends}"
    if len(known) == 1:
        return f"agreement is known for {least.group} alone ({alpha})"
    if _level(known):
        return f"agreement is the same in {_groups(known)} ({alpha})"
    return f"agreement is lowest for {least.group} ({alpha})"


def differences(
    cells: Sequence[Cell], names: tuple[str, str], level: float, shown: Callable[[float], str]
) -> str:
    """Whether any model differs between groups, as a sentence; empty when none was tested."""
    metric, title = names
    tested = [one for one in measured(cells, metric) if not np.isnan(one.p_holm)]
    if not tested:
        return ""
    first = min(tested, key=lambda one: one.p_holm)
    if not first.p_holm < 1 - level:
        return f"No difference in {title} between groups is told apart from chance."
    side = "lower" if first.difference < 0 else "higher"
    return (
        f"{capital(title)} of {first.model} is {side} by {shown(abs(first.difference))} for "
        f"{first.group}, more than chance explains."
    )


def _level(cells: Sequence[Cell]) -> bool:
    """Whether several groups have one and the same value."""
    values = [one.value for one in cells]
    return len(cells) > 1 and max(values) - min(values) < EQUAL


def _groups(cells: Sequence[Cell]) -> str:
    return f"all {len(cells)} groups"
