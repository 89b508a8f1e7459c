"""Distributions: what metrics of class probabilities check, and the sums they take.

A metric of whole distributions compares the model's distribution over classes with the label
distribution of each item. Its block holds one truth per class, all classes, each fixed
(items,) or different in every replicate (items, replicates).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.arrays import Floats, InputError, PerItem, PerReplicate, require_simplex
from equipoise.metrics._arguments import checked_labels, checked_weights
from equipoise.metrics._metric import Block, Prepared

PerItemScore = Callable[[Floats, Prepared], Floats]


def checked_distributions(y_true: Any, probabilities: Any) -> tuple[Floats, Floats]:
    """Return label and predicted distributions, both (items, classes).

    One number per item is the probability (or the soft label) of the second of two classes;
    one whole number per item with class probabilities is a class code.
    """
    labels, predicted = checked_labels(y_true, probabilities)
    if predicted.ndim == 1:
        outside = (predicted < 0) | (predicted > 1)
        if outside.any():
            spot = int(np.flatnonzero(outside)[0])
            raise InputError(
                f"probabilities, item {spot}",
                f"{predicted[spot]:g}",
                "a number in [0, 1]",
                "give probabilities, not scores",
            )
        return np.stack([1 - labels, labels], 1), np.stack([1 - predicted, predicted], 1)
    if predicted.shape[1] < 2:
        raise InputError(
            "probabilities",
            "a single class",
            "at least two classes",
            "give one column per class, or one probability per item",
        )
    require_simplex(predicted, where="probabilities")
    return labels, predicted


def weighted_mean(values: PerItem, weights: Any) -> float:
    """Mean over items; `weights` as everywhere, nan without any weight."""
    each = checked_weights(weights, len(values)).each
    total = each.sum()
    if not total > 0:
        return float("nan")
    return float((np.where(each > 0, values, 0.0) * each).sum() / total)


def mean_reduce(score: PerItemScore) -> Callable[[Prepared, Block], Floats]:
    """Sum a score over items, for metrics that are means of one number per item.

    ``score(labels, prepared)`` takes labels (classes, items, ...) and returns (items, ...).
    The sums are: finite scores, number of infinite ones, number of items; items whose score is
    undefined (nan) are left out of all three.
    """

    def reduce(prepared: Prepared, block: Block) -> Floats:
        labels = np.stack([truth.positive for truth in block.classes])
        values = score(labels, prepared)
        values = values[:, None] if values.ndim == 1 else values
        known, endless = ~np.isnan(values), np.isposinf(values)
        plain = np.where(known & ~endless, values, 0.0)
        counts = block.counts.astype(np.float64)
        return np.stack([total(part, counts) for part in (plain, endless, known)])

    return reduce


def total(values: NDArray[Any], counts: Floats) -> Floats:
    """Sum over items of values (items, 1 or replicates) times counts (items, replicates)."""
    if values.shape[1] == 1:
        return np.asarray(np.einsum("i,ir->r", values[:, 0].astype(np.float64), counts))
    return np.asarray(np.einsum("ir,ir->r", values.astype(np.float64), counts))


def mean_finish(sums: Floats) -> PerReplicate:
    """Mean of the scores that are defined; infinite if one is, nan without items."""
    plain, endless, number = sums
    mean = plain / np.where(number > 0, number, 1.0)
    return np.where(number > 0, np.where(endless > 0, np.inf, mean), np.nan)


def mean_influence(
    score: PerItemScore,
) -> Callable[[Prepared, Floats], tuple[float, PerItem]]:
    """Value and influence of a mean over items; labels come as (items, classes).

    The influence is undefined where the mean is, or is infinite.
    """

    def influence(prepared: Prepared, labels: Floats) -> tuple[float, PerItem]:
        values = score(labels.T, prepared)
        value = float(values.mean())
        if not np.isfinite(value):
            return value, np.full(len(values), np.nan)
        return value, np.asarray((values - value) / len(values))

    return influence


def expected_loss(labels: Floats, losses: Floats) -> Floats:
    """Mean loss over the label distribution of each item: the expected score of a vote.

    ``labels`` is (classes, items, ...), ``losses`` (items, classes): what the prediction
    loses if the truth is that class. A class without mass costs nothing, however large its
    loss.

    Examples
    --------
    >>> expected_loss(np.array([[1.0, 0.5], [0.0, 0.5]]), np.array([[0.0, np.inf], [1.0, 2.0]]))
    array([0. , 1.5])
    """
    value = np.zeros(labels.shape[1:])
    for mass, loss in zip(labels, losses.T, strict=True):
        wide = loss.reshape(-1, *[1] * (mass.ndim - 1))
        if np.isfinite(loss).all():
            value += mass * wide
        else:
            value += np.where(mass > 0, np.where(mass > 0, mass, 1.0) * wide, 0.0)
    return value


def itself(predicted: Floats) -> Floats:
    """Prepare nothing: the score needs the predicted distributions as they are."""
    return predicted


def over_classes(predicted: Floats, labels: Floats) -> Floats:
    """Predicted distributions (items, classes) in the shape of labels (classes, items, ...)."""
    return predicted.T.reshape(*predicted.T.shape, *[1] * (labels.ndim - 2))


def entropy(distributions: Floats) -> Floats:
    """Entropy in nats over the first axis, the classes."""
    safe = np.where(distributions > 0, distributions, 1.0)
    return np.asarray(-(distributions * np.log(safe)).sum(axis=0))
