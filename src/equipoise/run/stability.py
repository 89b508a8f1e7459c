"""Stability: every analysis that the data allow, as plain facts for tables, figures and JSON.

Nothing is left out silently: an analysis that the data do not allow holds the reason.
"""

from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

import numpy as np

from equipoise.agreement import agreement_table
from equipoise.annotations import Annotations
from equipoise.arrays import InputError
from equipoise.evaluation import Evaluation, Settings, evaluate
from equipoise.predictions import Predictions
from equipoise.resampling import resample
from equipoise.run.agreement import agreement_facts
from equipoise.run.record import plain
from equipoise.run.stability_analyses import ANALYSES
from equipoise.run.stability_case import Case, Facts, Progress, StabilityHow, reason
from equipoise.run.stability_lead import lead_facts
from equipoise.run.twins import twin_facts, twin_notices

__all__ = ["ANALYSES", "StabilityHow", "stability_facts", "tried"]
PARTS = 100  # steps of progress per analysis


def stability_facts(
    predictions: Predictions | Iterable[Predictions],
    annotations: Annotations,
    how: StabilityHow | None = None,
) -> dict[str, Any]:
    """Everything about the stability of an evaluation, ready for JSON.

    Each analysis has a ``finding``, ``rows`` and ``notices``, and what a figure needs; one that
    the data do not allow has ``left_out``, the reason. If none of those asked for is possible,
    the reason is raised.

    Examples
    --------
    >>> from equipoise.demo import reading_study
    >>> readings, scores = reading_study()
    >>> how = StabilityHow(metrics=["auroc"], only=["flips"], most=5)
    >>> stability_facts(scores, readings, how)["flips"]["metric"]
    'auroc'
    """
    told = how or StabilityHow()
    given = (predictions,) if isinstance(predictions, Predictions) else tuple(predictions)
    plan = resample(annotations, "items", replicates=told.replicates, seed=told.seed)
    done = evaluate(
        given, annotations, metrics=told.metrics, resampling=plan,
        settings=Settings(level=told.level, on_missing=told.on_missing),
    )  # fmt: skip
    names = [name for name in ANALYSES if not told.only or name in told.only]
    facts = _about(done, annotations, told)
    refused: list[InputError] = []
    for number, name in enumerate(names):
        case = Case(given, annotations, told, done, _within(told.progress, number, len(names)))
        facts[name], error = tried(name, case)
        refused += error
        case.tell(1, 1)
    if len(refused) == len(names):
        raise refused[0]
    facts["lead"] = lead_facts(Case(given, annotations, told, done, lambda *_: None))
    if not told.only:
        facts |= _pairs(annotations)
    return dict(plain(facts))


@np.errstate(invalid="ignore")  # of two infinite values: undefined
def tried(name: str, case: Case) -> tuple[Facts, list[InputError]]:
    """Facts of one analysis, or the reason why there are none."""
    try:
        return ANALYSES[name](case), []
    except InputError as error:
        return {"left_out": reason(name, error)}, [error]


def _within(progress: Progress | None, number: int, every: int) -> Progress:
    """Progress of one analysis as a part of all."""

    def tell(done: int, whole: int) -> None:
        if progress is not None:
            progress(number * PARTS + PARTS * done // max(whole, 1), every * PARTS)

    return tell


def _pairs(annotations: Annotations) -> Facts:
    """How far annotators agree with each other, for their map; nothing for anonymous votes."""
    try:
        table = agreement_table(annotations, task=annotations.tasks[0], replicates=2)
    except InputError:
        return {}
    pairs = agreement_facts(table).get("pairs")
    return {"pairs": pairs} if pairs else {}


def about_data(done: Evaluation, annotations: Annotations) -> Facts:
    """How much was looked at: what was scored, and how many items were left out."""
    scored = np.unique(np.concatenate([one.place for one in done.questions]))
    votes = [one.votes for one in done.questions if one.votes]
    people = {int(code) for one in votes for code in np.unique(one.annotator)} - {-1}
    named = annotations.annotators is not None
    group = annotations.group
    return {
        "kind": annotations.kind,
        "items": len(scored),
        "items_left_out": len(annotations.items) - len(scored),
        "votes": sum(int(one.sizes.sum()) for one in votes),
        "annotators": len(people) if named else 0,
        "groups": 0 if group is None else len(np.unique(group)),
        "groups_scored": 0 if group is None else len(np.unique(group[scored])),
        "classes": annotations.classes,
    }


def _about(done: Evaluation, annotations: Annotations, how: StabilityHow) -> Facts:
    named = ("name", "title", "soft_title", "better", "bounds", "definition", "labels")
    twins = twin_facts(done)
    return {
        "schema": 1,
        "equipoise": version("equipoise"),
        "models": done.models,
        "tasks": done.tasks,
        "metrics": [{name: getattr(one, name) for name in named} for one in done.metrics],
        "settings": {
            "labels": how.labels, "replicates": how.replicates, "seed": how.seed,
            "level": how.level, "on_missing": how.on_missing,
        },
        "data": about_data(done, annotations),
        "values": [one._asdict() for one in done.table()],
        "twins": twins,
        "notices": (*done.notices, *twin_notices(twins)),
    }  # fmt: skip
