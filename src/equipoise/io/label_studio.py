"""Exports of Label Studio in its JSON format.

A list of tasks, each with ``annotations`` by one person (``completed_by``), each with
``result``: one entry per control that was used, ``{from_name, type, value: {type: ...}}``.
Controls of type choices, rating, number and ranker are read. A task is an item; a control
is a task where there are several; a control with several ticks is one yes/no task per
choice. https://labelstud.io/guide/task_format
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from equipoise.arrays import InputError, listed, meant
from equipoise.coding.options import AnnotationOptions
from equipoise.coding.tables import Table
from equipoise.coding.votes import vote_columns
from equipoise.io.label_studio_replies import Reply, replies_of
from equipoise.wording import Option, hint

OTHER = Option("columns", {"label": "its from_name"})
READ = ("choices", "rating", "number", "ranker")
Row = tuple[Reply, str, str | None, int]  # who, which task, the label, its rank


@dataclass(frozen=True, slots=True)
class _Asked:
    """The replies, the controls to read from them, and how."""

    name: str
    replies: Sequence[Reply]
    controls: Sequence[str]
    how: AnnotationOptions

    def answers(self, control: str) -> list[tuple[Reply, Any]]:
        """Every reply with its answer to a control; None where there is none."""
        return [
            (reply, reply.given[control][0][1] if control in reply.given else None)
            for reply in self.replies
        ]

    def refuse(self, reply: Reply, control: str, got: str, expected: str) -> InputError:
        """Name the task and the control of a fault."""
        return InputError(
            f"{self.name}, task {reply.task}, control {control!r}", got, expected,
            hint("choose another control with {}", OTHER),
        )  # fmt: skip


def is_label_studio(parsed: Any) -> bool:
    """Whether parsed JSON is a list of tasks rather than of rankings."""
    return isinstance(parsed, list) and bool(parsed) and isinstance(parsed[0], Mapping)


def label_studio_columns(tasks: Any, how: AnnotationOptions, *, name: str) -> dict[str, Any]:
    """Turn an export into the arguments of `Annotations`."""
    replies, notices = replies_of(tasks, how, name=name)
    controls, ignored = _controls(replies, how, name)
    asked = _Asked(name, replies, controls, how)
    form = _form(asked)
    rows, how, told = _FORMS[form](asked)
    table = _table(rows, name, tasks=len(controls) > 1 or form == "ticks")
    if form != "ranker":
        table = replace(table, columns={k: v for k, v in table.columns.items() if k != "rank"})
    table = table.saying(*notices, *ignored, *told)
    return vote_columns(table, replace(how, columns={}))


def _controls(
    replies: Sequence[Reply], how: AnnotationOptions, name: str
) -> tuple[list[str], list[str]]:
    """Choose the controls to read, and name those that are not."""
    kinds = {control: given[0][0] for each in replies for control, given in each.given.items()}
    wanted = how.columns.get("label")
    if wanted is not None and wanted not in kinds:
        raise InputError(
            f"{name}, control {wanted!r}", "not in the export",
            f"one of {listed(kinds, most=8)}", meant(wanted, kinds),
        )  # fmt: skip
    chosen = [wanted] if wanted is not None else list(kinds)
    read = [control for control in chosen if kinds[control] in READ]
    if not read:
        raise InputError(
            name, f"controls of type {listed(dict.fromkeys(kinds[c] for c in chosen))}",
            f"a control of type {', '.join(READ)}", "export a project that classifies tasks",
        )  # fmt: skip
    _refuse_regions(replies, read, name)
    others = [f"{control} ({kinds[control]})" for control in kinds if control not in read]
    return read, [f"controls {listed(others, most=8)} are not used"] if others else []


def _refuse_regions(replies: Sequence[Reply], controls: Sequence[str], name: str) -> None:
    for reply in replies:
        for control in controls:
            if len(reply.given.get(control, ())) > 1:
                raise InputError(
                    f"{name}, task {reply.task}, control {control!r}",
                    "several results in one annotation", "one answer per task",
                    hint(
                        "answers about regions cannot be read; choose another control with {}",
                        OTHER,
                    ),
                )  # fmt: skip


def _form(asked: _Asked) -> str:
    """Say what kind of answer the controls give; all must give the same kind."""
    forms = {}
    for control in asked.controls:
        kind = next(r.given[control][0][0] for r in asked.replies if control in r.given)
        if kind == "choices":
            _check_choices(asked, control)
            several = any(
                len(ticks) != 1 for _, ticks in asked.answers(control) if ticks is not None
            )
            kind = "ticks" if several else "choice"
        forms[control] = kind
    if len(set(forms.values())) > 1:
        kinds = ", ".join(f"{control!r} ({form})" for control, form in forms.items())
        raise InputError(
            asked.name, f"controls of different kinds: {kinds}", "one kind of label",
            hint("choose one with {}", Option("columns", {"label": asked.controls[0]})),
        )  # fmt: skip
    return next(iter(forms.values()))


def _check_choices(asked: _Asked, control: str) -> None:
    for reply, ticks in asked.answers(control):
        fine = isinstance(ticks, list) and all(isinstance(each, str | int) for each in ticks)
        if ticks is not None and not fine:
            raise asked.refuse(reply, control, f"choices {ticks!r}", "a flat list of choices")


_Read = tuple[list[Row], AnnotationOptions, tuple[str, ...]]


def _choice(asked: _Asked) -> _Read:
    rows: list[Row] = [
        (reply, control, None if ticks is None else str(ticks[0]), 0)
        for control in asked.controls
        for reply, ticks in asked.answers(control)
    ]
    return rows, asked.how, ()


def _ticks(asked: _Asked) -> _Read:
    """One yes/no task per choice; an annotation without a tick says no to all."""
    rows: list[Row] = []
    blank = 0
    for control in asked.controls:
        answers = [(reply, ticks or []) for reply, ticks in asked.answers(control)]
        blank += sum(control not in reply.given for reply, _ in answers)
        seen = dict.fromkeys(str(each) for _, ticks in answers for each in ticks)
        prefix = "" if len(asked.controls) == 1 else f"{control}: "
        for reply, ticks in answers:
            mine = {str(each) for each in ticks}
            rows += [
                (reply, prefix + each, "yes" if each in mine else "no", 0)
                for each in asked.how.classes or seen
            ]
            unknown = mine - set(asked.how.classes or seen)
            if unknown:
                raise asked.refuse(
                    reply, control, f"choice {sorted(unknown)[0]!r}",
                    f"one of {listed(asked.how.classes or ())}",
                )  # fmt: skip
    told = (f"{blank:,} annotations tick nothing and are read as no to every choice",)
    how = replace(asked.how, kind=asked.how.kind or "binary", classes=("no", "yes"))
    return rows, how, told if blank else ()


def _numbers(asked: _Asked) -> list[Row]:
    rows: list[Row] = []
    for control in asked.controls:
        for reply, value in asked.answers(control):
            if value is not None and not isinstance(value, int | float):
                raise asked.refuse(reply, control, f"{value!r}", "a number")
            rows.append((reply, control, None if value is None else str(value), 0))
    return rows


def _number(asked: _Asked) -> _Read:
    return _numbers(asked), replace(asked.how, kind=asked.how.kind or "interval"), ()


def _rating(asked: _Asked) -> _Read:
    """Ratings are grades from 1 to the highest seen, unless told."""
    rows, how = _numbers(asked), asked.how
    if how.kind not in (None, "ordinal") or how.classes is not None:
        return rows, replace(how, kind=how.kind or "ordinal"), ()
    highest = int(
        max((float(label) for _, _, label, _ in rows if label is not None), default=1)
    )
    classes = tuple(str(grade) for grade in range(1, highest + 1))
    told = hint(
        "ratings are read as grades 1 to {}, the highest given; say {} if there are more",
        str(highest),
        Option("classes", python="classes=[...]"),
    )
    return rows, replace(how, kind="ordinal", classes=classes), (told,)


def _ranker(asked: _Asked) -> _Read:
    rows: list[Row] = []
    for control in asked.controls:
        for reply, ranked in asked.answers(control):
            if ranked is not None and not isinstance(ranked, list):
                raise asked.refuse(reply, control, "a ranker with buckets", "a ranked list")
            rows += [
                (reply, control, str(each), rank) for rank, each in enumerate(ranked or [])
            ]
            rows += [] if ranked else [(reply, control, None, 0)]
    return rows, asked.how, ()


_FORMS = {
    "choice": _choice,
    "ticks": _ticks,
    "number": _number,
    "rating": _rating,
    "ranker": _ranker,
}


def _table(rows: Sequence[Row], name: str, *, tasks: bool) -> Table:
    """Lay the rows out as a tidy table."""
    import pyarrow as pa

    replies = [row[0] for row in rows]
    text = {
        "item": [str(reply.item) for reply in replies],
        "annotator": [None if r.annotator is None else str(r.annotator) for r in replies],
        "group": [None if r.group is None else str(r.group) for r in replies],
        "task": [task if tasks else None for _, task, _, _ in rows],
        "label": [label for _, _, label, _ in rows],
        "timestamp": [reply.created_at for reply in replies],
    }
    columns = {key: pa.array(values, pa.string()) for key, values in text.items()}
    columns = {k: v for k, v in columns.items() if v.null_count < len(v) or k == "label"}
    columns["rank"] = pa.array([rank for _, _, _, rank in rows])
    if any(reply.duration_ms is not None for reply in replies):
        columns["duration_ms"] = pa.array([r.duration_ms for r in replies], pa.float64())
    if any(reply.is_gold for reply in replies):
        columns["is_gold"] = pa.array([reply.is_gold for reply in replies])
    return Table(name=name, columns=columns, place=lambda row: f"task {replies[row].task}")
