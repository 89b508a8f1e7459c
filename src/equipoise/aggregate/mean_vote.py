r"""Mean vote: the share of votes per class.

.. math:: \lambda_{ik} = \frac{\sum_{v \in i} w_v [\text{vote } v = k]}{\sum_{v \in i} w_v}

The soft label of the ranking metrics. It is a point: it does not say how few votes there were.
Draws on demand are labels with these chances. Tied first choices of a ranking share one vote;
gold rows settle their item.

Examples
--------
>>> votes = Annotations(kind="nominal", items=("a",), classes=("x", "y"),
...     item=np.array([0, 0, 0]), label=np.array([1, 0, 1]))
>>> mean_vote(votes).mean
array([[0.333, 0.667]])
"""

import numpy as np

from equipoise.aggregate._entries import entries
from equipoise.aggregate._made import by_law
from equipoise.aggregate._people import unused_confidence
from equipoise.annotations import Annotations
from equipoise.laws import Labels
from equipoise.plausibilities import Plausibilities


def mean_vote(annotations: Annotations, *, task: str = "") -> Plausibilities:
    """Share of votes per class; one draw."""
    found = entries(annotations, task)
    item = np.repeat(np.arange(len(found.items)), np.diff(found.start))
    share = found.votes / found.total[item]
    law = Labels(share, np.zeros(len(found.items)))
    said = unused_confidence(annotations, "mean vote")
    return by_law(found, law, method="mean vote", task=task, notices=said)
