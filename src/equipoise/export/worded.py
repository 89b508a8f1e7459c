"""Worded rows: cells and columns of a printed table in words, where files have names and flags.

True and false are yes and no, metrics and aggregation models have their titles, and columns
that are single letters or jargon say what they hold.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.export.titles import metric_title, model_title

Rows = Sequence[Mapping[str, Any]]
TITLED = ("metric", "quantity")
PAIRED = {"a": "model", "b": "minus"}
HEADS: Mapping[str, Mapping[str, str]] = {
    "flips": {
        "unit": "what is moved", "a": "best", "b": "then first", "place": "its rank before",
        "margin": "ahead of the next by", "lead": "ahead of it by", "lead_after": "ahead after",
        "size": "fewest", "number": "of", "share": "share of all", "smallest": "none smaller",
        "verified": "scored anew", "cleared": "none of size up to", "idle": "not searched",
        "tried_up_to": "searched up to",
    },
    "flips_members": {"unit": "what is moved"},
    "differences": PAIRED,
    "ranking_pair": {"a": "model", "b": "other", "p_a_beats_b": "P(model beats other)"},
    "choices_conclusions": {"a": "model", "b": "other"},
    "threshold_sweep": {"change": "change of rank"},
}  # fmt: skip


def worded(rows: Rows, table: str = "") -> list[dict[str, Any]]:
    """Rows of a table for people.

    Parameters
    ----------
    table
        Its name, which says what its columns are called.

    Examples
    --------
    >>> worded([{"a": "vit", "metric": "auroc", "smallest": True}], "flips")
    [{'best': 'vit', 'metric': 'AUROC', 'none_smaller': 'yes'}]
    """
    heads = HEADS.get(table, {})
    told = [_searched(row) for row in rows] if table == "flips" else rows
    return [
        {_key(heads.get(name, name)): _cell(name, value) for name, value in row.items()}
        for row in told
    ]


def _searched(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Where no set was found there is nobody who is then first."""
    if row.get("size", 0) is not None:
        return row
    none = "not searched" if row["idle"] else f"none up to {row['tried_up_to']}"
    return {**row, "size": none, "b": "", "share": ""}


def _key(head: str) -> str:
    return head.replace(" ", "_")


def _cell(name: str, value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, str):
        return value
    if name in TITLED:
        return metric_title(value)
    return model_title(value) if name == "aggregation" else value
