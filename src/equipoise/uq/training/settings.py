"""Other settings of a method by their names, as a command line gives them: METHOD.FIELD=VALUE.

A value is read as the type of the field: a word of a few, yes or no (true, false), a whole
number or a number, or none where a field may have none. It is refused before anything is
trained where no method, no field, or no such value is known.
"""

import math
from collections.abc import Iterable
from dataclasses import fields
from types import NoneType
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from equipoise.types.arrays import InputError, choice, nearest, require_number, require_whole
from equipoise.uq.training.methods import method_of

_SHARES = ("p", "p_block", "p_head", "p_token", "renew")
_MAY_BE_ZERO = ("centroids", "scale", "start_epoch", "shrink", "weight", *_SHARES)
_FORM = "METHOD.FIELD=VALUE"


class Setting(NamedTuple):
    """One field of a method and its value."""

    method: str
    field: str
    value: bool | int | float | str | None


def settings_of(texts: Iterable[str]) -> tuple[Setting, ...]:
    """Settings of methods from texts METHOD.FIELD=VALUE.

    Examples
    --------
    >>> settings_of(["beta_edl.kl=full"])
    (Setting(method='beta_edl', field='kl', value='full'),)
    """
    return tuple(map(_setting, texts))


def _setting(text: str) -> Setting:
    name, _, value = text.partition("=")
    method, _, field = name.strip().partition(".")
    if not (method and field and value.strip()):
        raise InputError("with", repr(text), _FORM, "for example beta_edl.kl=full")
    record = type(method_of(method))
    kinds = get_type_hints(record)
    known = {one.name: kinds[one.name] for one in fields(record)}
    if field not in known:
        there = ", ".join(known) or "no fields: it has nothing to set"
        do = nearest(field, known) if known else "leave it out"
        raise InputError(f"with {method}", repr(field), f"one of {there}", do)
    return Setting(method, field, _value(f"with {method}.{field}", value.strip(), known[field]))


def _value(where: str, text: str, kind: Any) -> Any:
    """A text as the type of a field."""
    kinds = [one for one in get_args(kind) if one is not NoneType]
    if get_origin(kind) is Literal:
        return choice(where, text, get_args(kind))
    if NoneType in get_args(kind):
        return None if text.lower() == "none" else _value(where, text, kinds[0])
    if kind is bool:
        return choice(where, text.lower(), ("true", "false")) == "true"
    try:
        number = kind(text)
    except ValueError:
        word = "a whole number" if kind is int else "a number"
        raise InputError(where, repr(text), word, "correct it") from None
    return _checked(where, number)


def _checked(where: str, number: int | float) -> int | float:
    """A number that its field can have."""
    field = where.rpartition(".")[2]
    zero = field in _MAY_BE_ZERO
    if isinstance(number, int):
        return require_whole(where, number, least=0 if zero else 1)
    most = math.inf if field not in _SHARES else 1.0 if field == "p" else 1 + 1e-12
    return require_number(where, number, above=-1e-300 if zero else 0, below=most)
