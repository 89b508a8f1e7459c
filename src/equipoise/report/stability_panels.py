"""Panels: what items with more votes, and fewer or more annotators, would say.

Lines are models; the band belongs to the best one, because bands of all would hide each other.
"""

import math
from collections.abc import Mapping, Sequence

from equipoise.report.markup import Html
from equipoise.report.numerals import count, finite, number, percent, signed
from equipoise.report.numerals import signed_interval as span
from equipoise.report.stability_charts import NAMES, Line, Plot, curves
from equipoise.report.stability_rows import (
    Cast,
    Entry,
    Part,
    by,
    capital,
    chosen,
    digits_of,
    several,
    value,
    written,
)
from equipoise.report.tables import table

DRAWN = 12  # models with a line; all are in the table
TICKS = 10
CUTS = (
    "Models are scored on the items with at least so many votes; the change is paired with the "
    "value on all items. Items with many votes may be other items, for example hard ones that "
    "were sent to more people, so a change need not be an effect of the votes. Items of known "
    "truth stay at every cut-off."
)
SIZES = (
    "All smaller panels are tried, or a random choice of them. The value at each size is the "
    "mean over panels; the half-width is what the choice of annotators alone would add around "
    "it for a fresh panel of that size. Beyond the panel both are extrapolated (dashed): the "
    "value as a + b/m and the variance as 1/m, for m annotators; intervals take Student's "
    "quantile for so few people. The order is compared between two panels of one size that "
    "share nobody, because a panel resembles the whole that it is a part of; beyond half "
    "of the annotators that correlation is extrapolated (Spearman and Brown), with the range "
    "that its jackknife interval allows; models that are nearly level for any number of "
    "annotators can need more than that. Fewer annotators "
    "can also shift a soft metric, because a coarse mean vote is another label."
)


def cutoffs(entry: Entry, cast: Cast) -> Part:
    """The section on items with at least k votes."""
    rows = chosen(entry["rows"])
    scored = [one for one in rows if one["status"] == "scored"]
    drawn = _cut_lines(scored, rows, cast) if len(several(scored, "items")) > 1 else None
    return Part(
        str(entry["finding"]),
        f"{capital(cast.title(rows))} on the items with at least so many votes; band: "
        f"interval of {_first(scored, cast)}; bars: items that are left",
        {"vote-cutoffs": drawn} if drawn else {}, _cut_table(rows, cast), CUTS,
        empty=len(several(scored, "items")) < 2,
    )  # fmt: skip


def _first(rows: Sequence[Entry], cast: Cast) -> str:
    """The model whose band is drawn: the best one."""
    return cast.short(order[0], 24) if (order := _best(rows, cast)) else "the best model"


def _best(rows: Sequence[Entry], cast: Cast) -> list[str]:
    """Models by their value in the last rows that have one, the best first."""
    key = "value" if rows and "value" in rows[0] else "mean"
    found = {str(one["model"]): value(one, key) for one in rows if finite(value(one, key))}
    return sorted(found, key=lambda model: -cast.sign(rows) * found[model])[:DRAWN]


def _cut_lines(rows: Sequence[Entry], every: Sequence[Entry], cast: Cast) -> Html | None:
    """Draw the value of each model over the cut-offs."""
    best, lines = _best(rows, cast), []
    places = {votes: float(n) for n, votes in enumerate(several(every, "votes"))}
    for model in best:
        own = [one for one in rows if one["model"] == model]
        points = tuple((places[one["votes"]], value(one, "value")) for one in own)
        band = tuple(
            (places[one["votes"]], value(one, "low"), value(one, "high")) for one in own
        )
        lines.append(_line(model, cast, points, band=band if model == best[0] else ()))
    shares = {one["votes"]: value(one, "coverage") for one in every}
    plot = Plot(
        cast.title(rows), "fewest votes on an item",
        f"{capital(cast.title(rows))} of {len(lines)} models over {len(places)} cut-offs.",
        tuple((x, f"{votes}") for votes, x in places.items()),
        bars=tuple((places[votes], share) for votes, share in shares.items()),
        bar_title="items left",
    )  # fmt: skip
    return curves(plot, lines)


def _line(
    model: str, cast: Cast, points: tuple[tuple[float, float], ...],
    beyond: tuple[tuple[float, float], ...] = (),
    band: tuple[tuple[float, float, float], ...] = (),
) -> Line:  # fmt: skip
    """A line of a model, without what is undefined."""
    known = tuple(one for one in points if finite(one[1]))
    far = tuple(one for one in beyond if finite(one[1]))
    return Line(model, cast.short(model, NAMES), cast.class_(model), known, far, band)


def _cut_table(rows: Sequence[Entry], cast: Cast) -> Html:
    """List value and change of every model at every cut-off."""
    scored = [one for one in rows if one["status"] == "scored"]
    digits = digits_of(scored)
    cuts = several(rows, "votes")
    lines = []
    for model in by(rows, "model"):
        own = {one["votes"]: one for one in rows if one["model"] == model}
        lines.append(cast.row(str(model), [_cut(own[votes], digits) for votes in cuts]))
    left = {one["votes"]: one for one in rows}
    heads = [
        f"≥ {votes} ({count(value(left[votes], 'items'), 'item')}, "
        f"{percent(value(left[votes], 'coverage'))})"
        for votes in cuts
    ]
    return table(f"{capital(cast.title(rows))}, and its change from all items",
                 ["Model", *heads], lines)  # fmt: skip


def _cut(one: Entry, digits: int) -> str:
    if one["status"] != "scored":
        return str(one["status"])
    ends = span(value(one, "change_low"), value(one, "change_high"), digits)
    change = f"{signed(value(one, 'change'), digits)} {ends}"
    return f"{number(value(one, 'value'), digits)}; {change}"


def sizes(entry: Entry, cast: Cast) -> Part:
    """The section on smaller and larger panels."""
    rows = chosen(entry["rows"])
    unit = str(rows[0]["unit"])
    drawings = {"panel-size": _value_lines(rows, cast), "panel-width": _width_lines(rows, cast)}
    first = cast.short(_best(rows, cast)[0], 24) if _best(rows, cast) else "the best model"
    return Part(
        str(entry["finding"]),
        f"{capital(cast.title(rows))} by number of {unit}, and the half-width that they add; "
        f"band: {first}; dashed: extrapolated",
        {name: one for name, one in drawings.items() if one is not None},
        _size_table(rows, cast), SIZES,
    )  # fmt: skip


def _more(known: Sequence[int]) -> list[int]:
    """Sizes to extrapolate to: up to twice the panel."""
    last = known[-1]
    return sorted({last + max(1, last * step // 4) for step in range(1, 5)})


def _ticks(known: Sequence[int]) -> tuple[tuple[float, str], ...]:
    """Sizes to write under the plot, as many as have room.

    Examples
    --------
    >>> [words for _, words in _ticks([2, 3, 4, 30])]
    ['2', '30', '37', '45', '52', '60']
    """
    every = [*known, *_more(known)]
    room = (every[-1] - every[0]) / TICKS
    found = every[:1]
    for size in every:
        if size - found[-1] >= room - 1e-9 or size == known[-1]:
            found.append(size)
    return tuple((float(size), f"{size}") for size in dict.fromkeys(found))


def _value_lines(rows: Sequence[Entry], cast: Cast) -> Html | None:
    """Draw the value over the size, and its fit beyond."""
    known, best, lines = several(rows, "size"), _best(rows, cast), []
    for model in best:
        own = [one for one in rows if one["model"] == model]
        limit = value(own[-1], "limit")
        slope = (value(own[-1], "fitted") - limit) * known[-1]
        beyond = tuple((float(size), limit + slope / size) for size in _more(known))
        band = tuple(
            (float(one["size"]), value(one, "mean") - value(one, "half_width"),
             value(one, "mean") + value(one, "half_width"))
            for one in own
        )  # fmt: skip
        points = tuple((float(one["size"]), value(one, "mean")) for one in own)
        lines.append(_line(model, cast, points, beyond, band if model == best[0] else ()))
    return curves(_plot(rows, cast.title(rows)), lines)


def _width_lines(rows: Sequence[Entry], cast: Cast) -> Html | None:
    """Draw the half-width over the size, and how it falls beyond."""
    known, lines = several(rows, "size"), []
    for model in _best(rows, cast):
        own = [one for one in rows if one["model"] == model]
        last = value(own[-1], "half_width")
        points = tuple((float(one["size"]), value(one, "half_width")) for one in own)
        beyond = tuple((float(n), last * math.sqrt(known[-1] / n)) for n in _more(known))
        lines.append(_line(model, cast, points, beyond))
    return curves(_plot(rows, "half-width of the interval"), lines)


def _plot(rows: Sequence[Entry], head: str) -> Plot:
    known, unit = several(rows, "size"), str(rows[0]["unit"])
    said = f"{capital(head)} for {known[0]} to {known[-1]} {unit}, and extrapolated beyond."
    return Plot(head, f"number of {unit}", said, _ticks(known))


def _size_table(rows: Sequence[Entry], cast: Cast) -> Html:
    """List mean and half-width at every size, and the limit."""
    digits = digits_of(rows, "limit_low", "limit_high")
    known: Mapping[int, Entry] = {one["size"]: one for one in rows}
    lines = []
    for model, own in by(rows, "model").items():
        cells = [
            f"{number(value(one, 'mean'), digits)} ± {number(value(one, 'half_width'), digits)}"
            for one in own
        ]
        cells.append(written(own[-1], ("limit", "limit_low", "limit_high"), digits))
        lines.append(cast.row(str(model), cells))
    heads = [f"{size}{_orders(one)}" for size, one in known.items()]
    title = (
        f"{capital(cast.title(rows))} by number of {rows[0]['unit']}; in brackets: rank "
        "correlation of separate panels, and with all"
    )
    return table(title, ["Model", *heads, "endlessly many"], lines)


def _orders(one: Entry) -> str:
    """How far the orders of panels of one size agree; nothing where there is one model."""
    found = [value(one, name) for name in ("separate", "spearman")]
    if not any(finite(rank) for rank in found):
        return ""
    return f" ({', '.join(number(rank, 2) if finite(rank) else '-' for rank in found)})"
