r"""Two ways: uncertainty of a mean over experts, for items and experts like these.

From g, what each item adds, and psi, what each vote adds, item by item summing to 0:

.. math:: V = e \sum_g S_g^2 + f \max\Big(\sum_r R_r^2 - \sum_{gr} C_{gr}^2, 0\Big)

with S the sums of g by group of items (an item is a group of one), R those of psi by annotator
and C those by both. e and f undo that S and psi are centred; they and the degrees of freedom of
the annotators come from who read what. Above 4.5 degrees of freedom the interval takes
Student's quantile (Satterthwaite), below a generalised pivot.

References
----------
Cameron, Gelbach and Miller, *Robust inference with multiway clustering*, 2011.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from equipoise.arrays import Floats, Ints

FEW = 4.5  # degrees of freedom of the annotators below which a pivot takes the place of t
FEWEST = 1.9  # below which nothing can be said of annotators like these


class TaskVotes(NamedTuple):
    """Who read what in one task, and what each vote adds, sorted by annotator.

    `unit` is the group of each vote's item, `item` and `annotator` are codes, (votes,); `psi`
    is (models, votes).
    """

    unit: Ints
    item: Ints
    annotator: Ints
    psi: Floats


@dataclass(frozen=True, eq=False)
class TwoWay:
    """Covariances of some means, (models, models) each, and what they rest on.

    `items` holds the sums by group of items, (models, groups); `degrees` and `most` are the
    degrees of freedom of annotators and, at most, of items.
    """

    items: Floats
    by_items: Floats
    by_annotators: Floats
    by_cells: Floats
    degrees: float
    most: float

    def half_width(self, contrast: Floats, level: float) -> float:
        """Half the width of the interval of a contrast (models,)."""
        items, people, cells = (
            float(contrast @ one @ contrast)
            for one in (self.by_items, self.by_annotators, self.by_cells)
        )
        square, groups = (contrast @ self.items) ** 2, self.items.shape[1]
        spread = groups * float((square**2).sum()) / max(float(square.sum()) ** 2, 1e-300) - 1
        free = min(self.most, max(2 * groups / spread, 1.0)) if spread > 0 else self.most
        if self.degrees < FEWEST:
            return _student(free, level) * float(items**0.5)
        if self.degrees < FEW:
            return _pivot(items, people, cells, (free, self.degrees), level)
        whole = items + max(people - cells, 0.0)
        parts = items**2 / free + people**2 / self.degrees
        free = max(whole**2 / parts, 1.0) if parts > 0 else 1.0
        return _student(free, level) * float(whole**0.5)


def two_way(items: Floats, sizes: Ints, tasks: Sequence[TaskVotes]) -> TwoWay:
    """Covariances from the sums of items by group (models, groups) and from every vote.

    Parameters
    ----------
    sizes
        How many items each group has, (groups,).
    """
    share = sizes / sizes.sum()
    second, third = float((share**2).sum()), float((share**3).sum())
    centred = second - 2 * third + second**2
    even = second / centred if centred > 1e-12 else np.nan
    factors, degrees = zip(*(_design(one, second) for one in tasks), strict=True)
    people, cells = _by_annotator(tasks, len(items))
    factor = float(np.mean(factors))
    most = centred**2 / max(_fourth(share), 1e-300)
    return TwoWay(
        items, even * items @ items.T, factor * people, factor * cells, min(degrees), most
    )


def _fourth(share: Floats) -> float:
    """Trace of the squared projection that centres groups of these shares."""
    two, three, four, five = (float((share**k).sum()) for k in (2, 3, 4, 5))
    return four + two**4 + 4 * two * four - 4 * two**2 * three + 2 * three**2 - 4 * five


def _by_annotator(tasks: Sequence[TaskVotes], models: int) -> tuple[Floats, Floats]:
    """Squares of the sums of psi by annotator, and by annotator and group of items."""
    people, cells = np.zeros((2, models, models))
    for who in np.unique(np.concatenate([one.annotator for one in tasks])):
        spans = [np.searchsorted(one.annotator, [who, who + 1]) for one in tasks]
        both = list(zip(tasks, spans, strict=True))
        psi = np.concatenate([one.psi[:, a:b] for one, (a, b) in both], axis=1)
        unit = np.concatenate([one.unit[a:b] for one, (a, b) in both])
        code = np.unique(unit, return_inverse=True)[1]
        cell = np.stack([np.bincount(code, one) for one in psi])
        total = psi.sum(axis=1)
        people += np.outer(total, total)
        cells += cell @ cell.T
    return people, cells


def _design(votes: TaskVotes, second: float) -> tuple[float, float]:
    """Factor that undoes the centring of psi, and degrees of freedom of the annotators."""
    from scipy.sparse import csr_matrix, diags

    read = np.bincount(votes.item)
    weight, people = 1 / read[votes.item], int(votes.annotator.max()) + 1
    load = np.bincount(votes.annotator, weight, people)
    shape = (len(read), people)
    table = csr_matrix((weight, (votes.item, votes.annotator)), shape=shape)
    centred = diags(load) - table.T @ table
    square = centred.T @ centred
    trace = float(square.diagonal().sum())
    if trace <= 1e-12 * float((load**2).sum()):
        return 0.0, 0.0
    cell = votes.unit.astype(np.int64) * people + votes.annotator
    code = np.unique(cell, return_inverse=True)[1]
    mass, times = np.bincount(code, weight), np.bincount(code)
    whole = float((load**2).sum() - (mass**2).sum())
    left = trace - float((mass**2 * (1 - mass / times)).sum())
    factor = whole / left / (1 - second) if left > 0 and second < 1 else np.nan
    return factor, trace**2 / float(square.multiply(square).sum())


def _student(free: float, level: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(free, 0.5 + level / 2))


def _pivot(
    items: float, people: float, cells: float, free: tuple[float, float], level: float
) -> float:
    """Half-width where few annotators say what annotators vary: their variance is a pivot."""
    from scipy.special import chdtri, stdtr

    places = (np.arange(200) + 0.5) / 200
    spread = items + np.maximum(people * free[1] / chdtri(free[1], places) - cells, 0.0)
    low, high = 0.0, 40 * (items + people) ** 0.5
    for _ in range(40):
        middle = (low + high) / 2
        tails = stdtr(free[0], -middle / np.sqrt(np.maximum(spread, 1e-300)))
        low, high = (middle, high) if 2 * tails.mean() > 1 - level else (low, middle)
    return float(high)
