r"""Cohen's kappa: two annotators on the items both rated, beyond chance; plain or weighted.

.. math:: \kappa = 1 - \frac{\sum_{kl} w_{kl}\, P_{kl}}
    {\sum_{kl} w_{kl}\, P_{k\cdot} P_{\cdot l}}

with :math:`w` = [k ≠ l] (``none``), |k - l| (``linear``) or (k - l)² (``quadratic``) in the
order of the declared classes, used or not. Votes that one annotator repeats on an item share
it. Undefined (nan) for pairs without a common item, or who both always say the same one class.

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

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.agreement._units import WIDTH, opinions, plan_for
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, choice, nearest
from equipoise.estimate import Estimate
from equipoise.resampling import Resampling

WEIGHTS = ("none", "linear", "quadratic")
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
    shared = _shares(annotations, task)
    known = annotations.annotators or ()
    for name in pair:
        if name not in known:
            raise InputError(
                "cohen_kappa", f"annotator {name!r}", "a known one", nearest(name, known)
            )
    drawn = plan_for(annotations, plan)
    one, two = (_person(shared, known.index(name)) for name in pair)
    both = np.flatnonzero((one.sum(axis=1) > 0) & (two.sum(axis=1) > 0))
    cells = np.einsum("ik,il->kli", one[both], two[both])
    distance = _distance(one.shape[1], weights)

    def compute(counts: NDArray[Any]) -> Floats:
        return _kappa(cells @ counts.astype(np.float64), distance)

    parts = [
        compute(drawn.item_counts(start, min(start + WIDTH, drawn.replicates))[both])
        for start in range(0, drawn.replicates, WIDTH)
    ]
    value = float(compute(np.ones((len(both), 1)))[0])
    return Estimate(value, np.concatenate(parts), drawn.fingerprint, (-1.0, 1.0))


def cohen_kappa_pairs(
    annotations: Annotations, *, weights: str = "none", task: str = ""
) -> Pairs:
    """Kappa of every pair of annotators: one sparse product per pair of classes.

    Examples
    --------
    >>> votes = Annotations(kind="binary", items=("a", "b"), classes=("no", "yes"),
    ...     annotators=("ana", "bo"), item=np.array([0, 0, 1, 1]),
    ...     annotator=np.array([0, 1, 0, 1]), label=np.array([1, 1, 0, 0]))
    >>> cohen_kappa_pairs(votes).kappa
    array([[nan,  1.],
           [ 1., nan]])
    """
    shared = _shares(annotations, task)
    names = annotations.annotators or ()
    size, people = len(annotations.classes), len(names)
    if 8 * people**2 * size**2 > MOST_BYTES:
        raise InputError(
            "cohen_kappa", f"{people:,} annotators and {size} classes",
            f"tables of at most {MOST_BYTES / 2**30:g} GB",
            "choose the annotators with most votes, or Krippendorff's alpha",
        )  # fmt: skip
    table = np.empty((size, size, people, people))
    for k in range(size):
        for other in range(size):
            table[k, other] = (shared[k] @ shared[other].T).toarray()
    kappa = _kappa(table.reshape(size, size, -1), _distance(size, weights))
    kappa = kappa.reshape(people, people)
    np.fill_diagonal(kappa, np.nan)
    return Pairs(names, kappa, np.round(table.sum(axis=(0, 1)), 9))


def _kappa(table: Floats, distance: Floats) -> Floats:
    """Kappa of tables (classes, classes, tables)."""
    number = table.sum(axis=(0, 1))
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    seen = np.einsum("kl,klt->t", distance, table) * number
    chance = np.einsum("kl,kt,lt->t", distance, rows, columns, optimize=True)
    defined = chance > 1e-12 * np.maximum(number, 1.0) ** 2
    return np.where(defined, 1 - seen / np.where(defined, chance, 1.0), np.nan)


def _distance(size: int, weights: str) -> Floats:
    choice("cohen_kappa, weights", weights, WEIGHTS)
    gap = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    return {"none": (gap > 0).astype(np.float64), "linear": gap, "quadratic": gap**2}[weights]


def _shares(annotations: Annotations, task: str) -> list[Any]:
    """For each class, what share of each annotator's votes on each item is for it."""
    from scipy.sparse import csr_matrix

    if annotations.annotators is None or annotations.annotator is None:
        raise InputError(
            "cohen_kappa", "anonymous votes or exchangeable slots", "annotators with ids",
            "choose krippendorff_alpha or fleiss_kappa: they do not ask who voted",
        )  # fmt: skip
    if annotations.label is None or annotations.rank is not None:
        raise InputError(
            "cohen_kappa", f"annotations of kind {annotations.kind}", "single labels",
            "choose krippendorff_alpha with level='interval' for ratings",
        )  # fmt: skip
    rows = opinions(annotations, task)
    who, item = annotations.annotator[rows], annotations.item[rows]
    pair = who.astype(np.int64) * len(annotations.items) + item
    code = np.unique(pair, return_inverse=True)[1]
    times = np.ones(len(who)) if annotations.count is None else annotations.count[rows]
    share = times / np.bincount(code, times)[code]
    shape = (len(annotations.annotators), len(annotations.items))
    said = annotations.label[rows]
    return [
        csr_matrix((share[said == k], (who[said == k], item[said == k])), shape=shape)
        for k in range(len(annotations.classes))
    ]


def _person(shared: list[Any], number: int) -> Floats:
    """One annotator's shares, (items, classes)."""
    return np.stack([one[number].toarray().ravel() for one in shared], axis=1)
