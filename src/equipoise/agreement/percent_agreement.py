r"""Percent agreement: the chance that two annotators of an item say the same.

.. math:: \bar P = \frac1U \sum_u \frac{\sum_c n_{uc} (n_{uc} - 1)}{m_u (m_u - 1)}

Not corrected for chance: with 95 % of one class, two people who guess agree nine times in ten.

Examples
--------
>>> votes = Annotations(kind="binary", items=("a", "b", "c"), classes=("no", "yes"),
...     item=np.array([0, 0, 1, 1, 2, 2]), label=np.array([1, 1, 0, 0, 1, 0]))
>>> percent_agreement(votes).value
0.667
"""

import numpy as np

from equipoise.agreement._units import estimated, plan_for, summed, units
from equipoise.agreement.fleiss_kappa import pair_agreement
from equipoise.annotations import Annotations
from equipoise.arrays import Floats
from equipoise.estimate import Estimate
from equipoise.resampling import Resampling


def percent_agreement(
    annotations: Annotations, *, task: str = "", plan: Resampling | None = None
) -> Estimate:
    """Mean share of agreeing pairs of votes per item, with replicates over items."""
    found = units(annotations, task)
    agree = summed(pair_agreement(found))

    def compute(counts: Floats) -> Floats:
        number = counts.sum(axis=0)
        return np.where(number > 0, agree(counts)[0] / np.maximum(number, 1.0), np.nan)

    return estimated(found.item, plan_for(annotations, plan), compute, low=0.0)
