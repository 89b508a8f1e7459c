r"""Influences: how steady the variance that items or votes cause is, told by single items.

What items cause (with their votes) is a sum over items, or groups of items, of squared
influences :math:`x_i = \psi_i^2`, by leaving each of them out; what votes cause is a sum of
:math:`x_i = g_i^2 p_i (1 - p_i)/(m_i - 1)`, with :math:`g_i` the slope of the result in the
soft label of the item (for hard labels: the effect of another label, times the variance of
changing to it). Such a sum over n items has about

.. math:: \nu = 2 \Big/ \Big( \frac{\sum x_i^2}{(\sum x_i)^2} - \frac1n \Big)

degrees of freedom, and is given no more than n - 1. For items that is
:math:`2n/(\text{kurtosis} - 1)`: n for normal influences, fewer where some items matter much
more than others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from equipoise.analyses.scoring import TaskScorer, task_scorer
from equipoise.arrays import Bools, Floats, Ints
from equipoise.evaluation import LABELS, Evaluation
from equipoise.evaluation.alignment import Aligned
from equipoise.evaluation.blocks import TIE, every_class
from equipoise.evaluation.engine import chunk_width

MOST = 400  # items or groups that are looked at one by one; of more, evenly many
STEP = 1e-4  # of a soft label towards a class, for slopes
Places = tuple[int, ...]  # of one model, or of two whose difference is taken


@np.errstate(invalid="ignore")  # of two infinite values: undefined
def gap_of(each: Floats, places: Places) -> Floats:
    """Numbers of a model, or of the difference of two, from those of all (models, ...)."""
    first, *rest = places
    return np.asarray(each[first] - each[rest[0]] if rest else each[first])


def steadiness(parts: Floats, units: int) -> float:
    """Degrees of freedom of a sum over units of positive parts, of which these are some.

    Examples
    --------
    >>> steadiness(np.ones(6), 6), steadiness(np.array([9.0, 1.0, 0.0, 0.0, 0.0, 0.0]), 6)
    (5.0, 3.061)
    """
    most, whole = float(max(units - 1, 1)), float(parts.sum())
    if not (np.isfinite(whole) and whole > 0):
        return most
    uneven = len(parts) * float((parts**2).sum()) / whole**2 - 1
    return min(most, max(2 * units / uneven, 1.0)) if uneven > 0 else most


@dataclass(frozen=True, eq=False)
class Influences:
    """Contributions of single items to the variances of the results of an evaluation.

    Attributes
    ----------
    done
        The evaluation under redrawn items; its only metric is looked at.
    label
        Place of the labels, hard or soft.
    """

    done: Evaluation
    label: int

    def items(self, tasks: Sequence[int], places: Places) -> float:
        """Degrees of freedom of what items cause, in one task or in the average of some."""
        moved = gap_of(np.sum([self._looked[t].without for t in tasks], axis=0), places)
        return steadiness(moved[self._present(tasks)] ** 2, self._number(tasks))

    def votes(self, tasks: Sequence[int], places: Places) -> float:
        """The same of what votes cause; items without dissent count as well."""
        each = np.zeros(len(self._chosen))
        for t in tasks:
            code, effect, weight = self._looked[t].swayed
            each += np.bincount(code, gap_of(effect, places) ** 2 * weight, len(each))
        return steadiness(each[self._present(tasks)], self._number(tasks))

    @cached_property
    def _units(self) -> list[Ints]:
        """Which item of the plan, or group of items, each item of each task is."""
        group = self.done.plan.group
        every = [one.place for one in self.done.questions]
        return every if group is None else [group[place] for place in every]

    @cached_property
    def _chosen(self) -> Ints:
        """The units that are looked at."""
        every = np.unique(np.concatenate(self._units))
        step = np.linspace(0, len(every) - 1, min(len(every), MOST))
        return np.asarray(every[step.round().astype(np.intp)])

    @cached_property
    def _looked(self) -> "list[_Looked]":
        found = []
        for t, unit in enumerate(self._units):
            code = np.minimum(np.searchsorted(self._chosen, unit), len(self._chosen) - 1)
            code = np.where(self._chosen[code] == unit, code, -1)
            found.append(_Looked(self._subject(t), code, len(self._chosen)))
        return found

    def _present(self, tasks: Sequence[int]) -> Bools:
        """Which of the chosen units have an item in the tasks."""
        return np.isin(self._chosen, np.concatenate([self._units[t] for t in tasks]))

    def _number(self, tasks: Sequence[int]) -> int:
        return len(np.unique(np.concatenate([self._units[t] for t in tasks])))

    def _subject(self, t: int) -> TaskScorer:
        aligned = Aligned(self.done.questions[t], self.done.scores[t])
        return task_scorer(aligned, self.done.metrics[0], LABELS[self.label])


@dataclass(frozen=True, eq=False)
class _Looked:
    """One task, with the place of each item among the units looked at, or -1."""

    subject: TaskScorer
    code: Ints
    number: int

    @cached_property
    @np.errstate(invalid="ignore")  # of two infinite values: undefined
    def without(self) -> Floats:
        """By how much each model falls without each unit, shape (models, units)."""
        shares, parts = list(self.subject.question.shares), []
        for columns in self._chunks(self.number):
            counts = self.code[:, None] != columns
            parts.append(self.subject.scored(shares, counts.astype(np.uint8)))
        return np.asarray(self.subject.full()[:, None] - np.concatenate(parts, axis=1))

    @cached_property
    @np.errstate(invalid="ignore")  # of two infinite values: undefined
    def swayed(self) -> tuple[Ints, Floats, Floats]:
        """Units, effects (models, ways) and weights of the ways in which votes can sway."""
        question, hard = self.subject.question, self.subject.labels == "hard"
        assert question.votes is not None
        size = question.votes.sizes.astype(np.float64)
        wanted = (self.code >= 0) & (size > 1)
        item, target, weight = _ways(question.shares, size, wanted, hard=hard)
        parts: list[Floats] = [np.empty((len(self.subject.prepared), 0))]
        for columns in self._chunks(len(item)):
            rows, moved = item[columns], []
            for share, aim in zip(question.shares, target[:, columns], strict=True):
                one = np.repeat(share[:, None], len(columns), axis=1)
                step = (1.0 if hard else STEP) * (aim - share[rows])
                one[rows, np.arange(len(columns))] += step
                moved.append(one)
            counts = np.ones(moved[0].shape, dtype=np.uint8)
            parts.append(self.subject.scored(moved, counts))
        effect = np.concatenate(parts, axis=1) - self.subject.full()[:, None]
        return self.code[item], effect, weight

    def _chunks(self, columns: int) -> list[Ints]:
        width = 2 * chunk_width(len(self.code), len(self.subject.question.shares))
        return [np.arange(a, min(a + width, columns)) for a in range(0, columns, width)]


def _ways(
    shares: Floats, size: Floats, wanted: Bools, *, hard: bool
) -> tuple[Ints, Floats, Floats]:
    """Items, labels that votes move them towards (classes, ways), and weights of the ways.

    Squared effects of soft labels weigh as the variance of the mean vote; those of hard labels
    as the variance of whether the first class keeps more than half; classes tied for it take
    turns.
    """
    every = np.stack(every_class(shares))
    first = every >= every.max(axis=0) - TIE
    turns = np.where(first, 1 - 1 / first.sum(axis=0), 1.0)
    split = (every > 0) & (every < 1) & wanted
    if hard:
        split &= turns > 0
    elif len(shares) == 1:
        split[0] = False
    klass, item = np.nonzero(split)
    share, top = every[klass, item], every.max(axis=0)[item]
    target = np.eye(len(every))[:, klass][len(every) - len(shares) :]
    if not hard:
        rest = 1 - share if len(shares) == 1 else 1.0
        return item, target, share / rest / (size[item] - 1)
    from scipy.special import bdtr

    lost = bdtr(size[item] // 2, size[item].astype(np.intp), top)
    weight = turns[klass, item] * lost * (1 - lost) * share / (1 - top)
    return item, target, weight * size[item] / (size[item] - 1)
