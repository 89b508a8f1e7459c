r"""What all possible voters would say of each item, given the votes of the pilot.

The shares of an item follow a Dirichlet law: its m votes, and s imagined votes beforehand that
are shared out over the classes as the soft labels of all items are on average, :math:`\pi`. So
neither their number nor their direction depends on how many classes there are. Two votes on one
item then differ with a chance of :math:`s/(s + 1)` times that of two votes on two items, which
gives s from the votes of the pilot:

.. math:: \frac{s}{s + 1} = \frac{\sum_i D_i + \frac23 D}{(n + 1) D}, \quad
    D_i = \frac{m}{m - 1} \Bigl(1 - \sum_k p_{ik}^2\Bigr), \quad D = 1 - \sum_k \pi_k^2,

over the n items with several votes, and one imagined item more at s = 2, which is what remains
when no item has two. Without that item s is (1 - alpha)/alpha for Krippendorff's alpha. Items
of known truth are certain, and tell nothing about votes.
"""

from typing import NamedTuple

import numpy as np

from equipoise.arrays import Floats, PerItem
from equipoise.planning._pilot import Pilot

USUAL = 2 / 3  # s/(s + 1) of the imagined item
MOST = 0.95  # of s/(s + 1), where votes on one item differ as much as any


class Law(NamedTuple):
    """Dirichlet laws of the items.

    Attributes
    ----------
    mean
        Expected shares, shape (classes, items).
    worth
        How many equal votes the votes of each item are worth, shape (items,).
    imagined
        How many votes are imagined besides.
    """

    mean: Floats
    worth: PerItem
    imagined: float


def law_of(two: Pilot) -> Law:
    """Fit the laws to the votes of a pilot."""
    whole, worth = two.distributions(), _worth(two)
    voted = whole[:, ~two.gold]
    usual = (voted.sum(axis=1) + 1 / len(whole)) / (voted.shape[1] + 1)
    imagined = _imagined(voted, worth[~two.gold], usual)
    mean = (whole * worth + imagined * usual[:, None]) / (worth + imagined)
    return Law(np.where(two.gold, whole, mean), worth, imagined)


def _imagined(labels: Floats, worth: PerItem, usual: Floats) -> float:
    """How many votes to imagine, from how often votes on one item differ."""
    several = worth > 1 + 1e-9
    number = worth[several]
    apart = (1 - (labels[:, several] ** 2).sum(axis=0)) * number / (number - 1)
    chance = 1 - float((usual**2).sum())
    share = (float(apart.sum()) / chance + USUAL) / (len(number) + 1)
    share = min(share, MOST)
    return share / (1 - share)


def _worth(two: Pilot) -> PerItem:
    """How many equal votes the weighted votes of each item are worth."""
    start, weight = two.votes.start[:-1], two.votes.weight
    total = np.add.reduceat(weight, start)
    return np.asarray(total**2 / np.add.reduceat(weight**2, start))
