"""equipoise evaluate: a study in, the answer with its grounds out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from equipoise.analyses.catalogue import ANALYSES
from equipoise.cli._catalogue import check_k, list_metrics, metric_of, metrics_help
from equipoise.cli._groups import GroupOptions, regrouped, with_groups, within
from equipoise.cli._screen import (
    output,
    print_json,
    progress,
    running,
    say,
    stages,
    verb_options,
)
from equipoise.cli.options import (
    FILES,
    RESULT,
    UNCERTAINTY,
    Level,
    OutputOptions,
    ReadingOptions,
    Seed,
    StudyFiles,
    check_choice,
    checked,
    command,
    flag,
    words,
)
from equipoise.cli.study import TITLE, CliStudy, ask, dataset_facts, read_study
from equipoise.cli.targets import check_run_folder
from equipoise.cli.truth import Truth, TruthOptions, make_plan, make_truth
from equipoise.numbers import count

if TYPE_CHECKING:
    from equipoise.analyses.study import Progress, Study
    from equipoise.analyses.subgroups import Attributes
    from equipoise.annotations import Annotations
    from equipoise.evaluation import Evaluation, Settings, Thresholds
    from equipoise.findings import Report
    from equipoise.findings.json import JsonValue
    from equipoise.metrics import Metric
    from equipoise.nouns import Nouns
    from equipoise.run import Run
    from equipoise.run.record import Question

Options = TypeVar("Options", "EvaluateOptions", TruthOptions)
POPULATIONS = ("random", "fixed")
FEW = 3  # analyses that a terminal shows with their tables
NOTES = 3  # notices that a terminal shows
IN_CARD = ("duplicate_models", "threshold_assumed")  # said as the caveat
HEADER = "run.json"
OF_SCORING = (
    "threshold", "tuning", "margin", "labels", "level", "items", "annotators", "inference",
    "matters",
)  # fmt: skip
OF_TRUTH = ("truth", "draws", "burn_in", "reliability", "prior")
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
class EvaluateOptions:
    """By which metrics models are scored, what else is looked at, and how sure that is."""

    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            "--metric",
            rich_help_panel=RESULT,
            help=metrics_help(),
            show_default="by what models predict",
        ),
    ] = None
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
    full: Annotated[
        bool,
        typer.Option("--full", rich_help_panel=RESULT, help="Add every analysis there is."),
    ] = False
    analyses: Annotated[
        str | None,
        typer.Option(
            "--analyses",
            "--only",
            rich_help_panel=RESULT,
            help=f"Add some, comma-separated: {', '.join(f'`{name}`' for name in ANALYSES)}.",
        ),
    ] = None
    pair: Annotated[
        tuple[str, str] | None,
        typer.Option(rich_help_panel=RESULT, help="Add a close look at two models: A B."),
    ] = None
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            rich_help_panel=RESULT,
            help="From which score on a model says yes, for metrics of decisions: `0.3`, by "
            "model, task or both (`resnet=0.4`, `Edema=0.3`, `resnet/Edema=0.4`), or a rule: "
            "`youden`, `f1`, `prevalence`, `sensitivity=0.9`, `specificity=0.9`. Repeatable.",
        ),
    ] = None
    tuning: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=RESULT,
            help="Where rules look: a share of the items that is then not scored (`0.3`), "
            "`folds=5` for cross-fitting, `split=dev` of `--attributes`, or a file of names.",
        ),
    ] = None
    margin: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=RESULT,
            help="How much worse a model may be and still count as no worse.",
        ),
    ] = None
    attributes: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=FILES,
            help="What is known of the items: a table with `item` and a column for each of "
            "sex, age, site, ...; adds subgroups.",
        ),
    ] = None
    labels: Annotated[
        str,
        typer.Option(
            rich_help_panel=RESULT,
            hidden=True,
            help="`soft` (share of votes) or `hard` (majority): the labels that decide.",
        ),
    ] = "soft"
    most: Annotated[
        int,
        typer.Option(
            min=1, rich_help_panel=UNCERTAINTY, hidden=True, help="Size at which searches end."
        ),
    ] = 50
    resample: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=UNCERTAINTY,
            hidden=True,
            help="What is resampled for shares: `items`, `votes`, `panel`, `items-x-panel`, "
            "`items-x-votes`, `influence` (instant, for very many items); under a model "
            "`posterior` or `items-x-posterior`. Default: what fits; the output says why.",
        ),
    ] = None
    replicates: Annotated[
        int | None,
        typer.Option(
            min=1,
            rich_help_panel=UNCERTAINTY,
            hidden=True,
            help="Number of resamples; by default 1,000, fewer for more than 20,000 items.",
        ),
    ] = None
    seed: Seed = 0
    level: Level = 0.95
    items: Annotated[
        str,
        typer.Option(
            rich_help_panel=UNCERTAINTY,
            hidden=True,
            help="`random`: these items stand for others like them; `fixed`: they are all that "
            "count.",
        ),
    ] = "random"
    annotators: Annotated[
        str,
        typer.Option(
            rich_help_panel=UNCERTAINTY,
            hidden=True,
            help="`random`: these annotators stand for others like them; `fixed`: they are the "
            "standard.",
        ),
    ] = "random"
    inference: Annotated[
        str,
        typer.Option(
            rich_help_panel=UNCERTAINTY,
            hidden=True,
            help="`two-way`: against hard and soft labels; `mrmc`: Obuchowski and Rockette's "
            "analysis of each annotator's own votes, with Hillis' degrees of freedom.",
        ),
    ] = "two-way"
    matters: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=UNCERTAINTY,
            hidden=True,
            help="The smallest difference that counts; by default half a unit of the last "
            "printed digit.",
        ),
    ] = None
    workers: Annotated[
        int,
        typer.Option(
            min=0,
            rich_help_panel=UNCERTAINTY,
            hidden=True,
            help="Threads; 0: all. Changes no number.",
        ),
    ] = 0

    def __post_init__(self) -> None:
        """Refuse unknown words, and options of analyses that are left out."""
        from equipoise.evaluation.result import INFERENCES
        from equipoise.inference import check_margin
        from equipoise.resampling import normalised

        check_choice("inference", self.inference, tuple(INFERENCES))
        check_choice("labels", self.labels, ("hard", "soft"))
        for name in ("items", "annotators"):
            check_choice(name, getattr(self, name), POPULATIONS)
        for name in ("margin", "matters"):
            checked(flag(name), partial(check_margin, flag(name)), getattr(self, name))
        if self.resample is not None:
            checked("--resample", normalised, self.resample)
        if self.metrics is not None and not self.chosen():
            message = "got nothing, expected at least one metric, for example auroc"
            raise typer.BadParameter(message, param_hint="--metrics")
        self._check_analyses()

    def _check_analyses(self) -> None:
        asked = words(self.analyses)
        if self.analyses is not None and not asked:
            message = f"got {self.analyses!r}, expected analyses, for example ranking,flips"
            raise typer.BadParameter(message, param_hint="--analyses")
        for name in asked:
            check_choice("analyses", name, tuple(ANALYSES))
        tuned = self.tuning is not None and "=" in self.tuning
        if self.attributes is not None and asked and "subgroups" not in asked and not tuned:
            raise typer.BadParameter(
                "belongs to subgroups, which --analyses leaves out", param_hint="--attributes"
            )

    def chosen(self) -> "list[Metric]":
        """The metrics that were asked for."""
        return [checked("--metrics", metric_of, word) for word in words(self.metrics)]

    def thresholds(self, attributes: "Attributes | None") -> "Thresholds | None":
        """From which score on models say yes, and where rules look."""
        from equipoise.evaluation import Thresholds, Tuning

        if not self.threshold:
            if self.tuning is not None:
                message = "belongs to --threshold RULE; name a rule, or leave it out"
                raise typer.BadParameter(message, param_hint="--tuning")
            return None
        where = None if attributes is None else attributes.where
        split = self.tuning is not None and "=" in self.tuning
        if split and where is None and not str(self.tuning).startswith("folds="):
            message = f"got {self.tuning!r}, which names a column of --attributes; give it"
            raise typer.BadParameter(message, param_hint="--tuning")
        tuning = None if self.tuning is None else Tuning.parse(self.tuning, where, self.seed)
        return Thresholds.parse(self.threshold, tuning)

    def wanted(self, table: "Annotations", metrics: "Sequence[Metric]") -> tuple[str, ...]:
        """Names of the analyses to run: those asked for, or those that cost next to nothing."""
        if self.full:
            left = {"experts"} | ({"subgroups"} if self.attributes is None else set())
            return tuple(name for name in ANALYSES if name not in left)
        asked = words(self.analyses)
        if not asked:
            asked = [name for name, one in ANALYSES.items() if one.quick]
            if table.is_gold is not None and table.is_gold.any():
                asked.append("gold")
            if metrics[0].decides and table.annotators is not None:
                asked.append("readers")
        if self.attributes is not None and "subgroups" not in asked and not self.analyses:
            asked.append("subgroups")
        return tuple(asked)

    def settings(self, reading: ReadingOptions, tell: "Progress") -> "Settings":
        """How scores become intervals and verdicts."""
        from equipoise.evaluation import Settings

        return Settings(
            level=self.level,
            items=self.items,
            annotators=self.annotators,
            inference=self.inference,
            margin=self.margin,
            matters=self.matters,
            circular="keep" if reading.circular != "error" else "error",
            on_missing=reading.on_missing,
            ties=reading.ties,
            workers=self.workers,
            progress=tell,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutput(OutputOptions):
    """Where the run goes."""

    out: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=RESULT,
            help="Folder for the page (report.html), the record (run.json), disputed.csv and "
            "replicates.npy; nothing is written without it.",
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
            "--json", rich_help_panel=RESULT, help="Print everything as JSON, full precision."
        ),
    ] = False
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            rich_help_panel=RESULT,
            help="Print all that is said: every analysis, table and notice.",
        ),
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """All that was asked of one evaluation."""

    files: StudyFiles
    scoring: EvaluateOptions
    truth: TruthOptions
    groups: GroupOptions
    reading: ReadingOptions
    results: RunOutput


@command
def evaluate(
    files: StudyFiles,
    scoring: EvaluateOptions,
    model: TruthOptions,
    groups: GroupOptions,
    reading: ReadingOptions,
    results: RunOutput,
) -> None:
    """Which model is better, how sure is that, and what would settle it?

    Reads who said what and what each model scored, and answers: which models may be the best,
    for items and annotators like these, all pairs of models at once; how far below the best
    every model may lie; whether models do better than the annotators; which items split them.
    `--full` adds every analysis, `--pair` a close look at two models. With `--margin` models
    are shown to be good enough. With `--truth` a model of the votes says what is plausibly
    true.

    Example: equipoise evaluate -a votes.csv -p scores.csv --out run

    Example: equipoise evaluate --dataset chexpert --margin 0.01 --full --out run

    Example: equipoise evaluate run --pair resnet vit

    Example: equipoise evaluate -a ddx.json -p probabilities --truth auto --metrics
    topk_accuracy:k=3
    """
    run_evaluation(
        Asked(
            files=files,
            scoring=scoring,
            truth=model,
            groups=groups,
            reading=reading,
            results=results,
        )
    )


def run_evaluation(asked: Asked, study: CliStudy | None = None) -> None:
    """Read, evaluate, write and show a study; one that was read already is taken as it is."""
    asked = _repeated(asked)
    asked.groups.check_truth(asked.truth.truth)
    if asked.scoring.resample is not None:
        asked.truth.check_plan(asked.scoring.resample)
    check_run_folder(asked.results.out, overwrite=asked.results.overwrite)
    with progress("reading") as tell:
        grouping = asked.groups.read()
        read = study or read_study(
            asked.files,
            asked.reading,
            [one.name for one in asked.scoring.chosen()],
            truth=asked.truth.truth,
            out=asked.results.out,
            also={"groups": asked.groups.groups, "attributes": asked.scoring.attributes},
        )
        tell(1, 1)
    asked = replace(
        asked, reading=replace(asked.reading, ties=read.ties, on_missing=read.on_missing)
    )
    made = make_truth(read.annotations, asked.truth, asked.reading, seed=asked.scoring.seed)
    made, expected = with_groups(grouping, made)
    made, models = regrouped(grouping, made, read.predictions, by_group=asked.groups.by_group)
    metrics = [metric_of(name) for name in read.metrics]
    check_k(metrics, len(made.parts[0].classes) if made.parts else 0)
    metrics = list(within(grouping, metrics, asked.groups.within))
    given, read = read, replace(read, predictions=models)
    wanted = asked.scoring.wanted(read.annotations, metrics)
    with stages(len(wanted) + 3) as stage:
        study_of = _evaluated(read, made, metrics, asked, stage)
        votes = _against_votes(study_of, given, asked) if made.parts else study_of
        report = _report(study_of, votes, read, asked, stage)
    report = replace(report, notices=(*read.notices, *report.notices))
    say(*expected)
    run = _recorded(study_of.evaluation, report, read, made, asked)
    _finish(run, asked)


def _repeated(asked: Asked) -> Asked:
    """What was asked, with what an earlier evaluation was asked where nothing else is said."""
    given = asked.files.study or ()
    run = given[0] if len(given) == 1 else None
    if run is None or not (run / HEADER).is_file():
        return asked
    from equipoise.run import Run

    told = Run.load(run).record.asked
    return replace(
        asked,
        scoring=_filled(asked.scoring, told, OF_SCORING),
        truth=_filled(asked.truth, told, OF_TRUTH),
    )


def _filled(record: Options, told: "Mapping[str, JsonValue]", names: Sequence[str]) -> Options:
    usual = {one.name: one.default for one in fields(record)}
    known: dict[str, Any] = {
        name: told[name]
        for name in names
        if name in told and getattr(record, name) == usual[name]
    }
    return replace(record, **known)


def _set(record: object, names: Sequence[str]) -> "dict[str, JsonValue]":
    """Options that differ from their defaults, by name."""
    usual = {one.name: one.default for one in fields(record)}  # type: ignore[arg-type]
    return {name: getattr(record, name) for name in names
            if getattr(record, name) != usual[name]}  # fmt: skip


def _evaluated(
    read: CliStudy,
    made: Truth,
    metrics: "Sequence[Metric]",
    asked: Asked,
    stage: "Callable[[str], Progress]",
) -> "Study":
    """The study against the truth."""
    from equipoise.analyses.study import Study, StudyOptions
    from equipoise.analyses.subgroups import read_attributes
    from equipoise.annotations import Annotations
    from equipoise.evaluation import evaluate as score
    from equipoise.evaluation.thresholds import cut_study

    scoring, path = asked.scoring, asked.scoring.attributes
    settings = scoring.settings(asked.reading, stage("scoring"))
    attributes = None if path is None else read_attributes(path)
    thresholds = scoring.thresholds(attributes)
    options = StudyOptions(
        metrics=tuple(metrics),
        labels=scoring.labels,
        replicates=scoring.replicates,
        seed=scoring.seed,
        level=scoring.level,
        on_missing=asked.reading.on_missing,
        ties=asked.reading.ties,
        attributes=attributes,
        most=scoring.most,
        thresholds=thresholds,
        base=replace(settings, progress=None),
    )
    plan = make_plan(
        made,
        read.annotations,
        scoring.resample or (None if made.parts else read.resample),
        replicates=options.number(len(read.annotations.items)),
        seed=scoring.seed,
        fixed=settings.fixed,
    )
    how = replace(settings, thresholds=thresholds)
    done = score(read.predictions, made.given, metrics=metrics, resampling=plan, settings=how)
    cut = cut_study(read.predictions, made.given, metrics, thresholds)
    if made.parts:
        done = replace(done, notices=(*read.annotations.notices, *done.notices))
        say(f"Truth: {made.reason} {made.words}.")
    votes = cut.truth if isinstance(cut.truth, Annotations) else read.annotations
    return Study(tuple(cut.predictions), votes, options, done, lambda *_: None)


def _against_votes(study: "Study", given: CliStudy, asked: Asked) -> "Study | None":
    """The same models against the votes behind a model of the truth, for analyses of votes.

    None where no analysis was asked for, or where votes do not allow it, which is said.
    """
    from equipoise.arrays import InputError
    from equipoise.evaluation import evaluate as score

    if not (asked.scoring.full or asked.scoring.analyses):
        return None
    table = given.annotations
    if table.kind != "binary":
        table = ask(table, asked.reading)
    usual = "auroc" if table.kind == "binary" else "accuracy"
    metrics = [one for one in study.evaluation.metrics if one.labels != "draws"]
    options = replace(study.options, metrics=tuple(metrics) or (usual,))
    try:
        done = score(
            study.predictions, table, metrics=options.metrics,
            resampling=options.plan(table), settings=options.settings,
        )  # fmt: skip
    except InputError as error:
        say(f"Note: Analyses of the votes are left out. {error.in_command()}.")
        return None
    return replace(
        study,
        annotations=table,
        options=options,
        evaluation=done,
    )


def _report(
    study: "Study",
    votes: "Study | None",
    read: CliStudy,
    asked: Asked,
    stage: "Callable[[str], Progress]",
) -> "Report":
    from equipoise.answer import Asked as Wanted
    from equipoise.answer import answer_report, require_models

    scoring = asked.scoring
    require_models(scoring.pair, study.predictions)
    wanted = Wanted(
        analyses=scoring.wanted(read.annotations, study.evaluation.metrics)
        if votes is not None
        else (),
        pair=scoring.pair,
        nouns=_nouns(read),
        command=True,
        votes_study=votes,
    )
    return answer_report(study, wanted, stage)


def _nouns(read: CliStudy) -> "Nouns":
    """What things are called in a public data set."""
    from equipoise.datasets import CATALOGUE
    from equipoise.nouns import Nouns

    name = read.dataset.get("name", "")
    return CATALOGUE[name].nouns if name in CATALOGUE else Nouns()


# ---- the record, the folder and the screen -------------------------------------------------


def _recorded(
    done: "Evaluation", report: "Report", read: CliStudy, made: Truth, asked: Asked
) -> "Run":
    """Make the run with everything that was asked."""
    from equipoise import codec
    from equipoise.cli._results import cited, in_options
    from equipoise.findings.json import plain
    from equipoise.run.record import DatasetRecord, TruthModel
    from equipoise.run.recording import Provenance, record

    labels: dict[str, str] = {}
    if made.parts:
        labels["soft"] = f"mean of the truth by {made.words}"
        labels["hard"] = _hard_words(asked.reading.ties)
    else:
        labels |= _label_words(done)
    name = asked.files.dataset or read.name.removesuffix(f": {TITLE}")
    return record(
        done,
        Provenance(
            title=asked.results.title or name,
            inputs=read.inputs,
            question=_question(read.annotations, asked),
            truth_model=codec.read(TruthModel, plain(made.facts)) if made.facts else None,
            dataset=DatasetRecord(**dataset_facts(read.dataset["name"]))
            if read.dataset
            else None,
            asked={**_set(asked.scoring, OF_SCORING), **_set(asked.truth, OF_TRUTH)},
            **labels,
        ),
        replace(cited(in_options(report), read.dataset), command=typed_command()),
    )


def typed_command() -> str:
    """What was typed, for the foot of the page, but for where results go and files lie."""
    import shlex
    import sys

    context = running()
    if context is None or context.info_name not in sys.argv[1:]:
        return ""
    typed = sys.argv[sys.argv.index(context.info_name) :]
    left_out = ("--out", "--workers")  # they change no number
    kept = [
        Path(word).name if Path(word).is_absolute() else word
        for before, word in zip(("", *typed), typed, strict=False)
        if not {before, word} & {*left_out}
        and not word.startswith((*(f"{one}=" for one in left_out), "--overwrite"))
    ]
    return f"equipoise {shlex.join(kept)}"


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


def _question(table: "Annotations", asked: Asked) -> "Question":
    """What the record says of the question: options of models only where there is one."""
    from equipoise.run.record import question

    reading, groups = asked.reading, asked.groups
    told: dict[str, Any] = {name: getattr(reading, name) for name in RECORDED}
    if reading.prediction_layout == "auto":
        del told["prediction_layout"]
    told["read_as"] = f"{table.kind}: {', '.join(table.classes)}"
    rare = {
        "truth": asked.truth.truth if asked.truth.truth != "votes" else None,
        "gold": reading.gold if reading.gold != "truth" else None,
        "by_group": groups.by_group,
        "within": groups.within,
        "classes": reading.class_names() if reading.classes is not None else None,
        "columns": reading.column_names(),
        "prediction_columns": reading.prediction_column_names(),
    }
    return question(**told, **{name: value for name, value in rare.items() if value})


def _finish(run: "Run", asked: Asked) -> None:
    """Write the run where asked, then print it; what is printed is already safe."""
    results, scoring = asked.results, asked.scoring
    if results.out is not None:
        with progress("page"):
            run.save(results.out, overwrite=results.overwrite)
    if results.as_json:
        from equipoise.cli.report import run_json

        print_json(run_json(run))
        tell_notices(run.report, verbose=True)
        return
    shown = [] if scoring.full else words(scoring.analyses)
    show_run(run, out=results.out, verbose=results.verbose, full=scoring.full, shown=shown)


def show_run(
    run: "Run",
    *,
    out: Path | None = None,
    verbose: bool = False,
    full: bool = False,
    shown: Sequence[str] = (),
) -> None:
    """Print the answer of a run, and of the evidence what was asked for.

    Parameters
    ----------
    out
        Where it was written, for the last line.
    full
        Whether every analysis has a line.
    shown
        Analyses that are printed with their tables.
    """
    from equipoise.findings.screen import show
    from equipoise.findings.terminal import evidence_lines, show_answer

    console, report = output(), run.report
    if report.card is None:
        show(console, report, verbose=verbose)
        return
    files = [f"Page {out / 'report.html'}", f"numbers {out / 'run.json'}"] if out else []
    show_answer(console, report, files=files)
    if verbose or (shown and len(shown) <= FEW):
        keys = None if verbose else {*shown}
        parts = [one for one in report.findings if keys is None or one.key in keys]
        console.print()
        show(console, replace(report, findings=tuple(parts)), verbose=verbose)
    elif full or shown:
        console.print()
        for line in evidence_lines(report, console.width):
            console.print(line, soft_wrap=True)
    tell_notices(report, verbose=verbose)


def tell_notices(report: "Report", *, verbose: bool = False) -> None:
    """Print what a reader should know on standard error: the first few things, or all."""
    from equipoise.notices import worded

    others = [one for one in report.all_notices if one.code not in IN_CARD]
    said = worded(others, command=True, options=verb_options())
    say(*(f"Note: {one}" for one in (said if verbose else said[:NOTES])))
    if len(said) > NOTES and not verbose:
        left = len(said) - NOTES
        what = "notice" if left == 1 else "notices"
        say(f"{count(left)} more {what}: --verbose, or the page.")
