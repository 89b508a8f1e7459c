"""Rows of dots: a name, a value with its interval, and words on the right."""

from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.report.lettering import width
from equipoise.report.markup import Html, element
from equipoise.report.numerals import finite, shorten
from equipoise.report.svg import NARROW, Axis, Scale, across, down, drawing, path, text, titled

LABEL, START, END = 142.0, 148.0, 284.0
LINE, TOP = 22.0, 30.0
NAME, BROAD = 20, 17  # letters of a name, and columns where some are broad
HEAD = 52  # letters of the head of a drawing


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
    short = dot.short if len(dot.short) <= NAME else shorten(dot.short, NAME)
    if width(short) > len(short) + 2:
        short = shorten(short, BROAD)
    parts = [titled(dot.name, short, x=LABEL, y=y + 4, class_="e")]
    if bars and finite(dot.value):
        parts.append(path("b wide-bar", across(START, y, scale(dot.value) - START)))
    if finite(dot.low) and finite(dot.high):
        parts.append(path("w", across(scale(dot.low), y, scale(dot.high) - scale(dot.low))))
    if finite(dot.value):
        parts.append(path("d", across(scale(dot.value), y)))
    parts.append(text(END + 8, y + 4, dot.words, "a"))
    return element("g", *parts, class_=dot.class_)
