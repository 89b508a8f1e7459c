"""Signatures: a value of a wrong type is refused by name, where it made a function fail.

Nothing is looked at as long as a function works: whatever behaves like what it takes is taken.
Where it fails with an error of Python about types, its arguments are held against their
annotations, and the first that does not suit is named.
"""

import collections.abc
import inspect
import types
import typing
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from equipoise.types.arrays import InputError, wrong_type

Given = ParamSpec("Given")
Result = TypeVar("Result")
NUMBERS: dict[Any, tuple[type, ...]] = {
    float: (int, float, np.number),
    int: (int, np.integer),
}
WORDS = {type(None): "None", float: "a number", int: "a whole number", str: "a word"}


def refusing_wrong_types(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Name the argument of a wrong type where a function fails because of it.

    Examples
    --------
    >>> @refusing_wrong_types
    ... def longest(words: list[str]) -> int:
    ...     return max(len(word) for word in words)
    >>> longest(3)
    Traceback (most recent call last):
    ...
    equipoise.InputError: longest, words: 3 (int), expected a list of words; see help(longest)
    """

    @wraps(function)
    def call(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        try:
            return function(*args, **kwargs)
        except InputError:
            raise
        except (TypeError, AttributeError, ValueError, IndexError, KeyError) as error:
            wrong = _first_wrong(function, args, kwargs)
            if wrong is None:
                raise
            raise wrong from error

    return call


def _first_wrong(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> InputError | None:
    """The refusal of the first argument that does not suit; None where all do."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs).arguments
    except TypeError:
        return None
    try:
        hints = typing.get_type_hints(function)
    except NameError:  # of a class that only type checkers import
        hints = dict(function.__annotations__)
    name = function.__name__
    for argument, value in bound.items():
        hint = hints.get(argument, Any)
        if not _suits(value, hint):
            return wrong_type(f"{name}, {argument}", value, _words(hint), f"see help({name})")
    return None


def _suits(value: object, hint: Any) -> bool:
    """Whether a value is what an annotation says; what is not understood suits."""
    if isinstance(hint, str):
        names = [kind.__name__ for kind in type(value).__mro__]
        return not hint.isidentifier() or hint in names
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(_suits(value, part) for part in parts)
    if origin is typing.Literal:
        return value in parts
    if isinstance(origin, type):
        return _holds(value, origin, parts)
    if hint in NUMBERS:
        return isinstance(value, NUMBERS[hint])
    if not isinstance(hint, type) or getattr(hint, "_is_protocol", False):
        return True
    return isinstance(value, hint)


def _holds(value: object, origin: type, parts: tuple[Any, ...]) -> bool:
    """Whether a value is such a collection, of such parts."""
    if not isinstance(value, origin) or (isinstance(value, str) and origin is not str):
        return False
    if isinstance(value, collections.abc.Mapping) and len(parts) == 2:
        return all(_suits(part, parts[1]) for part in value.values())
    if isinstance(value, list | tuple) and len(set(parts) - {...}) == 1:
        return all(_suits(part, parts[0]) for part in value)
    return True


def _words(hint: Any) -> str:
    """What an annotation asks for, as one would say it."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(_words(part) for part in parts))
    if origin is typing.Literal:
        return " or ".join(map(repr, parts))
    if origin is collections.abc.Callable:
        return "a function"
    if hint in WORDS:
        return WORDS[hint]
    if origin is np.ndarray:
        return "an array"
    if isinstance(origin, type):
        name, inner = origin.__name__.lower(), _plural(parts[-1]) if parts else ""
        return f"{_article(name)}{f' of {inner}' if inner else ''}"
    return _article(hint if isinstance(hint, str) else getattr(hint, "__name__", "value"))


def _plural(part: Any) -> str:
    plain = {str: "words", float: "numbers", int: "whole numbers"}
    return plain.get(part, getattr(part, "__name__", ""))


def _article(name: str) -> str:
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
