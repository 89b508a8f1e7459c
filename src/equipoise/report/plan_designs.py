"""Designs that reach the chance asked for: fewer items with more votes, or more with fewer."""

from collections.abc import Sequence

from equipoise.report.markup import Html
from equipoise.report.numerals import count, finite, percent
from equipoise.report.palette import model_class
from equipoise.report.plan_rows import (
    Facts,
    about,
    money,
    paired,
    scaled,
    simulated,
    votes_each,
)
from equipoise.report.stability_charts import Line, Plot, curves
from equipoise.report.stability_rows import Entry, Part, by, value
from equipoise.report.tables import row, table

ROOM = 44  # letters of a pair in the table
PAIR = "Items needed: (z + Φ⁻¹(chance))² (items² + votes²/m) / difference². "
RANKING = (
    "Items needed: the fewest with which 1 minus the sum of the chances to miss a pair is the "
    "chance asked for; the hardest pair, the one most likely missed, takes most of what may "
    "fail, and only it is simulated. "
)
NOTE = (
    "Their ± is the standard error that comes from estimating the two spreads from the pilot; "
    "the doubt about the difference itself comes on top. The simulated chance is the share of "
    "studies, drawn from the items and votes of the pilot, whose interval lies above 0, ± its "
    "Monte Carlo error; designs with more votes than the pilot has cannot be simulated."
)


def part(facts: Facts) -> Part:
    """The section on what a study costs in items and votes."""
    priced = _priced(facts)
    second = "plan-cost" if priced else "plan-votes"
    drawn = {"plan-items": _contours(facts), second: _totals(facts, priced=priced)}
    what = "what they cost" if priced else "the votes that makes in all"
    return Part(
        _finding(facts, priced=priced),
        f"Items that each number of votes per item needs, for several chances, and {what} at "
        f"{percent(facts['settings']['power'])}",
        {name: one for name, one in drawn.items() if one is not None},
        _table(facts, priced=priced),
        (RANKING if facts["goal"] == "ranking" else PAIR) + NOTE,
    )  # fmt: skip


def _priced(facts: Facts) -> bool:
    return facts["settings"]["price_item"] is not None


def _finding(facts: Facts, *, priced: bool) -> str:
    """Which design is cheapest, or what more votes trade for items."""
    rows, best = facts["designs"], facts["recommended"]
    size = f"{count(best['items'], 'item')} with {votes_each(best['votes_per_item'])} each"
    if len(rows) == 1:
        return f"One design was looked at: {size}, {count(best['votes'], 'vote')} in all."
    if priced:
        dear = max(rows, key=lambda one: value(one, "cost"))
        return (
            f"The cheapest of {len(rows)} designs is {size}, at {money(value(best, 'cost'))}; "
            f"the dearest is {count(dear['items'], 'item')} with "
            f"{votes_each(dear['votes_per_item'])} each, at {money(value(dear, 'cost'))}."
        )
    few, many = rows[0], rows[-1]
    return (
        f"Going from {votes_each(few['votes_per_item'])} per item to "
        f"{votes_each(many['votes_per_item'])} {_moves(few['items'], many['items'])} the items "
        f"needed {_ends(few['items'], many['items'])} and "
        f"{_moves(few['votes'], many['votes'])} the votes in all "
        f"{_ends(few['votes'], many['votes'])}."
    )


def _moves(before: float, after: float) -> str:
    return "lowers" if after < before else "raises" if after > before else "leaves"


def _ends(before: float, after: float) -> str:
    if before == after:
        return f"at {count(before)}"
    return f"from {count(before)} to {count(after)}"


def _contours(facts: Facts) -> Html | None:
    """Draw items needed over votes per item, a line for each chance."""
    rows = facts["contours"]
    if len(by(rows, "votes_per_item")) < 2:
        return None
    unit, words = scaled([value(one, "items") for one in rows])
    lines = []
    for place, (chance, own) in enumerate(by(rows, "power").items()):
        points = tuple((float(one["votes_per_item"]), one["items"] / unit) for one in own)
        name = f"chance {percent(chance)}"
        lines.append(Line(name, name, model_class(place), points))
    numbers = [int(one) for one in by(rows, "votes_per_item")]
    plot = Plot(
        f"items needed{words}", "votes on each item",
        f"Items needed for {numbers[0]} to {votes_each(numbers[-1])} per item, for "
        f"{count(len(lines), 'chance')}.",
        _ticks(numbers),
    )  # fmt: skip
    return curves(plot, lines)


def _ticks(numbers: Sequence[int], most: int = 10) -> tuple[tuple[float, str], ...]:
    """Numbers to write under the axis, apart by at least a tenth of it."""
    room = (numbers[-1] - numbers[0]) / most
    shown = [numbers[0]]
    for number in numbers:
        if number - shown[-1] >= max(room, 1):
            shown.append(number)
    return tuple((float(number), f"{number}") for number in shown)


def _totals(facts: Facts, *, priced: bool) -> Html | None:
    """Draw the cost, or the votes in all, over votes per item."""
    rows, key = facts["designs"], "cost" if priced else "votes"
    if len(rows) < 2:
        return None
    unit, words = scaled([value(one, key) for one in rows])
    points = tuple(
        (float(one["votes_per_item"]), value(one, key) / unit)
        for one in rows
        if finite(value(one, key))
    )
    head = "cost" if priced else "votes in all"
    asked = percent(facts["settings"]["power"])
    plot = Plot(
        f"{head}{words}", "votes on each item",
        f"{head} by votes per item, {count(len(rows), 'design')}.",
        _ticks([int(one["votes_per_item"]) for one in rows]),
    )  # fmt: skip
    return curves(plot, [Line(f"chance {asked}", f"chance {asked}", model_class(0), points)])


def _table(facts: Facts, *, priced: bool) -> Html:
    """List all designs."""
    ranking = facts["goal"] == "ranking"
    heads = ["Votes per item", "items needed", "votes in all"]
    heads += ["cost"] if priced else []
    heads += ["hardest pair", "all pairs, at least"] if ranking else []
    heads += ["its chance by formula" if ranking else "chance by formula", "simulated"]
    asked = ("at least " if ranking else "") + percent(facts["settings"]["power"])
    rows = facts["designs"]
    pairs = paired(rows, ROOM) if ranking else [""] * len(rows)
    lines = [_row(one, pair, priced=priced) for one, pair in zip(rows, pairs, strict=True)]
    return table(f"Studies with a chance of {asked}", heads, lines)


def _row(one: Entry, pair: str, *, priced: bool) -> Html:
    """Write one design; that of a ranking with its hardest pair."""
    cells = [about(value(one, "items"), value(one, "items_error")), count(value(one, "votes"))]
    cells += [money(value(one, "cost"))] if priced else []
    cells += [pair, percent(value(one, "power"))] if pair else []
    cells += [percent(value(one, "pair_power" if pair else "power")), simulated(one)]
    return row(count(one["votes_per_item"]), cells)
