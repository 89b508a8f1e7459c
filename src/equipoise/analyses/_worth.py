r"""Worth: how often a model beats a colleague, and how many experts it stands for.

The share of pairs of experts in which a model agrees with the first better than the second does
is a share over few people who are all in many pairs. Its interval is Wilson's for n independent
comparisons,

.. math:: n = \min\Big(A, \frac{p (1 - p)}{V_\text{items} + V_\text{experts}}\Big)

with A the number of experts, V the variances over redrawn items and of the jackknife over
experts, and p drawn a little to the middle (Wilson's centre), so that n stays defined for a
share of 0 or 1. It never has a width of zero: that all pairs of eight experts agree says no
more than eight agreeing experts do.

The worth is read from the curve of k experts, which need not rise: by accuracy two experts
decide no better than one, since they can only tie where they differ. Numbers of experts who do
no better than fewer do are therefore passed over, and the worth is interpolated between those
who do better than all fewer: that curve rises, has one place for every value, and a model is
worth more than one expert exactly if it agrees with a held-out expert better than single
experts do on average. The interval of the worth holds the middle of the same paired replicates
as everything else, and its ends are replicates, so that an end can be *more than there are*.
"""

from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from equipoise.analyses._duels import Bench, Duels, duels
from equipoise.analyses._groups_of_experts import Groups, group_sizes, groups_against
from equipoise.analyses._voices import known_mean, three
from equipoise.analyses.scoring import StudyScorer
from equipoise.arrays import Floats, Ints
from equipoise.estimate import wilson

SAME = 1e-12  # differences below are those of rounding


class Tally(NamedTuple):
    """Sums over held-out experts and groups, each with how much was summed.

    `crowd` is (2, sizes, 1 + replicates), `lead` how far groups are ahead of the models,
    (2, sizes, models, 1 + replicates), `models` what the models have there, of the same shape,
    and `wins` (pairs, models, 1 + replicates).
    """

    crowd: Floats
    lead: Floats
    models: Floats
    wins: list[Floats]


def standing(benches: list[Bench], found: StudyScorer) -> dict[str, Any]:
    """Superiority and worth of every model, and the curve of k experts."""
    number = benches[0].weight.shape[1]
    sizes, width = group_sizes(number), 1 + found.plan.replicates
    each = (2, len(sizes), len(found.models), width)
    tally = Tally(np.zeros((2, len(sizes), width)), np.zeros(each), np.zeros(each), [])
    for expert in range(number):
        groups = groups_against(expert, number, found.plan)
        _add(tally, duels(benches, expert, groups, found), groups)
        found.asked.tell(expert + 1, number)
    with np.errstate(invalid="ignore"):
        human, lead, models = (one[0] / one[1] for one in tally[:3])
    if found.metric.better == "lower":
        human, models = 0.0 - human, 0.0 - models
    wins = np.stack(tally.wins)
    first, value = known_mean(wins), worth(sizes, lead)
    level = found.asked.level
    return {
        "pairs": (~np.isnan(wins[:, :, 0])).sum(axis=0),
        **three("superior", share_ends(wins, number, level), first[:, 0]),
        **three("worth", worth_ends(value, level), value[:, 0]),
        "sizes": sizes,
        **three("crowd", found.ends(human[:, 0], human[:, 1:]), human[:, 0]),
        **three("held_out", found.ends(models[..., 0], models[..., 1:]), models[..., 0]),
    }


def _add(tally: Tally, done: Duels, groups: Groups) -> None:
    """Add the duels of one held-out expert; the first groups are single experts, in order."""
    for group, (size, items) in enumerate(zip(groups.size, done.items, strict=True)):
        rival, models, weight = done.rival[group], done.models[items], groups.weight[group]
        lead = rival - models
        both = np.where(np.isnan(lead), np.nan, models)
        for total, one in ((tally.crowd, rival), (tally.lead, lead), (tally.models, both)):
            known = ~np.isnan(one) & (weight > 0)
            total[0, size] += np.where(known, one, 0.0) * weight
            total[1, size] += known * weight
        if size == 0:
            won = (models > rival) + (models == rival) / 2
            tally.wins.append(np.where(np.isnan(models) | np.isnan(rival), np.nan, won))


def share_ends(wins: Floats, experts: int, level: float) -> Floats:
    """Interval of the share of pairs that each model wins, shape (2, models).

    Parameters
    ----------
    wins
        For each held-out expert in turn each of the others: 1, 1/2 or 0, as they are and in
        each replicate, (pairs, models, 1 + replicates).

    Examples
    --------
    >>> share_ends(np.ones((6, 1, 4)), 3, 0.95)
    array([[0.439],
           [1.   ]])
    """
    share = known_mean(wins)
    drawn = share[:, 1:].T
    spread = known_mean((drawn - known_mean(drawn)) ** 2) + _jackknife(wins[:, :, 0], experts)
    z = NormalDist().inv_cdf(0.5 + level / 2)
    ends = []
    for p, variance in zip(share[:, 0], spread, strict=True):
        if np.isnan(p) or np.isnan(variance):
            ends.append((np.nan, np.nan))
            continue
        middle = (p * experts + z * z / 2) / (experts + z * z)
        part = middle * (1 - middle)
        trials = experts if variance * experts <= part else part / variance
        ends.append(wilson(p * trials, trials, level))
    return np.array(ends).T


def _jackknife(wins: Floats, experts: int) -> Floats:
    """Variance of the share over experts, leaving out each in turn, (models,)."""
    held_out = np.repeat(np.arange(experts), experts - 1)
    rival = np.concatenate([np.delete(np.arange(experts), e) for e in range(experts)])
    without = np.stack(
        [known_mean(wins[(held_out != e) & (rival != e)]) for e in range(experts)]
    )
    known = np.isfinite(without).sum(axis=0)
    gap = np.where(np.isnan(without), 0.0, without - known_mean(without))
    return np.asarray((gap**2).sum(axis=0) * (known - 1) / np.maximum(known, 1))


def passed_over(sizes: Ints, better: Floats) -> list[int]:
    """Numbers of experts who do worse than fewer do, given values as higher-is-better.

    Examples
    --------
    >>> passed_over(np.array([1, 2, 3]), np.array([0.79, 0.77, 0.82]))
    [2]
    """
    fewer = np.fmax.accumulate(better)[:-1]
    return [int(k) for k in sizes[1:][better[1:] < fewer - SAME]]


def worth_ends(value: Floats, level: float) -> Floats:
    """Ends of the worth (models, 1 + replicates): replicates themselves, shape (2, models).

    An undefined replicate counts against both ends, as for every interval.
    """
    tail = (1 - level) / 2
    replicates = value[:, 1:]
    last = replicates.shape[1] - 1
    low = np.sort(np.where(np.isnan(replicates), -1.0, replicates))[:, int(tail * last)]
    unknown = np.isnan(replicates)
    high = np.sort(np.where(unknown, np.inf, replicates))[:, int(np.ceil((1 - tail) * last))]
    low = np.where((low < 0) | np.isnan(value[:, 0]), np.nan, low)
    many = unknown.mean(axis=1) > tail
    return np.stack([low, np.where(many | np.isnan(value[:, 0]), np.nan, high)])


def worth(sizes: Ints, lead: Floats) -> Floats:
    """Number of experts whose mean vote does as well as the model.

    Parameters
    ----------
    lead
        How far the mean of each number of experts is ahead of the model, (sizes, ...).

    Returns
    -------
    Floats
        Interpolated between sizes, those passed over that do no better than a smaller one,
        (...): 0 when one expert already does better, infinite when no group does as well.

    Examples
    --------
    >>> worth(np.array([1, 2, 4]), np.array([[-0.2, 0.1, -0.3], [-0.1, 0.2, -0.2],
    ...     [0.1, 0.3, -0.1]]))
    array([ 3.,  0., inf])
    >>> worth(np.array([1, 2, 3]), np.array([-0.1, -0.3, 0.1]))
    array(2.)
    """
    ahead = lead >= 0
    first = np.argmax(ahead, axis=0)
    place = np.arange(len(sizes)).reshape(-1, *[1] * first.ndim)
    before = np.argmax(np.where(place < first, lead, -np.inf), axis=0)
    low, high = (np.take_along_axis(lead, one[None], axis=0)[0] for one in (before, first))
    gap = np.where(high > low, high - low, 1.0)
    with np.errstate(invalid="ignore"):
        part = np.where(first > 0, -low / gap, 0.0)
    found = sizes[before] + part * (sizes[first] - sizes[before])
    found = np.where(first == 0, np.where(lead[0] > 0, 0.0, 1.0), found)
    found = np.where(ahead.any(axis=0), found, np.inf)
    return np.where(np.isnan(lead).any(axis=0), np.nan, found)
