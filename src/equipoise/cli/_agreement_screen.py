"""What `equipoise agreement` shows: coefficients, annotators, and the pairs at both ends."""

from collections.abc import Sequence
from typing import Any

from equipoise.agreement.words import OUTSIDE, outside
from equipoise.cli._screen import output

MOST = 20  # annotators shown in the terminal; JSON has all
SCALE = "Agreement (1: perfect; 0: what chance gives, where corrected for it)"


def show(facts: dict[str, Any]) -> None:
    """Print one task."""
    what = "readings" if facts["kind"] == "ranking" else "votes"
    who = len(facts["annotators"])
    known = [
        _some(facts["items"], "item"),
        _some(facts["votes"], what.removesuffix("s")),
        _some(who, "annotator") if who else "anonymous votes",
    ]
    title = f"{facts['task']}: " if facts["task"] else ""
    output().print(_safe(f"{title}{', '.join(known)}."))
    _print(
        SCALE,
        ("coefficient", "value", "95% interval", "in words", "items", what),
        [_coefficient(row) for row in facts["coefficients"]],
    )
    output().print(_safe(f"{facts['scope']}\n"))
    if who:
        _annotators(facts["annotators"])
    pairs = facts["pairs"]
    if pairs is not None and pairs["closest"]:
        heads = ("first", "second", "kappa", "in words", "items shared")
        _print("Pairs that agree most", heads, [_pair(row) for row in pairs["closest"]])
        if pairs["furthest"]:
            _print("Pairs that agree least", heads, [_pair(row) for row in pairs["furthest"]])


def show_tasks(found: Sequence[dict[str, Any]]) -> None:
    """Print a table of all tasks, lowest agreement last."""
    names = list(dict.fromkeys(row["name"] for one in found for row in one["coefficients"]))
    heads = ("task", "items", f"{names[0]}, 95% interval", *names[1:], "alpha in words")
    if found[0]["kind"] == "ranking":
        heads = (*heads[:-1], "in words")
    rows = []
    for facts in sorted(found, key=_first, reverse=True):
        first = facts["coefficients"][0]
        known = {row["name"]: _number(row["value"], 2) for row in facts["coefficients"]}
        values = [_ranged(first), *(known.get(name, "") for name in names[1:])]
        words = first["words"].split(":")[0]
        rows.append((facts["task"], f"{facts['items']:,}", *values, words))
    _print(SCALE, heads, rows)
    output().print(_safe(f"{found[0]['scope']} --task shows annotators and pairs of one task."))


def _first(facts: dict[str, Any]) -> float:
    value = facts["coefficients"][0]["value"]
    return -9.0 if value is None else float(value)


def _annotators(rows: Sequence[dict[str, Any]]) -> None:
    """Print the annotators with most votes, without columns that nothing is known of."""
    titles = {
        "kappa": "mean kappa with others",
        "agreement": "same as others",
        "alpha_without": "alpha without",
    }
    known = [name for name in titles if any(row[name] is not None for row in rows)]
    heads = ("annotator", "votes", "items shared", *(titles[name] for name in known))
    lines = [
        (
            row["annotator"],
            f"{row['votes']:,}",
            f"{row['items']:,}",
            *(_percent(row[name]) if name == "agreement" else _number(row[name])
              for name in known),
        )
        for row in rows[:MOST]
    ]  # fmt: skip
    more = f", the {MOST} with most votes" if len(rows) > MOST else ""
    _print(f"Annotators{more}", heads, lines)


def _coefficient(row: dict[str, Any]) -> tuple[str, ...]:
    ends = f"{_number(row['low'])} to {_number(row['high'])}"
    ends = "undefined" if row["low"] is None and row["high"] is None else ends
    ends += OUTSIDE if outside(row["value"], row["low"], row["high"]) else ""
    numbers = f"{row['items']:,}", f"{row['votes']:,}"
    return row["name"], _number(row["value"]), ends, row["words"], *numbers


def _ranged(row: dict[str, Any]) -> str:
    if row["value"] is None:
        return "undefined"
    mark = OUTSIDE if outside(row["value"], row["low"], row["high"]) else ""
    return f"{row['value']:.2f} [{_number(row['low'], 2)}, {_number(row['high'], 2)}]{mark}"


def _pair(row: dict[str, Any]) -> tuple[str, ...]:
    return row["first"], row["second"], _number(row["kappa"]), row["words"], f"{row['items']:,}"


def _number(value: float | None, digits: int = 3) -> str:
    return "undefined" if value is None else f"{value:.{digits}f}"


def _percent(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.1%}"


def _some(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _safe(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def _print(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows under a heading; numbers stand to the right."""
    from rich.table import Table

    table = Table()
    for place, head in enumerate(heads):
        number = all(_numeric(row[place]) for row in rows)
        table.add_column(head, justify="right" if number else "left")
    for row in rows:
        table.add_row(*(_safe(cell) for cell in row))
    screen = output()
    screen.print(f"[italic]{_safe(title)}[/italic]")
    screen.print(table)


def _numeric(cell: str) -> bool:
    return cell in ("", "undefined") or cell[:1].isdigit() or cell[:1] == "-"
