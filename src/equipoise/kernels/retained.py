"""Confusion tables of what is left when the items of worst score go, for many replicates.

One pass from the best item to the worst for all replicates of a block: the table of a replicate
grows by what an item counts, and is written down where the number of items that a cut leaves is
reached. A run of items of equal score is cut as a whole: each stays by the same share.
"""

import numpy as np

from equipoise.kernels import compiled


@compiled
def _add_item(labels, chosen, counts, table):
    """Add an item to the tables (true x decided, replicates)."""
    classes = len(labels)
    for k in range(classes):
        for d in range(classes):
            mass = labels[k] * chosen[d]
            if mass != 0.0:
                row = table[k * classes + d]
                for r in range(len(counts)):
                    row[r] += mass * counts[r]


@compiled
def _cut_run(run, place, table, state, out):
    """Write the cuts of a replicate that fall inside a run, which starts after `low` items."""
    labels, chosen, counts = run
    low, high, left, cut = state
    classes = labels.shape[1]
    inside = np.zeros(classes * classes)
    for i in range(len(labels)):
        for k in range(classes):
            for d in range(classes):
                inside[k * classes + d] += counts[i] * labels[i, k] * chosen[i, d]
    while cut >= 0 and left[cut] <= high:
        share = (left[cut] - low) / (high - low)
        for cell in range(len(inside)):
            out[cell, cut, place] = table[cell, place] + share * inside[cell]
        cut -= 1
    return cut


@compiled
def _finish_cuts(table, cut, out):
    """Write the cuts that were not reached: of an empty replicate, or by rounding."""
    for r in range(len(cut)):
        for point in range(cut[r] + 1):
            out[:, point, r] = table[:, r]


@compiled
def retained_tables(start, labels, chosen, counts, left):
    """Tables of every cut in every replicate, shape (true x decided, points, replicates).

    All that is of items is sorted, the best item first. ``start`` is where runs of equal scores
    begin, and the number of items; ``labels`` and ``chosen`` are (items, classes), ``counts``
    (items, replicates); ``left`` is how many items each cut leaves, (replicates, points), which
    fall.
    """
    points, replicates = left.shape[1], counts.shape[1]
    table = np.zeros((labels.shape[1] ** 2, replicates))
    out = np.empty((len(table), points, replicates))
    held, more = np.zeros(replicates), np.empty(replicates)
    cut = np.full(replicates, points - 1)
    due = left[:, points - 1].copy()
    for run in range(len(start) - 1):
        first, last = start[run], start[run + 1]
        more[:] = held
        for i in range(first, last):
            more += counts[i]
        for r in range(replicates):
            if due[r] <= more[r] and more[r] > held[r]:
                items = labels[first:last], chosen[first:last], counts[first:last, r]
                state = held[r], more[r], left[r], cut[r]
                cut[r] = _cut_run(items, r, table, state, out)
                due[r] = left[r, cut[r]] if cut[r] >= 0 else np.inf
        for i in range(first, last):
            _add_item(labels[i], chosen[i], counts[i], table)
        held[:] = more
    _finish_cuts(table, cut, out)
    return out
