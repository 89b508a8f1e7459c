"""Draws: what metrics of possible truths share.

Such a metric scores a prediction in every draw of the plausibilities once, which gives one
number per item and draw; a replicate then takes the mean over its items, and over all draws or
the one it was dealt. A second table of weights makes conditional metrics: cases count by how
often they are of the kind asked about (`conditioned`).

Metrics of the most plausible classes need only which classes a model puts first, laid beside
the classes that each item mentions; of equal scores the class with the lowest index comes
first. Metrics of order need its scores of the mentioned classes.

References
----------
Stutz et al., *Evaluating medical AI systems in dermatology under uncertain ground truth*.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from equipoise.arrays import (
    Floats,
    InputError,
    Ints,
    PerItem,
    PerReplicate,
    require_finite,
)
from equipoise.groupings import Grouping, group_chance
from equipoise.metrics._metric import Block, Metric, Prepared
from equipoise.plausibilities import Plausibilities
from equipoise.posteriors import packed

_INSERTED = 64  # up to so many first classes insertion is faster than sorting all of them


class DrawScores(NamedTuple):
    """Scores of a prediction in every draw.

    Attributes
    ----------
    value
        Score of each item in each draw, shape (items, draws); nan where undefined.
    weight
        What each counts, the same shape; None means that all count alike.
    mean
        Mean of `value` over draws, shape (items,), where it is known exactly; None where the
        mean over these draws is all there is.
    """

    value: Floats
    weight: Floats | None = None
    mean: PerItem | None = None


def draw_reduce(prepared: Prepared, block: Block) -> Floats:
    """Sums of weighted scores and of weights, (2, replicates), of a `DrawScores`."""
    met: DrawScores = prepared
    counts = block.counts.astype(np.float64)
    if block.numbers is None:
        if met.mean is not None:
            parts = (np.where(np.isnan(met.mean), 0.0, met.mean), ~np.isnan(met.mean))
        else:
            parts = tuple(one.mean(axis=1) for one in _weighed(met))
        return np.stack([part.astype(np.float64) @ counts for part in parts])
    chosen = DrawScores(met.value[:, block.numbers], _some(met.weight, block.numbers))
    return np.stack([np.einsum("ir,ir->r", part, counts) for part in _weighed(chosen)])


def draw_finish(sums: Floats) -> PerReplicate:
    """Weighted mean; nan where nothing counts."""
    total, weight = sums
    return np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), np.nan)


def draw_error(met: DrawScores) -> float:
    """Monte Carlo standard error of the mean over items and draws; 0 where exact.

    Draws of different items are independent, so the variance of the mean is the mean over
    draws of its own variance.
    """
    if met.mean is not None or met.value.shape[1] < 2:
        return 0.0
    total, weight = (one.sum(axis=0) for one in _weighed(met))
    if not weight.sum() > 0:
        return float("nan")
    value = total.sum() / weight.sum()
    spread = (total - value * weight) / weight.mean()
    return float(np.sqrt((spread**2).sum() / (len(spread) - 1) / len(spread)))


def plain_draws(metric: Metric, plausibilities: Any, probabilities: Any) -> float:
    """Value of a metric of draws for one plain call, every item counting once."""
    met = _scored(metric, plausibilities, probabilities)
    once = np.ones((len(met.value), 1), dtype=np.uint8)
    return float(metric.finish(metric.reduce(met, Block((), once)))[0])


def plain_draws_per_item(metric: Metric, plausibilities: Any, probabilities: Any) -> PerItem:
    """Value of every item for one plain call, shape (items,); nan where undefined."""
    met = _scored(metric, plausibilities, probabilities)
    if met.mean is not None:
        return met.mean
    return draw_finish(np.stack([part.mean(axis=1) for part in _weighed(met)]))


def _scored(metric: Metric, plausibilities: Any, probabilities: Any) -> DrawScores:
    if not isinstance(plausibilities, Plausibilities) or metric.score_draws is None:
        raise InputError(
            metric.name,
            f"a {type(plausibilities).__name__} as the truth",
            "Plausibilities",
            "make them with a model of equipoise.aggregate, or Plausibilities.dense(...)",
        )
    met: DrawScores = metric.score_draws(metric.prepare(probabilities), plausibilities)
    return met


def _weighed(met: DrawScores) -> tuple[Floats, Floats]:
    """Weighted scores and weights; undefined scores count nothing."""
    known = ~np.isnan(met.value)
    weight = known.astype(np.float64) if met.weight is None else np.where(known, met.weight, 0)
    return np.where(known, met.value, 0.0) * weight, weight


def _some(weight: Floats | None, numbers: np.ndarray) -> Floats | None:
    return None if weight is None else weight[:, numbers]


class First(NamedTuple):
    """A model's first classes of every item, best first, shape (items, k), and of how many."""

    first: Ints
    classes: int


def class_scores(probabilities: Any) -> Floats:
    """Return scores of all classes, (items, classes), or say what is wrong with them."""
    try:
        scores = np.ascontiguousarray(probabilities, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "probabilities",
            "values that are not numbers",
            "an array of numbers (items, classes)",
            "encode them first",
        ) from None
    if scores.ndim != 2 or 0 in scores.shape:
        raise InputError(
            "probabilities",
            f"shape {scores.shape}",
            "(items, classes), at least one of each",
            "give one row per item and one column per class of the plausibilities",
        )
    require_finite(scores, where="probabilities")
    return scores


def first_classes(probabilities: Any, k: int) -> First:
    """A model's first k classes of every item, the first of equals first.

    Examples
    --------
    >>> first_classes([[0.2, 0.4, 0.4], [0.5, 0.5, 0.0]], 2).first
    array([[1, 2],
           [0, 1]], dtype=int32)
    """
    from equipoise.kernels.tops import leaders

    scores = class_scores(probabilities)
    items, classes = scores.shape
    if k > classes:
        raise InputError("k", f"{k}", f"at most the {classes} classes", "choose a smaller k")
    if k > _INSERTED:
        order = [np.argsort(-row, kind="stable")[:k] for row in scores]
        return First(np.array(order, dtype=np.int32), classes)
    first = np.zeros((items, k), dtype=np.int32)
    leaders(scores, first)
    return First(first, classes)


def require_fit(shape: tuple[int, ...], plausibilities: Plausibilities) -> None:
    """Raise unless a prediction is about these items and classes."""
    full = (len(plausibilities.items), len(plausibilities.classes))
    if shape != full:
        raise InputError(
            "probabilities",
            f"shape {shape}",
            f"{full}",
            "align them with the items and classes of the plausibilities",
        )


def entry_items(plausibilities: Plausibilities) -> Ints:
    """Item of each entry."""
    return np.repeat(np.arange(len(plausibilities.items)), np.diff(plausibilities.start))


def entry_ranks(model: First, plausibilities: Plausibilities) -> Ints:
    """Rank that a model gives the class of each entry; k for all that are not among its first.

    Examples
    --------
    >>> truth = Plausibilities.dense(np.array([[0.5, 0.3, 0.2]]), items=("scan",),
    ...     classes=("a", "b", "c"), method="by hand")
    >>> entry_ranks(First(np.array([[2, 0]]), 3), truth)
    array([1, 2, 0])
    """
    first = model.first
    require_fit((len(first), model.classes), plausibilities)
    item, k = entry_items(plausibilities), first.shape[1]
    rank = np.full(len(item), k)
    for place in range(k):
        rank[first[item, place] == plausibilities.label] = place
    return rank


def unmentioned(rank: Ints, k: int, plausibilities: Plausibilities) -> PerItem:
    """Share of an item's unmentioned classes that are among the model's first k."""
    named = np.bincount(entry_items(plausibilities), rank < k, len(plausibilities.items))
    return np.asarray((k - named) / np.maximum(others(plausibilities), 1))


def others(plausibilities: Plausibilities) -> Ints:
    """Number of classes of each item that nobody mentioned."""
    return np.asarray(len(plausibilities.classes) - np.diff(plausibilities.start))


def kernel_truth(plausibilities: Plausibilities) -> Any:
    """Plausibilities as the kernels want them."""
    one = plausibilities
    split = (one.rest_shape, one.split_seed)
    return packed(one.mass, one.rest, one.start, others(one), split)


def overlap_table(
    rank: Ints, plausibilities: Plausibilities, spans: Sequence[tuple[int, int, float]]
) -> Floats:
    """Weighted sum of expected overlaps in every draw, shape (items, draws).

    A span (j, k, w) adds w times the number of the j most plausible classes that are among the
    model's first k.
    """
    from equipoise.kernels.tops import overlaps

    value = np.empty((len(plausibilities.items), plausibilities.draws))
    places, ranks, weights = (np.array(part) for part in zip(*spans, strict=True))
    spread = (places, ranks, weights.astype(np.float64))
    overlaps(kernel_truth(plausibilities), rank, spread, value)
    return value


def score_overlap(
    spans: Sequence[tuple[int, int, float]],
) -> Callable[[First, Plausibilities], DrawScores]:
    """Score a model's first classes by their overlaps with plausibilities."""

    def score_draws(model: First, plausibilities: Plausibilities) -> DrawScores:
        rank = entry_ranks(model, plausibilities)
        return DrawScores(overlap_table(rank, plausibilities, spans))

    return score_draws


def score_order(name: str) -> Callable[[Floats, Plausibilities], DrawScores]:
    """Score a model's scores by the order of the mentioned classes.

    The name is that of a kernel: kendall or footrule.
    """

    def score_draws(scores: Floats, plausibilities: Plausibilities) -> DrawScores:
        from equipoise.kernels import orders

        require_fit(scores.shape, plausibilities)
        own = scores[entry_items(plausibilities), plausibilities.label]
        value = np.empty((len(plausibilities.items), plausibilities.draws))
        start, mass = kernel_truth(plausibilities)[:2]
        getattr(orders, name)(start, own, mass, value)
        return DrawScores(value)

    return score_draws


def conditioned(metric: Metric, grouping: Grouping, group: str) -> Metric:
    r"""The metric on cases weighted by the probability that their class is in a group.

    Which cases belong to the group, such as high risk, is as uncertain as the truth. So every
    case counts by its probability of belonging: in each draw the weight :math:`h_i` is 1 where
    the most plausible class is in the group, else 0, and

    .. math:: \frac{\sum_i E[v_i\,h_i]}{\sum_i E[h_i]}

    with :math:`v_i` the metric's score of the case in the same draw. Where classes tie, or
    nobody mentioned the most plausible one, both are probabilities within the draw, and are
    multiplied.

    Parameters
    ----------
    metric
        A metric of possible truths, such as ``named("topk_accuracy:k=3")``.
    grouping, group
        Groups of the classes, and the one asked about.

    Examples
    --------
    >>> from equipoise.metrics.topk_accuracy import metric
    >>> values = np.array([[[0.5, 0.3, 0.2]], [[0.3, 0.5, 0.2]], [[0.2, 0.1, 0.7]]])
    >>> truth = Plausibilities.dense(values, items=("scan",),
    ...     classes=("naevus", "melanoma", "wart"), method="by hand")
    >>> risk = Grouping.of({"naevus": "low", "melanoma": "high", "wart": "low"}, name="risk")
    >>> low = conditioned(metric(), risk, "low")
    >>> low.name, plain_draws(low, truth, [[0.6, 0.3, 0.1]])
    ('topk_accuracy|risk=low', 0.5)
    """
    grouping.code(group)
    unweighed = metric.score_draws
    if metric.labels != "draws" or unweighed is None:
        raise InputError(
            f"metric {metric.name}, within {group!r}",
            "a metric of labels",
            "a metric of possible truths: topk_accuracy, set_accuracy, overlap, ...",
            "choose one of these, or coarsen truth and predictions to the groups",
        )

    def weighed(prepared: Prepared, plausibilities: Plausibilities) -> DrawScores:
        met: DrawScores = unweighed(prepared, plausibilities)
        weight = group_chance(plausibilities, grouping, group)
        return DrawScores(met.value, weight if met.weight is None else weight * met.weight)

    where = f"{grouping.name}={group}"
    words = f"where {grouping.name} is {group}"
    return replace(
        metric,
        name=f"{metric.name}|{where}",
        title=f"{metric.title} {words}",
        soft_title=f"{metric.soft_title} {words}",
        definition=f"{metric.definition} Cases count by the chance that the {grouping.name} of "
        f"their most plausible class is {group}.",
        family=f"{metric.family}|{where}",
        score_draws=weighed,
    )
