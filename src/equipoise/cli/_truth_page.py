"""The page that `equipoise aggregate` writes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from equipoise.annotations import Annotations
    from equipoise.cli._truth_rows import Fits


def write_page(
    path: Path, table: "Annotations", fits: "Fits", said: tuple[str, str, Sequence[str]]
) -> None:
    """Write the page of an aggregation; held-out scores bring the comparison along.

    Parameters
    ----------
    said
        Name of the data, the sentence on the model, and the notices.
    """
    from equipoise.cli._screen import progress
    from equipoise.cli._truth_rows import comparison
    from equipoise.read.files import replaced
    from equipoise.report.truth_page import TruthPage, render_truth
    from equipoise.run.certainty import truth_facts

    name, reason, notices = said
    models = comparison(fits) if len(fits.models) > 1 else []
    about = TruthPage(f"{name}: what is plausibly true?", reason, tuple(notices), models)
    with progress("page"):
        text = render_truth(truth_facts(table, fits.made, task=fits.task), about)
    with replaced(path) as file:
        file.write(text.encode())
