"""Leaderboard: hard next to soft, with interval, rank and the probability of being best."""

from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import UNDEFINED, interval, number, percent, rank
from equipoise.report.palette import model_class
from equipoise.report.tables import name_cell, scrolling
from equipoise.report.view import Panel, Score

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


def bar(share: float | None) -> Html:
    """Draw a probability as a bar behind its number."""
    if share is None:
        return element("td", UNDEFINED)
    return element("td", percent(share), class_=f"bar w{round(share * BARS)}")


def _cells(panel: Panel, score: Score) -> Html:
    """Write score, rank and probability of one kind of labels."""
    digits = panel.digits
    limits = interval(score.low, score.high, digits)
    return join(
        [
            element(
                "td",
                number(score.value, digits) + ("†" if score.outside else ""),
                *([" ", element("small", limits)] if score.value is not None else []),
            ),
            element("td", rank(score.rank)),
            bar(score.p_best),
        ]
    )


def draw(panel: Panel) -> Html:
    """Make the table; the script makes its heads into buttons that sort it."""
    names, two = panel.view.labels, len(panel.view.labels) > 1
    groups = [
        element("th", f"{labels} labels", scope="colgroup", colspan=3) for labels in names
    ]
    heads = [
        element("th", title, scope="col")
        for labels in names
        for title in (panel.title(labels), "rank", "P(best)")
    ]
    rows = [
        element(
            "tr",
            name_cell(model),
            join(_cells(panel, panel.score(labels, model)) for labels in names),
            element("td", moved(panel, model)) if two else Html(""),
            class_=model_class(panel.view.models.index(model)),
        )
        for model in panel.order
    ]
    better = "higher is better" if panel.sign > 0 else "lower is better"
    caption = f"{panel.facts['title']}, {better}; {panel.view.level} intervals"
    top = element(
        "tr", Html("<td>"), join(groups), Html("<td>") if two else Html("")
    )  # fmt: skip
    second = element(
        "tr", element("th", "Model", scope="col"), join(heads),
        element("th", "rank change", scope="col") if two else Html(""),
    )  # fmt: skip
    whole = element(
        "table", element("caption", caption), element("thead", top, second),
        element("tbody", join(rows)), class_="board",
    )  # fmt: skip
    return scrolling(whole)
