"""equipoise evaluate: a study in, the answer with its grounds out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from equipoise.cli.command import verb
from equipoise.cli.help import analysis_names, check_k, metric_names
from equipoise.cli.options import (
    OF_FOLDER,
    OF_MATCHING,
    OF_QUESTION,
    OF_SCORES,
    OF_STUDY,
    Options,
    as_usage,
    class_names,
    column_map,
    misused,
    non_default,
    words,
)
from equipoise.cli.reopened import AS_IN_RUN, TITLE, located
from equipoise.cli.results import (
    cited,
    in_options,
    run_json,
    show_run,
    tell_notices,
    typed_command,
)
from equipoise.cli.screen import (
    print_json,
    progress,
    say,
    stages,
)
from equipoise.cli.study import FilesRead, check_reading, read_study, stays_on_disk
from equipoise.cli.truth import (
    ClassGroups,
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
from equipoise.inference.looks import REPEATED
from equipoise.inference.resampling import normalised
from equipoise.metrics import Metric
from equipoise.read import codec
from equipoise.read.attributes import Attributes, read_attributes
from equipoise.read.writing import RUN, check_folder
from equipoise.report.answer import AnswerContent, answer_report, require_models
from equipoise.report.run import (
    RUN_FILES,
    Provenance,
    Run,
    RunRecord,
    StoredQuestion,
    TruthModel,
    record,
)
from equipoise.study import Evaluation, Settings, Study, Thresholds, Tuning
from equipoise.study.arguments import default_metrics
from equipoise.study.study import report_replicates
from equipoise.types import (
    Annotations,
    InputError,
    Names,
    Notices,
    Nouns,
    Progress,
    Report,
    plain,
)

OF_SETTINGS = (
    *("margin", "level", "items", "annotators", "inference", "matters"),
    *("annotator_group", "item_group", "look"),
)
OF_SCORING = ("threshold", "tuning", "labels", "prevalence", *OF_SETTINGS)
OF_TRUTH = ("truth", "draws", "burn_in", "reliability", "prior")
# an evaluation of a run repeats them unless they are said again; so it does files, what
# `reopened` names, metrics, title and `resample`
ASKED_AGAIN = (*OF_SCORING, *OF_TRUTH, "replicates", "seed", "most")
FILES_AGAIN = ("attributes", "annotator_attributes")
RECORDED = (
    *("positive", "at_least", "kind", "exchangeable", "layout", "prediction_layout"),
    *("repeats", "phases", "on_missing", "ties", "first_votes", "circular"),
)


@verb(
    *OF_STUDY,
    *("attributes", "annotator_attributes", "annotator_group", "item_group", "on_disk"),
    *(
        "metrics",
        "list_metrics",
        "full",
        "analyses",
        "pair",
        "threshold",
        "tuning",
        "prevalence",
        "margin",
        "look",
    ),
    *("labels", "most", "resample", "replicates", "seed", "level", "items", "annotators"),
    *("inference", "matters", "truth", "draws", "burn_in", "reliability", "prior"),
    *("groups", "by_group", "within"),
    *OF_QUESTION,
    *OF_SCORES,
    *OF_MATCHING,
    *OF_FOLDER,
    "verbose",
    arguments=("study",),
    rare=("labels",),
    texts={
        "reliability": "How much a vote counts.",
        "prior": "What the model believes without votes; see `aggregate --help`.",
        "out": "Folder for the page (report.html), the record (run.json), disputed.csv and "
        "replicates.npy; nothing is written without it.",
        "overwrite": "Replace an earlier run in that folder.",
        "as_json": "Print everything as JSON, full precision.",
    },
    heavy="maps",
)
def evaluate(options: Options) -> None:
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
    folders = [
        *(options.study or ()),
        *(options.annotations or ()),
        *(options.predictions or ()),
    ]
    if stays_on_disk(options, folders):
        from equipoise.cli.on_disk import evaluate_on_disk

        evaluate_on_disk(options, folders)
        return
    run_evaluation(options)


def check_scoring(options: Options) -> None:
    """Refuse unknown words, and options of analyses that are left out."""
    if options.resample is not None:
        with as_usage("resample"):
            normalised(options.resample)
    named = words(options.analyses) if options.analyses else []
    if options.analyses is not None and not named:
        message = f"got {options.analyses!r}, expected analyses, for example ranking,flips"
        raise misused(message, "analyses")
    if named:
        analysis_names(options.analyses)
    tuned = options.tuning is not None and "=" in options.tuning
    tuned |= options.item_group is not None
    if options.attributes is not None and named and "subgroups" not in named and not tuned:
        raise misused("belongs to subgroups, which --analyses leaves out", "attributes")


def asked_thresholds(options: Options, attributes: Attributes | None) -> Thresholds | None:
    """From which score on models say yes, and where rules look."""
    if not options.threshold:
        if options.tuning is not None:
            message = "belongs to --threshold RULE; name a rule, or leave it out"
            raise misused(message, "tuning")
        return None
    where = None if attributes is None else attributes.where
    split = options.tuning is not None and "=" in options.tuning
    if split and where is None and not str(options.tuning).startswith("folds="):
        message = f"got {options.tuning!r}, which names a column of --attributes; give it"
        raise misused(message, "tuning")
    tuning = (
        None if options.tuning is None else Tuning.parse(options.tuning, where, options.seed)
    )
    return Thresholds.parse(options.threshold, tuning)


def asked_analyses(options: Options) -> Names:
    """Names of the analyses to run: those asked for, or those that cost next to nothing."""
    names = analysis_names("all" if options.full else options.analyses)
    if options.full and options.attributes is None:
        return tuple(name for name in names if name != "subgroups")
    if options.attributes is not None and "subgroups" not in names and not options.analyses:
        return (*names, "subgroups")
    return names


def _prevalence(named: Iterable[str]) -> float | dict[str, float] | None:
    """One share of positives, or those of tasks by name."""
    shares: dict[str, float] = {}
    for word in named:
        task, _, number = word.rpartition("=")
        try:
            shares[task] = float(number)
        except ValueError:
            message = f"got {word!r}, expected a share, or TASK=SHARE, for example Edema=0.02"
            raise misused(message, "prevalence") from None
    if "" in shares and len(shares) > 1:
        raise misused("got one for all and others by task; give either", "prevalence")
    return shares.get("", shares or None)


def asked_settings(
    options: Options, tell: Progress, earlier: RunRecord | None = None
) -> Settings:
    """How scores become intervals and verdicts."""
    names = (*OF_SETTINGS, "on_missing", "ties", "seed", "most")
    named: dict[str, Any] = {name: getattr(options, name) for name in names}
    return Settings(
        **named,
        prevalence=_prevalence(options.prevalence or ()),
        looks=() if earlier is None else earlier.settings.looks,
        circular="checked",
        labels=options.labels or "soft",
        progress=tell,
    )


class Demonstration(NamedTuple):
    """A simulated study: what says so, what its items and readers are, and its files."""

    simulated: str
    nouns: Nouns
    files: Mapping[str, str]


def run_evaluation(options: Options, demo: Demonstration | None = None) -> None:
    """Read, evaluate, write and show a study; the files of a demonstration go beside it."""
    if options.study and len(options.study) == 1:
        options = _repeated(options, options.study[0])
    check_scoring(options)
    check_truth(options)
    if options.groups or options.by_group or options.within:
        check_groups(options)
    check_reading(options)
    names = [] if options.metrics is None else metric_names(options.metrics)
    if options.out is not None:
        check_folder(
            options.out, RUN_FILES, overwrite=options.overwrite, where=f"--out {options.out}"
        )
    with progress("reading"):
        grouping = None if options.groups is None else asked_groups(options.groups, options)
        also = {
            "groups": options.groups,
            "attributes": options.attributes,
            "annotator_attributes": options.annotator_attributes,
        }
        home = options.out if demo is None else None
        read = read_study(options, names, truth=options.truth, out=home, also=also)
    earlier = _run_before(options)
    votes = read.study.voted
    as_read = (*AS_IN_RUN, "columns", "prediction_columns", "classes")
    options = replace(options, **{name: getattr(read.options, name) for name in as_read})
    truth = make_truth(votes, options)
    metrics, expected = read.study.metrics, list[str]()
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
        scored = _study(read, truth, metrics, options, stage("scoring"), earlier)
        report = _report(scored, read, options, stage, demo)
    if grouping is not None and truth.parts and not options.by_group:
        report = _with_risk(report, scored, grouping)
    again = _repeated_look(scored.evaluation, read, earlier)
    report = replace(report, notices=(*again, *read.notices, *report.notices))
    say(*expected)
    run = _recorded(scored.evaluation, report, read, truth, options, demo)
    _finish(run, options, {} if demo is None else demo.files)


def _repeated(options: Options, run: Path) -> Options:
    """What was asked, with what an earlier evaluation was asked where nothing else is said."""
    if not (run / RUN).is_file():
        return options
    record = Run.load(run).record
    set_now = non_default(options, (*ASKED_AGAIN, *FILES_AGAIN))
    stored: dict[str, Any] = {
        name: record.asked[name]
        for name in ASKED_AGAIN
        if name in record.asked and name not in set_now
    }
    stored |= {
        file.role: located(run, file)
        for file in record.inputs
        if file.role in FILES_AGAIN and file.role not in set_now
    }
    return replace(options, **stored)


def _run_before(options: Options) -> RunRecord | None:
    """The evaluation that is looked at again: the one that is named, or that lies in --out."""
    for folder in (*(options.study or ())[:1], options.out):
        if folder is not None and (folder / RUN).is_file():
            with suppress(InputError):  # what is damaged may be overwritten
                return Run.load(folder).record
    return None


def _repeated_look(done: Evaluation, read: FilesRead, earlier: RunRecord | None) -> Notices:
    """That a grown study is looked at again, where nobody said so."""
    if earlier is None or done.looks:
        return ()
    before, now = (
        sum(file.bytes for file in inputs if file.role == "annotations")
        for inputs in (earlier.inputs, read.inputs)
    )
    if now <= before or done.tasks != earlier.tasks or not {*done.models} & {*earlier.models}:
        return ()
    return (REPEATED,)


def _study(
    read: FilesRead,
    truth: ScoredTruth,
    metrics: Sequence[Metric],
    options: Options,
    tell: Progress,
    earlier: RunRecord | None,
) -> Study:
    """The study against the truth that was asked for."""
    attributes, people = options.attributes, options.annotator_attributes
    items_known = people_known = None
    if attributes is not None:
        items_known = read_attributes(attributes, group=options.item_group)
    if people is not None:
        people_known = read_attributes(people, "annotator", options.annotator_group)
    settings = replace(
        asked_settings(options, tell, earlier),
        thresholds=asked_thresholds(options, items_known),
        replicates=options.replicates or report_replicates(len(read.study.voted.items)),
    )
    usual = default_metrics(truth.given, read.study.predictions)
    study = Study.of(
        read.study.predictions,
        truth.given,
        metrics=None if tuple(metric.name for metric in metrics) == usual else metrics,
        resampling=options.resample or (None if truth.parts else read.resample),
        settings=settings,
        attributes=[table for table in (items_known, people_known) if table],
    )
    if not truth.parts:
        return study
    say(f"Truth: {truth.reason} {truth.words}.")
    return study.with_votes(read.study.voted)


def _report(
    study: Study,
    read: FilesRead,
    options: Options,
    stage: Callable[[str], Progress],
    demo: Demonstration | None,
) -> Report:
    source = demo or CATALOGUE.get(read.dataset.get("name", ""))
    require_models(options.pair, study.predictions)
    wanted = AnswerContent(
        analyses=asked_analyses(options),
        pair=options.pair,
        nouns=source.nouns if source else Nouns(),
        command=True,
    )
    return answer_report(study, wanted, stage)


def _with_risk(report: Report, study: Study, groups: ClassGroups) -> Report:
    """The report with what models make of groups of classes, before its evidence."""
    from equipoise.sets.risk import risk_finding

    parts = tuple(risk_finding(study, groups.grouping, groups.values))
    place = sum(not finding.evidence for finding in report.findings)
    return replace(
        report, findings=(*report.findings[:place], *parts, *report.findings[place:])
    )


# ---- the record, the folder and the screen -------------------------------------------------


def _recorded(
    done: Evaluation,
    report: Report,
    read: FilesRead,
    truth: ScoredTruth,
    options: Options,
    demo: Demonstration | None,
) -> Run:
    """Make the run with everything that was asked."""
    labels = _label_words(done)
    if truth.parts:
        soft = f"mean of the truth by {truth.words}"
        labels = {"soft": soft, "hard": HARD_LABELS[options.ties]}
    name = options.dataset or read.name.removesuffix(f": {TITLE}")
    return record(
        done,
        Provenance(
            title=options.title or name,
            simulated=None if demo is None else demo.simulated,
            inputs=read.inputs,
            question=_question(read.study.voted, options),
            truth_model=codec.read(TruthModel, plain(truth.facts)) if truth.facts else None,
            dataset=read.dataset or None,
            asked=non_default(options, ASKED_AGAIN),
        ),
        replace(cited(in_options(report), read.dataset), command=typed_command()),
        **labels,
    )


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


HARD_LABELS = {
    "half": "its class with most of that mean, shared by ties",
    "negative": "its class with more than half of that mean, or with most of it",
    "drop": "its class with most of that mean, ties left out",
}  # of a modelled truth


def _question(table: Annotations, options: Options) -> StoredQuestion:
    """What the record says of the question: options of models only where there is one."""
    facts: dict[str, Any] = {name: getattr(options, name) for name in RECORDED}
    if options.prediction_layout == "auto":
        del facts["prediction_layout"]
    facts["read_as"] = f"{table.kind}: {', '.join(table.classes)}"
    rare: dict[str, Any] = {
        "truth": options.truth if options.truth != "votes" else None,
        "gold": options.gold if options.gold != "truth" else None,
        "normalise": options.normalise if options.normalise != "none" else None,
        "by_group": options.by_group,
        "within": options.within,
        "classes": class_names(options.classes) if options.classes is not None else None,
        "columns": column_map(options.columns, "columns"),
        "prediction_columns": column_map(options.prediction_columns, "prediction_columns"),
    }
    return StoredQuestion(**facts, **{name: value for name, value in rare.items() if value})


def _finish(run: Run, options: Options, beside: Mapping[str, str]) -> None:
    """Write the run where asked, then print it; what is printed is already safe."""
    if options.out is not None:
        with progress("page"):
            run.save(options.out, overwrite=options.overwrite, beside=beside)
    if options.as_json:
        print_json(run_json(run))
        tell_notices(run.report, verbose=True)
        return
    shown = [] if options.full else words(options.analyses)
    show_run(run, out=options.out, verbose=options.verbose, full=options.full, shown=shown)
