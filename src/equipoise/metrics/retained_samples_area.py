r"""Area under the retained-samples curve, as the mean height of the curve.

.. math:: A = \frac{1}{f_{\max}} \int_0^{f_{\max}} h(f)\, df

By trapezoids on an even grid (41 points up to 0.2 by default). The curve h is that of
`retained_samples_curve`: a metric of decisions on what is left when the fraction f of items
with the worst score of their own is removed. Undefined where the metric is undefined at any of
the cuts.

``scale="paper"`` gives the published number: the area over the percent removed, which is the
mean height times 100 :math:`f_{\max}` (times 20 by default), with the expected cost in grades,
:math:`|i - j|`, not divided by K - 1.

References
----------
Galdran (2023), *Performance metrics for probabilistic ordinal classifiers*.

Examples
--------
>>> truth, model = [0, 1, 2, 2], [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0.4, 0]]
>>> retained_samples_area(truth, model, metric="accuracy", max_removed=0.25, points=3)
0.866
"""

from functools import partial
from typing import Any, Unpack

from equipoise.metrics._distributions import itself
from equipoise.metrics._metric import Metric, parameters
from equipoise.metrics.retained_samples_curve import (
    Curve,
    Retained,
    plain_tables,
    retained_samples_curve,
)

NAME = "retained_samples_area"
WORDS = {
    "quadratic_weighted_kappa": "quadratic weighted kappa",
    "expected_cost": "expected cost",
    "accuracy": "accuracy",
}


def retained_samples_area(
    y_true: Any, probabilities: Any, *, weights: Any = None, **how: Unpack[Curve]
) -> float:
    """Mean height of the retained-samples curve.

    Parameters
    ----------
    y_true, probabilities, weights, score, metric, max_removed, points, scale
        As in `retained_samples_curve`; ``scale="paper"`` gives the published number.
    """
    curve = Retained(**how)
    return float(curve.area(plain_tables(curve, y_true, probabilities, weights))[0])


def metric(**how: Unpack[Curve]) -> Metric:
    """Area under the retained-samples curve for the engine."""
    curve = Retained(**how)
    facts = ("score", "metric", "max_removed", "points", "scale")
    given = {fact: getattr(curve, fact) for fact in facts}
    usual = {fact: getattr(Retained(), fact) for fact in facts}
    what = WORDS[curve.metric]
    return Metric(
        name=parameters(NAME, usual, given),
        title=f"retained-samples {what}",
        soft_title=f"retained-samples soft {what}",
        definition=f"{_scale(curve)} of the {what} when up to {curve.max_removed:.0%} of the "
        f"items, those with the worst {curve.rule.title}, are removed.",
        family=f"retained {curve.score} {curve.max_removed} {curve.points}",
        prepare=itself,
        reduce=curve.reduce,
        finish=curve.area,
        better=curve.height.better,
        bounds=curve.bounds,
        needs="probabilities",
        ordered=curve.rule.ordered or curve.height.ordered,
        labels="distribution",
        curve=partial(retained_samples_curve, **how),
        topic="Leaving doubtful items to experts",
        references=("galdran2023",),
    )


def _scale(curve: Retained) -> str:
    return "Area over the percent removed" if curve.scale == "paper" else "Mean height"
