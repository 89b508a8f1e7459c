"""The few numbers behind each finding of stability, as lines of text for a terminal."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from equipoise.cli._stability_cells import against, between, scored, share, shown, worth
from equipoise.digits import significant

Facts = Mapping[str, Any]
Lines = tuple[Sequence[str], list[list[str]]]


def here(rows: Sequence[Facts], facts: Facts) -> list[Facts]:
    """Rows of the last task, the first metric and the labels asked for."""
    task, metric = facts["tasks"][-1], facts["metrics"][0]["name"]
    labels = facts["settings"]["labels"]
    asked = {"task": task, "metric": metric, "labels": labels}
    return [row for row in rows if all(row.get(k, v) == v for k, v in asked.items())]


def _largest(rows: Sequence[Facts], key: str) -> Facts:
    return max(rows, key=lambda row: -1.0 if row[key] is None else abs(float(row[key])))


def _by(rows: Sequence[Facts], key: str) -> list[list[Facts]]:
    found: dict[Any, list[Facts]] = {}
    for row in rows:
        found.setdefault(row[key], []).append(row)
    return list(found.values())


def _ranking(found: Facts, facts: Facts) -> Lines:
    heads = (
        "drawn anew",
        "Spearman",
        "Kendall's tau-b",
        "best most often",
        "runner-up",
        "soft wins",
    )
    return heads, [
        [
            row["kind"], between(row, "spearman", "spearman_low", "spearman_high"),
            shown(row["kendall_tau_b"]),
            _named(row, "most_often_best", "p_best"), _named(row, "runner_up", "p_runner_up"),
            share(row["soft_win_rate"]),
        ]
        for row in here(found["rows"], facts)
    ]  # fmt: skip


def _named(row: Facts, name: str, chance: str) -> str:
    return f"{row[name]} ({share(row[chance])})" if row[name] else ""


def flip_lines(found: Facts) -> Lines:
    """One line per task, one column per kind of move."""
    units = list(dict.fromkeys(row["unit"] for row in found["rows"]))
    heads = ("task", "best", "ahead by", *(f"fewest {unit}" for unit in units))
    cells = {(row["task"], row["unit"]): _fewest(row) for row in found["rows"]}
    lines = []
    for rows in _by(found["rows"], "task"):
        first = rows[0]
        head = [first["task"], first["a"], shown(first["margin"])]
        lines.append([*head, *(cells.get((first["task"], unit), "") for unit in units)])
    return heads, lines


def _fewest(row: Facts) -> str:
    """Size of the set found and who is then first; ≤ unless no smaller one exists."""
    if row["idle"]:
        return str(row["idle"])
    if row["size"] is None:
        return f"none up to {row['tried_up_to']} found"
    return f"{'' if row['smallest'] else '≤ '}{row['size']} of {row['number']:,}: {row['b']}"


def _flips(found: Facts, facts: Facts) -> Lines:
    heads, lines = flip_lines(found)
    return heads, lines if len(facts["models"]) > 1 else []


def _leave_one_out(found: Facts, facts: Facts) -> Lines:
    largest = f"largest shift of {scored(facts['metrics'][0])}"
    heads = ("without", "votes", largest, "of", "Spearman", "kappa of labels")
    lines = []
    for rows in _by(found["rows"], "without"):
        row = _largest(rows, "shift")
        moved = between(row, "shift", "low", "high")
        ends = [shown(row[name]) for name in ("spearman", "kappa")]
        lines.append([row["without"], shown(row["votes"]), moved, row["model"], *ends])
    return heads, lines


def _vote_cutoffs(found: Facts, facts: Facts) -> Lines:
    largest = f"largest change of {scored(facts['metrics'][0])}"
    heads = ("at least", "items", "share", largest, "of", "Spearman")
    lines = []
    kept = [row for row in found["rows"] if 0 < row["coverage"] < 1]
    for rows in _by(kept, "votes"):
        row = _largest(rows, "change")
        moved = between(row, "change", "change_low", "change_high")
        votes = f"{row['votes']} vote{'s' * (row['votes'] != 1)}"
        head = [votes, shown(row["items"]), share(row["coverage"])]
        lines.append([*head, moved, row["model"], shown(row["spearman"])])
    return heads, lines


def _panel_size(found: Facts, _: Facts) -> Lines:
    widest = [
        max((float(w) for w in one if w is not None), default=None)
        for one in found["half_width"]
    ]
    names = ("sizes", "coverage", "separate", "spearman")
    every = zip(*(found[name] for name in names), widest, strict=True)
    heads = (found["unit"], "items reached", "Spearman of separate panels",
             "Spearman with all", "half-width")  # fmt: skip
    return heads, [
        [f"{size}", share(reach), shown(apart), shown(rho), shown(width)]
        for size, reach, apart, rho, width in every
    ]


def _experts(found: Facts, facts: Facts) -> Lines:
    first = facts["metrics"][0]
    heads = ("model", scored(first), against(first), "against one expert",
             "beats a colleague in pairs", "worth")  # fmt: skip
    return heads, [
        [
            row["who"], shown(row["value"]), between(row, "gap", "gap_low", "gap_high"),
            shown(row["held_out"]), f"{share(row['superior'])} of {row['pairs']}",
            worth(row) + " (?)" * bool(row["worth_doubts"]),
        ]
        for row in found["rows"] if row["kind"] == "model"
    ]  # fmt: skip


def _critical_difference(found: Facts, facts: Facts) -> Lines:
    heads = ("model", "average rank", "not apart from")
    return heads, [
        [row["model"], between(row, "average_rank", "low", "high"), _few(row["not_apart_from"])]
        for row in here(found["rows"], facts)
    ]


def _few(names: Sequence[str]) -> str:
    rest = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return ", ".join(names[:4]) + rest


def _choices(found: Facts, facts: Facts) -> Lines:
    best = {
        (row["aggregation"], row["reliability"]): row
        for row in sorted(here(found["rows"], facts), key=lambda row: -(row["rank"] or 0))
    }
    from equipoise.export.titles import model_title

    near, value = f"rank correlation with {found['reference']}", scored(facts["metrics"][0])
    heads = ("aggregation", "reliability", "best", value, "best in", near)
    lines = []
    for row in here(found["changes"], facts):
        first = best[row["aggregation"], row["reliability"]]
        value = between(first, "value", "low", "high")
        name = model_title(row["aggregation"])
        head = [name, shown(row["reliability"]), first["model"], value]
        often = share(first["p_best"]) if len(facts["models"]) > 1 else ""
        lines.append([*head, often, shown(row["spearman"])])
    return heads, lines


def _components(found: Facts, facts: Facts) -> Lines:
    rows = [row for row in found["rows"] if row["task"] == facts["tasks"][-1]]
    pair = [row for row in rows if " - " in row["result"]]
    heads = ("result", "source", "standard deviation [interval]", "share of total variance")
    return heads, [
        [row["result"], row["source"], _deviation(row), share(row["share"])]
        for row in pair or rows
    ]


def _deviation(row: Facts) -> str:
    """A standard deviation with its interval.

    Examples
    --------
    >>> _deviation({"variance": 4.0, "deviation": 2.0, "low": 0.0, "high": 9.0})
    '2 [0, 3]'
    """
    value = row["variance"]
    if value is None or math.isnan(value):
        return ""
    low, high = (math.sqrt(float(row[end])) for end in ("low", "high"))
    return f"{significant(math.sqrt(value))} [{significant(low)}, {significant(high)}]"


def _subgroups(found: Facts, _: Facts) -> Lines:
    heads = ("group", "items", "quantity", "value", "difference", "adjusted p")
    asked = ("entropy", "agreement")
    return heads, [
        [
            f"{row['column']} = {row['level']}", shown(row["items"]), row["quantity"],
            row["status"] if row["value"] is None else between(row, "value", "low", "high"),
            between(row, "difference", "difference_low", "difference_high"),
            shown(row["p_holm"]),
        ]
        for row in found["rows"] if row["quantity"] in asked
    ]  # fmt: skip


def _threshold_sweep(found: Facts, facts: Facts) -> Lines:
    metric = facts["metrics"][0]["name"]
    near = {(row["task"], row["threshold"], row["metric"]): row for row in found["agreement"]}
    heads = (
        "task",
        "share of yes above",
        "positives",
        "prevalence",
        "Spearman with the majority",
    )
    same: dict[tuple[str, int], list[Facts]] = {}
    for row in found["rows"]:
        if row["metric"] == metric:
            same.setdefault((row["task"], row["positives"]), []).append(row)
    lines: list[list[str]] = []
    for (task, positives), rows in same.items():
        first, last = rows[0]["threshold"], rows[-1]["threshold"]
        span = f"{first:.2f}" if first == last else f"{first:.2f} to {last:.2f}"
        rho = near[task, first, metric]["spearman"]
        share = f"{rows[0]['prevalence']:.1%}"
        lines.append([task, span, shown(positives), share, shown(rho)])
    return heads, lines


def _certainty(found: Facts, facts: Facts) -> Lines:
    value = scored(facts["metrics"][0])
    heads = ("certainty at least", "items", "share", "best", value, "Spearman with all")
    lines = []
    for rows in _by(found["rows"], "certainty"):
        row = min(rows, key=lambda one: len(rows) if one["rank"] is None else one["rank"])
        best = (
            []
            if row["rank"] is None
            else [one["model"] for one in rows if one["rank"] == row["rank"]]
        )
        value = between(row, "value", "low", "high") if best else "undefined"
        head = [shown(row["certainty"]), shown(row["items"]), share(row["coverage"])]
        lines.append([*head, _few(best), value, shown(row["spearman"])])
    return heads, lines


LINES: Mapping[str, Callable[[Facts, Facts], Lines]] = {
    "ranking": _ranking,
    "flips": _flips,
    "leave_one_out": _leave_one_out,
    "vote_cutoffs": _vote_cutoffs,
    "panel_size": _panel_size,
    "experts": _experts,
    "critical_difference": _critical_difference,
    "choices": _choices,
    "components": _components,
    "subgroups": _subgroups,
    "threshold_sweep": _threshold_sweep,
    "certainty": _certainty,
}
