"""Embeddings in a file, with the ids of their items: rows mean nothing, ids everything.

- ``.npz``: ``embeddings`` (or ``features``), shape (items, features), and ``items`` (or
  ``ids``, ``index``, ``names``); ``labels`` (names, or codes of ``classes``) and ``split`` may
  be there;
- ``.npy``: the array alone; ids stand one per line in ``NAME.ids.txt`` (or ``NAME_ids.txt``)
  beside it, and are numbers of rows, from 0, where there is no such file, which is said;
- ``.csv``, ``.tsv``, ``.parquet``: a column of ids, columns of numbers or one column of lists;
  ``label`` and ``split`` may be there; columns of words are left aside, which is said, and so
  are names of features that are not numbered like the others.

Ids that are there twice or hold the separator of pairs are refused, and so are numbers that are
not finite.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from string import digits
from typing import Any

import numpy as np

from equipoise.clean.pairs import SEPARATOR
from equipoise.read import delimited, parquet
from equipoise.read.files import (
    AnyPath,
    Content,
    content,
    read_array,
    read_arrays,
    unknown_ending,
)
from equipoise.read.headers import annotation_headers, is_named_like, plain
from equipoise.read.options import VoteFormat
from equipoise.read.tables import Table, code_ids, code_names, is_missing, numbers, words_of
from equipoise.types.arrays import Floats, InputError, listed, require_unique, short_repr
from equipoise.types.notices import Notice, notice

MOST_WHOLE = 2**53  # up to which a float is a whole number for sure
ENDINGS = (".npz", ".npy", *delimited.ENDINGS, *parquet.ENDINGS)
_VALUES = ("embeddings", "features", "embedding", "x")
_IDS = ("items", "ids", "index", "names", "item", "id")
_BESIDE = (".ids.txt", "_ids.txt")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ItemTable:
    """What a file tells of items.

    Attributes
    ----------
    items
        Ids.
    embeddings
        Shape (items, features); None where the file has none.
    labels, split
        By item, empty text for none; empty where the file has none.
    classes
        In their order, where the file states it.
    notices
        What a reader should know.
    """

    items: tuple[str, ...]
    embeddings: Floats | None = None
    labels: tuple[str, ...] = ()
    split: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()

    __repr__ = short_repr


def read_features(path: AnyPath) -> ItemTable:
    """Read embeddings with the ids of their items."""
    file = content(path)
    if file.suffix == ".npz":
        table = _read_archive(file)
    elif file.suffix == ".npy":
        table = _read_array_with_ids(file, Path(path))
    elif file.suffix in ENDINGS:
        table = _read_columns(file)
    else:
        raise unknown_ending(file, ENDINGS)
    _require_item_names(table.items, where=file.name)
    assert table.embeddings is not None
    bad = np.flatnonzero(~np.isfinite(table.embeddings).all(axis=1))
    if len(bad):
        more = f" (one of {len(bad)} such items)" if len(bad) > 1 else ""
        raise InputError(
            f"{file.name}, item {table.items[bad[0]]!r}",
            f"an embedding that is not finite{more}",
            "finite numbers",
            "embed these images again, or leave them out",
        )
    return table


def _require_item_names(items: Sequence[str], *, where: str) -> None:
    """Refuse ids that are there twice, are empty, or hold the separator of pairs."""
    require_unique(items, where=f"{where}, ids", do="give every item an id of its own")
    for name in items:
        if SEPARATOR in name or not name:
            raise InputError(
                f"{where}, id {name!r}",
                f"holds {SEPARATOR!r}, which stands between the items of a pair"
                if name
                else "an empty id",
                "an id without it",
                "rename the item",
            )


def read_table(path: AnyPath) -> Table:
    """Read delimited text or Parquet as a table."""
    return _table(content(path))


def _table(file: Content) -> Table:
    if file.suffix in delimited.ENDINGS:
        return delimited.read_delimited(file)
    if file.suffix in parquet.ENDINGS:
        return parquet.parquet_table(file, parquet.read_arrow(file))
    raise unknown_ending(file, (*delimited.ENDINGS, *parquet.ENDINGS))


def words(table: Table, column: str) -> tuple[str, ...]:
    """A column as text, empty where there is none."""
    coded = code_names(table, column)
    names = np.array([*coded.names, ""], dtype=object)
    names[:-1][is_missing(coded.names)] = ""
    return tuple(names[coded.codes].tolist())


def texts(table: Table, column: str) -> list[str]:
    """A column as it is spelt, empty where there is nothing."""
    codes, spelt = words_of(table, column)
    return [spelt[code] if code >= 0 else "" for code in codes]


def ids(table: Table, column: str) -> tuple[str, ...]:
    """A column of ids as text; a row without one is refused."""
    coded = code_ids(table, column, ours="id", of="item")
    return tuple(coded.names[code] for code in coded.codes)


def column_like(table: Table, name: str) -> str | None:
    """The column of a name, whatever its case."""
    return next((column for column in table.columns if plain(column) == name), None)


def _read_archive(file: Content) -> ItemTable:
    arrays = {plain(name): array for name, array in read_arrays(file).items()}
    odd = [name for name, array in arrays.items() if array.dtype.kind not in "biufSU"]
    if odd:
        raise InputError(
            f"{file.name}, array {odd[0]!r}",
            f"{arrays[odd[0]].dtype}",
            "numbers or text",
            "save the array again",
        )
    values = _first_array(arrays, _VALUES, file.name)
    names = _first_array(arrays, _IDS, file.name)
    items = _texts(names)
    classes = _texts(arrays["classes"]) if "classes" in arrays else ()
    labels = _labels(arrays["labels"], classes, file.name) if "labels" in arrays else ()
    split = _texts(arrays["split"]) if "split" in arrays else ()
    for name, texts in (("labels", labels), ("split", split)):
        if texts and len(texts) != len(items):
            raise InputError(
                f"{file.name}, {name}",
                f"{len(texts)} of them",
                f"one per item ({len(items)})",
                "save them again",
            )
    return ItemTable(
        items=items,
        embeddings=_matrix(values, len(items), file.name),
        labels=labels,
        split=split,
        classes=classes,
    )


def _first_array(arrays: Mapping[str, Any], names: Sequence[str], where: str) -> Any:
    for name in names:
        if name in arrays:
            return arrays[name]
    raise InputError(
        where,
        f"arrays {listed(arrays, most=8)}",
        f"one named {' or '.join(names[:3])}",
        "save the embeddings as 'embeddings' and their ids as 'items'",
    )


def _texts(values: Any) -> tuple[str, ...]:
    flat = np.asarray(values).ravel()
    if np.issubdtype(flat.dtype, np.floating):
        whole = (np.abs(flat) < MOST_WHOLE) & (flat == np.rint(flat))  # False for nan
        flat = flat.astype(np.int64) if whole.all() else flat
    return tuple(str(value) for value in flat.tolist())


def _labels(values: Any, classes: Sequence[str], where: str) -> tuple[str, ...]:
    """Labels as names; codes below 0 are none."""
    flat = np.asarray(values).ravel()
    if not np.issubdtype(flat.dtype, np.number):
        named = _texts(flat)
        gone = is_missing(named)
        return tuple("" if no else label for label, no in zip(named, gone, strict=True))
    codes = flat[np.isfinite(flat)]
    odd = (codes != np.rint(codes)) | (np.abs(codes.astype(np.float64)) >= MOST_WHOLE)
    if odd.any() or (classes and codes.max(initial=0) >= len(classes)):
        raise InputError(
            f"{where}, labels",
            f"codes up to {codes.max():g}",
            f"whole numbers below {len(classes)}" if classes else "whole numbers, or names",
            "name every class in 'classes'",
        )
    whole = np.where(np.isfinite(flat), flat, -1).astype(np.int64).tolist()
    return tuple("" if code < 0 else classes[code] if classes else str(code) for code in whole)


def _matrix(values: Any, items: int, where: str) -> Floats:
    matrix = np.asarray(values)
    if matrix.ndim != 2 or len(matrix) != items or not np.issubdtype(matrix.dtype, np.number):
        raise InputError(
            f"{where}, embeddings",
            f"{matrix.dtype} of shape {matrix.shape}",
            f"numbers of shape ({items}, features)",
            "give one row per id",
        )
    return matrix if matrix.dtype == np.float64 else matrix.astype(np.float32)


def _read_array_with_ids(file: Content, path: Path) -> ItemTable:
    values = read_array(file)
    beside = [path.with_name(f"{path.stem}{ending}") for ending in _BESIDE]
    present = [path for path in beside if path.is_file()]
    if present:
        text = content(present[0]).data.decode("utf-8-sig", errors="replace")
        items = tuple(line.strip() for line in text.splitlines() if line.strip())
        return ItemTable(items=items, embeddings=_matrix(values, len(items), file.name))
    rows = len(values) if np.ndim(values) else 0
    rows_notice = notice(
        "ids_are_rows",
        "{file} has no ids beside it ({beside}): items are called by their rows, from 0.",
        file=file.name,
        beside=beside[0].name,
    )
    items = tuple(str(row) for row in range(rows))
    return ItemTable(
        items=items, embeddings=_matrix(values, rows, file.name), notices=(rows_notice,)
    )


def _read_columns(file: Content) -> ItemTable:
    table = _table(file)
    item, notices = item_column(table)
    label, split = column_like(table, "label"), column_like(table, "split")
    rest = [name for name in table.columns if name not in (item, label, split)]
    numbers_of = {name: _column_of_numbers(table, name) for name in rest}
    columns = [matrix for matrix in numbers_of.values() if matrix is not None]
    if not columns:
        raise InputError(
            table.name,
            f"no column of numbers among {listed(table.columns, most=8)}",
            "columns of numbers",
            "give the features of an embedding",
        )
    aside = [name for name, matrix in numbers_of.items() if matrix is None]
    if aside:
        text = "Columns of words are left aside: {columns:names}."
        notices = (*notices, notice("columns_aside", text, columns=tuple(aside)))
    notices = (*notices, *_odd_features([name for name in rest if name not in aside]))
    return ItemTable(
        items=ids(table, item),
        embeddings=np.column_stack(columns),
        labels=words(table, label) if label else (),
        split=words(table, split) if split else (),
        notices=(*table.notices, *notices),
    )


def _odd_features(names: Sequence[str]) -> tuple[Notice, ...]:
    """Say what the features are where some are not numbered like most."""
    numbered = {name: name.rstrip(digits) for name in names if name[-1:].isdigit()}
    common, times = next(iter(Counter(numbered.values()).most_common(1)), ("", 0))
    same = [name for name, stem in numbered.items() if stem == common and times > 1]
    odd = tuple(name for name in names if name not in same)
    if not odd or len(names) == 1:
        return ()
    if not same:
        text = "{features:count} columns of numbers are the features: {columns:names}."
        return (notice("columns_features", text, features=len(names), columns=odd),)
    text = (
        "{features:count} columns of numbers are the features: {first} to {last}, and also "
        "{columns:names}; take those out of the file that are no features."
    )
    return (
        notice("columns_features", text, features=len(names), first=same[0], last=same[-1],
               columns=odd),
    )  # fmt: skip


def item_column(table: Table) -> tuple[str, tuple[Notice, ...]]:
    """The column of ids, by our name or a word for it."""
    like = {
        name: column for name, column in table.columns.items() if is_named_like(name, "item")
    }
    headers = annotation_headers(replace(table, columns=like), VoteFormat())
    column = headers.columns.get("item", "item")
    if column not in table.columns:
        raise InputError(
            f"{table.name}, columns",
            f"{listed(table.columns, most=8)}",
            "a column 'item' of ids",
            "name the column of ids 'item'",
        )
    return column, headers.notices


def _column_of_numbers(table: Table, name: str) -> Floats | None:
    """A column of numbers, of lists of numbers, or of text that is numbers; else None."""
    import pyarrow as pa
    from pyarrow import types

    column = table.columns[name]
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if types.is_list(kind) or types.is_fixed_size_list(kind) or types.is_large_list(kind):
        return _column_of_lists(table, name)
    if types.is_integer(kind) or types.is_floating(kind):
        return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float32)[:, None]
    if not (types.is_string(kind) or types.is_large_string(kind)):
        return None
    try:
        return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float32)[:, None]
    except pa.ArrowInvalid:
        pass
    texts = [text for text in code_names(table, name).names if not is_missing([text])[0]]
    if not any(_is_number(text) for text in texts):
        return None
    return np.asarray(numbers(table, name), dtype=np.float32)[:, None]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _column_of_lists(table: Table, name: str) -> Floats:
    """A column of lists of one length."""
    rows = [np.asarray(values, dtype=np.float32) for values in table.columns[name].to_pylist()]
    sizes = np.array([row.size for row in rows])
    odd = np.flatnonzero(sizes != sizes[0])
    if len(odd) or not sizes[0]:
        row = odd[0] if len(odd) else 0
        raise InputError(
            table.where(row),
            f"{sizes[row]} numbers in {name!r}",
            f"{sizes[0]}, as in the first row" if sizes[0] else "a list of numbers",
            "embed this item again, or leave it out",
        )
    return np.stack(rows)
