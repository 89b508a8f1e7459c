"""Duplicates: models whose predictions are the same on every item of a task.

Such models tie there whatever is resampled. It matters where a small difference, a probability
to be best or an average rank rests on copies of one model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.arrays import Floats
from equipoise.evaluation import Evaluation
from equipoise.notices import Notice
from equipoise.wording import joined

DUPLICATES = (
    "Identical predictions on every item: {groups}. Such models tie{there} whatever is "
    "resampled, and probabilities to be best, average ranks and small leads between them say "
    "little: they may be copies of one model."
)


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Models with identical predictions, and the tasks in which they are, perhaps all."""

    models: tuple[str, ...]
    tasks: tuple[str, ...]
    everywhere: bool

    def __str__(self) -> str:
        names = joined(self.models)
        if not self.everywhere:
            return f"{names} for {joined(self.tasks)}"
        return f"{names} for all tasks" if len(self.tasks) > 1 else names


def duplicate_models(evaluation: Evaluation) -> tuple[Duplicates, ...]:
    """Groups of models with identical predictions, in the order of the tasks."""
    tasks: dict[tuple[str, ...], list[str]] = {}
    for question, scores in zip(evaluation.questions, evaluation.scores, strict=False):
        for group in _groups(scores):
            tasks.setdefault(group, []).append(question.task)
    every = len(evaluation.questions)
    return tuple(
        Duplicates(models, tuple(where), len(where) == every) for models, where in tasks.items()
    )


def duplicate_notices(duplicates: Sequence[Duplicates]) -> tuple[Notice, ...]:
    """One notice about all of them; none where no two models are the same.

    Examples
    --------
    >>> (notice,) = duplicate_notices([Duplicates(("a", "b"), ("lung", "heart"), False)])
    >>> str(notice).split(". ")[0]
    'Identical predictions on every item: a and b for lung and heart'
    """
    if not duplicates:
        return ()
    whole = all(group.everywhere for group in duplicates)
    values = {"groups": "; ".join(map(str, duplicates)), "there": "" if whole else " there"}
    return (Notice("duplicate_models", DUPLICATES, (), values),)


def _groups(scores: Mapping[str, Floats]) -> list[tuple[str, ...]]:
    """Models by what they said, where more than one said the same."""
    same: dict[bytes, list[str]] = {}
    for model, values in scores.items():
        key = np.ascontiguousarray(values + 0.0).tobytes()  # 0 and -0 are the same
        same.setdefault(key, []).append(model)
    return [tuple(models) for models in same.values() if len(models) > 1]
