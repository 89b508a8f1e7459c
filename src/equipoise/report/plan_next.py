"""The votes that come next: items on which one more tells most."""

from equipoise.report.markup import Html
from equipoise.report.numerals import count, distinct, number, percent
from equipoise.report.plan_rows import NAME, Facts, error
from equipoise.report.stability_charts import Dot, Rows, dot_rows
from equipoise.report.stability_rows import Entry, Part, value
from equipoise.report.tables import row, table

DRAWN = 12
LISTED = 50
LABEL = 36  # letters of a name in the table
LAW = (
    "What all voters would say of an item follows a Dirichlet law: its votes, and imagined "
    "ones beforehand, as many as fit how often votes on one item differ (two where no item has "
    "two votes), and shared out as the labels of all items are on average. How likely the "
    "order is wrong follows from that law, which knows nothing of what the models say of an "
    "item; models that are good and much alike are in the wrong order somewhat more often. "
)
PAIR = (
    "The gain is the expected fall of the variance of the difference by one more vote on the "
    "item. Gains add up, so the items with the largest make the best batch."
)
RANKING = (
    "The gain is the expected fall, by one more vote on the item, of the number of neighbours "
    "that two redraws of what all voters would say put in different order. To first order "
    "gains add up; in a large batch they overlap, so send the items in parts and plan again."
)
NOTES = {"pair": LAW + PAIR, "ranking": LAW + RANKING}


def part(facts: Facts) -> Part:
    """The section on the items to annotate next."""
    found = facts["next"]
    rows = found["rows"]
    if not rows:
        return Part(str(found["finding"]), note=NOTES[found["goal"]], empty=True)
    drawn = _draw(rows)
    few = min(DRAWN, len(rows))
    return Part(
        str(found["finding"]),
        f"Expected gain of one more vote, first {few} of {count(len(rows), 'item')} named",
        {"plan-next": drawn} if drawn is not None else {},
        _table(rows), NOTES[found["goal"]],
    )  # fmt: skip


def _gain(one: Entry) -> float:
    return value(one, "expected gain")


def _draw(rows: list[Entry]) -> Html | None:
    """Draw the gain of the first items, as a share of the largest."""
    first = rows[:DRAWN]
    most = max((_gain(one) for one in first), default=0.0)
    if not most > 0:
        return None
    names = [str(one["item"]) for one in first]
    dots = []
    for one, name, short in zip(first, names, distinct(names, NAME), strict=True):
        share = _gain(one) / most
        dots.append(Dot(name, short, share, share, share, error(_gain(one))))
    head = "expected gain, the largest is 1"
    said = f"Expected gain of one more vote on {count(len(dots), 'item')}."
    return dot_rows(Rows(head, "share of the largest gain", said, bars=True), dots)


def _table(rows: list[Entry]) -> Html:
    """List the first items."""
    shown = rows[:LISTED]
    names = distinct([str(one["item"]) for one in shown], LABEL)
    about = any("tells most about" in one for one in shown)
    most = max((_gain(one) for one in rows), default=0.0)
    lines = []
    for one, name in zip(shown, names, strict=True):
        cells = [
            count(value(one, "votes so far")),
            number(value(one, "soft label"), 2),
            error(_gain(one)),
            percent(_gain(one) / most) if most > 0 else "",
            *([str(one["tells most about"])] if about else []),
        ]
        lines.append(row(name, cells, room=LABEL))
    heads = ["Item", "votes so far", "soft label", "expected gain", "of the largest"]
    more = f", first {LISTED} of {count(len(rows))}" if len(rows) > LISTED else ""
    return table(f"Items worth one more vote{more}", [*heads, *(["tells most about"] * about)],
                 lines)  # fmt: skip
