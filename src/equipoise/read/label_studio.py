"""Exports of Label Studio in its JSON format.

A list of tasks, each with ``annotations`` by one person (``completed_by``), each with
``result``: one entry per control that was used, ``{from_name, type, value: {type: ...}}``.
Controls of type choices, rating and number are read. A task is an item; a control is a task
where there are several; a control with several ticks is one yes/no task per choice.
https://labelstud.io/guide/task_format
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from equipoise.read.options import VoteFormat
from equipoise.read.tables import Table
from equipoise.read.tidy import tidy_annotations
from equipoise.types import (
    WORDS,
    Annotations,
    InputError,
    Notice,
    Notices,
    Option,
    hint,
    immutable,
    listed,
    notice,
    quoted,
    shortened,
    unknown_name,
)

_HIGHEST_RATING = 1_000
_LARGEST = 10**308  # beyond which whole numbers are no floats
_READ = ("choices", "rating", "number")
_OTHER_CONTROL = Option("columns", {"label": "its from_name"})


class _Reply(NamedTuple):
    """What one person said about one task.

    Attributes
    ----------
    task, item, group
        Id of the task, and the item and group that it stands for.
    annotator
        Who: an address or a number; None if the export does not say.
    answers
        Control -> its results, each a pair (type, value).
    created_at, duration_ms, is_gold
        When, how long it took, and whether it is the known truth.
    """

    task: str
    item: str
    group: str | None
    annotator: str | None
    answers: Mapping[str, list[tuple[str, Any]]]
    created_at: str | None
    duration_ms: float | None
    is_gold: bool


class _Row(NamedTuple):
    """A row of the tidy table: who, which task, and the label."""

    reply: _Reply
    task: str
    label: str | None


@immutable
class _Questions:
    """The replies, the controls to read from them, and how."""

    name: str
    replies: Sequence[_Reply]
    controls: Sequence[str]
    options: VoteFormat

    def answers(self, control: str) -> list[tuple[_Reply, Any]]:
        """Every reply with its answer to a control; None where there is none."""
        return [
            (reply, reply.answers[control][0][1] if control in reply.answers else None)
            for reply in self.replies
        ]

    def fault(
        self, reply: _Reply, control: str, got: str, expected: str, why: str = ""
    ) -> InputError:
        """Name the task and the control of a fault."""
        where = f"{self.name}, task {reply.task}, control {control!r}"
        do = hint("{}choose another control with {}", why, _OTHER_CONTROL)
        return InputError(where, got, expected, do)


class _Answers(NamedTuple):
    """The rows that controls make, how to read them, and what to say."""

    rows: list[_Row]
    options: VoteFormat
    notices: Notices = ()


def is_label_studio(parsed: Any) -> bool:
    """Whether parsed JSON is a list of tasks rather than of rankings."""
    return isinstance(parsed, list) and bool(parsed) and isinstance(parsed[0], Mapping)


def label_studio_annotations(tasks: Any, options: VoteFormat, *, name: str) -> Annotations:
    """Turn an export into annotations."""
    replies, notices = _collect_replies(tasks, options, name=name)
    controls, unused = _choose_controls(replies, options, name)
    questions = _Questions(name, replies, controls, options)
    _refuse_regions(questions)
    form = _form_of(questions)
    answers = _FORMS[form](questions)
    table = _tidy_table(answers.rows, name, tasks=len(controls) > 1 or form == "ticks")
    table = table.noting(*notices, *unused, *answers.notices)
    return tidy_annotations(table, replace(answers.options, columns={}))


def _collect_replies(
    tasks: Any, options: VoteFormat, *, name: str
) -> tuple[list[_Reply], list[Notice]]:
    """Collect all annotations that were not cancelled, and what to say about the rest."""
    _check_tasks(tasks, options, name)
    replies, cancelled, silent = [], 0, 0
    for task in tasks:
        where = f"{name}, task {task.get('id')!r}"
        annotations = _checked_list(task.get("annotations"), where, "annotations")
        valid = [part for part in annotations if not _flag(part, "was_cancelled", where)]
        cancelled += len(annotations) - len(valid)
        silent += not valid
        replies += [_reply(task, annotation, options, where) for annotation in valid]
    notices = []
    if cancelled:
        text = "{annotations:count} cancelled annotations are left out"
        notices.append(notice("cancelled", text, annotations=cancelled))
    if silent:
        text = "{tasks:count} tasks have no annotations and are left out"
        notices.append(notice("tasks_without_annotations", text, tasks=silent))
    if not replies:
        raise InputError(
            name,
            f"{len(tasks)} tasks without annotations",
            "at least one annotation",
            "export the annotated tasks",
        )
    return replies, notices


def _check_tasks(tasks: Any, options: VoteFormat, name: str) -> None:
    shape = isinstance(tasks, list) and tasks and all(isinstance(t, Mapping) for t in tasks)
    if not shape or not any("annotations" in task for task in tasks):
        raise InputError(
            name,
            "no list of tasks with 'annotations'",
            "an export of Label Studio",
            "export in the format 'JSON', not 'JSON-MIN' or 'CSV'",
        )
    odd = [column for column in options.columns if column not in ("item", "group", "label")]
    if odd:
        raise InputError(
            f"{name}, columns",
            f"{listed(odd)}",
            "item, group or label",
            "leave it out: the export says itself",
        )


def _reply(
    task: Mapping[str, Any],
    annotation: Mapping[str, Any],
    options: VoteFormat,
    where: str,
) -> _Reply:
    group = options.columns.get("group")
    seconds = _field(annotation, "lead_time", where, _is_number, "a finite number of seconds")
    who = _field(annotation, "completed_by", where, _is_person, "an address or a number")
    when = _field(annotation, "created_at", where, _is_name, "a time as text, or a number")
    return _Reply(
        task=str(task.get("id")),
        item=_value_at(task, options.columns.get("item", "id"), where),
        group=None if group is None else _value_at(task, group, where),
        annotator=_text(_person(who)),
        answers=_by_control(_checked_list(annotation.get("result"), where, "result"), where),
        created_at=_text(when),
        duration_ms=None if seconds is None else 1000.0 * seconds,
        is_gold=_flag(annotation, "ground_truth", where),
    )


def _field(
    record: Mapping[str, Any], name: str, where: str, fits: Callable[[Any], bool], expected: str
) -> Any:
    """What a field holds, None where it is not there; anything that does not fit is refused."""
    value = record.get(name)
    if value is not None and not fits(value):
        got = f"{name} {shortened(repr(value), WORDS)}"
        do = "export in the format 'JSON', and do not edit it"
        raise InputError(where, got, expected, do)
    return value


def _flag(annotation: Mapping[str, Any], name: str, where: str) -> bool:
    """True or false; what is not there is false."""
    return bool(_field(annotation, name, where, partial(_is, bool), "true or false"))


def _is(kind: type, value: Any) -> bool:
    return isinstance(value, kind)


def _is_number(value: Any) -> bool:
    """Whether a value is a finite number, which true and false are not."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return abs(value) <= _LARGEST and math.isfinite(value)


def _is_name(value: Any) -> bool:
    """Whether a value names something: text, or a finite number."""
    return isinstance(value, str) or _is_number(value)


def _person(who: Any) -> Any:
    """The address or the number of a person."""
    return who.get("email") or who.get("id") if isinstance(who, Mapping) else who


def _is_person(who: Any) -> bool:
    return _person(who) is None or _is_name(_person(who))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _by_control(
    results: list[Mapping[str, Any]], where: str
) -> dict[str, list[tuple[str, Any]]]:
    """Sort the results by control; entries without one, such as relations, are no answers."""
    answers: dict[str, list[tuple[str, Any]]] = {}
    for result in results:
        if result.get("from_name") is None or result.get("type") is None:
            continue
        control, kind = (
            _field(result, name, where, partial(_is, str), "text")
            for name in ("from_name", "type")
        )
        held = {"value": result.get("value", "nothing")}
        fits, expected = partial(_is, Mapping), f"{{{quoted(kind)}: ...}}"
        value = _field(held, "value", where, fits, expected) or {}
        answers.setdefault(control, []).append((kind, value.get(kind)))
    return answers


def _checked_list(value: Any, where: str, what: str) -> list[Mapping[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value):
        raise InputError(
            where, f"no list of {what}", f"'{what}': [...]", "export in the format 'JSON'"
        )
    return value


def _value_at(task: Mapping[str, Any], path: str, where: str) -> str:
    """Follow a dotted path such as ``data.image`` into a task."""
    value: Any = task
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    if not _is_name(value):
        raise InputError(
            where,
            f"nothing to name it by at {path!r}",
            "text or a number",
            hint(
                "say {} with a KEY that every task has", Option("columns", {"item": "data.KEY"})
            ),
        )
    return str(value)


def _choose_controls(
    replies: Sequence[_Reply], options: VoteFormat, name: str
) -> tuple[list[str], list[Notice]]:
    """Choose the controls to read, and name those that are not."""
    kinds: dict[str, str] = {}
    for reply in replies:
        for control, results in reply.answers.items():
            if kinds.setdefault(control, results[0][0]) != results[0][0]:
                raise InputError(
                    f"{name}, task {reply.task}, control {control!r}",
                    f"type {results[0][0]!r}, and {kinds[control]!r} before",
                    "one type for each control",
                    "export the project again",
                )
    wanted = options.columns.get("label")
    if wanted is not None and wanted not in kinds:
        where = f"{name}, control {wanted!r}"
        raise unknown_name(where, "not in the export", wanted, kinds)
    chosen = [wanted] if wanted is not None else list(kinds)
    read = [control for control in chosen if kinds[control] in _READ]
    if not read:
        raise InputError(
            name,
            f"controls of type {listed(dict.fromkeys(kinds[c] for c in chosen))}",
            f"a control of type {', '.join(_READ)}",
            "export a project that classifies tasks",
        )
    others = tuple(f"{control} ({kinds[control]})" for control in kinds if control not in read)
    text = "controls {controls:names} are not used"
    if len(others) == 1:
        text = "control {controls:names} is not used"
    unused = [notice("unused_controls", text, controls=others)]
    return read, unused if others else []


def _refuse_regions(questions: _Questions) -> None:
    for reply in questions.replies:
        for control in questions.controls:
            if len(reply.answers.get(control, ())) > 1:
                got = "several results in one annotation"
                do = "answers about regions cannot be read; "
                raise questions.fault(reply, control, got, "one answer per task", do)


def _form_of(questions: _Questions) -> str:
    """Say what kind of answer the controls give; all must give the same kind."""
    forms = {}
    for control in questions.controls:
        kind = next(r.answers[control][0][0] for r in questions.replies if control in r.answers)
        if kind == "choices":
            _check_choices(questions, control)
            several = any(
                len(ticks) != 1 for _, ticks in questions.answers(control) if ticks is not None
            )
            kind = "ticks" if several else "choice"
        forms[control] = kind
    if len(set(forms.values())) > 1:
        kinds = ", ".join(f"{control!r} ({form})" for control, form in forms.items())
        raise InputError(
            questions.name,
            f"controls of different kinds: {kinds}",
            "one kind of label",
            hint("choose one with {}", Option("columns", {"label": questions.controls[0]})),
        )
    return next(iter(forms.values()))


def _check_choices(questions: _Questions, control: str) -> None:
    for reply, ticks in questions.answers(control):
        fine = isinstance(ticks, list) and all(map(_is_name, ticks))
        if ticks is not None and not fine:
            got, expected = f"choices {shortened(repr(ticks), WORDS)}", "a flat list of choices"
            raise questions.fault(reply, control, got, expected)


def _choice(questions: _Questions) -> _Answers:
    rows = [
        _Row(reply, control, None if ticks is None else str(ticks[0]))
        for control in questions.controls
        for reply, ticks in questions.answers(control)
    ]
    return _Answers(rows, questions.options)


def _ticks(questions: _Questions) -> _Answers:
    """One yes/no task per choice; an annotation without a tick says no to all."""
    rows: list[_Row] = []
    blank = 0
    classes = questions.options.classes
    for control in questions.controls:
        answers = [(reply, ticks or []) for reply, ticks in questions.answers(control)]
        blank += sum(control not in reply.answers for reply, _ in answers)
        seen = dict.fromkeys(str(tick) for _, ticks in answers for tick in ticks)
        prefix = "" if len(questions.controls) == 1 else f"{control}: "
        for reply, ticks in answers:
            mine = {str(tick) for tick in ticks}
            rows += [
                _Row(reply, prefix + option, "yes" if option in mine else "no")
                for option in classes or seen
            ]
            unknown = mine - set(classes or seen)
            if unknown:
                got, expected = f"choice {min(unknown)!r}", f"one of {listed(classes or ())}"
                raise questions.fault(reply, control, got, expected)
    text = "{annotations:count} annotations tick nothing and are read as no to every choice"
    note = notice("nothing_ticked", text, annotations=blank)
    kind = questions.options.kind or "binary"
    options = replace(questions.options, kind=kind, classes=("no", "yes"))
    return _Answers(rows, options, (note,) if blank else ())


def _numbers(questions: _Questions) -> _Answers:
    """Numbers as amounts."""
    rows = []
    for control in questions.controls:
        for reply, value in questions.answers(control):
            if value is not None and not _is_number(value):
                got = shortened(repr(value), WORDS)
                raise questions.fault(reply, control, got, "a finite number")
            rows.append(_Row(reply, control, _text(value)))
    kind = questions.options.kind or "interval"
    return _Answers(rows, replace(questions.options, kind=kind))


def _rating(questions: _Questions) -> _Answers:
    """Ratings are grades from 1 to the highest seen, unless told."""
    rows, options = _numbers(questions).rows, questions.options
    if options.kind not in (None, "ordinal") or options.classes is not None:
        return _Answers(rows, replace(options, kind=options.kind or "ordinal"))
    marks = [(float(row.label), row) for row in rows if row.label is not None]
    highest, row = max(marks, key=lambda mark: mark[0], default=(1.0, rows[0]))
    if highest > _HIGHEST_RATING:
        expected = f"a rating of at most {_HIGHEST_RATING:,}"
        raise questions.fault(row.reply, row.task, f"rating {highest:g}", expected)
    classes = tuple(str(grade) for grade in range(1, int(highest) + 1))
    text = (
        "ratings are read as grades 1 to {highest}, the highest given; say {scale} if there "
        "are more"
    )
    scale = Option("classes", python="classes=[...]")
    note = notice("highest_rating", text, highest=int(highest), scale=scale)
    return _Answers(rows, replace(options, kind="ordinal", classes=classes), (note,))


_FORMS: Mapping[str, Callable[[_Questions], _Answers]] = {
    "choice": _choice,
    "ticks": _ticks,
    "number": _numbers,
    "rating": _rating,
}


def _tidy_table(rows: Sequence[_Row], name: str, *, tasks: bool) -> Table:
    """Lay the rows out as a tidy table."""
    import pyarrow as pa

    replies = [row.reply for row in rows]
    text = {
        "item": [reply.item for reply in replies],
        "annotator": [reply.annotator for reply in replies],
        "group": [reply.group for reply in replies],
        "task": [row.task if tasks else None for row in rows],
        "label": [row.label for row in rows],
        "timestamp": [reply.created_at for reply in replies],
    }
    columns = {key: pa.array(values, pa.string()) for key, values in text.items()}
    columns = {k: v for k, v in columns.items() if v.null_count < len(v) or k == "label"}
    if any(reply.duration_ms is not None for reply in replies):
        columns["duration_ms"] = pa.array([r.duration_ms for r in replies], pa.float64())
    if any(reply.is_gold for reply in replies):
        columns["is_gold"] = pa.array([reply.is_gold for reply in replies])
    return Table(name=name, columns=columns, place=lambda row: f"task {replies[row].task}")
