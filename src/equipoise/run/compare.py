"""Compare: everything that speaks for one of two models, as plain facts.

Paired differences by hard and soft labels under the resampling that fits the data, the fewest
items or votes that would turn each task round, and how either stands among the experts.
"""

import math
from collections.abc import Iterable
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from equipoise.analyses.words import REDRAWN, percent
from equipoise.annotations import Annotations
from equipoise.arrays import InputError, listed, nearest
from equipoise.digits import fixed
from equipoise.evaluation import LABELS, Evaluation, Settings, evaluate
from equipoise.metrics import titled
from equipoise.predictions import Predictions
from equipoise.resampling import resample
from equipoise.run.record import plain
from equipoise.run.stability import about_data, tried
from equipoise.run.stability_case import Case, Facts, StabilityHow
from equipoise.run.twins import twin_facts, twin_notices

STEPS = 3


def compare_facts(
    pair: tuple[str, str],
    predictions: Predictions | Iterable[Predictions],
    annotations: Annotations,
    how: StabilityHow | None = None,
    kind: str | None = None,
) -> dict[str, Any]:
    """Compare two models of a study, ready for JSON.

    Parameters
    ----------
    pair
        Names of the two models: differences are the first minus the second.
    kind
        What is drawn anew, as in `resample`; by default what fits the annotations.

    Examples
    --------
    >>> from equipoise.demo import reading_study
    >>> readings, scores = reading_study()
    >>> how = StabilityHow(metrics=["auroc"], replicates=50, most=5)
    >>> facts = compare_facts(("decision tree", "random forest"), scores, readings, how)
    >>> [round(one["value"], 3) for one in facts["differences"]]
    [-0.055, -0.046]
    """
    told = how or StabilityHow()
    ours = _two(pair, predictions)
    plan = resample(annotations, kind, replicates=told.replicates, seed=told.seed)
    done = evaluate(
        ours, annotations, metrics=told.metrics, resampling=plan,
        settings=Settings(level=told.level, on_missing=told.on_missing),
    )  # fmt: skip
    tell = told.progress or (lambda *_: None)
    tell(1, STEPS)
    case = Case(tuple(ours), annotations, replace(told, progress=None), done, lambda *_: None)
    facts: Facts = {
        "equipoise": version("equipoise"),
        "a": pair[0],
        "b": pair[1],
        "models": pair,
        "tasks": done.tasks,
        "metrics": [
            {name: getattr(one, name) for name in ("name", "title", "better", "labels")}
            for one in done.metrics
        ],
        "settings": {
            "resample": plan.kind, "reason": plan.reason, "scope": plan.scope,
            "replicates": told.replicates, "seed": told.seed, "level": told.level,
            "labels": told.labels,
        },
        "data": about_data(done, annotations),
        "values": [row._asdict() for row in done.table()],
        "differences": _differences(done),
    }  # fmt: skip
    for step, name in enumerate(("flips", "experts"), 2):
        facts[name], _ = tried(name, case)
        tell(step, STEPS)
    twins = twin_facts(done)
    facts |= {
        "twins": twins,
        "notices": (*done.notices, *twin_notices(twins)),
        "finding": _finding(done, pair, told.labels),
    }
    return dict(plain(facts))


def _two(
    pair: tuple[str, str], predictions: Predictions | Iterable[Predictions]
) -> list[Predictions]:
    """Predictions of the two models, the first before the second."""
    given = [predictions] if isinstance(predictions, Predictions) else list(predictions)
    known = list(dict.fromkeys(one.model for one in given))
    for name in pair:
        if name not in known:
            raise InputError(
                "compare, model", f"{name!r}", f"one of {listed(known, most=8)}",
                nearest(name, known),
            )  # fmt: skip
    if pair[0] == pair[1]:
        raise InputError("compare", f"{pair[0]!r} twice", "two models", "name another one")
    return [one for name in pair for one in given if one.model == name]


def _differences(done: Evaluation) -> list[Facts]:
    """First minus second, for every task, metric and kind of labels."""
    found = []
    for task in done.tasks:
        for metric in done.metrics:
            for labels in LABELS:
                (gap,) = done.differences(metric.name, labels=labels, task=task)
                found.append(gap._asdict() | {"better": metric.better})
    return found


def _finding(done: Evaluation, pair: tuple[str, str], labels: str) -> str:
    """The last task by the first metric, in one sentence."""
    metric = done.metrics[0]
    row = next(
        one for one in _differences(done)
        if (one["task"], one["metric"], one["labels"])
        == (done.tasks[-1], metric.name, labels)
    )  # fmt: skip
    where = f" ({row['task']})" if row["task"] else ""
    what = f"{titled(metric.name, labels)}{where}"
    if math.isnan(row["value"]):
        return f"The difference by {what} is undefined."
    if row["value"] == 0:
        return f"By {what} {pair[0]} and {pair[1]} are level."
    ahead = row["value"] > 0 if metric.better == "higher" else row["value"] < 0
    first, second = pair if ahead else pair[::-1]
    said = f"By {what} {first} is better than {second} by {fixed(abs(row['value']))}"
    if math.isnan(row["low"]) or math.isnan(row["p_better"]):
        return f"{said}; how sure that is, is undefined."
    chance = percent(row["p_better"] if ahead else 1 - row["p_better"])
    low, high = sorted(
        (row[name] if row["value"] > 0 else -row[name]) for name in ("low", "high")
    )
    holds = "leaves out 0" if low > 0 else "holds 0"
    return (
        f"{said}, {_in(chance, done.plan.kind)}; the interval of the difference ({fixed(low)} "
        f"to {fixed(high)}) {holds}."
    )


def _in(chance: str, kind: str) -> str:
    """A chance and what it is a share of.

    Examples
    --------
    >>> _in("78%", "panel")
    'in 78% of the redraws of annotators'
    """
    if kind == "influence":
        return f"with a probability of {chance} (normal, for other items)"
    return f"in {chance} of the redraws of {REDRAWN.get(kind, kind)}"
