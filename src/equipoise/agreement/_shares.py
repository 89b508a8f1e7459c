"""Shares: what part of each annotator's votes on each item is for each class.

A single vote is a share of one; votes that an annotator repeats on an item share it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.agreement._votes import opinions
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, choice

WEIGHTS = ("none", "linear", "quadratic")


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
    """Find the shares of one task; needs single labels by annotators with ids.

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
    return Shares(
        [
            csr_matrix((share[said == k], (who[said == k], item[said == k])), shape=shape)
            for k in range(len(annotations.classes))
        ]
    )


def weights_of(classes: int, weights: str) -> Floats:
    """Distance of every two classes.

    Examples
    --------
    >>> weights_of(3, "quadratic")
    array([[0., 1., 4.],
           [1., 0., 1.],
           [4., 1., 0.]])
    """
    choice("cohen_kappa, weights", weights, WEIGHTS)
    gap = np.abs(np.subtract.outer(np.arange(classes), np.arange(classes))).astype(np.float64)
    return {"none": (gap > 0).astype(np.float64), "linear": gap, "quadratic": gap**2}[weights]
