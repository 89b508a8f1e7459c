"""Rules that turn the experts' labels of a sample into a threshold.

``rise``
    The mean probability of the first bin, from below, whose share of positives and that of
    every bin above exceed the mean share of the bins below by more than a margin.
``isotonic``
    The smallest sampled probability at which the rising share that fits best reaches a share.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from equipoise.analyses._expert_sample import ExpertSample
from equipoise.arrays import (
    Floats,
    InputError,
    Ints,
    PerItem,
    choice,
    require_number,
    require_whole,
)

Where = tuple[Ints, PerItem]  # bin and probability of the items that experts labelled
SLACK = 1e-12
RULES = ("rise", "isotonic")
BOTH = "experts x items"
REDRAW: Mapping[str, str] = {
    "experts": "Experts were redrawn",
    "items": "Items were redrawn within their bins",
    BOTH: "Experts, and items within their bins, were redrawn",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """How a threshold is set, and how its doubt is measured.

    Attributes
    ----------
    name
        ``rise`` or ``isotonic``.
    margin, share
        The parameter of each; see above.
    redraw, replicates, seed, level
        What is redrawn for the interval of the finding, how often and from which seed, and the
        level of the interval.
    """

    name: str = "rise"
    margin: float = 0.1
    share: float = 0.5
    redraw: str = BOTH
    replicates: int = 1000
    seed: int = 0
    level: float = 0.95

    def __post_init__(self) -> None:
        choice("threshold, rule", self.name, RULES)
        choice("threshold, redraw", self.redraw, tuple(REDRAW))
        for name, usual in (("margin", "0.1"), ("share", "0.5")):
            where, given = f"threshold, {name}", getattr(self, name)
            if not 0 <= require_number(where, given, do=f"{usual} is usual") <= 1:
                raise InputError(
                    where, f"{given!r}", "a number between 0 and 1", f"{usual} is usual"
                )
        require_number("threshold, level", self.level, above=0, below=1, do="try 0.95")
        require_whole("threshold, replicates", self.replicates, least=1, do="1000 is usual")
        require_whole("threshold, seed", self.seed, do="try 0")

    @property
    def parameter(self) -> tuple[str, float]:
        """The name with its own parameter."""
        return self.name, self.share if self.name == "isotonic" else self.margin


def thresholds(
    rule: tuple[str, float], where: Where, labels: Floats, counts: Floats, plan: ExpertSample
) -> Floats:
    """Threshold in each replicate, shape (replicates,).

    Parameters
    ----------
    rule
        Its name, and its margin or share.
    labels, counts
        Hard labels, and how often each item counts, shape (items, replicates) both.
    """
    name, parameter = rule
    bins, probability = where
    if name == "isotonic":
        pairs = zip(labels.T, counts.T, strict=True)
        return np.array([crossing(probability, y, n, parameter) for y, n in pairs])
    shares = bin_shares(bins, labels, counts, len(plan.bin_mean))
    return rises(shares, plan.bin_mean, parameter)


def fitted(
    rule: tuple[str, float], where: Where, label: Floats, plan: ExpertSample
) -> tuple[Floats, Floats]:
    """What the threshold is read from: probabilities and shares, rising in probability.

    For ``isotonic`` the fitted share at each sampled probability; for ``rise`` the share that
    each bin and all above it must exceed, nan for the lowest bin.
    """
    name, parameter = rule
    bins, probability = where
    once = np.ones(len(label))
    if name == "isotonic":
        return isotonic(probability, label, once)
    share = bin_shares(bins, label[:, None], once[:, None], len(plan.bin_mean))[:, 0]
    known = ~np.isnan(share)
    below = np.full(len(share), np.nan)
    seen = share[known]
    if len(seen):
        means = np.cumsum(seen)[:-1] / np.arange(1, len(seen))
        below[np.flatnonzero(known)[1:]] = means + parameter
    return plan.bin_mean, below


def bin_shares(bins: Ints, labels: Floats, counts: Floats, number: int) -> Floats:
    """Share of positives, shape (bins, replicates); nan in a bin without items."""
    member = (np.arange(number)[:, None] == bins).astype(np.float64)
    size = member @ counts
    return np.where(size > 0, member @ (labels * counts) / np.maximum(size, 1e-300), np.nan)


def rises(shares: Floats, mean: Floats, margin: float) -> Floats:
    """Mean probability of the bin where positives start to rise, in each replicate.

    `shares` has the shape (bins, replicates); bins without items (nan) are passed over.

    Examples
    --------
    >>> rises(np.array([[0.0], [0.05], [0.4], [0.9]]), np.array([0.1, 0.3, 0.5, 0.7]), 0.1)
    array([0.5])
    """
    known = ~np.isnan(shares)
    number = np.cumsum(known, axis=0) - known
    whole = np.where(known, shares, 0.0)
    below = (np.cumsum(whole, axis=0) - whole) / np.maximum(number, 1)
    above = np.minimum.accumulate(np.where(known, shares, np.inf)[::-1], axis=0)[::-1]
    risen = known & (number > 0) & (above > below + margin + SLACK)
    return np.where(risen.any(axis=0), mean[np.argmax(risen, axis=0)], np.nan)


def isotonic(probability: PerItem, label: Floats, count: Floats) -> tuple[Floats, Floats]:
    """Distinct probabilities, and the rising share of positives that fits best at each.

    Examples
    --------
    >>> isotonic(np.array([0.1, 0.2, 0.3]), np.array([1.0, 0, 1]), np.ones(3))[1]
    array([0.5, 0.5, 1. ])
    """
    from scipy.optimize import isotonic_regression

    kept = count > 0
    if not kept.any():
        return np.empty(0), np.empty(0)
    values, code = np.unique(probability[kept], return_inverse=True)
    weight = np.bincount(code, count[kept])
    mean = np.bincount(code, count[kept] * label[kept]) / weight
    return values, np.asarray(isotonic_regression(mean, weights=weight).x)


def crossing(probability: PerItem, label: Floats, count: Floats, share: float) -> float:
    """Smallest probability whose isotonic share of positives is at least `share`."""
    values, found = isotonic(probability, label, count)
    above = np.flatnonzero(found >= share - SLACK)
    return float(values[above[0]]) if len(above) else math.nan
