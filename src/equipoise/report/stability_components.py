"""Variance components: how much of the spread of a result comes from which source.

Sources differ by orders of magnitude, so the axis is in powers of ten: equal steps are equal
factors, and a source that moves a value ten times as much leaves the others readable.
"""

import math
from collections.abc import Sequence

from equipoise.digits import significant
from equipoise.report.markup import Html, element
from equipoise.report.numerals import finite, percent, shorten
from equipoise.report.stability_rows import Cast, Entry, Part, by, chosen, several, value
from equipoise.report.svg import NARROW, Scale, across, down, drawing, path, text, titled
from equipoise.report.tables import row, table

LABEL, START, END = 138.0, 148.0, 296.0
LINE, TOP = 22.0, 30.0
DEEP = 4.0  # powers of ten that are drawn at most
TICKS = 4
NOTE = (
    "The standard deviation that each source alone would cause: other items, other "
    "annotators, or other votes of the same annotators. Their variances (not their standard"
    " deviations) add up to the total, by which a fresh study of the same size would vary: "
    "redrawn items and annotators bring the noise of votes along, which is taken off and "
    "counted once, as votes. A source that moves a result no more than votes alone do has "
    "none. Another model of the votes (model choice) stands beside the total, because it is"
    " a choice and no sample. Lines are intervals; where two overlap, which source is the "
    "larger is open. With several tasks everything is about the average over them, and each"
    " redraw takes the same items and annotators in all. The axis is logarithmic: equal "
    "steps are equal factors."
)


def part(entry: Entry, cast: Cast) -> Part:
    """The section on where the doubt comes from."""
    rows = chosen(entry["rows"])
    results = several(rows, "result")
    pairs = [one for one in results if one not in cast.models]
    shown = pairs[-1] if pairs else results[-1]
    best = [one for one in cast.models if str(shown).startswith(f"{one} - ") and one in results]
    drawings = {"components-difference": _rows(rows, shown)}
    if best:
        drawings["components-value"] = _rows(rows, best[0])
    whose = ": the difference of the two best models, and the best alone" if best else ""
    return Part(
        str(entry["finding"]),
        f"Standard deviation of {cast.title(rows)} by its source{whose}; in brackets: variance "
        "as a share of the total",
        {name: one for name, one in drawings.items() if one is not None},
        _table(rows, cast), NOTE,
    )  # fmt: skip


def _ends(one: Entry) -> tuple[float, float]:
    """Interval of the standard deviation."""
    low, high = value(one, "low"), value(one, "high")
    return _root(low), _root(high)


def _root(variance: float) -> float:
    return math.sqrt(max(variance, 0.0)) if finite(variance) else variance


def _rows(rows: Sequence[Entry], result: str) -> Html | None:
    """Draw the sources of one result, on an axis in powers of ten."""
    own = [one for one in rows if one["result"] == result]
    scale = _scale([n for one in own for n in (_deviation(one), *_ends(one))])
    if scale is None:
        return None
    bottom = TOP + LINE * len(own) + 4
    places = [(scale(math.log10(tick)), f"{tick:.6g}") for tick in _ticks(scale)]
    parts = [
        titled(str(result), shorten(str(result), 52), x=2.0, y=12.0, class_="hd"),
        path("g", *(down(x, TOP - 6, bottom - TOP + 6) for x, _ in places)),
        *(text(x, bottom + 15, words, "c a") for x, words in places),
        text((START + END) / 2, bottom + 32, "standard deviation, logarithmic axis", "c a"),
        *(_row(one, scale, TOP + LINE * (place + 0.5)) for place, one in enumerate(own)),
    ]
    said = f"Standard deviation by source, {len(own)} sources, on an axis in powers of ten."
    return drawing((NARROW, bottom + 38), said, *parts)


def _row(one: Entry, scale: Scale, y: float) -> Html:
    """Draw one source: its name, interval, value and words."""
    source, middle = str(one["source"]), _deviation(one)
    share, (low, high) = value(one, "share"), _ends(one)
    words = "undefined"
    if finite(value(one, "variance")):
        words = significant(middle) if middle > 0 else "none"
        words += f" ({percent(share)})" if finite(share) and 0 < share < 1 else ""
    parts = [titled(source, shorten(source, 22), x=LABEL, y=y + 4, class_="e")]
    if finite(high) and high > 0:
        start = scale(math.log10(low)) if low > 0 else START
        parts.append(path("w", across(start, y, scale(math.log10(high)) - start)))
    if middle > 0:
        parts.append(path("d", across(scale(math.log10(middle)), y)))
    return element("g", *parts, text(END + 8, y + 4, words, "a"), class_="tinted")


def _deviation(one: Entry) -> float:
    """A standard deviation; 0 where there is none."""
    variance = value(one, "variance")
    return _root(variance) if finite(variance) else 0.0


def _scale(numbers: Sequence[float]) -> Scale | None:
    """A scale of logarithms for the numbers above zero; None without any.

    Examples
    --------
    >>> _scale([0.01, 1.0, 0.0, math.nan]).low
    -2.08
    """
    known = [math.log10(one) for one in numbers if finite(one) and one > 0]
    if not known:
        return None
    high = max(known)
    low = max(min(known), high - DEEP)
    margin = 0.04 * (high - low) or 0.2
    return Scale(low - margin, high + margin, START, END)


def _ticks(scale: Scale) -> list[float]:
    """Round numbers on a scale of logarithms, few enough to be read.

    Examples
    --------
    >>> _ticks(Scale(-3.2, -1.6, 0, 1)), _ticks(Scale(-4.1, 0.1, 0, 1))
    ([0.001, 0.003, 0.01], [0.0001, 0.001, 0.01, 0.1, 1.0])
    """
    powers = range(math.floor(scale.low), math.ceil(scale.high) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        every = [float(f"{step}e{power}") for power in powers for step in steps]
        found = [one for one in every if scale.low <= math.log10(one) <= scale.high]
        if len(found) <= TICKS:
            return found
    return found


def _table(rows: Sequence[Entry], cast: Cast) -> Html:
    """List the standard deviation of every result by source."""
    sources = several(rows, "source")
    lines = []
    for result, own in by(rows, "result").items():
        found = {one["source"]: one for one in own}
        cells = [_cell(found[source]) if source in found else "" for source in sources]
        known = result in cast.models
        lines.append(cast.row(str(result), cells) if known else row(str(result), cells))
    title = f"Standard deviation of {cast.title(rows)} by source"
    return table(title, ["Result", *(str(one) for one in sources)], lines)


def _cell(one: Entry) -> str:
    """Write a standard deviation with its interval."""
    if not finite(value(one, "variance")):
        return "undefined"
    low, high = _ends(one)
    ends = f" [{significant(low)}, {significant(high)}]" if finite(low) and finite(high) else ""
    return f"{significant(_deviation(one))}{ends}"
