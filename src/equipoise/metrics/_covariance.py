"""Values and covariances of several models on the same items, at once and without resampling.

For very many items: the influence of every item on every model gives all standard errors and
paired covariances in one pass per model, see `equipoise.metrics._influence`.
"""

from typing import Any

import numpy as np

from equipoise.arrays import Floats, InputError, Ints
from equipoise.metrics._arguments import checked_labels
from equipoise.metrics._metric import Metric


def influence_covariance(
    y_true: Any, y_scores: Any, *, metric: Metric, group: Any = None
) -> tuple[Floats, Floats]:
    """Values (models,) and covariance (models, models) of a metric by influence functions.

    Parameters
    ----------
    y_true
        Labels in [0, 1], shape (items,).
    y_scores
        Scores, shape (models, items), or (items,) for one model.
    metric
        A metric with an influence function, such as ``named("auroc")``.
    group
        Group of each item, shape (items,), when items of a group depend on each other.

    Examples
    --------
    >>> from equipoise.metrics import named
    >>> labels, scores = [1, 0.75, 0.25, 0.5, 0], [0.9, 0.8, 0.7, 0.6, 0.5]
    >>> values, covariance = influence_covariance(labels, scores, metric=named("auroc"))
    >>> values, np.sqrt(np.diag(covariance))
    (array([0.9]), array([0.092]))
    """
    if metric.influence is None:
        raise InputError(
            f"metric {metric.name}", "no influence function",
            "auroc or average_precision in their default forms", "resample items instead",
        )  # fmt: skip
    unit = None if group is None else np.unique(np.asarray(group), return_inverse=True)[1]
    values, gradients = [], []
    for scores in np.atleast_2d(np.asarray(y_scores, dtype=np.float64)):
        labels, checked = checked_labels(y_true, scores)
        value, g = metric.influence(metric.prepare(checked)[0], labels)
        values.append(value)
        gradients.append(g if unit is None else np.bincount(unit, g))
    return np.array(values), clustered(np.stack(gradients), unit)


def clustered(gradients: Floats, unit: Ints | None) -> Floats:
    """Covariance of gradients (cells, units), widened for the number of groups drawn."""
    units = gradients.shape[1]
    scale = 1.0 if unit is None or units < 2 else units / (units - 1)
    return np.asarray(gradients @ gradients.T * scale)
