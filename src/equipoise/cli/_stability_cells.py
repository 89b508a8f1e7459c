"""Cells and heads of the tables of stability: numbers, intervals, shares and directions."""

import math
from collections.abc import Mapping
from typing import Any

from equipoise.digits import fixed

Facts = Mapping[str, Any]


def shown(value: Any) -> str:
    """A number for a table: three decimals, two figures where they would all be zero.

    Examples
    --------
    >>> shown(0.12345), shown(0.00004), shown(None), shown("inf"), shown(3)
    ('0.123', '0.000040', '', 'inf', '3')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    return fixed(value)


def between(row: Facts, value: str, low: str, high: str) -> str:
    """A value with its interval, if it has one.

    Examples
    --------
    >>> between({"gap": 0.5, "low": None, "high": None}, "gap", "low", "high")
    '0.500'
    """
    if row[value] is None:
        return "undefined"
    if row[low] is None or row[high] is None:
        return shown(row[value])
    return f"{shown(row[value])} [{shown(row[low])}, {shown(row[high])}]"


def scored(metric: Facts) -> str:
    """Head of a column of values: the metric, and which way is better where less is.

    Examples
    --------
    >>> scored({"title": "Brier score", "better": "lower"})
    'Brier score (lower is better)'
    """
    return f"{metric['title']}{' (lower is better)' if metric['better'] == 'lower' else ''}"


def against(metric: Facts) -> str:
    """Head of the column of a model's value minus an expert's, with the sign that is good."""
    return (
        "minus expert (below 0: model better)"
        if metric["better"] == "lower"
        else "minus expert"
    )


def worth(row: Facts) -> str:
    """How many experts a model is worth, with the interval where that says more."""
    words, ends = row["worth_words"], row["worth_range"]
    return str(words) if ends in (words, "", None) else f"{words} ({ends})"


def share(value: Any) -> str:
    """A share in percent that is 0 or 100 only when it is exactly that.

    Examples
    --------
    >>> share(0.999), share(0.5), share(0.0), share(None)
    ('>99%', '50%', '0%', '')
    """
    if value is None:
        return ""
    if 0 < value < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= value < 1 else f"{value:.0%}"
