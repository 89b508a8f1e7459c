"""Charts: every kind is drawn here, in `curves` or `votes`, once, and used by every analysis.

Nothing is drawn that says nothing: fewer than two distinct points, a single bar, curves that
coincide (one line has all their names). Names stand beside their marks.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np

from equipoise.report.page.curves import draw_lines
from equipoise.report.page.figure import (
    LEVELS,
    CellGrid,
    Figure,
    FigureRow,
    ModelStyles,
    Plot,
    Rows,
    Square,
    Words,
    described,
)
from equipoise.report.page.svg import (
    Html,
    Label,
    Scale,
    box,
    dot,
    fitted,
    interval,
    join,
    middle,
    stroke,
    tick_labels,
    upright,
    width,
)
from equipoise.report.page.votes import strips
from equipoise.types import (
    EXACT,
    UNDEFINED,
    Chart,
    Dot,
    Dots,
    Heat,
    Lines,
    Names,
    Pairs,
    Standing,
    Standings,
    Strips,
    change,
    number,
    resample_share,
)

DEEP = 1e4  # the largest number over the smallest that a logarithmic axis shows
TALL, DENSE = 28.0, 22.0  # rows, and rows of which there are many
MANY = 24


def draw(chart: Chart, styles: ModelStyles) -> Figure | None:
    """Draw a chart; None where there is nothing to draw, or nothing that it would say."""
    drawer = _DRAWERS.get(type(chart))
    return drawer(chart, styles) if drawer else None


def _finite(*values: float) -> list[float]:
    return [value for value in values if math.isfinite(value)]


# ---- rows of dots --------------------------------------------------------------------------


def _dots(chart: Dots, styles: ModelStyles) -> Figure | None:
    scale = _dots_scale(chart)
    if scale is None:
        return None
    rows = [_above_least(row, scale.low) if chart.logarithmic else row for row in chart.rows]
    groups = [list(group) for _, group in groupby(rows, key=lambda row: row.label)]
    by_model = all(row.label == row.model for row in rows)
    pair = () if by_model else styles.pair(row.model for row in rows)
    ticks = scale.ticks(4)
    lines = [upright(scale(tick)) for tick in ticks] + _fixed_lines(chart, scale)
    high = TALL if len(rows) <= MANY else DENSE
    lines_drawn = [_dots_head(chart, scale, ticks)]
    for group in groups:
        ranged = any(_finite(row.low, row.high) for row in group)
        shared = len(group) > 1 and not ranged and not any(row.series for row in group)
        for part in [group] if shared else [[row] for row in group]:
            drawn = middle(*_marks(part, scale, styles, pair))
            description = f"{part[0].label}: {_dots_description(part, signed=chart.zero)}"
            plot = Plot(join([*lines, drawn]), high, label=description)
            name = Words(part[0].label if part[0] is group[0] else "")
            remark = _remark(part, signed=chart.zero, named=len(group) > 1 and not shared)
            last = (
                group is groups[-1]
                and not shared
                and any(len(rows_of_label) > 1 for rows_of_label in groups)
            )
            total = "total" if last and len(group) == 1 else ""
            lines_drawn.append(
                FigureRow((name, plot, remark), total, m=styles.number(part[0].model))
            )
    return Rows(
        kind="dots", rows=tuple(lines_drawn), alternative=described(chart), axes=chart.axis,
        key=tuple(zip(("dot", "dot b"), pair, strict=False)) or _series_key(rows),
    )  # fmt: skip


def _series_key(rows: Sequence[Dot]) -> Pairs:
    """Which mark is which series, where a second one has a mark of its own."""
    if not any(_is_second_series(row) for row in rows):
        return ()
    return (("dot b", next(row.series for row in rows if _is_second_series(row))),)


def _is_second_series(row: Dot) -> bool:
    return bool(row.series) and not row.model and not _finite(row.low, row.high)


def _dots_scale(chart: Dots) -> Scale | None:
    """The scale of all numbers; on a logarithmic one, of those above zero."""
    numbers = [x for row in chart.rows for x in _finite(row.value, row.low, row.high)]
    if not numbers:
        return None
    numbers += [0.0] if chart.zero else []
    numbers += [] if chart.reference is None else [chart.reference]
    numbers += _margin(chart)
    if chart.logarithmic:
        numbers = [x for x in numbers if x > 0]
    if len(set(numbers)) < 2:
        return None
    if chart.logarithmic:
        low = max(min(numbers), max(numbers) / DEEP)
        return Scale(low / 1.2, 1.2 * max(numbers), logarithmic=True)
    pad = 0.03 * (max(numbers) - min(numbers))
    return Scale(
        min(numbers) - pad, max(numbers) + (pad if max(numbers) or not chart.zero else 0)
    )


def _margin(chart: Dots) -> list[float]:
    """Where the margin stands: on the side of zero on which the values are."""
    if chart.margin is None:
        return []
    above = sum(row.value > 0 for row in chart.rows) > len(chart.rows) / 2
    return [abs(chart.margin) if above else -abs(chart.margin)]


def _fixed_lines(chart: Dots, scale: Scale) -> list[Html]:
    """The zone that is good enough, and lines at zero, at the margin and at a reference."""
    drawn = []
    for margin in _margin(chart):
        low, high = sorted((scale(margin), scale(0.0)))
        drawn += [box(low, high, 0, 0, "zone"), upright(scale(margin), "margin")]
    if chart.reference is not None:
        drawn.append(upright(scale(chart.reference), "margin"))
    if chart.zero:
        drawn.append(upright(scale(0.0), "base"))
    return drawn


def _dots_head(chart: Dots, scale: Scale, ticks: Sequence[float]) -> FigureRow:
    """Ticks above the rows, over them what zero and the margin mean."""
    titles = []
    if chart.zero_title:
        at = scale(0.0)
        side = "end" if at > 70 else "start" if at < 30 else "middle"
        titles.append(Label(chart.zero_title, at, 11, side, class_="tick strong"))
    for margin in _margin(chart):
        words = f"margin {abs(margin):g}"
        titles.append(Label(words, scale(margin), 11, class_="tick strong"))
    low = 27.0 if titles else 12.0
    labels = fitted([*titles, *tick_labels(scale, ticks, low)], over=24)
    marks = [stroke((scale(t), low + 4), (scale(t), low + 8), "grid") for t in ticks]
    return FigureRow((Words(""), Plot(join(marks), low + 8, labels), Words("")), "head")


def _above_least(row: Dot, least: float) -> Dot:
    """What a logarithmic axis can show of a dot: an interval from its edge, no dot at zero."""
    return replace(
        row,
        value=row.value if row.value >= least else math.nan,
        low=max(row.low, least),
        high=row.high if row.high >= least else math.nan,
        remark=row.remark or (number(row.value) if row.value else "none"),
    )


def _marks(part: Sequence[Dot], scale: Scale, styles: ModelStyles, pair: Names) -> list[Html]:
    """Intervals and dots of one row; of several dots their reach."""
    drawn = []
    values = _finite(*(row.value for row in part))
    if len(part) > 1 and values:
        drawn.append(stroke((scale(min(values)), 0), (scale(max(values)), 0), "reach"))
    for row in reversed(part):
        tone = "out" if row.hollow else styles.tone(row.model, pair)
        tone = "b" if _is_second_series(row) else tone
        ends = _finite(row.low, row.high)
        if len(ends) == 2:
            drawn.append(interval((scale(ends[0]), scale(ends[1])), 0, tone))
            if math.isfinite(row.value) and not ends[0] <= row.value <= ends[1]:
                near = ends[0] if row.value < ends[0] else ends[1]
                drawn.append(stroke((scale(row.value), 0), (scale(near), 0), "reach far"))
        if math.isfinite(row.value):
            many = len(part) > 1
            tip = f"{row.model or row.label} {number(row.value)}" if many else ""
            drawn.append(
                dot(scale(row.value), 0, f"{tone} see" if many and not tone else tone,
                    size=3.5 if many else 4.5, title=tip, m=styles.number(row.model))
            )  # fmt: skip
    return drawn


def _remark(part: Sequence[Dot], *, signed: bool, named: bool) -> Words:
    first = next((row for row in part if row.remark), part[0])
    write = change if signed else number
    words_of_row = first.remark or (write(first.value) if len(part) == 1 else "")
    which = first.series or (first.model if named and first.model != words_of_row else "")
    words = " ".join(filter(None, [which, words_of_row]))
    below = first.hollow and len(part) == 1
    return Words(f"▾ {words}" if below else words, "num", strong=first.strong)


def _dots_description(part: Sequence[Dot], *, signed: bool) -> str:
    write = change if signed else number
    if len(part) > 1:
        values = _finite(*(value_row.value for value_row in part))
        return f"{write(min(values))} to {write(max(values))}" if values else write(math.nan)
    (row,) = part
    ends = _finite(row.low, row.high)
    return write(row.value) + (
        f", {write(ends[0])} to {write(ends[1])}" if len(ends) > 1 else ""
    )


STEPS = (0.05, 0.15, 0.30, 0.50)  # where the next darker colour begins
SHARES = ("under 5%", "5–14", "15–29", "30–49", "50 or more")
SHARE_KEY = tuple((f"h{step}", words) for step, words in enumerate(SHARES))
NUMBERED = 14  # with more cells in a row there is no room for numbers
MARK = "●"  # of a cell that stands out without one


# ---- standings -----------------------------------------------------------------------------


def standings(chart: Standings, styles: ModelStyles) -> CellGrid | None:
    """Models by tasks: filled in the best group, ▾ below it, bold highest, = same scores."""
    if not chart.models:
        return None
    ends = sorted(x for pair in chart.intervals for x in pair if math.isfinite(x))
    scale = Scale(ends[0], ends[-1], 3.0, 97.0) if len(set(ends)) > 1 else None
    ticks = scale.ticks(2) if scale else []
    rows = []
    for place, (model, cells) in enumerate(zip(chart.models, chart.cells, strict=True)):
        squares = [_standing(cell) for cell in cells]
        if scale:
            first, plot = cells[0], _whisker(cells[0], chart.intervals[place], scale, ticks)
            class_ = f"{squares[0].class_} first"
            squares[0] = replace(squares[0], class_=class_, same=first.same, plot=plot)
        rows.append((model, tuple(squares), styles.number(model)))
    head = None
    if scale:
        labels = fitted(tick_labels(scale, ticks, 12), over=14)
        head = Plot(Html(""), 16.0, labels)
    foot = []
    if any(math.isfinite(x) for x in chart.known_to):
        typical, *others = (_known_to(half) for half in chart.known_to)
        if scale and typical.text != UNDEFINED:
            at = min(50.0, scale(ends[0] + chart.known_to[0]) - scale(ends[0]))
            bracket = Plot(interval((50 - at, 50 + at), 12, "out"), 24.0)
            typical = replace(typical, class_="first", plot=bracket)
        foot.append(("a value is known to", (typical, *others)))
    foot += [(title, tuple(Square(text) for text in texts)) for title, texts in chart.foot]
    return CellGrid(
        kind="standings", corner="Model", heads=tuple(chart.columns), rows=tuple(rows),
        foot=tuple(foot), head_plot=head, alternative=described(chart),
        key=_standings_key(chart), upright=len(chart.columns) > 8,
    )  # fmt: skip


def _standing(cell: Standing) -> Square:
    if math.isnan(cell.value):
        return Square(UNDEFINED, "none")
    if not cell.judged:
        return Square(number(cell.value), "open", cell.best, same=cell.same)
    return Square(
        number(cell.value), "in" if cell.inside else "out", cell.best,
        "" if cell.inside else "below the best group", not cell.inside, cell.same,
    )  # fmt: skip


def _whisker(
    cell: Standing, ends: tuple[float, float], scale: Scale, ticks: Sequence[float]
) -> Plot | None:
    if not all(map(math.isfinite, (cell.value, *ends))):
        return None
    tone = "out" if _below(cell) else ""
    low, high = (scale(end) for end in ends)
    marks = middle(interval((low, high), 0, tone, caps=False), dot(scale(cell.value), 0, tone))
    words = f"interval {number(ends[0])} to {number(ends[1])}"
    body = join([*(upright(scale(tick), "grid on") for tick in ticks), marks])
    return Plot(body, 24.0, label=words)


def _known_to(half: float) -> Square:
    return Square(f"±{number(half, 2)}" if math.isfinite(half) else UNDEFINED)


def _below(cell: Standing) -> bool:
    return cell.judged and not cell.inside


def _standings_key(chart: Standings) -> Pairs:
    cells_shown = [cell for cells in chart.cells for cell in cells]
    named = chart.metric.lower() in chart.caption.lower()
    key = [] if named else [("", f"{chart.metric}.")]
    if any(cell.judged for cell in cells_shown):
        key.append(("tint", "filled: not below any other model"))
    if any(_below(cell) for cell in cells_shown):
        key.append(("", "▾ plain: below at least one"))
    if any(cell.best for cell in cells_shown):
        key.append(("", f"bold: {chart.bold}"))
    if any(cell.same for cell in cells_shown):
        key.append(("", "= the same scores as another model, item by item"))
    return tuple(key)


# ---- heat maps -----------------------------------------------------------------------------


def heat(chart: Heat, styles: ModelStyles) -> CellGrid | None:
    """Cells of rows and columns, coloured by a share or by a signed number, with the scale."""
    values = np.asarray(chart.values, dtype=float)
    defined = values[np.isfinite(values)]
    if defined.size < 2:
        return None
    signed = chart.scale == "signed"
    most = float(np.abs(defined).max(initial=0.0)) or 1.0 if signed else 1.0
    small = len(chart.columns) <= NUMBERED
    rows = []
    for i, name in enumerate(chart.rows):
        cells = []
        for j, value in enumerate(values[i].tolist()):
            words = chart.texts[i][j] if chart.texts else _words(value, signed=signed)
            strong = chart.strong is not None and bool(chart.strong[i, j])
            shown = words if small else MARK * strong
            tone = _tone(value, most, signed=signed)
            tip = "" if small else f"{name}, {chart.columns[j]}: {words}"
            defined_cell = Square(shown, tone, strong, tip)
            cells.append(defined_cell if math.isfinite(value) else Square("", tone))
        rows.append((name, tuple(cells), styles.number(name) if chart.row_models else None))
    total = len(chart.columns)  # heads that have no room above their columns in half a page
    upward = total > 20 or 7 * max(map(width, chart.columns)) * total > 400
    beside = f"{chart.y} by {chart.x}" if chart.x and chart.y else chart.x or chart.y
    key = _signed_key(most) if signed else SHARE_KEY
    if chart.strong is not None:
        key = (*key, ("", f"{'bold' if small else MARK}: {chart.strong_title}"))
    return CellGrid(
        kind="heat", corner=chart.x, heads=tuple(chart.columns), rows=tuple(rows),
        alternative=described(chart), upright=upward,
        axes=beside if chart.y else "", key=key,
    )  # fmt: skip


def _words(value: float, *, signed: bool) -> str:
    if not math.isfinite(value):
        return UNDEFINED
    if signed:
        return change(value)
    return resample_share(value).rstrip("%") if value >= STEPS[0] else ""


def _tone(value: float, most: float, *, signed: bool) -> str:
    if not math.isfinite(value):
        return "none"
    return _lead(value, most) if signed else f"h{bisect_right(STEPS, value)}"


def _lead(value: float, most: float) -> str:
    """Blue ahead and amber behind, darker further from zero."""
    if abs(value) <= EXACT:
        return "none"
    step = int(min(LEVELS - 1, LEVELS * abs(value) / most))
    return f"{'a' if value > 0 else 'b'}{step}"


def _signed_key(most: float) -> Pairs:
    """The scale from the largest loss to the largest gain."""
    tones = [f"b{step}" for step in reversed(range(LEVELS))] + [
        f"a{step}" for step in range(LEVELS)
    ]
    words = [""] * len(tones)
    words[0], words[-1] = change(-most), change(most)
    words[LEVELS - 1] = "0"
    return tuple(zip(tones, words, strict=True))


_DRAWERS: Mapping[type, Callable[[Any, ModelStyles], Figure | None]] = {
    Dots: _dots,
    Lines: draw_lines,
    Heat: heat,
    Standings: standings,
    Strips: lambda chart, _: strips(chart),
}
