"""Page of an audit: what a retrieval missed, and what that changes for the models."""

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.analyses.audit import tally
from equipoise.report.findings_page import About, Method, Section, drawn, kept, render_findings
from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import (
    apart,
    count,
    interval,
    number,
    percent,
    signed,
    signed_interval,
)
from equipoise.report.stability_charts import Dot, Rows, dot_rows
from equipoise.report.stability_rows import Cast, Entry, Part, by, cast_of, digits_of, value
from equipoise.report.tables import row, table

Facts = Mapping[str, Any]
ROOM = 16  # letters of a name in a figure
NOTE = (
    "An audit labels some of the items that were not retrieved, drawn at random from a pool. "
    "The share of positives among them has Wilson's interval{finite}; times the size of the "
    "pool it is the number that was missed there. Pools have no items in common; their numbers "
    "add, and the distances to the ends add in squares. What lies outside of the pools is not "
    "counted. An item is positive when more than half of its votes say so; a tie is negative."
)
FINITE = ", narrowed because the pool is finite (an audit of all of it leaves no doubt)"
AGAIN = (
    "Before: the items of the benchmark. Added: audited items count like any other. Reweighed: "
    "each audited item counts for as many as it stands for, the size of its pool over the "
    "number audited. {unit} of the benchmark and items of every pool are redrawn separately, "
    "the same for all versions and models, so that changes are paired."
)
VERSIONS = {"before": "before", "added": "audited items added", "reweighed": "reweighed"}
TERMS = (
    ("Pool", "Items that were not retrieved and from which the audit was drawn."),
    ("Missed", "Positives in the pools that the retrieval did not find."),
    ("Recall of the retrieval", "Found over found and missed, inside of what was looked at."),
)


def render_audit(facts: Facts, about: About) -> str:
    """Turn the facts of `equipoise.run.audit.audit_facts` into one page."""
    how, found = facts["settings"], facts["audit"]
    again = facts.get("reevaluation")
    known = [
        count(len(found["rows"]), "pool"),
        f"{count(sum(one['audited'] for one in found['rows']))} items audited",
        f"{count(found['found'])} positives retrieved",
        count(len(facts["models"]), "model") if again else "",
    ]
    asked = [("Level of the intervals", percent(how["level"], 0))]
    if again:
        asked += [("Labels", str(how["labels"])), ("Redraws", count(how["replicates"])),
                  ("Seed", str(how["seed"]))]  # fmt: skip
    terms = [*TERMS, *((one["title"], one["definition"]) for one in facts["metrics"])]
    told = About(about.title, about.scope, [*about.notices, *facts["notices"]])
    method = Method(known, terms, asked, len(facts["models"]), str(facts["equipoise"]))
    return render_findings(told, _sections(facts), method)


def audit_figures(facts: Facts) -> dict[str, str]:
    """Every figure of the page as the text of an SVG file, by its name without ending."""
    return drawn(_sections(facts))


def _sections(facts: Facts) -> list[Section]:
    sections = [Section("missed", "How many positives lie outside?", _missed(facts))]
    if facts.get("reevaluation"):
        sections.append(Section("models", "Does that change the models?", _again(facts)))
    return sections


def _missed(facts: Facts) -> Part:
    entry, how = facts["audit"], facts["settings"]
    short = apart(tuple(str(one["pool"]) for one in entry["rows"]), ROOM)
    dots = [
        Dot(
            str(one["pool"]), short[str(one["pool"])], value(one, "share"),
            value(one, "share_low"), value(one, "share_high"),
            f"{one['positives']} of {one['audited']}",
        )
        for one in entry["rows"]
    ]  # fmt: skip
    rows = Rows(
        "Share of positives in each pool", "share of positives",
        f"Share of positives in {count(len(dots), 'pool')} with intervals.", ends=(0.0, 0.05),
    )  # fmt: skip
    return Part(
        str(entry["finding"]),
        f"Share of positives among audited items, with its {percent(how['level'], 0)} interval",
        kept({"audit-pools": dot_rows(rows, dots)}),
        _pools(entry), NOTE.format(finite=FINITE if how["finite"] else ""), shown=True,
    )  # fmt: skip


def _pools(entry: Entry) -> Html:
    """List every pool, and the sum."""
    lines = [
        row(
            str(one["pool"]),
            [
                count(one["size"]), count(one["audited"]), count(one["positives"]),
                _shares(one, "share", "share_low", "share_high"),
                _about(one, "missed", "missed_low", "missed_high"),
            ],
        )
        for one in entry["rows"]
    ]  # fmt: skip
    heads = ["Pool", "items", "audited", "positive", "share", "missed"]
    whole = [
        row("missed in all", [_about(entry["missed"], "value", "low", "high")]),
        row("found", [count(entry["found"])]),
        row("recall of the retrieval", [_shares(entry["recall"], "value", "low", "high")]),
    ]
    return join(
        [table("Pools", heads, lines), table("All pools", ["", "value and interval"], whole)]
    )


def _about(one: Entry, *names: str) -> str:
    middle, low, high = (value(one, name) for name in names)
    return f"{tally(middle)} [{tally(low)}, {tally(high)}]"


def _shares(one: Entry, *names: str) -> str:
    middle, low, high = (percent(value(one, name), 1) for name in names)
    return f"{middle} [{low}, {high}]"


def _again(facts: Facts) -> Part:
    entry, cast = facts["reevaluation"], cast_of(facts)
    metrics = by(entry["rows"], "metric")
    drawings = {f"audit-{name}": _changes(own, cast) for name, own in metrics.items()}
    others = [str(one) for one in entry["findings"]][1:]
    more = element("ul", *(element("li", one) for one in others)) if others else Html("")
    return Part(
        str(entry["finding"]),
        "Change of every model with the audited items reweighed, and its interval",
        kept(drawings),
        join([more, *(_table(own, cast) for own in metrics.values())]),
        AGAIN.format(unit=_unit(entry)),
    )  # fmt: skip


def _unit(entry: Entry) -> str:
    """What is redrawn of the benchmark."""
    groups = entry.get("groups", 0)
    return f"{count(groups, 'whole group')} of items" if groups else "Items"


def _changes(rows: Sequence[Entry], cast: Cast) -> Html | None:
    """Draw the paired change of every model."""
    last = [one for one in rows if one["version"] == "reweighed"]
    digits = digits_of(last, "change_low", "change_high")
    dots = [
        Dot(
            str(one["model"]), cast.short(str(one["model"]), ROOM), value(one, "change"),
            value(one, "change_low"), value(one, "change_high"),
            signed(value(one, "change"), digits), cast.class_(str(one["model"])),
        )
        for one in last
    ]  # fmt: skip
    way = ", lower is better" if cast.sign(rows) < 0 else ""
    said = f"Change of {cast.title(rows)}{way} for {count(len(dots), 'model')}."
    head = f"{cast.title(rows)}{way}"
    return dot_rows(Rows(head, "change with the audit", said, zero=True), dots)


def _table(rows: Sequence[Entry], cast: Cast) -> Html:
    """List values in every version, and the changes."""
    digits = digits_of(rows)
    lines = []
    for model, own in by(rows, "model").items():
        at = {str(one["version"]): one for one in own}
        cells = [
            f"{number(value(at[v], 'value'), digits)} "
            f"{interval(value(at[v], 'low'), value(at[v], 'high'), digits)}"
            for v in VERSIONS
        ]
        cells += [_change(at[v], digits) for v in ("added", "reweighed")]
        lines.append(cast.row(str(model), cells))
    heads = ["Model", *VERSIONS.values(), "change when added", "change when reweighed"]
    return table(f"{cast.title(rows)} before and after the audit", heads, lines)


def _change(one: Entry, digits: int) -> str:
    """Write a change with its interval."""
    ends = signed_interval(value(one, "change_low"), value(one, "change_high"), digits)
    return f"{signed(value(one, 'change'), digits)} {ends}"
