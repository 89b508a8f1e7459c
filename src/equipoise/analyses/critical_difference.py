r"""Critical difference: are models apart when their ranks are averaged over tasks?

With N tasks, k models and average ranks :math:`R_j`, Friedman's statistic with ties is

.. math:: \chi^2 = \frac{12 N}{k (k + 1)\,C} \sum_j \Bigl(R_j - \frac{k + 1}{2}\Bigr)^2,
    \qquad C = 1 - \frac{\sum (t^3 - t)}{N k (k^2 - 1)}

where t runs over the sizes of tied groups in each task. Two models are apart when their average
ranks differ by more than Nemenyi's critical difference

.. math:: CD = q_{\alpha, k} \sqrt{\frac{k (k + 1)}{6 N}}

with q the quantile of the studentised range for k groups and infinite degrees of freedom, over
the root of two. Both take tasks as independent. Tasks on the same items are not, which makes
the test overconfident; the intervals of the average ranks come from redrawn data and do not
need that assumption.

References
----------
Demšar, *Statistical comparisons of classifiers over multiple data sets*, JMLR 2006.
"""

from dataclasses import dataclass
from math import nan, sqrt
from typing import Any

import numpy as np

from equipoise.analyses.redrawing import as_drawn
from equipoise.arrays import Floats, choice, frozen, listed, require_number, wrong_type
from equipoise.estimate import Estimate
from equipoise.evaluation import LABELS, MACRO, Evaluation
from equipoise.metrics import titled
from equipoise.ranks import average_ranks, goodness

LEAST = 3  # tasks below which nothing is said
DEPENDENT = (
    "The tasks are about the same items, so they are not independent: Friedman's p-value and "
    "the critical difference tend to be too confident; the intervals of the average ranks come "
    "from redrawn data and do not take tasks as independent."
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CriticalDifference:
    """What `critical_difference` returns.

    Attributes
    ----------
    metric, labels, kind
        What the models are ranked by, and what was drawn anew for the intervals.
    models, tasks
        Names; tasks without a defined value are left out.
    ranks
        Rank of each model in each task, shape (models, tasks); 1 is best.
    low, high
        Intervals of the average ranks, shape (models,).
    statistic, p_value, difference
        Friedman's statistic and p-value, and the critical difference; nan when undefined.
    cliques
        Largest groups of models that are not apart, best first, of two models or more.
    alpha, level
        Level of the test, and of the intervals.
    notices
        What the user should know, one sentence each.
    """

    metric: str
    labels: str
    kind: str
    models: tuple[str, ...]
    tasks: tuple[str, ...]
    ranks: Floats
    low: Floats
    high: Floats
    statistic: float
    p_value: float
    difference: float
    cliques: tuple[tuple[str, ...], ...]
    alpha: float
    level: float
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("ranks", "low", "high"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    @property
    def average(self) -> Floats:
        """Average rank of each model over tasks, shape (models,)."""
        if not self.tasks:
            return np.full(len(self.models), nan)
        return np.asarray(self.ranks.mean(axis=1))

    def rows(self) -> list[dict[str, Any]]:
        """One row per model, best first."""
        average = self.average
        return [
            {
                "model": self.models[m], "metric": self.metric, "labels": self.labels,
                "average_rank": float(average[m]), "low": float(self.low[m]),
                "high": float(self.high[m]), "critical_difference": self.difference,
                "not_apart_from": [
                    name for name in self.models
                    if name != self.models[m]
                    and any({name, self.models[m]} <= set(clique) for clique in self.cliques)
                ],
            }
            for m in np.argsort(average, kind="stable")
        ]  # fmt: skip

    @property
    def finding(self) -> str:
        """What the average ranks tell apart, in a sentence, and whether to believe it."""
        what = titled(self.metric, self.labels)
        if np.isnan(self.difference):
            return (
                f"The critical difference by {what} is undefined: it needs at least {LEAST} "
                f"tasks and two models, and there are {len(self.tasks)} and {len(self.models)}."
            )
        if np.isnan(self.p_value):
            return (
                f"All {len(self.models)} models are level by {what} in each of the "
                f"{len(self.tasks)} tasks: their ranks tell nothing apart."
            )
        best = self.rows()[0]
        near = best["not_apart_from"]
        said = (
            f"all {len(self.models)} models"
            if len(near) == len(self.models) - 1
            else f"{best['model']} and {len(near)} more" if near else f"{best['model']} alone"
        )  # fmt: skip
        caution = (
            "; the tasks share items, so the test is surer than it should be"
            if self._shared
            else ""
        )
        return (
            f"Over {len(self.tasks)} tasks by {what}, average ranks must differ by "
            f"{self.difference:.1f} to tell models apart: the best group is {said} "
            f"(Friedman p = {self.p_value:.2g}){caution}."
        )

    @property
    def _shared(self) -> bool:
        return DEPENDENT in self.notices


def critical_difference(
    evaluation: Evaluation, metric: str, *, labels: str = "soft", alpha: float = 0.05
) -> CriticalDifference:
    """Compare models by their average rank over the tasks of an evaluation.

    With fewer than three tasks the result is undefined, and says so.
    """
    if not isinstance(evaluation, Evaluation):
        raise wrong_type(
            "critical difference", evaluation, "an evaluation", "give what evaluate returns"
        )
    names = tuple(one.name for one in evaluation.metrics)
    k = names.index(choice("critical difference, metric", metric, names))
    label = LABELS.index(choice("critical difference, labels", labels, LABELS))
    require_number("critical difference, alpha", alpha, above=0, below=1, do="try 0.05")
    single = [t for t, task in enumerate(evaluation.tasks) if task != MACRO]
    known = [t for t in single if not np.isnan(evaluation.values[t, k, label]).any()]
    better, models = evaluation.metrics[k].better, len(evaluation.models)
    ranks = np.empty((models, len(known)))
    for place, t in enumerate(known):
        ranks[:, place] = average_ranks(goodness(evaluation.values[t, k, label], better))
    enough = len(known) >= LEAST and models >= 2
    statistic, p_value = friedman(ranks) if enough else (nan, nan)
    difference = nemenyi(models, len(known), alpha) if enough else nan
    low, high = _intervals(evaluation, known, (k, label), ranks)
    return CriticalDifference(
        metric=metric, labels=labels, kind=evaluation.plan.kind, models=evaluation.models,
        tasks=tuple(evaluation.tasks[t] for t in known), ranks=ranks, low=low, high=high,
        statistic=statistic, p_value=p_value, difference=difference,
        cliques=_cliques(ranks.mean(axis=1), difference, evaluation.models) if enough else (),
        alpha=alpha, level=evaluation.level, notices=_notices(evaluation, single, known),
    )  # fmt: skip


def friedman(ranks: Floats) -> tuple[float, float]:
    """Friedman's statistic, corrected for ties, and its p-value; ranks (models, tasks).

    Examples
    --------
    >>> friedman(np.array([[1, 1, 1, 2], [2, 2, 3, 1], [3, 3, 2, 3]]))
    (4.5, 0.105)
    """
    from scipy.special import chdtrc

    models, tasks = ranks.shape
    ties = sum(
        float((np.unique(one, return_counts=True)[1] ** 3.0).sum()) - models for one in ranks.T
    )
    correction = 1 - ties / (tasks * models * (models**2 - 1))
    if not correction > 1e-12:  # all models level in every task
        return nan, nan
    spread = float(((ranks.mean(axis=1) - (models + 1) / 2) ** 2).sum())
    statistic = 12 * tasks / (models * (models + 1)) * spread / correction
    return statistic, float(chdtrc(models - 1, statistic))


def nemenyi(models: int, tasks: int, alpha: float) -> float:
    """Critical difference of average ranks.

    Examples
    --------
    >>> nemenyi(4, 14, 0.05)
    1.253
    """
    from scipy.stats import studentized_range

    quantile = float(studentized_range.ppf(1 - alpha, models, np.inf)) / sqrt(2)
    return quantile * sqrt(models * (models + 1) / (6 * tasks))


def _cliques(
    average: Floats, difference: float, models: tuple[str, ...]
) -> tuple[tuple[str, ...], ...]:
    """Largest runs of models, by average rank, whose ends are not apart."""
    order = np.argsort(average, kind="stable")
    found: list[tuple[str, ...]] = []
    reached = 0
    for first in range(len(order)):
        inside = average[order] - average[order[first]] <= difference + 1e-12
        stop = int(np.flatnonzero(inside)[-1]) + 1
        if stop - first > 1 and stop > reached:
            found.append(tuple(models[m] for m in order[first:stop]))
            reached = stop
    return tuple(found)


def _intervals(
    evaluation: Evaluation, known: list[int], cell: tuple[int, int], ranks: Floats
) -> tuple[Floats, Floats]:
    """Intervals of the average ranks, from the replicates of all tasks together."""
    models = len(evaluation.models)
    if not known:
        return np.full(models, nan), np.full(models, nan)
    drawn = as_drawn(evaluation)[known, cell[0], cell[1]]
    better = evaluation.metrics[cell[0]].better
    mean = np.mean([average_ranks(goodness(one, better)) for one in drawn], axis=0)
    ends = [
        Estimate(float(value), each, "", (1.0, float(models))).interval(evaluation.level)
        for value, each in zip(ranks.mean(axis=1), mean, strict=True)
    ]
    return np.array([low for low, _ in ends]), np.array([high for _, high in ends])


def _notices(evaluation: Evaluation, single: list[int], known: list[int]) -> tuple[str, ...]:
    said = []
    lost = [evaluation.tasks[t] for t in single if t not in known]
    if lost:
        said.append(f"Tasks without a defined value are left out: {listed(lost)}.")
    sets = [set(question.items) for question in evaluation.questions]
    if any(a & b for i, a in enumerate(sets) for b in sets[:i]):
        said.append(DEPENDENT)
    if len(known) < LEAST:
        said.append(f"With fewer than {LEAST} tasks the critical difference is undefined.")
    return tuple(said)
