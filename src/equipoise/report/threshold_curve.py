"""Where positives start: the share of positives in every bin, the rule and the threshold.

Bins stand side by side, because most probabilities of a screened collection lie near 0 and
would hide each other on an axis of probability; a probability between the means of two bins
lies between the bins.
"""

from collections.abc import Callable, Sequence

import numpy as np

from equipoise.report.markup import Html, element
from equipoise.report.numerals import finite, number, percent
from equipoise.report.stability_charts import headed, joined
from equipoise.report.stability_rows import Entry, value
from equipoise.report.svg import NARROW, Scale, across, down, drawing, path, text

LEFT, RIGHT, TOP, HIGH = 46.0, 424.0, 42.0, 190.0
TICKS = 6
LEAST = 9.0  # width of a shade
Place = Callable[[float], float]
RULES = {"rise": "share to exceed", "isotonic": "rising share that fits best"}


def curve(entry: Entry, rule: str) -> Html | None:
    """Draw the bins, what the threshold is read from, and the threshold with its interval."""
    rows = [one for one in entry["rows"] if finite(value(one, "share of positives"))]
    if not rows:
        return None
    means = [value(one, "mean probability") for one in entry["rows"]]
    sideways = Scale(-0.5, len(means) - 0.5, LEFT, RIGHT)
    upward = Scale(0.0, 1.0, TOP + HIGH, TOP)

    def place(probability: float) -> float:
        return sideways(float(np.interp(probability, means, np.arange(len(means)))))

    spot = value(entry, "value")
    parts = [
        headed("Positives by the experts' majority, bin by bin"),
        *_interval(entry, place),
        *_grid(upward),
        *_axis(means, sideways),
        _fit(entry, (place, upward)),
        *(_bin(one, sideways, upward) for one in rows),
    ]
    if finite(spot):
        x = place(spot)
        parts.append(path("ref", down(x, TOP, HIGH)))
        words = f"threshold {number(spot)}"
        parts.append(text(min(max(x, LEFT + 50), RIGHT - 50), TOP - 10, words, "c"))
    said = (
        f"Share of positives in {len(rows)} bins of items by probability; dots with intervals."
    )
    return drawing((NARROW, TOP + HIGH + 62), said, *parts, _key(rule))


def _grid(upward: Scale) -> list[Html]:
    ticks = (0.0, 0.25, 0.5, 0.75, 1.0)
    return [
        path("g", *(across(LEFT, upward(tick), RIGHT - LEFT) for tick in ticks)),
        *(text(LEFT - 5, upward(tick) + 4, percent(tick), "e a") for tick in ticks),
    ]


def _axis(means: Sequence[float], sideways: Scale) -> list[Html]:
    """Write the mean probability under some bins."""
    step = max(1, -(-len(means) // TICKS))
    some = range(len(means) - 1, -1, -step)
    bottom = TOP + HIGH
    return [
        *(text(sideways(k), bottom + 15, f"{means[k]:.2g}", "c a") for k in some),
        text((LEFT + RIGHT) / 2, bottom + 32, "mean probability of the bin", "c a"),
    ]


def _interval(entry: Entry, place: Place) -> list[Html]:
    """Shade the interval of the threshold."""
    low, high = value(entry, "low"), value(entry, "high")
    if not finite(low) or not finite(high):
        return []
    return [_shade(place(low), place(high))]


def _shade(left: float, right: float) -> Html:
    """Shade an interval; one that is a single place is still seen beside the line in it."""
    more = max(LEAST - (right - left), 0.0) / 2
    return element("rect", x=left - more, y=TOP, width=right - left + 2 * more, height=HIGH,
                   class_="range")  # fmt: skip


def _fit(entry: Entry, frame: tuple[Place, Scale]) -> Html:
    """Draw what the threshold is read from, in steps."""
    place, upward = frame
    known = [one for one in entry["fit"] if finite(value(one, "share"))]
    if not known:
        return Html("")
    points = [(place(value(one, "probability")), upward(value(one, "share"))) for one in known]
    return element("g", path("cv far", joined(points, "from")), class_="someone")


def _bin(one: Entry, sideways: Scale, upward: Scale) -> Html:
    """Draw one bin: a dot with its interval."""
    x, y = sideways(value(one, "bin") - 1), upward(value(one, "share of positives"))
    top, bottom = upward(value(one, "high")), upward(value(one, "low"))
    return element("g", path("w", down(x, top, bottom - top)), path("d", across(x, y)),
                   class_="tinted")  # fmt: skip


def _key(rule: str) -> Html:
    """Say what the marks are."""
    y = TOP + HIGH + 52
    return element(
        "g",
        element("g", path("d", across(LEFT + 4, y)), class_="tinted"),
        text(LEFT + 14, y + 4, "share of positives", "a"),
        element("g", path("cv far", across(LEFT + 136, y, 22)), class_="someone"),
        text(LEFT + 164, y + 4, RULES[rule], "a"),
    )


def prevalence_curve(entry: Entry, threshold: Entry) -> Html | None:
    """Draw how many items are positive as the threshold moves."""
    rows = entry.get("rows", [])
    if len(rows) < 2:
        return None
    spots = [value(one, "threshold") for one in rows]
    shares = [value(one, "prevalence") for one in rows]
    sideways = Scale(spots[0], spots[-1], LEFT, RIGHT)
    top = max(*shares, 0.01)
    upward = Scale(0.0, top * 1.08, TOP + HIGH, TOP)
    ticks = upward.ticks(4)
    low, high = value(threshold, "low"), value(threshold, "high")
    shade = []
    if finite(low) and finite(high):
        shade = [_shade(sideways(low), sideways(high))]
    line = [(sideways(x), upward(y)) for x, y in zip(spots, shares, strict=True)]
    bottom, x = TOP + HIGH, sideways(value(entry, "centre"))
    places = sideways.ticks(5)
    parts = [
        headed("Positive items by threshold"),
        *shade,
        path("g", *(across(LEFT, upward(tick), RIGHT - LEFT) for tick in ticks)),
        *(text(LEFT - 5, upward(t) + 4, percent(t, 1 if top < 0.05 else 0), "e a")
          for t in ticks),
        *(text(sideways(t), bottom + 15, f"{t:g}", "c a") for t in places),
        text((LEFT + RIGHT) / 2, bottom + 32, "threshold", "c a"),
        element("g", path("cv", joined(line, "until")), class_="tinted"),
        path("ref", down(x, TOP, HIGH)),
    ]  # fmt: skip
    said = f"Share of positive items at {len(rows)} thresholds around the one that was set."
    return drawing((NARROW, bottom + 42), said, *parts)
