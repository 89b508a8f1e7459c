r"""Panels: smaller panels drawn from the one there is, or fewer votes of each item.

Named annotators are drawn without replacement, the same people for all items and tasks; when
there are no more subsets than asked for, all are taken; others are drawn as two separate panels
at a time, where two fit. Anonymous votes are drawn per item: at most m of each item's own,
without replacement, and for two separate panels at most half of them each.

*Curves.* Of a + b/m, and of a variance that falls as 1/m. A spread that is estimated from A
annotators has A - 1 degrees of freedom: intervals take Student's quantile, not the normal one,
which would cover too rarely. Many anonymous votes have so many that both are the same.

*Range of an order.* The mean rank correlation r of two separate panels comes from few
annotators. Groups of them (each of up to ten annotators by itself) are left out in turn, and
the others are halved again, in the same random order as without leaving out, so that only who
is missing makes a difference. What every fold finds is brought to one size of panels by the
Spearman-Brown formula; its jackknife spread on Fisher's scale, atanh r, and Student's quantile
for so many folds give the ends. For anonymous votes a tenth of the items is left out in turn
instead, with all tasks.
"""

from collections.abc import Sequence
from itertools import combinations
from math import comb
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.analyses.scoring import StudyScorer, TaskScorer, mean_over_tasks
from equipoise.arrays import Floats, Ints
from equipoise.evaluation.redraw import PanelDraw
from equipoise.ranks import higher_is_better, spearman
from equipoise.resampling import Resampling
from equipoise.votes import Votes

ROOM = 2**23  # cells of labels held at a time
MOST_SIZES = 20
MOST_TWINS = 2000  # pairs of separate panels that are compared
LEAST_ROOM = 0.05  # share of a fresh panel's variance below which subsets say too little
FOLDS = 10
HALVINGS = 200
NEAR = 0.999  # largest correlation on Fisher's scale


def _panel_values(
    scorer: StudyScorer, laid: Sequence[PanelDraw], members: NDArray[np.uint8]
) -> tuple[Floats, float]:
    """Values (models, panels), averaged over tasks, and the mean share of items with a vote.

    `laid` is who voted for what, task by task; `members` who belongs to which panel.
    """
    parts, seen = [], []
    for task, panel in zip(scorer.subjects, laid, strict=True):
        width = max(1, ROOM // (len(task.question.items) * len(task.question.classes)))
        few = range(0, members.shape[1], width)
        pieces = [panel.shares(members[:, first : first + width]) for first in few]
        parts.append(np.concatenate([task.scored(*one) for one in pieces], axis=1))
        seen.append(float(np.mean([present.mean() for _, present in pieces])))
    return mean_over_tasks(parts), float(np.mean(seen))


class PanelValues(NamedTuple):
    """Values of every model by size of the panel.

    Attributes
    ----------
    sizes, coverage
        Numbers of annotators, or of votes per item, rising, and the mean share of items that
        keep a vote, (sizes,).
    values, members
        For each size the values, (models, subsets), and who belongs to which subset,
        (annotators, subsets); no members for votes.
    redrawn
        For votes: values with the items drawn anew as well, (sizes, models, subsets).
    room
        What part of the variance of a fresh panel subsets of this one show, (sizes,).
    twins
        For each size the values of separate panels, (2, models, pairs); no pairs where two
        do not fit.
    degrees
        Degrees of freedom of a spread over panels.
    folds, fold_size
        Mean correlation of separate panels of this size, some left out in turn, (folds,).
    """

    sizes: Ints
    values: list[Floats]
    members: list[NDArray[np.uint8]]
    redrawn: Floats | None
    room: Floats
    coverage: Floats
    twins: list[Floats]
    degrees: float
    folds: Floats
    fold_size: int


def _some_sizes(most: int) -> Ints:
    """Sizes from 2 to the most, all of them or about twenty.

    Examples
    --------
    >>> _some_sizes(5)
    array([2, 3, 4, 5])
    """
    if most <= MOST_SIZES + 1:
        return np.arange(2, most + 1)
    return np.unique(np.geomspace(2, most, MOST_SIZES).round().astype(np.int64))


def smaller_panels(scorer: StudyScorer, active: Ints, people: int) -> PanelValues:
    """Score all models on the labels of smaller panels."""
    sizes = _some_sizes(len(active))
    laid = [one.panel(people) for one in scorer.subjects]
    values, members, coverage = [], [], np.empty(len(sizes))
    for step, size in enumerate(sizes):
        chosen = _chosen(int(size), active, people, scorer.plan)
        scored, coverage[step] = _panel_values(scorer, laid, chosen)
        values.append(scored)
        members.append(chosen[active])
        scorer.asked.tell(step + 1, len(sizes))
    twins = [_separate(*one) for one in zip(values, members, strict=True)]
    room, last = 1 - sizes / len(active), len(active) - 1
    folds = _fold_correlations(scorer, active, laid, people)
    return PanelValues(sizes, values, members, None, room, coverage, twins, last, *folds)


def _separate(values: Floats, members: NDArray[np.uint8]) -> Floats:
    """Values of pairs of panels without a common member, (2, models, pairs)."""
    common = members.T.astype(np.float32) @ members.astype(np.float32)
    one, two = np.nonzero(np.triu(common == 0))
    if len(one) > MOST_TWINS:
        some = np.linspace(0, len(one) - 1, MOST_TWINS).astype(np.int64)
        one, two = one[some], two[some]
    return np.stack([values[:, one], values[:, two]])


def _chosen(size: int, active: Ints, people: int, plan: Resampling) -> NDArray[np.uint8]:
    """Who belongs to which subset, shape (annotators, subsets)."""
    if comb(len(active), size) <= plan.replicates:
        who = np.array(list(combinations(active, size))).T
    else:
        random = np.random.default_rng(int(plan.key(f"panel size/{size}")))
        fit = 2 if 2 * size <= len(active) else 1
        keys = random.random((len(active), -(-plan.replicates // fit)))
        order = np.argsort(keys, axis=0)
        places = [order[k * size : (k + 1) * size] for k in range(fit)]
        who = active[np.concatenate(places, axis=1)[:, : plan.replicates]]
    return _members(who, people)


def fewer_votes(scorer: StudyScorer, most: int) -> PanelValues:
    """Score all models on labels of at most m votes of each item."""
    sizes = _some_sizes(most)
    parts = [_thinned(one, sizes, scorer) for one in scorer.subjects]
    values, redrawn, halves = (mean_over_tasks([part[k] for part in parts]) for k in range(3))
    number = np.concatenate([_votes(one).sizes for one in scorer.subjects])
    room = np.array([np.maximum(1 - size / number, 0).mean() for size in sizes])
    both = zip(sizes, halves, strict=True)
    twins = [one[..., :0] if 2 * size > most else one for size, one in both]
    folds = (np.empty(0), 0) if len(scorer.models) < 2 else _item_folds(scorer, sizes, most)
    cover = np.ones(len(sizes))
    return PanelValues(sizes, list(values), [], redrawn, room, cover, twins, np.inf, *folds)


def _item_folds(scorer: StudyScorer, sizes: Ints, most: int) -> tuple[Floats, int]:
    """Mean correlation of separate halves of the votes without each tenth of the items."""
    fit = sizes[2 * sizes <= most]
    if not len(fit):
        return np.empty(0), 0
    plan = scorer.plan
    units = np.arange(len(plan.items)) if plan.group is None else np.asarray(plan.group)
    stay = (units[:, None] % FOLDS != np.arange(FOLDS)).astype(np.uint8)  # groups together
    parts = [_halved(one, fit[-1:], stay[one.question.place], plan) for one in scorer.subjects]
    width = min(one.shape[-1] for one in parts)
    values = mean_over_tasks([one[..., :width] for one in parts])
    return np.array([_mean_correlation(one, two) for one, two in values]), int(fit[-1])


def _halved(task: TaskScorer, size: Ints, stay: NDArray[np.uint8], plan: Resampling) -> Floats:
    """Values of separate halves on the items of each fold, (folds, 2, models, halvings)."""
    random = np.random.default_rng(int(plan.key(f"halved votes/{task.question.task}")))
    cells = 3 * len(task.question.classes) * len(stay)
    width = int(min(HALVINGS, max(8, ROOM // cells)))
    shares = np.stack([_some_votes(task, size, random)[1:, 0] for _ in range(width)], -1)
    halves = [[np.ascontiguousarray(one) for one in half] for half in shares]
    stay = stay * (_votes(task).sizes > 1)[:, None].astype(np.uint8)
    folds = [np.repeat(here[:, None], width, axis=1) for here in stay.T]
    return np.stack([[task.scored(half, here) for half in halves] for here in folds])


def _votes(task: TaskScorer) -> Votes:
    votes = task.question.votes
    assert votes is not None
    return votes


def _thinned(
    task: TaskScorer, sizes: Ints, scorer: StudyScorer
) -> tuple[Floats, Floats, Floats]:
    """Values as items are and drawn anew (sizes, models, subsets), and of two halves.

    Halves are (sizes, 2, models, subsets), for the first subsets only.
    """
    question, plan = task.question, scorer.plan
    random = np.random.default_rng(int(plan.key(f"votes left out/{question.task}")))
    out = np.empty((2, len(sizes), len(scorer.models), plan.replicates))
    cells = 3 * len(sizes) * len(question.classes) * len(question.items)
    width = int(min(128, max(1, ROOM // cells)))
    halves = np.empty((len(sizes), 2, len(scorer.models), min(width, plan.replicates)))
    counts = task.item_counts(plan)
    for first in range(0, plan.replicates, width):
        part = slice(first, min(first + width, plan.replicates))
        some = range(part.stop - first)
        shares = np.stack([_some_votes(task, sizes, random) for _ in some], axis=-1)
        once = np.ones((len(question.items), len(some)), dtype=np.uint8)
        several = once * (_votes(task).sizes > 1)[:, None].astype(np.uint8)
        for step in range(len(sizes)):
            left, one, two = ([np.ascontiguousarray(c) for c in k] for k in shares[:, step])
            out[0, step, :, part] = task.scored(left, once)
            out[1, step, :, part] = task.scored(left, counts[:, part])
            if not first:
                halves[step] = [task.scored(half, several) for half in (one, two)]
        scorer.asked.tell(part.stop, plan.replicates)
    return out[0], out[1], halves


def _some_votes(task: TaskScorer, sizes: Ints, random: np.random.Generator) -> Floats:
    """Mean of some votes of each item in a random order, (3, sizes, classes, items).

    First the first m votes, then two separate panels of m votes, or of half of the votes where
    there are fewer; an item with a single vote has it in both.
    """
    votes = _votes(task)
    item = np.repeat(np.arange(len(votes.sizes)), votes.sizes)
    order = np.argsort(item + random.random(len(item)) / 2)
    some = np.minimum(sizes[:, None], votes.sizes)
    half = np.maximum(np.minimum(some, votes.sizes // 2), 1)
    later = np.where(votes.sizes > 1, half, 0)
    begin = votes.start[:-1] + np.stack([0 * half, 0 * half, later])
    stop = begin + np.stack([some, half, half])

    def summed(mass: Floats) -> Floats:
        running = np.concatenate(([0.0], np.cumsum(mass[order])))
        return np.asarray(running[stop] - running[begin])

    total, masses = summed(votes.weight), task.question.masses
    return np.stack([summed(votes.weight * mass) / total for mass in masses], axis=2)


def half_widths(panels: PanelValues, spread: Floats, times: float) -> tuple[Floats, Floats]:
    """Fitted variance of one annotator (models,), half-width by size (sizes, models)."""
    told = np.flatnonzero(panels.room > LEAST_ROOM)
    if not len(told):
        return np.full(spread.shape[1], np.nan), np.full(spread.shape, np.nan)
    fresh = spread[told] ** 2 / panels.room[told, None]
    variance = (fresh * panels.sizes[told, None]).mean(axis=0)
    half = np.sqrt(variance / panels.sizes[:, None])
    half[told] = np.sqrt(fresh)
    return variance, np.asarray(times * half)


def fitted(sizes: Ints, mean: Floats) -> tuple[Floats, Floats]:
    """Least squares of a + b/m to means (sizes, ...): a and b; undefined for one size."""
    if len(sizes) < 2:
        return np.full(mean.shape[1:], np.nan), np.full(mean.shape[1:], np.nan)
    x = 1 / sizes - (1 / sizes).mean()
    slope = np.tensordot(x, mean, axes=1) / (x @ x)
    return np.asarray(mean.mean(axis=0) - slope * (1 / sizes).mean()), np.asarray(slope)


def limit_ends(panels: PanelValues, limit: Floats, scorer: StudyScorer) -> Floats:
    """Interval of a, shape (2, models): jackknife of annotators, or redrawn items."""
    if panels.redrawn is not None:
        return scorer.ends(limit, fitted(panels.sizes, panels.redrawn)[0])
    people = len(panels.members[0])
    without = []
    for person in range(people):
        left = [np.flatnonzero(one[person] == 0) for one in panels.members]
        told = [s for s, rows in enumerate(left) if len(rows)]
        if len(told) < 2:
            return np.full((2, len(limit)), np.nan)
        means = [panels.values[s][:, left[s]].mean(axis=1) for s in told]
        without.append(fitted(panels.sizes[told], np.stack(means))[0])
    gap = np.stack(without) - np.mean(without, axis=0)
    times = quantile(scorer.asked.level, panels.degrees)
    half = times * np.sqrt((people - 1) / people * (gap**2).sum(axis=0))
    return np.asarray(np.clip(np.stack([limit - half, limit + half]), *scorer.metric.bounds))


def quantile(level: float, degrees: float) -> float:
    """Two-sided quantile of Student's law; of the normal law for endless degrees of freedom.

    Examples
    --------
    >>> quantile(0.95, 7), quantile(0.95, np.inf)
    (2.364..., 1.959...)
    """
    from scipy.special import stdtrit

    if np.isinf(degrees):
        return NormalDist().inv_cdf(0.5 + level / 2)
    return float(stdtrit(degrees, 0.5 + level / 2))


def with_all(scorer: StudyScorer, panels: PanelValues) -> tuple[Floats, Floats]:
    """Rank correlation with the whole panel: mean and lower end over subsets, (sizes,)."""
    if len(scorer.models) < 2:
        nothing = np.full(len(panels.sizes), np.nan)
        return nothing, nothing
    full = higher_is_better(mean_over_tasks([one.full() for one in scorer.subjects]), "higher")
    wide = [np.broadcast_to(full[:, None], one.shape) for one in panels.values]
    near = [np.atleast_1d(spearman(*one)) for one in zip(panels.values, wide, strict=True)]
    lows = [np.quantile(one, 0.025) for one in near]
    return np.array([one.mean() for one in near]), np.array(lows)


def between_separate(panels: PanelValues, models: int) -> Floats:
    """Mean rank correlation of separate panels, over the pairs that have one, (sizes,)."""
    if models < 2:
        return np.full(len(panels.sizes), np.nan)
    return np.array([_mean_correlation(one, two) for one, two in panels.twins])


def separate_ends(panels: PanelValues, separate: Floats, level: float) -> tuple[float, float]:
    """Interval of the last correlation of separate panels that is known."""
    known = np.flatnonzero(~np.isnan(separate))
    if not len(known) or len(panels.folds) < 2:
        return float("nan"), float("nan")
    last = int(known[-1])
    times = float(panels.sizes[last] / panels.fold_size)
    student = quantile(level, len(panels.folds) - 1)
    return correlation_ends(float(separate[last]), panels.folds, times, student)


def _fold_correlations(
    scorer: StudyScorer, active: Ints, laid: Sequence[PanelDraw], people: int
) -> tuple[Floats, int]:
    """Mean correlation of two halves without each group of annotators, and the halves' size.

    `active` annotators have votes, of `people` in all; `laid` is who voted for what.
    """
    random = np.random.default_rng(int(scorer.plan.key("halved panels")))
    order = np.argsort(random.random((len(active), HALVINGS)), axis=0)
    folds = np.arange(len(active)) % min(FOLDS, len(active))
    gone = int(np.bincount(folds).max())
    size = (len(active) - gone) // 2
    if size < 1 or len(scorer.models) < 2:
        return np.empty(0), size
    out = []
    for fold in range(int(folds.max()) + 1):
        stays = folds[order] != fold
        left = order.T[stays.T].reshape(HALVINGS, -1).T
        halves = [active[left[k * size : (k + 1) * size]] for k in range(2)]
        values = [_panel_values(scorer, laid, _members(who, people))[0] for who in halves]
        out.append(_mean_correlation(values[0], values[1]))
    return np.array(out), size


def _members(who: Ints, people: int) -> NDArray[np.uint8]:
    """Panels by the codes of their members, as (annotators, panels)."""
    out = np.zeros((people, who.shape[1]), dtype=np.uint8)
    np.put_along_axis(out, who, 1, axis=0)
    return out


def _mean_correlation(one: Floats, two: Floats) -> float:
    """Mean rank correlation of two sets of values (models, panels); nan where none has one."""
    near = np.atleast_1d(spearman(one, two))
    known = near[~np.isnan(near)]
    return float(known.mean()) if len(known) else float("nan")


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
