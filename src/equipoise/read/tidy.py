"""A tidy table, one row per vote (or per place in a ranking), becomes annotations.

The order of work: find the columns, read the labels and drop the rows without one, code
the ids, deal with repeats, then the columns that are optional. Items, annotators and groups
come in the order of their names, wherever they stand in the table.

Repeats (one annotator, one item, one task, more than once) are real: the same slide shown
twice, a mind changed. They are kept unless the caller says otherwise, and always counted.

Rows of one person about one item with a column of ranks form a reading with dense ranks from 0.
Equal ranks are ties. Ranks may start anywhere and may have gaps: only their order counts.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from equipoise.read.headers import WHO, group_hint, is_named_like, swapped_notices, unused_note
from equipoise.read.options import PHASES, TIDY, VoteFormat
from equipoise.read.tables import (
    CodedNames,
    Table,
    code_ids,
    code_names,
    flags,
    joint_codes,
    numbers,
    numbers_or_none,
    ratings,
    repeated_rows,
    without_missing,
    words_of,
)
from equipoise.read.values import (
    alike_notices,
    are_ratings,
    class_codes,
    scale_of,
    times,
)
from equipoise.types import (
    MAY_BE_BLANK,
    RANGES,
    Annotations,
    Bools,
    Floats,
    InputError,
    Ints,
    Names,
    Notice,
    Notices,
    Option,
    dense_ranks,
    hint,
    listed,
    notice,
)

_CROWD_KIT = {"item": "task", "annotator": "worker"}
_Fields = dict[str, Any]  # of `Annotations`, by their names
_NAMES = {"item": "items", "annotator": "annotators", "task": "tasks", "arm": "arms"}
_VOTE = frozenset({*_NAMES, "label", "rank"})
_NUMBERS = RANGES.keys() - {"value", "rank"}


def tidy_annotations(table: Table, options: VoteFormat) -> Annotations:
    """Turn a tidy table into annotations.

    Examples
    --------
    >>> import pyarrow
    >>> from equipoise.read.tables import from_frame
    >>> votes = from_frame(pyarrow.table({"item": [1, 1], "label": ["no", "yes"]}))
    >>> annotations = tidy_annotations(votes, VoteFormat())
    >>> annotations.kind, annotations.classes, annotations.label
    ('binary', ('no', 'yes'), array([0, 1]))
    """
    table, late = _of_phases(name_columns(table, options), options.phases)
    ranked = "rank" in table.columns
    if ranked or options.kind == "ranking":
        options = _as_rankings(table, options)
    labels, there = _read_labels(table, options)
    if not there.all():
        table, labels = _note_blank_labels(table, there), _labels_at(labels, there)
    ids = _row_ids(table)
    ranks: _Fields = {}
    if ranked:
        ranks = _readings(table, joint_codes(*ids.values()), labels["label"], labels["classes"])
    else:
        keep, table = _select_repeats(table, ids, options.repeats)
        if not keep.all():
            table, labels = table.subset(keep), _labels_at(labels, keep)
            ids = _row_ids(table)
    notices = _doubts(table, ids, labels, options)
    extras: _Fields = {}
    of_extras: Notices = ()
    if not table.columns.keys() <= _VOTE:
        extras, of_extras = optional_columns(table, ids["item"])
    codes: _Fields = {}
    for ours, names in _NAMES.items():
        if ours in ids and not (ours == "annotator" and options.exchangeable):
            codes |= {ours: ids[ours].codes, names: ids[ours].names}
    of_labels = labels.pop("notices", ())
    votes = Annotations(
        **labels,
        **codes,
        **ranks,
        **extras,
        notices=(*table.notices, *notices, *of_labels, *of_extras),
    ).by_name()
    return votes if late is None else _with_adjudication(votes, late, options)


def _with_adjudication(votes: Annotations, late: Table, options: VoteFormat) -> Annotations:
    """The same beside votes that settled others, where these are answers of the same kind."""
    if votes.label is None or votes.kind == "ranking":
        return votes
    alike = replace(options, kind=votes.kind, classes=votes.classes, columns={})
    with suppress(InputError):  # an answer that nobody else gave
        return replace(votes, adjudication=tidy_annotations(late, alike))
    return votes


def _of_phases(table: Table, counted: str) -> tuple[Table, Table | None]:
    """The votes of some phases, without that column, and those of adjudication if not of them.

    A blank phase is core; gold rows are no votes, and stay. What does not count is said.
    """
    if "phase" not in table.columns:
        return table, None
    table = table.noting(*_within_readers(table))
    chosen = [name.strip() for name in counted.split(",")]
    codes, names = _phases(table)
    keep = np.array([name in chosen for name in names])[codes]
    if "is_gold" in table.columns:
        keep |= flags(table, "is_gold")
    others = tuple(name for name in PHASES if name in names and name not in chosen)
    option = Option("phases", ",".join((*chosen, *others)))
    if not keep.any():
        where, do = f"{table.name}, column phase", hint("count others with {}", option)
        raise InputError(where, f"no vote of {listed(chosen)}", "votes that count", do)
    left = replace(table, columns={k: v for k, v in table.columns.items() if k != "phase"})
    if keep.all():
        return left, None
    late = np.array([name == "adjudication" for name in names])[codes] & ~keep
    text = (
        "{votes:count} votes of other phases do not count: {phases:names}; {option} counts all"
    )
    votes = int((~keep).sum())
    left_out = notice("phases_left_out", text, votes=votes, phases=others, option=option)
    counts = left.noting(left_out).subset(keep)
    return counts, left.subset(late) if late.any() else None


def _within_readers(table: Table) -> Notices:
    """How often readers said the same when they read an item again."""
    if "annotator" not in table.columns or not {"rank", "count"}.isdisjoint(table.columns):
        return ()
    rows = np.ones(len(table), dtype=bool)
    if "phase" in table.columns:
        codes, names = _phases(table)
        rows = np.array([name in ("core", "extra", "repeat") for name in names])[codes]
    if "is_gold" in table.columns:
        rows &= ~flags(table, "is_gold")
    ids = [code_names(table, name) for name in ("item", "annotator", "task", "arm", "label")
           if name in table.columns]  # fmt: skip
    for coded in ids:
        rows &= coded.codes >= 0
    key, label = joint_codes(*ids[:-1])[rows], ids[-1].codes[rows]
    order = np.argsort(key, kind="stable")
    again = np.diff(key[order]) == 0
    if not again.any():
        return ()
    same = int((again & (np.diff(label[order]) == 0)).sum())
    text = "{same:count} of {pairs:count} readings of an item again say the same as before"
    return (notice("within_readers", text, same=same, pairs=int(again.sum())),)


def _phases(table: Table) -> tuple[Ints, list[str]]:
    """The phase of every row as a code, and the names of the codes; the last is core."""
    codes, words = words_of(table, "phase")
    names = [word.lower() or "core" for word in words]
    odd = [code for code, name in enumerate(names) if name not in PHASES]
    rows = np.flatnonzero(np.isin(codes, odd))
    if len(rows):
        raise InputError(
            table.where(rows[0]),
            f"phase {words[codes[rows[0]]]!r}",
            f"one of {listed(PHASES, most=len(PHASES))}, or blank (core)",
            "write one of these, or rename the column where it means something else",
        )
    return codes, [*names, "core"]


def _row_ids(table: Table) -> dict[str, CodedNames]:
    """What was judged, by whom, and which question was asked, in every row."""
    ids = {}
    for ours in ("task", "annotator", "item"):
        if ours in table.columns:
            ids[ours] = code_ids(table, ours)
    if "arm" in table.columns:
        ids["arm"] = _arms(table)
    return ids


def _arms(table: Table) -> CodedNames:
    """The arm of every vote; a gold row needs none."""
    votes = np.ones(len(table), dtype=bool)
    if "is_gold" in table.columns:
        votes = ~flags(table, "is_gold") | (code_names(table, "arm").codes >= 0)
    arms = code_ids(table.subset(votes), "arm")
    codes = np.zeros(len(table), dtype=np.int64)
    codes[votes] = arms.codes
    return CodedNames(codes, arms.names)


def _labels_at(labels: Mapping[str, Any], rows: Bools) -> _Fields:
    """The labels of some rows."""
    column = "value" if "value" in labels else "label"
    return {**labels, column: labels[column][rows]}


def _doubts(
    table: Table,
    ids: Mapping[str, CodedNames],
    labels: Mapping[str, Any],
    options: VoteFormat,
) -> Notices:
    """Say what is odd: columns that look swapped, unless the caller named them, and names."""
    notices: Notices = ()
    if "annotator" in ids and not set(WHO) <= options.columns.keys():
        task = ids["task"].codes if "task" in ids else None
        label = labels.get("label")
        notices += swapped_notices(ids["item"], ids["annotator"], label, task, table.name)
    for ours in ("annotator", "task"):
        if ours in ids:
            notices += alike_notices(_NAMES[ours], ids[ours].names)
    if options.classes is None and "classes" in labels:
        notices += alike_notices("classes", labels["classes"])
    return notices


def name_columns(table: Table, options: VoteFormat) -> Table:
    """Give every column that is used our name, and say which ones are not used."""
    chosen = options.columns
    ours_there = not set(WHO).isdisjoint((*table.columns, *chosen))
    if "worker" in table.columns and not ours_there:
        chosen = _CROWD_KIT | dict(chosen)
        text = (
            "columns 'task' and 'worker' are read as item and annotator, as crowd-kit has them"
        )
        table = table.noting(notice("crowd_kit", text))
    theirs: dict[str, str] = {}
    columns: _Fields = {}
    for ours in TIDY:
        if ours == "task" and chosen.get("item") == "task" and "task" not in chosen:
            continue
        name = table.column_of(ours, chosen)
        if name is None and ours in ("item", "label"):
            name = table.required(ours, chosen)
        if name is not None:
            theirs[ours], columns[ours] = name, table.columns[name]
    annotator = theirs.get("annotator", "")
    if theirs["item"] != "item" or annotator not in ("", "annotator"):
        _refuse_swapped_names(table.name, theirs["item"], annotator)
    taken = set(theirs.values())
    if not table.columns.keys() <= taken:
        unused = tuple(name for name in table.columns if name not in taken)
        table = _note_unused(table, unused, theirs, chosen)
    return replace(table, columns=columns, labels=table.labels or theirs["label"])


def _note_unused(
    table: Table, unused: Names, theirs: Mapping[str, str], chosen: Mapping[str, str]
) -> Table:
    """Say which columns are not used, and what of them may be meant as ours."""
    if "annotator" not in theirs and get_close_matches("annotator", unused, n=1, cutoff=0.8):
        table.required("annotator", chosen, otherwise=" if not, rename the column")
    table = table.noting(unused_note(unused))
    return table if "group" in theirs else table.noting(*group_hint(unused))


def _refuse_swapped_names(name: str, item: str, annotator: str) -> None:
    """Refuse items in a column of annotators beside annotators in one of items."""
    odd = is_named_like(item, "annotator") and is_named_like(annotator, "item")
    if odd and not (is_named_like(item, "item") or is_named_like(annotator, "annotator")):
        raise InputError(
            f"{name}, columns {item!r} and {annotator!r}",
            "read as item and annotator",
            "the other way round",
            hint("say {}", Option("columns", {"item": annotator, "annotator": item})),
        )


def blank_labels(blank: int, lost: int) -> Notice:
    """Say that rows without a label are left out, and items that have no other row.

    Examples
    --------
    >>> print(blank_labels(2, 1))
    2 blank labels are left out, and with them 1 item without any other
    """
    text = f"{{labels:count}} blank {'label is' if blank == 1 else 'labels are'} left out"
    if not lost:
        return notice("blank_labels", text, labels=blank)
    text += (
        f", and with them {{items:count}} {'item' if lost == 1 else 'items'} without any other"
    )
    return notice("blank_labels", text, labels=blank, items=lost)


def no_labels(table: Table) -> InputError:
    """Say that the column of labels is empty."""
    return InputError(
        f"{table.name}, column 'label'", "no label in any row", "at least one", "fill it in"
    )


def _as_rankings(table: Table, options: VoteFormat) -> VoteFormat:
    """Read labels as rankings; refuse ranks that nobody stands behind, or that are missing."""
    if "rank" not in table.columns:
        table.required("rank", options.columns)
    if options.kind not in (None, "ranking"):
        raise InputError(
            f"{table.name}, column 'rank'",
            f"ranks, but kind {options.kind!r}",
            "kind 'ranking'",
            "leave kind out, or keep the first choices only and remove the column",
        )
    if "annotator" not in table.columns:
        raise InputError(
            f"{table.name}, column 'annotator'",
            "missing beside a column of ranks",
            "the person behind each rank",
            hint(
                "add the column; say {} if its names are arbitrary",
                Option("exchangeable", value=True),
            ),
        )
    return replace(options, kind="ranking")


def _read_labels(table: Table, options: VoteFormat) -> tuple[_Fields, Bools]:
    """Kind, classes and codes of the labels, or their values; and which rows have one."""
    if options.kind == "interval":
        return _read_amounts(table, options)
    present = without_missing(code_names(table, "label"))
    there = present.codes >= 0
    if not there.any():
        raise no_labels(table)
    plain = table.labels == "label" or options.kind is not None or options.classes is not None
    if not plain and are_ratings(table.labels):
        amounts = numbers_or_none(table, "label")
        if amounts is not None and (np.nan_to_num(amounts) % 1).any():
            text = "numbers with fractions are read as amounts, {option}"
            note = notice("read_as_amounts", text, option=Option("kind", "interval"))
            fields, there = _read_amounts(table, options)
            return {**fields, "notices": (note,)}, there
    scale = scale_of(present.names, options, name=table.name, header=table.labels)
    codes = class_codes(present, scale, where=table.where, kind=options.kind)
    facts = {"kind": scale.kind, "classes": scale.classes, "notices": scale.notices}
    return {**facts, "label": codes}, there


def _read_amounts(table: Table, options: VoteFormat) -> tuple[_Fields, Bools]:
    """Read labels of kind ``interval``."""
    if options.classes is not None:
        raise InputError(
            f"{table.name}, kind 'interval'",
            f"classes {listed(options.classes)}",
            "no classes: the labels are numbers",
            "leave out classes, or choose another kind",
        )
    value = ratings(table)
    there = ~np.isnan(value)
    if not there.any():
        raise no_labels(table)
    low, high = float(np.nanmin(value)), float(np.nanmax(value))
    fields: _Fields = {"kind": "interval", "value": value}
    if low < 0 or high > 1:  # else they are shares already
        fields["scale"] = (low, high if high > low else low + 1)
    return fields, there


def _note_blank_labels(table: Table, there: Bools) -> Table:
    """The rows with a label; says how many have none, and how many items have no other."""
    item = code_names(table, "item")
    lost = len(item.names) - len(np.setdiff1d(item.codes[there], [-1]))
    return table.noting(blank_labels(int((~there).sum()), lost)).subset(there)


def _select_repeats(
    table: Table, ids: Mapping[str, CodedNames], repeats: str
) -> tuple[Bools, Table]:
    """Say which rows stay where votes repeat each other; the table says so.

    Parameters
    ----------
    ids
        Votes that have the same item, annotator and task repeat each other.
    repeats
        ``keep`` all, the ``last`` of each (by time where known), or treat as an ``error``.
    """
    everything = np.ones(len(table), dtype=bool)
    if "annotator" not in ids:
        if repeats != "keep":
            raise InputError(
                f"{table.name}, repeats={repeats!r}",
                "votes without annotators",
                "a column 'annotator'",
                "add it, or leave repeats out",
            )
        return everything, table
    key = joint_codes(*ids.values())
    ordered = np.sort(key)
    again = int((ordered[1:] == ordered[:-1]).sum())
    if not again:
        return everything, table
    if all(note.code != "within_readers" for note in table.notices):
        table = table.noting(*_within_readers(table))
    if repeats == "error":
        raise _repeated_votes(table, key, again)
    verb = "vote repeats" if again == 1 else "votes repeat"
    text = f"{{votes:count}} {verb} an (item, annotator, task) seen before; "
    if repeats == "keep":
        text += "all count; {option} takes the last of each"
        note = notice("repeats_kept", text, votes=again, option=Option("repeats", "last"))
        return everything, table.noting(note)
    text += "only the last of each is kept"
    note = notice("repeats_dropped", text, votes=again)
    return _last_votes(table, key), table.noting(note)


def _last_votes(table: Table, key: Ints) -> Bools:
    """Choose the row of each key that has the latest time, or stands last in the file."""
    moment: Ints = np.zeros(len(key), dtype=np.int64)
    if "timestamp" in table.columns:
        _, moment, there = times(table, "timestamp")
        if not there.all():
            row = int(np.flatnonzero(~there)[0])
            raise InputError(
                table.where(row),
                "a blank timestamp",
                "a time for every vote",
                "fill it in, or remove the column to keep the last in file order",
            )
    order = np.lexsort((moment, key))
    final = np.append(key[order][1:] != key[order][:-1], True)
    keep = np.zeros(len(key), dtype=bool)
    keep[order[final]] = True
    return keep


def _repeated_votes(table: Table, key: Ints, again: int) -> InputError:
    later = repeated_rows(key)
    rows = ", ".join(table.place(int(row)).removeprefix("row ") for row in later[:3])
    more = f" and {again - 3:,} more" if again > 3 else ""
    got = f"row {rows} repeats" if again == 1 else f"rows {rows}{more} repeat"
    return InputError(
        table.name,
        f"{got} an (item, annotator, task)",
        "one vote of each annotator on each item and task",
        hint(
            "remove them, or say {} or {}", Option("repeats", "last"), Option("repeats", "keep")
        ),
    )


def _readings(table: Table, key: Ints, label: Ints, classes: Names) -> dict[str, Ints]:
    """Return `rank` and `reading` of rows; rows of one reading have one key."""
    place = numbers(table, "rank")
    blank = np.flatnonzero(~np.isfinite(place))
    if len(blank):
        raise InputError(
            table.where(blank[0]), f"rank {place[blank[0]]}", "a number", "fill in the rank"
        )
    _, first, codes = np.unique(key, return_index=True, return_inverse=True)
    reading = np.argsort(np.argsort(first))[codes]
    twice = repeated_rows(reading * len(classes) + label)
    if len(twice):
        row = int(twice[0])
        raise InputError(
            table.where(row),
            f"class {classes[label[row]]!r} twice in one ranking",
            "each class at most once for each item, annotator and task",
            "remove the later mention",
        )
    return {"rank": dense_ranks(reading, place), "reading": reading}


def optional_columns(table: Table, item: CodedNames) -> tuple[_Fields, Notices]:
    """Read weights, confidences, times, gold rows and groups where there are any.

    Examples
    --------
    >>> import pyarrow
    >>> one = Table(name="table", columns={"weight": pyarrow.array(["0.5"])})
    >>> optional_columns(one, CodedNames(np.array([0]), ("scan",)))
    ({'weight': array([0.5])}, ())
    """
    columns: _Fields = {}
    notices: list[Notice] = []
    for name in sorted(table.columns.keys() & _NUMBERS):
        columns[name] = _numbers_in_range(table, name)
    if "count" in columns:
        columns["count"] = columns["count"].astype(np.int64)
    if "confidence" in columns:
        text = "confidence is kept, but mean votes do not use it"
        notices.append(notice("unused_confidence", text))
    if "is_gold" in table.columns:
        columns["is_gold"] = flags(table, "is_gold")
    if "timestamp" in table.columns:
        moment, _, there = times(table, "timestamp")
        rows = int((~there).sum())
        if rows:
            text = "timestamp is left out: {rows:count} rows have none"
            notices.append(notice("blank_timestamps", text, rows=rows))
        else:
            columns["timestamp"] = moment
    if "group" in table.columns:
        columns |= _groups(table, item)
    return columns, tuple(notices)


def _numbers_in_range(table: Table, name: str) -> Floats:
    """Read a column of numbers and refuse the first that is out of range."""
    low, high, expected = RANGES[name]
    values = numbers(table, name)
    fine = np.isfinite(values) & (values >= low) & (values <= high)
    if name == "count":
        fine &= values == np.floor(values)
    if name in MAY_BE_BLANK:
        fine |= np.isnan(values)
    if not fine.all():
        row = int(np.argmin(fine))
        got = f"a blank {name}" if np.isnan(values[row]) else f"{name} {values[row]:g}"
        raise InputError(table.where(row), got, expected, "correct the value")
    return values


def _groups(table: Table, item: CodedNames) -> _Fields:
    """Read the group of each item, which must be the same in all its rows."""
    groups = code_names(table, "group")
    of_item = np.full(len(item.names), -1, dtype=np.int64)
    of_item[item.codes[::-1]] = groups.codes[::-1]
    odd = np.flatnonzero((groups.codes < 0) | (of_item[item.codes] != groups.codes))
    if len(odd):
        row = int(odd[0])
        mine = np.unique(groups.codes[item.codes == item.codes[row]])
        seen = [groups.names[code] for code in mine if code >= 0]
        got = f"in groups {listed(seen)}" if len(seen) > 1 else "without a group in some row"
        raise InputError(
            table.where(row),
            f"item {item.names[item.codes[row]]!r} {got}",
            "one group per item",
            "make the group the same in all rows of an item",
        )
    return {"groups": groups.names, "group": of_item}
