"""Agreement on all tasks: a table, highest first; and the section of a run, task by task.

Runs whose annotators are known have it; pages of other runs lack the section.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.report.agreement_section import agreement_section
from equipoise.report.markup import Html, join
from equipoise.report.numerals import count, defined, interval, number
from equipoise.report.tables import finding, row, table
from equipoise.report.view import View

Facts = Mapping[str, Any]


def body(view: View, task: int) -> Html:
    """Show the agreement on a task of a run, or a table of all tasks."""
    entries = view.of_task("agreement", task)
    return agreement_section(entries[0]) if entries else all_tasks(view.header["agreement"])


def all_tasks(found: Sequence[Facts]) -> Html:
    """List all tasks, those with the highest agreement first."""
    order = sorted(found, key=lambda facts: -_value(facts))
    names = list(dict.fromkeys(one["name"] for f in found for one in f["coefficients"]))
    lines = []
    for facts in order:
        known = {one["name"]: _written(one) for one in facts["coefficients"]}
        cells = [known.get(name, "") for name in names]
        lines.append(row(str(facts["task"]), [count(facts["items"]), *cells], room=40))
    return join([finding(_range(order)), table("Tasks", ["Task", "items", *names], lines)])


def _written(one: Facts) -> str:
    """Write a coefficient with its interval, where there is one."""
    ends = f" {interval(one['low'], one['high'], 2)}" if defined(one["low"]) else ""
    return f"{number(one['value'], 2)}{ends}"


def _value(facts: Facts) -> float:
    value = facts["coefficients"][0]["value"]
    return float(value) if defined(value) else -9.0


def _range(order: Sequence[Facts]) -> str:
    """Name the tasks at both ends."""
    known = [facts for facts in order if _value(facts) > -9]
    if not known:
        return "Agreement is undefined for every task."
    high, low = known[0], known[-1]
    name = high["coefficients"][0]["name"]
    return (
        f"{name} runs from {number(_value(low), 2)} ({low['task']}) to "
        f"{number(_value(high), 2)} ({high['task']})."
    )
