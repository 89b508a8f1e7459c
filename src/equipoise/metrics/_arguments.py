"""Checks of what a caller hands to a plain metric call, and the two kinds of weight."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.types.arrays import (
    Floats,
    InputError,
    PerItem,
    require_finite,
    require_simplex,
    require_whole,
)


@dataclass(frozen=True, slots=True)
class Copies:
    """Frequency weights: item i stands for ``counts[i]`` identical items.

    The result equals the metric on the expanded arrays. An array given as `weights` without
    this wrapper holds importance weights, as scikit-learn's ``sample_weight``; with soft
    labels the two differ, because copies of an item can be paired with each other.
    """

    counts: Any


@dataclass(frozen=True, slots=True)
class Weights:
    """Checked weights: what an item counts, and what it counts against itself."""

    each: PerItem
    own: PerItem
    copies: bool


def checked_weights(weights: Any, items: int) -> Weights:
    """Read `weights` of a plain call: None, an array, or `Copies`."""
    if weights is None:
        return Weights(np.ones(items), np.ones(items), copies=True)
    copies = isinstance(weights, Copies)
    array = _numbers(weights.counts if copies else weights, "weights")
    if array.shape != (items,):
        raise InputError(
            "weights", f"shape {array.shape}", f"({items},)", "give one weight per item"
        )
    require_finite(array, where="weights")
    if (array < 0).any() or (copies and (array != np.floor(array)).any()):
        what = "whole numbers of at least 0" if copies else "numbers of at least 0"
        raise InputError("weights", f"{array.min():g} among them", what, "correct them")
    return Weights(array, array if copies else array**2, copies)


def checked_k(k: int) -> int:
    """Return k if it is a whole number of at least 1."""
    return require_whole("k", k, least=1, do="say how many to look at")


def checked_labels(y_true: Any, y_score: Any) -> tuple[Floats, Floats]:
    """Return labels and scores as float arrays, (items,) or (items, classes) both.

    One label per item with class scores is read as class codes 0, 1, ..., K-1.
    """
    scores = _numbers(y_score, "y_score")
    labels = _numbers(y_true, "y_true")
    if scores.ndim not in (1, 2) or labels.ndim not in (1, 2) or len(scores) != len(labels):
        raise InputError(
            "y_true and y_score",
            f"shapes {labels.shape} and {scores.shape}",
            "(items,) and (items,), or (items, classes) both",
            "align them item by item",
        )
    if not len(scores):
        raise InputError("y_score", "no items", "at least one", "check the input")
    require_finite(scores, where="y_score")
    require_finite(labels, where="y_true")
    if scores.ndim == 1:
        return _binary(labels), scores
    return _distributions(labels, scores.shape[1]), scores


def checked_scores(y_true: Any, y_score: Any, *, do: str) -> tuple[Floats, Floats]:
    """The same of one class, both (items,); with class scores `do` says what to do."""
    labels, scores = checked_labels(y_true, y_score)
    if scores.ndim == 2:
        got = f"{scores.shape[1]} classes"
        raise InputError("y_score", got, "one score per item", do)
    return labels, scores


def _numbers(values: Any, name: str) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            name, "values that are not numbers", "an array of numbers", "encode them first"
        ) from None


def _binary(labels: Floats) -> Floats:
    if labels.ndim != 1:
        raise InputError(
            "y_true",
            f"shape {labels.shape}",
            "one label per item for one score per item",
            "take the column of the positive class",
        )
    outside = (labels < 0) | (labels > 1)
    if outside.any():
        spot = int(np.flatnonzero(outside)[0])
        raise InputError(
            f"y_true, item {spot}",
            f"label {labels[spot]:g}",
            "a number in [0, 1]",
            "give 0, 1 or the share of positive votes",
        )
    return labels


def _distributions(labels: Floats, classes: int) -> Floats:
    if labels.ndim == 2:
        if labels.shape[1] != classes:
            raise InputError(
                "y_true",
                f"{labels.shape[1]} classes",
                f"{classes}, as in y_score",
                "align them",
            )
        require_simplex(labels, where="y_true")
        return labels
    codes = labels.astype(np.intp)
    if (codes != labels).any() or codes.min() < 0 or codes.max() >= classes:
        raise InputError(
            "y_true",
            f"labels from {labels.min():g} to {labels.max():g}",
            f"class codes 0 to {classes - 1}",
            "encode classes by their column in y_score",
        )
    return np.asarray(np.eye(classes)[codes])
