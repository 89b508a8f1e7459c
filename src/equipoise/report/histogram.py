"""Histogram: how the soft labels are spread between a clear no and a clear yes.

Bars in the middle are the items on which the annotators disagree; hard labels throw that
away. The dashed line is the majority.
"""

from equipoise.report.markup import Html, coordinate
from equipoise.report.numerals import count, number, percent
from equipoise.report.svg import NARROW, Axis, Scale, at, down, drawing, path, text
from equipoise.report.tables import facts, row, table
from equipoise.report.votes import (
    Entry,
    axis,
    disputed,
    from_model,
    open_words,
    several,
)

LEFT, RIGHT = 44.0, 428.0
TOP, BOTTOM = 20.0, 170.0


def bars(entry: Entry, frame: tuple[Scale, Scale]) -> Html:
    """Draw the bars of one histogram."""
    across, upward = frame
    edges, counts = entry["histogram"]["edges"], entry["histogram"]["counts"]
    d, floor = "", coordinate(upward(0))
    for low, high, total in zip(edges, edges[1:], counts, strict=False):
        if total:
            x, y = across(low) + 1, min(upward(total), upward(0) - 1.5)
            wide = across(high) - across(low) - 2
            d += f"M{at(x, upward(0))}V{coordinate(y)}h{coordinate(wide)}V{floor}z"
    return path("bars", d)


def draw(entry: Entry) -> Html:
    """Draw the soft labels of one task."""
    counts = entry["histogram"]["counts"]
    most = max([*counts, 1])
    across, upward = Scale(0, 1, LEFT, RIGHT), Scale(0, most, BOTTOM, TOP)
    ticks = [tick for tick in upward.ticks(4) if tick == int(tick)]
    parts = [
        Axis(across, TOP, BOTTOM, title=axis(entry)).draw(6),
        *(text(LEFT - 6, upward(tick) + 4, count(tick), "e a") for tick in ticks),
        text(2, 10, "items", "a"),
        bars(entry, (across, upward)),
        path("ref", down(across(0.5), TOP - 4, BOTTOM - TOP + 4)),
        text(across(0.5), TOP - 8, "one half" if from_model(entry) else "majority", "c a"),
    ]
    alternative = f"Histogram of the {axis(entry)} of {count(entry['items'], 'item')}."
    return drawing((NARROW, BOTTOM + 40), alternative, *parts)


def small(entry: Entry, name: str, what: str = "") -> Html:
    """Draw a small histogram for the overview of all tasks."""
    most = max([*entry["histogram"]["counts"], 1])
    frame = Scale(0, 1, 4, 196), Scale(0, most, 84, 22)
    parts = [
        text(4, 12, name, "hd"),
        bars(entry, frame),
        path("g", "M4,84h192"),
        text(4, 98, "0", "a"),
        text(100, 98, "0.5", "c a"),
        text(196, 98, "1", "e a"),
    ]
    return drawing(
        (200, 104), f"Histogram of the {what or axis(entry)}: {name}.", *parts, class_="tiny"
    )


def contested(entry: Entry) -> int:
    """Count items whose soft label is above a quarter and at most three quarters.

    With several classes, those whose leading class has at most three quarters.

    Examples
    --------
    >>> drawn = {"edges": [0, 0.25, 0.75, 1], "counts": [5, 2, 1]}
    >>> contested({"histogram": drawn}), contested({"histogram": drawn, "classes": ["a", "b"]})
    (2, 7)
    """
    start = 0.0 if several(entry) else 0.25
    edges, counts = entry["histogram"]["edges"], entry["histogram"]["counts"]
    inside = (
        total
        for low, high, total in zip(edges, edges[1:], counts, strict=False)
        if low >= start - 1e-9 and high <= 0.75 + 1e-9
    )
    return int(sum(inside))


def summary(entry: Entry) -> Html:
    """List what the votes, or the plausibilities, amount to."""
    low, middle, high = entry["votes_per_item"]
    each = count(middle) if low == high else f"{count(middle)} ({count(low)} to {count(high)})"
    items = entry["items"] or 1
    modelled = from_model(entry)
    majority, mean = heads(choice=several(entry), modelled=modelled)
    votes = [("Votes", count(entry["votes"])), ("Votes per item", each)]
    return facts(
        [
            ("Items", count(entry["items"])),
            *([] if modelled else votes),
            (f"{majority[:1].upper()}{majority[1:]}", _part(entry["positives_hard"], items)),
            (f"{mean[:1].upper()}{mean[1:]}", number(entry["mean_soft"])),
            ("Certain" if modelled else "Unanimous", _part(entry["unanimous"], items)),
        ]
    )


def heads(*, choice: bool, modelled: bool = False) -> tuple[str, str]:
    """Name the majority count and the mean, of a choice among classes or a yes/no question."""
    if modelled:
        first = "items with a class above one half" if choice else "positive above one half"
        return first, f"mean plausibility of the {'leading' if choice else 'positive'} class"
    if choice:
        return "items with a majority class", "mean share of the leading class"
    return "positive by majority", "mean soft label"


def _part(total: int | None, items: int) -> str:
    """Write a count and its share."""
    return count(total) if total is None else f"{count(total)} ({percent(total / items)})"


def numbers(entry: Entry) -> Html:
    """List the bars that are not empty."""
    edges, counts = entry["histogram"]["edges"], entry["histogram"]["counts"]
    rows = [
        row(
            f"{'from' if low == 0 else 'above'} {number(low, 2)} to {number(high, 2)}",
            [count(total)],
        )
        for low, high, total in zip(edges, edges[1:], counts, strict=False)
        if total
    ]
    title = f"{axis(entry)[:1].upper()}{axis(entry)[1:]}"
    return table(f"{title} (empty ranges left out)", [title, "items"], rows)


def finding(entry: Entry) -> str:
    """Say how many items the annotators agree on, and how many they dispute."""
    items = entry["items"]
    if not items:
        return "There are no items with votes."
    middle = contested(entry)
    how = disputed(entry)
    if from_model(entry):
        return (
            f"The truth comes from a model: by the mean of its draws, on {count(middle)} of "
            f"{count(items, 'item')} ({percent(middle / items)}) {how}.{open_words(entry)}"
        )
    return (
        f"The votes are unanimous on {count(entry['unanimous'])} of {count(items, 'item')} "
        f"({percent((entry['unanimous'] or 0) / items)}); on {count(middle)} "
        f"({percent(middle / items)}) {how}.{open_words(entry)}"
    )
