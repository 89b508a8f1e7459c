"""Sources: files that are opened once, whatever is read from them, and the side each is on.

A file holds a study (its first line says so), JSON, an array or a table, told by its ending.
Its side, where nobody says it, is told by what it holds: annotations by a column of annotators
or labels, predictions by a column of models or scores, or by numbers with fractions. A table
without such a sign is on the side that is missing, and that is said.

`check_files` reads both sides and says how each file was read: which side, in which layout,
what was guessed. What comes out is a `CheckedFiles`; `write_study` makes one file of it that
every verb takes without options.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from equipoise.read import delimited, parquet
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
    unknown_ending,
)
from equipoise.read.headers import is_judged, side_of
from equipoise.read.judged import are_results, judged_study, results_study
from equipoise.read.options import ScoreFormat, VoteFormat
from equipoise.read.reader_studies import ENDING, as_annotations_table, imrmc_table
from equipoise.read.tables import Table, numbers_or_none
from equipoise.types import (
    Annotations,
    InputError,
    Models,
    Names,
    Notice,
    Notices,
    Predictions,
    immutable,
    listed,
)

if TYPE_CHECKING:
    from equipoise.read.predictions import PredictionsRead

TABULAR = (*delimited.ENDINGS, *parquet.ENDINGS, ENDING)
STUDY, JSON_TEXT, ARRAY, TABLE = "study", "JSON", "array", "table"
OF_STUDY = "its first line says so"
OF_JUDGED = "its columns name systems beside what was said of their outputs"
OF_RESULTS = "a table of systems' results alone"
_OF_SCORES = {"layout": "prediction_layout", "columns": "prediction_columns"}


@dataclass(eq=False)
class Source:
    """A file, opened when it is first looked into, and never again.

    Attributes
    ----------
    path
        Where it lies.
    role, why
        ``annotations``, ``predictions`` or ``study``, and how that is known; empty before.
    layout
        Its layout; empty before it is known.
    named
        Names of its columns by ours, where somebody said so.
    results
        Whether it holds what a test made of systems' outputs, where nobody judged them.
    """

    path: AnyPath
    role: str = ""
    why: str = ""
    layout: str = ""
    named: Mapping[str, str] = field(default_factory=dict)
    results: bool = False

    @cached_property
    def content(self) -> Content:
        """Its bytes."""
        return content(self.path)

    @property
    def form(self) -> str:
        """What it holds: a study, JSON, an array, or a table."""
        tabular = self.content.suffix in (*delimited.ENDINGS, *parquet.ENDINGS)
        if is_study(self.content) or (tabular and isinstance(self.held, tuple)):
            return STUDY
        suffix = self.content.suffix
        return JSON_TEXT if suffix in JSON else ARRAY if suffix in NUMPY else TABLE

    @property
    def judged(self) -> bool:
        """Whether it says what systems' outputs are worth."""
        return self.form == STUDY and not is_study(self.content)

    @cached_property
    def held(self) -> Any:
        """A study as annotations and predictions, JSON, an array, or a `Table`."""
        file = self.content
        if is_study(file):
            return study_of(file)
        if file.suffix in JSON:
            return read_json(file)
        if file.suffix in NUMPY:
            return read_array(file)
        table = table_of(file, (*TABULAR, *JSON, *NUMPY))
        if self.results:
            return results_study(table, self.named)
        return judged_study(table, self.named) if is_judged(table, self.named) else table

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.content.name

    @property
    def columns(self) -> Names:
        """Names of the columns of a table; none for anything else."""
        return tuple(self.held.columns) if self.form == TABLE else ()

    @property
    def rows(self) -> int:
        """How many rows it has."""
        if self.form != STUDY:
            return len(np.atleast_1d(self.held) if self.form == ARRAY else self.held)
        annotations, predictions = self.held
        if self.judged:
            return len(annotations)
        return len(annotations) + sum(len(prediction.items) for prediction in predictions)


def table_of(file: Content, endings: Names = TABULAR) -> Table:
    """The table in the content of a file, delimited text or Parquet."""
    if file.suffix == ENDING:
        return as_annotations_table(imrmc_table(file))
    if file.suffix in delimited.ENDINGS:
        return as_annotations_table(delimited.read_delimited(file))
    if file.suffix in parquet.ENDINGS:
        return parquet.parquet_table(file, parquet.read_arrow(file))
    raise unknown_ending(file, endings)


def sources_of(
    paths: AnyPath | Sequence[AnyPath] | Sequence[Source],
) -> list[Source]:
    """Files as sources, a folder as the tables in it; what is opened already stays so."""
    if isinstance(paths, list | tuple) and paths and isinstance(paths[0], Source):
        return list(cast(Sequence[Source], paths))
    return list(map(Source, listed_paths(cast(Sequence[AnyPath], paths))))


def tell_roles(sources: Sequence[Source], taken: Sequence[str] = ()) -> None:
    """Tell what each of some files holds, and how that is known.

    Parameters
    ----------
    taken
        Sides that other files hold: ``annotations`` or ``predictions``.
    """
    roles, headers = set(taken), set()
    for source in sources:
        source.role, source.why = _role_and_sign(source)
        roles.add(source.role)
        headers.add(frozenset(source.held.columns) if source.form == TABLE else None)
    for number, source in enumerate(sources):
        if source.role:
            continue
        source.role, source.why = "predictions", "guessed: other files hold the annotations"
        if not {"annotations", STUDY} & roles:
            if "predictions" in roles:
                side = ("annotations", "guessed: other files hold the predictions")
            elif number == 0 or len(headers) == 1:
                side = ("annotations", "guessed: no column says models or scores")
            else:
                side = ("predictions", "guessed: the first file holds the annotations")
            source.role, source.why = side


def _role_and_sign(source: Source) -> tuple[str, str]:
    """The side of a file by what stands in it, and by which sign; empty where nothing tells."""
    if source.form == STUDY:
        return STUDY, OF_JUDGED if source.judged else OF_STUDY
    if source.form == JSON_TEXT:
        return "annotations", "rankings and exports of votes are JSON"
    if source.form == ARRAY:
        whole = np.asarray(source.held).dtype.kind in "iub"
        side = "annotations" if whole else "predictions"
        return side, f"guessed: an array of {'whole numbers' if whole else 'scores'}"
    table = source.held
    named = side_of(table)
    if named is not None:
        return named
    for column in table.columns:
        try:
            values = numbers_or_none(table, column)
        except InputError:
            continue
        if values is not None and bool(
            (np.isfinite(values) & (values != np.floor(values))).any()
        ):
            return "predictions", "numbers with fractions"
    return "", ""


@immutable(kw_only=True)
class CheckedFiles:
    """What was read: every file, and the study they make."""

    files: tuple[Source, ...]
    annotations: Annotations | None = None
    predictions: Models = ()
    notices: Notices = ()

    @property
    def silent_tasks(self) -> Names:
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


class Sides(NamedTuple):
    """Files of votes, whole studies first, and files of scores."""

    votes: list[Source]
    scores: list[Source]


def files_by_side(
    any: Sequence[AnyPath],
    annotations: Sequence[AnyPath],
    predictions: Sequence[AnyPath],
    columns: Mapping[str, str] | None = None,
) -> Sides:
    """Files with their roles, by what they hold; `columns` names those of judged outputs."""
    files, taken, sides = [], [], Sides([], [])
    for role, paths in (("annotations", annotations), ("predictions", predictions)):
        for file in sources_of(paths) if paths else ():
            file.named = columns or {}
            file.role, file.why = role, "as given"
            if file.form == STUDY:
                file.role, file.why = STUDY, OF_JUDGED if file.judged else OF_STUDY
            files.append(file)
            taken.append(role)
    some = sources_of(any) if any else []
    for file in some:
        file.named = columns or {}
    tell_roles(some, taken)
    for file in (*files, *some):
        side = sides.scores if file.role == "predictions" else sides.votes
        side.insert(0 if file.role == STUDY else len(side), file)
    return sides


def lone_results(sides: Sides, *, again: bool = False) -> Sides:
    """A single table of scores, with nothing else, as the results of what systems produced.

    `again` says that it was read so before.
    """
    files = [*sides.votes, *sides.scores]
    if len(files) != 1 or files[0].form != TABLE:
        return sides
    (file,) = files
    alone = file.why.startswith("guessed") or bool(sides.scores and file.why != "as given")
    if not (again or alone) or not are_results(file.held, file.named):
        return sides
    return Sides([Source(file.path, STUDY, OF_RESULTS, named=file.named, results=True)], [])


def roles_guessed(files: Sequence[Source], otherwise: str) -> Notices:
    """Say which file was read as what, where that is a guess; `otherwise`: what says else."""
    votes, scores, guessed = list[str](), list[str](), False
    for file in files:
        if file.why != "as given":
            (scores if file.role == "predictions" else votes).append(str(file.path))
            guessed |= file.why.startswith("guessed")
    if not (votes and scores and guessed):
        return ()
    text = "{votes:names} read as annotations, {scores:names} as predictions; " + otherwise
    sides = {"votes": tuple(votes), "scores": tuple(scores)}
    return (Notice("roles_guessed", text, (), sides),)


def check_files(
    any: Sequence[AnyPath] = (),
    *,
    annotations: Sequence[AnyPath] = (),
    predictions: Sequence[AnyPath] = (),
    votes: VoteFormat | None = None,
    scores: ScoreFormat | None = None,
    first_votes: int | None = None,
) -> CheckedFiles:
    """Read files, and say how.

    Parameters
    ----------
    any, annotations, predictions
        Paths; what the files under `any` hold is told by their content.
    votes, scores
        How annotations and predictions are read.
    first_votes
        How many first votes of each item count; None for all.
    """
    from equipoise.read.predictions import PredictionsRead

    votes = votes or VoteFormat()
    sides = files_by_side(any, annotations, predictions, votes.columns)
    files, of_models = (*sides.votes, *sides.scores), sides.scores
    if not files:
        raise InputError("check", "no files", "at least one", "name a file")
    table = _annotations(sides.votes, votes)
    if table is not None and first_votes is not None:
        table = table.first_votes(first_votes)
    models = PredictionsRead(())
    if of_models:
        try:
            table, models = _models(table, of_models, votes, scores or ScoreFormat())
        except InputError as error:
            raise error.renamed(_OF_SCORES) from None
    in_study = files[0].held[1] if files[0].role == STUDY else ()
    return CheckedFiles(
        files=files,
        annotations=table,
        predictions=(*in_study, *models.predictions),
        notices=models.notices if table is None else table.notices,
    )


def read_both_sides(
    paths: Sequence[AnyPath],
) -> tuple[Models, Annotations]:
    """Predictions and annotations of files whose roles their content tells."""
    checked = check_files(paths)
    if checked.annotations is None or not checked.predictions:
        there = "annotations" if checked.annotations is not None else "predictions"
        names = listed([file.name for file in checked.files])
        expected = "annotations and predictions, or a study that has both"
        raise InputError(names, f"{there} alone", expected, "name the other file, too")
    table = checked.annotations.by_name()
    guesses = roles_guessed(checked.files, "read_annotations takes a file as such.")
    return checked.predictions, table.noting(*guesses)


def _models(
    annotations: Annotations | None,
    files: Sequence[Source],
    votes: VoteFormat,
    scores: ScoreFormat,
) -> "tuple[Annotations | None, PredictionsRead]":
    """Predictions for annotations, or alone; each file gets its layout."""
    from equipoise.read.predictions import predictions_for, predictions_of

    if annotations is None:
        read = predictions_of(files, scores)
    else:
        annotations, read = predictions_for(
            annotations,
            files,
            classes_known=votes.classes is not None,
            layout=scores.layout,
            columns=scores.columns,
        )
    for file, layout in zip(files, read.layouts, strict=True):
        file.layout = layout
    return annotations, read


def _annotations(files: Sequence[Source], options: VoteFormat) -> Annotations | None:
    """The annotations of a whole study, or of files of their own; each gets its layout."""
    from equipoise.read.annotations import annotation_layouts, annotations_of

    if not files:
        return None
    first = files[0]
    if first.role != STUDY:
        annotations = annotations_of(files, options)
        layouts = annotation_layouts(files, options)
        for file, layout in zip(files, layouts, strict=True):
            file.layout = layout
        return annotations
    if len(files) > 1:
        raise InputError(
            first.name,
            "a whole study beside other annotations",
            "one or the other",
            "leave one of them out",
        )
    refused = ["layout", "kind", "classes", "repeats", "phases", "exchangeable"]
    refused += [] if first.judged else ["columns"]
    options.refuse(*refused, where=first.name)
    first.layout, whole = "judged" if first.judged else STUDY, first.held
    study: Annotations = whole[0]
    return study
