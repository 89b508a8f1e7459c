"""Cells: standings of models, and heat maps with their scales."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from equipoise.report.page.figure import LEVELS, CellGrid, ModelStyles, Plot, Square, described
from equipoise.report.page.svg import (
    Html,
    Scale,
    dot,
    fitted,
    interval,
    join,
    middle,
    tick_labels,
    upright,
    width,
)
from equipoise.types import (
    EXACT,
    UNDEFINED,
    Floats,
    Heat,
    Standing,
    Standings,
    change,
    number,
    resample_share,
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
    ends = [x for pair in chart.intervals for x in pair if math.isfinite(x)]
    scale = Scale(min(ends), max(ends), 3.0, 97.0) if len(set(ends)) > 1 else None
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
        widest = max(x for x in chart.known_to if math.isfinite(x))
        typical = tuple(_typical(x, widest) for x in chart.known_to)
        foot.append(("a value is known to", typical))
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


def _typical(half: float, widest: float) -> Square:
    if not math.isfinite(half):
        return Square(UNDEFINED)
    at = 45 * half / widest if widest else 0.0
    drawn = Plot(interval((50 - at, 50 + at), 6, "out"), 12.0)
    return Square(f"±\u200a{number(half, 2)}", plot=drawn)


def _below(cell: Standing) -> bool:
    return cell.judged and not cell.inside


def _standings_key(chart: Standings) -> tuple[tuple[str, str], ...]:
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
    most = _widest(values) if signed else 1.0
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
    beside = f"{chart.y} by {chart.x}" if chart.x and chart.y else chart.x or chart.y
    key = _signed_key(most) if signed else SHARE_KEY
    if chart.strong is not None:
        key = (*key, ("", f"{'bold' if small else MARK}: {chart.strong_title}"))
    return CellGrid(
        kind="heat", corner=chart.x, heads=tuple(chart.columns), rows=tuple(rows),
        alternative=described(chart), upright=_upright(chart.columns),
        axes=beside if chart.y else "", key=key,
    )  # fmt: skip


def _upright(heads: Sequence[str]) -> bool:
    """Whether heads have no room above their columns in half a page."""
    return len(heads) > 20 or 7 * max(map(width, heads)) * len(heads) > 400


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


def _widest(values: Floats) -> float:
    """The end of a signed scale."""
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0)) or 1.0


def _lead(value: float, most: float) -> str:
    """Blue ahead and amber behind, darker further from zero."""
    if abs(value) <= EXACT:
        return "none"
    step = int(min(LEVELS - 1, LEVELS * abs(value) / most))
    return f"{'a' if value > 0 else 'b'}{step}"


def _signed_key(most: float) -> tuple[tuple[str, str], ...]:
    """The scale from the largest loss to the largest gain."""
    tones = [f"b{step}" for step in reversed(range(LEVELS))] + [
        f"a{step}" for step in range(LEVELS)
    ]
    words = [""] * len(tones)
    words[0], words[-1] = change(-most), change(most)
    words[LEVELS - 1] = "0"
    return tuple(zip(tones, words, strict=True))
