"""equipoise clean: look through images for problems, compare detectors, judge duplicates."""

import typer

from equipoise.cli.clean_benchmark import benchmark
from equipoise.cli.clean_rounds import rounds
from equipoise.cli.clean_scan import scan

clean = typer.Typer(
    help="Find images that do not belong, are there twice, or have a wrong label; compare "
    "the methods that look for them.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
clean.command("scan", no_args_is_help=True)(scan)
clean.command("benchmark", no_args_is_help=True)(benchmark)
clean.add_typer(rounds, name="rounds")
