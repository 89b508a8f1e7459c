"""Section on agreement: coefficients with their intervals, annotators, and pairs.

Made of the facts of one task; it stands on the page of an agreement, and fits any other.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.report import agreement_heatmap
from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import count, defined, interval, listing, number, percent
from equipoise.report.svg import NARROW, Axis, Scale, across, down, drawing, group, path, text
from equipoise.report.tables import figure, finding, folded, row, table

OUTSIDE = "†"  # marks an interval that leaves out its own value
SHOWN = 200  # rows of the table of annotators
LABEL, START, END = 150.0, 160.0, 388.0
TOP, ROW = 10.0, 26.0
THRESHOLD = 0.667  # Krippendorff's least alpha for tentative conclusions
SHORT = {
    "Krippendorff's": "Krippendorff’s alpha",
    "Fleiss'": "Fleiss’ kappa",
    "Cohen's": "Cohen’s kappa, mean",
    "Percent": "percent agreement",
    "Names": "others’ first choice",
    "Reading": "reading agreement",
}
Facts = Mapping[str, Any]


def agreement_section(facts: Facts) -> Html:
    """Show the agreement on one task.

    Parameters
    ----------
    facts
        What `equipoise.run.agreement.agreement_facts` found.
    """
    parts = (coefficients(facts), people(facts), pairs(facts))
    return join(element("div", part, class_="agree") for part in parts if part)


def coefficients(facts: Facts) -> Html:
    """Say and draw all coefficients."""
    rows = facts["coefficients"]
    drawn = [_forest(rows)] if any(defined(one["value"]) for one in rows) else []
    caption = "Coefficients and their 95% intervals over items"
    if any(_of_alpha(one) for one in rows):
        caption += "; dashed: 0.667, Krippendorff’s least alpha for tentative conclusions"
    return join(
        [
            finding(headline(facts)),
            figure(caption, *drawn) if drawn else Html(""),
            _numbers(rows, "readings" if facts["kind"] == "ranking" else "votes"),
            _cautions(facts["cautions"]),
        ]
    )


def _cautions(said: Sequence[str]) -> Html:
    """List what to keep in mind."""
    if len(said) < 2:
        return join(element("p", one, class_="note") for one in said)
    return element("ul", *(element("li", one) for one in said), class_="note")


def headline(facts: Facts) -> str:
    """Say the agreement in one sentence or two."""
    first = facts["coefficients"][0]
    if not defined(first["value"]):
        return f"{first['name']} is undefined here."
    told = f"{first['name']} is {number(first['value'], 2)}"
    told += f" {interval(first['low'], first['high'], 2)}" if defined(first["low"]) else ""
    same = [one for one in facts["coefficients"] if one["name"] == "Percent agreement"]
    told = f"{told}, {first['words']}." if "chance" not in first["words"] else f"{told}."
    if same and defined(same[0]["value"]):
        share = percent(same[0]["value"])
        told += f" Two votes on the same item agree {share} of the time, chance included."
    return told


def _forest(rows: Sequence[Facts]) -> Html:
    """Draw every coefficient with its interval."""
    ends = [one[part] for one in rows for part in ("value", "low") if defined(one[part])]
    scale = Scale(max(-1.0, min(0.0, *ends)), 1.0, START, END)
    bottom = TOP + ROW * len(rows)
    marks, lines, words = [], [], []
    for place, one in enumerate(rows):
        y = TOP + ROW * (place + 0.5)
        words.append(text(LABEL, y + 4, SHORT[one["name"].split(" ")[0]], "e"))
        words.append(text(NARROW - 2, y + 4, number(one["value"], 2), "e"))
        if defined(one["value"]):
            marks.append(across(scale(one["value"]), y))
        if defined(one["low"]) and defined(one["high"]):
            low, high = scale(one["low"]), scale(one["high"])
            lines.append(
                across(low, y, high - low) + down(low, y - 5, 10) + down(high, y - 5, 10)
            )
    body = [
        Axis(scale, TOP, bottom, title="agreement").draw(5),
        *(
            path("ref", down(scale(THRESHOLD), TOP + ROW * place, ROW))
            for place, one in enumerate(rows)
            if _of_alpha(one)
        ),
        *([path("zero", down(scale(0.0), TOP, bottom - TOP))] if scale.low < 0 else []),
        path("vote", *lines) if lines else Html(""),
        path("p", *marks),
        *words,
    ]
    first = rows[0]
    alternative = (
        f"{len(rows)} coefficients of agreement; {first['name']} {number(first['value'], 2)}."
    )
    return drawing((NARROW, bottom + 40), alternative, group(body))


def _of_alpha(one: Facts) -> bool:
    """Whether Krippendorff's threshold speaks of this coefficient."""
    return str(one["name"]).startswith("Krippendorff's")


def _numbers(rows: Sequence[Facts], what: str) -> Html:
    """List coefficients with interval and words."""
    lines = [
        row(
            one["name"],
            [
                number(one["value"]), _ends_of(one),
                count(one["items"]), count(one["votes"]), one["words"],
            ],
            room=60,
        )
        for one in rows
    ]  # fmt: skip
    heads = ["Coefficient", "value", "95% interval", "items", what, "in words"]
    return table("Coefficients of agreement", heads, lines, "plain wide")


def _ends_of(one: Facts) -> str:
    """Write an interval, marked where it leaves out its own value."""
    mark = OUTSIDE if outside(one["value"], one["low"], one["high"]) else ""
    return f"{interval(one['low'], one['high'])}{mark}"


def people(facts: Facts) -> Html:
    """List the annotators."""
    rows = facts["annotators"]
    if not rows:
        said = "The votes are anonymous, so nothing can be said of single annotators."
        return element("p", said, class_="note")
    titles = {
        "kappa": "mean kappa with others",
        "agreement": "same as others",
        "alpha_without": "alpha without",
    }
    known = [part for part in titles if any(defined(one[part]) for one in rows)]
    lines = [
        row(
            str(one["annotator"]),
            [
                count(one["votes"]), count(one["items"]),
                *(percent(one[p], 1) if p == "agreement" else number(one[p]) for p in known),
            ],
        )
        for one in rows[:SHOWN]
    ]  # fmt: skip
    left = f", the {SHOWN} with most votes of {len(rows):,}" if len(rows) > SHOWN else ""
    heads = ["Annotator", "votes", "items shared", *(titles[part] for part in known)]
    listed = table(f"Annotators{left}", heads, lines)
    body = listed if len(rows) <= 15 else folded("Numbers: annotators", listed)
    return join([element("h3", "Annotators"), finding(_spread(rows)), body])


def _spread(rows: Sequence[Facts]) -> str:
    """Say who agrees most and least with the others, and whose absence would change most."""
    known = sorted((one for one in rows if defined(one["kappa"])), key=lambda one: one["kappa"])
    if len(known) < 2:
        return ""
    low, high = known[0], known[-1]
    told = (
        f"The mean kappa with the others runs from {number(low['kappa'], 2)} "
        f"({_rests(low)}) to {number(high['kappa'], 2)} ({_rests(high)})."
    )
    left = [one for one in rows if defined(one["alpha_without"])]
    if len(left) < 3:
        return told
    most = max(left, key=lambda one: one["alpha_without"])
    return (
        f"{told} Alpha is highest without {listing([str(most['annotator'])])}: "
        f"{number(most['alpha_without'], 2)}."
    )


def _rests(one: Facts) -> str:
    """Name an annotator and the votes that the number rests on."""
    return f"{listing([str(one['annotator'])])}, {count(one['votes'], 'vote')}"


def pairs(facts: Facts) -> Html:
    """Draw and list the pairs."""
    found = facts["pairs"]
    if found is None or not any(defined(v) for line in found["kappa"] for v in line):
        why = {
            "interval": "Ratings are numbers, so pairs have no kappa.",
            "ranking": "Rankings are not single labels, so pairs have no kappa.",
        }.get(facts["kind"], "No pair of annotators has a kappa.")
        return finding(why) if facts["annotators"] else Html("")
    shown, total = len(found["annotators"]), found["people"]
    some = f", the {shown} annotators with most votes of {total:,}" if shown < total else ""
    how = "" if facts["weights"] == "none" else f" with {facts['weights']} weights"
    caption = (
        f"Cohen’s kappa{how} of every pair{some}; highest mean kappa first, columns numbered "
        "as the rows; empty: no item shared"
    )
    return join(
        [
            element("h3", "Pairs of annotators"),
            finding(_ends(found)),
            figure(caption, agreement_heatmap.draw(found)),
            folded("Numbers: pairs", agreement_heatmap.numbers(found)),
        ]
    )


def _ends(found: Facts) -> str:
    """Name the closest and the furthest pair."""
    high = found["closest"][0]
    told = f"{_two(high)} agree most ({_of_pair(high)})"
    if not found["furthest"]:
        return f"{told}."
    low = found["furthest"][0]
    return f"{told}, {_two(low)} least ({_of_pair(low)})."


def _of_pair(one: Facts) -> str:
    shared = count(one["items"], "shared item")
    return f"{number(one['kappa'], 2)}, {one['words']}, on {shared}"


def _two(one: Facts) -> str:
    return listing([str(one["first"]), str(one["second"])])


def outside(value: float | None, low: float | None, high: float | None) -> bool:
    """Whether an interval leaves out its own value; undefined ends (None, nan) do not."""
    if value is None:
        return False
    return (low is not None and value < low) or (high is not None and value > high)
