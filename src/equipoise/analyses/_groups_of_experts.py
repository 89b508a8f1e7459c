"""Groups of experts: for each held-out expert, which of the others speak together.

All groups of a size are taken when, over all held-out experts, there are at most `EVERY`;
otherwise the same number of different groups is drawn for each held-out expert, and replicates
draw among those again, so that intervals allow for which groups were drawn.
"""

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from equipoise.arrays import Bools, Floats, Ints
from equipoise.resampling import Resampling

EVERY = 640  # groups of a size, over all held-out experts, up to which all are taken
DRAWN = 240  # groups of a size that are drawn where there are more
MOST_SIZES = 10


class Groups(NamedTuple):
    """Groups of all sizes for one held-out expert.

    Attributes
    ----------
    members
        Who belongs to which group, shape (experts, groups).
    size
        Which size each group has, as a position among the sizes, shape (groups,).
    weight
        How often each group counts as it is and in each replicate, (groups, 1 + replicates).
    """

    members: Bools
    size: Ints
    weight: Floats


def group_sizes(experts: int) -> Ints:
    """Sizes of groups of experts, from one to all but the held-out one.

    Examples
    --------
    >>> group_sizes(5), group_sizes(40)
    (array([1, 2, 3, 4]), array([ 1,  2,  3,  5,  8, 12, 17, 26, 39]))
    """
    if experts - 1 <= MOST_SIZES:
        return np.arange(1, experts)
    return np.unique(np.geomspace(1, experts - 1, MOST_SIZES).round().astype(np.int64))


def drawn_sizes(experts: int) -> list[int]:
    """Sizes for which groups are drawn, because there are too many to take all.

    Examples
    --------
    >>> drawn_sizes(9), drawn_sizes(10)
    ([], [3, 4, 5, 6])
    """
    return [int(k) for k in group_sizes(experts) if experts * comb(experts - 1, k) > EVERY]


def groups_against(held_out: int, experts: int, plan: Resampling) -> Groups:
    """All groups, or different groups drawn at random, of the experts beside one."""
    others = np.delete(np.arange(experts), held_out)
    few = drawn_sizes(experts)
    members, size, weight = [], [], []
    for place, k in enumerate(group_sizes(experts)):
        random = np.random.default_rng(int(plan.key(f"groups of experts/{held_out}/{k}")))
        if int(k) in few:
            chosen = _different(others, int(k), max(2, DRAWN // experts), random)
            times = random.multinomial(
                len(chosen), np.full(len(chosen), 1 / len(chosen)), plan.replicates
            ).T
        else:
            chosen = list(combinations(others.tolist(), int(k)))
            times = np.ones((len(chosen), plan.replicates), dtype=np.int64)
        one = np.zeros((experts, len(chosen)), dtype=bool)
        np.put_along_axis(one, np.array(chosen).T, values=1, axis=0)
        members.append(one)
        size.append(np.full(len(chosen), place))
        weight.append(np.concatenate([np.ones((len(chosen), 1)), times], axis=1))
    return Groups(*(np.concatenate(parts, axis) for parts, axis in
                    ((members, 1), (size, 0), (weight, 0))))  # fmt: skip


def _different(
    others: Ints, size: int, number: int, random: np.random.Generator
) -> list[tuple[int, ...]]:
    """Different groups, each equally likely; all of them where there are no more."""
    found: dict[tuple[int, ...], None] = {}
    while len(found) < min(number, comb(len(others), size)):
        found[tuple(sorted(random.permutation(others)[:size].tolist()))] = None
    return list(found)
