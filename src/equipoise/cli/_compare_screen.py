"""Two models on one screen: differences, what they hang on, and the experts."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from equipoise.cli._stability_cells import against, between, scored, share, shown, worth
from equipoise.cli._stability_legends import LEGENDS
from equipoise.cli._stability_lines import flip_lines
from equipoise.cli._stability_screen import print_table

if TYPE_CHECKING:
    from rich.console import Console

Facts = Mapping[str, Any]

SAME = "0: identical predictions"
LOWER = "Of metrics marked ↓ less is better: a difference below 0 speaks for the first."


def show(console: "Console", facts: Facts) -> None:
    """Print the sentence first, then the tables behind it."""
    a, b = facts["a"], facts["b"]
    console.print(facts["finding"], markup=False)
    console.print()
    console.print(f"{a} minus {b}", markup=False, style="bold")
    heads = ("task", "metric", "hard labels", "P(better)", "soft labels", "P(better)")
    legend = _legend(facts)
    if any(one["better"] == "lower" for one in facts["differences"]):
        legend = f"{legend} {LOWER}"
    print_table(console, heads, _differences(facts), legend)
    for name, title in (("flips", "What turns it round"), ("experts", "The experts' view")):
        found = facts[name]
        console.print(title, style="bold")
        if "left_out" in found:
            console.print(f"Left out: {found['left_out']}", markup=False)
            continue
        columns, lines = flip_lines(found) if name == "flips" else _experts(found, facts)
        print_table(console, columns, lines, LEGENDS[name])
        if name == "experts" or not lines:
            console.print(found["finding"], markup=False)
        for note in (one for one in found["notices"] if one not in facts["notices"]):
            console.print(f"Note: {note}", markup=False, style="dim")


def _legend(facts: Facts) -> str:
    """What the chances and brackets are shares and intervals of."""
    from equipoise.analyses.words import REDRAWN

    a, b, kind = facts["a"], facts["b"], facts["settings"]["resample"]
    if kind == "influence":
        return f"P(better): chance that {a} is better than {b}, normal, for other items."
    return (
        f"P(better): share of redraws of {REDRAWN.get(kind, kind)} in which {a} is better than "
        f"{b}, ties half. Brackets: interval over the same redraws."
    )


def _differences(facts: Facts) -> list[list[str]]:
    from equipoise.run.twins import identical

    titles = {one["name"]: one["title"] for one in facts["metrics"]}
    pair = (facts["a"], facts["b"])
    cells: dict[tuple[str, str], dict[str, Facts]] = {}
    for row in facts["differences"]:
        cells.setdefault((row["task"], row["metric"]), {})[row["labels"]] = row
    lines = []
    for (task, metric), both in cells.items():
        down = " ↓" if both["soft"]["better"] == "lower" else ""
        line = [task, f"{titles[metric]}{down}"]
        if identical(facts.get("twins", ()), pair, task):
            lines.append([*line, SAME, "", SAME, ""])
            continue
        for labels in ("hard", "soft"):
            row = both[labels]
            line += [between(row, "value", "low", "high"), share(row["p_better"])]
        lines.append(line)
    return lines


def _experts(found: Facts, facts: Facts) -> tuple[tuple[str, ...], list[list[str]]]:
    first = facts["metrics"][0]
    heads = ("model", f"{scored(first)} with the others", against(first),
             "beats a colleague", "worth")  # fmt: skip
    return heads, [
        [
            row["who"], shown(row["value"]), between(row, "gap", "gap_low", "gap_high"),
            share(row["superior"]), worth(row),
        ]
        for row in found["rows"] if row["kind"] == "model"
    ]  # fmt: skip
