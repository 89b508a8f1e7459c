"""Annotators of an aggregation: votes, agreement, base rate, skill and speed.

With a model of annotators, skill stands beside agreement: who agrees little with the others
may still be right. Without one, the figure is that of an evaluation.
"""

from collections.abc import Sequence

from equipoise.report import annotators
from equipoise.report.annotators import HEADS, LISTED, by, known_parts
from equipoise.report.markup import Html
from equipoise.report.numerals import count, defined, duration, interval, listing, number
from equipoise.report.svg import (
    NARROW,
    Axis,
    Scale,
    across,
    drawing,
    group,
    path,
    row_names,
    text,
)
from equipoise.report.tables import row, table
from equipoise.report.votes import Entry

SHOWN = 200  # rows of the table
FEW = 10  # votes below which no sentence is made of an annotator
LABEL, START, END = 116.0, 128.0, 428.0
TOP, ROW = 16.0, 22.0


def draw(entries: Sequence[Entry], skill: str | None) -> list[Html]:
    """Draw skill and agreement, or what there is without a model of annotators."""
    if skill is None or not _known(entries, "skill"):
        return annotators.draw(entries)
    if len(entries) > LISTED:
        return [_cloud(entries, skill)]
    order = by("skill", [{**one, "skill": one.get("skill")} for one in entries])
    titles = {"skill": f"skill ({skill})", "agreement": "agreement with the others"}
    return [
        _column(order, part, title) for part, title in titles.items() if _known(order, part)
    ]


def _known(entries: Sequence[Entry], part: str) -> list[float]:
    """Numbers of one kind that are there."""
    return [float(one[part]) for one in entries if defined(one.get(part))]


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """Limits of an axis around the values."""
    low, high = min(values), max(values)
    margin = (high - low) * 0.06 or 0.02
    return low - margin, high + margin


def _column(entries: Sequence[Entry], part: str, title: str) -> Html:
    """Draw one number of every annotator as a dot, with its interval where there is one."""
    spans = part == "skill"
    ends = [*_known(entries, part)]
    ends += [*_known(entries, "low"), *_known(entries, "high")] if spans else []
    scale, bottom = Scale(*_ends(ends), START, END), TOP + ROW * len(entries)
    marks, lines, missing = [], [], []
    for place, one in enumerate(entries):
        y = TOP + ROW * (place + 0.5)
        if not defined(one.get(part)):
            missing.append(text(START + 4, y + 4, "undefined", "a"))
            continue
        marks.append(across(scale(one[part]), y))
        if spans and defined(one.get("low")) and defined(one.get("high")):
            low, high = scale(one["low"]), scale(one["high"])
            lines.append(across(low, y, high - low))
    names = row_names([str(one["annotator"]) for one in entries], 14, TOP, ROW)
    parts = [
        Axis(scale, TOP, bottom, title=title).draw(),
        group([names], x=LABEL, class_="e"),
        path("stem", *lines) if lines else Html(""),
        path("p", *marks),
        *missing,
    ]
    alternative = f"Dot plot: {title}, {len(entries)} annotators."
    return drawing((NARROW, bottom + 40), alternative, *parts)


def _cloud(entries: Sequence[Entry], skill: str) -> Html:
    """Draw skill against agreement of many annotators."""
    known = [e for e in entries if defined(e.get("skill")) and defined(e["agreement"])]
    top, bottom = TOP + 12, 250.0
    right = Scale(*_ends(_known(known, "skill") or [0.0, 1.0]), 50, END)
    upward = Scale(*_ends(_known(known, "agreement") or [0.0, 1.0]), bottom, top)
    parts = [
        Axis(right, top, bottom, title=f"skill ({skill})").draw(),
        *(text(44, upward(tick) + 4, f"{tick:g}", "e a") for tick in upward.ticks()),
        text(2, top - 8, "agreement with the others", "a"),
        path("p thin", *(across(right(e["skill"]), upward(e["agreement"])) for e in known)),
    ]
    alternative = f"Skill against agreement of {count(len(known), 'annotator')}."
    return drawing((NARROW, bottom + 40), alternative, *parts)


def caption(entries: Sequence[Entry], skill: str | None) -> str:
    """Say what the figure shows."""
    if skill is None or not _known(entries, "skill"):
        return annotators.caption(entries)
    if len(entries) > LISTED:
        return "One dot per annotator"
    lines = "; line: its interval" if _known(entries, "low") else ""
    return f"Annotators from the lowest to the highest skill{lines}"


def numbers(entries: Sequence[Entry], skill: str | None) -> Html:
    """List the annotators with most votes."""
    parts = known_parts(entries)
    shown = sorted(entries, key=lambda one: -one["votes"])[:SHOWN]
    skilled, spans = _known(entries, "skill"), _known(entries, "low")
    timed = _known(entries, "median_ms")
    heads = ["Annotator", "votes", *(HEADS[part] for part in parts)]
    heads += [f"skill ({skill})"] if skilled else []
    heads += ["interval"] if spans else []
    heads += ["median time"] if timed else []
    rows = []
    for one in shown:
        cells = [count(one["votes"]), *(number(one[part]) for part in parts)]
        cells += [number(one.get("skill"))] if skilled else []
        cells += [interval(one.get("low"), one.get("high"))] if spans else []
        cells += [duration(one.get("median_ms"))] if timed else []
        rows.append(row(str(one["annotator"]), cells))
    return table(_title(len(entries), len(shown)), heads, rows)


def _title(every: int, shown: int) -> str:
    """Say who is listed, and how many are not."""
    if every == shown:
        return "Annotators, those with most votes first"
    left = count(every - shown, "annotator")
    return f"The {count(shown)} annotators with most votes; {left} with fewer are left out"


def finding(entries: Sequence[Entry], skill: str | None) -> str:
    """Say how far apart the annotators are; those with few votes only if all have few."""
    many = [one for one in entries if one["votes"] >= FEW] or list(entries)
    few = len(many) < len(entries)
    some = f" Annotators with fewer than {FEW} votes are not compared." if few else ""
    said = annotators.finding(many)
    known = [one for one in by("skill", [{"skill": None, **e} for e in many])
             if defined(one["skill"])]  # fmt: skip
    if skill is None or len(known) < 2:
        return f"{said}{some}"
    low, high = known[0], known[-1]
    return (
        f"By the model, skill ({skill}) runs from {number(low['skill'], 2)} "
        f"({listing([low['annotator']])}) to {number(high['skill'], 2)} "
        f"({listing([high['annotator']])}). {said}{some}"
    )
