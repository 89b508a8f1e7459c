r"""How likely an order is wrong for want of votes, now and after a batch of new ones.

Among all possible voters the difference D of two models is normal with mean :math:`\tilde d`
and variance V, by the law of `equipoise.planning.next_items`. The order is read from mean
votes: now from the difference d of the pilot, after the votes from S, which is normal around
:math:`\mu = d + \sum_i s_i` with variance :math:`\sum_i r_i^2 g_i` and the covariance
:math:`\sum_i r_i g_i` with D. The order is wrong where the two have different signs:

.. math:: \Phi(-\tilde d / \sqrt V) \text{ now}, \quad
    2 T(h, a_h) + 2 T(k, a_k) + [hk < 0] \text{ then},

with :math:`h = \mu / \sigma_S`, :math:`k = \tilde d / \sqrt V`, their correlation :math:`\rho`,
:math:`a_h = (k/h - \rho)/\sqrt{1 - \rho^2}`, :math:`a_k` likewise, and Owen's function T.
"""

from typing import NamedTuple

import numpy as np

from equipoise.arrays import Floats

TINY = 1e-300  # in place of a mean of exactly 0, whose side does not matter


class Outlook(NamedTuple):
    """Differences of pairs of models, each of shape (pairs,).

    Attributes
    ----------
    found
        By mean votes in the pilot, of the model that is ahead there; 0 for level ones.
    expected, variance
        Mean and variance among all possible voters, given the votes.
    seen, moved, shared
        By mean votes after the new votes: mean, variance, and covariance with the former.
    """

    found: Floats
    expected: Floats
    variance: Floats
    seen: Floats
    moved: Floats
    shared: Floats

    def standardised(self) -> Floats:
        """Expected differences in standard errors; infinite, or 0, without any."""
        sure = np.where(self.expected == 0, 0.0, np.copysign(np.inf, self.expected))
        error = np.sqrt(self.variance)
        return np.divide(self.expected, error, out=sure, where=error > 0)

    def wrong_now(self) -> Floats:
        """Chance that the order of the pilot is wrong; one half for level models."""
        from scipy.special import ndtr

        return np.where(self.found == 0, 0.5, ndtr(-self.standardised()))

    def wrong_then(self) -> Floats:
        """Chance that the order by mean votes is wrong after the new votes."""
        known = (self.variance > 0) & (self.moved > 0)
        spread = np.sqrt(np.where(known, self.variance, 1.0))
        reach = np.sqrt(np.where(known, self.moved, 1.0))
        both = np.where(known, self.shared, 0.0) / (spread * reach)
        then = unlike(self.seen / reach, self.expected / spread, both)
        return np.where(known, then, self.wrong_now())


def unlike(first: Floats, second: Floats, correlation: Floats) -> Floats:
    """Chance that two normal numbers of variance 1 with these means differ in sign.

    Examples
    --------
    >>> unlike(np.array([0.0, 5.0]), np.array([0.0, 0.0]), np.array([0.5, 0.0]))
    array([0.333, 0.5  ])
    """
    from scipy.special import owens_t

    h, k = (np.where(one == 0, TINY, one) for one in (first, second))
    rest = np.sqrt(np.maximum(1 - correlation**2, TINY))
    with np.errstate(over="ignore"):
        tails = owens_t(h, (k / h - correlation) / rest) + owens_t(
            k, (h / k - correlation) / rest
        )
    return np.asarray(np.clip(2 * tails + (np.sign(h) != np.sign(k)), 0.0, 1.0))
