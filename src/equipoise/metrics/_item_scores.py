"""Scores of single items, for looking at the items a model does worst on."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from equipoise.arrays import InputError, PerItem, nearest
from equipoise.metrics._names import parsed
from equipoise.metrics.accuracy import accuracy_per_item
from equipoise.metrics.brier_score import brier_score_per_item
from equipoise.metrics.expected_cost import expected_cost_per_item
from equipoise.metrics.jensen_shannon import jensen_shannon_per_item
from equipoise.metrics.log_score import log_score_per_item
from equipoise.metrics.mean_absolute_error import mean_absolute_error_per_item
from equipoise.metrics.ranked_probability_score import ranked_probability_score_per_item
from equipoise.metrics.squared_absolute_rps import squared_absolute_rps_per_item
from equipoise.metrics.total_variation import total_variation_per_item

MEANS: Mapping[str, Callable[..., PerItem]] = {
    "ranked_probability_score": ranked_probability_score_per_item,
    "squared_absolute_rps": squared_absolute_rps_per_item,
    "brier_score": brier_score_per_item,
    "log_score": log_score_per_item,
    "mean_absolute_error": mean_absolute_error_per_item,
    "expected_cost": expected_cost_per_item,
    "accuracy": accuracy_per_item,
    "total_variation": total_variation_per_item,
    "jensen_shannon": jensen_shannon_per_item,
}
HIGHER = ("accuracy",)  # of these, those of which more is better


class ItemScore(NamedTuple):
    """One item and its score."""

    item: str
    score: float


def item_scores(name: str, y_true: Any, probabilities: Any) -> PerItem:
    """Score of every item by a metric that is a mean over items, shape (items,).

    Parameters
    ----------
    name
        Name of the metric with its parameters, such as ``expected_cost:cost=linear``.
    y_true, probabilities
        As the metric takes them.

    Examples
    --------
    >>> item_scores("ranked_probability_score", [0, 2], [[0, 1, 0], [0.5, 0, 0.5]])
    array([0.5 , 0.25])
    """
    metric, given = parsed(name)
    if metric not in MEANS:
        raise InputError(
            "item scores", f"{name!r}", "a metric that is a mean over items",
            nearest(metric, MEANS),
        )  # fmt: skip
    try:
        return MEANS[metric](y_true, probabilities, **given)
    except TypeError:
        raise InputError(
            f"item scores, metric {name!r}", f"parameters {', '.join(given)}",
            "parameters that this metric has", f"see the documentation of {metric}",
        ) from None  # fmt: skip


def worst_items(
    name: str, y_true: Any, probabilities: Any, items: Sequence[str], most: int = 10
) -> list[ItemScore]:
    """Items on which a model does worst, the worst first, equal ones by name.

    Scores that agree to 12 decimals are equal; undefined ones are left out.

    Examples
    --------
    >>> worst_items("brier_score", [0, 1, 1], [0.1, 0.2, 0.9], ["a", "b", "c"], most=1)
    [ItemScore(item='b', score=1.28)]
    """
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise InputError(
            "worst items, most", f"{most!r}", "a whole number of at least 1", "say how many"
        )
    scores = item_scores(name, y_true, probabilities)
    if len(items) != len(scores):
        raise InputError(
            "worst items", f"{len(items)} names", f"{len(scores)}, one per item", "align them"
        )
    badness = np.round(-scores if parsed(name)[0] in HIGHER else scores, 12)
    known = [i for i, undefined in enumerate(np.isnan(scores)) if not undefined]
    ranked = sorted(known, key=lambda i: (-badness[i], str(items[i])))
    return [ItemScore(str(items[i]), float(scores[i])) for i in ranked[:most]]
