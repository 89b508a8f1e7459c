"""Sweep of the threshold: what another threshold for a positive label would change.

Every task (of one task: every metric) has a pair of drawings, value and rank over the
threshold. Models whose lines lie on each other throughout share one line and one name.
"""

from collections.abc import Sequence

from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import apart, finite, listing, number, percent, rank, shorten
from equipoise.report.stability_charts import NAMES, Line, Plot, curves
from equipoise.report.stability_rows import (
    SHARED,
    Cast,
    Entry,
    Part,
    by,
    digits_of,
    several,
    value,
)
from equipoise.report.tables import row, table

DRAWN = 12  # models with a line; all are in the table
TASKS = 6  # tasks with a drawing; all are in the tables
NOTE = (
    "An item counts as positive when more than this share of its votes says yes; at 0.5 that "
    "is the strict majority, and a tie is negative. Labels change in steps, because a share of "
    "a few votes has few values. Models are scored against the labels of each threshold, all "
    "on the same redrawn {unit}; the tables show intervals of values and ranks over these."
)
AT_LEAST = (
    "An item counts as positive when its probability is at least the threshold. Models are "
    "scored against the labels of each threshold, all on the same redrawn {unit}; the tables "
    "show intervals of values and ranks over these."
)


def part(entry: Entry, cast: Cast) -> Part:
    """The section on the threshold: every task, or the first few and tables of all."""
    rows = entry["rows"]
    first = [one for one in rows if one["metric"] == rows[0]["metric"]]
    tasks = by(first, "task") if "task" in rows[0] else by(rows, "metric")
    drawings: dict[str, Html | None] = {}
    for place, own in enumerate(list(tasks.values())[:TASKS], 1):
        tail = "" if place == 1 else f"-{place}"
        for key in ("value", "rank"):
            drawings[f"threshold-{key}{tail}"] = _lines(own, entry, cast, key)
    others = [str(one) for one in entry.get("findings", ())][1:]
    more = element("ul", *(element("li", one) for one in others)) if others else Html("")
    left = f"; the first {TASKS} of {len(tasks)}, tables have all" * (len(tasks) > TASKS)
    strict = bool(entry.get("strict"))
    unit = "groups of items (each as a whole)" if entry.get("groups") else "items"
    here = f"{'more than ' * strict}{value(entry, 'centre'):.3g}"
    return Part(
        str(entry["finding"]),
        f"Value and rank over the threshold; upright line: {here}; {SHARED}; +n: n more models "
        f"on the same line{left}",
        {name: one for name, one in drawings.items() if one is not None},
        join([more, *(_table(own, cast, entry) for own in tasks.values())]),
        (NOTE if strict else AT_LEAST).format(unit=unit),
        first=sum(drawings[f"threshold-{key}"] is not None for key in ("value", "rank")),
        others=f"Drawings of {listing([shorten(str(task), 32) for task in tasks][1:TASKS])}",
    )  # fmt: skip


def _lines(rows: Sequence[Entry], entry: Entry, cast: Cast, key: str) -> Html | None:
    """Draw a line per model over the thresholds."""
    steps = several(rows, "threshold")
    shares = {one["threshold"]: value(one, "prevalence") for one in rows}
    few = tuple(steps[:: max(1, len(steps) // 5)])
    lines = _grouped(rows, cast, key, _order(rows, entry))
    head = cast.title(rows) if key == "value" else f"rank by {cast.title(rows)}, 1 is best"
    strict = bool(entry.get("strict"))
    title = "share of yes votes to be exceeded" if strict else "threshold"
    plot = Plot(
        head, title, f"{head}, of {cast_count(rows)} at {len(steps)} thresholds.",
        tuple((step, f"{step:.2f}") for step in few),
        bars=tuple((step, shares[step]) for step in few if key == "value"),
        bar_title="positive items", held="from" if strict else "until",
        here=value(entry, "centre"), down=key == "rank",
    )  # fmt: skip
    return curves(plot, lines)


def cast_count(rows: Sequence[Entry]) -> str:
    """How many models there are.

    Examples
    --------
    >>> cast_count([{"model": "a"}, {"model": "b"}, {"model": "a"}])
    '2 models'
    """
    number_of = len(several(rows, "model"))
    return f"{number_of} model{'' if number_of == 1 else 's'}"


def _order(rows: Sequence[Entry], entry: Entry) -> list[str]:
    """Models by their rank at the centre; where that is undefined, as they come."""
    centre = value(entry, "centre")
    place = {
        str(one["model"]): value(one, "rank")
        for one in rows
        if abs(value(one, "threshold") - centre) < 1e-9 and finite(value(one, "rank"))
    }
    models = [str(one) for one in several(rows, "model")]
    return sorted(models, key=lambda name: place.get(name, len(models)))[:DRAWN]


def _grouped(rows: Sequence[Entry], cast: Cast, key: str, order: Sequence[str]) -> list[Line]:
    """Lines of the models, those that lie on each other as one."""
    found: dict[tuple[tuple[float, float], ...], list[str]] = {}
    for model in order:
        points = tuple(
            (value(one, "threshold"), value(one, key))
            for one in rows
            if one["model"] == model and finite(value(one, key))
        )
        found.setdefault(points, []).append(model)
    shown = apart(tuple(cast.models), NAMES - 4)
    return [
        Line(
            ", ".join(models),
            cast.short(models[0], NAMES)
            if len(models) == 1
            else f"{shown[models[0]]} +{len(models) - 1}",
            cast.class_(models[0]),
            points,
        )
        for points, models in found.items()
    ]


def _table(rows: Sequence[Entry], cast: Cast, entry: Entry) -> Html:
    """List value and rank of every model at the centre, the ends and half way to them."""
    steps, centre = several(rows, "threshold"), value(entry, "centre")
    middle = min(range(len(steps)), key=lambda place: abs(steps[place] - centre))
    places = {0, middle // 2, middle, (middle + len(steps)) // 2, len(steps) - 1}
    some = [steps[place] for place in sorted(places) if place < len(steps)]
    digits = digits_of(rows)
    shares = {one["threshold"]: percent(value(one, "prevalence")) for one in rows}
    lines = [row("positive items", [shares[step] for step in some])]
    for model, own in by(rows, "model").items():
        at = {one["threshold"]: one for one in own}
        lines.append(cast.row(str(model), [_cell(at[step], digits) for step in some]))
    sign = "> " if entry.get("strict") else "≥ "
    heads = ["Threshold", *(f"{sign}{step:.2f}" for step in some)]
    return table(f"{cast.title(rows)} by threshold", heads, lines)


def _cell(one: Entry, digits: int) -> str:
    """Write a value with its interval, and the rank with its own."""
    ends = f"[{number(value(one, 'low'), digits)}, {number(value(one, 'high'), digits)}]"
    low, high = value(one, "rank_low"), value(one, "rank_high")
    place = f"rank {rank(value(one, 'rank'))}"
    if finite(low) and finite(high) and low < high:
        place += f" [{rank(low)}, {rank(high)}]"
    return f"{number(value(one, 'value'), digits)} {ends} ({place})"
