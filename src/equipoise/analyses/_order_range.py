r"""Range of an order: how well the agreement of separate panels is known.

The mean rank correlation r of two separate panels comes from few annotators. Groups of them
(each of up to ten annotators by itself) are left out in turn, and the others are halved again,
in the same random order as without leaving out, so that only who is missing makes a difference.
What every fold finds is brought to one size of panels by the Spearman-Brown formula; its
jackknife spread on Fisher's scale, atanh r, and Student's quantile for so many folds give the
ends. For anonymous votes a tenth of the items is left out in turn instead, with all tasks.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from equipoise.analyses._panel_values import panel_values
from equipoise.analyses.scoring import StudyScorer
from equipoise.arrays import Floats, Ints
from equipoise.evaluation.redraw import PanelDraw
from equipoise.ranks import spearman

FOLDS = 10
HALVINGS = 200
NEAR = 0.999  # largest correlation on Fisher's scale


def fold_correlations(
    found: StudyScorer, active: Ints, laid: Sequence[PanelDraw], people: int
) -> tuple[Floats, int]:
    """Mean correlation of two halves without each group of annotators, and the halves' size.

    Parameters
    ----------
    active
        Annotators with votes; there are `people` in all.
    laid
        Who voted for what, task by task.
    """
    random = np.random.default_rng(int(found.plan.key("halved panels")))
    order = np.argsort(random.random((len(active), HALVINGS)), axis=0)
    folds = np.arange(len(active)) % min(FOLDS, len(active))
    gone = int(np.bincount(folds).max())
    size = (len(active) - gone) // 2
    if size < 1 or len(found.models) < 2:
        return np.empty(0), size
    out = []
    for fold in range(int(folds.max()) + 1):
        stays = folds[order] != fold
        left = order.T[stays.T].reshape(HALVINGS, -1).T
        halves = [active[left[k * size : (k + 1) * size]] for k in range(2)]
        values = [panel_values(found, laid, _members(who, people))[0] for who in halves]
        out.append(mean_correlation(values[0], values[1]))
    return np.array(out), size


def _members(who: Ints, people: int) -> NDArray[np.uint8]:
    """Panels by the codes of their members, as (annotators, panels)."""
    out = np.zeros((people, who.shape[1]), dtype=np.uint8)
    np.put_along_axis(out, who, 1, axis=0)
    return out


def mean_correlation(one: Floats, two: Floats) -> float:
    """Mean rank correlation of two sets of values (models, panels); nan where none has one."""
    near = np.atleast_1d(spearman(one, two))
    known = near[~np.isnan(near)]
    return float(known.mean()) if len(known) else float("nan")


def item_folds(found: StudyScorer) -> list[NDArray[np.uint8]]:
    """Which items stay in each fold, task by task, (items, folds); groups stay together."""
    plan = found.plan
    units = np.arange(len(plan.items)) if plan.group is None else np.asarray(plan.group)
    stay = (units[:, None] % FOLDS != np.arange(FOLDS)).astype(np.uint8)
    return [stay[one.question.place] for one in found.subjects]


def correlation_ends(
    value: float, folds: Floats, times: float, quantile: float
) -> tuple[float, float]:
    """Interval of a mean correlation by its jackknife folds; nan where one is undefined.

    Parameters
    ----------
    value
        The correlation of panels that are `times` as large as those of the folds.
    quantile
        Two-sided quantile of Student's law.

    Examples
    --------
    >>> correlation_ends(0.8, np.array([0.79, 0.8, 0.82]), 1.0, 2.0)
    (0.76..., 0.83...)
    """
    if len(folds) < 2 or np.isnan(value) or np.isnan(folds).any():
        return float("nan"), float("nan")
    larger = times * folds / np.maximum(1 + (times - 1) * folds, 1e-9)
    on_scale = np.arctanh(np.clip(larger, -NEAR, NEAR))
    number = len(folds)
    spread = np.sqrt((number - 1) / number * ((on_scale - on_scale.mean()) ** 2).sum())
    middle = np.arctanh(np.clip(value, -NEAR, NEAR))
    low, high = (float(np.tanh(middle + side * quantile * spread)) for side in (-1, 1))
    return min(low, value), max(high, value)
