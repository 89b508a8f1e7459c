"""`--dataset NAME`: a public data set in place of the files of a study.

It stands for the annotations, and for the predictions where none are given and the set comes
with some. How files are to be read is no question then.
"""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.arrays import InputError
from equipoise.cli._options import checked
from equipoise.cli._reading import FILES

if TYPE_CHECKING:
    from equipoise.annotations import Annotations
    from equipoise.predictions import Predictions

Dataset = Annotated[
    str | None,
    typer.Option(
        "--dataset",
        rich_help_panel=FILES,
        help="A public data set of `equipoise datasets` in place of the annotations, and of "
        "the predictions where it comes with some and none are given.",
    ),
]
OF_VOTES: dict[str, Any] = {
    "kind": None, "classes": None, "columns": None, "layout": "auto", "repeats": "keep",
    "exchangeable": False,
}  # fmt: skip
OF_SCORES: dict[str, Any] = {"prediction_columns": None, "prediction_layout": "auto"}


def check_dataset(options: dict[str, Any], *, files: str = "-a FILE") -> None:
    """Refuse unknown names, and files or their reading beside a data set, before reading.

    Parameters
    ----------
    files
        How the verb takes annotations.
    """
    from equipoise.arrays import choice
    from equipoise.datasets import CATALOGUE

    name = options["dataset"]
    if name is None:
        if options["annotations"] is None:
            message = f"give {files}, or --dataset NAME (see `equipoise datasets`)"
            raise typer.BadParameter(message, param_hint=files)
        return
    checked("--dataset", partial(choice, "--dataset", known=tuple(CATALOGUE)), name)
    if options["annotations"] is not None:
        message = f"got {options['annotations'].name!r} too, expected one of the two"
        raise typer.BadParameter(message, param_hint="--dataset")
    usual = OF_VOTES if options.get("predictions") else OF_VOTES | OF_SCORES
    for option, value in usual.items():
        if options.get(option, value) != value:
            flag = "--" + option.replace("_", "-")
            message = f"is about reading files, and {name} is read as published; leave it out"
            raise typer.BadParameter(message, param_hint=flag)


def check_scores(options: dict[str, Any]) -> None:
    """Refuse a study of files without predictions."""
    if options["dataset"] is None and not options["predictions"]:
        message = "give what each model scored: -p FILE"
        raise typer.BadParameter(message, param_hint="-p FILE")


def votes_of(name: str) -> "Annotations":
    """Annotations of a data set."""
    from equipoise.datasets import LOADERS

    return LOADERS[name]().annotations


def study_of(name: str) -> "tuple[Annotations, tuple[Predictions, ...]]":
    """Annotations and predictions of a data set; one without predictions is refused."""
    from equipoise.datasets import LOADERS

    study = LOADERS[name]()
    if not study.predictions:
        raise InputError(
            f"data set {name}", "no predictions are published with it", "what models scored",
            "give your own with -p",
        )  # fmt: skip
    return study.annotations, study.predictions


def study_name(options: dict[str, Any]) -> str:
    """Name of the study: of its data set, or of its annotations."""
    return str(options["dataset"] or Path(options["annotations"]).stem)
