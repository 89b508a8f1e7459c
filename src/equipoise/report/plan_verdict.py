"""The verdict of a plan: how many items and votes, and the interval that they are to give."""

from collections.abc import Sequence

from equipoise.report.markup import Html
from equipoise.report.numerals import count, percent
from equipoise.report.plan_rows import Facts, gap, needs_most, pair_name, written
from equipoise.report.stability_charts import Dot, Rows, dot_rows
from equipoise.report.stability_rows import Entry, Part, value
from equipoise.report.tables import row, table

NOTE = (
    "The difference is that of the metric with soft labels (the mean vote), positive when the "
    "first model is better. The interval of the pilot includes what these annotators add."
)
PLANNED = (
    " The planned interval is what to expect if the difference is the one that the plan is "
    "made for; a real study will find it to the left or to the right of that. The plan counts "
    "votes as from ever new people."
)
PICKED = (
    " A difference taken from a pilot tends to be too large when the pair was picked by it: "
    "name the smallest one that matters instead, if there is one."
)


def part(facts: Facts) -> Part:
    """The section that comes first."""
    rows = facts["intervals"]
    pair, title = pair_name(facts["hardest"]), facts["metric"]["soft_title"]
    which = needs_most(facts)
    level = percent(facts["settings"]["level"])
    drawn = _draw(rows, f"{pair}: difference in {title}")
    more = "" if len(rows) == 1 else ", and what to expect of the planned study"
    return Part(
        str(facts["finding"]),
        f"Difference of {pair}{which} in {title}, with its {level} interval in the pilot{more}",
        {"plan-interval": drawn} if drawn is not None else {},
        table("Difference and its interval", ["Study", "items", "votes per item", "difference"],
              [_row(one) for one in rows]),
        NOTE + (PLANNED if len(rows) > 1 else "") + (PICKED if _picked(facts) else ""),
    )  # fmt: skip


def _picked(facts: Facts) -> bool:
    """Whether the plan is made for the difference that the pilot found."""
    return facts["recommended"] is not None and facts["settings"]["difference"] is None


def _draw(rows: Sequence[Entry], head: str) -> Html | None:
    dots = [
        Dot(
            str(one["study"]),
            str(one["study"]),
            value(one, "value"),
            value(one, "low"),
            value(one, "high"),
            gap(value(one, "value")),
        )
        for one in rows
    ]
    said = f"{head}, in the pilot" + (" and as planned." if len(dots) > 1 else ".")
    return dot_rows(Rows(head, "difference; right of 0: the first is better", said, zero=True),
                    dots)  # fmt: skip


def _row(one: Entry) -> Html:
    cells = [
        count(value(one, "items")),
        count(value(one, "votes_per_item")),
        written(one, "value"),
    ]
    return row(str(one["study"]), cells)
