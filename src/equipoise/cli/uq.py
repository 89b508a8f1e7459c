"""equipoise uq: which uncertainty of an image classifier can be trusted, and for what."""

import typer

from equipoise.cli.uq_benchmark import benchmark
from equipoise.cli.uq_evaluate import evaluate

uq = typer.Typer(
    help="Which uncertainty can be trusted: does it flag bad images, ambiguous findings and "
    "its own mistakes, and is it calibrated?",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
uq.command("evaluate", no_args_is_help=True)(evaluate)
uq.command("benchmark", no_args_is_help=True)(benchmark)
