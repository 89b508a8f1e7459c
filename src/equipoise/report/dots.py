"""Dots: the lead of the best model over the runner-up, as fifty equally likely outcomes.

A quantile dot plot: the replicates of the paired lead are summarised by fifty quantiles
(i + 1/2)/50 and stacked. One dot is one chance in fifty, so a reader can count how often the
order would turn. Dots left of zero are outcomes in which the runner-up is ahead.
"""

import numpy as np
from numpy.typing import NDArray

from equipoise.report.markup import Html, element
from equipoise.report.numerals import EXACT, listing, percent, shorten
from equipoise.report.palette import model_class
from equipoise.report.svg import NARROW, Axis, Scale, at, down, drawing, markers, path, text
from equipoise.report.verdict import Verdict

DOTS = 50
TOP, FLOOR = 48.0, 152.0
LETTERS = 34  # of both names together
LEFT, RIGHT = 14.0, NARROW - 14.0


def lead_quantiles(found: Verdict) -> NDArray[np.float64]:
    """Fifty quantiles of the lead over the runner-up; empty where there is none."""
    if found.runner_up is None or not found.lead.defined or found.lead.identical:
        return np.empty(0)
    panel = found.panel
    first = panel.resampled(found.labels, found.best[0])
    second = panel.resampled(found.labels, found.runner_up)
    gap = panel.sign * (first - second)
    gap = gap[np.isfinite(gap)]
    if not len(gap):
        return np.empty(0)
    return np.asarray(np.quantile(gap, (np.arange(DOTS) + 0.5) / DOTS))


def stacks(places: NDArray[np.float64]) -> tuple[list[tuple[float, int]], float]:
    """Stack places that would overlap; return (place, height) of each and the dot's size.

    The dot is as large as lets the highest stack stay on the drawing.

    Examples
    --------
    >>> stacks(np.array([10.0, 12.0, 40.0]))
    ([(11.0, 2), (40.0, 1)], 15.0)
    """
    size = 15.0
    while True:
        piles: list[list[float]] = []
        for place in places:
            if piles and place - piles[-1][0] < size:
                piles[-1].append(float(place))
            else:
                piles.append([float(place)])
        if size <= 2 or max(len(pile) for pile in piles) * size <= FLOOR - TOP:
            return [(sum(pile) / len(pile), len(pile)) for pile in piles], size
        size -= 0.5


def draw(found: Verdict) -> Html | None:
    """Draw the outcomes; None where there is nothing to tell apart."""
    leads = lead_quantiles(found)
    if not len(leads) or found.runner_up is None:
        return None
    panel = found.panel
    ends = np.concatenate([leads, [0.0, found.lead.value or 0.0]])
    margin = (ends.max() - ends.min()) * 0.04
    scale = Scale(float(ends.min() - margin), float(ends.max() + margin), LEFT, RIGHT)
    best, second = found.best[0], found.runner_up
    parts = [
        Axis(scale, TOP - 8, FLOOR, title=f"lead in {panel.title(found.labels)}").draw(),
        path("zero", down(scale(0), TOP - 10, FLOOR - TOP + 10)),
        _colour(found, best, [lead for lead in leads if lead > EXACT], scale),
        _colour(found, second, [lead for lead in leads if lead < -EXACT], scale),
        _colour(found, "", [lead for lead in leads if abs(lead) <= EXACT], scale),
        _value(scale(found.lead.value or 0.0)),
        *_sides(found),
    ]  # fmt: skip
    ahead = percent(found.lead.p_better)
    alternative = (
        f"Fifty equally likely outcomes of the lead of {listing([best])} over "
        f"{listing([second])} with {found.labels} labels; ahead in {ahead} of resamples."
    )
    return drawing((NARROW, FLOOR + 42), alternative, *parts)


def _colour(found: Verdict, model: str, leads: list[float], scale: Scale) -> Html:
    """Draw the dots that favour one model, in its colour."""
    if not leads:
        return Html("")
    piles, size = stacks(np.array([scale(lead) for lead in leads]))
    owner = model_class(found.panel.view.models.index(model)) if model else "tie"
    return element(
        "path",
        class_=f"{owner} o",
        d="".join(down(x, FLOOR - size / 2, 0.5 - size * (n - 0.5)) for x, n in piles),
        stroke_width=size * 0.88,
        stroke_dasharray=f"0,{size:g}",
    )


def _value(x: float) -> Html:
    """Point at the lead in the data."""
    return path("here", f"M{at(x, FLOOR)}l-4.5,8h9z")


def _sides(found: Verdict) -> list[Html]:
    """Say on both sides of zero who is ahead, and how often."""
    share = found.lead.p_better
    other = None if share is None else 1 - share
    models = found.panel.view.models
    room = max(LETTERS // 2, LETTERS - min(len(found.best[0]), len(found.runner_up or "")))
    sides = [text(LEFT - 4, 12, f"{found.labels} labels", "hd")]
    for name, part, x, way in (
        (found.runner_up or "", other, LEFT, 1),
        (found.best[0], share, RIGHT, -1),
    ):
        index = models.index(name)
        words = f"{shorten(name, room)} ahead {percent(part)}"
        written = text(x + way * 10, 34, words, "e" if way < 0 else "")
        marked = markers([(x, 30.0)], index)
        sides.append(element("g", marked, written, class_=model_class(index)))
    return sides
