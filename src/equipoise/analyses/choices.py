"""Choices: the same evaluation under several aggregation models and reliabilities.

The annotations do not say which model of them is right, nor how much a vote is worth. Here the
models are scored against the truth of every choice, all on the same redrawn items, so that
choices and models are paired. A conclusion (one model above another) holds when its interval
excludes zero, in the same direction, under every choice.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, Unpack

import numpy as np

from equipoise.analyses._aggregations import (
    Choice,
    aggregated,
    grouped,
    listed_choices,
    worded,
)
from equipoise.analyses._choice_words import FIXED, under, verdict, verdicts_said
from equipoise.analyses._fit_notices import fit_notices
from equipoise.analyses.redrawing import (
    ResamplingKeywords,
    ResamplingOptions,
    options,
    plan_for,
)
from equipoise.analyses.words import joined
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, frozen, require_number, require_whole, wrong_type
from equipoise.choosing import Settings as Told
from equipoise.evaluation import LABELS, Evaluation, evaluate
from equipoise.evaluation.given import given_annotations, given_metrics, given_predictions
from equipoise.metrics import DEFAULT, Metric, titled
from equipoise.predictions import Predictions
from equipoise.ranks import spearman

RELIABILITIES = (0.5, 1.0, 2.0, 4.0)
USUAL: Choice = ("mean_vote", None)


class ChoicesHow(ResamplingKeywords, total=False):
    """Keywords of `aggregation_choices`."""

    reliabilities: Sequence[float]
    threshold: float | None
    draws: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choices(ResamplingOptions):
    reliabilities: Sequence[float] = RELIABILITIES
    threshold: float | None = None
    draws: int = 1

    def __post_init__(self) -> None:
        ResamplingOptions.__post_init__(self)
        require_whole("choices, draws", self.draws, least=1)
        if self.threshold is not None:
            require_number("choices, threshold", self.threshold)
        if isinstance(self.reliabilities, str) or not isinstance(self.reliabilities, Sequence):
            raise wrong_type(
                "choices, reliabilities", self.reliabilities, "a list of numbers", "try [1, 2]"
            )
        for one in self.reliabilities:
            require_number("choices, reliability", one, above=0, do="1 is usual")


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
    reference
        The choice that the others are compared with: the mean vote, which evaluations take,
        or the first where it is not among them.
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
    def reference(self) -> str:
        """The choice that the others are compared with, in words."""
        return worded(self.choices[self._reference])

    @property
    def _reference(self) -> int:
        return self.choices.index(USUAL) if USUAL in self.choices else 0

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
        """One row per choice, task, metric and labels: agreement with the reference."""
        found = []
        first, against = self._reference, self.reference
        for c, t, k, label in np.ndindex(*self.values.shape[:-1]):
            moved = self.ranks[c, t, k, label] - self.ranks[first, t, k, label]
            most = int(np.argmax(np.abs(moved)))
            found.append({
                "aggregation": self.choices[c][0], "reliability": self.choices[c][1],
                "task": self.tasks[t], "metric": self.metrics[k], "labels": LABELS[label],
                "reference": against, "spearman": float(
                    spearman(self.values[first, t, k, label], self.values[c, t, k, label])
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
        below = bool((gap < 0).all())
        first, second = (b, a) if below else (a, b)
        return {
            "task": self.tasks[t], "metric": self.metrics[k],
            "labels": LABELS[label], "above": self.models[first],
            "below": self.models[second], "verdict": verdict(gap, low, high),
            "choices_with_this_order": int((gap < 0 if below else gap > 0).sum()),
            "choices_separated": int(((high < 0) if below else (low > 0)).sum()),
        }  # fmt: skip

    def said(self, labels: str = "soft") -> str:
        """Tell how many conclusions survive, in one sentence, for the last task."""
        task, label = self.tasks[-1], LABELS.index(labels)
        what = f"{titled(self.metrics[0], labels)}{f' ({task})' if task else ''}"
        start, ranks = under(len(self.choices)), self.ranks[:, -1, 0, label]
        if np.isnan(ranks).any():
            return f"{start}, {what} is undefined for some model or choice."
        if len(self.models) == 1:
            values = self.values[:, -1, 0, label, 0]
            ends = f"{values.min():.3g} and {values.max():.3g}"
            return f"{start}, {what} of {self.models[0]} lies between {ends}."
        first = (ranks == ranks.min(axis=1, keepdims=True)).any(axis=0)
        names = [name for name, here in zip(self.models, first, strict=True) if here]
        best = f"the best is {joined(names, 'or')}"
        cell = len(self.tasks) - 1, 0, label
        pairs = range(len(self.pairs))
        told = [str(self._conclusion(cell, pair)["verdict"]) for pair in pairs]
        return f"{start}, {best} by {what}; {verdicts_said(told)}."

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
        ``replicates``, ``seed``, ``settings`` and ``progress`` as in `ResamplingOptions`;
        ``reliabilities`` of the models that have one, ``threshold`` for ratings, ``draws`` for
        metrics that meet draws.
    """
    told = options(_Choices, how)
    given, annotations = given_predictions(predictions), given_annotations(annotations)
    scored = given_metrics(metrics)
    asked = listed_choices(annotations, models, told.reliabilities)
    done, said = [], []
    for number, (name, reliability) in enumerate(asked, 1):
        setting = Told(told.threshold, reliability, told.seed)
        truth, fitted = aggregated(annotations, name, setting, draws=told.draws)
        said += fitted
        plan = grouped(plan_for(truth, "items", told), annotations)
        done.append(
            evaluate(given, truth, metrics=scored, resampling=plan, settings=told.settings)
        )
        told.tell(number, len(asked))
    return _collected(asked, done, (*annotations.notices, FIXED, *fit_notices(said)))


def _collected(
    asked: list[Choice], done: list[Evaluation], notices: tuple[str, ...]
) -> Choices:
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
            _gaps(one, (task, metric.name, x))
            for one in done
            for task in one.tasks
            for metric in one.metrics
            for x in LABELS
        ]
    ).reshape(*shape[:-1], comb(len(first.models), 2), 2)
    return Choices(
        choices=tuple(asked), tasks=first.tasks, models=first.models,
        metrics=tuple(one.name for one in first.metrics),
        values=np.stack([one.values for one in done]), low=columns["low"],
        high=columns["high"], ranks=columns["rank"], p_best=columns["p_best"],
        gap_low=gaps[..., 0], gap_high=gaps[..., 1],
        better=tuple(one.better for one in first.metrics),
        notices=tuple(dict.fromkeys((*notices, *_told(asked, done)))),
    )  # fmt: skip


def _gaps(done: Evaluation, cell: tuple[str, str, str]) -> list[tuple[float, float]]:
    """Intervals of the paired differences of all models, as `Evaluation.differences` has."""
    task, metric, labels = cell
    every = [done.estimate(one, metric, labels=labels, task=task) for one in done.models]
    return [(a - b).interval(done.level) for a, b in combinations(every, 2)]


def _told(asked: list[Choice], done: list[Evaluation]) -> list[str]:
    """What evaluations say; of what only some choices say, under which."""
    found: dict[str, list[str]] = {}
    for choice, one in zip(asked, done, strict=True):
        for note in one.notices:
            found.setdefault(note, []).append(worded(choice))
    return [
        note if len(choices) == len(done) else f"{joined(choices).capitalize()}: {note}"
        for note, choices in found.items()
    ]
