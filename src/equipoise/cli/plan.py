"""equipoise plan: from a pilot to the study that settles it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from equipoise.cli._dataset import Dataset
from equipoise.cli._options import words
from equipoise.cli._plan_screen import show
from equipoise.cli._reading import (
    AtLeast,
    Classes,
    Columns,
    Exchangeable,
    Kind,
    Layout,
    Positive,
    PredictionColumns,
    PredictionLayout,
    Repeats,
)
from equipoise.cli._screen import note, output, print_json, progress, say
from equipoise.cli._stability_options import AsJson, Overwrite, Title, check, given

FILES, MEANING, GOAL, RESULT = "Files", "What the labels mean", "What to plan for", "Result"
TABLE = ".csv"
FILL_IN = "a table to fill in (columns annotator and label); filled in, give it as votes (-a)"
OTHER = (".txt", ".tsv", ".json", ".html", ".xlsx", ".parquet")  # no names of folders


def plan(
    run: Annotated[
        Path | None,
        typer.Argument(
            show_default=False,
            help="Folder of the pilot's evaluation (`equipoise evaluate --out`). Or give -a "
            "and -p, or --dataset.",
        ),
    ] = None,
    annotations: Annotated[
        Path | None,
        typer.Option(
            "--annotations",
            "-a",
            rich_help_panel=FILES,
            help="Votes of the pilot; see `evaluate --help`. A few hundred items with two or "
            "more votes each make a good pilot.",
        ),
    ] = None,
    predictions: Annotated[
        list[Path] | None,
        typer.Option(
            "--predictions",
            "-p",
            rich_help_panel=FILES,
            help="What each model scored; items that nobody annotated are left aside. Repeat "
            "for several files, or name a folder.",
        ),
    ] = None,
    dataset: Dataset = None,
    metric: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=GOAL,
            help="The metric to decide by, with soft labels: `auroc`, `average_precision`, "
            "`brier_score`, ...; not P@k, which changes its meaning with the number of items. "
            "Default: the first of the evaluation, or auroc.",
        ),
    ] = None,
    models: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=GOAL, help="The two models: `A,B`. Default: the two best."
        ),
    ] = None,
    ranking: Annotated[
        bool,
        typer.Option(
            "--ranking",
            rich_help_panel=GOAL,
            help="Plan for the whole order: every model against the next.",
        ),
    ] = False,
    power: Annotated[
        float,
        typer.Option(
            min=0.05,
            max=0.999,
            rich_help_panel=GOAL,
            help="Chance that the study must have of resolving the difference.",
        ),
    ] = 0.8,
    level: Annotated[
        float,
        typer.Option(
            min=0.5,
            max=0.999,
            rich_help_panel=GOAL,
            help="Level of the interval that must lie above 0.",
        ),
    ] = 0.95,
    difference: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=GOAL,
            help="The smallest difference that matters. Default: the pilot's, which tends to "
            "be too large when the two best were picked by it.",
        ),
    ] = None,
    votes_per_item: Annotated[
        str, typer.Option(rich_help_panel=GOAL, help="Designs to look at, comma-separated.")
    ] = "1,2,3,5,8",
    price_item: Annotated[
        float | None,
        typer.Option(rich_help_panel=GOAL, help="What one more item costs, without votes."),
    ] = None,
    price_vote: Annotated[
        float | None, typer.Option(rich_help_panel=GOAL, help="What one vote costs.")
    ] = None,
    simulations: Annotated[
        int,
        typer.Option(
            min=0,
            rich_help_panel=GOAL,
            help="Studies drawn from the pilot to check each design; 0 for the formula alone.",
        ),
    ] = 400,
    number: Annotated[
        int,
        typer.Option(
            "--next",
            min=0,
            rich_help_panel=RESULT,
            help="How many items to name for one more vote each.",
        ),
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=RESULT,
            help="Folder for plan.json, tables (CSV, Markdown, LaTeX), figures (SVG), "
            "methods.md, references.bib and report.html; or a .csv for the items of --next.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    title: Title = None,
    seed: Annotated[
        int, typer.Option(min=0, rich_help_panel=RESULT, help="Same seed, same bytes.")
    ] = 0,
    as_json: AsJson = False,
    task: Annotated[
        str | None,
        typer.Option(rich_help_panel=MEANING, help="Which question, when there are several."),
    ] = None,
    kind: Kind = None,
    classes: Classes = None,
    positive: Positive = None,
    at_least: AtLeast = None,
    exchangeable: Exchangeable = False,
    columns: Columns = None,
    prediction_columns: PredictionColumns = None,
    layout: Layout = "auto",
    prediction_layout: PredictionLayout = "auto",
    repeats: Repeats = "keep",
) -> None:
    """How many items, how many votes on each, and which votes next?

    From a pilot, splits the doubt about two models into what items and what votes leave, says
    how large a study must be to resolve their difference with a given chance, and checks that
    by studies simulated from the pilot. With `--next`, names the items on which one more vote
    tells most.

    Example: equipoise plan -a votes.csv -p scores.csv --price-item 1 --price-vote 0.2

    Example: equipoise plan run --models resnet,vit --next 20 --out next.csv

    Example: equipoise plan run --ranking --out plan
    """
    options = dict(locals())
    from equipoise.cli._plan_run import MARK, planned, write_plan
    from equipoise.run.planning import plan_facts
    from equipoise.run.text_folder import check_folder

    chosen = _usage(options)
    folder = None if out is None or out.suffix.lower() == TABLE else out
    if folder is not None:
        check_folder(folder, (MARK, "report.html"), overwrite=overwrite)
    with progress("reading"):
        study = given(run, {**options, "on_missing": "error", "out": folder})
    with progress("planning") as tell:
        found, wanted = planned(study, {**options, **chosen}, tell)
        facts = plan_facts(found, wanted)
    facts["notices"] = [*study.notices, *study.annotations.notices, *facts["notices"]]
    note(facts["notices"])
    if folder is not None:
        write_plan(
            folder, facts, study, title or f"How large must the study be? ({study.name})"
        )
        if wanted is not None and wanted.items:
            say(f"{folder}/tables/plan_next.csv: {FILL_IN}")
    elif wanted is not None and out is not None:
        wanted.write(out)
        say(f"Wrote {out}: {FILL_IN}")
    if as_json:
        print_json(facts)
    else:
        show(output(), found, wanted, facts)


def _usage(options: dict[str, Any]) -> dict[str, Any]:
    """Check words before anything is read."""
    metrics = check({**options, "on_missing": "error"})
    if len(metrics) > 1:
        message = f"got {options['metric']!r}, expected one metric to decide by"
        raise typer.BadParameter(message, param_hint="--metric")
    if options["ranking"] and options["models"]:
        message = "is about the whole order; leave out --models"
        raise typer.BadParameter(message, param_hint="--ranking")
    _check_out(options)
    return {"models": _two(options["models"]), "votes": _numbers(options["votes_per_item"])}


def _two(text: str | None) -> tuple[str, str] | None:
    names = words(text)
    if text is not None and len(names) != 2:
        message = f"got {text!r}, expected two models, for example resnet,vit"
        raise typer.BadParameter(message, param_hint="--models")
    return (names[0], names[1]) if names else None


def _numbers(text: str) -> tuple[int, ...]:
    found = words(text)
    if not found or not all(one.isdigit() and int(one) > 0 for one in found):
        message = f"got {text!r}, expected whole numbers of at least 1, for example 1,2,3,5"
        raise typer.BadParameter(message, param_hint="--votes-per-item")
    return tuple(dict.fromkeys(int(one) for one in found))


def _check_out(options: dict[str, Any]) -> None:
    path: Path | None = options["out"]
    table = path is not None and path.suffix.lower() == TABLE
    if path is not None and path.suffix.lower() in OTHER:
        message = f"got {path.name!r}, expected a folder, or a file ending in .csv"
        raise typer.BadParameter(message, param_hint="--out")
    if table and not options["number"]:
        message = "a .csv is for the items of --next; add it, or name a folder"
        raise typer.BadParameter(message, param_hint="--out")
    for name in ("overwrite", "title"):
        if options[name] and (path is None or table):
            message = "belongs to --out FOLDER"
            raise typer.BadParameter(message, param_hint=f"--{name}")
