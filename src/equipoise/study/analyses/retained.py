r"""Retained samples: which score of single items finds the errors that matter?

Galdran's experiment: the items of a model are sorted by a scoring rule, the worst go, and the
quadratic weighted kappa and the expected cost (linear, per grade) of the decisions are computed
anew on the rest (`equipoise.metrics.retained_samples_curve`). A rule that finds the grades that
are far off makes both improve fast; the mean height over up to 20 % removed says how fast. The
published areas are over the percent removed, with the cost in grades: 20 times the kappa, and
20 (K - 1) times the cost. Standard errors are of a bootstrap of items, or of their groups,
with the same resamples for every rule and model, so that differences of rules are paired.

The labels are those of the evaluation: with several votes an item is every grade by its share,
and its score the mean over votes. The worst items by each rule are listed with what it costs
them.

References
----------
Galdran (2023), *Performance metrics for probabilistic ordinal classifiers*.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from equipoise.metrics import item_scores
from equipoise.metrics._metric import fixed_block
from equipoise.metrics.distributions import RULES
from equipoise.metrics.selective import Retained
from equipoise.study.alignment import Aligned
from equipoise.study.analyses.words import as_notices, ends_of
from equipoise.study.blocks import every_class
from equipoise.study.study import Study
from equipoise.types import (
    Cell,
    Column,
    Finding,
    Floats,
    InputError,
    Line,
    Lines,
    Table,
    capital,
    columns,
    joined,
    number,
)

KEY, TITLE = "retained", "Which score finds the errors that matter?"
REPLICATES = 200
WIDTH = 25  # replicates at a time
WORST = 5  # items by each rule that are listed
DRAWN = 6  # tasks that are drawn
NAMES = {
    "ranked_probability_score": "RPS",
    "squared_absolute_rps": "sa-RPS",
    "brier_score": "Brier score",
    "log_score": "log score",
}
HEIGHTS = {"quadratic_weighted_kappa": "kappa", "expected_cost": "cost"}
NOTE = (
    "Items are sorted by a scoring rule of the model's own probabilities; the worst go, up to "
    "20 %, and the decisions on the rest are scored again. A rule that finds the grades that "
    "are far off lets kappa rise, and the cost fall, fast. Errors (±) are bootstrap standard "
    "errors over items; those of a difference are smaller, because rules share the items. "
    "RPS: ranked probability score; sa-RPS: its squared absolute form, which is not proper."
)
METHODS = (
    "Scoring rules were compared by retained-samples curves: quadratic weighted kappa and "
    "expected linear cost of the decisions on what is left when up to 20 % of the items, those "
    "with the worst score, are removed [@galdran2023]; standard errors are of "
    f"{REPLICATES} resamples of items."
)


class RetainedCurves(NamedTuple):
    """One model sorted by one scoring rule.

    Attributes
    ----------
    model, rule
        Names.
    heights
        By metric, the curve, shape (points,).
    areas
        By metric, mean heights: of the items, then of every resample, (1 + replicates,).
    scores
        Of every item, shape (items,).
    """

    model: str
    rule: str
    heights: dict[str, Floats]
    areas: dict[str, Floats]
    scores: Floats


def analyse(study: Study) -> Finding:
    """Curves, areas with bootstrap and the worst items of every scoring rule."""
    areas: list[dict[str, Cell]] = []
    worst: list[dict[str, Cell]] = []
    charts, sentences = [], []
    for place, aligned in enumerate(study.aligned):
        curves = list(retained_curves(aligned, study))
        best = _best_model(curves)
        shown = [curve for curve in curves if curve.model == best]
        areas += [_area_row(aligned, curve, curves) for curve in curves]
        for curve in shown:
            worst += _worst_rows(aligned, curve)
        if place < DRAWN:
            charts += [_chart(aligned, shown, metric, place) for metric in HEIGHTS]
        sentences.append(capital(_sentence(aligned, shown)))
    return Finding(
        key=KEY,
        title=TITLE,
        sentence=" ".join(sentences[:3]),
        more=tuple(sentences[3:]),
        charts=tuple(charts),
        tables=(_area_table(areas), _worst_table(worst)),
        note=NOTE,
        methods=METHODS,
        references=("galdran2023",),
        notices=as_notices(study.annotations.notices, study.dropped),
    )


def retained_curves(aligned: Aligned, study: Study) -> Iterator[RetainedCurves]:
    """Every model sorted by every rule, against the soft labels of a task."""
    truth = aligned.question
    if not truth.ordered or len(truth.classes) < 3:
        got = f"{len(truth.classes)} classes" if truth.ordered else "classes without an order"
        do = "say the order of the grades, or leave the analysis out"
        raise InputError("retained", got, "at least three grades in order", do)
    labels = np.stack(every_class(truth.shares), axis=1)
    plan = replace(study.plan, kind="items", replicates=REPLICATES, weights=None)
    counts = [
        plan.item_counts(first, first + WIDTH)[truth.place]
        for first in range(0, REPLICATES, WIDTH)
    ]
    for model in aligned.scores:
        predicted = aligned.distributions(model)
        for rule in RULES:
            curve = Retained(score=rule)
            prepared = curve.prepare(predicted)
            blocks = [None, *counts]
            tables = [curve.reduce(prepared, fixed_block(labels, times)) for times in blocks]
            ways = {metric: Retained(rule, metric) for metric in HEIGHTS}
            yield RetainedCurves(
                model,
                rule,
                {name: way.height.finish(tables[0])[:, 0] for name, way in ways.items()},
                {
                    name: np.concatenate([way.area(part) for part in tables])
                    for name, way in ways.items()
                },
                item_scores(rule, labels, predicted),
            )


def _best_model(curves: Sequence[RetainedCurves]) -> str:
    """The model with the largest kappa on all items."""
    start = {one.model: one.heights["quadratic_weighted_kappa"][0] for one in curves}
    return max(start, key=lambda name: np.nan_to_num(start[name], nan=-2.0))


def _area_row(
    aligned: Aligned, curve: RetainedCurves, curves: Sequence[RetainedCurves]
) -> dict[str, Cell]:
    """Areas of a model and a rule, their errors, and the gain over the Brier score."""
    reference = next(
        one for one in curves if (one.model, one.rule) == (curve.model, "brier_score")
    )
    grades = len(aligned.question.classes) - 1
    row: dict[str, Cell] = {
        "task": aligned.question.task,
        "model": curve.model,
        "rule": NAMES[curve.rule],
        "kappa_of_all": curve.heights["quadratic_weighted_kappa"][0],
    }
    for metric, short in HEIGHTS.items():
        area = curve.areas[metric]
        row |= {short: area[0], f"{short}_error": area[1:].std(ddof=1)}
        row[f"{short}_gain"] = "reference"
        if curve is not reference:
            gain = area - reference.areas[metric]
            ends = np.quantile(gain[1:], [0.025, 0.975])
            row |= ends_of(f"{short}_gain", gain[0], ends)
        row[f"{short}_area"] = 20 * area[0] * (grades if short == "cost" else 1)
    return row


def _area_table(rows: list[dict[str, Cell]]) -> Table:
    return Table(
        name="retained_areas",
        caption="Mean kappa and cost on what is left, by scoring rule",
        columns=(
            *columns(task="text", model="model", rule="text"),
            Column("kappa_of_all", "kappa of all", "number", brief=False),
            Column("kappa", "kappa", "number"),
            Column("kappa_error", "±", "number"),
            Column("kappa_gain", "over Brier", "change", ("kappa_gain_low", "kappa_gain_high")),
            Column("cost", "cost", "number"),
            Column("cost_error", "±", "number"),
            Column("cost_gain", "over Brier", "change", ("cost_gain_low", "cost_gain_high")),
            Column("kappa_area", "AURSC, kappa", "number", brief=False),
            Column("cost_area", "AURSC, cost in grades", "number", brief=False),
        ),
        rows=rows,
    )


def _worst_rows(aligned: Aligned, curve: RetainedCurves) -> Iterator[dict[str, Cell]]:
    """The items that a rule finds worst, with labels, decision and score."""
    truth = aligned.question
    labels = np.stack(every_class(truth.shares), axis=1)
    predicted = aligned.distributions(curve.model)
    for rank, i in enumerate(np.argsort(-curve.scores, kind="stable")[:WORST], 1):
        label, chosen = int(labels[i].argmax()), int(predicted[i].argmax())
        yield {
            "task": truth.task,
            "model": curve.model,
            "rule": NAMES[curve.rule],
            "rank": rank,
            "item": truth.items[i],
            "label": truth.classes[label],
            "share": float(labels[i, label]),
            "decision": truth.classes[chosen],
            "probability": float(predicted[i, chosen]),
            "grades_off": abs(label - chosen),
            "score": float(curve.scores[i]),
        }


def _worst_table(rows: list[dict[str, Cell]]) -> Table:
    return Table(
        name="worst_items",
        caption="The worst items by each scoring rule",
        columns=(
            *columns(task="text", model="model", rule="text", rank="count", item="text"),
            Column("label", "label", "text"),
            Column("share", "of votes", "percent"),
            Column("decision", "decision", "text"),
            Column("probability", "probability", "percent"),
            Column("grades_off", "grades off", "count"),
            Column("score", "score", "number"),
        ),
        rows=rows,
        brief=[row for row in rows if row["rank"] == 1],
    )


def _chart(
    aligned: Aligned, curves: Sequence[RetainedCurves], metric: str, place: int
) -> Lines:
    """Curves of one model by every rule."""
    way = Retained(metric=metric)
    where = f" ({aligned.question.task})" if aligned.question.task else ""
    title = way.height.title
    return Lines(
        name=f"retained-{HEIGHTS[metric]}{f'-{place + 1}' if place else ''}",
        caption=f"{curves[0].model}{where}: {title} on what is left, by what sorts the items",
        alternative=f"{title} over the share of items removed, a line for each scoring rule.",
        x="share of items removed",
        y=title,
        lines=[
            Line(
                NAMES[curve.rule],
                [
                    (float(x), float(y))
                    for x, y in zip(way.removed, curve.heights[metric], strict=True)
                ],
                dots=False,
                dashed=curve.rule in ("brier_score", "log_score"),
            )
            for curve in curves
        ],
    )


def _sentence(aligned: Aligned, curves: Sequence[RetainedCurves]) -> str:
    """By which rule the decisions on the rest are best, and how good they start."""
    where = f"{aligned.question.task}: " if aligned.question.task else ""
    kappa = {curve.rule: curve.areas["quadratic_weighted_kappa"] for curve in curves}
    top = max(kappa.values(), key=lambda area: np.nan_to_num(area[0], nan=-2.0))
    near = [
        NAMES[rule]
        for rule, area in kappa.items()
        if not (area[0] < top[0] and np.quantile(top[1:] - area[1:], 0.025) > 0)
    ]
    start = curves[0].heights["quadratic_weighted_kappa"][0]
    alike = " alike" if len(near) > 1 else ""
    return (
        f"{where}kappa of {curves[0].model} is {number(start)} on all items and "
        f"{number(top[0])} on average when its worst go, found best by {joined(near)}{alike}."
    )
