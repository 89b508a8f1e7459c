"""Annotations in Parquet, exactly: what is written comes back unchanged.

The file is in the tidy layout, so that any program can read it. The schema's metadata
keeps what columns cannot hold: the kind, the classes, names in an order other than that
of first appearance, and a digest of everything, so that damage never goes unnoticed.
"""

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from equipoise.annotation_rules import COLUMNS
from equipoise.annotations import Annotations
from equipoise.arrays import InputError, Ints
from equipoise.io.files import AnyPath, Content
from equipoise.io.parquet import damaged

KEY = b"equipoise.annotations"
SEAL = b"equipoise.seal"  # the key of the digest; damage cannot hide both keys
NAMES = {"item": "items", "annotator": "annotators", "task": "tasks"}
NUMBERS = (
    "rank", "reading", "count", "weight", "confidence", "timestamp", "duration_ms", "is_gold",
)  # fmt: skip


def write_annotations(annotations: Annotations, path: AnyPath) -> None:
    """Write annotations to a Parquet file that `read_annotations` reads back unchanged.

    The file appears whole or not at all: it is written beside its place, then renamed.
    """
    from pyarrow import parquet

    table = _encoded(annotations)
    place = Path(path)
    draft = place.with_name(f".{place.name}.{secrets.token_hex(4)}.part")
    try:
        try:
            with draft.open("xb") as sink:
                parquet.write_table(table, sink, write_page_checksum=True, compression="zstd")
            draft.replace(place)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            str(path), f"cannot be written ({error})", "a place for a file",
            "make the folder, or choose another path",
        ) from error  # fmt: skip


def stored_annotations(file: Content, arrow: Any) -> Annotations | None:
    """Decode a file that `write_annotations` made; None if another program made it."""
    import pyarrow as pa

    footer = int.from_bytes(file.data[-8:-4], "little") + 8
    if KEY not in file.data[-footer:] and SEAL not in file.data[-footer:]:
        return None
    try:
        metadata = arrow.schema.metadata or {}
        facts = json.loads(metadata[KEY])
        annotations = Annotations(**_decoded(arrow, facts))
        if metadata[SEAL].decode() != _digest(annotations):
            raise damaged(file, "its contents differ from what was written")
    except (pa.ArrowException, ValueError, LookupError, TypeError, SyntaxError) as error:
        raise damaged(file, str(error)) from error
    return annotations


def _encoded(table: Annotations) -> Any:
    """Return an arrow table in the tidy layout, with the facts in its metadata."""
    import pyarrow as pa

    present = {name: getattr(table, name) for name in COLUMNS}
    present = {name: column for name, column in present.items() if column is not None}
    facts: dict[str, Any] = {
        "format": 1,
        **{name: getattr(table, name) for name in ("kind", "classes", "tasks", "notices")},
        "types": {name: column.dtype.str for name, column in present.items()},
    }
    columns: dict[str, Any] = {}
    for column, names in NAMES.items():
        if column in present:
            known = getattr(table, names)
            columns[column] = _texts(present[column], known)
            facts.setdefault(names, None if _plain(present[column], len(known)) else known)
    columns |= _labels(present, table)
    if table.groups is not None:
        facts["groups"] = table.groups
    if table.group is not None and table.groups is not None:
        columns["group"] = _texts(table.group[table.item], table.groups)
        whole = len(np.unique(table.item)) == len(table.items)
        facts["group"] = None if whole else table.group.tolist()
    columns |= {name: _native(present[name]) for name in NUMBERS if name in present}
    notes = {KEY: json.dumps(facts), SEAL: _digest(table)}
    return pa.table(columns).replace_schema_metadata(notes)


def _labels(present: Mapping[str, Any], table: Annotations) -> dict[str, Any]:
    """Return the answers: numbers of kind ``interval`` or names, in the column ``label``."""
    names = "class" if table.kind == "interval" else "label"
    numbers = "label" if table.kind == "interval" else "value"
    columns = {names: _texts(present["label"], table.classes)} if "label" in present else {}
    return columns | ({numbers: _native(present["value"])} if "value" in present else {})


def _decoded(arrow: Any, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `Annotations` from a table and its facts."""
    columns: dict[str, Any] = {
        "kind": facts["kind"],
        **{name: tuple(facts[name]) for name in ("classes", "tasks", "notices")},
    }
    for column, names in NAMES.items():
        if column in facts["types"]:
            known = facts[names] or arrow[column].unique().to_pylist()
            columns |= {names: tuple(known), column: _codes(arrow[column], known)}
    numbers = "label" if facts["kind"] == "interval" else "value"
    labels = "class" if facts["kind"] == "interval" else "label"
    if "label" in facts["types"]:
        columns["label"] = _codes(arrow[labels], facts["classes"])
    if "value" in facts["types"]:
        columns["value"] = np.asarray(arrow[numbers])
    columns |= {name: np.asarray(arrow[name]) for name in NUMBERS if name in facts["types"]}
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

    found = compute.index_in(column.cast(pa.string()), value_set=pa.array(names, pa.string()))
    return np.asarray(found.fill_null(-1), dtype=np.int64)


def _native(column: Any) -> Any:
    import pyarrow as pa

    return pa.array(column.astype(column.dtype.newbyteorder("=")))


def _plain(codes: Ints, size: int) -> bool:
    """Whether the names are numbered by first appearance, each of them used."""
    used, first = np.unique(codes, return_index=True)
    return len(used) == size and bool((np.diff(first) > 0).all())


def _digest(table: Annotations) -> str:
    """Hash everything that a table of annotations holds."""
    names = ("kind", "items", "classes", "annotators", "tasks", "groups", "notices")
    digest = hashlib.sha256(json.dumps([getattr(table, name) for name in names]).encode())
    for name in COLUMNS:
        column = getattr(table, name)
        if column is not None:
            digest.update(f"{name} {column.dtype.str} {column.shape}".encode())
            digest.update(column.tobytes())
    return digest.hexdigest()
