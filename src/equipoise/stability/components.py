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
from dataclasses import dataclass
from functools import cached_property
from math import nan, sqrt
from typing import Any, NamedTuple, Unpack

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, choice
from equipoise.choosing import Settings as Told
from equipoise.evaluation import LABELS, MACRO, Evaluation, evaluate
from equipoise.metrics import Metric
from equipoise.predictions import Predictions
from equipoise.ranks import goodness
from equipoise.stability._aggregations import aggregated, grouped, listed_choices
from equipoise.stability._variances import beyond, chi_square_ends, satterthwaite
from equipoise.stability.redrawing import (
    Redraw,
    RedrawHow,
    as_drawn,
    options,
    plan_for,
    redrawable,
    redrawn,
)

SOURCES = {"items": "items", "panel": "annotators", "votes": "votes"}
NOTES = (
    "Shares are of the total and need not add to one: redrawn items bring their votes along, "
    "and drawing items and annotators together counts their interaction more than once.",
    "Aggregation models are a choice, not a sample: their variance says how far the choice "
    "moves the result, not what another choice would do.",
)


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
        choice("components, labels", self.labels, LABELS)
        if self.replicates < 2:
            raise InputError(
                "components", f"{self.replicates} replicates", "at least 2", "1000 is usual"
            )


class Component(NamedTuple):
    """One part of the variance of one result.

    `result` is a model, or ``a - b`` for the two best; `freedom` the degrees of freedom of the
    interval; `share` the part of the total, nan without one.
    """

    task: str
    result: str
    source: str
    variance: float
    low: float
    high: float
    deviation: float
    share: float
    freedom: float


@dataclass(frozen=True, slots=True)
class Components:
    """What `variance_components` returns.

    Attributes
    ----------
    metric, labels, level
        What was asked.
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
        last = self.parts[-1].task
        ours = [p for p in self.parts if p.task == last and " - " in p.result]
        known = [p for p in ours if p.source in (*SOURCES.values(), "model choice")]
        if not known or np.isnan([p.variance for p in known]).all():
            return f"The spread of {self.labels} {self.metric} is undefined."
        most = max(known, key=lambda p: -1.0 if np.isnan(p.variance) else p.variance)
        rest = ", ".join(
            f"{p.source} {p.deviation:.2g}" for p in known if p.source != most.source
        )
        where = f" ({last})" if last else ""
        return (
            f"The difference {most.result} in {self.labels} {self.metric}{where} moves most "
            f"with {most.source}: a standard deviation of {most.deviation:.2g}"
            + (f", against {rest}." if rest else ".")
        )


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
    given = [predictions] if isinstance(predictions, Predictions) else list(predictions)
    plans, notices = redrawable(annotations, None)
    total = next((k for k in ("items x panel", "items x votes") if k in plans), "")
    kinds = [kind for kind in (*SOURCES, total) if kind in plans]
    worth = () if told.reliability is None else (told.reliability,)
    asked = listed_choices(annotations, models, worth)
    done: dict[str, Evaluation] = {}
    for kind in kinds:
        done[kind] = redrawn(given, annotations, metrics=[metric], kind=kind, told=told)
        told.tell(len(done), len(kinds) + len(asked))
    chosen = []
    few = Redraw(replicates=1, seed=told.seed)
    for name, reliability in asked:
        setting = Told(told.threshold, reliability, told.seed)
        truth = aggregated(annotations, name, setting)
        plan = grouped(plan_for(truth, "items", few), annotations)
        chosen.append(
            evaluate(given, truth, metrics=[metric], resampling=plan, settings=told.settings)
        )
        told.tell(len(kinds) + len(chosen), len(kinds) + len(asked))
    world = _World(done, chosen, total, annotations, told)
    first = done["items"]
    parts = [
        part
        for t in range(len(first.tasks))
        for weights, name in world.results(t)
        for part in world.parts(t, weights, name)
    ]
    said = [*notices, *NOTES, *first.notices]
    return Components(
        first.metrics[0].name, told.labels, told.settings.level, total, tuple(parts),
        tuple(dict.fromkeys(said)),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _World:
    """Everything that was evaluated."""

    done: dict[str, Evaluation]
    chosen: list[Evaluation]
    total: str
    annotations: Annotations
    told: _Components

    def results(self, t: int) -> list[tuple[Floats, str]]:
        """Weights on the models, and a name, of every result of a task."""
        first = self.done["items"]
        names, unit = first.models, np.eye(len(first.models))
        found = [(unit[m], name) for m, name in enumerate(names)]
        good = goodness(first.values[t, 0, self._label], first.metrics[0].better)
        if len(names) > 1 and not np.isnan(good).any():
            best, second = np.argsort(-good, kind="stable")[:2]
            found.append((unit[best] - unit[second], f"{names[best]} - {names[second]}"))
        return found

    def parts(self, t: int, weights: Floats, name: str) -> list[Component]:
        """All components of one result."""
        spread = {kind: self._variance(kind, t, weights) for kind in self.done}
        free = {kind: self._freedom(kind, t) for kind in SOURCES if kind in spread}
        whole = spread.get(self.total, nan)
        parts = self.total.split(" x ") if self.total else []
        if self.total:
            free[self.total] = satterthwaite([(spread[k], free[k]) for k in parts])
        label = f"total ({self.total})"
        made = {
            SOURCES.get(kind, label): (value, *self._ends(value, free[kind]), free[kind])
            for kind, value in spread.items()
        }
        made["model choice"] = self._between(t, weights)
        if self.total:
            drawn = [spread["items"], self._variance(parts[1], t, weights, widened=False)]
            each = [(whole, *self._ends(whole, free[self.total]))]
            each += [(v, *self._ends(v, free[k])) for v, k in zip(drawn, parts, strict=True)]
            made["interaction"] = (*beyond(each), nan)
        task = self.done["items"].tasks[t]
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

    def _variance(self, kind: str, t: int, weights: Floats, *, widened: bool = True) -> float:
        """Variance of the replicates; nan when any of them is undefined."""
        one = self.done[kind]
        each = one.replicates[:, 0, self._label] if widened else self._narrow
        return float(np.var(weights @ each[t], ddof=1))

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

    def _between(self, t: int, weights: Floats) -> tuple[float, float, float, float]:
        """Variance between aggregation models."""
        values = np.array([one.values[t, 0, self._label] @ weights for one in self.chosen])
        if len(values) < 2:
            return nan, nan, nan, 0.0
        value, freedom = float(values.var(ddof=1)), len(values) - 1.0
        return value, *self._ends(value, freedom), freedom

    def _ends(self, variance: float, freedom: float) -> tuple[float, float]:
        return chi_square_ends(variance, freedom, self.told.settings.level)
