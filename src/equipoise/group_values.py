r"""Group values: what an item is worth when its group is, such as the risk of a case.

Groups of classes have numbers, :math:`v_g`. In a possible truth :math:`\lambda_i` the item has
the number of the group of its most plausible class, or that of every group by its mass,

.. math:: v_{g(\arg\max_k \lambda_{ik})} \quad\text{or}\quad
    \sum_g v_g \sum_{k \in g} \lambda_{ik}

`expected_group_value` and `expected_mass_value` give the mean over draws, and how far draws
differ. That range is what remains plausible about the item; it is no interval of the mean.

Examples
--------
>>> values = np.array([[[0.45, 0.3, 0.25]], [[0.6, 0.1, 0.3]], [[0.3, 0.5, 0.2]]])
>>> three = Plausibilities.dense(values, items=("case",), classes=("x", "y", "z"),
...     method="by hand")
>>> risk = Grouping.of({"x": "low", "y": "high", "z": "high"})
>>> risky = expected_group_value(three, {"low": 0, "high": 2}, risk)
>>> risky.mean, risky.least, risky.most
(array([0.667]), array([0.]), array([2.]))
>>> expected_mass_value(three, {"low": 0, "high": 2}, risk).mean
array([1.1])
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from equipoise.arrays import Floats, InputError, PerItem, frozen, listed
from equipoise.groupings import Grouping, coarsened, group_chance
from equipoise.plausibilities import Plausibilities


@dataclass(frozen=True, slots=True, eq=False)
class GroupValue:
    """Expected number of every item, such as its risk, and how far draws differ.

    Attributes
    ----------
    items
        Names.
    mean, low, high, least, most
        Mean over draws, the quantiles 0.05 and 0.95, and the extremes, each (items,).
    """

    items: tuple[str, ...]
    mean: PerItem
    low: PerItem
    high: PerItem
    least: PerItem
    most: PerItem

    @classmethod
    def over(cls, items: tuple[str, ...], table: Floats) -> "GroupValue":
        """Sum up a table (items, draws)."""
        low, high = np.quantile(table, (0.05, 0.95), axis=1)
        found = (table.mean(axis=1), low, high, table.min(axis=1), table.max(axis=1))
        return cls(items, *(frozen(one) for one in found))


def expected_group_value(
    plausibilities: Plausibilities, values: Mapping[str, float], grouping: Grouping
) -> GroupValue:
    """Expected number of the group of the most plausible class; ties share a draw.

    Parameters
    ----------
    values
        What each group is worth: ``{"low": 0, "medium": 1, "high": 2}``.
    """
    numbers = _numbers(plausibilities, values, grouping)
    table = np.zeros((len(plausibilities.items), plausibilities.draws))
    for name, number in zip(grouping.groups, numbers, strict=True):
        if number:
            table += number * group_chance(plausibilities, grouping, name)
    return GroupValue.over(plausibilities.items, table)


def expected_mass_value(
    plausibilities: Plausibilities, values: Mapping[str, float], grouping: Grouping
) -> GroupValue:
    """Expected number when every group counts by its mass in the draw."""
    numbers = _numbers(plausibilities, values, grouping)
    mass = coarsened(plausibilities, grouping).mass
    shape = (plausibilities.draws, len(plausibilities.items), len(numbers))
    return GroupValue.over(plausibilities.items, (mass.reshape(shape) @ numbers).T)


def _numbers(
    plausibilities: Plausibilities, values: Mapping[str, float], grouping: Grouping
) -> Floats:
    """What the groups are worth, in their order."""
    if not plausibilities.items:
        raise InputError("expected group value", "no items", "at least one", "check the truth")
    if plausibilities.law is not None and plausibilities.draws == 1:
        raise InputError(
            "expected group value",
            f"{plausibilities.method} with its mean alone",
            "draws, because the range over them is asked for",
            "draw from the law first: plausibilities.drawn(1000, seed=0)",
        )
    if set(values) != set(grouping.groups):
        raise InputError(
            "expected group value",
            f"values of {listed(values)}",
            f"one for each of {listed(grouping.groups, most=8)}",
            "name every group once",
        )
    try:
        numbers = np.array([values[name] for name in grouping.groups], dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.full(len(values), np.nan)
    if not np.isfinite(numbers).all():
        raise InputError(
            "expected group value",
            f"values {listed(values.values())}",
            "finite numbers",
            "correct them",
        )
    return numbers
