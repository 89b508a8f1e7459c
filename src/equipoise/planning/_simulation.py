"""Studies simulated from the pilot: how often does a design resolve the difference?

Each study draws n items (or whole groups) of the pilot with replacement, and for each m of the
item's own votes without replacement, so that they have the spread of m real votes; more votes
than the pilot has cannot be simulated so, because votes drawn twice are not new votes. The
interval is the difference plus or minus t standard errors, the latter by leaving out 50 random
parts of the items in turn. A study resolves the difference when the interval lies above 0.
"""

import math

import numpy as np

from equipoise.arrays import Floats, Ints
from equipoise.planning._pilot import Pilot, differences, prepare

PARTS = 50
ENOUGH = 0.9  # share of items that must have as many votes; the others give all they have


def can_simulate(pilot: Pilot, votes: int) -> bool:
    """Whether nearly all items of the pilot have so many votes, or a known truth."""
    return bool(((pilot.votes.sizes >= votes) | pilot.gold).mean() >= ENOUGH)


def simulated_power(
    pilot: Pilot, design: tuple[int, int], shift: float, level: float, random: tuple[int, int]
) -> tuple[float, float]:
    """Share of studies that resolve the difference, and the Monte Carlo error of that share.

    Parameters
    ----------
    design
        Numbers of items and of votes per item.
    shift
        What is added to the difference of every study: 0 for the pilot's own.
    random
        Number of studies, and the seed.
    """
    studies, seed = random
    generator = np.random.default_rng([seed, *design])
    found = [_study(pilot, design, level, generator) for _ in range(studies)]
    share = float(np.mean([gap + shift > half for gap, half in found]))
    spread = max(share * (1 - share), 1 / (4 * studies)) / studies
    return share, math.sqrt(spread)


def _study(
    pilot: Pilot, design: tuple[int, int], level: float, random: np.random.Generator
) -> tuple[float, float]:
    """Difference and half width of its interval in one simulated study."""
    from scipy.special import stdtrit

    rows, part, parts = _drawn_items(pilot, design[0], random)
    shares = _drawn_shares(pilot, rows, design[1], random)
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
