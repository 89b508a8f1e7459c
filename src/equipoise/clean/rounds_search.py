"""Search: which pair of items a cluster asks about next, without a matrix of all distances.

The distance of two items is d = (1 - cos)/2, that of two clusters the smallest of any member of
one to any member of the other. Pairs are put in order by distance, then by the places of their
items, so that equal distances leave nothing open. A cluster asks about the *closest pair*
between it and the nearest other cluster whose closest pair was not judged yet.

The members of a cluster that asks are compared with all items, a block of rows at a time, in
single precision; those that come within its rounding of the closest are put in order by the
distances of `equipoise.clean.similarity`, so that blocks and threads change nothing. Of items
of the very same direction the first stands for all. Time grows with the number of items times
that of the members of clusters that ask, memory with the number of items.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from equipoise.clean.collection import Pairs, components
from equipoise.clean.detector import Progress, tell
from equipoise.clean.similarity import Directions, rounding_margin
from equipoise.types.arrays import Bools, Floats, Ints

BLOCK = 1 << 16  # pairs whose distances are taken at a time
CELLS = 1 << 25  # cosines that are held at a time

Question = tuple[float, int, int]  # distance and places of two items, the smaller first


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
    unit
        Directions in single precision, shape (items, features).
    """

    points: Directions
    unit: Floats

    @classmethod
    def of(cls, embeddings: Floats) -> "ClusterSearch":
        """A search among the items of embeddings."""
        points = Directions.of(embeddings)
        return cls(points, points.single(np.arange(len(embeddings))))

    def questions(
        self, clusters: Clusters, patience: int, progress: Progress | None = None
    ) -> tuple[Pairs, Floats]:
        """What the clusters that ask want to know: pairs in their order, and distances."""
        rows = np.flatnonzero(clusters.asking(patience))
        rows = rows[np.argsort(clusters.labels[rows], kind="stable")]
        asked = sorted(set(self._questions(rows, clusters, progress)))
        far = np.array([distance for distance, _, _ in asked])
        ends = np.array([both for _, *both in asked], dtype=np.int64).reshape(-1, 2)
        return Pairs(ends[:, 0], ends[:, 1]), far

    def _questions(
        self, rows: Ints, clusters: Clusters, progress: Progress | None
    ) -> Iterator[Question]:
        """Questions of clusters, given by their items, one cluster after another."""
        labels, items = clusters.labels, len(clusters.labels)
        closest, cluster = np.full(items, -np.inf, dtype=np.float32), -1
        size = max(CELLS // max(items, 1), 1)
        for start in range(0, len(rows), size):
            block = rows[start : start + size]
            cosine = self.unit[block] @ self.unit.T
            begin = np.flatnonzero(np.diff(labels[block], prepend=-1))
            for label, best in zip(
                labels[block[begin]], np.maximum.reduceat(cosine, begin, axis=0), strict=True
            ):
                if label != cluster and cluster >= 0:
                    yield from self._nearest_open(cluster, closest, clusters)
                closest = np.maximum(closest, best) if label == cluster else best
                cluster = int(label)
            tell(progress, min(start + size, len(rows)), len(rows))
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
            far, low, high = self._closest_pair(members, near)
            if not clusters.was_judged(np.array([low]), np.array([high]))[0]:
                yield far, low, high
                return
            other = labels[high] if labels[low] == cluster else labels[low]
            closest[labels == other] = -np.inf

    def _closest_pair(self, members: Ints, near: Ints) -> Question:
        """The closest of all pairs of two sets; of items that are the same, the first."""
        members, near = (
            places[np.unique(self.points.entry[places], return_index=True)[1]]
            for places in (members, near)
        )
        best: Question = (np.inf, -1, -1)
        step = max(BLOCK // len(near), 1)
        for start in range(0, len(members), step):
            x = np.repeat(members[start : start + step], len(near))
            y = np.resize(near, len(x))
            far = self.points.distance(x, y)
            low, high = np.minimum(x, y), np.maximum(x, y)
            place = np.lexsort((high, low, far))[0]
            best = min(best, (float(far[place]), int(low[place]), int(high[place])))
        return best
