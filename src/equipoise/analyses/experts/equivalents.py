r"""Equivalents: how often a model beats a colleague, and how many experts it is worth.

The share of pairs of experts in which a model agrees with the first better than the second does
is a share over few people who are all in many pairs. Its interval is Wilson's for n independent
comparisons,

.. math:: n = \min\Big(A, \frac{p (1 - p)}{V_\text{items} + V_\text{experts}}\Big)

with A the number of experts, V the variances over resampled items and of the jackknife over
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

A model is said to be *worth* a number of experts above one only where nothing speaks against
more than one: the interval of its difference to the average expert leaves out zero, it beats a
colleague in at least half of the pairs, and the interval of its worth begins above one. Else
the number is an estimate, and the sentence says what speaks against it. So it is where a worth
below one might be one or more.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from equipoise.analyses.experts.held_out import (
    ExpertGroups,
    HeldOutScores,
    MergedTask,
    group_sizes,
    groups_against,
    known_mean,
    score_against_held_out,
)
from equipoise.analyses.result import StudyResult, ends_of
from equipoise.analyses.scoring import StudyScorer
from equipoise.arrays import Floats, Ints
from equipoise.estimate import wilson
from equipoise.numbers import UNDEFINED, number, percent
from equipoise.wording import joined

Three = tuple[float, float, float]  # value, low and high
SAME = 1e-12  # differences below are those of rounding


class _Tally(NamedTuple):
    """Sums over held-out experts and groups, each with how much was summed.

    `crowd` is (2, sizes, 1 + replicates), `lead` how far groups are ahead of the models,
    (2, sizes, models, 1 + replicates), `models` what the models have there, of the same shape,
    and `wins` (pairs, models, 1 + replicates).
    """

    crowd: Floats
    lead: Floats
    models: Floats
    wins: list[Floats]


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupComparison(StudyResult):
    """Models and groups of experts against held-out experts.

    Attributes
    ----------
    pairs, superior, superior_low, superior_high
        Probability that the model agrees with an expert better than another expert, and of how
        many ordered pairs of experts, (models,).
    worth, worth_low, worth_high
        How many experts the model is worth, (models,); also `equivalent_experts`.
    sizes, crowd, crowd_low, crowd_high
        Numbers of experts, and the metric of their mean vote against a held-out one, (sizes,).
    held_out, held_out_low, held_out_high
        Each model against the held-out expert on the same items as those groups, so that the
        worth is where this meets `crowd`, (sizes, models).
    """

    pairs: Ints
    superior: Floats
    superior_low: Floats
    superior_high: Floats
    worth: Floats
    worth_low: Floats
    worth_high: Floats
    sizes: Ints
    crowd: Floats
    crowd_low: Floats
    crowd_high: Floats
    held_out: Floats
    held_out_low: Floats
    held_out_high: Floats


def compare_with_groups(tasks: list[MergedTask], scorer: StudyScorer) -> GroupComparison:
    """Superiority and worth of every model, and the curve of k experts."""
    experts = tasks[0].weight.shape[1]
    sizes, width = group_sizes(experts), 1 + scorer.plan.replicates
    each = (2, len(sizes), len(scorer.models), width)
    tally = _Tally(np.zeros((2, len(sizes), width)), np.zeros(each), np.zeros(each), [])
    for expert in range(experts):
        groups = groups_against(expert, experts, scorer.plan)
        _add(tally, score_against_held_out(tasks, expert, groups, scorer), groups)
        scorer.asked.tell(expert + 1, experts)
    with np.errstate(invalid="ignore"):
        human, lead, models = (one[0] / one[1] for one in tally[:3])
    if scorer.metric.better == "lower":
        human, models = 0.0 - human, 0.0 - models
    wins = np.stack(tally.wins)
    worth, level = equivalent_experts(sizes, lead), scorer.asked.level
    held_out = models[..., 0]
    return GroupComparison(
        **scorer.facts,
        pairs=(~np.isnan(wins[:, :, 0])).sum(axis=0),
        **ends_of("superior", known_mean(wins)[:, 0], share_ends(wins, experts, level)),
        **ends_of("worth", worth[:, 0], equivalent_ends(worth, level)),
        sizes=sizes,
        **ends_of("crowd", human[:, 0], scorer.ends(human[:, 0], human[:, 1:])),
        **ends_of("held_out", held_out, scorer.ends(held_out, models[..., 1:])),
    )


def _add(tally: _Tally, done: HeldOutScores, groups: ExpertGroups) -> None:
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


def equivalent_ends(value: Floats, level: float) -> Floats:
    """Ends of the worth (models, 1 + replicates): replicates themselves, shape (2, models).

    An undefined replicate counts against both ends, as for every interval.
    """
    tail, replicates = (1 - level) / 2, value[:, 1:]
    last, unknown = replicates.shape[1] - 1, np.isnan(replicates)
    low = np.sort(np.where(unknown, -1.0, replicates))[:, int(tail * last)]
    high = np.sort(np.where(unknown, np.inf, replicates))[:, int(np.ceil((1 - tail) * last))]
    low = np.where((low < 0) | np.isnan(value[:, 0]), np.nan, low)
    many = unknown.mean(axis=1) > tail
    return np.stack([low, np.where(many | np.isnan(value[:, 0]), np.nan, high)])


def equivalent_experts(sizes: Ints, lead: Floats) -> Floats:
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
    >>> equivalent_experts(np.array([1, 2, 4]), np.array([[-0.2, 0.1, -0.3], [-0.1, 0.2, -0.2],
    ...     [0.1, 0.3, -0.1]]))
    array([ 3.,  0., inf])
    >>> equivalent_experts(np.array([1, 2, 3]), np.array([-0.1, -0.3, 0.1]))
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


class Standing(NamedTuple):
    """One model among experts.

    Attributes
    ----------
    gap, superior, worth
        Model minus average expert as higher-is-better, share of pairs in which it beats the
        colleague, and worth in experts: value, low and high of each.
    most
        The largest number of experts looked at together.
    scores, crowd
        The model against a held-out expert, and the mean vote of one expert to the most, on
        the same items, (sizes,).
    """

    gap: Three
    superior: Three
    worth: Three
    most: int
    scores: Floats
    crowd: Floats

    def said(self) -> str:
        """The worth as a sentence, and what speaks against more than one expert."""
        words = f"{self.worth_words()} ({self.worth_range()}){self._beside()}."
        doubts = self.doubts()
        if doubts:
            words += f" That it is more than one expert is not shown: {joined(doubts)}."
        unsure = bool(doubts) or self.worth[0] < 1 <= self.worth[2]
        return f"{'Its worth is put at' if unsure else 'It is worth'} {words}"

    def _beside(self) -> str:
        """The values behind the worth, those of the largest groups if it is beyond them."""
        beyond = math.isinf(self.worth[0])
        ours, theirs = (float(one[-1 if beyond else 0]) for one in (self.scores, self.crowd))
        if math.isnan(self.worth[0]) or not math.isfinite(ours + theirs):
            return ""
        who = f"the mean of {self.most} experts" if beyond and self.most > 1 else "a colleague"
        return f": against a held-out expert it has {number(ours)}, {who} {number(theirs)}"

    def doubts(self) -> list[str]:
        """Why a model whose worth is put above one expert might not be worth more.

        Examples
        --------
        >>> scores, crowd = np.array([0.8, 0.8]), np.array([0.79, 0.81])
        >>> gap, won, worth = (0.1, -0.1, 0.3), (0.4, 0.1, 0.8), (1.5, 1.2, 3.0)
        >>> Standing(gap, won, worth, 2, scores, crowd).doubts()
        ['its difference to the average expert may be zero', 'it beats ... in 40% of pairs']
        """
        worth, worth_low, _ = self.worth
        if not worth > 1:
            return []
        reasons = []
        if self.gap[2] < 0:
            reasons.append("it agrees with the others less well than the average expert")
        elif not self.gap[1] > 0:
            reasons.append("its difference to the average expert may be zero")
        if self.superior[0] < 0.5:
            reasons.append(f"it beats a colleague only in {percent(self.superior[0])} of pairs")
        if math.isnan(worth_low):
            reasons.append("the interval of its worth is undefined")
        elif worth_low <= 1:
            reasons.append("its worth may be one expert or fewer")
        return reasons

    def worth_words(self) -> str:
        """The worth in words: ``the mean of 2.5 experts``."""
        worth = self.worth[0]
        if math.isnan(worth):
            return "an undefined number of experts"
        if worth <= 1:
            return "one expert" if worth == 1 else "fewer than one expert"
        if round(worth, 1) == 1:
            return "about one expert"
        whole = f"{self._people(worth)} experts"
        return whole if math.isinf(worth) else f"the mean of {whole}"

    def worth_range(self) -> str:
        """The interval of the worth, in words."""
        if math.isnan(self.worth[1]) or math.isnan(self.worth[2]):
            return f"interval {UNDEFINED}"
        low, high = (self._people(end) for end in self.worth[1:])
        return f"{low} at both ends" if low == high else f"{low} to {high}"

    def _people(self, experts: float) -> str:
        if experts < 1:
            return "fewer than one"
        return f"more than {self.most}" if math.isinf(experts) else number(experts, 1)

    def superior_words(self, pairs: int) -> str:
        """In how many pairs of experts the model beats the colleague, in words.

        Examples
        --------
        >>> gap, empty = (0.1, 0.0, 0.2), np.empty(0)
        >>> Standing(gap, (1.0, 0.68, 1.0), gap, 2, empty, empty).superior_words(56)
        'in all 56 pairs (68% to 100%)'
        """
        share, low, high = self.superior
        if math.isnan(share):
            return f"in an {UNDEFINED} share of pairs"
        exact = {1.0: f"in all {pairs} pairs", 0.0: f"in none of {pairs} pairs"}
        words = exact.get(share, f"in {percent(share)} of {pairs} pairs")
        if math.isnan(low) or math.isnan(high):
            return f"{words} (interval {UNDEFINED})"
        return f"{words} ({percent(low)} to {percent(high)})"
