r"""Coverage: which share of what is said lies in sets, with its two-way uncertainty.

With :math:`w_{ik}` the share of the votes on item i for class k (or 1 for its majority) and
:math:`a_{ik}` whether k is in the set of i, coverage of a stratum S of items and classes is

.. math:: c = \frac{\sum_{(i, k) \in S} w_{ik} a_{ik}}{\sum_{(i, k) \in S} w_{ik}}, \qquad
    \frac{\partial c}{\partial w_{ik}} = \frac{a_{ik} - c}{\sum_S w}

which is linear in the labels, so that items, annotators and cells of both give its covariances
as those of any metric of soft labels (`equipoise.inference`). Sets of several thresholds are
nested: a class has the number of thresholds that it reaches, and one pass serves them all.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from equipoise.inference import TwoWay, floor_of
from equipoise.study.sums import Sums
from equipoise.study.uncertainty import Uncertainty
from equipoise.types import Bools, Floats, Ints, immutable, ratio

DRAWS = 100  # of possible truths
CHUNK = 5_000_000  # derivatives that are held at once


@immutable(eq=False)
class Coverage:
    """Coverage of nested sets in strata; numbers run over strata, thresholds fastest.

    Attributes
    ----------
    labels
        Shares of what is said, shape (items, classes).
    reached
        How many of the thresholds every class reaches, shape (items, classes).
    stratum
        Code of the stratum, shape (items, classes) or one that stretches to it; -1 is none.
    thresholds, strata
        Their numbers.
    """

    labels: Floats
    reached: Ints
    stratum: Ints
    thresholds: int = 1
    strata: int = 1

    @classmethod
    def of_sets(cls, labels: Floats, member: Bools) -> "Coverage":
        """Coverage of single sets (items, classes), everything in one stratum."""
        return cls(labels, member.astype(np.int64), np.zeros((1, 1), dtype=np.int64))

    @classmethod
    def of_thresholds(cls, labels: Floats, scores: Floats, thresholds: Floats) -> "Coverage":
        """Coverage at rising thresholds of scores (items, classes)."""
        reached = np.searchsorted(thresholds, scores, side="right")
        return cls(labels, reached, np.zeros((1, 1), dtype=np.int64), len(thresholds))

    def within(self, stratum: Ints, strata: int) -> "Coverage":
        """The same by strata."""
        return replace(self, stratum=stratum, strata=strata)

    @cached_property
    def _code(self) -> Ints:
        """Stratum of every item and class."""
        return np.broadcast_to(self.stratum, self.labels.shape)

    def _counts(self, labels: Floats) -> tuple[Floats, Floats]:
        """What sets hold (strata, thresholds), and what there is (strata, 1)."""
        steps, inside = self.thresholds + 1, self._code >= 0
        code = self._code[inside] * steps + self.reached[inside]
        number: Floats = np.bincount(code, labels[inside], self.strata * steps).astype(float)
        held = np.cumsum(number.reshape(self.strata, steps)[:, ::-1], axis=1)[:, ::-1]
        return held[:, 1:], held[:, :1]

    @cached_property
    def values(self) -> Floats:
        """Coverage, shape (strata times thresholds,); nan where nothing is said."""
        return self._of(self.labels)

    def _of(self, labels: Floats) -> Floats:
        return ratio(*self._counts(labels)).ravel()

    def cell(self, shared: Uncertainty, t: int, kind: str = "soft") -> TwoWay:
        """Everything about its uncertainty.

        Parameters
        ----------
        shared, t
            Items and votes, and the task.
        kind
            Whether labels are ``soft`` or ``hard``.
        """
        parts = [self._sums(shared, t, kind, some) for some in self._chunks(shared, t)]
        cell = _joined(parts).covariances(self.values)
        cell = replace(cell, floor=floor_of(len(np.unique(shared.unit[t])), 1.0))
        plausible = shared.aligned[t].question.scored
        if kind == "hard" or plausible is None or plausible.draws < 2:
            return cell
        numbers = np.linspace(0, plausible.draws - 1, min(plausible.draws, DRAWS)).astype(int)
        drawn = np.stack([self._of(plausible.draw(number)) for number in numbers.tolist()])
        return replace(cell, draws=np.atleast_2d(np.cov(drawn.T)))

    def _chunks(self, shared: Uncertainty, t: int) -> Iterator[Ints]:
        """Some of the thresholds at a time."""
        width = max(1, CHUNK // max(int(self._used(shared, t).sum()), 1))
        yield from np.split(np.arange(self.thresholds), range(width, self.thresholds, width))

    def _used(self, shared: Uncertainty, t: int) -> Bools:
        """Where derivatives matter, shape (items, classes): classes that are voted for.

        A vote that is alone on its item is compared with what is expected of all classes.
        """
        ballots, shares = shared.ballots[t], shared.aligned[t].question.shares.T
        soft = shares if shares.shape[1] > 1 else np.hstack([1 - shares, shares])
        used = (soft > 0) | (self.labels > 0)
        if ballots is not None and ballots.alone.any():
            used[ballots.item[ballots.alone]] = True
        return used & (self._code >= 0)

    def _sums(self, shared: Uncertainty, t: int, kind: str, some: Ints) -> Sums:
        """Contributions to the numbers at some of the thresholds."""
        from scipy.sparse import csr_matrix

        item, column = np.nonzero(self._used(shared, t))
        code, reached = self._code[item, column], self.reached[item, column]
        whole = self._counts(self.labels)[1][code]
        value = self.values.reshape(self.strata, -1)[code][:, some]
        slope = ratio((reached[:, None] > some) - np.nan_to_num(value), whole, 0.0)
        row = code[:, None] * len(some) + np.arange(len(some))
        items, classes = self.labels.shape
        place, scored = item * classes + column, classes
        if len(shared.aligned[t].question.classes) == 1:  # of yes and no, yes is scored
            scored, place = 1, item
        sign = np.where((scored == 1) & (column == 0), -1.0, 1.0)
        number = self.strata * len(some)

        def table(size: int, where: Ints, factor: Floats) -> csr_matrix:
            wide = np.broadcast_to(where[:, None], slope.shape).ravel()
            content = ((slope * factor[:, None]).ravel(), (row.ravel(), wide))
            return csr_matrix(content, shape=(number, size))

        moved = table(items, item, self.labels[item, column])
        return shared.sums_of(t, moved, table(items * scored, place, sign), kind)


def _joined(parts: list[Sums]) -> Sums:
    """Sums of thresholds one after the other, of one stratum."""
    from scipy.sparse import vstack

    first, *others = parts
    if not others:
        return first

    def all_of(name: str) -> Any:
        tables = [getattr(part, name) for part in parts]
        return None if tables[0] is None else vstack(tables).tocsr()

    return first._replace(units=all_of("units"), people=all_of("people"), cells=all_of("cells"))
