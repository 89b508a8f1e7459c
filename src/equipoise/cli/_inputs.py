"""What verbs were asked: words are checked, then files or a data set read."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.arrays import InputError
from equipoise.cli._dataset import study_of, votes_of
from equipoise.cli._options import class_names, column_map
from equipoise.notices import as_notices

TABLES = (".csv", ".tsv", ".parquet", ".npy")

if TYPE_CHECKING:
    from equipoise.annotations import Annotations
    from equipoise.predictions import Predictions


def spread(paths: list[Path] | None) -> list[Path]:
    """Replace every folder by the tables in it, in order of their names."""
    every: list[Path] = []
    for path in paths or ():
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

    if options.get("dataset") is not None:
        return votes_of(options["dataset"])
    table = read_annotations(
        options["annotations"],
        layout=options["layout"],
        kind=options["kind"],
        classes=class_names(options["classes"]) or None,
        columns=column_map(options["columns"], "--columns"),
        repeats=options["repeats"],
        exchangeable=options["exchangeable"],
    )
    if options["classes"] is None and options.get("positive") is None:
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
    """Read both files; votes on several classes become the yes/no question asked."""
    from equipoise.cli._predictions import answered, matched

    if options.get("dataset") is not None and not options["predictions"]:
        table, models = study_of(options["dataset"])
    else:
        table, models = matched(read_votes(options), options)
    models, said = answered(table, models, options)
    table = replace(table, notices=as_notices([*table.notices, *said]))
    question = table if _as_they_are(table, options) else asked(table, options)
    if options["truth"] == "votes" and options.get("dataset") is None:
        from equipoise.evaluation.alignment import refuse_plain_scores

        refuse_plain_scores(question, models, f"{options['annotations']}")
    return question, models


def _as_they_are(table: "Annotations", options: dict[str, Any]) -> bool:
    """Whether a model of the truth takes the annotations before a yes/no question is asked.

    Rankings lose their order by it, and grades and ratings their distance from the threshold.
    """
    truth = options["truth"]
    if truth == "votes" or truth.endswith(".npz"):
        return False
    if table.kind == "ranking":
        return options["at_least"] is None
    if truth == "dawid_skene_ordinal":
        return table.kind == "ordinal"
    return table.kind == "interval" and truth in ("auto", "normal")
