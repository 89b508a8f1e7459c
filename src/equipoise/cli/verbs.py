"""The verbs of the command line, and what is said when none is given."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperOption
from typer.main import get_command

from equipoise.cli import clean_benchmark, clean_rounds, clean_scan, uq
from equipoise.cli.aggregate import aggregate
from equipoise.cli.agreement import agreement
from equipoise.cli.audit import audit
from equipoise.cli.check import check
from equipoise.cli.datasets import datasets, demo, reproduce
from equipoise.cli.engine import cell
from equipoise.cli.evaluate import evaluate
from equipoise.cli.help import help_text
from equipoise.cli.options import ROWS, TYPES
from equipoise.cli.plan import plan
from equipoise.cli.report import report
from equipoise.cli.screen import option_names
from equipoise.cli.threshold import threshold, threshold_plan


class _Verb(TyperCommand):
    """Makes the texts of its help that take loading much when that is shown."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Put the texts in."""
        for option in self.params:
            if isinstance(option, TyperOption) and option.help:
                option.help = help_text(option.help)
        super().format_help(ctx, formatter)


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


def _group(name: str, text: str, verbs: Mapping[str, Callable[..., None]]) -> typer.Typer:
    """Verbs under one word."""
    group = typer.Typer(help=text, no_args_is_help=True, rich_markup_mode="markdown")
    for name_in_group, verb in verbs.items():
        group.command(name_in_group, no_args_is_help=True, cls=_Verb)(verb)
    app.add_typer(group, name=name)
    return group


for _verb in (evaluate, check, report, aggregate, agreement, plan):
    app.command(no_args_is_help=True, cls=_Verb)(_verb)
_group(
    "threshold",
    "From which probability on do experts call an item positive?",
    {"plan": threshold_plan, "set": threshold},
)
app.command(no_args_is_help=True, cls=_Verb)(audit)
_group(
    "uq",
    "Which uncertainty can be trusted: does it flag bad images, ambiguous findings and its own "
    "mistakes, and is it calibrated?",
    {"evaluate": uq.evaluate, "benchmark": uq.benchmark},
)
_clean = _group(
    "clean",
    "Find images that do not belong, are there twice, or have a wrong label; compare the "
    "methods that look for them.",
    {"scan": clean_scan.scan, "benchmark": clean_benchmark.benchmark},
)
_clean.add_typer(clean_rounds.rounds, name="rounds")
for _verb in (reproduce, datasets, demo):
    app.command(cls=_Verb)(_verb)
app.command(no_args_is_help=True, hidden=True)(cell)


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
    if "" not in arguments and "=\n" not in "\n".join((*arguments, "")):
        return None
    taken = options_of(arguments)
    joined = [word for word in arguments if "=" in word]
    values = {*pairwise(arguments), *(word.partition("=")[::2] for word in joined)}
    for name, row in ROWS.items():
        if TYPES[name] not in (Path, Path | None):
            continue
        for flag in row.flags or (f"--{name.replace('_', '-')}",):
            if flag.lstrip("-").replace("-", "_") in taken and (flag, "") in values:
                return flag
    return None


def _verb_of(arguments: Sequence[str]) -> Any:
    here = verbs()
    for word in arguments:
        if word in getattr(here, "commands", {}):
            here = here.commands[word]
    return None if hasattr(here, "commands") else here
