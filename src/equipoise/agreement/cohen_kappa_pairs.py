r"""Cohen's kappa of all pairs of annotators at once, and its mean.

For classes k and sparse tables :math:`S_k` of shares (annotators, items) with
:math:`N = [\sum_k S_k > 0]`, the tables :math:`R_k = S_k N^T` hold how often the first of a
pair says k on the items that both rated, and :math:`\sum_{kl} w_{kl} S_k S_l^T` how far the
two are apart: two sparse products per class. The mean weighs each pair by the items it shares:

.. math:: \bar\kappa = \frac{\sum_{a<b} n_{ab}\, \kappa_{ab}}{\sum_{a<b} n_{ab}}

over the pairs whose kappa is defined.
"""

from typing import Any, NamedTuple

import numpy as np

from equipoise.agreement._shares import Shares, shares, weights_of
from equipoise.agreement._units import estimated
from equipoise.agreement.cohen_kappa import kappa, require_order
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError
from equipoise.estimate import Estimate
from equipoise.resampling import Resampling

MOST_BYTES = 2 * 2**30


class Pairs(NamedTuple):
    """Cohen's kappa of all pairs.

    Attributes
    ----------
    annotators
        Names along both axes.
    kappa
        Shape (annotators, annotators), symmetric; nan where undefined and on the diagonal.
    items
        How many items both rated, the same shape.
    """

    annotators: tuple[str, ...]
    kappa: Floats
    items: Floats

    @property
    def mean(self) -> float:
        """Mean kappa of the pairs, weighted by the items they share."""
        return float(_mean(np.triu(self.items, 1), self.kappa, (0, 1)))

    @property
    def mean_of_each(self) -> Floats:
        """The same for the pairs of each annotator, shape (annotators,)."""
        return _mean(self.items, self.kappa, 1)


def cohen_kappa_pairs(
    annotations: Annotations, *, weights: str = "none", task: str = ""
) -> Pairs:
    """Kappa of every pair of annotators.

    Examples
    --------
    >>> votes = Annotations(kind="binary", items=("a", "b"), classes=("no", "yes"),
    ...     annotators=("ana", "bo"), item=np.array([0, 0, 1, 1]),
    ...     annotator=np.array([0, 1, 0, 1]), label=np.array([1, 1, 0, 0]))
    >>> cohen_kappa_pairs(votes).kappa
    array([[nan,  1.],
           [ 1., nan]])
    """
    require_order(annotations, weights)
    return pairs_of(shares(annotations, task), annotations.annotators or (), weights)


def pairs_of(found: Shares, names: tuple[str, ...], weights: str) -> Pairs:
    """Kappa of every pair of the annotators whose shares are given."""
    size, people = len(found.by_class), len(names)
    distance = weights_of(size, weights)
    if 8 * people**2 * (size + 5) > MOST_BYTES:
        raise InputError(
            "cohen_kappa", f"{people:,} annotators and {size:,} classes",
            f"tables of at most {MOST_BYTES / 2**30:g} GB",
            "choose the annotators with most votes, or Krippendorff's alpha",
        )  # fmt: skip
    rated = sum(found.by_class[1:], found.by_class[0]).sign()
    said = np.empty((size, people, people))  # how often the first of a pair says k
    seen = np.zeros((people, people))
    for k, own in enumerate(found.by_class):
        said[k] = (own @ rated.T).toarray()
        others = (
            distance[k, j] * one for j, one in enumerate(found.by_class) if distance[k, j]
        )
        far: Any = sum(others, 0 * own)
        seen += (own @ far.T).toarray()
    number = said.sum(axis=0)
    chance = np.zeros((people, people))
    for k in range(size):
        chance += said[k] * np.tensordot(distance[k], said, axes=1).T
    found_kappa = kappa(seen * number, chance, number)
    found_kappa = (found_kappa + found_kappa.T) / 2  # the same but for rounding
    np.fill_diagonal(found_kappa, np.nan)
    return Pairs(names, found_kappa, np.round(number, 9))


def mean_kappa(found: Shares, plan: Resampling, weights: str) -> Estimate:
    """Mean kappa of all pairs, with replicates over items.

    Examples
    --------
    >>> from equipoise.resampling import resample
    >>> votes = Annotations(kind="binary", items=("a", "b", "c"), classes=("no", "yes"),
    ...     annotators=("ana", "bo"), item=np.array([0, 0, 1, 1, 2, 2]),
    ...     annotator=np.array([0, 1, 0, 1, 0, 1]), label=np.array([1, 1, 0, 0, 1, 0]))
    >>> mean_kappa(shares(votes), resample(votes, "items", replicates=9), "none").value
    0.4
    """
    distance = weights_of(len(found.by_class), weights)
    rated = sum(found.by_class[1:], found.by_class[0]).sign()
    met = (rated @ rated.T).tocoo()
    upper = met.row < met.col
    first, second = met.row[upper], met.col[upper]
    both = rated[first].multiply(rated[second]).tocsr()
    one = [own[first].multiply(rated[second]).tocsr() for own in found.by_class]
    two = [own[second].multiply(rated[first]).tocsr() for own in found.by_class]
    far = [sum(w * part for w, part in zip(row, two, strict=True) if w) for row in distance]
    apart = sum(own.multiply(away) for own, away in zip(one, far, strict=True)).tocsr()

    items = np.flatnonzero(np.asarray(both.sum(axis=0)).ravel())
    if not len(items):
        none = np.full(plan.replicates, np.nan)
        return Estimate(float("nan"), none, plan.fingerprint, (-1.0, 1.0))
    both, apart = both[:, items], apart[:, items]
    one, two = ([part[:, items] for part in side] for side in (one, two))

    def compute(counts: Floats) -> Floats:
        number = both @ counts
        heads, tails = (np.array([part @ counts for part in side]) for side in (one, two))
        chance = (heads * np.tensordot(distance, tails, axes=1)).sum(axis=0)
        return _mean(number, kappa((apart @ counts) * number, chance, number), 0)

    return estimated(items, plan, compute, width=4 * len(one) * len(first))


def _mean(weight: Floats, values: Floats, axis: Any) -> Floats:
    """Weighted mean over the values that are defined; nan where none is."""
    known = np.where(np.isnan(values), 0.0, weight)
    total = known.sum(axis=axis)
    mean = (known * np.where(np.isnan(values), 0.0, values)).sum(axis=axis)
    return np.where(total > 0, mean / np.where(total > 0, total, 1.0), np.nan)
