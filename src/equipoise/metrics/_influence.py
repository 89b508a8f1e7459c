r"""Influence functions: instant standard errors, paired between models ("soft DeLong").

The derivative g_i of a metric by the weight of item i, at weight one. Then
Var = sum g_i^2 and the covariance of two models is sum g_i g'_i; on hard labels AUROC's is
DeLong's up to n/(n-1) factors within each class. For AUROC in the form ``pairs``

.. math:: g_i = \frac{p_i A_i + q_i B_i - \theta\,(p_i (V - q_i) + q_i (U - p_i))}{UV - D},
    \quad A_i = \sum_{j \ne i} q_j k_{ij}, \quad B_i = \sum_{j \ne i} p_j k_{ji}

and for average precision (conditional, ties in blocks) the derivative of
:math:`\frac1U \sum_b (r_b R_b + d_b)/N_b` by the count of an item, centred because the number
of items in a resample is fixed.
"""

import numpy as np

from equipoise.arrays import Floats, Ints, PerItem
from equipoise.metrics._metric import Order
from equipoise.metrics._ranking import run_starts


def auroc_influence(order: Order, positive: PerItem) -> tuple[float, PerItem]:
    """Value and influence of AUROC, form ``pairs``, shape (items,).

    Examples
    --------
    >>> from equipoise.metrics._ranking import sort_items
    >>> value, g = auroc_influence(sort_items(np.array([3.0, 2.0, 1.0])), np.array([1, 0.5, 0]))
    >>> value
    1.0
    """
    start = run_starts(order)
    p = positive[order.items]
    q = 1 - p
    up, down = np.add.reduceat(p, start), np.add.reduceat(q, start)
    above, below = np.cumsum(up), np.cumsum(down)
    total_up, total_down = above[-1], below[-1]
    wins = _spread(total_down - below + down / 2, start, len(p)) - q / 2
    losses = _spread(above - up / 2, start, len(p)) - p / 2
    pairs = total_up * total_down - (p * q).sum()
    if not pairs > 1e-12 * total_up * total_down:
        return float("nan"), np.full(len(p), np.nan)
    value = float((p * wins).sum() / pairs)
    slope = p * wins + q * losses - value * (p * (total_down - q) + q * (total_up - p))
    influence = np.empty(len(p))
    influence[order.items] = slope / pairs
    return value, influence


def average_precision_influence(order: Order, positive: PerItem) -> tuple[float, PerItem]:
    """Value and influence of average precision, conditional with ties in blocks."""
    start = run_starts(order)
    p = positive[order.items]
    mass, own = np.add.reduceat(p, start), np.add.reduceat(p * (1 - p), start)
    size = np.diff(np.append(start, len(p)))
    above, seen = np.cumsum(mass), np.cumsum(size)
    total = above[-1]
    if total <= 0:
        return float("nan"), np.full(len(p), np.nan)
    term = (mass * above + own) / seen
    value = float(term.sum() / total)
    later_mass = _from_here(mass / seen)
    later_term = _from_here(term / seen)
    slope = (
        p * _spread(above / seen + later_mass, start, len(p))
        + p * (1 - p) * _spread(1 / seen, start, len(p))
        - _spread(later_term, start, len(p))
        - value * p
    ) / total
    influence = np.empty(len(p))
    influence[order.items] = slope - slope.mean()
    return value, influence


def _spread(per_run: Floats, start: Ints, items: int) -> Floats:
    """Give every item of a run the run's value."""
    return np.repeat(per_run, np.diff(np.append(start, items)))


def _from_here(values: Floats) -> Floats:
    """Sum of this and all later runs."""
    return np.cumsum(values[::-1])[::-1]
