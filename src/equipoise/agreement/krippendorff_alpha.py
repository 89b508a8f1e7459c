r"""Krippendorff's alpha: observed disagreement against what chance would make.

.. math:: \alpha = 1 - (n - 1)\,
    \frac{\sum_u \frac{1}{m_u - 1} \sum_{c, k} n_{uc}\, n_{uk}\, \delta^2_{ck}}
         {\sum_{c, k} n_c\, n_k\, \delta^2_{ck}}

with :math:`n_{uc}` votes for value c on item u of :math:`m_u \ge 2` votes. The distance
:math:`\delta^2` is [c ≠ k] (``nominal``), (c - k)² (``interval``), ((c - k)/(c + k))²
(``ratio``), or, for ``ordinal``, the squared distance of the values' mean ranks, which is the
usual sum over the values between them. Any number of annotators, any pattern of missing votes.
Undefined (nan) when all votes are the same value.

Nominal and interval alpha need one number per item and the totals by value, so that a million
votes and a thousand resamples cost a few sparse products.

References
----------
Krippendorff (2011), *Computing Krippendorff's alpha-reliability*.

Examples
--------
>>> votes = Annotations(kind="binary", items=("a", "b", "c"), classes=("no", "yes"),
...     item=np.array([0, 0, 1, 1, 2, 2]), label=np.array([1, 1, 0, 0, 1, 0]))
>>> krippendorff_alpha(votes).value
0.444
"""

from typing import Any

import numpy as np

from equipoise.agreement._units import Units, estimated, plan_for, units
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, choice
from equipoise.estimate import Estimate
from equipoise.resampling import Resampling

LEVELS = ("nominal", "ordinal", "interval", "ratio")
MOST_VALUES = 1000  # for the levels that compare every pair of values


def krippendorff_alpha(
    annotations: Annotations,
    *,
    level: str | None = None,
    task: str = "",
    plan: Resampling | None = None,
) -> Estimate:
    """Krippendorff's alpha with replicates over items.

    Parameters
    ----------
    level
        ``nominal``, ``ordinal``, ``interval`` or ``ratio``; by default what the kind of the
        annotations says.
    plan
        Which items each replicate takes; by default 1,000 resamples, of whole groups where
        items have groups.
    """
    kind = choice("krippendorff_alpha, level", level or default_level(annotations), LEVELS)
    found = units(annotations, task)
    return estimated(found, plan_for(annotations, plan), _compute(found, kind))


def default_level(annotations: Annotations) -> str:
    """Level of measurement that the kind of the annotations says."""
    return annotations.kind if annotations.kind in LEVELS else "nominal"


def _compute(found: Units, level: str) -> Any:
    """Return the function from counts of units to alpha."""
    if not len(found.item):
        return lambda counts: np.full(counts.shape[1], np.nan)
    if level == "nominal":
        return _nominal(found)
    if level == "interval":
        return _interval(found)
    return _by_pairs(found, level)


def _alpha(observed: Floats, expected: Floats, votes: Floats) -> Floats:
    safe = np.where(expected > 0, expected, 1.0)
    return np.where(expected > 0, 1 - (votes - 1) * observed / safe, np.nan)


def _nominal(found: Units) -> Any:
    votes = found.votes
    square = np.asarray(found.count.multiply(found.count).sum(axis=1)).ravel()
    apart = (votes**2 - square) / (votes - 1)
    across = found.count.T.tocsr()

    def compute(counts: Floats) -> Floats:
        times = counts.astype(np.float64)
        total = across @ times
        number = total.sum(axis=0)
        return _alpha(apart @ times, number**2 - (total**2).sum(axis=0), number)

    return compute


def _interval(found: Units) -> Any:
    votes, middle = found.votes, _middle(found)
    first = np.asarray(found.count @ middle).ravel()
    second = np.asarray(found.count @ middle**2).ravel()
    apart = 2 * (votes * second - first**2) / (votes - 1)
    unlike = first**2 < votes * second * (1 - 1e-14)
    apart = np.where(unlike, np.maximum(apart, 0.0), 0.0)

    def compute(counts: Floats) -> Floats:
        times = counts.astype(np.float64)
        number, one, two = votes @ times, first @ times, second @ times
        spread = number * two - one**2
        expected = np.where(spread > 1e-12 * number * two, 2 * spread, 0.0)
        return _alpha(apart @ times, expected, number)

    return compute


def _middle(found: Units) -> Floats:
    """Values moved to a mean of zero, which keeps the sums of squares exact."""
    total = np.asarray(found.count.sum(axis=0)).ravel()
    return np.asarray(found.value - (total @ found.value) / total.sum())


def _by_pairs(found: Units, level: str) -> Any:
    """Sum how often each pair of values meets, then weigh the pairs by their distance."""
    if len(found.value) > MOST_VALUES:
        raise InputError(
            f"krippendorff_alpha, level {level}", f"{len(found.value):,} different values",
            f"at most {MOST_VALUES:,}", "choose level='interval', or round the ratings",
        )  # fmt: skip
    if level == "ratio":
        _check_ratio(found)
    size = len(found.value)
    meets, pair = _meetings(found)

    def compute(counts: Floats) -> Floats:
        seen = meets @ counts.astype(np.float64)
        out = np.empty(counts.shape[1])
        for r, column in enumerate(seen.T):
            table = np.zeros(size * size)
            table[pair] = column
            out[r] = _one(table.reshape(size, size), found.value, level)
        return out

    return compute


def _one(table: Floats, value: Floats, level: str) -> float:
    """Alpha of one table of coincidences."""
    total = table.sum(axis=1)
    place = value if level == "ratio" else np.cumsum(total) - total / 2
    apart = (place[:, None] - place[None, :]) ** 2
    if level == "ratio":
        both = (place[:, None] + place[None, :]) ** 2
        apart = np.divide(apart, both, out=np.zeros_like(apart), where=both > 0)
    expected = total @ apart @ total
    if not expected > 0:
        return float("nan")
    return float(1 - (total.sum() - 1) * (table * apart).sum() / expected)


def _meetings(found: Units) -> tuple[Any, Any]:
    """Weight of every pair of values that meets, sparse (pairs, units), and which pair."""
    from scipy.sparse import csr_matrix

    count, size = found.count.tocsr(), len(found.value)
    width = np.diff(count.indptr)
    left = np.repeat(np.arange(count.nnz), np.repeat(width, width))
    first = np.repeat(count.indptr[:-1], width**2)
    within = np.arange(len(left)) - np.repeat(np.cumsum(width**2) - width**2, width**2)
    right = first + within % np.repeat(width, width**2)
    unit = np.repeat(np.arange(len(width)), width**2)
    a, b = count.indices[left].astype(np.int64), count.indices[right].astype(np.int64)
    number = count.data[left] * (count.data[right] - (a == b)) / (found.votes[unit] - 1)
    pair, row = np.unique(a * size + b, return_inverse=True)
    return csr_matrix((number, (row, unit)), shape=(len(pair), len(width))), pair


def _check_ratio(found: Units) -> None:
    if not found.numeric or (found.value < 0).any():
        raise InputError(
            "krippendorff_alpha, level ratio", "values that are names or negative numbers",
            "numbers of at least 0 with a true zero", "choose ordinal or interval",
        )  # fmt: skip
