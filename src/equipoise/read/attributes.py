"""Attributes: what is known of items, such as sex, age or site, or of annotators.

One row per item, a column ``item`` (or one of the words that votes may use) and one column per
attribute; of annotators (school, expertise) a column ``annotator`` in its place. A column of
numbers with more than six different values is cut at its quartiles, a value on an edge
belonging to the lower part; the parts are named by the lowest and highest value in them, so
that no two share an end. A blank is no value. Columns of more than fifty different texts, such
as ids, are left out.

An attribute can say which items, or annotators, come in groups (`grouped`); its values are then
names, whatever they look like and however many there are.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from equipoise.read.files import AnyPath, content
from equipoise.read.headers import ids_column
from equipoise.read.sources import table_of
from equipoise.read.tables import (
    Table,
    code_ids,
    code_names,
    from_frame,
    numbers,
    without_missing,
)
from equipoise.types import (
    Annotations,
    Floats,
    InputError,
    Ints,
    Names,
    Notice,
    Notices,
    as_notice,
    choice,
    counted,
    frozen,
    immutable,
    listed,
    notice,
    require_unique,
    unknown_name,
    wrong_type,
)

FEW_NUMBERS = 6  # different numbers up to which they are categories
MOST_LEVELS = 50
OF = ("item", "annotator")


@immutable(eq=False, kw_only=True)
class Attributes:
    """Attributes of items or of annotators, coded and checked once when made.

    Attributes
    ----------
    items
        Names, each once; of annotators where `of` says so.
    columns, levels
        Names of the attributes, and of the values of each.
    codes
        Position in `levels`, -1 where there is no value, shape (columns, items).
    notices
        What the reader decided.
    of
        ``item`` or ``annotator``.

    Examples
    --------
    >>> import pyarrow
    >>> table = pyarrow.table({"item": ["a", "b", "c"], "sex": ["f", "m", "f"]})
    >>> Attributes.from_dataframe(table).levels
    (('f', 'm'),)
    """

    items: Names
    columns: Names
    levels: tuple[Names, ...]
    codes: Ints
    notices: Notices = ()
    of: str = "item"

    def __post_init__(self) -> None:
        for name in ("items", "columns", "levels"):
            value = getattr(self, name)
            if not isinstance(value, tuple):
                raise wrong_type(f"attributes, {name}", value, "a tuple", "make it one")
        choice("attributes, of", self.of, OF)
        do = f"keep one row per {self.of}"
        require_unique(self.items, where=f"attributes, {self.of}s", do=do)
        given = np.asarray(self.codes)
        if given.dtype.kind not in "iuf" or (given != np.round(given)).any():
            do = "code the columns"
            raise wrong_type("attributes, codes", self.codes, "whole numbers", do)
        codes = given.astype(np.int64)
        where, shape = "attributes, codes", f"({len(self.columns)}, {len(self.items)})"
        if codes.shape != (len(self.columns), len(self.items)):
            got = f"shape {codes.shape}"
            raise InputError(where, got, shape, "give one code per cell")
        most = np.array([[len(one)] for one in self.levels]).reshape(-1, 1)
        if len(self.levels) != len(self.columns) or ((codes < -1) | (codes >= most)).any():
            wanted, do = "positions in levels, or -1", "code the columns by their levels"
            raise InputError(where, "a code without a level", wanted, do)
        object.__setattr__(self, "codes", frozen(codes))

    def __repr__(self) -> str:
        return f"Attributes({len(self.items)} {self.of}s, {', '.join(self.columns)})"

    @classmethod
    def from_dataframe(
        cls, frame: Any, of: str = "item", group: str | None = None
    ) -> "Attributes":
        """Take a dataframe of pandas, polars, pyarrow or another kind that narwhals knows.

        Parameters
        ----------
        of, group
            As in `read_attributes`.
        """
        return _from_table(from_frame(frame), of, group)

    def column(self, name: str) -> int:
        """Place of an attribute."""
        if name not in self.columns:
            where = f"attributes of {self.of}s, column {name!r}"
            raise unknown_name(where, "unknown", name, self.columns)
        return self.columns.index(name)

    def aligned(self, items: Sequence[str], *, on_missing: str = "error") -> Ints:
        """Codes of the given items, shape (columns, items); -1 for items without a row."""
        place = {name: number for number, name in enumerate(self.items)}
        rows = np.array([place.get(name, -1) for name in items], dtype=np.int64)
        missing = np.flatnonzero(rows < 0)
        if len(missing) and (on_missing == "error" or len(missing) == len(rows)):
            some = listed(items[int(i)] for i in missing)
            who = "annotated item" if self.of == "item" else "annotator"
            got = f"no row for {counted(len(missing), who)} ({some})"
            do = "add them, correct the ids, or ask for missing ones to be dropped"
            if self.of != "item":
                do = "add them, or correct the ids"
            nobody = [name for name in self.items if name not in set(items)]
            if nobody:
                do += f" (rows that match nobody: {listed(nobody)})"
            raise InputError("attributes", got, f"a row for every {who}", do)
        return np.where(rows < 0, -1, self.codes[:, rows])

    def where(self, column: str, value: str) -> Names:
        """Items of which an attribute has a value, such as ``split`` and ``dev``.

        Examples
        --------
        >>> import pyarrow
        >>> table = pyarrow.table({"item": ["a", "b", "c"], "split": ["dev", "test", "dev"]})
        >>> Attributes.from_dataframe(table).where("split", "dev")
        ('a', 'c')
        """
        place = self.columns.index(choice("attributes", column, self.columns))
        code = self.levels[place].index(
            choice(f"attributes, {column}", value, self.levels[place])
        )
        rows = np.flatnonzero(self.codes[place] == code)
        return tuple(self.items[int(row)] for row in rows)


def read_attributes(path: AnyPath, of: str = "item", group: str | None = None) -> Attributes:
    """Read attributes from CSV, TSV or Parquet, also with ``.gz``.

    Parameters
    ----------
    of
        What has a row: ``item`` or ``annotator``.
    group
        An attribute whose values are names of groups.

    Raises
    ------
    InputError
        If the file or a row of it cannot be used; the message names the row.
    """
    return _from_table(table_of(content(path)), of, group)


def groups_of(names: Sequence[str], table: Attributes, column: str) -> tuple[Names, Ints]:
    """Names of the groups that an attribute puts items or annotators in, and their codes."""
    place = table.column(column)
    code = table.aligned(names)[place].copy()
    alone = np.flatnonzero(code < 0).tolist()
    code[alone] = len(table.levels[place]) + np.arange(len(alone))
    levels = (*table.levels[place], *(f"{names[i]} (no {column})" for i in alone))
    used, codes = np.unique(code, return_inverse=True)
    if len(used) < 2:
        where, got = f"attributes of {table.of}s, column {column!r}", repr(levels[used[0]])
        do = "leave the groups out"
        raise InputError(where, f"a single group, {got}", "at least two groups", do)
    return tuple(levels[k] for k in used), codes


def grouped(votes: Annotations, table: Attributes, column: str) -> Annotations:
    """Votes whose items, or annotators, come in the groups that an attribute names.

    Groups of items take the place of those that the votes have, which must lie inside them:
    the outermost level is what is random. Whoever has no value is a group of its own.

    Examples
    --------
    >>> import pyarrow
    >>> votes = Annotations.from_dataframe(pyarrow.table({"item": [1, 1, 2], "label": [0, 1, 1],
    ...     "annotator": ["ana", "bo", "cy"]}))
    >>> people = pyarrow.table({"annotator": ["ana", "bo", "cy"], "school": ["x", "y", "x"]})
    >>> schools = Attributes.from_dataframe(people, of="annotator")
    >>> grouped(votes, schools, "school").annotator_group
    array([0, 1, 0])
    """
    names = votes.items if table.of == "item" else votes.annotators
    where = f"attributes of {table.of}s, column {column!r}"
    if names is None:
        got, wanted = "anonymous votes", "annotators with ids"
        raise InputError(where, got, wanted, "leave the groups of annotators out")
    groups, code = groups_of(names, table, column)
    notices, alone = votes.notices, int((table.aligned(names)[table.column(column)] < 0).sum())
    if alone:
        text = "{alone:count} {of}s have no {column} and are groups of their own."
        note = notice("groups_alone", text, alone=alone, of=table.of, column=column)
        notices = (*notices, note)
    if table.of == "annotator":
        return replace(votes, annotator_groups=groups, annotator_group=code, notices=notices)
    _require_nested(votes, code, groups, where)
    return replace(votes, groups=groups, group=code, notices=notices)


def _require_nested(votes: Annotations, code: Ints, groups: Sequence[str], where: str) -> None:
    """Refuse groups across which those of the votes spread."""
    if votes.group is None:
        return
    inner = np.unique(np.stack([votes.group, code]), axis=1)[0]
    twice = np.flatnonzero(np.bincount(inner) > 1)
    if len(twice):
        some = listed((votes.groups or ())[int(g)] for g in twice)
        got = f"{len(twice):,} groups of the votes in several of its {len(groups):,} ({some})"
        do = "correct the table, or leave the group column of the votes out"
        raise InputError(where, got, "groups of the votes inside its own", do)


def _from_table(table: Table, of: str = "item", group: str | None = None) -> Attributes:
    name = ids_column(table, choice("attributes, of", of, OF))
    ids = code_ids(table, name, ours=of, of="row")
    items = ids.by_row
    require_unique(items, where=f"{table.name}, {of}s", do=f"keep one row per {of}")
    columns, levels, codes = [], [], []
    notices = [as_notice(said) for said in table.notices]
    for column in table.columns:
        if column == name:
            continue
        names, own, notes = _column(table, column, whole=column == group)
        notices += notes
        if own is not None:
            columns.append(column)
            levels.append(names)
            codes.append(own)
    if not columns:
        got, wanted = f"columns {listed(table.columns)}", f"an attribute beside the {of}"
        do = f"add a column such as sex, with at most {MOST_LEVELS} different values"
        raise InputError(table.name, got, wanted, do)
    return Attributes(
        items=items,
        columns=tuple(columns),
        levels=tuple(levels),
        codes=np.stack(codes),
        notices=tuple(notices),
        of=of,
    )


def _column(
    table: Table, column: str, *, whole: bool
) -> tuple[Names, Ints | None, list[Notice]]:
    """Levels and codes of one column; no codes when it is left out, as `whole` ones are not."""
    coded = without_missing(code_names(table, column))
    names = coded.names
    if _numeric(names) and len(names) > FEW_NUMBERS and not whole:
        return _quartiles(table, column)
    if not names or (len(names) > MOST_LEVELS and not whole):
        why = "has {values:count} different values" if names else "is empty"
        text, about = f"column {{column}} {why} and is left out.", (table.name,)
        values: dict[str, str | int] = {"column": repr(column), "values": len(names)}
        return (), None, [Notice("attribute_left_out", text, about, values)]
    order = sorted(names, key=float) if _numeric(names) else sorted(names)
    place = {name: number for number, name in enumerate(order)}
    lookup = np.array([*(place[name] for name in names), -1])
    return tuple(order), lookup[coded.codes], []


def _numeric(names: Sequence[str]) -> bool:
    try:
        return bool(names) and all(np.isfinite(float(one)) for one in names)
    except ValueError:
        return False


def _quartiles(table: Table, column: str) -> tuple[Names, Ints, list[Notice]]:
    """Cut numbers at their quartiles; a value on an edge belongs to the lower part."""
    values: Floats = numbers(table, column)
    known = np.isfinite(values)
    edges = np.unique(np.quantile(values[known], [0, 0.25, 0.5, 0.75, 1]))
    part = np.searchsorted(edges[1:-1], np.where(known, values, edges[0]), side="left")
    part = np.unique(part, return_inverse=True)[1]
    ends = [(values[known & (part == k)].min(), values[known & (part == k)].max())
            for k in range(part.max() + 1)]  # fmt: skip
    short = all(f"{high:g}" != f"{low:g}" for (_, high), (low, _) in pairwise(ends))
    word = "{:g}".format if short else repr
    names = tuple(
        word(float(low)) if low == high else f"{word(float(low))} to {word(float(high))}"
        for low, high in ends
    )
    notice = Notice(
        "attribute_quartiles",
        "column {column} is cut at its quartiles: {parts}.",
        (table.name,),
        {"column": repr(column), "parts": ", ".join(names)},
    )
    return names, np.where(known, part, -1).astype(np.int64), [notice]
