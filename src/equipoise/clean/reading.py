"""From a user's files to a `Collection`.

A folder of images: an item is the path of a file inside it. A file of embeddings: an item is an
id (`equipoise.clean.features`). Whatever comes from several files is put together by item,
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
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal

import numpy as np

from equipoise.clean.collection import MISSING, Collection
from equipoise.clean.detector import Progress
from equipoise.clean.encoders import Encoder, GivenEmbeddings, choose_encoder, embed
from equipoise.clean.features import (
    ItemTable,
    column_like,
    ids,
    item_column,
    read_features,
    read_table,
    texts,
    words,
)
from equipoise.clean.images import ARCHIVES, FileImages, look_through
from equipoise.read.delimited import read_delimited
from equipoise.read.files import AnyPath, content
from equipoise.read.headers import annotation_headers
from equipoise.read.options import VoteFormat
from equipoise.types.arrays import InputError, Ints, choice, listed, require_unique, short_repr
from equipoise.types.notices import Notice, notice

FOLDERS = "folders"
_SHOWN = 3  # examples of a notice
_SPELLINGS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("file name", lambda name: PurePosixPath(name).name),
    ("file name without ending", lambda name: PurePosixPath(name).stem),
)
COLUMNS = ("split", "part", "set", "fold")  # what the second column may be called


@dataclass(frozen=True, slots=True, eq=False)
class CollectionRead:
    """A collection, and what was not taken into it.

    Attributes
    ----------
    collection
        What is looked through.
    rejected
        Files that cannot be used, each with a reason.
    notices
        What a reader should know.
    """

    collection: Collection
    rejected: tuple[InputError, ...] = ()
    notices: tuple[Notice, ...] = ()

    __repr__ = short_repr


def read_collection(
    path: AnyPath,
    *,
    labels: AnyPath | Mapping[str, str] | None = None,
    split: Literal["folders"] | None = None,
    encoder: Encoder | str | None = None,
    cache: AnyPath | None = None,
    progress: Progress | None = None,
) -> CollectionRead:
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
        reading, table = _read_folder(place, progress)
    else:
        reading, table = _read_embeddings(place)
    items = reading.collection.items
    if by_folder or split:
        table = _facts_by_folders(items, table, labels=by_folder, split=bool(split))
    facts = table if by_folder or labels is None else _read_labels(labels, items, table)
    reading = _with_labels(reading, facts)
    if encoder is None or reading.collection.images is None:
        return reading
    return _with_embeddings(reading, encoder, cache, progress)


def _read_folder(place: Path, progress: Progress | None) -> tuple[CollectionRead, ItemTable]:
    """Images of a folder; nothing is told of them."""
    folder = look_through(
        place, progress=progress and (lambda done, total: progress(done, 2 * total))
    )  # reading is the first half of the work
    if not folder.paths:
        raise _no_images(place, folder.rejected)
    texts = (
        ("files_rejected", "cannot be used, see the list.", len(folder.rejected)),
        (
            "first_frame",
            "have several frames or pages; the first one counts.",
            len(folder.several_frames),
        ),
        ("no_images", "are no images and left aside.", folder.other),
    )
    notices = tuple(
        notice(code, f"{{files:count}} files {text}", files=files)
        for code, text, files in texts
        if files
    )
    images = FileImages(place.resolve(), folder.paths)
    collection = Collection(items=folder.paths, images=images)
    return CollectionRead(collection, folder.rejected, notices), ItemTable(items=folder.paths)


def _no_images(place: Path, rejected: Sequence[InputError]) -> InputError:
    if not rejected:
        return InputError(str(place), "no image", "a folder with images", "check the path")
    first = rejected[0]
    return InputError(
        str(place),
        f"no image that can be used, for example {first.where} ({first.got})",
        "a folder with images",
        first.do,
    )


def _read_embeddings(place: Path) -> tuple[CollectionRead, ItemTable]:
    """Embeddings of a file, and what it tells of them."""
    if place.suffix.lower() in ARCHIVES:
        raise InputError(
            str(place), "an archive", "a folder of images", "unpack it, and give the folder"
        )
    table = read_features(place)
    return CollectionRead(Collection(items=table.items, embeddings=table.embeddings)), table


def _facts_by_folders(
    items: tuple[str, ...], table: ItemTable, *, labels: bool, split: bool
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
    source: AnyPath | Mapping[str, str], items: tuple[str, ...], table: ItemTable
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
) -> tuple[list[int], tuple[Notice, ...]]:
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


def _with_labels(reading: CollectionRead, facts: ItemTable) -> CollectionRead:
    """Code labels and parts, and say what is odd about them."""
    data, notices = reading.collection, list(facts.notices)
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
    return replace(reading, collection=data, notices=(*reading.notices, *notices))


def _sorted_names(names: set[str]) -> tuple[str, ...]:
    """Classes by name, or by number where all are whole numbers."""
    whole = all(name.isascii() and name.isdecimal() for name in names)
    return tuple(sorted(names, key=lambda name: (int(name) if whole else 0, name)))


def _label_notices(codes: Ints, classes: tuple[str, ...]) -> list[Notice]:
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
    reading: CollectionRead,
    encoder: Encoder | str,
    cache: AnyPath | None,
    progress: Progress | None,
) -> CollectionRead:
    """Embed the images; embeddings that are given are put to their items by id."""
    data = reading.collection
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
        data = replace(data, embeddings=np.asarray(chosen.array)[row])
        return replace(reading, collection=data, notices=(*reading.notices, *notices))
    assert data.images is not None
    seen = len(data) + len(reading.rejected)
    embedding = embed(
        data.images,
        chosen,
        cache=cache,
        progress=progress and (lambda done, total: progress(seen + done, seen + total)),
    )
    data = replace(data, embeddings=embedding.values)
    return replace(reading, collection=data, notices=(*reading.notices, *embedding.notices))


def read_parts(path: AnyPath, items: Sequence[str]) -> tuple[str, ...]:
    """The part of every item; rows of other items are passed over.

    Parameters
    ----------
    path
        A table with a column `item` and one called split, part, set or fold.
    """
    table = read_delimited(content(path))
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
