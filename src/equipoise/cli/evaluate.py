"""equipoise evaluate: two files in, the ranking with its uncertainty out."""

from dataclasses import dataclass, replace
from functools import partial
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
    flag,
    words,
)
from equipoise.cli.study import (
    TITLE,
    dataset_facts,
    holds_study,
    input_rows,
    read_scored,
    table_files,
)
from equipoise.cli.targets import check_run_folder
from equipoise.cli.truth import Truth, TruthOptions, make_plan, make_truth

if TYPE_CHECKING:
    from equipoise.annotations import Annotations
    from equipoise.evaluation import Evaluation
    from equipoise.metrics import Metric
    from equipoise.predictions import Predictions
    from equipoise.run import Run
    from equipoise.run.record import Question

    _Study = tuple[Annotations, tuple[Predictions, ...]]

POPULATIONS = ("random", "fixed")
RECORDED = (
    "positive",
    "at_least",
    "kind",
    "exchangeable",
    "layout",
    "prediction_layout",
    "repeats",
    "on_missing",
    "ties",
    "first_votes",
    "circular",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateFiles(DataFiles):
    """Two files, or a public data set."""

    annotations: Annotated[
        list[Path] | None,
        typer.Option(
            "--annotations",
            "-a",
            rich_help_panel=FILES,
            help="Who said what: CSV, TSV or Parquet with `item, annotator, label` (optional "
            "`task, rank, confidence, weight, timestamp, duration_ms, is_gold, group`), a "
            "wide table of items by annotators, a count matrix (npy, CSV), rankings JSON, "
            "a Label Studio export, or a study that `equipoise check --out` wrote. Repeat it, "
            "or name a folder, for one file per annotator.",
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
        if self.dataset is None and not self.annotations:
            message = "give -a FILE, or --dataset NAME (see `equipoise datasets`)"
            raise typer.BadParameter(message, param_hint="-a FILE")
        whole = self.dataset is not None or holds_study(self.annotations)
        if not whole and not self.predictions:
            message = "give what each model scored: -p FILE"
            raise typer.BadParameter(message, param_hint="-p FILE")

    @property
    def name(self) -> str:
        """Name of the study: of its data set, or of its annotations."""
        return self.dataset or (self.annotations[0].stem if self.annotations else "")


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
        int | None,
        typer.Option(
            min=1,
            rich_help_panel=UNCERTAINTY,
            help="Number of resamples; by default 2,000, fewer for more than 10,000 items.",
        ),
    ] = None
    seed: Seed = 0
    level: Level = 0.95
    items: Annotated[
        str,
        typer.Option(
            rich_help_panel=UNCERTAINTY,
            help="`random`: these items stand for others like them; `fixed`: they are all that "
            "count.",
        ),
    ] = "random"
    annotators: Annotated[
        str,
        typer.Option(
            rich_help_panel=UNCERTAINTY,
            help="`random`: these annotators stand for others like them; `fixed`: they are the "
            "standard.",
        ),
    ] = "random"
    inference: Annotated[
        str,
        typer.Option(
            rich_help_panel=UNCERTAINTY,
            help="`two-way`: against hard and soft labels; `mrmc`: Obuchowski and Rockette's "
            "analysis of each annotator's own votes, with Hillis' degrees of freedom.",
        ),
    ] = "two-way"
    margin: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=UNCERTAINTY,
            help="How much worse a model may be and still count as no worse: differences are "
            "judged superior, equivalent, non-inferior, inferior or undecided.",
        ),
    ] = None
    matters: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=UNCERTAINTY,
            help="The smallest difference that counts; by default half a unit of the last "
            "printed digit.",
        ),
    ] = None
    workers: Annotated[
        int,
        typer.Option(
            min=0, rich_help_panel=UNCERTAINTY, help="Threads; 0: all. Changes no number."
        ),
    ] = 0

    def __post_init__(self) -> None:
        """Refuse unknown words."""
        from equipoise.evaluation.result import INFERENCES
        from equipoise.inference import check_margin
        from equipoise.resampling import normalised

        check_choice("inference", self.inference, tuple(INFERENCES))
        check_choice("items", self.items, POPULATIONS)
        check_choice("annotators", self.annotators, POPULATIONS)
        for name in ("margin", "matters"):
            checked(flag(name), partial(check_margin, flag(name)), getattr(self, name))
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

    Scores every model against the hard labels (the class with most votes) and the soft labels
    (mean vote). Intervals and verdicts hold for items and annotators like these, groups of
    items (patients, nights) as wholes; models are paired, and separated only where that holds
    among all pairs at once. With `--margin` differences are judged superior, equivalent,
    non-inferior, inferior or undecided. With `--truth` a model of the votes says what is
    plausibly true, and models are scored against its draws.

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
    with progress("scoring") as tell:
        settings = Settings(
            level=scoring.level,
            items=scoring.items,
            annotators=scoring.annotators,
            inference=scoring.inference,
            margin=scoring.margin,
            matters=scoring.matters,
            on_missing=reading.on_missing,
            ties=reading.ties,
            workers=scoring.workers,
            progress=tell,
        )
        drawn = make_plan(
            made,
            table,
            scoring.resample,
            replicates=scoring.replicates,
            seed=scoring.seed,
            fixed=settings.fixed,
        )
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
    say(result.population.scope, f"Resampling: {result.plan.reason}", *expected)
    note(result.notices)
    _finish(result, (table, models), made, asked)


def _finish(result: "Evaluation", study: "_Study", made: Truth, asked: _Asked) -> None:
    """Write the run where asked, then print it; what is printed is already safe."""
    results = asked.results
    if results.out is None and results.as_json:
        print_json([row._asdict() for row in result.table()])
        return
    from equipoise.cli.report import show_run, write_page

    run = _recorded(result, study, made, asked)
    if results.out is not None:
        folder = run.save(results.out, overwrite=results.overwrite)
        say(f"Wrote {folder / 'run.json'}, {folder / 'replicates.npy'}")
        write_page(run, folder / "report.html")
    if results.as_json:
        print_json([row._asdict() for row in result.table()])
    else:
        show_run(run)


def _recorded(result: "Evaluation", study: "_Study", made: Truth, asked: _Asked) -> "Run":
    """Make the run with everything that was asked."""
    from equipoise.findings.json import plain
    from equipoise.run.agreement import with_agreement
    from equipoise.run.gold import with_gold
    from equipoise.run.record import DatasetRecord, TruthModel, read
    from equipoise.run.recording import Provenance, record

    table, models = study
    labels: dict[str, str] = {}
    if made.parts:
        labels["soft"] = f"mean of the truth by {made.words}"
        labels["hard"] = _hard_words(asked.reading.ties)
    else:
        labels |= _label_words(result)
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
    run = with_agreement(run, table)
    return run if made.parts else with_gold(run, models, table)


def _label_words(result: "Evaluation") -> dict[str, str]:
    """How labels were made where gold has a part in them; nothing otherwise."""
    settled = [one.votes.gold for one in result.questions if one.votes is not None]
    if not any(one.any() for one in settled):
        return {}
    gold = "adjudicated gold"
    if all(one.all() for one in settled):
        return {"soft": gold, "hard": gold}
    some = f"{gold} where an item has it, else "
    return {"soft": f"{some}mean vote", "hard": f"{some}strict majority"}


def _hard_words(ties: str) -> str:
    """What the hard labels of a modelled truth are."""
    return {
        "half": "its class with most of that mean, shared by ties",
        "negative": "its class with more than half of that mean, or with most of it",
        "drop": "its class with most of that mean, ties left out",
    }[ties]


def _question(table: "Annotations", asked: _Asked) -> "Question":
    """What the record says of the question: options of models only where there is one."""
    from equipoise.run.record import question

    reading, groups = asked.reading, asked.groups
    told: dict[str, Any] = {name: getattr(reading, name) for name in RECORDED}
    if reading.prediction_layout == "auto":
        del told["prediction_layout"]
    if asked.truth.truth != "votes":
        told["truth"] = asked.truth.truth
    if reading.gold != "truth":
        told["gold"] = reading.gold
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
