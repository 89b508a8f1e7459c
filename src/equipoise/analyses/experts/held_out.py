"""Held-out experts: people and models scored against what one of the experts said, or the rest.

*Against the others.* The votes of a task, person by person, score every expert as if the expert
were a model (`ExpertVotes`).

*Against one held-out expert.* The truth is what that expert said. A rival is another expert, or
the mean vote of k others; every comparison with a model takes only the items that the expert
and the rival rated, for both, so that all is paired. The same items, resample by resample,
serve everyone. All groups of a size are taken when, over all held-out experts, there are at
most `EVERY`; otherwise the same number of different groups is drawn for each held-out expert,
and replicates draw among those again, so that intervals allow for which groups were drawn.

*Merged items.* Two items on which the same experts gave the same votes are copies of each other
for every expert and every group of experts; two such items with equal scores are so for a
model, too. A metric that takes copies as counts has the same value on the merged items, which
are often far fewer. Metrics that cut the scores into equally full bins, or items into shares to
be left out, look at single items before they are counted and are not merged.
"""

from collections.abc import Sequence
from functools import partial
from itertools import combinations
from math import comb
from os import cpu_count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.analyses.scoring import StudyScorer, TaskScorer, mean_over_tasks
from equipoise.arrays import Bools, Floats, Ints
from equipoise.evaluation.blocks import every_class, majority, plurality
from equipoise.evaluation.engine import BYTES, map_chunks
from equipoise.evaluation.redraw import PanelDraw
from equipoise.metrics import Metric, Prepared
from equipoise.ranks import higher_is_better
from equipoise.resampling import Resampling

EVERY = 640  # groups of a size, over all held-out experts, up to which all are taken
DRAWN = 240  # groups of a size that are drawn where there are more
MOST_SIZES = 10
SOME = 16  # groups that one worker scores at a time
FEWER = 4  # counts of merged items take four times the room


class ExpertGroups(NamedTuple):
    """ExpertGroups of all sizes for one held-out expert.

    Attributes
    ----------
    members
        Who belongs to which group, shape (experts, groups).
    size
        Which size each group has, as a position among the sizes, shape (groups,).
    weight
        How often each group counts as it is and in each replicate, (groups, 1 + replicates).
    """

    members: Bools
    size: Ints
    weight: Floats


def group_sizes(experts: int) -> Ints:
    """Sizes of groups of experts, from one to all but the held-out one.

    Examples
    --------
    >>> group_sizes(5), group_sizes(40)
    (array([1, 2, 3, 4]), array([ 1,  2,  3,  5,  8, 12, 17, 26, 39]))
    """
    if experts - 1 <= MOST_SIZES:
        return np.arange(1, experts)
    return np.unique(np.geomspace(1, experts - 1, MOST_SIZES).round().astype(np.int64))


def drawn_sizes(experts: int) -> list[int]:
    """Sizes for which groups are drawn, because there are too many to take all.

    Examples
    --------
    >>> drawn_sizes(9), drawn_sizes(10)
    ([], [3, 4, 5, 6])
    """
    return [int(k) for k in group_sizes(experts) if experts * comb(experts - 1, k) > EVERY]


def groups_against(held_out: int, experts: int, plan: Resampling) -> ExpertGroups:
    """All groups, or different groups drawn at random, of the experts beside one."""
    others = np.delete(np.arange(experts), held_out)
    few = drawn_sizes(experts)
    members, size, weight = [], [], []
    for place, k in enumerate(group_sizes(experts)):
        random = np.random.default_rng(int(plan.key(f"groups of experts/{held_out}/{k}")))
        if int(k) in few:
            chosen = _different(others, int(k), max(2, DRAWN // experts), random)
            times = random.multinomial(
                len(chosen), np.full(len(chosen), 1 / len(chosen)), plan.replicates
            ).T
        else:
            chosen = list(combinations(others.tolist(), int(k)))
            times = np.ones((len(chosen), plan.replicates), dtype=np.int64)
        one = np.zeros((experts, len(chosen)), dtype=bool)
        np.put_along_axis(one, np.array(chosen).T, values=1, axis=0)
        members.append(one)
        size.append(np.full(len(chosen), place))
        weight.append(np.concatenate([np.ones((len(chosen), 1)), times], axis=1))
    return ExpertGroups(
        *(np.concatenate(parts, axis) for parts, axis in ((members, 1), (size, 0), (weight, 0)))
    )


def _different(
    others: Ints, size: int, number: int, random: np.random.Generator
) -> list[tuple[int, ...]]:
    """Different groups, each equally likely; all of them where there are no more."""
    found: dict[tuple[int, ...], None] = {}
    while len(found) < min(number, comb(len(others), size)):
        found[tuple(sorted(random.permutation(others)[:size].tolist()))] = None
    return list(found)


class _MergedItems(NamedTuple):
    """Cells of items that are alike.

    Attributes
    ----------
    first
        An item of each cell, shape (cells,).
    code
        The cell of each item, shape (items,).
    counts
        How often the items of each cell stand in each replicate, shape (cells, replicates).
    """

    first: Ints
    code: Ints
    counts: NDArray[np.unsignedinteger]

    @property
    def smaller(self) -> bool:
        """Whether anything was merged."""
        return len(self.first) < len(self.code)


def _can_merge(metric: Metric) -> bool:
    """Whether the metric of merged items is that of the items themselves."""
    return not metric.family.startswith(("bins", "retained")) and "|" not in metric.family


def _merge_items(alike: Floats, counts: NDArray[np.uint8]) -> _MergedItems:
    """Merge items with equal rows, if that makes them few enough to be worth it.

    Parameters
    ----------
    alike
        Everything by which items are told apart, shape (items, columns).
    counts
        How often each item stands in each replicate, shape (items, replicates).

    Examples
    --------
    >>> rows = np.array([[0.0]] * 3 + [[1.0]] * 5)
    >>> _merge_items(rows, np.ones((8, 1), dtype=np.uint8)).counts.ravel()
    array([3, 5], dtype=uint32)
    """
    rows = np.ascontiguousarray(alike, dtype=np.float64) + 0.0  # no negative zero
    bytes_ = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, code = np.unique(bytes_, return_index=True, return_inverse=True)
    if len(first) * FEWER > len(rows):
        return _keep_apart(counts)
    order = np.argsort(code, kind="stable")
    starts = np.searchsorted(code[order], np.arange(len(first)))
    return _MergedItems(
        first, code, np.add.reduceat(counts[order], starts, axis=0, dtype=np.uint32)
    )


def _keep_apart(counts: NDArray[np.uint8]) -> _MergedItems:
    """Every item a cell of its own."""
    every = np.arange(len(counts))
    return _MergedItems(every, every, counts)


class ExpertVotes(NamedTuple):
    """One task's votes, person by person.

    Attributes
    ----------
    task
        The task.
    own, rated
        Mean vote of each expert by class, (classes, items, experts), and who rated what.
    panel, people
        Who voted for what, and the experts' codes.
    counts
        Item counts: first every item once, then the replicates, (items, 1 + replicates).
    """

    task: TaskScorer
    own: Floats
    rated: Bools
    panel: PanelDraw
    people: Ints
    counts: NDArray[np.uint8]

    def prepared(self, shares: Floats, here: Bools) -> Prepared:
        """Mean votes (classes, items) as a prediction; even where there is no vote."""
        even = 1 / 2 if len(shares) == 1 else 1 / len(shares)
        filled = np.where(here, shares, even)
        return self.task.prepare(filled[0] if len(shares) == 1 else filled.T)

    def scores(self, truth: Floats, here: Bools, prepared: list[Prepared]) -> Floats:
        """Value and replicates against labels (classes, items), (rivals, 1 + replicates)."""
        counts = self.counts * here[:, None].astype(np.uint8)
        return self.task.scored([np.ascontiguousarray(one) for one in truth], counts, prepared)


def expert_votes(
    task: TaskScorer, people: Ints, annotators: int, scorer: StudyScorer
) -> ExpertVotes:
    """Take the votes apart; items of known truth are nobody's opinion and stay aside."""
    panel = task.panel(annotators)
    alone = np.zeros((annotators, len(people)), dtype=np.uint8)
    alone[people, np.arange(len(people))] = 1
    shares, present = panel.shares(alone)
    votes = task.question.votes
    assert votes is not None
    gold = np.add.reduceat(votes.annotator < 0, votes.start[:-1]) > 0
    drawn = task.item_counts(scorer.plan)
    counts = np.concatenate([np.ones((len(drawn), 1), dtype=np.uint8), drawn], axis=1)
    rated = (present > 0) & ~gold[:, None]
    return ExpertVotes(task, np.stack(shares), rated, panel, people, counts)


def known_mean(values: Floats) -> Floats:
    """Mean over the first axis of what is defined; nan where nothing is."""
    known = ~np.isnan(values)
    number = known.sum(axis=0)
    total = np.where(known, values, 0.0).sum(axis=0)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def against_others(votes: Sequence[ExpertVotes], scorer: StudyScorer) -> tuple[Ints, Floats]:
    """Items (experts,), and values of expert and models, (experts, 1 + models, 1 + reps)."""
    number = votes[0].rated.shape[1]
    items, scores = np.zeros(number, dtype=np.int64), []
    for e in range(number):
        parts = []
        for one in votes:
            left = np.ones((one.panel.all.shape[1] - 1, 1), dtype=np.uint8)
            left[one.people[e]] = 0
            shares, present = one.panel.shares(left)
            here = one.rated[:, e] & (present[:, 0] > 0)
            items[e] += int(here.sum())
            expert = one.prepared(one.own[:, :, e], one.rated[:, e])
            truth = np.stack([each[:, 0] for each in shares])
            parts.append(one.scores(truth, here, [expert, *one.task.prepared]))
        scores.append(mean_over_tasks(parts))
        scorer.asked.tell(e + 1, number)
    return items, np.stack(scores)


class _MergedModel(NamedTuple):
    """A model on merged items: the items, what the metric prepared, and the experts' cells."""

    merged: _MergedItems
    prepared: Prepared
    cell: Ints


class MergedTask(NamedTuple):
    """One task, with items merged on which all experts said the same.

    Attributes
    ----------
    task
        The task.
    merged
        The items by what the experts said.
    weight, mass
        What each expert's votes count, (cells, experts), and how much of it goes to each
        class, (classes, cells, experts); nothing where the expert did not vote.
    models
        The models on the same items.
    """

    task: TaskScorer
    merged: _MergedItems
    weight: Floats
    mass: Floats
    models: tuple[_MergedModel, ...]

    def mean_votes(self, members: Bools) -> tuple[Floats, Bools]:
        """Mean vote (classes, cells, groups) of groups (experts, groups), and who rated."""
        together = members.astype(np.float64)
        total = self.weight @ together
        return self.mass @ together / np.where(total > 0, total, 1.0), total > 0

    def truth(self, expert: int) -> Floats:
        """What one expert said, as labels (cells, classes)."""
        own = self.weight[:, expert]
        shares = list(self.mass[:, :, expert] / np.where(own > 0, own, 1.0))
        whole, soft = self.task.metric.labels == "distribution", self.task.labels
        if soft == "soft":
            return np.stack(every_class(shares) if whole else shares, axis=1)
        return np.stack(plurality(shares) if whole else majority(shares), axis=1)


def merge_task(
    task: TaskScorer, people: Ints, annotators: int, scorer: StudyScorer
) -> MergedTask:
    """Lay out who said what; items of known truth are nobody's opinion and stay aside."""
    panel, votes = task.panel(annotators), task.question.votes
    assert votes is not None
    voted = (np.add.reduceat(votes.annotator < 0, votes.start[:-1]) == 0)[:, None]
    weight = panel.all[:, people].toarray() * voted
    mass = np.stack([one[:, people].toarray() * voted for one in panel.yes])
    drawn = task.item_counts(scorer.plan)
    counts = np.concatenate([np.ones((len(drawn), 1), dtype=np.uint8), drawn], axis=1)
    if _can_merge(task.metric):
        found = _merge_items(np.concatenate([weight, *mass], axis=1), counts)
    else:
        found = _keep_apart(counts)
    models = (_merged_model(task, m, found, counts) for m in range(len(scorer.models)))
    return MergedTask(task, found, weight[found.first], mass[:, found.first], tuple(models))


def _merged_model(
    task: TaskScorer, model: int, people: _MergedItems, counts: NDArray[np.uint8]
) -> _MergedModel:
    """One model on the items that differ in its scores or in what the experts said."""
    if people.smaller:
        name = list(task.aligned.scores)[model]
        whole = task.metric.labels == "distribution"
        scores = task.aligned.distributions(name) if whole else task.aligned.scores[name]
        found = _merge_items(np.column_stack([people.code, scores]), counts)
        if found.smaller:
            prepared = task.metric.prepare(scores[found.first])
            return _MergedModel(found, prepared, people.code[found.first])
    return _MergedModel(_keep_apart(counts), task.prepared[model], people.code)


def _scored(
    task: TaskScorer, truth: Floats, prepared: Prepared, counts: NDArray[np.generic]
) -> Floats:
    """Value in each replicate, a few replicates at a time."""
    width = max(8, BYTES // (len(counts) * truth.shape[1] * 9))
    if width >= counts.shape[1]:
        return np.asarray(task.metric.score(truth, prepared, counts))
    parts = [
        np.ascontiguousarray(counts[:, k : k + width]) for k in range(0, counts.shape[1], width)
    ]
    return np.concatenate([task.metric.score(truth, prepared, one) for one in parts])


def _only(counts: NDArray[np.generic], here: Bools) -> NDArray[np.generic]:
    """Counts of some items; the others count nothing."""
    return counts if here.all() else np.asarray(counts * here[:, None].astype(counts.dtype))


class HeldOutScores(NamedTuple):
    """One held-out expert against all groups; all values as higher-is-better.

    `rival` is (groups, 1 + replicates); `models` holds one array (models, 1 + replicates) for
    each set of items, and `items` says which of them belongs to which group.
    """

    rival: Floats
    models: list[Floats]
    items: Ints


def score_against_held_out(
    tasks: Sequence[MergedTask], held_out: int, groups: ExpertGroups, scorer: StudyScorer
) -> HeldOutScores:
    """Score groups of experts, and models, against one held-out expert."""
    workers = cpu_count() or 1
    heres, rivals = [], []
    for one in tasks:
        shares, rated = one.mean_votes(groups.members)
        here = rated & (one.weight[:, held_out] > 0)[:, None]
        heres.append(here)
        work = partial(_rivals, one, shares, rated, here, one.truth(held_out))
        some = [
            range(k, min(k + SOME, len(groups.size))) for k in range(0, len(groups.size), SOME)
        ]
        rivals.append(np.concatenate(map_chunks(work, some, workers=workers)))
    keys = [b"".join(here[:, g].tobytes() for here in heres) for g in range(len(groups.size))]
    place = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    models = []
    for key in place:
        group = keys.index(key)
        parts = []
        for one, here in zip(tasks, heres, strict=True):
            work = partial(_model, one, here[:, group], one.truth(held_out))
            parts.append(np.stack(map_chunks(work, one.models, workers=workers)))
        models.append(higher_is_better(mean_over_tasks(parts), scorer.metric.better))
    rival = higher_is_better(mean_over_tasks(rivals), scorer.metric.better)
    return HeldOutScores(rival, models, np.array([place[key] for key in keys]))


def _rivals(
    one: MergedTask,
    shares: Floats,
    rated: Bools,
    here: Bools,
    truth: Floats,
    groups: Sequence[int],
) -> Floats:
    """Some groups of experts; where none of a group voted the prediction is even."""
    even = 1 / 2 if len(shares) == 1 else 1 / len(shares)
    out = []
    for group in groups:
        filled = np.where(rated[:, group], shares[:, :, group], even)
        prepared = one.task.prepare(filled[0] if len(shares) == 1 else filled.T)
        counts = _only(one.merged.counts, here[:, group])
        out.append(_scored(one.task, truth, prepared, counts))
    return np.stack(out)


def _model(one: MergedTask, here: Bools, truth: Floats, model: _MergedModel) -> Floats:
    """One model on the same items."""
    counts = _only(model.merged.counts, here[model.cell])
    return _scored(one.task, truth[model.cell], model.prepared, counts)
