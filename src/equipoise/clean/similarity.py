r"""Similarity: how far apart embeddings are, and which items are nearest to each.

**Distance.** Embeddings are points on a sphere, with the distance that SelfClean uses,

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

**Neighbours**: the nearest items of every item, of its own group or of another. Up to 50,000
items the search is exact: a block of rows at a time, products in single precision choose who
may be among the nearest, with a margin that no rounding can exceed, and the distances of these
are computed in double precision; nothing of size items x items is ever held. Above, an index
(faiss HNSW) proposes and the distances are computed in the same way. The index is built by one
thread, because the order in which several threads insert leaves traces in it; separate indices
are built side by side. Items of the very same direction are one entry of the search, so that
copies, however many, neither crowd others out of the index nor are missed. Ties stand in the
order of the items.

>>> distances, places = neighbours(np.array([[1.0, 0], [2, 0], [0, 1], [1, 1]]), 2)
>>> places.tolist(), distances[0].round(3).tolist()
([[1, 3], [0, 3], [3, 0], [0, 1]], [0.0, 0.146])
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from typing import Any

import numpy as np

from equipoise.clean.detector import require_packages, silent
from equipoise.types import Floats, InputError, Ints, Progress, immutable, require_whole

NUMBERS = 2_000_000  # that a step holds in double precision
STEPS = 2.0**40  # to a unit, of the whole numbers that the centre is summed in
EXACT_UP_TO = 50_000  # items
CELLS = 8_000_000  # of a block of products, in single precision
ROUNDING = 2.0**-23
LINKS, BUILD_BREADTH, SEARCH_BREADTH = 32, 80, 192  # of the index: recall@20 of .99
SPARE = 4  # more proposals than are asked for, to be put into order by the exact distance
RUN = 32  # cosines of which only the largest is looked at first
ABSENT = -3.0  # below every cosine
CROWD, FINER = 40, 2.0**-29  # proposals per neighbour that are too many; double to single
Found = tuple[Floats, Ints]  # distances and places


@immutable(eq=False)
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
        return _parts(rows, max(1, NUMBERS // self.values.shape[1]))

    def unit(self, places: Ints) -> Floats:
        """Unit vectors of some items, in double precision; zeros for zeros."""
        rows: Floats = self.values[places].astype(np.float64)
        rows /= self.largest[places, None]
        rows /= self.length[places, None]
        return rows

    def single(self, places: Ints) -> Floats:
        """Unit vectors of some items, in single precision."""
        units = np.empty((len(places), self.values.shape[1]), dtype=np.float32)
        for part in self._steps(len(places)):
            units[part] = self.unit(places[part])
        return units

    def distance(self, first: Ints, other: Ints) -> Floats:
        """Distances between two lists of items, pair by pair, in [0, 1]."""
        distances = np.empty(len(first))
        for part in self._steps(len(first)):
            apart = self.unit(first[part])
            apart -= self.unit(other[part])
            apart *= apart
            distances[part] = apart.sum(axis=1) / 4
        distances[self.zero[first] != self.zero[other]] = 0.5
        return np.minimum(distances, 1.0, out=distances)

    def centrality(self) -> Floats:
        """How far along the mean of all directions each item lies, whatever their order.

        The mean is summed in whole numbers, so that the order of items leaves no trace.
        """
        places = np.arange(len(self))
        total = np.zeros(self.values.shape[1], dtype=np.int64)
        for part in self._steps(len(self)):
            total += np.rint(self.unit(places[part]) * STEPS).astype(np.int64).sum(axis=0)
        centre = total / (STEPS * max(1, len(self)))
        along = np.empty(len(self))
        for part in self._steps(len(self)):
            along[part] = (self.unit(places[part]) * centre).sum(axis=1)
        return along


def neighbours(
    embeddings: Floats,
    k: int,
    *,
    queries: Ints | None = None,
    exact: bool | None = None,
    progress: Progress = silent,
) -> Found:
    """The k nearest other items of every item, nearest first.

    Parameters
    ----------
    embeddings
        Shape (items, features).
    k
        How many; all others where there are fewer.
    queries
        Places of the items whose neighbours are wanted; None for all.
    exact
        Whether to search exactly; None decides by the number of items.
    progress
        Told how many items are done, of how many.

    Returns
    -------
    distances, places
        Both of shape (queries, k).
    """
    points = Directions.of(embeddings)
    require_whole("neighbours, k", k, least=1, do="ask for one neighbour or more")
    if len(points) < 2:
        raise InputError("neighbours", f"{len(points)} items", "two or more", "add items")
    wanted = np.arange(len(points)) if queries is None else np.asarray(queries, dtype=np.int64)
    k = min(k, len(points) - 1)
    entries, back = np.unique(points.entry[wanted], return_inverse=True)
    search = Search(points, points.first, exact=exact)
    distances, entries_near = search.nearest(min(k, len(points.first) - 1), entries, progress)
    if len(points.first) == len(points):
        return distances[back], entries_near[back]
    return _with_copies(points, wanted, (distances[back], entries_near[back]), k)


def _with_copies(points: Directions, wanted: Ints, near: Found, k: int) -> Found:
    """The k nearest items where some directions belong to several items."""
    members = np.argsort(points.entry, kind="stable")
    count = np.bincount(points.entry)
    start = np.cumsum(count) - count
    taken = np.minimum(count, k + 1)  # the first few of many copies are enough
    distances, places = np.empty((len(wanted), k)), np.empty((len(wanted), k), dtype=np.int64)
    size = max(1, CELLS // (8 * (near[1].shape[1] + k + 2)))
    for begin in range(0, len(wanted), size):
        part = slice(begin, begin + size)
        queries = wanted[part]
        entries = np.column_stack((points.entry[queries], near[1][part]))
        apart = np.column_stack((np.zeros(len(queries)), near[0][part]))
        many = taken[entries].ravel()
        offset = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        other = members[np.repeat(start[entries].ravel(), many) + offset]
        row = np.repeat(np.repeat(np.arange(len(queries)), entries.shape[1]), many)
        far = np.repeat(apart.ravel(), many)
        keep = other != queries[row]
        distances[part], places[part] = _k_nearest(
            row[keep], far[keep], other[keep], k, len(queries)
        )
    return distances, places


def _k_nearest(row: Ints, far: Floats, place: Ints, k: int, rows: int) -> Found:
    """The k nearest of each row of a flat list that has at least k for every row."""
    order = np.lexsort((place, far, row))
    count = np.bincount(row, minlength=rows)
    pick = order[(np.cumsum(count) - count)[:, None] + np.arange(k)]
    return far[pick], place[pick]


@immutable(eq=False)
class Search:
    """A search among some items of different directions.

    Attributes
    ----------
    points
        The directions of all items.
    rows
        Places of the items to search among, ascending.
    exact
        Whether to search exactly; None decides by how many they are.
    """

    points: Directions
    rows: Ints
    exact: bool | None = None

    @property
    def is_exact(self) -> bool:
        """Whether every neighbour is compared."""
        return len(self.rows) <= EXACT_UP_TO if self.exact is None else self.exact

    def nearest(
        self, k: int, queries: Ints, progress: Progress = silent, members: Ints | None = None
    ) -> Found:
        """The k nearest other rows of some rows, both as numbers of rows, (queries, k).

        Among some rows, the members, where these are given.
        """
        members = np.arange(len(self.rows)) if members is None else members
        shape = (len(queries), k)
        distances, places = np.empty(shape), np.empty(shape, dtype=np.int64)
        if not k or not len(queries):
            return distances, places
        few = self.exact is None and len(members) * len(queries) <= EXACT_UP_TO**2
        if few or self.is_exact:
            return self._nearest_by_comparison(members, queries, k, progress)
        units = self.points.single(self.rows[members])
        with ThreadPoolExecutor(1) as pool:  # whose settings stay in its thread
            index = pool.submit(_index, units, progress).result()
        for part in _parts(len(queries), 8_192):
            rows = queries[part]
            _, near = index.search(self.points.single(self.rows[rows]), k + 1 + SPARE)
            distances[part], places[part] = self._in_order(members, rows, near, k)
        return distances, places

    def _in_order(self, members: Ints, rows: Ints, near: Ints, k: int) -> Found:
        """Proposals by exact distance; a row that has too few is searched exactly."""
        other = np.where(near < 0, rows[:, None], members[near])
        far = np.full(other.shape, np.inf)
        row, column = np.nonzero(other != rows[:, None])
        proposed = other[row, column]
        far[row, column] = self.points.distance(self.rows[rows[row]], self.rows[proposed])
        order = np.lexsort((other, far), axis=1)[:, :k]
        far, other = (np.take_along_axis(values, order, axis=1) for values in (far, other))
        short = np.flatnonzero(np.isinf(far).any(axis=1))
        if len(short):
            far[short], other[short] = self._nearest_by_comparison(
                members, rows[short], k, silent
            )
        return far, other

    def _nearest_by_comparison(
        self,
        members: Ints,
        queries: Ints,
        k: int,
        progress: Progress,
        group: Ints | None = None,
    ) -> Found:
        """The k nearest members by comparing all; of another group, where groups are given.

        Infinite, and -1, where there are none.
        """
        products = _Products(self.points, self.rows[members])
        column = np.full(len(self.rows), -1)
        column[members] = np.arange(len(members))
        shape = (len(queries), k)
        distances, places = np.full(shape, np.inf), np.full(shape, -1)
        for part in _blocks(len(queries), len(members)):
            rows = queries[part]
            itself = np.flatnonzero(column[rows] >= 0)

            def mark_absent(cosine: Floats, rows: Ints = rows, itself: Ints = itself) -> None:
                if group is None:
                    cosine[itself, column[rows[itself]]] = ABSENT
                else:
                    cosine[group[rows][:, None] == group[members]] = ABSENT

            row, near = products.nearest(self.rows[rows], k, mark_absent)
            other = members[near]
            far = self.points.distance(self.rows[rows[row]], self.rows[other])
            some, place = np.unique(row, return_inverse=True)
            nearest = _k_nearest(place, far, other, k, len(some))
            distances[part][some], places[part][some] = nearest
            progress(min(part.stop, len(queries)), len(queries))
        return distances, places

    def nearest_elsewhere(
        self, group: Ints, queries: Ints, progress: Progress = silent
    ) -> Found:
        """The nearest row of another group of some rows: distance and row, each (queries,).

        Groups are numbers, one per row. Infinite, and -1, where all rows are of one group.
        Above the limit every group gets a number in binary, and each digit two indices, of the
        groups that have it and of those that have not: any two groups differ in some digit.
        """
        if self.is_exact:
            everybody = np.arange(len(self.rows))
            far, near = self._nearest_by_comparison(everybody, queries, 1, progress, group)
            return far[:, 0], near[:, 0]
        code = np.unique(group, return_inverse=True)[1].ravel()
        digits = max(1, int(code.max()).bit_length())
        tasks = [(digit, side) for digit in range(digits) for side in (0, 1)]

        def one_side(task: tuple[int, int]) -> tuple[Ints, Found]:
            digit, side = task
            has = (code >> digit) & 1
            asking = np.flatnonzero(has[queries] != side)
            members = np.flatnonzero(has == side)
            asking = asking if len(members) else asking[:0]
            return asking, self.nearest(1, queries[asking], members=members)

        best, where = np.full(len(queries), np.inf), np.full(len(queries), -1)
        for number, (asking, (lengths, ends)) in enumerate(_side_by_side(one_side, tasks)):
            if not lengths.size:
                continue
            far, other = lengths[:, 0], ends[:, 0]
            better = (far < best[asking]) | ((far == best[asking]) & (other < where[asking]))
            best[asking[better]], where[asking[better]] = far[better], other[better]
            progress((number + 1) * len(queries) // len(tasks), len(queries))
        return best, where

    def farthest(self, queries: Ints) -> Floats:
        """The largest distance of some rows to any row."""
        units, margin = (
            self.points.single(self.rows),
            rounding_margin(self.points.values.shape[1]),
        )
        distances = np.empty(len(queries))
        for part in _blocks(len(queries), len(units)):
            rows = queries[part]
            cosine = units[rows] @ units.T
            row, other = np.nonzero(cosine <= (cosine.min(axis=1) + margin)[:, None])
            far = self.points.distance(self.rows[rows[row]], self.rows[other])
            largest = np.zeros(len(rows))
            np.maximum.at(largest, row, far)
            distances[part] = largest
        return distances


class _Products:
    """Cosines with some items, as precise as it takes to tell the nearest few.

    Single precision proposes with a margin. Where items lie so close together that the margin
    holds many of them, the block is computed again in double precision.
    """

    def __init__(self, points: Directions, rows: Ints) -> None:
        self.points, self.rows = points, rows
        self.units = points.single(rows)
        self.margin = rounding_margin(self.units.shape[1])
        self._precise: Floats | None = None

    def nearest(
        self, rows: Ints, k: int, mark_absent: Callable[[Floats], None]
    ) -> tuple[Ints, Ints]:
        """Who may be among the k nearest, as pairs of rows and columns.

        Parameters
        ----------
        mark_absent
            Marks the pairs that do not count.
        """
        near = self._above_margin(
            self.points.single(rows) @ self.units.T, self.margin, k, mark_absent
        )
        if len(near[0]) <= CROWD * k * len(rows):
            return near
        if self._precise is None:
            self._precise = self.points.unit(self.rows)
        precise = self.points.unit(rows) @ self._precise.T
        return self._above_margin(precise, self.margin * FINER, k, mark_absent)

    @staticmethod
    def _above_margin(
        cosine: Floats, margin: float, k: int, mark_absent: Callable[[Floats], None]
    ) -> tuple[Ints, Ints]:
        mark_absent(cosine)
        edge = np.maximum(_edge(cosine, k) - margin, -2)  # above those that do not count
        row, near = np.nonzero(cosine >= edge[:, None])
        return row, near


def _edge(cosine: Floats, k: int) -> Floats:
    """A number per row that at least k cosines reach, close to the k-th largest.

    That is the k-th largest of the maxima of short runs, which cost less than all to order.
    """
    whole = cosine.shape[1] // RUN * RUN
    if whole < 4 * k * RUN:
        tops = cosine
    else:
        runs = cosine[:, :whole].reshape(len(cosine), -1, RUN).max(axis=2)
        tops = np.concatenate((runs, cosine[:, whole:]), axis=1)
    edge: Floats = np.partition(tops, tops.shape[1] - k, axis=1)[:, tops.shape[1] - k]
    return edge


def rounding_margin(features: int) -> float:
    """Twice the most by which rounding can move a cosine in single precision."""
    return 2 * (features + 4) * ROUNDING


def _parts(rows: int, size: int) -> Iterator[slice]:
    return (slice(start, start + size) for start in range(0, rows, size))


def _blocks(rows: int, columns: int) -> Iterator[slice]:
    """Slices of rows whose products with all columns are few enough to hold."""
    return _parts(rows, max(1, CELLS // max(1, columns)))


def _index(units: Floats, progress: Progress) -> Any:
    """An index of unit vectors, by the calling thread alone; the same for the same vectors."""
    require_packages("neighbours of many items", ("faiss",))
    import faiss

    faiss.omp_set_num_threads(1)  # of this thread; others keep theirs
    index = faiss.IndexHNSWFlat(units.shape[1], LINKS)
    index.hnsw.efConstruction, index.hnsw.efSearch = BUILD_BREADTH, SEARCH_BREADTH
    for part in _parts(len(units), 10_000):
        index.add(units[part])
        progress(min(part.stop, len(units)), len(units))
    return index


def _side_by_side(
    work: Callable[[tuple[int, int]], tuple[Ints, Found]], tasks: list[tuple[int, int]]
) -> Iterator[tuple[Ints, Found]]:
    """Results in the order of the tasks, several at a time; at most four indices are held."""
    with ThreadPoolExecutor(min(4, len(tasks), os.cpu_count() or 1)) as pool:
        yield from pool.map(work, tasks)
