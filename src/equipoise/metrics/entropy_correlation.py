r"""Entropy correlation: is the model unsure where the annotators disagree?

.. math:: \mathrm{corr}_i\bigl(H(p_i),\, H(\pi_i)\bigr), \quad
    H(p) = -\sum_k p_k \log p_k

Pearson's correlation over items between the entropy of the predicted distribution and that of
the label distribution. The entropy of a few votes is far from that of many, so even a perfect
model reaches 1 only with many votes per item (with five it is around 0.5). Undefined (nan) when
either does not vary: with hard labels always, unless some are tied.

Examples
--------
>>> entropy_correlation([[1, 0], [0.5, 0.5], [0.8, 0.2]], [[1, 0], [0.5, 0.5], [0.8, 0.2]])
1.0
"""

from typing import Any

import numpy as np

from equipoise.arrays import Floats, PerReplicate
from equipoise.metrics._distributions import checked_distributions, entropy, total
from equipoise.metrics._metric import Block, Metric, Prepared

LEAST = 1e-9  # of the squares of entropies, relative: below, they do not vary


def entropy_correlation(y_true: Any, probabilities: Any) -> float:
    """Correlation of the model's entropy with the annotators'; higher is better."""
    return metric()(*checked_distributions(y_true, probabilities))


def metric() -> Metric:
    """Entropy correlation for the engine."""
    return Metric(
        name="entropy_correlation",
        title="entropy correlation",
        soft_title="entropy correlation",
        definition="Correlation over items of the entropies of predicted and label "
        "distribution.",
        family="entropy correlation",
        prepare=_prepare,
        reduce=_reduce,
        finish=_finish,
        bounds=(-1.0, 1.0),
        needs="probabilities",
        labels="distribution",
        topic="Distance from the distribution of votes, and its uncertainty",
    )


def _prepare(predicted: Floats) -> Floats:
    return entropy(predicted.T)


def _reduce(prepared: Prepared, block: Block) -> Floats:
    """Number, sums, squares and products of the two entropies, (6, replicates)."""
    labels = np.stack([truth.positive for truth in block.classes])
    theirs = entropy(labels)
    theirs = theirs[:, None] if theirs.ndim == 1 else theirs
    ours = prepared[:, None]
    counts = block.counts.astype(np.float64)
    parts = (np.ones_like(ours), ours, theirs, ours**2, theirs**2, ours * theirs)
    return np.stack([total(part, counts) for part in parts])


def _finish(sums: Floats) -> PerReplicate:
    number, x, y, xx, yy, xy = sums
    safe = np.where(number > 0, number, 1.0)
    across = xy - x * y / safe
    spread = np.maximum(xx - x**2 / safe, 0.0), np.maximum(yy - y**2 / safe, 0.0)
    defined = (spread[0] > LEAST * np.maximum(xx, LEAST)) & (
        spread[1] > LEAST * np.maximum(yy, LEAST)
    )
    below = np.sqrt(np.where(defined, spread[0] * spread[1], 1.0))
    return np.where(defined, np.clip(across / below, -1.0, 1.0), np.nan)
