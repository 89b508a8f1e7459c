r"""Total variation: how much probability would have to move to match the annotators.

.. math:: \mathrm{TV}(p, \pi) = \tfrac12 \sum_k |p_k - \pi_k|

Between the model's distribution and the label distribution of each item, averaged over items.
A few votes scatter around what many would say, so even a perfect model is not at 0.

Examples
--------
>>> total_variation([[0.5, 0.5], [1, 0]], [[0.8, 0.2], [1, 0]])
0.15
"""

from typing import Any

import numpy as np

from equipoise.arrays import Floats, PerItem
from equipoise.metrics._distributions import (
    checked_distributions,
    itself,
    mean_finish,
    mean_influence,
    mean_reduce,
    over_classes,
    weighted_mean,
)
from equipoise.metrics._metric import Metric


def total_variation(y_true: Any, probabilities: Any, *, weights: Any = None) -> float:
    """Mean total variation distance to the label distributions; lower is better."""
    return weighted_mean(total_variation_per_item(y_true, probabilities), weights)


def total_variation_per_item(y_true: Any, probabilities: Any) -> PerItem:
    """Total variation of every item, shape (items,)."""
    labels, predicted = checked_distributions(y_true, probabilities)
    return _score(labels.T, predicted)


def metric() -> Metric:
    """Total variation for the engine."""
    return Metric(
        name="total_variation",
        title="total variation",
        soft_title="total variation",
        definition="Half the summed distance between predicted and label distribution.",
        family="total variation",
        prepare=itself,
        reduce=mean_reduce(_score),
        finish=mean_finish,
        better="lower",
        needs="probabilities",
        labels="distribution",
        influence=mean_influence(_score),
        per_item=total_variation_per_item,
        topic="Distance from the distribution of votes, and its uncertainty",
    )


def _score(labels: Floats, predicted: Floats) -> Floats:
    return np.asarray(np.abs(over_classes(predicted, labels) - labels).sum(axis=0) / 2)
