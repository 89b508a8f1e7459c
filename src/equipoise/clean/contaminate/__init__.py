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
"""

from collections.abc import Sequence

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import Bools, InputError, choice, require_whole
from equipoise.clean.collection import MISSING, Collection
from equipoise.clean.contaminate.labels import flipped
from equipoise.clean.contaminate.mixture import Mixture, Planted, copied, inserted, stream
from equipoise.clean.contaminate.pairs import judged_pairs
from equipoise.clean.contaminate.pictures import ALTERATIONS, MADE_UP, Alteration
from equipoise.clean.contaminate.plans import Copies, Flips, OffTopic
from equipoise.clean.detector import Task
from equipoise.clean.encoders import Encoder
from equipoise.clean.study import CleanStudy
from equipoise.nouns import counted
from equipoise.wording import capital, joined

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
        truths["off_topic"] = _gold(data.items, whole.off_topic)
    if copies is not None:
        truths["near_duplicates"] = _gold(*judged_pairs(whole, copies, seed))
    if flips is not None:
        assert data.labels is not None
        known = data.labels != MISSING
        named = tuple(np.array(data.items, dtype=object)[known])
        truths["label_errors"] = _gold(named, wrong[known])
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


def _gold(items: tuple[str, ...], truth: Bools) -> Annotations:
    """The truth of every item, as gold."""
    return Annotations(
        kind="binary",
        items=items,
        classes=("no", "yes"),
        item=np.arange(len(items)),
        label=truth.astype(np.int64),
        is_gold=np.ones(len(items), dtype=bool),
    )


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
