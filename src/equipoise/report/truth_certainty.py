"""Certainty of the truth: how sure the annotations make the most plausible class.

The certainty of an item is the chance that the class that leads it really is the most
plausible one. A tall last bar is a truth to rely on; bars on the left are items that the
annotations leave open. Beside the bars the same certainties are sorted; runs of earlier
versions have no sorted line.
"""

from equipoise.report.certainty_curve import Sorted
from equipoise.report.certainty_curve import draw as draw_sorted
from equipoise.report.histogram import BOTTOM, LEFT, RIGHT, TOP, bars
from equipoise.report.markup import Html
from equipoise.report.numerals import chance, count, number, percent
from equipoise.report.svg import NARROW, Axis, Scale, down, drawing, path, text
from equipoise.report.tables import facts, row, table
from equipoise.report.votes import Entry

RARE = 0.25  # with fewer uncertain items, these are drawn once more by themselves


def draw(entry: Entry) -> list[Html]:
    """Draw the certainties of one task, and once more the uncertain ones if these are few."""
    sure = f"{entry['threshold']:g}"
    line = Sorted(entry.get("curve") or (), share_below(entry))
    rising = draw_sorted([line], entry["threshold"], entry["items"])
    drawn = [_bars(entry, ("items", sure)), *([rising] if rising else [])]
    if 0 < share_below(entry) < RARE:
        counts = entry["histogram"]["below"]
        some = {
            **entry,
            "items": entry["below"],
            "histogram": {**entry["histogram"], "counts": counts},
        }
        drawn.append(_bars(some, (f"only items below {sure}", "")))
    return drawn


def _bars(entry: Entry, names: tuple[str, str]) -> Html:
    """Draw one histogram, named at its top left and at the threshold."""
    most = max([*entry["histogram"]["counts"], 1])
    across, upward = Scale(0, 1, LEFT, RIGHT), Scale(0, most, BOTTOM, TOP)
    ticks = [tick for tick in upward.ticks(4) if tick == int(tick)]
    sure = across(entry["threshold"])
    parts = [
        Axis(across, TOP, BOTTOM, title="certainty of an item").draw(6),
        *(text(LEFT - 6, upward(tick) + 4, count(tick), "e a") for tick in ticks),
        text(2, 10, names[0], "a"),
        bars(entry, (across, upward)),
        path("ref", down(sure, TOP - 4, BOTTOM - TOP + 4)),
        text(sure, TOP - 8, names[1], "e a"),
    ]
    alternative = f"Histogram of the certainty of {count(entry['items'], 'item')}."
    return drawing((NARROW, BOTTOM + 40), alternative, *parts)


def summary(entry: Entry) -> Html:
    """List the numbers that matter."""
    least = entry["ambiguous"][0]["certainty"] if entry["ambiguous"] else None
    return facts(
        [
            ("Items", count(entry["items"])),
            ("Classes", count(entry["classes"])),
            ("Mean certainty", chance(entry["mean"], 3)),
            ("Smallest certainty", chance(least, 3)),
            (
                f"Below {entry['threshold']:g}",
                f"{count(entry['below'])} ({percent(share_below(entry))})",
            ),
        ]
    )


def share_below(entry: Entry) -> float:
    """Share of items below the threshold.

    Examples
    --------
    >>> share_below({"below": 3, "items": 12})
    0.25
    """
    return float(entry["below"] / entry["items"]) if entry["items"] else 0.0


def numbers(entry: Entry) -> Html:
    """List the bars that are not empty."""
    edges, counts = entry["histogram"]["edges"], entry["histogram"]["counts"]
    rows = [
        row(
            f"{'from' if low == 0 else 'above'} {number(low, 2)} to {number(high, 2)}",
            [count(total), percent(total / (entry["items"] or 1), 1)],
        )
        for low, high, total in zip(edges, edges[1:], counts, strict=False)
        if total
    ]
    heads = ["Certainty", "items", "share"]
    return table("Certainty of the items (empty ranges left out)", heads, rows)


def finding(entry: Entry) -> str:
    """Say for how many items the truth is open."""
    if not entry["items"]:
        return "There are no items with votes."
    sure, below, mean = entry["threshold"], entry["below"], chance(entry["mean"], 3)
    if not below:
        return (
            f"The annotations settle every item: no certainty is below {sure:g}, "
            f"the mean is {mean}."
        )
    return (
        f"For {count(below)} of {count(entry['items'], 'item')} "
        f"({percent(share_below(entry))}) the annotations leave open which class is right "
        f"(certainty below {sure:g}); the mean certainty is {mean}."
    )
