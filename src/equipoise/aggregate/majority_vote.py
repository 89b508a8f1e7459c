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

from equipoise.aggregate._entries import Entries, entries, from_posterior, unused_confidence
from equipoise.aggregate._model import CLASSES, AggregationModel
from equipoise.annotations import Annotations
from equipoise.arrays import Bools, Floats
from equipoise.notices import Notice
from equipoise.plausibilities import Plausibilities
from equipoise.posteriors import Categorical

_HALF = 0.5 + 1e-12


def majority_vote(annotations: Annotations, *, task: str = "") -> Plausibilities:
    """Hard labels as plausibilities; one draw."""
    votes = entries(annotations, task)
    hard, undecided = _decided(votes, negative=annotations.kind == "binary")
    number = int(undecided.sum())
    text = "{items:count} items have no strict majority."
    tied = (Notice("no_majority", text, (), {"items": number}),) if number else ()
    return from_posterior(
        votes,
        Categorical(hard, np.zeros(len(votes.items))),
        method="majority vote",
        model="majority_vote",
        task=task,
        notices=(*tied, *unused_confidence(annotations, "majority vote")),
    )


def _decided(votes: Entries, *, negative: bool) -> tuple[Floats, Bools]:
    """Mass of every voted class, and which items have no strict majority."""
    item = np.repeat(np.arange(len(votes.items)), np.diff(votes.start))
    share = votes.votes / votes.total[item]
    most = np.maximum.reduceat(share, votes.start[:-1])
    undecided = most <= _HALF
    leading = share >= most[item] - 1e-12
    if negative:  # both classes have half of the votes
        leading = np.where(undecided[item], votes.label == 0, leading)
    return leading / np.bincount(item, leading)[item], undecided


MODEL = AggregationModel(
    name="majority_vote",
    title="majority vote",
    description="the class that more than half of the votes name",
    fit=majority_vote,
    kinds=CLASSES,
    suits=CLASSES,
    rank=32,
    same_draws=True,
    decides_as="mean_vote",
)
