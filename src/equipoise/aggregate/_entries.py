"""Entries: votes summed by item and class, in the sparse form that plausibilities have."""

from typing import NamedTuple

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, Ints
from equipoise.ballots import Ballots, ballots
from equipoise.wording import AT_LEAST, Option, hint

DENSE = 8  # pairs of item and class for each vote up to which all pairs are counted


class Entries(NamedTuple):
    """Summed votes of one task.

    Attributes
    ----------
    items, classes
        Names of the items that have votes, and of all classes.
    start, label
        The voted classes of item i are ``label[start[i]:start[i + 1]]``.
    votes
        Weight of the votes for each of them, shape (entries,).
    total
        Weight of all votes of an item, shape (items,).
    ordered
        Whether the classes are grades.
    """

    items: tuple[str, ...]
    classes: tuple[str, ...]
    start: Ints
    label: Ints
    votes: Floats
    total: Floats
    ordered: bool = False


def entries(annotations: Annotations, task: str = "") -> Entries:
    """Sum the votes of one task.

    Examples
    --------
    >>> votes = Annotations(kind="nominal", items=("a",), classes=("x", "y", "z"),
    ...     item=np.array([0, 0, 0]), label=np.array([2, 0, 2]))
    >>> entries(votes).votes
    array([1., 2.])
    """
    if annotations.kind == "interval":
        raise InputError(
            "annotations of kind interval", "ratings", "classes",
            hint(
                "choose {}, or turn ratings into a yes/no question with {}",
                Option("model", "normal", "the model 'normal'"),
                AT_LEAST,
            ),
        )  # fmt: skip
    votes = ballots(annotations, task, apart=False)
    names = tuple(annotations.items[i] for i in votes.items)
    item, label, mass = _summed(votes, len(annotations.classes))
    start = np.searchsorted(item, np.arange(len(names) + 1))
    total = np.bincount(item, mass, len(names)).astype(np.float64)
    graded = annotations.kind == "ordinal"
    return Entries(names, annotations.classes, start, label, mass, total, graded)


def _summed(votes: Ballots, classes: int) -> tuple[Ints, Ints, Floats]:
    """Item, class and weight of every pair that has votes, in order."""
    item_of_vote = np.repeat(np.arange(len(votes.sizes)), votes.sizes)
    key = item_of_vote[votes.vote] * classes + votes.label
    mass = votes.share * votes.weight[votes.vote]
    if len(votes.sizes) * classes <= DENSE * len(key):
        pair = np.flatnonzero(np.bincount(key))
        weight = np.bincount(key, mass)[pair]
    else:
        pair, code = np.unique(key, return_inverse=True)
        weight = np.bincount(code, mass)
    return pair // classes, pair % classes, weight.astype(np.float64)
