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
- ``.npy``: the array alone; ids stand one per line in ``NAME.ids.txt`` (or ``NAME_ids.txt``)
  beside it, and are numbers of rows, from 0, where there is no such file, which is said;
- ``.csv``, ``.tsv``, ``.parquet``: a column of ids, columns of numbers or one column of lists;
  ``label`` and ``split`` may be there; columns of words are left aside, which is said, and so
  are names of features that are not numbered like the others.

Ids that are there twice or hold the separator of pairs are refused, and so are numbers that are
not finite.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from string import digits
from typing import Any, Literal

import numpy as np

from equipoise.clean.collection import MISSING, SEPARATOR, Collection
from equipoise.clean.detector import Progress
from equipoise.clean.encoders import Encoder, GivenEmbeddings, choose_encoder, embed
from equipoise.clean.images import ARCHIVES, look_through
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
    Ints,
    Names,
    Notice,
    Notices,
    choice,
    listed,
    notice,
    require_unique,
    short_repr,
)

FOLDERS = "folders"
_SHOWN = 3  # examples of a notice
_SPELLINGS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("file name", lambda name: PurePosixPath(name).name),
    ("file name without ending", lambda name: PurePosixPath(name).stem),
)
COLUMNS = ("split", "part", "set", "fold")  # what the second column may be called
MOST_WHOLE = 2**53  # up to which a float is a whole number for sure
ENDINGS = (".npz", ".npy", *delimited.ENDINGS, *parquet.ENDINGS)
_VALUES = ("embeddings", "features", "embedding", "x")
_IDS = ("items", "ids", "index", "names", "item", "id")
_BESIDE = (".ids.txt", "_ids.txt")


@dataclass(frozen=True, eq=False, kw_only=True)
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

    items: Names
    embeddings: Floats | None = None
    labels: Names = ()
    split: Names = ()
    classes: Names = ()
    notices: Notices = ()

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


def words(table: Table, column: str) -> Names:
    """A column as text, empty where there is none."""
    coded = code_names(table, column)
    names = np.array([*coded.names, ""], dtype=object)
    names[:-1][is_missing(coded.names)] = ""
    return tuple(names[coded.codes].tolist())


def texts(table: Table, column: str) -> list[str]:
    """A column as it is spelt, empty where there is nothing."""
    codes, spelt = words_of(table, column)
    return [spelt[code] if code >= 0 else "" for code in codes]


def ids(table: Table, column: str) -> Names:
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


def item_column(table: Table) -> tuple[str, Notices]:
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
    progress: Progress | None = None,
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
            place, progress=progress and (lambda done, total: progress(done, 2 * total))
        )  # reading is the first half of the work
        if not len(data):
            raise _no_images(place, data.rejected)
        table = ItemTable(items=data.items)
    elif place.suffix.lower() in ARCHIVES:
        raise InputError(
            str(place), "an archive", "a folder of images", "unpack it, and give the folder"
        )
    else:
        table = read_features(place)
        data = Collection(items=table.items, embeddings=table.embeddings)
    if by_folder or split:
        table = _facts_by_folders(data.items, table, labels=by_folder, split=bool(split))
    facts = table if by_folder or labels is None else _read_labels(labels, data.items, table)
    data = _with_labels(data, facts)
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


def _facts_by_folders(
    items: Names, table: ItemTable, *, labels: bool, split: bool
) -> ItemTable:
    """Parts from the first sub-folders, labels from the first, or second, ones."""
    above = [PurePosixPath(name).parts[:-1] for name in items]
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
    return replace(
        table,
        labels=tuple(parts[depth] if len(parts) > depth else "" for parts in above)
        if labels
        else table.labels,
        classes=() if labels else table.classes,
        split=tuple(parts[0] if parts else "" for parts in above) if split else table.split,
    )


def _read_labels(
    source: AnyPath | Mapping[str, str], items: Names, table: ItemTable
) -> ItemTable:
    """What a file of labels, or a mapping, tells of the items."""
    if isinstance(source, Mapping):
        labels = ItemTable(
            items=tuple(map(str, source)), labels=tuple(map(str, source.values()))
        )
        name = "labels"
    else:
        labels, name = _label_table(source), str(source)
    row, notices = _rows_of_items(labels.items, items, where=name)
    left = len(labels.items) - sum(place >= 0 for place in row)
    if left:
        used = set(row)
        unknown = [item for place, item in enumerate(labels.items) if place not in used]
        text = "{labels:count} labels are of items that are not there ({names:names})."
        shown = tuple(unknown[:_SHOWN])
        notices = (*notices, notice("labels_unknown", text, labels=left, names=shown))
    return ItemTable(
        items=items,
        labels=tuple(labels.labels[place] if place >= 0 else "" for place in row),
        split=tuple(labels.split[place] if place >= 0 else "" for place in row)
        if labels.split and not table.split
        else table.split,
        notices=(*table.notices, *labels.notices, *notices),
    )


def _label_table(path: AnyPath) -> ItemTable:
    table = read_table(path)
    split = column_like(table, "split")
    columns = {name: column for name, column in table.columns.items() if name != split}
    headers = annotation_headers(replace(table, columns=columns), VoteFormat())
    columns_by_role = headers.columns
    item = columns_by_role["item"] if "item" in columns_by_role else item_column(table)[0]
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
    return ItemTable(
        items=names,
        labels=words(table, label),
        split=words(table, split) if split else (),
        notices=(*table.notices, *headers.notices),
    )


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


def _with_labels(data: Collection, facts: ItemTable) -> Collection:
    """Code labels and parts, and say what is odd about them."""
    notices = [*data.notices, *facts.notices]
    if facts.labels:
        classes = facts.classes or _sorted_names(set(facts.labels) - {""})
        if not classes:
            raise InputError("labels", "none", "a label for some items", "check the file")
        code = {"": MISSING, **{name: number for number, name in enumerate(classes)}}
        codes = np.array([code[label] for label in facts.labels], dtype=np.int64)
        data = replace(data, labels=codes, classes=tuple(classes))
        notices += _label_notices(codes, tuple(classes))
    if any(facts.split):
        data = replace(data, split=facts.split)
    return replace(data, notices=tuple(notices))


def _sorted_names(names: set[str]) -> Names:
    """Classes by name, or by number where all are whole numbers."""
    whole = all(name.isascii() and name.isdecimal() for name in names)
    return tuple(sorted(names, key=lambda name: (int(name) if whole else 0, name)))


def _label_notices(codes: Ints, classes: Names) -> list[Notice]:
    notices = []
    missing = int((codes == MISSING).sum())
    if missing:
        text = "{missing:count} of {items:count} items have no label."
        notices.append(notice("labels_missing", text, missing=missing, items=len(codes)))
    members = Counter(codes.tolist())
    single = tuple(name for number, name in enumerate(classes) if members[number] == 1)
    if single:
        text = "Classes with a single member have nothing to compare it with: {classes:names}."
        notices.append(notice("class_single", text, classes=single))
    return notices


def _with_embeddings(
    data: Collection, encoder: Encoder | str, cache: AnyPath | None, progress: Progress | None
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
        progress=progress and (lambda done, total: progress(seen + done, seen + total)),
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
    columns = [texts(table, table.required(name, {})) for name in ("item", named)]
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
