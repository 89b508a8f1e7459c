"""Export: tables as CSV, Markdown or LaTeX, and a methods paragraph with its references."""

from equipoise.export.references import bibtex, references
from equipoise.export.tables import as_csv, as_latex, as_markdown, table_texts, write_table

__all__ = [
    "as_csv",
    "as_latex",
    "as_markdown",
    "bibtex",
    "references",
    "table_texts",
    "write_table",
]
