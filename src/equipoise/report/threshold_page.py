"""Page of a threshold that experts set: where a probability becomes a label, and how surely."""

from collections.abc import Mapping
from typing import Any

from equipoise.report import stability_sweep
from equipoise.report.findings_page import About, Method, Section, drawn, kept, render_findings
from equipoise.report.markup import Html
from equipoise.report.numerals import count, interval, number, percent
from equipoise.report.stability_rows import Entry, Part, cast_of, value
from equipoise.report.tables import row, table
from equipoise.report.threshold_curve import curve, prevalence_curve

Facts = Mapping[str, Any]
RULES = {
    "rise": (
        "The threshold is the mean probability of the first bin, from below, whose share of "
        "positives and that of every bin above it exceed the mean share of the bins below by "
        "more than {margin:g}. The lowest bin is never chosen. Thresholds are means of bins, "
        "so the interval moves in steps of one bin."
    ),
    "isotonic": (
        "The threshold is the smallest sampled probability at which the rising share of "
        "positives that fits best (isotonic regression) reaches {share:g}."
    ),
}
SAMPLE = (
    "Items were ordered by probability and cut into bins of equal size; experts saw a random "
    "sample of each. The majority of the experts labels an item, and a tie is negative. "
    "Intervals of the shares are Wilson's. The threshold's interval redraws {redraw}."
)
FEW = (
    " With few experts there are few different panels, so the interval is too narrow as a "
    "statement about other experts."
)
REDRAWN = {
    "experts": "experts alone, as published, and leaves out which items they happened to see",
    "items": "items within their bins, and leaves out who the experts are",
    "experts x items": (
        "experts, and items within their bins; the one over experts alone, as published, "
        "leaves out which items they happened to see and holds the truth less often"
    ),
}
MOVED = (
    "An item is positive when its probability is at least the threshold. The shaded range is "
    "the interval of the threshold."
)
TERMS = (
    ("Bin", "Items of similar probability; bins are as equal in size as possible."),
    ("Threshold", "The probability from which on an item counts as positive."),
    ("Prevalence", "The share of all items that are positive at a threshold."),
)


def render_threshold(facts: Facts, about: About) -> str:
    """Turn the facts of `equipoise.run.thresholds.threshold_facts` into one page."""
    data, how = facts["data"], facts["settings"]
    known = [
        count(data["items"], "item"),
        f"{count(data['labelled'])} labelled by experts",
        count(data["experts"], "expert") if data["experts"] else "anonymous experts",
        count(len(facts["models"]), "model") if facts["models"] else "",
        count(how["replicates"], "redraw"),
    ]
    asked = [
        ("Rule", str(how["rule"])),
        ("Bins", count(data["bins"])),
        ("Redraws", count(how["replicates"])),
        ("Level of the intervals", percent(how["level"], 0)),
        ("Seed", str(how["seed"])),
    ]
    terms = [*TERMS, *((one["title"], one["definition"]) for one in facts["metrics"])]
    every = [*about.notices, *facts["notices"], *facts.get("sweep", {}).get("notices", ())]
    told = About(about.title, about.scope or f"Probabilities: {facts['chances']}.", every)
    method = Method(known, terms, asked, len(facts["models"]), str(facts["equipoise"]))
    return render_findings(told, _sections(facts), method)


def threshold_figures(facts: Facts) -> dict[str, str]:
    """Every figure of the page as the text of an SVG file, by its name without ending."""
    return drawn(_sections(facts))


def _sections(facts: Facts) -> list[Section]:
    """What the page shows, one finding after the other."""
    sections = [
        Section("threshold", "From where on is an item positive?", _threshold(facts)),
        Section("prevalence", "How many items does that make positive?", _prevalence(facts)),
    ]
    sweep = facts.get("sweep")
    if sweep is not None:
        left = sweep.get("left_out")
        part = left if left else stability_sweep.part(sweep, cast_of(facts))
        sections.append(Section("models", "What would another threshold change?", part))
    return sections


def _threshold(facts: Facts) -> Part:
    entry, how = facts["threshold"], facts["settings"]
    rule = RULES[how["rule"]].format(margin=how["margin"], share=how["share"])
    sample = SAMPLE.format(redraw=REDRAWN[how["redraw"]])
    if "experts" in how["redraw"]:
        sample += FEW
    shade = "" if entry["value"] is None else "; upright line: the threshold"
    if entry["low"] is not None and entry["high"] is not None:
        shade += f", shaded: its {percent(how['level'], 0)} interval"
    return Part(
        str(entry["finding"]),
        f"Share of positives in each bin with its interval{shade}",
        kept({"threshold-bins": curve(entry, how["rule"])}),
        _bins(entry), f"{rule} {sample}",
    )  # fmt: skip


def _bins(entry: Entry) -> Html:
    """List every bin, and how often each threshold was set."""
    lines = [
        row(
            str(one["bin"]),
            [
                f"{value(one, 'mean probability'):.3g}", count(one["items"]),
                count(one["positives"]), percent(value(one, "share of positives"), 1),
                interval(value(one, "low"), value(one, "high")),
            ],
        )
        for one in entry["rows"]
    ]  # fmt: skip
    heads = ["Bin", "mean probability", "items labelled", "positives", "share", "interval"]
    chosen = [
        row(number(value(one, "threshold")) if one["threshold"] is not None else "none",
            [percent(value(one, "share"), 1)])
        for one in sorted(entry["chosen"], key=lambda one: -one["share"])[:MOST]
    ]  # fmt: skip
    title = "Threshold in the redraws"
    if len(entry["chosen"]) > MOST:
        title += f", the {MOST} most frequent of {len(entry['chosen'])}"
    return Html(
        table("Bins of items, from the lowest probability", heads, lines)
        + _doubts(entry)
        + table(title, ["Threshold", "share of redraws"], chosen)
    )


def _doubts(entry: Entry) -> Html:
    """List the interval over everything that can be redrawn."""
    lines = [
        row(
            str(one["interval"]),
            [
                interval(value(one, "low"), value(one, "high")),
                percent(value(one, "same threshold"), 1),
                percent(value(one, "no threshold"), 1),
                "yes" if one["in the finding"] else "",
            ],
        )
        for one in entry["intervals"]
    ]
    heads = ["Interval", "ends", "same threshold", "no threshold", "in the sentence above"]
    return table("Intervals of the threshold, by what is redrawn", heads, lines)


MOST = 12  # thresholds of the redraws in the table


def _prevalence(facts: Facts) -> Part | str:
    entry = facts["prevalence"]
    if "left_out" in entry:
        return str(entry["left_out"])
    lines = [
        row(number(value(one, "threshold")),
            [count(one["positives"]), percent(value(one, "prevalence"), 1)])
        for one in entry["rows"]
    ]  # fmt: skip
    return Part(
        str(entry["finding"]),
        "Share of all items that are positive as the threshold moves; shaded: its interval",
        kept({"threshold-prevalence": prevalence_curve(entry, facts["threshold"])}),
        table("Positive items by threshold", ["Threshold", "positives", "share"], lines),
        MOVED,
    )
