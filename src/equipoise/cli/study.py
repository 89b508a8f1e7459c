"""What a verb reads: votes and scores from files, a public data set or the folder of a run.

`read_votes` reads annotations, and `read_study` the study that `evaluate` and `plan` are about:
files, whose roles are told like `equipoise check` tells them where they are not given, a study
in one file that `equipoise check --out` wrote, a data set, or the folder of an evaluation
(`equipoise.cli.reopened`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, field, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import typer

from equipoise.cli.options import (
    DEFAULTS,
    OF_SCORES,
    OF_VOTES,
    Options,
    check_choice,
    class_names,
    column_map,
    misused,
    refuse_unused,
)
from equipoise.cli.reopened import earlier_run
from equipoise.datasets import CATALOGUE, LOADERS, located
from equipoise.metrics import named
from equipoise.read.annotations import annotations_of
from equipoise.read.options import ANNOTATION_LAYOUTS, VoteFormat
from equipoise.read.parquet import ENDINGS
from equipoise.read.predictions import predictions_for, read_predictions
from equipoise.read.sources import (
    Sides,
    Source,
    files_by_side,
    lone_results,
    roles_guessed,
    sources_of,
)
from equipoise.report.run import InputFile, hash_inputs
from equipoise.study import Settings, Study
from equipoise.study.alignment import refuse_plain_scores
from equipoise.study.arguments import default_metrics
from equipoise.study.circularity import independent
from equipoise.truth import MODELS
from equipoise.truth.annotation_checks import refuse_too_many_classes
from equipoise.types import (
    GOLD,
    Annotations,
    InputError,
    Models,
    Notice,
    Notices,
    Option,
    Predictions,
    hint,
    immutable,
)

VOTE_FILES = (
    "Who said what: CSV, TSV or Parquet with `item, annotator, label` (optional `task, rank, "
    "confidence, weight, timestamp, duration_ms, is_gold, arm, phase, group`), a wide table of "
    "items by annotators, a count matrix (npy, CSV), rankings JSON, a Label Studio export, or "
    "a study that `equipoise check --out` wrote; several files or a folder for one file per "
    "annotator."
)
SCORE_FLAGS = {"layout": "prediction_layout", "columns": "prediction_columns"}
YES_NO = {"0", "1"}
LARGE = 20_000_000  # rows from which a folder of Parquet files stays on disk
PATH = attrgetter("path")  # of a file that was opened
SETTLED = frozenset({
    "columns_by_synonym", "read_as_wide", "read_as_tasks", "unused_columns", "possible_group",
    "crowd_kit", "file_is_annotator", "items_in_first", "items_by_row", "case_of_labels",
    "missing_as_class", "numbers_as_classes", "predicted_tasks", "unused_predictions",
    "unused_controls",
})  # what a check said of files, and a study that it wrote does not say again  # fmt: skip


@immutable(kw_only=True)
class FilesRead:
    """A study that was read, and where it comes from.

    Attributes
    ----------
    study
        Votes and models, with what becomes of items that one side lacks, and of ties; the
        metrics asked for, those of the evaluation, or those that suit.
    inputs
        Role, name, hash and size of every file.
    name
        Name of the study: the title of its evaluation, its data set or its file.
    notices
        What the user should know of the files.
    resample
        What the evaluation drew anew, if the study comes from one.
    dataset
        What is known of the data set, where it is a public one.
    options
        What was asked, with what an earlier evaluation was asked.
    """

    study: Study
    inputs: tuple[InputFile, ...]
    name: str
    notices: Notices = ()
    resample: str | None = None
    dataset: Mapping[str, str] = field(default_factory=dict)
    options: Options = field(default_factory=Options)

    @property
    def source(self) -> str:
        """Where it comes from: the title of its data set, or the names of its files."""
        return self.dataset.get("title") or ", ".join(file.name for file in self.inputs)


def stays_on_disk(options: Options, paths: Sequence[Path] | None) -> bool:
    """Whether these files are a folder that stays on disk."""
    if options.on_disk:
        return True
    folders = list(filter(Path.is_dir, paths or ()))
    return bool(folders) and folders == paths and all(map(_is_large, folders))


def _is_large(folder: Path) -> bool:
    """Whether a folder holds Parquet alone, in folders ``key=value`` or very many rows."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name[0] not in "._"]
    if not files or any(path.suffix.lower() not in ENDINGS for path in files):
        return False
    if any("=" in part for path in files for part in path.relative_to(folder).parent.parts):
        return True
    from equipoise.scale.disk.votes import parquet_partitions

    return sum(part.rows for part in parquet_partitions(folder)[0]) > LARGE


def read_study(
    options: Options,
    metrics: Sequence[str] = (),
    *,
    truth: str = "votes",
    matched: bool = True,
    out: Path | None = None,
    also: Mapping[str, Path | None] | None = None,
) -> FilesRead:
    """Read the study that files, a data set or the folder of an evaluation name.

    Parameters
    ----------
    metrics
        Metrics that were asked for; none takes those of the evaluation, or what suits.
    truth
        ``votes``, or the model of the votes, which may take them before a question is asked.
    matched
        Whether gold, and models that are annotators, are treated as the options say.
    out
        Folder of the results: files are recorded with their way from there.
    also
        Other files of the study, by their role.
    """
    if options.dataset is not None:
        check_files(options)
    run = earlier_run(options, truth)
    classes = class_names(options.classes) if options.classes else []
    names = tuple(metrics)
    if run is not None:
        options = run.options
        classes = classes or list(run.record.question.classes or ())
        names = names or tuple(metric.name for metric in run.record.metrics)
    votes, scores = _named_files(options, again=run is not None and "mean_score" in names)
    notices = roles_guessed((*votes, *scores), "-a and -p say otherwise.")
    voted = list(map(PATH, votes))
    if options.gold not in GOLD:
        options, votes = _with_gold_file(options, votes)
    _check_sides(options, votes, scores)
    there, scored = list(map(PATH, votes)), list(map(PATH, scores))
    options = replace(options, annotations=there, predictions=scored)
    table, models = _read_sides(options, votes, scores, classes or None)
    if options.gold == "truth" and table.like_standards:
        raise _unasked_standard(table.like_standards[0])
    if options.gold in (table.annotators or ()):
        table = table.with_gold(options.gold)
    if matched:
        table = independent(table, models, options.circular)
        if options.gold not in ("truth", *(table.annotators or ())):
            table, models = _with_gold(table, models, options.gold)
    table, models = _question(table, models, options, (truth, ",".join(names), matched))
    chosen = tuple(map(named, names or default_metrics(table, models)))
    missing, published = options.on_missing, CATALOGUE.get(options.dataset or "")
    unsaid = not scores and missing == DEFAULTS["on_missing"]
    missing = published.on_missing if published and unsaid else missing
    settings = Settings(on_missing=missing, ties=options.ties)
    names_of_classes = "" if "," in "".join(classes) else ",".join(classes)
    named_classes = options.classes or names_of_classes or None
    options = replace(options, on_missing=missing, classes=named_classes)
    return FilesRead(
        study=Study.unchecked(models, table, settings, chosen),
        inputs=_input_rows(options, out, also or {}),
        name=options.dataset or _name_of(voted) if run is None else run.name,
        notices=notices if run is None else notices + run.notices,
        resample=None if run is None else run.resample,
        dataset={} if options.dataset is None else dataset_facts(options.dataset),
        options=options,
    )


def _named_files(options: Options, *, again: bool) -> Sides:
    """The files that were named by their sides; `again`: a table was read as results before."""
    files = (options.study or (), options.annotations or (), options.predictions or ())
    columns = {} if options.columns is None else column_map(options.columns, "columns")
    sides = files_by_side(*files, columns=columns)
    lone = len(sides.votes) + len(sides.scores) == 1
    return lone_results(sides, again=again) if lone else sides


def check_files(options: Options) -> None:
    """Refuse a data set beside annotations, files or a folder, which have their own data."""
    if options.dataset is None:
        return
    if options.study:
        raise misused(
            f"got {options.study[0]} too, which has its own data; leave out one of the two, "
            "or give predictions with -p",
            "dataset",
        )
    if options.annotations:
        raise misused(
            f"got {options.annotations[0].name!r} too, expected one of the two", "dataset"
        )


def check_vote_files(options: Options) -> None:
    """Refuse annotations beside a data set, and neither."""
    check_files(options)
    if options.dataset is None and not options.annotations:
        message = "give ANNOTATIONS, or --dataset NAME (see `equipoise datasets`)"
        raise typer.BadParameter(message, param_hint="ANNOTATIONS")


def study_name(options: Options) -> str:
    """Name of a study of votes: of its data set, or of its file."""
    return options.dataset or (options.annotations[0].stem if options.annotations else "")


def vote_keywords(options: Options) -> Mapping[str, Any]:
    """The keywords of everything that reads annotations."""
    return {
        "layout": options.layout,
        "kind": options.kind,
        "repeats": options.repeats,
        "phases": options.phases,
        "exchangeable": options.exchangeable,
        "classes": (options.classes and class_names(options.classes)) or None,
        "columns": column_map(options.columns, "columns"),
    }


def score_keywords(options: Options) -> Mapping[str, Any]:
    """The keywords of everything that reads predictions."""
    columns = column_map(options.prediction_columns, "prediction_columns")
    return {"layout": options.prediction_layout, "columns": columns}


def check_reading(options: Options) -> None:
    """Refuse words about reading files that no reader knows, before anything is read."""
    if options.layout not in ANNOTATION_LAYOUTS:
        check_choice("layout", options.layout, ANNOTATION_LAYOUTS)
    column_map(options.columns, "columns")
    column_map(options.prediction_columns, "prediction_columns")


def _check_sides(options: Options, votes: Sequence[Source], scores: Sequence[Source]) -> None:
    """Refuse one side alone, and options about reading what is read as it is."""
    whole = options.dataset or _whole_study(votes)
    if whole is not None:
        unused = [*OF_VOTES, *(() if scores else OF_SCORES)]
        if votes and votes[0].judged:
            unused.remove("columns")
        _refuse_reading(whole, options, unused)
    elif not votes and not scores:
        raise InputError(
            "nothing to read",
            "no files, no folder and no --dataset",
            "a study",
            "give -a votes.csv -p scores.csv, study.csv that `equipoise check --out` wrote, "
            "--dataset NAME, or the folder that evaluate --out wrote",
        )
    elif not votes or not scores:
        names = _named([file.path for file in (*votes, *scores)])
        there, do = "predictions", f"add them: -a votes.csv -p {names}"
        if votes:
            alone = f"without models, see `equipoise agreement {names}`"
            there, do = "annotations", f"add them: -a {names} -p scores.csv; {alone}"
        raise InputError(
            names, f"{there} alone", "annotations and predictions, or a whole study", do
        )


def _refuse_reading(whole: str, options: Options, names: Sequence[str]) -> None:
    """Refuse options about reading files where a data set or a study is read as it is."""
    refuse_unused(
        options, names, f"is about reading files, and {whole} is read as it is; leave it out"
    )


def _whole_study(votes: Sequence[Source]) -> str | None:
    """Name of the one file that is a whole study: written by a check, or judged outputs."""
    with _naming_check(votes):
        return votes[0].name if len(votes) == 1 and votes[0].form == "study" else None


def _named(paths: Sequence[Any]) -> str:
    """Files as a command names them."""
    return " ".join(map(str, paths)) if len(paths) < 4 else "FILES"


def read_votes(options: Options) -> Annotations:
    """Read the annotations of files, which are read as one, or of a data set."""
    votes = [] if options.dataset is not None else sources_of(options.annotations or ())
    whole = options.dataset or _whole_study(votes)
    for file in votes:
        file.named = column_map(options.columns, "columns")
    if whole is not None:
        judged = bool(votes) and votes[0].judged
        names = tuple(name for name in OF_VOTES if not (judged and name == "columns"))
        _refuse_reading(whole, options, names)
    return _read_votes(options, votes, class_names(options.classes) or None)[0]


def _read_votes(
    options: Options, votes: Sequence[Source], classes: Sequence[str] | None
) -> tuple[Annotations, Models]:
    """The votes of a data set, a whole study or files, and the models of the first two."""
    models: Models = ()
    if options.dataset is not None:
        data = LOADERS[options.dataset]()
        table, models = data.annotations.by_name(), data.predictions
    elif _whole_study(votes):
        table, models = votes[0].held
        left = tuple(notice for notice in table.notices if notice.code not in SETTLED)
        table = replace(table, notices=left).by_name()
    else:
        table = read_table(votes, options, classes)
        if classes is None and options.positive is None and table.kind == "nominal":
            refuse_too_many_classes(table)
    if options.first_votes is not None:
        table = first_votes(table, options)
    if options.normalise != "none":
        table = table.normalised(options.normalise)
    return table, models


def read_table(
    files: Sequence[Path] | Sequence[Source],
    options: Options,
    classes: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Annotations:
    """Read votes as the options say; other classes and names of columns come first."""
    how = {**vote_keywords(options)}
    if classes:
        how["classes"] = classes
    if columns is not None:
        how["columns"] = columns
    with _naming_check(files):
        return annotations_of(sources_of(files), VoteFormat(**how)).by_name()


def ask(table: Annotations, options: Options) -> Annotations:
    """Turn classes, grades or ratings into a yes/no question where one was asked."""
    if options.at_least is not None:
        table = table.at_least(options.at_least)
    if options.positive is not None:
        table = table.against(options.positive)
    return table


def first_votes(table: Annotations, options: Options) -> Annotations:
    """The first votes alone, where they were asked for."""
    return table if options.first_votes is None else table.first_votes(options.first_votes)


def read_predictions_of(paths: Sequence[Path], options: Options) -> Models:
    """Read files of predictions; refusals name the options that are theirs."""
    with _naming_check(paths, SCORE_FLAGS):
        return read_predictions(paths, **score_keywords(options))


@contextmanager
def _naming_check(
    files: Sequence[Path] | Sequence[Source], flags: Mapping[str, str] | None = None
) -> Iterator[None]:
    """Refusals with the verb that shows how files are read, and other flags by keyword."""
    try:
        yield
    except InputError as error:
        refusal = error.renamed(flags or {})
        paths = [file if isinstance(file, Path) else Path(file.path) for file in files]
        if not all(path.exists() for path in paths):
            raise refusal from None
        do = hint("{}; see `equipoise check {}`", refusal.do, _named(paths))
        raise InputError(refusal.where, refusal.got, refusal.expected, do) from None


def _read_sides(
    options: Options,
    votes: Sequence[Source],
    scores: Sequence[Source],
    classes: Sequence[str] | None,
) -> tuple[Annotations, Models]:
    """Read both sides; what there is to say of predictions goes to the annotations."""
    table, models = _read_votes(options, votes, classes)
    if options.dataset is not None and scores:
        models = ()
    elif options.dataset is None and votes[0].form == "study":
        classes = table.classes
    if scores:
        with _naming_check(scores, SCORE_FLAGS):
            table, read = predictions_for(
                table, scores, classes_known=classes is not None, **score_keywords(options)
            )
        models = read.predictions if table.systems is not None else models + read.predictions
    elif not models and options.dataset is not None:
        raise InputError(
            f"data set {options.dataset}",
            "no predictions are published with it",
            "what models scored",
            "give your own with -p",
        )
    elif not models:
        what = "a study without predictions"
        raise InputError(f"{votes[0].path}", what, "what models scored", "give it with -p")
    return table, models


def _question(
    table: Annotations,
    models: Models,
    options: Options,
    wanted: tuple[str, str, bool],
) -> tuple[Annotations, Models]:
    """The yes/no question that was asked, where one was, and what models answer to it.

    `wanted`: the truth, names of metrics, and whether models may be annotators.
    """
    truth, metrics, matched = wanted
    models, notices = _as_answers(table, models, options, Option("metrics", metrics))
    table = table.noting(*notices) if notices else table
    question, asked_for = table, options.positive is not None or options.at_least is not None
    if asked_for and (truth == "votes" or not _keeps_kind(table, options, truth)):
        question = ask(table, options)
    if question is not table and matched:
        circular = "keep" if options.circular != "error" else "error"
        question = independent(question, models, circular)
    if truth == "votes" and options.dataset is None and question.kind != "binary":
        names = " ".join(map(str, options.annotations or ()))
        refuse_plain_scores(question, models, names)
    return question, models


def _input_rows(
    options: Options, home: Path | None, also: Mapping[str, Path | None]
) -> tuple[InputFile, ...]:
    """Role, name, hash and size of all that is read, with routes from a folder of results."""
    rows = () if options.dataset is None else published_files(options.dataset)
    rows += hash_inputs("annotations", options.annotations or (), home)
    rows += hash_inputs("predictions", options.predictions or (), home)
    for role, path in also.items():
        if path is not None:
            rows += hash_inputs(role, [path], home)
    return rows


def file_facts(files: Iterable[InputFile]) -> list[dict[str, str | int]]:
    """What the JSON of a folder says of the files that were read."""
    return [
        {key: value for key, value in asdict(file).items() if value is not None}
        for file in files
    ]


def published_files(name: str) -> tuple[InputFile, ...]:
    """The files of a data set, which the loader has verified."""
    source = CATALOGUE[name]
    folder = located(source)
    return tuple(
        InputFile(
            role="data set",
            name=f"{name}/{path}",
            sha256=file.sha256,
            bytes=0 if folder is None else (folder / path).stat().st_size,
        )
        for path, file in source.files.items()
    )


def dataset_facts(name: str | None) -> dict[str, str]:
    """What a record says of the data set; nothing for files."""
    return {} if name is None else CATALOGUE[name].facts


def _name_of(paths: Sequence[Path]) -> str:
    """Name of a file, or of the folder that several lie in."""
    if len(paths) < 2:
        return paths[0].name if paths else ""
    folders = {path.absolute().parent.name for path in paths}
    return folders.pop() if len(folders) == 1 else paths[0].name


def _with_gold_file(options: Options, votes: list[Source]) -> tuple[Options, list[Source]]:
    """Where gold is a file: it is read with the annotations, and its stem is who says so."""
    path = Path(options.gold)
    if options.gold in GOLD or not path.is_file():
        return options, votes
    if not any(path.samefile(file.path) for file in votes if Path(file.path).exists()):
        votes = [*votes, *sources_of([path])]
    return replace(options, gold=path.stem), votes


def with_gold_file(options: Options) -> Options:
    """The files of `check` by their sides, with that of the reference standard."""
    if options.gold in GOLD or not Path(options.gold).is_file():
        return options
    files = (options.files or (), options.annotations or (), options.predictions or ())
    votes, scores = files_by_side(*files)
    options, votes = _with_gold_file(replace(options, files=None), votes)
    there, scored = list(map(PATH, votes)), list(map(PATH, scores))
    return replace(options, annotations=there, predictions=scored)


def as_asked(
    table: Annotations, models: Models, options: Options
) -> tuple[Annotations, Models]:
    """Votes and models with the reference standard and the question of the options."""
    if options.gold != "truth":
        table, models = _with_gold(table, models, options.gold)
    if options.positive is None and options.at_least is None:
        return table, models
    models, notices = _as_answers(table, models, options, Option("metrics", ""))
    return ask(table.noting(*notices), options), models


def _unasked_standard(name: str) -> InputError:
    """Refuse a reference standard among readers that nobody spoke of."""
    standard, reader = Option("gold", name), Option("gold", "ignore")
    return InputError(
        f"annotator {name!r}",
        "a name like that of a reference standard, among readers",
        "to know which of both it is",
        hint("make it the standard: {}; or let it be a reader: {}", standard, reader),
    )


def _with_gold(
    table: Annotations, models: Sequence[Predictions], use: str
) -> tuple[Annotations, Models]:
    """Use gold rows as asked; what is predicted for items that go with them goes, too."""
    with_gold = table.with_gold(use)
    if with_gold is table:
        return table, tuple(models)
    gone = {
        task: {table.items[code] for code in _voted(table, task) - _voted(with_gold, task)}
        for task in table.tasks
    }
    left = [
        model
        for model in models
        if model.task in with_gold.tasks or model.task not in table.tasks
    ]
    return with_gold, tuple(_without(model, gone.get(model.task, set())) for model in left)


def _voted(table: Annotations, task: str) -> set[int]:
    """Codes of the items of a task."""
    return set(table.item[table.in_task(task)].tolist()) if task in table.tasks else set()


def _without(predictions: Predictions, items: set[str]) -> Predictions:
    """Predictions for all but some items."""
    keep = [name for name in predictions.items if name not in items]
    return (
        predictions if len(keep) in (0, len(predictions.items)) else predictions.of_items(keep)
    )


def _keeps_kind(table: Annotations, options: Options, truth: str) -> bool:
    """Whether a model of the truth takes the annotations before a yes/no question is asked.

    Rankings lose their order by it, and grades and ratings their distance from the threshold.
    """
    if truth.endswith(".npz"):
        return False
    if table.kind == "ranking":
        return options.at_least is None
    if table.kind == "ordinal":
        return truth in MODELS and MODELS[truth].kinds == ("ordinal",)
    return table.kind == "interval" and (truth == "auto" or MODELS[truth].threshold)


def _as_answers(
    table: Annotations,
    models: Models,
    options: Options,
    metrics: Option,
) -> tuple[Models, list[Notice]]:
    """Predictions that name one class each, as the question needs them, and what to say.

    Asked about one class, a model says yes where it names that class; asked about grades, it
    scores by the grade it names. Names of classes never serve as numbers.
    """
    for model in models:
        if not (model.classes and model.decides):
            return models, []
    positive = options.positive
    if options.at_least is not None and table.kind == "ordinal":
        text = "Predictions are grades, not probabilities: a higher grade scores higher."
        graded = tuple(_graded(model, table.classes) for model in models)
        return graded, [Notice("grades_as_scores", text)]
    if positive is None:
        return models, [_decisions(table, metrics)]
    used = {
        model.classes[code]
        for model in models
        for code in np.flatnonzero(model.values.any(axis=0))
    }
    if used <= YES_NO and len(table.classes) > 2:
        text = "Predictions are 0 and 1: read as no and yes to {class!r}, not as classes."
        return tuple(_one_score(model, "1") for model in models), [
            Notice("yes_and_no", text, (), {"class": positive})
        ]
    text = (
        "Predictions name classes: a model scores 1 where it names {class!r} and 0 elsewhere, "
        "so that curves have a single threshold."
    )
    return models, [Notice("classes_as_scores", text, (), {"class": positive})]


def _decisions(table: Annotations, metrics: Option) -> Notice:
    """Say what decisions are, and which metrics suit them."""
    text = "Predictions name one class per item: read as probability 1 of that class."
    names = [name.strip() for name in str(metrics.value).split(",")]
    if any(named(name).decides for name in names if name):
        return Notice("decisions", text)
    kappa = ",quadratic_weighted_kappa" if table.kind == "ordinal" else ""
    advice = replace(metrics, value=f"accuracy{kappa}")
    more = f"{text} Metrics of decisions suit them: {{advice}}."
    return Notice("decisions", more, (), {"advice": advice})


def _one_score(predictions: Predictions, name: str) -> Predictions:
    """The probability of one class as a score."""
    place = predictions.classes.index(name) if name in predictions.classes else None
    values = np.zeros(len(predictions.items)) if place is None else predictions.values[:, place]
    return replace(predictions, values=values, classes=())


def _graded(predictions: Predictions, grades: Sequence[str]) -> Predictions:
    """The place of the grade that a model names as a score."""
    place = [float(grades.index(name)) for name in predictions.classes]
    return replace(predictions, values=predictions.values @ np.array(place), classes=())
