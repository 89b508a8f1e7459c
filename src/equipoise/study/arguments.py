"""Arguments: what a caller hands over, checked for its type before anything is done with it.

Predictions and votes may be paths of files, whose roles are told as on the command line, or
dataframes of any kind; which kind is remembered, so that results go back as the caller works.

The metrics that fit what models say, where nobody names any.

===============================  ===============================================================
prediction                       metrics
===============================  ===============================================================
decisions, yes or no             balanced accuracy, Cohen's kappa, F1
scores, yes or no                AUROC, average precision
decisions for classes            Cohen's kappa, accuracy, F1
probabilities of classes         Cohen's kappa, accuracy, AUROC
numbers, against ratings         Pearson correlation, mean absolute error, RMSE
ratings of systems' outputs      mean rating
preferences between outputs      win rate
results of systems               mean score
grades                           quadratic weighted kappa, ranked probability score, accuracy
rankings under a model of truth  top-1 and top-3 accuracy
===============================  ===============================================================

Accuracy never comes first: where one class is common, nobody beats a model that always answers
it. Decisions never get AUROC: a single point has no curve. Where some models decide on yes or
no and others give scores, those are compared as scores, and everybody as decisions where as
many items are called positive as those models do (`deciders_apart`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from functools import partial
from operator import attrgetter
from os import PathLike
from typing import Any

import numpy as np

from equipoise.metrics import CATALOGUE, Metric, named
from equipoise.read.headers import refuse_swapped_items
from equipoise.read.tables import frame_kind
from equipoise.read.user_code import call_user_code, user_file
from equipoise.types import (
    Annotations,
    InputError,
    Models,
    Names,
    Plausibilities,
    Predictions,
    listed,
    wrong_type,
)

Truths = Annotations | Plausibilities | Sequence[Plausibilities]
NAMES = "names of metrics such as auroc, or metrics"


def as_study(predictions: Any, truth: Any) -> tuple[list[Predictions], Truths, str]:
    """Predictions and a truth, in either order, and the caller's kind of dataframe.

    What is a dataframe or a path is read.

    Examples
    --------
    >>> import pyarrow
    >>> votes = pyarrow.table({"item": [1, 2, 2], "annotator": ["ana", "ana", "bo"],
    ...     "label": [0, 1, 1]})
    >>> scores = pyarrow.table({"item": [1, 2], "cnn": [0.2, 0.9], "vit": [0.1, 0.8]})
    >>> as_study(scores, votes)[1:], as_study(votes, scores)[2]
    ((Annotations(binary, 2 items, 2 annotators, 3 rows), 'pyarrow'), 'pyarrow')
    """
    if truth is None and frame_kind(predictions):
        votes, systems = _judged_frame(predictions)
        return list(systems), votes, frame_kind(predictions)
    predictions, truth = _read_paths(predictions, truth)
    kind = frame_kind(truth)
    if kind:
        truth = _votes_of_frame(truth)
    several = predictions if isinstance(predictions, list | tuple) else (predictions,)
    kinds = [frame_kind(part) for part in several]
    models: list[Predictions] = []
    if not any(kinds):
        models = as_predictions(predictions)
    for part, part_kind in zip(several, kinds, strict=True):
        if part_kind:
            models, truth = _with_frame(models, part, truth)
        elif any(kinds):
            models += as_predictions(part)
    if isinstance(truth, Annotations):
        refuse_swapped_items(truth, models)
    return models, truth, next(filter(None, kinds), kind)


def _judged_frame(frame: Any) -> tuple[Annotations, Models]:
    """What a dataframe alone says of systems' outputs, or a refusal."""
    from equipoise.read.headers import is_judged, judged_headers
    from equipoise.read.judged import are_results, judged_study, results_study
    from equipoise.read.tables import from_frame

    table = from_frame(frame)
    if is_judged(table, {}):
        return judged_study(table)
    if "system" in judged_headers(table, {}).columns and are_results(table, {}):
        return results_study(table, {})
    raise InputError(
        "predictions",
        f"a dataframe with columns {listed(table.columns)}, and no votes",
        "votes and predictions, or what people said of systems' outputs",
        "give the votes, too, or columns item, system, annotator, rating",
    )


def file_paths(thing: Any) -> list[Any]:
    """The paths, where these are one or a list of such.

    Examples
    --------
    >>> file_paths("votes.csv"), file_paths(["a.csv", "b.csv"]), file_paths([1])
    (['votes.csv'], ['a.csv', 'b.csv'], [])
    """
    several = list(thing) if isinstance(thing, list | tuple) else [thing]
    return several if all(isinstance(part, str | PathLike) for part in several) else []


def _read_paths(predictions: Any, truth: Any) -> tuple[Any, Any]:
    """Predictions before their truth, and read what is a path; of files roles are told."""
    from equipoise.read.annotations import read_annotations
    from equipoise.read.predictions import predictions_for, read_predictions
    from equipoise.read.sources import read_both_sides

    if _holds_votes(predictions) and not _holds_votes(truth):
        predictions, truth = truth, predictions
    scores, votes = file_paths(predictions), file_paths(truth)
    if scores and (votes or truth is None):
        return read_both_sides([*votes, *scores])
    if votes:
        return predictions, read_annotations(votes)
    if not scores or not isinstance(truth, Annotations):
        return (read_predictions(scores) if scores else predictions), truth
    truth, read = predictions_for(truth, scores)
    return read.predictions, truth


def _with_frame(
    models: list[Predictions], frame: Any, truth: Truths
) -> tuple[list[Predictions], Truths]:
    """Add the predictions of a dataframe, read with the classes and tasks of annotations.

    What there is to say of them goes to the annotations.
    """
    if not isinstance(truth, Annotations):
        return [*models, *Predictions.from_dataframe(frame)], truth
    from equipoise.read.judged import as_predictions, with_unrated
    from equipoise.read.options import ScoreFormat
    from equipoise.read.predictions import table_predictions
    from equipoise.read.tables import from_frame

    table = from_frame(frame)
    if truth.systems is not None:
        truth = replace(with_unrated(truth, table, {}), judged="")
        table = as_predictions(table)
    options = ScoreFormat(classes=truth.classes or None, tasks=truth.tasks)
    read = table_predictions(table, options)
    return [*models, *read.predictions], truth.noting(*read.notices)


def _votes_of_frame(frame: Any) -> Annotations:
    """Votes of a dataframe, on items or on systems' outputs."""
    from equipoise.read.headers import is_judged
    from equipoise.read.judged import judged_study
    from equipoise.read.tables import from_frame

    table = from_frame(frame)
    return judged_study(table)[0] if is_judged(table, {}) else Annotations.from_dataframe(frame)


def _holds_votes(thing: Any) -> bool:
    """Whether these are votes: annotations, or a dataframe of who said what."""
    if isinstance(thing, Annotations | Plausibilities):
        return True
    if not frame_kind(thing):
        return False
    import narwhals as nw

    names = set(nw.from_native(thing).collect_schema().names())
    if {"system", "rating"} <= names:
        return True
    return "label" in names and bool(names & {"annotator", "rank", "is_gold"})


def as_predictions(predictions: object) -> list[Predictions]:
    """Predictions of one model, or of several, as a list.

    Examples
    --------
    >>> as_predictions(3)
    Traceback (most recent call last):
    ...
    equipoise.InputError: predictions: 3 (int), expected predictions, one per model ...
    """
    expected, do = "predictions, one per model and task", "read them with read_predictions"
    if isinstance(predictions, Predictions):
        return [predictions]
    if frame_kind(predictions):
        return list(Predictions.from_dataframe(predictions))
    if not isinstance(predictions, Iterable):
        raise wrong_type("predictions", predictions, expected, do)
    models = []
    for model in predictions:
        if not isinstance(model, Predictions):
            raise wrong_type("predictions", model, expected, do)
        models.append(model)
    return models


def as_annotations(annotations: object) -> Annotations:
    """Annotations, or a dataframe of votes read as such; a truth without votes is refused.

    Examples
    --------
    >>> as_annotations("votes.csv")
    Traceback (most recent call last):
    ...
    equipoise.InputError: annotations: 'votes.csv' (str), expected annotations ...
    """
    if frame_kind(annotations):
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
    >>> [metric.name for metric in as_metrics(["auroc", "accuracy"])]
    ['auroc', 'accuracy']
    >>> as_metrics("auroc")
    Traceback (most recent call last):
    ...
    equipoise.InputError: metrics: 'auroc' (str), expected a list of names of ...
    """
    do = "try ['auroc', 'average_precision']"
    if isinstance(metrics, str) or not isinstance(metrics, Sequence) or not metrics:
        raise wrong_type("metrics", metrics, f"a list of {NAMES}", do)
    for metric in metrics:
        if not isinstance(metric, str | Metric):
            raise wrong_type("metrics", metric, NAMES, do)
    return tuple(named(metric) if isinstance(metric, str) else _guarded(metric)
                 for metric in metrics)  # fmt: skip


def _guarded(metric: Metric) -> Metric:
    """A metric of the caller's own with its functions behind the boundary of user code."""
    if metric.name.partition(":")[0] in CATALOGUE and not user_file(metric.finish):
        return metric
    functions: dict[str, Any] = {part.name: getattr(metric, part.name)
                                 for part in fields(metric)}  # fmt: skip
    functions = {part: function for part, function in functions.items() if callable(function)}
    file = next(filter(None, map(user_file, functions.values())), "the caller's own")
    for part, function in functions.items():
        where = f"metric {metric.name} of {file}, {part}"
        functions[part] = partial(_call_metric, function, where, metric)
    return replace(metric, **functions)


def _call_metric(function: Callable[..., Any], where: str, metric: Metric, *inputs: Any) -> Any:
    """Call a function of a caller's metric; its values are numbers, and within its bounds."""
    expected = "what equipoise.metrics.Metric says"
    result = call_user_code(function, *inputs, where=where, expected=expected)
    part = where.rpartition(" ")[2]
    if part not in ("finish", "per_item"):
        return result
    size = np.shape(inputs[0])[-1 if part == "finish" else 0]
    values, (low, high) = np.asarray(result), metric.bounds
    if values.dtype.kind not in "fiub" or values.shape != (size,):
        got = f"{values.dtype} of shape {values.shape}"
        raise InputError(where, got, f"{size} numbers", "return a number for each of them")
    if (values < low - 1e-9).any() or (values > high + 1e-9).any():
        got = f"values from {np.nanmin(values):g} to {np.nanmax(values):g}"
        raise InputError(where, got, f"values from {low:g} to {high:g}", "set its bounds")
    return result


OF_OUTPUTS = {"ratings": "mean_rating", "preferences": "win_rate", "results": "mean_score"}
KAPPA, GRADES = "cohen_kappa", "quadratic_weighted_kappa"
PLENTY = 3  # classes from which the first three are worth a look


def default_metrics(
    truth: Annotations | Plausibilities | Sequence[Plausibilities],
    predictions: Predictions | Iterable[Predictions],
) -> Names:
    """Names of the metrics that fit, the main one first.

    Examples
    --------
    >>> import numpy as np
    >>> votes = Annotations(kind="binary", items=("a", "b"), classes=("no", "yes"),
    ...     item=np.array([0, 1]), label=np.array([1, 0]))
    >>> default_metrics(votes, Predictions("resnet", ("a", "b"), np.array([0.9, 0.2])))
    ('auroc', 'average_precision')
    >>> default_metrics(votes, Predictions("rule", ("a", "b"), np.array([1.0, 0.0])))[0]
    'balanced_accuracy'
    """
    models = [predictions] if isinstance(predictions, Predictions) else list(predictions)
    first = next(iter(truth), None) if isinstance(truth, list | tuple) else truth
    if not isinstance(first, Annotations | Plausibilities):
        return ("auroc",)  # refused later, for want of a truth
    several, ordered = len(first.classes) > 2, False
    if isinstance(first, Annotations) and first.scale is not None and not first.judged:
        low, high = first.scale
        middles = [float(np.median(model.values)) for model in models]
        on_scale = all(low <= middle <= high for middle in middles)
        return ("pearson", "absolute_error", "rmse") if on_scale else ("pearson",)
    if isinstance(first, Annotations) and first.judged:
        return (OF_OUTPUTS[first.judged],)
    if isinstance(first, Annotations):
        several |= first.kind == "nominal"
        ordered = several and first.kind == "ordinal"
    else:
        ordered = several and first.ordered
        if several and not ordered and first.draws > 1:
            more = ("topk_accuracy:k=3",) if len(first.classes) > PLENTY else ()
            return ("topk_accuracy", *more)
    deciding = list(map(attrgetter("decides"), models))
    if ordered:
        return (GRADES, "ranked_probability_score", "accuracy")
    if several:
        return (KAPPA, "accuracy", "f1" if any(deciding) else "auroc")
    return (
        ("balanced_accuracy", KAPPA, "f1") if all(deciding) else ("auroc", "average_precision")
    )


def deciders_apart(
    models: Sequence[Predictions], metrics: Names
) -> tuple[list[Predictions], list[Predictions]]:
    """Models that give scores, and those that only say yes or no, where order is compared.

    Examples
    --------
    >>> a = Predictions("net", ("a", "b"), np.array([0.9, 0.2]))
    >>> b = Predictions("rule", ("a", "b"), np.array([1.0, 0.0]))
    >>> [len(side) for side in deciders_apart([a, b], ("auroc",))]
    [1, 1]
    """
    scoring = {model.model for model in models if not model.decides}
    if metrics[0] != "auroc" or any(model.classes for model in models):
        return list(models), []
    sides: tuple[list[Predictions], list[Predictions]] = ([], [])
    for model in models:
        sides[model.model not in scoring].append(model)
    return sides
