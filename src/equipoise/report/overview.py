"""Overview: all tasks at a glance, one row each."""

from equipoise.report.histogram import contested, heads
from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import (
    UNDEFINED,
    UNMOVED,
    count,
    listing,
    number,
    percent,
    signed,
    signed_interval,
)
from equipoise.report.tables import name_cell, row, scrolling, table
from equipoise.report.verdict import Verdict, blank_word
from equipoise.report.view import Panel, View
from equipoise.report.votes import any_model, any_several, disputed
from equipoise.report.words import verdicts


def _cells(found: Verdict) -> list[str]:
    """Write winner, lead and certainty under one kind of labels."""
    if not found.best:
        return [blank_word(found.panel, found.labels), UNDEFINED, UNDEFINED]
    panel, lead = found.panel, found.lead
    digits = panel.digits
    gap = "no other model"
    if found.runner_up is not None:
        dagger = "†" if lead.outside else ""
        ends = signed_interval(lead.low, lead.high, digits)
        gap = (
            f"{signed(lead.value, digits)}{dagger} {f'[{UNMOVED}]' if found.unmoved else ends}"
        )
    mark = " ●" if lead.separated else ""
    best = panel.score(found.labels, found.best[0]).p_best
    return [
        listing([panel.view.short(name, 16) for name in found.best], most=2),
        gap + mark,
        UNMOVED if found.unmoved else percent(best),
    ]


def _row(panel: Panel) -> Html:
    """Write one task."""
    found = verdicts(panel)
    cells = [element("td", cell) for each in found for cell in _cells(each)]
    if len(found) > 1:
        known = found[0].best and found[-1].best
        same = set(found[0].best) == set(found[-1].best)
        cells.append(element("td", ("same" if same else "changes") if known else UNDEFINED))
    return element("tr", name_cell(panel.view.task_title(panel.task), scope="row"), *cells)


def glance(view: View, metric: int) -> Html:
    """Make the table of all tasks for one metric."""
    panels = [panel for panel in view.panels() if panel.metric == metric]
    groups = [
        element(
            "th", f"{panels[0].title(labels)}, {labels} labels", scope="colgroup", colspan=3
        )
        for labels in view.labels
    ]
    two = len(view.labels) > 1
    titles = ["Task"]
    titles += ["best", "lead over the next", "P(best)"] * len(view.labels)
    titles += ["winner"] if two else []
    how = f"({view.level} intervals; ● excludes 0)"
    caption = f"All tasks at a glance, {panels[0].facts['title']} {how}"
    top = element(
        "tr", Html("<td>"), *groups,
        Html("<td>") if two else Html(""),
    )  # fmt: skip
    second = element("tr", join(element("th", head, scope="col") for head in titles))
    whole = element(
        "table", element("caption", element("span", caption)),
        element("thead", top, second),
        element("tbody", join(_row(panel) for panel in panels)), class_="glance",
    )  # fmt: skip
    return scrolling(whole)


def disputed_words(view: View) -> str:
    """Name the task on which the annotators disagree most."""
    truth = [entry for entry in view.header["truth"] if entry["items"]]
    if not truth:
        return "No votes were described."
    shares = {entry["task"]: contested(entry) / entry["items"] for entry in truth}
    most = max(shares, key=lambda task: shares[task])
    if not shares[most]:
        return "No task has items that are disputed."
    how = disputed(next(entry for entry in truth if entry["task"] == most))
    part = percent(shares[most])
    return f"{listing([most])} is the most disputed task: on {part} of its items {how}."


def truth_numbers(view: View) -> Html:
    """List items and votes of every task; a truth from a model has none."""
    modelled = any_model(view)
    rows = [
        row(
            entry["task"],
            [
                count(entry["items"]),
                *([] if modelled else [count(entry["votes"])]),
                count(entry["positives_hard"]),
                number(entry["mean_soft"]),
                count(entry["unanimous"]),
                count(contested(entry)),
            ],
        )
        for entry in view.header["truth"]
    ]
    middle = heads(choice=any_several(view), modelled=modelled)
    if modelled:
        titles = ["Task", "items", *middle, "certain", "disputed"]
        return table("Items and plausibilities", titles, rows)
    titles = ["Task", "items", "votes", *middle, "unanimous", "disputed"]
    return table("Items and votes", titles, rows)
