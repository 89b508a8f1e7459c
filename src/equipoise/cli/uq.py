"""equipoise uq: which uncertainty of an image classifier can be trusted, and for what."""

from importlib import import_module
from importlib.util import find_spec

import typer

uq = typer.Typer(
    help="Which uncertainty can be trusted: does it flag bad images, ambiguous findings and "
    "its own mistakes, and is it calibrated?",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
for _verb in ("evaluate", "benchmark"):
    _module = f"equipoise.cli.uq_{_verb}"
    if find_spec(_module) is not None:
        uq.command(_verb, no_args_is_help=True)(getattr(import_module(_module), _verb))
