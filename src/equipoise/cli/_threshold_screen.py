"""Samples for experts, thresholds and audits in a terminal: sentences first, then tables."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from equipoise.analyses.thresholds import ExpertSample

Facts = Mapping[str, Any]
AGAIN = (
    "Before: the benchmark alone. Added: audited items count like any other. Reweighed: each "
    "audited item counts for as many items of its pool as it stands for. Change: reweighed "
    "minus before. Brackets: intervals."
)


def show_plan(console: "Console", sample: "ExpertSample") -> None:
    """Print how many items of each bin go to the experts."""
    console.print(sample.finding, markup=False)
    lines = [
        [f"{row['bin']}", f"{row['mean probability']:.3g}", f"{row['items']:,}",
         f"{row['sampled']:,}"]
        for row in sample.bin_rows()
    ]  # fmt: skip
    _table(console, ("bin", "mean probability", "items", "in the sample"), lines)


def show_threshold(console: "Console", facts: Facts) -> None:
    """Print the threshold, the bins behind it, and what moves with it."""
    console.print(facts["threshold"]["finding"], markup=False)
    console.print(facts["prevalence"]["finding"], markup=False)
    lines = [
        [f"{row['bin']}", f"{row['mean probability']:.3g}", f"{row['items']:,}",
         f"{row['positives']:,}", _between(row, "share of positives", "low", "high"),
         "<- threshold" if row["bin"] == facts["threshold"]["bin"] else ""]
        for row in facts["threshold"]["rows"]
    ]  # fmt: skip
    _table(console, ("bin", "mean probability", "items", "positives", "share", ""), lines)
    _table(console, ("interval of the threshold", "ends", "same threshold"), _doubts(facts))
    sweep = facts.get("sweep")
    if sweep is None:
        return
    console.print()
    console.print("[bold]Another threshold[/bold]")
    if "left_out" in sweep:
        console.print(f"Left out: {sweep['left_out']}", markup=False)
        return
    console.print(sweep["finding"], markup=False)
    _table(console, *_moves(sweep, facts["metrics"][0]["name"]))


def _doubts(facts: Facts) -> list[list[str]]:
    """The interval over everything that can be redrawn, the one of the sentence first."""
    rows = sorted(facts["threshold"]["intervals"], key=lambda row: not row["in the finding"])
    return [
        [row["interval"], f"[{_shown(row['low'])}, {_shown(row['high'])}]",
         f"{row['same threshold']:.0%}"]
        for row in rows
    ]  # fmt: skip


def _moves(sweep: Facts, metric: str) -> tuple[tuple[str, ...], list[list[str]]]:
    """Value and rank of every model at the ends and the middle."""
    rows = [row for row in sweep["rows"] if row["metric"] == metric]
    steps = list(dict.fromkeys(row["threshold"] for row in rows))
    centre = min(steps, key=lambda step: abs(step - sweep["centre"]))
    some = sorted({steps[0], centre, steps[-1]})
    from equipoise.export.titles import metric_title

    title = metric_title(metric)
    heads = ("model", *(f"{title} at {step:.3g} (rank)" for step in some))
    lines = [["positives", *(_prevalence(rows, step) for step in some)]]
    for model in dict.fromkeys(row["model"] for row in rows):
        own = {row["threshold"]: row for row in rows if row["model"] == model}
        cells = [
            f"{_between(own[step], 'value', 'low', 'high')} ({_place(own[step]['rank'])})"
            for step in some
        ]
        lines.append([model, *cells])
    return heads, lines


def _prevalence(rows: Sequence[Facts], step: float) -> str:
    row = next(row for row in rows if row["threshold"] == step)
    return f"{row['prevalence']:.1%}"


def show_audit(console: "Console", facts: Facts) -> None:
    """Print what was missed, pool by pool, and the models before and after."""
    from equipoise.analyses.audit import tally

    found = facts["audit"]
    console.print(found["finding"], markup=False)
    lines = [
        [
            row["pool"], f"{row['size']:,}", f"{row['audited']:,}", f"{row['positives']:,}",
            _share(row, "share", "share_low", "share_high"),
            f"{tally(row['missed'])} [{tally(row['missed_low'])}, "
            f"{tally(row['missed_high'])}]",
        ]
        for row in found["rows"]
    ]  # fmt: skip
    _table(console, ("pool", "items", "audited", "positive", "share", "missed"), lines)
    again = facts.get("reevaluation")
    if not again:
        return
    console.print()
    console.print("[bold]With the audited items[/bold]")
    for sentence in again["findings"]:
        console.print(sentence, markup=False)
    _table(
        console, ("metric", "model", "before", "added", "reweighed", "change"), _again(again)
    )
    console.print(AGAIN, markup=False)


def _again(again: Facts) -> list[list[str]]:
    lines = []
    keys = dict.fromkeys((row["metric"], row["model"]) for row in again["rows"])
    for metric, model in keys:
        own = {
            row["version"]: row
            for row in again["rows"]
            if (row["metric"], row["model"]) == (metric, model)
        }
        values = [
            _between(own[name], "value", "low", "high")
            for name in ("before", "added", "reweighed")
        ]
        change = _between(own["reweighed"], "change", "change_low", "change_high")
        lines.append([metric, model, *values, change])
    return lines


def _table(console: "Console", heads: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table()
    filled = [number for number in range(len(heads)) if any(line[number] for line in lines)]
    for number in filled:
        left = lines[0][number][:1].isalpha()
        table.add_column(escape(heads[number]), justify="left" if left else "right")
    for line in lines:
        table.add_row(*(escape(line[number]) for number in filled))
    console.print(table)


def _shown(value: float | str | None, digits: int = 3) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "undefined"
    return value if isinstance(value, str) else f"{value:.{digits}f}"


def _between(row: Facts, *names: str) -> str:
    value, low, high = (_shown(row[name]) for name in names)
    return value if value == "undefined" else f"{value} [{low}, {high}]"


def _share(row: Facts, *names: str) -> str:
    value, low, high = (f"{row[name]:.1%}" for name in names)
    return f"{value} [{low}, {high}]"


def _place(rank: float | None) -> str:
    return "undefined" if rank is None else f"{rank:.1f}".removesuffix(".0")
