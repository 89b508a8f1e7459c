"""Leaderboard: hard next to soft, with interval, rank and the probability of being best."""

from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import UNDEFINED, UNMOVED, interval, number, percent, rank
from equipoise.report.palette import model_class
from equipoise.report.score import Score
from equipoise.report.tables import model_cell, scrolling
from equipoise.report.view import Panel

BARS = 20  # widths a bar can have


def moved(panel: Panel, model: str) -> str:
    """Write how many ranks a model gains from hard to soft labels."""
    first, last = panel.view.labels[0], panel.view.labels[-1]
    before, after = panel.score(first, model).rank, panel.score(last, model).rank
    if before is None or after is None:
        return UNDEFINED
    if before == after:
        return "0"
    return f"{'▲' if before > after else '▼'} {rank(abs(before - after))}"


def bar(share: float | None, lack: str = UNDEFINED) -> Html:
    """Draw a probability as a bar behind its number, or write why there is none."""
    if share is None:
        return element("td", lack)
    return element("td", percent(share), class_=f"bar w{round(share * BARS)}")


def _cells(panel: Panel, labels: str, score: Score) -> Html:
    """Write score, rank and probability of one kind of labels."""
    unmoved = panel.unmoved(labels)
    ends = f"[{UNMOVED}]" if unmoved else interval(score.low, score.high, panel.digits)
    limits = element("small", ends)
    value = number(score.value, panel.digits) + ("†" if score.outside else "")
    cells = [element("td", value, *([" ", limits] if score.value is not None else []))]
    if len(panel.view.models) > 1:
        cells += [
            element("td", rank(score.rank)),
            bar(score.p_best, UNMOVED if unmoved else UNDEFINED),
        ]
    return join(cells)


def _heads(panel: Panel) -> Html:
    """Make the two rows of heads; one model has no rank."""
    names, many = panel.view.labels, len(panel.view.models) > 1
    ranked = ["rank", "P(best)"] if many else []
    heads = [title for labels in names for title in (panel.title(labels), *ranked)]
    change = many and len(names) > 1
    groups = [
        element("th", f"{labels} labels", scope="colgroup", colspan=1 + len(ranked))
        for labels in names
    ]
    return join(
        [
            element("tr", Html("<td>"), *groups, Html("<td>" if change else "")),
            element(
                "tr",
                *(
                    element("th", head, scope="col")
                    for head in ["Model", *heads, *(["rank change"] if change else [])]
                ),
            ),
        ]
    )


def draw(panel: Panel) -> Html:
    """Make the table; the script makes its heads into buttons that sort it."""
    names = panel.view.labels
    change = len(names) > 1 and len(panel.view.models) > 1
    rows = [
        element(
            "tr",
            model_cell(panel.view, model, scope="row"),
            *(_cells(panel, labels, panel.score(labels, model)) for labels in names),
            element("td", moved(panel, model)) if change else Html(""),
            class_=model_class(panel.view.models.index(model)),
        )
        for model in panel.order
    ]
    better = "higher is better" if panel.sign > 0 else "lower is better"
    caption = f"{panel.facts['title']}, {better}; {panel.view.level} intervals"
    whole = element(
        "table",
        element("caption", element("span", caption)),
        element("thead", _heads(panel)),
        element("tbody", join(rows)),
        class_=" ".join(["board", *["low"] * (panel.sign < 0), *["lone"] * (len(rows) == 1)]),
    )
    return scrolling(whole)
