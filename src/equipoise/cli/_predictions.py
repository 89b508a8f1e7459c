"""What `evaluate` makes of the predictions: classes nobody named, and decisions for classes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from equipoise.arrays import InputError, listed
from equipoise.cli._options import column_map, words
from equipoise.cli.study import OF_SCORES
from equipoise.notices import as_notices

if TYPE_CHECKING:
    from equipoise.annotations import Annotations
    from equipoise.predictions import Predictions

YES_NO = {"0", "1"}


def matched(
    table: "Annotations", options: dict[str, Any]
) -> "tuple[Annotations, tuple[Predictions, ...]]":
    """Read the predictions; where their classes are more than anybody named, add those."""
    from equipoise.io import read_predictions

    how = {
        "layout": options["prediction_layout"],
        "columns": column_map(options["prediction_columns"], "--prediction-columns"),
    }
    paths = options["predictions"]
    try:
        return table, read_predictions(paths, classes=table.classes or None, **how)
    except InputError as error:
        if options["classes"] is not None or not _may_have_more(table, paths):
            raise error.renamed(OF_SCORES) from None
    models = read_predictions(paths, **{**how, "layout": "classes"})
    named = dict.fromkeys(name for one in models for name in one.classes)
    extra = [name for name in named if name not in table.classes]
    said = f"Classes that nobody named are taken from the predictions: {listed(extra)}."
    classes = (*table.classes, *extra)
    return replace(table, classes=classes, notices=as_notices([*table.notices, said])), models


def _may_have_more(table: "Annotations", paths: "Sequence[Any]") -> bool:
    """Whether every table has a column for each class, and for more."""
    from equipoise.read.predictions import PREFIXES, prediction_columns

    if table.kind not in ("nominal", "ranking"):
        return False
    for path in paths:
        columns = set(prediction_columns(path)) - {"item", "task", "model", "score"}
        known = next(
            (p for p in PREFIXES if {p + name for name in table.classes} <= columns), None
        )
        if known is None or len(columns) == len(table.classes):
            return False
    return True


def answered(
    table: "Annotations", models: "Sequence[Predictions]", options: dict[str, Any]
) -> "tuple[tuple[Predictions, ...], list[str]]":
    """Predictions that name one class each, as the question needs them, and what to say.

    Asked about one class, a model says yes where it names that class; asked about grades, it
    scores by the grade it names. Names of classes never serve as numbers.
    """
    from equipoise.read.predictions import is_decided

    models = tuple(models)
    if not models or not all(is_decided(one.values) for one in models):
        return models, []
    if options["at_least"] is not None and table.kind == "ordinal":
        said = "Predictions are grades, not probabilities: a higher grade scores higher."
        return tuple(_graded(one, table.classes) for one in models), [said]
    if options["positive"] is None:
        return models, [_advice(table, options)]
    used = {name for one in models for name in _named(one)}
    if used <= YES_NO and len(table.classes) > 2:
        said = (
            f"Predictions are 0 and 1: read as no and yes to {options['positive']!r}, not as "
            "classes."
        )
        return tuple(_one_score(one, "1") for one in models), [said]
    said = (
        f"Predictions name classes: a model scores 1 where it names {options['positive']!r} "
        "and 0 elsewhere, so that curves have a single threshold."
    )
    return models, [said]


def _advice(table: "Annotations", options: dict[str, Any]) -> str:
    """Say what decisions are, and which metrics suit them."""
    from equipoise.metrics import named

    said = "Predictions name one class per item: read as probability 1 of that class."
    if any(named(name).decides for name in words(options["metrics"])):
        return said
    kappa = ",quadratic_weighted_kappa" if table.kind == "ordinal" else ""
    flag = "--metric" if "metric" in options else "--metrics"
    return f"{said} Metrics of decisions suit them: {flag} accuracy{kappa}."


def _named(one: "Predictions") -> list[str]:
    """The classes that a model names at all."""
    return [one.classes[code] for code in np.flatnonzero(one.values.any(axis=0))]


def _one_score(one: "Predictions", name: str) -> "Predictions":
    """The probability of one class as a score."""
    place = one.classes.index(name) if name in one.classes else None
    values = np.zeros(len(one.items)) if place is None else one.values[:, place]
    return replace(one, values=values, classes=())


def _graded(one: "Predictions", grades: Sequence[str]) -> "Predictions":
    """The place of the grade that a model names as a score."""
    place = [float(grades.index(name)) for name in one.classes]
    return replace(one, values=one.values @ np.array(place), classes=())
