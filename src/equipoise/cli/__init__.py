"""Command line: each verb reads files, calls one library function, prints or writes one thing.

Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 the
input was refused, 2 wrong usage, 130 interrupted. A verb imports what it needs when it runs.
"""

import os
import sys
from contextlib import suppress

import typer

from equipoise.arrays import InputError
from equipoise.cli.aggregate import aggregate
from equipoise.cli.agreement import agreement
from equipoise.cli.datasets import datasets
from equipoise.cli.demo import demo
from equipoise.cli.evaluate import evaluate
from equipoise.cli.report import report
from equipoise.cli.reproduce import reproduce

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
for _verb in (evaluate, report, aggregate, agreement, reproduce, datasets, demo):
    app.command(no_args_is_help=_verb in (evaluate, report, aggregate, agreement))(_verb)


@app.callback(invoke_without_command=True)
def top(
    version: bool = typer.Option(False, "--version", help="Print the version and stop."),
) -> None:
    """Evaluate models when the experts disagree."""
    if version:
        from equipoise import __version__

        print(__version__)
        raise typer.Exit


def run() -> int:
    """Run one verb, turn refused input into a message, and return the exit code."""
    try:
        app()
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else int(done.code is not None)
    except InputError as error:
        print(f"equipoise: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(
            "equipoise: interrupted; nothing that was reported as done is lost", file=sys.stderr
        )
        return 130
    except BrokenPipeError:
        return 0
    except OSError as error:
        place = error.filename or "a file"
        do = "check the path and its permissions"
        refused = InputError(str(place), f"{error.strerror}", "a place that can be used", do)
        print(f"equipoise: {refused}", file=sys.stderr)
        return 1
    return 0


def main() -> None:
    """Run one verb and leave at once.

    Threads of compiled libraries that are still starting when Python takes itself apart can
    abort the process after all is done; nothing here needs that taking apart.
    """
    code = run()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
