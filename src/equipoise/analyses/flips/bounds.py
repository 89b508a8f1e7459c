r"""Bounds: how far a lead can fall at most by k moves, for metrics that allow a proof.

AUROC. With labels p, and K_ij = 1 where a model scores item i above j (1/2 where equal), the
numerator is sum p_i (1 - p_j) K_ij. Between two models, d_ij = K_ij - K'_ij = -d_ji, so that
the products p_i p_j cancel and the lead has the numerator D = sum_i p_i R_i, with R_i the
difference of the ranks of item i. Its sign is that of the lead. Hence

* a changed vote changes D by R_i times the change of p_i, whatever else changes: the k largest
  changes give the lowest D exactly;
* votes taken away do the same, but p_i is not linear in how many go: the best k are found by
  dynamic programming over items;
* an item taken away lowers D by D_j = p_j R_j + sum_i p_i d_ij, and every pair of items changes
  that by at most the range of the labels.

A metric that is a mean over items has D = sum of the items' differences, and taking an item
away takes its difference away, exactly.

The lead itself is D divided by a weight W, which is bounded from both sides, so that leads of
several tasks can be added up. A bound of minus infinity says that nothing is proved. Before a
bound is used, D / W is compared with the lead that the metric gives.

Exclusion. For a single task and AUROC a closer look at pairs of items proves more. Taking away
a set S lowers D by the sum of the falls D_i of its items less (p_i - p_j) d_ij for every pair
in it. So an item adds at most D_i and half of the k - 1 largest of its terms with others. Items
that cannot be in a set that is large enough are dropped, which makes the terms of the others
smaller; this is repeated until the set is excluded or nothing is dropped.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from equipoise.analyses.flips.moves import RemovalScorer
from equipoise.arrays import Floats, Ints
from equipoise.evaluation.blocks import hard_labels

AHEAD = 1e-12  # how far a rival must be ahead
SLACK = AHEAD / 2  # what a proof may lack by rounding
AGREES = 1e-9  # how well D / W must agree with the lead
STEPS = 60_000  # of dynamic programming, items times votes
ROOM = 20_000_000  # numbers that it may keep
MOST_PAIRED = 1500  # items whose pairs are looked at
ROUNDING = 1e-9  # by which an item that is dropped must fall short


class _Bound(NamedTuple):
    """Lead of some pairs of models: what is there, and how it can change.

    `lead` is the numerator D, (pairs,), `fall` how far it falls at most by 0, 1, ... moves,
    (pairs, 1 + most); `low` and `high` are the least and largest W after these, (1 + most,).
    """

    lead: Floats
    fall: Floats
    low: Floats
    high: Floats

    def lowest(self) -> Floats:
        """Lowest lead after at most 0, 1, ... moves, (pairs, 1 + most)."""
        left = self.lead[:, None] - np.maximum.accumulate(self.fall, axis=1)
        safe = np.where(self.low > 0, self.low, 1.0)
        below = np.where(self.low > 0, left / safe, -np.inf)
        return np.where(left >= 0, left / self.high, below)


def lowest_leads(
    scorer: RemovalScorer, ahead: list[int], behind: list[int], most: int
) -> Floats:
    """Lowest lead of each model ahead over the one behind, (pairs, 1 + most) moves."""
    unknown = np.full((len(ahead), most + 1), -np.inf)
    lead = scorer.full[ahead] - scorer.full[behind]
    unknown[:, 0] = lead
    if not len(scorer.moves.item):
        return np.repeat(lead[:, None], most + 1, axis=1)
    bound, known = None, np.ones(len(ahead), dtype=bool)
    if _by_auroc(scorer):
        bound = Auroc.of(scorer, ahead, behind).bound(scorer, most)
    elif scorer.task.metric.per_item is not None and scorer.moves.unit == "items":
        sure = np.zeros(len(scorer.full), dtype=bool)
        if scorer.exact:  # a finite value on all data, and after each move alone
            sure = np.isfinite(np.column_stack([scorer.full, scorer.singles])).all(axis=1)
        known = sure[ahead] & sure[behind]
        bound = _mean(scorer, np.array(ahead)[known], np.array(behind)[known], most)
    if bound is None or not np.allclose(bound.lead / bound.high[0], lead[known], atol=AGREES):
        return unknown
    unknown[known] = bound.lowest()
    unknown[:, 0] = lead
    return unknown


def _by_auroc(scorer: RemovalScorer) -> bool:
    """Whether a yes/no question is scored by AUROC in its default form."""
    return scorer.task.metric.name == "auroc" and len(scorer.task.question.classes) == 1


def _mean(scorer: RemovalScorer, ahead: Ints, behind: Ints, most: int) -> _Bound | None:
    """Metrics that are a mean over items: differences of the items add up."""
    size = scorer.items
    if size < 2 or not len(ahead):
        return None
    whole = size * (scorer.full[ahead] - scorer.full[behind])
    each = whole[:, None] - (size - 1) * (scorer.singles[ahead] - scorer.singles[behind])
    if not np.allclose(each.sum(axis=1), whole, atol=AGREES * size):
        return None
    left = np.maximum(size - np.arange(most + 1.0), 0)
    return _Bound(whole, _top_sums(each, most), left, np.maximum(left, 1))


def _top_sums(gains: Floats, most: int) -> Floats:
    """Sums of the 0, 1, ... largest gains above 0 of each row, (rows, 1 + most).

    Examples
    --------
    >>> _top_sums(np.array([[3.0, -1.0, 5.0]]), 3)
    array([[0., 5., 8., 8.]])
    """
    few = min(most, gains.shape[1])
    top = np.zeros((len(gains), most + 1))
    if few:
        best = np.sort(np.partition(-gains, few - 1, axis=1)[:, :few], axis=1)
        top[:, 1 : few + 1] = np.maximum(-best, 0.0)
    return np.cumsum(top, axis=1)


@dataclass(frozen=True, slots=True)
class Auroc:
    """Pairs of models by AUROC.

    `label` is p, (items,), `rank` is R, (pairs, items), and `fall` by how much D falls without
    each item, (pairs, items).
    """

    label: Floats
    rank: Floats
    fall: Floats

    @classmethod
    def of(cls, scorer: RemovalScorer, ahead: list[int], behind: list[int]) -> "Auroc":
        """Ranks and masses of all models, then differences of the pairs."""
        shares = scorer.task.question.shares
        label = shares[0]
        if scorer.task.labels == "hard":
            label = hard_labels(shares, scorer.task.question.ties)[0]
        scores = list(scorer.task.aligned.scores.values())
        both = {m: np.stack(_standing(scores[m], label)) for m in {*ahead, *behind}}
        pairs = zip(ahead, behind, strict=True)
        rank, above = np.stack([both[a] - both[b] for a, b in pairs], axis=1)
        return cls(label, rank, label * rank + above)

    def bound(self, scorer: RemovalScorer, most: int) -> _Bound | None:
        """The bound that fits the kind of moves."""
        lead, unit = self.rank @ self.label, scorer.moves.unit
        if unit == "items":
            return _Bound(lead, self._items(most), *self._weights(scorer, most))
        fall = (self._votes if unit == "votes" else self._changed)(scorer, most)
        return None if fall is None else _Bound(lead, fall, *self._weights(scorer, most))

    def _items(self, most: int) -> Floats:
        """Each of k items lowers D by its own fall, and by the range of labels per pair."""
        low, high = self.label.min(), self.label.max()
        reach = np.maximum(self.label - low, high - self.label)
        size = min(most, len(self.label))
        out = np.zeros((len(self.rank), most + 1))
        for k in range(1, size + 1):
            out[:, k] = _top_sums(self.fall + (k - 1) / 2 * reach, k)[:, -1]
        out[:, size + 1 :] = out[:, size : size + 1]
        return out

    def _changed(self, scorer: RemovalScorer, most: int) -> Floats:
        """Every vote changed the best way; the k largest."""
        moves = scorer.moves
        turn = moves.mass[0] / scorer.total[moves.item]
        gain = -self.rank[:, moves.item] * turn
        votes, place = np.unique(moves.vote, return_inverse=True)
        best = np.full((len(gain), len(votes)), -np.inf)
        for row, one in zip(best, gain, strict=True):
            np.maximum.at(row, place, one)
        return _top_sums(best, most)

    def _votes(self, scorer: RemovalScorer, most: int) -> Floats | None:
        """Best number of votes to take from each item, by dynamic programming."""
        counts = _counts(scorer)
        if counts is None:
            return None
        yes, no = counts
        deep = int(min((yes + no).max(), most))
        if self.rank.size * deep > ROOM:
            return None
        fall = np.stack([self._taken(yes, no, c) for c in range(1, deep + 1)], axis=-1)
        use = np.arange(fall.shape[1])
        if len(use) > most + 1:  # items among the best for some number of votes and some pair
            use = np.unique(np.argpartition(-fall, most, axis=1)[:, : most + 1])
        if len(use) * deep > STEPS:
            return None
        best = np.zeros((len(fall), most + 1))
        for item in use:
            new = best.copy()
            for c in range(1, deep + 1):
                more = best[:, :-c] + fall[:, item, c - 1, None]
                np.maximum(new[:, c:], more, out=new[:, c:])
            best = new
        best += _mixed(int((yes + no)[yes + no > 0].min()), most)
        return best

    def _taken(self, yes: Floats, no: Floats, number: int) -> Floats:
        """Fall of D by `number` votes of every item, (pairs, items); all of them: the item."""
        total = yes + no
        left = np.maximum(total - number, 1)
        low = np.maximum(yes - number, 0) / left
        high = np.minimum(yes, total - number) / left
        fall = self.rank * (self.label - np.where(self.rank > 0, low, high))
        fall = np.where(number < total, fall, -np.inf)
        return np.where(number == total, self.fall, fall)

    def _weights(self, scorer: RemovalScorer, most: int) -> tuple[Floats, Floats]:
        """W after the labels moved as far as k votes can move them, and items vanished."""
        p, q, moves = self.label, 1 - self.label, scorer.moves
        whole = p.sum() * q.sum() - p @ q
        own = p * (q.sum() - q) + q * (p.sum() - p)
        if moves.unit == "items":
            return whole - _top_sums(own[None], most)[0], np.full(most + 1, whole)
        gone = int(moves.unit == "votes")
        k, fewest = np.arange(most + 1.0), scorer.total.min()
        turn = np.abs(moves.mass[0]) / scorer.total[moves.item]
        far = k * max(turn.max(initial=0.0), gone / fewest)
        change = far * (abs(q.sum() - p.sum()) + 1) + far**2
        lost = gone * (k // fewest) * (own.max() + k)
        return whole - change - lost, whole + change


def _standing(scores: Floats, label: Floats) -> tuple[Floats, Floats]:
    """Rank of every item, and mass of the labels above it; equal scores count half.

    Examples
    --------
    >>> _standing(np.array([3.0, 1.0, 3.0]), np.array([1.0, 0.5, 0.0]))
    (array([1.5, 0. , 1.5]), array([0. , 1. , 0.5]))
    """
    _, place, many = np.unique(scores, return_inverse=True, return_counts=True)
    mass = np.bincount(place, label)
    below = np.cumsum(many) - many
    above = label.sum() - np.cumsum(mass)
    rank = below[place] + (many[place] - 1) / 2
    return rank, above[place] + (mass[place] - label) / 2


def _counts(scorer: RemovalScorer) -> tuple[Floats, Floats] | None:
    """Yes and no votes of each item that can go; None where votes have weights or shares."""
    moves, size = scorer.moves, scorer.items
    yes = -moves.mass[0]
    whole = np.isin(yes, (0.0, 1.0)) & (moves.weight == -1)
    if not whole.all():
        return None
    every = np.bincount(moves.item, minlength=size).astype(float)
    agree: Floats = np.bincount(moves.item, yes, minlength=size).astype(float)
    return agree, every - agree


def _mixed(fewest: int, most: int) -> Floats:
    """What vanishing items add by their pairs with each other and with changed ones."""
    out = np.zeros(most + 1)
    for k in range(most + 1):
        gone = np.arange(k // fewest + 1)
        out[k] = (gone * (gone - 1) / 2 + gone * (k - gone * fewest)).max()
    return out


def excluded(
    scorers: Sequence[RemovalScorer], leaders: Sequence[int], rival: int, size: int
) -> bool:
    """Whether it is proved that no set of up to `size` items puts the rival ahead."""
    scorer = scorers[0]
    small = len(scorers) == 1 and scorer.items <= MOST_PAIRED
    if not small or scorer.moves.unit != "items" or not _by_auroc(scorer):
        return False
    return any(_safe(scorer, leader, rival, size) for leader in leaders)


def _safe(scorer: RemovalScorer, leader: int, rival: int, size: int) -> bool:
    """Whether no set is large enough to pass one leader."""
    pair = Auroc.of(scorer, [leader], [rival])
    lead, label = float(pair.rank[0] @ pair.label), pair.label
    scores = list(scorer.task.aligned.scores.values())
    above = [np.sign(scores[m][:, None] - scores[m]) for m in (leader, rival)]
    more = (above[0] - above[1]) / 2
    terms = np.maximum((label - label[:, None]) * more, 0.0)
    left = np.arange(len(label))
    while len(left):
        most = min(size, len(left))
        near = -np.partition(-terms[np.ix_(left, left)], most - 1, axis=1)[:, : most - 1]
        worth = np.maximum(pair.fall[0][left] + near.sum(axis=1) / 2, 0.0)
        top = -np.sort(-worth)[:most]
        if top.sum() <= lead + SLACK:
            return True
        keep = np.minimum(worth, top[-1]) + top[:-1].sum() > lead - ROUNDING
        if keep.all():
            return False
        left = left[keep]
    return True
