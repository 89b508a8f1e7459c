r"""Groups of items: metric, certainty, entropy and agreement inside and outside of a group.

Every quantity is measured on the items as they are and on the same resamples of items, so that
the difference between two groups, and everything between models, is paired.

*Shuffled labels*: how far two groups of items come apart when chance alone divides them.
If a group is like the items it is compared with, any of them might as well have been in it.
Dividing them anew, again and again, into groups of the same size gives the differences d* that
chance makes, and the p-value of a difference d is that of Student's law

.. math:: t = d / \sqrt{\operatorname{mean}(d^{*2})}

with two degrees of freedom less than there are items, or the share of d* as large as d where
that is more. All items tell how large the d* are, so that a group of ten is not judged by its
own ten alone: a bootstrap of such a group is too narrow, and without any spread where all ten
are the same. The share alone would not do because an adjustment for many comparisons needs
smaller probabilities than any number of shuffles could count.

Items that belong together (those of one patient) stay together: patients are shuffled, and
counted. Where an attribute differs within a patient that is impossible; then d* is the spread
of the paired bootstrap of patients, times n / (n - 1) for the smaller number n of patients on
the two sides, with n - 1 degrees of freedom.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.inference.resampling import Resampling
from equipoise.metrics.distributions import entropy
from equipoise.study.analyses.scoring import StudyScorer, TaskScorer, mean_over_tasks
from equipoise.study.blocks import every_class
from equipoise.truth import dirichlet
from equipoise.truth.agreement import krippendorff_alpha
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Bools, Floats, Ints, PerItem

SAME = 1e-12  # differences and spreads below are those of rounding
MOST = 500  # shuffles
TOGETHER = 32  # replicates that are summed together
KNOWN = 0.95  # share of the shuffles that must have a value


class _Quantity(NamedTuple):
    """What is measured: its name, whose it is, and its bounds."""

    name: str
    model: str
    bounds: tuple[float, float]


class _Measures(NamedTuple):
    """One task, ready to be measured on any group of items.

    `scores` are numbers per item whose mean over the group is a quantity, by name; `counts` has
    every item once, then the replicates, (items, 1 + replicates).
    """

    task: TaskScorer
    scores: dict[str, PerItem]
    counts: NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of items, each measured once, and each pair of them tested once.

    `known` and `tested` hold what was measured and tested before.
    """

    scorer: StudyScorer
    annotations: Annotations
    known: dict[bytes, Floats] = field(default_factory=dict)
    tested: dict[frozenset[bytes], list[float]] = field(default_factory=dict)

    @cached_property
    def named(self) -> list[_Quantity]:
        """Everything that can be measured for these annotations."""
        metric = self.scorer.metric
        named = [_Quantity(metric.name, model, metric.bounds) for model in self.scorer.models]
        if self.annotations.kind != "interval":
            named.append(_Quantity("certainty", "", (0.0, 1.0)))
        named.append(_Quantity("entropy", "", (0.0, np.inf)))
        if self.annotations.rank is None:
            named.append(_Quantity("agreement", "", (-1.0, 1.0)))
        return named

    @cached_property
    def _parts(self) -> list[_Measures]:
        """Every task, with what does not depend on the group."""
        parts = []
        for task in self.scorer.subjects:
            question = task.question
            scores = {"entropy": entropy(np.stack(every_class(question.shares)))}
            if self.annotations.kind != "interval":
                made = dirichlet(self.annotations, task=question.task)
                sure = dict(zip(made.items, made.certainty, strict=True))
                scores["certainty"] = np.array([sure[name] for name in question.items])
            drawn = task.item_counts(self.scorer.plan)
            once = np.ones((len(drawn), 1), dtype=np.uint8)
            parts.append(_Measures(task, scores, np.concatenate([once, drawn], axis=1)))
        return parts

    def of(self, group: Bools) -> Floats:
        """All quantities of a group of the annotations' items, (quantities, 1 + replicates)."""
        key = group.tobytes()
        if key not in self.known:
            counts = [
                one.counts * group[one.task.question.place][:, None].astype(np.uint8)
                for one in self._parts
            ]
            self.known[key] = self._valued(counts, group, self.scorer.plan)
        return self.known[key]

    def p_values(self, group: Bools, other: Bools) -> list[float]:
        """P-value of the difference in each quantity, by shuffled labels."""
        key = frozenset((group.tobytes(), other.tobytes()))
        if key not in self.tested:
            both, gaps = sides(group, other, self.scorer.plan), self.of(group) - self.of(other)
            if both.mixed:
                by_chance, degrees = bootstrap_by_chance(gaps, both)
            else:
                one, two = (self._shuffled(plan) for plan in shuffles(both, self.scorer.plan))
                by_chance, degrees = one - two, sum(both.numbers) - 2
            self.tested[key] = [
                p_value(float(gap), drawn, degrees)
                for gap, drawn in zip(gaps[:, 0], by_chance, strict=True)
            ]
        return self.tested[key]

    def _shuffled(self, plan: "_Shuffles") -> Floats:
        """All quantities of shuffled groups, (quantities, replicates)."""
        counts = [plan.members[one.task.question.place] for one in self._parts]
        return self._valued(counts, np.asarray(plan.members.any(axis=1)), plan)

    def _valued(
        self, counts: list[NDArray[np.uint8]], group: Bools, plan: Resampling
    ) -> Floats:
        """All quantities on items that stand so often, over tasks, (quantities, columns)."""
        tasks = []
        for one, times in zip(self._parts, counts, strict=True):
            models = one.task.scored(list(one.task.question.shares), times)
            rows, means = list(models), _means(one.scores, times)
            for quantity in self.named[len(models) :]:
                if quantity.name == "agreement":
                    alpha = _agreement(one.task, group, self.annotations, plan)
                    rows.append(alpha[-times.shape[1] :])
                else:
                    rows.append(means[quantity.name])
            tasks.append(np.stack(rows))
        return mean_over_tasks(tasks)


def _means(scores: dict[str, PerItem], counts: NDArray[np.uint8]) -> dict[str, Floats]:
    """Mean over items in each replicate of all numbers per item at once; nan without items.

    Examples
    --------
    >>> _means({"entropy": np.array([0.2, 0.4])}, np.array([[1, 0], [3, 0]], dtype=np.uint8))
    {'entropy': array([0.35,  nan])}
    """
    together = np.stack([*scores.values(), np.ones(len(counts))])
    parts = [counts[:, k : k + TOGETHER] for k in range(0, counts.shape[1], TOGETHER)]
    sums = [together @ part.astype(np.float64) for part in parts]
    *totals, number = np.concatenate(sums, axis=1)
    return {
        name: np.where(number > 0, total / np.maximum(number, 1.0), np.nan)
        for name, total in zip(scores, totals, strict=True)
    }


def _agreement(
    task: TaskScorer, group: Bools, annotations: Annotations, plan: Resampling
) -> Floats:
    """Krippendorff's alpha of the votes on some items, value first."""
    question = task.question
    inside = np.zeros(len(annotations.items), dtype=bool)
    inside[question.place] = group[question.place]
    rows = annotations.in_task(question.task) & inside[annotations.item]
    if annotations.is_gold is not None:
        rows &= ~annotations.is_gold
    if not rows.any():
        return np.full(1 + plan.replicates, np.nan)
    alpha = krippendorff_alpha(annotations.rows(rows), task=question.task, plan=plan)
    return np.append(alpha.value, alpha.replicates)


def holm(values: Sequence[float]) -> Floats:
    """Holm's adjustment of p-values for all of them being looked at; nan stays nan.

    Examples
    --------
    >>> holm([0.01, 0.04, float("nan"), 0.03])
    array([0.03, 0.06,  nan, 0.06])
    """
    p = np.asarray(values, dtype=np.float64)
    out = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    times = np.arange(len(order), 0, -1)
    out[order] = np.minimum(np.maximum.accumulate(p[order] * times), 1.0)
    return out


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Shuffles(Resampling):
    """A plan whose replicates are shuffled groups: `members` is (items, replicates)."""

    members: NDArray[np.uint8]

    def item_counts(self, first: int, stop: int) -> NDArray[np.uint8]:
        """Which items are in the group in replicates first..stop."""
        return self.members[:, first:stop]


class _Sides(NamedTuple):
    """A group, the items it is compared with, and what is drawn as a whole on both sides.

    `units` are codes of the items' patients, or of the items themselves.
    """

    group: Bools
    other: Bools
    units: Ints

    @property
    def numbers(self) -> tuple[int, int]:
        """How many units each side has."""
        one, two = (len(np.unique(self.units[side])) for side in (self.group, self.other))
        return one, two

    @property
    def mixed(self) -> bool:
        """Whether a unit has items on both sides."""
        one, two = (np.unique(self.units[side]) for side in (self.group, self.other))
        return bool(np.intersect1d(one, two).size)


def sides(group: Bools, other: Bools, plan: Resampling) -> _Sides:
    """Put two groups side by side, always in the same order, so that both see one test."""
    units = np.arange(len(group)) if plan.group is None else np.asarray(plan.group)
    one, two = sorted((group, other), key=lambda side: side.tobytes())
    return _Sides(one, two, units)


def shuffles(both: _Sides, plan: Resampling) -> tuple[_Shuffles, _Shuffles]:
    """Plans of both sides as chance would divide them."""
    here, own = np.unique(both.units[both.group | both.other], return_inverse=True)
    number, times = both.numbers[0], min(plan.replicates, MOST)
    random = np.random.default_rng(int(plan.key("shuffled labels")))
    chosen = np.zeros((len(here), times), dtype=np.uint8)
    for k in range(times):
        chosen[random.permutation(len(here))[:number], k] = 1
    pair = []
    for part in (chosen, 1 - chosen):
        members = np.zeros((len(both.units), times), dtype=np.uint8)
        members[both.group | both.other] = part[own]
        shuffled = _Shuffles(
            kind="items", items=plan.items, replicates=times, seed=plan.seed, members=members
        )
        pair.append(shuffled)
    return pair[0], pair[1]


def p_value(difference: float, by_chance: Floats, degrees: float) -> float:
    """Two-sided p-value of a difference by Student's law; nan where too little is known.

    Parameters
    ----------
    by_chance
        Differences that chance makes.
    degrees
        Degrees of freedom.

    Examples
    --------
    >>> p_value(2.0, np.array([1.0, -1.0]), 30)
    0.054...
    """
    from scipy.special import stdtr

    known = by_chance[np.isfinite(by_chance)]
    if not np.isfinite(difference) or len(known) < len(by_chance) * KNOWN or degrees < 1:
        return float("nan")
    if abs(difference) < SAME:
        return 1.0
    spread = float(np.sqrt(np.mean(known**2)))
    if spread < SAME:
        return float("nan")
    beyond = float(np.mean(np.abs(known) > abs(difference) - SAME))
    return max(float(2 * stdtr(degrees, -abs(difference) / spread)), beyond)


def bootstrap_by_chance(gaps: Floats, both: _Sides) -> tuple[Floats, float]:
    """Differences of resamples around the difference itself, widened, and their freedom.

    Parameters
    ----------
    gaps
        The difference, then its resamples, (..., 1 + replicates).
    """
    least = min(both.numbers)
    wider = np.sqrt(least / max(least - 1, 1))
    return np.asarray((gaps[..., 1:] - gaps[..., :1]) * wider), least - 1
