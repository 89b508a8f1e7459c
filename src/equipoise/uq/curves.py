"""Curves and costs: accuracy by coverage, reliability, and what a method takes.

Curves are means over the labels and seeds of a method; their intervals are those of the areas
and gaps that the tasks report.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from equipoise.metrics import accuracy_coverage_curve, reliability_curve
from equipoise.types import (
    Column,
    Dots,
    Finding,
    Line,
    Lines,
    Names,
    Table,
    capital,
    columns,
    count,
    duration,
    percent,
)
from equipoise.uq.predictions import MethodRuns, Run
from equipoise.uq.tasks import MIN_ITEMS
from equipoise.uq.training.corruptions import Severity

if TYPE_CHECKING:
    from equipoise.uq.evaluate import UncertaintyEvaluation

COVERAGES = 20
JUDGED = {"coverage": "abstention", "reliability": "ece"}  # the task that orders a curve
WHO = (Column("method", "method", "model"), Column("architecture", "architecture"))
UNITS: Mapping[str, tuple[float, Callable[[Sequence[float]], Any]]] = {  # and what runs make
    "epochs": (1, np.mean),
    "training": (1000, np.mean),
    "prediction": (1000, np.mean),
    "memory": (2**-30, np.max),
    "workers": (1, np.max),
}
Drawn = TypeVar("Drawn", Lines, Dots)


class Point(NamedTuple):
    """A point of a curve of a method."""

    method: str
    architecture: str
    score: str
    x: float
    y: float


def coverage_points(result: "UncertaintyEvaluation") -> Iterable[Point]:
    """Accuracy by coverage, the mean over labels and seeds."""
    for (architecture, task, method), score in result.chosen.items():
        if task != "abstention":
            continue
        question = result.contests[architecture, "correctness"].question
        curves = [
            accuracy_coverage_curve(
                label.truth, question.values(run.parts, score, label), steps=COVERAGES
            )
            for run in result.study.methods(architecture)[method]
            for label in question.labels
        ]
        height = np.mean([curve[1] for curve in curves], axis=0)
        for coverage, accuracy in zip(curves[0][0].tolist(), height.tolist(), strict=True):
            yield Point(method, architecture, score, coverage, accuracy)


def reliability_points(result: "UncertaintyEvaluation") -> Iterable[Point]:
    """What was predicted and what was so, all labels and seeds together."""
    for architecture, method, runs in result.study.competitors():
        contest = result.contests.get((architecture, "calibration"))
        if contest is None:
            continue
        labels, values = contest.question.labels, contest.question.values
        truth = np.concatenate([label.truth for label in labels])
        probabilities = [values(run.parts, "", label) for run in runs for label in labels]
        curve = reliability_curve(np.tile(truth, len(runs)), np.concatenate(probabilities))
        full = curve.items >= MIN_ITEMS * len(runs)
        for x, y in zip(curve.predicted[full], curve.observed[full], strict=True):
            yield Point(method, architecture, "", float(x), float(y))


# ---- findings ----------------------------------------------------------------------------


STAND_OUT = "Of several methods the best and the worst stand out."
Ends = Mapping[tuple[str, str], Names]  # best and worst, by task and architecture
_COVERAGE = Lines(
    name="coverage",
    caption="Accuracy on what is left{}: mean over labels",
    x="share of decisions kept, the surest first",
    y="accuracy",
    lines=(),
    x_range=(0.0, 1.0),
)
_RELIABILITY = Lines(
    name="reliability",
    caption="Reliability{}: all labels together, bins with at least 10 items",
    x="predicted probability",
    y="share that is positive",
    lines=(),
    diagonal=True,
    x_range=(0.0, 1.0),
    y_range=(0.0, 1.0),
)


def curve_findings(result: "UncertaintyEvaluation", ends: Ends) -> Iterable[Finding]:
    """Accuracy by coverage, and reliability; the best and the worst method stand out."""
    covered, reliable = list(coverage_points(result)), list(reliability_points(result))
    if covered:
        yield Finding(
            key="coverage",
            title="How accurate is what is left when the least sure go to a reader?",
            sentence=_coverage_sentence(covered),
            charts=_charts(_COVERAGE, covered, ends),
            tables=(_curve_table("coverage", "kept", "accuracy", covered),),
            note=STAND_OUT,
            brief=False,
            nav="Coverage",
        )
    if reliable:
        yield Finding(
            key="reliability",
            title="Are the probabilities what they say?",
            sentence="",
            charts=_charts(_RELIABILITY, reliable, ends),
            tables=(_curve_table("reliability", "predicted", "observed", reliable),),
            note="On the diagonal probabilities are right; below it they are too high. "
            + STAND_OUT,
            brief=False,
            nav="Reliability",
        )


def _charts(chart: Lines, points: Sequence[Point], ends: Ends) -> tuple[Lines, ...]:
    """The curves of all methods, by architecture."""

    def curves(architecture: str, rows: Sequence[Point]) -> dict[str, Any]:
        lines = [
            Line(method, [(point.x, point.y) for point in curve], model=method, dots=False)
            for method, curve in groupby(rows, attrgetter("method"))
        ]
        return {"lines": lines, "front": ends.get((JUDGED[chart.name], architecture), ())}

    return by_architecture(chart, points, curves)


def by_architecture(
    chart: Drawn, rows: Iterable[Any], fill: Callable[[str, list[Any]], Mapping[str, Any]]
) -> tuple[Drawn, ...]:
    """A chart for every architecture: an empty one, filled with what its rows make."""
    charts = []
    for architecture, group in groupby(rows, attrgetter("architecture")):
        where = f", {architecture}" if architecture else ""
        charts.append(
            replace(
                chart,
                name=f"{chart.name}-{architecture}".removesuffix("-"),
                caption=chart.caption.format(where),
                **fill(architecture, list(group)),
            )
        )
    return tuple(charts)


def _coverage_sentence(points: Sequence[Point]) -> str:
    """What leaving half of the decisions to a reader gains, over all methods."""
    coverages = sorted({point.x for point in points})
    middle = min(coverages, key=lambda share: abs(share - 0.5))
    whole, rest = (
        [point.y for point in points if point.x == share] for share in (coverages[-1], middle)
    )
    return (
        f"Of all decisions {_range_of(whole)} are right, of the surest {percent(middle)} "
        f"{_range_of(rest)}, depending on the method."
    )


def _range_of(shares: Sequence[float]) -> str:
    low, high = percent(min(shares), 1), percent(max(shares), 1)
    return low if low == high else f"{low} to {high}"


def _curve_table(name: str, x: str, y: str, points: Sequence[Point]) -> Table:
    return Table(
        name=name,
        caption=f"{capital(y)} by {x}",
        columns=(*WHO, *columns("text", "score"), *columns("number", x, y)),
        rows=[
            dict(zip(("method", "architecture", "score", x, y), point, strict=True))
            for point in points
        ],
        brief=(),
        page=False,
    )


def cost_findings(study: MethodRuns) -> Iterable[Finding]:
    """Time and memory, where files tell them."""
    rows = [
        {"method": method, "architecture": architecture, "runs": len(runs), **_mean_cost(runs)}
        for architecture, method, runs in study.competitors()
    ]
    rows = [row for row in rows if np.isfinite([row["training"], row["memory"]]).any()]
    if not rows:
        return
    dear = max(rows, key=lambda row: (math.isfinite(row["training"]), row["training"]))
    most = max((row["workers"] for row in rows if row["workers"] > 1), default=1)
    shared = f", measured while {count(most)} trainings shared the device" if most > 1 else ""
    yield Finding(
        key="cost",
        title="What does it cost?",
        sentence=f"{dear['method']} takes longest: {duration(dear['training'])} of "
        f"training{shared}.",
        tables=(
            Table(
                name="cost",
                caption="Time and memory of a run, the mean over runs; memory at most",
                columns=(
                    *WHO,
                    *columns(runs="count", epochs="figures", training="duration"),
                    *columns(prediction="duration"),
                    Column("memory", "memory (GiB)", "figures"),
                ),
                rows=rows,
                open=True,
            ),
        ),
        note="Time and epochs of a method count the networks that it stands on. Training "
        "stops where validation images no longer improve, so that times differ by epochs, too.",
        brief=False,
        nav="Cost",
    )


def _mean_cost(runs: Sequence[Run]) -> dict[str, Any]:
    """What a run takes: milliseconds, epochs, GiB, and how many shared the device."""
    return {
        name: unit * float(pool([run.cost.get(name, math.nan) for run in runs]))
        for name, (unit, pool) in UNITS.items()
    }


def corruption_findings(severities: Sequence[Severity]) -> Iterable[Finding]:
    """How severe the corruptions were, and whether they did what was aimed at."""
    if not severities:
        return
    falls = [severity.fall for severity in severities]
    weak = sum(not severity.reached for severity in severities)
    goal = percent(severities[0].goal)
    sentence = f"Corruptions lower the validation AUROC by {_range_of(falls)}; "
    sentence += (
        f"{weak} of {len(severities)} miss the {goal} aimed at"
        if weak
        else f"{goal} was aimed at"
    )
    yield Finding(
        key="corruptions",
        title="How bad are the bad images?",
        sentence=f"{sentence}.",
        tables=(
            Table(
                name="corruptions",
                caption="Severity of every corruption, and validation AUROC under it",
                columns=(
                    *columns(corruption="text", severity="number"),
                    Column("auroc", "AUROC", "number"),
                    Column("clean", "AUROC of clean images", "number"),
                    Column("fall", "fall", "percent"),
                    Column("reached", "as aimed at"),
                ),
                rows=[asdict(severity) for severity in severities],
                open=True,
            ),
        ),
        note="Severity runs from 0 to 1. Images that are less bad are harder to flag: values "
        "of task 1 hold for these severities.",
        brief=False,
        nav="Bad images",
    )
