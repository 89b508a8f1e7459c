r"""ROC curve for hard or soft labels.

At each threshold t the false and true positive rates
:math:`\sum q_i [s_i \ge t] / n_-` and :math:`\sum p_i [s_i \ge t] / n_+`, from (0, 0) to
(1, 1). The area under it by trapezoids is AUROC in the form ``trapezoid``.

.. math:: \mathrm{TPR}(t) = \frac{\sum_i p_i [s_i \ge t]}{n_+}, \quad
    \mathrm{FPR}(t) = \frac{\sum_i (1 - p_i) [s_i \ge t]}{n_-}

Examples
--------
>>> false, true, threshold = roc_curve([1, 0.5, 0], [0.9, 0.5, 0.1])
>>> true
array([0.   , 0.667, 1.   , 1.   ])
"""

from typing import Any

import numpy as np

from equipoise.arrays import Floats
from equipoise.metrics._ranking import cumulative, ratio


def roc_curve(
    y_true: Any, y_score: Any, *, weights: Any = None
) -> tuple[Floats, Floats, Floats]:
    """False positive rates, true positive rates and thresholds, falling.

    A rate is nan when its class has no mass. The first threshold is infinite, as in
    scikit-learn, and no point is dropped.
    """
    seen = cumulative(y_true, y_score, weights)
    negative = seen.number - seen.mass
    return (
        ratio(np.append(0.0, negative), negative[-1]),
        ratio(np.append(0.0, seen.mass), seen.mass[-1]),
        np.append(np.inf, seen.threshold),
    )
