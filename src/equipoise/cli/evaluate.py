"""equipoise evaluate: two files in, the ranking with its uncertainty out."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli._catalogue import check_k, list_metrics, metric_of, metrics_help
from equipoise.cli._groups import GroupOptions, regrouped, with_groups, within
from equipoise.cli._screen import note, print_json, progress, say
from equipoise.cli.options import (
    FILES,
    RESULT,
    UNCERTAINTY,
    DataFiles,
    Level,
    OutputOptions,
    ReadingOptions,
    Seed,
    check_choice,
    checked,
    command,
    words,
)
from equipoise.cli.study import TITLE, dataset_facts, input_rows, read_scored, table_files
from equipoise.cli.targets import check_run_folder
from equipoise.cli.truth import Truth, TruthOptions, make_plan, make_truth

if TYPE_CHECKING:
    from equipoise.annotations import Annotations
    from equipoise.evaluation import Evaluation
    from equipoise.metrics import Metric
    from equipoise.run import Run
    from equipoise.run.record import Question

INTERVALS = ("percentile", "basic", "normal")
RECORDED = (
    "positive",
    "at_least",
    "kind",
    "exchangeable",
    "layout",
    "prediction_layout",
    "repeats",
    "on_missing",
    "first_votes",
    "circular",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateFiles(DataFiles):
    """Two files, or a public data set."""

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
    ] = None
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
    ] = None

    def __post_init__(self) -> None:
        """Refuse half a study."""
        super(EvaluateFiles, self).__post_init__()
        if self.dataset is None and self.annotations is None:
            message = "give -a FILE, or --dataset NAME (see `equipoise datasets`)"
            raise typer.BadParameter(message, param_hint="-a FILE")
        if self.dataset is None and not self.predictions:
            message = "give what each model scored: -p FILE"
            raise typer.BadParameter(message, param_hint="-p FILE")

    @property
    def name(self) -> str:
        """Name of the study: of its data set, or of its annotations."""
        return self.dataset or (self.annotations.stem if self.annotations else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions:
    """By which metrics models are scored, and how sure that is."""

    metrics: Annotated[str, typer.Option(rich_help_panel=RESULT, help=metrics_help())] = (
        "auroc,average_precision"
    )
    listed: Annotated[
        bool,
        typer.Option(
            "--list-metrics",
            callback=list_metrics,
            is_eager=True,
            rich_help_panel=RESULT,
            help="Print every metric with its definition, and stop.",
        ),
    ] = False
    resample: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=UNCERTAINTY,
            help="What is drawn anew: `items`, `votes`, `panel`, `items-x-panel`, "
            "`items-x-votes`, `influence` (instant, for very many items); under a model "
            "`posterior` or `items-x-posterior`. Default: what fits; the output says why.",
        ),
    ] = None
    replicates: Annotated[
        int, typer.Option(min=1, rich_help_panel=UNCERTAINTY, help="Number of resamples.")
    ] = 2000
    seed: Seed = 0
    level: Level = 0.95
    interval: Annotated[
        str,
        typer.Option(rich_help_panel=UNCERTAINTY, help="`percentile`, `basic` or `normal`."),
    ] = "percentile"
    workers: Annotated[
        int,
        typer.Option(
            min=0, rich_help_panel=UNCERTAINTY, help="Threads; 0: all. Changes no number."
        ),
    ] = 0

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        from equipoise.resampling import normalised

        check_choice("interval", self.interval, INTERVALS)
        if self.resample is not None:
            checked("--resample", normalised, self.resample)
        if not self.chosen():
            message = "got nothing, expected at least one metric, for example auroc"
            raise typer.BadParameter(message, param_hint="--metrics")

    def chosen(self) -> "list[Metric]":
        """The metrics that were asked for."""
        return [checked("--metrics", metric_of, word) for word in words(self.metrics)]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutput(OutputOptions):
    """Where the run goes."""

    out: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=RESULT,
            help="Folder for run.json, replicates.npy and report.html; nothing is written "
            "without it.",
        ),
    ] = None
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite", rich_help_panel=RESULT, help="Replace an earlier run in that folder."
        ),
    ] = False
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", rich_help_panel=RESULT, help="Print rows as JSON, full precision."
        ),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """All that was asked of one evaluation."""

    files: EvaluateFiles
    scoring: EvaluateOptions
    truth: TruthOptions
    groups: GroupOptions
    reading: ReadingOptions
    results: RunOutput


@command
def evaluate(
    files: EvaluateFiles,
    scoring: EvaluateOptions,
    model: TruthOptions,
    groups: GroupOptions,
    reading: ReadingOptions,
    results: RunOutput,
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
    from equipoise.evaluation import Settings
    from equipoise.evaluation import evaluate as run_evaluation

    groups.check_truth(model.truth)
    if scoring.resample is not None:
        model.check_plan(scoring.resample)
    files = replace(files, predictions=table_files(files.predictions))
    asked = _Asked(
        files=files,
        scoring=scoring,
        truth=model,
        groups=groups,
        reading=reading,
        results=results,
    )
    check_run_folder(results.out, overwrite=results.overwrite)
    with progress("reading") as tell:
        grouping = groups.read()
        table, models = read_scored(files, reading, model.truth, scoring.metrics)
        tell(1, 1)
    made = make_truth(table, model, reading, seed=scoring.seed)
    made, expected = with_groups(grouping, made)
    made, models = regrouped(grouping, made, models, by_group=groups.by_group)
    metrics = scoring.chosen()
    check_k(metrics, len(made.parts[0].classes) if made.parts else 0)
    drawn = make_plan(
        made, table, scoring.resample, replicates=scoring.replicates, seed=scoring.seed
    )
    with progress("scoring") as tell:
        interval: Any = scoring.interval
        settings = Settings(scoring.level, interval, reading.on_missing, scoring.workers, tell)
        result = run_evaluation(
            models,
            made.given,
            metrics=within(grouping, metrics, groups.within),
            resampling=drawn,
            settings=settings,
        )
    if made.parts:
        result = replace(result, notices=(*table.notices, *result.notices))
        say(f"Truth: {made.reason} {made.words}.")
    say(f"Resampling: {result.plan.reason}", result.plan.scope, *expected)
    note(result.notices)
    _finish(result, table, made, asked)


def _finish(result: "Evaluation", table: "Annotations", made: Truth, asked: _Asked) -> None:
    """Write the run where asked, then print it; what is printed is already safe."""
    results = asked.results
    if results.out is None and results.as_json:
        print_json([row._asdict() for row in result.table()])
        return
    from equipoise.cli.report import show_run, write_page

    run = _recorded(result, table, made, asked)
    if results.out is not None:
        folder = run.save(results.out, overwrite=results.overwrite)
        say(f"Wrote {folder / 'run.json'}, {folder / 'replicates.npy'}")
        write_page(run, folder / "report.html")
    if results.as_json:
        print_json([row._asdict() for row in result.table()])
    else:
        show_run(run)


def _recorded(result: "Evaluation", table: "Annotations", made: Truth, asked: _Asked) -> "Run":
    """Make the run with everything that was asked."""
    from equipoise.findings.json import plain
    from equipoise.run.agreement import with_agreement
    from equipoise.run.record import DatasetRecord, TruthModel, read
    from equipoise.run.recording import Provenance, record

    labels: dict[str, str] = {}
    if made.parts:
        labels["soft"] = f"mean of the truth by {made.words}"
        labels["hard"] = "its class with more than half of that mean, or with most of it"
    also = {"groups": asked.groups.groups}
    source = dataset_facts(asked.files.dataset)
    run = record(
        result,
        Provenance(
            title=asked.results.title or f"{asked.files.name}: {TITLE}",
            inputs=input_rows(asked.files, asked.results.out, also),
            annotators=table.annotators or (),
            question=_question(table, asked),
            truth_model=read(TruthModel, plain(made.facts)) if made.facts else None,
            dataset=DatasetRecord(**source) if source else None,
            **labels,
        ),
    )
    return with_agreement(run, table)


def _question(table: "Annotations", asked: _Asked) -> "Question":
    """What the record says of the question: options of models only where there is one."""
    from equipoise.run.record import question

    reading, groups = asked.reading, asked.groups
    told: dict[str, Any] = {name: getattr(reading, name) for name in RECORDED}
    if reading.prediction_layout == "auto":
        del told["prediction_layout"]
    if asked.truth.truth != "votes":
        told["truth"] = asked.truth.truth
    if groups.by_group:
        told["by_group"] = groups.by_group
    if groups.within:
        told["within"] = groups.within
    told["read_as"] = f"{table.kind}: {', '.join(table.classes)}"
    if reading.classes is not None:
        told["classes"] = tuple(reading.class_names())
    told["columns"] = reading.column_names()
    told["prediction_columns"] = reading.prediction_column_names()
    return question(**told)
