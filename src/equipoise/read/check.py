"""How files are read: which holds what, in which layout, what was guessed, and what came out.

`check_study` takes files of annotations and of predictions, or files whose role it tells: a
whole study by its first line, annotations by a column of annotators or labels, predictions by a
column of models or scores, or by numbers with fractions. A table without such a sign is on the
side that is missing, and that is said. What comes out is a `StudyCheck`; `write_study` makes
one file of it that every verb takes without options.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from equipoise.read.annotations import NamedTable, layouts_of, read_annotations, read_table
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
from equipoise.read.options import (
    AnnotationKeywords,
    PredictionKeywords,
    annotation_options,
)
from equipoise.read.predictions import PredictionsRead, predictions_for, predictions_read
from equipoise.read.tables import Table, code_names, numbers
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import InputError
from equipoise.types.notices import Notice
from equipoise.types.predictions import Predictions

_SHOWN = 3  # rows of a preview
_OF_SCORES = {"layout": "prediction_layout", "columns": "prediction_columns"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _FileReport:
    """How one file was read.

    Attributes
    ----------
    name, role, why
        The file, ``annotations``, ``predictions`` or ``study``, and how that is known.
    layout
        Its layout.
    rows, columns
        How many rows, and the names of the columns; none for JSON.
    preview
        The first rows as they stand in the file.
    """

    name: str
    role: str
    why: str
    layout: str
    rows: int
    columns: tuple[str, ...] = ()
    preview: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyCheck:
    """What was read: every file, and the study they make."""

    files: tuple[_FileReport, ...]
    annotations: Annotations | None = None
    predictions: tuple[Predictions, ...] = ()
    notices: tuple[Notice, ...] = ()

    @property
    def silent_tasks(self) -> tuple[str, ...]:
        """Annotated tasks without predictions, where there are predictions."""
        if self.annotations is None or not self.predictions:
            return ()
        known = {one.task for one in self.predictions}
        return tuple(task for task in self.annotations.tasks if task not in known)

    def unmatched(self, one: Predictions) -> tuple[int, int]:
        """Annotated items of a task without a prediction, and predictions without votes."""
        table, known = self.annotations, set[str]()
        if table is not None and one.task in table.tasks:
            known = {
                table.items[code] for code in np.unique(table.item[table.in_task(one.task)])
            }
        return len(known - set(one.items)), len(set(one.items) - known)

    @property
    def matches(self) -> bool:
        """Whether every annotated item of every task has predictions, and no other."""
        return not self.silent_tasks and not any(
            any(self.unmatched(one)) for one in self.predictions
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPaths:
    """Files of a study by their role; those under `any` tell theirs by themselves."""

    annotations: Sequence[AnyPath] = ()
    predictions: Sequence[AnyPath] = ()
    any: Sequence[AnyPath] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyKeywords:
    """How both sides are read, and how many first votes count."""

    annotations: AnnotationKeywords = field(default_factory=AnnotationKeywords)
    predictions: PredictionKeywords = field(default_factory=PredictionKeywords)
    first_votes: int | None = None


class _File(NamedTuple):
    """A file that was opened once: its table where it holds one, its side and a sign of it."""

    path: AnyPath
    content: Content
    table: Table | None
    rows: int
    side: str = ""
    why: str = ""


def check_study(paths: StudyPaths, how: StudyKeywords) -> StudyCheck:
    """Read files, and say how."""
    taken = [side for side in ("annotations", "predictions") if getattr(paths, side)]
    files = [
        _told(_opened(path), side, "as given")
        for side in taken
        for path in _listed(getattr(paths, side))
    ]
    files += roles_of(paths.any, taken)
    order = ("study", "annotations", "predictions")
    files.sort(key=lambda one: order.index(one.side))
    if not files:
        raise InputError("check", "no files", "at least one", "name a file")
    sides = {side: [one for one in files if one.side == side] for side in order}
    annotations, models = _read_sides(sides, how)
    layouts = _layouts(sides, how, models.layouts)
    return StudyCheck(
        files=tuple(_reported(one, layouts[str(one.path)]) for one in files),
        annotations=annotations,
        predictions=models.predictions,
        notices=models.notices if annotations is None else annotations.notices,
    )


def roles_of(paths: Sequence[AnyPath], taken: Sequence[str] = ()) -> list[_File]:
    """What each of some files holds, and how that is known.

    Parameters
    ----------
    taken
        Sides that other files hold: ``annotations`` or ``predictions``.
    """
    files = [_told(one, *_sign(one)) for one in map(_opened, _listed(paths))]
    sides = {*taken, *(one.side for one in files)}
    alike = len({one.table and frozenset(one.table.columns) for one in files}) == 1
    roles: list[_File] = []
    for number, file in enumerate(files):
        guess = ("predictions", "guessed: the first file holds the annotations")
        if {"annotations", "study"} & sides:
            guess = ("predictions", "guessed: other files hold the annotations")
        elif "predictions" in sides:
            guess = ("annotations", "guessed: other files hold the predictions")
        elif number == 0 or alike:
            guess = ("annotations", "guessed: no column says models or scores")
        roles.append(_told(file, *guess))
    return roles


def _told(file: _File, side: str, why: str) -> _File:
    """A file with its side, unless that is known."""
    return file if file.side else file._replace(side=side, why=why)


def _listed(paths: Sequence[AnyPath]) -> list[AnyPath]:
    return listed_paths(list(paths)) if paths else []


def _read_sides(
    sides: dict[str, list[_File]], how: StudyKeywords
) -> tuple[Annotations | None, PredictionsRead]:
    """Both sides, from a whole study or from files of their own."""
    votes = [one.path for one in sides["annotations"]]
    scores = [one.path for one in sides["predictions"]]
    annotations: Annotations | None = None
    models = PredictionsRead(())
    if sides["study"]:
        if votes or len(sides["study"]) > 1:
            raise InputError(
                sides["study"][0].content.name,
                "a whole study beside other annotations",
                "one or the other",
                "leave one of them out",
            )
        file = sides["study"][0].content
        refused = ("layout", "kind", "classes", "columns", "repeats", "exchangeable")
        annotation_options(how.annotations).refuse(*refused, where=file.name)
        annotations, own = study_of(file)
        models = PredictionsRead(own)
    elif votes:
        annotations = read_annotations(votes, **how.annotations)
    if annotations is not None and how.first_votes is not None:
        annotations = annotations.first_votes(how.first_votes)
    if not scores:
        return annotations, models
    try:
        if annotations is None:
            read = predictions_read(scores, **how.predictions)
        else:
            known = how.annotations.get("classes") is not None
            annotations, read = predictions_for(
                annotations, scores, classes_known=known, **how.predictions
            )
    except InputError as error:
        raise error.renamed(_OF_SCORES) from None
    return annotations, read._replace(predictions=(*models.predictions, *read.predictions))


def _opened(path: AnyPath) -> _File:
    """Open a file once."""
    file = content(path)
    if is_study(file):
        annotations, predictions = study_of(file)
        rows = len(annotations) + sum(len(one.items) for one in predictions)
        return _File(path, file, None, rows, "study", "its first line says so")
    if file.suffix in NUMPY:
        return _File(path, file, None, len(np.atleast_1d(read_array(file))))
    if file.suffix in JSON:
        return _File(path, file, None, len(read_json(file)))
    table = read_table(file, *JSON, *NUMPY)
    return _File(path, file, table, len(table))


def _sign(file: _File) -> tuple[str, str]:
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
    known = values[np.isfinite(values)]
    return bool(len(known)) and bool((known != np.floor(known)).any())


def _layouts(
    sides: dict[str, list[_File]], how: StudyKeywords, of_models: Sequence[str]
) -> dict[str, str]:
    """The layout of every file by its path."""
    options = annotation_options(how.annotations)
    votes = [one for one in sides["annotations"] if one.table is not None]
    tables = [NamedTable(one.table, one.content.stem) for one in votes if one.table is not None]
    names = layouts_of(tables, options) if tables else []
    layouts = dict(zip((str(one.path) for one in votes), names, strict=True))
    for one in sides["annotations"]:
        if one.content.suffix in NUMPY:
            layouts[str(one.path)] = "tasks" if options.layout == "tasks" else "counts"
        if one.content.suffix in JSON:
            studio = is_label_studio(read_json(one.content))
            layouts[str(one.path)] = "label-studio" if studio else "rankings"
    scores = [str(one.path) for one in sides["predictions"]]
    layouts |= dict(zip(scores, of_models, strict=True))
    return layouts | {str(one.path): "study" for one in sides["study"]}


def _reported(file: _File, layout: str) -> _FileReport:
    preview: tuple[tuple[str, ...], ...] = ()
    columns: tuple[str, ...] = ()
    if file.table is not None:
        columns = tuple(file.table.columns)
        first = file.table.subset(np.arange(len(file.table)) < _SHOWN)
        cells = [_cells(first, name) for name in columns]
        preview = tuple(zip(*cells, strict=True))
    return _FileReport(
        name=file.content.name,
        role=file.side,
        why=file.why,
        layout=layout,
        rows=file.rows,
        columns=columns,
        preview=preview,
    )


def _cells(table: Table, column: str) -> list[str]:
    """The cells of a column as text."""
    coded = code_names(table, column)
    return ["" if code < 0 else coded.names[code] for code in coded.codes]
