"""Plans for several tasks: a row for each, the one that needs most, and each under its name."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from equipoise.read.writing import replaced
from equipoise.study.planning._findings import plan_report, size_columns
from equipoise.study.planning.next_votes import NextForRanking, NextItems
from equipoise.study.planning.ranking import RankingPlan, of_pair
from equipoise.study.planning.size import Size, size_words
from equipoise.types.arrays import InputError
from equipoise.types.findings import Cell, Column, Finding, Report, Table, left_out
from equipoise.types.numbers import count, exact_percent
from equipoise.types.words import csv_text

TITLE = "Which task needs most?"
STATES = {
    "planned": "planned",
    "tied": "models are tied",
    "no spread": "no spread",
    "not plannable": "open in this pilot: give a difference",
    "out of reach": "out of reach",
}


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """The plan for one task, and the votes that come next, where they were asked for."""

    task: str
    planned: Size | RankingPlan
    wanted: NextItems | NextForRanking | None = None

    @property
    def whole(self) -> RankingPlan:
        """The plan as one of a ranking."""
        return of_pair(self.planned) if isinstance(self.planned, Size) else self.planned


def tasks_plan_report(
    plans: Sequence[TaskPlan], failed: Mapping[str, InputError] | None = None
) -> Report:
    """Everything about the plans for some tasks; of one alone it is that of `plan_report`.

    Parameters
    ----------
    failed
        Why there is no plan for other tasks.
    """
    reports = [plan_report(one.planned, one.wanted) for one in plans]
    missing = [
        left_out("plan", f"Plan for {task}", error) for task, error in (failed or {}).items()
    ]
    if len(plans) == 1 and not missing:
        return reports[0]
    findings = [
        _of_task(finding, one.task)
        for one, report in zip(plans, reports, strict=True)
        for finding in report.findings
    ]
    models = tuple(dict.fromkeys(name for report in reports for name in report.models))
    first = reports[0]
    return replace(
        first,
        findings=(_overview(plans), *findings, *missing),
        models=models,
        known=(count(len(plans), "task"), count(len(models), "model"), first.known[1]),
    )


def _of_task(finding: Finding, task: str) -> Finding:
    """A finding under the name of its task, which its notices say too."""
    said = tuple(one.of(task) for one in finding.notices)
    return replace(finding.under(task=task), notices=said)


def _row(one: TaskPlan) -> dict[str, Cell]:
    plan, hard = one.whole, one.whole.hardest
    best = plan.recommended
    row: dict[str, Cell] = {
        "task": one.task,
        "a": hard.a,
        "b": hard.b,
        "difference": hard.difference,
        "low": hard.low,
        "high": hard.high,
        "planned_for": hard.resolved,
        "annotators": None if best is None else best.annotators,
        "items_per_group": None if best is None else best.shape.per_unit,
        "groups": None if best is None else best.groups,
        "items": None if best is None else best.items,
        "votes": None if best is None else best.votes,
        "cost": None if best is None else best.cost,
        "state": STATES["planned" if best is not None else hard.state],
    }
    return row


def _overview(plans: Sequence[TaskPlan]) -> Finding:
    """Which task needs the largest study, and every task in a table."""
    first = plans[0].whole
    named = any(one.whole.pairs[0].pilot_annotators for one in plans)
    heads = [
        Column("task", "task"),
        Column("a", "hardest pair" if first.ranks else "pair", "model"),
        Column("b", "and", "model"),
        Column("difference", "difference in the pilot", "change", ("low", "high")),
        *size_columns(first, people=named),
        Column("state", "state"),
    ]
    table = Table(
        name="plan_tasks",
        caption=f"What each task needs for a power of {exact_percent(first.aim.power)}",
        columns=heads,
        rows=[_row(one) for one in plans],
        legend="Each task by itself, in the design that is cheapest, or else nearest to the "
        "pilot; the same items can serve all tasks.",
        open=True,
    )
    return Finding(key="tasks", title=TITLE, sentence=_sentence(plans), tables=(table,))


def _sentence(plans: Sequence[TaskPlan]) -> str:
    known = [(one, best) for one in plans if (best := one.whole.recommended) is not None]
    lost = len(plans) - len(known)
    rest = f" No size can be planned for {count(lost)} of {count(len(plans), 'task')}."
    if not known:
        return f"No size can be planned for any of {count(len(plans), 'task')}."
    priced = not math.isnan(known[0][1].cost)
    most, design = max(known, key=lambda pair: pair[1].cost if priced else pair[1].votes)
    at = f", at {count(design.cost)}" if priced else f", {count(design.votes, 'vote')} in all"
    return f"{most.task} needs most: {size_words(design)}{at}.{rest if lost else ''}"


def write_next(plans: Sequence[TaskPlan], path: Path) -> None:
    """Write the items that come next, of all tasks, as one CSV to fill in."""
    lists = [one.wanted for one in plans if one.wanted is not None]
    if len(lists) == 1:
        lists[0].write(path)
        return
    rows = [
        {"item": row["item"], "task": one.task, **row}
        for one in plans
        if one.wanted is not None
        for row in one.wanted.sheet()
    ]
    names = list(dict.fromkeys(name for row in rows for name in row))
    with replaced(path) as file:
        file.write(csv_text(names, ([row.get(one) for one in names] for row in rows)).encode())
