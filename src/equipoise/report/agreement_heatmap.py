"""Heatmap of annotators: Cohen's kappa of every pair, those who agree most first.

Both triangles are drawn, so that a row is one annotator with everybody. The colour steps are
those of Landis and Koch; below zero is orange. Cells without a kappa are empty. The number is
written into the cell as long as it fits, and stands in the title of every cell.
"""

from collections.abc import Mapping
from typing import Any

from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import apart, count, defined, number
from equipoise.report.svg import (
    NARROW,
    across,
    cells,
    drawing,
    group,
    lattice,
    path,
    text,
    titled,
)
from equipoise.report.tables import row, table

LABEL, TOP = 146.0, 24.0
NUMBERED = 20  # with more annotators the cells are too small for numbers
LISTED = 60  # pairs in the table of numbers beyond which only the ends are listed
STEPS = ((0.8, "q5"), (0.6, "q4"), (0.4, "q3"), (0.2, "q1"), (0.0, "q0"))
KEY = (
    ("b2", "below 0"), ("q0", "to 0.2"), ("q1", "to 0.4"), ("q3", "to 0.6"), ("q4", "to 0.8"),
    ("q5", "to 1"),
)  # fmt: skip


def shade(kappa: float) -> str:
    """Name the colour of a kappa.

    Examples
    --------
    >>> shade(0.9), shade(0.5), shade(0.0), shade(-0.3)
    ('q5', 'q3', 'q0', 'b2')
    """
    return next((name for least, name in STEPS if kappa > least), "q0" if kappa == 0 else "b2")


def draw(pairs: Mapping[str, Any]) -> Html:
    """Draw the matrix of pairs."""
    names = [str(name) for name in pairs["annotators"]]
    total = len(names)
    wide = 30.0 if total <= NUMBERED else 12.0
    high = 22.0 if total <= NUMBERED else 12.0
    size = LABEL + total * wide, TOP + total * high
    short = apart(tuple(names), 15)
    heads = [
        element("text", str(place + 1), x=(place + 0.5) * wide)
        for place in range(total)
        if total <= NUMBERED or place == 0 or (place + 1) % 5 == 0
    ]
    lines = [(place + 0.5) * high + 4 for place in range(total)]
    rows = [
        titled(name, short[name], x=-26.0, y=y) for name, y in zip(names, lines, strict=True)
    ]
    places = [element("text", str(at), y=y) for at, y in enumerate(lines, start=1)]
    body = [
        lattice(_cells(pairs, names, (wide, high)), wide, high),
        group(heads, y=-7, class_="c a"),
        group(rows, class_="e" if total <= NUMBERED else "e a"),
        group(places, x=-6, class_="e a"),
        *(_written(pairs["kappa"], wide, high) if total <= NUMBERED else []),
    ]
    known = sum(defined(one) for line in pairs["kappa"] for one in line) // 2
    alternative = (
        f"Heatmap of Cohen's kappa between {total} annotators; "
        f"{known} of {total * (total - 1) // 2} pairs are defined."
    )
    key = group([_key()], y=size[1] + 20)
    return drawing(
        (max(NARROW, size[0]), size[1] + 46), alternative, group(body, x=LABEL, y=TOP), key,
        class_="big" if size[0] > NARROW else "",
    )  # fmt: skip


def _cells(pairs: Mapping[str, Any], names: list[str], how: tuple[float, float]) -> list[Html]:
    """Draw every pair as a cell with a title."""
    wide, high = how
    made = []
    for i, (line, shared) in enumerate(zip(pairs["kappa"], pairs["items"], strict=True)):
        for j, (value, items) in enumerate(zip(line, shared, strict=True)):
            if i == j or not items:
                continue
            place = j * wide, (i + 0.5) * high
            name = shade(value) if defined(value) else "nil"
            said = f"{names[i]} and {names[j]}: {number(value, 2)}, {count(items, 'item')}"
            made.append(
                element("g", element("title", said), path(name, across(*place, wide - 1)))
            )
    return made


def _written(kappa: list[list[float | None]], wide: float, high: float) -> list[Html]:
    """Write the numbers into their cells."""
    lines = []
    for i, line in enumerate(kappa):
        words = [
            element(
                "text", digits(value), x=(j + 0.5) * wide - 0.5,
                class_="i" if shade(value) == "q5" else None,
            )
            for j, value in enumerate(line)
            if i != j and value is not None and defined(value)
        ]  # fmt: skip
        lines.append(group(words, y=(i + 0.5) * high + 4, class_="num"))
    return lines


def digits(kappa: float) -> str:
    """Write a kappa in two decimals without the zero in front.

    Examples
    --------
    >>> digits(0.434), digits(-0.05), digits(1.0), digits(0.001)
    ('.43', '−.05', '1', '0')
    """
    text = f"{kappa:.2f}"
    if float(text) in (0.0, 1.0, -1.0):
        return f"{float(text) + 0.0:.0f}".replace("-", "−") if float(text) else "0"
    return text.replace("0.", ".", 1).replace("-", "−")


def _key() -> Html:
    """Draw the colour scale with its words."""
    wide = 62.0
    return join(
        [
            lattice(
                (cells([(i * wide, 0.0)], wide, name) for i, (name, _) in enumerate(KEY)),
                wide,
                9,
            ),
            *(text(i * wide, 20, words, "a") for i, (_, words) in enumerate(KEY)),
        ]
    )


def numbers(pairs: Mapping[str, Any]) -> Html:
    """List the pairs: all of few, else those that agree most and least."""
    names, every = pairs["annotators"], []
    for i, first in enumerate(names):
        every += [
            {"first": first, "second": names[j], "kappa": pairs["kappa"][i][j],
             "items": pairs["items"][i][j]}
            for j in range(i + 1, len(names))
        ]  # fmt: skip
    caption = "Cohen's kappa of all pairs"
    if len(every) > LISTED or pairs["people"] > len(names):
        every = [*pairs["closest"], *pairs["furthest"]]
        caption = "Pairs that agree most, then those that agree least"
    rows = [
        row(str(one["first"]), [str(one["second"]), number(one["kappa"]), count(one["items"])])
        for one in every
    ]
    return table(caption, ["First", "second", "kappa", "items shared"], rows)
