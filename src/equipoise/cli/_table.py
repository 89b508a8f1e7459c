"""The leaderboard in a terminal: hard next to soft, best first."""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from equipoise.evaluation import Evaluation, Row
    from equipoise.metrics import Metric


OUTSIDE, FIXED = "†", "*"


def leaderboard(console: "Console", result: "Evaluation") -> None:
    """Print one table per task and metric."""
    from rich.markup import escape
    from rich.table import Table

    rows = {(row.task, row.metric, row.model, row.labels): row for row in result.table()}
    for task in result.tasks:
        for metric in result.metrics:
            heading = heading_of(task, metric)
            table = Table(title=escape(heading), title_justify="left", title_style="bold")
            table.add_column("model")
            for name in ("hard", "soft"):
                table.add_column(f"{name} [{result.level:.0%}]", justify="right")
                table.add_column("rank", justify="right")
                table.add_column("P(best)", justify="right")
            cell = [(task, metric.name, model) for model in result.models]
            for key in sorted(cell, key=lambda key: _place(rows[*key, "soft"])):
                hard, soft = (_cells(rows[*key, name]) for name in ("hard", "soft"))
                if unmoved(result, metric):
                    hard = (hard[0].split(" ")[0] + FIXED, hard[1], "")
                table.add_row(escape(key[2]), *hard, *soft)
            console.print(table)
    console.print(_redrawn(result))
    for sentence in _footnotes(result, list(rows.values())):
        console.print(sentence)
    if any(unmoved(result, metric) for metric in result.metrics):
        console.print(f"{FIXED} Hard labels are the mean of the draws: nothing is redrawn.")


def _redrawn(result: "Evaluation") -> str:
    """What the intervals and chances of the tables stand for."""
    from equipoise.analyses.words import RESAMPLED as REDRAWN

    kind = result.plan.kind
    if kind == "influence":
        return "Brackets: normal intervals for other items, from influence functions."
    drawn = REDRAWN.get(kind, kind)
    return f"Brackets and P(best): over {result.plan.replicates:,} redraws of {drawn}."


def unmoved(result: "Evaluation", metric: "Metric") -> bool:
    """Whether nothing that the hard labels of a metric depend on is redrawn."""
    return result.plan.kind == "posterior" and metric.labels == "draws"


def heading_of(task: str, metric: "Metric") -> str:
    """Name task and metric, and say which way is better where less is."""
    way = " (lower is better)" if metric.better == "lower" else ""
    return f"{task}: {metric.title}{way}" if task else f"{metric.title}{way}"


def _footnotes(result: "Evaluation", rows: list["Row"]) -> list[str]:
    """Explain the marks that the tables hold."""
    said = []
    marked = {row.labels for row in rows if outside(row)}
    if marked:
        basic = "" if result.interval == "basic" else " --interval basic undoes the shift."
        why = shift_words(result.plan.truth, marked)
        said.append(f"{OUTSIDE} The interval leaves out its own value: {why}.{basic}")
    if any(math.isinf(row.value) for row in rows):
        said.append(
            "∞ The score is infinite, the worst there is: a log score is when a model gives "
            "probability 0 to what the labels say of an item."
        )
    return said


def shift_words(redrawn: str | None, labels: set[str]) -> str:
    """Say why scores of these labels shift when this part of the truth is redrawn.

    Examples
    --------
    >>> shift_words("votes", {"hard"})
    'redrawing votes makes majorities less clear and shifts hard labels'
    >>> shift_words("posterior", {"hard", "soft"})
    'the value is taken against the mean of the draws, a resample against one of them'
    """
    if redrawn == "posterior":
        return (
            "the value is taken against the mean of the draws, a resample against one of them"
        )
    if redrawn is None:
        return "drawing items anew repeats some and leaves out others, which shifts this score"
    reasons = {
        "hard": "redrawing votes makes majorities less clear and shifts hard labels",
        "soft": "redrawn votes scatter around the soft labels, which shifts the scores",
    }
    return "; ".join(reasons[name] for name in sorted(labels))


def _place(row: "Row") -> float:
    return math.inf if math.isnan(row.rank) else row.rank


def _cells(row: "Row") -> tuple[str, str, str]:
    if math.isnan(row.value):
        return "undefined", "", ""
    ends = [_number(end) for end in (row.low, row.high)]
    rank = "" if math.isnan(row.rank) else f"{row.rank:g}"
    mark = OUTSIDE if outside(row) else ""
    return f"{_number(row.value)}{mark} \\[{', '.join(ends)}]", rank, _share(row.p_best)


def _number(value: float) -> str:
    """A number with three decimals, or the lack of one."""
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:.3f}"


def outside(row: "Row") -> bool:
    """Whether the interval leaves out its own value."""
    return row.value < row.low - 1e-12 or row.value > row.high + 1e-12


def _share(value: float) -> str:
    """A share in percent that is 0 or 100 only when it is exactly that."""
    if math.isnan(value):
        return ""
    if 0 < value < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= value < 1 else f"{value:.0%}"
