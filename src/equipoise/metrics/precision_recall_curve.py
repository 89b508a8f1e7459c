r"""Precision-recall curve for hard or soft labels.

At each threshold t the expected precision and recall when every item scoring at least t is
called positive:

.. math:: P(t) = \frac{\sum_i p_i [s_i \ge t]}{\sum_i [s_i \ge t]}, \quad
    R(t) = \frac{\sum_i p_i [s_i \ge t]}{n_+}

As in scikit-learn the points run from the lowest threshold up, and end at precision 1,
recall 0. The step sum over it is average precision in the form ``printed``.

Examples
--------
>>> precision, recall, threshold = precision_recall_curve([1, 0.5, 0], [0.9, 0.5, 0.1])
>>> precision
array([0.5 , 0.75, 1.  , 1.  ])
"""

from typing import Any

import numpy as np

from equipoise.arrays import Floats
from equipoise.metrics._ranking import cumulative, ratio


def precision_recall_curve(
    y_true: Any, y_score: Any, *, weights: Any = None
) -> tuple[Floats, Floats, Floats]:
    """Precisions, recalls and thresholds, rising; recall is nan without positives."""
    seen = cumulative(y_true, y_score, weights)
    precision = np.divide(
        seen.mass, seen.number, out=np.full_like(seen.mass, np.nan), where=seen.number > 0
    )
    recall = ratio(seen.mass, seen.mass[-1])
    return (
        np.append(precision[::-1], 1.0),
        np.append(recall[::-1], 0.0),
        seen.threshold[::-1].copy(),
    )
