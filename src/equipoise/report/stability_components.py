"""Variance components: how much of the spread of a result comes from which source."""

import math
from collections.abc import Sequence

from equipoise.report.markup import Html
from equipoise.report.numerals import finite, percent, shorten
from equipoise.report.stability_charts import Dot, Rows, dot_rows
from equipoise.report.stability_rows import Cast, Entry, Part, by, chosen, several, value
from equipoise.report.tables import row, table

NOTE = (
    "The standard deviation that each source alone would cause: other items, other annotators, "
    "other votes of the same annotators, or another model of the votes. Lines are intervals. "
    "Variances are compared, so sources need not add up to the total."
)


def part(entry: Entry, cast: Cast) -> Part:
    """The section on where the doubt comes from."""
    rows = chosen(entry["rows"])
    results = several(rows, "result")
    pairs = [one for one in results if one not in cast.models]
    shown = pairs[-1] if pairs else results[-1]
    best = [one for one in cast.models if str(shown).startswith(f"{one} - ") and one in results]
    drawings = {"components-difference": _bars(rows, shown)}
    if best:
        drawings["components-value"] = _bars(rows, best[0])
    return Part(
        str(entry["finding"]),
        f"Standard deviation of {cast.title(rows)} by its source: the difference of the two "
        "best models, and one of them alone; in brackets: variance as a share of the total",
        {name: one for name, one in drawings.items() if one is not None},
        _table(rows, cast), NOTE,
    )  # fmt: skip


def _ends(one: Entry) -> tuple[float, float]:
    """Interval of the standard deviation."""
    low, high = value(one, "low"), value(one, "high")
    return _root(low), _root(high)


def _root(variance: float) -> float:
    return math.sqrt(max(variance, 0.0)) if finite(variance) else variance


def _bars(rows: Sequence[Entry], result: str) -> Html | None:
    """Draw the sources of one result."""
    own = [one for one in rows if one["result"] == result]
    dots = []
    for one in own:
        low, high = _ends(one)
        share = value(one, "share")
        words = f"{value(one, 'deviation'):.2g}"
        words += f" ({percent(share)})" if finite(share) and share < 1 else ""
        words = words if finite(value(one, "deviation")) else "undefined"
        source = str(one["source"])
        dots.append(Dot(source, shorten(source, 22), value(one, "deviation"), low, high, words))
    said = f"Standard deviation by source, {len(dots)} sources."
    return dot_rows(Rows(shorten(str(result), 60), "standard deviation", said, bars=True), dots)


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
    if not finite(value(one, "deviation")):
        return "undefined"
    low, high = _ends(one)
    ends = f" [{low:.2g}, {high:.2g}]" if finite(low) and finite(high) else ""
    return f"{value(one, 'deviation'):.2g}{ends}"
