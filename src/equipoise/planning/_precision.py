"""How precise a study would be: by items, votes and people, and by simulated studies.

With n items and m independent votes on each,

    variance = (items^2 + votes^2 / m) / n,

where items is the standard deviation of the influence of an item whose votes are without end,
and votes that of the effect of one vote. Both are estimated from the pilot: the variance of the
influence of its items holds items^2 + votes^2 / m already, and the votes of one item against
each other give votes^2 (with m / (m - 1), because they are measured from their own mean). A
panel whose members lean one way adds a part that more items do not lessen,

    panel^2 = A/(A - 1) sum over annotators of (sum of the effects of their votes)^2
              less the same sum with all votes apart.

A simulated study draws n items (or whole groups) of the pilot with replacement, and for each m
of the item's own votes without replacement, so that they have the spread of m real votes; more
votes than the pilot has cannot be simulated so, because votes drawn twice are not new. The
interval is the difference plus or minus t standard errors, the latter by leaving out 50 random
parts of the items in turn. A study resolves the difference when the interval lies above 0.
"""

import math
from dataclasses import dataclass

import numpy as np

from equipoise.arrays import Floats, InputError, Ints, PerItem
from equipoise.planning._pilot import Pilot, Progress, differences, prepare
from equipoise.planning.target import PowerTarget

PARTS = 50
ENOUGH = 0.9  # share of items that must have as many votes; the others give all they have


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

    def relative_error(self, votes: float) -> float:
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
    whole = pilot.distributions()
    slope = pilot.effects((whole > 0) & (whole < 1))
    item = np.repeat(np.arange(number), pilot.votes.sizes)
    effect = np.asarray((pilot.masses() * slope[:, item]).sum(axis=0))  # of each vote alone
    each, noise = _vote_variances(pilot, effect)
    several = ~np.isnan(each)
    usual = float(each[several].mean()) if several.any() else math.nan
    known = np.where(several, noise, usual if several.any() else 0.0)
    total = sums**2 * units / (units - 1)
    between = total - np.bincount(pilot.unit, known, units)
    within = np.bincount(pilot.unit, np.where(several, each, 0.0), units).astype(np.float64)
    # variances and covariance of the means of both over items, from their units
    errors = np.cov(np.stack([between, within])) * units / number**2
    return Spread(
        items=math.sqrt(max(float(between.sum()) / number, 0.0)),
        votes=math.sqrt(usual),
        panel=_panel(pilot, effect),
        pilot=math.sqrt(float(total.sum())) / number,
        errors=(float(errors[0, 0]), float(errors[1, 1]), float(errors[0, 1])),
    )


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


def can_simulate(pilot: Pilot, votes: int) -> bool:
    """Whether nearly all items of the pilot have so many votes, or a known truth."""
    return bool(((pilot.votes.sizes >= votes) | pilot.gold).mean() >= ENOUGH)


def simulated_power(
    pilot: Pilot, items: int, votes: int, target: PowerTarget, *, shift: float
) -> tuple[float, float]:
    """Share of studies that resolve the difference, and the Monte Carlo error of that share.

    Parameters
    ----------
    items, votes
        The design: items, and votes per item.
    target
        Level of the intervals, how many studies are simulated, and the seed.
    shift
        What is added to the difference of every study: 0 for the pilot's own.
    """
    studies = target.simulations
    random = np.random.default_rng([target.seed, items, votes])
    found = [_study(pilot, items, votes, target.level, random) for _ in range(studies)]
    share = float(np.mean([gap + shift > half for gap, half in found]))
    spread = max(share * (1 - share), 1 / (4 * studies)) / studies
    return share, math.sqrt(spread)


def _study(
    pilot: Pilot, items: int, votes: int, level: float, random: np.random.Generator
) -> tuple[float, float]:
    """Difference and half width of its interval in one simulated study."""
    from scipy.special import stdtrit

    rows, part, parts = _drawn_items(pilot, items, random)
    shares = _drawn_shares(pilot, rows, votes, random)
    counts = np.ones((len(rows), parts + 1), dtype=np.uint8)
    counts[np.arange(len(rows)), part + 1] = 0
    prepared = prepare(pilot.metric, [one[rows] for one in pilot.scores])
    found = differences(pilot.metric, prepared, shares, counts)
    without = found[1:]
    error = math.sqrt((parts - 1) / parts * float(((without - without.mean()) ** 2).sum()))
    return float(found[0]), float(stdtrit(parts - 1, 0.5 + level / 2)) * error


def _drawn_items(
    pilot: Pilot, items: int, random: np.random.Generator
) -> tuple[Ints, Ints, int]:
    """Rows of the pilot, the part each is left out with, and the number of parts."""
    units = int(pilot.unit.max()) + 1
    number = max(2, round(items * units / len(pilot.items)))
    chosen = random.integers(0, units, number)
    parts = min(PARTS, number)
    part = np.arange(number) % parts
    if units == len(pilot.items):
        return np.argsort(pilot.unit, kind="stable")[chosen], part, parts
    order = np.argsort(pilot.unit, kind="stable")
    size = np.bincount(pilot.unit)
    start = np.cumsum(size) - size
    rows = np.concatenate([order[start[u] : start[u] + size[u]] for u in chosen])
    return rows, np.repeat(part, size[chosen]), parts


def _drawn_shares(
    pilot: Pilot, rows: Ints, number: int, random: np.random.Generator
) -> list[Floats]:
    """Soft labels of the scored classes with so many votes on each row."""
    sizes = pilot.votes.sizes[rows]
    picks = _picks(sizes, number, random) + pilot.votes.start[rows][:, None]
    weight = pilot.votes.weight[picks] * (np.arange(number) < sizes[:, None])
    masses = pilot.masses()
    total = weight.sum(axis=1)
    scored = masses[1:] if len(pilot.shares) == 1 else masses
    return [(weight * mass[picks]).sum(axis=1) / total for mass in scored]


def _picks(sizes: Ints, number: int, random: np.random.Generator) -> Ints:
    """Which of its own votes each row gets, shape (rows, number), 0 beyond the last."""
    rows = np.arange(len(sizes))
    deck = np.tile(np.arange(max(int(sizes.max()), number)), (len(sizes), 1))
    for column in range(number):
        spot = random.integers(column, np.maximum(sizes, column + 1))
        taken = deck[rows, spot]
        deck[rows, spot] = deck[:, column]
        deck[:, column] = taken
    return np.where(np.arange(number) < sizes[:, None], deck[:, :number], 0)
