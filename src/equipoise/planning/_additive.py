"""Metrics that are means over items: what leaving an item out does is known without doing it.

If the difference is the mean of one number d_i per item, then leaving item i out gives

    (n - 1) (difference - difference without i) = d_i - difference,

and moving the label of one item moves its own d_i alone, so that all items can be moved at
once. A metric gives d_i by its influence function; whether it is such a mean is checked on some
of the items, by leaving them out.
"""

from collections.abc import Callable, Sequence

import numpy as np

from equipoise.arrays import Floats, Ints, PerItem
from equipoise.metrics import Metric

CHECKED = 64  # items that are left out to see whether the metric is a mean
CLOSE = 1e-8


def item_differences(
    metric: Metric, prepared: Sequence[object], labels: Floats
) -> PerItem | None:
    """First model minus second on each item, positive when the first is better.

    None for metrics of another kind. Labels come as (items, classes).
    """
    if metric.influence is None or metric.labels != "distribution":
        return None
    each = []
    for one in prepared:
        value, slope = metric.influence(one, labels)
        each.append(value + len(labels) * slope)
    gap = each[0] - each[1]
    return np.asarray(gap if metric.better == "higher" else -gap)


def mean_of_items(
    each: PerItem | None, difference: float, without: Callable[[Ints], Floats]
) -> bool:
    """Whether the difference is the mean of its items, as some that are left out tell.

    Parameters
    ----------
    each
        What `item_differences` gives.
    without
        The difference without each of some items, one at a time.
    """
    if each is None or not np.isfinite(each).all():
        return False
    some = np.unique(np.linspace(0, len(each) - 1, CHECKED).astype(np.int64))
    found = (len(each) - 1) * (difference - without(some))
    size = max(float(np.abs(each).max()), CLOSE)
    return bool(np.allclose(found, each[some] - difference, atol=CLOSE * size * len(each)))
