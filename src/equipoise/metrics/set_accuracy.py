r"""Set accuracy under doubt: how surely the model's first k are the k most plausible classes.

.. math:: \frac1n \sum_i P\big(Y_k(\lambda_i) = C_k(x_i)\big)

:math:`Y_k(\lambda_i)` are the k most plausible classes of item i in a possible truth and
:math:`C_k(x_i)` the model's k best, both as sets. If b classes are tied for the last q places,
each of the C(b, q) ways to fill them is equally likely.

References
----------
Stutz et al., *Evaluating medical AI systems in dermatology under uncertain ground truth*.

Examples
--------
>>> truth = Plausibilities.dense(np.array([[[0.5, 0.3, 0.2]], [[0.4, 0.3, 0.3]]]),
...     items=("scan",), classes=("naevus", "melanoma", "wart"), method="by hand")
>>> set_accuracy(truth, [[0.3, 0.6, 0.1]], 2)
0.75
"""

from typing import Any

import numpy as np

from equipoise.arrays import PerItem
from equipoise.metrics._draws import (
    DrawScores,
    First,
    draw_finish,
    draw_reduce,
    entry_ranks,
    first_classes,
    kernel_truth,
    plain_draws,
    plain_draws_per_item,
)
from equipoise.metrics._metric import Metric, parameters
from equipoise.metrics._top import checked_k
from equipoise.plausibilities import Plausibilities


def set_accuracy(plausibilities: Plausibilities, probabilities: Any, k: int = 3) -> float:
    """Mean chance that the k most plausible classes are the model's first k.

    Parameters
    ----------
    plausibilities
        Possible truths of every item.
    probabilities
        Class probabilities (items, classes), in the order of the plausibilities.
    k
        Size of the sets.
    """
    return plain_draws(metric(k=k), plausibilities, probabilities)


def set_accuracy_per_item(
    plausibilities: Plausibilities, probabilities: Any, k: int = 3
) -> PerItem:
    """The same chance of every item, shape (items,)."""
    return plain_draws_per_item(metric(k=k), plausibilities, probabilities)


def metric(*, k: int = 3) -> Metric:
    """Set accuracy for the engine."""
    checked_k(k)

    def prepare(probabilities: Any) -> First:
        return first_classes(probabilities, k)

    return Metric(
        name=parameters("set_accuracy", {"k": 3}, {"k": k}),
        title=f"top-{k} set accuracy",
        soft_title=f"uncertainty-adjusted top-{k} set accuracy",
        definition=f"Chance that the {k} most plausible classes are the model's first {k}.",
        family=f"set_accuracy {k}",
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
    from equipoise.kernels.tops import matches

    value = np.empty((len(plausibilities.items), plausibilities.draws))
    rank = entry_ranks(model, plausibilities)
    matches(kernel_truth(plausibilities), rank, model.first.shape[1], value)
    return DrawScores(value)
