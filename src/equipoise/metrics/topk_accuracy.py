r"""Top-k accuracy under doubt: how surely the model's first k hold the truth.

.. math:: \frac1n \sum_i P\big(\arg\max_c \lambda_{ic} \in C_k(x_i)\big)

:math:`\lambda_i` is a possible truth of item i, a distribution over classes, and
:math:`C_k(x_i)` the model's k best classes, the first of equals first. Ties in :math:`\lambda`
count by the share of tie-breaks that agree. Where the law of the draws is known the chance is
exact, without Monte Carlo error. By hard labels the one truth is the mean of the draws.

References
----------
Stutz et al., *Evaluating medical AI systems in dermatology under uncertain ground truth*.

Examples
--------
>>> truth = Plausibilities.dense(np.array([[[0.5, 0.3, 0.2]], [[0.4, 0.4, 0.2]]]),
...     items=("scan",), classes=("naevus", "melanoma", "wart"), method="by hand")
>>> topk_accuracy(truth, [[0.1, 0.6, 0.3]])
0.25
>>> topk_accuracy(truth, [[0.3, 0.6, 0.1]], 2)
1.0
"""

from typing import Any

import numpy as np

from equipoise.arrays import PerItem
from equipoise.metrics._draws import (
    DrawScores,
    First,
    draw_finish,
    draw_reduce,
    entry_items,
    entry_ranks,
    first_classes,
    overlap_table,
    plain_draws,
    plain_draws_per_item,
    unmentioned,
)
from equipoise.metrics._metric import Metric, parameters
from equipoise.metrics._top import checked_k
from equipoise.plausibilities import Plausibilities


def topk_accuracy(plausibilities: Plausibilities, probabilities: Any, k: int = 1) -> float:
    """Mean chance that the most plausible class is among the model's first k.

    Parameters
    ----------
    plausibilities
        Possible truths of every item.
    probabilities
        Class probabilities (items, classes), in the order of the plausibilities.
    k
        How many classes the model may name.
    """
    return plain_draws(metric(k=k), plausibilities, probabilities)


def topk_accuracy_per_item(
    plausibilities: Plausibilities, probabilities: Any, k: int = 1
) -> PerItem:
    """The same chance of every item, shape (items,)."""
    return plain_draws_per_item(metric(k=k), plausibilities, probabilities)


def metric(*, k: int = 1) -> Metric:
    """Top-k accuracy for the engine."""
    checked_k(k)

    def prepare(probabilities: Any) -> First:
        return first_classes(probabilities, k)

    return Metric(
        name=parameters("topk_accuracy", {"k": 1}, {"k": k}),
        title=f"top-{k} accuracy",
        soft_title=f"uncertainty-adjusted top-{k} accuracy",
        definition="Chance that the most plausible class is "
        + ("the model's first." if k == 1 else f"among the model's first {k}."),
        family=f"topk_accuracy {k}",
        prepare=prepare,
        reduce=draw_reduce,
        finish=draw_finish,
        needs="probabilities",
        labels="draws",
        score_draws=_score_draws,
        topic="Under a model of the truth, with --truth",
        references=("stutz2025",),
    )


def _score_draws(model: First, plausibilities: Plausibilities) -> DrawScores:
    rank, k = entry_ranks(model, plausibilities), model.first.shape[1]
    value = overlap_table(rank, plausibilities, [(1, k, 1.0)])
    if plausibilities.law is None:
        return DrawScores(value)
    entry, rest = plausibilities.top()
    own = np.bincount(entry_items(plausibilities), entry * (rank < k), len(rest))
    mean = own + rest * unmentioned(rank, k, plausibilities)
    return DrawScores(value, mean=np.clip(mean, 0.0, 1.0))
