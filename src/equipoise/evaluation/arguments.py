"""Arguments: what a caller hands over, checked for its type before anything is done with it."""

from collections.abc import Iterable, Sequence

from equipoise.annotations import Annotations
from equipoise.arrays import wrong_type
from equipoise.metrics import Metric, named
from equipoise.predictions import Predictions

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
    if not isinstance(predictions, Iterable):
        raise wrong_type("predictions", predictions, expected, do)
    found = []
    for one in predictions:
        if not isinstance(one, Predictions):
            raise wrong_type("predictions", one, expected, do)
        found.append(one)
    return found


def as_annotations(annotations: object) -> Annotations:
    """Annotations; a truth without votes is refused.

    Examples
    --------
    >>> as_annotations("votes.csv")
    Traceback (most recent call last):
    ...
    equipoise.arrays.InputError: annotations: 'votes.csv' (str), expected annotations ...
    """
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
