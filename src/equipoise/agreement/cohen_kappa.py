r"""Cohen's kappa: two annotators on the items both rated, beyond chance; plain or weighted.

.. math:: \kappa = 1 - \frac{\sum_{kl} w_{kl}\, P_{kl}}
    {\sum_{kl} w_{kl}\, P_{k\cdot} P_{\cdot l}}

with :math:`w` = [k ≠ l] (``none``), |k - l| (``linear``) or (k - l)² (``quadratic``) in the
order of the declared classes, used or not. Votes that one annotator repeats on an item share
it. Undefined (nan) for pairs without a common item, or who both always say the same one class;
never below -1.

References
----------
Cohen (1960), *A coefficient of agreement for nominal scales*; Cohen (1968), *Weighted kappa*.

Examples
--------
>>> votes = Annotations(kind="binary", items=("a", "b", "c"), classes=("no", "yes"),
...     annotators=("ana", "bo"), item=np.array([0, 0, 1, 1, 2, 2]),
...     annotator=np.array([0, 1, 0, 1, 0, 1]), label=np.array([1, 1, 0, 0, 1, 0]))
>>> cohen_kappa(votes, ("ana", "bo")).value
0.4
"""

from typing import Any

import numpy as np

from equipoise.agreement._shares import Shares, shares, weights_of
from equipoise.agreement._units import Compute, estimated, plan_for, summed
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, nearest
from equipoise.estimate import Estimate
from equipoise.resampling import Resampling


def cohen_kappa(
    annotations: Annotations,
    pair: tuple[str, str],
    *,
    weights: str = "none",
    task: str = "",
    plan: Resampling | None = None,
) -> Estimate:
    """Kappa of two annotators, with replicates over the items.

    Parameters
    ----------
    pair
        Names of the two annotators.
    weights
        ``none``, ``linear`` or ``quadratic``.
    plan
        As in `krippendorff_alpha`.
    """
    require_order(annotations, weights)
    found = shares(annotations, task)
    known = annotations.annotators or ()
    if len(pair) != 2:
        raise InputError(
            "cohen_kappa, pair", f"{len(pair)} names", "two annotators", "name two"
        )
    for name in pair:
        if name not in known:
            raise InputError(
                "cohen_kappa", f"annotator {name!r}", "a known one", nearest(name, known)
            )
    if pair[0] == pair[1]:
        raise InputError(
            "cohen_kappa", f"annotator {pair[0]!r} twice", "two annotators", "name another"
        )
    drawn = plan_for(annotations, plan)
    one, two = (known.index(name) for name in pair)
    both, compute = kappa_of(found, (one, two), weights_of(len(found.by_class), weights))
    return estimated(both, drawn, compute)


def require_order(annotations: Annotations, weights: str) -> None:
    """Refuse distances between classes that have no order."""
    if weights != "none" and annotations.kind == "nominal" and len(annotations.classes) > 2:
        raise InputError(
            f"cohen_kappa, weights {weights}", "classes without an order",
            "grades in a known order",
            "read them as kind='ordinal' with classes=[lowest, ..., highest], or leave "
            "weights at none",
        )  # fmt: skip


def kappa_of(found: Shares, pair: tuple[int, int], distance: Floats) -> tuple[Any, Compute]:
    """Items that two annotators share, and the function from their counts to kappa."""
    one, two = (found.person(number) for number in pair)
    both = np.flatnonzero((one.sum(axis=1) > 0) & (two.sum(axis=1) > 0))
    one, two = one[both], two[both]
    if not len(both):
        return both, lambda counts: np.full(counts.shape[1], np.nan)
    sums = summed(((one @ distance) * two).sum(axis=1), *one.T, *two.T)
    size = one.shape[1]

    def compute(counts: Floats) -> Floats:
        number = counts.sum(axis=0)
        apart, *said = sums(counts)
        heads, tails = np.array(said[:size]), np.array(said[size:])
        chance = ((distance @ heads) * tails).sum(axis=0)
        return kappa(apart * number, chance, number)

    return both, compute


def kappa(seen: Floats, chance: Floats, number: Floats) -> Floats:
    """One minus seen over chance disagreement; both are sums over pairs of items."""
    defined = chance > 1e-12 * np.maximum(number, 1.0) ** 2
    return np.where(defined, 1 - seen / np.where(defined, chance, 1.0), np.nan)
