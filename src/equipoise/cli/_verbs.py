"""The verbs of the command line, and what is said when none is given."""

from collections.abc import Sequence
from typing import Any

import typer
from typer.main import get_command

from equipoise.cli._screen import option_names
from equipoise.cli.aggregate import aggregate
from equipoise.cli.agreement import agreement
from equipoise.cli.audit import audit
from equipoise.cli.check import check
from equipoise.cli.compare import compare
from equipoise.cli.datasets import datasets
from equipoise.cli.demo import demo
from equipoise.cli.evaluate import evaluate
from equipoise.cli.plan import plan
from equipoise.cli.report import report
from equipoise.cli.reproduce import reproduce
from equipoise.cli.stability import stability
from equipoise.cli.threshold import threshold
from equipoise.cli.threshold_plan import threshold_plan

app = typer.Typer(
    name="equipoise",
    help="Evaluate models when the experts disagree.\n\n"
    "Start with `equipoise demo`, then give your own two files to `equipoise evaluate`: who "
    "said what, and what each model scored.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
_NEEDY = (
    check, evaluate, stability, compare, report, aggregate, agreement, plan, threshold_plan,
    threshold, audit,
)  # fmt: skip
for _verb in (*_NEEDY, reproduce, datasets, demo):
    app.command(no_args_is_help=_verb in _NEEDY)(_verb)


@app.callback(invoke_without_command=True)
def top(
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    """Evaluate models when the experts disagree."""
    if version:
        from equipoise import __version__

        print(__version__)
        raise typer.Exit


def options_of(arguments: Sequence[str]) -> set[str]:
    """Names of the options that the verb of a command has, with underscores.

    Examples
    --------
    >>> "at_least" in options_of(["aggregate", "votes.csv"]), options_of([])
    (True, set())
    """
    group: Any = get_command(app)
    verb = next((word for word in arguments if word in group.commands), None)
    return set() if verb is None else option_names(group.commands[verb])
