"""Distributions: what the page shows of predicted probabilities, model by model.

Reliability against the soft labels, the items a model does worst on, and the curve of what is
left when the worst items go. Only where models gave class probabilities, or where a metric that
was asked for takes the scores of a yes/no question as probabilities.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.arrays import Floats, PerItem
from equipoise.evaluation import Evaluation
from equipoise.evaluation.blocks import every_class
from equipoise.evaluation.questions import Question
from equipoise.metrics import (
    CATALOGUE,
    Metric,
    item_scores,
    named,
    parsed,
    reliability_curve,
    worst_items,
)
from equipoise.run.ambiguity import voted

BINS = 10
MOST = 10  # hardest items that are named
CLASSES = 6  # classes shown per item
ROUNDING = 1e-3  # by how much probabilities may miss 1
OTHERWISE = "brier_score"


@dataclass(frozen=True, slots=True)
class Predicted:
    """What the models predicted for one question.

    Attributes
    ----------
    question
        The truth.
    classes
        Names of all classes, also the negative one of a yes/no question.
    labels
        Soft labels, shape (items, classes).
    models
        Predicted distributions by model, each of shape (items, classes).
    """

    question: Question
    classes: tuple[str, ...]
    labels: Floats
    models: Mapping[str, Floats]


def distributions(evaluation: Evaluation, people: Sequence[str]) -> dict[str, Any]:
    """The three parts of a run that speak of predicted probabilities; empty without any."""
    every = list(predicted(evaluation))
    areas = [metric for metric in evaluation.metrics if metric.curve is not None]
    return {
        "reliability": [_reliability(one) for one in every],
        "hardest": [_hardest(one, evaluation.metrics, people) for one in every],
        "retained": [_retained(one, metric) for one in every for metric in areas],
    }


def predicted(evaluation: Evaluation) -> Iterator[Predicted]:
    """What can be read as probabilities, question by question.

    Class probabilities can, unless the truth lacks some of the classes. Scores of a yes/no
    question are only read so when a metric of probabilities was asked for, because then they
    were given as such.
    """
    asked = any(metric.needs == "probabilities" for metric in evaluation.metrics)
    for question, scores in zip(evaluation.questions, evaluation.scores, strict=False):
        readable = _whole if len(question.classes) > 1 else _inside
        if (asked or readable is _whole) and all(map(readable, scores.values())):
            yield Predicted(
                question,
                _names(question),
                np.stack(every_class(question.shares), axis=1),
                {model: _chances(one) for model, one in scores.items()},
            )


def _inside(scores: Floats) -> bool:
    return bool(((scores >= 0) & (scores <= 1)).all())


def _whole(scores: Floats) -> bool:
    return bool((np.abs(scores.sum(axis=1) - 1) <= ROUNDING).all())


def _chances(scores: Floats) -> Floats:
    """Distributions over all classes that add up to 1."""
    if scores.ndim == 1:
        return np.stack([1 - scores, scores], axis=1)
    return np.asarray(scores / scores.sum(axis=1, keepdims=True))


def _names(question: Question) -> tuple[str, ...]:
    """All classes of a question."""
    if len(question.classes) > 1:
        return question.classes
    given = question.answers
    if question.plausible is not None:
        given = question.plausible.classes
    return given if len(given) == 2 else (f"not {question.classes[0]}", question.classes[0])


def _reliability(one: Predicted) -> dict[str, Any]:
    """Bins of every model, and how far they lie from the diagonal on average.

    With two classes the second is what is predicted, else the class the model holds likeliest.
    """
    rows = []
    for model, chances in one.models.items():
        curve = reliability_curve(one.labels, chances, bins=BINS)
        share = curve.items / curve.items.sum()
        rows.append(
            {
                "model": model,
                "error": float((share * np.abs(curve.predicted - curve.observed)).sum()),
                "predicted": float((share * curve.predicted).sum()),
                "observed": float((share * curve.observed).sum()),
                "bins": [list(row) for row in zip(*curve, strict=True)],
            }
        )
    two = len(one.classes) == 2
    return {
        "task": one.question.task,
        "items": len(one.question.items),
        "bins": BINS,
        "class": one.classes[1] if two else None,
        "from_votes": one.question.votes is not None,
        "models": rows,
    }


def _hardest(
    one: Predicted, metrics: Sequence[Metric], people: Sequence[str]
) -> dict[str, Any]:
    """The items on which the best model does worst, by the first proper score asked for."""
    name, means = _first_score(one, metrics)
    model = min(means, key=lambda each: means[each])
    chances, items = one.models[model], one.question.items
    worst = worst_items(name, one.labels, chances, items, MOST)
    metric = named(name)
    return {
        "task": one.question.task,
        "metric": metric.name,
        "title": metric.soft_title,
        "asked": any(metric.name == asked.name for asked in metrics),
        "model": model,
        "mean": means[model],
        "items_scored": len(items),
        "classes": list(one.classes) if len(one.classes) <= CLASSES else [],
        "from_votes": one.question.votes is not None,
        "items": [
            {"item": each.item, "score": each.score, **_close_up(one, chances, place, people)}
            for each in worst
            for place in [items.index(each.item)]
        ],
    }


def _first_score(one: Predicted, metrics: Sequence[Metric]) -> tuple[str, dict[str, float]]:
    """The first proper score that some model has finite, and the mean of every model."""
    asked = [m.name for m in metrics if m.proper and parsed(m.name)[0] in CATALOGUE]
    for name in [*asked, OTHERWISE]:
        means = {
            model: float(np.mean(_per_item(name, one, chances)))
            for model, chances in one.models.items()
        }
        if np.isfinite(list(means.values())).any():
            break
    return name, means


def _per_item(name: str, one: Predicted, chances: Floats) -> PerItem:
    return item_scores(name, one.labels, chances)


def _close_up(one: Predicted, chances: Floats, i: int, people: Sequence[str]) -> dict[str, Any]:
    """What was predicted and what was said of one item, in the order of the classes."""
    weight = np.maximum(chances[i], one.labels[i])
    shown = np.sort(np.argsort(-weight, kind="stable")[:CLASSES])
    votes = one.question.votes
    said: dict[str, Any] = {}
    if votes is not None and len(one.question.answers) == len(one.classes):
        said = voted(votes, (one.question.answers, people), i)
    return {
        "shares": [
            {
                "class": one.classes[k],
                "predicted": float(chances[i, k]),
                "observed": float(one.labels[i, k]),
            }
            for k in shown
        ],
        "votes": None if votes is None else int(votes.sizes[i]),
        **said,
    }


def _retained(one: Predicted, metric: Metric) -> dict[str, Any]:
    """Curve of every model over the fraction of items removed."""
    assert metric.curve is not None
    curves = {model: metric.curve(one.labels, chances) for model, chances in one.models.items()}
    return {
        "task": one.question.task,
        "metric": metric.name,
        "removed": next(iter(curves.values()))[0],
        "models": [{"model": m, "heights": heights} for m, (_, heights) in curves.items()],
    }
