r"""Fleiss' kappa and percent agreement: how often two votes on an item are the same.

Fleiss' kappa is the agreement of any number of interchangeable annotators beyond chance:

.. math:: \kappa = \frac{\bar P - P_e}{1 - P_e}, \quad
    P_u = \frac{\sum_c n_{uc} (n_{uc} - 1)}{m_u (m_u - 1)}, \quad
    P_e = \sum_c \Bigl(\frac{n_c}{n}\Bigr)^2

Items may have different numbers of votes (at least two); they count alike in
:math:`\bar P`, while every vote counts alike in :math:`P_e`. With equal numbers m the
smallest value is -1/(m - 1); with very unequal ones there is none, and alpha is the better
choice. Undefined (nan) when all votes are the same class.

Percent agreement is :math:`\bar P` itself, the probability that two annotators of an item say
the same. It is not corrected for chance: with 95 % of one class, two people who guess agree
nine times in ten.

References
----------
Fleiss (1971), *Measuring nominal scale agreement among many raters*.

Examples
--------
>>> votes = Annotations(kind="binary", items=("a", "b", "c"), classes=("no", "yes"),
...     item=np.array([0, 0, 1, 1, 2, 2]), label=np.array([1, 1, 0, 0, 1, 0]))
>>> fleiss_kappa(votes).value, percent_agreement(votes).value
(0.333, 0.667)
"""

import numpy as np

from equipoise.inference.estimate import Estimate
from equipoise.inference.resampling import Resampling
from equipoise.truth.agreement._votes import (
    Units,
    estimated,
    mean_over_items,
    plan_for,
    summed,
    units,
)
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Floats


def fleiss_kappa(
    annotations: Annotations, *, task: str = "", plan: Resampling | None = None
) -> Estimate:
    """Fleiss' kappa with replicates over items."""
    found, drawn = units(annotations, task), plan_for(annotations, plan)
    least = -1.0 if len(np.unique(found.votes)) < 2 else -np.inf
    agree, across = summed(_pair_agreement(found)), found.count.T.tocsr()

    def compute(counts: Floats) -> Floats:
        number, total = counts.sum(axis=0), across @ counts
        share = total / np.maximum(total.sum(axis=0), 1.0)
        chance = (share**2).sum(axis=0)
        defined = (number > 0) & (chance < 1 - 1e-12)
        seen = agree(counts)[0] / np.maximum(number, 1.0)
        return np.where(defined, (seen - chance) / np.where(defined, 1 - chance, 1.0), np.nan)

    return estimated(found.item, drawn, compute, low=least, width=len(found.value))


def percent_agreement(
    annotations: Annotations, *, task: str = "", plan: Resampling | None = None
) -> Estimate:
    """Mean share of agreeing pairs of votes per item, with replicates over items."""
    found = units(annotations, task)
    return mean_over_items(found.item, plan_for(annotations, plan), _pair_agreement(found))


def _pair_agreement(found: Units) -> Floats:
    """Share of pairs of votes that agree on each unit."""
    votes = found.votes
    square = np.asarray(found.count.multiply(found.count).sum(axis=1)).ravel()
    return np.asarray((square - votes) / (votes * (votes - 1)))
