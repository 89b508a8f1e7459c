"""Parquet: tables of any program; the checksums of their pages are verified."""

from pathlib import Path
from typing import Any

from equipoise.read.files import SMALLER, Content
from equipoise.read.tables import Table, unique_names
from equipoise.types import InputError, require_memory

ENDINGS = (".parquet", ".pq")
_BUFFER = 1 << 22  # bytes read at a time of each column
_OF_A_CELL = 8  # bytes beside what it says


def read_arrow(file: Content) -> Any:
    """Read a Parquet file as an arrow table."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(
            pa.BufferReader(file.data), page_checksum_verification=True
        ) as opened:
            require_room(file.name, opened.metadata)
            table = opened.read()
            table.validate(full=True)
            return table
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise damaged_parquet(file, error) from error


def require_room(name: str, facts: Any) -> None:
    """Refuse rows that do not fit into memory, by what the footer claims."""
    groups = map(facts.row_group, range(facts.num_row_groups))
    size = sum(group.total_byte_size for group in groups)
    size += _OF_A_CELL * facts.num_rows * facts.num_columns
    require_memory(f"{name}, {facts.num_rows:,} rows", size, SMALLER)


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
        "fetch or write the file again",
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
