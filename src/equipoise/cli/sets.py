"""equipoise sets: sets of classes that hold what a new reader would say."""

from dataclasses import replace

from equipoise.cli.command import verb
from equipoise.cli.options import (
    OF_FOLDER,
    OF_MATCHING,
    OF_QUESTION,
    OF_SCORES,
    OF_STUDY,
    Options,
    as_usage,
    misused,
)
from equipoise.cli.results import check_report_folder, deliver
from equipoise.cli.screen import progress
from equipoise.cli.study import FilesRead, check_reading, read_study
from equipoise.cli.truth import check_truth, make_truth, read_groups
from equipoise.read.attributes import read_attributes
from equipoise.sets import Calibration, SetsWanted, sets_report
from equipoise.sets.rules import BY_CLASS, By
from equipoise.sets.scores import require_alpha
from equipoise.study import Settings, Study, Tuning
from equipoise.types import Grouping, Names, choice

MARK = "sets.json"
BY_GROUPS = "groups"
OF_TRUTH = ("truth", "draws", "burn_in", "reliability", "prior")


NAMES = (
    *OF_STUDY,
    *("attributes", "groups", "alpha", "score", "guarantee", "by", "tuning"),
    *("seed", "level", "annotators", "item_group"),
    *OF_TRUTH,
    *OF_QUESTION,
    *OF_SCORES,
    *OF_MATCHING,
    *OF_FOLDER,
)
SHOWN = ("study", "annotations", "predictions", "groups", "alpha", "guarantee", "by", "out")


@verb(
    *NAMES,
    rare=tuple(name for name in NAMES if name not in SHOWN),
    arguments=("study",),
    texts={
        "attributes": "What is known of the items: a table with `item` and columns such as "
        "site; coverage is looked at in each.",
        "groups": "Table of `class, group`, such as levels of risk; coverage is looked at in "
        "each.",
        "tuning": "Where thresholds are set: `folds=5` (default; each fold by the others), a "
        "share of the items that is then not looked at (`0.3`), `split=dev` of --attributes, "
        "or a file of names.",
        "reliability": "How much a vote counts.",
        "prior": "What the model believes without votes; see `aggregate --help`.",
        "out": "Folder for sets.json, tables/sets.csv (the set of every item), tables, "
        "figures, methods.md, references.bib and report.html.",
    },
    heavy="maps",
)
def sets(options: Options) -> None:
    """Which classes must a set hold, so that it holds what a new reader says?

    A threshold on the probabilities of each model, calibrated where annotators disagree: on
    majority labels, as is usual, sets are too small; on the votes they hold 1 - alpha of what
    new readers say, on average or, with `--guarantee two_way`, as a lower bound. What they hold
    is looked at on items that calibration has not seen: for new readers, the majority, every
    class, group and level of risk, beside the readers' own sets.

    Example: equipoise sets study.csv --alpha 0.1 --out sets

    Example: equipoise sets -a ddx.json -p probabilities --groups risk.csv --by groups
    """
    check_reading(options)
    check_truth(options)
    check_report_folder(options, MARK)
    with as_usage("alpha"):
        require_alpha(options.alpha)
    with progress("reading"):
        read = read_study(options, ["brier_score"], truth=options.truth, out=options.out)
        grouping = None if options.groups is None else read_groups(options.groups).grouping
        study = _study(read, options)
    wanted = _wanted(study, grouping, options)
    title = f"What do prediction sets hold? ({read.name})"
    with progress("sets"):
        report = sets_report(study, wanted, title)
    deliver(report, replace(read, study=study), options, MARK)


def _study(read: FilesRead, options: Options) -> Study:
    """The models against the truth that was asked for, with what is known of the items."""
    votes = read.study.voted
    settings = Settings(
        level=options.level,
        annotators=options.annotators,
        item_group=options.item_group,
        on_missing=read.study.settings.on_missing,
        ties=read.study.settings.ties,
        seed=options.seed,
        circular="checked",
    )
    tables = []
    if options.attributes is not None:
        tables = [read_attributes(options.attributes, group=options.item_group)]
    truth = make_truth(votes, options)
    study = Study.of(
        read.study.predictions,
        truth.given,
        metrics=["brier_score"],
        settings=settings,
        attributes=tables,
    )
    return study.with_votes(votes) if truth.parts else study


def _wanted(study: Study, grouping: Grouping | None, options: Options) -> SetsWanted:
    """How thresholds are set, and where."""
    known = study.attributes
    tuning = None
    if options.tuning is not None:
        where = None if known is None else known.where
        tuning = Tuning.parse(options.tuning, where, options.seed)
    calibration = Calibration(
        alpha=options.alpha,
        score=options.score,
        guarantee=options.guarantee,
        by=_strata(study, grouping, options),
        seed=options.seed,
        level=options.level,
    )
    return SetsWanted(calibration, tuning, grouping, by_item=True)


def _strata(study: Study, grouping: Grouping | None, options: Options) -> By:
    """What has a threshold of its own."""
    word, known = options.by, study.attributes
    if word is None:
        return None
    of_items: Names = () if known is None else known.columns
    offered = (BY_CLASS, *([BY_GROUPS] if grouping is not None else []), *of_items)
    with as_usage("by"):
        choice("--by", word, offered)
    if word == BY_CLASS:
        return BY_CLASS
    if word == BY_GROUPS and grouping is not None:
        return grouping
    if known is None:
        raise misused("names a column of --attributes; give it", "by")
    column = known.columns.index(word)
    codes = known.aligned(study.items, on_missing="drop")[column]
    names = [known.levels[column][code] if code >= 0 else "unknown" for code in codes]
    return dict(zip(study.items, names, strict=True))
