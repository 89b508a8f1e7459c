"""Clear cases: how certain the items are, and the models on those that are certain enough."""

from collections.abc import Sequence

from equipoise.report.certainty_curve import Sorted
from equipoise.report.certainty_curve import draw as draw_sorted
from equipoise.report.markup import Html, join
from equipoise.report.numerals import chance, count, finite, number, percent, rank, signed
from equipoise.report.numerals import signed_interval as span
from equipoise.report.stability_charts import NAMES, Line, Plot, curves
from equipoise.report.stability_rows import (
    SHARED,
    Cast,
    Entry,
    Part,
    by,
    capital,
    digits_of,
    several,
    value,
    written,
)
from equipoise.report.tables import row, table

DRAWN = 12  # models with a line; all are in the table
NOTE = (
    "The certainty of an item is the chance that the class with most votes really is the most "
    "plausible one, by a Dirichlet distribution over its votes; few or divided votes make it "
    "small. Reliability is what one vote counts: nothing in the votes tells it, so the curve "
    "is drawn for several. Models are scored on the items whose certainty (at reliability 1) "
    "reaches a cut-off; intervals come from redrawn items and take it as known which are "
    "clear, and the change is paired with the value on all items. Clear items are also the "
    "easy ones, so values rise; what matters is whether the order stays."
)


def part(entry: Entry, cast: Cast) -> Part:
    """The section on clear cases."""
    rows = entry["rows"]
    lines = [
        Sorted(one["points"], value(one, "share_below"), f"reliability {one['reliability']:g}")
        for one in entry["curves"]
    ]
    sure = value(entry, "sure")
    sorted_ = draw_sorted(lines, sure, entry["curves"][0]["items"])
    drawings = {
        "certainty": sorted_,
        "certainty-models": _models(rows, cast, "value"),
        "certainty-ranks": _models(rows, cast, "rank") if len(cast.models) > 1 else None,
    }
    first = _best(rows, cast)
    band = f"; band: interval of {cast.short(first[0], 24)}" if first else ""
    tied = f"; {SHARED}" * (len(cast.models) > 1)
    return Part(
        str(entry["finding"]),
        f"Items sorted by certainty; {cast.title(rows)} and ranks on the items of at least "
        f"some certainty{band}; bars: items that are left{tied}",
        {name: one for name, one in drawings.items() if one is not None},
        join([_values(rows, cast), _order(rows, cast), _shares(entry)]), NOTE,
    )  # fmt: skip


def _best(rows: Sequence[Entry], cast: Cast) -> list[str]:
    """Models by their value on all items, the best first."""
    whole = [one for one in rows if one["certainty"] == rows[0]["certainty"]]
    known = {str(one["model"]): cast.sign(rows) * value(one, "value") for one in whole}
    return sorted(known, key=lambda model: (not finite(known[model]), -known[model]))


def _models(rows: Sequence[Entry], cast: Cast, key: str) -> Html | None:
    """Draw the value or the rank of each model over the cut-offs."""
    best, places = _best(rows, cast), _places(rows)
    lines = []
    for model in best[:DRAWN]:
        own = [one for one in rows if one["model"] == model and finite(value(one, key))]
        points = tuple((places[one["certainty"]], value(one, key)) for one in own)
        band = tuple(
            (places[one["certainty"]], value(one, "low"), value(one, "high"))
            for one in own
            if model == best[0] and key == "value"
        )
        lines.append(
            Line(model, cast.short(model, NAMES), cast.class_(model), points, band=band)
        )
    shares = {one["certainty"]: value(one, "coverage") for one in rows}
    head = cast.title(rows) if key == "value" else "rank, 1 is best"
    plot = Plot(
        head, "least certainty of an item",
        f"{capital(head)} of {len(lines)} models over {len(places)} cut-offs of certainty.",
        tuple((x, _cut(least) if least > rows[0]["certainty"] else "all")
              for least, x in places.items()),
        bars=tuple((places[least], share) for least, share in shares.items() if key == "value"),
        bar_title="items left", down=key == "rank",
        lead=tuple(dict.fromkeys([*best[:3], *_last(rows)])),
    )  # fmt: skip
    return curves(plot, lines)


def _last(rows: Sequence[Entry]) -> list[str]:
    """Models that are best on the most certain items that can be scored."""
    ranked = [one for one in rows if finite(value(one, "rank"))]
    last = [one for one in ranked if one["certainty"] == ranked[-1]["certainty"]]
    least = min((value(one, "rank") for one in last), default=0.0)
    return [str(one["model"]) for one in last if value(one, "rank") == least][:2]


def _places(rows: Sequence[Entry]) -> dict[float, float]:
    """Cut-offs at equal distances."""
    return {least: float(n) for n, least in enumerate(several(rows, "certainty"))}


def _cut(least: float) -> str:
    """Write a cut-off so that no two of them look alike.

    Examples
    --------
    >>> _cut(0.74609), _cut(0.998), _cut(1.0)
    ('0.75', '0.998', '1')
    """
    return f"{least:.2f}" if least < 0.985 else f"{least:.4g}"


def _values(rows: Sequence[Entry], cast: Cast) -> Html:
    """List value and change of every model at every cut-off."""
    digits, steps = digits_of(rows), list(_places(rows))
    left = {one["certainty"]: one for one in rows}
    lines = []
    for model in _best(rows, cast):
        own = {one["certainty"]: one for one in rows if one["model"] == model}
        cells = [written(own[steps[0]], ("value", "low", "high"), digits)]
        cells += [_cell(own[least], digits) for least in steps[1:]]
        lines.append(cast.row(model, cells))
    heads = [f"all ({count(value(left[steps[0]], 'items'), 'item')})"]
    heads += [
        f"≥ {_cut(least)} ({count(value(left[least], 'items'), 'item')}, "
        f"{percent(value(left[least], 'coverage'))})"
        for least in steps[1:]
    ]
    said = f"{capital(cast.title(rows))} by least certainty, and its change from all items"
    return table(said, ["Model", *heads], lines)


def _cell(one: Entry, digits: int) -> str:
    """Write a value with its interval and its change."""
    if one["status"] != "scored":
        return str(one["status"])
    ends = span(value(one, "change_low"), value(one, "change_high"), digits)
    change = f"{signed(value(one, 'change'), digits)} {ends}"
    return f"{written(one, ('value', 'low', 'high'), digits)}; {change}"


def _order(rows: Sequence[Entry], cast: Cast) -> Html:
    """List the ranks at every cut-off."""
    steps = list(_places(rows))
    lines = []
    for model in _best(rows, cast):
        own = {one["certainty"]: one for one in rows if one["model"] == model}
        lines.append(cast.row(model, [rank(value(own[least], "rank")) for least in steps]))
    near = {one["certainty"]: number(value(one, "spearman"), 2) for one in rows}
    lines.append(row("rank correlation", [near[least] for least in steps]))
    heads = ["Model", "all", *(f"≥ {_cut(least)}" for least in steps[1:])]
    return table("Ranks by least certainty, and their correlation with all items", heads, lines)


def _shares(entry: Entry) -> Html:
    """List how many items are uncertain, task by task and by reliability."""
    rows = entry["shares"]
    worths = several(rows, "reliability")
    lines = []
    for task, own in by(rows, "task").items():
        cells = [count(own[0]["items"]), chance(value(own[0], "mean"), 3)]
        cells += [percent(value(one, "share_below")) for one in own]
        lines.append(row(str(task or "all items"), cells))
    heads = ["Task", "items", "mean certainty",
             *(f"reliability {worth:g}" for worth in worths)]  # fmt: skip
    sure = f"{value(entry, 'sure'):g}"
    return table(f"Items with a certainty below {sure}, by reliability", heads, lines)
