"""Run texts: the tables, methods and references of an evaluation, from its record."""

from collections.abc import Mapping
from typing import Any

from equipoise.export.methods import methods_paragraph
from equipoise.export.references import bibtex_of
from equipoise.export.tables import table_texts

TABLES = {
    "values": "rows",
    "differences": "differences",
    "rank_correlation": "rank_correlation",
    "annotators": "annotators",
}


def run_texts(header: Mapping[str, Any]) -> dict[str, str]:
    """Text of every file, by its path; ``header`` is what ``run.json`` holds."""
    texts: dict[str, str] = {}
    for name, key in TABLES.items():
        if header.get(key):
            texts |= table_texts(name, header[key])
    coefficients = [
        {"task": one["task"], **row}
        for one in header.get("agreement", ())
        for row in one["coefficients"]
    ]
    if coefficients:
        texts |= table_texts("agreement", coefficients)
    texts["methods.md"] = methods_paragraph(header) + "\n"
    texts["references.bib"] = bibtex_of(texts["methods.md"])
    return texts
