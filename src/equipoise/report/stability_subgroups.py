"""Subgroups: where models do worse, and where experts disagree more."""

from collections.abc import Sequence

from equipoise.report.markup import Html, join
from equipoise.report.numerals import apart, chance, count, defined, finite, signed
from equipoise.report.numerals import signed_interval as span
from equipoise.report.stability_charts import Dot, Rows, dot_rows
from equipoise.report.stability_rows import (
    Cast,
    Entry,
    Part,
    digits_of,
    several,
    value,
    written,
)
from equipoise.report.tables import row, table

DRAWN = 30  # groups in the figure; all are in the table
AGREEMENT = {
    "entropy": "entropy of the votes, nats",
    "agreement": "agreement, Krippendorff's alpha",
    "certainty": "certainty of the label",
}
NOTE = (
    "Each group is compared with {against}, on the same redraws of items. A p-value compares "
    "the difference with those that arise when the same items are divided at random, whole "
    "patients where items have them. p-values are corrected for the number of comparisons "
    "(Holm), each counted once; without a correction one in twenty would stand out by chance. "
    "Groups that are too small are counted and not measured."
)
SMALL = "too few items"


def part(entry: Entry, cast: Cast) -> Part:
    """The section on groups of items."""
    rows = list(entry["rows"])
    against = "the largest group" if entry.get("against") == "largest" else "all other items"
    model = _best(rows, cast)
    drawings = {}
    for name in ("entropy", "agreement"):
        own = [one for one in rows if one["quantity"] == name]
        drawings[f"subgroups-{name}"] = _forest(own, AGREEMENT[name])
    ours = [one for one in rows if one["model"] == model]
    if model and ours:
        title = cast.title([{**ours[0], "metric": ours[0]["quantity"], "task": ""}])
        head = f"{title} of {cast.short(model, 18)}"
        drawings["subgroups-metric"] = _forest(ours, head, cast.class_(model))
    return Part(
        str(entry["finding"]),
        f"Disagreement and the best model by group, against {against}",
        {name: one for name, one in drawings.items() if one is not None},
        join([*_tables(rows, cast), _small(rows)]), NOTE.format(against=against),
    )  # fmt: skip


def _best(rows: Sequence[Entry], cast: Cast) -> str:
    """The model that is best on average over groups."""
    sums: dict[str, float] = {}
    for one in rows:
        if one["model"] in cast.models and finite(value(one, "value")):
            sign = cast.sign([{"metric": one["quantity"]}])
            sums[one["model"]] = sums.get(one["model"], 0.0) + sign * value(one, "value")
    return max(sums, key=lambda name: sums[name]) if sums else ""


def _group(one: Entry) -> str:
    return f"{one['column']} = {one['level']}"


def _forest(rows: Sequence[Entry], title: str, class_: str = "tinted") -> Html | None:
    """Draw a value with its interval per group that has one."""
    shown = [one for one in rows if finite(value(one, "value"))][:DRAWN]
    names = [_group(one) for one in shown]
    digits, short = digits_of(shown), apart(tuple(names), 17)
    dots = [
        Dot(name, short[name], value(one, "value"), value(one, "low"), value(one, "high"),
            written(one, ("value", "low", "high"), digits), class_)
        for one, name in zip(shown, names, strict=True)
    ]  # fmt: skip
    said = f"{title} in {count(len(dots), 'group')} of items."
    return dot_rows(Rows(title, "", said), dots)


def _tables(rows: Sequence[Entry], cast: Cast) -> list[Html]:
    """List every quantity by group, with its difference and corrected p-value."""
    made = []
    for quantity in several(rows, "quantity"):
        own = [one for one in rows if one["quantity"] == quantity]
        digits = digits_of(own, "difference_low", "difference_high")
        known = cast.title([{**own[0], "metric": quantity, "task": ""}])
        title = AGREEMENT.get(str(quantity), known)
        for model in several(own, "model"):
            lines = [_line(one, digits) for one in own if one["model"] == model]
            whose = f" of {model}" if model else ""
            heads = ["Group", "items", "value", "difference", "p (Holm)"]
            made.append(table(f"{title}{whose}", heads, lines))
    return made


def _line(one: Entry, digits: int) -> Html:
    if not defined(value(one, "value")):
        why = f" ({SMALL})" if one["status"] == SMALL else ""
        return row(_group(one), [count(value(one, "items")), f"undefined{why}", "", ""])
    difference = span(value(one, "difference_low"), value(one, "difference_high"), digits)
    return row(
        _group(one),
        [
            count(value(one, "items")),
            written(one, ("value", "low", "high"), digits),
            f"{signed(value(one, 'difference'), digits)} {difference}",
            chance(value(one, "p_holm"), 3),
        ],
    )


def _small(rows: Sequence[Entry]) -> Html:
    """List groups that are too small."""
    small = {_group(one): value(one, "items") for one in rows if one["status"] == SMALL}
    if not small:
        return Html("")
    lines = [row(name, [count(number)]) for name, number in small.items()]
    return table("Groups that are too small to be measured", ["Group", "items"], lines)
