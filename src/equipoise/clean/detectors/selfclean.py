r"""SelfClean: off-topic images and label errors by distances of embeddings [@groger2024].

**Off-topic images**: what joins the rest of the collection late and alone.

.. math:: \text{score}_i = 1 - A_i

with :math:`A_i` the area of the single-linkage tree covered before item i is met, depth first
and the smaller child first (`equipoise.clean.linkage`). Exact up to 50,000 items; above from
the neighbour graph.

**Label errors**: items closer to another label than to their own.

.. math:: s_i = \frac{m_{\ne}^2}{m_=^2 + m_{\ne}^2}, \qquad \text{score}_i = 1 - s_i

with the smallest distance to an item of the same label, :math:`m_=`, and of another,
:math:`m_{\ne}`. 0/0, a copy under the same and under another label, is 1/2. An item that is
alone in its class takes its largest distance to any item for :math:`m_=`. Items without a label
are left out; with one class only there is nothing to compare, which is an error. Exact up to
50,000 items, by indices above (`equipoise.clean.neighbours`).

Its ranking of near duplicates is `equipoise.clean.detectors.embedding_distance`.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equipoise.clean.collection import Collection
from equipoise.clean.detector import Detector, Need, Progress, Task, labelled
from equipoise.clean.directions import Directions
from equipoise.clean.linkage import off_topic_areas, single_linkage
from equipoise.clean.neighbours import Search
from equipoise.types.arrays import Floats, InputError, Ints
from equipoise.types.predictions import Predictions


@dataclass(frozen=True)
class SelfCleanOffTopic(Detector):
    """Depth-first area of the single-linkage tree.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise.clean import Collection
    >>> rows = np.array([[1, 0], [1, 0.1], [1, 0.2], [-1, 1]])
    >>> data = Collection(items=tuple("abcd"), embeddings=rows)
    >>> int(SelfCleanOffTopic().score(data).values.argmax())
    3
    """

    name: ClassVar[str] = "selfclean_off_topic"
    title: ClassVar[str] = "SelfClean"
    task: ClassVar[Task] = "off_topic"
    needs: ClassVar[tuple[Need, ...]] = ("embeddings",)
    bounded: ClassVar[bool] = True
    references: ClassVar[tuple[str, ...]] = ("groger2024",)

    def score(
        self, data: Collection, *, seed: int = 0, progress: Progress | None = None
    ) -> Predictions:
        """One minus the area covered before each item is met."""
        del seed
        self.check(data)
        assert data.embeddings is not None
        if len(data) < 2:
            raise InputError(
                f"detector {self.name}",
                f"{len(data)} items",
                "two or more",
                "add images: off topic is a matter of comparison",
            )
        points = Directions.of(data.embeddings)
        tree = single_linkage(points, progress=progress)
        return self.of_items(data.items, 1 - off_topic_areas(tree, points))


@dataclass(frozen=True)
class SelfCleanLabelErrors(Detector):
    """Squared distances to the own and to another label, compared.

    Examples
    --------
    >>> import numpy as np
    >>> from equipoise.clean import Collection
    >>> rows = np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1], [1, 0.05]])
    >>> labels = np.array([0, 0, 1, 1, 1])
    >>> data = Collection(items=tuple("abcde"), embeddings=rows, labels=labels,
    ...                   classes=("cat", "dog"))
    >>> int(SelfCleanLabelErrors().score(data).values.argmax())
    4
    """

    name: ClassVar[str] = "selfclean_label_errors"
    title: ClassVar[str] = "SelfClean"
    task: ClassVar[Task] = "label_errors"
    needs: ClassVar[tuple[Need, ...]] = ("embeddings", "labels")
    bounded: ClassVar[bool] = True
    references: ClassVar[tuple[str, ...]] = ("groger2024",)

    def score(
        self, data: Collection, *, seed: int = 0, progress: Progress | None = None
    ) -> Predictions:
        """One minus the share of the other label in the sum of squares."""
        del seed
        self.check(data)
        data = labelled(data)
        assert data.embeddings is not None
        assert data.labels is not None
        if len(np.unique(data.labels)) < 2:
            raise InputError(
                f"detector {self.name}",
                "one class",
                "labels of two classes or more",
                "give labels that can be confused",
            )
        points = Directions.of(data.embeddings)
        same, other = _nearest_by_label(points, data.labels, progress=progress)
        total = same**2 + other**2
        values = np.divide(same**2, total, out=np.full(len(total), 0.5), where=total > 0)
        return self.of_items(data.items, values)


def _nearest_by_label(
    points: Directions, labels: Ints, *, progress: Progress | None = None
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
    every = np.arange(len(rows))
    other, _ = search.nearest_elsewhere(labels[rows], every, progress)
    same = np.full(len(rows), np.nan)
    for label in np.unique(labels):
        own = np.flatnonzero(labels[rows] == label)
        if len(own) > 1:
            within = Search(points, rows[own])
            same[own] = within.nearest(1, np.arange(len(own)))[0][:, 0]
    same[count[order] > 1] = 0.0
    alone = np.flatnonzero(np.isnan(same))
    same[alone] = search.farthest(alone)
    return same[member], other[member]
