"""Curves: lines and points on a plane; lines are pale but the leader, named at their ends."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from equipoise.report.page.figure import (
    CLASSES,
    Figure,
    ModelStyles,
    Plot,
    axis_numbers,
    described,
    plane,
)
from equipoise.report.page.svg import (
    LETTER,
    Html,
    Label,
    Scale,
    area,
    curve,
    dot,
    element,
    fitted,
    join,
    lines_of,
    shorten,
    spread_order,
    stretched,
    stroke,
    tick_labels,
    width,
)
from equipoise.types import Line, Lines, Names, Point, count, immutable, percent

TOP, LEAST = 20.0, 170.0
ROOM = 15  # letters of a name at the end of a line before it wraps
STEP = 13.0  # pixels from one line of a name to the next
FAR = 30.0  # how far a name may stand from its line before the plot is crowded
TOLD = 4  # lines that keep their names in a crowded plot
DOTTED = 12  # points of a line that are marked
STEPS = 12  # places on a piece of a line that names of points keep away from
FRONT = ("main", "b")  # looks of the best line and the worst
SIDE = 12.0  # pixels from a plot to the names
SHORT = 5  # letters under a tick that may reach beyond the side
HIGH = 320.0  # pixels of a plot of points alone
HALF = 400  # pixels of a plot in half a page
AROUND = 35.0  # pixels above and below a point that its name can touch
NAMED = 40  # with more points they have no names


@immutable
class _Frame:
    across: Scale
    up: Scale
    bottom: float

    def places(self, points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        """Where points stand, in per cent and pixels."""
        return [(self.across(x), self.up(y)) for x, y in points]


@immutable
class _Curve:
    """A line with the names of all lines that coincide with it, and its look."""

    line: Line
    names: Names
    tone: str
    m: int | None


def draw_lines(chart: Lines, styles: ModelStyles) -> Figure | None:
    """Lines over steps or numbers, or points; None where nothing has two places."""
    if chart.square or not chart.lines:
        return _draw_points(chart, styles)
    drawn = [line for line in chart.lines if _defined_points_of(line)]
    places = {point for line in drawn for point in _defined_points_of(line)}
    if len({x for x, _ in places}) < 2:
        return None
    curves = _curves(drawn, styles, chart.front)
    bottom = TOP + max(LEAST, min(12, len(curves)) * STEP * 1.3)
    frame = _frame(chart, drawn, bottom)
    ticks = frame.up.ticks(4)
    if chart.downward:  # ranks
        ticks = [tick for tick in ticks if tick == int(tick)]
    body = [stroke((0, frame.up(tick)), (100, frame.up(tick)), "grid") for tick in ticks]
    body += [stroke((frame.across(x), TOP), (frame.across(x), bottom), "margin")
             for x, _ in chart.marks]  # fmt: skip
    paths = [_diagonal(frame)] if chart.diagonal else []
    few = len(curves) <= 3
    paths += [_band(curve, frame) for curve in curves if few or curve.tone in ("main", "b")]
    order = sorted(curves, key=lambda curve: curve.tone not in ("pale", "out"))
    paths += [part for drawn in order for part in _paths(drawn, frame)]
    body.append(stretched(bottom, *paths))
    body += [mark for drawn in order for mark in _dots(drawn, frame)]
    points = _known_points(chart)
    body += [  # hollow; who they are stands in their titles
        element(
            "g",
            element("title", single.name),
            dot(*frame.places([(single.x, single.y)])[0], "out"),
        )
        for single in points
    ]
    labels, deep = _beneath(chart, frame)
    beside = _point_names(points, frame, taken=[curve.line for curve in curves])
    plot = Plot(join(body), bottom + deep, (*labels, *beside), described(chart))
    named = any(name for curve in curves for name in curve.names)
    names = [_names(curves, frame, bottom + deep)] if named else []
    lower = f" (lower row: {chart.bar_title})" if chart.bars and chart.bar_title else ""
    drawing = plane(chart, (axis_numbers(ticks, frame.up, bottom + deep), plot, *names))
    return replace(drawing, kind="lines" if named else "plane", axes=drawing.axes + lower)


def _known_points(chart: Lines) -> list[Point]:
    return [
        point for point in chart.points if math.isfinite(point.x) and math.isfinite(point.y)
    ]


def _draw_points(chart: Lines, styles: ModelStyles) -> Figure | None:
    """Points alone; None where they are too few to compare."""
    points = _known_points(chart)
    if len({(point.x, point.y) for point in points}) < (3 if chart.square else 2):
        return None
    frame = _plane_of_points(points, chart)
    across, up = frame.across, frame.up
    body: list[Html] = []
    if not chart.square:
        body += [stroke((across(t), 8), (across(t), HIGH), "grid") for t in across.ticks(4)]
        body += [stroke((0, up(t)), (100, up(t)), "grid") for t in up.ticks(4)]
    if chart.diagonal:
        body.append(stretched(HIGH, _diagonal(frame)))
    body += [stretched(HIGH, curve(frame.places(line.points), "curve equal"))
             for line in chart.lines]  # fmt: skip
    pair = styles.pair(point.model for point in points)
    spots = frame.places([(point.x, point.y) for point in points])
    body += [
        dot(
            *spot,
            styles.tone(point.model, pair) if point.labelled else "pale",
            title=point.name,
            m=styles.number(point.model),
        )
        for point, spot in sorted(
            zip(points, spots, strict=True), key=lambda row: row[0].labelled
        )
    ]
    few = sum(point.labelled for point in points) <= NAMED
    names = _point_names(points, frame) if few else []
    if chart.square:
        return plane(chart, (Plot(join(body), HIGH + 8, tuple(names), described(chart)),))
    ticks = fitted(tick_labels(across, across.ticks(4), HIGH + 16))
    plot = Plot(join(body), HIGH + 22, (*ticks, *names), described(chart))
    return plane(chart, (axis_numbers(up.ticks(4), up, HIGH + 22), plot))


def _plane_of_points(points: Sequence[Point], chart: Lines) -> _Frame:
    """Scales of points alone: one for both axes of a map, and the same ends for a diagonal."""
    xs, ys = [point.x for point in points], [point.y for point in points]
    if chart.diagonal:
        xs = ys = [*xs, *ys]
    spans = [max(values) - min(values) or 1e-12 for values in (xs, ys)]
    spans = [max(spans)] * 2 if chart.square else spans
    centres = [(max(values) + min(values)) / 2 for values in (xs, ys)]
    room = 0.64 if chart.lines else 0.54  # for names beyond the corners of what is drawn
    ends = [(m - room * s, m + room * s) for m, s in zip(centres, spans, strict=True)]
    return _Frame(Scale(*ends[0]), Scale(*ends[1], HIGH, 8.0), HIGH)


def _point_names(
    points: Sequence[Point], frame: _Frame, taken: Sequence[Line] = ()
) -> list[Label]:
    """Names of single marks, whole or shortened, that cover no mark, line or other name."""
    spots = frame.places([(point.x, point.y) for point in points])
    covered = [Label("o", x, y + 4) for x, y in spots]
    covered += [Label(".", x, y + 4) for line in taken for x, y in _along(line, frame)]
    named: list[Label] = []
    top = min(frame.up.start, frame.up.end)
    for point, (x, y) in zip(points, spots, strict=True):
        tries: list[Label] = []
        near = [label for label in covered if abs(label.y - y) < AROUND]
        for words in dict.fromkeys([point.name, shorten(point.name, ROOM)]):
            sides = [
                Label(words, x, y + 4, "start", 11.0),
                Label(words, x, y + 4, "end", -11.0),
                Label(words, x, y + 21),
                Label(words, x, y - 10),
            ]
            inside = [side for side in sides if side.y - 9 > top and side.y < frame.bottom - 2]
            tries += [
                label
                for side in inside
                for label in fitted([side], over=-3, taken=[*near, *named])
            ]
            if any(label.least <= HALF for label in tries):  # the whole name has room
                break
        if point.labelled and tries:
            named.append(min(tries, key=lambda label: label.least))
    return named


def _along(line: Line, frame: _Frame) -> list[tuple[float, float]]:
    """Places along a line, close enough to each other for words to notice it."""
    places = frame.places(_defined_points_of(line))
    return [
        (x + (u - x) * step / STEPS, y + (v - y) * step / STEPS)
        for (x, y), (u, v) in pairwise(places)
        for step in range(STEPS)
        if step == 0 or abs(u - x) > 2 or abs(v - y) > STEP / 2
    ]


def _defined_points_of(line: Line) -> list[tuple[float, float]]:
    points = [*line.points, *line.beyond]
    return [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]


def _curves(
    drawn: Sequence[Line], styles: ModelStyles, front: Sequence[str] = ()
) -> list[_Curve]:
    """Lines that coincide are one, with all their names."""
    alike: dict[tuple[tuple[float, float], ...], list[Line]] = {}
    for line in drawn:
        rounded = tuple((round(x, 9), round(y, 9)) for x, y in _defined_points_of(line))
        alike.setdefault(rounded, []).append(line)
    groups = list(alike.values())
    pair = styles.pair(line.model for line in drawn)
    leader = styles.leader or (drawn[0].model if not pair else "")
    curves_drawn = []
    for place, group in enumerate(groups):
        first = next((line for line in group if line.model == leader), group[0])
        if front:
            tone = _front_tone([line.name for line in group], front)
        elif first.model:
            tone = _model_tone(first, styles, pair, leader)
        else:
            tone = _plain_tone(place, len(groups))
        names = tuple(line.name for line in group if not front or tone in FRONT)
        curves_drawn.append(_Curve(first, names, tone, styles.number(first.model)))
    return curves_drawn


def _front_tone(names: Sequence[str], front: Sequence[str]) -> str:
    return next(
        (tone for tone, name in zip(FRONT, front, strict=False) if name in names), "pale"
    )


def _model_tone(line: Line, styles: ModelStyles, pair: Names, leader: str) -> str:
    if pair:
        return styles.tone(line.model, pair) or "main"
    if line.model == leader:
        return "main"
    return "out" if line.model in styles.below else "pale"


def _plain_tone(place: int, total: int) -> str:
    if total <= 2:
        return ("main", "b")[place]
    return f"k{place}" if total <= CLASSES else "pale"


def _frame(chart: Lines, drawn: Sequence[Line], bottom: float) -> _Frame:
    ys = [y for line in drawn for _, y in _defined_points_of(line)]
    bands = [place for line in drawn for place in line.band]
    ys += [end for _, *ends in bands for end in ends if math.isfinite(end)]
    ys += chart.y_range or ()
    points = _known_points(chart)
    ys += [point.y for point in points]
    xs = [x for line in drawn for x, _ in _defined_points_of(line)] + [
        point.x for point in points
    ]
    low, high = min(xs), max(xs)
    xs += [x for x, _ in chart.ticks] + [x for x, _ in chart.marks] + [*(chart.x_range or ())]
    if not (chart.logarithmic or chart.front):  # an axis does not run far beyond what it shows
        reach = 0.5 * (high - low)
        xs = [min(max(x, low - reach), high + reach) for x in xs]
    pad = 0.04 * (max(ys) - min(ys)) or 0.01
    edges = (TOP, bottom) if chart.downward else (bottom, TOP)
    across = Scale(min(xs), max(xs), 2.0, 98.0, chart.logarithmic)
    return _Frame(across, Scale(min(ys) - pad, max(ys) + pad, *edges), bottom)


def _diagonal(frame: _Frame) -> Html:
    low = max(frame.across.low, frame.up.low)
    high = min(frame.across.high, frame.up.high)
    return curve(frame.places([(low, low), (high, high)]), "curve equal")


def _band(drawn: _Curve, frame: _Frame) -> Html:
    """Shade what lies between the ends of an interval."""
    defined = [point for point in drawn.line.band if all(map(math.isfinite, point))]
    if len(defined) < 2:
        return Html("")
    there = frame.places([(x, high) for x, _, high in defined])
    back = frame.places([(x, low) for x, low, _ in reversed(defined)])
    return area([*there, *back], f"band {drawn.tone}")


def _paths(drawn: _Curve, frame: _Frame) -> list[Html]:
    places = frame.places(_defined_points_of(drawn.line))
    inner = len(_defined_points_of(replace(drawn.line, beyond=())))
    dashed = " far" if drawn.line.dashed else ""
    paths = [curve(places[:inner], f"curve {drawn.tone}{dashed}")] if inner > 1 else []
    if drawn.line.beyond and len(places) > inner:
        paths.append(curve(places[max(0, inner - 1) :], f"curve {drawn.tone} far"))
    x, y = places[-1]
    if any(drawn.names) and x < 97:  # its name stands to the right of the plot
        paths.append(curve([(x, y), (100, y)], "lead"))
    return paths


def _dots(drawn: _Curve, frame: _Frame) -> list[Html]:
    places = frame.places(_defined_points_of(replace(drawn.line, beyond=())))
    if not drawn.line.dots or drawn.tone in ("pale", "out") or len(places) > DOTTED:
        return []
    return [
        dot(x, y, {"main": ""}.get(drawn.tone, drawn.tone), size=3, m=drawn.m)
        for x, y in places
    ]


def _beneath(chart: Lines, frame: _Frame) -> tuple[tuple[Label, ...], float]:
    """Words over and under the plot, and how deep those under it reach."""
    across, bottom = frame.across, frame.bottom
    over = [Label(words, across(x), 12, class_="tick strong") for x, words in chart.marks]
    if not chart.ticks:
        labels = tick_labels(across, across.ticks(5), bottom + 16)
        return fitted([*over, *labels], over=20), 22.0
    words = [text for _, text in chart.ticks]
    total = LETTER * sum(width(text) + 1 for text in words)
    if total > 320 and max(map(width, words)) > 5:
        turned = [
            Label(words[at], across(chart.ticks[at][0]), bottom + 8, upright=True)
            for at in spread_order(len(words))
        ]
        deep = 14 + LETTER * max(map(width, words))
        rows = _bar_labels(chart, across, bottom + deep + 12)
        return fitted([*over, *turned, *rows], over=20), deep + (18 if rows else 0)
    level = [_under(words[at], across(chart.ticks[at][0]), bottom + 16)
             for at in spread_order(len(words))]  # fmt: skip
    rows = _bar_labels(chart, across, bottom + 32)
    return fitted([*over, *level, *rows], over=20), 22.0 + (16 if rows else 0)


def _under(words: str, at: float, y: float) -> Label:
    """Words under a tick; long ones begin or end at the side of the plot."""
    sides = ("start", "end") if width(words) > SHORT else ("middle", "middle")
    return Label(words, at, y, sides[0] if at < 5 else sides[1] if at > 95 else "middle")


def _bar_labels(chart: Lines, across: Scale, y: float) -> list[Label]:
    """What the bars say, as numbers under the axis."""
    write = percent if max(chart.bars, default=0.0) <= 1 else count
    return [
        Label(write(chart.bars[at]), across(chart.ticks[at][0]), y)
        for at in spread_order(min(len(chart.bars), len(chart.ticks)))
    ]


# ---- names at the ends ---------------------------------------------------------------------


def _name_lines(names: Sequence[str]) -> list[str]:
    """The names of lines that coincide, in lines of their own width."""
    if len(names) == 1:
        return lines_of(names[0], ROOM)
    lines = [line for name in names[:3] for line in lines_of(name, ROOM, 1)]
    return lines + ([f"and {len(names) - 3} more"] if len(names) > 3 else [])


def _names(curves: Sequence[_Curve], frame: _Frame, high: float) -> Plot:
    """Names beside the ends of their lines; in a crowded plot the leaders alone have one."""
    called = {
        place: _name_lines(curve.names)
        for place, curve in enumerate(curves)
        if any(curve.names)
    }
    ends = {place: frame.up(_defined_points_of(curves[place].line)[-1][1]) for place in called}
    written = _curves_with_names(curves, ends, called, frame)
    rest = [place for place in ends if place not in written]
    texts = {place: called[place] for place in written}
    if rest:
        texts[-1] = [f"{len(rest)} {'other' if len(rest) == 1 else 'others'}"]
        ends[-1] = sorted(ends[place] for place in rest)[len(rest) // 2]
    placed = _spread({place: ends[place] for place in texts}, texts, (TOP, frame.bottom))
    wide = SIDE + LETTER * max(width(text) for lines in texts.values() for text in lines) + 8
    body, labels = [], []
    for place, lines in texts.items():
        body.append(stroke((0, ends[place]), (100 * SIDE / wide, placed[place]), "lead"))
        strong = " strong" if place >= 0 and curves[place].tone == "main" else ""
        for step, text in enumerate(lines):
            y = placed[place] + 4 + STEP * (step - (len(lines) - 1) / 2)
            labels.append(Label(text, 0, y, "start", SIDE + 3, class_=f"tick plain{strong}"))
    return Plot(join(body), high, tuple(labels), wide=round(wide))


def _curves_with_names(
    curves: Sequence[_Curve],
    ends: Mapping[int, float],
    called: Mapping[int, Sequence[str]],
    frame: _Frame,
) -> list[int]:
    """Lines whose names are written: all, or of a crowd leader, highest and lowest."""
    placed = _spread(ends, called, (TOP, frame.bottom))
    tall = sum(len(lines) for lines in called.values()) * STEP
    near = max(abs(placed[place] - ends[place]) for place in ends) <= FAR
    if tall <= frame.bottom - TOP and (near or len(curves) <= TOLD + 1):
        return list(ends)
    order = sorted(ends, key=lambda place: ends[place])
    front = [place for place, curve in enumerate(curves) if curve.tone in ("main", "b", "out")]
    wanted = dict.fromkeys([*front[:TOLD], order[0], order[-1]])
    return list(wanted)[:TOLD]


def _spread(
    wanted: Mapping[int, float], texts: Mapping[int, Sequence[str]], room: tuple[float, float]
) -> dict[int, float]:
    """Move names apart so that none overlap and all stay in the room, in their order."""
    order = sorted(wanted, key=lambda place: wanted[place])
    half = {place: STEP * len(texts[place]) / 2 for place in order}
    top, bottom = room
    placed: dict[int, float] = {}
    floor = top - 6
    for place in order:
        placed[place] = max(wanted[place], floor + half[place])
        floor = placed[place] + half[place]
    ceiling = bottom + 6
    for place in reversed(order):
        placed[place] = min(placed[place], ceiling - half[place])
        ceiling = placed[place] - half[place]
    return placed
