"""The leaderboard in a terminal: hard next to soft, best first."""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from equipoise.evaluation import Evaluation, Row


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


def _place(row: "Row") -> float:
    return math.inf if math.isnan(row.rank) else row.rank


def _cells(row: "Row") -> tuple[str, str, str]:
    if math.isnan(row.value):
        return "undefined", "", ""
    ends = [f"{end:.3f}" if math.isfinite(end) else "undefined" for end in (row.low, row.high)]
    best = "" if math.isnan(row.p_best) else f"{row.p_best:.0%}"
    rank = "" if math.isnan(row.rank) else f"{row.rank:g}"
    return f"{row.value:.3f} \\[{', '.join(ends)}]", rank, best
