r"""Average overlap under doubt: overlaps at 1 to k, so that the first places count most.

.. math:: \frac1n \sum_i \frac1k \sum_{j=1}^k
    \mathrm{E}\,\frac{|Y_j(\lambda_i) \cap C_j(x_i)|}{j}

:math:`Y_j(\lambda_i)` are the j most plausible classes of item i in a possible truth and
:math:`C_j(x_i)` the model's j best; ties as in `equipoise.metrics.overlap`. Two partial
rankings are compared by `equipoise.partial_rankings`.

References
----------
Stutz et al., *Evaluating medical AI systems in dermatology under uncertain ground truth*.
Webber, Moffat and Zobel (2010), *A similarity measure for indefinite rankings*.

Examples
--------
>>> truth = Plausibilities.dense(np.array([[[0.5, 0.3, 0.2]], [[0.4, 0.3, 0.3]]]),
...     items=("scan",), classes=("naevus", "melanoma", "wart"), method="by hand")
>>> average_overlap(truth, [[0.6, 0.3, 0.1]], 2)
0.9375
"""

from typing import Any

from equipoise.arrays import PerItem
from equipoise.metrics._draws import (
    First,
    draw_finish,
    draw_reduce,
    first_classes,
    plain_draws,
    plain_draws_per_item,
    score_overlap,
)
from equipoise.metrics._metric import Metric, parameters
from equipoise.metrics._top import checked_k
from equipoise.plausibilities import Plausibilities


def average_overlap(plausibilities: Plausibilities, probabilities: Any, k: int = 3) -> float:
    """Mean over j = 1..k of the overlap at j.

    Parameters
    ----------
    plausibilities
        Possible truths of every item.
    probabilities
        Class probabilities (items, classes), in the order of the plausibilities.
    k
        Size of the largest sets.
    """
    return plain_draws(metric(k=k), plausibilities, probabilities)


def average_overlap_per_item(
    plausibilities: Plausibilities, probabilities: Any, k: int = 3
) -> PerItem:
    """The same mean of every item, shape (items,)."""
    return plain_draws_per_item(metric(k=k), plausibilities, probabilities)


def metric(*, k: int = 3) -> Metric:
    """Average overlap for the engine."""
    checked_k(k)

    def prepare(probabilities: Any) -> First:
        return first_classes(probabilities, k)

    return Metric(
        name=parameters("average_overlap", {"k": 3}, {"k": k}),
        title=f"average overlap@{k}",
        soft_title=f"uncertainty-adjusted average overlap@{k}",
        definition=f"Mean over j = 1 to {k} of the share of the j most plausible classes among "
        "the model's first j.",
        family=f"average_overlap {k}",
        prepare=prepare,
        reduce=draw_reduce,
        finish=draw_finish,
        needs="probabilities",
        labels="draws",
        score_draws=score_overlap([(j, j, 1 / (j * k)) for j in range(1, k + 1)]),
        topic="Under a model of the truth, with --truth",
        references=("stutz2025",),
    )
