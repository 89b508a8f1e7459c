"""Problems that are planted, so that a detector can be checked without anybody's votes.

Three kinds, each by a plan, all by one seed:

- `OffTopic`: pictures of another collection, or made up (`MADE_UP`). Where there are only
  embeddings: centre + distance x r x u, with r the distance of an item, drawn at random, to the
  centre of all, and u a random direction;
- `Copies`: altered copies (`ALTERATIONS`); where there are only embeddings, the item plus
  strength x r x u, with r its own distance to the centre. Copies of one item, and the item, are
  duplicates of each other: all their pairs are truths. Negatives are chosen and judged: for
  every item of a group its nearest items outside the group (hard), and pairs drawn at random. A
  pair that is the same to the encoder and was not planted is left out, because nobody knows;
- `Flips`: wrong labels. Symmetric: any other class; asymmetric: the class that a map names, or
  the next one; feature: the class of the nearest item of another class, where the probability
  to be flipped falls with the distance d to it as exp(-d / median d).

Insertions have no label, copies that of their item, then labels are flipped. Parts of the data
are drawn for planted items as they are for others, so copies leak between parts. Items are put
into a random order, so that no tie betrays what was planted. Names of planted items begin in a
way that no other name does.

Wrong labels: which items get one, and which.

Pairs that are judged: duplicates by construction, and others that are none.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from equipoise.clean.collection import MISSING, Collection, Pairs
from equipoise.clean.contaminate.mixture import (
    Mixture,
    appearance,
    copied,
    inserted,
    stream,
)
from equipoise.clean.contaminate.pictures import (
    ALTERATIONS,
    MADE_UP,
    Alteration,
    Planted,
    Random,
)
from equipoise.clean.contaminate.plans import Copies, Flips, OffTopic
from equipoise.clean.detector import Task
from equipoise.clean.directions import Directions
from equipoise.clean.encoders import Encoder
from equipoise.clean.neighbours import Search, neighbours
from equipoise.clean.study import CleanStudy, known_truth
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Bools, Floats, InputError, Ints, choice, require_whole
from equipoise.types.nouns import counted
from equipoise.types.words import capital, joined

__all__ = ["ALTERATIONS", "MADE_UP", "Alteration", "Copies", "Flips", "OffTopic", "contaminate"]


def contaminate(
    collection: Collection,
    *,
    off_topic: OffTopic | None = None,
    copies: Copies | None = None,
    flips: Flips | None = None,
    encoder: Encoder | None = None,
    seed: int = 0,
) -> CleanStudy:
    """Plant problems into a collection.

    Parameters
    ----------
    off_topic, copies, flips
        What to plant; None plants none of a kind, and leaves its task out of the study.
    encoder
        Embeds planted pictures, where there are pictures and embeddings.
    seed
        Of everything that is drawn.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(100, 8))
    >>> data = Collection(items=tuple(f"item {n}" for n in range(100)), embeddings=rows)
    >>> study = contaminate(data, off_topic=OffTopic(), copies=Copies(largest=2))
    >>> len(study.collection), sorted(study.truths)
    (115, ['near_duplicates', 'off_topic'])
    """
    require_whole("seed", seed)
    if off_topic is None and copies is None and flips is None:
        raise InputError(
            "contamination", "nothing to plant", "off_topic, copies or flips", "plan one"
        )
    _check_parts(collection, encoder, flips)
    planted = [*copied(collection, copies, seed), *inserted(collection, off_topic, seed)]
    whole = Mixture.of(collection, planted, off_topic, seed).embedded(encoder)
    data, wrong = whole.data, np.zeros(len(whole.data), dtype=bool)
    if flips is not None:
        data, wrong = flipped(data, flips, stream(seed, "labels"))
    truths: dict[Task, Annotations] = {}
    if off_topic is not None:
        truths["off_topic"] = known_truth(data.items, whole.off_topic)
    if copies is not None:
        truths["near_duplicates"] = known_truth(*_judged_pairs(whole, copies, seed))
    if flips is not None:
        assert data.labels is not None
        known = data.labels != MISSING
        named = tuple(np.array(data.items, dtype=object)[known])
        truths["label_errors"] = known_truth(named, wrong[known])
    return CleanStudy(
        name="contaminated",
        title="A collection with planted problems",
        collection=data,
        truths=truths,
        simulated=_sentence(planted, int(wrong.sum())),
    )


def _check_parts(data: Collection, encoder: Encoder | None, flips: Flips | None) -> None:
    if data.images is None and data.embeddings is None:
        raise InputError(
            "contamination", "neither images nor embeddings", "one of them", "give images"
        )
    if data.images is not None and data.embeddings is not None and encoder is None:
        raise InputError(
            "contamination",
            "images with embeddings",
            "the encoder of the embeddings, for what is planted",
            "give the encoder, or leave images or embeddings out",
        )
    if len(data) < 4:
        raise InputError("contamination", f"{len(data)} items", "four or more", "add items")
    if flips is None:
        return
    if data.labels is None or len(np.unique(data.labels[data.labels != MISSING])) < 2:
        raise InputError(
            "contamination, flips", "fewer than two classes", "labels", "give labels"
        )
    for name in (*flips.classes, *flips.classes.values()):
        choice("flips, classes", name, data.classes)


def _sentence(planted: Sequence[Planted], wrong: int) -> str:
    copies = sum(one.original >= 0 for one in planted)
    strange = len(planted) - copies
    parts = [
        counted(number, noun)
        for number, noun in (
            (strange, "off-topic item"),
            (copies, "altered copy"),
            (wrong, "wrong label"),
        )
        if number
    ]
    return (
        f"{capital(joined(parts))} were planted by a program; what was wrong with the data "
        "before counts as right."
    )


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


_SAME = 1e-9  # distance below which two items are the same
Pair = tuple[int, int]


def _judged_pairs(whole: Mixture, plan: Copies, seed: int) -> tuple[tuple[str, ...], Bools]:
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
