"""Orders of the models by panels of each size: against the whole panel, and each other."""

import numpy as np

from equipoise.analyses._curves import quantile
from equipoise.analyses._order_range import correlation_ends, mean_correlation
from equipoise.analyses._subsets import Paths
from equipoise.analyses.scoring import StudyScorer, mean_over_tasks
from equipoise.arrays import Floats
from equipoise.ranks import goodness, spearman


def with_all(found: StudyScorer, paths: Paths) -> tuple[Floats, Floats]:
    """Rank correlation with the whole panel: mean and lower end over subsets, (sizes,)."""
    if len(found.models) < 2:
        nothing = np.full(len(paths.sizes), np.nan)
        return nothing, nothing
    full = goodness(mean_over_tasks([one.full() for one in found.subjects]), "higher")
    near = [
        np.atleast_1d(spearman(one, np.broadcast_to(full[:, None], one.shape)))
        for one in paths.values
    ]
    return np.array([one.mean() for one in near]), np.array(
        [np.quantile(one, 0.025) for one in near]
    )


def between_separate(paths: Paths, models: int) -> Floats:
    """Mean rank correlation of separate panels, over the pairs that have one, (sizes,)."""
    if models < 2:
        return np.full(len(paths.sizes), np.nan)
    return np.array([mean_correlation(one, two) for one, two in paths.twins])


def separate_ends(paths: Paths, separate: Floats, level: float) -> tuple[float, float]:
    """Interval of the last correlation of separate panels that is known."""
    known = np.flatnonzero(~np.isnan(separate))
    if not len(known) or len(paths.folds) < 2:
        return float("nan"), float("nan")
    last = int(known[-1])
    times = float(paths.sizes[last] / paths.fold_size)
    student = quantile(level, len(paths.folds) - 1)
    return correlation_ends(float(separate[last]), paths.folds, times, student)
