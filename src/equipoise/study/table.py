r"""Two-way uncertainty of a table of votes, for as many items as fit into memory.

`evaluate` knows items and annotators by name, which takes memory for every name. Here items are
rows: the votes on a yes/no question are one byte each, shape (items, annotators), and all but
scores, labels and derivatives is sums. The parts are those of `evaluate` with soft labels
(`equipoise.inference.intervals`), with every item a unit of its own:

.. math:: R_r = \sum_i h_i s_i \frac{y_{ir} - p_i}{m_i}, \qquad
    \sum_{ir} C_{ir} C'_{ir} = \sum_i h_i h'_i s_i^2 \frac{p_i (1 - p_i)}{m_i}

with the scale of items and what is expected of votes alone as in
`equipoise.inference.ballots`.

Examples
--------
>>> votes = np.array([[1, 1, 1], [1, 0, 1], [0, 1, -1], [0, 0, 0]], dtype=np.int8)
>>> cell = table_uncertainty(votes, [[0.9, 0.6, 0.7, 0.1]], metrics=["auroc"])["auroc"]
>>> float(cell.values[0])
0.905
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

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
from equipoise.inference.ballots import centred_alone, expected_shares, item_scale
from equipoise.metrics import Influence, Metric, named
from equipoise.study.uncertainty import value_width
from equipoise.types import Floats, InputError, Ints, require_finite


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
    every_score = _scores(y_scores, len(table))
    panel = _panel(table, every_score)
    by_metric: list[list[tuple[Influence, Floats]]] = [[] for _ in chosen]
    for scores in every_score:
        order = chosen[0].prepare(scores)[0]
        for metric, models in zip(chosen, by_metric, strict=True):
            assert metric.influence is not None
            model = metric.influence(order, panel.labels)
            moves = table_moves(table, panel.labels, panel.scale * model.shares)
            alone = panel.moves * model.shares[panel.alone]
            models.append((model, moves + np.bincount(panel.reader, alone, len(moves))))
    return {metric.name: _cell(metric, by_metric.pop(0), panel) for metric in chosen}


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


class _Panel(NamedTuple):
    """Soft labels of items, what votes add to them, and the design of the votes.

    `noise` is the variance of labels by their votes and `scale` what undoes their centring;
    `alone`, `reader` and `moves` are the items with one vote among others, whose it is, and how
    far it is from what the scores of all models predict.
    """

    labels: Floats
    noise: Floats
    scale: Floats
    design: Design
    alone: Ints
    reader: Ints
    moves: Floats


def _panel(table: NDArray[np.int8], scores: Floats) -> _Panel:
    from equipoise.kernels.influence import table_labels

    items, people = table.shape
    sizes = (table >= 0).sum(axis=1, dtype=np.int16)
    if not sizes.all():
        spot = int(np.argmin(sizes))
        raise InputError(f"votes, item {spot}", "no vote", "at least one", "leave it out")
    alone = np.flatnonzero(sizes == 1) if (sizes > 1).any() else np.arange(0)
    scale, labels = item_scale(1 - 1 / sizes), np.empty(items)
    weights, together = np.zeros((2, people)), np.zeros((people, people))
    squares, within = table_labels(table, scale, labels, weights, together)
    noise = scale**2 * labels * (1 - labels) / sizes
    moves, reader = np.zeros(len(alone)), alone
    if len(alone):  # which together are one more item
        reader = np.argmax(table[alone] >= 0, axis=1)
        single = np.bincount(reader, minlength=people).astype(np.float64)
        together += centred_alone(single) - np.diag(single)
        moves = (labels - expected_shares(labels, scores))[alone]
        noise[alone] = moves**2
    voted = weights[0] > 0
    traces = dense_traces((np.diag(weights[1]) - together)[np.ix_(voted, voted)])
    crossing = Crossing(weights[0, voted], *traces, squares, within + len(alone))
    design = crossed_design(single_design(items), crossing, 1 / items)
    return _Panel(labels, noise, scale, design, alone, reader, moves)


def _cell(metric: Metric, models: list[tuple[Influence, Floats]], panel: _Panel) -> TwoWay:
    labels, noise, design = panel.labels, panel.noise, panel.design
    values = np.array([model.value for model, _ in models])
    people = np.stack([moves for _, moves in models])
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
