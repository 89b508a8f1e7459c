"""Mixture: a collection with altered copies and insertions, in a random order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from equipoise.clean.collection import MISSING, Collection, ImageSource
from equipoise.clean.contaminate.pictures import (
    ALTERATIONS,
    Alteration,
    Planted,
    PlantedImages,
    Random,
)
from equipoise.clean.contaminate.plans import Copies, OffTopic
from equipoise.clean.encoders import Encoder, GreyPixels
from equipoise.types.arrays import Bools, Floats, InputError, Ints

_USUAL = tuple(Alteration(kind, 1.0 if kind == "mirror" else 0.5) for kind in ALTERATIONS)
_USUAL_OF_EMBEDDINGS = tuple(Alteration("noise", strength) for strength in (0.1, 0.3, 0.6))
_STAGES = {"copies": 1, "off_topic": 2, "labels": 3, "order": 4, "pairs": 5, "pictures": 6}


def stream(seed: int, stage: str, *more: int) -> Random:
    """Random numbers of one stage of the work."""
    return np.random.default_rng([seed, _STAGES[stage], *more])


def _free_prefix(items: Sequence[str]) -> str:
    """How names of planted items begin, and no other name does."""
    prefix = "planted-"
    while any(name.startswith(prefix) for name in items):
        prefix = f"+{prefix}"
    return prefix


def copied(data: Collection, plan: Copies | None, seed: int) -> list[Planted]:
    """Copies of some items, alterations in turn."""
    if plan is None:
        return []
    random, prefix = stream(seed, "copies"), _free_prefix(data.items)
    usual = _USUAL_OF_EMBEDDINGS if data.images is None else _USUAL
    alterations = plan.alterations or usual
    if data.images is None and any(one.kind != "noise" for one in alterations):
        raise InputError(
            "copies, alterations",
            "alterations of pictures",
            "noise, where there are only embeddings",
            "give images, or leave them out",
        )
    number = max(1, round(plan.share * len(data)))
    originals = random.choice(len(data), number, replace=False)
    sizes = random.integers(1, plan.largest, number)
    made: list[Planted] = []
    for place in np.repeat(originals, sizes).tolist():
        how = alterations[len(made) % len(alterations)]
        name = f"{prefix}copy-{len(made):05d}-{how.kind}"
        made.append(Planted(name, place, place, how))
    return made


def inserted(data: Collection, plan: OffTopic | None, seed: int) -> list[Planted]:
    """Items that do not belong."""
    if plan is None:
        return []
    random, prefix = stream(seed, "off_topic"), _free_prefix(data.items)
    number = max(1, round(plan.share * len(data)))
    if plan.source is None:
        places = random.integers(0, len(data), number).tolist()
        kinds = plan.kinds if data.images is not None else ("far",)
        return [
            Planted(
                f"{prefix}off-topic-{n:05d}-{kinds[n % len(kinds)]}",
                -1,
                place,
                made=kinds[n % len(kinds)],
            )
            for n, place in enumerate(places)
        ]
    have = len(plan.source)
    lacks = (data.images is not None and plan.source.images is None) or (
        data.images is None and plan.source.embeddings is None
    )
    if lacks or have < number:
        raise InputError(
            "off-topic, source",
            f"{have} items" + (" without what the collection has" if lacks else ""),
            f"{number} or more, with {'images' if data.images is not None else 'embeddings'}",
            "give a larger source of the same kind, or plant a smaller share",
        )
    places = random.choice(have, number, replace=False).tolist()
    return [Planted(f"{prefix}off-topic-{n:05d}", -1, p) for n, p in enumerate(places)]


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """A collection with what is planted, in a random order.

    Attributes
    ----------
    data
        Without what has still to be embedded.
    group
        Number of the original of every item, its own for those that are none's copy.
    off_topic
        Which items do not belong.
    planted
        Which items are planted.
    """

    data: Collection
    group: Ints
    off_topic: Bools
    planted: Bools

    @classmethod
    def of(
        cls,
        data: Collection,
        planted: Sequence[Planted],
        off_topic: OffTopic | None,
        seed: int,
    ) -> Self:
        """Put them together."""
        size, total = len(data), len(data) + len(planted)
        order = stream(seed, "order").permutation(total)
        original = np.array([one.original for one in planted], dtype=np.int64)
        group = np.concatenate((np.arange(size), original))
        strange = group < 0
        group[strange] = np.flatnonzero(strange)
        other = off_topic.source.images if off_topic and off_topic.source else None
        whole = Collection(
            items=(*data.items, *(one.name for one in planted)),
            embeddings=_more_embeddings(data, planted, off_topic, seed),
            images=None
            if data.images is None
            else PlantedImages(data.images, other, tuple(planted), seed),
            labels=_more_labels(data.labels, original),
            known=_more_labels(data.known, np.full(len(planted), -1)),
            classes=data.classes,
            split=_more_parts(data.split, len(planted), seed),
        )
        return cls(whole.subset(order), group[order], strange[order], (order >= size))

    def embedded(self, encoder: Encoder | None) -> "Mixture":
        """The same with embeddings of what is planted, or of everything where none is known."""
        if encoder is None or self.data.images is None:
            return self
        images: ImageSource = self.data.images
        known = self.data.embeddings
        todo = np.flatnonzero(self.planted) if known is not None else np.arange(len(self.data))
        made = encoder.encode(images, todo.tolist())
        if known is None:
            return replace(self, data=replace(self.data, embeddings=made))
        if len(made) and made.shape[1] != known.shape[1]:
            raise InputError(
                "contamination, encoder",
                f"{made.shape[1]} features",
                f"{known.shape[1]}, as the embeddings have",
                "give the encoder that made them",
            )
        values = np.array(known)
        values[todo] = made
        return replace(self, data=replace(self.data, embeddings=values))


def _more_embeddings(
    data: Collection, planted: Sequence[Planted], off_topic: OffTopic | None, seed: int
) -> Floats | None:
    """Embeddings of planted items where there are no pictures; zeros where there are."""
    if data.embeddings is None:
        return None
    rows = np.asarray(data.embeddings, dtype=np.float64)
    if data.images is not None:
        blank = np.zeros((len(planted), rows.shape[1]))
        return np.concatenate((rows, blank)).astype(data.embeddings.dtype)
    centre, distance = rows.mean(axis=0), off_topic.distance if off_topic else 0.0
    new = np.empty((len(planted), rows.shape[1]))
    for number, one in enumerate(planted):
        direction = stream(seed, "pictures", number).normal(size=rows.shape[1])
        if off_topic is not None and one.is_foreign:
            new[number] = _foreign_row(off_topic, one.place, rows.shape[1])
            continue
        start = centre if one.alteration is None else rows[one.place]
        far = distance if one.alteration is None else one.alteration.strength
        reach = far * np.linalg.norm(rows[one.place] - centre)
        new[number] = start + reach * direction / np.linalg.norm(direction)
    return np.concatenate((rows, new)).astype(data.embeddings.dtype)


def _foreign_row(off_topic: OffTopic, place: int, features: int) -> Floats:
    assert off_topic.source is not None and off_topic.source.embeddings is not None
    row = off_topic.source.embeddings[place]
    if len(row) != features:
        raise InputError(
            "off-topic, source",
            f"embeddings of {len(row)} features",
            f"{features} features",
            "embed both with the same encoder",
        )
    return np.asarray(row)


def _more_labels(labels: Ints | None, original: Ints) -> Ints | None:
    if labels is None:
        return None
    inherited = np.where(original < 0, MISSING, labels[original])
    return np.concatenate((labels, inherited))


def _more_parts(split: tuple[str, ...], number: int, seed: int) -> tuple[str, ...]:
    if not split:
        return ()
    drawn = stream(seed, "order", 1).integers(0, len(split), number)
    return (*split, *(split[one] for one in drawn))


def appearance(data: Collection) -> Floats:
    """Embeddings, or small grey pictures where there are none."""
    if data.embeddings is not None:
        return data.embeddings
    assert data.images is not None
    return GreyPixels().encode(data.images, range(len(data)))
