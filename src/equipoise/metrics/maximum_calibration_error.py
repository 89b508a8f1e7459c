r"""Maximum calibration error: the bin in which predictions are furthest from what was said.

.. math:: \mathrm{MCE} = \max_b \,\bigl|\,\overline{\pi}_b - \overline{p}_b\bigr|

Over bins that hold an item; see `expected_calibration_error` for the bins. One item alone in a
bin decides it: look at the reliability diagram beside it, or take bins that are equally full.

Examples
--------
>>> maximum_calibration_error([1, 0, 0.5, 1], [0.9, 0.1, 0.5, 0.5], bins=10)
0.25
"""

from typing import Any

import numpy as np

from equipoise.arrays import Floats
from equipoise.metrics._bins import Binning, bin_sums, gap_finish
from equipoise.metrics._distributions import checked_distributions
from equipoise.metrics._metric import Metric

NAME = "maximum_calibration_error"


def maximum_calibration_error(
    y_true: Any,
    probabilities: Any,
    *,
    bins: int = 15,
    binning: str = "width",
    which: str = "top",
) -> float:
    """Largest gap between predictions and labels over bins; lower is better.

    The parameters are those of `expected_calibration_error`.
    """
    labels, predicted = checked_distributions(y_true, probabilities)
    return metric(bins=bins, binning=binning, which=which)(labels, predicted)


def metric(*, bins: int = 15, binning: str = "width", which: str = "top") -> Metric:
    """Maximum calibration error for the engine."""
    how = Binning(bins, binning, which).checked(NAME)
    return Metric(
        name=how.named(NAME),
        title="MCE",
        soft_title="soft MCE",
        definition=f"Largest distance between predicted probability and label in {how.words}.",
        family=f"bins {how}",
        prepare=how.prepare(),
        reduce=bin_sums,
        finish=gap_finish(_largest),
        better="lower",
        needs="probabilities",
        labels="distribution",
        topic="Calibration",
        references=("guo2017",),
    )


def _largest(gap: Floats, number: Floats) -> Floats:
    return np.asarray((gap / np.where(number > 0, number, 1.0)).max(axis=1))
