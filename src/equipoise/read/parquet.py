"""Parquet: tables of any program, and annotations exactly as written.

The checksums of pages are verified.

Annotations are written in the tidy layout, so that any program can read them. The schema's
metadata keeps what columns cannot hold: the kind, the classes, names in an order other than
that of first appearance, notices, and a digest of everything, so that damage never goes
unnoticed.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.read.files import AnyPath, Content
from equipoise.read.tables import Table, unique_names
from equipoise.read.writing import whole_file
from equipoise.types.annotations import COLUMNS, Annotations
from equipoise.types.arrays import InputError, Ints
from equipoise.types.notices import from_json, to_json
from equipoise.types.words import Option, hint

ENDINGS = (".parquet", ".pq")
_BUFFER = 1 << 22  # bytes read at a time of each column
_KEY = b"equipoise.types.annotations"
_SEAL = b"equipoise.seal"  # the key of the digest; damage cannot hide both keys
_NAMES = {"item": "items", "annotator": "annotators", "task": "tasks", "arm": "arms"}
_NUMBERS = [name for name in COLUMNS if name not in (*_NAMES, "label", "value", "group")]


def read_arrow(file: Content) -> Any:
    """Read a Parquet file as an arrow table."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(
            pa.BufferReader(file.data), page_checksum_verification=True
        ) as opened:
            table = opened.read()
            table.validate(full=True)
            return table
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise damaged_parquet(file, error) from error


def footer(data: bytes) -> bytes:
    """The end of a Parquet file, where the notes of its writer stand."""
    return data[-(int.from_bytes(data[-8:-4], "little") + 8) :]


def parquet_table(file: Content, arrow: Any) -> Table:
    """Take the columns of a Parquet file; rows are counted from 0."""
    names = [str(name).strip() for name in arrow.column_names]
    unique_names(names, where=file.name)
    columns = dict(zip(names, arrow.columns, strict=True))
    return Table(name=file.name, columns=columns).nonempty()


def damaged_parquet(file: Content, error: Exception | str) -> InputError:
    """Say that a file is not what was written."""
    reason = str(error).strip().splitlines() or ["unreadable"]
    return InputError(
        file.name,
        f"a damaged or truncated file ({reason[0]})",
        "a whole Parquet file",
        hint(
            "fetch or write the file again ({} if another program changed it)",
            Option("layout", "tidy"),
        ),
    )


def open_parquet(file: Content, path: Path, texts: list[str] | None = None) -> Any:
    """Open a Parquet file whose pages are checked, these columns of text as codes."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return parquet.ParquetFile(
            path, page_checksum_verification=True, read_dictionary=texts, buffer_size=_BUFFER
        )
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise damaged_parquet(file, error) from error


def write_annotations(annotations: Annotations, path: AnyPath) -> None:
    """Write annotations to a Parquet file that `read_annotations` reads back unchanged.

    The file appears whole or not at all: it is written beside its place, then renamed.
    """
    import pyarrow as pa
    from pyarrow import parquet

    columns, facts = annotation_columns(annotations)
    notes = {_KEY: json.dumps(facts), _SEAL: content_hash(annotations)}
    table = pa.table(columns).replace_schema_metadata(notes)
    place = Path(path)
    if place.suffix.lower() not in ENDINGS:
        raise InputError(
            str(path),
            f"the ending {place.suffix!r}",
            f"{' or '.join(ENDINGS)}, because readers go by it",
            "rename it, or write a CSV with write_study",
        )
    try:
        with whole_file(place) as sink:
            parquet.write_table(table, sink, write_page_checksum=True, compression="zstd")
    except OSError as error:
        raise InputError(
            str(path),
            f"cannot be written ({error})",
            "a place for a file",
            "make the folder, or choose another path",
        ) from error


def stored_annotations(file: Content) -> Annotations | None:
    """Decode a file that `write_annotations` made; None if another program made it."""
    import pyarrow as pa

    if file.suffix not in ENDINGS:
        return None
    notes = footer(file.data)
    if _KEY not in notes and _SEAL not in notes:
        return None
    arrow = read_arrow(file)
    try:
        metadata = arrow.schema.metadata or {}
        facts = json.loads(metadata[_KEY])
        annotations = Annotations(**annotation_fields(arrow, facts))
        if metadata[_SEAL].decode() != content_hash(annotations):
            raise damaged_parquet(file, "its contents differ from what was written")
    except (pa.ArrowException, ValueError, LookupError, TypeError, SyntaxError) as error:
        raise damaged_parquet(file, str(error)) from error
    return annotations


def annotation_columns(table: Annotations) -> tuple[dict[str, Any], dict[str, Any]]:
    """Annotations as arrow columns in the tidy layout, and the facts that they cannot hold."""
    present = {name: getattr(table, name) for name in COLUMNS}
    present = {name: column for name, column in present.items() if column is not None}
    facts: dict[str, Any] = {
        "format": 1,
        **{name: getattr(table, name) for name in ("kind", "classes", "tasks")},
        "notices": [to_json(notice) for notice in table.notices],
        "types": {name: column.dtype.str for name, column in present.items()},
    }
    columns: dict[str, Any] = {}
    for column, names in _NAMES.items():
        if column in present:
            vocabulary = getattr(table, names)
            columns[column] = _texts(present[column], vocabulary)
            facts.setdefault(
                names, None if _plain(present[column], len(vocabulary)) else vocabulary
            )
    labels, numbers = _answers(table.kind)
    if "label" in present:
        columns[labels] = _texts(present["label"], table.classes)
    if "value" in present:
        columns[numbers] = _native(present["value"])
    if table.groups is not None:
        facts["groups"] = table.groups
    if table.group is not None and table.groups is not None:
        columns["group"] = _texts(table.group[table.item], table.groups)
        whole = len(np.unique(table.item)) == len(table.items)
        facts["group"] = None if whole else table.group.tolist()
    columns |= {name: _native(present[name]) for name in _NUMBERS if name in present}
    return columns, facts


def _answers(kind: str) -> tuple[str, str]:
    """Columns of classes and of ratings: what a kind is about is the column ``label``."""
    return ("class", "label") if kind == "interval" else ("label", "value")


def annotation_fields(arrow: Any, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `Annotations` from what `annotation_columns` made."""
    columns: dict[str, Any] = {
        "kind": facts["kind"],
        **{name: tuple(facts[name]) for name in ("classes", "tasks")},
        "notices": tuple(map(from_json, facts["notices"])),
    }
    for column, names in _NAMES.items():
        if column in facts["types"]:
            vocabulary = facts[names] or arrow[column].unique().to_pylist()
            columns |= {names: tuple(vocabulary), column: _codes(arrow[column], vocabulary)}
    labels, numbers = _answers(facts["kind"])
    if "label" in facts["types"]:
        columns["label"] = _codes(arrow[labels], facts["classes"])
    if "value" in facts["types"]:
        columns["value"] = np.asarray(arrow[numbers])
    columns |= {name: np.asarray(arrow[name]) for name in _NUMBERS if name in facts["types"]}
    columns |= _groups(arrow, facts, columns)
    for name, kind in facts["types"].items():
        columns[name] = columns[name].astype(np.dtype(kind))
    return columns


def _groups(arrow: Any, facts: Mapping[str, Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    if facts.get("groups") is None:
        return {}
    if "group" not in facts["types"]:
        return {"groups": tuple(facts["groups"])}
    group = np.array(facts["group"] or np.zeros(len(columns["items"])), dtype=np.int64)
    if facts["group"] is None:
        group[columns["item"]] = _codes(arrow["group"], facts["groups"])
    return {"groups": tuple(facts["groups"]), "group": group}


def _texts(codes: Ints, names: Sequence[str]) -> Any:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(
        pa.array(codes.astype(np.int32)), pa.array(names, pa.string())
    )


def _codes(column: Any, names: Sequence[str]) -> Ints:
    import pyarrow as pa
    from pyarrow import compute

    codes = compute.index_in(column.cast(pa.string()), value_set=pa.array(names, pa.string()))
    return np.asarray(codes.fill_null(-1), dtype=np.int64)


def _native(column: Any) -> Any:
    import pyarrow as pa

    return pa.array(column.astype(column.dtype.newbyteorder("=")))


def _plain(codes: Ints, size: int) -> bool:
    """Whether the names are numbered by first appearance, each of them used."""
    used, first = np.unique(codes, return_index=True)
    return len(used) == size and bool((np.diff(first) > 0).all())


def content_hash(table: Annotations) -> str:
    """Hash everything that a table of annotations holds."""
    names = ("kind", "items", "classes", "annotators", "tasks", "groups")
    texts = [getattr(table, name) for name in names]
    texts += [] if table.arms is None else [table.arms]
    texts.append([to_json(notice) for notice in table.notices])
    digest = hashlib.sha256(json.dumps(texts).encode())
    for name in COLUMNS:
        column = getattr(table, name)
        if column is not None:
            digest.update(f"{name} {column.dtype.str} {column.shape}".encode())
            digest.update(column.tobytes())
    return digest.hexdigest()
