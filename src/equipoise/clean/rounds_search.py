"""Search: which pair of items a cluster asks about next, without a matrix of all distances.

The distance of two items is d = (1 - cos)/2, that of two clusters the smallest of any member of
one to any member of the other. Pairs are put in order by distance, then by the places of their
items, so that equal distances leave nothing open. A cluster asks about the *closest pair*
between it and the nearest other cluster whose closest pair was not judged yet.

Every member of a cluster that asks has its nearest item outside of the cluster from
`equipoise.clean.similarity`, exactly; the closest of these pairs is that of the clusters. Where
it was judged, the other cluster counts as part of the asking one, and the search is made again.
"""

from dataclasses import dataclass

import numpy as np

from equipoise.clean.collection import Pairs, components
from equipoise.clean.detector import Progress
from equipoise.clean.similarity import Directions, Search, neighbours
from equipoise.types import Bools, Floats, Ints

Question = tuple[float, int, int]  # distance and places of two items, the smaller first


@dataclass(frozen=True, eq=False)
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

    def was_judged(self, first: int, second: int) -> bool:
        """Whether a pair, the smaller place first, was judged."""
        code = first * len(self.labels) + second
        place = np.searchsorted(self.judged, code)
        return bool(place < len(self.judged) and self.judged[place] == code)


def questions(
    points: Directions, clusters: Clusters, patience: int, progress: Progress | None = None
) -> tuple[Pairs, Floats]:
    """What the clusters that ask want to know: pairs in their order, and distances."""
    labels, items = clusters.labels, len(points)
    search = Search(points, np.arange(items), exact=True)
    rows = np.flatnonzero(clusters.asking(patience))
    if len(clusters.judged) or items < 2:
        far, near = search.nearest_elsewhere(labels, rows, progress)
    else:  # in the first round copies of one picture are many
        distances, places = neighbours(points.values, 1, exact=True, progress=progress)
        far, near = distances[:, 0], places[:, 0]
    order = np.lexsort((np.maximum(rows, near), np.minimum(rows, near), far, labels[rows]))
    _, first = np.unique(labels[rows][order], return_index=True)
    open_pairs = (
        _open_pair(search, clusters, int(row), (float(away), int(other)))
        for row, away, other in zip(
            rows[order][first], far[order][first], near[order][first], strict=True
        )
    )
    closest = sorted({pair for pair in open_pairs if pair is not None})
    ends = np.array([both for _, *both in closest], dtype=np.int64).reshape(-1, 2)
    return Pairs(ends[:, 0], ends[:, 1]), np.array([away for away, *_ in closest])


def _open_pair(
    search: Search, clusters: Clusters, row: int, nearest: tuple[float, int]
) -> Question | None:
    """The question of the cluster of a row, whose closest other row is given; None for none.

    Clusters whose closest pair was judged are passed over one by one, as if they were its own.
    """
    group, (far, other) = clusters.labels.copy(), nearest
    members = np.flatnonzero(group == group[row])
    while np.isfinite(far):
        low, high = min(row, other), max(row, other)
        if not clusters.was_judged(low, high):
            return far, low, high
        group[group == group[other]] = group[row]
        lengths, ends = search.nearest_elsewhere(group, members)
        best = np.lexsort((np.maximum(members, ends), np.minimum(members, ends), lengths))[0]
        row, far, other = int(members[best]), float(lengths[best]), int(ends[best])
    return None
