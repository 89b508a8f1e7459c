"""Card: the answer with whom it holds for, a table of the scores, and the page.

The card has its style in its elements, because a style sheet would reach everything else in the
notebook; it takes its colours from there, and holds no script.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from equipoise.analyses.words import score_title
from equipoise.answer import evaluation_card, evaluation_report
from equipoise.arrays import InputError
from equipoise.evaluation import Evaluation, Row
from equipoise.folders import write_text
from equipoise.numbers import estimate, exact_percent, number
from equipoise.page import render
from equipoise.page.markup import Html, element
from equipoise.ranks import higher_is_better
from equipoise.wording import capital

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
    said = [
        element("p", element("b", f"{name} "), text, style=line)
        for name, text in facts.items()
        if text
    ]
    answer = element("p", card.answer, style="margin:0 0 .4em;font-size:16px;font-weight:650")
    frame = "border:1px solid #8884;border-left:4px solid #0a5ba8;padding:.6em .9em"
    return element(
        "div",
        element("div", answer, *said, style=f"{frame};max-width:60em"),
        _table(evaluation),
        style="font-family:system-ui,sans-serif;line-height:1.4",
    )


def _table(evaluation: Evaluation) -> Html:
    """Soft scores: a column per metric, or per task where there are several.

    The first column has intervals; a mark says where a model is surely below another.
    """
    first, tasks = evaluation.metrics[0], evaluation.tasks
    columns = [(task, first.name) for task in (tasks[-1], *tasks[:-1])]
    heads = [task for task, _ in columns]
    if len(tasks) == 1:
        columns = [(tasks[0], one.name) for one in evaluation.metrics]
        heads = [score_title(name, "soft", "") for _, name in columns]
    shown = columns[:MOST_COLUMNS]
    rows = {(r.task, r.metric, r.model): r for r in evaluation.table() if r.labels == "soft"}
    front = np.array([rows[*shown[0], model].value for model in evaluation.models])
    places = np.argsort(-higher_is_better(front, first.better), kind="stable")
    order = [evaluation.models[m] for m in places]
    cell = "padding:.15em .8em;white-space:nowrap;text-align:"
    lines = [
        element(
            "tr",
            element("th", model, style=f"{cell}left;font-weight:400"),
            *(
                element(
                    "td", _score(rows[*column, model], wide=place == 0), style=f"{cell}right"
                )
                for place, column in enumerate(shown)
            ),
        )
        for model in order[:MOST_ROWS]
    ]
    names = [
        element("th", one, style=f"{cell}right;font-weight:600")
        for one in ["", *heads[:MOST_COLUMNS]]
    ]
    what = "" if len(tasks) == 1 else f"{capital(score_title(first.name, 'soft', ''))}. "
    left = len(order) > len(lines) or len(columns) > len(shown)
    caption = (
        f"{what}Brackets: {exact_percent(evaluation.level)} interval of the value by itself. "
        f"{BELOW} surely below another model, all pairs at once."
        f"{' More in to_dataframe().' * left}"
    )
    note = "caption-side:bottom;font-size:12px;text-align:left"
    return element(
        "table",
        element("caption", caption, style=note),
        element("thead", element("tr", *names)),
        element("tbody", *lines),
        style="border-collapse:collapse;margin:.6em 0;font-size:13px;"
        "font-variant-numeric:tabular-nums",
    )


def _score(row: Row, *, wide: bool) -> str:
    """A value, with its interval where there is room, and a mark where it is behind."""
    text = estimate(row.value, row.low, row.high) if wide else number(row.value)
    return f"{text} {BELOW}" if row.rank_low > 1 else text


def write_page(evaluation: Evaluation, path: str | Path, *, title: str = "") -> Path:
    """Write the page about an evaluation, self-contained; returns its path."""
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        do = f"name it {target.with_suffix('.html').name}"
        raise InputError(f"report {path}", f"ending {target.suffix!r}", ".html", do)
    write_text(target, render(replace(evaluation_report(evaluation), title=title or TITLE)))
    return target
