"""Sorted certainty: items from the least to the most certain, and how many fall short.

A line that stays low for long is a truth that the annotations leave open. The dashed line is
the threshold below which an item counts as uncertain; where the first line crosses it stands
the share of such items. More reliabilities are more lines, told apart by their dashes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.report.markup import Html, element
from equipoise.report.numerals import count, percent
from equipoise.report.svg import NARROW, Axis, Scale, across, at, down, drawing, path, text

LEFT, RIGHT = 44.0, 428.0
TOP, BOTTOM = 36.0, 200.0
DASHES = ("", "far", "gap")


@dataclass(frozen=True, slots=True)
class Sorted:
    """A line: points (share of items, certainty), the share below the threshold, a name."""

    points: Sequence[Sequence[float]]
    below: float
    name: str = ""


def draw(lines: Sequence[Sorted], threshold: float, items: int) -> Html | None:
    """Draw up to three lines; None where there is no item."""
    known = [line for line in lines if line.points][: len(DASHES)]
    if not known:
        return None
    least = min(float(line.points[0][1]) for line in known)
    right = Scale(0, 100, LEFT, RIGHT)
    upward = Scale(min(0.9, int(10 * least) / 10), 1, BOTTOM, TOP)
    ticks = upward.ticks(5)
    below = right(100 * known[0].below)
    parts = [
        text(2, 12, "certainty", "hd"),
        path("g", *(across(LEFT, upward(tick), RIGHT - LEFT) for tick in ticks)),
        *(text(LEFT - 6, upward(tick) + 4, f"{tick:g}", "e a") for tick in ticks),
        Axis(right, BOTTOM, BOTTOM, "% of the items, from the least certain").draw(5),
        path("ref", across(LEFT, upward(threshold), RIGHT - LEFT)),
        path("zero", down(below, TOP - 4, 14)),
        *_said(known[0], below, threshold),
        *(
            _line(line, dash, (right, upward))
            for line, dash in zip(known, DASHES, strict=False)
        ),
        *(_key(known, threshold) if len(known) > 1 else ()),
    ]
    alternative = (
        f"Certainty of {count(items, 'item')}, sorted: {percent(known[0].below)} are below "
        f"{threshold:g}."
    )
    return drawing((NARROW, BOTTOM + 40), alternative, *parts)


def _said(line: Sorted, x: float, threshold: float) -> list[Html]:
    """Write the share of uncertain items at the place where the line crosses."""
    words = f"{percent(line.below)} below {threshold:g}"
    left = x > (LEFT + RIGHT) / 2
    return [text(x + (-5 if left else 5), TOP - 6, words, "e" if left else "")]


def _line(line: Sorted, dash: str, frame: tuple[Scale, Scale]) -> Html:
    """Draw one line; the first is the strongest."""
    right, upward = frame
    steps = "L".join(at(right(100 * share), upward(height)) for share, height in line.points)
    return element("g", path(f"cv {dash}".strip(), f"M{steps}"),
                   class_="someone" if dash else "tinted")  # fmt: skip


def _key(lines: Sequence[Sorted], threshold: float) -> list[Html]:
    """Name the lines in the corner under them, which no line reaches."""
    parts, high = [], 17.0
    top = BOTTOM - high * len(lines) - 2
    for place, (line, dash) in enumerate(zip(lines, DASHES, strict=False)):
        y = top + high * (place + 0.5)
        sample = path(f"cv {dash}".strip(), across(RIGHT - 216, y, 26))
        words = f"{line.name}: {percent(line.below)} below {threshold:g}"
        parts.append(
            element("g", sample, text(RIGHT - 184, y + 4, words, "a"),
                    class_="someone" if dash else "tinted")
        )  # fmt: skip
    return parts
