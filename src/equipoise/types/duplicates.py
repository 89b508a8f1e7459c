"""Duplicates: models whose predictions are the same on every item of a task.

Such models tie there whatever is resampled. It matters where a small difference, a probability
to be best or an average rank rests on copies of one model.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from equipoise.types.arrays import Floats
from equipoise.types.notices import Notice, notice
from equipoise.types.words import joined

_TEXT = (
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


def duplicate_models(
    scores: Iterable[tuple[str, Mapping[str, Floats]]],
) -> tuple[Duplicates, ...]:
    """Groups of models with identical predictions, in the order of the tasks.

    Parameters
    ----------
    scores
        Each task with the values of every model, all on the same items in the same order.

    Examples
    --------
    >>> same = {"a": np.array([0.0, 1.0]), "b": np.array([-0.0, 1.0])}
    >>> duplicate_models([("lung", same), ("heart", {"a": np.ones(2), "b": np.zeros(2)})])
    (Duplicates(models=('a', 'b'), tasks=('lung',), everywhere=False),)
    """
    tasks: dict[tuple[str, ...], list[str]] = {}
    every = 0
    for task, models in scores:
        every += 1
        same: dict[bytes, list[str]] = {}
        for model, values in models.items():
            key = np.ascontiguousarray(values + 0.0).tobytes()  # 0 and -0 are the same
            same.setdefault(key, []).append(model)
        for names in same.values():
            if len(names) > 1:
                tasks.setdefault(tuple(sorted(names)), []).append(task)
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
    groups = "; ".join(map(str, duplicates))
    there = "" if whole else " there"
    return (notice("duplicate_models", _TEXT, groups=groups, there=there),)
