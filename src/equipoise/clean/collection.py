"""Collection: the images, or their embeddings, that are looked through for problems.

Everything is aligned by item: row i of the embeddings, image i and label i are those of
``items[i]``. A `JudgedCollection` is a collection with what people said of its problems, which
is what detectors are compared on.

A pair of items is an item of its own to a metric; its name is made of both names, the one that
sorts first first.

Being a duplicate is transitive: if a is a copy of b and b of c, the three are one group. A
group that has items in two parts of the data, such as train and test, leaks from one to the
other, whichever of its pairs were listed.

>>> duplicate_groups([("d", "b"), ("a", "b"), ("e", "f")], ["a", "b", "c", "d", "e", "f"])
(('a', 'b', 'd'), ('e', 'f'))
>>> leakage([("a", "b"), ("b", "c")], {"a": "train", "b": "train", "c": "test"})
(Leak(parts=('test', 'train'), groups=(('a', 'b', 'c'),), counts=(1, 2)),)
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from itertools import combinations
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from equipoise.datasets import Source
from equipoise.types import (
    Annotations,
    Bools,
    Floats,
    InputError,
    Ints,
    Names,
    Notices,
    Nouns,
    frozen,
    immutable,
    notice,
    positions,
    require_unique,
    short_repr,
)

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


SEPARATOR = " | "
NamedPair = tuple[str, str]


@immutable(eq=False)
class Pairs:
    """Unordered pairs of items, by their places.

    Attributes
    ----------
    first, second
        Places of the two items, the smaller first, shape (pairs,); no pair twice.

    Examples
    --------
    >>> Pairs(np.array([2]), np.array([0])).names(("a", "b", "c"))
    ('a | c',)
    """

    first: Ints
    second: Ints

    __repr__ = short_repr

    def __post_init__(self) -> None:
        first, two = np.asarray(self.first), np.asarray(self.second)
        if first.shape != two.shape or first.ndim != 1 or (first == two).any():
            raise InputError(
                "pairs",
                f"places of shape {first.shape} and {two.shape}"
                + (", an item with itself" if first.shape == two.shape else ""),
                "two places per pair, of two items",
                "give each pair once",
            )
        low, high = np.minimum(first, two), np.maximum(first, two)
        if len(low) and (
            low.min() < 0 or len(np.unique(low * (high.max() + 1) + high)) < len(low)
        ):
            raise InputError(
                "pairs", "a pair twice, or a place below 0", "each pair once", "drop repeats"
            )
        object.__setattr__(self, "first", frozen(low.astype(np.int64)))
        object.__setattr__(self, "second", frozen(high.astype(np.int64)))

    def __len__(self) -> int:
        return len(self.first)

    def names(self, items: Sequence[str]) -> Names:
        """Names of the pairs."""
        return tuple(
            pair_name(items[a], items[b])
            for a, b in zip(self.first.tolist(), self.second.tolist(), strict=True)
        )

    @classmethod
    def from_names(cls, names: Sequence[str], items: Sequence[str]) -> "Pairs":
        """Pairs by their names, in the order of the names."""
        ends = [item for name in names for item in split_pair(name)]
        places = positions(ends, items, where="pairs, items")
        return cls(places[::2], places[1::2])


def pair_name(first: str, other: str) -> str:
    """The name of an unordered pair of items.

    Examples
    --------
    >>> pair_name("scan-2", "scan-1")
    'scan-1 | scan-2'
    """
    return SEPARATOR.join(sorted((first, other)))


def split_pair(name: str) -> tuple[str, str]:
    """The two items of a pair.

    Examples
    --------
    >>> split_pair("scan-1 | scan-2")
    ('scan-1', 'scan-2')
    """
    parts = name.split(SEPARATOR)
    if len(parts) != 2:
        raise InputError(
            f"pair {name!r}",
            f"{len(parts) - 1} separators {SEPARATOR!r}",
            "two items with one between them",
            "rename items that hold the separator",
        )
    return parts[0], parts[1]


@immutable
class Leak:
    """Duplicates between two parts of the data.

    Attributes
    ----------
    parts
        The two, in the order of their names.
    groups
        Groups of duplicates with items in both.
    counts
        How many items of each part have a duplicate in the other.
    """

    parts: tuple[str, str]
    groups: tuple[Names, ...]
    counts: tuple[int, int]


def components(first: Ints, second: Ints, size: int) -> Ints:
    """Of every place the smallest place that pairs connect it with, shape (size,).

    Examples
    --------
    >>> components(np.array([3, 1]), np.array([1, 2]), 5)
    array([0, 1, 1, 1, 4])
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(first), dtype=bool), (first, second)), (size, size))
    part = connected_components(graph, directed=False)[1]
    _, smallest, code = np.unique(part, return_index=True, return_inverse=True)
    return smallest[code]


def duplicate_groups(pairs: Iterable[NamedPair], items: Sequence[str]) -> tuple[Names, ...]:
    """Items that pairs connect, in the order of the items; groups by their first item."""
    listed = list(pairs)
    ends = positions([name for pair in listed for name in pair], items, where="duplicates")
    first = components(ends[::2], ends[1::2], len(items)).tolist()
    members: dict[int, list[str]] = {}
    for place in sorted(set(ends.tolist())):
        members.setdefault(first[place], []).append(items[place])
    return tuple(tuple(group) for group in members.values() if len(group) > 1)


def leakage(pairs: Iterable[NamedPair], split: Mapping[str, str]) -> tuple[Leak, ...]:
    """Duplicates between parts of the data, by the part of each item, empty text for none."""
    shared: dict[tuple[str, str], list[Names]] = {}
    for group in duplicate_groups(pairs, list(split)):
        for both in combinations(sorted({split[name] for name in group} - {""}), 2):
            shared.setdefault(both, []).append(group)
    leaks = []
    for (first, other), groups in sorted(shared.items()):
        count = Counter(split[name] for group in groups for name in group)
        leaks.append(Leak((first, other), tuple(groups), (count[first], count[other])))
    return tuple(leaks)


@immutable(eq=False, kw_only=True)
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
    rejected
        Files that could not be used when it was read, each with a reason.
    notices
        What a reader should know.

    Examples
    --------
    >>> Collection(items=("a", "b"), embeddings=np.eye(2))
    Collection(items: 2, embeddings: 2 x 2)
    """

    items: Names
    embeddings: Floats | None = None
    images: ImageSource | None = None
    labels: Ints | None = None
    classes: Names = ()
    known: Ints | None = None
    split: Names = ()
    pairs: Pairs | None = None
    rejected: tuple[InputError, ...] = ()
    notices: Notices = ()

    __repr__ = short_repr

    def __post_init__(self) -> None:
        _check_names(self.items)
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
        fits = rows.ndim == 2 and len(rows) == len(self.items) and rows.shape[1]
        if not fits or rows.dtype.kind not in "biuf":
            raise InputError(
                "collection, embeddings",
                f"{rows.dtype} of shape {rows.shape}",
                f"numbers of shape ({len(self.items)}, features)",
                "give one row per item",
            )
        rows = rows if rows.dtype == np.float64 else rows.astype(np.float32)
        bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        if len(bad):
            raise InputError(
                f"collection, item {self.items[bad[0]]!r}",
                "an embedding that is not finite"
                + (f" (one of {len(bad)} such items)" if len(bad) > 1 else ""),
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

    @property
    def labelled(self) -> Ints:
        """Places of the items that have a label."""
        return np.flatnonzero(() if self.labels is None else self.labels != MISSING)

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


def _check_names(items: Names) -> None:
    """Refuse names that are there twice, are no text, or hold the separator of pairs."""
    require_unique(items, where="collection, items", do="give every item a name of its own")
    for name in items:
        if not name or SEPARATOR in name or name.encode(errors="replace").decode() != name:
            got = f"{SEPARATOR!r} in its name, which stands between the items of a pair"
            raise InputError(
                f"collection, item {name!r}",
                got if SEPARATOR in name else "an empty name, or one that is no text",
                "text that can be part of the name of a pair",
                "rename the item",
            )


@immutable(eq=False)
class ImageView:
    """Some images of a source."""

    source: ImageSource
    places: Ints

    def __len__(self) -> int:
        return len(self.places)

    def rgb(self, place: int) -> Pixels:
        """One image."""
        return self.source.rgb(int(self.places[place]))

    def digest(self, place: int) -> str:
        """Hash of the image."""
        return self.source.digest(int(self.places[place]))


@immutable(eq=False, kw_only=True)
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
        renamed = {
            task: _with_one_spelling(votes) if task == "near_duplicates" else votes
            for task, votes in self.truths.items()
        }
        object.__setattr__(self, "truths", renamed)

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

    def _visible(self, names: Names, task: Task) -> Bools:
        """Which items, or pairs, are there for detectors of a task, shape (names,)."""
        data = self.collection
        visible = set(data.items)
        if task == "near_duplicates":
            return np.array([visible.issuperset(split_pair(name)) for name in names])
        if task == "label_errors" and data.labels is not None:
            visible = {data.items[place] for place in data.labelled}
        return np.array([name in visible for name in names])


def _with_one_spelling(votes: Annotations) -> Annotations:
    """Votes on pairs by one name each: those on ``b | a`` are votes on ``a | b``."""
    names = [pair_name(*split_pair(name)) for name in votes.items]
    if tuple(names) == votes.items:
        return votes
    items = tuple(dict.fromkeys(names))
    codes = positions(names, items, where="pairs")
    first = np.unique(codes, return_index=True)[1]
    renamed = replace(
        votes,
        items=items,
        item=codes[votes.item],
        group=None if votes.group is None else votes.group[first],
    )
    return (
        renamed if len(items) == len(names) else renamed.rows(_first_spellings(renamed, votes))
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


def known_truth(items: Names, truth: Bools) -> Annotations:
    """Which items are a problem, as gold."""
    return Annotations(
        kind="binary",
        items=items,
        classes=("no", "yes"),
        item=np.arange(len(items)),
        label=truth.astype(np.int64),
        is_gold=np.ones(len(items), dtype=bool),
    )
