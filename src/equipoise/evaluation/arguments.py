"""Arguments: what a caller hands over, checked for its type before anything is done with it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from equipoise.annotations import Annotations
from equipoise.arrays import wrong_type
from equipoise.metrics import Metric, named
from equipoise.plausibilities import Plausibilities
from equipoise.predictions import Predictions
from equipoise.read.swapped import refuse_swapped_items

_OURS = (Annotations, Plausibilities, Predictions, list, tuple, str, int, float)
NAMES = "names of metrics such as auroc, or metrics"


def as_predictions(predictions: object) -> list[Predictions]:
    """Predictions of one model, or of several, as a list.

    Examples
    --------
    >>> as_predictions(3)
    Traceback (most recent call last):
    ...
    equipoise.arrays.InputError: predictions: 3 (int), expected predictions, one per model ...
    """
    expected, do = "predictions, one per model and task", "read them with read_predictions"
    if isinstance(predictions, Predictions):
        return [predictions]
    if is_frame(predictions):
        return list(Predictions.from_dataframe(predictions))
    if not isinstance(predictions, Iterable):
        raise wrong_type("predictions", predictions, expected, do)
    found = []
    for one in predictions:
        if not isinstance(one, Predictions):
            raise wrong_type("predictions", one, expected, do)
        found.append(one)
    return found


def is_frame(given: object) -> bool:
    """Whether something is a dataframe that narwhals knows, eager or lazy.

    Examples
    --------
    >>> import pyarrow
    >>> is_frame(pyarrow.table({"item": [1]})), is_frame([1]), is_frame("votes.csv")
    (True, False, False)
    """
    if given is None or isinstance(given, _OURS):
        return False
    import narwhals as nw

    return isinstance(nw.from_native(given, pass_through=True), nw.DataFrame | nw.LazyFrame)


def as_study(predictions: object, truth: Any) -> tuple[list[Predictions], Any]:
    """Predictions and truth, each of which may be a dataframe.

    Predictions in a dataframe are read with the classes and tasks of the annotations, and
    what there is to say of them goes to the annotations.
    """
    if is_frame(truth):
        truth = Annotations.from_dataframe(truth)
    if not is_frame(predictions) or not isinstance(truth, Annotations):
        given = as_predictions(predictions)
    else:
        from equipoise.read.options import PredictionOptions
        from equipoise.read.predictions import told_predictions
        from equipoise.read.tables import from_frame

        options = PredictionOptions(classes=truth.classes or None, tasks=truth.tasks)
        read = told_predictions(from_frame(predictions), options)
        given = list(read.predictions)
        truth = replace(truth, notices=(*truth.notices, *read.notices))
    if isinstance(truth, Annotations):
        refuse_swapped_items(truth, given)
    return given, truth


def as_annotations(annotations: object) -> Annotations:
    """Annotations, or a dataframe of votes read as such; a truth without votes is refused.

    Examples
    --------
    >>> as_annotations("votes.csv")
    Traceback (most recent call last):
    ...
    equipoise.arrays.InputError: annotations: 'votes.csv' (str), expected annotations ...
    """
    if is_frame(annotations):
        return Annotations.from_dataframe(annotations)
    if not isinstance(annotations, Annotations):
        raise wrong_type(
            "annotations",
            annotations,
            "annotations with their votes",
            "read them with read_annotations",
        )
    return annotations


def as_metrics(metrics: object) -> tuple[Metric, ...]:
    """Metrics by their names.

    Examples
    --------
    >>> [one.name for one in as_metrics(["auroc", "accuracy"])]
    ['auroc', 'accuracy']
    >>> as_metrics("auroc")
    Traceback (most recent call last):
    ...
    equipoise.arrays.InputError: metrics: 'auroc' (str), expected a list of names of ...
    """
    do = "try ['auroc', 'average_precision']"
    if isinstance(metrics, str) or not isinstance(metrics, Sequence) or not metrics:
        raise wrong_type("metrics", metrics, f"a list of {NAMES}", do)
    for one in metrics:
        if not isinstance(one, str | Metric):
            raise wrong_type("metrics", one, NAMES, do)
    return tuple(named(one) if isinstance(one, str) else one for one in metrics)
