r"""Shuffled labels: how far two groups of items come apart when chance alone divides them.

If a group is like the items it is compared with, any of them might as well have been in it.
Dividing them anew, again and again, into groups of the same size gives the differences d* that
chance makes, and the p-value of a difference d is that of Student's law

.. math:: t = d / \sqrt{\operatorname{mean}(d^{*2})}

with two degrees of freedom less than there are items, or the share of d* as large as d where
that is more. All items tell how large the d* are, so that a group of ten is not judged by its
own ten alone: a bootstrap of such a group is too narrow, and without any spread where all ten
are the same. The share alone would not do because an adjustment for many comparisons needs
smaller chances than any number of shuffles could count.

Items that belong together (those of one patient) stay together: patients are shuffled, and
counted. Where an attribute differs within a patient that is impossible; then d* is the spread
of the paired bootstrap of patients, times n / (n - 1) for the smaller number n of patients on
the two sides, with n - 1 degrees of freedom.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.arrays import Bools, Floats, Ints
from equipoise.resampling import Resampling

SAME = 1e-12  # differences and spreads below are those of rounding
MOST = 500  # shuffles
KNOWN = 0.95  # share of the shuffles that must have a value


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Shuffles(Resampling):
    """A plan whose replicates are shuffled groups: `members` is (items, replicates)."""

    members: NDArray[np.uint8]

    def item_counts(self, first: int, stop: int) -> NDArray[np.uint8]:
        """Which items are in the group in replicates first..stop."""
        return self.members[:, first:stop]


class Sides(NamedTuple):
    """A group, the items it is compared with, and what is drawn as a whole on both sides.

    `units` are codes of the items' patients, or of the items themselves.
    """

    group: Bools
    other: Bools
    units: Ints

    @property
    def numbers(self) -> tuple[int, int]:
        """How many units each side has."""
        one, two = (len(np.unique(self.units[side])) for side in (self.group, self.other))
        return one, two

    @property
    def mixed(self) -> bool:
        """Whether a unit has items on both sides."""
        one, two = (np.unique(self.units[side]) for side in (self.group, self.other))
        return bool(np.intersect1d(one, two).size)


def sides(group: Bools, other: Bools, plan: Resampling) -> Sides:
    """Put two groups side by side, always in the same order, so that both see one test."""
    units = np.arange(len(group)) if plan.group is None else np.asarray(plan.group)
    one, two = sorted((group, other), key=lambda side: side.tobytes())
    return Sides(one, two, units)


def shuffles(both: Sides, plan: Resampling) -> tuple[Shuffles, Shuffles]:
    """Plans of both sides as chance would divide them."""
    here, own = np.unique(both.units[both.group | both.other], return_inverse=True)
    number, times = both.numbers[0], min(plan.replicates, MOST)
    random = np.random.default_rng(int(plan.key("shuffled labels")))
    chosen = np.zeros((len(here), times), dtype=np.uint8)
    for k in range(times):
        chosen[random.permutation(len(here))[:number], k] = 1
    pair = []
    for part in (chosen, 1 - chosen):
        members = np.zeros((len(both.units), times), dtype=np.uint8)
        members[both.group | both.other] = part[own]
        pair.append(
            Shuffles(
                kind="items", items=plan.items, replicates=times, seed=plan.seed,
                members=members,
            )
        )  # fmt: skip
    return pair[0], pair[1]


def chance(difference: float, by_chance: Floats, degrees: float) -> float:
    """Two-sided p-value of a difference by Student's law; nan where too little is known.

    Parameters
    ----------
    by_chance
        Differences that chance makes.
    degrees
        Degrees of freedom.

    Examples
    --------
    >>> chance(2.0, np.array([1.0, -1.0]), 30)
    0.054...
    """
    from scipy.special import stdtr

    known = by_chance[np.isfinite(by_chance)]
    if not np.isfinite(difference) or len(known) < len(by_chance) * KNOWN or degrees < 1:
        return float("nan")
    if abs(difference) < SAME:
        return 1.0
    spread = float(np.sqrt(np.mean(known**2)))
    if spread < SAME:
        return float("nan")
    beyond = float(np.mean(np.abs(known) > abs(difference) - SAME))
    return max(float(2 * stdtr(degrees, -abs(difference) / spread)), beyond)


def bootstrap_by_chance(gaps: Floats, both: Sides) -> tuple[Floats, float]:
    """Differences of resamples around the difference itself, widened, and their freedom.

    Parameters
    ----------
    gaps
        The difference, then its resamples, (..., 1 + replicates).
    """
    least = min(both.numbers)
    wider = np.sqrt(least / max(least - 1, 1))
    return np.asarray((gaps[..., 1:] - gaps[..., :1]) * wider), least - 1
