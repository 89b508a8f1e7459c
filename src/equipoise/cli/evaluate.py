"""equipoise evaluate: two files in, the ranking with its doubts out."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli._catalogue import check_k, list_metrics, metrics_help
from equipoise.cli._dataset import Dataset
from equipoise.cli._inputs import read, spread, usage
from equipoise.cli._reading import (
    AtLeast,
    Classes,
    Columns,
    Exchangeable,
    Kind,
    Layout,
    OnMissing,
    Positive,
    PredictionColumns,
    PredictionLayout,
    Repeats,
)
from equipoise.cli._screen import note, output, print_json, progress, say, verdicts

if TYPE_CHECKING:
    from equipoise.annotations import Annotations
    from equipoise.cli._truth import Truth
    from equipoise.evaluation import Evaluation

FILES, MEANING, DOUBT, RESULT = "Files", "What the labels mean", "Uncertainty", "Result"
TRUTH, GROUPS = "What is true", "Groups of classes"


def evaluate(
    annotations: Annotated[
        Path | None,
        typer.Option(
            "--annotations",
            "-a",
            rich_help_panel=FILES,
            help="Who said what: CSV, TSV or Parquet with `item, annotator, label` (optional "
            "`task, rank, confidence, weight, timestamp, duration_ms, is_gold, group`), a "
            "wide table of items by annotators, a count matrix (npy, CSV), rankings JSON, "
            "or a Label Studio export.",
        ),
    ] = None,
    predictions: Annotated[
        list[Path] | None,
        typer.Option(
            "--predictions",
            "-p",
            rich_help_panel=FILES,
            help="What each model scored: `item, [task], model, score`, or one column per "
            "model, or class probabilities. A folder stands for all tables in it; repeat for "
            "several.",
        ),
    ] = None,
    dataset: Dataset = None,
    metrics: Annotated[
        str,
        typer.Option(rich_help_panel=RESULT, help=metrics_help()),
    ] = "auroc,average_precision",
    listed: Annotated[
        bool,
        typer.Option(
            "--list-metrics",
            callback=list_metrics,
            is_eager=True,
            rich_help_panel=RESULT,
            help="Print every metric with its definition, and stop.",
        ),
    ] = False,
    truth: Annotated[
        str,
        typer.Option(
            rich_help_panel=TRUTH,
            help="`votes` themselves, a model of them (`auto`, or a name that `aggregate "
            "--model` takes), or a file written by `aggregate --out` (.npz; several tasks: "
            "comma-separated).",
        ),
    ] = "votes",
    draws: Annotated[
        int | None,
        typer.Option(
            min=2, rich_help_panel=TRUTH, help="Possible truths of the model. Default: 1,000."
        ),
    ] = None,
    burn_in: Annotated[
        int | None,
        typer.Option(
            min=0,
            rich_help_panel=TRUTH,
            help="Draws of each chain thrown away first (plackett_luce). Default: 500.",
        ),
    ] = None,
    reliability: Annotated[
        float | None,
        typer.Option(rich_help_panel=TRUTH, help="How much a vote is worth to the model."),
    ] = None,
    groups: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=GROUPS,
            help="Table of `class, group` (lowest group first) and perhaps `value`, a number "
            "per group; the file's stem names what the groups are, as in risk.csv.",
        ),
    ] = None,
    by_group: Annotated[
        bool,
        typer.Option(
            "--by-group", rich_help_panel=GROUPS, help="Score groups instead of classes."
        ),
    ] = False,
    within: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=GROUPS,
            help="Score the cases of a group (several: comma-separated), each by its chance "
            "of being one; for metrics under a model of the truth.",
        ),
    ] = None,
    resample: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=DOUBT,
            help="What is drawn anew: `items`, `votes`, `panel`, `items-x-panel`, "
            "`items-x-votes`, `influence` (instant, for very many items); under a model "
            "`posterior` or `items-x-posterior`. Default: what fits; the output says why.",
        ),
    ] = None,
    replicates: Annotated[
        int, typer.Option(min=1, rich_help_panel=DOUBT, help="Number of resamples.")
    ] = 2000,
    seed: Annotated[
        int, typer.Option(min=0, rich_help_panel=DOUBT, help="Same seed, same bytes.")
    ] = 0,
    level: Annotated[
        float, typer.Option(min=0.5, max=0.999, rich_help_panel=DOUBT, help="Interval level.")
    ] = 0.95,
    interval: Annotated[
        str,
        typer.Option(rich_help_panel=DOUBT, help="`percentile`, `basic` or `normal`."),
    ] = "percentile",
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
    on_missing: OnMissing = "error",
    out: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=RESULT,
            help="Folder for run.json, replicates.npy and report.html; nothing is written "
            "without it.",
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", rich_help_panel=RESULT, help="Replace an earlier run in that folder."
        ),
    ] = False,
    title: Annotated[
        str | None, typer.Option(rich_help_panel=RESULT, help="Heading of the page.")
    ] = None,
    workers: Annotated[
        int,
        typer.Option(min=0, rich_help_panel=DOUBT, help="Threads; 0: all. Changes no number."),
    ] = 0,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", rich_help_panel=RESULT, help="Print rows as JSON, full precision."
        ),
    ] = False,
) -> None:
    """Which model is better, by how much, how sure is that, and does disagreement matter?

    Scores every model against the hard labels (strict majority) and the soft labels (mean
    vote) that the annotators' votes give, with intervals from one resampling plan shared by
    all models, so that every comparison is paired. With `--truth` a model of the votes says
    what is plausibly true, and models are scored against its draws.

    Example: equipoise evaluate -a votes.csv -p scores.csv --out run

    Example: equipoise evaluate --dataset chexpert --out run

    Example: equipoise evaluate -a ddx.json -p probabilities --truth auto --metrics
    topk_accuracy:k=3
    """
    options = dict(locals())
    from equipoise.cli._groups import asked_groups, regrouped, with_groups
    from equipoise.cli._groups import within as conditioned
    from equipoise.cli._truth import plan
    from equipoise.cli._truth import truth as make_truth
    from equipoise.cli._truth_page import check_run_folder
    from equipoise.cli._truth_words import DRAWS
    from equipoise.evaluation import Settings
    from equipoise.evaluation import evaluate as run_evaluation

    chosen = usage(options)
    options |= {"predictions": spread(predictions), "draws": draws or DRAWS}
    check_run_folder(out, overwrite=overwrite)
    with progress("reading") as tell:
        found = asked_groups(options)
        table, models = read(options)
        tell(1, 1)
    made, said = with_groups(found, make_truth(table, options))
    made, models = regrouped(found, made, models, options)
    check_k(chosen["metrics"], len(made.parts[0].classes) if made.parts else 0)
    with progress("scoring") as tell:
        settings = Settings(level, chosen["interval"], on_missing, workers, tell)
        result = run_evaluation(
            models,
            made.given,
            metrics=conditioned(found, chosen["metrics"], within),
            resampling=plan(made, table, options),
            settings=settings,
        )
    if made.parts:
        result = replace(result, notices=(*table.notices, *result.notices))
        say(f"Truth: {made.facts['reason']} {made.words}.")
    say(f"Resampling: {result.plan.reason}", result.plan.scope, *said)
    note(result.notices)
    _finish(result, table, made, options)


def _finish(
    result: "Evaluation", table: "Annotations", made: "Truth", options: dict[str, Any]
) -> None:
    """Write the run where asked, then print it; what is printed is already safe."""
    if options["out"] is not None or not options["as_json"]:
        from equipoise.cli._provenance import recorded

        run = recorded(result, table, made, options)
    if options["out"] is not None:
        from equipoise.cli.report import write_page

        folder = run.save(options["out"], overwrite=options["overwrite"])
        say(f"Wrote {folder / 'run.json'}, {folder / 'replicates.npy'}")
        write_page(folder, folder / "report.html")
    if options["as_json"]:
        print_json([row._asdict() for row in result.table()])
    else:
        from equipoise.cli._table import leaderboard

        leaderboard(output(), result)
        output().print(*verdicts(run.header, run.replicates), sep="\n")
