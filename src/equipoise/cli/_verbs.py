"""The verbs of the command line, and what is said when none is given."""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_command

from equipoise.cli._catalogue import help_text
from equipoise.cli._engine import cell
from equipoise.cli._screen import option_names
from equipoise.cli.aggregate import aggregate
from equipoise.cli.agreement import agreement
from equipoise.cli.asked import evaluate, stability
from equipoise.cli.audit import audit
from equipoise.cli.check import check
from equipoise.cli.clean import clean
from equipoise.cli.compare import compare
from equipoise.cli.datasets import datasets
from equipoise.cli.demo import demo
from equipoise.cli.plan import plan
from equipoise.cli.report import report
from equipoise.cli.reproduce import reproduce
from equipoise.cli.threshold import threshold
from equipoise.cli.threshold_plan import threshold_plan
from equipoise.cli.uq import uq


class _Verb(TyperCommand):
    """Makes the texts of its help that take loading much when that is shown."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Put the texts in."""
        for one in self.params:
            if isinstance(one, TyperOption) and one.help:
                one.help = help_text(one.help)
        super().format_help(ctx, formatter)


class _WithFormer(TyperGroup):
    """Takes the former `threshold FILE` for `threshold set FILE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the verb before words that do not begin with one."""
        if args and args[0] not in (*self.commands, "--help"):
            args = ["set", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    name="equipoise",
    help="Evaluate models when the experts disagree.\n\n"
    "Start with `equipoise demo`, then give your own two files to `equipoise evaluate`: who "
    "said what, and what each model scored. `equipoise check` tells how files are read.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
for _verb in (evaluate, check, report, aggregate, agreement, plan):
    app.command(no_args_is_help=True, cls=_Verb)(_verb)
_thresholds = typer.Typer(
    cls=_WithFormer,
    help="From which probability on do experts call an item positive?",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
_thresholds.command("plan", no_args_is_help=True)(threshold_plan)
_thresholds.command("set", no_args_is_help=True)(threshold)
app.add_typer(_thresholds, name="threshold")
app.command(no_args_is_help=True)(audit)
app.add_typer(uq, name="uq")
app.add_typer(clean, name="clean")
for _verb in (reproduce, datasets, demo):
    app.command()(_verb)
app.command(no_args_is_help=True, hidden=True)(cell)
for _name, _verb in (
    ("stability", stability),
    ("compare", compare),
    ("threshold-plan", threshold_plan),
):  # former names
    app.command(_name, no_args_is_help=True, hidden=True, cls=_Verb)(_verb)


@app.callback(invoke_without_command=True)
def top(
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    """Evaluate models when the experts disagree."""
    if version:
        from equipoise import __version__

        print(__version__)
        raise typer.Exit


@cache
def verbs() -> Any:
    """All verbs with their options, put together once."""
    return get_command(app)


def options_of(arguments: Sequence[str]) -> set[str]:
    """Names of the options that the verb of a command has, with underscores.

    Examples
    --------
    >>> "at_least" in options_of(["aggregate", "votes.csv"]), options_of([])
    (True, set())
    """
    verb = _verb_of(arguments)
    return set() if verb is None else option_names(verb)


def empty_path(arguments: Sequence[str]) -> str | None:
    """The option for a file or folder that a command gives no name, if any.

    An empty path would mean the folder in which the program runs.

    Examples
    --------
    >>> empty_path(["aggregate", "votes.csv", "--out", ""])
    '--out'
    >>> empty_path(["aggregate", "votes.csv", "--out", "."]) is None
    True
    """
    verb = _verb_of(arguments)
    options = [one for one in verb.params if isinstance(one, TyperOption)] if verb else []
    joined = [word for word in arguments if "=" in word]
    given = {*pairwise(arguments), *(word.partition("=")[::2] for word in joined)}
    for one in options:
        if one.type_descriptor.annotation is Path:
            for name in one.opts:
                if (name, "") in given:
                    return name
    return None


def _verb_of(arguments: Sequence[str]) -> Any:
    here = verbs()
    for word in arguments:
        if word in getattr(here, "commands", {}):
            here = here.commands[word]
    return here.commands.get("set") if hasattr(here, "commands") else here
