"""Curves: ROC and precision-recall of the models, with the readers as points.

A curve is against the mean votes of all annotators (`equipoise.metrics.roc_curve`). A reader is
a point: its sensitivity and false positive rate against the votes of the others, on the items
that it read; what a model gains over it is told by `equipoise.study.analyses.readers`. A model
that only decides is a point too, and so is where a threshold puts a model on its curve.

Decision curves say what acting on a model's probabilities is worth. Whoever acts when the
probability is at least t holds a needless action t/(1-t) times as bad as a missed one. At every
threshold a model is compared with acting on everybody and on nobody (Vickers and Elkin 2006),
against soft labels: a vote drawn at random is positive. Intervals of single thresholds are
those of the metric ``net_benefit:threshold=0.1``.

Examples
--------
>>> from equipoise.datasets.demo import reading_study
>>> readings, scores = reading_study()
>>> (found,) = curves(Study.of(scores, readings, metrics=["auroc"]))
>>> found.models[0], len(found.readers)
('logistic regression', 8)
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from equipoise.metrics import (
    auroc,
    average_precision,
    decision_curve,
    precision_recall_curve,
    roc_curve,
)
from equipoise.study.alignment import Aligned
from equipoise.study.analyses.words import as_notices
from equipoise.study.competitors import GOLD, OTHERS, reader_tables
from equipoise.study.study import Study
from equipoise.study.truth import TaskTruth
from equipoise.types import (
    ONE_CLASS,
    Bools,
    Cell,
    Column,
    Finding,
    Floats,
    InputError,
    Line,
    Lines,
    Names,
    Point,
    Row,
    Table,
    columns,
    count,
    distinct_lines,
    hint,
    immutable,
    joined,
    percent,
    rows_of,
)

KEY, TITLE = "curves", "Where do readers stand on the models' curves?"
STEPS = 120  # points of a drawn curve
MOST = 40  # readers that are drawn
DRAWN = 12  # tasks that are drawn
RATES = ("false_positive_rate", "sensitivity", "precision")  # of readers
NOTE = (
    "Curves are against the labels of the evaluation: an item counts by its share of yes. "
    "A ring is a reader, left out of these labels, on the items it read, or "
    "a model at its threshold. How models compare with readers is told under Readers, "
    "on the same items and votes."
)
METHODS = (
    "ROC and precision-recall curves are against the labels of the evaluation; readers are "
    "points, each left out of these labels."
)


@immutable(eq=False)
class TaskCurves:
    """The curves of one task.

    Attributes
    ----------
    task
        Which question.
    models
        Names of the models with a curve, the one with the largest soft AUROC first.
    areas
        Soft AUROC and average precision of each.
    roc, precision_recall
        By model, the places of its curves: shape (points, 2).
    readers
        Items, false positive rate, sensitivity and precision of readers; empty where there are
        too few, or nobody knows who voted.
    decisions
        Points of models that decide: name, false positive rate, sensitivity, precision.
    """

    task: str
    models: Names
    areas: tuple[tuple[float, float], ...]
    roc: tuple[Floats, ...]
    precision_recall: tuple[Floats, ...]
    readers: Sequence[Mapping[str, Any]]
    decisions: tuple[tuple[str, float, float, float], ...]


def analyse(study: Study) -> Finding:
    """The curves of a study, and where the readers stand."""
    tasks = curves(study)
    best = list(dict.fromkeys(task.models[0] for task in tasks))
    rows = [reader for task in tasks for reader in task.readers]
    end = f"; {count(len(rows), 'point')} of readers stand beside them" if rows else ""
    soft = "" if study.by_standard else "soft "
    several = len(best) > 1
    verb, area = ("enclose", "area of a task") if several else ("encloses", "area")
    readers = Table(
        name="readers_on_curves",
        caption="Readers by the same truth, each left out of it",
        columns=(
            *columns(task="text", reader="text", items="count"),
            *columns(false_positive_rate="number", sensitivity="number", precision="number"),
        ),
        rows=rows,
    )
    areas = Table(
        name="areas_under_curves",
        caption="Areas under the curves",
        columns=(
            *columns(task="text", model="model"),
            Column("auroc", f"{soft}AUROC", "number"),
            Column("average_precision", f"{soft}average precision", "number"),
        ),
        rows=[
            {"task": task.task, "model": name, "auroc": area, "average_precision": mean}
            for task in tasks
            for name, (area, mean) in zip(task.models, task.areas, strict=True)
        ],
    )
    return Finding(
        key=KEY,
        title=TITLE,
        sentence=f"The curve{'s' * several} of {joined(best, most=3)} {verb} the largest "
        f"{area}{end}.",
        tables=(readers, areas) if rows else (areas,),
        charts=tuple(
            chart
            for place, task in enumerate(tasks[:DRAWN], 1)
            for chart in curve_charts(task, "" if place == 1 else f"-{place}")
        ),
        note=NOTE,
        methods=METHODS,
        notices=as_notices(study.annotations.notices, study.dropped),
    )


def curve_charts(drawn: TaskCurves, tail: str = "") -> Iterator[Lines]:
    """ROC and precision-recall of one task."""
    where = f" ({drawn.task})" if drawn.task else ""
    people = drawn.readers[:MOST]
    rings = f"; rings: {count(len(people), 'reader')}" if people else ""
    of = f"of {count(len(drawn.models), 'model')}{where}{rings}."

    def lines(curves: Sequence[Floats]) -> list[Line]:
        points = ([(float(x), float(y)) for x, y in curve] for curve in curves)
        return distinct_lines(zip(drawn.models, points, strict=True))

    def rings_at(x: str, y: str) -> list[Point]:
        return [Point(reader["reader"], reader[x], reader[y]) for reader in people]

    roc = Lines(
        name=f"roc{tail}",
        caption=f"ROC curves{where}{rings}",
        alternative=f"Sensitivity over false positive rate {of}",
        x="false positive rate",
        y="sensitivity",
        lines=lines(drawn.roc),
        diagonal=True,
        x_range=(0.0, 1.0),
        y_range=(0.0, 1.0),
        points=[
            *rings_at("false_positive_rate", "sensitivity"),
            *(Point(name, x, y, model=name) for name, x, y, _ in drawn.decisions),
        ],
    )
    yield roc
    yield replace(
        roc,
        name=f"precision-recall{tail}",
        caption=f"Precision-recall curves{where}{rings}",
        alternative=f"Precision over sensitivity {of}",
        x="sensitivity (recall)",
        y="precision",
        lines=lines(drawn.precision_recall),
        diagonal=False,
        points=[
            *rings_at("sensitivity", "precision"),
            *(Point(name, x, y, model=name) for name, _, x, y in drawn.decisions),
        ],
    )


def curves(study: Study) -> list[TaskCurves]:
    """ROC and precision-recall curves of every task, against the votes of a study."""
    votes, models = study.annotations, study.predictions
    if any(len(truth.classes) > 1 for truth in study.truths):
        do = hint("ask about one class: {}", ONE_CLASS)
        raise InputError("curves", f"votes of kind {votes.kind}", "yes or no", do)
    if all(model.decides for model in models):
        raise _decisions_only("curves")
    decide = {(model.task, model.model) for model in models if model.decides}
    points = _reader_points(study)
    return [
        task_curves(aligned, decide, points.get(aligned.question.task, ()))
        for aligned in study.aligned
    ]


def _decisions_only(where: str) -> InputError:
    do = "give the models' scores, not their decisions"
    return InputError(where, "decisions, each a single point", "scores or probabilities", do)


def task_curves(
    aligned: Aligned,
    decide: Collection[tuple[str, str]] = (),
    readers: Sequence[Row] = (),
) -> TaskCurves:
    """The curves of a task; models that decide, by task and name, are points."""
    truth, task = aligned.question.shares[0], aligned.question.task
    curved = [name for name in aligned.scores if (task, name) not in decide]
    if not curved:
        raise _decisions_only(f"curves, task {task!r}")
    areas = {name: auroc(truth, aligned.scores[name]) for name in curved}
    order = sorted(curved, key=lambda name: -np.nan_to_num(areas[name], nan=-1.0))
    plain = {name: s for name, s in aligned.scores.items() if name not in curved}
    return TaskCurves(
        task=task,
        models=tuple(order),
        areas=tuple(
            (areas[name], average_precision(truth, aligned.scores[name])) for name in order
        ),
        roc=tuple(_thinned_roc(truth, aligned.scores[name]) for name in order),
        precision_recall=tuple(
            _thinned_precision(truth, aligned.scores[name]) for name in order
        ),
        readers=readers,
        decisions=tuple(
            (name, *_operating_point(truth, yes))
            for name, yes in {**aligned.decided, **plain}.items()
        ),
    )


def _thinned(x: Floats, y: Floats, along: Floats) -> Floats:
    """Points of a curve at even steps along it, shape (points, 2)."""
    if len(along) > STEPS and not np.isnan(along).any():
        rows = np.unique(np.searchsorted(along, np.linspace(along[0], along[-1], STEPS)))
        rows = np.union1d(rows.clip(0, len(along) - 1), [0, len(along) - 1])
        x, y = x[rows], y[rows]
    return np.stack([x, y], axis=1)


def _thinned_roc(truth: Floats, scores: Floats) -> Floats:
    false, true, _ = roc_curve(truth, scores)
    return _thinned(false, true, false + true)


def _thinned_precision(truth: Floats, scores: Floats) -> Floats:
    precision, recall, _ = precision_recall_curve(truth, scores)
    precision, recall = precision[-2::-1], recall[-2::-1]  # from the highest score down
    return _thinned(recall, precision, recall)


def _operating_point(truth: Floats, yes: Floats) -> tuple[float, float, float]:
    """False positive rate, sensitivity and precision of decisions against soft labels."""
    with np.errstate(invalid="ignore", divide="ignore"):
        hits, called = np.float64(truth @ yes), np.float64(yes.sum())
        false = (called - hits) / (1 - truth).sum()
        return float(false), float(hits / truth.sum()), float(hits / called)


def _reader_points(study: Study) -> dict[str, list[dict[str, Any]]]:
    """Rates of the readers by task, each left out of the truth, who read most items first."""
    truth = GOLD if study.by_standard else OTHERS
    try:
        tables = [table for table in reader_tables(study) if table.truth == truth]
    except InputError:
        return {}
    points: dict[str, list[dict[str, Any]]] = {}
    for table in tables:
        for task in table.tasks:
            if task.contrasts is None:
                continue
            able = np.flatnonzero(~np.isnan(task.contrasts.gain[0])).tolist()
            rates = dict(zip(RATES, task.rates, strict=True))
            points[task.task] = [
                {"task": task.task, "reader": table.readers[r], "items": int(task.items[r])}
                | {name: float(rate[r]) for name, rate in rates.items()}
                for r in sorted(able, key=lambda r: (-task.items[r], table.readers[r]))[:MOST]
            ]
    return points


NET_BENEFIT, NET_BENEFIT_TITLE = "net_benefit", "From which threshold on is a model of use?"
THRESHOLDS = np.arange(1, 100) / 100
SHOWN = slice(4, None, 5)  # thresholds that have a row in the table
FLOOR = -0.05  # net benefit below which a curve is not drawn
NET_BENEFIT_NOTE = (
    "Net benefit is the share of true positives less that of false ones at the odds of the "
    "threshold, in true positives per item. A model is of use at a threshold where it is worth "
    "more than acting on everybody and on nobody."
)
NET_BENEFIT_METHODS = (
    "Net benefit was computed over thresholds from 0.01 to 0.99 and compared with acting on "
    "everybody and on nobody [@vickers2006]."
)


def analyse_net_benefit(study: Study) -> Finding:
    """Decision curves of all models in every yes/no task."""
    rows: list[dict[str, Cell]] = []
    charts, sentences = [], []
    done = study.evaluation
    for truth, scores in zip(done.questions, done.scores, strict=True):
        _refuse_no_probabilities(truth, scores)
        curves = [
            decision_curve(truth.shares[0], probabilities) for probabilities in scores.values()
        ]
        everybody, net_benefits = (
            curves[0].treat_all,
            np.stack([curve.model for curve in curves]),
        )
        useful = net_benefits > np.maximum(everybody, 0.0)
        rows += rows_of(
            {"task": truth.task},
            {"model": list(scores), "threshold": THRESHOLDS[SHOWN].tolist()},
            {
                "net_benefit": net_benefits[:, SHOWN],
                "treat_all": everybody[None, SHOWN],
                "useful": useful[:, SHOWN],
            },
        )
        charts.append(
            _net_benefit_chart(
                truth.task, dict(zip(scores, net_benefits, strict=True)), everybody
            )
        )
        sentences.append(_use_sentence(truth.task, dict(zip(scores, useful, strict=True))))
    return Finding(
        key=NET_BENEFIT,
        title=NET_BENEFIT_TITLE,
        sentence=" ".join(sentences[:3]),
        more=tuple(sentences[3:]),
        charts=tuple(charts),
        tables=(
            Table(
                name=NET_BENEFIT,
                caption="Net benefit by threshold",
                columns=(
                    *columns(task="text", model="model", threshold="percent"),
                    *columns(net_benefit="number"),
                    Column("treat_all", "acting on everybody", "number"),
                    Column("useful", "of use"),
                ),
                rows=rows,
                brief=[row for row in rows if row["threshold"] in (0.1, 0.25, 0.5)],
            ),
        ),
        note=NET_BENEFIT_NOTE,
        methods=NET_BENEFIT_METHODS,
        references=("vickers2006",),
    )


def _refuse_no_probabilities(truth: TaskTruth, scores: Mapping[str, Floats]) -> None:
    """Raise unless every model gives probabilities of a yes/no question."""
    if len(truth.classes) > 1:
        raise InputError(
            "net_benefit", f"{len(truth.classes)} classes", "a yes/no question",
            "ask about one class",
        )  # fmt: skip
    for name, values in scores.items():
        decides = np.isin(values, (0, 1)).all()
        if decides or values.min() < 0 or values.max() > 1:
            what = "decisions" if decides else "scores outside [0, 1]"
            where = f"net_benefit, {name!r}" + (f" for {truth.task!r}" if truth.task else "")
            raise InputError(where, what, "probabilities", "give probabilities")


def _net_benefit_chart(task: str, curves: Mapping[str, Floats], everybody: Floats) -> Lines:
    lines = [
        Line(name, _drawn_points(curve), name, dots=False) for name, curve in curves.items()
    ]
    lines.append(Line("everybody", _drawn_points(everybody), dots=False, dashed=True))
    lines.append(Line("nobody", [(0.01, 0.0), (0.99, 0.0)], dots=False, dashed=True))
    where = f", {task}" if task else ""
    return Lines(
        name=f"net-benefit{f'-{task}' if task else ''}",
        caption=f"Net benefit by threshold{where}",
        x="threshold",
        y="net benefit",
        lines=lines,
    )


def _drawn_points(curve: Floats) -> list[tuple[float, float]]:
    """A curve as far as it stays near or above acting on nobody."""
    shown = curve >= FLOOR
    return [(float(t), float(y)) for t, y in zip(THRESHOLDS[shown], curve[shown], strict=True)]


def _use_sentence(task: str, useful: Mapping[str, Bools]) -> str:
    """In which range of thresholds the models are of use."""
    where = f"{task}: " if task else ""
    grid = THRESHOLDS[SHOWN]  # as in the table
    useful_at = {
        name: grid[is_useful[SHOWN]]
        for name, is_useful in useful.items()
        if is_useful[SHOWN].any()
    }
    if not useful_at:
        return f"{where}no model is worth more than acting on everybody or on nobody."
    widest = max(useful_at, key=lambda name: len(useful_at[name]))
    ends = percent(float(useful_at[widest].min())), percent(float(useful_at[widest].max()))
    never = [name for name in useful if name not in useful_at]
    rest = f"; {joined(never, most=3)} nowhere" if never else ""
    return f"{where}{widest} is of use at thresholds from {ends[0]} to {ends[1]}{rest}."
