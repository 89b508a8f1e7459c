"""Macro AUROC over labels, for early stopping and for the severity of corruptions.

AUROC of a label is the share of (positive, negative) pairs in which the positive scores higher,
ties counting half (from mid-ranks). A label without both is undefined and left out of the mean,
and so are labels of an image that are -1 or blank.
"""

import numpy as np

from equipoise.inference.ranks import mid_ranks
from equipoise.types.arrays import Floats, ItemsByClasses


def label_aurocs(scores: ItemsByClasses, labels: ItemsByClasses) -> Floats:
    """AUROC per label, nan where undefined.

    Examples
    --------
    >>> label_aurocs(np.array([[0.9], [0.2], [0.2], [0.7]]), np.array([[1], [0], [1], [-1]]))
    array([0.75])
    """
    values = np.full(labels.shape[1], np.nan)
    for label in range(labels.shape[1]):
        known = np.isin(labels[:, label], (0, 1))
        truth, score = labels[known, label] == 1, scores[known, label]
        positives, negatives = int(truth.sum()), int((~truth).sum())
        if not positives or not negatives:
            continue
        below = mid_ranks(score)[truth].sum() - positives * (positives + 1) / 2
        values[label] = below / (positives * negatives)
    return values


def macro_auroc(scores: ItemsByClasses, labels: ItemsByClasses) -> float:
    """Mean AUROC of the labels that have one, nan if none has."""
    values = label_aurocs(scores, labels)
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")
