"""What `equipoise evaluate` does: a study in, the answer with its grounds out."""

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from equipoise.cli.evaluate import (
    asked_analyses,
    asked_settings,
    asked_thresholds,
    check_scoring,
)
from equipoise.cli.help import check_k, metric_names, metric_of
from equipoise.cli.options import (
    Options,
    class_names,
    column_map,
    non_default,
    words,
)
from equipoise.cli.reopened import TITLE
from equipoise.cli.report import run_json
from equipoise.cli.results import check_folder, cited, in_options
from equipoise.cli.screen import (
    output,
    print_json,
    progress,
    running,
    say,
    stages,
    verb_options,
)
from equipoise.cli.study import FilesRead, check_reading, read_study
from equipoise.cli.truth import (
    ScoredTruth,
    asked_groups,
    check_groups,
    check_truth,
    make_truth,
    regrouped,
    with_groups,
    within,
)
from equipoise.datasets import CATALOGUE
from equipoise.metrics import Metric
from equipoise.read import codec
from equipoise.read.attributes import read_attributes
from equipoise.read.writing import RUN
from equipoise.report.answer import AnswerContent, answer_report, require_models
from equipoise.report.run import (
    Provenance,
    Run,
    StoredQuestion,
    TruthModel,
    prepare_folder,
    record,
)
from equipoise.report.terminal import evidence_lines, show, show_answer
from equipoise.study import Evaluation, Study
from equipoise.study.study import Progress, report_replicates
from equipoise.types.annotations import Annotations
from equipoise.types.findings import Report, plain
from equipoise.types.notices import worded
from equipoise.types.numbers import count
from equipoise.types.words import Nouns

FEW = 3  # analyses that a terminal shows with their tables
NOTES = 3  # notices that a terminal shows
IN_CARD = ("duplicate_models", "threshold_assumed")  # said as the caveat
OF_SCORING = (
    "threshold", "tuning", "margin", "labels", "level", "items", "annotators", "inference",
    "matters", "prevalence", "annotator_group", "item_group",
)  # fmt: skip
OF_TRUTH = ("truth", "draws", "burn_in", "reliability", "prior")
RECORDED = (
    *("positive", "at_least", "kind", "exchangeable", "layout", "prediction_layout"),
    *("repeats", "phases", "on_missing", "ties", "first_votes", "circular"),
)


def run_evaluation(options: Options) -> None:
    """Read, evaluate, write and show a study."""
    if options.study and len(options.study) == 1:
        options = _repeated(options, options.study[0])
    check_scoring(options)
    check_truth(options)
    if options.groups or options.by_group or options.within:
        check_groups(options)
    check_reading(options)
    names = metric_names(options.metrics)
    if options.out is not None:
        check_folder("--out", options.out)
        prepare_folder(options.out, overwrite=options.overwrite)
    with progress("reading"):
        grouping = None if options.groups is None else asked_groups(options.groups, options)
        tables = ("groups", "attributes", "annotator_attributes")
        also = {name: getattr(options, name) for name in tables}
        read = read_study(options, names, truth=options.truth, out=options.out, also=also)
    settings, votes = read.study.settings, read.study.voted
    options = replace(options, ties=settings.ties, on_missing=settings.on_missing)
    truth = make_truth(votes, options)
    metrics, expected = list(map(metric_of, read.metrics)), list[str]()
    if grouping is not None:
        truth, expected = with_groups(grouping, truth)
        models = read.study.predictions
        truth, models = regrouped(grouping, truth, models, by_group=options.by_group)
        read = replace(read, study=replace(read.study, predictions=models))
    check_k(metrics, len(truth.parts[0].classes) if truth.parts else 0)
    if grouping is not None:
        metrics = within(grouping, metrics, options.within)
    wanted = asked_analyses(options)
    with stages(len(wanted) + 3) as stage:
        scored = _study(read, truth, metrics, options, stage("scoring"))
        report = _report(scored, read, options, stage)
    report = replace(report, notices=(*read.notices, *report.notices))
    say(*expected)
    run = _recorded(scored.evaluation, report, read, truth, options)
    _finish(run, options)


def _repeated(options: Options, run: Path) -> Options:
    """What was asked, with what an earlier evaluation was asked where nothing else is said."""
    if not (run / RUN).is_file():
        return options
    earlier = Run.load(run).record.asked
    names = (*OF_SCORING, *OF_TRUTH)
    set_now = non_default(options, names)
    stored: dict[str, Any] = {
        name: earlier[name] for name in names if name in earlier and name not in set_now
    }
    return replace(options, **stored)


def _study(
    read: FilesRead,
    truth: ScoredTruth,
    metrics: Sequence[Metric],
    options: Options,
    tell: Progress,
) -> Study:
    """The study against the truth that was asked for."""
    attributes, people = options.attributes, options.annotator_attributes
    items_known = people_known = None
    if attributes is not None:
        items_known = read_attributes(attributes, group=options.item_group)
    if people is not None:
        people_known = read_attributes(people, "annotator", options.annotator_group)
    settings = replace(
        asked_settings(options, tell),
        thresholds=asked_thresholds(options, items_known),
        replicates=options.replicates or report_replicates(len(read.study.voted.items)),
    )
    study = Study.of(
        read.study.predictions,
        truth.given,
        metrics=metrics,
        resampling=options.resample or (None if truth.parts else read.resample),
        settings=settings,
        attributes=[table for table in (items_known, people_known) if table],
    )
    if not truth.parts:
        return study
    say(f"Truth: {truth.reason} {truth.words}.")
    return study.with_votes(read.study.voted)


def _report(
    study: Study, read: FilesRead, options: Options, stage: Callable[[str], Progress]
) -> Report:
    name = read.dataset.get("name", "")
    require_models(options.pair, study.predictions)
    wanted = AnswerContent(
        analyses=asked_analyses(options),
        pair=options.pair,
        nouns=CATALOGUE[name].nouns if name in CATALOGUE else Nouns(),
        command=True,
    )
    return answer_report(study, wanted, stage)


# ---- the record, the folder and the screen -------------------------------------------------


def _recorded(
    done: Evaluation,
    report: Report,
    read: FilesRead,
    truth: ScoredTruth,
    options: Options,
) -> Run:
    """Make the run with everything that was asked."""
    labels = _label_words(done)
    if truth.parts:
        hard = _hard_words(options.ties)
        labels = {"soft": f"mean of the truth by {truth.words}", "hard": hard}
    name = options.dataset or read.name.removesuffix(f": {TITLE}")
    return record(
        done,
        Provenance(
            title=options.title or name,
            inputs=read.inputs,
            question=_question(read.study.voted, options),
            truth_model=codec.read(TruthModel, plain(truth.facts)) if truth.facts else None,
            dataset=read.dataset or None,
            asked=non_default(options, (*OF_SCORING, *OF_TRUTH)),
        ),
        replace(cited(in_options(report), read.dataset), command=typed_command()),
        **labels,
    )


def typed_command() -> str:
    """What was typed, for the foot of the page, but for where results go and files lie."""
    context = running()
    if context is None or context.info_name not in sys.argv[1:]:
        return ""
    typed = sys.argv[sys.argv.index(context.info_name) :]
    left_out = ("--out", "--engine", "--address", "--workers")  # they change no number
    shown = [
        Path(word).name if Path(word).is_absolute() else word
        for before, word in zip(("", *typed), typed, strict=False)
        if not {before, word} & {*left_out}
        and not word.startswith((*(f"{option}=" for option in left_out), "--overwrite"))
    ]
    return f"equipoise {shlex.join(shown)}"


def _label_words(result: Evaluation) -> dict[str, str]:
    """How labels were made where gold has a part in them; nothing otherwise."""
    gold_items = [part.votes.gold for part in result.questions if part.votes is not None]
    if not any(gold_of_task.any() for gold_of_task in gold_items):
        return {}
    gold = "adjudicated gold"
    if all(gold_of_task.all() for gold_of_task in gold_items):
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


def _question(table: Annotations, options: Options) -> StoredQuestion:
    """What the record says of the question: options of models only where there is one."""
    facts: dict[str, Any] = {name: getattr(options, name) for name in RECORDED}
    if options.prediction_layout == "auto":
        del facts["prediction_layout"]
    facts["read_as"] = f"{table.kind}: {', '.join(table.classes)}"
    rare: dict[str, Any] = {
        "truth": options.truth if options.truth != "votes" else None,
        "gold": options.gold if options.gold != "truth" else None,
        "by_group": options.by_group,
        "within": options.within,
        "classes": class_names(options.classes) if options.classes is not None else None,
        "columns": column_map(options.columns, "columns"),
        "prediction_columns": column_map(options.prediction_columns, "prediction_columns"),
    }
    return StoredQuestion(**facts, **{name: value for name, value in rare.items() if value})


def _finish(run: Run, options: Options) -> None:
    """Write the run where asked, then print it; what is printed is already safe."""
    if options.out is not None:
        with progress("page"):
            run.save(options.out, overwrite=options.overwrite)
    if options.as_json:
        print_json(run_json(run))
        tell_notices(run.report, verbose=True)
        return
    shown = [] if options.full else words(options.analyses)
    show_run(run, out=options.out, verbose=options.verbose, full=options.full, shown=shown)


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
        parts = [finding for finding in report.findings if keys is None or finding.key in keys]
        console.print()
        show(console, replace(report, findings=tuple(parts)), verbose=verbose)
    elif full or shown:
        console.print()
        for line in evidence_lines(report, console.width):
            console.print(line, soft_wrap=True)
    tell_notices(report, verbose=verbose)


def tell_notices(report: Report, *, verbose: bool = False) -> None:
    """Print what a reader should know on standard error: the first few things, or all."""
    others = [notice for notice in report.all_notices if notice.code not in IN_CARD]
    sentences = worded(others, command=True, options=verb_options())
    say(*(f"Note: {sentence}" for sentence in (sentences if verbose else sentences[:NOTES])))
    if len(sentences) > NOTES and not verbose:
        left = len(sentences) - NOTES
        what = "notice" if left == 1 else "notices"
        say(f"{count(left)} more {what}: --verbose, or the page.")
