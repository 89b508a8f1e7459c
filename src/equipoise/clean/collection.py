"""Collection: the images, or their embeddings, that are looked through for problems.

Everything is aligned by item: row i of the embeddings, image i and label i are those of
``items[i]``. A `JudgedCollection` is a collection with what people said of its problems, which
is what detectors are compared on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from equipoise.clean.pairs import Pairs, pair_name, split_pair
from equipoise.datasets import Source
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import (
    Bools,
    Floats,
    InputError,
    Ints,
    frozen,
    require_unique,
    short_repr,
)
from equipoise.types.notices import notice
from equipoise.types.words import Nouns

Task = Literal["off_topic", "near_duplicates", "label_errors"]
TASKS: tuple[Task, ...] = get_args(Task)
TITLES = {
    "off_topic": "Off-topic images",
    "near_duplicates": "Near duplicates",
    "label_errors": "Label errors",
}
MISSING = -1
Pixels = NDArray[np.uint8]  # (height, width, 3), RGB
UNSEEN = (
    "{items:count} judged items are left out: they are not in the collection, or have no label "
    "to be wrong."
)
UNSEEN_PAIRS = "{pairs:count} judged pairs are left out: an item of theirs is not there."


class ImageSource(Protocol):
    """Images that are read one by one, never all at once."""

    def __len__(self) -> int:
        """How many there are."""
        ...

    def rgb(self, place: int) -> Pixels:
        """One image, upright, as RGB of eight bits, shape (height, width, 3)."""
        ...

    def digest(self, place: int) -> str:
        """A hash of what the image holds, by which its embedding is kept."""
        ...


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Collection:
    """What is looked through.

    Attributes
    ----------
    items
        Names, unique.
    embeddings
        Shape (items, features), finite; None where there are none (yet).
    images
        What the items look like; None where only embeddings are known.
    labels, classes
        The label that each item has, as the code of a class, -1 where it has none; and the
        names of the classes.
    known
        Labels that are known to be right, -1 elsewhere, for methods that need a clean subset.
    split
        The part of the data that each item belongs to, such as ``train``; empty for none.
    pairs
        Pairs to be scored; None lets a detector of pairs propose its own.

    Examples
    --------
    >>> Collection(items=("a", "b"), embeddings=np.eye(2))
    Collection(items: 2, embeddings: 2 x 2)
    """

    items: tuple[str, ...]
    embeddings: Floats | None = None
    images: ImageSource | None = None
    labels: Ints | None = None
    classes: tuple[str, ...] = ()
    known: Ints | None = None
    split: tuple[str, ...] = ()
    pairs: Pairs | None = None

    __repr__ = short_repr

    def __post_init__(self) -> None:
        require_unique(self.items, where="collection, items")
        if self.embeddings is not None:
            object.__setattr__(self, "embeddings", self._checked_embeddings(self.embeddings))
        for name in ("labels", "known"):
            codes = getattr(self, name)
            if codes is not None:
                object.__setattr__(self, name, self._checked_labels(name, codes))
        for name, size in (("images", self.images), ("split", self.split)):
            if size and len(size) != len(self.items):
                raise InputError(
                    f"collection, {name}",
                    f"{len(size)} of them",
                    f"one per item ({len(self.items)})",
                    "align them with the items",
                )
        if (
            self.pairs is not None
            and len(self.pairs)
            and self.pairs.second.max() >= len(self.items)
        ):
            raise InputError(
                "collection, pairs",
                f"place {self.pairs.second.max()}",
                f"below {len(self.items)}",
                "give places of items",
            )

    def _checked_embeddings(self, embeddings: Floats) -> Floats:
        rows = np.asarray(embeddings)
        rows = rows if rows.dtype == np.float64 else rows.astype(np.float32)
        if rows.ndim != 2 or len(rows) != len(self.items) or not rows.shape[1]:
            raise InputError(
                "collection, embeddings",
                f"shape {rows.shape}",
                f"({len(self.items)}, features)",
                "give one row per item",
            )
        bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        if len(bad):
            raise InputError(
                f"collection, embedding of {self.items[bad[0]]!r}",
                "not finite" + (f" (and of {len(bad) - 1} more)" if len(bad) > 1 else ""),
                "finite numbers",
                "embed these images again, or leave them out",
            )
        return frozen(rows)

    def _checked_labels(self, name: str, labels: Ints) -> Ints:
        codes = np.asarray(labels)
        if codes.shape != (len(self.items),) or not np.issubdtype(codes.dtype, np.integer):
            raise InputError(
                f"collection, {name}",
                f"{codes.dtype} of shape {codes.shape}",
                f"whole numbers of shape ({len(self.items)},)",
                "give the code of a class per item, -1 where there is none",
            )
        if len(codes) and (codes.min() < MISSING or codes.max() >= len(self.classes)):
            raise InputError(
                f"collection, {name}",
                f"code {codes.max() if codes.max() >= len(self.classes) else codes.min()}",
                f"-1 to {len(self.classes) - 1}",
                "name every class",
            )
        return frozen(codes.astype(np.int64))

    def __len__(self) -> int:
        return len(self.items)

    def subset(self, places: Ints) -> "Collection":
        """Some items, in this order; pairs stay behind."""
        rows = np.asarray(places, dtype=np.int64)

        return replace(
            self,
            items=tuple(self.items[i] for i in rows),
            embeddings=None if self.embeddings is None else self.embeddings[rows],
            images=None if self.images is None else ImageView(self.images, rows),
            labels=None if self.labels is None else self.labels[rows],
            known=None if self.known is None else self.known[rows],
            split=tuple(self.split[i] for i in rows) if self.split else (),
            pairs=None,
        )


@dataclass(frozen=True, slots=True, eq=False)
class ImageView:
    """Some images of a source, each turned by quarters, then mirrored."""

    source: ImageSource
    places: Ints
    turns: int = 0
    mirrored: bool = False

    def __len__(self) -> int:
        return len(self.places)

    def rgb(self, place: int) -> Pixels:
        """One image, turned, then mirrored."""
        pixels = self.source.rgb(int(self.places[place]))
        if not self.turns and not self.mirrored:
            return pixels
        turned = np.rot90(pixels, self.turns)
        return np.ascontiguousarray(turned[:, ::-1] if self.mirrored else turned)

    def digest(self, place: int) -> str:
        """Hash of the image and of how it is turned; that of the image as it is for itself."""
        digest = self.source.digest(int(self.places[place]))
        if not self.turns and not self.mirrored:
            return digest
        return f"{digest}-{self.turns}{'m' if self.mirrored else ''}"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JudgedCollection:
    """Images, embeddings and labels, and yes/no votes on which of them are a problem.

    Attributes
    ----------
    name, title
        As on the command line, and for people.
    collection
        What detectors see.
    truths
        By task, votes (or gold) on items, or on pairs by their names, ``a | b`` or ``b | a``
        (kept as `Pairs.names` has them); yes is a problem. Pairs that nobody judged are not
        there: they are no negatives.
    experts
        By task, votes of a panel of experts on some of the items, for thresholds; may be empty.
    source
        Where it comes from; None for what a user made.
    simulated
        A sentence where problems were planted by a program; empty for real ones.
    nouns
        What items and annotators are called.
    """

    name: str
    title: str
    collection: Collection
    truths: Mapping[Task, Annotations]
    experts: Mapping[Task, Annotations] = field(default_factory=dict)
    source: Source | None = None
    simulated: str = ""
    nouns: Nouns = field(default_factory=lambda: Nouns("image", "annotator"))

    __repr__ = short_repr

    def __post_init__(self) -> None:
        for task, votes in self.truths.items():
            if task not in TASKS or votes.kind != "binary":
                raise InputError(
                    f"cleaning study {self.name}, task {task!r}",
                    f"{votes.kind} votes",
                    f"yes/no votes on one of {', '.join(TASKS)}",
                    "ask whether an item is a problem",
                )
        for name in ("truths", "experts"):
            votes_of: Mapping[Task, Annotations] = getattr(self, name)
            renamed = {
                task: _with_one_spelling(votes) if task == "near_duplicates" else votes
                for task, votes in votes_of.items()
            }
            object.__setattr__(self, name, renamed)

    def collection_for(self, task: Task) -> Collection:
        """What detectors of a task see: the collection, and which pairs were judged."""
        if task != "near_duplicates":
            return self.collection
        pairs = Pairs.from_names(self.visible_votes(task).items, self.collection.items)
        return replace(self.collection, pairs=pairs)

    def visible_votes(self, task: Task) -> Annotations:
        """Votes on what detectors can see, with a notice on what they cannot.

        Items must be in the collection, both of a pair, and label errors need a label.
        """
        votes = self.truths[task]
        keep = self._visible(votes.items, task)
        if not keep.any():
            raise InputError(
                f"study {self.name}, votes on {task}",
                "no item that detectors see",
                "votes on "
                + ("pairs of " if task == "near_duplicates" else "")
                + "items of the collection"
                + (" with a label" if task == "label_errors" else ""),
                "check the names of the items",
            )
        if keep.all():
            return votes
        left, part = int((~keep).sum()), votes.of_items(keep)
        left_out = (
            notice("unseen_pairs", UNSEEN_PAIRS, pairs=left)
            if task == "near_duplicates"
            else notice("unseen_items", UNSEEN, items=left)
        )
        return replace(part, notices=(*part.notices, left_out))

    def _visible(self, names: tuple[str, ...], task: Task) -> Bools:
        """Which items, or pairs, are there for detectors of a task, shape (names,)."""
        data = self.collection
        visible = set(data.items)
        if task == "near_duplicates":
            return np.array([visible.issuperset(split_pair(name)) for name in names])
        if task == "label_errors" and data.labels is not None:
            labels = data.labels.tolist()
            visible = {n for n, code in zip(data.items, labels, strict=True) if code != MISSING}
        return np.array([name in visible for name in names])


def _with_one_spelling(votes: Annotations) -> Annotations:
    """Votes on pairs by one name each: those on ``b | a`` are votes on ``a | b``."""
    names = [pair_name(*split_pair(name)) for name in votes.items]
    if tuple(names) == votes.items:
        return votes
    place = {name: number for number, name in enumerate(dict.fromkeys(names))}
    codes = np.array([place[name] for name in names], dtype=np.int64)
    first = np.unique(codes, return_index=True)[1]
    renamed = replace(
        votes,
        items=tuple(place),
        item=codes[votes.item],
        group=None if votes.group is None else votes.group[first],
    )
    return (
        renamed if len(place) == len(names) else renamed.rows(_first_spellings(renamed, votes))
    )


def _first_spellings(renamed: Annotations, votes: Annotations) -> Bools:
    """Rows, without those in which somebody says the same of a pair the other way round."""
    keep = np.ones(len(renamed), dtype=bool)
    if renamed.annotator is None or renamed.annotators is None or renamed.label is None:
        return keep
    before: dict[tuple[int, int], tuple[int, int]] = {}
    rows = zip(renamed.item.tolist(), renamed.annotator.tolist(), strict=True)
    for row, who in enumerate(rows):
        answer = int(votes.item[row]), int(renamed.label[row])
        spelling, label = before.setdefault(who, answer)
        if spelling != answer[0] and label != answer[1]:
            raise InputError(
                f"votes on near_duplicates, pair {renamed.items[who[0]]!r}",
                f"{renamed.annotators[who[1]]!r} says {renamed.classes[answer[1]]!r} and, of "
                f"the pair the other way round, {renamed.classes[label]!r}",
                "one answer of an annotator on a pair",
                "keep one of the two",
            )
        keep[row] = spelling == answer[0]
    return keep


def known_truth(items: tuple[str, ...], truth: Bools) -> Annotations:
    """Which items are a problem, as gold."""
    return Annotations(
        kind="binary",
        items=items,
        classes=("no", "yes"),
        item=np.arange(len(items)),
        label=truth.astype(np.int64),
        is_gold=np.ones(len(items), dtype=bool),
    )
