"""Charts: every kind is drawn here, once, and used by every analysis.

Every mark has its name beside it, so that nothing rests on colour alone. Names at the ends of
lines never overlap: they are moved apart, and where that would carry them too far from their
lines the leaders alone keep name and colour, and the others are grey and counted.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import Any

from equipoise.findings.charts import (
    Bar,
    Cases,
    Chart,
    Dot,
    Dots,
    Heat,
    Histogram,
    Line,
    Lines,
    Matrix,
    Point,
    Scatter,
    Slopes,
)
from equipoise.numbers import count, number, percent, rank
from equipoise.page.cells import cases_close_up, heat, matrix
from equipoise.page.lettering import distinct, shorten, unique_short_names, width
from equipoise.page.markup import Html, coordinate, element
from equipoise.page.svg import (
    LETTER,
    NARROW,
    Axis,
    ModelStyles,
    Scale,
    across,
    at,
    described,
    down,
    drawing,
    group,
    headed,
    inside,
    marker,
    path,
    spaced_ticks,
    text,
    through,
    tick_text,
    titled,
)

TOP, ROW = 30.0, 22.0
Places = Sequence[tuple[float, float]]


def draw(chart: Chart, styles: ModelStyles) -> Html | None:
    """Draw a chart; None where there is nothing to draw."""
    drawer = _DRAWERS.get(type(chart))
    return drawer(chart, styles) if drawer is not None else None


def _finite(*values: float) -> list[float]:
    return [value for value in values if math.isfinite(value)]


# ---- rows of dots --------------------------------------------------------------------------

DOTS_LABEL, DOTS_START, DOTS_END = 142.0, 148.0, 300.0
DEEP = 1e4  # the largest number over the smallest that a logarithmic axis shows


def _dots(chart: Dots, styles: ModelStyles) -> Html | None:
    scale = _dots_scale(chart)
    if scale is None:
        return None
    rows = [_above(dot, scale.low) if chart.logarithmic else dot for dot in chart.rows]
    bottom = 6 + ROW * len(rows)
    parts = [Axis(scale, 2.0, bottom, shorten(chart.axis, 44)).draw(4)]
    if chart.band:
        left, right = (scale(end) for end in chart.band)
        corners = [(left, 2.0), (right, 2.0), (right, bottom), (left, bottom)]
        parts.append(group([path("band", through(corners) + "Z")], class_="tinted"))
    for place, class_ in ((0.0 if chart.zero else None, "zero"), (chart.reference, "ref")):
        if place is not None:
            parts.append(path(class_, down(scale(place), 2.0, bottom - 2)))
    before = ""
    for row, dot in enumerate(rows):
        label = "" if dot.label == before else dot.label
        parts.append(_dot(dot, label, (scale, 4 + ROW * (row + 0.5)), styles))
        before = dot.label
    return drawing((NARROW, bottom + 38), described(chart), *parts)


def _dots_scale(chart: Dots) -> Scale | None:
    """The scale of all numbers; on a logarithmic one, of those above zero."""
    known = [x for dot in chart.rows for x in _finite(dot.value, dot.low, dot.high)]
    if not known:
        return None
    known += [0.0] if chart.zero else []
    known += [] if chart.reference is None else [chart.reference]
    known += _finite(*(chart.band or ()))
    if chart.logarithmic:
        known = [x for x in known if x > 0]
    if not known:
        return None
    if chart.logarithmic:
        low = max(min(known), max(known) / DEEP)
        return Scale(low / 1.2, 1.2 * max(known), DOTS_START, DOTS_END, logarithmic=True)
    margin = 0.04 * (max(known) - min(known)) or 0.01
    return Scale(min(known) - margin, max(known) + margin, DOTS_START, DOTS_END)


def _above(dot: Dot, least: float) -> Dot:
    """What a logarithmic axis can show of a dot: an interval from its edge, no dot at zero."""
    return replace(
        dot,
        value=dot.value if dot.value >= least else math.nan,
        low=max(dot.low, least),
        high=dot.high if dot.high >= least else math.nan,
        remark=dot.remark or (number(dot.value) if dot.value else "none"),
    )


def _dot(dot: Dot, label: str, place: tuple[Scale, float], styles: ModelStyles) -> Html:
    scale, y = place
    own = dot.label == dot.model
    short = styles.short(label, 17) if own and label else shorten(label, 17)
    parts = [titled(label, short, x=DOTS_LABEL, y=y + 4, class_="e")] if label else []
    if len(_finite(dot.low, dot.high)) == 2:
        start, end = scale(dot.low), scale(dot.high)
        parts.append(path("w", across(start, y, end - start)))
        if math.isfinite(dot.value) and not dot.low <= dot.value <= dot.high:
            near = start if dot.value < dot.low else end
            parts.append(path("w gap", across(scale(dot.value), y, near - scale(dot.value))))
    if dot.inner is not None and len(_finite(*dot.inner)) == 2:
        start, end = (scale(x) for x in dot.inner)
        parts.append(path("b", across(start, y, end - start)))
    if math.isfinite(dot.value):
        parts.append(marker((scale(dot.value), y), hollow=styles.hollow(dot.model)))
    words = " ".join(filter(None, [dot.series, dot.remark])) or number(dot.value)
    parts.append(titled(words, shorten(words, 17), x=DOTS_END + 8, y=y + 4, class_="a"))
    return element("g", *parts, class_=styles.class_(dot.model))


# ---- lines ---------------------------------------------------------------------------------

LEFT, RIGHT, HIGH = 52.0, 296.0, 190.0
STRIP = 34.0  # height of the bars under a plot
FAR = 32.0  # how far a name may stand from its line before the plot is crowded
LEADERS = 4  # lines that keep name and colour in a crowded plot
Frame = tuple[Scale, Scale]


def _lines(chart: Lines, styles: ModelStyles) -> Html | None:
    drawn = [line for line in chart.lines if _known(line)]
    if not drawn:
        return None
    bottom = TOP + max(HIGH, 15.0 * len(drawn))
    frame = _frame(chart, drawn, bottom)
    sideways, upward = frame
    ticks = upward.ticks(4)
    classes = _line_classes(drawn, styles)
    named, rest = _leaders(drawn, upward)
    slanted = _slanted(chart, sideways)
    parts = [
        headed(chart.y),
        path("g", *(across(LEFT, upward(tick), RIGHT - LEFT) for tick in ticks)),
        *(text(LEFT - 5, upward(tick) + 4, tick_text(tick), "e a") for tick in ticks),
        *_beneath(chart, sideways, bottom, slanted=slanted),
        *(_band(line, frame, classes[line.name]) for line in drawn if line.band),
        *(_grey(line, frame) for line in rest),
        *_named(named, rest, frame, classes),
        *_single_points(chart.points, frame, styles),
    ]
    if chart.diagonal:
        low = max(sideways.low, upward.low)
        high = min(sideways.high, upward.high)
        ends = [(sideways(x), upward(x)) for x in (low, high)]
        parts.insert(2, path("ref", through(ends)))
    deep = (78.0 if slanted else 38.0) + (STRIP + 26 if chart.bars else 0)
    return drawing((NARROW, bottom + deep), described(chart), *parts)


def _single_points(points: Sequence[Point], frame: Frame, styles: ModelStyles) -> list[Html]:
    """Marks beside the lines, hollow; who they are stands in their titles."""
    return [
        element(
            "g",
            element("title", one.name),
            marker((frame[0](one.x), frame[1](one.y)), hollow=True),
            class_=styles.class_(one.model, "someone"),
        )
        for one in points
        if len(_finite(one.x, one.y)) == 2
    ]


def _known(line: Line) -> list[tuple[float, float]]:
    points = [*line.points, *line.beyond]
    return [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]


def _frame(chart: Lines, drawn: Sequence[Line], bottom: float) -> Frame:
    ys = [y for line in drawn for _, y in _known(line)]
    bands = [line.band.points for line in drawn if line.band]
    ys += [end for points in bands for _, *ends in points for end in _finite(*ends)]
    ys += chart.y_range or ()
    xs = [x for line in drawn for x, _ in _known(line)] + [x for x, _ in chart.ticks]
    xs += [*(chart.x_range or ()), *(x for x, _ in chart.marks)]
    margin = 0.04 * (max(ys) - min(ys)) or 0.01
    sideways = Scale(min(xs), max(xs), LEFT + 12, RIGHT - 6, chart.logarithmic)
    edges = (TOP, bottom) if chart.downward else (bottom, TOP)
    return sideways, Scale(min(ys) - margin, max(ys) + margin, *edges)


def _line_classes(drawn: Sequence[Line], styles: ModelStyles) -> dict[str, str]:
    others = [line.name for line in drawn if line.model not in styles.models]
    return {
        line.name: styles.class_(line.model, f"s{others.index(line.name) % 10}")
        if line.name in others
        else styles.class_(line.model)
        for line in drawn
    }


def _slanted(chart: Lines, sideways: Scale) -> bool:
    """Whether the words under the axis have no room side by side."""
    places = [(sideways(x), LETTER * width(words)) for x, words in chart.ticks]
    return any(
        b - a < (wide_a + wide_b) / 2 + 4 for (a, wide_a), (b, wide_b) in pairwise(places)
    )


def _beneath(chart: Lines, sideways: Scale, bottom: float, *, slanted: bool) -> list[Html]:
    """Draw the axis under the plot, its marks and its bars."""
    ticks = chart.ticks or [
        (tick, tick_text(tick)) for tick in spaced_ticks(sideways, 5, tick_text)
    ]
    parts = []
    for x, words in ticks:
        if slanted:
            turned = f"translate({at(sideways(x) + 4, bottom + 12)}) rotate(-45)"
            parts.append(element("text", shorten(words, 14), transform=turned, class_="e a"))
        else:
            parts.append(text(sideways(x), bottom + 15, words, "c a"))
    for x, words in chart.marks:
        parts.append(path("ref", down(sideways(x), TOP, bottom - TOP)))
        parts.append(text(inside(sideways(x), words), TOP - 4, words, "c a"))
    title = shorten(chart.x, 58)
    middle = inside((LEFT + RIGHT) / 2, title)
    parts.append(
        titled(chart.x, title, x=middle, y=bottom + (74 if slanted else 32), class_="c a")
    )
    if chart.bars:
        floor = bottom + 58 + STRIP + (36 if slanted else 0)
        spots = [
            (sideways(x), bar.value) for (x, _), bar in zip(ticks, chart.bars, strict=False)
        ]
        most = max([*_finite(*(share for _, share in spots)), 1e-12])
        tall = STRIP / max(most, 1.0)
        parts.append(path("stem post", *(down(x, floor, -tall * share) for x, share in spots)))
        parts.append(path("g", across(LEFT, floor, RIGHT - LEFT)))
        parts.append(text(RIGHT + 18, floor - 12, chart.bar_title, "a"))
        parts += [
            text(
                x,
                floor - tall * share - 3,
                percent(share) if most <= 1 else count(share),
                "c a",
            )
            for x, share in spots
        ]
    return parts


def _band(line: Line, frame: Frame, class_: str) -> Html:
    """Shade what lies between the ends of an interval."""
    sideways, upward = frame
    points = line.band.points if line.band else ()
    known = [one for one in points if len(_finite(*one)) == 3]
    if len(known) < 2:
        return Html("")
    there = [(sideways(x), upward(high)) for x, _, high in known]
    back = [(sideways(x), upward(low)) for x, low, _ in reversed(known)]
    return group([path("band", through([*there, *back]) + "Z")], class_=class_)


def _end(line: Line, upward: Scale) -> float:
    return upward(_known(line)[-1][1])


def _leaders(drawn: Sequence[Line], upward: Scale) -> tuple[list[Line], list[Line]]:
    """Lines with a name, and those that are grey because names would stand too far away."""
    ends = {line.name: _end(line, upward) for line in drawn}
    placed = _spread(ends, _room(upward))
    far = max(abs(placed[name] - ends[name]) for name in ends)
    if far <= FAR or len(drawn) <= LEADERS + 1:
        return list(drawn), []
    return list(drawn[:LEADERS]), list(drawn[LEADERS:])


def _room(upward: Scale) -> tuple[float, float]:
    """Top and bottom of a plot."""
    return min(upward.start, upward.end), max(upward.start, upward.end)


def _spread(
    wanted: Mapping[str, float], room: tuple[float, float], step: float = 14.0
) -> dict[str, float]:
    """Move names apart so that none overlap and all stay in the room, in their order."""
    order = sorted(wanted, key=lambda name: wanted[name])
    top, bottom = room
    places: dict[str, float] = {}
    floor = -math.inf
    for name in order:
        places[name] = floor = max(wanted[name], floor + step, top)
    ceiling = bottom
    for name in reversed(order):
        places[name] = ceiling = min(places[name], ceiling)
        ceiling -= step
    return places


def _named(
    named: Sequence[Line],
    rest: Sequence[Line],
    frame: Frame,
    classes: Mapping[str, str],
) -> list[Html]:
    """Draw the lines that have names, the first on top, and count the others."""
    upward = frame[1]
    wanted = {line.name: _end(line, upward) for line in named}
    middle = median(_end(line, upward) for line in rest) if rest else 0.0
    if rest:
        wanted[""] = middle
    places = _spread(wanted, _room(upward))
    shorts = unique_short_names(tuple(line.name for line in named), 15)
    parts = [
        _line(line, frame, places[line.name], (classes[line.name], shorts[line.name]))
        for line in reversed(named)
    ]
    if rest:
        whole = ", ".join(line.name for line in rest)
        x = frame[0](_known(rest[0])[-1][0])
        lead = path("l", through([(x + 2, middle), (RIGHT + 12, places[""])]))
        words = titled(
            whole, count(len(rest), "other"), x=RIGHT + 16, y=places[""] + 4, class_="a"
        )
        parts.append(element("g", lead, words, class_="someone"))
    return parts


def _grey(line: Line, frame: Frame) -> Html:
    places = [(frame[0](x), frame[1](y)) for x, y in _known(line)]
    return element("g", path("cv pale", through(places)), class_="someone")


def _line(line: Line, frame: Frame, y: float, look: tuple[str, str]) -> Html:
    """Draw one line and name it at its end."""
    sideways, upward = frame
    every = [(sideways(x), upward(height)) for x, height in _known(line)]
    x_end, y_end = every[-1]
    inner = _known(replace(line, beyond=()))
    places = every[: len(inner)]
    parts = [
        path("cv far" if line.dashed else "cv", through(places)) if places else Html(""),
        path("cv far", through(every[max(0, len(inner) - 1) :])) if line.beyond else Html(""),
        path("o small", *(across(*place) for place in places)) if line.dots else Html(""),
        path("l", through([(x_end + 2, y_end), (RIGHT + 12, y)])),
        titled(line.name, look[1], x=RIGHT + 16, y=y + 4),
    ]
    return element("g", *parts, class_=look[0])


# ---- bars, points, slopes ------------------------------------------------------------------


def _histogram(chart: Histogram, styles: ModelStyles) -> Html | None:
    bars = [bar for bar in chart.bars if math.isfinite(bar.value)]
    most = max((bar.value for bar in bars), default=0.0)
    if most <= 0:
        return None
    left, right, top, bottom = 44.0, 428.0, TOP, 180.0
    upward = Scale(0, most, bottom, top)
    ends = [x for bar in bars if bar.ends for x in bar.ends]
    sideways = Scale(min(ends), max(ends), left, right) if ends else None
    step = (right - left) / len(bars)
    whole = all(bar.value == int(bar.value) for bar in bars)
    ticks = [tick for tick in upward.ticks(4) if not whole or tick == int(tick)]
    parts = [
        headed(chart.y),
        path("g", *(across(left, upward(tick), right - left) for tick in ticks)),
        *(
            text(left - 6, upward(t) + 4, count(t) if whole else tick_text(t), "e a")
            for t in ticks
        ),
    ]
    for place, bar in enumerate(bars):
        if bar.ends and sideways:
            start, end = (sideways(x) for x in bar.ends)
        else:
            start, end = left + place * step, left + (place + 1) * step
        parts.append(_bar(bar, (start, end), upward, styles))
    if sideways:
        parts.append(Axis(sideways, bottom, bottom, chart.x).draw(6))
        near = _crowded([(sideways(x), words) for x, words in chart.marks])
        for place, (x, words) in enumerate(chart.marks):
            spot = sideways(x)
            parts.append(path("ref", down(spot, top - 4, bottom - top + 4)))
            if near:  # one word to the left of its line, the next to the right
                last = place == len(chart.marks) - 1
                parts.append(
                    text(spot + (3 if last else -3), top - 8, words, "a" if last else "e a")
                )
            else:
                parts.append(text(inside(spot, words), top - 8, words, "c a"))
    else:
        parts += _bar_names([bar.label for bar in bars], (left, step, bottom))
        parts.append(text((left + right) / 2, bottom + 70, shorten(chart.x, 58), "c a"))
    return drawing((NARROW, bottom + (40 if sideways else 78)), described(chart), *parts)


def _crowded(marks: Sequence[tuple[float, str]]) -> bool:
    """Whether the words of two marks would lie over each other."""
    if len(marks) != 2:
        return False
    (a, first), (b, second) = sorted(marks)
    return b - a < LETTER * (width(first) + width(second)) / 2 + 4


def _bar(bar: Bar, ends: tuple[float, float], upward: Scale, styles: ModelStyles) -> Html:
    if not bar.value:
        return Html("")
    start, end = ends
    y = min(upward(bar.value), upward(0) - 1.5)
    floor, wide = coordinate(upward(0)), coordinate(max(end - start - 2, 1.0))
    shape = f"M{at(start + 1, upward(0))}V{coordinate(y)}h{wide}V{floor}z"
    own = styles.class_(bar.model, "")
    return element("path", class_=f"own {own}" if own else "bars", d=shape)


def _bar_names(labels: Sequence[str], place: tuple[float, float, float]) -> list[Html]:
    left, step, bottom = place
    if all(LETTER * width(label) < step for label in labels):
        return [
            text(left + (i + 0.5) * step, bottom + 15, label, "c a")
            for i, label in enumerate(labels)
        ]
    return [
        element(
            "text", short, class_="e a",
            transform=f"translate({at(left + (i + 0.5) * step + 4, bottom + 12)}) rotate(-45)",
        )
        for i, short in enumerate(distinct(labels, 10))
    ]  # fmt: skip


SIDE, EDGE = 330.0, 26.0
NAMED = 40  # with more points they have no names


def _scatter(chart: Scatter, styles: ModelStyles) -> Html | None:
    points = [one for one in chart.points if len(_finite(one.x, one.y)) == 2]
    if not points:
        return None
    xs, ys = [one.x for one in points], [one.y for one in points]
    spans = [max(max(v) - min(v), 1e-12) for v in (xs, ys)]
    if chart.square or chart.diagonal:
        spans = [max(spans)] * 2
    middles = [(max(v) + min(v)) / 2 for v in (xs, ys)]
    if chart.diagonal:
        middles = [sum(middles) / 2] * 2
        spans = [max(*xs, *ys) - min(*xs, *ys) or 1e-12] * 2
    left = EDGE if chart.square else LEFT
    right = Scale(middles[0] - spans[0] / 2, middles[0] + spans[0] / 2, left, NARROW - 60)
    upward = Scale(middles[1] - spans[1] / 2, middles[1] + spans[1] / 2, SIDE - EDGE, EDGE + 10)
    if chart.square:
        side = min(right.end - right.start, upward.start - upward.end)
        right = Scale(right.low, right.high, left, left + side)
        upward = Scale(upward.low, upward.high, SIDE - EDGE, SIDE - EDGE - side)
    spots = [(right(one.x), upward(one.y)) for one in points]
    parts = [
        group([marker(spot, hollow=styles.hollow(one.model))], class_=styles.class_(one.model))
        for one, spot in zip(points, spots, strict=True)
    ]
    if chart.diagonal:
        ends = [(right(x), upward(x)) for x in (right.low, right.high)]
        parts.insert(0, path("ref", through(ends)))
    if not chart.square:
        ticks = upward.ticks(4)
        axis = Axis(right, EDGE, SIDE - EDGE + 8, chart.x).draw(5)
        grid = [text(left - 8, upward(t) + 4, tick_text(t), "e a") for t in ticks]
        parts = [headed(chart.y), axis, *grid, *parts]
    if len(points) <= NAMED:
        parts += _beside([one.name for one in points], spots)
    frame = element(
        "rect", x=1.0, y=18.0, width=NARROW - 2.0, height=SIDE - 20, class_="frame-line"
    )
    inner = [frame] if chart.square else []
    return drawing(
        (NARROW, SIDE + (0 if chart.square else 24)), described(chart), *inner, *parts
    )


def _beside(names: Sequence[str], spots: Places) -> list[Html]:
    """Name each point so that its name covers neither a point nor another name.

    Tried in turn: right, left, below, above; a name without a free place is left to its title.
    """
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in spots]
    shorts = unique_short_names(tuple(names), 14)
    parts = []
    for name, (x, y) in zip(names, spots, strict=True):
        wide = LETTER * width(shorts[name])
        tries = [
            (x + 8, y + 4, "", x + 6), (x - 8, y + 4, "e", x - 6 - wide),
            (x, y + 18, "c", x - wide / 2), (x, y - 9, "c", x - wide / 2),
        ]  # fmt: skip
        for px, py, side, start in tries:
            box = (start, py - 9, start + wide, py + 3)
            if (
                box[0] > 2
                and box[2] < NARROW - 2
                and box[3] < SIDE
                and not _covered(box, taken)
            ):
                taken.append(box)
                class_ = f"{side} a".strip()
                parts.append(titled(name, shorts[name], x=px, y=py, class_=class_))
                break
    return parts


def _covered(box: Sequence[float], taken: Sequence[Sequence[float]]) -> bool:
    return any(
        box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
        for other in taken
    )


def _ranked(row: tuple[str, float, float], own: int) -> tuple[float, float]:
    left, right = (place if math.isfinite(place) else math.inf for place in row[1:])
    return (left, right) if own == 1 else (right, left)


def _slopes(chart: Slopes, styles: ModelStyles) -> Html | None:
    """Models stand at their place in each order; ties keep the order of the other side."""
    rows = [row for row in chart.rows if _finite(row[1], row[2])]
    if len(rows) < 2:
        return None
    left, right, top = 152.0, 288.0, 38.0

    def heights(own: int) -> dict[str, float]:
        order = sorted(rows, key=lambda row: _ranked(row, own))
        return {row[0]: top + ROW * (place + 0.5) for place, row in enumerate(order)}

    before, after = heights(1), heights(2)
    parts = [
        text(left - 11, 14, chart.left, "hd e"),
        text(right + 11, 14, chart.right, "hd"),
    ]
    for model, first, last in rows:
        ends = [(left, before[model]), (right, after[model])]
        known = [math.isfinite(place) for place in (first, last)]
        own: list[Html] = []
        if all(known):
            half = (left + right) / 2
            (x0, y0), (x1, y1) = ends
            curve = f"M{at(x0, y0)}C{at(half, y0)},{at(half, y1)},{at(x1, y1)}"
            own.append(path("l" if first == last else "l mv", curve))
        for (x, y), here, place, way in zip(ends, known, (first, last), (-1, 1), strict=True):
            anchor = "e" if way < 0 else ""
            if here:
                own.append(marker((x, y), hollow=styles.hollow(model)))
            words = rank(place) if here else "–"
            own.append(text(x + way * 11, y + 4, words, anchor))
            short = styles.short(model, 14)
            own.append(titled(model, short, x=x + way * 40, y=y + 4, class_=anchor or None))
        parts.append(element("g", *own, class_=styles.class_(model)))
    return drawing((NARROW, top + ROW * len(rows) + 8), described(chart), *parts)


_DRAWERS: Mapping[type, Callable[[Any, ModelStyles], Html | None]] = {
    Dots: _dots,
    Lines: _lines,
    Heat: heat,
    Matrix: matrix,
    Histogram: _histogram,
    Scatter: _scatter,
    Slopes: _slopes,
    Cases: cases_close_up,
}
