"""What `equipoise evaluate` does: a study in, the answer with its grounds out."""

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from equipoise.cli._catalogue import check_k, metric_of
from equipoise.cli._groups import regrouped, with_groups, within
from equipoise.cli._results import cited, in_options
from equipoise.cli._screen import (
    output,
    print_json,
    progress,
    running,
    say,
    stages,
    verb_options,
)
from equipoise.cli.asked import EvaluateOptions, EvaluationRequest
from equipoise.cli.options import non_default, words
from equipoise.cli.report import run_json
from equipoise.cli.study import TITLE, CliStudy, read_study
from equipoise.cli.targets import check_run_folder
from equipoise.cli.truth import ScoredTruth, TruthOptions, make_truth
from equipoise.datasets import CATALOGUE
from equipoise.metrics import Metric
from equipoise.read import codec
from equipoise.read.writing import RUN
from equipoise.report.answer import AnswerOptions, answer_report, require_models
from equipoise.report.run import Run
from equipoise.report.run.record import DatasetRecord, StoredQuestion, TruthModel, question
from equipoise.report.run.recording import Provenance, record
from equipoise.report.terminal import evidence_lines, show, show_answer
from equipoise.study import Evaluation, Study
from equipoise.study.analyses.subgroups import read_attributes
from equipoise.study.study import Progress, report_replicates
from equipoise.types.annotations import Annotations
from equipoise.types.findings import Report
from equipoise.types.findings.record import JsonValue, plain
from equipoise.types.notices import worded
from equipoise.types.numbers import count
from equipoise.types.words import Nouns

Options = TypeVar("Options", EvaluateOptions, TruthOptions)
FEW = 3  # analyses that a terminal shows with their tables
NOTES = 3  # notices that a terminal shows
IN_CARD = ("duplicate_models", "threshold_assumed")  # said as the caveat
OF_SCORING = (
    "threshold", "tuning", "margin", "labels", "level", "items", "annotators", "inference",
    "matters",
)  # fmt: skip
OF_TRUTH = ("truth", "draws", "burn_in", "reliability", "prior")
RECORDED = (
    *("positive", "at_least", "kind", "exchangeable", "layout", "prediction_layout"),
    *("repeats", "on_missing", "ties", "first_votes", "circular"),
)


def run_evaluation(asked: EvaluationRequest, study: CliStudy | None = None) -> None:
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
    read = replace(read, predictions=models)
    wanted = asked.scoring.wanted(read.annotations, metrics)
    with stages(len(wanted) + 3) as stage:
        scored = _study(read, made, metrics, asked, stage("scoring"))
        report = _report(scored, read, asked, stage)
    report = replace(report, notices=(*read.notices, *report.notices))
    say(*expected)
    run = _recorded(scored.evaluation, report, read, made, asked)
    _finish(run, asked)


def _repeated(asked: EvaluationRequest) -> EvaluationRequest:
    """What was asked, with what an earlier evaluation was asked where nothing else is said."""
    paths = asked.files.study or ()
    run = paths[0] if len(paths) == 1 else None
    if run is None or not (run / RUN).is_file():
        return asked
    told = Run.load(run).record.asked
    return replace(
        asked,
        scoring=_filled(asked.scoring, told, OF_SCORING),
        truth=_filled(asked.truth, told, OF_TRUTH),
    )


def _filled(record: Options, told: Mapping[str, JsonValue], names: Sequence[str]) -> Options:
    own = non_default(record, names)
    known: dict[str, Any] = {
        name: told[name] for name in names if name in told and name not in own
    }
    return replace(record, **known)


def _study(
    read: CliStudy,
    made: ScoredTruth,
    metrics: Sequence[Metric],
    asked: EvaluationRequest,
    tell: Progress,
) -> Study:
    """The study against the truth that was asked for."""
    scoring, path = asked.scoring, asked.scoring.attributes
    attributes = None if path is None else read_attributes(path)
    number = scoring.replicates or report_replicates(len(read.annotations.items))
    settings = replace(
        scoring.settings(asked.reading, tell),
        thresholds=scoring.thresholds(attributes),
        replicates=number,
    )
    study = Study.of(
        read.predictions,
        made.given,
        metrics=metrics,
        resampling=scoring.resample or (None if made.parts else read.resample),
        settings=settings,
    )
    study = replace(study, attributes=attributes)
    if not made.parts:
        return study
    say(f"Truth: {made.reason} {made.words}.")
    return replace(study, votes=read.annotations)


def _report(
    study: Study, read: CliStudy, asked: EvaluationRequest, stage: Callable[[str], Progress]
) -> Report:
    scoring, name = asked.scoring, read.dataset.get("name", "")
    require_models(scoring.pair, study.predictions)
    wanted = AnswerOptions(
        analyses=scoring.wanted(read.annotations, study.metrics),
        pair=scoring.pair,
        nouns=CATALOGUE[name].nouns if name in CATALOGUE else Nouns(),
        command=True,
    )
    return answer_report(study, wanted, stage)


# ---- the record, the folder and the screen -------------------------------------------------


def _recorded(
    done: Evaluation,
    report: Report,
    read: CliStudy,
    made: ScoredTruth,
    asked: EvaluationRequest,
) -> Run:
    """Make the run with everything that was asked."""
    labels = _label_words(done)
    if made.parts:
        hard = _hard_words(asked.reading.ties)
        labels = {"soft": f"mean of the truth by {made.words}", "hard": hard}
    name = asked.files.dataset or read.name.removesuffix(f": {TITLE}")
    return record(
        done,
        Provenance(
            title=asked.results.title or name,
            inputs=read.inputs,
            question=_question(read.annotations, asked),
            truth_model=codec.read(TruthModel, plain(made.facts)) if made.facts else None,
            dataset=DatasetRecord(**read.dataset) if read.dataset else None,
            asked={
                **non_default(asked.scoring, OF_SCORING),
                **non_default(asked.truth, OF_TRUTH),
            },
            **labels,
        ),
        replace(cited(in_options(report), read.dataset), command=typed_command()),
    )


def typed_command() -> str:
    """What was typed, for the foot of the page, but for where results go and files lie."""
    context = running()
    if context is None or context.info_name not in sys.argv[1:]:
        return ""
    typed = sys.argv[sys.argv.index(context.info_name) :]
    left_out = ("--out", "--engine", "--address", "--workers")  # they change no number
    kept = [
        Path(word).name if Path(word).is_absolute() else word
        for before, word in zip(("", *typed), typed, strict=False)
        if not {before, word} & {*left_out}
        and not word.startswith((*(f"{one}=" for one in left_out), "--overwrite"))
    ]
    return f"equipoise {shlex.join(kept)}"


def _label_words(result: Evaluation) -> dict[str, str]:
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


def _question(table: Annotations, asked: EvaluationRequest) -> StoredQuestion:
    """What the record says of the question: options of models only where there is one."""
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
        "prediction_columns": reading.predictions.prediction_column_names(),
    }
    return question(**told, **{name: value for name, value in rare.items() if value})


def _finish(run: Run, asked: EvaluationRequest) -> None:
    """Write the run where asked, then print it; what is printed is already safe."""
    results, scoring = asked.results, asked.scoring
    if results.out is not None:
        with progress("page"):
            run.save(results.out, overwrite=results.overwrite)
    if results.as_json:
        print_json(run_json(run))
        tell_notices(run.report, verbose=True)
        return
    shown = [] if scoring.full else words(scoring.analyses)
    show_run(run, out=results.out, verbose=results.verbose, full=scoring.full, shown=shown)


def show_run(
    run: Run,
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


def tell_notices(report: Report, *, verbose: bool = False) -> None:
    """Print what a reader should know on standard error: the first few things, or all."""
    others = [one for one in report.all_notices if one.code not in IN_CARD]
    said = worded(others, command=True, options=verb_options())
    say(*(f"Note: {one}" for one in (said if verbose else said[:NOTES])))
    if len(said) > NOTES and not verbose:
        left = len(said) - NOTES
        what = "notice" if left == 1 else "notices"
        say(f"{count(left)} more {what}: --verbose, or the page.")
