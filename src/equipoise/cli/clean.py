"""equipoise clean: look through images for problems, compare detectors, judge duplicates."""

from importlib import import_module
from importlib.util import find_spec

import typer

clean = typer.Typer(
    help="Find images that do not belong, are there twice, or have a wrong label; compare "
    "the methods that look for them.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
for _verb in ("scan", "benchmark", "rounds"):
    _module = f"equipoise.cli.clean_{_verb}"
    if find_spec(_module) is not None:
        _made = getattr(import_module(_module), _verb)
        if isinstance(_made, typer.Typer):
            clean.add_typer(_made, name=_verb)
        else:
            clean.command(_verb, no_args_is_help=True)(_made)
