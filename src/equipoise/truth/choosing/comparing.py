r"""Comparing: where models of the same annotations differ, and how well they predict votes.

Two models decide an item differently when no class is most plausible in both; a tie agrees
with each of its classes.

For held-out votes, (item, annotator) pairs are split into folds; a model fitted to the other
folds gives each vote of a fold a probability. With confusion matrices :math:`\theta` it is
:math:`\sum_k P(\text{item is } k)\,\theta_{a,k,l}`, for GLAD :math:`\mathrm{sigmoid}(\pm E[c_a]
E[b_i])`, else the item's share of l. A probability of zero is minus infinity, never clipped.
Gold rows are never held out.
"""

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np

from equipoise.inference.ranks import average_ranks, spearman
from equipoise.truth import MODELS
from equipoise.truth.choosing.models import Model, by_name
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Bools, Floats, InputError, Ints
from equipoise.types.notices import Notice, notice
from equipoise.types.numbers import count
from equipoise.types.plausibilities import Plausibilities
from equipoise.types.votes import gold_rows, vote_counts

MUCH = 0.05  # share of a class decided differently from which on the user is warned
TIE = 1e-9
NAMED = 5  # items to look at first
FOLDS = 5  # of held-out votes
RARE = 10  # items that a class of several must have


class Decisions(NamedTuple):
    """How many items two models decide differently.

    Attributes
    ----------
    first, second
        Names of the models.
    items, share
        How many items, and which share of all.
    rarer
        Which share of the items that either gives to the rarer class, that with the fewest
        items by the first model.
    """

    first: str
    second: str
    items: int
    share: float
    rarer: float


class SkillRanks(NamedTuple):
    """Rank correlation of skills in two models, and who moves most: name and both ranks."""

    first: str
    second: str
    annotators: int
    spearman: float
    moved: tuple[tuple[str, float, float], ...]


def disagreement(fits: Mapping[str, Plausibilities]) -> Floats:
    """Largest total variation between any two models' means, shape (items,)."""
    means = [one.mean for one in fits.values()]
    gaps = [np.abs(a - b).sum(axis=1) / 2 for a, b in combinations(means, 2)]
    return np.asarray(np.max(gaps, axis=0)) if gaps else np.zeros(len(means[0]))


def differ(one: Plausibilities, other: Plausibilities) -> Bools:
    """Which items two models decide differently, shape (items,)."""
    return np.asarray(~(_tops(one.mean) & _tops(other.mean)).any(axis=1))


def _tops(mean: Floats) -> Bools:
    """Most plausible classes, ties included."""
    return np.asarray(mean >= mean.max(axis=1, keepdims=True) - TIE)


def decisions(fits: Mapping[str, Plausibilities]) -> list[Decisions]:
    """Every pair of models with the number of items they decide differently."""
    found = []
    for (first, one), (second, other) in combinations(fits.items(), 2):
        apart = differ(one, other)
        number, share = int(apart.sum()), float(apart.mean())
        found.append(Decisions(first, second, number, share, _of_rarer(one, other, apart)))
    return found


def _of_rarer(one: Plausibilities, other: Plausibilities, apart: Bools) -> float:
    """Of the items that either model gives to the rarer class, the share decided differently.

    The rarer class is that with the fewest items by the first model, of several classes among
    those with at least ten.
    """
    tops = one.mean.argmax(axis=1), other.mean.argmax(axis=1)
    many = np.bincount(tops[0], minlength=len(one.classes))
    able = many >= (1 if len(many) == 2 else RARE)
    if not able.any():
        return float(apart.mean())
    rare = int(np.where(able, many, len(apart) + 1).argmin())
    either = (tops[0] == rare) | (tops[1] == rare)
    return float((apart & either).sum() / either.sum())


def contested(fits: Mapping[str, Plausibilities]) -> list[str]:
    """Items that any two models decide differently, the widest gap first."""
    pairs = [differ(one, other) for one, other in combinations(fits.values(), 2)]
    if not pairs:
        return []
    apart, names = np.any(pairs, axis=0), next(iter(fits.values())).items
    order = np.argsort(-disagreement(fits), kind="stable")
    return [names[i] for i in order if apart[i]]


def verdict(fits: Mapping[str, Plausibilities]) -> list[Notice]:
    """A warning when models decide more than a few items differently.

    Models that only count votes decide alike, so one of them speaks for all.
    """
    first = next(iter(fits))
    alike = {name for name, one in MODELS.items() if one.decides_as and name != first}
    apart = {name: fit for name, fit in fits.items() if name not in alike}
    pairs = [pair for pair in decisions(apart) if pair.rarer > MUCH]
    if not pairs:
        return []
    size = len(fits[first].items)
    noun = "item" if size == 1 else "items"
    differing = "; ".join(
        f"{one.first} and {one.second} decide {count(one.items)} of {count(size)} {noun} "
        "differently"
        for one in pairs
    )
    text = "The models disagree: {pairs}. Look first at {items:names}."
    if any({one.first, one.second} == {"glad", "dawid_skene"} for one in pairs):
        text += (
            " GLAD knows no lean to one answer: where annotators lean, dawid_skene does better."
        )
    named = tuple(contested(apart)[:NAMED])
    return [notice("models_disagree", text, pairs=differing, items=named)]


def skill_ranks(
    fits: Mapping[str, Plausibilities], judged: Bools | None = None, *, most: int = 3
) -> list[SkillRanks]:
    """Compare how models rank the annotators.

    Parameters
    ----------
    judged
        Which annotators count, shape (annotators,); None is all.
    most
        How many of those who move most are named.
    """
    found = []
    with_skills = {name: one.skills for name, one in fits.items() if one.skills is not None}
    for (first, one), (second, other) in combinations(with_skills.items(), 2):
        keep = np.ones(len(one.annotators), bool) if judged is None else judged
        if keep.sum() < 2:
            continue
        a, b = one.value[keep], other.value[keep]
        names = [one.annotators[i] for i in np.flatnonzero(keep)]
        x, y = average_ranks(a), average_ranks(b)
        far = [i for i in np.argsort(-np.abs(x - y), kind="stable")[:most] if x[i] != y[i]]
        moved = tuple((names[i], float(x[i]), float(y[i])) for i in far)
        found.append(SkillRanks(first, second, len(names), float(spearman(a, b)), moved))
    return found


def held_out(
    annotations: Annotations,
    models: Iterable[str] | Mapping[str, Model],
    *,
    folds: int = FOLDS,
    seed: int = 0,
    task: str = "",
) -> dict[str, float]:
    """Mean log-likelihood of held-out votes, per vote, for each model.

    Votes on items that have none left to fit are passed over; nan when that leaves nothing.
    """
    single = annotations.label is not None and annotations.rank is None
    if not single or annotations.annotator is None:
        raise InputError(
            "held-out votes",
            f"{annotations.kind} annotations",
            "labels of known annotators",
            "compare what the models decide instead",
        )
    if folds < 2:
        raise InputError("held-out votes", f"{folds} folds", "at least 2", "5 is the default")
    chosen = by_name(models)
    rows, known = annotations.in_task(task), gold_rows(annotations)
    pair = annotations.annotator.astype(np.int64) * len(annotations.items) + annotations.item
    every, code = np.unique(pair, return_inverse=True)
    fold = np.random.default_rng(seed).permutation(len(every))[code] % folds
    found: dict[str, list[Floats]] = {name: [] for name in chosen}
    for number in range(folds):
        test = np.flatnonzero(rows & ~known & (fold == number))
        train = rows & (known | (fold != number))
        if not len(test) or not train.any():
            continue
        part = annotations.rows(train)
        for name, fit in chosen.items():
            found[name].append(_log_chance(fit(part, task=task), part, annotations, test))
    return {name: _mean(scores) for name, scores in found.items()}


def _mean(scores: list[Floats]) -> float:
    """Mean over votes, each counting as often as it was given; columns: log chance, times."""
    if not sum(map(len, scores)):
        return float("nan")
    both = np.concatenate(scores)
    return float(np.average(both[:, 0], weights=both[:, 1]))


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
    with np.errstate(divide="ignore"):
        return np.stack([np.log(value), vote_counts(annotations, rows)], axis=1)


def _signed_ease(made: Plausibilities, part: Annotations) -> Floats:
    """E[b] of every item, from its difficulty sigmoid(-mean ability * |E[b]|) and its class."""
    assert made.skills is not None and made.difficulty is not None
    assert part.annotator is not None
    ability = np.abs(made.skills.value)[part.annotator]
    weight = np.where(gold_rows(part) | ~part.in_task(made.task), 0.0, 1.0)
    for column in (part.weight, part.count):
        weight = weight if column is None else weight * column
    mean = max(float((ability * weight).sum() / max(weight.sum(), 1e-300)), 1e-12)
    hard = np.clip(made.difficulty, 1e-300, 0.5)
    size = (np.log1p(-hard) - np.log(hard)) / mean
    return np.where(made.mean[:, 1] >= 0.5, size, -size)
