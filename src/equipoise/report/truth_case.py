"""Plausibilities of one case: what was said, and what that leaves possible.

A line per class. The tick is the mean share, the thick line holds the middle half of the draws
and the thin line nine tenths of them, dots are single draws; the ring is the share of readings
that name the class first. Beside the plot stand the readings themselves.
"""

from collections.abc import Sequence

from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import (
    UNDEFINED,
    chance,
    count,
    defined,
    listing,
    number,
    percent,
    shorten,
)
from equipoise.report.svg import NARROW, Axis, Scale, across, down, drawing, path, text, titled
from equipoise.report.tables import figure, folded, table
from equipoise.report.votes import Entry

LABEL, START, END = 116.0, 128.0, 386.0
TOP, ROW = 22.0, 30.0
LEVELS = ("5%", "25%", "median", "75%", "95%")


def rows_of(case: Entry) -> list[tuple[str, Entry]]:
    """Classes of a case by name, all others last."""
    named: list[tuple[str, Entry]] = [(str(one["class"]), one) for one in case["rows"]]
    rest = case["others"]
    return [*named, *([(others_name(rest), rest)] if rest else [])]


def others_name(rest: Entry) -> str:
    """Name what stands for many classes.

    Examples
    --------
    >>> others_name({"classes": 412}), others_name({"classes": 1})
    ('412 others', '1 other')
    """
    return count(rest["classes"], "other")


def draw(case: Entry) -> Html:
    """Draw the classes of one case."""
    rows, scale = rows_of(case), Scale(0, 1, START, END)
    bottom = TOP + ROW * len(rows)
    parts = [
        text(NARROW - 4, 12, "mean", "e a"),
        Axis(scale, TOP, bottom, title="share of the class").draw(5),
        *(
            _row(name, one, (scale, TOP + ROW * (place + 0.5)))
            for place, (name, one) in enumerate(rows)
        ),
    ]
    alternative = (
        f"Plausibility of {count(len(rows))} classes of {case['item']}: "
        f"{rows[0][0]} has {percent(rows[0][1]['mean'])}."
    )
    return drawing((NARROW, bottom + 40), alternative, *parts, class_="tinted")


def _row(name: str, one: Entry, place: tuple[Scale, float]) -> Html:
    """Draw one class."""
    scale, y = place
    mean = scale(one["mean"])
    parts = [titled(name, shorten(name, 15), x=LABEL, y=y + 4, class_="e")]
    if "quantiles" in one:
        low, start, _, end, high = (scale(x) for x in one["quantiles"])
        spots = sorted({round(scale(x)) for x in one["draws"]})
        parts += [
            path("dots", *(across(x, y + 9) for x in spots)),
            path("w", across(low, y, high - low)),
            path("b", across(start, y, end - start)),
        ]
    else:
        parts.append(path("b", across(scale(0), y, mean - scale(0))))
    if defined(one.get("first")):
        first = scale(one["first"])
        parts += [path("ring", across(first, y)), path("h", across(first, y))]
    parts.append(path("vote", down(mean, y - 6, 12)))
    parts.append(text(NARROW - 4, y + 4, percent(one["mean"]), "e"))
    return join(parts)


def reading_words(blocks: Sequence[Sequence[str]]) -> str:
    """Write a reading as one would say it: best first, ties with an equals sign.

    Examples
    --------
    >>> reading_words([["naevus"], ["melanoma", "keratosis"]])
    'naevus > melanoma = keratosis'
    """
    return " > ".join(" = ".join(shorten(name, 32) for name in block) for block in blocks)


def readings(case: Entry) -> Html:
    """List what was said of the case."""
    named = any(one["annotator"] is not None for one in case["readings"])
    heads = ["Annotator" if named else "Readings", "said", *(["times"] if named else [])]
    rows = []
    for one in case["readings"]:
        said = element("td", reading_words(one["blocks"]))
        if named:
            head = str(one["annotator"])
            cells = [element("th", shorten(head, 24), title=head), said]
            cells.append(element("td", count(one["number"])))
        else:
            cells = [element("th", count(one["number"])), said]
        rows.append(element("tr", *cells))
    left = case["left_out"]
    more = f"; {count(left)} more are left out" if left else ""
    return table(f"What was said{more}", heads, rows, "plain")


def show(case: Entry) -> Html:
    """Show one case: the plot, the readings and the numbers."""
    name, certainty = shorten(str(case["item"]), 40), chance(case["certainty"])
    title = f"Item {name}, {case['role']} (certainty {certainty})"
    return join(
        [
            element("h3", title),
            element("p", finding(case), class_="finding"),
            figure(
                "Plausibility of the classes, and what was said", draw(case), _grouped(case)
            ),
            folded("Numbers: plausibility of the classes", numbers(case)),
        ]
    )


def _grouped(case: Entry) -> Html:
    """Votes by class where there are many, else every reading."""
    if len(case["readings"]) <= 12:
        return readings(case)
    return join([_tally(case), folded("Every reading", readings(case))])


def _tally(case: Entry) -> Html:
    """Count the readings that say the same."""
    total: dict[str, int] = {}
    for one in case["readings"]:
        said = reading_words(one["blocks"])
        total[said] = total.get(said, 0) + one["number"]
    order = sorted(total.items(), key=lambda pair: -pair[1])[:12]
    rows = [
        element("tr", element("th", count(times)), element("td", said)) for said, times in order
    ]
    return table("What was said most", ["Readings", "said"], rows, "plain")


def numbers(case: Entry) -> Html:
    """List mean, quantiles and share of first choices of every class."""
    spread = any("quantiles" in one for _, one in rows_of(case))
    voted = any(defined(one.get("first")) for _, one in rows_of(case))
    heads = ["Class", "mean", *(LEVELS if spread else ()), *(["named first"] if voted else [])]
    rows = []
    for name, one in rows_of(case):
        cells = [number(one["mean"])]
        cells += [number(x) for x in one.get("quantiles", [])]
        cells += [percent(one.get("first") or 0.0)] if voted else []
        head = element("th", shorten(name, 28), title=name)
        rows.append(element("tr", head, join(element("td", cell) for cell in cells)))
    return table("Share of each class", heads, rows)


def finding(case: Entry) -> str:
    """Say what the leading class may have."""
    if not case["rows"]:
        return UNDEFINED
    one = case["rows"][0]
    name, mean = listing([str(one["class"])]), percent(one["mean"])
    if "quantiles" not in one:
        return f"Class {name} leads with {mean}."
    low, high = one["quantiles"][0], one["quantiles"][-1]
    if percent(low) == percent(high):
        return f"Class {name} leads with {mean}, in nearly every draw."
    return (
        f"Class {name} leads with {mean} on average; nine of ten draws give it "
        f"{percent(low)} to {percent(high)}."
    )
