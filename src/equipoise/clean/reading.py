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
    words,
)
from equipoise.clean.images import ARCHIVES, FileImages, look_through
from equipoise.read.delimited import read_delimited
from equipoise.read.files import AnyPath, content
from equipoise.read.headers import annotation_headers
from equipoise.read.options import VoteFormat
from equipoise.read.tables import words_of
from equipoise.types.arrays import InputError, Ints, choice, listed, require_unique, short_repr
from equipoise.types.notices import Notice, notice

FOLDERS = "folders"
_SHOWN = 3  # examples of a notice
_SPELLINGS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("file name", lambda name: PurePosixPath(name).name),
    ("file name without ending", lambda name: PurePosixPath(name).stem),
)


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
        reading, own = _folder(place, progress)
    else:
        reading, own = _features(place)
    items = reading.collection.items
    if by_folder or split:
        own = _by_folders(items, own, labels=by_folder, split=bool(split))
    told = own if by_folder or labels is None else _labels_of(labels, items, own)
    reading = _with_labels(reading, told)
    if encoder is None or reading.collection.images is None:
        return reading
    return _embedded(reading, encoder, cache, progress)


def _folder(place: Path, progress: Progress | None) -> tuple[CollectionRead, ItemTable]:
    """Images of a folder; nothing is told of them."""
    found = look_through(
        place, progress=progress and (lambda done, total: progress(done, 2 * total))
    )  # reading is the first half of the work
    if not found.paths:
        raise _no_images(place, found.rejected)
    said = (
        ("files_rejected", "{files:count} files cannot be used, see the list.", found.rejected),
        (
            "first_frame",
            "{files:count} files have several frames or pages; the first one counts.",
            found.several_frames,
        ),
        ("no_images", "{files:count} files are no images and left aside.", range(found.other)),
    )  # fmt: skip
    notices = tuple(notice(code, text, files=len(some)) for code, text, some in said if some)
    images = FileImages(place.resolve(), found.paths)
    collection = Collection(items=found.paths, images=images)
    return CollectionRead(collection, found.rejected, notices), ItemTable(items=found.paths)


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


def _features(place: Path) -> tuple[CollectionRead, ItemTable]:
    """Embeddings of a file, and what it tells of them."""
    if place.suffix.lower() in ARCHIVES:
        raise InputError(
            str(place), "an archive", "a folder of images", "unpack it, and give the folder"
        )
    found = read_features(place)
    return CollectionRead(Collection(items=found.items, embeddings=found.embeddings)), found


def _by_folders(
    items: tuple[str, ...], own: ItemTable, *, labels: bool, split: bool
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
        own,
        labels=tuple(parts[depth] if len(parts) > depth else "" for parts in above)
        if labels
        else own.labels,
        classes=() if labels else own.classes,
        split=tuple(parts[0] if parts else "" for parts in above) if split else own.split,
    )


def _labels_of(
    source: AnyPath | Mapping[str, str], items: tuple[str, ...], own: ItemTable
) -> ItemTable:
    """What a file of labels, or a mapping, tells of the items."""
    if isinstance(source, Mapping):
        given = ItemTable(
            items=tuple(map(str, source)), labels=tuple(map(str, source.values()))
        )
        name = "labels"
    else:
        given, name = _label_table(source), str(source)
    row, said = _rows(given.items, items, where=name)
    left = len(given.items) - sum(one >= 0 for one in row)
    if left:
        used = set(row)
        unknown = [one for place, one in enumerate(given.items) if place not in used]
        text = "{labels:count} labels are of items that are not there ({names:names})."
        shown = tuple(unknown[:_SHOWN])
        said = (*said, notice("labels_unknown", text, labels=left, names=shown))
    return ItemTable(
        items=items,
        labels=tuple(given.labels[one] if one >= 0 else "" for one in row),
        split=tuple(given.split[one] if one >= 0 else "" for one in row)
        if given.split and not own.split
        else own.split,
        notices=(*own.notices, *given.notices, *said),
    )


def _label_table(path: AnyPath) -> ItemTable:
    table = read_table(path)
    split = column_like(table, "split")
    columns = {name: one for name, one in table.columns.items() if name != split}
    headers = annotation_headers(replace(table, columns=columns), VoteFormat())
    known = headers.columns
    item = known["item"] if "item" in known else item_column(table)[0]
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


def _rows(
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
        if unique and any(one in row for one in ours):
            text = "Items of {file} are found by {what}."
            said = notice("items_by_name", text, file=Path(where).name, what=what)
            return [row.get(one, -1) for one in ours], (said,)
    raise InputError(
        where,
        f"none of its items is there, for example {names[0]!r}",
        f"items such as {items[0]!r}",
        "write paths inside the folder, or ids, as they are",
    )


def _with_labels(reading: CollectionRead, told: ItemTable) -> CollectionRead:
    """Code labels and parts, and say what is odd about them."""
    data, said = reading.collection, list(told.notices)
    if told.labels:
        classes = told.classes or _sorted_names(set(told.labels) - {""})
        if not classes:
            raise InputError("labels", "none", "a label for some items", "check the file")
        code = {"": MISSING, **{name: number for number, name in enumerate(classes)}}
        codes = np.array([code[one] for one in told.labels], dtype=np.int64)
        data = replace(data, labels=codes, classes=tuple(classes))
        said += _label_notices(codes, tuple(classes))
    if any(told.split):
        data = replace(data, split=told.split)
    return replace(reading, collection=data, notices=(*reading.notices, *said))


def _sorted_names(names: set[str]) -> tuple[str, ...]:
    """Classes by name, or by number where all are whole numbers."""
    whole = all(name.isascii() and name.isdecimal() for name in names)
    return tuple(sorted(names, key=lambda one: (int(one) if whole else 0, one)))


def _label_notices(codes: Ints, classes: tuple[str, ...]) -> list[Notice]:
    said = []
    missing = int((codes == MISSING).sum())
    if missing:
        text = "{missing:count} of {items:count} items have no label."
        said.append(notice("labels_missing", text, missing=missing, items=len(codes)))
    members = Counter(codes.tolist())
    single = tuple(name for number, name in enumerate(classes) if members[number] == 1)
    if single:
        text = "Classes with a single member have nothing to compare it with: {classes:names}."
        said.append(notice("class_single", text, classes=single))
    return said


def _embedded(
    reading: CollectionRead,
    encoder: Encoder | str,
    cache: AnyPath | None,
    progress: Progress | None,
) -> CollectionRead:
    """Embed the images; embeddings that are given are put to their items by id."""
    data = reading.collection
    chosen = choose_encoder(encoder) if isinstance(encoder, str) else encoder
    if isinstance(chosen, GivenEmbeddings) and chosen.items:
        row, said = _rows(chosen.items, data.items, where="embeddings")
        lacking = [item for item, one in zip(data.items, row, strict=True) if one < 0]
        if lacking:
            raise InputError(
                f"embeddings, item {lacking[0]!r}",
                "none" + (f" (one of {len(lacking)} such items)" if len(lacking) > 1 else ""),
                "an embedding for every image",
                "embed these images, or take them out of the folder",
            )
        data = replace(data, embeddings=np.asarray(chosen.array)[row])
        return replace(reading, collection=data, notices=(*reading.notices, *said))
    assert data.images is not None
    seen = len(data) + len(reading.rejected)
    made = embed(
        data.images,
        chosen,
        cache=cache,
        progress=progress and (lambda done, total: progress(seen + done, seen + total)),
    )
    data = replace(data, embeddings=made.values)
    return replace(reading, collection=data, notices=(*reading.notices, *made.notices))


COLUMNS = ("split", "part", "set", "fold")  # what the second column may be called


def read_parts(path: AnyPath, items: Sequence[str]) -> tuple[str, ...]:
    """The part of every item; rows of other items are passed over.

    Parameters
    ----------
    path
        A table with a column `item` and one called split, part, set or fold.
    """
    table = read_delimited(content(path))
    named = next((one for one in COLUMNS if one in table.columns), "split")
    columns = []
    for name in (table.required("item", {}), table.required(named, {})):
        codes, spelt = words_of(table, name)
        columns.append([spelt[code] if code >= 0 else "" for code in codes])
    known: dict[str, str] = {}
    for row, (item, part) in enumerate(zip(*columns, strict=True)):
        if known.setdefault(item, part) != part or not part:
            raise InputError(
                f"{table.where(row)}, item {item!r}",
                f"{part!r} after {known[item]!r}" if part else "nothing",
                "one part per item",
                "correct the row",
            )
    missing = [one for one in items if one not in known]
    if missing:
        raise InputError(
            f"{table.name}",
            f"no part for {listed(missing)}",
            f"a row for each of the {len(items):,} items",
            "add them; items are called as in the lists of a scan",
        )
    return tuple(known[one] for one in items)
