r"""Majority vote: the class that more than half of the votes name.

.. math:: \lambda_{ik} = [\text{share}_{ik} > 1/2]

Without a strict majority a yes/no item is negative, as in the hard labels of the ranking
metrics; with more classes the mass is split evenly over the most voted. A notice counts them.

Examples
--------
>>> votes = Annotations(kind="binary", items=("a", "b"), classes=("no", "yes"),
...     item=np.array([0, 0, 1]), label=np.array([1, 0, 1]))
>>> majority_vote(votes).mean
array([[1., 0.],
       [0., 1.]])
"""

import numpy as np

from equipoise.aggregate._entries import Entries, entries
from equipoise.aggregate._made import by_law
from equipoise.aggregate._people import unused_confidence
from equipoise.annotations import Annotations
from equipoise.arrays import Bools, Floats
from equipoise.laws import Labels
from equipoise.plausibilities import Plausibilities

HALF = 0.5 + 1e-12


def majority_vote(annotations: Annotations, *, task: str = "") -> Plausibilities:
    """Hard labels as plausibilities; one draw."""
    found = entries(annotations, task)
    hard, undecided = _decided(found, negative=annotations.kind == "binary")
    number = int(undecided.sum())
    said = (f"{number:,} items have no strict majority.",) if number else ()
    return by_law(
        found,
        Labels(hard, np.zeros(len(found.items))),
        method="majority vote",
        task=task,
        notices=(*said, *unused_confidence(annotations, "majority vote")),
    )


def _decided(found: Entries, *, negative: bool) -> tuple[Floats, Bools]:
    """Mass of every voted class, and which items have no strict majority."""
    item = np.repeat(np.arange(len(found.items)), np.diff(found.start))
    share = found.votes / found.total[item]
    most = np.maximum.reduceat(share, found.start[:-1])
    undecided = most <= HALF
    leading = share >= most[item] - 1e-12
    if negative:  # both classes have half of the votes
        leading = np.where(undecided[item], found.label == 0, leading)
    return leading / np.bincount(item, leading)[item], undecided
