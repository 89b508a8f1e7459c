"""The probability of every item, from a file of probabilities, of votes or of plausibilities.

Without `--truth` the file holds a probability per item, as predictions do, or is what
`equipoise aggregate` wrote (.npz); with it the file holds votes, and their mean or a model of
them gives the probability. Models of one task are read here, too, as scores of the positive
class.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from equipoise.cli.options import (
    OF_QUESTION,
    Options,
    check_choice,
    column_map,
    misused,
    refuse_unused,
)
from equipoise.cli.reopened import table_files
from equipoise.cli.screen import progress
from equipoise.cli.study import ask, first_votes, read_predictions_of, read_table
from equipoise.cli.truth import check_word, model_name
from equipoise.read.options import ANNOTATION_LAYOUTS, PREDICTION_LAYOUTS
from equipoise.read.plausibilities import read_plausibilities
from equipoise.read.predictions import read_predictions
from equipoise.read.sources import Source
from equipoise.study.analyses.threshold_in_use import ItemProbabilities
from equipoise.study.truth import task_truths
from equipoise.truth.choosing import model
from equipoise.types import (
    Annotations,
    InputError,
    Models,
    Notices,
    PerItem,
    Plausibilities,
    Predictions,
    as_notices,
    listed,
    nearest,
)

STORED = ".npz"
NO_MODELS = "belongs to models; add -p, or leave it out"
OF_VOTES_ALONE = (
    *("reliability", "prior", "exchangeable", "kind", "classes", "at_least", "first_votes"),
)
OF_SOURCE = (
    *("file", "votes_as", "reliability", "prior", "score_model", "task"),
    *OF_QUESTION,
)  # rows of the table
SOURCE_TEXTS = {
    "reliability": "How much a vote is worth to models that take it; see `aggregate --help`.",
    "prior": "What models that take it believe without votes; see `aggregate --help`.",
}
VOTE_COLUMNS = {"annotator", "label"}  # columns that no table of probabilities has


def check_source(options: Options, of_votes: Sequence[str] = OF_VOTES_ALONE) -> None:
    """Refuse unknown words, and options that would do nothing.

    Parameters
    ----------
    of_votes
        Options that mean nothing where the file holds probabilities.
    """
    truth = options.votes_as
    if truth is None:
        refuse_unused(options, of_votes, "belongs to votes; add --truth, or leave it out")
        check_choice("layout", options.layout, PREDICTION_LAYOUTS)
    else:
        if truth.endswith(STORED):
            why = "got a file, expected votes or a model; give the file itself as FILE"
            raise misused(why, "votes_as")
        check_word("votes_as", truth)
        if truth == "votes":
            why = "belongs to a model of votes; choose it with --truth"
            refuse_unused(options, ("reliability", "prior"), why)
        why = "belongs to a file of probabilities; leave it out, or leave out --truth"
        refuse_unused(options, ("score_model",), why)
        check_choice("layout", options.layout, ANNOTATION_LAYOUTS)
    column_map(options.columns, "columns")


class _ReadProbabilities(NamedTuple):
    """Probabilities, the task they are of, and what the user should know."""

    probabilities: ItemProbabilities
    task: str | None
    notices: Notices = ()


def read_probabilities(options: Options) -> _ReadProbabilities:
    """Read the probability of every item as the options say."""
    assert options.file is not None
    if options.votes_as is not None:
        return _of_votes(options, options.file)
    if options.file.suffix == STORED:
        return _of_plausibilities(options, options.file)
    return _of_predictions(options, options.file)


def _of_predictions(options: Options, path: Path) -> _ReadProbabilities:
    """A file of probabilities."""
    how = dict[str, Any](layout=options.layout)
    try:
        predictions = read_predictions(
            path, columns=column_map(options.columns, "columns"), **how
        )
    except InputError as error:
        if not path.is_file() or not VOTE_COLUMNS & set(Source(path).columns):
            raise
        do = "if the file holds votes, add --truth votes, or a model such as --truth auto"
        raise InputError(error.where, error.got, "a probability per item", do) from None
    models = dict.fromkeys(part.model for part in predictions)
    name = _chosen("--model", options.score_model, list(models), path)
    of_model = [part for part in predictions if part.model == name]
    task = _chosen("--task", options.task, [part.task for part in of_model], path)
    part = next(part for part in of_model if part.task == task)
    facts = (part.items, _positive_scores(part, options.positive), f"{name!r} in {path.name}")
    return _ReadProbabilities(ItemProbabilities(*facts), task or None)


def _positive_scores(predictions: Predictions, positive: str | None) -> PerItem:
    """Scores of the positive class."""
    if not predictions.classes:
        return predictions.values
    if positive is None:
        where, got = predictions.where, f"probabilities of {listed(predictions.classes)}"
        raise InputError(where, got, "of one class", "say which is positive: --positive CLASS")
    return predictions.aligned(predictions.items, [positive])[:, 0]


def _chosen(option: str, wanted: str | None, names: Sequence[str], path: Path) -> str:
    """The one that was asked for, or the only one."""
    if wanted is None and len(names) == 1:
        return names[0]
    name = option.strip("-")
    if wanted is None:
        where, got = f"{path.name}", f"{len(names)} {name}s ({listed(names)})"
        raise InputError(where, got, f"one, chosen with {option}", f"add {option} {names[0]!r}")
    if wanted not in names and list(names) == [""]:
        where, got = f"{path.name}", f"{option} {wanted!r}, but no column {name}"
        raise InputError(where, got, f"a file with several {name}s", f"leave out {option}")
    if wanted not in names:
        raise InputError(
            option, f"{wanted!r}", f"one of {listed(names, most=8)}", nearest(wanted, names)
        )
    return wanted


def _of_plausibilities(options: Options, path: Path) -> _ReadProbabilities:
    """Plausibilities that `equipoise aggregate` wrote."""
    truth = read_plausibilities(path)
    if options.task not in (None, truth.task):
        _chosen("--task", options.task, [truth.task], path)
    if options.positive is None and len(truth.classes) != 2:
        where, got = f"{path.name}", f"{len(truth.classes)} classes ({listed(truth.classes)})"
        raise InputError(where, got, "a positive one", "say which it is: --positive CLASS")
    name = truth.classes[1] if options.positive is None else options.positive
    name = _chosen("--positive", name, truth.classes, path)
    facts = (truth.mean[:, truth.classes.index(name)], f"{truth.method} in {path.name}")
    return _ReadProbabilities(ItemProbabilities(truth.items, *facts), truth.task)


def _of_votes(options: Options, path: Path) -> _ReadProbabilities:
    """Votes: their mean, or what a model makes of them."""
    table = votes_on(read_question([path], options), options.task, path)
    if table.kind == "nominal" or (table.kind == "ordinal" and len(table.classes) > 2):
        where = f"{path.name}"
        do = "ask about one class with --positive CLASS, or about grades with --at-least GRADE"
        raise InputError(where, f"classes {listed(table.classes)}", "a yes/no question", do)
    task, notices = table.tasks[0] or None, as_notices(table.notices)
    if options.votes_as == "votes":
        (votes,) = task_truths(table)
        probabilities = ItemProbabilities(
            votes.items, votes.shares[0], f"mean vote in {path.name}"
        )
    else:
        truth, name = _fitted(table, options)
        words = f"{truth.method}, votes in {path.name}"
        probabilities = ItemProbabilities(truth.items, truth.mean[:, 1], words, name)
        notices = (*notices, *as_notices(truth.notices))
    if table.group is not None:
        group = dict(zip(table.items, table.group.tolist(), strict=True))
        probabilities = probabilities._replace(
            group=np.array([group[name] for name in probabilities.items])
        )
    return _ReadProbabilities(probabilities, task, notices)


def _fitted(table: Annotations, options: Options) -> tuple[Plausibilities, str]:
    """Fit the model to the one task; the fit, and the name of the model."""
    assert options.votes_as is not None
    name, _ = model_name(table, options.votes_as)
    with progress("fitting"):
        fit = model(name, table, reliability=options.reliability, prior=options.prior)
        truth = fit(table, task=table.tasks[0])
    return truth, name


def read_question(
    paths: Sequence[Path], options: Options, columns: Mapping[str, str] | None = None
) -> Annotations:
    """Read votes, as the yes/no question that was asked; other names of columns come first."""
    table = read_table(paths, options, columns=columns)
    return ask(first_votes(table, options), options)


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


def read_models(options: Options, task: str | None) -> Models:
    """Read models as scores of the positive class; of several tasks the one asked for."""
    files = table_files(options.predictions)
    if not files:
        return ()
    predictions = read_predictions_of(files, options)
    tasks = list(dict.fromkeys(part.task for part in predictions))
    if len(tasks) > 1 and task not in tasks:
        got = f"{len(tasks)} tasks ({listed(tasks)})"
        raise InputError("--predictions", got, "one", "choose it with --task NAME")
    of_task = [part for part in predictions if len(tasks) == 1 or part.task == task]
    return tuple(
        Predictions(part.model, part.items, _positive_scores(part, options.positive))
        for part in of_task
    )
