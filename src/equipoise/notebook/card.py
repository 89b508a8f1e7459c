"""Card: the answer with whom it holds for, a table of the scores, and the page.

The card has its style in its elements, because a style sheet would reach everything else in the
notebook; it takes its colours from there, and holds no script.
"""

import math
from pathlib import Path

import numpy as np

from equipoise.analyses.verdict import Lead, lead_of
from equipoise.analyses.words import score_title
from equipoise.arrays import InputError
from equipoise.evaluation import Evaluation, Row
from equipoise.findings import Card
from equipoise.notices import worded
from equipoise.numbers import estimate, exact_percent, number
from equipoise.page import render
from equipoise.page.markup import Html, element
from equipoise.ranks import higher_is_better
from equipoise.run.agreement import with_agreement
from equipoise.run.findings import evaluation_report
from equipoise.run.folder import write_text
from equipoise.run.gold import with_gold
from equipoise.run.recording import Provenance, record
from equipoise.wording import capital

TITLE = "Which model is better?"
BELOW = "▾"  # behind a value
MOST_ROWS = 30  # models of the table in a notebook
MOST_COLUMNS = 8  # tasks or metrics of it
POWER = 0.84  # normal quantile of a power of 80%
CAVEATS = (  # codes of notices that may change a decision, the gravest first
    "circular", "added_votes", "undefined_score", "infinite_score", "few_groups", "small_panel",
    "single_item", "single_votes", "dropped_tasks", "dropped_items", "no_majority",
)  # fmt: skip
SOURCES = {
    "items": "which items were chosen, so more items would help",
    "annotators": "who the annotators are, so other annotators would help",
}


def answer_card(evaluation: Evaluation) -> Card:
    """The answer, whom it holds for, what would settle the rest, and one caveat."""
    lead = lead_of(evaluation, "soft")
    below = set(lead.others) & set(lead.separated)
    grave = sorted(
        (one for one in evaluation.notices if one.code in CAVEATS),
        key=lambda one: CAVEATS.index(one.code),
    )
    return Card(
        answer=lead.finding,
        standing=tuple((name, name not in below) for name in (*lead.leaders, *lead.others)),
        holds_for=lead.population.whom,
        settled_by=_settled_by(evaluation, lead),
        caveat=worded(grave[:1])[0] if grave else "",
    )


def _settled_by(evaluation: Evaluation, lead: Lead) -> str:
    """What difference this study can tell, and what most of its uncertainty comes from."""
    close = [name for name in lead.others if name not in lead.separated]
    if not lead.leaders or not close:
        return ""
    place = evaluation.models.index
    cell = evaluation.two_way(lead.metric.name, labels=lead.labels, task=lead.task)
    spread = cell.between(place(lead.leaders[0]), place(close[0]))
    if not spread.standard_error > 0 or not math.isfinite(spread.half_width(lead.level)):
        return ""
    least = spread.half_width(lead.level) + POWER * spread.standard_error
    items, annotators, cells = spread.parts
    source = "items" if items >= annotators - cells else "annotators"
    return (
        f"a larger study, if {close[0]} matters: this one tells differences of about "
        f"{number(least)} or more; most of its uncertainty is {SOURCES[source]}"
    )


def notebook_html(evaluation: Evaluation) -> str:
    """The card and a table of the scores, as markup that brings its own style."""
    card = answer_card(evaluation)
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
    votes = evaluation.annotations
    people = () if votes is None else votes.annotators or ()
    run = record(evaluation, Provenance(title=title or TITLE, annotators=people))
    if votes is not None:
        run = with_gold(with_agreement(run, votes), evaluation.predictions, votes)
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        do = f"name it {target.with_suffix('.html').name}"
        raise InputError(f"report {path}", f"ending {target.suffix!r}", ".html", do)
    write_text(target, render(evaluation_report(run)))
    return target
