"""Chances over the size of a study: lines that end together, each named, on a log axis.

A dot marks the design that was planned.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from equipoise.report.markup import Html, element
from equipoise.report.numerals import count, percent
from equipoise.report.plan_rows import compact
from equipoise.report.retained import spread
from equipoise.report.stability_charts import headed
from equipoise.report.svg import LETTER, NARROW, Scale, across, at, down, drawing, path, text

LEFT, RIGHT, TOP, BOTTOM = 52.0, 316.0, 30.0, 230.0
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
MOST = 7  # ticks


@dataclass(frozen=True, slots=True)
class Curve:
    """A line: its name, its class, points (items, chance), and the point of its design."""

    name: str
    class_: str
    points: tuple[tuple[float, float], ...]
    design: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Field:
    """What surrounds the lines: head, alternative, chance asked for, items of the pilot."""

    head: str
    alternative: str
    asked: float
    pilot: float


def chances(field: Field, curves: Sequence[Curve]) -> Html | None:
    """Draw a line per curve; None where nothing can be drawn."""
    drawn = [one for one in curves if len(one.points) > 1]
    if not drawn:
        return None
    sizes = [items for one in drawn for items, _ in one.points]
    sideways = Scale(math.log10(min(sizes)), math.log10(max(sizes)), LEFT, RIGHT)
    upward = Scale(0.0, 1.0, BOTTOM, TOP)
    ends = {one.name: upward(one.points[-1][1]) for one in drawn}
    names = spread(ends, (TOP, BOTTOM))
    asked, pilot = upward(field.asked), sideways(math.log10(field.pilot))
    parts = [
        headed(field.head),
        path("g", *(across(LEFT, upward(share), RIGHT - LEFT) for share in SHARES)),
        *(text(LEFT - 5, upward(share) + 4, percent(share), "e a") for share in SHARES),
        *_axis(sideways),
        path("ref", across(LEFT, asked, RIGHT - LEFT)),
        path("ref", down(pilot, TOP, BOTTOM - TOP)),
        *(_line(one, sideways, upward, names[one.name]) for one in drawn),
        _key(field),
    ]
    return drawing((NARROW, BOTTOM + 56), field.alternative, *parts)


def _key(field: Field) -> Html:
    """Say what the dashed lines are, under the plot, where nothing crosses the words."""
    pilot = f"{count(field.pilot, 'item')} of the pilot"
    words = f"dashed: {percent(field.asked)} asked for, {pilot}"
    return text((LEFT + RIGHT) / 2, BOTTOM + 50, words, "c a")


def _axis(sideways: Scale) -> list[Html]:
    """Write numbers of items under the plot."""
    ticks = tens(10**sideways.low, 10**sideways.high)
    places = {compact(one): sideways(math.log10(one)) for one in ticks}
    middle = (LEFT + RIGHT) / 2
    return [
        *(text(x, BOTTOM + 15, words, "c a") for words, x in _parted(places).items()),
        text(middle, BOTTOM + 32, "items in the study", "c a"),
    ]


def _parted(places: Mapping[str, float]) -> dict[str, float]:
    """Words that leave room between each other, powers of ten before the others.

    Examples
    --------
    >>> _parted({"500": 100.0, "1,000": 125.0, "2,000": 160.0, "5,000": 220.0})
    {'1,000': 125.0, '5,000': 220.0}
    """
    kept: dict[str, float] = {}
    for words in sorted(places, key=lambda each: each[0] != "1"):
        room = {other: LETTER * (len(words) + len(other)) / 2 + 4 for other in kept}
        if all(abs(places[words] - kept[other]) >= room[other] for other in kept):
            kept[words] = places[words]
    return {words: x for words, x in places.items() if words in kept}


def tens(low: float, high: float, most: int = MOST) -> list[int]:
    """Ticks of a logarithmic axis: 1, 2 and 5 times powers of ten, as many as have room.

    Examples
    --------
    >>> tens(90, 2400), tens(10, 10**7)
    ([100, 200, 500, 1000, 2000], [10, 100, 1000, 10000, 100000, 1000000, 10000000])
    >>> tens(210, 430)
    [210, 430]
    """
    powers = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    every = [factor * 10**power for power in powers for factor in (1, 2, 5)]
    inside = [one for one in every if low <= one * (1 + 1e-9) and one <= high * (1 + 1e-9)]
    if len(inside) > most:
        inside = [one for one in inside if str(one).startswith("1")]
    inside = inside[:: math.ceil(len(inside) / (most + 1)) or 1]
    return inside if len(inside) > 1 else [round(low), round(high)]


def _line(one: Curve, sideways: Scale, upward: Scale, height: float) -> Html:
    """Draw one line, its design, and its name at some height."""
    places = [(sideways(math.log10(items)), upward(share)) for items, share in one.points]
    parts = [
        path("cv", "M" + "L".join(at(*place) for place in places)),
        path("d", across(sideways(math.log10(one.design[0])), upward(one.design[1]))),
        path("l", f"M{at(places[-1][0] + 2, places[-1][1])}L{at(RIGHT + 14, height)}"),
        text(RIGHT + 18, height + 4, one.name),
    ]
    return element("g", *parts, class_=one.class_)
