r"""Spearman's footrule under doubt: how far from its place does a model put a class?

.. math:: 1 - \frac{\sum_c |R_c(s) - R_c(\lambda)|}{\lfloor m^2 / 2 \rfloor}

over the m classes that somebody mentioned for the item, ranked among themselves by the model's
scores (R(s)) and by a possible truth (R(:math:`\lambda`)); tied classes take the mean of their
ranks. The denominator is the distance of an order from its reverse, the largest there is, so 1
means the same order (with the same ties) and 0 the reverse; independent orders have
:math:`1 - (m^2 - 1) / (3 \lfloor m^2 / 2 \rfloor)` on average, about 1/3. Undefined (nan) with
fewer than two mentioned classes; such items are left out of the mean. Cost grows with the
square of the number of mentioned classes.

References
----------
Diaconis and Graham (1977), *Spearman's footrule as a measure of disarray*.

Examples
--------
>>> truth = Plausibilities.dense(np.array([[[0.5, 0.3, 0.2]], [[0.3, 0.5, 0.2]]]),
...     items=("scan",), classes=("naevus", "melanoma", "wart"), method="by hand")
>>> spearman_footrule(truth, [[0.6, 0.3, 0.1]])
0.75
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


def spearman_footrule(plausibilities: Plausibilities, probabilities: Any) -> float:
    """Mean footrule similarity of a model's order and the possible orders.

    Parameters
    ----------
    plausibilities
        Possible truths of every item.
    probabilities
        Class probabilities (items, classes), in the order of the plausibilities.
    """
    return plain_draws(metric(), plausibilities, probabilities)


def spearman_footrule_per_item(plausibilities: Plausibilities, probabilities: Any) -> PerItem:
    """The same mean of every item, shape (items,); nan where undefined."""
    return plain_draws_per_item(metric(), plausibilities, probabilities)


def metric() -> Metric:
    """Spearman's footrule for the engine."""
    return Metric(
        name="spearman_footrule",
        title="Spearman footrule",
        soft_title="uncertainty-adjusted Spearman footrule",
        definition="1 minus the normalised footrule distance between the model's order and "
        "that of the plausibilities, over the classes mentioned for an item.",
        family="spearman_footrule",
        prepare=class_scores,
        reduce=draw_reduce,
        finish=draw_finish,
        needs="probabilities",
        labels="draws",
        score_draws=score_order("footrule"),
        topic="Under a model of the truth, with --truth",
    )
