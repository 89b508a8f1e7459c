"""equipoise agreement: how far annotators agree, beyond chance, and who differs."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli._agreement_screen import show, show_tasks
from equipoise.cli._screen import note, print_json, progress, say
from equipoise.cli.options import (
    RESULT,
    UNCERTAINTY,
    AsJson,
    VoteFile,
    VoteReading,
    check_choice,
    command,
)
from equipoise.cli.study import read_votes
from equipoise.cli.targets import check_target

if TYPE_CHECKING:
    from equipoise.annotations import Annotations


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementOptions:
    """Which coefficients, of which task, from how many resamples, and where they go."""

    task: Annotated[
        str | None,
        typer.Option(rich_help_panel=RESULT, help="Which question; all of them if left out."),
    ] = None
    level: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=RESULT,
            help="How far apart two labels are for Krippendorff's alpha: `nominal` (same or "
            "not), `ordinal` (by rank), `interval` (squared difference) or `ratio` (relative "
            "to a true zero); by default what the kind of labels says.",
        ),
    ] = None
    weights: Annotated[
        str,
        typer.Option(
            rich_help_panel=RESULT,
            help="How much a disagreement counts for Cohen's kappa: `none` (all alike), "
            "`linear` or `quadratic` (by the steps between grades).",
        ),
    ] = "none"
    replicates: Annotated[
        int,
        typer.Option(
            min=1,
            rich_help_panel=UNCERTAINTY,
            help="Resamples of items (or groups) for the intervals.",
        ),
    ] = 1000
    seed: Annotated[
        int, typer.Option(min=0, rich_help_panel=UNCERTAINTY, help="Seed of the resamples.")
    ] = 0
    page: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=RESULT, help="File for a page with a heatmap, ending in .html."
        ),
    ] = None
    as_json: AsJson = False

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        from equipoise.agreement._shares import WEIGHTS
        from equipoise.agreement.krippendorff_alpha import LEVELS

        check_choice("level", self.level, LEVELS)
        check_choice("weights", self.weights, WEIGHTS)
        check_target("--page", self.page, (".html", ".htm"))


@command
def agreement(file: VoteFile, asked: AgreementOptions, reading: VoteReading) -> None:
    """Measure how far annotators agree beyond chance, and who differs from whom.

    0 is what chance would give, 1 is perfect. Krippendorff's alpha takes any number of
    annotators and missing votes; below 0.667 one label should not be treated as the truth.
    Fleiss' kappa and the mean of Cohen's kappas are read on the scale of Landis and Koch.
    Intervals (95 %) redraw items, or whole groups of them.

    Example: equipoise agreement votes.csv --page agreement.html
    """
    table = read_votes(file.annotations, file.dataset, reading)
    found = _facts(table, asked)
    note((*table.notices, *_cautions(found)))
    if asked.page is not None:
        from equipoise.report.agreement_page import AgreementPage, render_agreement
        from equipoise.run.folder import write_text

        title = f"{file.name}: how far do annotators agree?"
        about = AgreementPage(
            title, tuple(map(str, table.notices)), asked.replicates, asked.seed
        )
        write_text(asked.page, render_agreement(found, about))
        say(f"Wrote {asked.page}")
    if asked.as_json:
        settings = {"replicates": asked.replicates, "seed": asked.seed}
        print_json({**settings, "notices": list(map(str, table.notices)), "tasks": found})
    elif len(found) == 1:
        show(found[0])
    else:
        show_tasks(found)


def _facts(table: "Annotations", asked: AgreementOptions) -> list[dict[str, Any]]:
    """Facts of one task, or of all, under a bar."""
    from equipoise.agreement import agreement_table
    from equipoise.run.agreement import agreement_facts

    tasks = table.tasks if asked.task is None else (asked.task,)
    found = []
    with progress("agreement") as tell:
        for done, task in enumerate(tasks, start=1):
            one = agreement_table(
                table,
                task=task,
                level=asked.level,
                weights=asked.weights,
                replicates=asked.replicates,
                seed=asked.seed,
            )
            found.append(agreement_facts(one))
            tell(done, len(tasks))
    return found


def _cautions(found: list[dict[str, Any]]) -> list[str]:
    """Cautions of all tasks; what holds for every one of them is said once."""
    every = [one for facts in found for one in facts["cautions"]]
    shared = [one for one in dict.fromkeys(every) if every.count(one) == len(found)]
    own = [
        f"{facts['task']}: {one}"
        for facts in found
        for one in facts["cautions"]
        if one not in shared
    ]
    return [*shared, *own]
