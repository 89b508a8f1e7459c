"""equipoise aggregate: from who said what to what is plausibly true."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli._catalogue import model_help, prior_help, reliability_help
from equipoise.cli._dataset import (
    Dataset,
    check_dataset,
    study_name,
)
from equipoise.cli._fitting import fit, notes
from equipoise.cli._inputs import asked, read_votes
from equipoise.cli._options import check_choices
from equipoise.cli._reading import (
    AtLeast,
    Classes,
    Columns,
    Exchangeable,
    Kind,
    Layout,
    Positive,
    Repeats,
)
from equipoise.cli._screen import print_json, say
from equipoise.cli._truth_page import write_page
from equipoise.cli._truth_rows import Fits, facts
from equipoise.cli._truth_screen import show
from equipoise.cli.options import DataFiles
from equipoise.cli.study import dataset_facts, input_rows
from equipoise.cli.targets import check_target

if TYPE_CHECKING:
    from equipoise.annotations import Annotations

FILES, MEANING, MODEL, RESULT = "Files", "What the labels mean", "Model", "Result"


def aggregate(
    annotations: Annotated[
        Path | None,
        typer.Argument(
            show_default=False,
            help="Who said what: CSV, TSV or Parquet with `item, annotator, label` (optional "
            "`task, rank, confidence, weight, timestamp, duration_ms, is_gold, group`), a "
            "wide table of items by annotators, a count matrix (npy, CSV), rankings JSON, or "
            "a Label Studio export.",
        ),
    ] = None,
    dataset: Dataset = None,
    model: Annotated[
        str,
        typer.Option(
            rich_help_panel=MODEL,
            help=model_help(),
        ),
    ] = "auto",
    compare: Annotated[
        bool,
        typer.Option(
            "--compare",
            rich_help_panel=MODEL,
            help="Fit every suitable model: held-out votes, and where they differ.",
        ),
    ] = False,
    threshold: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=MODEL,
            help="Where ratings (`--kind interval`) become 'at least'; `normal` needs it.",
        ),
    ] = None,
    reliability: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=MODEL,
            help=reliability_help(),
        ),
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=MODEL,
            help=prior_help(),
        ),
    ] = None,
    bootstrap: Annotated[
        int,
        typer.Option(
            min=0,
            rich_help_panel=MODEL,
            help="Refit the model to so many panels of redrawn annotators; a certainty is "
            "then the share of panels that name the same class. 0: none.",
        ),
    ] = 0,
    seed: Annotated[
        int,
        typer.Option(min=0, rich_help_panel=MODEL, help="Seed of everything that is drawn."),
    ] = 0,
    task: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=MEANING, help="Which question; needed when there are several."
        ),
    ] = None,
    kind: Kind = None,
    classes: Classes = None,
    positive: Positive = None,
    at_least: AtLeast = None,
    exchangeable: Exchangeable = False,
    columns: Columns = None,
    layout: Layout = "auto",
    repeats: Repeats = "keep",
    out: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=RESULT, help="File for the plausibilities, ending in .npz."
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=RESULT, help="File for a page about the truth, ending in .html."
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            rich_help_panel=RESULT,
            help="Print everything as JSON. Items have the classes with a mass of their own, "
            "and `others` for all the rest together; a log-likelihood of minus infinity is "
            'the text "-inf", undefined is null.',
        ),
    ] = False,
) -> None:
    """Infer what is plausibly true of every item, how certain that is, and who to trust.

    Prints the most ambiguous items, the annotators, and where models decide differently;
    `--compare` fits every suitable model and scores held-out votes; `--out` keeps the
    plausibilities for `equipoise.read_plausibilities`.

    Example: equipoise aggregate votes.csv --compare
    """
    options = dict(locals())
    from equipoise.choosing import recommended

    _check_words(options)
    check_dataset(options, files="ANNOTATIONS")
    check_target("--out", out, (".npz",))
    check_target("--page", page, (".html", ".htm"))
    table = asked(read_votes(options), options)
    question = _task(table, task)
    name, reason = recommended(table) if model == "auto" else (model, f"{model} was asked for.")
    fits = fit(table, Fits(name, question, {}, {}), options)
    noted = notes(table, fits, options)
    say(f"Model: {reason}", *(f"Note: {one}" for one in noted))
    if out is not None:
        from equipoise.io import write_plausibilities

        write_plausibilities(fits.made, out)
        say(f"Wrote {out}")
    if page is not None:
        shown = fits if compare else fits._replace(models={name: fits.made})
        write_page(page, table, shown, (study_name(options), reason, noted))
        say(f"Wrote {page}")
    rows = facts(table, fits)
    if as_json:
        told = {**_told(options), "model": name, "reason": reason, "method": fits.made.method}
        print_json({**told, **rows, "notices": noted})
    else:
        show(fits.made, rows)


def _told(options: dict[str, Any]) -> dict[str, Any]:
    """What the result was made with: version, input and seed."""
    from equipoise import __version__

    read = DataFiles(annotations=options["annotations"], dataset=options["dataset"])
    files = [{"name": one.name, "sha256": one.sha256} for one in input_rows(read, None, {})]
    source = dataset_facts(options["dataset"])
    question = {name: options[name] for name in ("positive", "at_least", "task")}
    return {
        "version": __version__,
        **({"dataset": source, "inputs": files} if source else {"input": files[0]}),
        "seed": options["seed"],
        **question,
    }


def _check_words(options: dict[str, Any]) -> None:
    """Refuse wrong words before anything is read."""
    from equipoise.aggregate import CATALOGUE
    from equipoise.coding.options import ANNOTATION_LAYOUTS, KINDS, REPEATS

    known: dict[str, tuple[str, ...]] = {
        "model": ("auto", *CATALOGUE, "normal"),
        "kind": KINDS,
        "layout": ANNOTATION_LAYOUTS,
        "repeats": REPEATS,
    }
    check_choices(options, known)


def _task(table: "Annotations", task: str | None) -> str:
    """The task that was asked for, or the only one."""
    from equipoise.arrays import InputError, listed, nearest

    if task is None and len(table.tasks) > 1:
        raise InputError(
            "annotations", f"{len(table.tasks)} tasks ({listed(table.tasks)})", "one",
            "choose one with --task",
        )  # fmt: skip
    if task is None or task in table.tasks:
        return table.tasks[0] if task is None else task
    if table.tasks == ("",):
        raise InputError(
            f"--task {task}", "no such task", "none: there is only one, and it has no name",
            "leave --task out, or name the column of tasks: --columns task=COLUMN",
        )  # fmt: skip
    do = nearest(task, table.tasks)
    raise InputError(
        f"--task {task}", "no such task", f"one of {listed(table.tasks, most=8)}", do
    )
