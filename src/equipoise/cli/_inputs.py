"""What `evaluate` and `aggregate` were asked: words are checked, then files read."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from equipoise.arrays import InputError
from equipoise.cli._options import checked, column_map, words

TABLES = (".csv", ".tsv", ".parquet", ".npy")

if TYPE_CHECKING:
    from equipoise.annotations import Annotations
    from equipoise.predictions import Predictions


def usage(options: dict[str, Any]) -> dict[str, Any]:
    """Check the words of options before anything is read."""
    from equipoise.arrays import choice
    from equipoise.coding.options import ANNOTATION_LAYOUTS, KINDS, PREDICTION_LAYOUTS, REPEATS
    from equipoise.evaluation.alignment import ON_MISSING
    from equipoise.metrics import named
    from equipoise.resampling import normalised

    known: dict[str, tuple[str, ...]] = {
        "interval": ("percentile", "basic", "normal"),
        "kind": KINDS,
        "layout": ANNOTATION_LAYOUTS,
        "prediction_layout": PREDICTION_LAYOUTS,
        "repeats": REPEATS,
        "on_missing": ON_MISSING,
    }
    for name, allowed in known.items():
        if options[name] is not None:
            flag = "--" + name.replace("_", "-")
            checked(flag, partial(choice, flag, known=allowed), options[name])
    if options["resample"] is not None:
        checked("--resample", normalised, options["resample"])
    metrics = [checked("--metrics", named, word) for word in words(options["metrics"])]
    if not metrics:
        message = "got nothing, expected at least one metric, for example auroc"
        raise typer.BadParameter(message, param_hint="--metrics")
    return {"metrics": metrics, "interval": options["interval"]}


def spread(paths: list[Path]) -> list[Path]:
    """Replace every folder by the tables in it, in order of their names."""
    every: list[Path] = []
    for path in paths:
        if not path.is_dir():
            every.append(path)
            continue
        inside = sorted(one for one in path.iterdir() if one.suffix.lower() in TABLES)
        if not inside:
            raise InputError(
                f"{path}", "a folder without tables", f"files ending in {', '.join(TABLES)}",
                "name a file, or a folder with one file per model",
            )  # fmt: skip
        every += inside
    return every


def read_votes(options: dict[str, Any]) -> "Annotations":
    """Read the annotations as the options say."""
    from equipoise.choosing import refuse_too_many_classes
    from equipoise.io import read_annotations

    table = read_annotations(
        options["annotations"],
        layout=options["layout"],
        kind=options["kind"],
        classes=words(options["classes"]) or None,
        columns=column_map(options["columns"], "--columns"),
        repeats=options["repeats"],
        exchangeable=options["exchangeable"],
    )
    if options["classes"] is None and options["positive"] is None:
        refuse_too_many_classes(table)
    return table


def asked(table: "Annotations", options: dict[str, Any]) -> "Annotations":
    """Turn classes, grades or ratings into a yes/no question where one was asked."""
    if options["at_least"] is not None:
        table = table.at_least(options["at_least"])
    if options["positive"] is not None:
        table = table.against(options["positive"])
    return table


def read(options: dict[str, Any]) -> "tuple[Annotations, tuple[Predictions, ...]]":
    """Read both files."""
    from equipoise.io import read_predictions

    table = read_votes(options)
    models = read_predictions(
        options["predictions"],
        layout=options["prediction_layout"],
        columns=column_map(options["prediction_columns"], "--prediction-columns"),
        classes=table.classes or None,
    )
    return asked(table, options), models
