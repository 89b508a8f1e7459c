"""Predictions read for the annotations that they answer: their classes, tasks and items.

Where the predictions are probabilities of more classes than anybody named, the classes that
nobody named are added to the annotations, unless the caller named all of them.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

from equipoise.read.files import AnyPath
from equipoise.read.options import PredictionKeywords
from equipoise.read.predictions import (
    PREFIXES,
    PredictionsRead,
    prediction_columns,
    predictions_read,
)
from equipoise.read.swapped import refuse_swapped_items
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import InputError
from equipoise.types.notices import notice

_IDS = frozenset({"item", "task", "model", "score"})


def predictions_for(
    annotations: Annotations,
    paths: Sequence[AnyPath],
    *,
    classes_known: bool = False,
    **keywords: Unpack[PredictionKeywords],
) -> tuple[Annotations, PredictionsRead]:
    """Read predictions; the annotations come back with what there is to say of them.

    Parameters
    ----------
    classes_known
        Whether the caller named all classes, so that predictions can have no others.
    """
    known = PredictionKeywords(**keywords)
    known["classes"], known["tasks"] = annotations.classes or None, annotations.tasks
    try:
        read = predictions_read(paths, **known)
    except InputError:
        if classes_known or not _may_have_more(annotations, paths):
            raise
        keywords["layout"] = "classes"
        read = predictions_read(paths, **keywords)
        annotations = _with_classes(annotations, read)
    refuse_swapped_items(annotations, list(read.predictions))
    notices = (*annotations.notices, *read.notices)
    return replace(annotations, notices=notices), read


def _may_have_more(annotations: Annotations, paths: Sequence[AnyPath]) -> bool:
    """Whether every table has a column for each class, and for more."""
    if annotations.kind not in ("nominal", "ranking"):
        return False
    for path in paths:
        columns = set(prediction_columns(path)) - _IDS
        known = any(
            {prefix + name for name in annotations.classes} <= columns for prefix in PREFIXES
        )
        if not known or len(columns) == len(annotations.classes):
            return False
    return True


def _with_classes(annotations: Annotations, read: PredictionsRead) -> Annotations:
    """Add the classes that only the predictions name, and say so."""
    named = dict.fromkeys(name for one in read.predictions for name in one.classes)
    extra = tuple(name for name in named if name not in annotations.classes)
    text = "Classes that nobody named are taken from the predictions: {classes:names}."
    said = notice("classes_of_predictions", text, classes=extra)
    classes = (*annotations.classes, *extra)
    return replace(annotations, classes=classes, notices=(*annotations.notices, said))
