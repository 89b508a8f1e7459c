"""Influence: the items on which the comparison of two models hangs.

The influence of an item is, to first order, how much the difference a - b would change if
the item were left out. Beside it stands where each model puts the item (the share of items it
scores lower) and where the votes put it (the soft label).
"""

from collections.abc import Mapping
from typing import Any

from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import count, defined, listing, number, percent, shorten, signed
from equipoise.report.palette import model_class
from equipoise.report.svg import (
    NARROW,
    Axis,
    Scale,
    across,
    down,
    drawing,
    group,
    markers,
    path,
    row_names,
    text,
    titled,
)
from equipoise.report.tables import row, table
from equipoise.report.view import Panel
from equipoise.report.votes import any_model, of_panel, several, whole

WHOLE = 80  # letters of an item's name in the table
LABEL, START, END = 132.0, 142.0, 428.0
TOP, ROW = 30.0, 22.0

Entry = Mapping[str, Any]


def draw(panel: Panel, entry: Entry) -> list[Html]:
    """Draw influence on the left, and where models and votes put the items on the right."""
    items = [item for item in entry["items"] if defined(item["influence"])]
    if not items:
        return []
    return [_bars(panel, entry, items), _positions(panel, entry, items)]


def _pair(panel: Panel, entry: Entry, room: int) -> str:
    """Name the difference of the two models."""
    return " − ".join(panel.view.short(entry[side], room) for side in "ab")


def share_title(panel: Panel) -> str:
    """Name the number that stands for the votes."""
    if any_model(panel.view):
        return "plausibility"
    several_here = any(several(entry) for entry in of_panel(panel))
    return "largest share" if several_here else "soft label"


def _height(place: int) -> float:
    """Middle of a row."""
    return TOP + ROW * (place + 0.5)


def _names(items: list[Entry]) -> Html:
    """Name the rows."""
    names = [str(item["item"]) for item in items]
    return group([row_names(names, 17, TOP, ROW)], x=LABEL, class_="e")


def _bars(panel: Panel, entry: Entry, items: list[Entry]) -> Html:
    """Draw how much each item moves the difference."""
    most = max(abs(item["influence"]) for item in items) * 1.05 or 1.0
    scale = Scale(-most, most, START, END)
    bottom = TOP + ROW * len(items)
    pair = _pair(panel, entry, 14)
    lines: dict[bool, list[str]] = {True: [], False: []}
    for place, item in enumerate(items):
        length = scale(item["influence"]) - scale(0)
        lines[item["influence"] > 0].append(across(scale(0), _height(place), length))
    parts = [
        Axis(scale, TOP, bottom, title=f"approximate change of {pair} without it").draw(4),
        path("up", *lines[True]),
        path("dn", *lines[False]),
        path("zero", down(scale(0), TOP, bottom - TOP)),
        _names(items),
    ]
    alternative = f"Influence of {len(items)} items on the difference {pair}."
    return drawing((NARROW, bottom + 40), alternative, *parts)


def _positions(panel: Panel, entry: Entry, items: list[Entry]) -> Html:
    """Draw the soft label and both models' positions of each item."""
    scale = Scale(0, 1, START, END)
    bottom = TOP + ROW * len(items)
    votes, stems = [down(4, 4, 16)], []
    for place, item in enumerate(items):
        if defined(item["soft_label"]):
            votes.append(down(scale(item["soft_label"]), _height(place) - 8, 16))
        ends = [scale(item[f"position_{s}"]) for s in "ab" if defined(item[f"position_{s}"])]
        if len(ends) == 2:
            stems.append(across(ends[0], _height(place), ends[1] - ends[0]))
    parts = [
        Axis(scale, TOP, bottom, title="position (0 lowest, 1 highest)").draw(),
        _names(items),
        path("stem", *stems),
        path("vote", *votes),
        text(12, 16, share_title(panel), "a"),
    ]
    for side, x in (("a", START), ("b", START + 150)):
        index = panel.view.models.index(entry[side])
        places = [
            (scale(item[f"position_{side}"]), _height(place))
            for place, item in enumerate(items)
            if defined(item[f"position_{side}"])
        ]
        key = titled(entry[side], panel.view.short(entry[side], 15), x=x + 14, y=16)
        drawn = [markers([(x + 4, 12.0), *places], index), key]
        parts.append(group(drawn, class_=model_class(index)))
    who = "truth" if any_model(panel.view) else "votes"
    alternative = f"Where both models and the {who} put {len(items)} items."
    return drawing((NARROW, bottom + 40), alternative, *parts)


def numbers(panel: Panel, entry: Entry) -> Html:
    """List the items."""
    rows = [
        row(
            str(item["item"]),
            [
                signed(item["influence"], panel.digits),
                number(item["soft_label"], 2),
                *([] if any_model(panel.view) else [count(item["votes"])]),
                percent(item["position_a"]),
                percent(item["position_b"]),
            ],
            room=WHOLE,
        )
        for item in entry["items"]
    ]
    places = [f"scored lower by {panel.view.short(entry[side], 20)}" for side in "ab"]
    votes = [] if any_model(panel.view) else ["votes"]
    heads = ["Item", "influence", share_title(panel), *votes, *places]
    return table("Most influential items", heads, rows)


def finding(panel: Panel, entry: Entry) -> str:
    """Say whether one item could turn the comparison."""
    items = [item for item in entry["items"] if defined(item["influence"])]
    pair = _pair(panel, entry, 40)
    if not items:
        return f"No item has a defined influence on {pair}."
    gap = panel.lead(entry["labels"], entry["a"], entry["b"]).value
    top = max(items, key=lambda item: abs(item["influence"]))
    said = (
        f"Leaving out {listing([str(top['item'])])} alone would change {pair} by about "
        f"{signed(top['influence'], panel.digits)}"
    )
    if gap is None:
        return f"{said}."
    raw = gap * panel.sign
    turning = [i for i in items if raw * (raw + i["influence"]) < 0]
    now = f"which is {signed(raw, panel.digits)} now"
    if turning:
        return f"{said}, {now}: {count(len(turning), 'item')} could each reverse the order."
    return f"{said}, {now}: no single item would reverse the order."


def overview(panel: Panel) -> Html:
    """List the most influential item of every task, for the average over tasks."""
    rows = []
    for entry in panel.view.header["influential"]:
        items = [item for item in entry["items"] if defined(item["influence"])]
        if entry["metric"] != panel.facts["name"] or not items:
            continue
        top = max(items, key=lambda item: abs(item["influence"]))
        pair = _pair(panel, entry, 20)
        cells = [shorten(str(top["item"]), WHOLE), pair, signed(top["influence"], panel.digits)]
        rows.append(row(entry["task"], cells))
    if not rows:
        said = "No items were traced for this comparison."
        if whole(panel.facts) and panel.view.header.get("hardest"):
            said += " Influence is known for metrics of ranks; see the hardest items above."
        return element("p", said, class_="finding")
    said = "Items have influence within a task; choose a task for its figure."
    heads = ["Task", "most influential item", "difference", "influence"]
    return join(
        [
            element("p", said, class_="finding"),
            table("The most influential item of every task", heads, rows),
        ]
    )
