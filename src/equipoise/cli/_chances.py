"""The probability of every item, from a file of probabilities, of votes or of plausibilities.

Without `--truth` the file holds a probability per item, as predictions do, or is what
`equipoise aggregate` wrote (.npz); with it the file holds votes, and their mean or a model of
them gives the probability.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import typer

from equipoise.arrays import InputError, Ints, listed, nearest
from equipoise.cli._options import check_choices, checked, class_names, column_map, refuse
from equipoise.cli._screen import progress

if TYPE_CHECKING:
    from equipoise.annotations import Annotations
    from equipoise.plausibilities import Plausibilities
    from equipoise.predictions import Predictions
    from equipoise.run.thresholds import Chances

ITEMS = "Where the probabilities come from"
STORED = ".npz"

File = Annotated[
    Path,
    typer.Argument(
        show_default=False,
        help="A probability per item: a table with `item` and a column of probabilities (or "
        "one per model, see `--model`), or a .npz that `aggregate --out` wrote. With "
        "`--truth`: who said what, as for `evaluate`.",
    ),
]
Truth = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=ITEMS,
        help="FILE holds votes: `votes` takes their mean, `auto`, `dawid_skene`, `glad`, ... "
        "a model of them.",
    ),
]
Model = Annotated[
    str | None,
    typer.Option(rich_help_panel=ITEMS, help="Whose probabilities, where FILE has several."),
]
Task = Annotated[
    str | None,
    typer.Option(rich_help_panel=ITEMS, help="Which question, where there are several."),
]


class Read(NamedTuple):
    """Probabilities, the task they are of, and what the user should know."""

    chances: "Chances"
    task: str | None
    notices: tuple[str, ...]


def check_truth(options: dict[str, Any]) -> None:
    """Check words before anything is read."""
    from equipoise.cli._truth import known_truth
    from equipoise.read.options import ANNOTATION_LAYOUTS, KINDS, PREDICTION_LAYOUTS, REPEATS

    layouts: tuple[str, ...] = PREDICTION_LAYOUTS
    if options["truth"] is not None:
        layouts = ANNOTATION_LAYOUTS
        if options["truth"].endswith(STORED):
            message = "got a file, expected votes or a model; give the file itself as FILE"
            raise typer.BadParameter(message, param_hint="--truth")
        checked("--truth", known_truth, options["truth"])
    _refuse_unused(options)
    check_choices(options, {"kind": KINDS, "layout": layouts, "repeats": REPEATS})


def _refuse_unused(options: dict[str, Any]) -> None:
    """Refuse options that would do nothing."""
    if options["truth"] is None:
        names = ["reliability", "exchangeable"]
        if "experts" not in options:  # whose votes they would be about
            names += ["kind", "classes", "at_least"]
        said = "belongs to votes; add --truth, or leave it out"
    else:
        names = ["model"]
        said = "belongs to a file of probabilities; leave it out, or leave out --truth"
        if options["truth"] == "votes" and options["reliability"] is not None:
            names, said = ["reliability"], "belongs to a model of votes; choose it with --truth"
    refuse(options, names, said)


def read_chances(path: Path, options: dict[str, Any]) -> Read:
    """Read the probability of every item as the options say."""
    if options["truth"] is not None:
        return _voted(path, options)
    if path.suffix == STORED:
        return _stored(path, options)
    return _given(path, options)


def _given(path: Path, options: dict[str, Any]) -> Read:
    """A file of probabilities."""
    from equipoise.io import read_predictions
    from equipoise.run.thresholds import Chances

    try:
        every = read_predictions(
            path, layout=options["layout"], columns=column_map(options["columns"], "--columns")
        )
    except InputError as error:
        if "annotations" not in error.got and "annotator" not in error.where:
            raise
        raise InputError(
            error.where, error.got, "a probability per item",
            "if the file holds votes, add --truth votes, or a model such as --truth auto",
        ) from None  # fmt: skip
    models = dict.fromkeys(one.model for one in every)
    name = _one("--model", options["model"], list(models), path)
    own = [one for one in every if one.model == name]
    task = _one("--task", options["task"], [one.task for one in own], path)
    one = next(one for one in own if one.task == task)
    values = positive_scores(one, options["positive"])
    return Read(Chances(one.items, values, f"{name!r} in {path.name}"), task or None, ())


def positive_scores(one: "Predictions", positive: str | None) -> Any:
    """Scores of the positive class."""
    if not one.classes:
        return one.values
    if positive is None:
        raise InputError(
            one.where, f"probabilities of {listed(one.classes)}", "of one class",
            "say which is positive: --positive CLASS",
        )  # fmt: skip
    return one.aligned(one.items, [positive])[:, 0]


def _one(option: str, asked: str | None, known: Sequence[str], path: Path) -> str:
    """The one that was asked for, or the only one."""
    if asked is None and len(known) == 1:
        return known[0]
    if asked is None:
        raise InputError(
            f"{path.name}", f"{len(known)} {option.strip('-')}s ({listed(known)})",
            f"one, chosen with {option}", f"add {option} {known[0]!r}",
        )  # fmt: skip
    if asked not in known and list(known) == [""]:
        raise InputError(
            f"{path.name}", f"{option} {asked!r}, but no column {option.strip('-')}",
            f"a file with several {option.strip('-')}s", f"leave out {option}",
        )  # fmt: skip
    if asked not in known:
        raise InputError(
            option, f"{asked!r}", f"one of {listed(known, most=8)}", nearest(asked, known)
        )
    return asked


def _stored(path: Path, options: dict[str, Any]) -> Read:
    """Plausibilities that `equipoise aggregate` wrote."""
    from equipoise.io import read_plausibilities
    from equipoise.run.thresholds import Chances

    made = read_plausibilities(path)
    if options["task"] not in (None, made.task):
        _one("--task", options["task"], [made.task], path)
    values = _mass(made, options["positive"], path)
    return Read(Chances(made.items, values, f"{made.method} in {path.name}"), made.task, ())


def _mass(made: "Plausibilities", positive: str | None, path: Path) -> Any:
    """Mean mass of the positive class: the one asked for, or the second of two."""
    if positive is None and len(made.classes) != 2:
        raise InputError(
            f"{path.name}", f"{len(made.classes)} classes ({listed(made.classes)})",
            "a positive one", "say which it is: --positive CLASS",
        )  # fmt: skip
    name = made.classes[1] if positive is None else positive
    if name not in made.classes:
        _one("--positive", name, made.classes, path)
    return made.mean[:, made.classes.index(name)]


def _voted(path: Path, options: dict[str, Any]) -> Read:
    """Votes: their mean, or what a model makes of them."""
    from equipoise.evaluation.questions import questions
    from equipoise.run.thresholds import Chances

    table = of_task(read_table(path, options), options["task"], path)
    if table.kind == "nominal" or (table.kind == "ordinal" and len(table.classes) > 2):
        raise InputError(
            f"{path.name}", f"classes {listed(table.classes)}", "a yes/no question",
            "ask about one class with --positive CLASS, or about grades with --at-least GRADE",
        )  # fmt: skip
    word = options["truth"]
    if word == "votes":
        (asked,) = questions(table)
        chances = Chances(
            asked.items, asked.shares[0], f"mean vote in {path.name}",
            group=_groups(table, asked.items),
        )  # fmt: skip
        return Read(chances, table.tasks[0] or None, table.notices)
    made, name = _fitted(table, options)
    words = f"{made.method}, votes in {path.name}"
    group = _groups(table, made.items)
    chances = Chances(made.items, made.mean[:, 1], words, name, group)
    return Read(chances, table.tasks[0] or None, (*table.notices, *made.notices))


def _groups(table: "Annotations", items: Sequence[str]) -> Ints | None:
    """Which group each of these items belongs to, where the votes say so."""
    if table.group is None:
        return None
    known = dict(zip(table.items, table.group.tolist(), strict=True))
    return np.array([known[name] for name in items])


def _fitted(table: "Annotations", options: dict[str, Any]) -> "tuple[Plausibilities, str]":
    """Fit the model to the one task; the fit, and the name of the model."""
    from equipoise.choosing import Settings, model
    from equipoise.cli._truth import model_name

    name, _ = model_name(table, options["truth"])
    with progress("fitting") as tell:
        fit = model(name, table, Settings(None, options["reliability"]))
        made = fit(table, task=table.tasks[0])
        tell(1, 1)
    return made, name


def read_table(
    path: Path, options: dict[str, Any], columns: dict[str, str] | None = None
) -> "Annotations":
    """Read votes, as the yes/no question that was asked."""
    from equipoise.cli._inputs import asked
    from equipoise.io import read_annotations

    names = column_map(options["columns"], "--columns") if columns is None else columns
    table = read_annotations(
        path, layout=options["layout"], kind=options["kind"],
        classes=class_names(options["classes"]) or None, columns=names,
        repeats=options["repeats"], exchangeable=options.get("exchangeable", False),
    )  # fmt: skip
    return asked(table, options)


def answers_to(table: "Annotations", task: str | None, path: Path) -> "Annotations":
    """Votes that were asked for about one task: those of it, or all where none is named."""
    if table.tasks == ("",):
        return replace(table, tasks=(task or "",))
    return of_task(table, task, path)


def of_task(table: "Annotations", task: str | None, path: Path) -> "Annotations":
    """The votes of one task."""
    name = _one("--task", task, table.tasks, path) if len(table.tasks) > 1 or task else ""
    if len(table.tasks) == 1:
        return table
    return replace(table.rows(table.in_task(name)), task=None, tasks=(name,))
