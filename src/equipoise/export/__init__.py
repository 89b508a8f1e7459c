"""Export: tables as CSV, Markdown or LaTeX, and a methods paragraph with its references."""

from equipoise.export.methods import methods_paragraph
from equipoise.export.references import bibtex, references
from equipoise.export.run_texts import run_texts
from equipoise.export.tables import as_csv, as_latex, as_markdown, table_texts, write_table

__all__ = [
    "as_csv",
    "as_latex",
    "as_markdown",
    "bibtex",
    "methods_paragraph",
    "references",
    "run_texts",
    "table_texts",
    "write_table",
]
