r"""Fleiss' kappa: agreement of any number of interchangeable annotators beyond chance.

.. math:: \kappa = \frac{\bar P - P_e}{1 - P_e}, \quad
    P_u = \frac{\sum_c n_{uc} (n_{uc} - 1)}{m_u (m_u - 1)}, \quad
    P_e = \sum_c \Bigl(\frac{n_c}{n}\Bigr)^2

Items may have different numbers of votes (at least two); they count alike in
:math:`\bar P`. Undefined (nan) when all votes are the same class.

References
----------
Fleiss (1971), *Measuring nominal scale agreement among many raters*.

Examples
--------
>>> votes = Annotations(kind="binary", items=("a", "b", "c"), classes=("no", "yes"),
...     item=np.array([0, 0, 1, 1, 2, 2]), label=np.array([1, 1, 0, 0, 1, 0]))
>>> fleiss_kappa(votes).value
0.333
"""

from typing import Any

import numpy as np

from equipoise.agreement._units import Units, estimated, plan_for, units
from equipoise.annotations import Annotations
from equipoise.arrays import Floats
from equipoise.estimate import Estimate
from equipoise.resampling import Resampling


def fleiss_kappa(
    annotations: Annotations, *, task: str = "", plan: Resampling | None = None
) -> Estimate:
    """Fleiss' kappa with replicates over items."""
    found = units(annotations, task)
    return estimated(found, plan_for(annotations, plan), _compute(found))


def pair_agreement(found: Units) -> Floats:
    """Share of pairs of votes that agree on each unit."""
    votes = found.votes
    square = np.asarray(found.count.multiply(found.count).sum(axis=1)).ravel()
    return np.asarray((square - votes) / (votes * (votes - 1)))


def _compute(found: Units) -> Any:
    agree, across = pair_agreement(found), found.count.T.tocsr()

    def compute(counts: Floats) -> Floats:
        times = counts.astype(np.float64)
        number, total = times.sum(axis=0), across @ times
        share = total / np.maximum(total.sum(axis=0), 1.0)
        chance = (share**2).sum(axis=0)
        defined = (number > 0) & (chance < 1 - 1e-12)
        seen = agree @ times / np.maximum(number, 1.0)
        return np.where(defined, (seen - chance) / np.where(defined, 1 - chance, 1.0), np.nan)

    return compute
