"""Problems that are planted, so that a detector can be checked without anybody's votes.

Three kinds, each by a plan, all by one seed:

- `OffTopic`: pictures of another collection, or made up (`MADE_UP`). Where there are only
  embeddings: centre + 1.5 r u, with r the distance of an item, drawn at random, to the
  centre of all, and u a random direction;
- `Copies`: altered copies (`ALTERATIONS`); where there are only embeddings, the item plus
  strength x r x u, with r its own distance to the centre. Copies of one item, and the item, are
  duplicates of each other: all their pairs are truths. Negatives are chosen and judged: for
  every item of a group its nearest items outside the group (hard), and pairs drawn at random. A
  pair that is the same to the encoder and was not planted is left out, because nobody knows;
- `Flips`: wrong labels. Symmetric: any other class; feature: the
  class of the nearest item of another class, where the probability to be flipped falls with
  the distance d to it as exp(-d / median d).

Insertions have no label, copies that of their item, then labels are flipped. Parts of the data
are drawn for planted items as they are for others, so copies leak between parts. Items are put
into a random order, so that no tie betrays what was planted. Names of planted items begin in a
way that no other name does.

Strength of an alteration is in (0, 1]. With strength s it

- ``jpeg`` saves with quality 95 - 85 s;
- ``crop`` cuts away the share 0.5 s of each side, anywhere;
- ``resize`` shrinks both sides to the share 1 - 0.75 s;
- ``rotate`` turns by 45 s degrees, left or right, the corners filled with the mean colour;
- ``mirror`` swaps left and right (strength is 1, there is no half of it);
- ``brightness`` multiplies by 1 - 0.6 s or 1 + 0.6 s;
- ``noise`` adds normal noise of standard deviation 64 s;
- ``blur`` smooths with a radius of 0.05 s of the shorter side, at least half a pixel.

Made up are ``noise`` (every value by itself), ``gradient`` (from one colour to another),
``text`` (lines of dark strokes on light ground) and ``blank`` (one colour).
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from itertools import combinations
from typing import NamedTuple

import numpy as np

from equipoise.clean.collection import (
    MISSING,
    Collection,
    ImageSource,
    JudgedCollection,
    Pairs,
    Pixels,
    Task,
    known_truth,
)
from equipoise.clean.encoders import Encoder, GreyPixels, encoded
from equipoise.clean.similarity import Directions, Search, neighbours
from equipoise.types import (
    Annotations,
    Bools,
    Floats,
    InputError,
    Ints,
    Names,
    capital,
    choice,
    counted,
    immutable,
    joined,
    require_number,
    require_whole,
    short_repr,
)

Random = np.random.Generator


@immutable
class Alteration:
    """How a copy differs from what it was copied from.

    Attributes
    ----------
    kind
        One of `ALTERATIONS`.
    strength
        In (0, 1].
    """

    kind: str
    strength: float = 0.5

    def __post_init__(self) -> None:
        choice("alteration", self.kind, tuple(ALTERATIONS))
        where = f"alteration {self.kind}, strength"
        require_number(where, self.strength, above=0, below=1 + 1e-9, do="try 0.5")
        if self.kind == "mirror":
            require_number(where, self.strength, above=1 - 1e-9, do="a mirror has strength 1")


def alter(pixels: Pixels, how: Alteration, random: Random) -> Pixels:
    """An altered copy of a picture."""
    return np.ascontiguousarray(ALTERATIONS[how.kind](pixels, how.strength, random))


def _jpeg(pixels: Pixels, strength: float, random: Random) -> Pixels:
    from PIL import Image

    del random
    out = BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=round(95 - 85 * strength))
    return np.asarray(Image.open(out))


def _crop(pixels: Pixels, strength: float, random: Random) -> Pixels:
    high, wide = (max(1, round(side * (1 - strength / 2))) for side in pixels.shape[:2])
    top = int(random.integers(0, pixels.shape[0] - high + 1))
    left = int(random.integers(0, pixels.shape[1] - wide + 1))
    return pixels[top : top + high, left : left + wide]


def _resize(pixels: Pixels, strength: float, random: Random) -> Pixels:
    from PIL import Image

    del random
    high, wide = (max(1, round(side * (1 - 0.75 * strength))) for side in pixels.shape[:2])
    return np.asarray(
        Image.fromarray(pixels).resize((wide, high), Image.Resampling.LANCZOS), dtype=np.uint8
    )


def _rotate(pixels: Pixels, strength: float, random: Random) -> Pixels:
    from PIL import Image

    angle = 45 * strength * random.choice((-1, 1))
    fill = tuple(int(channel) for channel in pixels.mean(axis=(0, 1)).round())
    image = Image.fromarray(pixels)
    return np.asarray(image.rotate(angle, Image.Resampling.BICUBIC, fillcolor=fill))


def _mirror(pixels: Pixels, strength: float, random: Random) -> Pixels:
    del strength, random
    return pixels[:, ::-1]


def _brightness(pixels: Pixels, strength: float, random: Random) -> Pixels:
    factor = 1 + 0.6 * strength * random.choice((-1, 1))
    return np.asarray(np.clip(np.rint(pixels * factor), 0, 255), dtype=np.uint8)


def _noise(pixels: Pixels, strength: float, random: Random) -> Pixels:
    noisy = pixels + random.normal(0, 64 * strength, pixels.shape)
    return np.asarray(np.clip(np.rint(noisy), 0, 255), dtype=np.uint8)


def _blur(pixels: Pixels, strength: float, random: Random) -> Pixels:
    from PIL import Image, ImageFilter

    del random
    radius = max(0.5, 0.05 * strength * min(pixels.shape[:2]))
    return np.asarray(Image.fromarray(pixels).filter(ImageFilter.GaussianBlur(radius)))


ALTERATIONS: Mapping[str, Callable[[Pixels, float, Random], Pixels]] = {
    "jpeg": _jpeg,
    "crop": _crop,
    "resize": _resize,
    "rotate": _rotate,
    "mirror": _mirror,
    "brightness": _brightness,
    "noise": _noise,
    "blur": _blur,
}


def _made_noise(shape: tuple[int, int], random: Random) -> Pixels:
    return random.integers(0, 256, (*shape, 3), dtype=np.uint8)


def _made_gradient(shape: tuple[int, int], random: Random) -> Pixels:
    angle = random.uniform(0, 2 * np.pi)
    down, across = np.mgrid[0 : shape[0], 0 : shape[1]]
    along = np.cos(angle) * across + np.sin(angle) * down
    share = (along - along.min()) / max(float(np.ptp(along)), 1e-9)
    start, stop = random.uniform(0, 256, (2, 3))
    ramp = start + share[..., None] * (stop - start)
    return np.asarray(np.clip(ramp, 0, 255), dtype=np.uint8)


def _made_text(shape: tuple[int, int], random: Random) -> Pixels:
    high, wide = shape
    page = np.full((high, wide, 3), 245, np.uint8)
    line = max(3, high // 10)
    for top in range(line // 2, high, line):
        stroke = random.random((max(1, line * 2 // 3), wide)) < 0.55
        words = np.repeat(random.random(wide // 3 + 1) < 0.8, 3)[:wide]
        ink = (stroke & words)[: high - top]
        page[top : top + len(ink)][ink] = 30
    return page


def _made_blank(shape: tuple[int, int], random: Random) -> Pixels:
    return np.broadcast_to(random.integers(0, 256, 3, dtype=np.uint8), (*shape, 3)).copy()


MADE_UP: Mapping[str, Callable[[tuple[int, int], Random], Pixels]] = {
    "noise": _made_noise,
    "gradient": _made_gradient,
    "text": _made_text,
    "blank": _made_blank,
}


class PlantedItem(NamedTuple):
    """An item that is put in.

    Attributes
    ----------
    name
        Of the item.
    original
        Place of the item of which it is a copy, or -1.
    place
        Whose picture, or size, or embedding it starts from.
    alteration
        Of a copy.
    invented
        Kind of a picture that is made up.
    """

    name: str
    original: int
    place: int
    alteration: Alteration | None = None
    invented: str = ""

    @property
    def is_foreign(self) -> bool:
        """Whether it comes from another collection."""
        return self.original < 0 and not self.invented


@immutable(eq=False)
class PlantedImages:
    """Pictures of a source, altered copies of them, and others; nothing is kept in memory.

    Attributes
    ----------
    source, other
        Where pictures come from, and where off-topic ones do, if from anywhere.
    planted
        What comes after the pictures of the source.
    seed
        Of all random numbers.
    """

    source: ImageSource
    other: ImageSource | None
    planted: tuple[PlantedItem, ...]
    seed: int

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.source) + len(self.planted)

    def rgb(self, place: int) -> Pixels:
        """One picture."""
        number = place - len(self.source)
        if number < 0:
            return self.source.rgb(place)
        how = self.planted[number]
        pixels = self._origin(how).rgb(how.place)
        random = np.random.default_rng([self.seed, number + 1])
        if how.invented:
            return MADE_UP[how.invented]((pixels.shape[0], pixels.shape[1]), random)
        return pixels if how.alteration is None else alter(pixels, how.alteration, random)

    def digest(self, place: int) -> str:
        """A hash of the source's picture and of what is done to it."""
        number = place - len(self.source)
        if number < 0:
            return self.source.digest(place)
        how = self.planted[number]
        digest = self._origin(how).digest(how.place)
        if how.is_foreign:
            return digest
        text = f"{digest} {how.alteration} {how.invented} {self.seed} {number + 1}"
        return hashlib.sha256(text.encode()).hexdigest()

    def _origin(self, how: PlantedItem) -> ImageSource:
        if not how.is_foreign:
            return self.source
        assert self.other is not None
        return self.other


FLIPS = ("symmetric", "feature")
_USUAL = tuple(Alteration(kind, 1.0 if kind == "mirror" else 0.5) for kind in ALTERATIONS)
_USUAL_OF_EMBEDDINGS = tuple(Alteration("noise", strength) for strength in (0.1, 0.3, 0.6))
_STAGES = {"copies": 1, "off_topic": 2, "labels": 3, "order": 4, "pairs": 5, "pictures": 6}
__all__ = ["ALTERATIONS", "MADE_UP", "Alteration", "Copies", "Flips", "OffTopic", "contaminate"]
FAR = 1.5  # of what is off topic among embeddings without pictures; 1 is as far as others
_SAME = 1e-9  # distance below which two items are the same
Pair = tuple[int, int]


@immutable(kw_only=True)
class OffTopic:
    """What is put in that does not belong.

    Attributes
    ----------
    share
        Of the items.
    source
        A collection whose images are drawn; None makes pictures up.
    """

    share: float = 0.05
    source: Collection | None = None

    def __post_init__(self) -> None:
        _check_share("off-topic", self.share)


@immutable(kw_only=True)
class Copies:
    """What is put in twice.

    Attributes
    ----------
    share
        Of the items that are copied.
    alterations
        In turn; empty takes all at strength 0.5, of embeddings noise of 0.1, 0.3 and 0.6.
    largest
        Most members of a group of duplicates, the item included; sizes from 2 are equally
        probable.
    hard
        Nearest items outside the group, per member, that are judged as no duplicates.
    random
        Pairs drawn at random that are judged as no duplicates, per pair of duplicates.
    """

    share: float = 0.1
    alterations: tuple[Alteration, ...] = ()
    largest: int = 3
    hard: int = 3
    random: float = 1.0

    def __post_init__(self) -> None:
        _check_share("copies", self.share)
        require_whole("copies, largest", self.largest, least=2, do="try 2")
        require_whole("copies, hard", self.hard, least=0)
        require_number("copies, random", self.random, above=-1e-9)


@immutable(kw_only=True)
class Flips:
    """Labels that are made wrong.

    Attributes
    ----------
    share
        Of the items that have a label.
    kind
        ``symmetric`` or ``feature``.
    verified
        Share of the labels that are right and become known as such.
    """

    share: float = 0.1
    kind: str = "symmetric"
    verified: float = 0.0

    def __post_init__(self) -> None:
        _check_share("flips", self.share)
        choice("flips, kind", self.kind, FLIPS)
        require_number("flips, verified", self.verified, above=-1e-9, below=1 + 1e-9)


def _check_share(where: str, share: float) -> None:
    require_number(f"{where}, share", share, above=0, below=1 + 1e-9, do="try 0.1")


def stream(seed: int, stage: str, *more: int) -> Random:
    """Random numbers of one stage of the work."""
    return np.random.default_rng([seed, _STAGES[stage], *more])


def _free_prefix(items: Sequence[str]) -> str:
    """How names of planted items begin, and no other name does."""
    prefix = "planted-"
    while any(name.startswith(prefix) for name in items):
        prefix = f"+{prefix}"
    return prefix


def plan_copies(data: Collection, plan: Copies | None, seed: int) -> list[PlantedItem]:
    """Copies of some items, alterations in turn."""
    if plan is None:
        return []
    random, prefix = stream(seed, "copies"), _free_prefix(data.items)
    usual = _USUAL_OF_EMBEDDINGS if data.images is None else _USUAL
    alterations = plan.alterations or usual
    if data.images is None and any(alteration.kind != "noise" for alteration in alterations):
        raise InputError(
            "copies, alterations",
            "alterations of pictures",
            "noise, where there are only embeddings",
            "give images, or leave them out",
        )
    number = max(1, round(plan.share * len(data)))
    originals = random.choice(len(data), number, replace=False)
    sizes = random.integers(1, plan.largest, number)
    copies: list[PlantedItem] = []
    for place in np.repeat(originals, sizes).tolist():
        how = alterations[len(copies) % len(alterations)]
        name = f"{prefix}copy-{len(copies):05d}-{how.kind}"
        copies.append(PlantedItem(name, place, place, how))
    return copies


def plan_insertions(data: Collection, plan: OffTopic | None, seed: int) -> list[PlantedItem]:
    """Items that do not belong."""
    if plan is None:
        return []
    random, prefix = stream(seed, "off_topic"), _free_prefix(data.items)
    number = max(1, round(plan.share * len(data)))
    if plan.source is None:
        places = random.integers(0, len(data), number).tolist()
        kinds = ("far",) if data.images is None else tuple(MADE_UP)
        return [
            PlantedItem(
                f"{prefix}off-topic-{n:05d}-{kinds[n % len(kinds)]}",
                -1,
                place,
                invented=kinds[n % len(kinds)],
            )
            for n, place in enumerate(places)
        ]
    have, lacks = len(plan.source), data.images is None or plan.source.images is None
    if lacks or have < number:
        raise InputError(
            "off-topic, source",
            f"{have} items" + (" without images, or for a collection without" if lacks else ""),
            f"{number} images or more, to put among images",
            "give a larger source, or plant a smaller share",
        )
    places = random.choice(have, number, replace=False).tolist()
    return [PlantedItem(f"{prefix}off-topic-{n:05d}", -1, p) for n, p in enumerate(places)]


def _with_planted(
    data: Collection, planted: Sequence[PlantedItem], off_topic: OffTopic | None, seed: int
) -> Collection:
    """The items and after them what is planted, without what has still to be embedded."""
    original = np.array([item.original for item in planted], dtype=np.int64)
    other = off_topic.source.images if off_topic and off_topic.source else None
    return Collection(
        items=(*data.items, *(item.name for item in planted)),
        embeddings=_more_embeddings(data, planted, seed),
        images=None
        if data.images is None
        else PlantedImages(data.images, other, tuple(planted), seed),
        labels=_more_labels(data.labels, original),
        known=_more_labels(data.known, np.full(len(planted), -1)),
        classes=data.classes,
        split=_more_parts(data.split, len(planted), seed),
    )


def _embedded(data: Collection, planted: Bools, encoder: Encoder | None) -> Collection:
    """The same with embeddings of what is planted, or of everything where there are none."""
    if encoder is None or data.images is None:
        return data
    if data.embeddings is None:
        return replace(data, embeddings=encoded(encoder, data.images, range(len(data))))
    places = np.flatnonzero(planted)
    rows, values = encoded(encoder, data.images, places.tolist()), np.array(data.embeddings)
    if len(rows) and rows.shape[1] != values.shape[1]:
        raise InputError(
            "contamination, encoder",
            f"{rows.shape[1]} features",
            f"{values.shape[1]}, as the embeddings have",
            "give the encoder that made them",
        )
    values[places] = rows
    return replace(data, embeddings=values)


def _more_embeddings(
    data: Collection, planted: Sequence[PlantedItem], seed: int
) -> Floats | None:
    """Embeddings of planted items where there are no pictures; zeros where there are."""
    if data.embeddings is None:
        return None
    rows = np.asarray(data.embeddings, dtype=np.float64)
    if data.images is not None:
        blank = np.zeros((len(planted), rows.shape[1]))
        return np.concatenate((rows, blank)).astype(data.embeddings.dtype)
    centre = rows.mean(axis=0)
    new = np.empty((len(planted), rows.shape[1]))
    for number, item in enumerate(planted):
        direction = stream(seed, "pictures", number).normal(size=rows.shape[1])
        start = centre if item.alteration is None else rows[item.place]
        far = FAR if item.alteration is None else item.alteration.strength
        reach = far * np.linalg.norm(rows[item.place] - centre)
        new[number] = start + reach * direction / np.linalg.norm(direction)
    return np.concatenate((rows, new)).astype(data.embeddings.dtype)


def _more_labels(labels: Ints | None, original: Ints) -> Ints | None:
    if labels is None:
        return None
    inherited = np.where(original < 0, MISSING, labels[original])
    return np.concatenate((labels, inherited))


def _more_parts(split: Names, number: int, seed: int) -> Names:
    if not split:
        return ()
    drawn = stream(seed, "order", 1).integers(0, len(split), number)
    return (*split, *(split[place] for place in drawn))


def appearance(data: Collection) -> Floats:
    """Embeddings, or small grey pictures where there are none."""
    if data.embeddings is not None:
        return data.embeddings
    assert data.images is not None
    return GreyPixels().encode(data.images, range(len(data)))


def contaminate(
    collection: Collection,
    *,
    off_topic: OffTopic | None = None,
    copies: Copies | None = None,
    flips: Flips | None = None,
    encoder: Encoder | None = None,
    seed: int = 0,
) -> JudgedCollection:
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
    planted = [
        *plan_copies(collection, copies, seed),
        *plan_insertions(collection, off_topic, seed),
    ]
    whole = _with_planted(collection, planted, off_topic, seed)
    size, order = len(collection), stream(seed, "order").permutation(len(whole))
    original = np.array([*range(size), *(item.original for item in planted)])[order]
    data = _embedded(whole.subset(order), order >= size, encoder)
    strange, wrong = original < 0, np.zeros(len(whole), dtype=bool)
    if flips is not None:
        data, wrong = flip_labels(data, flips, stream(seed, "labels"))
    truths: dict[Task, Annotations] = {}
    if off_topic is not None:
        truths["off_topic"] = known_truth(data.items, strange)
    if copies is not None:
        truths["near_duplicates"] = known_truth(
            *_judged_pairs(data, np.where(strange, order, original), copies, seed)
        )
    if flips is not None:
        labelled = data.labelled
        named = tuple(data.items[place] for place in labelled)
        truths["label_errors"] = known_truth(named, wrong[labelled])
    return JudgedCollection(
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
    if data.labels is None or len(np.unique(data.labels[data.labelled])) < 2:
        raise InputError(
            "contamination, flips", "fewer than two classes", "labels", "give labels"
        )


def _sentence(planted: Sequence[PlantedItem], wrong: int) -> str:
    copies = sum(item.original >= 0 for item in planted)
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


def flip_labels(data: Collection, plan: Flips, random: Random) -> tuple[Collection, Bools]:
    """The collection with wrong labels, and which ones are wrong."""
    assert data.labels is not None
    labels = np.array(data.labels)
    rows = data.labelled
    wrong_class, weight = _wrong_classes(data, plan, rows, random)
    number = max(1, round(plan.share * len(rows)))
    chosen = random.choice(len(rows), number, replace=False, p=weight / weight.sum())
    labels[rows[chosen]] = wrong_class[chosen]
    wrong = labels != data.labels
    verified = np.full(len(labels), MISSING) if data.known is None else np.array(data.known)
    verified[wrong] = MISSING
    if plan.verified:
        right = rows[~wrong[rows]]
        sure = random.choice(right, round(plan.verified * len(right)), replace=False)
        verified[sure] = labels[sure]
    if data.known is None and not plan.verified:
        return replace(data, labels=labels), wrong
    return replace(data, labels=labels, known=verified), wrong


def _wrong_classes(
    data: Collection, plan: Flips, rows: Ints, random: Random
) -> tuple[Ints, Floats]:
    """For every labelled item the class that it would get, and its weight in the draw."""
    assert data.labels is not None
    labels = data.labels[rows]
    present = np.unique(labels)
    if plan.kind == "symmetric":
        step = random.integers(1, len(present), len(rows))
        place = np.searchsorted(present, labels)
        return present[(place + step) % len(present)], np.ones(len(rows))
    points = Directions.of(appearance(data)[rows])
    search = Search(points, np.arange(len(rows)))
    distance, nearest = search.nearest_elsewhere(labels, np.arange(len(rows)))
    scale = float(np.median(distance)) or 1.0
    return labels[nearest], np.exp(-distance / scale)


def _judged_pairs(
    data: Collection, group: Ints, plan: Copies, seed: int
) -> tuple[Names, Bools]:
    """All pairs of duplicates, of one group, and the pairs that are judged as none."""
    members: dict[int, list[int]] = {}
    for place, code in enumerate(group.tolist()):
        members.setdefault(code, []).append(place)
    groups = [places for places in members.values() if len(places) > 1]
    yes = {pair for places in groups for pair in combinations(sorted(places), 2)}
    values = appearance(data)
    inside = np.array(sorted(place for places in groups for place in places))
    no = _hard_negatives(group, values, inside, plan)
    no |= _random_negatives(group, values, yes | no, round(plan.random * len(yes)), seed)
    judged = np.array(sorted(yes) + sorted(no), dtype=np.int64)
    names = Pairs(judged[:, 0], judged[:, 1]).names(data.items)
    truth = np.arange(len(judged)) < len(yes)
    order = stream(seed, "pairs", 1).permutation(len(judged))
    return tuple(names[place] for place in order), truth[order]


def _hard_negatives(group: Ints, values: Floats, inside: Ints, plan: Copies) -> set[Pair]:
    """The nearest items outside the group of every item that has duplicates."""
    if not plan.hard:
        return set()
    largest = int(np.bincount(group).max())
    reach = min(plan.hard + largest, len(group) - 1)
    distance, near = neighbours(values, reach, queries=inside)
    negatives: set[Pair] = set()
    for item, lengths, others in zip(inside.tolist(), distance, near.tolist(), strict=True):
        outside = [
            other
            for length, other in zip(lengths, others, strict=True)
            if group[other] != group[item] and length > _SAME
        ]
        negatives |= {(min(item, other), max(item, other)) for other in outside[: plan.hard]}
    return negatives


def _random_negatives(
    group: Ints, values: Floats, taken: set[Pair], number: int, seed: int
) -> set[Pair]:
    """Pairs of different groups, drawn until there are enough or all are taken."""
    random, size = stream(seed, "pairs"), len(group)
    points, negatives = Directions.of(values), set[Pair]()
    for _ in range(50):
        draw = np.sort(random.integers(0, size, (number + 8, 2)), axis=1)
        apart = group[draw[:, 0]] != group[draw[:, 1]]
        apart &= points.distance(draw[:, 0], draw[:, 1]) > _SAME
        for first, other in draw[apart].tolist():
            if len(negatives) < number and (first, other) not in taken:
                negatives.add((first, other))
        if len(negatives) == number:
            break
    return negatives
