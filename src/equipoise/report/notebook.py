"""Notebook: an evaluation as a notebook shows it: a card with a table, figures, and the page.

Everything here renders what `equipoise.evaluate` returns. `Evaluation` reaches it by methods of
its own (``result.verdict``, ``result.plot.forest()``, ``result.report("page.html")``), which
import this module when they are called, so that the engine knows no renderer.

Card: the answer with whom it holds for, a table of the scores, and the page.

The card has its style in its elements, because a style sheet would reach everything else in the
notebook; it takes its colours from there, and holds no script.

Figures of an evaluation, as whole SVG files.

In a notebook they are shown as pictures, because the style of an SVG inside a page would reach
everything else on it.

Examples
--------
>>> from equipoise import evaluate
>>> from equipoise.datasets.demo import reading_study
>>> readings, scores = reading_study()
>>> evaluate(scores, readings, metrics=["auroc"]).plot.forest()
Figure('How far below the best model, whichever it is. ...
"""

import base64
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np

from equipoise.inference.ranks import higher_is_better
from equipoise.read.writing import write_text
from equipoise.report.answer import (
    Answer,
    RankedModels,
    distance_chart,
    evaluation_card,
    evaluation_report,
    standings_chart,
)
from equipoise.report.page import figures, render
from equipoise.report.page.svg import Html, element
from equipoise.study import Evaluation
from equipoise.study.alignment import Aligned
from equipoise.study.analyses.operating_curves import curve_charts, task_curves
from equipoise.study.analyses.ranking import ranks_chart
from equipoise.study.analyses.words import score_title
from equipoise.study.truth import TaskTruth
from equipoise.types import (
    ONE_CLASS,
    Chart,
    Dot,
    Dots,
    Finding,
    Heat,
    InputError,
    Report,
    Standing,
    capital,
    estimate,
    exact_percent,
    hint,
    immutable,
    number,
    thousandths,
)

TITLE = "Which model is better?"
BELOW = "▾"  # behind a value
MOST_ROWS = 30  # models of the table in a notebook
MOST_COLUMNS = 8  # tasks or metrics of it


def notebook_html(evaluation: Evaluation) -> str:
    """The card and a table of the scores, as markup that brings its own style."""
    card = evaluation_card(evaluation)
    facts = {
        "Holds for": card.holds_for,
        "Settled by": card.settled_by,
        "Caveat": card.caveat,
    }
    line = "margin:.15em 0;font-size:13px"
    facts_html = [
        element("p", element("b", f"{name} "), text, style=line)
        for name, text in facts.items()
        if text
    ]
    answer = element("p", card.answer, style="margin:0 0 .4em;font-size:16px;font-weight:650")
    frame = "border:1px solid #8884;border-left:4px solid #0a5ba8;padding:.6em .9em"
    return element(
        "div",
        element("div", answer, *facts_html, style=f"{frame};max-width:60em"),
        _table(evaluation),
        style="font-family:system-ui,sans-serif;line-height:1.4",
    )


def _table(evaluation: Evaluation) -> Html:
    """Soft scores: a column per metric, or per task where there are several.

    The first column has intervals; a mark says where a model is surely below another.
    """
    board = standings_chart(Answer(evaluation, evaluation.labels))
    heads = board.columns[:MOST_COLUMNS]
    cell = "padding:.15em .8em;white-space:nowrap;text-align:"
    lines = [
        element(
            "tr",
            element("th", model, style=f"{cell}left;font-weight:400"),
            *(
                element("td", _score(standing, ends), style=f"{cell}right")
                for standing, ends in zip_longest(row[: len(heads)], [interval])
            ),
        )
        for model, row, interval in zip(board.models, board.cells, board.intervals, strict=True)
    ]
    names = [element("th", head, style=f"{cell}right;font-weight:600") for head in ("", *heads)]
    left = len(lines) > MOST_ROWS or len(board.columns) > len(heads)
    caption = (
        f"{board.caption}. Brackets: {exact_percent(evaluation.level)} interval of the value "
        f"by itself. {BELOW} surely below another model, all pairs at once."
        f"{' More in to_dataframe().' * left}"
    )
    note = "caption-side:bottom;font-size:12px;text-align:left"
    return element(
        "table",
        element("caption", caption, style=note),
        element("thead", element("tr", *names)),
        element("tbody", *lines[:MOST_ROWS]),
        style="border-collapse:collapse;margin:.6em 0;font-size:13px;"
        "font-variant-numeric:tabular-nums",
    )


def _score(standing: Standing, ends: tuple[float, float] | None) -> str:
    """A value, with its interval where there is room, and a mark where it is behind."""
    text = estimate(standing.value, *ends) if ends else number(standing.value)
    return text if standing.inside or not standing.judged else f"{text} {BELOW}"


def write_page(evaluation: Evaluation, path: str | Path, *, title: str = "") -> Path:
    """Write the page about an evaluation, self-contained; returns its path."""
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        do = f"name it {target.with_suffix('.html').name}"
        raise InputError(f"report {path}", f"ending {target.suffix!r}", ".html", do)
    write_text(target, render(replace(evaluation_report(evaluation), title=title or TITLE)))
    return target


class Question(TypedDict, total=False):
    """What a figure is about.

    ``metric`` is the first if left out, ``labels`` are soft, and ``task`` is the average over
    tasks, or the only one.
    """

    metric: str
    labels: str
    task: str


@immutable
class Figure:
    """A figure as the text of an SVG file, which notebooks show; `caption` says what it is."""

    svg: str
    caption: str

    def __repr__(self) -> str:
        return f"Figure({self.caption!r})"

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        code = base64.b64encode(self.svg.encode()).decode()
        source = f"data:image/svg+xml;base64,{code}"
        words = element("figcaption", self.caption, style="font-size:13px")
        picture = element("img", src=source, alt=self.caption, style="max-width:100%")
        return element("figure", words, picture, style="margin:.5em 0")

    def save(self, path: str | Path) -> Path:
        """Write the SVG file; returns its path."""
        target = Path(path)
        if target.suffix.lower() != ".svg":
            do = f"name it {target.with_suffix('.svg').name}"
            raise InputError(f"figure {path}", f"ending {target.suffix!r}", ".svg", do)
        write_text(target, self.svg)
        return target


@immutable
class Plots:
    """Figures of an evaluation; each takes metric, labels and task, see `Question`."""

    evaluation: Evaluation

    def __repr__(self) -> str:
        names = [name for name in dir(type(self)) if name[0] != "_" and name != "evaluation"]
        return f"Plots({', '.join(names)})"

    def forest(self, **question: Unpack[Question]) -> Figure:
        """How far each model lies below the best, whichever that is, all pairs at once."""
        done = self.evaluation
        standing = self._standing(question)
        return self._figure_of(distance_chart(standing, level=done.level, margin=done.margin))

    def scores(self, **question: Unpack[Question]) -> Figure:
        """Every model with its own interval."""
        standing = self._standing(question)
        what, level = self._words(standing), exact_percent(self.evaluation.level)
        rows = zip(standing.models, standing.values, standing.low, standing.high, strict=True)
        chart = Dots(
            name="scores",
            caption=f"{capital(what)} with {level} intervals of single values",
            axis=what,
            rows=[
                Dot(model, float(value), float(low), float(high), model, remark=number(value))
                for model, value, low, high in rows
            ],
        )
        return self._figure_of(chart)

    def matrix(self, *, labels: str = "soft") -> Figure:
        """Models by tasks (or by metrics, of one task), tinted where in the best group."""
        return self._figure_of(standings_chart(Answer(self.evaluation, labels)))

    def pairs(self, **question: Unpack[Question]) -> Figure:
        """By how much each model leads each other, and which pairs are separated."""
        standing, done = self._standing(question), self.evaluation
        good = higher_is_better(standing.values, standing.metric.better)
        with np.errstate(invalid="ignore"):
            lead = good[:, None] - good[None, :]
        np.fill_diagonal(lead, np.nan)
        places = [done.models.index(name) for name in standing.models]
        better = done.family(
            standing.metric.name, labels=standing.labels, task=standing.task
        ).better[np.ix_(places, places)]
        chart = Heat(
            name="pairs",
            caption=f"Lead in {self._words(standing)} of the model of a row over that of a "
            "column, in thousandths; bold: shown to differ, all pairs at once",
            rows=standing.models,
            columns=standing.models,
            values=lead,
            scale="signed",
            row_models=True,
            x="lead over",
            texts=[[thousandths(value) for value in row] for row in lead.tolist()],
            strong=better | better.T,
            strong_title="shown to differ",
        )
        return self._figure_of(chart)

    def ranks(self, **question: Unpack[Question]) -> Figure:
        """In which share of the resamples each model holds each rank."""
        standing, done = self._standing(question), self.evaluation
        shares = done.rank_probabilities(
            standing.metric.name, labels=standing.labels, task=standing.task
        )
        chart = ranks_chart(done, shares)
        words = f"{chart.caption}, {self._words(standing)}"
        return self._figure_of(replace(chart, caption=words))

    def roc(self, **question: Unpack[Question]) -> Figure:
        """ROC curves of a yes/no question, against soft or hard labels."""
        return self._curves(0, question)

    def precision_recall(self, **question: Unpack[Question]) -> Figure:
        """Precision against recall of a yes/no question, soft or hard labels."""
        return self._curves(1, question)

    def _curves(self, kind: int, question: Question) -> Figure:
        """The curves of the page, of one task and against the labels that are asked for."""
        done = self.evaluation
        tasks = [truth.task for truth in done.questions]
        if len(tasks) > 1 and "task" not in question:
            raise InputError("plot", f"{len(tasks)} tasks", "one", f"say task={tasks[0]!r}")
        standing = self._standing({"task": tasks[0], **question})
        place = tasks.index(standing.task) if standing.task in tasks else -1
        truth = _yes_no(done.questions[place], standing.task)
        if standing.labels == "hard":
            truth = replace(truth, shares=truth.hard)
        drawn = task_curves(Aligned(truth, done.scores[place]))
        chart = list(curve_charts(drawn))[kind]
        return self._figure_of(
            replace(chart, caption=f"{chart.caption}, {standing.labels} labels")
        )

    def _standing(self, question: Question) -> RankedModels:
        """All models in the question with what was left out; unknown words are refused."""
        allowed = Question.__annotations__
        if wrong := sorted(set(question) - set(allowed)):
            raise InputError("plot", repr(wrong[0]), "metric, labels or task", "leave it out")
        done = self.evaluation
        name = question.get("metric", done.metrics[0].name)
        labels = question.get("labels", "soft")
        task = question.get("task", done.tasks[-1])
        done.two_way(name, labels=labels, task=task)  # refuses what there is not
        metric = next(metric for metric in done.metrics if metric.name == name)
        return Answer(done).standing(task, metric, labels)

    def _words(self, standing: RankedModels) -> str:
        """What is scored, with the task where there are several."""
        task = standing.task if len(self.evaluation.tasks) > 1 else ""
        return score_title(standing.metric, standing.labels, task)

    def _figure_of(self, chart: Chart) -> Figure:
        finding = Finding(key=chart.name, title="", sentence="", charts=(chart,))
        drawn = figures(Report(title="", findings=(finding,), models=self.evaluation.models))
        if not drawn:
            got, do = "nothing to draw: no value is defined", "look at to_dataframe()"
            raise InputError(f"plot {chart.name}", got, "defined values", do)
        return Figure(next(iter(drawn.values())), chart.caption)


def _yes_no(truth: TaskTruth, task: str) -> TaskTruth:
    """The truth of a yes/no question, or a refusal."""
    if truth.task != task:
        do = "name a single task"
        raise InputError("plot", f"{task!r}", "a task that has labels of its own", do)
    if len(truth.classes) > 1:
        do = hint("ask about one class ({})", ONE_CLASS)
        raise InputError("plot", f"{len(truth.classes)} classes", "a yes/no question", do)
    return truth
