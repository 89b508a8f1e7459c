"""What votes decide, and how far two sets of decided labels agree."""

import numpy as np

from equipoise.arrays import Bools, Floats, Ints
from equipoise.evaluation.blocks import HALF


def decided(shares: list[Floats]) -> Ints:
    """The class that the votes decide: a tie is negative, or the first of several classes.

    Examples
    --------
    >>> decided([np.array([0.5, 0.75])])
    array([0, 1])
    """
    if len(shares) == 1:
        return (shares[0] > HALF).astype(np.int64)
    return np.asarray(np.argmax(np.round(np.stack(shares), 12), axis=0))


def decided_kappa(labels: Ints, whole: Ints, present: Bools) -> Floats:
    """Cohen's kappa of labels (items, folds) with those of the whole panel, (folds,)."""
    out = np.full(labels.shape[1], np.nan)
    classes = int(max(labels.max(), whole.max())) + 1
    for f, here in enumerate(present.T):
        number = int(here.sum())
        one, two = labels[here, f], whole[here]
        sides = [np.bincount(side, minlength=classes) for side in (one, two)]
        chance = float(sides[0] @ sides[1])
        if chance < number**2:
            seen = float((one == two).sum()) * number
            out[f] = (seen - chance) / (number**2 - chance)
    return out
