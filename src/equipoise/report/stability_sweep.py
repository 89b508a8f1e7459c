"""Sweep of the threshold: what another share of yes votes for a positive label would change."""

from collections.abc import Sequence

from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import finite, number, percent, rank
from equipoise.report.stability_charts import NAMES, Line, Plot, curves
from equipoise.report.stability_rows import Cast, Entry, Part, by, digits_of, several, value
from equipoise.report.tables import row, table

DRAWN = 12
NOTE = (
    "An item counts as positive when the share of yes votes is at least the threshold; at one "
    "half a tie is therefore positive, while hard labels take a tie as negative. Labels change "
    "in steps, because a share of a few votes has few values. Models are scored against the "
    "labels of each threshold."
)


def part(entry: Entry, cast: Cast) -> Part:
    """The section on the threshold; the figure shows the first task."""
    rows = [one for one in entry["rows"] if one["metric"] == entry["rows"][0]["metric"]]
    tasks = by(rows, "task") if "task" in rows[0] else {"": rows}
    first = next(iter(tasks.values()))
    drawings = {
        "threshold-value": _lines(first, entry, cast, "value"),
        "threshold-rank": _lines(first, entry, cast, "rank"),
    }
    others = [str(one) for one in entry.get("findings", ())][1:]
    more = element("ul", *(element("li", one) for one in others)) if others else Html("")
    return Part(
        str(entry["finding"]),
        f"{cast.title(first)} and rank over the threshold; upright line: "
        f"{value(entry, 'centre'):g}",
        {name: one for name, one in drawings.items() if one is not None},
        join([more, *(_table(own, cast) for own in tasks.values())]), NOTE,
    )  # fmt: skip


def _lines(rows: Sequence[Entry], entry: Entry, cast: Cast, key: str) -> Html | None:
    """Draw a line per model over the thresholds."""
    middle = [
        one for one in rows if abs(value(one, "threshold") - value(entry, "centre")) < 1e-9
    ]
    place = {str(one["model"]): value(one, "rank") for one in middle}
    lines = []
    for model in sorted(place, key=lambda name: place[name])[:DRAWN]:
        points = tuple(
            (value(one, "threshold"), value(one, key))
            for one in rows
            if one["model"] == model and finite(value(one, key))
        )
        lines.append(Line(model, cast.short(model, NAMES), cast.class_(model), points))
    steps = several(rows, "threshold")
    shares = {one["threshold"]: value(one, "prevalence") for one in rows}
    few = tuple(steps[:: max(1, len(steps) // 5)])
    head = cast.title(rows) if key == "value" else "rank, 1 is best"
    plot = Plot(
        head, "share of yes votes from which an item is positive",
        f"{head} of {len(lines)} models at {len(steps)} thresholds.",
        tuple((step, f"{step:.2f}") for step in few),
        bars=tuple((step, shares[step]) for step in few if key == "value"),
        bar_title="positive items",
        here=value(entry, "centre"), down=key == "rank",
    )  # fmt: skip
    return curves(plot, lines)


def _table(rows: Sequence[Entry], cast: Cast) -> Html:
    """List value and rank of every model at some thresholds."""
    steps = several(rows, "threshold")
    some = sorted({steps[0], steps[len(steps) // 4], steps[len(steps) // 2],
                   steps[3 * len(steps) // 4], steps[-1]})  # fmt: skip
    digits = digits_of(rows)
    shares = {one["threshold"]: percent(value(one, "prevalence")) for one in rows}
    lines = [row("positive items", [shares[step] for step in some])]
    for model, own in by(rows, "model").items():
        at = {one["threshold"]: one for one in own}
        lines.append(
            cast.row(
                str(model),
                [
                    f"{number(value(at[step], 'value'), digits)} "
                    f"(rank {rank(value(at[step], 'rank'))})"
                    for step in some
                ],
            )
        )
    heads = ["Threshold", *(f"{step:.2f}" for step in some)]
    return table(f"{cast.title(rows)} by threshold", heads, lines)
