r"""Held-out votes: how well a model predicts votes it has not seen.

(item, annotator) pairs are split into folds; a model fitted to the other folds gives each vote
of a fold a chance. With confusion matrices :math:`\theta` it is
:math:`\sum_k P(\text{item is } k)\,\theta_{a,k,l}`, for GLAD :math:`\mathrm{sigmoid}(\pm E[c_a]
E[b_i])`, else the item's share of l. A chance of zero is minus infinity, never clipped. Gold
rows are never held out.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from equipoise.annotations import COLUMNS, Annotations
from equipoise.arrays import Bools, Floats, InputError, Ints
from equipoise.choosing.models import Model, by_name
from equipoise.plausibilities import Plausibilities


def held_out(
    annotations: Annotations,
    models: Iterable[str] | Mapping[str, Model],
    *,
    folds: int = 5,
    seed: int = 0,
    task: str = "",
) -> dict[str, float]:
    """Mean log-likelihood of held-out votes, per vote, for each model.

    Votes on items that have none left to fit are passed over; nan when that leaves nothing.
    """
    _refuse(annotations, folds)
    chosen = by_name(models)
    assert annotations.annotator is not None
    rows, known = annotations.in_task(task), _gold(annotations)
    pair = annotations.annotator.astype(np.int64) * len(annotations.items) + annotations.item
    every, code = np.unique(pair, return_inverse=True)
    fold = np.random.default_rng(seed).permutation(len(every))[code] % folds
    found: dict[str, list[Floats]] = {name: [] for name in chosen}
    for number in range(folds):
        test = np.flatnonzero(rows & ~known & (fold == number))
        train = rows & (known | (fold != number))
        if not len(test) or not train.any():
            continue
        part = _kept(annotations, train)
        for name, fit in chosen.items():
            found[name].append(_log_chance(fit(part, task=task), part, annotations, test))
    return {name: _mean(scores) for name, scores in found.items()}


def _refuse(annotations: Annotations, folds: int) -> None:
    votes = annotations.label is not None and annotations.rank is None
    if not votes or annotations.annotator is None:
        raise InputError(
            "held-out votes", f"{annotations.kind} annotations", "labels of known annotators",
            "compare what the models decide instead",
        )  # fmt: skip
    if folds < 2:
        raise InputError("held-out votes", f"{folds} folds", "at least 2", "5 is the default")


def _gold(annotations: Annotations) -> Bools:
    none = np.zeros(len(annotations), dtype=bool)
    return none if annotations.is_gold is None else annotations.is_gold


def _mean(scores: list[Floats]) -> float:
    """Mean over votes, each counting as often as it was given; columns: log chance, times."""
    if not sum(map(len, scores)):
        return float("nan")
    both = np.concatenate(scores)
    return float(np.average(both[:, 0], weights=both[:, 1]))


def _kept(annotations: Annotations, keep: Bools) -> Annotations:
    """Some rows, with all names as they were."""
    columns = {
        name: getattr(annotations, name)[keep]
        for name in COLUMNS
        if name != "group" and getattr(annotations, name) is not None
    }
    return replace(annotations, **columns)


def _log_chance(
    made: Plausibilities, part: Annotations, annotations: Annotations, rows: Ints
) -> Floats:
    """Log chance of each held-out vote whose item was fitted, and how often it was given."""
    assert annotations.label is not None and annotations.annotator is not None
    place = {name: number for number, name in enumerate(made.items)}
    number = np.array([place.get(annotations.items[i], -1) for i in annotations.item[rows]])
    rows, number = rows[number >= 0], number[number >= 0]
    chance, said, who = made.mean[number], annotations.label[rows], annotations.annotator[rows]
    if made.skills is not None and made.skills.confusion is not None:
        value = (chance * made.skills.confusion[who, :, said]).sum(axis=1)
    elif made.skills is not None and made.difficulty is not None:
        yes = made.skills.value[who] * _signed_ease(made, part)[number]
        value = np.exp(-np.logaddexp(0.0, np.where(said == 1, -yes, yes)))
    else:
        value = chance[np.arange(len(rows)), said]
    times = np.ones(len(rows)) if annotations.count is None else annotations.count[rows]
    with np.errstate(divide="ignore"):
        return np.stack([np.log(value), times], axis=1)


def _signed_ease(made: Plausibilities, part: Annotations) -> Floats:
    """E[b] of every item, from its difficulty sigmoid(-mean ability * |E[b]|) and its class."""
    assert made.skills is not None and made.difficulty is not None
    assert part.annotator is not None
    ability = np.abs(made.skills.value)[part.annotator]
    weight = np.where(_gold(part) | ~part.in_task(made.task), 0.0, 1.0)
    for column in (part.weight, part.count):
        weight = weight if column is None else weight * column
    mean = max(float((ability * weight).sum() / max(weight.sum(), 1e-300)), 1e-12)
    hard = np.clip(made.difficulty, 1e-300, 0.5)
    size = (np.log1p(-hard) - np.log(hard)) / mean
    return np.where(made.mean[:, 1] >= 0.5, size, -size)
