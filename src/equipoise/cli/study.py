"""What a verb reads: votes and scores from files, a public data set or the folder of a run.

`read_votes` reads annotations, and `read_study` the study that `evaluate` and `plan` are about:
files, whose roles are told like `equipoise check` tells them where they are not given, a study
in one file that `equipoise check --out` wrote, a data set, or the folder of an evaluation,
whose record names the files. Those are looked for where they lay as seen from the folder, then
beside it, in it and here, and count only if their hash is the recorded one.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import InputError
from equipoise.types.notices import Notice
from equipoise.types.predictions import Predictions
from equipoise.types.words import Option, hint

if TYPE_CHECKING:
    from equipoise.report.run import InputFile, RunRecord

TITLE = "which model is better?"  # heading of an evaluation that has no other
VOTE_FILES = (
    "Who said what: CSV, TSV or Parquet with `item, annotator, label` (optional `task, rank, "
    "confidence, weight, timestamp, duration_ms, is_gold, group`), a wide table of items by "
    "annotators, a count matrix (npy, CSV), rankings JSON, a Label Studio export, or a study "
    "that `equipoise check --out` wrote; several files or a folder for one file per annotator."
)
SCORE_FLAGS = {"layout": "prediction_layout", "columns": "prediction_columns"}
AS_IN_RUN = (
    *("kind", "exchangeable", "layout", "repeats", "first_votes", "positive", "at_least"),
    *("prediction_layout", "on_missing", "gold", "ties", "circular"),
)  # read as an earlier evaluation did, unless something else is said
YES_NO = {"0", "1"}
SETTLED = frozenset({
    "columns_by_synonym", "read_as_wide", "read_as_tasks", "unused_columns", "possible_group",
    "crowd_kit", "file_is_annotator", "items_in_first", "items_by_row", "case_of_labels",
    "missing_as_class", "numbers_as_classes", "predicted_tasks", "unused_predictions",
    "unused_controls",
})  # what a check said of files, and a study that it wrote does not say again  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesRead:
    """What was read.

    Attributes
    ----------
    annotations, predictions
        The study.
    metrics
        Names of the metrics asked for, those of the evaluation, or auroc.
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
    on_missing, ties
        What becomes of items that one side lacks, and of those tied in the hard label: as
        asked, or as in the evaluation.
    """

    annotations: Annotations
    predictions: "tuple[Predictions, ...]"
    metrics: tuple[str, ...]
    inputs: "tuple[InputFile, ...]"
    name: str
    notices: tuple[Notice, ...] = ()
    resample: str | None = None
    dataset: Mapping[str, str] = field(default_factory=dict)
    on_missing: str = "error"
    ties: str = "half"

    @property
    def source(self) -> str:
        """Where it comes from: the title of its data set, or the names of its files."""
        return self.dataset.get("title") or ", ".join(file.name for file in self.inputs)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sources:
    """Files by their roles and how they are read, with what a run said of both."""

    options: Options
    run: Path | None = None
    classes: Sequence[str] | None = None
    record: "RunRecord | None" = None
    notices: tuple[Notice, ...] = ()


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
    from equipoise.read.files import reading_once

    check_files(options)
    with reading_once():
        sources = _sources(_by_role(options))
        record, how = sources.record, sources.options
        _require_both(how)
        _check_reading(how)
        recorded = () if record is None else tuple(metric.name for metric in record.metrics)
        names = tuple(metrics) or recorded
        table, models = _read_scored(
            sources, truth, Option("metrics", ",".join(names)), matched=matched
        )
    if not names:
        from equipoise.study.arguments import default_metrics

        names = default_metrics(table, models)
    return FilesRead(
        annotations=table,
        predictions=models,
        metrics=names,
        inputs=_input_rows(how, out, also or {}),
        name=_name(sources),
        notices=tuple(
            notice
            for notice in sources.notices
            if notice.code != "truth_by_model" or truth == "votes"
        ),
        resample=_resampled(record),
        dataset=dataset_facts(how.dataset),
        on_missing=how.on_missing,
        ties=how.ties,
    )


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
    from equipoise.read.options import ANNOTATION_LAYOUTS

    check_choice("layout", options.layout, ANNOTATION_LAYOUTS)
    names = ("layout", "kind", "repeats", "exchangeable")
    return {
        **{name: getattr(options, name) for name in names},
        "classes": class_names(options.classes) or None,
        "columns": column_map(options.columns, "columns"),
    }


def score_keywords(options: Options) -> Mapping[str, Any]:
    """The keywords of everything that reads predictions."""
    columns = column_map(options.prediction_columns, "prediction_columns")
    return {"layout": options.prediction_layout, "columns": columns}


def check_reading(options: Options) -> None:
    """Refuse words about reading files that no reader knows, before anything is read."""
    from equipoise.read.options import ANNOTATION_LAYOUTS

    check_choice("layout", options.layout, ANNOTATION_LAYOUTS)
    column_map(options.columns, "columns")
    column_map(options.prediction_columns, "prediction_columns")


def _refuse_reading(whole: str | None, options: Options, *, own_scores: bool) -> None:
    """Refuse options about reading files where a data set or a study is read as it is."""
    if whole is not None:
        names = OF_VOTES if own_scores else (*OF_VOTES, *OF_SCORES)
        why = f"is about reading files, and {whole} is read as it is; leave it out"
        refuse_unused(options, names, why)


def _by_role(options: Options) -> _Sources:
    """The folder of a run, or files by their roles; roles that are guessed are said."""
    bare = options.study or []
    run = next((path for path in bare if _is_run(path)), None)
    if run is not None and len(bare) > 1:
        raise InputError(
            f"{run}",
            "the folder of an evaluation beside other files",
            "one or the other",
            "give other files with -a and -p",
        )
    if run is not None or not bare:
        return _Sources(options=options, run=run)
    from equipoise.read.check import roles_of

    sides = {"annotations": options.annotations, "predictions": options.predictions}
    roles = roles_of(bare, [side for side, paths in sides.items() if paths])
    votes = [Path(file.path) for file in roles if file.role != "predictions"]
    scores = [Path(file.path) for file in roles if file.role == "predictions"]
    options = replace(
        options,
        annotations=[*(options.annotations or []), *votes] or None,
        predictions=[*(options.predictions or []), *scores] or None,
    )
    guessed = any(file.why.startswith("guessed") for file in roles)
    if not (guessed and votes and scores):
        return _Sources(options=options)
    text = (
        "{votes:names} read as annotations, {scores:names} as predictions; -a and -p say "
        "otherwise."
    )
    names = {"votes": tuple(map(str, votes)), "scores": tuple(map(str, scores))}
    return _Sources(options=options, notices=(Notice("roles_guessed", text, (), names),))


def _is_run(path: Path) -> bool:
    """Whether a path is meant as the folder of an evaluation, or its record."""
    from equipoise.read.writing import RUN

    if path.name == RUN or (path / RUN).exists():
        return True
    return path.suffix == "" and not (path.is_dir() and any(path.iterdir()))


def _require_both(files: Options) -> None:
    """Refuse votes without predictions, predictions without votes, and nothing at all."""
    if files.dataset is not None or _holds_study(files.annotations):
        return
    if files.annotations and files.predictions:
        return
    if not files.annotations and not files.predictions:
        raise InputError(
            "nothing to read",
            "no files, no folder and no --dataset",
            "a study",
            "give -a votes.csv -p scores.csv, study.csv that `equipoise check --out` wrote, "
            "--dataset NAME, or the folder that evaluate --out wrote",
        )
    paths = files.annotations or files.predictions or []
    there = "annotations" if files.annotations else "predictions"
    names = " ".join(map(str, paths)) if len(paths) < 4 else "FILES"
    do = f"add them: -a votes.csv -p {names}"
    if files.annotations:
        alone = f"without models, see `equipoise agreement {names}`"
        do = f"add them: -a {names} -p scores.csv; {alone}"
    raise InputError(
        names, f"{there} alone", "annotations and predictions, or a whole study", do
    )


def _holds_study(paths: Sequence[Path] | None) -> bool:
    """Whether the one file given is a whole study that `equipoise check --out` wrote."""
    from equipoise.read.canonical import is_canonical

    return paths is not None and len(paths) == 1 and paths[0].is_file() and is_canonical(*paths)


def read_votes(options: Options) -> Annotations:
    """Read the annotations of files, which are read as one, or of a data set."""
    if options.dataset is not None:
        from equipoise.datasets import LOADERS

        _refuse_reading(options.dataset, options, own_scores=True)
        return first_votes(LOADERS[options.dataset]().annotations.by_name(), options)
    paths = options.annotations
    assert paths
    if _holds_study(paths):
        _refuse_reading(paths[0].name, options, own_scores=True)
    return _read_votes(paths, options, class_names(options.classes) or None)


def ask(table: Annotations, options: Options) -> Annotations:
    """Turn classes, grades or ratings into a yes/no question where one was asked."""
    if options.at_least is not None:
        table = table.at_least(options.at_least)
    if options.positive is not None:
        table = table.against(options.positive)
    return table


def read_predictions_of(paths: Sequence[Path], options: Options) -> "tuple[Predictions, ...]":
    """Read files of predictions; refusals name the options that are theirs."""
    from equipoise.read.predictions import read_predictions

    with _naming_check(paths, SCORE_FLAGS):
        return read_predictions(paths, **score_keywords(options))


@contextmanager
def _naming_check(
    paths: Sequence[Path], flags: Mapping[str, str] | None = None
) -> Iterator[None]:
    """Refusals with the verb that shows how files are read, and other flags by keyword."""
    try:
        yield
    except InputError as error:
        refusal = error.renamed(flags or {})
        if not all(path.exists() for path in paths):
            raise refusal from None
        files = " ".join(map(str, paths)) if len(paths) < 4 else "FILES"
        do = hint("{}; see `equipoise check {}`", refusal.do, files)
        raise InputError(refusal.where, refusal.got, refusal.expected, do) from None


def table_files(paths: Sequence[Path] | None) -> list[Path]:
    """Replace every folder by the tables in it, in order of their names."""
    from equipoise.read.files import listed_paths

    return [Path(path) for path in listed_paths(list(paths))] if paths else []


def _check_reading(options: Options) -> None:
    """Refuse options about reading files where a data set or a study is read as it is."""
    whole = options.dataset
    if whole is None and options.annotations and _holds_study(options.annotations):
        whole = options.annotations[0].name
    _refuse_reading(whole, options, own_scores=bool(options.predictions))


def _input_rows(
    files: Options, home: Path | None, also: Mapping[str, Path | None]
) -> "tuple[InputFile, ...]":
    """Role, name, hash and size of all that is read, with routes from a folder of results."""
    from equipoise.report.run import hash_inputs

    rows: tuple[InputFile, ...] = ()
    if files.dataset is not None:
        rows += published_files(files.dataset)
    rows += hash_inputs("annotations", table_files(files.annotations), home)
    rows += hash_inputs("predictions", table_files(files.predictions), home)
    for role, path in also.items():
        rows += hash_inputs(role, [path] if path is not None else [], home)
    return rows


def file_facts(files: "Iterable[InputFile]") -> list[dict[str, str | int]]:
    """What the JSON of a folder says of the files that were read."""
    return [
        {key: value for key, value in asdict(file).items() if value is not None}
        for file in files
    ]


def published_files(name: str) -> "tuple[InputFile, ...]":
    """The files of a data set, which the loader has verified."""
    from equipoise.datasets import CATALOGUE, located
    from equipoise.report.run import InputFile

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
    from equipoise.datasets import CATALOGUE

    if name is None:
        return {}
    source = CATALOGUE[name]
    return {
        name_of_fact: getattr(source, name_of_fact)
        for name_of_fact in ("name", "title", "licence", "citation")
    }


def _sources(sources: _Sources) -> _Sources:
    """The files of a study, and how they are read: as given, then as a run has it."""
    options, run = sources.options, sources.run
    if run is None:
        files = replace(
            options,
            annotations=table_files(options.annotations) or None,
            predictions=table_files(options.predictions),
        )
        return replace(sources, options=files, classes=class_names(options.classes) or None)
    from equipoise.report.run import Run

    folder = run if run.is_dir() else run.parent
    record = Run.load(run).record
    question = record.question
    stored = {
        name: getattr(question, name)
        for name in AS_IN_RUN
        if getattr(options, name) == DEFAULTS[name] and getattr(question, name) is not None
    }
    for name in ("columns", "prediction_columns"):
        columns: Mapping[str, str] = getattr(question, name)
        if getattr(options, name) is None and columns:
            stored[name] = ",".join(f"{ours}={theirs}" for ours, theirs in columns.items())
    located, notices = _located_files(options, folder, record)
    return _Sources(
        options=replace(located, **stored),
        run=run,
        classes=class_names(options.classes) or list(question.classes or ()) or None,
        record=record,
        notices=(*sources.notices, *_cautions(record), *notices),
    )


def _cautions(record: "RunRecord") -> tuple[Notice, ...]:
    """What of the run does not carry over."""
    if record.question.by_group or record.question.within:
        raise InputError(
            "run.json",
            "an evaluation by groups of classes",
            "one of the classes themselves",
            "give -a and -p in place of the folder",
        )
    if not record.truth_model:
        return ()
    text = (
        "The evaluation inferred the truth by a model; here the votes themselves are the truth."
    )
    return (Notice("truth_by_model", text),)


def _located_files(
    files: Options, folder: Path, record: "RunRecord"
) -> tuple[Options, tuple[Notice, ...]]:
    """The files of a run, found and checked again; files that are given come first."""
    from equipoise.read.files import file_sha256

    votes = [file for file in record.inputs if file.role == "annotations"]
    scores = [file for file in record.inputs if file.role == "predictions"]
    source = None if files.annotations else record.dataset
    dataset = None if source is None else source.get("name")
    paths = table_files(files.predictions) or [_located(folder, file) for file in scores]
    new_votes = table_files(files.annotations)
    vote_paths = new_votes or [_located(folder, file) for file in votes]
    other = [
        path.name
        for path, recorded in (
            *((path, votes) for path in new_votes),
            *((path, scores) for path in table_files(files.predictions)),
        )
        if path.is_file() and file_sha256(path) not in {file.sha256 for file in recorded}
    ]
    text = "{files:names}: not the file that was evaluated; what is given counts."
    notices = (Notice("changed_file", text, (), {"files": tuple(other)}),) if other else ()
    return (
        replace(files, annotations=vote_paths or None, predictions=paths, dataset=dataset),
        notices,
    )


def _located(folder: Path, wanted: "InputFile") -> Path:
    """The file that a run read, by its place, name and hash."""
    from equipoise.read.files import file_sha256

    there = [path for path in _places(folder, wanted) if path.is_file()]
    for path in there:
        if file_sha256(path) == wanted.sha256:
            return path
    name, option = wanted.name, "-a" if wanted.role == "annotations" else "-p"
    where = f"{folder / 'run.json'}, {wanted.role}"
    if there:
        now = file_sha256(there[0])
        raise InputError(
            where,
            f"{there[0]} was found but is changed since (SHA-256 {now[:12]}..., "
            f"not {wanted.sha256[:12]}...)",
            "the file that was evaluated",
            f"bring it back, or take the changed file: {option} {there[0]}",
        )
    lay = f" where it lay ({wanted.path} from the run)," if wanted.path else ""
    raise InputError(
        where,
        f"{name!r} is neither{lay} beside the run, in it nor in this folder",
        "the file that was evaluated",
        f"give its place: {option} {name}",
    )


def _places(folder: Path, wanted: "InputFile") -> list[Path]:
    """Where a file may lie, the most likely place first; links are followed either way."""
    name, real = wanted.name, folder.resolve()
    places = []
    if wanted.path:
        places += [Path(os.path.normpath(folder / wanted.path)), real / wanted.path]
    beside = Path(os.path.normpath(folder / ".." / name))
    return list(dict.fromkeys([*places, beside, real.parent / name, folder / name, Path(name)]))


def _name(sources: _Sources) -> str:
    """What a study is called: by its own title, else by its folder, data set or file."""
    run, record, files = sources.run, sources.record, sources.options
    if run is None or record is None:
        return str(files.dataset or _name_of(files.annotations or ()))
    if not record.title.endswith(TITLE):
        return record.title
    return (run if run.is_dir() else run.parent).resolve().name


def _name_of(paths: Sequence[Path]) -> str:
    """Name of a file, or of the folder that several lie in."""
    if len(paths) < 2:
        return paths[0].name if paths else ""
    folders = {path.absolute().parent.name for path in paths}
    return folders.pop() if len(folders) == 1 else paths[0].name


def _resampled(record: "RunRecord | None") -> str | None:
    """What an evaluation of votes drew anew; draws of a model do not carry over."""
    if record is None:
        return None
    kind = record.settings.resample
    return None if kind.endswith("posterior") or kind == "influence" else kind


def _read_scored(
    sources: _Sources, truth: str, metrics: Option, *, matched: bool
) -> "tuple[Annotations, tuple[Predictions, ...]]":
    """Read both sides; votes on several classes become the yes/no question asked."""
    options = sources.options
    if options.dataset is not None and not options.predictions:
        table, models = _published(options.dataset)
        table = first_votes(table.by_name(), options)
    else:
        table, models = _matched(sources)
    if matched:
        from equipoise.study.circularity import independent

        table = independent(table, models, options.circular)
        table, models = _with_gold(table, models, options.gold)
    models, notices = _as_answers(table, models, options, metrics)
    table = replace(table, notices=(*table.notices, *notices))
    question = table if _keeps_kind(table, options, truth) else ask(table, options)
    if question is not table and matched:
        circular = "keep" if options.circular != "error" else "error"
        question = independent(question, models, circular)
    if truth == "votes" and options.dataset is None:
        from equipoise.study.alignment import refuse_plain_scores

        names = " ".join(map(str, options.annotations or ()))
        refuse_plain_scores(question, models, names)
    return question, models


def _with_gold(
    table: Annotations, models: "Sequence[Predictions]", use: str
) -> "tuple[Annotations, tuple[Predictions, ...]]":
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


def _published(name: str) -> "tuple[Annotations, tuple[Predictions, ...]]":
    """Annotations and predictions of a data set; one without predictions is refused."""
    from equipoise.datasets import LOADERS

    study = LOADERS[name]()
    if not study.predictions:
        raise InputError(
            f"data set {name}",
            "no predictions are published with it",
            "what models scored",
            "give your own with -p",
        )
    return study.annotations, study.predictions


def read_table(
    paths: Sequence[Path],
    options: Options,
    classes: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Annotations:
    """Read votes as the options say; other classes and names of columns come first."""
    from equipoise.read.annotations import read_annotations

    how = {**vote_keywords(options)}
    if classes:
        how["classes"] = classes
    if columns is not None:
        how["columns"] = columns
    with _naming_check(paths):
        return read_annotations(list(paths), **how).by_name()


def _read_votes(
    paths: Sequence[Path], options: Options, classes: Sequence[str] | None
) -> Annotations:
    from equipoise.truth.annotation_checks import refuse_too_many_classes

    table = _settled(read_table(paths, options, classes), paths)
    if classes is None and options.positive is None:
        refuse_too_many_classes(table)
    return first_votes(table, options)


def _settled(table: Annotations, paths: Sequence[Path]) -> Annotations:
    """A study in one file without what was said, and settled, when it was written."""
    if not _holds_study(paths):
        return table
    notices = tuple(notice for notice in table.notices if notice.code not in SETTLED)
    return replace(table, notices=notices)


def first_votes(table: Annotations, options: Options) -> Annotations:
    """The first votes alone, where they were asked for."""
    return table if options.first_votes is None else table.first_votes(options.first_votes)


def _matched(sources: _Sources) -> "tuple[Annotations, tuple[Predictions, ...]]":
    """Read both sides, from one file or from files of their own."""
    options = sources.options
    paths = options.predictions or []
    if options.annotations and _holds_study(options.annotations):
        return _study_of(options.annotations[0], paths, options)
    if options.dataset is not None:
        table = read_votes(options)
    else:
        assert options.annotations
        table = _read_votes(options.annotations, options, sources.classes)
    return _with_predictions(table, paths, options, sources.classes)


def _with_predictions(
    table: Annotations,
    paths: Sequence[Path],
    options: Options,
    classes: Sequence[str] | None,
) -> "tuple[Annotations, tuple[Predictions, ...]]":
    """Read predictions for annotations; what there is to say of them goes to those."""
    from equipoise.read.predictions import predictions_for

    how = score_keywords(options)
    with _naming_check(paths, SCORE_FLAGS):
        table, read = predictions_for(table, paths, classes_known=classes is not None, **how)
    return table, read.predictions


def _study_of(
    path: Path, paths: Sequence[Path], options: Options
) -> "tuple[Annotations, tuple[Predictions, ...]]":
    """A study in one file, and further predictions beside it."""
    from equipoise.read.canonical import read_study as read_canonical

    table, models = read_canonical(path)
    table = first_votes(_settled(table, [path]).by_name(), options)
    if paths:
        table, more = _with_predictions(table, paths, options, table.classes)
        models += more
    if not models:
        raise InputError(
            f"{path}", "a study without predictions", "what models scored", "give it with -p"
        )
    return table, models


def _keeps_kind(table: Annotations, options: Options, truth: str) -> bool:
    """Whether a model of the truth takes the annotations before a yes/no question is asked.

    Rankings lose their order by it, and grades and ratings their distance from the threshold.
    """
    from equipoise.truth import MODELS

    if truth == "votes" or truth.endswith(".npz"):
        return False
    if table.kind == "ranking":
        return options.at_least is None
    if table.kind == "ordinal":
        return truth in MODELS and MODELS[truth].kinds == ("ordinal",)
    return table.kind == "interval" and (truth == "auto" or MODELS[truth].threshold)


def _as_answers(
    table: Annotations,
    models: "Sequence[Predictions]",
    options: Options,
    metrics: Option,
) -> "tuple[tuple[Predictions, ...], list[Notice]]":
    """Predictions that name one class each, as the question needs them, and what to say.

    Asked about one class, a model says yes where it names that class; asked about grades, it
    scores by the grade it names. Names of classes never serve as numbers.
    """
    models, positive = tuple(models), options.positive
    if not models or not all(model.classes and model.decides for model in models):
        return models, []
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
    from equipoise.metrics import named

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
