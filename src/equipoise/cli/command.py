"""From the table of options to a command: a verb names its rows and gets their values.

::

    @verb("annotations", *OF_VOTES, "as_json", arguments=("annotations",))
    def count(asked: Options) -> None:
        ...

Options stand in the help in the order of the table. Words that are no choice of their row, and
numbers beyond what a machine can do, are refused before the verb runs, which is wrong usage
(exit code 2). ``--help-all`` shows the rare options, too.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import wraps
from importlib import import_module
from inspect import Parameter, Signature
from operator import attrgetter
from typing import Annotated, Any, NamedTuple

import typer

from equipoise.cli.options import (
    DEFAULTS,
    OF_ENGINE,
    ROWS,
    TYPES,
    Options,
    as_usage,
    check_choice,
    flag,
    misused,
)
from equipoise.read.options import require_positive
from equipoise.types import MOST_DRAWN, Names

HELP_ALL = "help_all"
KEPT = ("grid.json", "cells/*.cell", "embeddings/*/*")  # of a result, which a verb goes on from


class _Form(NamedTuple):
    """How a verb has its rows: as arguments, required, rare, with texts of its own."""

    arguments: Sequence[str]
    required: Sequence[str]
    rare: Sequence[str]
    texts: Mapping[str, str]
    show_all: bool


def verb(
    *names: str,
    arguments: Sequence[str] = (),
    required: Sequence[str] = (),
    rare: Sequence[str] = (),
    texts: Mapping[str, str] | None = None,
    show_all: bool = False,
    heavy: str = "",
) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Make a command of a function that takes `Options`.

    Parameters
    ----------
    names
        Rows of the table that the verb takes.
    arguments
        Those that are given by place, not by name.
    required
        Those that must be given.
    rare
        Those that only ``--help-all`` shows, beside the rows that are rare in every verb.
    texts
        Help of rows that mean something of their own here.
    show_all
        Whether the help shows rare options, too.
    heavy
        What the verb has that an engine can run: ``maps``, or ``cells`` that jobs can make,
        too. It then takes the options of the engine, and runs on it.

    Examples
    --------
    >>> @verb("labels", "replicates", texts={"labels": "Which labels."})
    ... def show(asked: Options) -> None:
    ...     print(asked.labels, asked.replicates)
    >>> show(labels="soft")
    soft None
    """
    taken = {*names, *(OF_ENGINE if heavy else ())}
    form = _Form(arguments, required, rare, texts or {}, show_all)
    parameters = [_parameter(name, form) for name in ROWS if name in taken]
    parameters.sort(key=lambda one: one.name not in arguments)
    if not show_all and any(name in rare or ROWS[name].rare for name in taken):
        parameters.append(_HELP_ALL)

    def command(function: Callable[[Options], None]) -> Callable[..., None]:
        @wraps(function)
        def run(**values: Any) -> None:
            values.pop(HELP_ALL, None)
            if values.get("list_metrics"):
                from equipoise.cli.help import list_metrics

                list_metrics()
                return
            _check(values)
            options = Options(**values)
            usual = tuple(map(DEFAULTS.get, OF_ENGINE))
            from equipoise.scale.cells import resumable

            with ExitStack() as around:
                if heavy and attrgetter(*OF_ENGINE)(options) != usual:
                    from equipoise.cli.engine import use_engine

                    around.enter_context(use_engine(options, cells=heavy == "cells"))
                around.enter_context(resumable(options.out, *KEPT))
                function(options)

        run.__dict__["__signature__"] = Signature(parameters, return_annotation=None)
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return command


def _parameter(name: str, form: _Form) -> Parameter:
    """A row of the table as typer understands it."""
    row = ROWS[name]
    is_number = TYPES[name] in (int, float, int | None, float | None)
    limits = {"min": row.least, "max": row.most} if is_number else {}
    about: Any = {"help": form.texts.get(name, row.text), "metavar": row.metavar, **limits}
    if name in form.arguments:
        info: Any = typer.Argument(show_default=False, **about)
    else:
        flags = row.flags or (f"--{name.replace('_', '-')}",)
        hidden = (row.rare or name in form.rare) and not form.show_all
        info = typer.Option(*flags, rich_help_panel=row.panel, hidden=hidden, **about)
    default = Parameter.empty if name in form.required else DEFAULTS[name]
    return Parameter(
        name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[TYPES[name], info]
    )


def _show_all(context: typer.Context, wanted: bool) -> None:
    """Print the help with every option, and stop."""
    if not wanted:
        return
    hidden = [option for option in context.command.params if getattr(option, "hidden", False)]
    for option in hidden:
        option.__dict__["hidden"] = False
    try:
        typer.echo(context.get_help())
    finally:
        for option in hidden:
            option.__dict__["hidden"] = True
    raise typer.Exit


_HELP_ALL = Parameter(
    HELP_ALL,
    Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool,
        typer.Option(
            "--help-all", callback=_show_all, is_eager=True, help="Show rare options, too."
        ),
    ],
)


def _check(values: Mapping[str, Any]) -> None:
    """Refuse words that a row does not know, and numbers that no machine gets through."""
    for name, value in values.items():
        row = ROWS[name]
        if row.choices and value != DEFAULTS[name]:
            check_choice(name, value, _choices(row.choices))
        if row.positive and value is not None:
            with as_usage(name):
                require_positive(flag(name), value)
        whole = isinstance(value, int) and not isinstance(value, bool)
        if whole and not row.any_size and value > MOST_DRAWN:
            got = value if value < 10**18 else "a huge number"
            raise misused(f"got {got}, expected at most {MOST_DRAWN:,}", name)


def _choices(choices: Names | str) -> Names:
    """The words of a row, or of the catalogue that it names."""
    if not isinstance(choices, str):
        return choices
    module, _, name = choices.partition(":")
    return tuple(getattr(import_module(module), name))
