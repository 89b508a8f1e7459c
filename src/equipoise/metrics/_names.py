"""Names of metrics: a word, and parameters after colons as ``key=value``."""

import inspect
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from equipoise.arrays import InputError, listed

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


def require_known(text: str, catalogue: Mapping[str, Callable[..., Any]]) -> None:
    """Refuse a name that is not in the catalogue, and parameters that its metric lacks.

    Examples
    --------
    >>> def brier_score(*, scale: str = "one") -> None: ...
    >>> require_known("brier", {"brier_score": brier_score})
    Traceback (most recent call last):
    ...
    equipoise.arrays.InputError: metric: 'brier', expected a known metric; did you mean ...
    >>> require_known("brier_score:k=1", {"brier_score": brier_score})
    Traceback (most recent call last):
    ...
    equipoise.arrays.InputError: metric 'brier_score:k=1': 'k', expected 'scale'; ...
    """
    name, given = parsed(text)
    if name not in catalogue:
        raise InputError("metric", repr(text), "a known metric", _meant(name, list(catalogue)))
    has = list(inspect.signature(catalogue[name]).parameters)
    unknown = [key for key in given if key not in has]
    if unknown:
        every = listed(has, most=8) if has else "no parameters"
        raise InputError(
            f"metric {text!r}", listed(unknown), every,
            f"write {name}:{has[0]}=VALUE" if has else f"write {name}",
        )  # fmt: skip


def _meant(name: str, known: list[str]) -> str:
    """Names that are near, by spelling or by what they hold, and where all of them are."""
    shown = [re.sub("_at_k$", "_at_100", one) for one in known]
    near = get_close_matches(name, shown, n=3)
    near += [one for one in shown if len(name) > 2 and name in one and one not in near]
    all_of_them = "--list-metrics lists all"
    if not near:
        return all_of_them
    return f"did you mean {' or '.join(map(repr, near[:3]))}? {all_of_them}"


def _value(text: str) -> int | float | str:
    """A whole number, a number with a point, or the word itself."""
    if text.isdecimal() and text.isascii():
        return int(text)
    return float(text) if re.fullmatch(r"\d*\.\d+", text) else text
