"""Curves: lines over steps or numbers, all pale but the leader, with names at their ends."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from equipoise.report.page.figure import (
    Figure,
    FigureRow,
    Plot,
    Rows,
    axis_numbers,
    axis_titles,
    described,
)
from equipoise.report.page.palette import CLASSES, ModelStyles
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
from equipoise.types.findings.charts import Line, Lines, Point
from equipoise.types.numbers import count, percent

TOP, LEAST = 20.0, 170.0
ROOM = 15  # letters of a name at the end of a line before it wraps
STEP = 13.0  # pixels from one line of a name to the next
FAR = 30.0  # how far a name may stand from its line before the plot is crowded
TOLD = 4  # lines that keep their names in a crowded plot
DOTTED = 12  # points of a line that are marked
STEPS = 12  # places on a piece of a line that names of points keep away from
FRONT = ("main", "b")  # looks of the best line and the worst
EDGE = 70.0  # per cent across beyond which names stand in the corner
SIDE = 12.0  # pixels from a plot to the names


@dataclass(frozen=True, slots=True)
class _Frame:
    across: Scale
    up: Scale
    bottom: float

    def places(self, points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        """Where points stand, in per cent and pixels."""
        return [(self.across(x), self.up(y)) for x, y in points]


@dataclass(frozen=True, slots=True)
class _Curve:
    """A line with the names of all lines that coincide with it, and its look."""

    line: Line
    names: tuple[str, ...]
    tone: str
    m: int | None


def draw_lines(chart: Lines, styles: ModelStyles) -> Figure | None:
    """Lines over steps or numbers; None where no line has two points."""
    drawn = [line for line in chart.lines if _known(line)]
    places = {point for line in drawn for point in _known(line)}
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
    paths += [_band(one, frame) for one in curves if few or one.tone in ("main", "b")]
    order = sorted(curves, key=lambda one: one.tone not in ("pale", "out"))
    paths += [part for one in order for part in _paths(one, frame, lead=not chart.front)]
    body.append(stretched(bottom, *paths))
    body += [mark for one in order for mark in _dots(one, frame)]
    points = _known_points(chart)
    body += [  # hollow; who they are stands in their titles
        element("g", element("title", one.name), dot(*frame.places([(one.x, one.y)])[0], "out"))
        for one in points
    ]
    labels, deep = _beneath(chart, frame)
    beside = _point_names(points, frame, [one.line for one in curves])
    beside += _front_names(curves, frame) if chart.front else []
    plot = Plot(join(body), bottom + deep, (*labels, *beside), described(chart))
    named = not chart.front and any(name for one in curves for name in one.names)
    names = [_names(curves, frame, bottom + deep)] if named else []
    axes = axis_titles(chart.x, chart.y)
    if chart.bars and chart.bar_title:
        axes += f" (lower row: {chart.bar_title})"
    row = FigureRow((axis_numbers(ticks, frame.up, bottom + deep), plot, *names))
    return Rows(
        kind="lines" if named else "plane", rows=(row,), alternative=described(chart), axes=axes
    )


def _known_points(chart: Lines) -> list[Point]:
    return [one for one in chart.points if math.isfinite(one.x) and math.isfinite(one.y)]


def _point_names(points: Sequence[Point], frame: _Frame, lines: Sequence[Line]) -> list[Label]:
    """Names of single marks, where they cover neither a mark, a line nor another name."""
    spots = frame.places([(one.x, one.y) for one in points])
    taken = [Label("o", x, y + 4) for x, y in spots]
    taken += [Label(".", x, y + 4) for line in lines for x, y in _along(line, frame)]
    named: list[Label] = []
    for one, (x, y) in zip(points, spots, strict=True):
        words = shorten(one.name, ROOM)
        sides = [
            Label(words, x, y + 4, "start", 8.0),
            Label(words, x, y + 4, "end", -8.0),
            Label(words, x, y + 17),
            Label(words, x, y - 9),
        ]
        inside = [side for side in sides if side.y - 9 > TOP and side.y < frame.bottom - 2]
        tries = [
            made for side in inside for made in fitted([side], over=-2, taken=[*taken, *named])
        ]
        if one.labelled and tries:
            named.append(min(tries, key=lambda label: label.least))
    return named


def _along(line: Line, frame: _Frame) -> list[tuple[float, float]]:
    """Places along a line, close enough to each other for words to notice it."""
    every = frame.places(_known(line))
    return [
        (x + (u - x) * step / STEPS, y + (v - y) * step / STEPS)
        for (x, y), (u, v) in pairwise(every)
        for step in range(STEPS)
        if step == 0 or abs(u - x) > 2 or abs(v - y) > STEP / 2
    ]


def _known(line: Line) -> list[tuple[float, float]]:
    points = [*line.points, *line.beyond]
    return [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]


def _curves(
    drawn: Sequence[Line], styles: ModelStyles, front: Sequence[str] = ()
) -> list[_Curve]:
    """Lines that coincide are one, with all their names."""
    alike: dict[tuple[tuple[float, float], ...], list[Line]] = {}
    for line in drawn:
        rounded = tuple((round(x, 9), round(y, 9)) for x, y in _known(line))
        alike.setdefault(rounded, []).append(line)
    groups = list(alike.values())
    pair = styles.pair(line.model for line in drawn)
    leader = styles.leader or (drawn[0].model if not pair else "")
    made = []
    for place, group in enumerate(groups):
        first = next((line for line in group if line.model == leader), group[0])
        if front:
            tone = _front_tone([line.name for line in group], front)
        elif first.model:
            tone = _model_tone(first, styles, pair, leader)
        else:
            tone = _plain_tone(place, len(groups))
        names = tuple(line.name for line in group)
        made.append(_Curve(first, names, tone, styles.number(first.model)))
    return made


def _front_tone(names: Sequence[str], front: Sequence[str]) -> str:
    return next(
        (tone for tone, name in zip(FRONT, front, strict=False) if name in names), "pale"
    )


def _front_names(curves: Sequence[_Curve], frame: _Frame) -> list[Label]:
    """Names of the best line and the worst, at their ends or in the corner above these."""
    front = sorted((one for one in curves if one.tone in FRONT), key=lambda one: -len(one.tone))
    ends = [frame.places(_known(one.line))[-1] for one in front]
    corner = any(x > EDGE for x, _ in ends)
    labels: list[Label] = []
    for k, (one, (x, y)) in enumerate(zip(front, ends, strict=True)):
        class_ = "tick plain strong" if one.tone == FRONT[0] else "tick plain"
        said = shorten(one.names[0], 2 * ROOM)
        if corner:
            look = "dashed" if one.tone == FRONT[1] else "blue"
            labels.append(
                Label(f"{look}: {said}", 98, TOP + STEP * (k + 1), "end", 0.0, class_)
            )
            continue
        y = y + 4 if all(abs(label.y - y - 4) >= STEP for label in labels) else y + 4 + STEP
        labels.append(Label(said, x, y, "start", 5.0, class_))
    return labels


def _model_tone(line: Line, styles: ModelStyles, pair: tuple[str, ...], leader: str) -> str:
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
    ys = [y for line in drawn for _, y in _known(line)]
    bands = [line.band.points for line in drawn if line.band]
    ys += [end for points in bands for _, *ends in points for end in ends if math.isfinite(end)]
    ys += chart.y_range or ()
    points = _known_points(chart)
    ys += [one.y for one in points]
    xs = [x for line in drawn for x, _ in _known(line)] + [one.x for one in points]
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


def _band(one: _Curve, frame: _Frame) -> Html:
    """Shade what lies between the ends of an interval."""
    points = one.line.band.points if one.line.band else ()
    known = [point for point in points if all(map(math.isfinite, point))]
    if len(known) < 2:
        return Html("")
    there = frame.places([(x, high) for x, _, high in known])
    back = frame.places([(x, low) for x, low, _ in reversed(known)])
    return area([*there, *back], f"band {one.tone}")


def _paths(one: _Curve, frame: _Frame, *, lead: bool = True) -> list[Html]:
    every = frame.places(_known(one.line))
    inner = len(_known(replace(one.line, beyond=())))
    dashed = " far" if one.line.dashed else ""
    made = [curve(every[:inner], f"curve {one.tone}{dashed}")] if inner > 1 else []
    if one.line.beyond and len(every) > inner:
        made.append(curve(every[max(0, inner - 1) :], f"curve {one.tone} far"))
    x, y = every[-1]
    if lead and x < 97:  # its name stands to the right of the plot
        made.append(curve([(x, y), (100, y)], "lead"))
    return made


def _dots(one: _Curve, frame: _Frame) -> list[Html]:
    places = frame.places(_known(replace(one.line, beyond=())))
    if not one.line.dots or one.tone in ("pale", "out") or len(places) > DOTTED:
        return []
    return [dot(x, y, {"main": ""}.get(one.tone, one.tone), size=3, m=one.m) for x, y in places]


def _beneath(chart: Lines, frame: _Frame) -> tuple[tuple[Label, ...], float]:
    """Words over and under the plot, and how deep those under it reach."""
    across, bottom = frame.across, frame.bottom
    over = [Label(words, across(x), 12, class_="tick strong") for x, words in chart.marks]
    if not chart.ticks:
        labels = tick_labels(across, across.ticks(5), bottom + 16)
        return fitted([*over, *labels], over=20), 22.0
    words = [said for _, said in chart.ticks]
    total = LETTER * sum(width(said) + 1 for said in words)
    if total > 320 and max(map(width, words)) > 5:
        turned = [
            Label(words[at], across(chart.ticks[at][0]), bottom + 8, upright=True)
            for at in spread_order(len(words))
        ]
        deep = 14 + LETTER * max(map(width, words))
        rows = _bar_labels(chart, across, bottom + deep + 12)
        return fitted([*over, *turned, *rows], over=20), deep + (18 if rows else 0)
    level = [Label(words[at], across(chart.ticks[at][0]), bottom + 16)
             for at in spread_order(len(words))]  # fmt: skip
    rows = _bar_labels(chart, across, bottom + 32)
    return fitted([*over, *level, *rows], over=20), 22.0 + (16 if rows else 0)


def _bar_labels(chart: Lines, across: Scale, y: float) -> list[Label]:
    """What the bars say, as numbers under the axis."""
    values = [bar.value for bar in chart.bars]
    write = percent if max(values, default=0.0) <= 1 else count
    return [
        Label(write(values[at]), across(chart.ticks[at][0]), y)
        for at in spread_order(min(len(values), len(chart.ticks)))
    ]


# ---- names at the ends ---------------------------------------------------------------------


def _called(names: Sequence[str]) -> list[str]:
    """The names of lines that coincide, in lines of their own width."""
    if len(names) == 1:
        return lines_of(names[0], ROOM)
    said = [line for name in names[:3] for line in lines_of(name, ROOM, 1)]
    return said + ([f"and {len(names) - 3} more"] if len(names) > 3 else [])


def _names(curves: Sequence[_Curve], frame: _Frame, high: float) -> Plot:
    """Names beside the ends of their lines; in a crowded plot the leaders alone have one."""
    called = {place: _called(one.names) for place, one in enumerate(curves) if any(one.names)}
    ends = {place: frame.up(_known(curves[place].line)[-1][1]) for place in called}
    told = _told(curves, ends, called, frame)
    rest = [place for place in ends if place not in told]
    texts = {place: called[place] for place in told}
    if rest:
        texts[-1] = [f"{len(rest)} {'other' if len(rest) == 1 else 'others'}"]
        ends[-1] = sorted(ends[place] for place in rest)[len(rest) // 2]
    placed = _spread({place: ends[place] for place in texts}, texts, (TOP, frame.bottom))
    wide = SIDE + LETTER * max(width(said) for lines in texts.values() for said in lines) + 8
    body, labels = [], []
    for place, lines in texts.items():
        body.append(stroke((0, ends[place]), (100 * SIDE / wide, placed[place]), "lead"))
        strong = " strong" if place >= 0 and curves[place].tone == "main" else ""
        for step, said in enumerate(lines):
            y = placed[place] + 4 + STEP * (step - (len(lines) - 1) / 2)
            labels.append(Label(said, 0, y, "start", SIDE + 3, class_=f"tick plain{strong}"))
    return Plot(join(body), high, tuple(labels), wide=round(wide))


def _told(
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
    front = [place for place, one in enumerate(curves) if one.tone in ("main", "b", "out")]
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
