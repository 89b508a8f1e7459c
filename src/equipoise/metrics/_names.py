"""Names of metrics: a word, and parameters after colons as ``key=value``."""

import re
from typing import Any

Given = dict[str, Any]


def parsed(text: str) -> tuple[str, Given]:
    """Split a metric's name from its parameters.

    Examples
    --------
    >>> parsed("expected_cost:cost=linear")
    ('expected_cost', {'cost': 'linear'})
    >>> parsed("precision_at_50")
    ('precision_at_k', {'k': 50})
    """
    name, *words = text.strip().split(":")
    given: Given = {}
    at = re.fullmatch(r"(precision|recall)_at_(\d+)", name)
    if at:
        name, given["k"] = f"{at[1]}_at_k", int(at[2])
    for word in words:
        key, _, value = word.partition("=")
        given[key] = _value(value)
    return name, given


def _value(text: str) -> int | float | str:
    """A whole number, a number with a point, or the word itself."""
    if text.isdecimal() and text.isascii():
        return int(text)
    return float(text) if re.fullmatch(r"\d*\.\d+", text) else text
