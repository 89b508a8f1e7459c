"""Every option of the command line, in one table.

A row is a field of `Options`: its name, type and default, then the panel of the help, the text,
and what else holds for it (other flags, bounds, choices, whether it is rare). A verb names the
rows that it takes, see `equipoise.cli.command.verb`, and gets an `Options`; rows that it does
not take have their defaults. Where one flag means two things in two verbs (``--threshold`` of
`evaluate` and of `aggregate`), there are two rows with that flag.

Rare options are hidden: ``--help-all`` shows them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import typer

from equipoise.cli.option_rows import (
    ASKED,
    AUDIT,
    ENGINE,
    FILES,
    GOAL,
    GRID,
    GROUPS,
    ITEMS,
    JUDGED,
    MEANING,
    MODEL,
    RESULT,
    RULE,
    SCORES,
    SEEN,
    TRUTH,
    UNCERTAINTY,
    Row,
    shared,
)
from equipoise.types import InputError, choice, immutable

# texts that name all of a catalogue are made when the help is shown
EVERY_METRIC, EVERY_ANALYSIS, EVERY_MODEL = "(metrics)", "(analyses)", "(models)"
RELIABILITIES, PRIORS = "(reliabilities)", "(priors)"

PROBABILITIES = (
    "A probability per item: a table with `item` and a column of probabilities (or one per "
    "model, see `--model`), or a .npz that `aggregate --out` wrote. With `--truth`: who said "
    "what, as for `evaluate`."
)


@immutable(kw_only=True)
class Options:
    """What was asked of a verb: the table of all options, and the values of one command."""

    # ---- files ---------------------------------------------------------------------------
    study: list[Path] | None = FILES(
        "A study that `equipoise check --out` wrote, annotations and predictions in any "
        "mix, told by their columns, or the folder of an earlier evaluation, whose files are "
        "looked for where they lay. Or give -a and -p.",
        metavar="STUDY",
    )
    file: Path | None = FILES(PROBABILITIES)
    files: list[Path] | None = FILES(
        "Annotations and predictions in any mix: what each holds is told by its "
        "columns, and said. A folder stands for the tables in it."
    )
    annotations: list[Path] | None = FILES(
        "Who said what: `item, annotator, label` in CSV, TSV or Parquet, or another "
        "layout that `equipoise check` knows. Repeat it, or name a folder, for one file per "
        "annotator.",
        "--annotations",
        "-a",
    )
    predictions: list[Path] | None = FILES(
        "What each model scored: `item, [task], model, score`, or a column per model, "
        "class or task; class names are decisions. A folder stands for the tables in it.",
        "--predictions",
        "-p",
    )
    dataset: str | None = FILES(
        "A public data set of `equipoise datasets` in place of the annotations, and of "
        "the predictions where it comes with some and none are given.",
        choices="equipoise.datasets:CATALOGUE",
    )
    run: Path | None = FILES(
        "Folder that `equipoise evaluate --out` or `clean scan --out` wrote."
    )
    source: Path | None = FILES(
        "A folder of images, or a file of embeddings (.npz, .npy, .parquet, .csv)."
    )
    folder: Path | None = FILES("Folder that `rounds start` wrote.", metavar="DIR")
    clean_study: str | None = FILES(
        "A study of `--list`, such as `demo`; or a folder of images, or a file of "
        "embeddings (npz, npy, Parquet, CSV), with --votes.",
        metavar="DATASET",
    )
    name: str | None = FILES("Which result; leave out for a list.")
    attributes: Path | None = FILES(
        "What is known of the items: a table with `item` and a column for each of sex, "
        "age, site, ...; adds subgroups."
    )
    annotator_attributes: Path | None = FILES(
        "What is known of the annotators: a table with `annotator` and a column for "
        "each of school, expertise, ..."
    )
    experts: list[Path] | None = FILES(
        "What the experts said: one file of votes (item, annotator, label), or a "
        "filled-in plan of each expert; repeat for several."
    )
    votes: list[str] | None = FILES(
        "Yes/no votes on a kind of problem, TASK=FILE: `off_topic=votes.csv` with item, "
        "annotator, label; of `near_duplicates` an item is a pair, `a | b`. Once per kind; a "
        "file with a column task, such as the page of `equipoise clean scan` hands out, may "
        "serve several."
    )
    label_table: Path | None = FILES(
        "Labels of the images, for label errors: item, label.", "--labels"
    )
    split: Path | None = FILES(
        "Which part of the data, such as train and test, each image belongs to: a table "
        "of `item, split`, or `folders`. Duplicates between parts are leakage."
    )
    images: Path | None = FILES(
        "Folder of the images, or a file of embeddings, of a study that does not bring "
        "them along, such as `cleanpatrick`.",
        rare=True,
    )
    release: Path | None = FILES(
        "Folder of the published files of such a study. Both are looked for in the "
        "folder that EQUIPOISE_DATA names where nothing is said.",
        rare=True,
    )
    answers: list[Path] | None = FILES(
        "Votes on the pairs: pair (or item, or first and second), annotator, label "
        "(`yes`, `no` or `unsure`); or pairs.csv, filled in; or what the page of `equipoise "
        "clean scan` hands out, of which other tasks and pairs that were not asked are passed "
        "over. Repeat for several."
    )
    data: str | None = FILES(
        "`demo`, `nih`, an .npz file (images, labels, split, patient), or a folder of "
        "images with a CSV of labels (CheXpert, MIMIC-CXR-JPG or one column per label)."
    )
    ood: list[Path] | None = FILES(
        "What the same methods say of other images (out of distribution): a file each, "
        "named as that of its predictions; repeat for several. Not needed where files hold "
        "both."
    )
    ood_data: str | None = FILES(
        "A second data set as out of distribution; without one, test images are corrupted.",
        "--ood",
    )
    image_size: int = FILES(
        "Height and width to which the images of a folder are brought.",
        "--size",
        default=64,
        least=16,
    )
    uncertain: str = FILES(
        "What -1 is in training: `ignore`, `zeros` or `ones`.", default="ignore"
    )
    blank: str = FILES(
        "What a blank label is in training: `ignore` or `zeros`.", default="ignore"
    )
    on_disk: bool = FILES(
        "A folder of Parquet partitions stays on disk and is read a partition at a "
        "time; so does, without asking, one of more than 20 million rows or with folders "
        "`key=value`. All votes on an item must lie in one partition; what needs all votes in "
        "memory (pages, most analyses and metrics) is refused with what works.",
        default=False,
    )
    columns: str | None = FILES(
        "Other names in the annotations, OURS=THEIRS: `item=Study,group=patient`.", rare=True
    )
    layout: str = shared("layout", FILES, rare=True)
    repeats: str = shared("repeats", FILES, rare=True)
    phases: str = shared("phases", FILES, rare=True)
    expert_columns: str | None = FILES("Other names in the experts' files.", rare=True)
    prediction_columns: str | None = FILES(
        "Other names in the predictions, OURS=THEIRS.", rare=True
    )
    prediction_layout: str = shared("prediction_layout", FILES, rare=True)
    on_missing: str = shared("on_missing", FILES, rare=True)
    circular: str = shared("circular", FILES, rare=True)

    # ---- what was audited ----------------------------------------------------------------
    found: int | None = AUDIT(
        "Positives that the retrieval found. Default with `-a`: those by majority.",
        least=0,
        any_size=True,
    )
    pool_sizes: list[str] | None = AUDIT(
        "With FILE: how many items were left out, audited or not; `POOL=NUMBER` for "
        "each pool, or one number for every pool.",
        "--size",
    )
    audited: int | None = AUDIT("Items that were audited.", least=1, any_size=True)
    positives: int | None = AUDIT("Positives among them.", least=0, any_size=True)
    unaudited: int | None = AUDIT(
        "Items that were left out and not audited.", least=0, any_size=True
    )
    pool: list[str] | None = AUDIT(
        "One of several pools: `NAME,AUDITED,POSITIVES,SIZE`, where SIZE counts the "
        "audited ones too; repeat."
    )

    # ---- what is looked at ---------------------------------------------------------------
    metrics: str | None = ASKED(EVERY_METRIC, "--metrics", "--metric")
    list_metrics: bool = ASKED(
        "Print every metric with its definition, and stop.", default=False
    )
    full: bool = ASKED("Add every analysis there is.", default=False)
    analyses: str | None = ASKED(EVERY_ANALYSIS, "--analyses", "--only")
    pair: tuple[str, str] | None = ASKED("Add a close look at two models: A B.")
    threshold: list[str] | None = ASKED(
        "From which score on a model says yes, for metrics of decisions: `0.3`, by "
        "model, task or both (`resnet=0.4`, `Edema=0.3`, `resnet/Edema=0.4`), or a rule: "
        "`youden`, `f1`, `prevalence`, `sensitivity=0.9`, `specificity=0.9`. Repeatable."
    )
    tuning: str | None = ASKED(
        "Where rules look: a share of the items that is then not scored (`0.3`), "
        "`folds=5` for cross-fitting, `split=dev` of `--attributes`, or a file of names."
    )
    prevalence: list[str] | None = ASKED(
        "Share of positives where models will be used: PPV and NPV at the stated cuts "
        "are those at it. `0.02`, or by task (`Edema=0.02`). Repeatable."
    )
    margin: float | None = shared("margin", ASKED)
    look: str | None = shared("look", ASKED)
    labels: str | None = shared("labels", ASKED, default=None)
    alpha_level: str | None = ASKED(
        "How far apart two labels are for Krippendorff's alpha: `nominal` (same or "
        "not), `ordinal` (by rank), `interval` (squared difference) or `ratio` (relative to a "
        "true zero); by default what the kind of labels says.",
        "--level",
        choices="equipoise.truth.agreement.coefficients:LEVELS",
    )
    weights: str = ASKED(
        "How much a disagreement counts for Cohen's kappa: `none` (all alike), `linear` "
        "or `quadratic` (by the steps between grades).",
        default="none",
        choices="equipoise.truth.agreement.coefficients:WEIGHTS",
    )
    task: str | None = ASKED("Which question, where there are several.")
    tasks: list[str] | None = ASKED(
        "Which question; all if left out, repeat for several.", "--task"
    )
    detectors: str | None = ASKED(
        "Comma-separated, at most one per kind of problem; one of your own as "
        "`path.py:Class`. Default: SelfClean's three."
    )
    problems: str | None = ASKED(
        "Some of `off_topic`, `near_duplicates`, `label_errors`. Default: all with votes.",
        "--tasks",
    )
    seeds: int | None = ASKED(
        "Runs of a detector that chance has a part in; its value is their mean, and how "
        "they differ is part of the interval. Default: 3.",
        least=1,
    )
    listed: bool = ASKED("List detectors and data sets, and stop.", "--list", default=False)
    cut: bool = ASKED("Cut each list automatically: say which lie beyond.", default=False)
    longest: int = ASKED(
        "Lines of each list; all beyond the cut are in it.", "--most", default=1000, least=1
    )
    no_check: bool = ASKED("Plant no problems to see how the rankings would do.", default=False)
    cut_alpha: float = ASKED(
        "Share of the scores that the cut fits.",
        "--alpha",
        default=0.01,
        least=0.0001,
        most=0.5,
        rare=True,
    )
    q: float = ASKED(
        "Share of false alarms that the cut allows.",
        default=0.05,
        least=0.0001,
        most=1,
        rare=True,
    )

    # ---- how images are seen -------------------------------------------------------------
    encoder: str | None = SEEN(
        "What makes embeddings of images: `default` (EfficientNet-Lite0, works offline), "
        "`lite2`, `lite0:224`, a file that ends in .onnx, `timm:NAME` or `pixels`."
    )
    cache: Path | None = SEEN(
        "Folder that keeps embeddings, by what images hold, so that the next scan is "
        "quick and an interrupted one goes on. Default: a folder in --out; without --out none "
        "is kept."
    )

    # ---- what the labels mean ------------------------------------------------------------
    kind: str | None = shared("kind", MEANING)
    classes: str | None = MEANING(
        "All classes, comma-separated, or a .txt file with one per line; grades lowest first."
    )
    positive: str | None = MEANING("Ask about one class: is it this one?")
    at_least: str | None = MEANING("Grades or ratings: is it at least this?")
    exchangeable: bool = shared("exchangeable", MEANING, rare=True)
    normalise: str = shared("normalise", MEANING, rare=True)
    first_votes: int | None = MEANING(
        "Only the first so many votes on an item, by timestamp or else by row: where "
        "votes were added after disagreement.",
        least=1,
        rare=True,
    )
    gold: str = shared("gold", MEANING, rare=True)
    ties: str = shared("ties", MEANING, rare=True)

    # ---- the truth, groups of classes, models of votes -----------------------------------
    truth: str = TRUTH(
        "`votes` themselves, a model of them (`auto`, or a name that `aggregate "
        "--model` takes), or a file written by `aggregate --out` (.npz; several tasks: "
        "comma-separated).",
        default="votes",
    )
    groups: Path | None = GROUPS(
        "Table of `class, group` (lowest group first) and perhaps `value`, a number "
        "per group; the file's stem names what the groups are, as in risk.csv."
    )
    by_group: bool = GROUPS("Score groups instead of classes.", default=False, rare=True)
    within: str | None = GROUPS(
        "Score the cases of a group (several: comma-separated), each by its chance of "
        "being one; for metrics under a model of the truth.",
        rare=True,
    )
    model: str = MODEL(EVERY_MODEL, default="auto")
    compare: bool = MODEL(
        "Fit every suitable model: held-out votes, and where they differ.", default=False
    )
    rating_threshold: float | None = MODEL(
        "Where ratings (`--kind interval`) become 'at least'; `normal` needs it.", "--threshold"
    )
    votes_as: str | None = ITEMS(
        "FILE holds votes: `votes` takes their mean, `auto`, `dawid_skene`, `glad`, ... "
        "a model of them.",
        "--truth",
    )
    score_model: str | None = ITEMS("Whose probabilities, where FILE has several.", "--model")
    plan: Path | None = ITEMS(
        "The key that `threshold plan` wrote (plan.key.json), or the plan beside it: "
        "supplies `--truth`, `--task`, `--bins` and all else that the plan was made with."
    )
    bins: int | None = ITEMS("Bins of as equal size as possible. Default: 20.", least=1)
    per_bin: int | None = ITEMS(
        "Items drawn from each bin. Default: 20.", least=1, any_size=True
    )
    draws: int | None = TRUTH(
        "Possible truths of the model. Default: 1,000.", least=2, rare=True
    )
    burn_in: int | None = TRUTH(
        "Draws of each chain thrown away first (plackett_luce). Default: 500.",
        least=0,
        rare=True,
    )
    reliability: float | None = MODEL(RELIABILITIES, rare=True)
    prior: str | None = MODEL(PRIORS, rare=True)
    bootstrap: int = MODEL(
        "Refit the model to so many panels of resampled annotators; a certainty is then "
        "the share of panels that name the same class. 0: none.",
        default=0,
        least=0,
        rare=True,
    )

    # ---- votes on pairs of images --------------------------------------------------------
    votes_needed: int = JUDGED("Votes that a pair needs.", "--votes", default=1, least=1)
    patience: int = JUDGED(
        "How often in a row a cluster is refused before it stops asking. 1 is enough "
        "if near duplicates are closer than all else; more finds more where they are not.",
        default=1,
        least=1,
    )
    judge: str = JUDGED(
        "How several votes become one answer: `majority_vote`, `mean_vote`, "
        "`dirichlet`, `dawid_skene` or `glad`.",
        "--model",
        default="majority_vote",
        rare=True,
        choices="equipoise.clean.rounds:JUDGES",
    )
    yes_threshold: float = JUDGED(
        "Probability of yes that must be exceeded.",
        "--threshold",
        default=0.5,
        least=0.001,
        most=0.999,
        rare=True,
    )
    undecided: str = JUDGED(
        "Tied pairs count as `no` or `yes`, or need `more` votes.",
        default="no",
        rare=True,
        choices="equipoise.clean.rounds:UNDECIDED",
    )

    # ---- how a threshold is set ----------------------------------------------------------
    rule: str = RULE(
        "`isotonic`: where a rising fit reaches `--share`; `rise`: mean probability of "
        "the first bin from which on positives are more frequent than below, whose interval "
        "holds the truth too rarely (72 to 87 % instead of 95 %).",
        default="isotonic",
        choices="equipoise.study.analyses.thresholds:RULES",
    )
    share: float | None = RULE(
        "Share of positives to reach; of `isotonic`. Default: 0.5.", least=0, most=1
    )
    rise_margin: float | None = RULE(
        "By how much more than below; of `rise`. Default: 0.1.", "--margin", least=0, most=1
    )
    reach: float = RULE(
        "How far the threshold is moved.", default=0.15, least=0.001, most=0.999, rare=True
    )
    alpha: float = shared("alpha", RULE, most=1)
    score: str = shared("score", RULE)
    guarantee: str = shared("guarantee", RULE)
    by: str | None = shared("by", RULE)

    # ---- what to plan for ----------------------------------------------------------------
    models: str | None = GOAL("The two models: `A,B`, or the one. Default: the best.")
    ranking: bool = GOAL(
        "Plan for the whole order: every model against the next.", default=False
    )
    power: float = GOAL(
        "Probability with which the study must resolve the difference.",
        default=0.8,
        least=0.05,
        most=0.999,
    )
    difference: float | None = GOAL(
        "The smallest difference that matters. Default: the pilot's, if the pilot has "
        "found one for items and annotators like these."
    )
    against_annotators: bool = GOAL("One model next to the mean annotator.", default=False)
    half_width: float | None = GOAL(
        "How far the interval of one model's value (`--metric sensitivity` at a `--threshold`) "
        "may reach to either side.",
        positive=True,
    )
    panel_sizes: str = GOAL(
        "Numbers of annotators to look at, comma-separated.",
        "--annotators",
        default="3,5,8,12,20",
    )
    votes_per_item: str | None = GOAL(
        "Votes per item to look at, comma-separated. Default: all annotators vote on "
        "every item; without names of annotators 1,2,3,5,8.",
        rare=True,
    )
    items_per_group: str | None = GOAL(
        "Where items have groups (patients, nights): items of each to look at. Default: "
        "as in the pilot, and a tenth of that.",
        rare=True,
    )
    price_item: float | None = GOAL("What one more item costs, without votes.", rare=True)
    price_vote: float | None = GOAL("What one vote costs.", rare=True)
    price_annotator: float = GOAL(
        "What one more annotator costs, before any vote.", default=0.0, least=0, rare=True
    )
    simulations: int = GOAL(
        "Studies simulated to check each design; 0 for none.", default=400, least=0, rare=True
    )

    # ---- training and judging uncertainty ------------------------------------------------
    methods: str | None = GRID("Comma-separated methods; all by default.")
    archs: str | None = GRID(
        "Comma-separated networks: `resnet18`, `vit_tiny`, `resnet_demo`, `vit_demo`, or "
        "`timm:NAME`."
    )
    trainings: int = GRID(
        "How many seeds each method is trained with.", "--seeds", default=5, least=1, most=1000
    )
    drop: float = GRID("By what share corruptions lower the validation AUROC.", default=0.2)
    device: str = GRID("`cpu`, `cuda` or `auto`.", default="auto")
    minutes: float | None = GRID("Stop in time; the same command goes on later.")
    epochs: int | None = GRID("Epochs at most.", least=1)
    batch: int | None = GRID("Images of a batch.", least=1)
    setting: list[str] | None = GRID(
        "A setting of a method, such as `beta_edl.kl=full`. Repeatable.",
        "--with",
        metavar="METHOD.FIELD=VALUE",
    )
    image: str = SCORES(
        "How one score per image is made of those of its labels: `mean`, `max` or `sum`.",
        default="mean",
        choices="equipoise.uq.decomposition:IMAGE_LEVEL",
    )
    decomposition: str = SCORES(
        "`information` (entropy of the mean less mean entropy), or `reverse_mi`.",
        default="information",
        choices="equipoise.uq.decomposition:DECOMPOSITIONS",
    )
    binning: str = SCORES(
        "Bins of calibration: equally wide (`width`) or equally full (`mass`).",
        default="width",
        choices="equipoise.uq.tasks:BINNING",
    )

    # ---- uncertainty ---------------------------------------------------------------------
    seed: int = shared("seed", UNCERTAINTY, any_size=True)
    level: float = shared("level", UNCERTAINTY, least=0.5, most=0.999)
    most: int = shared("most", UNCERTAINTY, rare=True)
    resample: str | None = UNCERTAINTY(
        "What is resampled for shares: `items`, `votes`, `panel`, "
        "`items-x-panel`, `items-x-votes`, `influence` (instant, for very many items); under a "
        "model `posterior` or `items-x-posterior`. Default: what fits; the output says why.",
        rare=True,
    )
    replicates: int | None = shared("replicates", UNCERTAINTY, rare=True)
    items: str = shared("items", UNCERTAINTY, rare=True)
    annotators: str = shared("annotators", UNCERTAINTY, rare=True)
    annotator_group: str | None = shared("annotator_group", UNCERTAINTY, metavar="COLUMN")
    item_group: str | None = shared("item_group", UNCERTAINTY, metavar="COLUMN")
    inference: str = shared("inference", UNCERTAINTY, rare=True)
    matters: float | None = shared("matters", UNCERTAINTY, rare=True)
    infinite: bool = UNCERTAINTY(
        "Do not narrow intervals because pools are finite.", default=False, rare=True
    )

    # ---- the result ----------------------------------------------------------------------
    next_items: int = RESULT(
        "How many items to name for one more vote each; so many of every task.",
        "--next",
        default=0,
        least=0,
        any_size=True,
    )
    out: Path | None = RESULT(
        "Folder for the record (JSON), tables (CSV, Markdown, LaTeX), figures (SVG), "
        "methods.md, references.bib and report.html."
    )
    overwrite: bool = RESULT("Replace an earlier one there.", default=False)
    thumbnails: str = RESULT(
        "Pictures on the page: `embedded` in it, or `none`.",
        default="embedded",
        choices=("embedded", "none"),
    )
    page: Path | None = RESULT("File for a page, ending in .html.")
    export: Path | None = RESULT(
        "In place of the page: a new folder for the tables (CSV, Markdown, LaTeX), "
        "figures (SVG), a methods paragraph and its references (BibTeX)."
    )
    title: str | None = RESULT("Heading of the page.", rare=True)
    as_json: bool = RESULT("Print everything as JSON.", "--json", default=False)
    verbose: bool = RESULT(
        "Print all that is said: every analysis, table and notice.",
        "--verbose",
        "-v",
        default=False,
    )

    # ---- where heavy work runs -----------------------------------------------------------
    engine: str = ENGINE(
        "Where heavy work runs: `local` (threads), `processes`, `dask` or `ray`; no "
        "number changes. `slurm-array` (of `clean benchmark` and `uq benchmark`) prints a job "
        "script whose tasks are the parts; the same command collects them afterwards.",
        default="local",
        rare=True,
    )
    address: str | None = ENGINE(
        "Of a Dask scheduler or a Ray head, as they print it; without, workers start here.",
        rare=True,
    )
    workers: int = ENGINE(
        "How many at a time; 0: one per core, or all of the cluster.",
        default=0,
        least=0,
        rare=True,
    )


ROWS: Mapping[str, Row] = {entry.name: entry.metadata["row"] for entry in fields(Options)}
TYPES: Mapping[str, Any] = {entry.name: entry.type for entry in fields(Options)}
DEFAULTS: Mapping[str, Any] = {entry.name: entry.default for entry in fields(Options)}

# rows that several verbs take
OF_STUDY = ("study", "annotations", "predictions", "dataset")
OF_VOTES = ("kind", "classes", "exchangeable", "columns", "layout", "repeats", "phases")
OF_QUESTION = (*OF_VOTES, "first_votes", "normalise", "positive", "at_least")
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


@contextmanager
def as_usage(name: str) -> Iterator[None]:
    """What a check refuses of the value of an option is wrong usage of it."""
    try:
        yield
    except InputError as error:
        raise misused(error.in_command().removeprefix(f"{flag(name)}: "), name) from None


def check_choice(name: str, value: str | None, choices: Sequence[str]) -> None:
    """Refuse a word that an option does not know; None is an option that was left out."""
    if value is not None:
        with as_usage(name):
            choice(flag(name), value, choices)


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
