"""Rivals: experts, groups of experts and models, all scored against one held-out expert.

The truth is what one expert said. A rival is another expert, or the mean vote of k others;
every comparison with a model takes only the items that the expert and the rival rated, for
both, so that all is paired. The same items, resample by resample, serve everyone.
"""

from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.arrays import Bools, Floats, Ints
from equipoise.metrics import Prepared
from equipoise.ranks import goodness
from equipoise.stability._subject import Study, Subject, interval_ends, mean_over_tasks

DRAWS = 24  # groups of experts drawn per size, spread over the held-out experts
MOST_SIZES = 10
MOST_PAIRED = 16  # experts compared pair by pair


class Voices(NamedTuple):
    """One task's votes, person by person.

    Attributes
    ----------
    subject
        The task.
    own, rated
        Mean vote of each expert by class, (classes, items, experts), and who rated what.
    panel, people
        Who voted for what, and the experts' codes.
    counts
        Item counts: first every item once, then the replicates, (items, 1 + replicates).
    """

    subject: Subject
    own: Floats
    rated: Bools
    panel: Any
    people: Ints
    counts: NDArray[np.uint8]

    def prepared(self, shares: Floats, here: Bools) -> Prepared:
        """Mean votes (classes, items) as a prediction; even where there is no vote."""
        even = 1 / 2 if len(shares) == 1 else 1 / len(shares)
        filled = np.where(here, shares, even)
        return self.subject.prepare(filled[0] if len(shares) == 1 else filled.T)

    def scores(self, truth: Floats, here: Bools, prepared: list[Prepared]) -> Floats:
        """Value and replicates against labels (classes, items), (rivals, 1 + replicates)."""
        counts = self.counts * here[:, None].astype(np.uint8)
        return self.subject.scored(
            [np.ascontiguousarray(one) for one in truth], counts, prepared
        )

    def mean_vote(self, chosen: Ints) -> tuple[Floats, Bools]:
        """Mean vote of some experts by class, and which items they rated."""
        panel = np.zeros((self.panel.all.shape[1] - 1, 1), dtype=np.uint8)
        panel[self.people[chosen]] = 1
        shares, _ = self.panel.shares(panel)
        return np.stack([one[:, 0] for one in shares]), np.asarray(
            self.rated[:, chosen].any(axis=1)
        )


def voices(subject: Subject, people: Ints, annotators: int, study: Study) -> Voices:
    """Take the votes apart; items of known truth are nobody's opinion and stay aside."""
    panel = subject.panel(annotators)
    alone = np.zeros((annotators, len(people)), dtype=np.uint8)
    alone[people, np.arange(len(people))] = 1
    shares, present = panel.shares(alone)
    votes = subject.question.votes
    assert votes is not None
    gold = np.add.reduceat(votes.annotator < 0, votes.start[:-1]) > 0
    drawn = subject.item_counts(study.plan)
    counts = np.concatenate([np.ones((len(drawn), 1), dtype=np.uint8), drawn], axis=1)
    rated = (present > 0) & ~gold[:, None]
    return Voices(subject, np.stack(shares), rated, panel, people, counts)


class Duel(NamedTuple):
    """Against held-out experts: one rival per row, and every model on the same items.

    `rival` is (duels, 1 + replicates), `models` (duels, models, 1 + replicates); both as
    higher-is-better.
    """

    rival: Floats
    models: Floats


def duels(heard: list[Voices], chosen: list[tuple[int, Ints]], study: Study) -> Duel:
    """Score groups of experts, and models, against the held-out expert of each pair."""
    rivals, models = [], []
    known: dict[tuple[int, int, bytes], Floats] = {}
    for target, group in chosen:
        parts = []
        for t, one in enumerate(heard):
            shares, rated = one.mean_vote(group)
            here = rated & one.rated[:, target]
            truth = one.own[:, :, target]
            key = (t, target, here.tobytes())
            if key not in known:
                known[key] = one.scores(truth, here, list(one.subject.prepared))
            rival = one.scores(truth, here, [one.prepared(shares, rated)])
            parts.append(np.concatenate([rival, known[key]]))
        both = goodness(mean_over_tasks(parts), study.metric.better)
        rivals.append(both[0])
        models.append(both[1:])
    return Duel(np.stack(rivals), np.stack(models))


def superior(duel: Duel) -> Floats:
    """How often each model beats the rival, ties half, (models, 1 + replicates)."""
    rival = duel.rival[:, None]
    wins = (duel.models > rival) + (duel.models == rival) / 2
    return known_mean(np.where(np.isnan(duel.models) | np.isnan(rival), np.nan, wins))


def known_mean(values: Floats) -> Floats:
    """Mean over the first axis of what is defined; nan where nothing is."""
    known = ~np.isnan(values)
    number = known.sum(axis=0)
    total = np.where(known, values, 0.0).sum(axis=0)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def group_sizes(experts: int) -> Ints:
    """Sizes of groups of experts, from one to all but the held-out one."""
    if experts - 1 <= MOST_SIZES:
        return np.arange(1, experts)
    return np.unique(np.geomspace(1, experts - 1, MOST_SIZES).round().astype(np.int64))


def groups(experts: int, size: int, study: Study) -> list[tuple[int, Ints]]:
    """Held-out experts, each with groups of the others: all of them, or as many as `DRAWS`."""
    each = -(-DRAWS // experts)
    random = np.random.default_rng(int(study.plan.key(f"groups of experts/{size}")))
    found: list[tuple[int, Ints]] = []
    for target in range(experts):
        others = np.delete(np.arange(experts), target)
        if comb(experts - 1, size) <= max(each, experts - 1):
            found += [(target, np.array(one)) for one in combinations(others, size)]
        else:
            drawn = [np.sort(random.permutation(others)[:size]) for _ in range(each)]
            found += [(target, one) for one in drawn]
    return found


def worth(sizes: Ints, lead: Floats) -> Floats:
    """Number of experts whose mean vote does as well as the model.

    Parameters
    ----------
    lead
        How far the mean of each number of experts is ahead of the model, (sizes, ...).

    Returns
    -------
    Floats
        Interpolated between sizes, (...): 0 when one expert already does better, infinite
        when even the largest group does not.

    Examples
    --------
    >>> worth(np.array([1, 2, 4]), np.array([[-0.2, 0.1, -0.3], [-0.1, 0.2, -0.2],
    ...     [0.1, 0.3, -0.1]]))
    array([ 3.,  0., inf])
    """
    ahead = lead >= 0
    first = np.argmax(ahead, axis=0)
    before = np.maximum(first - 1, 0)
    low, high = (np.take_along_axis(lead, one[None], axis=0)[0] for one in (before, first))
    gap = np.where(high > low, high - low, 1.0)
    with np.errstate(invalid="ignore"):
        part = np.where(first > 0, -low / gap, 0.0)
    found = sizes[before] + part * (sizes[first] - sizes[before])
    found = np.where(first == 0, np.where(lead[0] > 0, 0.0, 1.0), found)
    found = np.where(ahead.any(axis=0), found, np.inf)
    return np.where(np.isnan(lead).any(axis=0), np.nan, found)


def three(name: str, ends: Floats, value: Floats, first: str = "") -> dict[str, Any]:
    """Value, low and high of one quantity under their names."""
    stem = f"{name}_" if name else ""
    return {first or name: value, f"{stem}low": ends[0], f"{stem}high": ends[1]}


def pairs(heard: list[Voices], found: Study) -> dict[str, Any]:
    """Superiority and worth, from the experts with most votes."""
    load = np.sum([one.rated.sum(axis=0) for one in heard], axis=0)
    top = np.sort(np.argsort(-load, kind="stable")[:MOST_PAIRED])
    kept = [
        one._replace(own=one.own[:, :, top], rated=one.rated[:, top], people=one.people[top])
        for one in heard
    ]
    sizes = group_sizes(len(top))
    first: Floats = np.empty(0)
    crowd, lead = [], []
    for step, size in enumerate(sizes):
        duel = duels(kept, groups(len(top), int(size), found), found)
        first = superior(duel) if size == 1 else first
        crowd.append(known_mean(duel.rival))
        lead.append(known_mean(duel.rival[:, None] - duel.models))
        found.asked.tell(step + 1, len(sizes))
    value = worth(sizes, np.stack(lead))
    human = np.stack(crowd) * (1 if found.metric.better == "higher" else -1)
    level = found.asked.level
    return {
        **three("superior", _ends(first, level, (0.0, 1.0)), first[:, 0]),
        **three("worth", _ends(value, level, (0.0, np.inf)), value[:, 0]),
        "sizes": sizes,
        **three("crowd", found.ends(human[:, 0], human[:, 1:]), human[:, 0]),
    }


def _ends(both: Floats, level: float, bounds: tuple[float, float]) -> Floats:
    return interval_ends(both[:, 0], both[:, 1:], level, bounds)
