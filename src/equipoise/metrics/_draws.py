"""Draws: what metrics of possible truths share.

Such a metric meets a prediction with every draw of the plausibilities once, which gives one
number per item and draw; a replicate then takes the mean over its items, and over all draws or
the one it was dealt. A second table of weights makes conditional metrics: cases count by how
often they are of the kind asked about.
"""

from typing import Any, NamedTuple

import numpy as np

from equipoise.arrays import Floats, InputError, PerItem, PerReplicate
from equipoise.metrics._metric import Block, Metric, Prepared
from equipoise.plausibilities import Plausibilities


class Met(NamedTuple):
    """A prediction met with draws.

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
    """Sums of weighted scores and of weights, (2, replicates); ``prepared`` is a `Met`."""
    met: Met = prepared
    counts = block.counts.astype(np.float64)
    if block.numbers is None:
        if met.mean is not None:
            parts = (np.where(np.isnan(met.mean), 0.0, met.mean), ~np.isnan(met.mean))
        else:
            parts = tuple(one.mean(axis=1) for one in _weighed(met))
        return np.stack([part.astype(np.float64) @ counts for part in parts])
    chosen = Met(met.value[:, block.numbers], _some(met.weight, block.numbers))
    return np.stack([np.einsum("ir,ir->r", part, counts) for part in _weighed(chosen)])


def draw_finish(sums: Floats) -> PerReplicate:
    """Weighted mean; nan where nothing counts."""
    total, weight = sums
    return np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), np.nan)


def draw_error(met: Met) -> float:
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
    met = _meet(metric, plausibilities, probabilities)
    once = np.ones((len(met.value), 1), dtype=np.uint8)
    return float(metric.finish(metric.reduce(met, Block((), once)))[0])


def plain_draws_per_item(metric: Metric, plausibilities: Any, probabilities: Any) -> PerItem:
    """Value of every item for one plain call, shape (items,); nan where undefined."""
    met = _meet(metric, plausibilities, probabilities)
    if met.mean is not None:
        return met.mean
    return draw_finish(np.stack([part.mean(axis=1) for part in _weighed(met)]))


def _meet(metric: Metric, plausibilities: Any, probabilities: Any) -> Met:
    if not isinstance(plausibilities, Plausibilities) or metric.meet is None:
        raise InputError(
            metric.name, f"a {type(plausibilities).__name__} as the truth", "Plausibilities",
            "make them with a model of equipoise.aggregate, or Plausibilities.dense(...)",
        )  # fmt: skip
    met: Met = metric.meet(metric.prepare(probabilities), plausibilities)
    return met


def _weighed(met: Met) -> tuple[Floats, Floats]:
    """Weighted scores and weights; undefined scores count nothing."""
    known = ~np.isnan(met.value)
    weight = known.astype(np.float64) if met.weight is None else np.where(known, met.weight, 0)
    return np.where(known, met.value, 0.0) * weight, weight


def _some(weight: Floats | None, numbers: np.ndarray) -> Floats | None:
    return None if weight is None else weight[:, numbers]
