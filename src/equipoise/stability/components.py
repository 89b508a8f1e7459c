r"""Variance components: how much of a result's spread comes from where.

For each model's value, and for the difference of the two best models, the variance of the
replicates when only one thing is drawn anew: items, annotators (``panel``), or each item's
votes; the variance between aggregation models (``model choice``); and the total, items and
annotators (or votes) together. The interaction is what the total has beyond its two parts,

.. math:: \sigma^2_{\text{interaction}} = \sigma^2_{\text{items x panel}}
    - \sigma^2_{\text{items}} - \sigma^2_{\text{panel}}

with the panel's variance as drawn there. Shares are of the total and need not add to one:
redrawn items bring their votes along, so the items' part holds some of the votes'; drawing
items and annotators together counts their interaction more than once; and aggregation models
are a choice, not a sample.

Intervals: :math:`\nu s^2 / \chi^2_\nu` as for normal data, with
:math:`1/\nu = 1/(\text{units} - 1) + 1/(\text{replicates} - 1)`, so that eight annotators give
a wide one however many replicates there are. Units are items (or groups), annotators, votes
beyond the first of each item, and aggregation models; the total takes Satterthwaite's
:math:`\nu`, and the interaction combines the ends of its three parts (MOVER).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import nan, sqrt
from typing import Any, Unpack

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, choice, require_number, require_whole
from equipoise.choosing import Settings as Told
from equipoise.evaluation import LABELS, MACRO, Evaluation, evaluate
from equipoise.evaluation.given import given_annotations, given_metrics, given_predictions
from equipoise.metrics import Metric, titled
from equipoise.predictions import Predictions
from equipoise.ranks import goodness
from equipoise.stability._aggregations import Choice, aggregated, grouped, listed_choices
from equipoise.stability._asked import USUAL
from equipoise.stability._component_words import Component, component_notes, components_said
from equipoise.stability._variances import beyond, chi_square_ends, satterthwaite, variance_of
from equipoise.stability._words import REDRAWN
from equipoise.stability.redrawing import (
    Redraw,
    RedrawHow,
    as_drawn,
    options,
    plan_for,
    redrawable,
    redrawn,
)

Places = tuple[int, ...]  # of one model, or of two whose difference is taken
SOURCES = {"items": "items", "panel": "annotators", "votes": "votes"}


class ComponentsHow(RedrawHow, total=False):
    """Keywords of `variance_components`."""

    labels: str
    reliability: float | None
    threshold: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Components(Redraw):
    labels: str = "soft"
    reliability: float | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        Redraw.__post_init__(self)
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
        Which kind of resampling the total is; empty when there is none.
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
        ``replicates``, ``seed``, ``settings`` and ``progress`` as in `Redraw`; ``labels``
        (soft or hard); ``reliability`` and ``threshold`` of the aggregation models.
    """
    told = options(_Components, how)
    given, truth = given_predictions(predictions), given_annotations(annotations)
    plans, notices = redrawable(truth, None)
    total = next((k for k in ("items x panel", "items x votes") if k in plans), "")
    kinds = [kind for kind in (*SOURCES, total) if kind in plans]
    if not kinds:
        raise InputError(
            "components", "nothing that can be drawn anew", "items, annotators or votes",
            " ".join(notices) or "give more data",
        )  # fmt: skip
    world = _World(given, truth, given_metrics([metric]), total, told)
    worth = () if told.reliability is None else (told.reliability,)
    asked = listed_choices(truth, models, worth)
    for number, kind in enumerate(kinds, 1):
        world.done[kind] = redrawn(given, truth, metrics=world.metrics, kind=kind, told=told)
        told.tell(number, len(kinds) + len(asked))
    for number, one in enumerate(asked, 1):
        world.chosen.append(world.scored(one))
        told.tell(len(kinds) + number, len(kinds) + len(asked))
    first = world.first
    several = first.tasks[-1] == MACRO
    notes = component_notes(REDRAWN.get(total, ""), several=several)
    parts = [
        part
        for t in range(len(first.tasks))
        for places in world.results(t)
        for part in world.parts(t, places)
    ]
    return Components(
        world.metrics[0].name, told.labels, told.settings.level, first.models, total,
        tuple(parts), tuple(dict.fromkeys([*notices, *notes, *first.notices])),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _World:
    """Everything that was evaluated: by what is drawn anew, and by aggregation model."""

    given: list[Predictions]
    annotations: Annotations
    metrics: tuple[Metric, ...]
    total: str
    told: _Components
    done: dict[str, Evaluation] = field(default_factory=dict)
    chosen: list[Evaluation] = field(default_factory=list)

    @property
    def first(self) -> Evaluation:
        """One of the evaluations; what is not redrawn is the same in all."""
        return next(iter(self.done.values()))

    def scored(self, one: Choice) -> Evaluation:
        """The models against the truth of one aggregation model, nothing redrawn."""
        setting = Told(self.told.threshold, one[1], self.told.seed)
        truth, _ = aggregated(self.annotations, one[0], setting)
        few = Redraw(replicates=1, seed=self.told.seed)
        plan = grouped(plan_for(truth, "items", few), self.annotations)
        return evaluate(
            self.given, truth, metrics=self.metrics, resampling=plan,
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
        spread = {kind: self._variance(kind, t, places) for kind in self.done}
        free = {kind: self._freedom(kind, t) for kind in SOURCES if kind in spread}
        whole = spread.get(self.total, nan)
        parts = self.total.split(" x ") if self.total else []
        if self.total:
            free[self.total] = satterthwaite([(spread[k], free[k]) for k in parts])
        label = f"total ({REDRAWN.get(self.total, '')})"
        made = {
            SOURCES.get(kind, label): (value, *self._ends(value, free[kind]), free[kind])
            for kind, value in spread.items()
        }
        made["model choice"] = self._between(t, places)
        if self.total:
            drawn = [spread["items"], self._variance(parts[1], t, places, widened=False)]
            each = [(whole, *self._ends(whole, free[self.total]))]
            each += [(v, *self._ends(v, free[k])) for v, k in zip(drawn, parts, strict=True)]
            made["interaction"] = (*beyond(each), nan)
        task = self.first.tasks[t]
        name = " - ".join(self.first.models[m] for m in places)
        return [
            Component(
                task, name, source, value, low, high,
                sqrt(value) if value >= 0 else nan,
                value / whole if whole > 0 else nan, freedom,
            )
            for source, (value, low, high, freedom) in made.items()
        ]  # fmt: skip

    @property
    def _label(self) -> int:
        return LABELS.index(self.told.labels)

    def _variance(self, kind: str, t: int, places: Places, *, widened: bool = True) -> float:
        """Variance of the replicates; nan when any of them is undefined or infinite."""
        one = self.done[kind]
        each = one.replicates[:, 0, self._label] if widened else self._narrow
        return variance_of(_gap(each[t], places))

    @cached_property
    def _narrow(self) -> Floats:
        """Replicates of the total's second part as they are drawn there, not widened."""
        one = self.done[self.total.split(" x ")[1]]
        return np.asarray(as_drawn(one)[:, 0, self._label])

    def _freedom(self, kind: str, t: int) -> float:
        """Degrees of freedom: units less one, and the replicates less one."""
        one = self.done[kind]
        every = one.questions if one.tasks[t] == MACRO else [one.questions[t]]
        if kind == "panel":
            units = len(self.annotations.annotators or ()) - 1
        elif kind == "votes":
            sizes = [q.votes.sizes for q in every if q.votes is not None]
            units = int(sum((size - 1).sum() for size in sizes))
        else:
            place = np.unique(np.concatenate([q.place for q in every]))
            group = one.plan.group
            units = len(place if group is None else np.unique(group[place])) - 1
        return 1 / (1 / max(units, 1) + 1 / (one.plan.replicates - 1))

    def _between(self, t: int, places: Places) -> tuple[float, float, float, float]:
        """Variance between aggregation models."""
        each = np.stack([one.values[t, 0, self._label] for one in self.chosen], axis=-1)
        if len(self.chosen) < 2:
            return nan, nan, nan, 0.0
        value, freedom = variance_of(_gap(each, places)), len(self.chosen) - 1.0
        return value, *self._ends(value, freedom), freedom

    def _ends(self, variance: float, freedom: float) -> tuple[float, float]:
        return chi_square_ends(variance, freedom, self.told.settings.level)


@np.errstate(invalid="ignore")  # of two infinite values: undefined
def _gap(each: Floats, places: Places) -> Floats:
    """Replicates of a model, or of the difference of two, from those of all (models, ...)."""
    first, *rest = places
    return np.asarray(each[first] - each[rest[0]] if rest else each[first])
