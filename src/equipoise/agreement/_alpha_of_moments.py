r"""Interval alpha from number, mean and squares of each item's ratings.

With :math:`S_u` the squares around the mean :math:`\bar y_u` of item u's :math:`m_u` ratings,
pairs of ratings of one item differ by :math:`2 m_u S_u` in squares altogether, and all pairs by
:math:`2 n \sum_u (S_u + m_u (\bar y_u - \bar y)^2)`: nothing cancels, whatever the size of the
ratings.
"""

import numpy as np

from equipoise.agreement._units import Compute, summed
from equipoise.arrays import Floats

EXACT = 64 * np.finfo(float).eps  # ratings that differ by less, relative to them, are equal


def of_moments(number: Floats, mean: Floats, squares: Floats) -> Compute:
    """Return the function from counts of items to alpha.

    Parameters
    ----------
    number, mean, squares
        Ratings of items that have at least two, shape (items,).
    """
    apart = 2 * number * squares / (number - 1)
    lean = mean - (number @ mean) / number.sum()
    sums = summed(number, number * lean, squares + number * lean**2, apart)
    least = (EXACT * np.abs(mean).max()) ** 2

    def compute(counts: Floats) -> Floats:
        total, shift, whole, observed = sums(counts)
        spread = whole - shift**2 / np.maximum(total, 1.0)
        defined = spread > np.maximum(1e-12 * whole, least * total)
        safe = np.where(defined, 2 * total * spread, 1.0)
        return np.where(defined, 1 - (total - 1) * observed / safe, np.nan)

    return compute
