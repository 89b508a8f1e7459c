"""A tidy table, one row per vote (or per place in a ranking), becomes codes.

The order of work: find the columns, read the labels and drop the rows without one, code
the ids, deal with repeats, then the columns that are optional. Names are coded in order
of first appearance. The result is the keyword arguments of `Annotations`.
"""

from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from equipoise.arrays import Bools, InputError, Ints, listed
from equipoise.coding.columns import Coded, coded, is_missing, numbers
from equipoise.coding.extras import extra_columns
from equipoise.coding.labels import class_codes, scale_of
from equipoise.coding.options import TIDY, AnnotationOptions
from equipoise.coding.readings import reading_columns
from equipoise.coding.repeats import kept_votes
from equipoise.coding.tables import Table
from equipoise.wording import Option, hint

CROWD_KIT = {"item": "task", "annotator": "worker"}


@dataclass(frozen=True, slots=True, eq=False)
class Who:
    """The ids of every row: what was judged, by whom, and which question was asked."""

    item: Coded
    annotator: Coded | None
    task: Coded | None

    def key(self) -> Ints:
        """One number per row, equal where item, annotator and task are."""
        key = self.item.codes.astype(np.int64)
        for each in (self.annotator, self.task):
            if each is not None:
                key = key * len(each.names) + each.codes
        return key


def vote_columns(table: Table, how: AnnotationOptions) -> dict[str, Any]:
    """Turn a tidy table into the arguments of `Annotations`.

    Examples
    --------
    >>> import pyarrow
    >>> from equipoise.coding.tables import from_frame
    >>> votes = from_frame(pyarrow.table({"item": [1, 1], "label": ["no", "yes"]}))
    >>> columns = vote_columns(votes, AnnotationOptions())
    >>> columns["kind"], columns["classes"], columns["label"]
    ('binary', ('no', 'yes'), array([0, 1]))
    """
    table, how = _ready(located(table, how), how)
    answers, there = _answers(table, how)
    table, answers = _kept(_told(table, there), answers, there)
    who = _who(table)
    if "rank" not in table.columns:
        keep, notices = kept_votes(table, who.key() if who.annotator else None, how.repeats)
        table, answers = _kept(table.saying(*notices), answers, keep)
        who = who if keep.all() else _who(table)
    if answers["kind"] == "ranking":
        answers |= reading_columns(table, who.key(), answers)
    extras, notices = extra_columns(table, who.item)
    notices = (*table.notices, *answers.pop("notices"), *notices)
    return answers | _ids(who, how) | extras | {"notices": notices}


def located(table: Table, how: AnnotationOptions) -> Table:
    """Give every column that is used our name, and say which ones are not used."""
    if "worker" in table.columns and not _names_itself(table, how):
        how = replace(how, columns=CROWD_KIT | dict(how.columns))
        table = table.saying(
            "columns 'task' and 'worker' are read as item and annotator, as crowd-kit has them"
        )
    theirs = {ours: table.found(ours, how.columns) for ours in TIDY}
    theirs |= {ours: table.required(ours, how.columns) for ours in ("item", "label")}
    if how.columns.get("item") == "task" and "task" not in how.columns:
        theirs["task"] = None
    taken = [name for name in theirs.values() if name is not None]
    unused = [name for name in table.columns if name not in taken]
    near = get_close_matches("annotator", unused, n=1, cutoff=0.8)
    if near and theirs["annotator"] is None:
        table.required("annotator", how.columns, otherwise=" if not, rename the column")
    if unused:
        table = table.saying(f"columns {listed(unused, most=8)} are not used")
    named = {ours: table.columns[name] for ours, name in theirs.items() if name is not None}
    return replace(table, columns=named)


def _names_itself(table: Table, how: AnnotationOptions) -> bool:
    return any(name in table.columns or name in how.columns for name in ("item", "annotator"))


def _ready(table: Table, how: AnnotationOptions) -> tuple[Table, AnnotationOptions]:
    """Settle whether these are rankings."""
    ranked = "rank" in table.columns
    if ranked and how.kind not in (None, "ranking"):
        raise InputError(
            f"{table.name}, column 'rank'", f"ranks, but kind {how.kind!r}", "kind 'ranking'",
            "leave kind out, or keep the first choices only and remove the column",
        )  # fmt: skip
    if not ranked and how.kind == "ranking":
        table.required("rank", how.columns)
    if ranked and "annotator" not in table.columns:
        raise InputError(
            f"{table.name}, column 'annotator'", "missing beside a column of ranks",
            "the person behind each rank",
            hint(
                "add the column; say {} if its names are arbitrary",
                Option("exchangeable", value=True),
            ),
        )  # fmt: skip
    return table, replace(how, kind="ranking") if ranked else how


def _answers(table: Table, how: AnnotationOptions) -> tuple[dict[str, Any], Bools]:
    """Read the labels: the columns they make, and which rows have one."""
    if how.kind == "interval":
        return _amounts(table, how)
    labels = coded(table, "label")
    gone = np.append(is_missing(labels.names), True)[labels.codes]
    if gone.all():
        raise InputError(
            f"{table.name}, column 'label'", "no label in any row", "at least one", "fill it in"
        )
    keep = [name for name, none in zip(labels.names, is_missing(labels.names), strict=True)
            if not none]  # fmt: skip
    scale = scale_of(keep, how, name=table.name)
    position = {name: code for code, name in enumerate(keep)}
    lookup = np.array([*(position.get(name, -1) for name in labels.names), -1])
    known = Coded(lookup[labels.codes], tuple(keep))
    codes = class_codes(known, scale, where=table.where, kind=how.kind)
    columns = {"kind": scale.kind, "classes": scale.classes, "label": codes}
    return columns | {"notices": scale.notices}, ~gone


def _amounts(table: Table, how: AnnotationOptions) -> tuple[dict[str, Any], Bools]:
    """Read labels of kind ``interval``; nan is a missing label, infinity an error."""
    if how.classes is not None:
        raise InputError(
            f"{table.name}, kind 'interval'", f"classes {listed(how.classes)}",
            "no classes: the labels are numbers", "leave out classes, or choose another kind",
        )  # fmt: skip
    value = numbers(table, "label")
    endless = np.isinf(value)
    if endless.any():
        row = int(np.flatnonzero(endless)[0])
        raise InputError(
            table.where(row), f"label {value[row]}", "a finite number", "correct the value"
        )
    there = ~np.isnan(value)
    if not there.any():
        raise InputError(
            f"{table.name}, column 'label'", "no label in any row", "at least one", "fill it in"
        )
    return {"kind": "interval", "value": value, "notices": ()}, there


def _kept(table: Table, answers: dict[str, Any], keep: Bools) -> tuple[Table, dict[str, Any]]:
    """Leave out rows, in the table and in the answers alike."""
    if keep.all():
        return table, answers
    shorter = {
        name: column[keep] if isinstance(column, np.ndarray) else column
        for name, column in answers.items()
    }
    return table.keep(keep), shorter


def _told(table: Table, there: Bools) -> Table:
    """Say how many labels are blank, and how many items have no other."""
    blank = int((~there).sum())
    if not blank:
        return table
    item = coded(table, "item")
    lost = len(item.names) - len(np.setdiff1d(item.codes[there], [-1]))
    says = f"{blank:,} blank {'label is' if blank == 1 else 'labels are'} left out"
    also = f", and with them {lost:,} {'item' if lost == 1 else 'items'} without any other"
    return table.saying(says + also if lost else says)


def _who(table: Table) -> Who:
    """Code the ids."""
    task = name_codes(table, "task") if "task" in table.columns else None
    annotator = name_codes(table, "annotator") if "annotator" in table.columns else None
    return Who(name_codes(table, "item"), annotator, task)


def name_codes(table: Table, name: str) -> Coded:
    """Code a column of ids; a row without one is an error."""
    ids = coded(table, name)
    blank = np.flatnonzero(ids.codes < 0)
    if len(blank):
        raise InputError(
            table.where(blank[0]), f"a blank {name}", f"the {name} of every label",
            "fill it in or remove the row",
        )  # fmt: skip
    return ids


def _ids(who: Who, how: AnnotationOptions) -> dict[str, Any]:
    """Return the ids as columns of `Annotations`."""
    columns: dict[str, Any] = {"items": who.item.names, "item": who.item.codes}
    if who.task is not None:
        columns |= {"tasks": who.task.names, "task": who.task.codes}
    if who.annotator is not None and not how.exchangeable:
        columns |= {"annotators": who.annotator.names, "annotator": who.annotator.codes}
    return columns
