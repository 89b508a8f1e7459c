"""Yes/no votes as a graph of annotators and items, and the parts it falls into."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.aggregate._people import People
from equipoise.arrays import Bools, Floats, Ints

Rows = tuple[Ints, Ints, Floats, Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """Votes of one task in compressed rows, by item and by annotator.

    Attributes
    ----------
    by_item, by_annotator
        (start, column, weight, kappa): kappa is half the weight, negative for a no.
    side
        1 or -1 for items known to be of the second or first class, else 0.
    item_part, annotator_part
        Which part of the graph each belongs to, -1 without votes.
    anchored
        Which parts hold an item of known class, which fixes their sign.
    """

    by_item: Rows
    by_annotator: Rows
    side: Ints
    item_part: Ints
    annotator_part: Ints
    anchored: Bools

    @property
    def load(self) -> Floats:
        """Weight of the votes of each annotator."""
        start, _, weight, _ = self.by_annotator
        return np.diff(np.concatenate(([0.0], np.cumsum(weight)))[start])

    def lean(self, ability: Floats) -> Floats:
        """Vote-weighted mean ability of each part."""
        voted = self.annotator_part >= 0
        part, load, size = self.annotator_part[voted], self.load[voted], len(self.anchored)
        return np.asarray(
            np.bincount(part, load * ability[voted], size) / np.bincount(part, load, size)
        )


def graph_of(who: People) -> Votes:
    """Lay out the votes both ways and find the parts that share neither item nor annotator."""
    row, column = who.answers.tocsr(), who.answers.tocsc()
    answer = np.repeat(np.arange(column.shape[1]), np.diff(column.indptr))
    by_item = _rows(row.indptr, row.indices // 2, row.data, row.indices % 2)
    by_annotator = _rows(column.indptr[::2], column.indices, column.data, answer % 2)
    item_part, annotator_part = _parts(by_item, len(who.annotators))
    known = np.where(who.shares[:, 1] > 0.5, 1, -1)
    anchored = np.zeros(max(int(item_part.max(initial=-1)) + 1, 0), dtype=bool)
    anchored[item_part[who.settled & (item_part >= 0)]] = True
    return Votes(
        by_item=by_item,
        by_annotator=by_annotator,
        side=np.where(who.settled, known, 0),
        item_part=item_part,
        annotator_part=annotator_part,
        anchored=anchored,
    )


def _rows(start: Any, column: Any, weight: Any, label: Any) -> Rows:
    """Compressed rows with fixed types, whatever the sparse matrix chose."""
    heavy = np.ascontiguousarray(weight, dtype=np.float64)
    return (
        np.ascontiguousarray(start, dtype=np.int64),
        np.ascontiguousarray(column, dtype=np.int64),
        heavy,
        heavy * (label - 0.5),
    )


def _parts(by_item: Rows, annotators: int) -> tuple[Ints, Ints]:
    """Connected components, numbered from 0; -1 for those without votes."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    start, column, weight, _ = by_item
    items = len(start) - 1
    padded = np.concatenate((start, np.full(annotators, start[-1])))
    size = items + annotators
    graph = csr_matrix((np.ones(len(weight)), column + items, padded), shape=(size, size))
    part = connected_components(graph, directed=False)[1]
    voted = np.zeros(size, dtype=bool)
    voted[:items] = np.diff(start) > 0
    voted[items + column] = True
    code = np.full(size, -1)
    code[voted] = np.unique(part[voted], return_inverse=True)[1]
    return code[:items], code[items:]
