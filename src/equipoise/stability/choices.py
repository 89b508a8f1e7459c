"""Choices: the same evaluation under several aggregation models and reliabilities.

The annotations do not say which model of them is right, nor how much a vote is worth. Here the
models are scored against the truth of every choice, all on the same redrawn items, so that
choices and models are paired. A conclusion (one model above another) holds when its interval
excludes zero, in the same direction, under every choice.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import Floats, frozen
from equipoise.choosing import Settings as Told
from equipoise.evaluation import LABELS, Evaluation, evaluate
from equipoise.metrics import DEFAULT, Metric
from equipoise.predictions import Predictions
from equipoise.ranks import spearman
from equipoise.stability._aggregations import Choice, aggregated, grouped, listed_choices
from equipoise.stability.redrawing import Redraw, RedrawHow, options, plan_for

RELIABILITIES = (0.5, 1.0, 2.0, 4.0)
HOLDS, LEANS, DEPENDS = "holds under all", "same order, not separated", "depends on the choice"
LEVEL, UNDEFINED = "level", "undefined"


class ChoicesHow(RedrawHow, total=False):
    """Keywords of `aggregation_choices`."""

    reliabilities: Sequence[float]
    threshold: float | None
    draws: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choices(Redraw):
    reliabilities: Sequence[float] = RELIABILITIES
    threshold: float | None = None
    draws: int = 1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Choices:
    """What `aggregation_choices` returns.

    Attributes
    ----------
    choices
        Aggregation model and reliability (None where it has none) of each choice.
    tasks, metrics, models
        Names along the axes; labels are hard, then soft.
    values, low, high, ranks, p_best
        Shape (choices, tasks, metrics, labels, models).
    gap_low, gap_high
        Intervals of the paired differences, (choices, tasks, metrics, labels, pairs), pairs in
        the order of `pairs`.
    better
        Direction of each metric.
    notices
        What the user should know, one sentence each.
    """

    choices: tuple[Choice, ...]
    tasks: tuple[str, ...]
    metrics: tuple[str, ...]
    models: tuple[str, ...]
    values: Floats
    low: Floats
    high: Floats
    ranks: Floats
    p_best: Floats
    gap_low: Floats
    gap_high: Floats
    better: tuple[str, ...]
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("values", "low", "high", "ranks", "p_best", "gap_low", "gap_high"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Positions of every pair of models."""
        return list(combinations(range(len(self.models)), 2))

    def rows(self) -> list[dict[str, Any]]:
        """One row per choice, task, metric, labels and model."""
        return [
            {
                "aggregation": self.choices[c][0], "reliability": self.choices[c][1],
                "task": self.tasks[t], "metric": self.metrics[k], "labels": LABELS[label],
                "model": self.models[m], "value": float(self.values[c, t, k, label, m]),
                "low": float(self.low[c, t, k, label, m]),
                "high": float(self.high[c, t, k, label, m]),
                "rank": float(self.ranks[c, t, k, label, m]),
                "p_best": float(self.p_best[c, t, k, label, m]),
            }
            for c, t, k, label, m in np.ndindex(*self.values.shape)
        ]  # fmt: skip

    def rank_changes(self) -> list[dict[str, Any]]:
        """One row per choice, task, metric and labels: agreement with the first choice."""
        found = []
        for c, t, k, label in np.ndindex(*self.values.shape[:-1]):
            moved = self.ranks[c, t, k, label] - self.ranks[0, t, k, label]
            most = int(np.argmax(np.abs(moved)))
            found.append({
                "aggregation": self.choices[c][0], "reliability": self.choices[c][1],
                "task": self.tasks[t], "metric": self.metrics[k], "labels": LABELS[label],
                "spearman": float(
                    spearman(self.values[0, t, k, label], self.values[c, t, k, label])
                ),
                "moved": int((np.abs(moved) > 0).sum()), "most_moved": self.models[most],
                "by_ranks": float(moved[most]),
            })  # fmt: skip
        return found

    def conclusions(self) -> list[dict[str, Any]]:
        """One row per task, metric, labels and pair: does one stand above the other always?"""
        return [
            self._conclusion((t, k, label), pair)
            for t, k, label in np.ndindex(*self.values.shape[1:-1])
            for pair in range(len(self.pairs))
        ]

    def _conclusion(self, cell: tuple[int, int, int], pair: int) -> dict[str, Any]:
        a, b = self.pairs[pair]
        t, k, label = cell
        sign = 1 if self.better[k] == "higher" else -1
        values = self.values[:, t, k, label]
        gap = np.round(sign * (values[:, a] - values[:, b]), 12)
        ends = [e[:, t, k, label, pair] * sign for e in (self.gap_low, self.gap_high)]
        low, high = np.minimum(*ends), np.maximum(*ends)
        above, below = bool((gap > 0).all()), bool((gap < 0).all())
        apart = bool((low > 0).all() or (high < 0).all())
        first, second = (b, a) if below else (a, b)
        verdict = DEPENDS if not (above or below) else HOLDS if apart else LEANS
        if np.isnan(gap).any():
            verdict = UNDEFINED
        elif not gap.any():
            verdict = LEVEL
        return {
            "task": self.tasks[t], "metric": self.metrics[k],
            "labels": LABELS[label], "above": self.models[first],
            "below": self.models[second], "verdict": verdict,
            "choices_with_this_order": int((gap < 0 if below else gap > 0).sum()),
            "choices_separated": int(((high < 0) if below else (low > 0)).sum()),
        }  # fmt: skip

    def said(self, labels: str = "soft") -> str:
        """Tell how many conclusions survive, in one sentence, for the last task."""
        metric, task = self.metrics[0], self.tasks[-1]
        told = [
            one["verdict"] for one in self.conclusions()
            if (one["task"], one["metric"], one["labels"]) == (task, metric, labels)
        ]  # fmt: skip
        ranks = self.ranks[:, -1, 0, LABELS.index(labels)]
        if np.isnan(ranks).any():
            return (
                f"{labels.capitalize()} {metric} is undefined under some choice of aggregation."
            )
        first_ones = ranks == ranks.min(axis=1, keepdims=True)
        names = sorted(self.models[m] for m in np.flatnonzero(first_ones.any(axis=0)))
        first = (
            f"{names[0]} is best" if len(names) == 1 else f"the best is {' or '.join(names)}"
        )
        where = f" ({task})" if task else ""
        return (
            f"Under {len(self.choices)} choices of aggregation, {first} by {labels} "
            f"{metric}{where}; of {len(told)} comparisons of two models {told.count(HOLDS)} "
            f"hold under all of them, and {told.count(DEPENDS)} change direction."
        )

    finding = property(said)


def aggregation_choices(
    predictions: Predictions | Iterable[Predictions],
    annotations: Annotations,
    *,
    models: Sequence[str] | None = None,
    metrics: Sequence[str | Metric] = DEFAULT,
    **how: Unpack[ChoicesHow],
) -> Choices:
    """Evaluate under several aggregation models and reliabilities, side by side.

    Parameters
    ----------
    models
        Names of aggregation models; by default all that can take these annotations.
    **how
        ``replicates``, ``seed``, ``settings`` and ``progress`` as in `Redraw`;
        ``reliabilities`` of the models that have one, ``threshold`` for ratings, ``draws`` for
        metrics that meet draws.
    """
    told = options(_Choices, how)
    given = [predictions] if isinstance(predictions, Predictions) else list(predictions)
    asked = listed_choices(annotations, models, told.reliabilities)
    done = []
    for number, (name, reliability) in enumerate(asked, 1):
        setting = Told(told.threshold, reliability, told.seed)
        truth = aggregated(annotations, name, setting, draws=told.draws)
        plan = grouped(plan_for(truth, "items", told), annotations)
        done.append(
            evaluate(given, truth, metrics=metrics, resampling=plan, settings=told.settings)
        )
        told.tell(number, len(asked))
    return _collected(asked, done)


def _collected(asked: list[Choice], done: list[Evaluation]) -> Choices:
    """Put the tables and the differences of all evaluations side by side."""
    first = done[0]
    tables = [one.table() for one in done]
    shape = (len(done), *first.values.shape)
    columns = {
        name: np.array([[getattr(row, name) for row in rows] for rows in tables]).reshape(shape)
        for name in ("low", "high", "rank", "p_best")
    }
    gaps = np.array(
        [
            [(gap.low, gap.high) for gap in one.differences(metric.name, labels=x, task=task)]
            for one in done
            for task in one.tasks
            for metric in one.metrics
            for x in LABELS
        ]
    ).reshape(*shape[:-1], -1, 2)
    fixed = (
        "Each aggregation model is fitted once, to all items; redrawing items does not fit it "
        "again, so intervals leave out how uncertain the fit is."
    )
    return Choices(
        choices=tuple(asked), tasks=first.tasks, models=first.models,
        metrics=tuple(one.name for one in first.metrics),
        values=np.stack([one.values for one in done]), low=columns["low"],
        high=columns["high"], ranks=columns["rank"], p_best=columns["p_best"],
        gap_low=gaps[..., 0], gap_high=gaps[..., 1],
        better=tuple(one.better for one in first.metrics),
        notices=(fixed, *dict.fromkeys(note for one in done for note in one.notices)),
    )  # fmt: skip
