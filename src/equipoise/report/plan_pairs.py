"""Neighbours of a ranking: what each pair needs alone, and its chance in the whole study."""

import math

from equipoise.report.markup import Html
from equipoise.report.numerals import count, finite, percent
from equipoise.report.plan_rows import (
    Facts,
    about,
    gap,
    pair_name,
    paired,
    scaled,
    votes_each,
    written,
)
from equipoise.report.stability_charts import Dot, Rows, dot_rows
from equipoise.report.stability_rows import Entry, Part, value
from equipoise.report.tables import row, table

FAR = 30  # times the smallest, from which on bars are of logarithms
DRAWN = 20  # pairs; all are in the table
STATES = {"level": "level in the pilot", "no spread": "every item says the same"}
NOTE = (
    "Neighbours are compared in the order of the pilot. Items alone are those that tell one "
    "pair apart with the chance asked for; to tell all apart with that chance takes more, "
    "because none may be missed. The order of neighbours in the pilot may itself be wrong "
    "where an interval holds 0."
)


def part(facts: Facts) -> Part:
    """The section on the pairs of a ranking."""
    rows = facts["pairs"]
    drawn = {"plan-pairs": _needed(facts), "plan-pair-differences": _gaps(facts)}
    few = f", first {DRAWN} of {len(rows)}" if len(rows) > DRAWN else ""
    return Part(
        _finding(facts),
        f"Neighbours in the order of the pilot{few}: items that each pair needs alone, and its "
        "difference in the pilot with its interval",
        {name: one for name, one in drawn.items() if one is not None},
        _table(facts), NOTE,
    )  # fmt: skip


def _finding(facts: Facts) -> str:
    """Which pair needs most, which least, what all need, and which cannot be planned."""
    planned = [one for one in facts["pairs"] if one["state"] == "planned"]
    left = len(facts["pairs"]) - len(planned)
    rest = f" No size can be planned for {count(left, 'pair')}." if left else ""
    if not planned or facts["recommended"] is None:
        return rest.strip()
    most = max(planned, key=lambda one: value(one, "items"))
    least = min(planned, key=lambda one: value(one, "items"))
    votes = votes_each(facts["recommended"]["votes_per_item"])
    said = f"With {votes} per item {pair_name(most)} alone needs {count(most['items'], 'item')}"
    if len(planned) > 1:
        whole = count(facts["recommended"]["items"], "item")
        said += f", {pair_name(least)} {count(least['items'], 'item')}; all together {whole}"
    return f"{said}.{rest}"


def _needed(facts: Facts) -> Html | None:
    """Draw the items that each pair needs; as powers of ten where they are far apart."""
    rows = facts["pairs"][:DRAWN]
    sizes = [value(one, "items") for one in rows]
    known = [size for size in sizes if finite(size)]
    far = bool(known) and max(known) > FAR * min(known)
    unit, words = scaled(known)
    title = "items, as a power of ten" if far else f"items{words}"
    dots = []
    for one, size, short in zip(rows, sizes, paired(rows), strict=True):
        place = math.log10(size) if far else size / unit
        dots.append(Dot(pair_name(one), short, place, place, place, _words(one)))
    said = f"Items needed by {count(len(dots), 'pair')}."
    return dot_rows(Rows("items needed alone", title, said, bars=True), dots)


def _words(one: Entry) -> str:
    return count(value(one, "items")) if finite(value(one, "items")) else "no plan"


def _gaps(facts: Facts) -> Html | None:
    """Draw the difference of each pair."""
    rows = facts["pairs"][:DRAWN]
    dots = [
        Dot(
            pair_name(one), short, value(one, "difference"), value(one, "low"),
            value(one, "high"), gap(value(one, "difference")),
        )
        for one, short in zip(rows, paired(rows), strict=True)
    ]  # fmt: skip
    head = f"difference in {facts['metric']['soft_title']}"
    said = f"Difference of {count(len(dots), 'pair')} in the pilot."
    title = f"with its {percent(facts['settings']['level'])} interval"
    return dot_rows(Rows(head, title, said, zero=True), dots)


def _table(facts: Facts) -> Html:
    """List every pair."""
    rows = facts["pairs"]
    lines = []
    for one, name in zip(rows, paired(rows, 44), strict=True):
        cells = [
            written(one, "difference"),
            gap(value(one, "resolved")),
            STATES.get(one["state"], "")
            or about(value(one, "items"), value(one, "items_error")),
            *(_chance(one, key) for key in ("power_in_pilot", "power_in_study")),
        ]
        lines.append(row(name, cells, room=44))
    heads = ["Pair", "difference in the pilot", "planned for", "items needed alone",
             "chance with the size of the pilot", "chance in the planned study"]  # fmt: skip
    return table("What each pair of neighbours needs", heads, lines)


def _chance(one: Entry, key: str) -> str:
    return percent(value(one, key)) if one["state"] == "planned" else ""
