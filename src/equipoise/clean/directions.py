r"""Directions: embeddings as points on a sphere, with the distance that SelfClean uses.

.. math:: d(x, y) = \frac{1 - \cos(x, y)}{2} = \frac{1}{4}
    \left\lVert \frac{x}{|x|} - \frac{y}{|y|} \right\rVert^2

The right-hand side is what is computed, in double precision: two embeddings of the same
direction are exactly 0 apart, close ones lose no digits to ``1 - cos``, and the distance of two
items depends on nothing but these two, neither on their order nor on how many threads there
are. An embedding of zeros has no direction: it is 1/2 away from every other (as if it were at a
right angle to all) and 0 from another one of zeros.

>>> import numpy as np
>>> points = Directions.of(np.array([[1.0, 0], [0, 2], [3, 0], [0, 0]]))
>>> points.distance(np.array([0, 0, 0]), np.array([1, 2, 3]))
array([0.5, 0. , 0.5])
"""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from equipoise.types.arrays import Floats, InputError, Ints

NUMBERS = 2_000_000  # that a step holds in double precision
STEPS = 2.0**40  # to a unit, of the whole numbers that the centre is summed in


@dataclass(frozen=True, slots=True, eq=False)
class Directions:
    """Embeddings, the length of each, and which of them have the very same direction.

    Attributes
    ----------
    values
        As they were given, shape (items, features).
    largest, length
        The largest feature by size, and the length after division by it; 1 for zeros.
    zero
        Whether all features are zero.
    entry
        Number of the direction that each item has, in the order in which they first appear.
    first
        Place of the first item of each direction, ascending.
    rank
        Rank of each direction by its hash: an order that no order of the items can change.
    """

    values: Floats
    largest: Floats
    length: Floats
    zero: Ints
    entry: Ints
    first: Ints
    rank: Ints

    @classmethod
    def of(cls, embeddings: Floats) -> "Directions":
        """Directions of embeddings, shape (items, features)."""
        values = np.asarray(embeddings)
        if values.ndim != 2 or not values.shape[1]:
            raise InputError(
                "embeddings", f"shape {values.shape}", "(items, features)", "give one row each"
            )
        items = len(values)
        largest, length = np.ones(items), np.ones(items)
        zero = np.zeros(items, dtype=bool)
        digests = np.empty(items, dtype="V16")
        bare = cls(values, largest, length, zero, *(np.empty(0, dtype=np.int64),) * 3)
        for part in bare._steps(items):
            rows = values[part].astype(np.float64)
            top = np.abs(rows).max(axis=1)
            zero[part] = top == 0
            largest[part] = np.where(top == 0, 1, top)
            rows /= largest[part, None]
            length[part] = np.where(top == 0, 1, np.sqrt((rows * rows).sum(axis=1)))
            rows /= length[part, None]
            rows += 0.0  # no negative zeros
            digests[part] = [blake2b(row, digest_size=16).digest() for row in rows]
        _, first, code = np.unique(digests, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.arange(len(order))
        return cls(values, largest, length, zero, number[code.ravel()], first[order], order)

    def __len__(self) -> int:
        return len(self.values)

    def rank_of_items(self) -> Ints:
        """Rank of each item by the hash of its direction; copies share one."""
        return self.rank[self.entry]

    def _steps(self, rows: int) -> Iterator[slice]:
        """Slices of rows of which each is small."""
        size = max(1, NUMBERS // self.values.shape[1])
        return (slice(start, start + size) for start in range(0, rows, size))

    def unit(self, places: Ints) -> Floats:
        """Unit vectors of some items, in double precision; zeros for zeros."""
        rows: Floats = self.values[places].astype(np.float64)
        rows /= self.largest[places, None]
        rows /= self.length[places, None]
        return rows

    def single(self, places: Ints) -> Floats:
        """Unit vectors of some items, in single precision."""
        made = np.empty((len(places), self.values.shape[1]), dtype=np.float32)
        for part in self._steps(len(places)):
            made[part] = self.unit(places[part])
        return made

    def distance(self, one: Ints, other: Ints) -> Floats:
        """Distances between two lists of items, pair by pair, in [0, 1]."""
        made = np.empty(len(one))
        for part in self._steps(len(one)):
            apart = self.unit(one[part])
            apart -= self.unit(other[part])
            apart *= apart
            made[part] = apart.sum(axis=1) / 4
        made[self.zero[one] != self.zero[other]] = 0.5
        return np.minimum(made, 1.0, out=made)

    def centrality(self) -> Floats:
        """How far along the mean of all directions each item lies, whatever their order.

        The mean is summed in whole numbers, so that the order of items leaves no trace.
        """
        places = np.arange(len(self))
        total = np.zeros(self.values.shape[1], dtype=np.int64)
        for part in self._steps(len(self)):
            total += np.rint(self.unit(places[part]) * STEPS).astype(np.int64).sum(axis=0)
        centre = total / (STEPS * max(1, len(self)))
        made = np.empty(len(self))
        for part in self._steps(len(self)):
            made[part] = (self.unit(places[part]) * centre).sum(axis=1)
        return made
