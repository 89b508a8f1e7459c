"""Stability texts: the tables, methods and references of an analysis of stability.

Only what was run is said, and only its sources are cited.
"""

from collections.abc import Mapping
from typing import Any

from equipoise.export.references import bibtex_of
from equipoise.export.stability_methods import SAID, stability_methods
from equipoise.export.tables import table_texts

__all__ = ["SAID", "stability_methods", "stability_texts"]

Facts = Mapping[str, Any]
MORE = {
    "ranking": ("model_rows", "pair_rows", "sign_test"),
    "flips": ("members",),
    "choices": ("changes", "conclusions"),
    "threshold_sweep": ("agreement",),
    "certainty": ("shares",),
}


def stability_texts(facts: Facts) -> dict[str, str]:
    """Text of every table, of the methods and of the references, by the path of the file.

    Parameters
    ----------
    facts
        What `equipoise.run.stability.stability_facts` returns.
    """
    texts: dict[str, str] = {}
    done = [name for name in SAID if "rows" in facts.get(name, {})]
    for name in done:
        for part, rows in _tables(name, facts[name]).items():
            texts |= table_texts(part, rows)
    texts["methods.md"] = stability_methods(facts) + "\n"
    texts["references.bib"] = bibtex_of(texts["methods.md"])
    return texts


def _tables(name: str, found: Facts) -> dict[str, Any]:
    """The rows of every table of one analysis, by name."""
    if name == "experts":
        rows = found["rows"]
        people = [row for row in rows if row["kind"] == "expert"]
        models = [row for row in rows if row["kind"] == "model"]
        return {"experts": people, "models_among_experts": models}
    if name == "choices":
        found = {key: _worded(found[key]) for key in ("rows", "changes", "conclusions")}
    extra = {
        f"{name}_{part.removesuffix('_rows')}": found[part]
        for part in MORE.get(name, ())
        if found.get(part)
    }
    return {name: found["rows"], **extra}


def _worded(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A model without a reliability has none: blank, not undefined."""
    return [
        row | {"reliability": ""} if row.get("reliability", 1) is None else row for row in rows
    ]
