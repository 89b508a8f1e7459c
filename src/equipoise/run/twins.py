"""Twins: models whose predictions are the same on every item of a task.

Such models tie there whatever is drawn anew. Lists of them matter where a small difference, a
chance to be best or an average rank rests on copies of one model.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from equipoise.analyses.words import joined
from equipoise.arrays import Floats
from equipoise.evaluation import Evaluation

Facts = dict[str, Any]


def twin_facts(done: Evaluation) -> list[Facts]:
    """Groups of models with identical predictions, with the tasks in which they are.

    Groups come in the order of the tasks; `whole` says whether that is in all of them.
    """
    found: dict[tuple[str, ...], list[str]] = {}
    for question, scores in zip(done.questions, done.scores, strict=False):
        for group in _groups(scores):
            found.setdefault(group, []).append(question.task)
    return [
        {"models": list(models), "tasks": tasks, "whole": len(tasks) == len(done.questions)}
        for models, tasks in found.items()
    ]


def twin_notices(twins: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """One sentence about all of them; none where no two models are the same.

    Examples
    --------
    >>> one = {"models": ["a", "b"], "tasks": ["lung", "heart"], "whole": False}
    >>> twin_notices([one])[0].split(". ")[0]
    'Identical predictions on every item: a and b for lung and heart'
    >>> twin_notices([])
    ()
    """
    if not twins:
        return ()
    every = [f"{joined(one['models'])}{_where(one)}" for one in twins]
    there = "" if all(one["whole"] for one in twins) else " there"
    return (
        f"Identical predictions on every item: {'; '.join(every)}. Such models tie{there} "
        "whatever is drawn anew, and chances to be best, average ranks and small leads between "
        "them say little: they may be copies of one model.",
    )


def identical(twins: Sequence[Mapping[str, Any]], pair: Sequence[str], task: str) -> bool:
    """Whether two models are the same in a task."""
    return any(set(pair) <= set(one["models"]) and task in one["tasks"] for one in twins)


def _where(one: Mapping[str, Any]) -> str:
    if one["whole"]:
        return "" if len(one["tasks"]) < 2 else " for all tasks"
    return f" for {joined(one['tasks'])}"


def _groups(scores: Mapping[str, Floats]) -> list[tuple[str, ...]]:
    """Models by what they said, where more than one said the same."""
    same: dict[bytes, list[str]] = {}
    for model, values in scores.items():
        key = np.ascontiguousarray(values + 0.0).tobytes()  # 0 and -0 are the same
        same.setdefault(key, []).append(model)
    return [tuple(models) for models in same.values() if len(models) > 1]
