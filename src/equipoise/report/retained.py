"""Retained samples: how good a model is on what is left when its worst items are set aside.

A line per model, from all items on the left to the largest cut on the right. A line that rises
fast belongs to a model whose few worst items do most of the harm.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import finite, interval, number, numeral, percent
from equipoise.report.palette import model_class
from equipoise.report.scope import opening
from equipoise.report.svg import NARROW, Axis, Scale, at, drawing, path, text, titled
from equipoise.report.tables import figure, finding, folded, model_row, row, table
from equipoise.report.verdict import verdict
from equipoise.report.view import Panel, View

LEFT, RIGHT, TOP = 44.0, 290.0, 24.0
HIGH, LINE = 190.0, 15.0  # of the plot, and of a name
SOFT = "soft"
DRAWN = 12  # models with a line; all are in the table

Entry = Mapping[str, Any]


def body(view: View, task: int) -> Html:
    """Show the curves of a task, one figure per area asked for, or the best of every task."""
    entries = view.of_task("retained", task)
    if not entries:
        return _by_task(view)
    return join(_curves(_panel(view, entry), entry) for entry in entries)


def _panel(view: View, entry: Entry) -> Panel:
    """The task and the metric that an entry belongs to."""
    names = [metric["name"] for metric in view.header["metrics"]]
    return Panel(view, view.header["tasks"].index(entry["task"]), names.index(entry["metric"]))


def height_title(panel: Panel) -> str:
    """Name what is recomputed on the items that are left."""
    return panel.title(SOFT).removeprefix("retained-samples ")


def _curves(panel: Panel, entry: Entry) -> Html:
    """Show one area."""
    drawn = _draw(panel, entry)
    total = len(panel.order)
    few = f", best {DRAWN} of {total} models" if total > DRAWN else ""
    caption = f"{height_title(panel)} on the items that are left{few}"
    return join(
        [
            finding(sentence(panel, entry)),
            figure(caption[:1].upper() + caption[1:], drawn) if drawn else Html(""),
            folded("Numbers: retained samples", _numbers(panel, entry)),
        ]
    )


def _heights(entry: Entry, model: str) -> list[float | None]:
    """Heights of one model."""
    found = next(one["heights"] for one in entry["models"] if one["model"] == model)
    return [numeral(height) for height in found]


def _draw(panel: Panel, entry: Entry) -> Html | None:
    """Draw a line per model; None where nothing is defined."""
    lines = {
        model: [
            (100 * removed, height)
            for removed, height in zip(entry["removed"], _heights(entry, model), strict=True)
            if height is not None and finite(height)
        ]
        for model in panel.order[:DRAWN]
    }
    lines = {model: line for model, line in lines.items() if line}
    every = [height for line in lines.values() for _, height in line]
    if not every:
        return None
    high = max(HIGH, LINE * len(lines))
    margin = 0.04 * (max(every) - min(every)) or 0.01
    bottom = TOP + high
    sideways = Scale(0.0, 100 * entry["removed"][-1], LEFT, RIGHT)
    upward = Scale(min(every) - margin, max(every) + margin, bottom, TOP)
    ends = {model: upward(line[-1][1]) for model, line in lines.items()}
    names = spread(ends, (TOP, bottom))
    ticks = upward.ticks(4)
    parts = [
        Axis(sideways, TOP, bottom, title="items set aside, %").draw(4),
        path("g", *(f"M{at(LEFT, upward(tick))}H{RIGHT:g}" for tick in ticks)),
        *(text(LEFT - 5, upward(t) + 4, f"{t:.6g}".replace("-", "−"), "e a") for t in ticks),
        *(
            _line(panel, model, [(sideways(x), upward(y)) for x, y in line], names[model])
            for model, line in lines.items()
        ),
    ]
    alternative = (
        f"{height_title(panel)} of {len(lines)} models while up to "
        f"{percent(entry['removed'][-1])} of the items are set aside."
    )
    return drawing((NARROW, bottom + 40), alternative, *parts)


def _line(panel: Panel, model: str, places: list[tuple[float, float]], y: float) -> Html:
    """Draw one model and name it at the end of its line."""
    index, (x_end, y_end) = panel.view.models.index(model), places[-1]
    return element(
        "g",
        path("cv", "M" + "L".join(at(*place) for place in places)),
        path("l", f"M{at(x_end + 2, y_end)}L{at(RIGHT + 14, y)}"),
        titled(model, panel.view.short(model, 15), x=RIGHT + 18, y=y + 4),
        class_=model_class(index),
    )


def spread(wanted: Mapping[str, float], room: tuple[float, float]) -> dict[str, float]:
    """Move the names apart, as little as needed, inside of the room.

    Examples
    --------
    >>> spread({"a": 10.0, "b": 12.0, "c": 90.0}, (0.0, 100.0))
    {'a': 10.0, 'b': 25.0, 'c': 90.0}
    >>> spread({"a": 99.0, "b": 98.0}, (0.0, 100.0))
    {'b': 85.0, 'a': 100.0}
    """
    low, high = room
    placed: dict[str, float] = {}
    last = -math.inf
    for name, place in sorted(wanted.items(), key=lambda pair: pair[1]):
        placed[name] = last = max(place, low, last + LINE)
    below = high
    for name in reversed(placed):
        placed[name] = min(placed[name], below)
        below = placed[name] - LINE
    return placed


def sentence(panel: Panel, entry: Entry) -> str:
    """Say whose curve is best on average, how sure that is, and how much its worst items do."""
    found = verdict(panel, SOFT)
    title = height_title(panel)
    if not found.best:
        return f"The mean {title} over the cuts is undefined for every model."
    name, way = panel.view.listing(found.best), "highest" if panel.sign > 0 else "lowest"
    have = "has" if len(found.best) == 1 else "have"
    value = number(panel.score(SOFT, found.best[0]).value, panel.digits)
    said = f"{opening(panel)}{name} {have} the {way} {title} on average over the cuts ({value})"
    if found.close:
        said += f", but the data do not separate it from {panel.view.listing(found.close, 3)}"
    heights = _heights(entry, found.best[0])
    return f"{said}. {_change(panel, found.best, entry['removed'], heights)}"


def _change(
    panel: Panel, best: Sequence[str], removed: Sequence[float], heights: list[float | None]
) -> str:
    """Say what setting the worst items aside changes."""
    first, last = heights[0], heights[-1]
    if first is None or last is None:
        return "Its change from the first to the last cut is undefined."
    whose = "its" if len(best) == 1 else f"that of {panel.view.listing(best[:1])}"
    start, end = (number(height, panel.digits) for height in (first, last))
    way = "stays at" if start == end else "rises to" if last > first else "falls to"
    return (
        f"Without the {percent(removed[-1])} of the items on which it does worst, {whose} "
        f"score {way} {end}{'' if start == end else f' from {start}'}."
    )


def _numbers(panel: Panel, entry: Entry) -> Html:
    """List the mean over the cuts, and the height at some of them."""
    removed = entry["removed"]
    some = sorted(
        {0, len(removed) // 4, len(removed) // 2, 3 * len(removed) // 4} | {len(removed) - 1}
    )
    rows = []
    for model in panel.order:
        score, heights = panel.score(SOFT, model), _heights(entry, model)
        mean = f"{number(score.value, panel.digits)} "
        mean += interval(score.low, score.high, panel.digits)
        cells = [mean, *(number(heights[i], panel.digits) for i in some)]
        rows.append(model_row(panel.view, model, cells))
    cuts = [f"without {percent(removed[i], 0 if i in (0, some[-1]) else 1)}" for i in some]
    heads = ["Model", f"area {panel.view.level} interval", *cuts]
    return table(f"{height_title(panel)}: area and heights", heads, rows)


def _by_task(view: View) -> Html:
    """List the best area of every task."""
    rows = []
    for entry in view.header["retained"]:
        panel = _panel(view, entry)
        best = verdict(panel, SOFT).best
        value = number(panel.score(SOFT, best[0]).value, panel.digits) if best else ""
        name = view.listing(best, 2) if best else "undefined"
        rows.append(row(entry["task"], [height_title(panel), name, value]))
    said = "Curves belong to one task; choose a task for its figure."
    heads = ["Task", "on the items that are left", "best on average", "area"]
    return join([finding(said), table("Retained samples by task", heads, rows, "plain")])
