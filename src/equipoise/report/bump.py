"""Bump chart: how the order of the models changes from hard to soft labels.

Models stand at their place in each order, with their rank beside them; models that share a
rank stand one below the other with the same number. Thick lines changed rank.
"""

from equipoise.report.markup import Html, element
from equipoise.report.numerals import defined, number, percent, rank
from equipoise.report.palette import model_class
from equipoise.report.svg import NARROW, at, drawing, markers, path, text, titled
from equipoise.report.tables import facts, model_row, table
from equipoise.report.view import Panel

LEFT, RIGHT = 152.0, 288.0
TOP, ROW = 38.0, 22.0


def places(panel: Panel, labels: str) -> dict[str, float]:
    """Height of each model; ties keep the order they have under the other labels."""
    other = panel.view.labels[0] if labels == panel.view.labels[-1] else panel.view.labels[-1]
    behind = float(len(panel.view.models) + 1)

    def key(model: str) -> tuple[float, float]:
        here, there = panel.score(labels, model).rank, panel.score(other, model).rank
        return (behind if here is None else here, behind if there is None else there)

    return {
        model: TOP + ROW * (place + 0.5)
        for place, model in enumerate(sorted(panel.view.models, key=key))
    }


def draw(panel: Panel) -> Html | None:
    """Draw the change of order; None without two kinds of labels or without ranks."""
    names = panel.view.labels
    if len(names) < 2 or len(panel.view.models) < 2:
        return None
    if not all(panel.ranked(labels) for labels in names):
        return None
    first, last = places(panel, names[0]), places(panel, names[-1])
    bottom = TOP + ROW * len(first)
    heads = [
        text(LEFT - 11, 14, f"{names[0]} labels", "hd"),
        element("text", f"{names[-1]} labels", x=RIGHT + 11, y=14, class_="hd s"),
    ]
    lines = [_line(panel, model, (first[model], last[model])) for model in panel.view.models]
    alternative = (
        f"Order of {len(first)} models by {panel.title(names[0])} on the left and "
        f"{panel.title(names[-1])} on the right; lines join the same model."
    )
    return drawing((NARROW, bottom + 8), alternative, *heads, *lines, class_="bump")


def _line(panel: Panel, model: str, heights: tuple[float, float]) -> Html:
    """Draw one model from left to right; rank and name stand on both sides."""
    names, index = panel.view.labels, panel.view.models.index(model)
    ranks = [panel.score(labels, model).rank for labels in (names[0], names[-1])]
    ends = [(LEFT, heights[0]), (RIGHT, heights[1])]
    parts: list[Html] = []
    if None not in ranks:
        half = (LEFT + RIGHT) / 2
        curve = f"M{at(*ends[0])}C{at(half, heights[0])},{at(half, heights[1])},{at(*ends[1])}"
        parts.append(path("l" if ranks[0] == ranks[1] else "l mv", curve))
    known = [end for end, place in zip(ends, ranks, strict=True) if place is not None]
    parts.append(markers(known, index))
    for (x, y), place, way in zip(ends, ranks, (-1, 1), strict=True):
        parts.append(text(x + way * 11, y + 4, "–" if place is None else rank(place)))
        parts.append(titled(model, panel.view.short(model, 14), x=x + way * 36, y=y + 4))
    return element("g", *parts, class_=model_class(index))


def stability(panel: Panel) -> Html:
    """List how alike the two orders are, and how steady each is under resampling."""
    entry = dict(panel.entry("rank_correlation") or {})
    if panel.unmoved("hard"):
        entry |= {"mean_spearman_hard": None, "soft_win_rate": None}
    return facts(
        [
            ("Spearman, hard against soft order", number(entry.get("spearman"), 2)),
            ("Kendall tau-b, hard against soft order", number(entry.get("kendall_tau_b"), 2)),
            ("Steadiness of the hard order", number(entry.get("mean_spearman_hard"), 2)),
            ("Steadiness of the soft order", number(entry.get("mean_spearman_soft"), 2)),
            ("Soft order steadier in", percent(entry.get("soft_win_rate"))),
        ]
    )


def steady(panel: Panel) -> bool:
    """Whether the steadiness of any order is defined."""
    entry = panel.entry("rank_correlation") or {}
    return any(defined(entry.get(f"mean_spearman_{name}")) for name in panel.view.labels)


def numbers(panel: Panel) -> Html:
    """List both ranks of every model."""
    names = panel.view.labels
    rows = [
        model_row(
            panel.view, model, [rank(panel.score(labels, model).rank) for labels in names]
        )
        for model in panel.order
    ]
    return table("Ranks", ["Model", *(f"rank, {labels} labels" for labels in names)], rows)
