"""Power against the number of items, a line for each number of votes on an item."""

import math

from equipoise.report.markup import Html
from equipoise.report.numerals import count, finite, percent
from equipoise.report.palette import model_class
from equipoise.report.plan_curves import Curve, Field, chances
from equipoise.report.plan_rows import Facts, chance_of, votes_each
from equipoise.report.stability_rows import Part, by, capital, value
from equipoise.report.tables import row, table

DRAWN = 8  # lines; all are in the table
SMALL = 0.005  # chance that would be written as less than 1%
NOTE = (
    "The chance that the interval of the study lies above 0, if the difference is the one that "
    "the plan is made for: Φ(difference / standard error − z), with standard error "
    "√((items² + votes²/m)/n) for n items with m votes each; both parts are the pilot's. "
)
PAIRS = (
    "For the ranking it is the least chance that all pairs of neighbours are told apart: 1 "
    "minus the sum of the chances to miss one. Pairs without a plan are left aside."
)


def part(facts: Facts) -> Part:
    """The section on the chance of studies of any size."""
    drawn = _draw(facts)
    return Part(
        finding(facts),
        f"{capital(chance_of(facts))} by items (logarithmic axis) and votes on an item; "
        f"level line: {percent(facts['settings']['power'])} asked for; "
        "upright line: items of the pilot; dots: the designs below",
        {"plan-power": drawn} if drawn is not None else {},
        _table(facts), NOTE + (PAIRS if facts["goal"] == "ranking" else ""),
    )  # fmt: skip


def finding(facts: Facts) -> str:
    """What a study of the size of the pilot could do, and what is needed."""
    known = [value(one, "power_in_pilot") for one in facts["pairs"]]
    sure = [chance for chance in known if finite(chance)]
    now = max(0.0, 1 - sum(1 - chance for chance in sure))
    best, pilot = facts["recommended"], facts["pilot"]
    told = _least if facts["goal"] == "ranking" else percent
    chance = "no chance can be promised" if now == 0 else f"the chance is {told(now)}"
    return (
        f"With as many items and votes as the pilot ({count(pilot['items'], 'item')}, "
        f"{votes_each(pilot['votes_per_item'])} each) {chance}; {count(best['items'], 'item')} "
        f"with {votes_each(best['votes_per_item'])} each give {told(best['power'])}."
    )


def _least(share: float) -> str:
    """Write a chance that may be larger.

    Examples
    --------
    >>> _least(0.8), _least(0.9999), _least(0.0001)
    ('at least 80%', 'more than 99%', 'at least 0.01%')
    """
    text = percent(share, 2) if 0 < share < SMALL else percent(share)
    return f"more than {text[1:]}" if text.startswith(">") else f"at least {text}"


def _draw(facts: Facts) -> Html | None:
    """Draw the chance over the number of items."""
    rows = facts["power"]
    designs = {
        one["votes_per_item"]: (value(one, "items"), value(one, "power"))
        for one in facts["designs"]
    }
    lines = []
    for place, (votes, own) in enumerate(list(by(rows, "votes_per_item").items())[:DRAWN]):
        points = tuple((float(one["items"]), value(one, "power")) for one in own)
        known = tuple(one for one in points if finite(one[1]))
        lines.append(Curve(votes_each(votes), model_class(place), known, designs[votes]))
    sizes = [one["items"] for one in rows]
    field = Field(
        chance_of(facts),
        f"{capital(chance_of(facts))} for {count(min(sizes))} to {count(max(sizes), 'item')}, "
        f"{count(len(lines), 'line')} by votes per item.",
        value(facts["settings"], "power"), float(facts["pilot"]["items"]),
    )  # fmt: skip
    return chances(field, lines)


def _table(facts: Facts) -> Html:
    """List the chance for some numbers of items, and the votes that each needs."""
    rows = facts["grid"]
    votes = [one["votes_per_item"] for one in facts["designs"]]
    lines = []
    for one in rows:
        cells = [percent(value(one, f"power_{number}")) for number in votes]
        lines.append(row(count(one["items"]), [*cells, _needed(value(one, "votes_needed"))]))
    heads = ["Items", *(f"{votes_each(number)} each" for number in votes), "votes needed"]
    return table(capital(chance_of(facts)), heads, lines)


def _needed(votes: float) -> str:
    """Write the votes per item that would do."""
    if math.isnan(votes):
        return "not known"
    return "no number is enough" if math.isinf(votes) else count(votes)
