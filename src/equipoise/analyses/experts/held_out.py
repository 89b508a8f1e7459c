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
from itertools import combinations
from math import comb
from os import cpu_count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.analyses.scoring import StudyScorer, TaskScorer, mean_over_tasks
from equipoise.arrays import Bools, Floats, Ints
from equipoise.evaluation.blocks import every_class, hard_labels
from equipoise.evaluation.engine import BYTES, map_chunks
from equipoise.evaluation.redraw import PanelDraw
from equipoise.metrics import Prepared
from equipoise.ranks import higher_is_better
from equipoise.resampling import Resampling

EVERY = 640  # groups of a size, over all held-out experts, up to which all are taken
DRAWN = 240  # groups of a size that are drawn where there are more
MOST_SIZES = 10
WORKERS = cpu_count() or 1
FEWER = 4  # counts of merged items take four times the room


class ExpertGroups(NamedTuple):
    """Groups of all sizes for one held-out expert.

    `members` says who belongs to which group, (experts, groups), `size` which size each has, as
    a position among the sizes, (groups,), and `weight` how often each counts as it is and in
    each replicate, (groups, 1 + replicates).
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

    `first` is an item of each cell, (cells,), `code` the cell of each item, (items,), and
    `counts` how often the items of each cell stand in each replicate, (cells, replicates).
    """

    first: Ints
    code: Ints
    counts: NDArray[np.unsignedinteger]

    @property
    def smaller(self) -> bool:
        """Whether anything was merged."""
        return len(self.first) < len(self.code)


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
    merged = np.add.reduceat(counts[order], starts, axis=0, dtype=np.uint32)
    return _MergedItems(first, code, merged)


def _keep_apart(counts: NDArray[np.uint8]) -> _MergedItems:
    """Every item a cell of its own."""
    every = np.arange(len(counts))
    return _MergedItems(every, every, counts)


class ExpertVotes(NamedTuple):
    """One task's votes, person by person.

    `own` is the mean vote of each expert by class, (classes, items, experts), `rated` who rated
    what; `panel` and `people` are who voted for what, and the experts' codes; `counts` has
    every item once, then the replicates, (items, 1 + replicates).
    """

    task: TaskScorer
    own: Floats
    rated: Bools
    panel: PanelDraw
    people: Ints
    counts: NDArray[np.uint8]

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
    gold, counts = _gold_and_counts(task, scorer.plan)
    return ExpertVotes(task, np.stack(shares), (present > 0) & ~gold, panel, people, counts)


def _prepared(task: TaskScorer, shares: Floats, rated: Bools) -> Prepared:
    """Mean votes (classes, items) as a prediction; even where there is no vote."""
    filled = np.where(rated, shares, 1 / max(2, len(shares)))
    return task.prepare(filled[0] if len(shares) == 1 else filled.T)


def _gold_and_counts(task: TaskScorer, plan: Resampling) -> tuple[Bools, NDArray[np.uint8]]:
    """Which items are of known truth, (items, 1), and counts: once, then the replicates."""
    votes, drawn = task.question.votes, task.item_counts(plan)
    assert votes is not None
    gold = (np.add.reduceat(votes.annotator < 0, votes.start[:-1]) > 0)[:, None]
    return gold, np.concatenate([np.ones((len(drawn), 1), dtype=np.uint8), drawn], axis=1)


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
            expert = _prepared(one.task, one.own[:, :, e], one.rated[:, e])
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
    """One task with its models, items merged on which all experts said the same.

    `weight` is what each expert's votes count, (cells, experts), and `mass` how much of it goes
    to each class, (classes, cells, experts); nothing where the expert did not vote.
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
        whole = self.task.metric.labels == "distribution"
        if self.task.labels == "soft":
            return np.stack(every_class(shares) if whole else shares, axis=1)
        return np.stack(hard_labels(shares, self.task.question.ties, whole=whole), axis=1)


def merge_task(
    task: TaskScorer, people: Ints, annotators: int, scorer: StudyScorer
) -> MergedTask:
    """Lay out who said what; items of known truth are nobody's opinion and stay aside."""
    panel, (gold, counts) = task.panel(annotators), _gold_and_counts(task, scorer.plan)
    weight = panel.all[:, people].toarray() * ~gold
    mass = np.stack([one[:, people].toarray() * ~gold for one in panel.yes])
    family = task.metric.family
    if family.startswith(("bins", "retained")) or "|" in family:  # they look at single items
        found = _keep_apart(counts)
    else:
        found = _merge_items(np.concatenate([weight, *mass], axis=1), counts)
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
    task: TaskScorer, truth: Floats, prepared: Prepared, merged: _MergedItems, here: Bools
) -> Floats:
    """Value on some items in each replicate, a few replicates at a time."""
    counts: NDArray[np.generic] = merged.counts
    if not here.all():
        counts = merged.counts * here[:, None].astype(merged.counts.dtype)
    width = max(8, BYTES // (len(counts) * truth.shape[1] * 9))
    if width >= counts.shape[1]:
        return np.asarray(task.metric.score(truth, prepared, counts))
    parts = (
        np.ascontiguousarray(counts[:, k : k + width]) for k in range(0, counts.shape[1], width)
    )
    return np.concatenate([task.metric.score(truth, prepared, one) for one in parts])


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
    better = scorer.metric.better
    both = [_rivals(one, held_out, groups.members) for one in tasks]
    keys = [b"".join(h[:, g].tobytes() for _, h in both) for g in range(len(groups.size))]
    place = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    models = []
    for key in place:
        heres = [here[:, keys.index(key)] for _, here in both]
        parts = [_models(*one, held_out) for one in zip(tasks, heres, strict=True)]
        models.append(higher_is_better(mean_over_tasks(parts), better))
    rival = higher_is_better(mean_over_tasks([values for values, _ in both]), better)
    return HeldOutScores(rival, models, np.array([place[key] for key in keys]))


def _rivals(one: MergedTask, held_out: int, members: Bools) -> tuple[Floats, Bools]:
    """Groups of experts, (groups, 1 + replicates), and on which items, (cells, groups)."""
    shares, rated = one.mean_votes(members)
    here, truth = rated & (one.weight[:, held_out] > 0)[:, None], one.truth(held_out)

    def value(group: int) -> Floats:
        prepared = _prepared(one.task, shares[:, :, group], rated[:, group])
        return _scored(one.task, truth, prepared, one.merged, here[:, group])

    return np.stack(map_chunks(value, range(members.shape[1]), workers=WORKERS)), here


def _models(one: MergedTask, here: Bools, held_out: int) -> Floats:
    """Every model on some of the items, (models, 1 + replicates)."""
    truth = one.truth(held_out)

    def value(model: _MergedModel) -> Floats:
        merged, cell = model.merged, model.cell
        return _scored(one.task, truth[cell], model.prepared, merged, here[cell])

    return np.stack(map_chunks(value, one.models, workers=WORKERS))
