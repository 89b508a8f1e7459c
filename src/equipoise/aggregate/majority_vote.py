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

from equipoise.aggregate.mean_vote import mean_vote
from equipoise.annotations import Annotations
from equipoise.plausibilities import Plausibilities

HALF = 0.5 + 1e-12


def majority_vote(annotations: Annotations, *, task: str = "") -> Plausibilities:
    """Hard labels as plausibilities; one draw."""
    point = mean_vote(annotations, task=task)
    shares = point.mean
    hard = (shares > HALF).astype(np.float64)
    open_ = hard.sum(axis=1) == 0
    if annotations.kind == "binary":
        hard[open_, 0] = 1.0
    else:
        top = np.isclose(shares, shares.max(axis=1, keepdims=True), atol=1e-12, rtol=0)
        hard[open_] = (top / top.sum(axis=1, keepdims=True))[open_]
    made = Plausibilities.dense(
        hard,
        items=point.items,
        classes=annotations.classes,
        method="majority vote",
    )
    said = f"{int(open_.sum()):,} items have no strict majority." if open_.any() else ""
    return made.noted(task=task, notices=(said,) if said else ())
