r"""Mean vote: the share of votes per class.

.. math:: \lambda_{ik} = \frac{\sum_{v \in i} w_v [\text{vote } v = k]}{\sum_{v \in i} w_v}

The soft label of the ranking metrics. It is a point: it does not say how few votes there were.
Draws on demand are labels with these probabilities. Tied first choices of a ranking share one
vote; gold rows settle their item.

Examples
--------
>>> votes = Annotations(kind="nominal", items=("a",), classes=("x", "y"),
...     item=np.array([0, 0, 0]), label=np.array([1, 0, 1]))
>>> mean_vote(votes).mean
array([[0.333, 0.667]])
"""

import numpy as np

from equipoise.aggregate._entries import entries, from_posterior, unused_confidence
from equipoise.aggregate._model import CLASSES, AggregationModel
from equipoise.annotations import Annotations
from equipoise.plausibilities import Plausibilities
from equipoise.posteriors import Categorical


def mean_vote(annotations: Annotations, *, task: str = "") -> Plausibilities:
    """Share of votes per class; one draw."""
    votes = entries(annotations, task)
    item = np.repeat(np.arange(len(votes.items)), np.diff(votes.start))
    share = votes.votes / votes.total[item]
    return from_posterior(
        votes,
        Categorical(share, np.zeros(len(votes.items))),
        method="mean vote",
        model="mean_vote",
        task=task,
        notices=unused_confidence(annotations, "mean vote"),
    )


MODEL = AggregationModel(
    name="mean_vote",
    title="mean vote",
    description="the share of votes per class",
    fit=mean_vote,
    kinds=CLASSES,
    suits=CLASSES,
    rank=31,
)
