"""Flips: the smallest sets of items or votes found that put another model first.

A row per task and kind of move: a dot at the share that the set is of all, on a logarithmic
scale, with a line down to the smallest size that is not excluded. Where no set was found, a
dashed line begins at the size up to which was searched.
"""

import math
from collections.abc import Sequence

from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import count, percent, shorten, signed
from equipoise.report.stability_charts import headed
from equipoise.report.stability_rows import Cast, Entry, Part, by, several, value
from equipoise.report.svg import NARROW, Scale, across, down, drawing, group, path, text, titled
from equipoise.report.tables import row, table

NOTE = (
    "Every other model is tried as the one that overtakes. Larger sets are found step by step, "
    "and every set that is named is checked by scoring the models anew. A number without ≤ is "
    "the smallest there is for any model, because all smaller sets were tried or a bound "
    "excludes them; with ≤ a smaller set may exist, and the line beside the dot reaches down "
    "to the smallest size that is not excluded. A dashed line begins where the search ended "
    "without a set. By the average of tasks, changes are counted in each task. Where models "
    "are level at the top, another one must pass all of them. A lead that hangs on a few items "
    "or votes is no reason to prefer a model."
)
UNITS = {
    "items": "items left out",
    "votes": "votes left out",
    "changed votes": "votes changed",
}
START, END = 104.0, 290.0
LINE, GAP, TOP = 18.0, 24.0, 20.0
DRAWN = 12  # tasks in the figure


def part(entry: Entry, cast: Cast) -> Part:
    """The section on small sets that change who is best."""
    rows: Sequence[Entry] = entry["rows"]
    if all(one.get("idle") for one in rows):
        return Part(str(entry["finding"]), empty=True)
    figure = _figure(rows, cast)
    few = len(several(rows, "task")) > DRAWN
    return Part(
        str(entry["finding"]),
        "share of all items or votes that must go, or change, before another model is first, "
        "and which" + (f"; the first {DRAWN} tasks" if few else ""),
        {} if figure is None else {"flips": figure},
        _table(rows, cast),
        NOTE,
    )


def _figure(rows: Sequence[Entry], cast: Cast) -> Html | None:
    """Draw every task with its kinds of moves, all on one scale."""
    tasks = dict(list(by([one for one in rows if not one.get("idle")], "task").items())[:DRAWN])
    least = [_least(one) for own in tasks.values() for one in own]
    most = [_reach(one) for own in tasks.values() for one in own]
    low, high = math.floor(math.log10(min(least))), math.ceil(math.log10(max(most)))
    scale = Scale(low, max(high, low + 1), START, END)
    parts, y = [], TOP
    for task, own in tasks.items():
        y += GAP
        parts.append(titled(_name(task), shorten(_name(task), 40), x=2.0, y=y - 7, class_="hd"))
        for one in own:
            parts.append(_mark(one, scale, y + LINE / 2, cast))
            y += LINE
    grid = _grid(scale, (TOP + 4, y + 4))
    said = "; ".join(
        f"{_name(task)}: " + ", ".join(f"{UNITS[str(o['unit'])]} {_size(o)}" for o in own)
        for task, own in tasks.items()
    )
    heads = [headed("share of all items or votes")]
    return drawing((NARROW, y + 40), f"Fewest changes. {said}.", *heads, grid, *parts)


def _name(task: object) -> str:
    return str(task or "all items")


def _least(one: Entry) -> float:
    """Smallest share that is not excluded."""
    return (value(one, "cleared") + 1) / max(value(one, "number"), 1)


def _reach(one: Entry) -> float:
    """Share of the set found, or up to which was searched."""
    size = value(one, "size") if one["size"] else value(one, "tried_up_to")
    return max(size / max(value(one, "number"), 1), _least(one))


def _grid(scale: Scale, ends: tuple[float, float]) -> Html:
    """Draw a line at every power of ten."""
    top, bottom = ends
    powers = range(int(scale.low), int(scale.high) + 1)
    lines = path("g", *(down(scale(power), top, bottom - top) for power in powers))
    words = [element("text", f"{100 * 10.0**power:g}%", x=scale(power)) for power in powers]
    title = text((START + END) / 2, 17, "logarithmic scale")
    return join([lines, group([*words, title], y=bottom + 15, class_="c a")])


def _mark(one: Entry, scale: Scale, y: float, cast: Cast) -> Html:
    """Draw one kind of move of one task, with who is then first."""
    least, reach = (scale(math.log10(share(one))) for share in (_least, _reach))
    parts = [text(START - 8, y + 4, UNITS[str(one["unit"])], "e a")]
    if one["size"]:
        parts.append(path("w", across(least, y, reach - least)))
        parts.append(path("d", across(reach, y)))
        bound = "" if one["smallest"] else "≤ "
        words = f"{bound}{count(one['size'])}: {cast.short(str(one['b']), 12)}"
        whole = f"{bound}{count(one['size'])}: {one['b']}"
        parts.append(titled(whole, words, x=END + 10, y=y + 4))
        return element("g", *parts, class_=cast.class_(str(one["b"])))
    parts.append(path("cv far", across(reach, y, END - reach)))
    parts.append(text(END + 10, y + 4, _size(one), "a"))
    return element("g", *parts, class_="someone")


def _table(rows: Sequence[Entry], cast: Cast) -> Html:
    """List the smallest sets found, a row per task and a column per kind of move."""
    units = several(rows, "unit")
    lines = []
    for task, own in by(rows, "task").items():
        found = {one["unit"]: one for one in own}
        cells = [_size(found[unit]) if unit in found else "" for unit in units]
        cells += [str(own[0]["a"]), signed(value(own[0], "margin"))]
        lines.append(row(_name(task), cells, room=40))
    title = cast.title([{**rows[0], "task": ""}])
    heads = ["Task", *(UNITS[str(unit)] for unit in units), "best", f"lead in {title}"]
    caption = "Smallest sets found, their share of all, and who is then first"
    return table(caption, heads, lines)


def _size(one: Entry) -> str:
    """Write the size of a set, and who is first after it."""
    if one.get("idle"):
        return str(one["idle"])
    if not one["size"]:
        return f"none up to {one['tried_up_to']}"
    bound = "" if one["smallest"] else "≤ "
    return f"{bound}{count(one['size'])} ({percent(value(one, 'share'), 1)}): {one['b']}"
