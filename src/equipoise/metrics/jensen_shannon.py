r"""Jensen-Shannon divergence between the model's and the annotators' distributions.

.. math:: \mathrm{JS}(p, \pi) = H\!\left(\tfrac{p + \pi}{2}\right) - \tfrac{H(p) + H(\pi)}{2}

In bits, so between 0 and 1; finite also where one of the two gives a class no chance at all.
Averaged over items.

References
----------
Lin (1991), *Divergence measures based on the Shannon entropy*.

Examples
--------
>>> jensen_shannon([[1, 0]], [[0, 1]])
1.0
"""

from typing import Any

import numpy as np

from equipoise.arrays import Floats, PerItem
from equipoise.metrics._distributions import (
    checked_distributions,
    entropy,
    itself,
    mean_finish,
    mean_influence,
    mean_reduce,
    over_classes,
    weighted_mean,
)
from equipoise.metrics._metric import Metric


def jensen_shannon(y_true: Any, probabilities: Any, *, weights: Any = None) -> float:
    """Mean Jensen-Shannon divergence in bits; lower is better."""
    return weighted_mean(jensen_shannon_per_item(y_true, probabilities), weights)


def jensen_shannon_per_item(y_true: Any, probabilities: Any) -> PerItem:
    """Jensen-Shannon divergence of every item in bits, shape (items,)."""
    labels, predicted = checked_distributions(y_true, probabilities)
    return _score(labels.T, predicted)


def metric() -> Metric:
    """Jensen-Shannon divergence for the engine."""
    return Metric(
        name="jensen_shannon",
        title="Jensen-Shannon divergence",
        soft_title="Jensen-Shannon divergence",
        definition="Divergence between predicted and label distribution in bits, 0 to 1.",
        family="jensen shannon",
        prepare=itself,
        reduce=mean_reduce(_score),
        finish=mean_finish,
        better="lower",
        needs="probabilities",
        labels="distribution",
        influence=mean_influence(_score),
        per_item=jensen_shannon_per_item,
        topic="Distance from the distribution of votes, and its uncertainty",
    )


def _score(labels: Floats, predicted: Floats) -> Floats:
    wide = over_classes(predicted, labels)
    nats = entropy((wide + labels) / 2) - (entropy(wide) + entropy(labels)) / 2
    return np.asarray(np.clip(nats / np.log(2), 0.0, 1.0))
