"""Subsets: smaller panels drawn from the one there is, or fewer votes of each item.

Named annotators are drawn without replacement, the same people for all items and tasks; when
there are no more subsets than asked for, all are taken. Anonymous votes are drawn per item:
at most m of each item's own, without replacement.
"""

from collections.abc import Iterator
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.arrays import Floats, Ints
from equipoise.ballots import Ballots
from equipoise.resampling import Resampling
from equipoise.stability._subject import Study, Subject, mean_over_tasks

MOST_SIZES = 20
ROOM = 2**23  # cells of labels held at a time


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
    """

    sizes: Ints
    values: list[Floats]
    members: list[NDArray[np.uint8]]
    redrawn: Floats | None
    room: Floats
    coverage: Floats


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


def smaller_panels(found: Study, active: Ints, people: int) -> Paths:
    """Score all models on the labels of smaller panels."""
    sizes = some_sizes(len(active))
    laid = [one.panel(people) for one in found.subjects]
    values, members, coverage = [], [], []
    for step, size in enumerate(sizes):
        chosen = _chosen(int(size), active, people, found.plan)
        parts, seen = [], []
        for subject, panel in zip(found.subjects, laid, strict=True):
            pieces = [panel.shares(part) for part in _columns(chosen, subject)]
            parts.append(np.concatenate([subject.scored(*one) for one in pieces], axis=1))
            seen.append(float(np.mean([present.mean() for _, present in pieces])))
        values.append(mean_over_tasks(parts))
        members.append(chosen[active])
        coverage.append(float(np.mean(seen)))
        found.asked.tell(step + 1, len(sizes))
    return Paths(sizes, values, members, None, 1 - sizes / len(active), np.array(coverage))


def _columns(chosen: NDArray[np.uint8], subject: Subject) -> Iterator[NDArray[np.uint8]]:
    """A few subsets at a time."""
    width = max(1, ROOM // (len(subject.question.items) * len(subject.question.classes)))
    return (chosen[:, first : first + width] for first in range(0, chosen.shape[1], width))


def _chosen(size: int, active: Ints, people: int, plan: Resampling) -> NDArray[np.uint8]:
    """Who belongs to which subset, shape (annotators, subsets)."""
    if comb(len(active), size) <= plan.replicates:
        who = np.array(list(combinations(active, size))).T
    else:
        random = np.random.default_rng(int(plan.key(f"panel size/{size}")))
        keys = random.random((len(active), plan.replicates))
        who = active[np.argsort(keys, axis=0)[:size]]
    out = np.zeros((people, who.shape[1]), dtype=np.uint8)
    np.put_along_axis(out, who, 1, axis=0)
    return out


def fewer_votes(found: Study, most: int) -> Paths:
    """Score all models on labels of at most m votes of each item."""
    sizes = some_sizes(most)
    parts = [_thinned(one, sizes, found) for one in found.subjects]
    values, redrawn = (mean_over_tasks([part[k] for part in parts]) for k in range(2))
    number = np.concatenate([_votes(one).sizes for one in found.subjects])
    room = np.array([np.maximum(1 - size / number, 0).mean() for size in sizes])
    return Paths(sizes, list(values), [], redrawn, room, np.ones(len(sizes)))


def _votes(subject: Subject) -> Ballots:
    votes = subject.question.votes
    assert votes is not None
    return votes


def _thinned(subject: Subject, sizes: Ints, found: Study) -> tuple[Floats, Floats]:
    """Values with the items as they are and drawn anew, both (sizes, models, subsets)."""
    question, plan = subject.question, found.plan
    random = np.random.default_rng(int(plan.key(f"votes left out/{question.task}")))
    out = np.empty((2, len(sizes), len(found.models), plan.replicates))
    cells = len(sizes) * len(question.classes) * len(question.items)
    width = int(min(128, max(1, ROOM // cells)))
    counts = subject.item_counts(plan)
    for first in range(0, plan.replicates, width):
        part = slice(first, min(first + width, plan.replicates))
        shares = np.stack(
            [_first_votes(subject, sizes, random) for _ in range(part.stop - first)], axis=-1
        )
        once = np.ones((len(question.items), part.stop - first), dtype=np.uint8)
        for step in range(len(sizes)):
            labels = [np.ascontiguousarray(one) for one in shares[step]]
            out[0, step, :, part] = subject.scored(labels, once)
            out[1, step, :, part] = subject.scored(labels, counts[:, part])
        found.asked.tell(part.stop, plan.replicates)
    return out[0], out[1]


def _first_votes(subject: Subject, sizes: Ints, random: np.random.Generator) -> Floats:
    """Mean of the first m votes of each item in a random order, (sizes, classes, items)."""
    votes = _votes(subject)
    item = np.repeat(np.arange(len(votes.sizes)), votes.sizes)
    order = np.argsort(item + random.random(len(item)) / 2)
    stop = votes.start[:-1] + np.minimum(sizes[:, None], votes.sizes)

    def summed(mass: Floats) -> Floats:
        running = np.concatenate(([0.0], np.cumsum(mass[order])))
        return np.asarray(running[stop] - running[votes.start[:-1]])

    total = summed(votes.weight)
    return np.stack(
        [summed(votes.weight * mass) / total for mass in subject.question.masses], axis=1
    )
