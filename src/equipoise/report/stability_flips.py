"""Flips: the smallest sets of items or votes found that put the second model first."""

from collections.abc import Sequence

from equipoise.report.markup import Html
from equipoise.report.numerals import count, percent, signed
from equipoise.report.stability_rows import Cast, Entry, Part, by, several, value
from equipoise.report.tables import row, table

NOTE = (
    "The search is greedy and every set that it names is checked by scoring the models anew. "
    "A number without ≤ is the smallest there is, because all smaller sets were tried. A lead "
    "that hangs on a few items or votes is no reason to prefer a model."
)
UNITS = {
    "items": "items left out",
    "votes": "votes left out",
    "changed votes": "votes changed",
}


def part(entry: Entry, cast: Cast) -> Part:
    """The section on small sets that change who is best."""
    numbers = _table(entry["rows"], cast)
    return Part(str(entry["finding"]), numbers=numbers, note=NOTE, shown=True)


def _table(rows: Sequence[Entry], cast: Cast) -> Html:
    """List the smallest sets found, a row per task and a column per kind of move."""
    units = several(rows, "unit")
    lines = []
    for task, own in by(rows, "task").items():
        found = {one["unit"]: one for one in own}
        cells = [str(own[0]["a"]), signed(value(own[0], "lead"))]
        cells += [_size(found[unit]) if unit in found else "" for unit in units]
        lines.append(row(str(task or "all items"), cells, room=40))
    title = cast.title([{**rows[0], "task": ""}])
    heads = ["Task", "best", f"lead in {title}", *(UNITS.get(u, str(u)) for u in units)]
    return table("Smallest sets found, their share of all, and who is then first", heads, lines)


def _size(one: Entry) -> str:
    """Write the size of a set, and who is first after it."""
    if not one["size"]:
        return f"none up to {one['tried_up_to']}"
    bound = "" if one["smallest"] else "≤ "
    return f"{bound}{count(one['size'])} ({percent(value(one, 'share'), 1)}): {one['b']}"
