r"""Two-way uncertainty of a table of votes, for as many items as fit into memory.

`evaluate` knows items and annotators by name, which takes memory for every name. Here items are
rows: the votes on a yes/no question are one byte each, shape (items, annotators), and all but
scores, labels and derivatives is sums. The parts are those of `evaluate` with soft labels
(`equipoise.inference.intervals`), with every item a unit of its own:

.. math:: R_r = \sum_i h_i \frac{y_{ir} - p_i}{m_i}, \qquad
    \sum_{ir} C_{ir} C'_{ir} = \sum_i h_i h'_i \frac{p_i (1 - p_i)}{m_i}

Examples
--------
>>> votes = np.array([[1, 1, 1], [1, 0, 1], [0, 1, -1], [0, 0, 0]], dtype=np.int8)
>>> cell = table_uncertainty(votes, [[0.9, 0.6, 0.7, 0.1]], metrics=["auroc"])["auroc"]
>>> float(cell.values[0])
0.905
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.inference import (
    Crossing,
    Design,
    Reason,
    TwoWay,
    crossed_design,
    dense_traces,
    floor_of,
    population_of,
    single_design,
    two_way,
)
from equipoise.metrics import Influence, Metric, named
from equipoise.study.uncertainty import value_width
from equipoise.types.arrays import Floats, InputError, require_finite


def table_uncertainty(
    votes: Any, y_scores: Any, *, metrics: Sequence[str] = ("auroc", "average_precision")
) -> dict[str, TwoWay]:
    """Values of models and what their uncertainty is made of, by metric, with soft labels.

    Parameters
    ----------
    votes
        Whole numbers, shape (items, annotators): 1 for yes, 0 for no, -1 for no vote.
    y_scores
        Scores, shape (models, items), or (items,) for one model.
    metrics
        Names of metrics of scores with derivatives.
    """
    from equipoise.kernels.influence import table_moves

    table, chosen = _vote_table(votes), [_metric_with_derivatives(name) for name in metrics]
    labels, design, sizes = _labels(table)
    by_metric: list[list[tuple[Influence, Floats]]] = [[] for _ in chosen]
    for scores in _scores(y_scores, len(table)):
        order = chosen[0].prepare(scores)[0]
        for metric, models in zip(chosen, by_metric, strict=True):
            assert metric.influence is not None
            model = metric.influence(order, labels)
            models.append((model, table_moves(table, labels, model.shares)))
    return {
        metric.name: _cell(metric, by_metric.pop(0), labels, design, sizes) for metric in chosen
    }


def _vote_table(votes: Any) -> NDArray[np.int8]:
    table = np.asarray(votes)
    fine = table.ndim == 2 and table.size and np.issubdtype(table.dtype, np.integer)
    if not fine or table.min() < -1 or table.max() > 1:
        raise InputError(
            "votes",
            f"{table.dtype} of shape {table.shape}",
            "whole numbers 1, 0 and -1 (no vote), one row per item, one column per annotator",
            "encode the votes as int8",
        )
    return np.ascontiguousarray(table, dtype=np.int8)


def _scores(y_scores: Any, items: int) -> Floats:
    scores = np.atleast_2d(np.asarray(y_scores, dtype=np.float64))
    if scores.ndim != 2 or not len(scores) or scores.shape[1] != items:
        raise InputError(
            "y_scores",
            f"shape {scores.shape}",
            f"(models, {items:,}), one score per item",
            "align them with the rows of the votes",
        )
    require_finite(scores, where="y_scores")
    return scores


def _metric_with_derivatives(name: str) -> Metric:
    metric = named(name)
    if metric.influence is None or metric.labels != "classes":
        raise InputError(
            f"metric {name}",
            "no derivatives by the labels of items",
            "auroc or average_precision in their default forms",
            "evaluate annotations and predictions instead",
        )
    return metric


def _labels(table: NDArray[np.int8]) -> tuple[Floats, Design, NDArray[np.int16]]:
    """Soft labels, the design of the votes, and the number of votes of every item."""
    from equipoise.kernels.influence import table_labels

    items, people = table.shape
    labels, weight = np.empty(items), np.zeros(people)
    together = np.zeros((people, people))
    inverse_sizes, within, fewest = table_labels(table, labels, weight, together)
    if fewest == 0:
        spot = int(np.flatnonzero((table < 0).all(axis=1))[0])
        raise InputError(f"votes, item {spot}", "no vote", "at least one", "leave it out")
    sizes = (table >= 0).sum(axis=1, dtype=np.int16)
    voted = weight > 0
    traces = dense_traces(np.diag(weight[voted]) - together[np.ix_(voted, voted)])
    crossing = Crossing(weight[voted], *traces, inverse_sizes, within)
    return labels, crossed_design(single_design(items), crossing, 1 / items), sizes


def _cell(
    metric: Metric,
    models: list[tuple[Influence, Floats]],
    labels: Floats,
    design: Design,
    sizes: NDArray[np.int16],
) -> TwoWay:
    values = np.array([model.value for model, _ in models])
    people = np.stack([moves for _, moves in models])
    noise = labels * (1 - labels) / sizes
    cells = np.array(
        [[(model.shares * other.shares) @ noise for other, _ in models] for model, _ in models]
    )
    influence = np.stack([model.items for model, _ in models])
    reason = Reason.ALONE if design.annotators == 1 else Reason.NONE
    cell = two_way(
        values,
        influence,
        None,
        design=design,
        population=population_of(design, named=True, reason=reason),
        votes=(people @ people.T, cells),
    )
    rare = max(min(float(labels.sum()), float(len(labels) - labels.sum())), 1.0)
    units = min(float(design.units), rare)
    return replace(cell, floor=floor_of(units, value_width(metric, values)))
