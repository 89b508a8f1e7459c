"""Charts that several analyses share: lines with a band, beside the rows of dots.

Every mark has its name beside it, so that nothing rests on colour alone. Names at the ends of
lines never overlap: they are moved apart, and where that would carry them too far from their
lines the leaders alone keep name and colour, and the others are grey and counted.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from equipoise.report.markup import Html, coordinate, element
from equipoise.report.numerals import finite, percent, shorten
from equipoise.report.retained import spread
from equipoise.report.stability_dots import Dot, Rows, dot_rows, headed
from equipoise.report.svg import (
    NARROW,
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

__all__ = ["NAMES", "Dot", "Line", "Plot", "Rows", "curves", "dot_rows", "headed", "joined"]
TOP = 30.0
LEFT, RIGHT, HIGH = 52.0, 296.0, 190.0
NAMES = 15  # letters of a name at the end of a line
STRIP = 34.0  # height of the bars under a plot
FAR = 32.0  # how far a name may stand from its line before the plot is crowded
LEAST = 14.0  # height of the words of a tick
LEADERS = 4  # lines that keep name and colour in a crowded plot
Points = tuple[tuple[float, float], ...]


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
    lead
        Names of lines that keep name and colour where the plot is crowded; without them the
        first lines do.
    held
        For values that change in steps: ``from`` where one holds from its place to the next,
        ``until`` where it holds from the place before; else lines run straight.
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
    lead: tuple[str, ...] = ()
    held: str = ""


def curves(plot: Plot, lines: Sequence[Line]) -> Html | None:
    """Draw a line per model, named at its end; None where nothing can be drawn."""
    drawn = [line for line in lines if line.points]
    every = [y for line in drawn for _, y in (*line.points, *line.beyond)]
    every += [end for line in drawn for _, *ends in line.band for end in ends if finite(end)]
    if not every:
        return None
    bottom = TOP + max(HIGH, 15.0 * len(drawn))
    every += [1.0] if plot.down else []
    margin = 0.04 * (max(every) - min(every)) or 0.01
    edges = (TOP, bottom) if plot.down else (bottom, TOP)
    upward = Scale(min(every) - margin, max(every) + margin, *edges)
    places = [x for x, _ in plot.ticks]
    places += [x for line in drawn for x, _ in (*line.points, *line.beyond)]
    sideways = Scale(min(places), max(places), LEFT + (24 if plot.slanted else 12), RIGHT - 6)
    ticks = _ranks(max(every), bottom - TOP) if plot.down else upward.ticks(4)
    named, rest = _leaders(plot, drawn, upward)
    frame = sideways, upward
    parts = [
        headed(plot.head),
        path("g", *(across(LEFT, upward(tick), RIGHT - LEFT) for tick in ticks)),
        *(text(LEFT - 5, upward(t) + 4, f"{t:.6g}".replace("-", "−"), "e a") for t in ticks),
        *_beneath(plot, sideways, bottom),
        *(_band(line, sideways, upward) for line in drawn if line.band),
        *(_grey(line, frame, plot.held) for line in rest),
        *_named(named, rest, frame, plot.held),
    ]
    deep = 78.0 if plot.slanted else 38.0
    size = NARROW, bottom + deep + (STRIP + 26 if plot.bars else 0)
    return drawing(size, plot.alternative, *parts)


def _ranks(last: float, high: float) -> list[float]:
    """Ranks along an axis, from 1, as many as have room.

    Examples
    --------
    >>> _ranks(4.0, 190.0), _ranks(24.5, 190.0)
    ([1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0, 17.0, 19.0, 21.0, 23.0])
    """
    step = math.ceil(last * LEAST / high)
    return [float(place) for place in range(1, math.floor(last) + 1, step)]


def joined(places: Sequence[tuple[float, float]], held: str = "") -> str:
    """Path through places, straight or in steps.

    Examples
    --------
    >>> [joined([(0.0, 1.0), (5.0, 2.0)], held) for held in ("", "from", "until")]
    ['M0,1L5,2', 'M0,1H5V2', 'M0,1V2H5']
    """
    if not held:
        return "M" + "L".join(at(*place) for place in places)
    steps = [f"M{at(*places[0])}"]
    for x, y in places[1:]:
        moves = f"H{coordinate(x)}", f"V{coordinate(y)}"
        steps += moves if held == "from" else moves[::-1]
    return "".join(steps)


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


def _end(line: Line, upward: Scale) -> float:
    """Height at which a line ends."""
    return upward((line.beyond or line.points)[-1][1])


def _leaders(plot: Plot, drawn: Sequence[Line], upward: Scale) -> tuple[list[Line], list[Line]]:
    """Lines with a name, and those that are grey because names would stand too far away."""
    ends = {line.name: _end(line, upward) for line in drawn}
    placed = spread(ends, _room(upward))
    far = max(abs(placed[name] - ends[name]) for name in ends)
    if far <= FAR or len(drawn) <= LEADERS + 1:
        return list(drawn), []
    known = [one.name for one in drawn if one.name in plot.lead]
    lead = set(known or [one.name for one in drawn[:LEADERS]])
    return [one for one in drawn if one.name in lead], [
        one for one in drawn if one.name not in lead
    ]


def _room(upward: Scale) -> tuple[float, float]:
    """Top and bottom of a plot."""
    return min(upward.start, upward.end), max(upward.start, upward.end)


def _named(
    named: Sequence[Line], rest: Sequence[Line], frame: tuple[Scale, Scale], held: str
) -> list[Html]:
    """Draw the lines that have names, the first on top, and count the others."""
    upward = frame[1]
    wanted = {line.name: _end(line, upward) for line in named}
    if rest:
        wanted[""] = middle = median(_end(line, upward) for line in rest)
    places = spread(wanted, _room(upward))
    parts = [_line(line, frame, places[line.name], held) for line in reversed(named)]
    if rest:
        whole = ", ".join(line.name for line in rest)
        words = f"{len(rest)} other{'s' * (len(rest) > 1)}"
        x = frame[0]((rest[0].beyond or rest[0].points)[-1][0])
        parts.append(
            element(
                "g", path("l", f"M{at(x + 2, middle)}L{at(RIGHT + 12, places[''])}"),
                titled(whole, words, x=RIGHT + 16, y=places[""] + 4, class_="a"),
                class_="someone",
            )
        )  # fmt: skip
    return parts


def _grey(line: Line, frame: tuple[Scale, Scale], held: str) -> Html:
    """Draw a line that has no name of its own."""
    places = [(frame[0](x), frame[1](y)) for x, y in (*line.points, *line.beyond)]
    return element("g", path("cv pale", joined(places, held)), class_="someone")


def _line(line: Line, frame: tuple[Scale, Scale], y: float, held: str) -> Html:
    """Draw one line and name it at its end."""
    sideways, upward = frame
    places = [(sideways(x), upward(height)) for x, height in line.points]
    beyond = [(sideways(x), upward(height)) for x, height in line.beyond]
    x_end, y_end = (beyond or places)[-1]
    parts = [
        path("cv", joined(places, held)),
        path("o small", *(across(*place) for place in places)),
        path("l", f"M{at(x_end + 2, y_end)}L{at(RIGHT + 12, y)}"),
        titled(line.name, line.short, x=RIGHT + 16, y=y + 4),
    ]
    if beyond:
        parts.insert(1, path("cv far", joined([places[-1], *beyond])))
    return element("g", *parts, class_=line.class_)
