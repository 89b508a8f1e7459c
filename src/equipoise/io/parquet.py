"""Parquet files of any program: read whole, with the checksums of their pages verified."""

from typing import Any

from equipoise.arrays import InputError
from equipoise.coding.tables import Table, unique_names
from equipoise.io.files import Content
from equipoise.wording import Option, hint

ENDINGS = (".parquet", ".pq")


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
        reason = str(error).strip().splitlines() or ["unreadable"]
        raise damaged(file, reason[0]) from error


def parquet_table(file: Content, arrow: Any) -> Table:
    """Take the columns of a Parquet file; rows are counted from 0."""
    names = [str(name).strip() for name in arrow.column_names]
    unique_names(names, where=file.name)
    columns = dict(zip(names, arrow.columns, strict=True))
    return Table(name=file.name, columns=columns).nonempty()


def damaged(file: Content, reason: str) -> InputError:
    """Say that a file is not what was written."""
    return InputError(
        file.name, f"a damaged or truncated file ({reason})", "a whole Parquet file",
        hint(
            "fetch or write the file again ({} if another program changed it)",
            Option("layout", "tidy"),
        ),
    )  # fmt: skip
