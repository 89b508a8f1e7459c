"""Annotators: how often each says yes, and how far each agrees with the others.

Up to forty annotators are listed by base rate with the rate of all votes as a line; more
are drawn as a cloud of base rate against agreement. Over all tasks, one strip per task. A
choice among several classes has no base rate, so agreement stands alone.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.report.markup import Html
from equipoise.report.numerals import count, defined, duration, listing, number, percent
from equipoise.report.svg import (
    NARROW,
    Axis,
    Scale,
    across,
    down,
    drawing,
    group,
    path,
    row_names,
    text,
)
from equipoise.report.tables import row, table
from equipoise.report.view import View

LISTED = 40
TITLES = {"base_rate": "share of positive votes", "agreement": "agreement with the others"}
HEADS = {"base_rate": "positive share", "agreement": "agreement"}
LABEL, START, END = 116.0, 128.0, 428.0
TOP, ROW = 16.0, 22.0

Entry = Mapping[str, Any]


def known_parts(entries: Sequence[Entry]) -> list[str]:
    """Which of base rate and agreement any annotator has."""
    return [part for part in TITLES if any(defined(entry[part]) for entry in entries)]


def by(part: str, entries: Sequence[Entry]) -> list[Entry]:
    """Annotators from the lowest to the highest, undefined last."""
    return sorted(entries, key=lambda e: e[part] if defined(e[part]) else math.inf)


def caption(entries: Sequence[Entry]) -> str:
    """Say in which order the annotators stand."""
    first = next(iter(known_parts(entries)), "base_rate")
    return f"Annotators from the lowest to the highest {first.replace('_', ' ')}"


def panel_rate(entries: Sequence[Entry]) -> float | None:
    """Base rate of all votes together.

    Examples
    --------
    >>> panel_rate([{"votes": 1, "base_rate": 1.0}, {"votes": 3, "base_rate": 0.0}])
    0.25
    """
    known = [entry for entry in entries if defined(entry["base_rate"])]
    votes = sum(entry["votes"] for entry in known)
    return sum(e["votes"] * e["base_rate"] for e in known) / votes if votes else None


def draw(entries: Sequence[Entry]) -> list[Html]:
    """Draw base rates and agreement of the annotators of one task."""
    parts = known_parts(entries)
    if len(entries) > LISTED:
        return [_cloud(entries)] if len(parts) == 2 else [_ladder(entries, p) for p in parts]
    return [_column(by(parts[0], entries), part) for part in parts]


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """Limits of an axis around the values."""
    low, high = min(values), max(values)
    margin = (high - low) * 0.06 or 0.02
    return low - margin, high + margin


def _names(names: Sequence[str]) -> Html:
    """Name the rows."""
    return group([row_names(names, 14, TOP, ROW)], x=LABEL, class_="e")


def _column(entries: Sequence[Entry], part: str) -> Html:
    """Draw one number of every annotator as a dot."""
    values = [entry[part] for entry in entries if defined(entry[part])]
    bottom = TOP + ROW * len(entries)
    scale, title = Scale(*_ends(values), START, END), TITLES[part]
    mean = panel_rate(entries) if part == "base_rate" else None
    stems, marks, missing = [], [], []
    for place, entry in enumerate(entries):
        y = TOP + ROW * (place + 0.5)
        if defined(entry[part]):
            marks.append(across(scale(entry[part]), y))
            if mean is not None:
                stems.append(across(scale(mean), y, scale(entry[part]) - scale(mean)))
        else:
            missing.append(text(START + 4, y + 4, "undefined", "a"))
    parts = [
        Axis(scale, TOP, bottom, title=title).draw(),
        _names([str(entry["annotator"]) for entry in entries]),
        path("stem", *stems) if stems else Html(""),
        path("p", *marks),
        *missing,
    ]
    if mean is not None:
        parts.append(path("ref", down(scale(mean), TOP, bottom - TOP)))
        parts.append(text(scale(mean), TOP - 4, f"all votes {percent(mean)}", "c a"))
    alternative = f"Dot plot: {title}, {len(entries)} annotators."
    return drawing((NARROW, bottom + 40), alternative, *parts)


def _cloud(entries: Sequence[Entry]) -> Html:
    """Draw base rate against agreement of many annotators."""
    known = [e for e in entries if defined(e["base_rate"]) and defined(e["agreement"])]
    top, bottom = TOP + 12, 250.0
    rates = Scale(*_ends([e["base_rate"] for e in known] or [0.0, 1.0]), 50, END)
    upward = Scale(*_ends([e["agreement"] for e in known] or [0.0, 1.0]), bottom, top)
    parts = [
        Axis(rates, top, bottom, title=TITLES["base_rate"]).draw(),
        *(text(44, upward(tick) + 4, f"{tick:g}", "e a") for tick in upward.ticks()),
        text(2, top - 8, TITLES["agreement"], "a"),
        path("p thin", *(across(rates(e["base_rate"]), upward(e["agreement"])) for e in known)),
    ]
    alternative = f"Base rate against agreement of {len(known)} annotators."
    return drawing((NARROW, bottom + 40), alternative, *parts)


def _ladder(entries: Sequence[Entry], part: str) -> Html:
    """Draw one number of many annotators, each a step higher than the one before."""
    known = [float(entry[part]) for entry in by(part, entries) if defined(entry[part])]
    top, bottom = TOP + 12, 250.0
    scale, upward = Scale(*_ends(known), 50, END), Scale(1, len(known), bottom, top)
    parts = [
        Axis(scale, top, bottom, title=TITLES[part]).draw(),
        text(44, bottom, "1", "e a"),
        text(44, top + 8, count(len(known)), "e a"),
        text(2, top - 8, "annotators, lowest first", "a"),
        path("p thin", *(across(scale(x), upward(i)) for i, x in enumerate(known, start=1))),
    ]
    alternative = f"{TITLES[part]} of {len(known)} annotators, lowest first."
    return drawing((NARROW, bottom + 40), alternative, *parts)


def strips(view: View) -> list[Html]:
    """Draw base rates and agreement of all annotators, one strip per task."""
    tasks = [name for name in view.header["tasks"] if _of(view, name)]
    return [_strips(view, tasks, part) for part in known_parts(view.header["annotators"])]


def _strips(view: View, tasks: Sequence[str], part: str) -> Html:
    """Draw one number of all annotators, one strip per task."""
    known = [entry for entry in view.header["annotators"] if defined(entry[part])]
    bottom = TOP + ROW * len(tasks)
    scale = Scale(*_ends([entry[part] for entry in known]), START, END)
    marks, means = [], []
    for place, task in enumerate(tasks):
        y = TOP + ROW * (place + 0.5)
        here = [entry for entry in known if entry["task"] == task]
        marks += [across(scale(entry[part]), y) for entry in here]
        mean = panel_rate(here) if part == "base_rate" else None
        means += [] if mean is None else [down(scale(mean), y - 8, 16)]
    parts = [
        Axis(scale, TOP, bottom, title=TITLES[part]).draw(),
        _names(tasks),
        path("p thin", *marks),
        path("vote", *means),
    ]
    alternative = f"{TITLES[part]}: one dot per annotator, a strip for each task."
    return drawing((NARROW, bottom + 40), alternative, *parts)


def _of(view: View, task: str) -> list[Entry]:
    """Annotators of one task, by name."""
    return [entry for entry in view.header["annotators"] if entry["task"] == task]


def numbers(entries: Sequence[Entry]) -> Html:
    """List the annotators; of very many, those who agree least."""
    parts = known_parts(entries)
    shown = by(parts[0], entries) if parts else list(entries)
    title = "Annotators"
    if len(entries) > LISTED:
        known = [entry for entry in entries if defined(entry["agreement"])]
        shown = sorted(known, key=lambda entry: float(entry["agreement"]))[:LISTED]
        title = f"The {len(shown)} annotators of {count(len(entries))} who agree least"
    timed = any(defined(entry.get("median_ms")) for entry in entries)
    rows = [
        row(
            str(entry["annotator"]),
            [
                count(entry["votes"]),
                *(number(entry[part]) for part in parts),
                *([duration(entry.get("median_ms"))] if timed else []),
            ],
        )
        for entry in shown
    ]
    heads = ["Annotator", "votes", *(HEADS[part] for part in parts)]
    return table(title, [*heads, *(["median time"] if timed else [])], rows)


def finding(entries: Sequence[Entry]) -> str:
    """Say how far apart the annotators are."""
    said = [_rate_words(entries), _agreement_words(entries)]
    words = "; ".join(filter(None, said))
    if not words:
        return "Neither base rate nor agreement of any annotator is defined."
    return f"{words}."


def _rate_words(entries: Sequence[Entry]) -> str:
    """Say how often annotators say yes."""
    known = [e for e in by("base_rate", entries) if defined(e["base_rate"])]
    if not known:
        return ""
    low, high = known[0], known[-1]
    return (
        f"Positive votes run from {percent(low['base_rate'])} ({listing([low['annotator']])}) "
        f"to {percent(high['base_rate'])} ({listing([high['annotator']])}), "
        f"{percent(panel_rate(entries))} over all votes"
    )


def _agreement_words(entries: Sequence[Entry]) -> str:
    """Say who agrees least with the others."""
    agreeing = [e for e in by("agreement", entries) if defined(e["agreement"])]
    if len(agreeing) < 2:
        return ""
    least = agreeing[0]
    return (
        f"{listing([least['annotator']])} agrees least with the others "
        f"({number(least['agreement'], 2)})"
    )


def strips_finding(view: View) -> str:
    """Say what the strips show."""
    parts = known_parts(view.header["annotators"])
    how = "How often annotators say yes" if "base_rate" in parts else "How far annotators agree"
    return f"{how}, task by task; choose a task for names."


def strips_caption(view: View) -> str:
    """Say how to read the strips."""
    line = "; line: all votes" if "base_rate" in known_parts(view.header["annotators"]) else ""
    return f"One dot per annotator{line}"


def strips_numbers(view: View) -> Html:
    """List the lowest, middle and highest number of every task."""
    parts = known_parts(view.header["annotators"])
    if "base_rate" in parts or not parts:
        rows = [_ends_row(view, task, "base_rate") for task in view.header["tasks"]]
        heads = ["Task", "annotators", "lowest", "all votes", "highest"]
        return table("Base rates", heads, rows)
    rows = [_ends_row(view, task, "agreement") for task in view.header["tasks"]]
    return table("Agreement", ["Task", "annotators", "lowest", "mean", "highest"], rows)


def _ends_row(view: View, task: str, part: str) -> Html:
    """List lowest, middle and highest of one task; nothing where none is defined."""
    known = [e for e in by(part, _of(view, task)) if defined(e[part])]
    if not known:
        return Html("")
    mean = sum(float(entry[part]) for entry in known) / len(known)
    middle = panel_rate(known) if part == "base_rate" else mean
    ends = (known[0][part], middle, known[-1][part])
    return row(task, [count(len(known)), *(number(end) for end in ends)])
