"""Where the variance of a difference comes from: items, votes, and the people who vote.

With n items and m independent votes on each,

    variance = (items^2 + votes^2 / m) / n,

where items is the standard deviation of the influence of an item whose votes are without end,
and votes that of the effect of one vote. Both are estimated from the pilot: the variance of the
influence of its items holds items^2 + votes^2 / m already, and the votes of one item against
each other give votes^2 (with m / (m - 1), because they are measured from their own mean). A
panel whose members lean one way adds a part that more items do not lessen,

    panel^2 = A/(A - 1) sum over annotators of (sum of the effects of their votes)^2
              less the same sum with all votes apart.
"""

import math
from dataclasses import dataclass

import numpy as np

from equipoise.arrays import Floats, InputError, PerItem
from equipoise.planning._pilot import Pilot, Progress


@dataclass(frozen=True, slots=True)
class Spread:
    """Standard deviations of one difference.

    Attributes
    ----------
    items, votes
        Of one item, and of one vote, as above; votes is nan when no item has two votes.
    panel
        Standard error that stays with these annotators however many items; 0 when they are
        not known.
    pilot
        Standard error of the pilot's own difference, items and votes together.
    errors
        Variance of the estimate of items^2, of that of votes^2, and their covariance.
    """

    items: float
    votes: float
    panel: float
    pilot: float
    errors: tuple[float, float, float]

    def doubt(self, votes: float) -> float:
        """Standard error of items^2 + votes^2 / m, relative to it, as the pilot is finite."""
        if math.isnan(self.votes):
            return math.sqrt(self.errors[0]) / self.items**2 if self.items else math.nan
        whole = self.items**2 + self.votes**2 / votes
        between, within, both = self.errors
        square = max(between + within / votes**2 + 2 * both / votes, 0.0)
        return math.sqrt(square) / whole if whole else math.nan


def spread(pilot: Pilot, progress: Progress | None = None) -> Spread:
    """Split the variance of the pilot's difference."""
    number = len(pilot.items)
    units = int(pilot.unit.max()) + 1
    if units < 2:
        raise InputError(
            "pilot", "a single group", "at least two groups of items", "leave the group out"
        )
    influence = pilot.influence(progress)
    sums = np.bincount(pilot.unit, influence, units)
    sums = sums - np.bincount(pilot.unit, minlength=units) * influence.mean()
    effect = vote_effects(pilot)
    each, noise = _vote_variances(pilot, effect)
    several = ~np.isnan(each)
    usual = float(each[several].mean()) if several.any() else math.nan
    known = np.where(several, noise, usual if several.any() else 0.0)
    total = sums**2 * units / (units - 1)
    between = total - np.bincount(pilot.unit, known, units)
    within = np.bincount(pilot.unit, np.where(several, each, 0.0), units).astype(np.float64)
    return Spread(
        items=math.sqrt(max(float(between.sum()) / number, 0.0)),
        votes=math.sqrt(usual),
        panel=_panel(pilot, effect),
        pilot=math.sqrt(float(total.sum())) / number,
        errors=_errors(between, within, number),
    )


def _errors(between: Floats, within: Floats, number: int) -> tuple[float, float, float]:
    """Variances and covariance of the means of both over items, from their units."""
    table = np.cov(np.stack([between, within])) * len(between) / number**2
    return float(table[0, 0]), float(table[1, 1]), float(table[0, 1])


def vote_effects(pilot: Pilot) -> Floats:
    """Effect of each vote that was cast, as if its item had no other, shape (votes,)."""
    whole = pilot.distributions()
    split = (whole > 0) & (whole < 1)
    slope = pilot.effects(split)
    item = np.repeat(np.arange(len(pilot.items)), pilot.votes.sizes)
    return np.asarray((pilot.masses() * slope[:, item]).sum(axis=0))


def _vote_variances(pilot: Pilot, effect: Floats) -> tuple[PerItem, PerItem]:
    """Variance of one vote of each item, nan where it has one, and of their mean.

    Both are in units of the influence: the effect of an item times the number of items.
    """
    start, weight = pilot.votes.start[:-1], pilot.votes.weight
    total = np.add.reduceat(weight, start)
    number = total**2 / np.add.reduceat(weight**2, start)
    square = np.add.reduceat(weight * (effect * len(pilot.items)) ** 2, start) / total
    safe = np.where(number > 1 + 1e-9, number, 2.0)
    each = np.where(number > 1 + 1e-9, square * safe / (safe - 1), np.nan)
    each = np.where(pilot.gold, 0.0, each)
    return each, each / number


def _panel(pilot: Pilot, effect: Floats) -> float:
    """Standard error that belongs to the people, beyond that of their single votes."""
    who = pilot.votes.annotator
    people = np.unique(who[who >= 0])
    if len(people) < 2:
        return 0.0
    start = pilot.votes.start[:-1]
    total = np.repeat(np.add.reduceat(pilot.votes.weight, start), pilot.votes.sizes)
    part = np.where(who >= 0, effect * pilot.votes.weight / total, 0.0)
    together = float((np.bincount(who[who >= 0], part[who >= 0]) ** 2).sum())
    apart = float((part**2).sum())
    factor = len(people) / (len(people) - 1)
    return float(np.sqrt(max(together - apart, 0.0) * factor))
