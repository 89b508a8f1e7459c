"""Collection: the images, or their embeddings, that are looked through for problems.

Everything is aligned by item: row i of the embeddings, image i and label i are those of
``items[i]``. A pair of items is an item of its own to a metric; its name is made of both names,
the one that sorts first first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from equipoise.types.arrays import (
    Floats,
    InputError,
    Ints,
    frozen,
    require_unique,
    short_repr,
)

SEPARATOR = " | "
MISSING = -1
Pixels = NDArray[np.uint8]  # (height, width, 3), RGB


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


@dataclass(frozen=True, slots=True, eq=False)
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
        one, two = np.asarray(self.first), np.asarray(self.second)
        if one.shape != two.shape or one.ndim != 1 or (one == two).any():
            raise InputError(
                "pairs",
                f"places of shape {one.shape} and {two.shape}"
                + (", an item with itself" if one.shape == two.shape else ""),
                "two places per pair, of two items",
                "give each pair once",
            )
        low, high = np.minimum(one, two), np.maximum(one, two)
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

    def names(self, items: Sequence[str]) -> tuple[str, ...]:
        """Names of the pairs."""
        return tuple(
            pair_name(items[a], items[b])
            for a, b in zip(self.first.tolist(), self.second.tolist(), strict=True)
        )

    @classmethod
    def named(cls, names: Sequence[str], items: Sequence[str]) -> "Pairs":
        """Pairs by their names, in the order of the names."""
        place = {name: number for number, name in enumerate(items)}
        both = [split_pair(name) for name in names]
        missing = [one for two in both for one in two if one not in place]
        if missing:
            raise InputError(
                f"pairs, item {missing[0]!r}",
                "not among the items",
                f"one of {len(place)} items such as {next(iter(place), '')!r}",
                "give its image or embedding, or leave the pair out",
            )
        places = np.array([[place[a], place[b]] for a, b in both], dtype=np.int64)
        return cls(places.reshape(-1, 2)[:, 0], places.reshape(-1, 2)[:, 1])


def pair_name(one: str, other: str) -> str:
    """The name of an unordered pair of items.

    Examples
    --------
    >>> pair_name("scan-2", "scan-1")
    'scan-1 | scan-2'
    """
    return SEPARATOR.join(sorted((one, other)))


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
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, self._checked_labels(name, given))
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

    def _checked_embeddings(self, given: Floats) -> Floats:
        made = np.asarray(given)
        made = made if made.dtype == np.float64 else made.astype(np.float32)
        if made.ndim != 2 or len(made) != len(self.items) or not made.shape[1]:
            raise InputError(
                "collection, embeddings",
                f"shape {made.shape}",
                f"({len(self.items)}, features)",
                "give one row per item",
            )
        bad = np.flatnonzero(~np.isfinite(made).all(axis=1))
        if len(bad):
            raise InputError(
                f"collection, embedding of {self.items[bad[0]]!r}",
                "not finite" + (f" (and of {len(bad) - 1} more)" if len(bad) > 1 else ""),
                "finite numbers",
                "embed these images again, or leave them out",
            )
        return frozen(made)

    def _checked_labels(self, name: str, given: Ints) -> Ints:
        made = np.asarray(given)
        if made.shape != (len(self.items),) or not np.issubdtype(made.dtype, np.integer):
            raise InputError(
                f"collection, {name}",
                f"{made.dtype} of shape {made.shape}",
                f"whole numbers of shape ({len(self.items)},)",
                "give the code of a class per item, -1 where there is none",
            )
        if len(made) and (made.min() < MISSING or made.max() >= len(self.classes)):
            raise InputError(
                f"collection, {name}",
                f"code {made.max() if made.max() >= len(self.classes) else made.min()}",
                f"-1 to {len(self.classes) - 1}",
                "name every class",
            )
        return frozen(made.astype(np.int64))

    def __len__(self) -> int:
        return len(self.items)

    def subset(self, places: Ints) -> "Collection":
        """Some items, in this order; pairs stay behind."""
        rows = np.asarray(places, dtype=np.int64)

        return replace(
            self,
            items=tuple(self.items[i] for i in rows),
            embeddings=None if self.embeddings is None else self.embeddings[rows],
            images=None if self.images is None else _SomeImages(self.images, rows),
            labels=None if self.labels is None else self.labels[rows],
            known=None if self.known is None else self.known[rows],
            split=tuple(self.split[i] for i in rows) if self.split else (),
            pairs=None,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _SomeImages:
    """Images of a part of a collection."""

    whole: ImageSource
    places: Ints

    def __len__(self) -> int:
        return len(self.places)

    def rgb(self, place: int) -> Pixels:
        """One image."""
        return self.whole.rgb(int(self.places[place]))

    def digest(self, place: int) -> str:
        """Its hash."""
        return self.whole.digest(int(self.places[place]))
