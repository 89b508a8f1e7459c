r"""Conditioned: a metric of possible truths on the cases of one group, such as high risk.

Which cases belong to the group is as uncertain as the truth. So every case counts by its chance
of belonging: in each draw the weight :math:`h_i` is 1 where the most plausible class is in the
group, else 0, and

.. math:: \frac{\sum_i E[v_i\,h_i]}{\sum_i E[h_i]}

with :math:`v_i` the metric's score of the case in the same draw. Where classes tie, or nobody
mentioned the most plausible one, both are chances within the draw, and are multiplied.

References
----------
Stutz et al., *Evaluating medical AI systems in dermatology under uncertain ground truth*.

Examples
--------
>>> from equipoise.metrics._draws import plain_draws
>>> from equipoise.metrics.topk_accuracy import metric
>>> values = np.array([[[0.5, 0.3, 0.2]], [[0.3, 0.5, 0.2]], [[0.2, 0.1, 0.7]]])
>>> truth = Plausibilities.dense(values, items=("scan",),
...     classes=("naevus", "melanoma", "wart"), method="by hand")
>>> risk = Grouping.of({"naevus": "low", "melanoma": "high", "wart": "low"}, name="risk")
>>> low = conditioned(metric(), risk, "low")
>>> low.name, plain_draws(low, truth, [[0.6, 0.3, 0.1]])
('topk_accuracy|risk=low', 0.5)
"""

from dataclasses import replace

from equipoise.arrays import InputError
from equipoise.groupings import Grouping, group_chance
from equipoise.metrics._draws import Met
from equipoise.metrics._metric import Metric, Prepared
from equipoise.plausibilities import Plausibilities


def conditioned(metric: Metric, grouping: Grouping, group: str) -> Metric:
    """The metric on cases weighted by the chance that their class is in a group.

    Parameters
    ----------
    metric
        A metric of possible truths, such as ``named("topk_accuracy:k=3")``.
    grouping, group
        Groups of the classes, and the one asked about.
    """
    grouping.code(group)
    meet = metric.meet
    if metric.labels != "draws" or meet is None:
        raise InputError(
            f"metric {metric.name}, within {group!r}", "a metric of labels",
            "a metric of possible truths: topk_accuracy, set_accuracy, overlap, ...",
            "choose one of these, or coarsen truth and predictions to the groups",
        )  # fmt: skip

    def weighed(prepared: Prepared, plausibilities: Plausibilities) -> Met:
        met: Met = meet(prepared, plausibilities)
        weight = group_chance(plausibilities, grouping, group)
        return Met(met.value, weight if met.weight is None else weight * met.weight)

    where = f"{grouping.name}={group}"
    words = f"where {grouping.name} is {group}"
    return replace(
        metric,
        name=f"{metric.name}|{where}",
        title=f"{metric.title} {words}",
        soft_title=f"{metric.soft_title} {words}",
        definition=f"{metric.definition} Cases count by the chance that the {grouping.name} of "
        f"their most plausible class is {group}.",
        family=f"{metric.family}|{where}",
        meet=weighed,
    )
