"""Cells: heat maps, triangles of pairs and items close up, all made of coloured cells."""

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from equipoise.arrays import Floats
from equipoise.findings.charts import Case, Cases, Heat, Matrix
from equipoise.numbers import EXACT, change, number, resample_share
from equipoise.page.lettering import distinct, shorten, width
from equipoise.page.markup import Html, element, join
from equipoise.page.palette import DARK_INK_FROM, LIGHT_AHEAD
from equipoise.page.svg import (
    LETTER,
    NARROW,
    ModelStyles,
    across,
    at,
    cells,
    described,
    drawing,
    group,
    lattice,
    marker,
    path,
    text,
    titled,
)

ROW = 22.0

STEPS = (0.05, 0.15, 0.25, 0.40, 0.60, 0.80)  # where the next darker colour begins
LEVELS = len(LIGHT_AHEAD)
CELL_LABEL, CELL_TOP = 122.0, 22.0
NUMBERED = 14  # with more cells in a row there is no room for numbers


def heat(chart: Heat, styles: ModelStyles) -> Html | None:
    """Cells of rows and columns, coloured by a share or by a signed number."""
    values = np.asarray(chart.values, dtype=float)
    if not np.isfinite(values).any():
        return None
    total = len(chart.columns)
    longest = max(width(name) for name in chart.columns)
    wide = 2.0 * max(7, min(28, (NARROW - CELL_LABEL) // (2 * total)))
    room = max(2, int(wide // LETTER))
    turned = longest > room
    top = CELL_TOP + (56 if turned else 0) + (12 if chart.x else 0)
    high = ROW if len(chart.rows) <= 24 else 16.0
    most = _widest(values) if chart.scale == "signed" else 1.0
    shaded: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for (i, j), value in np.ndenumerate(values):
        if math.isfinite(value):
            name = _shade(value, most) if chart.scale == "signed" else _share_class(value)
            shaded[name].append((j * wide, (i + 0.5) * high))
    body = [
        lattice((cells(s, wide, name) for name, s in sorted(shaded.items())), wide, high),
        *(_cell_words(chart, values, (wide, high)) if total <= NUMBERED else []),
    ]
    heads = _column_heads(chart.columns, wide, top, turned=turned)
    names = _row_names(chart, styles, (top, high))
    beside = LETTER * max(map(width, distinct(chart.columns, 11))) if turned else 0.0
    size = CELL_LABEL + total * wide, top + high * len(chart.rows) + 8
    reach = max(size[0], size[0] - wide / 2 + 4 + beside)
    top_title = titled(chart.x, shorten(chart.x, 40), x=CELL_LABEL, y=10.0, class_="a")
    return drawing(
        (max(NARROW, reach), size[1]),
        described(chart),
        top_title if chart.x else Html(""),
        heads,
        names,
        group(body, x=CELL_LABEL, y=top),
        class_="big" if reach > NARROW else "",
    )


def _share_class(share: float) -> str:
    return f"q{bisect_right(STEPS, share)}" if share >= 0.005 else "nil"


def _column_heads(columns: Sequence[str], wide: float, top: float, *, turned: bool) -> Html:
    if not turned:
        words = [
            text(CELL_LABEL + (j + 0.5) * wide, top - 6, name, "c a")
            for j, name in enumerate(columns)
        ]
        return join(words)
    shown = distinct(columns, 11)
    parts = []
    for j, (name, short) in enumerate(zip(columns, shown, strict=True)):
        spot = f"translate({at(CELL_LABEL + (j + 0.5) * wide + 4, top - 4)}) rotate(-45)"
        title = element("title", name) if short != name else Html("")
        parts.append(element("text", title, short, transform=spot, class_="a"))
    return join(parts)


def _row_names(chart: Heat, styles: ModelStyles, place: tuple[float, float]) -> Html:
    top, high = place
    shown = (
        [styles.short(name, 14) for name in chart.rows]
        if chart.row_models
        else distinct(chart.rows, 14)
    )
    return join(
        titled(
            name, short, x=CELL_LABEL - 6, y=top + (i + 0.5) * high + 4,
            class_=f"{styles.class_(name, '') if chart.row_models else ''} e".strip(),
        )
        for i, (name, short) in enumerate(zip(chart.rows, shown, strict=True))
    )  # fmt: skip


def _cell_words(chart: Heat, values: Floats, size: tuple[float, float]) -> list[Html]:
    """Write into the cells what fits."""
    wide, high = size
    lines = []
    for i, row in enumerate(values):
        words = []
        for j, value in enumerate(row):
            if chart.texts:
                said = chart.texts[i][j]
            elif not math.isfinite(value) or (chart.scale == "share" and value < 0.05):
                continue
            elif chart.scale == "share":
                said = resample_share(value).rstrip("%")
            else:
                said = change(value, 2)
            if 6.2 * width(said) <= wide - 2:
                dark = chart.scale == "share" and value >= STEPS[DARK_INK_FROM - 1]
                class_ = "i" if dark else None
                words.append(element("text", said, x=(j + 0.5) * wide, class_=class_))
        lines.append(group(words, y=(i + 0.5) * high + 4, class_="num"))
    return lines


def _widest(values: Floats) -> float:
    """The round number that a signed scale of colours ends at."""
    known = np.abs(values[np.isfinite(values)])
    most = float(known.max()) if known.size else 0.0
    if most <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(most))
    return next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= most - 1e-12)


def _shade(lead: float, most: float) -> str:
    """Name the colour of a signed number."""
    if abs(lead) <= EXACT:
        return "nil"
    step = math.ceil(min(1.0, abs(lead) / most) * LEVELS - 1e-9) - 1
    return f"{'a' if lead > 0 else 'b'}{step}"


def matrix(chart: Matrix, styles: ModelStyles) -> Html | None:
    """A triangle: the cell is the lead of the model above over the model at its right."""
    leads = np.asarray(chart.leads, dtype=float)
    total = len(chart.models)
    if total < 2 or np.isnan(leads[np.tril_indices(total, -1)]).all():
        return None
    wide = 2.0 * max(7, min(20, (NARROW - 112) // (2 * (total - 1))))
    high, most = (ROW if total <= 16 else 16.0), _widest(leads)
    shaded: dict[str, list[tuple[float, float]]] = defaultdict(list)
    marks: list[str] = []
    words: list[Html] = []
    for i in range(total):
        own, middle = [], (i + 0.5) * high
        for j in range(i):
            lead, low, high_end = leads[j, i], chart.low[j, i], chart.high[j, i]
            if math.isnan(lead):
                continue
            shaded[_shade(lead, most)].append((j * wide, middle))
            spot = (j + 1) * wide - 5, middle - high / 2 + 5
            if chart.separated[j, i]:
                marks.append(across(*spot))
            pair = f"{chart.models[j]} over {chart.models[i]}: {change(lead)}"
            title = element("title", f"{pair} [{change(low)}, {change(high_end)}]")
            own.append(element("text", title, _in_units(lead), x=(j + 0.5) * wide - 1))
        words.append(group(own, y=middle + 4, class_="num"))
    grid = lattice((cells(s, wide, name) for name, s in sorted(shaded.items())), wide, high)
    names = group(
        (
            titled(
                name, styles.short(name, 14), class_=styles.class_(name),
                x=i * wide + 5, y=(i + 0.5) * high + 4,
            )
            for i, name in enumerate(chart.models)
        ),
        class_="n",
    )  # fmt: skip
    body = [grid, *(words if total <= 12 else [])]
    body += [path("sep", *marks)] if marks else []
    size = (total - 1) * wide + 112, 4 + total * high
    return drawing(
        (max(NARROW, size[0]), size[1] + 46),
        described(chart),
        group([*body, names], y=4.0),
        group([_signed_key(most)], y=size[1] + 16),
        class_="big" if size[0] > NARROW else "",
    )


def _in_units(lead: float) -> str:
    """Write a lead in thousandths.

    Examples
    --------
    >>> [_in_units(lead) for lead in (0.0123, -0.0002, 0.00001, 0.0, math.inf)]
    ['12', '−0.2', '≈0', '0', '∞']
    """
    if not math.isfinite(lead):
        return number(lead)
    units = lead * 1000
    if abs(units) < 0.05:
        return "≈0" if abs(lead) > EXACT else "0"
    return f"{units:.{int(abs(units) < 0.95)}f}".replace("-", "−")


def _signed_key(most: float) -> Html:
    """The scale of colours with its ends, and what the numbers and dots mean."""
    names = [f"b{i}" for i in reversed(range(LEVELS))] + [f"a{i}" for i in range(LEVELS)]
    wide, end = 22.0, 22.0 * len(names)
    swatches = (cells([(i * wide, 0.0)], wide, name) for i, name in enumerate(names))
    return join(
        [
            lattice(swatches, wide, 9),
            text(0, 20, change(-most), "a"),
            text(end / 2, 20, "0", "c a"),
            text(end, 20, change(most), "e a"),
            text(end + 12, 5, "in thousandths; ● excludes 0", "a"),
            text(end + 12, 20, "× on the other side", "a"),
        ]
    )


SHADES = {1: (5,), 2: (2, 5), 3: (1, 3, 5), 4: (1, 3, 5, 6), 5: (1, 2, 3, 5, 6)}
CASE_ROW, CASE_WIDE = 36.0, NARROW - 12.0
MARKED = 16.0  # what the marks of models add to a row


def cases_close_up(chart: Cases, styles: ModelStyles) -> Html | None:
    """Items, one row each: a bar of votes by class, and the marks of the models."""
    if not chart.rows:
        return None
    key, deep = _class_key(chart.classes)
    shown = distinct([case.name for case in chart.rows], 34)
    parts = [key]
    y = deep
    for case, short in zip(chart.rows, shown, strict=True):
        parts.append(_case(case, short, y, styles))
        y += CASE_ROW + (MARKED if case.marks else 0.0)
    if chart.axis:
        parts.append(text(6, y + 8, "0", "a"))
        parts.append(text(NARROW / 2, y + 8, shorten(chart.axis, 40), "c a"))
        parts.append(text(CASE_WIDE + 6, y + 8, "1", "e a"))
        y += 16
    return drawing((NARROW, y + 4), described(chart), *parts)


def _shades(total: int) -> tuple[int, ...]:
    steps = SHADES.get(total, (1, 2, 3, 4, 5, 6))
    return tuple(steps[i % len(steps)] for i in range(total))


def _class_key(classes: Sequence[str]) -> tuple[Html, float]:
    """Which colour is which class, and how deep that reaches; nothing for too many classes."""
    if not 2 <= len(classes) <= 6:
        return Html(""), 0.0
    parts, x, y = [], 0.0, 12.0
    shorts = distinct(classes, 14)
    for step, name, short in zip(_shades(len(classes)), classes, shorts, strict=True):
        wide = 30.0 + LETTER * width(short)
        if x + wide > NARROW and x:
            x, y = 0.0, y + 20.0
        swatch = element("path", class_=f"q{step}", stroke_width=11, d=across(x, y - 4, 14))
        parts.append(join([swatch, titled(name, short, x=x + 19, y=y)]))
        x += wide
    return join(parts), y + 8


def _case(case: Case, short: str, y: float, styles: ModelStyles) -> Html:
    """One item: name and remark, the bar of votes, the marks of the models under it."""
    parts = [
        titled(case.name, short, x=0.0, y=y + 12, class_="hd"),
        titled(case.remark, shorten(case.remark, 24), x=NARROW - 4, y=y + 12, class_="e a"),
    ]
    start = 6.0
    for step, share in zip(_shades(len(case.shares)), case.shares, strict=True):
        length = max(0.0, share) * CASE_WIDE if math.isfinite(share) else 0.0
        if length > 1.5:
            d = across(start, y + 24, length - 1)
            parts.append(element("path", class_=f"q{step}", stroke_width=10, d=d))
        start += length
    if case.marks:
        parts.append(path("g", across(6.0, y + 38, CASE_WIDE)))
    for model, position in case.marks:
        if math.isfinite(position):
            place = 6.0 + min(1.0, max(0.0, position)) * CASE_WIDE, y + 38
            title = element("title", f"{model} {number(position)}")
            mark = marker(place, hollow=styles.hollow(model))
            parts.append(element("g", title, mark, class_=styles.class_(model)))
    return join(parts)
