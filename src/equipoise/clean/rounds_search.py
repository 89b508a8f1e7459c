"""Search: which pair of items a cluster asks about next, without a matrix of all distances.

The distance of two items is d = (1 - cos)/2, that of two clusters the smallest of any member of
one to any member of the other. Pairs are put in order by distance, then by the places of their
items, so that equal distances leave nothing open. A cluster asks about the *closest pair*
between it and the nearest other cluster whose closest pair was not judged yet.

Most questions are settled by a short list of neighbours of every item: what stands in no list
of a member is farther away than the end of its list. Where lists end too early, as for clusters
larger than the lists, the members are compared with all items, a block of rows at a time. Pairs
are put in order by the distances of `equipoise.clean.similarity`, so that blocks and threads
change nothing; of items of the very same direction the first stands for all.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from equipoise.clean.detector import Progress
from equipoise.clean.pairs import Pairs, components
from equipoise.clean.similarity import Directions, neighbours, rounding_margin
from equipoise.types.arrays import Bools, Floats, Ints

LIST = 8  # neighbours of an item that are looked at first
BLOCK = 1 << 16  # pairs whose distances are taken at a time
CELLS = 1 << 25  # cosines that are held at a time
MOST_ROWS = 1 << 20  # rows of lists that are put in order at a time

Question = tuple[int, int, float]  # places of two items, the smaller first, and their distance


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Who belongs together so far, and who still asks.

    Attributes
    ----------
    labels
        Of every item the smallest place of its cluster, shape (items,).
    refusals
        At that place: how often the cluster was refused since it last grew, shape (items,).
    judged
        Pairs that were judged, as first * items + second, rising.
    regrown
        How many clusters grew after a refusal.
    """

    labels: Ints
    refusals: Ints
    judged: Ints
    regrown: int = 0

    @classmethod
    def single(cls, items: int) -> "Clusters":
        """Every item by itself, nothing asked."""
        nothing = np.zeros(items, dtype=np.int64)
        return cls(np.arange(items), nothing, np.zeros(0, dtype=np.int64))

    def after(self, pairs: Pairs, confirmed: Bools, patience: int) -> "Clusters":
        """The clusters once pairs were judged; those that were not confirmed were refused."""
        items = len(self.labels)
        first, second = (self.labels[ends[confirmed]] for ends in (pairs.first, pairs.second))
        labels = components(first, second, items)[self.labels]
        before, now = (np.bincount(codes, minlength=items) for codes in (self.labels, labels))
        roots = np.flatnonzero(before)
        grew = now[labels[roots]] > before[roots]
        refused = self.refusals[roots]
        refusals = np.zeros(items, dtype=np.int64)
        refusals[roots[~grew]] = np.minimum(refused + 1, patience)[~grew]
        codes = pairs.first * items + pairs.second
        return Clusters(
            labels=labels,
            refusals=refusals,
            judged=np.union1d(self.judged, codes),
            regrown=self.regrown + int((grew & (refused > 0)).sum()),
        )

    def asking(self, patience: int) -> Bools:
        """Which items belong to clusters that ask, shape (items,)."""
        return np.asarray((self.refusals < patience)[self.labels])

    def was_judged(self, first: Ints, second: Ints) -> Bools:
        """Whether pairs, the smaller place first, were judged."""
        codes = first * len(self.labels) + second
        place = np.searchsorted(self.judged, codes)
        judged = np.append(self.judged, -1)
        return np.asarray(judged[place] == codes)


@dataclass(frozen=True, slots=True, eq=False)
class ClusterSearch:
    """Finds the questions of clusters.

    Attributes
    ----------
    points
        Where the items lie.
    near
        Places of the nearest neighbours of each item, nearest first, shape (items, neighbours).
    reach
        Distance up to which an item has all its neighbours in its list, shape (items,).
    unit
        Directions in single precision, shape (items, features).
    """

    points: Directions
    near: Ints
    reach: Floats
    unit: Floats

    @classmethod
    def of(
        cls, embeddings: Floats, near: Ints | None = None, progress: Progress | None = None
    ) -> "ClusterSearch":
        """Make the lists of neighbours, unless they are known."""
        if near is None:
            length = min(LIST, len(embeddings) - 1)
            near = np.zeros((len(embeddings), 0), dtype=np.int64)
            if length > 0:
                near = neighbours(embeddings, length, progress=progress)[1]
        points, (items, listed) = Directions.of(embeddings), near.shape
        everybody = np.arange(items)
        reach = np.full(items, np.inf)
        if 0 < listed < items - 1:
            reach = points.distance(everybody, near[:, -1])
        return cls(points, near, reach, points.single(everybody))

    def questions(self, clusters: Clusters, patience: int) -> tuple[Pairs, Floats]:
        """What the clusters that ask want to know: pairs in their order, and distances."""
        rows = np.flatnonzero(clusters.asking(patience))
        rows = rows[np.argsort(clusters.labels[rows], kind="stable")]
        questions: list[tuple[Ints, Ints, Floats]] = []
        for part in _whole_clusters(
            clusters.labels[rows], MOST_ROWS // max(self.near.shape[1], 1)
        ):
            sure, unsettled = self._questions_from_lists(rows[part], clusters)
            questions.append(sure)
            questions += (
                (np.array([first]), np.array([other]), np.array([far]))
                for first, other, far in self._questions_from_all_items(unsettled, clusters)
            )
        nothing = np.zeros(0, dtype=np.int64)
        questions.append((nothing, nothing, nothing.astype(float)))
        low, high, far = (np.concatenate(column) for column in zip(*questions, strict=True))
        order = np.lexsort((high, low, far))
        low, high, far = low[order], high[order], far[order]
        _, once = np.unique(low * len(clusters.labels) + high, return_index=True)
        keep = np.sort(once)
        return Pairs(low[keep], high[keep]), far[keep]

    def _questions_from_lists(
        self, rows: Ints, clusters: Clusters
    ) -> tuple[tuple[Ints, Ints, Floats], Ints]:
        """Questions that the lists settle, and the items of clusters that they do not."""
        labels = clusters.labels
        x = np.repeat(rows, self.near.shape[1])
        y = self.near[rows].ravel()
        outside = labels[x] != labels[y]
        x, y = x[outside], y[outside]
        far = self.points.distance(x, y)
        low, high = np.minimum(x, y), np.maximum(x, y)
        order = np.lexsort((high, low, far, labels[x]))
        x, y, low, high, far = x[order], y[order], low[order], high[order], far[order]
        top = _first_unjudged(labels[x], labels[y], clusters.was_judged(low, high))
        low, high, far, cluster = low[top], high[top], far[top], labels[x[top]]
        reach = np.full(len(labels), np.inf)
        np.minimum.at(reach, labels[rows], self.reach[rows])
        sure = (far < reach[cluster]) | (far == 0)
        answered = np.zeros(len(labels), dtype=bool)
        answered[cluster[sure]] = True
        return (low[sure], high[sure], far[sure]), rows[~answered[labels[rows]]]

    def _questions_from_all_items(self, rows: Ints, clusters: Clusters) -> Iterator[Question]:
        """Questions of clusters, given by their items, by a look at all items."""
        labels, items = clusters.labels, len(clusters.labels)
        closest, cluster = np.full(items, -np.inf, dtype=np.float32), -1
        for start in range(0, len(rows), max(CELLS // items, 1)):
            block = rows[start : start + max(CELLS // items, 1)]
            cosine = self.unit[block] @ self.unit.T
            begin = np.flatnonzero(np.diff(labels[block], prepend=-1))
            for label, best in zip(
                labels[block[begin]], np.maximum.reduceat(cosine, begin, axis=0), strict=True
            ):
                if label != cluster and cluster >= 0:
                    yield from self._nearest_open(cluster, closest, clusters)
                closest = np.maximum(closest, best) if label == cluster else best
                cluster = int(label)
        if cluster >= 0:
            yield from self._nearest_open(cluster, closest, clusters)

    def _nearest_open(
        self, cluster: int, closest: Floats, clusters: Clusters
    ) -> Iterator[Question]:
        """The question of one cluster, from its largest cosine with every item."""
        labels = clusters.labels
        members = np.flatnonzero(labels == cluster)
        closest = np.where(labels == cluster, -np.inf, closest)
        slack = rounding_margin(self.unit.shape[1])
        while (top := closest.max(initial=-np.inf)) > -np.inf:
            near = np.flatnonzero(closest >= top - slack)
            low, high, far = self._closest_pair(members, near)
            if not clusters.was_judged(np.array([low]), np.array([high]))[0]:
                yield low, high, far
                return
            other = labels[high] if labels[low] == cluster else labels[low]
            closest[labels == other] = -np.inf

    def _closest_pair(self, members: Ints, near: Ints) -> Question:
        """The closest of all pairs of two sets; of items that are the same, the first."""
        members, near = (
            places[np.unique(self.points.entry[places], return_index=True)[1]]
            for places in (members, near)
        )
        best = (np.inf, -1, -1)
        step = max(BLOCK // len(near), 1)
        for start in range(0, len(members), step):
            x = np.repeat(members[start : start + step], len(near))
            y = np.resize(near, len(x))
            far = self.points.distance(x, y)
            low, high = np.minimum(x, y), np.maximum(x, y)
            place = np.lexsort((high, low, far))[0]
            best = min(best, (float(far[place]), int(low[place]), int(high[place])))
        return best[1], best[2], best[0]


def _first_unjudged(cluster: Ints, other: Ints, judged: Bools) -> Ints:
    """The row that each cluster asks about; rows stand in the order of own, then nearest first.

    A cluster whose closest pair was judged is passed over with all its pairs.
    """
    rows = np.arange(len(cluster))
    items = int(max(cluster.max(initial=0), other.max(initial=0))) + 1
    pair = cluster.astype(np.int64) * items + other
    closest = np.unique(pair, return_index=True)[1]
    passed = pair[closest[judged[closest]]]
    rows = rows[~np.isin(pair, passed)]
    return rows[np.flatnonzero(np.diff(cluster[rows], prepend=-1))]


def _whole_clusters(labels: Ints, most: int) -> Iterator[slice]:
    """Parts of sorted labels of about `most` rows that cut no cluster in two."""
    start = 0
    while start < len(labels):
        last = labels[min(start + most, len(labels)) - 1]
        end = int(np.searchsorted(labels, last, side="right"))
        yield slice(start, end)
        start = end
