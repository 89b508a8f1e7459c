"""Pairs that are judged: duplicates by construction, and others that are none."""

from itertools import combinations

import numpy as np

from equipoise.arrays import Bools, Floats, Ints
from equipoise.clean.collection import Pairs
from equipoise.clean.contaminate.mixture import Mixture, appearance, stream
from equipoise.clean.contaminate.plans import Copies
from equipoise.clean.directions import Directions
from equipoise.clean.neighbours import neighbours

_SAME = 1e-9  # distance below which two items are the same
Pair = tuple[int, int]


def judged_pairs(whole: Mixture, plan: Copies, seed: int) -> tuple[tuple[str, ...], Bools]:
    """All pairs of duplicates, and the pairs that are judged as none."""
    members: dict[int, list[int]] = {}
    for place, group in enumerate(whole.group.tolist()):
        members.setdefault(group, []).append(place)
    groups = [places for places in members.values() if len(places) > 1]
    yes = {pair for places in groups for pair in combinations(sorted(places), 2)}
    values = appearance(whole.data)
    inside = np.array(sorted(place for places in groups for place in places))
    no = _hard_negatives(whole, values, inside, plan)
    no |= _random_negatives(whole, values, yes | no, round(plan.random * len(yes)), seed)
    every = np.array(sorted(yes) + sorted(no), dtype=np.int64)
    names = Pairs(every[:, 0], every[:, 1]).names(whole.data.items)
    truth = np.arange(len(every)) < len(yes)
    order = stream(seed, "pairs", 1).permutation(len(every))
    return tuple(names[one] for one in order), truth[order]


def _hard_negatives(whole: Mixture, values: Floats, inside: Ints, plan: Copies) -> set[Pair]:
    """The nearest items outside the group of every item that has duplicates."""
    if not plan.hard:
        return set()
    largest = int(np.bincount(whole.group).max())
    reach = min(plan.hard + largest, len(whole.data) - 1)
    distance, near = neighbours(values, reach, queries=inside)
    found: set[Pair] = set()
    for one, lengths, others in zip(inside.tolist(), distance, near.tolist(), strict=True):
        outside = [
            other
            for length, other in zip(lengths, others, strict=True)
            if whole.group[other] != whole.group[one] and length > _SAME
        ]
        found |= {(min(one, other), max(one, other)) for other in outside[: plan.hard]}
    return found


def _random_negatives(
    whole: Mixture, values: Floats, taken: set[Pair], number: int, seed: int
) -> set[Pair]:
    """Pairs of different groups, drawn until there are enough or all are taken."""
    random, size = stream(seed, "pairs"), len(whole.data)
    points, found = Directions.of(values), set[Pair]()
    for _ in range(50):
        draw = np.sort(random.integers(0, size, (number + 8, 2)), axis=1)
        apart = whole.group[draw[:, 0]] != whole.group[draw[:, 1]]
        apart &= points.distance(draw[:, 0], draw[:, 1]) > _SAME
        for one, other in draw[apart].tolist():
            if len(found) < number and (one, other) not in taken:
                found.add((one, other))
        if len(found) == number:
            break
    return found
