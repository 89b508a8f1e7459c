"""The annotations in an export of Label Studio, one `Reply` per person and task."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from equipoise.arrays import InputError, listed
from equipoise.coding.options import AnnotationOptions
from equipoise.wording import Option, hint


@dataclass(frozen=True, slots=True)
class Reply:
    """What one person said about one task.

    Attributes
    ----------
    task, item, group
        Id of the task, and the item and group that it stands for.
    annotator
        Who: an address or a number; None if the export does not say.
    given
        Control -> its results, each a pair (type, value).
    created_at, duration_ms, is_gold
        When, how long it took, and whether it is the known truth.
    """

    task: str
    item: Any
    group: Any
    annotator: Any
    given: Mapping[str, list[tuple[str, Any]]]
    created_at: str | None
    duration_ms: float | None
    is_gold: bool


def replies_of(
    tasks: Any, how: AnnotationOptions, *, name: str
) -> tuple[list[Reply], tuple[str, ...]]:
    """Collect all annotations that were not cancelled, and what to say about the rest."""
    _check(tasks, how, name)
    replies, cancelled, silent = [], 0, 0
    for task in tasks:
        where = f"{name}, task {task.get('id')!r}"
        said = _listed(task.get("annotations"), where, "annotations")
        valid = [each for each in said if not each.get("was_cancelled")]
        cancelled += len(said) - len(valid)
        silent += not valid
        replies += [_reply(task, each, how, where) for each in valid]
    notices = []
    if cancelled:
        notices.append(f"{cancelled:,} cancelled annotations are left out")
    if silent:
        notices.append(f"{silent:,} tasks have no annotations and are left out")
    if not replies:
        raise InputError(
            name, f"{len(tasks)} tasks without annotations", "at least one annotation",
            "export the annotated tasks",
        )  # fmt: skip
    return replies, tuple(notices)


def _check(tasks: Any, how: AnnotationOptions, name: str) -> None:
    shape = isinstance(tasks, list) and tasks and all(isinstance(t, Mapping) for t in tasks)
    if not shape or not any("annotations" in task for task in tasks):
        raise InputError(
            name, "no list of tasks with 'annotations'", "an export of Label Studio",
            "export in the format 'JSON', not 'JSON-MIN' or 'CSV'",
        )  # fmt: skip
    odd = [column for column in how.columns if column not in ("item", "group", "label")]
    if odd:
        raise InputError(
            f"{name}, columns", f"{listed(odd)}", "item, group or label",
            "leave it out: the export says itself",
        )  # fmt: skip


def _reply(
    task: Mapping[str, Any], said: Mapping[str, Any], how: AnnotationOptions, where: str
) -> Reply:
    group = how.columns.get("group")
    lead = said.get("lead_time")
    return Reply(
        task=str(task.get("id")),
        item=_looked_up(task, how.columns.get("item", "id"), where),
        group=None if group is None else _looked_up(task, group, where),
        annotator=_person(said.get("completed_by")),
        given=_given(_listed(said.get("result"), where, "result")),
        created_at=said.get("created_at"),
        duration_ms=1000.0 * lead if isinstance(lead, int | float) else None,
        is_gold=bool(said.get("ground_truth")),
    )


def _given(results: list[Mapping[str, Any]]) -> dict[str, list[tuple[str, Any]]]:
    """Sort the results by control; entries without one, such as relations, are no answers."""
    given: dict[str, list[tuple[str, Any]]] = {}
    for each in results:
        control, kind, value = each.get("from_name"), each.get("type"), each.get("value")
        if control is not None and kind is not None:
            answer = value.get(kind) if isinstance(value, Mapping) else None
            given.setdefault(str(control), []).append((str(kind), answer))
    return given


def _listed(value: Any, where: str, what: str) -> list[Mapping[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(each, Mapping) for each in value):
        raise InputError(
            where, f"no list of {what}", f"'{what}': [...]", "export in the format 'JSON'"
        )
    return value


def _looked_up(task: Mapping[str, Any], path: str, where: str) -> Any:
    """Follow a dotted path such as ``data.image`` into a task."""
    value: Any = task
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    if value is None or isinstance(value, Mapping | list):
        raise InputError(
            where, f"nothing to name it by at {path!r}", "text or a number",
            hint(
                "say {} with a KEY that every task has", Option("columns", {"item": "data.KEY"})
            ),
        )  # fmt: skip
    return value


def _person(who: Any) -> Any:
    """Name an annotator by address, else by number."""
    return who.get("email") or who.get("id") if isinstance(who, Mapping) else who
