"""Charts that several analyses share: rows of dots with intervals, and lines with a band.

Every mark has its name beside it, so that nothing rests on colour alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.report.markup import Html, element
from equipoise.report.numerals import finite, percent, shorten
from equipoise.report.retained import spread
from equipoise.report.svg import (
    NARROW,
    Axis,
    Scale,
    across,
    at,
    down,
    drawing,
    group,
    path,
    text,
    titled,
)

LABEL, START, END = 138.0, 148.0, 296.0
LINE, TOP = 22.0, 30.0
LEFT, RIGHT, HIGH = 52.0, 296.0, 190.0
NAMES = 15  # letters of a name at the end of a line
HEAD = 52  # letters of the head of a drawing
STRIP = 34.0  # height of the bars under a plot
Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Dot:
    """A row: a name, a value with its interval, and words on the right."""

    name: str
    short: str
    value: float
    low: float
    high: float
    words: str = ""
    class_: str = "tinted"


@dataclass(frozen=True, slots=True)
class Rows:
    """What surrounds rows of dots.

    Attributes
    ----------
    zero
        Whether a line marks zero; `bars` then start from it.
    band
        A range to shade, from low to high.
    ends
        Least width of the axis; it grows to hold every row.
    """

    head: str
    title: str
    alternative: str
    zero: bool = False
    bars: bool = False
    band: tuple[float, float] | None = None
    ends: tuple[float, ...] = ()


def headed(words: str) -> Html:
    """Head a drawing; long words are shortened, the whole in the title."""
    return titled(words, shorten(words, HEAD), x=2.0, y=12.0, class_="hd")


def dot_rows(rows: Rows, dots: Sequence[Dot]) -> Html | None:
    """Draw a row per dot; None where nothing can be drawn."""
    known = [n for dot in dots for n in (dot.value, dot.low, dot.high) if finite(n)]
    if not known:
        return None
    known += [*rows.ends, *(rows.band or ()), *([0.0] if rows.zero or rows.bars else [])]
    margin = 0.04 * (max(known) - min(known)) or 0.01
    low = min(known) - (0 if rows.bars else margin)
    scale = Scale(low, max(known) + margin, START, END)
    bottom = TOP + LINE * len(dots) + 4
    parts = [headed(rows.head)]
    if rows.band:
        left, right = (scale(end) for end in rows.band)
        parts.append(
            element("rect", x=left, y=TOP - 6, width=max(right - left, 1.0),
                    height=bottom - TOP + 6, class_="range")
        )  # fmt: skip
    parts.append(Axis(scale, TOP - 6, bottom, shorten(rows.title, 44)).draw(4))
    if rows.zero:
        parts.append(path("zero", down(scale(0.0), TOP - 6, bottom - TOP + 6)))
    parts += [
        _row(dot, scale, TOP + LINE * (place + 0.5), bars=rows.bars)
        for place, dot in enumerate(dots)
    ]
    return drawing((NARROW, bottom + 38), rows.alternative, *parts)


def _row(dot: Dot, scale: Scale, y: float, *, bars: bool) -> Html:
    """Draw one row."""
    parts = [titled(dot.name, dot.short, x=LABEL, y=y + 4, class_="e")]
    if bars and finite(dot.value):
        parts.append(path("b wide-bar", across(START, y, scale(dot.value) - START)))
    if finite(dot.low) and finite(dot.high):
        parts.append(path("w", across(scale(dot.low), y, scale(dot.high) - scale(dot.low))))
    if finite(dot.value):
        parts.append(path("d", across(scale(dot.value), y)))
    parts.append(text(END + 8, y + 4, dot.words, "a"))
    return element("g", *parts, class_=dot.class_)


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its name, a dashed part beyond the data, and perhaps a band around it."""

    name: str
    short: str
    class_: str
    points: Points
    beyond: Points = ()
    band: tuple[tuple[float, float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Plot:
    """What surrounds lines.

    Attributes
    ----------
    ticks
        Places along the axis with their words; `slanted` turns the words.
    bars
        A share from 0 to 1 at each place, drawn in a strip under the plot.
    here
        A place to mark with an upright line.
    down
        Whether small values are at the top, as for ranks.
    """

    head: str
    title: str
    alternative: str
    ticks: tuple[tuple[float, str], ...]
    bars: Points = ()
    bar_title: str = ""
    here: float | None = None
    slanted: bool = False
    down: bool = False


def curves(plot: Plot, lines: Sequence[Line]) -> Html | None:
    """Draw a line per model, named at its end; None where nothing can be drawn."""
    drawn = [line for line in lines if line.points]
    every = [y for line in drawn for _, y in (*line.points, *line.beyond)]
    every += [end for line in drawn for _, *ends in line.band for end in ends if finite(end)]
    if not every:
        return None
    bottom = TOP + max(HIGH, 15.0 * len(drawn))
    margin = 0.04 * (max(every) - min(every)) or 0.01
    edges = (TOP, bottom) if plot.down else (bottom, TOP)
    upward = Scale(min(every) - margin, max(every) + margin, *edges)
    places = [x for x, _ in plot.ticks]
    places += [x for line in drawn for x, _ in (*line.points, *line.beyond)]
    sideways = Scale(min(places), max(places), LEFT + (24 if plot.slanted else 12), RIGHT - 6)
    ticks = [tick for tick in upward.ticks(4) if not plot.down or tick == int(tick)]
    ends = {line.name: upward((line.beyond or line.points)[-1][1]) for line in drawn}
    names = spread(ends, (TOP, bottom))
    parts = [
        headed(plot.head),
        path("g", *(across(LEFT, upward(tick), RIGHT - LEFT) for tick in ticks)),
        *(text(LEFT - 5, upward(t) + 4, f"{t:.6g}".replace("-", "−"), "e a") for t in ticks),
        *_beneath(plot, sideways, bottom),
        *(_band(line, sideways, upward) for line in drawn if line.band),
        *(_line(line, sideways, upward, names[line.name]) for line in drawn),
    ]
    deep = 78.0 if plot.slanted else 38.0
    size = NARROW, bottom + deep + (STRIP + 26 if plot.bars else 0)
    return drawing(size, plot.alternative, *parts)


def _beneath(plot: Plot, sideways: Scale, bottom: float) -> list[Html]:
    """Draw the axis under the plot, its mark and its bars."""
    parts = []
    for x, words in plot.ticks:
        if plot.slanted:
            turned = f"translate({at(sideways(x) + 4, bottom + 12)}) rotate(-45)"
            parts.append(element("text", shorten(words, 14), transform=turned, class_="e a"))
        else:
            parts.append(text(sideways(x), bottom + 15, words, "c a"))
    if plot.here is not None:
        parts.append(path("ref", down(sideways(plot.here), TOP, bottom - TOP)))
    middle = (LEFT + RIGHT) / 2
    parts.append(text(middle, bottom + (74 if plot.slanted else 32), plot.title, "c a"))
    if plot.bars:
        floor = bottom + 58 + STRIP
        steps = [down(sideways(x), floor, -STRIP * share) for x, share in plot.bars]
        parts.append(path("stem post", *steps))
        parts.append(path("g", across(LEFT, floor, RIGHT - LEFT)))
        parts.append(text(RIGHT + 18, floor - 12, plot.bar_title, "a"))
        parts += [
            text(sideways(x), floor - STRIP * share - 3, percent(share), "c a")
            for x, share in plot.bars
        ]
    return parts


def _band(line: Line, sideways: Scale, upward: Scale) -> Html:
    """Shade what lies between the ends of an interval."""
    known = [one for one in line.band if all(math.isfinite(part) for part in one)]
    if len(known) < 2:
        return Html("")
    there = [at(sideways(x), upward(high)) for x, _, high in known]
    back = [at(sideways(x), upward(low)) for x, low, _ in reversed(known)]
    return group([path("band", f"M{'L'.join([*there, *back])}Z")], class_=line.class_)


def _line(line: Line, sideways: Scale, upward: Scale, y: float) -> Html:
    """Draw one line and name it at its end."""
    places = [(sideways(x), upward(height)) for x, height in line.points]
    beyond = [(sideways(x), upward(height)) for x, height in line.beyond]
    x_end, y_end = (beyond or places)[-1]
    parts = [
        path("cv", "M" + "L".join(at(*place) for place in places)),
        path("o small", *(across(*place) for place in places)),
        path("l", f"M{at(x_end + 2, y_end)}L{at(RIGHT + 12, y)}"),
        titled(line.name, line.short, x=RIGHT + 16, y=y + 4),
    ]
    if beyond:
        steps = "L".join(at(*place) for place in [places[-1], *beyond])
        parts.insert(1, path("cv far", f"M{steps}"))
    return element("g", *parts, class_=line.class_)
