"""Exports of Label Studio in its JSON format.

A list of tasks, each with ``annotations`` by one person (``completed_by``), each with
``result``: one entry per control that was used, ``{from_name, type, value: {type: ...}}``.
Controls of type choices, rating, number and ranker are read. A task is an item; a control
is a task where there are several; a control with several ticks is one yes/no task per
choice. https://labelstud.io/guide/task_format
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
    listed,
    notice,
    quoted,
    shortened,
    unknown_name,
)

_HIGHEST_RATING = 1_000
_LARGEST = 10**308  # beyond which whole numbers are no floats
_READ = ("choices", "rating", "number", "ranker")
_OTHER_CONTROL = Option("columns", {"label": "its from_name"})


@dataclass(frozen=True)
class _Reply:
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
    item: Any
    group: Any
    annotator: Any
    answers: Mapping[str, list[tuple[str, Any]]]
    created_at: str | None
    duration_ms: float | None
    is_gold: bool


class _Row(NamedTuple):
    """A row of the tidy table: who, which task, the label and its rank."""

    reply: _Reply
    task: str
    label: str | None
    rank: int = 0


@dataclass(frozen=True)
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

    def fault(self, reply: _Reply, control: str, got: str, expected: str) -> InputError:
        """Name the task and the control of a fault."""
        return InputError(
            f"{self.name}, task {reply.task}, control {control!r}",
            got,
            expected,
            hint("choose another control with {}", _OTHER_CONTROL),
        )


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
    form = _form_of(questions)
    answers = _FORMS[form](questions)
    several = len(controls) > 1 or form == "ticks"
    table = _tidy_table(answers.rows, name, tasks=several, ranks=form == "ranker")
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
        valid = [
            annotation
            for annotation in annotations
            if not _flag(annotation, "was_cancelled", where)
        ]
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
    lead = _finite(annotation.get("lead_time"))
    if lead is None and annotation.get("lead_time") is not None:
        raise _odd_field(where, annotation, "lead_time", "a finite number of seconds")
    return _Reply(
        task=str(task.get("id")),
        item=_value_at(task, options.columns.get("item", "id"), where),
        group=None if group is None else _value_at(task, group, where),
        annotator=_who(annotation, where),
        answers=_by_control(_checked_list(annotation.get("result"), where, "result"), where),
        created_at=_moment(annotation, where),
        duration_ms=None if lead is None else 1000.0 * lead,
        is_gold=_flag(annotation, "ground_truth", where),
    )


def _finite(value: Any) -> float | None:
    """A finite number; None for anything else, also for true and false."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    number = float(value) if abs(value) <= _LARGEST else math.inf
    return number if math.isfinite(number) else None


def _is_name(value: Any) -> bool:
    """Whether a value names something: text, or a finite number."""
    return isinstance(value, str) or _finite(value) is not None


def _odd_field(where: str, record: Mapping[str, Any], field: str, expected: str) -> InputError:
    """Say that a field of an export holds something else."""
    got = f"{field} {shortened(repr(record.get(field)), WORDS)}"
    return InputError(where, got, expected, "export in the format 'JSON', and do not edit it")


def _flag(record: Mapping[str, Any], field: str, where: str) -> bool:
    """True or false; what is not there is false."""
    value = record.get(field)
    if value is not None and not isinstance(value, bool):
        raise _odd_field(where, record, field, "true or false")
    return bool(value)


def _who(annotation: Mapping[str, Any], where: str) -> str | None:
    """Who: an address or a number; None if the export does not say."""
    who = annotation.get("completed_by")
    if isinstance(who, Mapping):
        who = who.get("email") or who.get("id")
    if who is not None and not _is_name(who):
        raise _odd_field(where, annotation, "completed_by", "an address or a number")
    return None if who is None else str(who)


def _moment(annotation: Mapping[str, Any], where: str) -> str | None:
    """When: text, or milliseconds since 1970."""
    when = annotation.get("created_at")
    if when is not None and not _is_name(when):
        raise _odd_field(where, annotation, "created_at", "a time as text, or a number")
    return None if when is None else str(when)


def _by_control(
    results: list[Mapping[str, Any]], where: str
) -> dict[str, list[tuple[str, Any]]]:
    """Sort the results by control; entries without one, such as relations, are no answers."""
    answers: dict[str, list[tuple[str, Any]]] = {}
    for result in results:
        control, kind, value = result.get("from_name"), result.get("type"), result.get("value")
        if control is None or kind is None:
            continue
        for field in ("from_name", "type"):
            if not isinstance(result[field], str):
                raise _odd_field(where, result, field, "text")
        if not isinstance(value, Mapping):
            raise _odd_field(where, result, "value", f"{{{quoted(kind)}: ...}}")
        answers.setdefault(control, []).append((kind, value.get(kind)))
    return answers


def _checked_list(value: Any, where: str, what: str) -> list[Mapping[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value):
        raise InputError(
            where, f"no list of {what}", f"'{what}': [...]", "export in the format 'JSON'"
        )
    return value


def _value_at(task: Mapping[str, Any], path: str, where: str) -> Any:
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
    return value


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
    _refuse_regions(replies, read, name)
    others = tuple(f"{control} ({kinds[control]})" for control in kinds if control not in read)
    text = "controls {controls:names} are not used"
    if len(others) == 1:
        text = "control {controls:names} is not used"
    unused = [notice("unused_controls", text, controls=others)]
    return read, unused if others else []


def _refuse_regions(replies: Sequence[_Reply], controls: Sequence[str], name: str) -> None:
    for reply in replies:
        for control in controls:
            if len(reply.answers.get(control, ())) > 1:
                raise InputError(
                    f"{name}, task {reply.task}, control {control!r}",
                    "several results in one annotation",
                    "one answer per task",
                    hint(
                        "answers about regions cannot be read; choose another control with {}",
                        _OTHER_CONTROL,
                    ),
                )


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


def _numbers(questions: _Questions) -> list[_Row]:
    rows = []
    for control in questions.controls:
        for reply, value in questions.answers(control):
            if value is not None and _finite(value) is None:
                got = shortened(repr(value), WORDS)
                raise questions.fault(reply, control, got, "a finite number")
            rows.append(_Row(reply, control, None if value is None else str(value)))
    return rows


def _number(questions: _Questions) -> _Answers:
    options = questions.options
    return _Answers(_numbers(questions), replace(options, kind=options.kind or "interval"))


def _rating(questions: _Questions) -> _Answers:
    """Ratings are grades from 1 to the highest seen, unless told."""
    rows, options = _numbers(questions), questions.options
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


def _ranker(questions: _Questions) -> _Answers:
    rows: list[_Row] = []
    for control in questions.controls:
        for reply, ranked in questions.answers(control):
            if ranked is not None and not isinstance(ranked, list):
                raise questions.fault(reply, control, "a ranker with buckets", "a ranked list")
            if not all(map(_is_name, ranked or [])):
                got = f"ranks of {shortened(repr(ranked), WORDS)}"
                raise questions.fault(reply, control, got, "a ranked list of names")
            rows += [
                _Row(reply, control, str(name), rank) for rank, name in enumerate(ranked or [])
            ]
            rows += [] if ranked else [_Row(reply, control, None)]
    return _Answers(rows, questions.options)


_FORMS: Mapping[str, Callable[[_Questions], _Answers]] = {
    "choice": _choice,
    "ticks": _ticks,
    "number": _number,
    "rating": _rating,
    "ranker": _ranker,
}


def _tidy_table(rows: Sequence[_Row], name: str, *, tasks: bool, ranks: bool) -> Table:
    """Lay the rows out as a tidy table."""
    import pyarrow as pa

    replies = [row.reply for row in rows]
    text = {
        "item": [str(reply.item) for reply in replies],
        "annotator": [None if r.annotator is None else str(r.annotator) for r in replies],
        "group": [None if r.group is None else str(r.group) for r in replies],
        "task": [row.task if tasks else None for row in rows],
        "label": [row.label for row in rows],
        "timestamp": [reply.created_at for reply in replies],
    }
    columns = {key: pa.array(values, pa.string()) for key, values in text.items()}
    columns = {k: v for k, v in columns.items() if v.null_count < len(v) or k == "label"}
    if ranks:
        columns["rank"] = pa.array([row.rank for row in rows])
    if any(reply.duration_ms is not None for reply in replies):
        columns["duration_ms"] = pa.array([r.duration_ms for r in replies], pa.float64())
    if any(reply.is_gold for reply in replies):
        columns["is_gold"] = pa.array([reply.is_gold for reply in replies])
    return Table(name=name, columns=columns, place=lambda row: f"task {replies[row].task}")
