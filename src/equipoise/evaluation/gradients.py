"""Replicates by influence functions: jointly normal, with exactly the paired covariances.

For a million items and more a bootstrap moves too many bytes. The influence g of every model on
a common item axis gives all variances and covariances at once, Cov = G G' (summed within groups
first when groups are drawn as a whole). Replicates are drawn from that normal law and then
centred and whitened, so that their mean is the value and their covariance is Cov exactly; every
difference, rank probability and macro average follows as from a bootstrap.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from equipoise.arrays import Floats, InputError, Ints
from equipoise.evaluation.alignment import Aligned
from equipoise.metrics import Metric, Prepared, clustered
from equipoise.resampling import Resampling


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
                "resampling influence", f"metric {metric.name}", "a metric with an influence "
                "function (auroc, average_precision, proper scores, costs)",
                "leave the metric out or resample items",
            )  # fmt: skip
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
        for model in models:
            if metric.labels == "distribution":
                value, gradient = metric.influence(model, truth.T)
            else:
                parts = [metric.influence(o, p) for o, p in zip(model, truth, strict=True)]
                value, gradient = class_average(parts, truth, metric.average)
            values.append(value)
            gradients.append((one.question.place, gradient))
    return np.array(values), gradients


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
            "resampling influence", f"{plan.replicates} replicates",
            f"more than {int(kept.sum()) + 1}", "ask for more: they cost nothing here",
        )  # fmt: skip
    random = np.random.default_rng(np.random.Philox(key=int(plan.key("influence"))))
    noise = random.standard_normal((plan.replicates, factor.shape[1]))
    noise -= noise.mean(axis=0)
    if noise.shape[1]:
        root = np.linalg.cholesky(noise.T @ noise / plan.replicates)
        noise = np.linalg.solve(root, noise.T).T
    out[known] = values[known, None] + factor @ noise.T
    return out
