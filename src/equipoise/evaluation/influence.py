"""Influence functions: replicates without a bootstrap, and the items that matter most.

Replicates by influence functions are jointly normal, with exactly the paired covariances.

For a million items and more a bootstrap moves too many bytes. The influence g of every model on
a common item axis gives all variances and covariances at once, Cov = G G' (summed within groups
first when groups are drawn as a whole). Replicates are drawn from that normal law and then
centred and whitened, so that their mean is the value and their covariance is Cov exactly; every
difference, rank probability and macro average follows as from a bootstrap.

Influential items are those whose presence decides between the two best models: to first order,
leaving item i out changes the difference of two models' metric by minus the difference of their
influence functions at i.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.arrays import Floats, InputError, Ints, PerItem
from equipoise.evaluation.alignment import Aligned
from equipoise.metrics import Metric, Order, Prepared, clustered
from equipoise.resampling import Resampling

MOST = 20  # influential items


def gradient_replicates(
    aligned: Sequence[Aligned],
    prepared: Sequence[Sequence[Mapping[Any, Prepared]]],
    metrics: Sequence[Metric],
    plan: Resampling,
) -> Floats:
    """Replicates of shape (tasks, metrics, labels, models, replicates)."""
    for metric in metrics:
        if metric.influence is None:
            raise InputError(
                "resampling influence",
                f"metric {metric.name}",
                "a metric with an influence "
                "function (auroc, average_precision, proper scores, costs)",
                "leave the metric out or resample items",
            )
    out = np.empty((len(aligned), len(metrics), 2, len(prepared[0]), plan.replicates))
    for k, metric in enumerate(metrics):
        own = [[one[metric.prepare] for one in models] for models in prepared]
        for label in range(2):
            values, gradients = _gradients(aligned, own, metric, label)
            cells = _normal(values, _covariance(gradients, plan), plan)
            out[:, k, label] = cells.reshape(len(aligned), -1, plan.replicates)
    return out


def _gradients(
    aligned: Sequence[Aligned],
    prepared: Sequence[Sequence[Prepared]],
    metric: Metric,
    label: int,
) -> tuple[Floats, list[tuple[Ints, Floats]]]:
    """Value and (place, influence) of every task and model, tasks outermost."""
    assert metric.influence is not None
    values, gradients = [], []
    for one, models in zip(aligned, prepared, strict=True):
        block = one.question.once([metric.labels])[metric.labels][label]
        truth = np.stack([part.positive for part in block.classes])
        rows = np.flatnonzero(block.counts[:, 0])
        place = one.question.place
        if len(rows) < len(place):  # tied items that hard labels leave out
            truth, place = truth[:, rows], place[rows]
            models = [metric.prepare(scores[rows]) for scores in _scored(one, metric)]
        for model in models:
            if metric.labels == "distribution":
                value, gradient = metric.influence(model, truth.T)[:2]
            else:
                parts = [metric.influence(o, p)[:2] for o, p in zip(model, truth, strict=True)]
                value, gradient = class_average(parts, truth, metric.average)
            values.append(value)
            gradients.append((place, gradient))
    return np.array(values), gradients


def _scored(aligned: Aligned, metric: Metric) -> list[Floats]:
    """What every model says, as the metric takes it."""
    if metric.labels == "distribution":
        return [aligned.distributions(model) for model in aligned.scores]
    return list(aligned.scores.values())


def class_average(
    parts: list[tuple[float, Floats]], truth: Floats, average: str
) -> tuple[float, Floats]:
    """Value and influence of an average over classes, (classes, items) -> (items,)."""
    each = np.array([value for value, _ in parts])
    slopes = np.stack([g for _, g in parts])
    if average == "macro":
        return float(each.mean()), np.asarray(slopes.mean(axis=0))
    mass = truth.sum(axis=1)
    value = float(mass @ each / mass.sum())
    return value, np.asarray((mass @ slopes + (each - value) @ truth) / mass.sum())


def _covariance(gradients: list[tuple[Ints, Floats]], plan: Resampling) -> Floats:
    """Covariance of all cells on the common item axis, cluster-robust for groups."""
    units = len(plan.items) if plan.group is None else int(plan.group.max()) + 1
    rows = []
    for place, g in gradients:
        unit = place if plan.group is None else plan.group[place]
        rows.append(np.bincount(unit, g, units))
    return clustered(np.stack(rows), plan.group)


def _normal(values: Floats, covariance: Floats, plan: Resampling) -> Floats:
    """Normal replicates with exactly this mean and covariance, shape (cells, replicates)."""
    out = np.full((len(values), plan.replicates), np.nan)
    known = np.flatnonzero(~np.isnan(values) & ~np.isnan(np.diag(covariance)))
    if not len(known):
        return out
    size, direction = np.linalg.eigh(covariance[np.ix_(known, known)])
    kept = size > 1e-12 * max(float(size.max()), 1e-300)
    factor = direction[:, kept] * np.sqrt(size[kept])
    if plan.replicates <= kept.sum() + 1:
        raise InputError(
            "resampling influence",
            f"{plan.replicates} replicates",
            f"more than {int(kept.sum()) + 1}",
            "ask for more: they cost nothing here",
        )
    random = np.random.default_rng(np.random.Philox(key=int(plan.key("influence"))))
    noise = random.standard_normal((plan.replicates, factor.shape[1]))
    noise -= noise.mean(axis=0)
    if noise.shape[1]:
        root = np.linalg.cholesky(noise.T @ noise / plan.replicates)
        noise = np.linalg.solve(root, noise.T).T
    out[known] = values[known, None] + factor @ noise.T
    return out


@dataclass(frozen=True, slots=True)
class Influential:
    """The items of a task that matter most for the two best models.

    Attributes
    ----------
    task, metric, a, b
        Where, by which metric, and between which models (a the better one).
    items, soft_label, votes
        Names, soft labels (largest class share when there are several) and votes.
    position_a, position_b
        Share of items that the model scores lower, ties half, from 0 to 1.
    influence
        Change of the difference a - b if the item were left out.
    """

    task: str
    metric: str
    a: str
    b: str
    items: tuple[str, ...]
    soft_label: PerItem
    votes: PerItem
    position_a: PerItem
    position_b: PerItem
    influence: PerItem


def influential_items(
    aligned: Aligned, prepared: Sequence[tuple[Order, ...]], metric: Metric, soft: Floats
) -> Influential | None:
    """Rank items by their influence on the difference of the two best models.

    `soft` holds the models' values; models with the same value as the best are passed over,
    because identical models have no item between them. None when there is no such pair.
    """
    assert metric.influence is not None
    good = np.round(soft if metric.better == "higher" else -soft, 12)
    if np.isnan(good).any():
        return None
    best = int(np.argmax(good))
    others = np.flatnonzero(good < good[best])
    if not len(others):
        return None
    second = int(others[np.argmax(good[others])])
    question, models = aligned.question, list(aligned.scores)
    gaps = [
        class_average(
            [
                metric.influence(*pair)[:2]
                for pair in zip(prepared[m], question.shares, strict=True)
            ],
            question.shares,
            metric.average,
        )[1]
        for m in (best, second)
    ]
    change = -(gaps[0] - gaps[1])
    top = np.argsort(-np.abs(change), kind="stable")[:MOST]
    sizes = np.zeros(len(question.items)) if question.votes is None else question.votes.sizes
    return Influential(
        task=question.task,
        metric=metric.name,
        a=models[best],
        b=models[second],
        items=tuple(question.items[i] for i in top),
        soft_label=question.shares.max(axis=0)[top],
        votes=sizes[top].astype(np.float64),
        position_a=_position(prepared[best][0])[top],
        position_b=_position(prepared[second][0])[top],
        influence=change[top],
    )


def _position(order: Order) -> PerItem:
    """Share of items scored lower, ties half."""
    number = len(order.items)
    ends = np.flatnonzero(order.last)
    starts = np.concatenate(([0], ends[:-1] + 1))
    middle = np.repeat((starts + ends) / 2, ends - starts + 1)
    position = np.empty(number)
    position[order.items] = 1 - (middle + 0.5) / number
    return position
