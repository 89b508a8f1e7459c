r"""Reliability diagram: what was predicted against what was said, bin by bin.

.. math:: \Bigl(\overline{p}_b,\ \overline{\pi}_b\Bigr) \text{ for every bin } b
    \text{ that holds items}

A calibrated model lies on the diagonal: of the items given 0.7, seven votes in ten are for the
class. With soft labels the height of a bin is its mean vote.

Examples
--------
>>> reliability_curve([1, 0, 0.5, 1], [0.9, 0.1, 0.5, 0.5], bins=2)
Reliability(predicted=array([0.367, 0.9  ]), observed=array([0.5, 1. ]), items=array([3., 1.]))
"""

from typing import Any, NamedTuple

import numpy as np

from equipoise.arrays import Floats
from equipoise.metrics._bins import Binning, bin_sums, binned
from equipoise.metrics._distributions import checked_distributions
from equipoise.metrics._metric import Block, Truth


class Reliability(NamedTuple):
    """Bins that hold items: mean prediction, mean label and number of items, (bins,) each."""

    predicted: Floats
    observed: Floats
    items: Floats


def reliability_curve(
    y_true: Any,
    probabilities: Any,
    *,
    bins: int = 15,
    binning: str = "width",
    which: str = "top",
) -> Reliability:
    """Mean prediction and mean label of every bin that holds items.

    The parameters are those of `expected_calibration_error`; ``classwise`` pools the classes.
    """
    how = Binning(bins, binning, which).checked("reliability_curve")
    labels, predicted = checked_distributions(y_true, probabilities)
    truths = tuple(Truth(np.ascontiguousarray(column)) for column in labels.T)
    block = Block(truths, np.ones((len(labels), 1), dtype=np.uint8))
    number, chance, mass = bin_sums(binned(predicted, how), block).sum(axis=0)[..., 0]
    full = number > 0
    return Reliability(chance[full] / number[full], mass[full] / number[full], number[full])
