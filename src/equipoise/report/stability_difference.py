"""Critical difference: average ranks over tasks, with bars over models that are not apart.

The diagram of Demšar (2006): ranks along the top, the best on the left, a name for each model
at the side, and a thick line under every group whose ends differ by less than the critical
difference.
"""

from collections.abc import Sequence

from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import finite, listing, number
from equipoise.report.stability_charts import headed
from equipoise.report.stability_rows import Cast, Entry, Part, value, written
from equipoise.report.svg import NARROW, Scale, across, at, down, drawing, path, text, titled
from equipoise.report.tables import table

START, END, AXIS = 124.0, 316.0, 66.0
LINE = 17.0
NOTE = (
    "Friedman's test asks whether all models could be equally good over the tasks; by Nemenyi "
    "two average ranks must differ by the critical difference to tell models apart. The test "
    "takes tasks as independent. Intervals of the average ranks come from redrawn items and "
    "need no such assumption."
)


def part(entry: Entry, cast: Cast) -> Part:
    """The section on average ranks over tasks."""
    each = entry.get("metrics") or [entry]
    drawings = {f"critical-difference-{one['metric']}": _diagram(one, cast) for one in each}
    tables = join(_table(one, cast) for one in each)
    return Part(
        str(entry["finding"]),
        "Average rank over tasks; thick lines join models that are not apart",
        {name: one for name, one in drawings.items() if one is not None}, tables, NOTE,
    )  # fmt: skip


def _diagram(entry: Entry, cast: Cast) -> Html | None:
    """Draw the diagram of one metric."""
    gap = value(entry, "difference")
    rows = [one for one in entry["rows"] if finite(value(one, "average_rank"))]
    if not finite(gap) or len(rows) < 2:
        return None
    total = len(rows)
    scale = Scale(1.0, float(total), START, END)
    groups = [list(map(str, one)) for one in entry.get("cliques", ())]
    below = AXIS + 14 + 8 * len(groups)
    half = (total + 1) // 2
    step = 1 if total <= 12 else 5
    ticks = [n for n in range(1, total + 1) if n == 1 or n % step == 0]
    parts = [
        headed(cast.title(rows)),
        path("sep thinner", across(scale(1), 34, min(scale(1 + gap), END) - scale(1))),
        text(START, 27, f"critical difference {number(gap, 2)}", "a"),
        path(
            "zero", across(START, AXIS, END - START), *(down(scale(n), AXIS, -5) for n in ticks)
        ),
        *(text(scale(n), AXIS - 9, f"{n}", "c a") for n in ticks),
        *(
            _name(
                one,
                (
                    scale(value(one, "average_rank")),
                    below + LINE * _level(place, total, half),
                ),
                cast,
                left=place < half,
            )
            for place, one in enumerate(rows)
        ),
        *_bars(groups, rows, scale),
    ]
    said = (
        f"Average ranks of {total} models over {len(entry['tasks'])} tasks, best on the left."
    )
    return drawing((NARROW, below + LINE * half + 10), said, *parts)


def _level(place: int, total: int, half: int) -> int:
    """How deep a model's name hangs: the outermost highest."""
    return place + 1 if place < half else total - place


def _name(one: Entry, place: tuple[float, float], cast: Cast, *, left: bool) -> Html:
    """Hang one model's name from the axis, at its side."""
    name, (x, y) = str(one["model"]), place
    edge = START - 6 if left else END + 6
    words = f"{number(value(one, 'average_rank'), 1)} {cast.short(name, 9)}"
    return element(
        "g",
        path("w", f"M{at(x, AXIS)}V{y:.1f}H{edge:.1f}"),
        titled(name, words, x=edge + (-3 if left else 3), y=y + 4,
               class_="e" if left else "s"),
        class_=cast.class_(name),
    )  # fmt: skip


def _bars(groups: Sequence[Sequence[str]], rows: Sequence[Entry], scale: Scale) -> list[Html]:
    """Draw a thick line over every group that is not apart."""
    ranks = {str(one["model"]): value(one, "average_rank") for one in rows}
    drawn = []
    for level, names in enumerate(groups):
        ends = [scale(ranks[name]) for name in names if name in ranks]
        low, high = min(ends) - 3, max(ends) + 3
        drawn.append(path("sep", across(low, AXIS + 10 + 8 * level, high - low)))
    return drawn


def _table(entry: Entry, cast: Cast) -> Html:
    """List average ranks, their intervals, and who is not apart."""
    lines = [
        cast.row(
            str(one["model"]),
            [
                written(one, ("average_rank", "low", "high"), 2),
                "all others"
                if len(one["not_apart_from"]) == len(entry["rows"]) - 1
                else listing([str(name) for name in one["not_apart_from"]], 3) or "none",
            ],
        )
        for one in entry["rows"]
    ]
    return table(_title(entry, cast), ["Model", "average rank", "not apart from"], lines)


def _title(entry: Entry, cast: Cast) -> str:
    """Name the metric and the p-value, or why there is none."""
    chance = value(entry, "p_value")
    said = f"Friedman p {number(chance)}"
    if not finite(chance):
        level = finite(value(entry, "difference"))
        said = "all models are level in every task" if level else "no test"
    return f"{cast.title(entry['rows'])}: {said}"
