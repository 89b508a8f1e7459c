"""Histogram: how the soft labels are spread between a clear no and a clear yes.

Bars in the middle are the items on which the annotators disagree; hard labels throw that
away. The dashed line is the majority.
"""

from equipoise.report.markup import Html, coordinate
from equipoise.report.svg import Scale, at, drawing, path, text
from equipoise.report.votes import Entry

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
    return drawing((200, 104), f"Histogram of the {what}: {name}.", *parts, class_="tiny")
