"""Groups: what is a copy of what, through others too, and what leaks between parts of the data.

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

from equipoise.types.arrays import Ints, positions

NamedPair = tuple[str, str]


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
    every = list(pairs)
    ends = positions([name for pair in every for name in pair], items, where="duplicates")
    first = components(ends[::2], ends[1::2], len(items)).tolist()
    members: dict[int, list[str]] = {}
    for place in sorted(set(ends.tolist())):
        members.setdefault(first[place], []).append(items[place])
    return tuple(tuple(one) for one in members.values() if len(one) > 1)


def leakage(pairs: Iterable[NamedPair], split: Mapping[str, str]) -> tuple[Leak, ...]:
    """Duplicates between parts of the data, by the part of each item, empty text for none."""
    found: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for group in duplicate_groups(pairs, list(split)):
        for both in combinations(sorted({split[name] for name in group} - {""}), 2):
            found.setdefault(both, []).append(group)
    made = []
    for (one, other), groups in sorted(found.items()):
        count = Counter(split[name] for group in groups for name in group)
        made.append(Leak((one, other), tuple(groups), (count[one], count[other])))
    return tuple(made)
