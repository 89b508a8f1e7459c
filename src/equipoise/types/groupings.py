r"""Groupings: classes put into named groups, such as conditions into levels of risk.

The mass of a group is the sum over its classes,

.. math:: \lambda_{ig} = \sum_{k \in g} \lambda_{ik}

and needs the mass of classes that nobody mentioned. An even split gives a group its share of
the unmentioned classes. A split by a symmetric Dirichlet needs one gamma variable per group
rather than per class, because sums of Dirichlet components are Dirichlet with summed shapes.
For the same reason a Dirichlet law stays one, and chances of the groups stay exact.

Groups may have numbers :math:`v_g`, such as the risk of a case. In a possible truth
:math:`\lambda_i` the item has the number of the group of its most plausible class, or that of
every group by its mass,

.. math:: v_{g(\arg\max_k \lambda_{ik})} \quad\text{or}\quad
    \sum_g v_g \sum_{k \in g} \lambda_{ik}

`expected_group_value` and `expected_mass_value` give the mean over draws, and how far draws
differ. That range is what remains plausible about the item; it is no interval of the mean.

Examples
--------
>>> risk = Grouping.of({"naevus": "low", "melanoma": "high", "wart": "low"})
>>> risk.groups
('low', 'high')
>>> three = Plausibilities.dense(np.array([[0.3, 0.4, 0.3]]), items=("lesion",),
...     classes=("naevus", "melanoma", "wart"), method="by hand")
>>> coarsened(three, risk).mean
array([[0.6, 0.4]])
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

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from equipoise.types.arrays import (
    Floats,
    InputError,
    Ints,
    Names,
    PerItem,
    frozen,
    listed,
    nearest,
    ratio,
    require_unique,
    unknown_name,
)
from equipoise.types.plausibilities import Categorical, Dirichlet, Plausibilities, Posterior
from equipoise.types.records import immutable


@immutable(eq=False)
class Grouping:
    """Which group each class belongs to.

    Attributes
    ----------
    classes, groups
        Names; the order of the groups is theirs in every table.
    group
        Code of the group of each class, shape (classes,).
    name
        What the groups are levels of, such as ``risk``, for the names of metrics.
    ordered
        Whether the order of the groups means something, as that of low, medium and high.
    """

    classes: Names
    groups: Names
    group: Ints
    name: str = "group"
    ordered: bool = False

    def __post_init__(self) -> None:
        require_unique(self.classes, where="grouping, classes")
        require_unique(self.groups, where="grouping, groups")
        codes = np.asarray(self.group, dtype=np.intp)
        inside = codes.shape == (len(self.classes),) and len(codes) > 0
        if not inside or not 0 <= codes.min() <= codes.max() < len(self.groups):
            raise InputError(
                "grouping",
                f"{codes.size} codes for {len(self.classes)} classes",
                f"one code below {len(self.groups)} per class",
                "make it with Grouping.of",
            )
        object.__setattr__(self, "group", frozen(codes))

    @classmethod
    def of(
        cls,
        mapping: Mapping[str, str],
        groups: Sequence[str] | None = None,
        *,
        name: str = "group",
    ) -> "Grouping":
        """Take the group of every class by name.

        Parameters
        ----------
        mapping
            Class name to group name.
        groups
            Order of the groups, which then means something; by default that of their first
            class, which does not.
        name
            What the groups are levels of.

        Examples
        --------
        >>> Grouping.of({"naevus": "low", "melanoma": "hihg"}, groups=("low", "high"))
        Traceback (most recent call last):
        ...
        equipoise.InputError: grouping, class 'melanoma': group 'hihg', expected one ...
        """
        order = tuple(dict.fromkeys(mapping.values())) if groups is None else tuple(groups)
        for label, group in mapping.items():
            if group not in order:
                where = f"grouping, class {label!r}"
                raise unknown_name(where, f"group {group!r}", group, order)
        codes = np.array([order.index(group) for group in mapping.values()], dtype=np.intp)
        return cls(tuple(mapping), order, codes, name, groups is not None)

    def code(self, group: str) -> int:
        """Number of a group, by its name."""
        if group not in self.groups:
            where = f"grouping {self.name!r}"
            raise unknown_name(where, f"group {group!r}", group, self.groups)
        return self.groups.index(group)

    def codes(self, classes: Sequence[str]) -> Ints:
        """Group of each of these classes, which must be the same as the grouping's.

        Examples
        --------
        >>> Grouping.of({"a": "low", "b": "high"}).codes(("b", "a"))
        array([1, 0])
        """
        index = {name: int(code) for name, code in zip(self.classes, self.group, strict=True)}
        without = [name for name in classes if name not in index]
        if without:
            raise InputError(
                "grouping",
                f"no group for {listed(without)}",
                "a group for every class",
                f"add {len(without)} to the mapping; {nearest(without[0], self.classes)}",
            )
        there = set(classes)
        unknown = [name for name in self.classes if name not in there]
        if unknown:
            raise InputError(
                "grouping",
                f"groups for {listed(unknown)}, which are no classes",
                f"only {listed(classes)}",
                f"leave {len(unknown)} out; {nearest(unknown[0], classes)}",
            )
        return np.array([index[name] for name in classes], dtype=np.intp)


def unmentioned(plausibilities: Plausibilities, group: Ints, groups: int) -> Ints:
    """How many classes of each group an item's annotations leave out, (items, groups)."""
    items = len(plausibilities.items)
    named = np.bincount(_cells(plausibilities, group, groups), minlength=items * groups)
    return np.bincount(group, minlength=groups) - named.reshape(items, groups)


def coarsened(plausibilities: Plausibilities, grouping: Grouping) -> Plausibilities:
    """Sum the mass of the classes of each group, draw by draw.

    The groups become the classes, and all of them count as mentioned. Draws stay draws, a law
    becomes the law of the groups, and where the one draw is the mean of the law it stays that.
    What was found about annotators spoke of classes and is not kept. The groups are ordered
    where the grouping says so, and where each group is a run of grades.
    """
    group, groups = grouping.codes(plausibilities.classes), len(grouping.groups)
    if not isinstance(plausibilities.law, Dirichlet | Categorical):
        plausibilities = plausibilities.stored()  # whose groups have no law to draw from
    cell = _cells(plausibilities, group, groups)
    left = unmentioned(plausibilities, group, groups).astype(np.float64)
    even = np.asarray(left / np.maximum(left.sum(axis=1, keepdims=True), 1.0))
    law = _law(plausibilities.law, cell, even)
    if law is None and plausibilities.law is not None and _is_mean(plausibilities):
        raise InputError(
            f"grouping of plausibilities by {plausibilities.method}",
            "their mean alone",
            "draws",
            "make some: .drawn(1000, seed=0)",
        )
    start = np.arange(0, left.size + 1, groups)
    if law is not None and (_is_mean(plausibilities) or plausibilities.on_demand):
        mass = law.mean(start)[0][None]
    else:
        mass = np.empty((plausibilities.draws, left.size))
        for number in range(plausibilities.draws):
            share = _split(plausibilities, left, even, number)
            parts = plausibilities.mass[number], plausibilities.rest[number]
            mass[number] = _summed(cell, share, *parts)
    return replace(
        plausibilities,
        classes=grouping.groups,
        start=start,
        label=np.tile(np.arange(groups), len(plausibilities.items)),
        mass=mass,
        rest=np.zeros((len(mass), len(plausibilities.items))),
        method=f"{plausibilities.method}, {groups} groups",
        law=law,
        rest_shape=None,
        skills=None,
        ordered=grouping.ordered
        or (plausibilities.ordered and bool((np.diff(group) >= 0).all())),
    )


def group_chance(plausibilities: Plausibilities, grouping: Grouping, group: str) -> Floats:
    """Chance that the most plausible class is in a group, by item and draw, (items, draws).

    It is 0 or 1 where a draw has one largest class. Classes that tie share the draw evenly;
    which of the unmentioned classes is which is left to chance.

    Examples
    --------
    >>> values = np.array([[[0.5, 0.3, 0.2]], [[0.4, 0.4, 0.2]]])
    >>> two = Plausibilities.dense(values, items=("case",), classes=("x", "y", "z"),
    ...     method="by hand")
    >>> group_chance(two, Grouping.of({"x": "low", "y": "high", "z": "high"}), "high")
    array([[0. , 0.5]])
    """
    from equipoise.kernels.tops import overlaps

    truth = plausibilities
    inside = grouping.codes(truth.classes) == grouping.code(group)
    size = int(inside.sum())  # the group as the first classes of a model that puts it first
    member = inside[truth.label].astype(np.float64)[None]
    chance = np.empty((len(truth.items), truth.draws))
    overlaps(truth.packed, member, (np.array([1]), np.array([size]), np.ones(1)), chance)
    return np.clip(chance, 0.0, 1.0)


def _summed(cell: Ints, share: Floats, mass: Floats, rest: Floats) -> Floats:
    """Mass per cell (item and group), when the rest is shared so, (items, groups)."""
    named = np.bincount(cell, mass, share.size)
    return named + (rest[:, None] * share).ravel()


def _cells(plausibilities: Plausibilities, group: Ints, groups: int) -> Ints:
    """Number of the item and group of each entry."""
    return plausibilities.entry_items * groups + group[plausibilities.label]


def _split(plausibilities: Plausibilities, left: Floats, even: Floats, number: int) -> Floats:
    """Share of each group in the rest of one draw; `left` counts its classes."""
    shape = plausibilities.rest_shape
    if not shape or not plausibilities.rest[number].any():
        return even
    random = np.random.default_rng([plausibilities.split_seed, number, 2])
    share = random.standard_gamma(shape * left)
    total = share.sum(axis=1, keepdims=True)
    return ratio(share, total, even)


def _law(law: Posterior | None, cell: Ints, even: Floats) -> Posterior | None:
    """The law of the groups."""
    none = np.zeros(len(even))
    if isinstance(law, Dirichlet):
        whole = _summed(cell, even, law.concentration, law.rest)
        prior = None if law.prior is None else _summed(cell, even, law.prior, law.rest)
        return Dirichlet(whole, none, prior)
    if isinstance(law, Categorical):
        return Categorical(_summed(cell, even, law.chance, law.rest), none)
    return None


def _is_mean(plausibilities: Plausibilities) -> bool:
    """Whether the one draw is the mean of the law."""
    if plausibilities.law is None or plausibilities.draws > 1:
        return False
    mass, rest = plausibilities.law.mean(plausibilities.start)
    return bool(
        np.allclose(mass, plausibilities.mass[0]) and np.allclose(rest, plausibilities.rest[0])
    )


@immutable(eq=False)
class GroupValue:
    """Expected number of every item, such as its risk, and how far draws differ.

    Attributes
    ----------
    items
        Names.
    mean, low, high, least, most
        Mean over draws, the quantiles 0.05 and 0.95, and the extremes, each (items,).
    """

    items: Names
    mean: PerItem
    low: PerItem
    high: PerItem
    least: PerItem
    most: PerItem

    @classmethod
    def over(cls, items: Names, table: Floats) -> "GroupValue":
        """Sum up a table (items, draws)."""
        low, high = np.quantile(table, (0.05, 0.95), axis=1)
        summaries = (table.mean(axis=1), low, high, table.min(axis=1), table.max(axis=1))
        return cls(items, *(frozen(summary) for summary in summaries))


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
