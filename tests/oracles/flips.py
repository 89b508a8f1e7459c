"""Flips from the definition: apply every set of moves, score all models, see who is best."""

from itertools import chain, combinations

import numpy as np

from equipoise.metrics import brier_score
from tests.oracles import ranking

AHEAD = 1e-12


def brier(p, s):
    """Brier score, turned so that higher is better."""
    return -brier_score(np.stack([1 - p, p], axis=1), np.stack([1 - s, s], axis=1))


METRICS = {
    "auroc": ranking.auroc,
    "average_precision": ranking.average_precision,
    "brier_score": brier,
}


def goodness(votes, scores, metric, labels="soft"):
    """Mean over tasks of every model's value.

    Parameters
    ----------
    votes, scores
        Per task: votes (items, annotators), nan for none; scores (models, items).
    labels
        ``soft``, or what becomes of ties of hard labels: half, negative, drop.
    """
    tasks = []
    for said, given in zip(votes, scores, strict=True):
        kept = ~np.isnan(said).all(axis=1)
        if not kept.any():
            return np.full(len(given), np.nan)
        p = np.nanmean(said[kept], axis=1)
        given = given[:, kept]
        if labels != "soft":
            tied = np.isclose(p, 0.5, atol=1e-12)
            p = np.where(tied, {"negative": 0.0}.get(labels, 0.5), p > 0.5)
            if labels == "drop":
                p, given = p[~tied], given[:, ~tied]
        if not len(p):
            return np.full(len(given), np.nan)
        tasks.append([METRICS[metric](p, one) for one in given])
    return np.mean(np.array(tasks, dtype=float), axis=0)


def moved(votes, chosen, unit):
    """The votes after a set: moves are (task, item) or (task, item, annotator)."""
    after = [one.copy() for one in votes]
    for task, *place in chosen:
        if unit == "changed votes":
            after[task][tuple(place)] = 1 - after[task][tuple(place)]
        else:
            after[task][tuple(place)] = np.nan
    return after


def every_move(votes, unit):
    """All moves of a kind."""
    if unit == "items":
        return [(t, i) for t, one in enumerate(votes) for i in range(len(one))]
    return [
        (t, int(i), int(j))
        for t, one in enumerate(votes)
        for i, j in zip(*np.nonzero(~np.isnan(one)), strict=True)
    ]


def leaders(values):
    """Models level at the top."""
    good = np.round(values, 12)
    return np.flatnonzero(good == good.max())


def overtaken(values, first):
    """Whether a model that was not among the first is ahead of all of them."""
    rest = np.setdiff1d(np.arange(len(values)), first)
    return bool(values[rest].max() > values[first].max() + AHEAD)


def smallest(votes, scores, metric, *, unit, labels="soft", deep=3):
    """Size of the smallest set that flips, by trying all; `deep` + 1 when there is none."""
    first = leaders(goodness(votes, scores, metric, labels))
    moves = every_move(votes, unit)
    every = chain.from_iterable(combinations(moves, size) for size in range(1, deep + 1))
    for chosen in every:
        values = goodness(moved(votes, chosen, unit), scores, metric, labels)
        if not np.isnan(values).any() and overtaken(values, first):
            return len(chosen)
    return deep + 1
