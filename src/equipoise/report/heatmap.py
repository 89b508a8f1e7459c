"""Heatmap: how often each model comes in at each rank.

Rows are models, columns are ranks, the cell is the share of resamples; a steady order is a
dark diagonal. Cells carry their percentage as long as it fits.
"""

import math
from bisect import bisect_right
from collections import defaultdict

from equipoise.report.markup import Html, element
from equipoise.report.numerals import UNDEFINED, UNMOVED, count, defined, percent, rank
from equipoise.report.palette import DARK_INK_FROM
from equipoise.report.svg import NARROW, cells, drawing, group, lattice, model_names, text
from equipoise.report.tables import model_row, table
from equipoise.report.view import Panel

STEPS = (0.05, 0.15, 0.25, 0.40, 0.60, 0.80)  # where the next darker colour begins
LABEL, TOP = 122.0, 34.0
WRITTEN = 0.05  # smaller shares are colour only
NUMBERED = 14  # with more models the cells are too small for numbers
LISTED = 16  # with more models the table gives a summary instead of every cell


def matrix(panel: Panel, labels: str) -> list[list[float]]:
    """Shares by model, in the order of the figures, and rank; empty where undefined.

    A model whose score or shares are undefined has an empty row.
    """
    entry = panel.entry("rank_probabilities", labels)
    if entry is None or not entry["matrix"] or panel.unmoved(labels):
        return []
    by_model = dict(zip(panel.view.models, entry["matrix"], strict=True))
    rows = []
    for model in panel.order:
        known = defined(panel.score(labels, model).value)
        whole = known and all(defined(share) for share in by_model[model])
        rows.append(list(by_model[model]) if whole else [])
    return rows if any(rows) else []


def draw(panel: Panel) -> list[Html]:
    """Draw one heatmap per kind of labels."""
    if len(panel.view.models) < 2:
        return []
    found = {labels: matrix(panel, labels) for labels in panel.view.labels}
    return [_heatmap(panel, labels, rows) for labels, rows in found.items() if rows]


def _heatmap(panel: Panel, labels: str, rows: list[list[float]]) -> Html:
    """Draw the shares of one kind of labels."""
    total = len(rows)
    wide = 2.0 * max(7, min(20, (NARROW - LABEL) // (2 * total)))
    high = 22.0 if total <= NUMBERED else 16.0
    shaded: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for place, shares in enumerate(rows):
        for column, share in enumerate(shares):
            if share >= 0.005:
                corner = column * wide, (place + 0.5) * high
                shaded[bisect_right(STEPS, share)].append(corner)
    every = 1 if total <= 20 else 5
    ticks = [place for place in range(1, total + 1) if place == 1 or place % every == 0]
    heads = [element("text", str(tick), x=(tick - 0.5) * wide) for tick in ticks]
    body = [
        lattice(
            (cells(places, wide, f"q{q}") for q, places in sorted(shaded.items())), wide, high
        ),
        group(heads, y=-6, class_="c a"),
        group([model_names(panel.view.models, panel.order, high, 14)], x=-6, class_="n e"),
        *(_written(rows, wide, high) if total <= NUMBERED else []),
        *(
            text(4, (place + 0.5) * high + 4, UNDEFINED, "a")
            for place, shares in enumerate(rows)
            if not shares
        ),
    ]
    head = text(0, 12, f"{labels} labels", "hd")
    size = LABEL + total * wide, TOP + total * high + 4
    alternative = f"Heatmap of rank probabilities by {panel.title(labels)}, {total} models."
    return drawing(
        (max(NARROW, size[0]), size[1]), alternative, head, group(body, x=LABEL, y=TOP),
        class_="big" if size[0] > NARROW else "",
    )  # fmt: skip


def _written(rows: list[list[float]], wide: float, high: float) -> list[Html]:
    """Write the percentages that matter into their cells."""
    lines = []
    for place, shares in enumerate(rows):
        words = [
            element(
                "text", percent(share).rstrip("%"), x=(column + 0.5) * wide,
                class_="i" if share >= STEPS[DARK_INK_FROM - 1] else None,
            )
            for column, share in enumerate(shares)
            if share >= WRITTEN
        ]  # fmt: skip
        lines.append(group(words, y=(place + 0.5) * high + 4, class_="num"))
    return lines


def reach(shares: list[float]) -> tuple[int, int]:
    """First and last rank of the middle nine tenths of the resamples.

    Examples
    --------
    >>> reach([0.02, 0.5, 0.46, 0.02])
    (2, 3)
    """
    low = high = 0
    total = 0.0
    for place, share in enumerate(shares, start=1):
        before, total = total, total + share
        if before <= 0.05 < total:
            low = place
        if before < 0.95 - 1e-9 <= total:
            high = place
    return low or 1, high or len(shares)


def numbers(panel: Panel) -> list[Html]:
    """List every share, or with many models the likeliest and the middle ranks."""
    made = []
    for labels in panel.view.labels:
        shares = matrix(panel, labels)
        if not shares:
            continue
        total = len(shares)
        heads = ["Model", "likeliest rank", "90% of ranks"]
        heads += [rank(place + 1.0) for place in range(total)] if total <= LISTED else []
        rows = []
        for model, row in zip(panel.order, shares, strict=True):
            written = _summary(row) if row else [UNDEFINED] * 2
            if total <= LISTED:
                written += [percent(share).rstrip("%") for share in row or [math.nan] * total]
            rows.append(model_row(panel.view, model, written))
        made.append(table(f"Percent of resamples by rank, {labels} labels", heads, rows))
    return made


def _summary(shares: list[float]) -> list[str]:
    """Write the likeliest rank and the middle ranks of one model."""
    low, high = reach(shares)
    likeliest = shares.index(max(shares))
    return [f"{likeliest + 1} ({percent(shares[likeliest])})", f"{low}–{high}"]


def finding(panel: Panel) -> str:
    """Name the steadiest and the least steady place."""
    if len(panel.view.models) < 2:
        return "With one model there are no ranks."
    found = {labels: matrix(panel, labels) for labels in panel.view.labels}
    known = [labels for labels, rows in found.items() if rows]
    if not known:
        return "Ranks are undefined here."
    said = _surest(panel, known[-1], found[known[-1]])
    blank = [labels for labels in found if labels not in known]
    if not blank:
        return said
    lack = UNMOVED if panel.unmoved(blank[0]) else UNDEFINED
    return f"{said} With {blank[0]} labels the ranks are {lack}."


def _surest(panel: Panel, labels: str, rows: list[list[float]]) -> str:
    """Name the steadiest and the least steady place under one kind of labels."""
    shares = {model: row for model, row in zip(panel.order, rows, strict=True) if row}
    spans = {model: reach(row) for model, row in shares.items()}
    best = max(shares, key=lambda model: max(shares[model]))
    loose = max(spans, key=lambda model: spans[model][1] - spans[model][0])
    place = shares[best].index(max(shares[best])) + 1
    said = (
        f"With {labels} labels the surest place is {panel.view.listing([best])} at rank "
        f"{place} ({percent(shares[best][place - 1])} of resamples)"
    )
    low, high = spans[loose]
    if high - low < 2:
        return f"{said}; no model strays over more than {count(high - low + 1, 'rank')}."
    return f"{said}; {panel.view.listing([loose])} ranges over ranks {low} to {high}."
