"""Words given on the command line, turned into values; a wrong word is wrong usage."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import typer

from equipoise.arrays import InputError

Value = TypeVar("Value")
USUAL = (None, False, "auto", "keep", "error")  # of options for reading, when not given


def words(text: str | None) -> list[str]:
    """Split a comma-separated list.

    Examples
    --------
    >>> words("auroc, average_precision")
    ['auroc', 'average_precision']
    """
    return [word.strip() for word in (text or "").split(",") if word.strip()]


def class_names(text: str | list[str] | None) -> list[str]:
    """Take classes from a list, or from a text file with one class per line."""
    if isinstance(text, list):  # as a record has them
        return text
    if text is None or not text.endswith(".txt"):
        return words(text)
    try:
        lines = Path(text).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError(text, "no UTF-8 text", "a class per line", "save it so") from None
    return [line.strip() for line in lines if line.strip()]


def column_map(text: str | None, option: str) -> dict[str, str]:
    """Read ``item=Study,annotator=Reader``: our name, then the name in the file."""
    pairs = {}
    for word in words(text):
        ours, sign, theirs = word.partition("=")
        if not sign or not ours.strip() or not theirs.strip():
            message = f"got {word!r}, expected OURS=THEIRS, for example item=Study"
            raise typer.BadParameter(message, param_hint=option)
        pairs[ours.strip()] = theirs.strip()
    return pairs


def checked(option: str, function: Callable[[str], Value], value: str) -> Value:
    """Apply a function that refuses bad words, and call that wrong usage."""
    try:
        return function(value)
    except InputError as error:
        message = error.in_command().removeprefix(f"{option}: ")
        raise typer.BadParameter(message, param_hint=option) from None


def flag(name: str) -> str:
    """The option of a parameter.

    Examples
    --------
    >>> flag("prediction_layout")
    '--prediction-layout'
    """
    return f"--{name.replace('_', '-')}"


def check_choices(options: Mapping[str, Any], known: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse words that an option does not know; options that were left out are fine."""
    from equipoise.arrays import choice

    for name, allowed in known.items():
        if options[name] is not None:
            checked(flag(name), partial(choice, flag(name), known=allowed), options[name])


def check_metrics(text: str | None) -> None:
    """Refuse a list of metrics that is empty or names one that is not known."""
    from equipoise.metrics import named

    if text is not None and not words(text):
        raise typer.BadParameter("got nothing, expected a metric", param_hint="--metric")
    for word in words(text):
        checked("--metric", named, word)


def refuse(options: Mapping[str, Any], names: Iterable[str], message: str) -> None:
    """Refuse options that would do nothing."""
    for name in names:
        if options[name] not in USUAL:
            raise typer.BadParameter(message, param_hint=flag(name))
