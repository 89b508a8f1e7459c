"""Made: plausibilities from a law, and what every model of counts does with its input."""

from typing import Any

import numpy as np

from equipoise.aggregate._entries import Entries
from equipoise.annotations import Annotations
from equipoise.arrays import Bools, Floats, InputError, listed
from equipoise.laws import Dirichlet, Law
from equipoise.plausibilities import Plausibilities


def by_law(found: Entries, law: Law, *, method: str, task: str, **facts: Any) -> Plausibilities:
    """Plausibilities of the voted classes that follow a law; the mean as their one draw."""
    mass, rest = law.mean(found.start)
    return Plausibilities(
        items=found.items,
        classes=found.classes,
        start=found.start,
        label=found.label,
        mass=mass[None],
        rest=rest[None],
        method=method,
        task=task,
        law=law,
        ordered=found.ordered,
        **facts,
    )


def prior_law(votes: Floats, prior: float, found: Entries, known: Bools) -> Dirichlet:
    """Dirichlet of votes plus a prior for every class; known items have one class alone."""
    each, voted = np.where(known, 0.0, prior), np.diff(found.start)
    own = np.where(np.repeat(known, voted), 1.0, votes + np.repeat(each, voted))
    return Dirichlet(own, each * (len(found.classes) - voted))


def settled(annotations: Annotations, found: Entries, task: str) -> Bools:
    """Which items gold rows settle, shape (items,); they must name one class."""
    if annotations.is_gold is None:
        return np.zeros(len(found.items), dtype=bool)
    rows = annotations.in_task(task) & annotations.is_gold
    names = {annotations.items[i] for i in np.unique(annotations.item[rows])}
    known = np.array([item in names for item in found.items], dtype=bool)
    several = known & (np.diff(found.start) > 1)
    if several.any():
        raise InputError(
            f"annotations, items {listed([found.items[i] for i in np.flatnonzero(several)])}",
            "gold rows that name several classes", "one known truth per item",
            "correct them or clear is_gold",
        )  # fmt: skip
    return known
