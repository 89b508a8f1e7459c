"""Subsets: smaller panels drawn from the one there is, or fewer votes of each item.

Named annotators are drawn without replacement, the same people for all items and tasks; when
there are no more subsets than asked for, all are taken; others are drawn as two separate panels
at a time, where two fit. Anonymous votes are drawn per item: at most m of each item's own,
without replacement, and for two separate panels at most half of them each.
"""

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.analyses._order_range import (
    HALVINGS,
    fold_correlations,
    item_folds,
    mean_correlation,
)
from equipoise.analyses._panel_values import ROOM, panel_values
from equipoise.analyses.scoring import StudyScorer, TaskScorer, mean_over_tasks
from equipoise.arrays import Floats, Ints
from equipoise.ballots import Ballots
from equipoise.resampling import Resampling

MOST_SIZES = 20
MOST_TWINS = 2000  # pairs of separate panels that are compared


class Paths(NamedTuple):
    """Values of every model by size of the panel.

    Attributes
    ----------
    sizes
        Numbers of annotators, or of votes per item, rising.
    values
        For each size, shape (models, subsets).
    members
        For each size who belongs to which subset, (annotators, subsets); empty for votes.
    redrawn
        For votes: values with the items drawn anew as well, (sizes, models, subsets).
    room
        What part of the variance of a fresh panel subsets of this one show, (sizes,).
    coverage
        Mean share of items that keep a vote, (sizes,).
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


def some_sizes(most: int) -> Ints:
    """Sizes from 2 to the most, all of them or about twenty.

    Examples
    --------
    >>> some_sizes(5)
    array([2, 3, 4, 5])
    """
    if most <= MOST_SIZES + 1:
        return np.arange(2, most + 1)
    return np.unique(np.geomspace(2, most, MOST_SIZES).round().astype(np.int64))


def smaller_panels(found: StudyScorer, active: Ints, people: int) -> Paths:
    """Score all models on the labels of smaller panels."""
    sizes = some_sizes(len(active))
    laid = [one.panel(people) for one in found.subjects]
    values, members, coverage = [], [], []
    for step, size in enumerate(sizes):
        chosen = _chosen(int(size), active, people, found.plan)
        scored, seen = panel_values(found, laid, chosen)
        values.append(scored)
        members.append(chosen[active])
        coverage.append(seen)
        found.asked.tell(step + 1, len(sizes))
    twins = [_separate(*one) for one in zip(values, members, strict=True)]
    room = 1 - sizes / len(active)
    cover = np.array(coverage)
    folds = fold_correlations(found, active, laid, people)
    return Paths(sizes, values, members, None, room, cover, twins, len(active) - 1, *folds)


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
    out = np.zeros((people, who.shape[1]), dtype=np.uint8)
    np.put_along_axis(out, who, 1, axis=0)
    return out


def fewer_votes(found: StudyScorer, most: int) -> Paths:
    """Score all models on labels of at most m votes of each item."""
    sizes = some_sizes(most)
    parts = [_thinned(one, sizes, found) for one in found.subjects]
    values, redrawn, halves = (mean_over_tasks([part[k] for part in parts]) for k in range(3))
    number = np.concatenate([_votes(one).sizes for one in found.subjects])
    room = np.array([np.maximum(1 - size / number, 0).mean() for size in sizes])
    twins = [
        one[..., :0] if 2 * size > most else one
        for size, one in zip(sizes, halves, strict=True)
    ]
    folds = (np.empty(0), 0) if len(found.models) < 2 else _item_folds(found, sizes, most)
    cover = np.ones(len(sizes))
    return Paths(sizes, list(values), [], redrawn, room, cover, twins, np.inf, *folds)


def _item_folds(found: StudyScorer, sizes: Ints, most: int) -> tuple[Floats, int]:
    """Mean correlation of separate halves of the votes without each tenth of the items."""
    fit = sizes[2 * sizes <= most]
    if not len(fit):
        return np.empty(0), 0
    parts = [
        _halved(subject, fit[-1:], stay, found.plan)
        for subject, stay in zip(found.subjects, item_folds(found), strict=True)
    ]
    width = min(one.shape[-1] for one in parts)
    values = mean_over_tasks([one[..., :width] for one in parts])
    return np.array([mean_correlation(one, two) for one, two in values]), int(fit[-1])


def _halved(
    subject: TaskScorer, size: Ints, stay: NDArray[np.uint8], plan: Resampling
) -> Floats:
    """Values of separate halves on the items of each fold, (folds, 2, models, halvings)."""
    random = np.random.default_rng(int(plan.key(f"halved votes/{subject.question.task}")))
    cells = 3 * len(subject.question.classes) * len(stay)
    width = int(min(HALVINGS, max(8, ROOM // cells)))
    shares = np.stack([_some_votes(subject, size, random)[1:, 0] for _ in range(width)], -1)
    several = (_votes(subject).sizes > 1)[:, None].astype(np.uint8)
    halves = [[np.ascontiguousarray(one) for one in half] for half in shares]
    return np.stack(
        [
            [subject.scored(half, np.repeat(several * here, width, axis=1)) for half in halves]
            for here in np.split(stay, stay.shape[1], axis=1)
        ]
    )


def _votes(subject: TaskScorer) -> Ballots:
    votes = subject.question.votes
    assert votes is not None
    return votes


def _thinned(
    subject: TaskScorer, sizes: Ints, found: StudyScorer
) -> tuple[Floats, Floats, Floats]:
    """Values as items are and drawn anew (sizes, models, subsets), and of two halves.

    Halves are (sizes, 2, models, subsets), for the first subsets only.
    """
    question, plan = subject.question, found.plan
    random = np.random.default_rng(int(plan.key(f"votes left out/{question.task}")))
    out = np.empty((2, len(sizes), len(found.models), plan.replicates))
    cells = 3 * len(sizes) * len(question.classes) * len(question.items)
    width = int(min(128, max(1, ROOM // cells)))
    halves = np.empty((len(sizes), 2, len(found.models), min(width, plan.replicates)))
    counts = subject.item_counts(plan)
    for first in range(0, plan.replicates, width):
        part = slice(first, min(first + width, plan.replicates))
        shares = np.stack(
            [_some_votes(subject, sizes, random) for _ in range(part.stop - first)], axis=-1
        )
        once = np.ones((len(question.items), part.stop - first), dtype=np.uint8)
        several = once * (_votes(subject).sizes > 1)[:, None].astype(np.uint8)
        for step in range(len(sizes)):
            left, one, two = ([np.ascontiguousarray(c) for c in k] for k in shares[:, step])
            out[0, step, :, part] = subject.scored(left, once)
            out[1, step, :, part] = subject.scored(left, counts[:, part])
            if not first:
                halves[step] = [subject.scored(half, several) for half in (one, two)]
        found.asked.tell(part.stop, plan.replicates)
    return out[0], out[1], halves


def _some_votes(subject: TaskScorer, sizes: Ints, random: np.random.Generator) -> Floats:
    """Mean of some votes of each item in a random order, (3, sizes, classes, items).

    First the first m votes, then two separate panels of m votes, or of half of the votes where
    there are fewer; an item with a single vote has it in both.
    """
    votes = _votes(subject)
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

    total = summed(votes.weight)
    return np.stack(
        [summed(votes.weight * mass) / total for mass in subject.question.masses], axis=2
    )
