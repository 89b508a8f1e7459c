"""Parquet in batches: a few million rows at a time, page checksums verified.

Columns of text are decoded to codes and distinct words, so that no text is made per row.
"""

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from equipoise.arrays import InputError
from equipoise.coding.tables import Table, unique_names
from equipoise.io._batches import Source
from equipoise.io.files import Content
from equipoise.io.parquet import damaged
from equipoise.io.stored import KEY

ROWS = 1 << 22  # rows of a batch
BUFFER = 1 << 22  # bytes read at a time of each column


def parquet_source(file: Content, path: Path) -> Source:
    """Open a Parquet file; rows are counted from 0."""
    import pyarrow as pa

    if path.suffix.lower() == ".gz":
        raise InputError(
            file.name, "Parquet inside gzip", "plain Parquet",
            "unpack the file first, or read it whole with read_annotations",
        )  # fmt: skip
    with _reading(file, path) as opened:
        schema, rows = opened.schema_arrow, opened.metadata.num_rows
        notes = (schema.metadata or {}).get(KEY)
    names = {name.strip(): name for name in schema.names}
    unique_names([name.strip() for name in schema.names], where=file.name)
    texts = [one.name for one in schema if pa.types.is_string(one.type)]
    kept = frozenset(one.name.strip() for one in schema if pa.types.is_dictionary(one.type))
    return Source(
        header=Table(name=file.name, columns=names),
        rows=rows,
        batches=partial(_batches, file, path, texts),
        coded=kept,
        facts=_facts(file, notes),
    )


def _reading(file: Content, path: Path, texts: list[str] | None = None) -> Any:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return parquet.ParquetFile(
            path,
            page_checksum_verification=True,
            read_dictionary=texts,
            buffer_size=BUFFER,
        )
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise _spoilt(file, error) from error


def _batches(
    file: Content, path: Path, texts: list[str], names: list[str]
) -> Iterator[Mapping[str, Any]]:
    import pyarrow as pa

    with _reading(file, path, [name for name in names if name in texts]) as opened:
        try:
            waiting: list[Any] = []
            for batch in opened.iter_batches(batch_size=ROWS, columns=names):
                batch.validate(full=True)
                waiting.append(batch)
                if sum(len(one) for one in waiting) >= ROWS:
                    yield _columns(waiting)
                    waiting = []
            if waiting:
                yield _columns(waiting)
        except (pa.ArrowException, OSError, MemoryError) as error:
            raise _spoilt(file, error) from error


def _columns(batches: list[Any]) -> Mapping[str, Any]:
    """Put batches together: they end where the groups of rows of the file end."""
    import pyarrow as pa

    table = pa.Table.from_batches(batches).unify_dictionaries()
    return {name: table[name].combine_chunks() for name in table.column_names}


def _facts(file: Content, notes: bytes | None) -> Mapping[str, Any]:
    """Kind and classes of a file that `write_annotations` made."""
    if notes is None:
        return {}
    try:
        facts = json.loads(notes)
        return {name: facts[name] for name in ("kind", "classes", "notices")}
    except (ValueError, LookupError, TypeError) as error:
        raise _spoilt(file, error) from error


def _spoilt(file: Content, error: Exception) -> InputError:
    reason = str(error).strip().splitlines() or ["unreadable"]
    return damaged(file, reason[0])
