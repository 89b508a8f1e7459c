r"""Panels: smaller panels drawn from the one there is, or fewer votes of each item.

Named annotators are drawn without replacement, the same people for all items and tasks; when
there are no more subsets than asked for, all are taken; others are drawn as two separate panels
at a time, where two fit. Anonymous votes are drawn per item: at most m of each item's own,
without replacement, and for two separate panels at most half of them each. With many items
fewer panels are drawn, so that the time stays in bounds; each is scored once.

*Curves.* Of a + b/m, and of a variance that falls as 1/m. A spread that is estimated from A
annotators has A - 1 degrees of freedom: intervals take Student's quantile, not the normal one,
which would cover too rarely. Many anonymous votes have so many that both are the same.

*Folds.* The intervals of a and of the mean rank correlation r of two separate panels leave out
one after the other: annotators (for r groups of them where there are more than ten, and the
others are halved in the same random order as without leaving out, so that only who is missing
makes a difference), or for anonymous votes tenths of the items, with all tasks. What a fold
says of r is brought to one size of panels by the Spearman-Brown formula; its jackknife spread
on Fisher's scale, atanh r, and Student's quantile for so many folds give the ends.
"""

from collections.abc import Sequence
from itertools import combinations
from math import comb
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.inference.ranks import spearman
from equipoise.inference.resampling import Resampling
from equipoise.study.analyses.scoring import StudyScorer, TaskScorer, mean_over_tasks
from equipoise.types.arrays import Floats, Ints

ROOM = 2**23  # cells of labels held at a time
BUDGET = 2**28  # cells of labels, times models, that are scored in all
MOST_SIZES = 20
MOST_TWINS = 2000  # pairs of separate panels that are compared
LEAST_ROOM = 0.05  # share of a fresh panel's variance below which subsets say too little
FOLDS = 10
HALVINGS = 200  # of the annotators beside a fold
FEWEST = 12  # panels of a size, or halvings of a fold, that are drawn however many items
NEAR = 0.999  # largest correlation on Fisher's scale

Members = NDArray[np.uint8]


class PanelValues(NamedTuple):
    """Values of every model by size of the panel.

    Attributes
    ----------
    sizes, coverage
        Numbers of annotators, or of votes per item, rising, and the mean share of items that
        keep a vote, (sizes,).
    values
        For each size the values, (models, subsets).
    room
        What part of the variance of a fresh panel subsets of this one show, (sizes,).
    twins
        For each size the values of separate panels, (2, models, pairs); no pairs where two
        do not fit.
    degrees
        Degrees of freedom of a spread over panels.
    limits
        The limit a, some left out in turn, (folds, models); no folds where it has none.
    folds, fold_size
        Mean correlation of separate panels of this size, some left out in turn, (folds,).
    most
        How many panels of a size were drawn at most.
    """

    sizes: Ints
    coverage: Floats
    values: list[Floats]
    room: Floats
    twins: list[Floats]
    degrees: float
    limits: Floats
    folds: Floats
    fold_size: int
    most: int

    def half_widths(self, spread: Floats, times: float) -> tuple[Floats, Floats]:
        """Fitted variance of one annotator (models,), half-width by size (sizes, models)."""
        told = np.flatnonzero(self.room > LEAST_ROOM)
        if not len(told):
            return np.full(spread.shape[1], np.nan), np.full(spread.shape, np.nan)
        fresh = spread[told] ** 2 / self.room[told, None]
        variance = (fresh * self.sizes[told, None]).mean(axis=0)
        half = np.sqrt(variance / self.sizes[:, None])
        half[told] = np.sqrt(fresh)
        return variance, np.asarray(times * half)

    def limit_ends(self, limit: Floats, scorer: StudyScorer) -> Floats:
        """Interval of a by the jackknife, shape (2, models)."""
        folds = len(self.limits)
        if folds < 2:
            return np.full((2, len(limit)), np.nan)
        gap = self.limits - self.limits.mean(axis=0)
        times = quantile(scorer.asked.level, folds - 1)
        half = times * np.sqrt((folds - 1) / folds * (gap**2).sum(axis=0))
        return np.asarray(
            np.clip(np.stack([limit - half, limit + half]), *scorer.metric.bounds)
        )

    def between_separate(self) -> Floats:
        """Mean rank correlation of separate panels, over the pairs that have one, (sizes,)."""
        if len(self.values[0]) < 2:
            return np.full(len(self.sizes), np.nan)
        return np.array([_mean_correlation(one, two) for one, two in self.twins])

    def separate_ends(self, separate: Floats, level: float) -> tuple[float, float]:
        """Interval of the last correlation of separate panels that is known."""
        known = np.flatnonzero(~np.isnan(separate))
        if not len(known) or len(self.folds) < 2:
            return float("nan"), float("nan")
        last = int(known[-1])
        times = float(self.sizes[last] / self.fold_size)
        student = quantile(level, len(self.folds) - 1)
        return correlation_ends(float(separate[last]), self.folds, times, student)


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


def _affordable(scorer: StudyScorer, times: int, most: int) -> int:
    """How many panels may be scored, each so many times: at most so many, fewer if large."""
    return min(most, max(FEWEST, BUDGET // (scorer.cells * times)))


def smaller_panels(scorer: StudyScorer, active: Ints, people: int) -> PanelValues:
    """Score all models on the labels of smaller panels of `people`, who are `active`."""
    sizes = _some_sizes(len(active))
    most = _affordable(scorer, len(sizes), scorer.plan.replicates)
    chosen = [_chosen(int(size), active, people, scorer.plan, most) for size in sizes]
    halves, fold_size = _halved_folds(scorer, active, people)
    every = [*chosen, *halves]
    unlike, place = np.unique(np.concatenate(every, axis=1), axis=1, return_inverse=True)
    scored, seen = _panel_values(scorer, np.ascontiguousarray(unlike), people)
    spans = np.split(place.ravel(), np.cumsum([one.shape[1] for one in every])[:-1])
    values = [scored[:, one] for one in spans[: len(sizes)]]
    ends = [scored[:, one] for one in spans[len(sizes) :]]
    return PanelValues(
        sizes=sizes,
        coverage=np.array([seen[one].mean() for one in spans[: len(sizes)]]),
        values=values,
        room=1 - sizes / len(active),
        twins=[_separate(one, who) for one, who in zip(values, chosen, strict=True)],
        degrees=len(active) - 1,
        limits=_limits_without(sizes, values, [one[active] for one in chosen]),
        folds=np.array([_mean_correlation(*np.split(one, 2, axis=1)) for one in ends]),
        fold_size=fold_size,
        most=most,
    )


def _panel_values(scorer: StudyScorer, members: Members, people: int) -> tuple[Floats, Floats]:
    """Values (models, panels), averaged over tasks, and the share of items with a vote."""
    parts, seen = [], []
    for task in scorer.subjects:
        panel = task.panel(people)
        width = max(1, ROOM // (len(task.question.items) * len(task.question.classes)))
        done, present = [], []
        for first in range(0, members.shape[1], width):
            shares, voted = panel.shares(members[:, first : first + width])
            done.append(task.scored(shares, voted))
            present.append(voted.mean(axis=0))
            scorer.asked.tell(min(first + width, members.shape[1]), members.shape[1])
        parts.append(np.concatenate(done, axis=1))
        seen.append(np.concatenate(present))
    return mean_over_tasks(parts), np.mean(seen, axis=0)


def _separate(values: Floats, members: Members) -> Floats:
    """Values of pairs of panels without a common member, (2, models, pairs)."""
    common = members.T.astype(np.float32) @ members.astype(np.float32)
    one, two = np.nonzero(np.triu(common == 0))
    if len(one) > MOST_TWINS:
        some = np.linspace(0, len(one) - 1, MOST_TWINS).astype(np.int64)
        one, two = one[some], two[some]
    return np.stack([values[:, one], values[:, two]])


def _chosen(size: int, active: Ints, people: int, plan: Resampling, most: int) -> Members:
    """Who belongs to which subset, shape (annotators, subsets)."""
    if comb(len(active), size) <= most:
        who = np.array(list(combinations(active, size))).T
    else:
        random = np.random.default_rng(int(plan.key(f"panel size/{size}")))
        fit = 2 if 2 * size <= len(active) else 1
        order = np.argsort(random.random((len(active), -(-most // fit))), axis=0)
        places = [order[k * size : (k + 1) * size] for k in range(fit)]
        who = active[np.concatenate(places, axis=1)[:, :most]]
    return _members(who, people)


def _halved_folds(scorer: StudyScorer, active: Ints, people: int) -> tuple[list[Members], int]:
    """For each fold both halves of who is left, one after the other, and the halves' size."""
    groups = np.arange(len(active)) % min(FOLDS, len(active))
    size = (len(active) - int(np.bincount(groups).max())) // 2
    if size < 1 or len(scorer.models) < 2:
        return [], size
    unlike = comb(len(active), size)  # panels, each scored once
    folds = int(groups.max()) + 1
    number = HALVINGS if unlike <= HALVINGS else _affordable(scorer, 2 * folds, HALVINGS)
    random = np.random.default_rng(int(scorer.plan.key("halved panels")))
    order = np.argsort(random.random((len(active), number)), axis=0)
    made = []
    for fold in range(folds):
        left = order.T[(groups[order] != fold).T].reshape(number, -1).T
        halves = [active[left[k * size : (k + 1) * size]] for k in range(2)]
        made.append(np.concatenate([_members(who, people) for who in halves], axis=1))
    return made, size


def _members(who: Ints, people: int) -> Members:
    """Panels by the codes of their members, as (annotators, panels)."""
    out = np.zeros((people, who.shape[1]), dtype=np.uint8)
    np.put_along_axis(out, who, 1, axis=0)
    return out


def _limits_without(
    sizes: Ints, values: Sequence[Floats], members: Sequence[Members]
) -> Floats:
    """The limit by panels without each annotator, (annotators, models)."""
    without = []
    for person in range(len(members[0])):
        left = [np.flatnonzero(one[person] == 0) for one in members]
        told = [s for s, rows in enumerate(left) if len(rows)]
        if len(told) < 2:
            return np.empty((0, len(values[0])))
        means = [values[s][:, left[s]].mean(axis=1) for s in told]
        without.append(fitted(sizes[told], np.stack(means))[0])
    return np.stack(without)


def fewer_votes(scorer: StudyScorer, most: int) -> PanelValues:
    """Score all models on labels of at most m votes of each item."""
    sizes = _some_sizes(most)
    number = _affordable(scorer, 2 * len(sizes) * (1 + FOLDS), scorer.plan.replicates)
    parts = [_thinned(one, sizes, number, scorer) for one in scorer.subjects]
    left = mean_over_tasks([part[0] for part in parts])
    halves = mean_over_tasks([part[1] for part in parts])
    votes = np.concatenate([one.sizes for one in scorer.votes])
    fit = int((2 * sizes <= most).sum())
    twins = [halves[s, :, :, 0, : number if s < fit else 0] for s in range(len(sizes))]
    last = np.moveaxis(halves[fit - 1, :, :, 1:], 2, 0) if fit else halves[:0, 0, :, 0]
    several = len(scorer.models) > 1
    return PanelValues(
        sizes=sizes,
        coverage=np.ones(len(sizes)),
        values=list(left[:, :, 0]),
        room=np.array([np.maximum(1 - size / votes, 0).mean() for size in sizes]),
        twins=twins,
        degrees=np.inf,
        limits=fitted(sizes, left[:, :, 1:].mean(axis=-1))[0].T,
        folds=np.array([_mean_correlation(one, two) for one, two in last if several]),
        fold_size=int(sizes[fit - 1]) if fit else 0,
        most=number,
    )


def _thinned(
    task: TaskScorer, sizes: Ints, number: int, scorer: StudyScorer
) -> tuple[Floats, Floats]:
    """Values on all items, then without each tenth of them, and those of two halves.

    The first is (sizes, models, 1 + folds, subsets), the other (sizes, 2, models, 1 + folds,
    subsets).
    """
    plan, several = scorer.plan, task.votes.sizes > 1
    random = np.random.default_rng(int(plan.key(f"votes left out/{task.question.task}")))
    units = np.arange(len(plan.items)) if plan.group is None else np.asarray(plan.group)
    fold = units[task.question.place, None] % FOLDS  # groups together
    stay = np.concatenate([fold >= 0, fold != np.arange(FOLDS)], axis=1).astype(np.uint8)
    both = stay * several[:, None].astype(np.uint8)
    left = np.empty((len(sizes), len(scorer.models), 1 + FOLDS, number))
    halves = np.empty((len(sizes), 2, *left.shape[1:]))
    for draw in range(number):
        for step, shares in enumerate(_some_votes(task, sizes, random).swapaxes(0, 1)):
            some, *two = ([np.ascontiguousarray(one) for one in part] for part in shares)
            left[step, ..., draw] = task.scored(some, stay)
            halves[step, ..., draw] = [task.scored(half, both) for half in two]
        scorer.asked.tell(draw + 1, number)
    return left, halves


def _some_votes(task: TaskScorer, sizes: Ints, random: np.random.Generator) -> Floats:
    """Mean of some votes of each item in a random order, (3, sizes, classes, items).

    First the first m votes, then two separate panels of m votes, or of half of the votes where
    there are fewer; an item with a single vote has it in both.
    """
    votes = task.votes
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


def fitted(sizes: Ints, mean: Floats) -> tuple[Floats, Floats]:
    """Least squares of a + b/m to means (sizes, ...): a and b; undefined for one size."""
    if len(sizes) < 2:
        return np.full(mean.shape[1:], np.nan), np.full(mean.shape[1:], np.nan)
    x = 1 / sizes - (1 / sizes).mean()
    slope = np.tensordot(x, mean, axes=1) / (x @ x)
    return np.asarray(mean.mean(axis=0) - slope * (1 / sizes).mean()), np.asarray(slope)


def quantile(level: float, degrees: float) -> float:
    """Two-sided quantile of Student's distribution; normal for endless degrees of freedom.

    Examples
    --------
    >>> quantile(0.95, 7), quantile(0.95, np.inf)
    (2.364..., 1.959...)
    """
    from scipy.special import stdtrit

    if np.isinf(degrees):
        return NormalDist().inv_cdf(0.5 + level / 2)
    return float(stdtrit(degrees, 0.5 + level / 2))


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
        Two-sided quantile of Student's distribution.

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
