"""Pairs of items: their names, the groups that they join, and what leaks between parts.

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
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from equipoise.types.arrays import InputError, Ints, frozen, positions, short_repr

SEPARATOR = " | "
NamedPair = tuple[str, str]


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

    def names(self, items: Sequence[str]) -> tuple[str, ...]:
        """Names of the pairs."""
        return tuple(
            pair_name(items[a], items[b])
            for a, b in zip(self.first.tolist(), self.second.tolist(), strict=True)
        )

    @classmethod
    def from_names(cls, names: Sequence[str], items: Sequence[str]) -> "Pairs":
        """Pairs by their names, in the order of the names."""
        place = {name: number for number, name in enumerate(items)}
        both = [split_pair(name) for name in names]
        missing = [item for two in both for item in two if item not in place]
        if missing:
            raise InputError(
                f"pairs, item {missing[0]!r}",
                "not among the items",
                f"one of {len(place)} items such as {next(iter(place), '')!r}",
                "give its image or embedding, or leave the pair out",
            )
        places = np.array([[place[a], place[b]] for a, b in both], dtype=np.int64)
        return cls(places.reshape(-1, 2)[:, 0], places.reshape(-1, 2)[:, 1])


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


@dataclass(frozen=True, slots=True)
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
    groups: tuple[tuple[str, ...], ...]
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
    return np.asarray(smallest[code])


def duplicate_groups(
    pairs: Iterable[NamedPair], items: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
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
    shared: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for group in duplicate_groups(pairs, list(split)):
        for both in combinations(sorted({split[name] for name in group} - {""}), 2):
            shared.setdefault(both, []).append(group)
    leaks = []
    for (first, other), groups in sorted(shared.items()):
        count = Counter(split[name] for group in groups for name in group)
        leaks.append(Leak((first, other), tuple(groups), (count[first], count[other])))
    return tuple(leaks)
