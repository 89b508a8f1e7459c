"""equipoise agreement: how far annotators agree, beyond chance, and who differs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli._agreement_screen import show, show_tasks
from equipoise.cli._dataset import Dataset, check_dataset, study_name
from equipoise.cli._inputs import read_votes
from equipoise.cli._options import check_choices
from equipoise.cli._reading import Classes, Columns, Exchangeable, Kind, Layout
from equipoise.cli._screen import print_json, progress, say
from equipoise.cli._truth_page import check_target

if TYPE_CHECKING:
    from equipoise.annotations import Annotations


def agreement(
    annotations: Annotated[
        Path | None,
        typer.Argument(show_default=False, help="Who said what; see `evaluate --help`."),
    ] = None,
    dataset: Dataset = None,
    task: Annotated[
        str | None, typer.Option(help="Which question; all of them if left out.")
    ] = None,
    level: Annotated[
        str | None,
        typer.Option(
            help="How far apart two labels are for Krippendorff's alpha: `nominal` (same or "
            "not), `ordinal` (by rank), `interval` (squared difference) or `ratio` (relative "
            "to a true zero); by default what the kind of labels says."
        ),
    ] = None,
    weights: Annotated[
        str,
        typer.Option(
            help="How much a disagreement counts for Cohen's kappa: `none` (all alike), "
            "`linear` or `quadratic` (by the steps between grades)."
        ),
    ] = "none",
    kind: Kind = None,
    classes: Classes = None,
    columns: Columns = None,
    layout: Layout = "auto",
    repeats: Annotated[
        str,
        typer.Option(
            help="Several votes of one annotator on one item: `keep` (alpha counts all, "
            "Cohen's kappa shares them), `last` or `error`."
        ),
    ] = "keep",
    exchangeable: Exchangeable = False,
    replicates: Annotated[
        int, typer.Option(min=1, help="Resamples of items (or groups) for the intervals.")
    ] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resamples.")] = 0,
    page: Annotated[
        Path | None, typer.Option(help="File for a page with a heatmap, ending in .html.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Measure how far annotators agree beyond chance, and who differs from whom.

    0 is what chance would give, 1 is perfect. Krippendorff's alpha takes any number of
    annotators and missing votes; below 0.667 one label should not be treated as the truth.
    Fleiss' kappa and the mean of Cohen's kappas are read on the scale of Landis and Koch.
    Intervals (95 %) redraw items, or whole groups of them.

    Example: equipoise agreement votes.csv --page agreement.html
    """
    options = dict(locals())
    _check_words(options)
    check_dataset(options, files="ANNOTATIONS")
    check_target("--page", page, (".html", ".htm"))
    table = read_votes(options)
    found = _facts(table, options)
    say(*(f"Note: {one}" for one in (*table.notices, *_cautions(found))))
    if page is not None:
        from equipoise.report.agreement_page import AgreementPage, render_agreement
        from equipoise.run.folder import write_text

        title = f"{study_name(options)}: how far do annotators agree?"
        about = AgreementPage(title, tuple(table.notices), replicates, seed)
        write_text(page, render_agreement(found, about))
        say(f"Wrote {page}")
    if as_json:
        told = {"replicates": replicates, "seed": seed, "notices": list(table.notices)}
        print_json({**told, "tasks": found})
    elif len(found) == 1:
        show(found[0])
    else:
        show_tasks(found)


def _facts(table: "Annotations", options: dict[str, Any]) -> list[dict[str, Any]]:
    """Facts of one task, or of all, under a bar."""
    from equipoise.agreement import agreement_table
    from equipoise.run.agreement import agreement_facts

    tasks = table.tasks if options["task"] is None else (options["task"],)
    found = []
    with progress("agreement") as tell:
        for done, task in enumerate(tasks, start=1):
            one = agreement_table(
                table,
                task=task,
                level=options["level"],
                weights=options["weights"],
                replicates=options["replicates"],
                seed=options["seed"],
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


def _check_words(options: dict[str, Any]) -> None:
    """Refuse wrong words before anything is read."""
    from equipoise.agreement._shares import WEIGHTS
    from equipoise.agreement.krippendorff_alpha import LEVELS
    from equipoise.coding.options import ANNOTATION_LAYOUTS, KINDS, REPEATS

    known: dict[str, tuple[str, ...]] = {
        "level": LEVELS,
        "weights": WEIGHTS,
        "kind": KINDS,
        "layout": ANNOTATION_LAYOUTS,
        "repeats": REPEATS,
    }
    check_choices(options, known)
