"""Exclusion: whether no k items at all turn a lead by AUROC round, pair by pair of items.

Taking away a set S lowers the numerator D of the lead (see `_flip_bounds`) by the sum of the
falls D_i of its items less (p_i - p_j) d_ij for every pair in it, d_ij being what the leader
wins more of the pair. So an item adds at most D_i and half of the k - 1 largest of its terms
with others. Items that cannot be in a set that is large enough are dropped, which makes the
terms of the others smaller; this is repeated until the set is excluded or nothing is dropped.
"""

import numpy as np

from equipoise.analyses._contest import SURE, Contest
from equipoise.analyses._flip_bounds import Auroc, by_auroc
from equipoise.arrays import Floats

MOST = 1500  # items whose pairs are looked at
ROUNDING = 1e-9  # by which an item that is dropped must fall short


def excluded(contest: Contest, rival: int, size: int) -> bool:
    """Whether it is proved that no set of up to `size` items puts the rival ahead."""
    field = contest.fields[0]
    small = len(contest.fields) == 1 and field.items <= MOST
    if not small or field.moves.unit != "items" or not by_auroc(field):
        return False
    return any(_safe(contest, leader, rival, size) for leader in contest.leaders)


def _safe(contest: Contest, leader: int, rival: int, size: int) -> bool:
    """Whether no set is large enough to pass one leader."""
    field = contest.fields[0]
    pair = Auroc.of(field, [leader], [rival])
    lead, label = float(pair.rank[0] @ pair.label), pair.label
    scores = list(field.subject.aligned.scores.values())
    more = (_order(scores[leader]) - _order(scores[rival])) / 2
    terms = np.maximum((label - label[:, None]) * more, 0.0)
    left = np.arange(len(label))
    while len(left):
        most = min(size, len(left))
        near = -np.partition(-terms[np.ix_(left, left)], most - 1, axis=1)[:, : most - 1]
        worth = np.maximum(pair.fall[0][left] + near.sum(axis=1) / 2, 0.0)
        top = -np.sort(-worth)[:most]
        if top.sum() <= lead + SURE:
            return True
        keep = np.minimum(worth, top[-1]) + top[:-1].sum() > lead - ROUNDING
        if keep.all():
            return False
        left = left[keep]
    return True


def _order(scores: Floats) -> Floats:
    """1 where an item is above another, -1 where below, (items, items)."""
    return np.sign(scores[:, None] - scores)
