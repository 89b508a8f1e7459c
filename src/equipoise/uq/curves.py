"""Curves and costs: accuracy by coverage, reliability, and what a method takes.

Curves are means over the labels and seeds of a method; their intervals are those of the areas
and gaps that the tasks report.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from equipoise.metrics import accuracy_coverage_curve, reliability_curve
from equipoise.types import (
    Column,
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
from equipoise.uq.predictions import COSTS, MethodRuns, Run
from equipoise.uq.tasks import MIN_ITEMS
from equipoise.uq.training.corruptions import Severity

if TYPE_CHECKING:
    from equipoise.uq.evaluate import UncertaintyEvaluation

COVERAGES = 20
JUDGED = {"coverage": "abstention", "reliability": "ece"}  # the task that orders a curve
Point = Mapping[str, Any]  # of a curve: whose it is, and where it lies
BASELINES = ("bce", "baseline")
WHO = (Column("method", "method", "model"), Column("architecture", "architecture"))


def _point(method: str, architecture: str, score: str, **point: float) -> Point:
    """A point of a curve of a method."""
    return {"method": method, "architecture": architecture, "score": score, **point}


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
            yield _point(method, architecture, score, kept=coverage, accuracy=accuracy)


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
            yield _point(method, architecture, "", predicted=float(x), observed=float(y))


# ---- findings ----------------------------------------------------------------------------


Ends = Mapping[tuple[str, str], Names]  # best and worst, by task and architecture
_COVERAGE = Lines(
    name="coverage",
    caption="Accuracy on what is left{where}: mean over labels{front}",
    x="share of decisions kept, the surest first",
    y="accuracy",
    lines=(),
    x_range=(0.0, 1.0),
)
_RELIABILITY = Lines(
    name="reliability",
    caption="Reliability{where}: all labels together, bins with at least 10 items{front}",
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
            charts=_charts(_COVERAGE, covered, "kept", "accuracy", ends),
            tables=(_curve_table("coverage", "kept", "accuracy", covered),),
            brief=False,
            nav="Coverage",
        )
    if reliable:
        yield Finding(
            key="reliability",
            title="Are the probabilities what they say?",
            sentence="",
            charts=_charts(_RELIABILITY, reliable, "predicted", "observed", ends),
            tables=(_curve_table("reliability", "predicted", "observed", reliable),),
            note="On the diagonal probabilities are right; below it they are too high.",
            brief=False,
            nav="Reliability",
        )


def _charts(
    chart: Lines, points: Sequence[Point], x: str, y: str, ends: Ends
) -> tuple[Lines, ...]:
    """A chart for every architecture, as one without lines says."""
    charts = []
    for architecture, group in groupby(points, itemgetter("architecture")):
        name, where = of_architecture(chart.name, architecture)
        front = ends.get((JUDGED[chart.name], architecture), ())
        lines = [
            Line(method, [(row[x], row[y]) for row in rows], model=method, dots=False)
            for method, rows in groupby(group, itemgetter("method"))
        ]
        caption = chart.caption.format(where=where, front=_front(front))
        charts.append(replace(chart, name=name, caption=caption, lines=lines, front=front))
    return tuple(charts)


def of_architecture(name: str, architecture: str) -> tuple[str, str]:
    """Name of the chart of an architecture, and what its caption adds."""
    return (f"{name}-{architecture}", f", {architecture}") if architecture else (name, "")


def _front(names: Sequence[str]) -> str:
    return f"; {' and '.join(('best', 'worst')[: len(names)])} in front" if names else ""


def _coverage_sentence(points: Sequence[Point]) -> str:
    """What leaving half of the decisions to a reader gains, over all methods."""
    coverages = sorted({row["kept"] for row in points})
    middle = min(coverages, key=lambda share: abs(share - 0.5))
    whole, rest = (
        [row["accuracy"] for row in points if row["kept"] == share]
        for share in (coverages[-1], middle)
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
        rows=points,
        brief=(),
        page=False,
    )


def cost_findings(study: MethodRuns) -> Iterable[Finding]:
    """Seconds and memory, where files tell them."""
    rows = []
    for architecture, method, runs in study.competitors():
        cost = _mean_cost(runs)
        if any(math.isfinite(cost[name]) for name in ("training", "memory")):
            rows.append(
                {"method": method, "architecture": architecture, "runs": len(runs), **cost}
            )
    if not rows:
        return
    for row in rows:
        base = next((other for name in BASELINES for other in rows
                     if (other["architecture"], other["method"])
                     == (row["architecture"], name)), None)  # fmt: skip
        alone = base is not None and row["workers"] == base["workers"] == 1
        row["times"] = row["training"] / base["training"] if base is not None and alone else ""
    dear = max(rows, key=lambda row: (math.isfinite(row["training"]), row["training"]))
    shared = [row["workers"] for row in rows if math.isfinite(row["workers"])]
    took = duration(1000 * dear["training"])
    yield Finding(
        key="cost",
        title="What does it cost?",
        sentence=f"{dear['method']} takes longest: {took} of "
        f"training{_sharing_sentence(shared, short=True)}.",
        tables=(_cost_table(rows),),
        note="Seconds and epochs of a method count the networks that it stands on. Training "
        "stops where validation images no longer improve, so that seconds differ by epochs, "
        f"too.{_sharing_sentence(shared)}",
        brief=False,
        nav="Cost",
    )


def _mean_cost(runs: Sequence[Run]) -> dict[str, Any]:
    """Seconds and epochs on average over runs; memory and workers at most."""
    cost: dict[str, Any] = {}
    for name in COSTS.values():
        pool = np.max if name in ("memory", "workers") else np.mean
        cost[name] = float(pool([run.cost.get(name, math.nan) for run in runs]))
    return cost


def _sharing_sentence(workers: Sequence[float], *, short: bool = False) -> str:
    """How many trainings shared the device, which seconds depend on."""
    most = max(workers, default=math.nan)
    if most > 1:
        measured = f"easured while {count(most)} trainings shared the device"
        return f" (m{measured})" if short else f" M{measured}: without ratios to the baseline."
    if short or most == 1:
        return ""
    return " Files do not say how many trainings shared the device: without ratios."


def _cost_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    written = [
        {
            **row,
            "epochs": row["epochs"] if math.isfinite(row["epochs"]) else "",
            "memory": row["memory"] / 2**30,
            "training_ms": 1000 * row["training"],
            "epoch_ms": 1000 * row["per_epoch"] if math.isfinite(row["per_epoch"]) else "",
            "prediction_ms": 1000 * row["prediction"],
        }
        for row in rows
    ]
    return Table(
        name="cost",
        caption="Time and memory of a run, the mean over runs; memory at most",
        columns=(
            *WHO,
            *columns(runs="count", epochs="figures"),
            Column("epoch_ms", "an epoch", "duration"),
            Column("training_ms", "training", "duration"),
            Column("times", "times the baseline", "figures"),
            Column("prediction_ms", "prediction", "duration"),
            Column("memory", "memory (GiB)", "figures"),
        ),
        rows=written,
        open=True,
    )


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
