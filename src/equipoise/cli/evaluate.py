"""equipoise evaluate: the verb, and what its options mean."""

from typing import TYPE_CHECKING

from equipoise.cli.command import verb
from equipoise.cli.on_disk import evaluate_on_disk, stays_on_disk
from equipoise.cli.options import (
    OF_FOLDER,
    OF_MATCHING,
    OF_QUESTION,
    OF_SCORES,
    OF_STUDY,
    Options,
    check_choice,
    misused,
    words,
)
from equipoise.types.arrays import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from equipoise.read.attributes import Attributes
    from equipoise.study import Settings, Thresholds
    from equipoise.study.study import Progress


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
    from equipoise.cli.evaluation import run_evaluation

    folders = [
        *(options.study or ()),
        *(options.annotations or ()),
        *(options.predictions or ()),
    ]
    if stays_on_disk(options, folders):
        evaluate_on_disk(options, folders)
        return
    run_evaluation(options)


def check_scoring(options: Options) -> None:
    """Refuse unknown words, and options of analyses that are left out."""
    from equipoise.inference.resampling import normalised
    from equipoise.study.analyses.catalogue import ANALYSES

    if options.resample is not None:
        try:
            normalised(options.resample)
        except InputError as error:
            message = error.in_command().removeprefix("--resample: ")
            raise misused(message, "resample") from None
    named = words(options.analyses) if options.analyses else []
    if options.analyses is not None and not named:
        message = f"got {options.analyses!r}, expected analyses, for example ranking,flips"
        raise misused(message, "analyses")
    for analysis in named:
        check_choice("analyses", analysis, tuple(ANALYSES))
    tuned = options.tuning is not None and "=" in options.tuning
    tuned |= options.item_group is not None
    if options.attributes is not None and named and "subgroups" not in named and not tuned:
        raise misused("belongs to subgroups, which --analyses leaves out", "attributes")


def asked_thresholds(options: Options, attributes: "Attributes | None") -> "Thresholds | None":
    """From which score on models say yes, and where rules look."""
    from equipoise.study import Thresholds, Tuning

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


def asked_analyses(options: Options) -> tuple[str, ...]:
    """Names of the analyses to run: those asked for, or those that cost next to nothing."""
    from equipoise.study.analyses.catalogue import ANALYSES

    if options.full:
        left = {"subgroups"} if options.attributes is None else set()
        return tuple(name for name in ANALYSES if name not in left)
    names = words(options.analyses)
    if not names:
        names = [name for name, analysis in ANALYSES.items() if analysis.quick]
    if options.attributes is not None and "subgroups" not in names and not options.analyses:
        names.append("subgroups")
    return tuple(names)


def _prevalence(named: "Iterable[str]") -> "float | dict[str, float] | None":
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


def asked_settings(options: Options, tell: "Progress") -> "Settings":
    """How scores become intervals and verdicts."""
    from equipoise.study import Settings

    return Settings(
        level=options.level,
        items=options.items,
        annotators=options.annotators,
        inference=options.inference,
        margin=options.margin,
        matters=options.matters,
        prevalence=_prevalence(options.prevalence or ()),
        annotator_group=options.annotator_group,
        item_group=options.item_group,
        circular="checked",
        on_missing=options.on_missing,
        ties=options.ties,
        progress=tell,
        labels=options.labels or "soft",
        seed=options.seed,
        most=options.most,
    )
