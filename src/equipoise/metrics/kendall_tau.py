r"""Kendall's tau-b under doubt: does a model order the mentioned classes as they are plausible?

.. math:: \tau_b = \frac{\sum_{a<b} \operatorname{sign}(s_a - s_b)
    \operatorname{sign}(\lambda_a - \lambda_b)}{\sqrt{T_s\, T_\lambda}}

over the pairs of classes that somebody mentioned for the item, with the number of pairs that
are not tied in the model's scores (:math:`T_s`) and in the possible truth
(:math:`T_\lambda`). It is 1 for the same order, -1 for the reverse, about 0 for chance.
Undefined (nan) with fewer than two mentioned classes, or when all of them are tied on one side;
such items and draws are left out of the mean. Cost grows with the square of the number of
mentioned classes.

References
----------
Kendall (1945), *The treatment of ties in ranking problems*.

Examples
--------
>>> truth = Plausibilities.dense(np.array([[[0.5, 0.3, 0.2]], [[0.3, 0.5, 0.2]]]),
...     items=("scan",), classes=("naevus", "melanoma", "wart"), method="by hand")
>>> kendall_tau(truth, [[0.6, 0.3, 0.1]])
0.667
"""

from typing import Any

from equipoise.arrays import PerItem
from equipoise.metrics._draws import (
    class_scores,
    draw_finish,
    draw_reduce,
    plain_draws,
    plain_draws_per_item,
    score_order,
)
from equipoise.metrics._metric import Metric
from equipoise.plausibilities import Plausibilities


def kendall_tau(plausibilities: Plausibilities, probabilities: Any) -> float:
    """Mean tau-b between a model's scores and the possible truths of the mentioned classes.

    Parameters
    ----------
    plausibilities
        Possible truths of every item.
    probabilities
        Class probabilities (items, classes), in the order of the plausibilities.
    """
    return plain_draws(metric(), plausibilities, probabilities)


def kendall_tau_per_item(plausibilities: Plausibilities, probabilities: Any) -> PerItem:
    """The same mean of every item, shape (items,); nan where undefined in all draws."""
    return plain_draws_per_item(metric(), plausibilities, probabilities)


def metric() -> Metric:
    """Kendall's tau-b for the engine."""
    return Metric(
        name="kendall_tau",
        title="Kendall tau",
        soft_title="uncertainty-adjusted Kendall tau",
        definition="Kendall's tau-b between the model's scores and the plausibilities of the "
        "classes mentioned for an item; items with fewer than two are left out.",
        family="kendall_tau",
        prepare=class_scores,
        reduce=draw_reduce,
        finish=draw_finish,
        bounds=(-1.0, 1.0),
        needs="probabilities",
        labels="draws",
        score_draws=score_order("kendall"),
        topic="Under a model of the truth, with --truth",
    )
