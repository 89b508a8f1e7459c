"""The leaderboard in a terminal: hard next to soft, best first."""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from equipoise.evaluation import Evaluation, Row


OUTSIDE = "†"


def leaderboard(console: "Console", result: "Evaluation") -> None:
    """Print one table per task and metric."""
    from rich.markup import escape
    from rich.table import Table

    rows = {(row.task, row.metric, row.model, row.labels): row for row in result.table()}
    for task in result.tasks:
        for metric in result.metrics:
            heading = f"{task}: {metric.title}" if task else metric.title
            table = Table(title=escape(heading), title_justify="left", title_style="bold")
            table.add_column("model")
            for name in ("hard", "soft"):
                table.add_column(f"{name} [{result.level:.0%}]", justify="right")
                table.add_column("rank", justify="right")
                table.add_column("P(best)", justify="right")
            cell = [(task, metric.name, model) for model in result.models]
            for key in sorted(cell, key=lambda key: _place(rows[*key, "soft"])):
                hard, soft = rows[*key, "hard"], rows[*key, "soft"]
                table.add_row(escape(key[2]), *_cells(hard), *_cells(soft))
            console.print(table)
    if any(outside(row) for row in rows.values()):
        console.print(
            f"{OUTSIDE} The interval leaves out its own value: redrawing votes makes "
            "majorities less clear and shifts hard labels. --interval basic undoes the shift."
        )


def _place(row: "Row") -> float:
    return math.inf if math.isnan(row.rank) else row.rank


def _cells(row: "Row") -> tuple[str, str, str]:
    if math.isnan(row.value):
        return "undefined", "", ""
    ends = ["undefined" if math.isnan(end) else f"{end:.3f}" for end in (row.low, row.high)]
    rank = "" if math.isnan(row.rank) else f"{row.rank:g}"
    mark = OUTSIDE if outside(row) else ""
    return f"{row.value:.3f}{mark} \\[{', '.join(ends)}]", rank, _share(row.p_best)


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
