"""Forest plot: every model's score with its interval, hard and soft labels side by side.

Both drawings use the same length for the same difference, so intervals can be compared by
eye; only the starting point differs. Thin line: the interval. Thick line: the middle half of
the resamples. Tick: their mean. Mark: the score itself. Where the interval leaves the score
out, a dashed line joins the two and a dagger stands at the number.
"""

import numpy as np
from numpy.typing import NDArray

from equipoise.report.gaps import endless, gaps
from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import (
    UNMOVED,
    count,
    defined,
    finite,
    interval,
    number,
    percent,
    signed,
)
from equipoise.report.palette import model_class
from equipoise.report.score import Score
from equipoise.report.svg import (
    NARROW,
    Axis,
    Scale,
    across,
    down,
    drawing,
    markers,
    path,
    text,
    titled,
)
from equipoise.report.tables import model_row, table
from equipoise.report.view import Panel

LABEL, START, END = 116.0, 128.0, 388.0
TOP, ROW = 22.0, 22.0


def extent(panel: Panel, labels: str) -> tuple[float, float] | None:
    """Smallest and largest number to be drawn."""
    scores = [panel.score(labels, model) for model in panel.order]
    ends = [x for s in scores for x in (s.value, s.low, s.high) if x is not None and finite(x)]
    return (min(ends), max(ends)) if ends else None


def scales(panel: Panel) -> dict[str, Scale]:
    """One scale per kind of labels, all of the same span."""
    found = {labels: extent(panel, labels) for labels in panel.view.labels}
    drawn = {labels: ends for labels, ends in found.items() if ends is not None}
    span = 1.08 * max((high - low for low, high in drawn.values()), default=0.0) or 0.01
    made = {}
    for labels, (low, high) in drawn.items():
        middle = (low + high) / 2
        made[labels] = Scale(middle - span / 2, middle + span / 2, START, END)
    return made


def draw(panel: Panel) -> list[Html]:
    """Draw one forest per kind of labels; none where nothing is defined."""
    return [_forest(panel, labels, scale) for labels, scale in scales(panel).items()]


def _forest(panel: Panel, labels: str, scale: Scale) -> Html:
    """Draw the models under one kind of labels."""
    order = panel.order
    bottom = TOP + ROW * len(order)
    rows = [
        _row(panel, labels, model, (scale, TOP + ROW * (place + 0.5)))
        for place, model in enumerate(order)
    ]
    ranked = panel.ranked(labels)
    best = panel.score(labels, ranked[0]).value if ranked else None
    parts = [
        text(0, 12, f"{labels} labels", "hd"),
        Axis(scale, TOP, bottom, title=_axis(panel, labels)).draw(5),
        path("ref", down(scale(best), TOP, bottom - TOP))
        if best is not None and finite(best)
        else Html(""),
        *rows,
    ]
    top = f"best {ranked[0]} {number(best, panel.digits)}" if ranked else "none defined"
    alternative = f"Forest plot of {panel.title(labels)} for {len(order)} models; {top}."
    return drawing((NARROW, bottom + 40), alternative, *parts, class_="rows")


def _axis(panel: Panel, labels: str) -> str:
    """Name the axis, and the side to be on where that is not the right one."""
    return panel.title(labels) + ("" if panel.sign > 0 else " (lower is better)")


def _row(panel: Panel, labels: str, model: str, place: tuple[Scale, float]) -> Html:
    """Draw one model."""
    scale, y = place
    index, score = panel.view.models.index(model), panel.score(labels, model)
    parts = [titled(model, panel.view.short(model, 14), x=LABEL, y=y + 4)]
    if score.value is None or not finite(score.value):
        said = "undefined" if score.value is None else f"infinite ({number(score.value)})"
        parts.append(element("text", said, x=END, y=y + 4))
    else:
        note = "†" if score.outside else ""
        parts += [
            *_spread(panel.resampled(labels, model), score, place),
            markers([(scale(score.value), y)], index),
            element("text", number(score.value, panel.digits) + note, x=NARROW - 2, y=y + 4),
        ]
    return element("g", *parts, class_=model_class(index))


def _spread(
    resampled: NDArray[np.float64], score: Score, place: tuple[Scale, float]
) -> list[Html]:
    """Draw interval, middle half and mean of the resamples."""
    if score.low is None or score.high is None or score.value is None:
        return []
    scale, y = place
    low, high, value = scale(score.low), scale(score.high), scale(score.value)
    shift = score.shift
    known_shift = shift is not None and finite(shift)
    mean = [down(scale(score.value + (shift or 0.0)), y - 5, 10)] if known_shift else []
    parts = [path("w", across(low, y, high - low), *mean)]
    known = resampled[~np.isnan(resampled)]
    if len(known):
        start, end = (scale(float(x)) for x in _quartiles(known))
        parts.append(path("b", across(start, y, end - start)))
    if score.outside:
        near = low if value < low else high
        parts.append(path("w gap", across(value, y, near - value)))
    return parts


def _quartiles(known: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ends of the middle half; of numbers that may be infinite, without averaging them."""
    if np.isinf(known).any():
        return np.quantile(known, [0.25, 0.75], method="nearest")
    return np.quantile(known, [0.25, 0.75])


def numbers(panel: Panel) -> Html:
    """List scores, intervals, shifts and how often each score was undefined."""
    names = panel.view.labels
    partly = any(panel.score(each, m).undefined_share for each in names for m in panel.order)
    heads = ["Model"]
    for labels in names:
        heads += [f"{panel.title(labels)}, {labels}", f"{panel.view.level} interval", "shift"]
        heads += ["undefined in"] if partly else []
    rows = [
        model_row(
            panel.view,
            model,
            [cell for each in names for cell in _cells(panel, each, model)[: 3 + partly]],
        )
        for model in panel.order
    ]
    return table("Scores, intervals and shifts", heads, rows)


def _cells(panel: Panel, labels: str, model: str) -> list[str]:
    """Write one score for the table."""
    score = panel.score(labels, model)
    if panel.unmoved(labels):
        return [number(score.value, panel.digits), UNMOVED, UNMOVED, UNMOVED]
    return [
        number(score.value, panel.digits) + ("†" if score.outside else ""),
        interval(score.low, score.high, panel.digits),
        signed(score.shift, panel.digits),
        percent(score.undefined_share, 1),
    ]


def finding(panel: Panel) -> str:
    """Say how wide the intervals are, and where they leave their own score out."""
    said = []
    for labels in panel.view.labels:
        scores = [panel.score(labels, model) for model in panel.order]
        widths = [s.high - s.low for s in scores if s.low is not None and s.high is not None]
        widths = [width for width in widths if finite(width)]
        if widths:
            middle = number(float(np.median(widths)), panel.digits)
            said.append(f"{middle} wide with {labels} labels")
    if not said:
        kind = "finite" if endless(panel) else "defined"
        none = f"{panel.facts['title']} has no {kind} interval here."
        return " ".join([none, *endless(panel), *gaps(panel)])
    wide = f"The middle {panel.view.level} interval is {join(said, ' and ')}.{_outside(panel)}"
    return " ".join([wide, *endless(panel), *gaps(panel)])


def _outside(panel: Panel) -> str:
    """Count scores that lie outside their own interval."""
    said = ""
    for labels in panel.view.labels:
        scores = [panel.score(labels, model) for model in panel.order]
        outside = sum(score.outside for score in scores)
        known = count(sum(defined(score.value) for score in scores), "score")
        lies = "lies outside its" if outside == 1 else "lie outside their"
        if outside:
            said += f" With {labels} labels {outside} of {known} {lies} own interval (†)."
    return said
