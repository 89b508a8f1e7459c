r"""Standing: who is in the best group, and how far below the best every model may lie.

All pairs of models hold together (`equipoise.inference.families`). A model is in the best group
when no other is surely better. How far a model i lies below the best, whichever that is, is
:math:`\max_j \theta_j - \theta_i`; with c the quantile of the largest |t| over all pairs it is
at most :math:`\max_j (\hat\theta_j - \hat\theta_i + c \, s_{ij})` and at least
:math:`\max_j (\hat\theta_j - \hat\theta_i - c \, s_{ij})`, both never below 0 (Hsu 1996); a
model that is surely worse than i cannot be the one that i lies below.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from equipoise.inference import Family, Population, TwoWay
from equipoise.inference.ranks import higher_is_better
from equipoise.metrics import Metric
from equipoise.study import LABELS, MACRO, Evaluation
from equipoise.types.arrays import Bools, Floats, Ints
from equipoise.types.duplicates import Duplicates, duplicate_models
from equipoise.types.nouns import in_words

NICE = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)  # leading digits of a margin to name


@dataclass(frozen=True, slots=True)
class StandingColumn:
    """A question about all models: task, metric and labels."""

    task: str
    metric: Metric
    labels: str

    @property
    def title(self) -> str:
        """What is scored, in words."""
        return self.metric.soft_title if self.labels == "soft" else self.metric.title


@dataclass(frozen=True, eq=False)
class RankedModels:
    """All models in one question, the best first.

    Attributes
    ----------
    column
        The question.
    models
        Names, the best first; those without a value last.
    values, low, high
        Scores with the ends of their intervals, (models,).
    inside
        Whether no other model is surely better, (models,); an infinite score never is inside.
    gap, least, most
        How far each is below the best model seen, and at least and at most below the best there
        is, all pairs at once, (models,); nan where no verdict is possible.
    population
        Whom it speaks for.
    """

    column: StandingColumn
    models: tuple[str, ...]
    values: Floats
    low: Floats
    high: Floats
    inside: Bools
    gap: Floats
    least: Floats
    most: Floats
    population: Population

    @property
    def known(self) -> int:
        """How many models have a value; these come first."""
        return int(np.isfinite(self.values).sum())

    @property
    def best_group(self) -> tuple[str, ...]:
        """Models that may be the best."""
        return tuple(self.models[m] for m in range(self.known) if self.inside[m])

    @property
    def behind(self) -> tuple[str, ...]:
        """Models than which another is surely better."""
        return tuple(self.models[m] for m in range(self.known) if not self.inside[m])

    @property
    def decides(self) -> bool:
        """Whether a verdict between models is possible."""
        return self.known > 1 and self.population.decides and not np.isnan(self.most[0])

    def within(self, margin: float) -> tuple[str, ...]:
        """Models that are surely less than the margin below the best."""
        return tuple(
            name for name, most in zip(self.models, self.most, strict=True) if most < margin
        )

    @property
    def telling_margin(self) -> float | None:
        """A round margin within which some of the models surely lie, but not all; or None."""
        known = self.most[: self.known]
        if not self.decides or not np.isfinite(known).all():
            return None
        lowest, highest = float(known.min()), float(known.max())
        for power in range(-6, 3):
            for digit in NICE:
                margin = digit * 10.0**power
                if lowest < margin <= highest and len(self.within(margin)) > 1:
                    return margin
        return None


@dataclass(frozen=True, eq=False)
class Answer:
    """What an evaluation says, ready for words and drawings.

    Attributes
    ----------
    evaluation
        What was evaluated; its first metric is the one that decides.
    labels
        Labels that decide, ``soft`` unless the metric has no other.
    """

    evaluation: Evaluation
    labels: str = "soft"

    @property
    def metric(self) -> Metric:
        """The metric that decides."""
        return self.evaluation.metrics[0]

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of the tasks, without their average."""
        return tuple(task for task in self.evaluation.tasks if task != MACRO)

    @cached_property
    def front(self) -> RankedModels:
        """All models in the question that decides: the average over tasks, or the only one."""
        return self.standing(StandingColumn(self._front_task(), self.metric, self.labels))

    def _front_task(self) -> str:
        """The last task whose values are not all undefined."""
        known = ~np.isnan(self._values).all(axis=1)
        places = np.flatnonzero(known)
        return self.evaluation.tasks[int(places[-1]) if len(places) else -1]

    @property
    def averaged(self) -> int:
        """How many tasks the average is of: those in which every model has a value."""
        whole = np.asarray(~np.isnan(self._values).any(axis=1))
        return int(whole[: len(self.tasks)].sum())

    @property
    def mean_of(self) -> str:
        """Of how many tasks the average is, in words."""
        whole = in_words(len(self.tasks))
        if self.averaged == len(self.tasks):
            return whole
        return f"{in_words(self.averaged)} of {whole}"

    @property
    def _values(self) -> Floats:
        """Values by the metric that decides, (tasks, models)."""
        place = LABELS.index(self.labels)
        return np.asarray(self.evaluation.values[:, 0, place])

    @cached_property
    def columns(self) -> tuple[RankedModels, ...]:
        """Every task under the metric that decides; of a single task, every metric."""
        if len(self.tasks) > 1:
            asked = [StandingColumn(task, self.metric, self.labels) for task in self.tasks]
        else:
            task, others = self.evaluation.tasks[-1], self.evaluation.metrics[1:]
            asked = [StandingColumn(task, metric, self.labels) for metric in others]
        return tuple(self.standing(one) for one in asked)

    @cached_property
    def duplicates(self) -> tuple[Duplicates, ...]:
        """Models that give the same scores, item by item."""
        done = self.evaluation
        tasks = [one.task for one in done.questions]
        return duplicate_models(zip(tasks, done.scores, strict=False))

    def same(self, task: str) -> frozenset[str]:
        """Models whose scores in a task are those of another; of the average, in every task."""
        every = task == MACRO
        return frozenset(
            name
            for one in self.duplicates
            if (one.everywhere if every else task in one.tasks)
            for name in one.models
        )

    def standing(self, column: StandingColumn) -> RankedModels:
        """All models in one question."""
        done, name = self.evaluation, column.metric.name
        where = {"labels": column.labels, "task": column.task}
        cell, family = done.two_way(name, **where), done.family(name, **where)
        every = [done.estimate(model, name, **where) for model in done.models]
        values = np.array([one.value for one in every])
        ends = np.array([one.interval(done.level) for one in every])
        good = higher_is_better(values, column.metric.better)
        order = np.lexsort(
            (np.array(done.models), -np.nan_to_num(good, nan=-math.inf))
        )  # ties by name
        order = order[np.argsort(~np.isfinite(values[order]), kind="stable")]
        gap, least, most = _distances(cell, family, good, values)
        return RankedModels(
            column,
            tuple(done.models[m] for m in order),
            values[order],
            ends[order, 0],
            ends[order, 1],
            (~family.better.any(axis=0) & ~np.isinf(values))[order],
            gap[order],
            least[order],
            most[order],
            cell.population,
        )


def _distances(
    cell: TwoWay, family: Family, good: Floats, values: Floats
) -> tuple[Floats, Floats, Floats]:
    """How far every model is below the best: seen, at least and at most."""
    number = len(good)
    seen, least, most = (np.full(number, np.nan) for _ in range(3))
    known: Ints = np.flatnonzero(np.isfinite(values))
    if not len(known):
        return seen, least, most
    seen[known] = good[known].max() - good[known]
    if len(known) < 2 or not math.isfinite(family.critical):
        return seen, least, most
    for i in known:
        others = [j for j in known if j != i]
        ahead = good[others] - good[i]
        reach = family.critical * np.array(
            [cell.between(int(i), int(j)).standard_error for j in others]
        )
        reach = np.where(family.better[i, others], np.minimum(reach, -ahead), reach)
        most[i] = np.maximum(0.0, (ahead + reach).max())  # undefined stays so
        least[i] = np.maximum(0.0, (ahead - reach).max())
    beaten: Bools = np.asarray(family.better.any(axis=0))
    least[known[~beaten[known]]] = 0.0  # the best group may be best
    return seen, least, most


def typical_reach(standing: RankedModels) -> float:
    """Half the length of a typical interval of a value."""
    with np.errstate(invalid="ignore"):
        half = (standing.high - standing.low) / 2
    finite = half[np.isfinite(half)]
    return float(np.median(finite)) if len(finite) else math.nan


def all_inside(columns: Sequence[RankedModels]) -> tuple[str, ...]:
    """Models in the best group of every question, in the order of the first."""
    groups = [set(one.best_group) for one in columns if one.known]
    return tuple(n for n in columns[0].models if all(n in one for one in groups))
