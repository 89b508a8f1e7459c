"""Cuts: every model on the items that some cut-off keeps, against its value on all items.

Intervals redraw items; the change against all items is paired, replicate by replicate. A value
is undefined where the items kept are none, or of one class only, not an error.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.analyses.scoring import StudyScorer, mean_over_tasks
from equipoise.arrays import Bools, Floats
from equipoise.ranks import average_ranks, higher_is_better, spearman


@dataclass(frozen=True, eq=False)
class Cuts:
    """Every model on the items of every cut-off.

    Attributes
    ----------
    full
        Value of each model on all items, shape (models,).
    values, low, high
        Value on the items kept and its interval, shape (cutoffs, models).
    change, change_low, change_high
        The value minus that on all items, paired, shape (cutoffs, models).
    ranks, spearman
        Ranks (cutoffs, models), and rank correlation with the order on all items (cutoffs,).
    drawn
        Replicates of the values, shape (cutoffs, models, replicates).
    """

    full: Floats
    values: Floats
    low: Floats
    high: Floats
    change: Floats
    change_low: Floats
    change_high: Floats
    ranks: Floats
    spearman: Floats
    drawn: Floats


@np.errstate(invalid="ignore")  # of two infinite values: undefined
def cut(found: StudyScorer, kept: Sequence[Bools]) -> Cuts:
    """Score every model on what each cut-off keeps.

    Parameters
    ----------
    kept
        For each subject of the study which items each cut-off keeps, shape (cutoffs, items).
    """
    full = mean_over_tasks([one.full() for one in found.subjects])
    values, drawn, whole = _scores(found, kept)
    low, high = found.ends(values, drawn)
    change = values - full
    edges = found.ends(change, drawn - whole, difference=True)
    good = higher_is_better(values, found.metric.better).T
    first = np.broadcast_to(higher_is_better(full, found.metric.better)[:, None], good.shape)
    return Cuts(
        full,
        values,
        low,
        high,
        change,
        edges[0],
        edges[1],
        average_ranks(good).T,
        np.asarray(spearman(good, first)),
        drawn,
    )


def _scores(found: StudyScorer, kept: Sequence[Bools]) -> tuple[Floats, Floats, Floats]:
    """Values (cutoffs, models), their replicates, and those on all items."""
    values, replicates, whole = [], [], []
    for t, (subject, keeps) in enumerate(zip(found.subjects, kept, strict=True)):
        shares = list(subject.question.shares)
        counts = subject.item_counts(found.plan)
        whole.append(subject.scored(shares, counts))
        own, drawn = [], []
        for c, those in enumerate(keeps):
            keep = those.astype(np.uint8)[:, None]
            own.append(subject.scored(shares, keep)[:, 0])
            drawn.append(whole[-1] if those.all() else subject.scored(shares, counts * keep))
            found.asked.tell(t * len(keeps) + c + 1, len(kept) * len(keeps))
        values.append(np.stack(own))
        replicates.append(np.stack(drawn))
    return mean_over_tasks(values), mean_over_tasks(replicates), mean_over_tasks(whole)
