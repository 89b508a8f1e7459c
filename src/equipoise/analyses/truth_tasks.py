"""Truth of several tasks: a row for each, and everything about every one under its name."""

from collections.abc import Sequence
from dataclasses import replace

from equipoise.analyses.certainty import SURE
from equipoise.analyses.result import ENDS
from equipoise.analyses.tables import headed, spanned
from equipoise.analyses.truth import FittedModels, truth_report
from equipoise.analyses.truth_certainty import certainty_meaning
from equipoise.analyses.truth_gold import GoldAggregates
from equipoise.annotations import Annotations
from equipoise.findings import Cell, Column, Finding, Report, Table
from equipoise.numbers import count, number, percent

TITLE = "How certain is each task?"


def _task_rows(every: Sequence[FittedModels]) -> list[dict[str, Cell]]:
    """One row per task: items, certainty, where models differ, accuracy against gold."""
    rows: list[dict[str, Cell]] = []
    for fits in every:
        made, meaning = fits.chosen, certainty_meaning(fits.chosen)
        sure = made.certainty
        row: dict[str, Cell] = {
            "task": fits.task,
            "items": len(made.items),
            "model": fits.name,
            "mean_certainty": float(sure.mean()) if meaning.uncertain else None,
            "below": int((sure < SURE).sum()),
            "share_below": float((sure < SURE).mean()),
            "decided_otherwise": max(fits.decided_otherwise.values()),
        }
        if isinstance(fits.gold, GoldAggregates):
            own = next(one for one in fits.gold.rows() if one["model"] == fits.name)
            row |= {f"accuracy{end}": own[f"accuracy{end}"] for end in ENDS}
            row |= {"gold_items": fits.gold.items}
        rows.append(row)
    return rows


def tasks_report(
    annotations: Annotations,
    every: Sequence[FittedModels],
    *,
    title: str,
    close_up: bool = True,
) -> Report:
    """Everything about the truth of some tasks; of one alone it is that of `truth_report`.

    Parameters
    ----------
    close_up
        As in `truth_report`.
    """
    reports = [truth_report(annotations, one, title=title, close_up=close_up) for one in every]
    if len(reports) == 1:
        return reports[0]
    first = reports[0]
    findings = [
        finding.under(task=fits.task)
        for fits, report in zip(every, reports, strict=True)
        for finding in report.findings
    ]
    notices = [
        one if one in annotations.notices else one.of(fits.task)
        for fits, report in zip(every, reports, strict=True)
        for one in report.notices
    ]
    return replace(
        first,
        findings=(_overview(every), *findings),
        known=(count(len(every), "task"), *first.known[2:3], *first.known[4:5]),
        notices=tuple(dict.fromkeys(notices)),
        methods=tuple(dict.fromkeys(said for one in reports for said in one.methods)),
        task=every[0].task,
    )


def _overview(every: Sequence[FittedModels]) -> Finding:
    """Which task is least certain, and all tasks in a table."""
    rows = _task_rows(every)
    worst = max(every, key=lambda fits: float((fits.chosen.certainty < SURE).mean()))
    below = worst.chosen.certainty < SURE
    text = (
        f"Least certain is {worst.task}: {count(int(below.sum()))} of "
        f"{count(len(below), 'item')} ({percent(float(below.mean()))}) have a certainty below "
        f"{number(SURE, 2)}."
    )
    if not below.any():
        text = f"In every task all items have a certainty of at least {number(SURE, 2)}."
    scored = any("accuracy" in row for row in rows)
    gold = (
        Column("gold_items", "items with gold", "count"),
        spanned("accuracy", "accuracy against gold"),
    )
    table = Table(
        name="tasks",
        caption="Certainty by task",
        columns=(
            *headed(task="text", items="count", model="text", mean_certainty="number"),
            Column("below", f"items below {SURE:g}", "count"),
            Column("share_below", "share", "percent"),
            Column("decided_otherwise", "decided otherwise by another model", "count"),
            *(gold if scored else ()),
        ),
        rows=[{**row, "mean_certainty": row["mean_certainty"] or "none"} for row in rows],
        open=True,
    )
    return Finding(key="tasks", title=TITLE, sentence=text, tables=(table,))
