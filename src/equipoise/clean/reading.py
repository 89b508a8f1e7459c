"""From a user's files to a `Collection`.

A folder of images: an item is the path of a file inside it. A file of embeddings: an item is an
id. Whatever comes from several files is put together by item,
never by position. Rules:

- labels are ``item,label[,split]`` in CSV, TSV or Parquet, a mapping, or the names of the first
  sub-folders (``folders``); items of a file of labels are paths; where none of them is, file
  names count, and else file names without ending, if they are unique;
- an item without label stays, as one that has none; a label of an item that is not there is
  left aside; both are counted in a notice; so is a class with one member;
- parts of the data (train, test) come from the column ``split``, or from the first sub-folders
  (``split="folders"``), and labels by folders then from the second;
- images that are the same, or are linked to, all stay: they are near duplicates;
- a file that cannot be used is listed and never stops the rest; a folder without a single image
  is refused.

Parts: which part of the data, such as train or test, each item belongs to, from a table.

Embeddings in a file, with the ids of their items: rows mean nothing, ids everything.

- ``.npz``: ``embeddings`` (or ``features``), shape (items, features), and ``items`` (or
  ``ids``, ``index``, ``names``); ``labels`` (names, or codes of ``classes``) and ``split`` may
  be there;
- ``.npy``: the array alone; ids are numbers of rows, from 0, which is said;
- ``.csv``, ``.tsv``, ``.parquet``: a column of ids, columns of numbers or one column of lists;
  ``label`` and ``split`` may be there; columns of words are left aside, which is said, and so
  are names of features that are not numbered like the others.

Ids that are there twice or hold the separator of pairs are refused, and so are numbers that are
not finite.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from string import digits
from typing import Any, Literal, NamedTuple

import numpy as np

from equipoise.clean.collection import MISSING, Collection
from equipoise.clean.detector import silent
from equipoise.clean.encoders import Encoder, GivenEmbeddings, choose_encoder, embed
from equipoise.clean.images import ARCHIVES, look_through
from equipoise.read.files import (
    AnyPath,
    Content,
    content,
    read_array,
    read_arrays,
)
from equipoise.read.headers import annotation_headers, ids_column, plain
from equipoise.read.options import VoteFormat
from equipoise.read.sources import TABULAR, table_of
from equipoise.read.tables import (
    Table,
    code_ids,
    code_names,
    is_missing,
    numbers,
    numbers_or_none,
    word_number,
    words_of,
)
from equipoise.types import (
    Floats,
    InputError,
    Names,
    Notices,
    Progress,
    choice,
    listed,
    notice,
    require_unique,
)

FOLDERS = "folders"
_SHOWN = 3  # examples of a notice
_SPELLINGS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("file name", lambda name: PurePosixPath(name).name),
    ("file name without ending", lambda name: PurePosixPath(name).stem),
)
COLUMNS = ("split", "part", "set", "fold")  # what the second column may be called
MOST_WHOLE = 2**53  # up to which a float is a whole number for sure
ENDINGS = (".npz", ".npy", *TABULAR)
_VALUES = ("embeddings", "features", "embedding", "x")
_IDS = ("items", "ids", "index", "names", "item", "id")


def read_features(path: AnyPath) -> Collection:
    """Read embeddings with the ids of their items, and labels and parts that stand there."""
    file = content(path)
    try:
        if file.suffix == ".npz":
            return _read_archive(file)
        if file.suffix == ".npy":
            return _read_array(file)
        return _read_columns(file)
    except InputError as error:
        where = error.where.replace("collection", file.name, 1)
        raise InputError(where, error.got, error.expected, error.do) from error


def read_table(path: AnyPath) -> Table:
    """Read delimited text or Parquet as a table."""
    return table_of(content(path))


def words(table: Table, column: str | None) -> Names:
    """A column of names, empty where a word stands for none; nothing without a column."""
    return () if column is None else _without_missing(code_names(table, column).by_row)


def _without_missing(names: Sequence[str]) -> Names:
    gone = is_missing(names)
    return tuple("" if no else name for name, no in zip(names, gone, strict=True))


def ids(table: Table, column: str) -> Names:
    """A column of ids as text; a row without one is refused."""
    return code_ids(table, column, ours="id", of="item").by_row


def _column_like(table: Table, name: str) -> str | None:
    """The column of a name, whatever its case."""
    return next((column for column in table.columns if plain(column) == name), None)


def _read_archive(file: Content) -> Collection:
    arrays = {plain(name): array for name, array in read_arrays(file).items()}
    odd = [name for name, array in arrays.items() if array.dtype.kind not in "biufSU"]
    if odd:
        raise InputError(
            f"{file.name}, array {odd[0]!r}",
            f"{arrays[odd[0]].dtype}",
            "numbers or text",
            "save the array again",
        )
    data = Collection(
        items=_texts(_first_array(arrays, _IDS, file.name)),
        embeddings=_first_array(arrays, _VALUES, file.name),
        split=_texts(arrays.get("split", ())),
    )
    if "labels" not in arrays:
        return data
    classes = _texts(arrays.get("classes", ()))
    return with_labels(data, _labels(arrays["labels"], classes, file.name), classes)


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


def _texts(values: Any) -> Names:
    flat = np.asarray(values).ravel()
    if np.issubdtype(flat.dtype, np.floating):
        whole = (np.abs(flat) < MOST_WHOLE) & (flat == np.rint(flat))  # False for nan
        flat = flat.astype(np.int64) if whole.all() else flat
    return tuple(str(value) for value in flat.tolist())


def _labels(values: Any, classes: Sequence[str], where: str) -> Names:
    """Labels as names; codes below 0 are none."""
    flat = np.asarray(values).ravel()
    if not np.issubdtype(flat.dtype, np.number):
        return _without_missing(_texts(flat))
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


def _read_array(file: Content) -> Collection:
    values = read_array(file)
    text = "{file} has no ids: items are called by their rows, from 0."
    return Collection(
        items=tuple(map(str, range(len(values) if np.ndim(values) else 0))),
        embeddings=values,
        notices=(notice("ids_are_rows", text, file=file.name),),
    )


def _read_columns(file: Content) -> Collection:
    table = table_of(file, ENDINGS)
    item, notices = _item_column(table), table.notices
    label, split = _column_like(table, "label"), _column_like(table, "split")
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
    data = Collection(
        items=ids(table, item),
        embeddings=np.column_stack(columns),
        split=words(table, split),
        notices=notices,
    )
    return with_labels(data, words(table, label))


def _odd_features(names: Sequence[str]) -> Notices:
    """Say what the features are where some are not numbered like most."""
    stems = [name.rstrip(digits) if name[-1:].isdigit() else None for name in names]
    common = Counter(stem for stem in stems if stem is not None).most_common(1)
    same = common[0][0] if common and common[0][1] > 1 else None
    odd = tuple(
        name for name, stem in zip(names, stems, strict=True) if stem is None or stem != same
    )
    if not odd or len(names) == 1:
        return ()
    text = (
        "{features:count} columns of numbers are the features; those that are not numbered "
        "like the others ({columns:names}) may be none: take them out of the file."
    )
    return (notice("columns_features", text, features=len(names), columns=odd),)


def _item_column(table: Table) -> str:
    """The column of ids, by our name or a word for it."""
    try:
        return ids_column(table, "item")
    except InputError as error:
        do = "name the column of ids 'item'"
        raise InputError(error.where, error.got, error.expected, do) from error


def _column_of_numbers(table: Table, name: str) -> Floats | None:
    """A column of numbers, of lists of numbers, or of text that is numbers; else None."""
    from pyarrow import types

    kind = table.columns[name].type
    if types.is_list(kind) or types.is_fixed_size_list(kind) or types.is_large_list(kind):
        return _column_of_lists(table, name)
    values = numbers_or_none(table, name)
    if values is None:
        spelt = (word_number(word) for word in words_of(table, name)[1])
        if any(value is not None and not np.isnan(value) for value in spelt):
            numbers(table, name)  # which refuses the word that is none
    if values is None or np.isnan(values).all():
        return None
    return values.astype(np.float32)[:, None]


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


def read_collection(
    path: AnyPath,
    *,
    labels: AnyPath | Mapping[str, str] | None = None,
    split: Literal["folders"] | None = None,
    encoder: Encoder | str | None = None,
    cache: AnyPath | None = None,
    progress: Progress = silent,
) -> Collection:
    """Read a folder of images, or a file of embeddings, with its labels.

    Parameters
    ----------
    path
        A folder, or a file that ends in ``.npz``, ``.npy``, ``.csv``, ``.tsv`` or ``.parquet``.
    labels
        A file, a mapping, or ``"folders"``; they count before labels beside embeddings.
    split
        ``"folders"`` takes parts of the data from the first sub-folders.
    encoder
        Embeds images; its name will do. None leaves embeddings out. Embeddings in `path` need
        none.
    cache
        Folder in which embeddings of images are kept.
    progress
        Told how many images are read and encoded, of how many.
    """
    if split is not None:
        choice("split", split, (FOLDERS,))
    place = Path(path)
    by_folder = isinstance(labels, str | Path) and str(labels) == FOLDERS
    if place.is_dir():
        data = look_through(
            place, progress=lambda done, total: progress(done, 2 * total)
        )  # reading is the first half of the work
        if not len(data):
            raise _no_images(place, data.rejected)
    elif place.suffix.lower() in ARCHIVES:
        raise InputError(
            str(place), "an archive", "a folder of images", "unpack it, and give the folder"
        )
    else:
        data = read_features(place)
    if by_folder or split:
        data = _by_folders(data, labels=by_folder, split=bool(split))
    if labels is not None and not by_folder:
        data = _by_table(data, labels)
    data = replace(data, notices=(*data.notices, *_label_notices(data)))
    if encoder is None or data.images is None:
        return data
    return _with_embeddings(data, encoder, cache, progress)


def _no_images(folder: Path, rejected: Sequence[InputError]) -> InputError:
    if not rejected:
        return InputError(str(folder), "no image", "a folder with images", "check the path")
    first = rejected[0]
    return InputError(
        str(folder),
        f"no image that can be used, for example {first.where} ({first.got})",
        "a folder with images",
        first.do,
    )


def _by_folders(data: Collection, *, labels: bool, split: bool) -> Collection:
    """Parts from the first sub-folders, labels from the first, or second, ones."""
    above = [PurePosixPath(name).parts[:-1] for name in data.items]
    depth = int(split)
    if split and not any(above):
        raise InputError(
            "split by folders",
            "no image in a sub-folder",
            "sub-folders such as train and test",
            "leave it out, or give a column 'split' with the labels",
        )
    if labels and not any(len(parts) > depth for parts in above):
        raise InputError(
            "labels by folders",
            "no image in a sub-folder" + (" of a part" if split else ""),
            "a sub-folder per class",
            "give a file of labels",
        )
    if labels:
        named = tuple(parts[depth] if len(parts) > depth else "" for parts in above)
        data = with_labels(data, named)
    parts = tuple(parts[0] if parts else "" for parts in above)
    return replace(data, split=parts) if split else data


def _by_table(data: Collection, source: AnyPath | Mapping[str, str]) -> Collection:
    """Labels, and parts where there are none yet, of a file or a mapping."""
    where = "labels" if isinstance(source, Mapping) else str(source)
    if isinstance(source, Mapping):
        table = _LabelTable(tuple(map(str, source)), tuple(map(str, source.values())))
    else:
        table = _label_table(source)
    row, notices = _rows_of_items(table.items, data.items, where=where)
    left = len(table.items) - sum(place >= 0 for place in row)
    if left:
        used = set(row)
        unknown = [item for place, item in enumerate(table.items) if place not in used]
        text = "{labels:count} labels are of items that are not there ({names:names})."
        shown = tuple(unknown[:_SHOWN])
        notices = (*notices, notice("labels_unknown", text, labels=left, names=shown))
    labels, split = (
        tuple(column[place] if place >= 0 else "" for place in row) if column else ()
        for column in (table.labels, table.split)
    )
    split = data.split or (split if any(split) else ())
    notices = (*data.notices, *table.notices, *notices)
    return with_labels(replace(data, split=split, notices=notices), labels)


class _LabelTable(NamedTuple):
    """Labels and parts of some items, empty text for none."""

    items: Names
    labels: Names
    split: Names = ()
    notices: Notices = ()


def _label_table(path: AnyPath) -> _LabelTable:
    table = read_table(path)
    split = _column_like(table, "split")
    columns = {name: column for name, column in table.columns.items() if name != split}
    headers = annotation_headers(replace(table, columns=columns), VoteFormat())
    item = headers.columns.get("item") or _item_column(table)
    label = table.column_of("label", headers.columns)
    if label is None:
        raise InputError(
            f"{table.name}, columns",
            f"{listed(table.columns, most=8)}",
            "columns item and label",
            "name the column of labels 'label'",
        )
    names = ids(table, item)
    require_unique(names, where=f"{table.name}, items", do="give every item one label")
    notices = (*table.notices, *headers.notices)
    return _LabelTable(names, words(table, label), words(table, split), notices)


def _rows_of_items(
    names: Sequence[str], items: Sequence[str], *, where: str
) -> tuple[list[int], Notices]:
    """The row of every item in a file, -1 for none; by path, or else by file name."""
    plain = [str(PurePosixPath(name.replace("\\", "/"))) for name in names]
    row = {name: place for place, name in enumerate(plain)}
    if any(item in row for item in items):
        return [row.get(item, -1) for item in items], ()
    for what, spelt in _SPELLINGS:
        row = {spelt(name): place for place, name in enumerate(plain)}
        ours = [spelt(item) for item in items]
        unique = len(set(ours)) == len(ours) and len(row) == len(plain)
        if unique and any(name in row for name in ours):
            text = "Items of {file} are found by {what}."
            by_name = notice("items_by_name", text, file=Path(where).name, what=what)
            return [row.get(name, -1) for name in ours], (by_name,)
    raise InputError(
        where,
        f"none of its items is there, for example {names[0]!r}",
        f"items such as {items[0]!r}",
        "write paths inside the folder, or ids, as they are",
    )


def with_labels(data: Collection, labels: Names, classes: Names = ()) -> Collection:
    """The same with labels by name, empty text for none; without labels, as it was."""
    if not labels:
        return data
    classes = classes or _sorted_names(set(labels) - {""})
    if not classes:
        raise InputError("labels", "none", "a label for some items", "check the file")
    code = {"": MISSING, **{name: number for number, name in enumerate(classes)}}
    codes = np.array([code[label] for label in labels], dtype=np.int64)
    return replace(data, labels=codes, classes=classes)


def _sorted_names(names: set[str]) -> Names:
    """Classes by name, or by number where all are whole numbers."""
    whole = all(name.isascii() and name.isdecimal() for name in names)
    return tuple(sorted(names, key=lambda name: (int(name) if whole else 0, name)))


def _label_notices(data: Collection) -> Notices:
    """What is odd about the labels."""
    if data.labels is None:
        return ()
    members, notices = Counter(data.labels.tolist()), []
    if members[MISSING]:
        text = "{missing:count} of {items:count} items have no label."
        number = len(data)
        notices.append(notice("labels_missing", text, missing=members[MISSING], items=number))
    single = tuple(name for code, name in enumerate(data.classes) if members[code] == 1)
    if single:
        text = "Classes with a single member have nothing to compare it with: {classes:names}."
        notices.append(notice("class_single", text, classes=single))
    return tuple(notices)


def _with_embeddings(
    data: Collection, encoder: Encoder | str, cache: AnyPath | None, progress: Progress
) -> Collection:
    """Embed the images; embeddings that are given are put to their items by id."""
    chosen = choose_encoder(encoder) if isinstance(encoder, str) else encoder
    if isinstance(chosen, GivenEmbeddings) and chosen.items:
        row, notices = _rows_of_items(chosen.items, data.items, where="embeddings")
        lacking = [item for item, place in zip(data.items, row, strict=True) if place < 0]
        if lacking:
            raise InputError(
                f"embeddings, item {lacking[0]!r}",
                "none" + (f" (one of {len(lacking)} such items)" if len(lacking) > 1 else ""),
                "an embedding for every image",
                "embed these images, or take them out of the folder",
            )
        values = np.asarray(chosen.array)[row]
        return replace(data, embeddings=values, notices=(*data.notices, *notices))
    assert data.images is not None
    seen = len(data) + len(data.rejected)
    embedding = embed(
        data.images,
        chosen,
        cache=cache,
        progress=lambda done, total: progress(seen + done, seen + total),
    )
    notices = (*data.notices, *embedding.notices)
    return replace(data, embeddings=embedding.values, notices=notices)


def read_parts(path: AnyPath, items: Sequence[str]) -> Names:
    """The part of every item; rows of other items are passed over.

    Parameters
    ----------
    path
        A table with a column `item` and one called split, part, set or fold.
    """
    table = read_table(path)
    named = next((name for name in COLUMNS if name in table.columns), "split")
    columns = [code_names(table, table.required(name, {})).by_row for name in ("item", named)]
    part_of: dict[str, str] = {}
    for row, (item, part) in enumerate(zip(*columns, strict=True)):
        if part_of.setdefault(item, part) != part or not part:
            raise InputError(
                f"{table.where(row)}, item {item!r}",
                f"{part!r} after {part_of[item]!r}" if part else "nothing",
                "one part per item",
                "correct the row",
            )
    missing = [item for item in items if item not in part_of]
    if missing:
        raise InputError(
            f"{table.name}",
            f"no part for {listed(missing)}",
            f"a row for each of the {len(items):,} items",
            "add them; items are called as in the lists of a scan",
        )
    return tuple(part_of[item] for item in items)
