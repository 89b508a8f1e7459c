"""Formats of tables: delimited text or Parquet, told by the ending of the file."""

from equipoise.read import delimited, parquet
from equipoise.read.files import Content, unknown_ending
from equipoise.read.tables import Table

TABULAR = (*delimited.ENDINGS, *parquet.ENDINGS)


def read_table(file: Content, *others: str) -> Table:
    """Read a table; `others` are endings that the caller takes besides."""
    if file.suffix in delimited.ENDINGS:
        return delimited.read_delimited(file)
    if file.suffix in parquet.ENDINGS:
        return parquet.parquet_table(file, parquet.read_arrow(file))
    raise unknown_ending(file, (*TABULAR, *others))
