r"""Expected calibration error: how far predicted probabilities are from what was said.

.. math:: \mathrm{ECE} = \sum_b \frac{n_b}{n} \,\bigl|\,\overline{\pi}_b - \overline{p}_b\bigr|

In each bin b of predicted probabilities the mean prediction is compared with the mean label:
the share of positives with hard labels, the mean vote with soft ones. With more than two
classes the largest probability is judged by the label mass of its class (``which="top"``), or
every class is judged and averaged (``classwise``). An estimate from few items is too large:
bins that are right on average are off by chance. Its bootstrap is larger still.

References
----------
Naeini, Cooper and Hauskrecht (2015), *Obtaining well calibrated probabilities using Bayesian
binning*. Guo et al. (2017), *On calibration of modern neural networks*.

Examples
--------
>>> expected_calibration_error([1, 0, 0.5, 1], [0.9, 0.1, 0.5, 0.5], bins=10)
0.175
"""

from typing import Any

import numpy as np

from equipoise.arrays import Floats
from equipoise.metrics._bins import Binning, bin_sums, gap_finish
from equipoise.metrics._distributions import checked_distributions
from equipoise.metrics._metric import Metric

NAME = "expected_calibration_error"


def expected_calibration_error(
    y_true: Any,
    probabilities: Any,
    *,
    bins: int = 15,
    binning: str = "width",
    which: str = "top",
) -> float:
    """Mean gap between predictions and labels over bins; lower is better.

    Parameters
    ----------
    y_true
        Class codes or label distributions (items, classes); for two classes also one number
        in [0, 1] per item.
    probabilities
        Predicted distributions (items, classes), or of the second of two classes (items,).
    bins, binning
        How many bins, equally wide (``width``) or equally full (``mass``).
    which
        With more than two classes: ``top`` or ``classwise``.
    """
    labels, predicted = checked_distributions(y_true, probabilities)
    return metric(bins=bins, binning=binning, which=which)(labels, predicted)


def metric(*, bins: int = 15, binning: str = "width", which: str = "top") -> Metric:
    """Expected calibration error for the engine."""
    how = Binning(bins, binning, which).checked(NAME)
    return Metric(
        name=how.named(NAME),
        title="ECE",
        soft_title="soft ECE",
        definition=f"Mean distance between predicted probability and label over {how.words}.",
        family=f"bins {how}",
        prepare=how.prepare(),
        reduce=bin_sums,
        finish=gap_finish(_mean),
        better="lower",
        needs="probabilities",
        labels="distribution",
        topic="Calibration",
        references=("guo2017",),
    )


def _mean(gap: Floats, number: Floats) -> Floats:
    total = number.sum(axis=1)
    return np.asarray(gap.sum(axis=1) / np.where(total > 0, total, 1.0))
