"""Whether a difference depends on how many votes each item has.

A metric that scores every vote and averages has the same expectation whether an item has one
vote or many. A distance to the label distribution itself has not: few votes make labels look
surer than they are. So every item is left a single vote, drawn from its own, some times over,
and the mean of the differences is compared with that of all votes.
"""

import math

import numpy as np

from equipoise.planning._pilot import Pilot

DRAWS = 32
SURE = 4.5  # standard errors
MATTERS = 0.05  # of the difference


def with_single_votes(two: Pilot, seed: int = 0) -> float | None:
    """Difference with a single vote on each item, nan if undefined; None if it is the same."""
    whole = two.distributions()
    if (whole.max(axis=0) >= 1).all():
        return None
    random, bounds = np.random.default_rng(seed), np.cumsum(whole, axis=0)
    found = []
    for _ in range(DRAWS):
        chosen = (random.random(len(two.items)) * bounds[-1] >= bounds[:-1]).sum(axis=0)
        single = (np.arange(len(whole))[:, None] == chosen).astype(np.float64)
        found.append(two.with_labels(single).difference)
    mean, error = float(np.mean(found)), float(np.std(found)) / math.sqrt(DRAWS)
    moved = abs(mean - two.difference)
    same = moved <= max(SURE * error, MATTERS * abs(two.difference))
    return None if same else mean
