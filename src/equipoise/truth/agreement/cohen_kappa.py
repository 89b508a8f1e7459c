r"""Cohen's kappa: two annotators on the items both rated, beyond chance; plain or weighted.

.. math:: \kappa = 1 - \frac{\sum_{kl} w_{kl}\, P_{kl}}
    {\sum_{kl} w_{kl}\, P_{k\cdot} P_{\cdot l}}

with :math:`w` = [k ≠ l] (``none``), |k - l| (``linear``) or (k - l)² (``quadratic``) in the
order of the declared classes, used or not. Votes that one annotator repeats on an item share
it. Undefined (nan) for pairs without a common item, or who both always say the same one class;
never below -1.

All pairs at once: for classes k and sparse tables :math:`S_k` of shares (annotators, items)
with :math:`N = [\sum_k S_k > 0]`, the tables :math:`R_k = S_k N^T` hold how often the first of
a pair says k on the items that both rated, and :math:`\sum_{kl} w_{kl} S_k S_l^T` how far the
two are apart: two sparse products per class. The mean weighs each pair by the items it shares,

.. math:: \bar\kappa = \frac{\sum_{a<b} n_{ab}\, \kappa_{ab}}{\sum_{a<b} n_{ab}}

over the pairs whose kappa is defined. Words for a kappa are those of Landis and Koch, a
convention without a theory behind it.

References
----------
Cohen (1960), *A coefficient of agreement for nominal scales*; Cohen (1968), *Weighted kappa*.
Landis and Koch (1977), *The measurement of observer agreement for categorical data*.

Examples
--------
>>> votes = Annotations(kind="binary", items=("a", "b", "c"), classes=("no", "yes"),
...     annotators=("ana", "bo"), item=np.array([0, 0, 1, 1, 2, 2]),
...     annotator=np.array([0, 1, 0, 1, 0, 1]), label=np.array([1, 1, 0, 0, 1, 0]))
>>> cohen_kappa(votes, ("ana", "bo")).value
0.4
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from equipoise.inference.estimate import Estimate
from equipoise.inference.resampling import Resampling
from equipoise.truth.agreement._votes import (
    Compute,
    estimated,
    opinions,
    plan_for,
    summed,
    undefined,
)
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Floats, InputError, choice, nearest
from equipoise.types.numbers import UNDEFINED
from equipoise.types.votes import vote_counts
from equipoise.types.words import Option, hint

WEIGHTS = ("none", "linear", "quadratic")
MOST_BYTES = 2 * 2**30
SCALE = {"almost perfect": 0.8, "substantial": 0.6, "moderate": 0.4, "fair": 0.2, "slight": 0.0}


def landis_koch(value: float) -> str:
    """Word of Landis and Koch for a kappa.

    Examples
    --------
    >>> landis_koch(0.61), landis_koch(-0.1), landis_koch(float("nan"))
    ('substantial', 'poor', 'undefined')
    """
    if value != value:
        return UNDEFINED
    last = "poor" if value < 0 else "slight"
    return next((word for word, least in SCALE.items() if value > least), last)


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Sparse tables (annotators, items), one for each class."""

    by_class: list[Any]

    def person(self, number: int) -> Floats:
        """Shares of one annotator, (items, classes)."""
        return np.stack([one[number].toarray().ravel() for one in self.by_class], axis=1)

    def of(self, people: Any) -> "Shares":
        """Keep some annotators."""
        return Shares([one[people] for one in self.by_class])


def shares(annotations: Annotations, task: str = "") -> Shares:
    """What part of each annotator's votes on each item is for each class.

    A single vote is a share of one; votes that an annotator repeats on an item share it. Needs
    single labels by annotators with ids.

    Examples
    --------
    >>> table = Annotations(kind="binary", items=("a",), classes=("no", "yes"),
    ...     annotators=("ana",), item=np.array([0, 0]), annotator=np.array([0, 0]),
    ...     label=np.array([0, 1]))
    >>> shares(table).person(0)
    array([[0.5, 0.5]])
    """
    from scipy.sparse import csr_matrix

    if annotations.annotators is None or annotations.annotator is None:
        got, expected = "anonymous votes or exchangeable slots", "annotators with ids"
        do = "choose krippendorff_alpha or fleiss_kappa: they do not ask who voted"
        raise InputError("cohen_kappa", got, expected, do)
    if annotations.label is None or annotations.rank is not None:
        level = Option("level", "interval")
        ratings = hint("choose krippendorff_alpha with {} for ratings", level)
        got = f"annotations of kind {annotations.kind}"
        raise InputError("cohen_kappa", got, "single labels", ratings)
    rows = opinions(annotations, task)
    who, item = annotations.annotator[rows], annotations.item[rows]
    pair = who.astype(np.int64) * len(annotations.items) + item
    code = np.unique(pair, return_inverse=True)[1]
    times = vote_counts(annotations, rows)
    share = times / np.bincount(code, times)[code]
    shape = (len(annotations.annotators), len(annotations.items))
    said = annotations.label[rows]
    return Shares(
        [
            csr_matrix((share[said == k], (who[said == k], item[said == k])), shape=shape)
            for k in range(len(annotations.classes))
        ]
    )


def _weights_of(classes: int, weights: str) -> Floats:
    """Distance of every two classes.

    Examples
    --------
    >>> _weights_of(3, "quadratic")
    array([[0., 1., 4.],
           [1., 0., 1.],
           [4., 1., 0.]])
    """
    choice("cohen_kappa, weights", weights, WEIGHTS)
    gap = np.abs(np.subtract.outer(np.arange(classes), np.arange(classes))).astype(np.float64)
    return {"none": (gap > 0).astype(np.float64), "linear": gap, "quadratic": gap**2}[weights]


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
    _require_order(annotations, weights)
    found = shares(annotations, task)
    known = annotations.annotators or ()
    two = "two annotators"
    if len(pair) != 2:
        raise InputError("cohen_kappa, pair", f"{len(pair)} names", two, "name two")
    for name in pair:
        if name not in known:
            do = nearest(name, known)
            raise InputError("cohen_kappa", f"annotator {name!r}", "a known one", do)
    if pair[0] == pair[1]:
        raise InputError("cohen_kappa", f"annotator {pair[0]!r} twice", two, "name another")
    drawn = plan_for(annotations, plan)
    first, second = (found.person(known.index(name)) for name in pair)
    both, compute = _kappa_of(first, second, _weights_of(len(found.by_class), weights))
    return estimated(both, drawn, compute)


def _require_order(annotations: Annotations, weights: str) -> None:
    """Refuse distances between classes that have no order."""
    if weights != "none" and annotations.kind == "nominal" and len(annotations.classes) > 2:
        do = hint(
            "read them with {} and {}, or leave weights at none",
            Option("kind", "ordinal"),
            Option("classes", ("lowest", "...", "highest")),
        )
        where, expected = f"cohen_kappa, weights {weights}", "grades in a known order"
        raise InputError(where, "classes without an order", expected, do)


def _kappa_of(one: Floats, two: Floats, distance: Floats) -> tuple[Any, Compute]:
    """Items that two annotators share, and the function from their counts to kappa."""
    both = np.flatnonzero((one.sum(axis=1) > 0) & (two.sum(axis=1) > 0))
    one, two = one[both], two[both]
    if not len(both):
        return both, undefined
    sums = summed(((one @ distance) * two).sum(axis=1), *one.T, *two.T)
    size = one.shape[1]

    def compute(counts: Floats) -> Floats:
        number = counts.sum(axis=0)
        apart, *said = sums(counts)
        heads, tails = np.array(said[:size]), np.array(said[size:])
        chance = ((distance @ heads) * tails).sum(axis=0)
        return _kappa(apart * number, chance, number)

    return both, compute


def _kappa(seen: Floats, chance: Floats, number: Floats) -> Floats:
    """One minus seen over chance disagreement; both are sums over pairs of items."""
    defined = chance > 1e-12 * np.maximum(number, 1.0) ** 2
    return np.where(defined, 1 - seen / np.where(defined, chance, 1.0), np.nan)


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
    _require_order(annotations, weights)
    return pairs_of(shares(annotations, task), annotations.annotators or (), weights)


def pairs_of(found: Shares, names: tuple[str, ...], weights: str) -> Pairs:
    """Kappa of every pair of the annotators whose shares are given."""
    size, people = len(found.by_class), len(names)
    distance = _weights_of(size, weights)
    if 8 * people**2 * (size + 5) > MOST_BYTES:
        got = f"{people:,} annotators and {size:,} classes"
        room = f"tables of at most {MOST_BYTES / 2**30:g} GB"
        do = "choose the annotators with most votes, or Krippendorff's alpha"
        raise InputError("cohen_kappa", got, room, do)
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
    found_kappa = _kappa(seen * number, chance, number)
    found_kappa = (found_kappa + found_kappa.T) / 2  # the same but for rounding
    np.fill_diagonal(found_kappa, np.nan)
    return Pairs(names, found_kappa, np.round(number, 9))


def mean_kappa(found: Shares, plan: Resampling, weights: str) -> Estimate:
    """Mean kappa of all pairs, with replicates over items.

    Examples
    --------
    >>> from equipoise.inference.resampling import resample
    >>> votes = Annotations(kind="binary", items=("a", "b", "c"), classes=("no", "yes"),
    ...     annotators=("ana", "bo"), item=np.array([0, 0, 1, 1, 2, 2]),
    ...     annotator=np.array([0, 1, 0, 1, 0, 1]), label=np.array([1, 1, 0, 0, 1, 0]))
    >>> mean_kappa(shares(votes), resample(votes, "items", replicates=9), "none").value
    0.4
    """
    distance = _weights_of(len(found.by_class), weights)
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
        return estimated(items, plan, undefined)
    both, apart = both[:, items], apart[:, items]
    one, two = ([part[:, items] for part in side] for side in (one, two))

    def compute(counts: Floats) -> Floats:
        number = both @ counts
        heads, tails = (np.array([part @ counts for part in side]) for side in (one, two))
        chance = (heads * np.tensordot(distance, tails, axes=1)).sum(axis=0)
        return _mean(number, _kappa((apart @ counts) * number, chance, number), 0)

    return estimated(items, plan, compute, width=4 * len(one) * len(first))


def _mean(weight: Floats, values: Floats, axis: Any) -> Floats:
    """Weighted mean over the values that are defined; nan where none is."""
    known = np.where(np.isnan(values), 0.0, weight)
    total = known.sum(axis=axis)
    mean = (known * np.where(np.isnan(values), 0.0, values)).sum(axis=axis)
    return np.where(total > 0, mean / np.where(total > 0, total, 1.0), np.nan)
