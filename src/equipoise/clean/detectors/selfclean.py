r"""SelfClean: off-topic images and label errors by distances of embeddings [@groger2024].

**Off-topic images**: what joins the rest of the collection late and alone.

.. math:: \text{score}_i = 1 - A_i

with :math:`A_i` the area of the single-linkage tree covered before item i is met, depth first
and the smaller child first. Exact up to 50,000 items; above from
the neighbour graph.

**Label errors**: items closer to another label than to their own.

.. math:: s_i = \frac{m_{\ne}^2}{m_=^2 + m_{\ne}^2}, \qquad \text{score}_i = 1 - s_i

with the smallest distance to an item of the same label, :math:`m_=`, and of another,
:math:`m_{\ne}`. 0/0, a copy under the same and under another label, is 1/2. An item that is
alone in its class takes its largest distance to any item for :math:`m_=`. Items without a label
are left out; with one class only there is nothing to compare, which is an error. Exact up to
50,000 items, by indices above (`equipoise.clean.similarity`).

Its ranking of near duplicates is `equipoise.clean.detectors.duplicates`.

**Single linkage**: the tree in which the closest parts of a collection join first. The tree
comes from a minimum spanning tree (Borůvka: every part takes its shortest edge to another part,
until one part is left). Short lists of neighbours give most edges; where the list of an item is
used up and might hide a shorter edge, all other parts are compared, block by block, and the
largest part never has to ask. Up to 50,000 items the tree is exact; above, the edges of the
neighbour graph are taken as they are, and only parts whose shortest listed edge is longer than
all their lists reach, or that list none, ask, so that the tree is always whole. Memory grows
with the number of items, never with its square.

`off_topic_areas` [@groger2024]: draw the tree with the width of each node its share of the
items, so that a node :math:`v` with parent :math:`p` covers the area

.. math:: a_v = \frac{|v|}{N} \, (d_p - d_v), \qquad d_\text{item} = 0,

(the root, which has no parent, covers none), and walk through it depth first, the smaller child
first: an item's value is the area covered so far, its own included. What joins late and alone
is met first and has a small value; the last value is the height of the root, at most 1.

Nothing depends on the order of the items. Parts that join at the same distance are children of
one node, however the spanning tree chose among equal edges. Of children of the same size the
one that joined at the larger distance comes first, then the one that holds the item farther
from the centre of the collection, then the one whose embedding hashes lower. Copies of an item
join at distance 0, cover no area of their own, and so have the same value.

>>> import numpy as np
>>> from equipoise.clean.similarity import Directions
>>> angle = np.radians([0, 1, 2, 90])
>>> points = Directions.of(np.column_stack((np.cos(angle), np.sin(angle))))
>>> int(np.argmin(off_topic_areas(single_linkage(points), points)))
3
>>> rows = np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1], [1, 0.05]])
>>> data = Collection(items=tuple("abcde"), embeddings=rows, labels=np.array([0, 0, 1, 1, 1]),
...                   classes=("cat", "dog"))
>>> [int(detector.score(data).values.argmax()) for detector in SELFCLEAN]
[2, 4]
"""

from dataclasses import dataclass

import numpy as np

from equipoise.clean.collection import Collection, components
from equipoise.clean.detector import CatalogueDetector, of_labels, silent
from equipoise.clean.similarity import Directions, Search
from equipoise.types import Floats, InputError, Ints, Progress, immutable

MOST_COMPARED = 40_000_000_000  # pairs, for parts of the neighbour graph; above, by index
LISTED = 10  # neighbours of each item with which the spanning tree begins


@immutable(eq=False)
class _Tree:
    """A binary tree over items: nodes 0 to N - 1 are items, then in the order of joining.

    Attributes
    ----------
    parent
        The node that a node is a child of, always a later one; the root is its own.
    height
        Distance at which a node joined; 0 for items.
    size
        Number of items below.
    """

    parent: Ints
    height: Floats
    size: Ints


def single_linkage(
    points: Directions, *, exact: bool | None = None, progress: Progress = silent
) -> _Tree:
    """The single-linkage tree of two or more items."""
    if len(points) < 2:
        raise InputError("single linkage", f"{len(points)} items", "two or more", "add items")
    search = Search(points, points.first, exact=exact)
    first, other, length = _spanning_tree(search, progress)
    copies = np.setdiff1d(np.arange(len(points)), points.first)
    return _tree_of_edges(
        len(points),
        np.concatenate((copies, points.first[first])),
        np.concatenate((points.first[points.entry[copies]], points.first[other])),
        np.concatenate((np.zeros(len(copies)), length)),
    )


@dataclass(eq=False)
class _Edges:
    """Edges between different parts, and what is known of edges that are not listed.

    ``closed[i]``: no unlisted edge of row i to another part is shorter than that.
    """

    first: Ints
    second: Ints
    length: Floats
    closed: Floats

    def drop_inside_parts(self, part: Ints) -> None:
        """Forget edges inside parts."""
        keep = part[self.first] != part[self.second]
        self.first, self.second, self.length = (
            array[keep] for array in (self.first, self.second, self.length)
        )

    def add(self, first: Ints, other: Ints, length: Floats) -> None:
        """Add the shortest edge to another part of some rows."""
        self.first = np.concatenate((self.first, first))
        self.second = np.concatenate((self.second, other))
        self.length = np.concatenate((self.length, length))
        self.closed[first] = length

    def shortest(self, part: Ints) -> tuple[Floats, Ints]:
        """Per part the length and number of its shortest edge; infinite, -1 for none."""
        best = np.full(part.max() + 1, np.inf)
        for end in (self.first, self.second):
            np.minimum.at(best, part[end], self.length)
        number = np.full(len(best), -1)
        for end in (self.second, self.first):
            hit = np.flatnonzero(self.length == best[part[end]])
            number[part[end[hit]]] = hit
        return best, number


def _spanning_tree(search: Search, progress: Progress) -> tuple[Ints, Ints, Floats]:
    """Edges that hold a minimum spanning tree: two rows and the distance of each."""
    rows = len(search.rows)
    k = min(LISTED, rows - 1)
    far, near = search.nearest(k, np.arange(rows), progress)
    edges = _Edges(
        np.repeat(np.arange(rows), k),
        near.ravel(),
        far.ravel(),
        np.full(rows, np.inf) if k == rows - 1 else far[:, -1].copy(),
    )
    part: Ints = np.arange(rows)
    parts_of_tree = []
    while part.max() > 0:
        edges.drop_inside_parts(part)
        _search_used_up_rows(search, edges, part)
        best, number = edges.shortest(part)
        best[np.bincount(part).argmax()] = np.inf  # its edge may not be the shortest
        chosen = np.unique(number[np.isfinite(best)])
        first, other = edges.first[chosen], edges.second[chosen]
        joined = components(part[first], part[other], len(best))
        part = np.unique(joined[part], return_inverse=True)[1].ravel()
        parts_of_tree.append((first, other, edges.length[chosen]))
    nothing = np.empty(0, dtype=np.int64)
    columns = zip((nothing, nothing, np.empty(0)), *parts_of_tree, strict=True)
    first, other, length = (np.concatenate(column) for column in columns)
    return first, other, length


def _search_used_up_rows(search: Search, edges: _Edges, part: Ints) -> None:
    """Search among all for rows that might have a shorter edge than their part knows."""
    best = edges.shortest(part)[0]
    used_up = np.ones(len(part), dtype=bool)
    used_up[edges.first] = False
    reach = edges.closed
    if not search.is_exact:  # that of the part: an edge within it is taken as it is
        widest = np.zeros(len(best))
        np.maximum.at(widest, part[used_up], edges.closed[used_up])
        reach = widest[part]
    asks = used_up & (reach < best[part])
    asks &= part != np.bincount(part).argmax()
    asking = np.flatnonzero(asks)
    if len(asking):
        few = search.is_exact or len(asking) * len(part) <= MOST_COMPARED
        whole = Search(search.points, search.rows, exact=True if few else None)
        far, other = whole.nearest_elsewhere(part, asking)
        edges.add(asking, other, far)


def _root(above: list[int], node: int) -> int:
    """The node at the top, halving the way for those who come after."""
    while above[node] != node:
        above[node] = above[above[node]]
        node = above[node]
    return node


def _tree_of_edges(items: int, first: Ints, other: Ints, length: Floats) -> _Tree:
    """The tree in which the edges join items, the shortest first; some may close a circle."""
    order = np.argsort(length, kind="stable")
    above, node = list(range(items)), list(range(items))
    parent = np.arange(2 * items - 1)
    size, height = [1] * items, [0.0] * items
    for a, b, far in zip(
        first[order].tolist(), other[order].tolist(), length[order].tolist(), strict=True
    ):
        a, b = _root(above, a), _root(above, b)
        if a == b:
            continue
        parent[node[a]] = parent[node[b]] = len(size)
        size.append(size[node[a]] + size[node[b]])
        height.append(far)
        above[b] = a
        node[a] = len(size) - 1
    return _Tree(parent, np.array(height), np.array(size))


def off_topic_areas(tree: _Tree, points: Directions) -> Floats:
    """Area covered until each item is met, in [0, 1]; small for what is off topic."""
    items = len(points)
    order, above = _walk(tree, np.lexsort((points.rank_of_items(), points.centrality())))
    width = tree.size[order] / items
    area = np.cumsum(width * (tree.height[above[order]] - tree.height[order]))
    values = np.empty(len(tree.parent))
    values[order] = area
    return np.clip(values[:items], 0.0, 1.0)


def _walk(tree: _Tree, preferred: Ints) -> tuple[Ints, Ints]:
    """Nodes depth first, the smaller child first; and the parent of every node.

    Nodes that joined at the height of their parent are left out; their children are its.
    ``preferred`` has the items in the order in which equal ones are taken.
    """
    nodes, items = len(tree.parent), len(preferred)
    rank = np.full(nodes, items)
    rank[preferred] = np.arange(items)
    first, stands = rank.tolist(), list(range(nodes))
    parent, height = tree.parent.tolist(), tree.height.tolist()
    for node in range(nodes - 1):
        first[parent[node]] = min(first[parent[node]], first[node])
    for node in range(nodes - 2, items - 1, -1):
        if height[node] == height[parent[node]]:
            stands[node] = stands[parent[node]]
    above = np.array(stands)[tree.parent]
    shown = np.flatnonzero(np.array(stands) == np.arange(nodes))[:-1]  # the root is the last
    by = (np.array(first)[shown], -tree.height[shown], tree.size[shown], above[shown])
    shown = shown[np.lexsort(by)]
    below = np.ones(nodes, dtype=np.int64).tolist()
    for node in np.sort(shown).tolist():
        below[int(above[node])] += below[node]
    position, taken = [0] * nodes, [1] * nodes
    starts = np.flatnonzero(np.diff(above[shown], prepend=-1))
    for part in reversed(np.split(shown, starts[1:])):  # parents before their children
        up = int(above[part[0]])
        for node in part.tolist():
            position[node] = position[up] + taken[up]
            taken[up] += below[node]
    nodes_shown = np.append(shown, nodes - 1)
    return nodes_shown[np.argsort(np.array(position)[nodes_shown])], above


def _late_and_alone(
    row: CatalogueDetector, data: Collection, seed: int, progress: Progress
) -> Floats:
    """One minus the area covered before each item is met."""
    del row, seed
    assert data.embeddings is not None
    points = Directions.of(data.embeddings)
    return 1 - off_topic_areas(single_linkage(points, progress=progress), points)


@of_labels
def _closer_to_another_label(
    row: CatalogueDetector, rows: Floats, labels: Ints, seed: int, progress: Progress
) -> Floats:
    """One minus the share of the other label in the sum of squares."""
    del seed
    if len(np.unique(labels)) < 2:
        raise InputError(
            f"detector {row.name}",
            "one class",
            "labels of two classes or more",
            "give labels that can be confused",
        )
    same, other = _nearest_by_label(Directions.of(rows), labels, progress=progress)
    total = same**2 + other**2
    half = np.full(len(total), 0.5)
    return np.asarray(np.divide(same**2, total, out=half, where=total > 0))


def _nearest_by_label(
    points: Directions, labels: Ints, *, progress: Progress = silent
) -> tuple[Floats, Floats]:
    """Smallest distances to an item of the same and of another label, each (items,).

    Searched among different directions of different labels: copies are known beforehand.
    """
    pair = points.entry * (int(labels.max()) + 1) + labels
    _, first, code, count = np.unique(
        pair, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)  # by place
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    rows, member = first[order], number[code.ravel()]
    search = Search(points, rows)
    everybody = np.arange(len(rows))
    other, _ = search.nearest_elsewhere(labels[rows], everybody, progress)
    same = np.full(len(rows), np.nan)
    for label in np.unique(labels):
        members = np.flatnonzero(labels[rows] == label)
        if len(members) > 1:
            within = Search(points, rows[members])
            same[members] = within.nearest(1, np.arange(len(members)))[0][:, 0]
    same[count[order] > 1] = 0.0
    alone = np.flatnonzero(np.isnan(same))
    same[alone] = search.farthest(alone)
    return same[member], other[member]


SELFCLEAN = (
    CatalogueDetector(
        name="selfclean_off_topic",
        title="SelfClean",
        task="off_topic",
        compute=_late_and_alone,
        bounded=True,
        references=("groger2024",),
    ),
    CatalogueDetector(
        name="selfclean_label_errors",
        title="SelfClean",
        task="label_errors",
        needs=("embeddings", "labels"),
        compute=_closer_to_another_label,
        bounded=True,
        references=("groger2024",),
    ),
)
