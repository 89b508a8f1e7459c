"""The optional columns of a tidy table: weights, confidences, times, gold rows, groups."""

from typing import Any

import numpy as np

from equipoise.arrays import Floats, InputError, listed
from equipoise.coding.columns import Coded, coded, flags, numbers, times
from equipoise.coding.tables import Table


def extra_columns(table: Table, item: Coded) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Read what optional columns there are, and what to tell the user about them.

    Examples
    --------
    >>> import pyarrow
    >>> one = Table(name="table", columns={"weight": pyarrow.array(["0.5"])})
    >>> extra_columns(one, Coded(np.array([0]), ("scan",)))
    ({'weight': array([0.5])}, ())
    """
    columns: dict[str, Any] = {}
    notices: list[str] = []
    for name in table.columns.keys() & _RANGES.keys():
        columns[name] = _checked(table, name)
    if "count" in columns:
        columns["count"] = columns["count"].astype(np.int64)
    if "confidence" in columns:
        notices.append("confidence is kept, but mean votes do not use it")
    if "is_gold" in table.columns:
        columns["is_gold"] = flags(table, "is_gold")
    if "timestamp" in table.columns:
        moment, there = times(table, "timestamp")
        columns |= {"timestamp": moment} if there.all() else {}
        rows = int((~there).sum())
        notices += [f"timestamp is left out: {rows:,} rows have none"] if rows else []
    if "group" in table.columns:
        columns |= _groups(table, item)
    return columns, tuple(notices)


_RANGES = {  # lowest, highest, whether blanks are allowed
    "weight": (np.nextafter(0, 1), np.inf, False),
    "count": (1, np.inf, False),
    "confidence": (0, 1, True),
    "duration_ms": (0, np.inf, True),
}
_EXPECTED = {
    "weight": "a positive number",
    "count": "a whole number of at least 1",
    "confidence": "a number between 0 and 1",
    "duration_ms": "a non-negative number",
}


def _checked(table: Table, name: str) -> Floats:
    """Read a column of numbers and refuse the first that is out of range."""
    low, high, optional = _RANGES[name]
    values = numbers(table, name)
    fine = np.isfinite(values) & (values >= low) & (values <= high)
    if name == "count":
        fine &= values == np.floor(values)
    bad = np.flatnonzero(~(fine | np.isnan(values)) if optional else ~fine)
    if len(bad):
        value = values[bad[0]]
        got = f"a blank {name}" if np.isnan(value) else f"{name} {value:g}"
        raise InputError(table.where(bad[0]), got, _EXPECTED[name], "correct the value")
    return values


def _groups(table: Table, item: Coded) -> dict[str, Any]:
    """Read the group of each item, which must be the same in all its rows."""
    groups = coded(table, "group")
    of_item = np.full(len(item.names), -1, dtype=np.int64)
    of_item[item.codes[::-1]] = groups.codes[::-1]
    odd = np.flatnonzero((groups.codes < 0) | (of_item[item.codes] != groups.codes))
    if len(odd):
        row = int(odd[0])
        mine = np.unique(groups.codes[item.codes == item.codes[row]])
        seen = [groups.names[code] for code in mine if code >= 0]
        got = f"in groups {listed(seen)}" if len(seen) > 1 else "without a group in some row"
        raise InputError(
            table.where(row), f"item {item.names[item.codes[row]]!r} {got}",
            "one group per item", "make the group the same in all rows of an item",
        )  # fmt: skip
    return {"groups": groups.names, "group": of_item}
