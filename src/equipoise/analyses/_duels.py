"""Duels: groups of experts and models, all scored against one held-out expert.

The truth is what one expert said. A rival is another expert, or the mean vote of k others;
every comparison with a model takes only the items that the expert and the rival rated, for
both, so that all is paired. The same items, resample by resample, serve everyone.
"""

from collections.abc import Sequence
from functools import partial
from os import cpu_count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.analyses._groups_of_experts import Groups
from equipoise.analyses._merged import Merged, apart, can_merge, merged
from equipoise.analyses.scoring import StudyScorer, TaskScorer, mean_over_tasks
from equipoise.arrays import Bools, Floats, Ints
from equipoise.evaluation.blocks import every_class, majority, plurality
from equipoise.evaluation.engine import BYTES, map_chunks
from equipoise.metrics import Prepared
from equipoise.ranks import goodness

SOME = 16  # groups that one worker scores at a time


class Contender(NamedTuple):
    """A model on merged items: the items, what the metric prepared, and the experts' cells."""

    merged: Merged
    prepared: Prepared
    cell: Ints


class Bench(NamedTuple):
    """One task, with items merged on which all experts said the same.

    Attributes
    ----------
    subject
        The task.
    merged
        The items by what the experts said.
    weight, mass
        What each expert's votes count, (cells, experts), and how much of it goes to each
        class, (classes, cells, experts); nothing where the expert did not vote.
    models
        The models on the same items.
    """

    subject: TaskScorer
    merged: Merged
    weight: Floats
    mass: Floats
    models: tuple[Contender, ...]

    def mean_votes(self, members: Bools) -> tuple[Floats, Bools]:
        """Mean vote (classes, cells, groups) of groups (experts, groups), and who rated."""
        together = members.astype(np.float64)
        total = self.weight @ together
        return self.mass @ together / np.where(total > 0, total, 1.0), total > 0

    def truth(self, expert: int) -> Floats:
        """What one expert said, as labels (cells, classes)."""
        own = self.weight[:, expert]
        shares = list(self.mass[:, :, expert] / np.where(own > 0, own, 1.0))
        whole, soft = self.subject.metric.labels == "distribution", self.subject.labels
        if soft == "soft":
            return np.stack(every_class(shares) if whole else shares, axis=1)
        return np.stack(plurality(shares) if whole else majority(shares), axis=1)


def bench(subject: TaskScorer, people: Ints, annotators: int, study: StudyScorer) -> Bench:
    """Lay out who said what; items of known truth are nobody's opinion and stay aside."""
    panel, votes = subject.panel(annotators), subject.question.votes
    assert votes is not None
    voted = (np.add.reduceat(votes.annotator < 0, votes.start[:-1]) == 0)[:, None]
    weight = panel.all[:, people].toarray() * voted
    mass = np.stack([one[:, people].toarray() * voted for one in panel.yes])
    drawn = subject.item_counts(study.plan)
    counts = np.concatenate([np.ones((len(drawn), 1), dtype=np.uint8), drawn], axis=1)
    if can_merge(subject.metric):
        found = merged(np.concatenate([weight, *mass], axis=1), counts)
    else:
        found = apart(counts)
    models = (_contender(subject, m, found, counts) for m in range(len(study.models)))
    return Bench(subject, found, weight[found.first], mass[:, found.first], tuple(models))


def _contender(
    subject: TaskScorer, model: int, people: Merged, counts: NDArray[np.uint8]
) -> Contender:
    """One model on the items that differ in its scores or in what the experts said."""
    if people.smaller:
        name = list(subject.aligned.scores)[model]
        whole = subject.metric.labels == "distribution"
        scores = subject.aligned.distributions(name) if whole else subject.aligned.scores[name]
        found = merged(np.column_stack([people.code, scores]), counts)
        if found.smaller:
            prepared = subject.metric.prepare(scores[found.first])
            return Contender(found, prepared, people.code[found.first])
    return Contender(apart(counts), subject.prepared[model], people.code)


def scored(
    subject: TaskScorer, truth: Floats, prepared: Prepared, counts: NDArray[np.generic]
) -> Floats:
    """Value in each replicate, a few replicates at a time."""
    width = max(8, BYTES // (len(counts) * truth.shape[1] * 9))
    if width >= counts.shape[1]:
        return np.asarray(subject.metric.score(truth, prepared, counts))
    parts = [
        np.ascontiguousarray(counts[:, k : k + width]) for k in range(0, counts.shape[1], width)
    ]
    return np.concatenate([subject.metric.score(truth, prepared, one) for one in parts])


def _only(counts: NDArray[np.generic], here: Bools) -> NDArray[np.generic]:
    """Counts of some items; the others count nothing."""
    return counts if here.all() else np.asarray(counts * here[:, None].astype(counts.dtype))


class Duels(NamedTuple):
    """One held-out expert against all groups; all values as higher-is-better.

    `rival` is (groups, 1 + replicates); `models` holds one array (models, 1 + replicates) for
    each set of items, and `items` says which of them belongs to which group.
    """

    rival: Floats
    models: list[Floats]
    items: Ints


def duels(benches: Sequence[Bench], held_out: int, groups: Groups, study: StudyScorer) -> Duels:
    """Score groups of experts, and models, against one held-out expert."""
    workers = cpu_count() or 1
    heres, rivals = [], []
    for one in benches:
        shares, rated = one.mean_votes(groups.members)
        here = rated & (one.weight[:, held_out] > 0)[:, None]
        heres.append(here)
        work = partial(_rivals, one, (shares, rated, here), one.truth(held_out))
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
        for one, here in zip(benches, heres, strict=True):
            work = partial(_model, one, here[:, group], one.truth(held_out))
            parts.append(np.stack(map_chunks(work, one.models, workers=workers)))
        models.append(goodness(mean_over_tasks(parts), study.metric.better))
    rival = goodness(mean_over_tasks(rivals), study.metric.better)
    return Duels(rival, models, np.array([place[key] for key in keys]))


def _rivals(
    one: Bench, votes: tuple[Floats, Bools, Bools], truth: Floats, groups: Sequence[int]
) -> Floats:
    """Some groups of experts; where none of a group voted the prediction is even."""
    shares, rated, here = votes
    even = 1 / 2 if len(shares) == 1 else 1 / len(shares)
    out = []
    for group in groups:
        filled = np.where(rated[:, group], shares[:, :, group], even)
        prepared = one.subject.prepare(filled[0] if len(shares) == 1 else filled.T)
        counts = _only(one.merged.counts, here[:, group])
        out.append(scored(one.subject, truth, prepared, counts))
    return np.stack(out)


def _model(one: Bench, here: Bools, truth: Floats, model: Contender) -> Floats:
    """One model on the same items."""
    counts = _only(model.merged.counts, here[model.cell])
    return scored(one.subject, truth[model.cell], model.prepared, counts)
