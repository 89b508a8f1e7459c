"""The probability of every item, from a file of probabilities, of votes or of plausibilities.

Without `--truth` the file holds a probability per item, as predictions do, or is what
`equipoise aggregate` wrote (.npz); with it the file holds votes, and their mean or a model of
them gives the probability. Models of one task are read here, too, as scores of the positive
class.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import numpy as np
import typer

from equipoise.cli._screen import progress
from equipoise.cli.options import (
    QuestionReading,
    StudyReading,
    checked,
    misused,
    panel,
    refuse_unused,
)
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import InputError, PerItem, listed, nearest
from equipoise.types.notices import Notice, as_notices
from equipoise.types.plausibilities import Plausibilities
from equipoise.types.predictions import Predictions

if TYPE_CHECKING:
    from equipoise.study.analyses.threshold_in_use import ItemProbabilities

ITEMS = "Where the probabilities come from"
STORED = ".npz"
NO_MODELS = "belongs to models; add -p, or leave it out"
FILE = (
    "A probability per item: a table with `item` and a column of probabilities (or one per "
    "model, see `--model`), or a .npz that `aggregate --out` wrote. With `--truth`: who said "
    "what, as for `evaluate`."
)
_item = panel(
    ITEMS,
    truth="FILE holds votes: `votes` takes their mean, `auto`, `dawid_skene`, `glad`, ... a "
    "model of them.",
    reliability="How much a vote is worth to models that take it; see `aggregate --help`.",
    prior="What models that take it believe without votes; see `aggregate --help`.",
    model="Whose probabilities, where FILE has several.",
    task="Which question, where there are several.",
)
OF_VOTES = {"annotator", "label"}  # columns that no table of probabilities has


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbabilitySource(QuestionReading):
    """Where the probability of every item comes from."""

    file: Annotated[Path, typer.Argument(show_default=False, help=FILE)]
    truth: Annotated[str | None, _item("truth")] = None
    reliability: Annotated[float | None, _item("reliability")] = None
    prior: Annotated[str | None, _item("prior")] = None
    model: Annotated[str | None, _item("model")] = None
    task: Annotated[str | None, _item("task")] = None

    NOT_OF_PROBABILITIES: ClassVar[tuple[str, ...]] = (
        *("reliability", "prior", "exchangeable", "kind", "classes", "at_least", "first_votes"),
    )

    def __post_init__(self) -> None:
        """Refuse unknown words, and options that would do nothing."""
        from equipoise.cli.truth import known_truth

        if self.truth is not None:
            if self.truth.endswith(STORED):
                why = "got a file, expected votes or a model; give the file itself as FILE"
                raise misused(why, "truth")
            checked("--truth", known_truth, self.truth)
        self._refuse_unused()
        super(ProbabilitySource, self).__post_init__()

    def layouts(self) -> tuple[str, ...]:
        """The layouts that the file may have."""
        from equipoise.read.options import ANNOTATION_LAYOUTS, PREDICTION_LAYOUTS

        return PREDICTION_LAYOUTS if self.truth is None else ANNOTATION_LAYOUTS

    def _refuse_unused(self) -> None:
        """Refuse options that would do nothing."""
        if self.truth is None:
            why = "belongs to votes; add --truth, or leave it out"
            refuse_unused(self, self.NOT_OF_PROBABILITIES, why)
            return
        if self.truth == "votes":
            why = "belongs to a model of votes; choose it with --truth"
            refuse_unused(self, ("reliability", "prior"), why)
        why = "belongs to a file of probabilities; leave it out, or leave out --truth"
        refuse_unused(self, ("model",), why)


class _ReadProbabilities(NamedTuple):
    """Probabilities, the task they are of, and what the user should know."""

    probabilities: "ItemProbabilities"
    task: str | None
    notices: tuple[Notice, ...] = ()


def read_probabilities(source: ProbabilitySource) -> _ReadProbabilities:
    """Read the probability of every item as the options say."""
    if source.truth is not None:
        return _of_votes(source)
    if source.file.suffix == STORED:
        return _of_plausibilities(source)
    return _of_predictions(source)


def _of_predictions(source: ProbabilitySource) -> _ReadProbabilities:
    """A file of probabilities."""
    from equipoise.read.predictions import prediction_columns, read_predictions
    from equipoise.study.analyses.threshold_in_use import ItemProbabilities

    path, how = source.file, dict[str, Any](layout=source.layout)
    try:
        every = read_predictions(path, columns=source.column_names(), **how)
    except InputError as error:
        if not path.is_file() or not OF_VOTES & set(prediction_columns(path)):
            raise
        do = "if the file holds votes, add --truth votes, or a model such as --truth auto"
        raise InputError(error.where, error.got, "a probability per item", do) from None
    models = dict.fromkeys(one.model for one in every)
    name = _chosen("--model", source.model, list(models), path)
    own = [one for one in every if one.model == name]
    task = _chosen("--task", source.task, [one.task for one in own], path)
    one = next(one for one in own if one.task == task)
    known = (one.items, _positive_scores(one, source.positive), f"{name!r} in {path.name}")
    return _ReadProbabilities(ItemProbabilities(*known), task or None)


def _positive_scores(one: Predictions, positive: str | None) -> PerItem:
    """Scores of the positive class."""
    if not one.classes:
        return one.values
    if positive is None:
        where, got = one.where, f"probabilities of {listed(one.classes)}"
        raise InputError(where, got, "of one class", "say which is positive: --positive CLASS")
    return one.aligned(one.items, [positive])[:, 0]


def _chosen(option: str, asked: str | None, known: Sequence[str], path: Path) -> str:
    """The one that was asked for, or the only one."""
    if asked is None and len(known) == 1:
        return known[0]
    name = option.strip("-")
    if asked is None:
        where, got = f"{path.name}", f"{len(known)} {name}s ({listed(known)})"
        raise InputError(where, got, f"one, chosen with {option}", f"add {option} {known[0]!r}")
    if asked not in known and list(known) == [""]:
        where, got = f"{path.name}", f"{option} {asked!r}, but no column {name}"
        raise InputError(where, got, f"a file with several {name}s", f"leave out {option}")
    if asked not in known:
        raise InputError(
            option, f"{asked!r}", f"one of {listed(known, most=8)}", nearest(asked, known)
        )
    return asked


def _of_plausibilities(source: ProbabilitySource) -> _ReadProbabilities:
    """Plausibilities that `equipoise aggregate` wrote."""
    from equipoise.read.plausibilities import read_plausibilities
    from equipoise.study.analyses.threshold_in_use import ItemProbabilities

    path = source.file
    made = read_plausibilities(path)
    if source.task not in (None, made.task):
        _chosen("--task", source.task, [made.task], path)
    if source.positive is None and len(made.classes) != 2:
        where, got = f"{path.name}", f"{len(made.classes)} classes ({listed(made.classes)})"
        raise InputError(where, got, "a positive one", "say which it is: --positive CLASS")
    name = made.classes[1] if source.positive is None else source.positive
    name = _chosen("--positive", name, made.classes, path)
    known = (made.mean[:, made.classes.index(name)], f"{made.method} in {path.name}")
    return _ReadProbabilities(ItemProbabilities(made.items, *known), made.task)


def _of_votes(source: ProbabilitySource) -> _ReadProbabilities:
    """Votes: their mean, or what a model makes of them."""
    from equipoise.study.analyses.threshold_in_use import ItemProbabilities
    from equipoise.study.truth import task_truths

    path = source.file
    table = votes_on(read_question(path, source), source.task, path)
    if table.kind == "nominal" or (table.kind == "ordinal" and len(table.classes) > 2):
        where = f"{path.name}"
        do = "ask about one class with --positive CLASS, or about grades with --at-least GRADE"
        raise InputError(where, f"classes {listed(table.classes)}", "a yes/no question", do)
    task, notices = table.tasks[0] or None, as_notices(table.notices)
    if source.truth == "votes":
        (asked,) = task_truths(table)
        known = ItemProbabilities(asked.items, asked.shares[0], f"mean vote in {path.name}")
    else:
        made, name = _fitted(table, source)
        words = f"{made.method}, votes in {path.name}"
        known = ItemProbabilities(made.items, made.mean[:, 1], words, name)
        notices = (*notices, *as_notices(made.notices))
    if table.group is not None:
        group = dict(zip(table.items, table.group.tolist(), strict=True))
        known = known._replace(group=np.array([group[name] for name in known.items]))
    return _ReadProbabilities(known, task, notices)


def _fitted(table: Annotations, source: ProbabilitySource) -> "tuple[Plausibilities, str]":
    """Fit the model to the one task; the fit, and the name of the model."""
    from equipoise.cli.truth import model_name
    from equipoise.truth.choosing import Settings, model

    assert source.truth is not None
    name, _ = model_name(table, source.truth)
    with progress("fitting") as tell:
        fit = model(name, table, Settings(None, source.reliability, prior=source.prior))
        made = fit(table, task=table.tasks[0])
        tell(1, 1)
    return made, name


def read_question(
    path: Path, reading: QuestionReading, columns: Mapping[str, str] | None = None
) -> Annotations:
    """Read votes, as the yes/no question that was asked; other names of columns come first."""
    from equipoise.cli.study import ask, first_votes, read_table

    table = read_table([path], reading, columns=columns)
    return ask(first_votes(table, reading), reading)


def answers_to(table: Annotations, task: str | None, path: Path) -> Annotations:
    """Votes that were asked for about one task: those of it, or all where none is named."""
    if table.tasks == ("",):
        return replace(table, tasks=(task or "",))
    return votes_on(table, task, path)


def votes_on(table: Annotations, task: str | None, path: Path) -> Annotations:
    """The votes on one task."""
    name = _chosen("--task", task, table.tasks, path) if len(table.tasks) > 1 or task else ""
    if len(table.tasks) == 1:
        return table
    return replace(table.rows(table.in_task(name)), task=None, tasks=(name,))


def read_models(
    paths: Sequence[Path] | None, reading: StudyReading, task: str | None
) -> "tuple[Predictions, ...]":
    """Read models as scores of the positive class; of several tasks the one asked for."""
    from equipoise.cli.study import read_predictions_of, table_files

    files = table_files(paths)
    if not files:
        return ()
    every = read_predictions_of(files, reading)
    tasks = list(dict.fromkeys(one.task for one in every))
    if len(tasks) > 1 and task not in tasks:
        got = f"{len(tasks)} tasks ({listed(tasks)})"
        raise InputError("--predictions", got, "one", "choose it with --task NAME")
    own = [one for one in every if len(tasks) == 1 or one.task == task]
    return tuple(
        Predictions(one.model, one.items, _positive_scores(one, reading.positive))
        for one in own
    )
