"""Keywords of `evaluate` that ask what options of the command line ask, in the same words."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict

from equipoise.study.arguments import Truths, as_annotations
from equipoise.study.thresholds import Thresholds
from equipoise.types import InputError, Predictions, choice

if TYPE_CHECKING:
    from equipoise.study.study import Settings


class Question(TypedDict, total=False):
    """The question that models answer, as the options of the command line say it.

    Attributes
    ----------
    positive, at_least
        Ask about one class, or whether grades and ratings are at least this.
    threshold
        From which score on a model says yes: a number, or words as ``--threshold`` takes them.
    gold
        Who is the reference standard, as `Annotations.with_gold` takes it.
    """

    positive: str
    at_least: float
    threshold: float | str | Sequence[str] | Thresholds
    gold: str


def with_question(
    models: Sequence[Predictions], truth: Truths, how: "Settings", question: Question
) -> "tuple[list[Predictions], Truths, Settings]":
    """Models, truth and settings with what the keywords ask."""
    for name in question:
        choice("evaluate, keyword", name, tuple(Question.__annotations__))
    if not {"positive", "at_least", "gold"}.isdisjoint(question):
        truth = as_annotations(truth)
        truth = truth.with_gold(question.get("gold", "truth"))
        if "at_least" in question:
            truth = truth.at_least(question["at_least"])
        if "positive" in question:
            truth = truth.against(question["positive"])
            models = [_as_answer(model, question["positive"]) for model in models]
    if "threshold" in question:
        if how.thresholds is not None:
            got, do = "threshold, and settings with thresholds", "leave one out"
            raise InputError("evaluate", got, "one of them", do)
        how = replace(how, thresholds=_as_thresholds(question["threshold"]))
    return list(models), truth, how


def _as_answer(model: Predictions, positive: str) -> Predictions:
    """What a model that names one class an item says of one of them."""
    if not model.classes or not model.decides:
        return model
    codes = [place for place, name in enumerate(model.classes) if name == positive]
    return replace(model, values=model.values[:, codes].sum(axis=1), classes=())


def _as_thresholds(stated: "float | str | Sequence[str] | Thresholds") -> Thresholds:
    if isinstance(stated, Thresholds):
        return stated
    several = (
        [stated] if isinstance(stated, str) or not isinstance(stated, Sequence) else stated
    )
    return Thresholds.parse([str(word) for word in several])
