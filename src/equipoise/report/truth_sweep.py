"""Sweep over the reliability: what the truth would be like if annotations counted for more.

Nothing in the annotations says how far to trust them; the figure shows how much of the
certainty comes from that choice. The ring marks the value in use.
"""

from collections.abc import Sequence

from equipoise.report.markup import Html
from equipoise.report.numerals import count, number, percent
from equipoise.report.svg import NARROW, Scale, across, at, drawing, inside, path, text
from equipoise.report.tables import row, table
from equipoise.report.votes import Entry

LEFT, RIGHT = 52.0, 420.0
FINE = 0.2  # a narrower axis is labelled with one decimal
TOP, BOTTOM = 44.0, 190.0


def draw(sweep: Entry) -> list[Html]:
    """Draw mean certainty and share of uncertain items over the reliabilities."""
    rows, items = sweep["rows"], sweep["items"] or 1
    means = [(one["reliability"], one["mean"]) for one in rows]
    shares = [(one["reliability"], one["below"] / items) for one in rows]
    return [
        _line("mean certainty", means, sweep["used"]),
        _line("items with a certainty below 0.99", shares, sweep["used"]),
    ]


def _line(title: str, points: Sequence[tuple[float, float]], used: float) -> Html:
    """Draw one share over the reliabilities, which stand at equal distances."""
    place = Scale(0, max(len(points) - 1, 1), LEFT + 16, RIGHT)
    values = [share for _, share in points]
    low, high = _ends(values)
    upward = Scale(low, high, BOTTOM, TOP)
    digits = 1 if high - low < FINE else 0
    spots = [(place(i), upward(share)) for i, (_, share) in enumerate(points)]
    ticks = upward.ticks(4)
    steps = [("M" if i == 0 else "L") + at(x, y) for i, (x, y) in enumerate(spots)]
    chosen = [across(*spot) for spot, (r, _) in zip(spots, points, strict=True) if r == used]
    parts = [
        text(2, 12, title, "hd"),
        path("g", *(across(LEFT, upward(tick), RIGHT + 16 - LEFT) for tick in ticks)),
        *(text(LEFT - 8, upward(tick) + 4, f"{100 * tick:g}%", "e a") for tick in ticks),
        path("l mv", *steps),
        path("p", *(across(x, y) for x, y in spots)),
        path("h", *chosen),
    ]
    for (x, y), (reliability, share) in zip(spots, points, strict=True):
        shown = percent(share, digits)
        parts.append(text(inside(x, shown), y - 9, shown, "c"))
        parts.append(text(x, BOTTOM + 16, f"{reliability:g}", "c a"))
    parts.append(text((LEFT + RIGHT) / 2, BOTTOM + 34, "reliability of an annotation", "c a"))
    alternative = f"{title} over {len(points)} reliabilities; {used:g} is in use."
    return drawing((NARROW, BOTTOM + 42), alternative, *parts, class_="tinted")


def _ends(shares: Sequence[float]) -> tuple[float, float]:
    """Limits of the upright axis: from 0, or from 1 where all shares are above one half.

    Examples
    --------
    >>> _ends([0.5, 0.2]), _ends([0.9, 0.95])
    ((0.0, 0.5), (0.8, 1.0))
    """
    low, high = min(shares), max(shares)
    if low > 0.5:
        return max(0.5, round(1 - 2 * (1 - low), 12)), 1.0
    return 0.0, max(high, 0.01)


def numbers(sweep: Entry) -> Html:
    """List the reliabilities."""
    items = sweep["items"] or 1
    used = {sweep["used"]: " (in use)"}
    rows = [
        row(
            f"{one['reliability']:g}{used.get(one['reliability'], '')}",
            [number(one["mean"]), count(one["below"]), percent(one["below"] / items, 1)],
        )
        for one in sweep["rows"]
    ]
    heads = ["Reliability", "mean certainty", "items below 0.99", "share"]
    return table("Certainty by reliability", heads, rows)


def finding(sweep: Entry) -> str:
    """Say how far the choice of reliability moves the certainty."""
    first, last = sweep["rows"][0], sweep["rows"][-1]
    items = sweep["items"] or 1
    shares = first["below"] / items, last["below"] / items
    low, high = (percent(share, 1 if max(shares) < FINE else 0) for share in shares)
    ends = f"from {first['reliability']:g} to {last['reliability']:g}"
    if low == high:
        return (
            f"Trusting each annotation more changes little: with a reliability {ends}, {low} "
            "of the items stay below a certainty of 0.99."
        )
    return (
        f"How far annotations are trusted matters: with a reliability {ends}, the items with a "
        f"certainty below 0.99 go from {low} to {high}; {sweep['used']:g} is in use."
    )
