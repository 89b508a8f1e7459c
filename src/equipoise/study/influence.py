"""Influential items: those whose presence decides between the two best models.

To first order, leaving item i out changes the difference of two models' metric by minus the
difference of their influence functions at i.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.metrics import Metric, Order
from equipoise.study.alignment import Aligned
from equipoise.study.blocks import LABELS
from equipoise.study.uncertainty import class_average
from equipoise.types.arrays import Floats, PerItem, short_repr

MOST = 20  # influential items


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

    __repr__ = short_repr


def influential_of_tasks(
    aligned: Sequence[Aligned],
    metrics: Sequence[Metric],
    values: Floats,
    prepared: Callable[[int, Metric], Sequence[tuple[Order, ...]]],
) -> tuple[Influential, ...]:
    """Items that decide between the two best models of each task, by soft labels.

    The metric is the first with derivatives by the items of a class.

    Parameters
    ----------
    values
        Shape (tasks, metrics, labels, models); more tasks than are aligned play no part.
    prepared
        ``prepared(task, metric)``: what the metric makes of the scores of every model.
    """
    able = (m for m in metrics if m.influence is not None and m.labels == "classes")
    metric = next(able, None)
    if metric is None or values.shape[-1] < 2:
        return ()
    soft = values[:, metrics.index(metric), LABELS.index("soft")]
    by_task = [
        influential_items(task, prepared(t, metric), metric, soft[t])
        for t, task in enumerate(aligned)
    ]
    return tuple(result for result in by_task if result is not None)


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
                metric.influence(*pair)
                for pair in zip(prepared[m], question.shares, strict=True)
            ],
            question.shares,
            metric.average,
        ).items
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
