r"""Overlap at k under doubt: the share of the k most plausible classes that a model finds.

.. math:: \frac1n \sum_i \mathrm{E}\,\frac{|Y_k(\lambda_i) \cap C_k(x_i)|}{k}

:math:`Y_k(\lambda_i)` are the k most plausible classes of item i in a possible truth and
:math:`C_k(x_i)` the model's k best. If b classes are tied for the last q places, each of them
counts q/b: the expectation over all ways to break the tie.

References
----------
Stutz et al., *Evaluating medical AI systems in dermatology under uncertain ground truth*.

Examples
--------
>>> truth = Plausibilities.dense(np.array([[[0.5, 0.3, 0.2]], [[0.4, 0.3, 0.3]]]),
...     items=("scan",), classes=("naevus", "melanoma", "wart"), method="by hand")
>>> overlap(truth, [[0.3, 0.6, 0.1]], 2)
0.875
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


def overlap(plausibilities: Plausibilities, probabilities: Any, k: int = 3) -> float:
    """Mean share of the k most plausible classes that are among the model's first k.

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


def overlap_per_item(plausibilities: Plausibilities, probabilities: Any, k: int = 3) -> PerItem:
    """The same share of every item, shape (items,)."""
    return plain_draws_per_item(metric(k=k), plausibilities, probabilities)


def metric(*, k: int = 3) -> Metric:
    """Overlap at k for the engine."""
    checked_k(k)

    def prepare(probabilities: Any) -> First:
        return first_classes(probabilities, k)

    return Metric(
        name=parameters("overlap", {"k": 3}, {"k": k}),
        title=f"overlap@{k}",
        soft_title=f"uncertainty-adjusted overlap@{k}",
        definition=f"Share of the {k} most plausible classes among the model's first {k}.",
        family=f"overlap {k}",
        prepare=prepare,
        reduce=draw_reduce,
        finish=draw_finish,
        needs="probabilities",
        labels="draws",
        score_draws=score_overlap([(k, k, 1 / k)]),
        topic="Under a model of the truth, with --truth",
        references=("stutz2025",),
    )
