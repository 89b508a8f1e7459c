"""JSON: findings for programs, numbers at full precision, undefined as null."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass

import numpy as np

from equipoise.types.findings.record import Finding, Report, Table
from equipoise.types.notices import worded

JsonValue = str | float | int | bool | None | Sequence["JsonValue"] | Mapping[str, "JsonValue"]


def as_json(report: Report) -> dict[str, JsonValue]:
    """Everything a report says: settings, notices, and each finding with all of its rows."""
    return {
        "title": report.title,
        "models": list(report.models),
        "settings": dict(report.settings),
        "notices": list(worded(report.notices)),
        "findings": [finding_json(one) for one in report.findings],
    }


def finding_json(finding: Finding) -> dict[str, JsonValue]:
    """One finding: its sentence and rows, or the reason why it was left out."""
    head: dict[str, JsonValue] = {"key": finding.key, "title": finding.title}
    for name in ("task", "metric"):
        if getattr(finding, name):
            head[name] = getattr(finding, name)
    if finding.left_out:
        return {**head, "left_out": str(finding.sentence)}
    first, *others = finding.tables or (None,)
    return {
        **head,
        "finding": str(finding.sentence),
        **({"more": [str(one) for one in finding.more]} if finding.more else {}),
        "rows": _rows(first),
        **{one.name: _rows(one) for one in others if one is not None},
        "notices": list(worded(finding.notices)),
    }


def plain(value: object) -> JsonValue:
    """Make a value JSON can hold: arrays become lists, undefined null, infinite "inf".

    Examples
    --------
    >>> plain({"a": np.array([1.0, np.nan, np.inf])})
    {'a': [1.0, None, 'inf']}
    """
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if is_dataclass(value):
        own = {one.name: getattr(value, one.name) for one in fields(value)}
        return plain({name: part for name, part in own.items() if part is not None})
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return None if math.isnan(value) else str(value)
    return str(value)


def _rows(table: Table | None) -> list[JsonValue]:
    return [] if table is None else [plain(row) for row in table.rows]
