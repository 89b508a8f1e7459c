"""Every option of the command line, in one table.

A row is a field of `Options`: its name, type and default, then the panel of the help, the text,
and what else holds for it (other flags, bounds, choices, whether it is rare). A verb names the
rows that it takes, see `equipoise.cli.command.verb`, and gets an `Options`; rows that it does
not take have their defaults. Where one flag means two things in two verbs (``--threshold`` of
`evaluate` and of `aggregate`), there are two rows with that flag.

Rare options are hidden: ``--help-all`` shows them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args

import typer

from equipoise.read.options import SHARED
from equipoise.types.arrays import InputError, choice

FILES, ASKED, MEANING = "Files", "What is looked at", "What the labels mean"
TRUTH, GROUPS, MODEL = "What the truth is", "Groups of classes", "Model"
ITEMS, RULE = "Where the probabilities come from", "How the threshold is set"
AUDIT, GOAL, SEEN = "What was audited", "What to plan for", "How images are seen"
JUDGED, GRID, SCORES = "How votes become answers", "Grid", "Scores"
UNCERTAINTY, RESULT, ENGINE = "Uncertainty", "Result", "Engine"

# texts that name all of a catalogue are made when the help is shown
EVERY_METRIC, EVERY_ANALYSIS, EVERY_MODEL = "(metrics)", "(analyses)", "(models)"
RELIABILITIES, PRIORS = "(reliabilities)", "(priors)"

PROBABILITIES = (
    "A probability per item: a table with `item` and a column of probabilities (or one per "
    "model, see `--model`), or a .npz that `aggregate --out` wrote. With `--truth`: who said "
    "what, as for `evaluate`."
)


class Row(NamedTuple):
    """What the table says of an option beside its name, type and default.

    Attributes
    ----------
    panel, text
        Where the help shows it, and what it says.
    flags
        Flags, where there are others than the name.
    least, most
        Bounds of a number.
    choices
        Words that it knows, or the catalogue that holds them, as ``module:NAME``.
    rare
        Whether only ``--help-all`` shows it.
    metavar
        What stands for its value in the help.
    any_size
        Whether a number may be as large as the data are; others are drawn or trained so often.
    positive
        Whether a number must lie above 0.
    """

    panel: str
    text: str
    flags: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] | str = ()
    rare: bool = False
    metavar: str | None = None
    any_size: bool = False
    positive: bool = False


def row(panel: str, text: str, *flags: str, **more: Any) -> Row:
    """What the table says of an option."""
    return Row(panel, text, flags, **more)


def shared(panel: str, name: str, **more: Any) -> Row:
    """The same of an option that is a keyword of Python, too."""
    facts = {**SHARED[name]._asdict(), **more}
    del facts["default"]
    return Row(panel, **facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What was asked of a verb: the table of all options, and the values of one command."""

    # ---- files ---------------------------------------------------------------------------
    study: Annotated[list[Path] | None, row(
        FILES, "A study that `equipoise check --out` wrote, annotations and predictions in any "
        "mix, told by their columns, or the folder of an earlier evaluation, whose files are "
        "looked for where they lay. Or give -a and -p.", metavar="STUDY",
    )] = None  # fmt: skip
    file: Annotated[Path | None, row(FILES, PROBABILITIES)] = None
    files: Annotated[list[Path] | None, row(
        FILES, "Annotations and predictions in any mix: what each holds is told by its "
        "columns, and said. A folder stands for the tables in it.",
    )] = None  # fmt: skip
    annotations: Annotated[list[Path] | None, row(
        FILES, "Who said what: `item, annotator, label` in CSV, TSV or Parquet, or another "
        "layout that `equipoise check` knows. Repeat it, or name a folder, for one file per "
        "annotator.", "--annotations", "-a",
    )] = None  # fmt: skip
    predictions: Annotated[list[Path] | None, row(
        FILES, "What each model scored: `item, [task], model, score`, or a column per model, "
        "class or task; class names are decisions. A folder stands for the tables in it.",
        "--predictions", "-p",
    )] = None  # fmt: skip
    dataset: Annotated[str | None, row(
        FILES, "A public data set of `equipoise datasets` in place of the annotations, and of "
        "the predictions where it comes with some and none are given.",
        choices="equipoise.datasets:CATALOGUE",
    )] = None  # fmt: skip
    run: Annotated[Path | None, row(
        FILES, "Folder that `equipoise evaluate --out` or `clean scan --out` wrote.",
    )] = None  # fmt: skip
    source: Annotated[Path | None, row(
        FILES, "A folder of images, or a file of embeddings (.npz, .npy, .parquet, .csv).",
    )] = None  # fmt: skip
    folder: Annotated[Path | None, row(
        FILES, "Folder that `rounds start` wrote.", metavar="DIR",
    )] = None  # fmt: skip
    clean_study: Annotated[str | None, row(
        FILES, "A study of `--list`, such as `demo`; or a folder of images, or a file of "
        "embeddings (npz, npy, Parquet, CSV), with --votes.", metavar="DATASET",
    )] = None  # fmt: skip
    name: Annotated[str | None, row(FILES, "Which result; leave out for a list.")] = None
    attributes: Annotated[Path | None, row(
        FILES, "What is known of the items: a table with `item` and a column for each of sex, "
        "age, site, ...; adds subgroups.",
    )] = None  # fmt: skip
    annotator_attributes: Annotated[Path | None, row(
        FILES, "What is known of the annotators: a table with `annotator` and a column for "
        "each of school, expertise, ...",
    )] = None  # fmt: skip
    experts: Annotated[list[Path] | None, row(
        FILES, "What the experts said: one file of votes (item, annotator, label), or a "
        "filled-in plan of each expert; repeat for several.",
    )] = None  # fmt: skip
    votes: Annotated[list[str] | None, row(
        FILES, "Yes/no votes on a kind of problem, TASK=FILE: `off_topic=votes.csv` with item, "
        "annotator, label; of `near_duplicates` an item is a pair, `a | b`. Once per kind; a "
        "file with a column task, such as the page of `equipoise clean scan` hands out, may "
        "serve several.",
    )] = None  # fmt: skip
    label_table: Annotated[Path | None, row(
        FILES, "Labels of the images, for label errors: item, label.", "--labels",
    )] = None  # fmt: skip
    split: Annotated[Path | None, row(
        FILES, "Which part of the data, such as train and test, each image belongs to: a table "
        "of `item, split`, or `folders`. Duplicates between parts are leakage.",
    )] = None  # fmt: skip
    images: Annotated[Path | None, row(
        FILES, "Folder of the images, or a file of embeddings, of a study that does not bring "
        "them along, such as `cleanpatrick`.", rare=True,
    )] = None  # fmt: skip
    release: Annotated[Path | None, row(
        FILES, "Folder of the published files of such a study. Both are looked for in the "
        "folder that EQUIPOISE_DATA names where nothing is said.", rare=True,
    )] = None  # fmt: skip
    answers: Annotated[list[Path] | None, row(
        FILES, "Votes on the pairs: pair (or item, or first and second), annotator, label "
        "(`yes`, `no` or `unsure`); or pairs.csv, filled in; or what the page of `equipoise "
        "clean scan` hands out, of which other tasks and pairs that were not asked are passed "
        "over. Repeat for several.",
    )] = None  # fmt: skip
    data: Annotated[str | None, row(
        FILES, "`demo`, `nih`, an .npz file (images, labels, split, patient), or a folder of "
        "images with a CSV of labels (CheXpert, MIMIC-CXR-JPG or one column per label).",
    )] = None  # fmt: skip
    ood: Annotated[list[Path] | None, row(
        FILES, "What the same methods say of other images (out of distribution): a file each, "
        "named as that of its predictions; repeat for several. Not needed where files hold "
        "both.",
    )] = None  # fmt: skip
    ood_data: Annotated[str | None, row(
        FILES, "A second data set as out of distribution; without one, test images are "
        "corrupted.", "--ood",
    )] = None  # fmt: skip
    image_size: Annotated[int, row(
        FILES, "Height and width to which the images of a folder are brought.", "--size",
        least=16,
    )] = 64  # fmt: skip
    uncertain: Annotated[str, row(
        FILES, "What -1 is in training: `ignore`, `zeros` or `ones`.",
    )] = "ignore"  # fmt: skip
    blank: Annotated[str, row(
        FILES, "What a blank label is in training: `ignore` or `zeros`.",
    )] = "ignore"  # fmt: skip
    on_disk: Annotated[bool, row(
        FILES, "A folder of Parquet partitions stays on disk and is read a partition at a "
        "time; so does, without asking, one of more than 20 million rows or with folders "
        "`key=value`. All votes on an item must lie in one partition; what needs all votes in "
        "memory (pages, most analyses and metrics) is refused with what works.",
    )] = False  # fmt: skip
    columns: Annotated[str | None, row(
        FILES, "Other names in the annotations, OURS=THEIRS: `item=Study,group=patient`.",
        rare=True,
    )] = None  # fmt: skip
    layout: Annotated[str, shared(
        FILES, "layout", rare=True,
    )] = SHARED["layout"].default  # fmt: skip
    repeats: Annotated[str, shared(
        FILES, "repeats", rare=True,
    )] = SHARED["repeats"].default  # fmt: skip
    phases: Annotated[str, shared(
        FILES, "phases", rare=True,
    )] = SHARED["phases"].default  # fmt: skip
    expert_columns: Annotated[str | None, row(
        FILES, "Other names in the experts' files.", rare=True,
    )] = None  # fmt: skip
    prediction_columns: Annotated[str | None, row(
        FILES, "Other names in the predictions, OURS=THEIRS.", rare=True,
    )] = None  # fmt: skip
    prediction_layout: Annotated[str, shared(
        FILES, "prediction_layout", rare=True,
    )] = SHARED["prediction_layout"].default  # fmt: skip
    on_missing: Annotated[str, shared(
        FILES, "on_missing", rare=True,
    )] = SHARED["on_missing"].default  # fmt: skip
    circular: Annotated[str, shared(
        FILES, "circular", rare=True,
    )] = SHARED["circular"].default  # fmt: skip

    # ---- what was audited ----------------------------------------------------------------
    found: Annotated[int | None, row(
        AUDIT, "Positives that the retrieval found. Default with `-a`: those by majority.",
        least=0, any_size=True,
    )] = None  # fmt: skip
    pool_sizes: Annotated[list[str] | None, row(
        AUDIT, "With FILE: how many items were left out, audited or not; `POOL=NUMBER` for "
        "each pool, or one number for every pool.", "--size",
    )] = None  # fmt: skip
    audited: Annotated[int | None, row(
        AUDIT, "Items that were audited.", least=1, any_size=True,
    )] = None  # fmt: skip
    positives: Annotated[int | None, row(
        AUDIT, "Positives among them.", least=0, any_size=True,
    )] = None  # fmt: skip
    unaudited: Annotated[int | None, row(
        AUDIT, "Items that were left out and not audited.", least=0, any_size=True,
    )] = None  # fmt: skip
    pool: Annotated[list[str] | None, row(
        AUDIT, "One of several pools: `NAME,AUDITED,POSITIVES,SIZE`, where SIZE counts the "
        "audited ones too; repeat.",
    )] = None  # fmt: skip

    # ---- what is looked at ---------------------------------------------------------------
    metrics: Annotated[str | None, row(ASKED, EVERY_METRIC, "--metrics", "--metric")] = None
    list_metrics: Annotated[bool, row(
        ASKED, "Print every metric with its definition, and stop.",
    )] = False  # fmt: skip
    full: Annotated[bool, row(ASKED, "Add every analysis there is.")] = False
    analyses: Annotated[str | None, row(ASKED, EVERY_ANALYSIS, "--analyses", "--only")] = None
    pair: Annotated[tuple[str, str] | None, row(
        ASKED, "Add a close look at two models: A B.",
    )] = None  # fmt: skip
    threshold: Annotated[list[str] | None, row(
        ASKED, "From which score on a model says yes, for metrics of decisions: `0.3`, by "
        "model, task or both (`resnet=0.4`, `Edema=0.3`, `resnet/Edema=0.4`), or a rule: "
        "`youden`, `f1`, `prevalence`, `sensitivity=0.9`, `specificity=0.9`. Repeatable.",
    )] = None  # fmt: skip
    tuning: Annotated[str | None, row(
        ASKED, "Where rules look: a share of the items that is then not scored (`0.3`), "
        "`folds=5` for cross-fitting, `split=dev` of `--attributes`, or a file of names.",
    )] = None  # fmt: skip
    prevalence: Annotated[list[str] | None, row(
        ASKED, "Share of positives where models will be used: PPV and NPV at the stated cuts "
        "are those at it. `0.02`, or by task (`Edema=0.02`). Repeatable.",
    )] = None  # fmt: skip
    margin: Annotated[float | None, shared(
        ASKED, "margin",
    )] = SHARED["margin"].default  # fmt: skip
    labels: Annotated[str | None, shared(
        ASKED, "labels",
    )] = None  # fmt: skip
    alpha_level: Annotated[str | None, row(
        ASKED, "How far apart two labels are for Krippendorff's alpha: `nominal` (same or "
        "not), `ordinal` (by rank), `interval` (squared difference) or `ratio` (relative to a "
        "true zero); by default what the kind of labels says.", "--level",
        choices="equipoise.truth.agreement.coefficients:LEVELS",
    )] = None  # fmt: skip
    weights: Annotated[str, row(
        ASKED, "How much a disagreement counts for Cohen's kappa: `none` (all alike), `linear` "
        "or `quadratic` (by the steps between grades).",
        choices="equipoise.truth.agreement.coefficients:WEIGHTS",
    )] = "none"  # fmt: skip
    task: Annotated[str | None, row(ASKED, "Which question, where there are several.")] = None
    tasks: Annotated[list[str] | None, row(
        ASKED, "Which question; all if left out, repeat for several.", "--task",
    )] = None  # fmt: skip
    detectors: Annotated[str | None, row(
        ASKED, "Comma-separated, at most one per kind of problem; one of your own as "
        "`path.py:Class`. Default: SelfClean's three.",
    )] = None  # fmt: skip
    problems: Annotated[str | None, row(
        ASKED, "Some of `off_topic`, `near_duplicates`, `label_errors`. Default: all with "
        "votes.", "--tasks",
    )] = None  # fmt: skip
    seeds: Annotated[int | None, row(
        ASKED, "Runs of a detector that chance has a part in; its value is their mean, and how "
        "they differ is part of the interval. Default: 3.", least=1,
    )] = None  # fmt: skip
    listed: Annotated[bool, row(
        ASKED, "List detectors and data sets, and stop.", "--list",
    )] = False  # fmt: skip
    cut: Annotated[bool, row(
        ASKED, "Cut each list automatically: say which lie beyond.",
    )] = False  # fmt: skip
    longest: Annotated[int, row(
        ASKED, "Lines of each list; all beyond the cut are in it.", "--most", least=1,
    )] = 1000  # fmt: skip
    no_check: Annotated[bool, row(
        ASKED, "Plant no problems to see how the rankings would do.",
    )] = False  # fmt: skip
    alpha: Annotated[float, row(
        ASKED, "Share of the scores that the cut fits.", least=0.0001, most=0.5, rare=True,
    )] = 0.01  # fmt: skip
    q: Annotated[float, row(
        ASKED, "Share of false alarms that the cut allows.", least=0.0001, most=1, rare=True,
    )] = 0.05  # fmt: skip

    # ---- how images are seen -------------------------------------------------------------
    encoder: Annotated[str | None, row(
        SEEN, "What makes embeddings of images: `default` (EfficientNet-Lite0, works offline), "
        "`lite2`, `lite0:224`, a file that ends in .onnx, `timm:NAME` or `pixels`.",
    )] = None  # fmt: skip
    cache: Annotated[Path | None, row(
        SEEN, "Folder that keeps embeddings, by what images hold, so that the next scan is "
        "quick and an interrupted one goes on. Default: a folder in --out; without --out none "
        "is kept.",
    )] = None  # fmt: skip

    # ---- what the labels mean ------------------------------------------------------------
    kind: Annotated[str | None, shared(
        MEANING, "kind",
    )] = SHARED["kind"].default  # fmt: skip
    classes: Annotated[str | None, row(
        MEANING, "All classes, comma-separated, or a .txt file with one per line; grades "
        "lowest first.",
    )] = None  # fmt: skip
    positive: Annotated[str | None, row(MEANING, "Ask about one class: is it this one?")] = None
    at_least: Annotated[str | None, row(
        MEANING, "Grades or ratings: is it at least this?",
    )] = None  # fmt: skip
    exchangeable: Annotated[bool, shared(
        MEANING, "exchangeable", rare=True,
    )] = SHARED["exchangeable"].default  # fmt: skip
    first_votes: Annotated[int | None, row(
        MEANING, "Only the first so many votes on an item, by timestamp or else by row: where "
        "votes were added after disagreement.", least=1, rare=True,
    )] = None  # fmt: skip
    gold: Annotated[str, shared(
        MEANING, "gold", rare=True,
    )] = SHARED["gold"].default  # fmt: skip
    ties: Annotated[str, shared(
        MEANING, "ties", rare=True,
    )] = SHARED["ties"].default  # fmt: skip

    # ---- the truth, groups of classes, models of votes -----------------------------------
    truth: Annotated[str, row(
        TRUTH, "`votes` themselves, a model of them (`auto`, or a name that `aggregate "
        "--model` takes), or a file written by `aggregate --out` (.npz; several tasks: "
        "comma-separated).",
    )] = "votes"  # fmt: skip
    groups: Annotated[Path | None, row(
        GROUPS, "Table of `class, group` (lowest group first) and perhaps `value`, a number "
        "per group; the file's stem names what the groups are, as in risk.csv.",
    )] = None  # fmt: skip
    by_group: Annotated[bool, row(
        GROUPS, "Score groups instead of classes.", rare=True,
    )] = False  # fmt: skip
    within: Annotated[str | None, row(
        GROUPS, "Score the cases of a group (several: comma-separated), each by its chance of "
        "being one; for metrics under a model of the truth.", rare=True,
    )] = None  # fmt: skip
    model: Annotated[str, row(MODEL, EVERY_MODEL)] = "auto"
    compare: Annotated[bool, row(
        MODEL, "Fit every suitable model: held-out votes, and where they differ.",
    )] = False  # fmt: skip
    rating_threshold: Annotated[float | None, row(
        MODEL, "Where ratings (`--kind interval`) become 'at least'; `normal` needs it.",
        "--threshold",
    )] = None  # fmt: skip
    votes_as: Annotated[str | None, row(
        ITEMS, "FILE holds votes: `votes` takes their mean, `auto`, `dawid_skene`, `glad`, ... "
        "a model of them.", "--truth",
    )] = None  # fmt: skip
    score_model: Annotated[str | None, row(
        ITEMS, "Whose probabilities, where FILE has several.", "--model",
    )] = None  # fmt: skip
    plan: Annotated[Path | None, row(
        ITEMS, "The key that `threshold plan` wrote (plan.key.json), or the plan beside it: "
        "supplies `--truth`, `--task`, `--bins` and all else that the plan was made with.",
    )] = None  # fmt: skip
    bins: Annotated[int | None, row(
        ITEMS, "Bins of as equal size as possible. Default: 20.", least=1,
    )] = None  # fmt: skip
    per_bin: Annotated[int | None, row(
        ITEMS, "Items drawn from each bin. Default: 20.", least=1, any_size=True,
    )] = None  # fmt: skip
    draws: Annotated[int | None, row(
        TRUTH, "Possible truths of the model. Default: 1,000.", least=2, rare=True,
    )] = None  # fmt: skip
    burn_in: Annotated[int | None, row(
        TRUTH, "Draws of each chain thrown away first (plackett_luce). Default: 500.", least=0,
        rare=True,
    )] = None  # fmt: skip
    reliability: Annotated[float | None, row(MODEL, RELIABILITIES, rare=True)] = None
    prior: Annotated[str | None, row(MODEL, PRIORS, rare=True)] = None
    bootstrap: Annotated[int, row(
        MODEL, "Refit the model to so many panels of resampled annotators; a certainty is then "
        "the share of panels that name the same class. 0: none.", least=0, rare=True,
    )] = 0  # fmt: skip

    # ---- votes on pairs of images --------------------------------------------------------
    votes_needed: Annotated[int, row(
        JUDGED, "Votes that a pair needs.", "--votes", least=1,
    )] = 1  # fmt: skip
    patience: Annotated[int, row(
        JUDGED, "How often in a row a cluster is refused before it stops asking. 1 is enough "
        "if near duplicates are closer than all else; more finds more where they are not.",
        least=1,
    )] = 1  # fmt: skip
    judge: Annotated[str, row(
        JUDGED, "How several votes become one answer: `majority_vote`, `mean_vote`, "
        "`dirichlet`, `dawid_skene` or `glad`.", "--model", rare=True,
        choices="equipoise.clean.rounds:JUDGES",
    )] = "majority_vote"  # fmt: skip
    yes_threshold: Annotated[float, row(
        JUDGED, "Probability of yes that must be exceeded.", "--threshold", least=0.001,
        most=0.999, rare=True,
    )] = 0.5  # fmt: skip
    undecided: Annotated[str, row(
        JUDGED, "Tied pairs count as `no` or `yes`, or need `more` votes.", rare=True,
        choices="equipoise.clean.rounds:UNDECIDED",
    )] = "no"  # fmt: skip

    # ---- how a threshold is set ----------------------------------------------------------
    rule: Annotated[str, row(
        RULE, "`isotonic`: where a rising fit reaches `--share`; `rise`: mean probability of "
        "the first bin from which on positives are more frequent than below, whose interval "
        "holds the truth too rarely (72 to 87 % instead of 95 %).",
        choices="equipoise.study.analyses.thresholds:RULES",
    )] = "isotonic"  # fmt: skip
    share: Annotated[float | None, row(
        RULE, "Share of positives to reach; of `isotonic`. Default: 0.5.", least=0, most=1,
    )] = None  # fmt: skip
    rise_margin: Annotated[float | None, row(
        RULE, "By how much more than below; of `rise`. Default: 0.1.", "--margin", least=0,
        most=1,
    )] = None  # fmt: skip
    reach: Annotated[float, row(
        RULE, "How far the threshold is moved.", least=0.001, most=0.999, rare=True,
    )] = 0.15  # fmt: skip

    # ---- what to plan for ----------------------------------------------------------------
    models: Annotated[str | None, row(
        GOAL, "The two models: `A,B`. Default: the two best.",
    )] = None  # fmt: skip
    ranking: Annotated[bool, row(
        GOAL, "Plan for the whole order: every model against the next.",
    )] = False  # fmt: skip
    power: Annotated[float, row(
        GOAL, "Probability with which the study must resolve the difference.", least=0.05,
        most=0.999,
    )] = 0.8  # fmt: skip
    difference: Annotated[float | None, row(
        GOAL, "The smallest difference that matters. Default: the pilot's, if the pilot has "
        "found one for items and annotators like these.",
    )] = None  # fmt: skip
    panel_sizes: Annotated[str, row(
        GOAL, "Numbers of annotators to look at, comma-separated.", "--annotators",
    )] = "3,5,8,12,20"  # fmt: skip
    votes_per_item: Annotated[str | None, row(
        GOAL, "Votes per item to look at, comma-separated. Default: all annotators vote on "
        "every item; without names of annotators 1,2,3,5,8.", rare=True,
    )] = None  # fmt: skip
    items_per_group: Annotated[str | None, row(
        GOAL, "Where items have groups (patients, nights): items of each to look at. Default: "
        "as in the pilot, and a tenth of that.", rare=True,
    )] = None  # fmt: skip
    price_item: Annotated[float | None, row(
        GOAL, "What one more item costs, without votes.", rare=True,
    )] = None  # fmt: skip
    price_vote: Annotated[float | None, row(GOAL, "What one vote costs.", rare=True)] = None
    price_annotator: Annotated[float, row(
        GOAL, "What one more annotator costs, before any vote.", least=0, rare=True,
    )] = 0.0  # fmt: skip
    simulations: Annotated[int, row(
        GOAL, "Studies simulated to check each design; 0 for none.", least=0, rare=True,
    )] = 400  # fmt: skip

    # ---- training and judging uncertainty ------------------------------------------------
    methods: Annotated[str | None, row(GRID, "Comma-separated methods; all by default.")] = None
    archs: Annotated[str | None, row(
        GRID, "Comma-separated networks: `resnet18`, `vit_tiny`, `resnet_demo`, `vit_demo`, or "
        "`timm:NAME`.",
    )] = None  # fmt: skip
    trainings: Annotated[int, row(
        GRID, "How many seeds each method is trained with.", "--seeds", least=1, most=1000,
    )] = 5  # fmt: skip
    drop: Annotated[float, row(
        GRID, "By what share corruptions lower the validation AUROC.",
    )] = 0.2  # fmt: skip
    device: Annotated[str, row(GRID, "`cpu`, `cuda` or `auto`.")] = "auto"
    minutes: Annotated[float | None, row(
        GRID, "Stop in time; the same command goes on later.",
    )] = None  # fmt: skip
    epochs: Annotated[int | None, row(GRID, "Epochs at most.", least=1)] = None
    batch: Annotated[int | None, row(GRID, "Images of a batch.", least=1)] = None
    setting: Annotated[list[str] | None, row(
        GRID, "A setting of a method, such as `beta_edl.kl=full`. Repeatable.", "--with",
        metavar="METHOD.FIELD=VALUE",
    )] = None  # fmt: skip
    image: Annotated[str, row(
        SCORES, "How one score per image is made of those of its labels: `mean`, `max` or "
        "`sum`.", choices="equipoise.uq.decomposition:IMAGE_LEVEL",
    )] = "mean"  # fmt: skip
    decomposition: Annotated[str, row(
        SCORES, "`information` (entropy of the mean less mean entropy), or `reverse_mi`.",
        choices="equipoise.uq.decomposition:DECOMPOSITIONS",
    )] = "information"  # fmt: skip
    binning: Annotated[str, row(
        SCORES, "Bins of calibration: equally wide (`width`) or equally full (`mass`).",
        choices="equipoise.uq.tasks:BINNING",
    )] = "width"  # fmt: skip

    # ---- uncertainty ---------------------------------------------------------------------
    seed: Annotated[int, shared(
        UNCERTAINTY, "seed", any_size=True,
    )] = SHARED["seed"].default  # fmt: skip
    level: Annotated[float, shared(
        UNCERTAINTY, "level", least=0.5, most=0.999,
    )] = SHARED["level"].default  # fmt: skip
    most: Annotated[int, shared(
        UNCERTAINTY, "most", rare=True,
    )] = SHARED["most"].default  # fmt: skip
    resample: Annotated[str | None, row(
        UNCERTAINTY, "What is resampled for shares: `items`, `votes`, `panel`, "
        "`items-x-panel`, `items-x-votes`, `influence` (instant, for very many items); under a "
        "model `posterior` or `items-x-posterior`. Default: what fits; the output says why.",
        rare=True,
    )] = None  # fmt: skip
    replicates: Annotated[int | None, shared(
        UNCERTAINTY, "replicates", rare=True,
    )] = SHARED["replicates"].default  # fmt: skip
    items: Annotated[str, shared(
        UNCERTAINTY, "items", rare=True,
    )] = SHARED["items"].default  # fmt: skip
    annotators: Annotated[str, shared(
        UNCERTAINTY, "annotators", rare=True,
    )] = SHARED["annotators"].default  # fmt: skip
    annotator_group: Annotated[str | None, shared(
        UNCERTAINTY, "annotator_group", metavar="COLUMN",
    )] = SHARED["annotator_group"].default  # fmt: skip
    item_group: Annotated[str | None, shared(
        UNCERTAINTY, "item_group", metavar="COLUMN",
    )] = SHARED["item_group"].default  # fmt: skip
    inference: Annotated[str, shared(
        UNCERTAINTY, "inference", rare=True,
    )] = SHARED["inference"].default  # fmt: skip
    matters: Annotated[float | None, shared(
        UNCERTAINTY, "matters", rare=True,
    )] = SHARED["matters"].default  # fmt: skip
    infinite: Annotated[bool, row(
        UNCERTAINTY, "Do not narrow intervals because pools are finite.", rare=True,
    )] = False  # fmt: skip

    # ---- the result ----------------------------------------------------------------------
    next_items: Annotated[int, row(
        RESULT, "How many items to name for one more vote each; so many of every task.",
        "--next", least=0, any_size=True,
    )] = 0  # fmt: skip
    out: Annotated[Path | None, row(
        RESULT, "Folder for the record (JSON), tables (CSV, Markdown, LaTeX), figures (SVG), "
        "methods.md, references.bib and report.html.",
    )] = None  # fmt: skip
    overwrite: Annotated[bool, row(RESULT, "Replace an earlier one there.")] = False
    thumbnails: Annotated[str, row(
        RESULT, "Pictures on the page: `embedded` in it, in a folder `beside` it, or `none`.",
        choices=("embedded", "beside", "none"),
    )] = "embedded"  # fmt: skip
    page: Annotated[Path | None, row(RESULT, "File for a page, ending in .html.")] = None
    export: Annotated[Path | None, row(
        RESULT, "In place of the page: a new folder for the tables (CSV, Markdown, LaTeX), "
        "figures (SVG), a methods paragraph and its references (BibTeX).",
    )] = None  # fmt: skip
    shown: Annotated[bool, row(
        RESULT, "One file and no key: items bin by bin, with bin and probability, which tell "
        "the expert what is expected.", "--open",
    )] = False  # fmt: skip
    title: Annotated[str | None, row(RESULT, "Heading of the page.", rare=True)] = None
    as_json: Annotated[bool, row(RESULT, "Print everything as JSON.", "--json")] = False
    verbose: Annotated[bool, row(
        RESULT, "Print all that is said: every analysis, table and notice.", "--verbose", "-v",
    )] = False  # fmt: skip

    # ---- where heavy work runs -----------------------------------------------------------
    engine: Annotated[str, row(
        ENGINE, "Where heavy work runs: `local` (threads), `processes`, `dask` or `ray`; no "
        "number changes. `slurm-array` (of `clean benchmark` and `uq benchmark`) prints a job "
        "script whose tasks are the parts; the same command collects them afterwards.",
        rare=True,
    )] = "local"  # fmt: skip
    address: Annotated[str | None, row(
        ENGINE, "Of a Dask scheduler or a Ray head, as they print it; without, workers start "
        "here.", rare=True,
    )] = None  # fmt: skip
    workers: Annotated[int, row(
        ENGINE, "How many at a time; 0: one per core, or all of the cluster.", least=0,
        rare=True,
    )] = 0  # fmt: skip


ROWS: Mapping[str, Row] = {one.name: get_args(one.type)[1] for one in fields(Options)}
TYPES: Mapping[str, Any] = {one.name: get_args(one.type)[0] for one in fields(Options)}
DEFAULTS: Mapping[str, Any] = {one.name: one.default for one in fields(Options)}

# rows that several verbs take
OF_STUDY = ("study", "annotations", "predictions", "dataset")
OF_VOTES = ("kind", "classes", "exchangeable", "columns", "layout", "repeats", "phases")
OF_QUESTION = (*OF_VOTES, "first_votes", "positive", "at_least")
OF_SCORES = ("prediction_columns", "prediction_layout")
OF_MATCHING = ("on_missing", "gold", "ties", "circular")
OF_FOLDER = ("out", "overwrite", "title", "as_json")
OF_ENGINE = ("engine", "address", "workers")


def flag(name: str) -> str:
    """The option of a row.

    Examples
    --------
    >>> flag("prediction_layout"), flag("rating_threshold")
    ('--prediction-layout', '--threshold')
    """
    flags = ROWS[name].flags if name in ROWS else ()
    return flags[0] if flags else f"--{name.replace('_', '-')}"


def misused(why: str, name: str) -> typer.BadParameter:
    """Wrong usage of an option, by the name of its row."""
    return typer.BadParameter(why, param_hint=flag(name))


def check_choice(name: str, value: str | None, choices: Sequence[str]) -> None:
    """Refuse a word that an option does not know; None is an option that was left out."""
    if value is None:
        return
    try:
        choice(flag(name), value, choices)
    except InputError as error:
        raise misused(error.in_command().removeprefix(f"{flag(name)}: "), name) from None


def non_default(options: Options, names: Iterable[str]) -> dict[str, Any]:
    """Those of some options that differ from their defaults, with their values.

    Examples
    --------
    >>> non_default(Options(layout="wide"), ("kind", "layout"))
    {'layout': 'wide'}
    """
    values = {name: getattr(options, name) for name in names}
    return {name: value for name, value in values.items() if value != DEFAULTS[name]}


def refuse_unused(options: Options, names: Iterable[str], why: str) -> None:
    """Refuse options that would do nothing: the first of some that was given."""
    for name in non_default(options, names):
        raise misused(why, name)


# ---- words that hold several values ----------------------------------------------------------


def words(text: str | None) -> list[str]:
    """Split a comma-separated list.

    Examples
    --------
    >>> words("auroc, average_precision")
    ['auroc', 'average_precision']
    """
    return list(filter(None, map(str.strip, (text or "").split(","))))


def column_map(text: str | None, name: str) -> dict[str, str]:
    """Read ``item=Study,annotator=Reader``: our name, then the name in the file."""
    pairs: dict[str, str] = {}
    for word in words(text) if text else ():
        ours, sign, theirs = word.partition("=")
        if not sign or not ours.strip():
            message = f"got {word!r}, expected OURS=THEIRS, for example item=Study"
            raise misused(message, name)
        pairs[ours.strip()] = theirs.strip()
    return pairs


def class_names(text: str | None) -> list[str]:
    """The classes, from a list or from a text file with one class per line."""
    if text is None:
        return []
    if not text.endswith(".txt"):
        return words(text)
    from equipoise.read.files import content

    try:
        lines = content(text).data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError(text, "no UTF-8 text", "a class per line", "save it so") from None
    return [line.strip() for line in lines if line.strip()]
