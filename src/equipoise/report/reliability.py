"""Reliability: whether a probability of 70% means that 70% of the votes agree.

One small diagram per model. A dot is a bin of items: across, the mean probability that the
model gave; up, the share of votes that agree; it is larger for more items. On the dashed
diagonal the two are the same; dots below it are predictions that were too high.
"""

import math
from collections.abc import Mapping
from typing import Any

from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import EXACT, count, listing, number, percent
from equipoise.report.palette import model_class
from equipoise.report.svg import across, at, drawing, group, path, text, titled
from equipoise.report.tables import finding, folded, model_cell, row, scrolling, table
from equipoise.report.view import View

DRAWN = 12  # models with a diagram; all are in the table
SIDE, LEFT, TOP = 150.0, 32.0, 24.0
SMALL, LARGE = 4.0, 15.0  # of a dot

Entry = Mapping[str, Any]


def body(view: View, task: int) -> Html:
    """Show the diagrams of a task, or the best calibrated model of every task."""
    entries = view.of_task("reliability", task)
    if not entries:
        return _by_task(view)
    entry = entries[0]
    models = ordered(entry)
    drawn = [_diagram(view, one) for one in models[:DRAWN]]
    few = f", {DRAWN} of {count(len(models), 'model')}" if len(models) > DRAWN else ""
    caption = (
        f"Across: {_what(entry)}. Up: {_share(entry)}. A dot is a bin of items, larger for "
        f"more items. Best calibrated first{few}"
    )
    return join(
        [
            finding(sentence(view, entry)),
            element(
                "figure",
                element("figcaption", caption),
                element("div", join(drawn), class_="many"),
            ),
            folded("Numbers: reliability", _summary(view, entry), _bins(view, entry)),
        ]
    )


def ordered(entry: Entry) -> list[Entry]:
    """Models from the best to the worst calibrated; equal ones as they stand."""
    return sorted(entry["models"], key=lambda one: round(one["error"], 12))


def _what(entry: Entry) -> str:
    """Name what is predicted."""
    if entry["class"] is None:
        return "probability that the model gives its answer"
    return f"predicted probability of {listing([str(entry['class'])])}"


def _share(entry: Entry) -> str:
    """Name what it is compared with."""
    if entry["from_votes"]:
        return (
            "share of votes that agree" if entry["class"] is None else "share of votes for it"
        )
    return "plausibility of the answer" if entry["class"] is None else "plausibility of it"


def _diagram(view: View, one: Entry) -> Html:
    """Draw one model."""
    index = view.models.index(one["model"])
    floor, end = TOP + SIDE, LEFT + SIDE
    places = [(LEFT + p * SIDE, floor - o * SIDE) for p, o, _ in one["bins"]]
    most = max(items for *_, items in one["bins"])
    dots = [
        element(
            "path", class_="o", d=across(*place),
            stroke_width=round(SMALL + (LARGE - SMALL) * math.sqrt(bin_[2] / most), 1),
        )
        for place, bin_ in zip(places, one["bins"], strict=True)
    ]  # fmt: skip
    ticks = [0.0, 0.5, 1.0]
    frame = "".join(f"M{at(LEFT, floor - t * SIDE)}h{SIDE:g}" for t in ticks)
    frame += "".join(f"M{at(LEFT + t * SIDE, TOP)}v{SIDE:g}" for t in ticks)
    parts = [
        path("g", frame),
        *(text(LEFT - 5, floor - t * SIDE + 4, f"{t:g}", "e a") for t in ticks),
        *(text(LEFT + t * SIDE, floor + 14, f"{t:g}", "c a") for t in ticks),
        path("ref", f"M{at(LEFT, floor)}L{at(end, TOP)}"),
        group(
            [
                titled(one["model"], view.short(one["model"], 20), x=2.0, y=12.0, class_="hd"),
                path("l", "M" + "L".join(at(*place) for place in places)),
                *dots,
            ],
            class_=model_class(index),
        ),
        text(
            end, floor + 29, f"off by {number(100 * one['error'], 1)} points on average", "e a"
        ),
    ]
    alternative = (
        f"Reliability diagram of {one['model']}: {count(len(places), 'bin')}, off by "
        f"{points(one['error'])} on average."
    )
    return drawing((190, floor + 34), alternative, *parts, class_="tiny")


def points(error: float) -> str:
    """Write a distance between two shares.

    Examples
    --------
    >>> points(0.0351), points(0.01)
    ('3.5 percentage points', '1.0 percentage points')
    """
    return f"{number(100 * error, 1)} percentage points"


def sentence(view: View, entry: Entry) -> str:
    """Say who is best calibrated, who is furthest off, and on which side."""
    models = ordered(entry)
    best = [one["model"] for one in models if one["error"] <= models[0]["error"] + EXACT]
    name, one = view.listing(best), len(best) == 1
    said = f"{name} {'is' if one else 'are'} best calibrated: " if len(models) > 1 else ""
    if entry["class"] is None:
        who = "it gives its" if one else "they give their"
        said += f"{'the' if said else f'{name}: the'} probability {who} answers"
    else:
        who = ("its" if one else "their") if said else f"{name}: the"
        said += f"{who} predicted probability of {listing([str(entry['class'])])}"
    off = points(models[0]["error"])
    said += f" is off by {off} on average from the {_share(entry)}."
    if len(best) == len(models):
        return f"{said}{_side(models[0], entry)}"
    worst = models[-1]
    far = f"{view.listing([worst['model']])} is furthest off, by {points(worst['error'])}."
    return f"{said} {far}{_side(worst, entry)}"


def _side(one: Entry, entry: Entry) -> str:
    """Say whether a model is too sure or not sure enough, where most of its error is that."""
    gap = one["predicted"] - one["observed"]
    if abs(gap) < one["error"] / 2 or abs(gap) <= EXACT:
        return ""
    if entry["class"] is None:
        how = "too sure" if gap > 0 else "not sure enough"
    else:
        how = "too high" if gap > 0 else "too low"
    share = percent(one["observed"])
    if not entry["from_votes"]:
        observed = f"the plausibility is {share}"
    elif entry["class"] is None:
        observed = f"{share} of the votes agree"
    else:
        observed = f"{share} of the votes are for it"
    return f" On the whole it is {how}: it says {percent(one['predicted'])}, and {observed}."


def _summary(view: View, entry: Entry) -> Html:
    """List the models."""
    rows = [
        element(
            "tr",
            model_cell(view, one["model"]),
            *(
                element("td", cell)
                for cell in (
                    number(one["error"]), percent(one["predicted"], 1),
                    percent(one["observed"], 1), count(len(one["bins"])),
                )
            ),
            class_=model_class(view.models.index(one["model"])),
        )
        for one in ordered(entry)
    ]  # fmt: skip
    heads = ["Model", "calibration error", "mean prediction", _share(entry), "bins with items"]
    return table(f"Calibration in {entry['bins']} bins", heads, rows)


def _bins(view: View, entry: Entry) -> Html:
    """List the bins of every model that has a diagram."""
    bodies = []
    for one in ordered(entry)[:DRAWN]:
        rows = []
        for place, (predicted, observed, items) in enumerate(one["bins"]):
            head = model_cell(view, one["model"], rowspan=len(one["bins"]))
            cells = (percent(predicted, 1), percent(observed, 1), count(items))
            rows.append(
                element(
                    "tr",
                    Html("") if place else head,
                    join(element("td", cell) for cell in cells),
                )
            )
        bodies.append(element("tbody", join(rows)))
    heads = ("Model", "mean prediction", _share(entry), "items")
    head = element("tr", join(element("th", title) for title in heads))
    return scrolling(
        element("table", element("caption", "Bins"), element("thead", head), *bodies)
    )


def _by_task(view: View) -> Html:
    """List the best and the worst calibrated model of every task."""
    rows = []
    for entry in view.header["reliability"]:
        models = ordered(entry)
        cells = [
            f"{view.short(one['model'], 24)} ({number(one['error'])})"
            for one in (models[0], models[-1])
        ]
        rows.append(row(entry["task"], cells))
    said = "Calibration is a matter of one task; choose a task for its figure."
    heads = ["Task", "best calibrated (error)", "furthest off (error)"]
    return join([finding(said), table("Calibration by task", heads, rows)])
