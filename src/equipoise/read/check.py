"""How files are read: which holds what, in which layout, what was guessed, and what came out.

`check_files` takes files of annotations and of predictions, or files whose role it tells: a
whole study by its first line, annotations by a column of annotators or labels, predictions by a
column of models or scores, or by numbers with fractions. A table without such a sign is on the
side that is missing, and that is said. What comes out is a `CheckedFiles`; `write_study` makes
one file of it that every verb takes without options.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from equipoise.read.annotations import VoteTable, layouts_of, read_annotations, read_table
from equipoise.read.canonical import is_study, study_of
from equipoise.read.files import (
    JSON,
    NUMPY,
    AnyPath,
    Content,
    content,
    listed_paths,
    read_array,
    read_json,
)
from equipoise.read.headers import side_of
from equipoise.read.label_studio import is_label_studio
from equipoise.read.options import VoteFormat
from equipoise.read.predictions import PredictionsRead, predictions_for, predictions_read
from equipoise.read.tables import Table, code_names, numbers
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import InputError
from equipoise.types.notices import Notice
from equipoise.types.predictions import Predictions

_SHOWN = 3  # rows of a preview
_OF_SCORES = {"layout": "prediction_layout", "columns": "prediction_columns"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesToCheck:
    """Files by their role, and how they are read.

    Attributes
    ----------
    annotations, predictions, any
        Paths; what the files under `any` hold is told by their content.
    vote_keywords, score_keywords
        As for `read_annotations` and `read_predictions`.
    first_votes
        How many first votes of each item count; None for all.
    """

    annotations: Sequence[AnyPath] = ()
    predictions: Sequence[AnyPath] = ()
    any: Sequence[AnyPath] = ()
    vote_keywords: Mapping[str, Any] = field(default_factory=dict)
    score_keywords: Mapping[str, Any] = field(default_factory=dict)
    first_votes: int | None = None


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A file that was opened once.

    Attributes
    ----------
    path, content, table
        The file, its bytes, and its table where it holds one.
    rows
        How many rows it has.
    role, why
        ``annotations``, ``predictions`` or ``study``, and how that is known; empty before.
    layout
        Its layout; empty before it is known.
    """

    path: AnyPath
    content: Content
    table: Table | None
    rows: int
    role: str = ""
    why: str = ""
    layout: str = ""

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.content.name

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns; none for JSON and arrays."""
        return () if self.table is None else tuple(self.table.columns)

    @property
    def preview(self) -> tuple[tuple[str, ...], ...]:
        """The first rows as they stand in the file."""
        if self.table is None:
            return ()
        first = self.table.subset(np.arange(len(self.table)) < _SHOWN)
        return tuple(zip(*(_cells(first, name) for name in self.columns), strict=True))

    def with_role(self, role: str, why: str) -> "CheckedFile":
        """The file with its role, unless that is known."""
        return self if self.role else replace(self, role=role, why=why)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedFiles:
    """What was read: every file, and the study they make."""

    files: tuple[CheckedFile, ...]
    annotations: Annotations | None = None
    predictions: tuple[Predictions, ...] = ()
    notices: tuple[Notice, ...] = ()

    @property
    def silent_tasks(self) -> tuple[str, ...]:
        """Annotated tasks without predictions, where there are predictions."""
        if self.annotations is None or not self.predictions:
            return ()
        predicted = {prediction.task for prediction in self.predictions}
        return tuple(task for task in self.annotations.tasks if task not in predicted)

    def unmatched(self, prediction: Predictions) -> tuple[int, int]:
        """Annotated items of a task without a prediction, and predictions without votes."""
        table, voted = self.annotations, set[str]()
        if table is not None and prediction.task in table.tasks:
            voted = {
                table.items[code]
                for code in np.unique(table.item[table.in_task(prediction.task)])
            }
        return len(voted - set(prediction.items)), len(set(prediction.items) - voted)

    @property
    def matches(self) -> bool:
        """Whether every annotated item of every task has predictions, and no other."""
        return not self.silent_tasks and not any(
            any(self.unmatched(prediction)) for prediction in self.predictions
        )


def check_files(wanted: FilesToCheck) -> CheckedFiles:
    """Read files, and say how."""
    taken = [role for role in ("annotations", "predictions") if getattr(wanted, role)]
    files = [
        _open_file(path).with_role(role, "as given")
        for role in taken
        for path in _all_paths(getattr(wanted, role))
    ]
    files += roles_of(wanted.any, taken)
    order = ("study", "annotations", "predictions")
    files.sort(key=lambda file: order.index(file.role))
    if not files:
        raise InputError("check", "no files", "at least one", "name a file")
    by_role = {role: [file for file in files if file.role == role] for role in order}
    annotations, models = _read_both(by_role, wanted)
    layouts = _layouts(by_role, wanted, models.layouts)
    return CheckedFiles(
        files=tuple(replace(file, layout=layouts[str(file.path)]) for file in files),
        annotations=annotations,
        predictions=models.predictions,
        notices=models.notices if annotations is None else annotations.notices,
    )


def roles_of(paths: Sequence[AnyPath], taken: Sequence[str] = ()) -> list[CheckedFile]:
    """What each of some files holds, and how that is known.

    Parameters
    ----------
    taken
        Sides that other files hold: ``annotations`` or ``predictions``.
    """
    files = [
        file.with_role(*_role_and_sign(file)) for file in map(_open_file, _all_paths(paths))
    ]
    roles_seen = {*taken, *(file.role for file in files)}
    alike = len({file.table and frozenset(file.columns) for file in files}) == 1
    roles: list[CheckedFile] = []
    for number, file in enumerate(files):
        guess = ("predictions", "guessed: the first file holds the annotations")
        if {"annotations", "study"} & roles_seen:
            guess = ("predictions", "guessed: other files hold the annotations")
        elif "predictions" in roles_seen:
            guess = ("annotations", "guessed: other files hold the predictions")
        elif number == 0 or alike:
            guess = ("annotations", "guessed: no column says models or scores")
        roles.append(file.with_role(*guess))
    return roles


def _all_paths(paths: Sequence[AnyPath]) -> list[AnyPath]:
    return listed_paths(list(paths)) if paths else []


def _read_both(
    by_role: Mapping[str, list[CheckedFile]], wanted: FilesToCheck
) -> tuple[Annotations | None, PredictionsRead]:
    """Both sides, from a whole study or from files of their own."""
    votes = [file.path for file in by_role["annotations"]]
    scores = [file.path for file in by_role["predictions"]]
    annotations: Annotations | None = None
    models = PredictionsRead(())
    if by_role["study"]:
        if votes or len(by_role["study"]) > 1:
            raise InputError(
                by_role["study"][0].name,
                "a whole study beside other annotations",
                "one or the other",
                "leave one of them out",
            )
        file = by_role["study"][0].content
        refused = ("layout", "kind", "classes", "columns", "repeats", "exchangeable")
        VoteFormat.of(wanted.vote_keywords).refuse(*refused, where=file.name)
        annotations, predictions = study_of(file)
        models = PredictionsRead(predictions)
    elif votes:
        annotations = read_annotations(votes, **wanted.vote_keywords)
    if annotations is not None and wanted.first_votes is not None:
        annotations = annotations.first_votes(wanted.first_votes)
    if not scores:
        return annotations, models
    try:
        if annotations is None:
            read = predictions_read(scores, **wanted.score_keywords)
        else:
            classes_known = wanted.vote_keywords.get("classes") is not None
            annotations, read = predictions_for(
                annotations, scores, classes_known=classes_known, **wanted.score_keywords
            )
    except InputError as error:
        raise error.renamed(_OF_SCORES) from None
    return annotations, read._replace(predictions=(*models.predictions, *read.predictions))


def _open_file(path: AnyPath) -> CheckedFile:
    """Open a file once."""
    file = content(path)
    if is_study(file):
        annotations, predictions = study_of(file)
        rows = len(annotations) + sum(len(prediction.items) for prediction in predictions)
        return CheckedFile(path, file, None, rows, "study", "its first line says so")
    if file.suffix in NUMPY:
        return CheckedFile(path, file, None, len(np.atleast_1d(read_array(file))))
    if file.suffix in JSON:
        return CheckedFile(path, file, None, len(read_json(file)))
    table = read_table(file, *JSON, *NUMPY)
    return CheckedFile(path, file, table, len(table))


def _role_and_sign(file: CheckedFile) -> tuple[str, str]:
    """The side of a file by what stands in it, and by which sign; empty where nothing tells."""
    if file.content.suffix in JSON:
        return "annotations", "rankings and exports of votes are JSON"
    if file.content.suffix in NUMPY:
        whole = bool(np.asarray(read_array(file.content)).dtype.kind in "iub")
        side = "annotations" if whole else "predictions"
        return side, f"guessed: an array of {'whole numbers' if whole else 'scores'}"
    named = None if file.table is None else side_of(file.table)
    if file.table is None or named is not None:
        return named or ("", "")
    if any(_has_fractions(file.table, name) for name in file.table.columns):
        return "predictions", "numbers with fractions"
    return "", ""


def _has_fractions(table: Table, column: str) -> bool:
    try:
        values = numbers(table, column)
    except InputError:
        return False
    finite = values[np.isfinite(values)]
    return bool(len(finite)) and bool((finite != np.floor(finite)).any())


def _layouts(
    by_role: Mapping[str, list[CheckedFile]], wanted: FilesToCheck, of_models: Sequence[str]
) -> dict[str, str]:
    """The layout of every file by its path."""
    options = VoteFormat.of(wanted.vote_keywords)
    votes = [(file, file.table) for file in by_role["annotations"] if file.table is not None]
    tables = [VoteTable(table, file.content.stem) for file, table in votes]
    names = layouts_of(tables, options) if tables else []
    layouts = dict(zip((str(file.path) for file, _ in votes), names, strict=True))
    for file in by_role["annotations"]:
        if file.content.suffix in NUMPY:
            layouts[str(file.path)] = "tasks" if options.layout == "tasks" else "counts"
        if file.content.suffix in JSON:
            studio = is_label_studio(read_json(file.content))
            layouts[str(file.path)] = "label-studio" if studio else "rankings"
    scores = [str(file.path) for file in by_role["predictions"]]
    layouts |= dict(zip(scores, of_models, strict=True))
    return layouts | {str(file.path): "study" for file in by_role["study"]}


def _cells(table: Table, column: str) -> list[str]:
    """The cells of a column as text."""
    coded = code_names(table, column)
    return ["" if code < 0 else coded.names[code] for code in coded.codes]
