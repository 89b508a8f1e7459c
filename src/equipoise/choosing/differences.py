"""Differences: where several models of the same annotations disagree.

Two models decide an item differently when no class is most plausible in both; a tie agrees
with each of its classes.
"""

from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np

from equipoise.aggregate import MODELS
from equipoise.arrays import Bools, Floats, listed
from equipoise.plausibilities import Plausibilities
from equipoise.ranks import average_ranks, spearman

MUCH = 0.02  # share of items decided differently from which on the user is warned
TIE = 1e-9


class Decisions(NamedTuple):
    """How many items two models decide differently, and which share that is."""

    first: str
    second: str
    items: int
    share: float


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


def _counts(name: str) -> bool:
    """Whether a model of the catalogue decides as another one does, ties apart."""
    return name in MODELS and bool(MODELS[name].decides_as)


def _tops(mean: Floats) -> Bools:
    """Most plausible classes, ties included."""
    return np.asarray(mean >= mean.max(axis=1, keepdims=True) - TIE)


def decisions(fits: Mapping[str, Plausibilities]) -> list[Decisions]:
    """Every pair of models with the number of items they decide differently."""
    found = []
    for (first, one), (second, other) in combinations(fits.items(), 2):
        apart = differ(one, other)
        found.append(Decisions(first, second, int(apart.sum()), float(apart.mean())))
    return found


def contested(fits: Mapping[str, Plausibilities]) -> list[str]:
    """Items that any two models decide differently, the widest gap first."""
    pairs = [differ(one, other) for one, other in combinations(fits.values(), 2)]
    if not pairs:
        return []
    apart, names = np.any(pairs, axis=0), next(iter(fits.values())).items
    order = np.argsort(-disagreement(fits), kind="stable")
    return [names[i] for i in order if apart[i]]


def verdict(fits: Mapping[str, Plausibilities]) -> list[str]:
    """A warning when models decide more than a few items differently.

    Models that only count votes decide alike, so one of them speaks for all.
    """
    first = next(iter(fits))
    told = {name: fit for name, fit in fits.items() if name == first or not _counts(name)}
    pairs = [pair for pair in decisions(told) if pair.share > MUCH]
    if not pairs:
        return []
    size = len(fits[first].items)
    noun = "item" if size == 1 else "items"
    said = "; ".join(
        f"{one.first} and {one.second} decide {one.items:,} of {size:,} {noun} differently"
        for one in pairs
    )
    lean = any({"glad", "dawid_skene"} == {one.first, one.second} for one in pairs)
    advice = (
        " GLAD knows no lean to one answer: where annotators lean, dawid_skene does better."
    )
    return [
        f"The models disagree: {said}. Look first at {listed(contested(told), most=5)}."
        + (advice if lean else "")
    ]


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
