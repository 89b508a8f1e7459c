"""Dots: the lead of the best model over the runner-up; fifty dots stand for the resamples.

A quantile dot plot: the replicates of the paired lead are summarised by fifty quantiles
(i + 1/2)/50 and stacked. One dot is a fiftieth of the resamples, so a reader can count how
often the order turns. Dots left of zero are resamples in which the runner-up is ahead. All
dots of a figure have one size and one scale, so that heights can be compared.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from equipoise.report.markup import Html, element
from equipoise.report.numerals import EXACT, percent
from equipoise.report.palette import model_class
from equipoise.report.svg import NARROW, Axis, Scale, at, down, drawing, markers, path, text
from equipoise.report.verdict import Verdict

DOTS = 50
TOP, FLOOR = 48.0, 152.0
LETTERS = 34  # of both names together
LEFT, RIGHT = 14.0, NARROW - 14.0


def lead_quantiles(found: Verdict) -> NDArray[np.float64]:
    """Fifty quantiles of the lead over the runner-up; empty where it is not a finite one."""
    if found.runner_up is None or not found.lead.defined:
        return np.empty(0)
    panel = found.panel
    first = panel.resampled(found.labels, found.best[0])
    second = panel.resampled(found.labels, found.runner_up)
    with np.errstate(invalid="ignore"):  # of two infinite ones: undefined
        gap = panel.sign * (first - second)
    gap = gap[~np.isnan(gap)]
    if not len(gap) or np.isinf(gap).any():
        return np.empty(0)
    return np.asarray(np.quantile(gap, (np.arange(DOTS) + 0.5) / DOTS))


def stacks(places: Sequence[float], size: float) -> list[tuple[float, int]]:
    """Stack places that would overlap; return place and height of each stack.

    Examples
    --------
    >>> stacks([10.0, 12.0, 40.0], 15.0)
    [(11.0, 2), (40.0, 1)]
    """
    piles: list[list[float]] = []
    for place in places:
        if piles and place - piles[-1][0] < size:
            piles[-1].append(float(place))
        else:
            piles.append([float(place)])
    return [(sum(pile) / len(pile), len(pile)) for pile in piles]


def common_size(groups: Sequence[Sequence[float]]) -> float:
    """Size of the largest dot with which every stack of every group stays on the drawing."""
    size = 15.0
    while size > 2:
        highest = max(n for places in groups for _, n in stacks(places, size))
        if highest * size <= FLOOR - TOP:
            break
        size -= 0.5
    return size


def sides(found: Verdict, leads: NDArray[np.float64]) -> dict[str, list[float]]:
    """Part the leads by the model that they favour; neither is the empty name."""
    return {
        name: list(part)
        for name, part in (
            (found.best[0], leads[leads > EXACT]),
            (found.runner_up or "", leads[leads < -EXACT]),
            ("", leads[np.abs(leads) <= EXACT]),
        )
        if len(part)
    }


def draw(verdicts: Sequence[Verdict]) -> list[Html]:
    """Draw the leads under each kind of labels, all on one scale with dots of one size."""
    known = [(each, leads) for each in verdicts if len(leads := lead_quantiles(each))]
    if not known:
        return []
    values = [each.lead.value or 0.0 for each, _ in known]
    ends = np.concatenate([*(leads for _, leads in known), values, [0.0]])
    margin = (ends.max() - ends.min()) * 0.04
    scale = Scale(float(ends.min() - margin), float(ends.max() + margin), LEFT, RIGHT)
    parted = [(each, sides(each, leads)) for each, leads in known]
    size = common_size(
        [[scale(x) for x in part] for _, parts in parted for part in parts.values()]
    )
    return [_plot(each, parts, (scale, size)) for each, parts in parted]


def _plot(found: Verdict, parts: dict[str, list[float]], how: tuple[Scale, float]) -> Html:
    """Draw the leads under one kind of labels."""
    scale, size = how
    axis = Axis(scale, TOP - 8, FLOOR, title=f"lead in {found.panel.title(found.labels)}")
    marks = [
        axis.draw(),
        path("zero", down(scale(0), TOP - 10, FLOOR - TOP + 10)),
        *(
            _colour(found, name, ([scale(lead) for lead in part], size))
            for name, part in parts.items()
        ),
        _value(scale(found.lead.value or 0.0)),
        *_sides(found),
    ]
    name, models = found.panel.view.listing, [found.best[0], found.runner_up or ""]
    alternative = (
        f"Fifty dots stand for the resamples of the lead of {name(models[:1])} over "
        f"{name(models[1:])} with {found.labels} labels; ahead in "
        f"{percent(found.lead.p_better)} of resamples."
    )
    return drawing((NARROW, FLOOR + 42), alternative, *marks)


def _colour(found: Verdict, model: str, dots: tuple[list[float], float]) -> Html:
    """Draw the dots that favour one model, in its colour."""
    places, size = dots
    owner = model_class(found.panel.view.models.index(model)) if model else "tie"
    return element(
        "path",
        class_=f"{owner} o",
        d="".join(
            down(x, FLOOR - size / 2, 0.5 - size * (n - 0.5)) for x, n in stacks(places, size)
        ),
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
        words = f"{found.panel.view.short(name, room)} ahead {percent(part)}"
        written = text(x + way * 10, 34, words, "e" if way < 0 else "")
        marked = markers([(x, 30.0)], index)
        sides.append(element("g", marked, written, class_=model_class(index)))
    return sides
