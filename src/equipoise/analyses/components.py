r"""Variance components: how much of a result's spread comes from where, as parts that add up.

A study of n items and A annotators varies by items/n + annotators/A + votes/(nA). For each
model's value, and for the difference of the two best models, replicates that draw only one
thing anew show items with the noise of their votes, annotators with the noise of their votes,
or the votes of each item alone. The noise of votes is taken off the first two and counted once
(`equipoise.analyses._variances`); the total is what a fresh study of the same size would vary
by. Model choice, the variance between aggregation models, stands beside the total: a choice is
no sample.

Intervals are chi-square with
:math:`1/\nu = 1/\nu_{\text{units}} + 1/(\text{replicates} - 1)`. For items and votes
:math:`\nu_{\text{units}}` allows for single items that matter much more than others
(`equipoise.analyses._influences`); annotators have their effective number less one, so that
eight of them give a wide interval however many replicates there are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan, nan, sqrt
from typing import Any, Unpack

import numpy as np

from equipoise.analyses._aggregations import Choice, aggregated, listed_choices
from equipoise.analyses._component_words import (
    Component,
    component_notes,
    components_said,
    task_notes,
)
from equipoise.analyses._influences import Influences, Places, gap_of
from equipoise.analyses._variances import SOURCES, Variance, chi_square, split, variance_of
from equipoise.analyses.options import USUAL
from equipoise.analyses.redrawing import (
    ResamplingKeywords,
    ResamplingOptions,
    options,
    plan_for,
    redrawable,
    redrawn,
    voting,
)
from equipoise.analyses.words import joined
from equipoise.annotations import Annotations
from equipoise.arrays import InputError, choice, require_number, require_whole
from equipoise.choosing import Settings as Told
from equipoise.evaluation import LABELS, MACRO, Evaluation, evaluate
from equipoise.evaluation.given import given_annotations, given_metrics, given_predictions
from equipoise.metrics import Metric, titled
from equipoise.predictions import Predictions
from equipoise.ranks import goodness


class ComponentsHow(ResamplingKeywords, total=False):
    """Keywords of `variance_components`."""

    labels: str
    reliability: float | None
    threshold: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Components(ResamplingOptions):
    labels: str = "soft"
    reliability: float | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        ResamplingOptions.__post_init__(self)
        choice("components, labels", self.labels, LABELS)
        require_whole("replicates", self.replicates, least=2, do=USUAL)
        if self.reliability is not None:
            require_number("reliability", self.reliability, above=0, do="1 is usual")
        if self.threshold is not None:
            require_number("threshold", self.threshold)


@dataclass(frozen=True, slots=True)
class Components:
    """What `variance_components` returns.

    Attributes
    ----------
    metric, labels, level, models
        What was asked, and the models in their order.
    total
        What the total is the sum of, such as ``items, annotators and votes``; empty when
        there is none.
    parts
        All components.
    notices
        What the user should know, one sentence each.
    """

    metric: str
    labels: str
    level: float
    models: tuple[str, ...]
    total: str
    parts: tuple[Component, ...]
    notices: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """One row per task, result and source."""
        return [
            {"metric": self.metric, "labels": self.labels, **part._asdict()}
            for part in self.parts
        ]

    @property
    def finding(self) -> str:
        """What moves the difference of the two best models most, in one sentence."""
        last = self.parts[-1]
        where = f" ({last.task})" if last.task else ""
        what = f"{titled(self.metric, self.labels)}{where}"
        ours = [p for p in self.parts if (p.task, p.result) == (last.task, last.result)]
        known = [p for p in ours if p.source in (*SOURCES.values(), "model choice")]
        if last.result in self.models and len(self.models) > 1:
            return f"What moves {what} cannot be told: it is undefined for some model."
        if last.result in self.models:
            return components_said(known, f"{what} of {last.result}")
        return components_said(known, f"the difference {last.result} in {what}")


def variance_components(
    predictions: Predictions | Iterable[Predictions],
    annotations: Annotations,
    *,
    metric: str | Metric = "auroc",
    models: Sequence[str] | None = None,
    **how: Unpack[ComponentsHow],
) -> Components:
    """Where the spread of every model's value, and of the top two's difference, comes from.

    Parameters
    ----------
    models
        Aggregation models to choose between; by default all that can take these annotations.
    **how
        ``replicates``, ``seed``, ``settings``, ``progress`` as in `ResamplingOptions`; ``labels``
        (soft or hard); ``reliability`` and ``threshold`` of the aggregation models.
    """
    told = options(_Components, how)
    given, every = given_predictions(predictions), given_annotations(annotations)
    truth, aside = voting(given, every, told.settings.on_missing)
    plans, notices = redrawable(truth, None)
    kinds = [kind for kind in SOURCES if kind in plans]
    if not kinds:
        raise InputError(
            "components", "nothing that can be drawn anew", "items, annotators or votes",
            " ".join(notices) or "give more data",
        )  # fmt: skip
    world = _World(given, truth, given_metrics([metric]), told)
    worth = () if told.reliability is None else (told.reliability,)
    asked = listed_choices(truth, models, worth)
    for number, kind in enumerate(kinds, 1):
        world.done[kind] = redrawn(given, truth, metrics=world.metrics, kind=kind, told=told)
        told.tell(number, len(kinds) + len(asked))
    for number, one in enumerate(asked, 1):
        world.chosen.append(world.scored(one))
        told.tell(len(kinds) + number, len(kinds) + len(asked))
    first = world.first
    parts = [
        part
        for t in range(len(first.tasks))
        for places in world.results(t)
        for part in world.parts(t, places)
    ]
    total = joined(world.sources) if any(part.source == "total" for part in parts) else ""
    notes = component_notes(total, world.sources, world.below)
    notes += task_notes(first.questions)
    return Components(
        world.metrics[0].name, told.labels, told.settings.level, first.models, total,
        tuple(parts), tuple(dict.fromkeys([*aside, *notices, *notes, *first.notices])),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _World:
    """Everything that was evaluated: by what is drawn anew, and by aggregation model."""

    given: list[Predictions]
    annotations: Annotations
    metrics: tuple[Metric, ...]
    told: _Components
    done: dict[str, Evaluation] = field(default_factory=dict)
    chosen: list[Evaluation] = field(default_factory=list)
    below: dict[str, int] = field(default_factory=dict)

    @property
    def first(self) -> Evaluation:
        """One of the evaluations; what is not redrawn is the same in all."""
        return next(iter(self.done.values()))

    @property
    def sources(self) -> list[str]:
        """What was drawn anew, in words."""
        return [SOURCES[kind] for kind in self.done]

    def scored(self, one: Choice) -> Evaluation:
        """The models against the truth of one aggregation model, nothing redrawn."""
        setting = Told(self.told.threshold, one[1], self.told.seed)
        truth, _ = aggregated(self.annotations, one[0], setting)
        few = ResamplingOptions(replicates=1, seed=self.told.seed)
        return evaluate(
            self.given, truth, metrics=self.metrics, resampling=plan_for(truth, "items", few),
            settings=self.told.settings,
        )  # fmt: skip

    def results(self, t: int) -> list[Places]:
        """Places of the model, or of the two models, of every result of a task."""
        values = self.first.values[t, 0, self._label]
        found: list[Places] = [(m,) for m in range(len(values))]
        good = goodness(values, self.first.metrics[0].better)
        if len(values) > 1 and not np.isnan(good).any():
            best, second = np.argsort(-good, kind="stable")[:2]
            found.append((int(best), int(second)))
        return found

    def parts(self, t: int, places: Places) -> list[Component]:
        """All components of one result."""
        drawn = {}
        for kind, one in self.done.items():
            value = variance_of(gap_of(one.replicates[t, 0, self._label], places))
            drawn[kind] = chi_square(value, self._freedom(kind, t, places), self._level)
        made = split(drawn, self._level)
        for source, each in made.items():
            self.below[source] = self.below.get(source, 0) + (each.raw < 0)
        whole = made["total"].value if "total" in made else nan
        made["model choice"] = self._between(t, places)
        task = self.first.tasks[t]
        name = " - ".join(self.first.models[m] for m in places)
        return [
            Component(
                task, name, source, each.value, each.low, each.high,
                nan if isnan(each.value) else sqrt(each.value),
                each.value / whole if whole > 0 and source != "model choice" else nan,
                each.freedom,
            )
            for source, each in made.items()
        ]  # fmt: skip

    @property
    def _label(self) -> int:
        return LABELS.index(self.told.labels)

    @property
    def _level(self) -> float:
        return self.told.settings.level

    @cached_property
    def _influences(self) -> Influences:
        return Influences(self.first, self._label)

    def _tasks(self, t: int) -> list[int]:
        """The task, or those in the average: all that are defined for every model."""
        if self.first.tasks[t] != MACRO:
            return [t]
        lost = np.isnan(self.first.values[:t, 0, self._label]).any(axis=-1)
        return [int(one) for one in np.flatnonzero(~lost)] or list(range(t))

    def _freedom(self, kind: str, t: int, places: Places) -> float:
        """Degrees of freedom: of the units, and the replicates less one."""
        tasks = self._tasks(t)
        if kind == "panel":
            units = self._annotators(tasks) - 1
        elif kind == "items":
            units = self._influences.items(tasks, places)
        else:
            units = self._influences.votes(tasks, places)
        return 1 / (1 / max(units, 1.0) + 1 / (self.told.replicates - 1))

    def _annotators(self, tasks: list[int]) -> float:
        """Effective number of annotators: those with more votes count more."""
        votes = [self.first.questions[t].votes for t in tasks]
        who = np.concatenate([one.annotator for one in votes if one is not None])
        load = np.bincount(who[who >= 0]).astype(np.float64)
        return float(load.sum() ** 2 / max((load**2).sum(), 1.0))

    def _between(self, t: int, places: Places) -> Variance:
        """Variance between aggregation models."""
        each = np.stack([one.values[t, 0, self._label] for one in self.chosen], axis=-1)
        if len(self.chosen) < 2:
            return Variance(nan, nan, nan, 0.0, nan)
        return chi_square(
            variance_of(gap_of(each, places)), len(self.chosen) - 1.0, self._level
        )
