"""The verbs of the command line, and what is said when none is given.

A verb is loaded when a command names it, with all that it needs; the help of the others is
their first sentence here.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperOption
from typer.main import get_command

from equipoise.cli.help import help_text
from equipoise.cli.options import ROWS, TYPES, flag
from equipoise.cli.screen import option_names

VERBS = {  # its file and function, and its first sentence
    "evaluate": (
        "evaluate:evaluate",
        "Which model is better, how sure is that, and what would settle it?",
    ),
    "check": (
        "check:check",
        "Say how files are read, and make one file of them that every verb takes.",
    ),
    "report": ("report:report", "Turn a run into one self-contained HTML page."),
    "aggregate": (
        "aggregate:aggregate",
        "Infer what is plausibly true of every item, how certain that is, and who to trust.",
    ),
    "agreement": (
        "agreement:agreement",
        "Measure how far annotators agree beyond chance, and who differs from whom.",
    ),
    "plan": ("plan:plan", "How many items, how many annotators, and which votes next?"),
    "threshold plan": (
        "threshold:threshold_plan",
        "Which items should experts see, so that they can set a threshold?",
    ),
    "threshold set": (
        "threshold:threshold",
        "From which probability on do experts call an item positive, and how sure is that?",
    ),
    "sets": (
        "sets:sets",
        "Which classes must a set hold, so that it holds what a new reader says?",
    ),
    "audit": ("audit:audit", "How many positives did the retrieval of candidates miss?"),
    "uq evaluate": (
        "uq:evaluate",
        "Does a model's uncertainty flag bad images, ambiguous findings and its own mistakes?",
    ),
    "uq benchmark": (
        "uq:benchmark",
        "Which uncertainty method suits my images? Trains all of them and compares.",
    ),
    "clean scan": (
        "clean_scan:scan",
        "What should be looked at in these images before training on them?",
    ),
    "clean benchmark": (
        "clean_benchmark:benchmark",
        "Which detectors find the problems of a study, and how surely?",
    ),
    "clean rounds": ("clean_rounds:rounds", ""),
    "reproduce": (
        "datasets:reproduce",
        "Recompute a published table or figure from raw data and show both side by side.",
    ),
    "datasets": ("datasets:datasets", "List the public data sets that equipoise can load."),
    "demo": (
        "datasets:demo",
        "Run a whole reading study on bundled data and open the doors to your own.",
    ),
    "cell": (
        "engine:cell",
        "Make one part of a benchmark, as a task of `--engine slurm-array` does.",
    ),
}
GROUPS = {
    "threshold": "From which probability on do experts call an item positive?",
    "uq": "Which uncertainty can be trusted: does it flag bad images, ambiguous findings and "
    "its own mistakes, and is it calibrated?",
    "clean": "Find images that do not belong, are there twice, or have a wrong label; compare "
    "the methods that look for them.",
}
BARE = ("reproduce", "datasets", "demo")  # verbs that do something without a word
HIDDEN = "cell"
FIRST = frozenset(place.split()[0] for place in VERBS)


class _Verb(TyperCommand):
    """Makes the texts of its help that take loading much when that is shown."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Put the texts in."""
        for option in self.params:
            if isinstance(option, TyperOption) and option.help:
                option.help = help_text(option.help)
        super().format_help(ctx, formatter)


def top(
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    """Evaluate models when the experts disagree."""
    if version:
        from equipoise import __version__

        print(__version__)
        raise typer.Exit


def _summarised(summary: str) -> Any:
    """What stands for a verb that is not loaded."""

    def verb() -> None: ...

    verb.__doc__ = summary
    return verb


def application(loaded: Iterable[str] = FIRST) -> typer.Typer:
    """All verbs, of which some are loaded: those whose first word is named."""
    app = typer.Typer(
        name="equipoise",
        help="Evaluate models when the experts disagree.\n\n"
        "Start with `equipoise demo`, then give your own two files to `equipoise evaluate`: "
        "who said what, and what each model scored. `equipoise check` tells how files are "
        "read.",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(top)
    groups = {"": app}
    for name, text in GROUPS.items():
        groups[name] = typer.Typer(help=text, no_args_is_help=True, rich_markup_mode="markdown")
        app.add_typer(groups[name], name=name)
    for place, (home, summary) in VERBS.items():
        group, _, name = place.rpartition(" ")
        verb = _summarised(summary)
        if place.split()[0] in loaded:
            module, _, function = home.partition(":")
            verb = getattr(import_module(f"equipoise.cli.{module}"), function)
        if isinstance(verb, typer.Typer):
            groups[group].add_typer(verb, name=name)
            continue
        bare, hidden = name in BARE, name == HIDDEN
        groups[group].command(name, cls=_Verb, no_args_is_help=not bare, hidden=hidden)(verb)
    return app


@cache
def _verbs(loaded: frozenset[str]) -> Any:
    return get_command(application(loaded))


def verbs(arguments: Iterable[str] = FIRST) -> Any:
    """All verbs; those that a command names have their options."""
    return _verbs(FIRST.intersection(arguments))


def options_of(arguments: Sequence[str]) -> set[str]:
    """Names of the options that the verb of a command has, with underscores.

    Examples
    --------
    >>> "at_least" in options_of(["aggregate", "votes.csv"]), options_of([])
    (True, set())
    """
    here = verbs(arguments)
    for word in arguments:
        if word in getattr(here, "commands", {}):
            here = here.commands[word]
    return set() if hasattr(here, "commands") else option_names(here)


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
    if "" not in arguments and "= " not in " ".join([*arguments, ""]):
        return None
    joined = [word.partition("=")[::2] for word in arguments if "=" in word]
    empty = {option for option, value in (*pairwise(arguments), *joined) if value == ""}
    taken = options_of(arguments) if empty else set()
    for name, row in ROWS.items():
        for option in row.flags or (flag(name),):
            path = TYPES[name] in (Path, Path | None)
            if path and option in empty and option.lstrip("-").replace("-", "_") in taken:
                return option
    return None
