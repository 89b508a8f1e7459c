"""Wrong labels: which items get one, and which."""

from dataclasses import replace

import numpy as np

from equipoise.arrays import Bools, Floats, InputError, Ints
from equipoise.clean.collection import MISSING, Collection
from equipoise.clean.contaminate.mixture import appearance
from equipoise.clean.contaminate.pictures import Random
from equipoise.clean.contaminate.plans import Flips
from equipoise.clean.directions import Directions
from equipoise.clean.neighbours import Search


def flipped(data: Collection, plan: Flips, random: Random) -> tuple[Collection, Bools]:
    """The collection with wrong labels, and which ones are wrong."""
    assert data.labels is not None
    labels = np.array(data.labels)
    rows = np.flatnonzero(labels != MISSING)
    wrong_class, weight = _wrong_classes(data, plan, rows, random)
    able = weight > 0
    rows, wrong_class, weight = rows[able], wrong_class[able], weight[able]
    number = min(max(1, round(plan.share * int((labels != MISSING).sum()))), len(rows))
    if not number:
        raise InputError(
            "flips, classes", "no item of these classes", "some", "name classes that occur"
        )
    chosen = random.choice(len(rows), number, replace=False, p=weight / weight.sum())
    labels[rows[chosen]] = wrong_class[chosen]
    wrong = labels != data.labels
    known = np.full(len(labels), MISSING) if data.known is None else np.array(data.known)
    known[wrong] = MISSING
    if plan.verified:
        right = np.flatnonzero((labels != MISSING) & ~wrong)
        sure = random.choice(right, round(plan.verified * len(right)), replace=False)
        known[sure] = labels[sure]
    if data.known is None and not plan.verified:
        return replace(data, labels=labels), wrong
    return replace(data, labels=labels, known=known), wrong


def _wrong_classes(
    data: Collection, plan: Flips, rows: Ints, random: Random
) -> tuple[Ints, Floats]:
    """For every labelled item the class that it would get, and its weight in the draw."""
    assert data.labels is not None
    own = data.labels[rows]
    present = np.unique(own)
    if plan.kind == "symmetric":
        step = random.integers(1, len(present), len(rows))
        place = np.searchsorted(present, own)
        return present[(place + step) % len(present)], np.ones(len(rows))
    if plan.kind == "asymmetric":
        names = plan.classes or {
            name: data.classes[(n + 1) % len(data.classes)]
            for n, name in enumerate(data.classes)
        }
        target = np.full(len(data.classes), MISSING)
        for right, wrong in names.items():
            target[data.classes.index(right)] = data.classes.index(wrong)
        return target[own], ((target[own] != MISSING) & (target[own] != own)).astype(float)
    points = Directions.of(appearance(data)[rows])
    search = Search(points, np.arange(len(rows)))
    distance, nearest = search.nearest_elsewhere(own, np.arange(len(rows)))
    scale = float(np.median(distance)) or 1.0
    return own[nearest], np.exp(-distance / scale)
