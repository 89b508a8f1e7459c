"""What `equipoise aggregate --page` writes: one HTML file about the truth."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from equipoise.arrays import InputError

if TYPE_CHECKING:
    from equipoise.annotations import Annotations
    from equipoise.plausibilities import Plausibilities


def check_page(path: Path | None) -> None:
    """Refuse a page that could not be written before anything is read."""
    if path is None:
        return
    if path.suffix.lower() not in (".html", ".htm"):
        message = f"got {path.name!r}, expected a name that ends in .html"
        raise typer.BadParameter(message, param_hint="--page")
    if not path.absolute().parent.is_dir() or path.is_dir():
        raise InputError(
            f"{path}", "cannot be written", "a file in a folder that exists",
            "make the folder first, or name another file",
        )  # fmt: skip


def write_page(
    path: Path,
    table: "Annotations",
    made: "Plausibilities",
    said: tuple[str, str, Sequence[str]],
) -> None:
    """Write the page of an aggregation.

    Parameters
    ----------
    said
        Name of the data, the sentence on the model, and the notices.
    """
    from equipoise.cli._screen import progress
    from equipoise.report.truth_page import TruthPage, render_truth
    from equipoise.run.certainty import truth_facts
    from equipoise.run.folder import write_text

    name, reason, notices = said
    about = TruthPage(f"{name}: what is plausibly true?", reason, tuple(notices))
    with progress("page"):
        text = render_truth(truth_facts(table, made, task=made.task), about)
    write_text(path, text)
