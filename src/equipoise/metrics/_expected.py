r"""Exact expectations of AUROC and AP over independent Bernoulli labels.

:math:`1/(1+M) = \int_0^1 t^M dt` and :math:`E[t^M] = \prod_i (1 - p_i + p_i t)` turn the
expectation of a ratio of counts into a one-dimensional integral of smooth functions, taken by
Gauss-Legendre with 48 nodes; O(items) per node after the sort.
"""

from collections.abc import Callable

import numpy as np

from equipoise.arrays import Floats, PerItem
from equipoise.metrics._metric import Block, Order, Prepared
from equipoise.metrics._ranking import repeat_truth, run_starts, sort_items

NODES = 48


def expected_auroc(scores: PerItem, positive: PerItem) -> float:
    """E[AUROC] given that both classes occur; nan when they cannot."""
    if not len(scores):
        return float("nan")
    rare = positive if positive.mean() < 0.5 else 1 - positive
    possible = _any(rare) - float(np.prod(rare))
    if not possible > 0:
        return float("nan")
    order = sort_items(scores)
    total = 0.0
    for mass in (positive, 1 - positive):
        for t, step in _nodes(float(mass.sum())):
            factor = 1 - mass + mass * t
            scale = _product(factor)
            if scale > 0:
                total += (
                    step * scale * _pairs(order, positive / factor, (1 - positive) / factor)
                )
    return float(total / len(scores) / possible)


def expected_average_precision(scores: PerItem, positive: PerItem) -> float:
    """E[AP] given that a positive occurs, ties in blocks; nan when none can."""
    possible = _any(positive)
    if not possible > 0:
        return float("nan")
    order = sort_items(scores)
    start = run_starts(order)
    p = positive[order.items]
    seen = np.append(start[1:], len(p)).astype(np.float64)
    total = 0.0
    for t, step in _nodes(float(p.sum())):
        factor = 1 - p + p * t
        scale = _product(factor)
        if scale > 0:
            r = p / factor
            run, square = np.add.reduceat(r, start), np.add.reduceat(r * r, start)
            total += step * scale * ((run + t * (run * np.cumsum(run) - square)) / seen).sum()
    return float(total / possible)


def expected_reduce(prepared: Prepared, block: Block) -> Floats:
    """Mass and expected AUROC of every class in every replicate, (classes, 2, replicates)."""
    return _each_replicate(prepared, block, expected_auroc)


def expected_precision_reduce(prepared: Prepared, block: Block) -> Floats:
    """Mass and expected AP of every class in every replicate, (classes, 2, replicates)."""
    return _each_replicate(prepared, block, expected_average_precision)


def _each_replicate(
    prepared: Prepared, block: Block, function: Callable[[PerItem, PerItem], float]
) -> Floats:
    """Expand each replicate and take its expectation: slow, exact, for small data."""
    width = block.counts.shape[1]
    out = np.empty((len(prepared), 2, width))
    for k, (order, truth) in enumerate(zip(prepared, block.classes, strict=True)):
        positive = repeat_truth(truth.positive, width)
        place = np.empty(len(order.items))
        place[order.items] = -np.cumsum(np.append(0, order.last[:-1] > 0))
        for r in range(width):
            times = block.counts[:, r]
            p = np.repeat(positive[:, r], times)
            out[k, 0, r] = p.sum()
            out[k, 1, r] = function(np.repeat(place, times), p) if len(p) else np.nan
    return out


def _nodes(mass: float) -> list[tuple[float, float]]:
    """Nodes and weights on (0, 1), crowded near 1 where the integrand lives."""
    x, w = np.polynomial.legendre.leggauss(NODES)
    length = min(1.0, 60.0 / max(mass, 1e-9))
    return [(1 - 0.5 * (a + 1) * length, 0.5 * length * b) for a, b in zip(x, w, strict=True)]


def _any(chance: Floats) -> float:
    """Chance that at least one of independent events happens, exact for tiny chances."""
    with np.errstate(divide="ignore"):
        return float(-np.expm1(np.log1p(-chance).sum()))


def _product(factors: Floats) -> float:
    """Product without underflow on the way; 0 when a factor is 0."""
    return float(np.exp(np.log(factors).sum())) if (factors > 0).all() else 0.0


def _pairs(order: Order, upper: Floats, lower: Floats) -> float:
    """Sum over i != j of u_i v_j k_ij."""
    start = run_starts(order)
    u, v = upper[order.items], lower[order.items]
    run, fall = np.add.reduceat(u, start), np.add.reduceat(v, start)
    above = np.cumsum(run)
    return float((fall * (above - run / 2)).sum() - (u * v).sum() / 2)
