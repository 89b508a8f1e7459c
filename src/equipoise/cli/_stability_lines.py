"""The few numbers behind each finding of stability, as lines of text for a terminal."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Facts = Mapping[str, Any]
Lines = tuple[Sequence[str], list[list[str]]]


def shown(value: Any) -> str:
    """A number for a table: three decimals, fewer figures where they would all be zero.

    Examples
    --------
    >>> shown(0.12345), shown(0.00004), shown(None), shown("inf"), shown(3)
    ('0.123', '4e-05', '', 'inf', '3')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    return f"{value:.1g}" if 0 < abs(value) < 0.0005 else f"{value:.3f}"


def between(row: Facts, value: str, low: str, high: str) -> str:
    """A value with its interval."""
    if row[value] is None:
        return "undefined"
    return f"{shown(row[value])} [{shown(row[low])}, {shown(row[high])}]"


def share(value: Any) -> str:
    """A share in percent that is 0 or 100 only when it is exactly that.

    Examples
    --------
    >>> share(0.999), share(0.5), share(0.0), share(None)
    ('>99%', '50%', '0%', '')
    """
    if value is None:
        return ""
    if 0 < value < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= value < 1 else f"{value:.0%}"


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


def _flips(found: Facts, _: Facts) -> Lines:
    return flip_lines(found)


def _leave_one_out(found: Facts, _: Facts) -> Lines:
    heads = ("without", "votes", "largest shift", "of", "Spearman", "kappa of labels")
    lines = []
    for rows in _by(found["rows"], "without"):
        row = _largest(rows, "shift")
        moved = between(row, "shift", "low", "high")
        ends = [shown(row[name]) for name in ("spearman", "kappa")]
        lines.append([row["without"], shown(row["votes"]), moved, row["model"], *ends])
    return heads, lines


def _vote_cutoffs(found: Facts, _: Facts) -> Lines:
    heads = ("at least", "items", "share", "largest change", "of", "Spearman")
    lines = []
    kept = [row for row in found["rows"] if 0 < row["coverage"] < 1]
    for rows in _by(kept, "votes"):
        row = _largest(rows, "change")
        moved = between(row, "change", "change_low", "change_high")
        head = [f"{row['votes']} votes", shown(row["items"]), share(row["coverage"])]
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


def _experts(found: Facts, _: Facts) -> Lines:
    heads = ("model", "value", "minus expert", "beats a colleague in pairs", "worth")
    return heads, [
        [
            row["who"], shown(row["value"]), between(row, "gap", "gap_low", "gap_high"),
            f"{share(row['superior'])} of {row['pairs']}",
            f"{row['worth_words']} ({row['worth_range']})",
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
    against = f"rank correlation with {found['reference']}"
    heads = ("aggregation", "reliability", "best", "value", "best in", against)
    lines = []
    for row in here(found["changes"], facts):
        first = best[row["aggregation"], row["reliability"]]
        value = between(first, "value", "low", "high")
        head = [row["aggregation"], shown(row["reliability"]), first["model"], value]
        lines.append([*head, share(first["p_best"]), shown(row["spearman"])])
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
    """A standard deviation with its interval; below zero there is none.

    Examples
    --------
    >>> _deviation({"variance": 4.0, "deviation": 2.0, "low": -1.0, "high": 9.0})
    '2 [0, 3]'
    """
    value = row["variance"]
    if value is None or math.isnan(value):
        return ""
    if value < 0:
        return "none (below 0)"
    low, high = (math.sqrt(max(float(row[end]), 0.0)) for end in ("low", "high"))
    return f"{math.sqrt(value):.2g} [{low:.2g}, {high:.2g}]"


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
    lines: list[list[str]] = []
    known = set()
    for row in found["rows"]:
        key = (row["task"], row["threshold"], metric)
        if row["metric"] == metric and (row["task"], row["positives"]) not in known:
            known.add((row["task"], row["positives"]))
            rho = near[key]["spearman"]
            head = [row["task"], shown(row["threshold"]), shown(row["positives"])]
            lines.append([*head, f"{row['prevalence']:.1%}", shown(rho)])
    return heads, lines


def _certainty(found: Facts, _: Facts) -> Lines:
    heads = ("certainty at least", "items", "share", "best", "value", "Spearman with all")
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
