"""What the fits of ability and sign share: votes as a graph, priors, stop rules, results."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise.truth._annotator_votes import AnnotatorVotes
from equipoise.types.arrays import Bools, Floats, Ints
from equipoise.types.notices import Notice

_Rows = tuple[Ints, Ints, Floats, Floats]
START_ABILITY, START_SPREAD = 1.0, 0.1  # positive: votes are meant to be right


@dataclass(frozen=True, slots=True)
class GladPrior:
    """Items b ~ N(0, sigma_b^2), abilities c ~ N(mu_c, sigma_c^2)."""

    sigma_b: float = 3.0
    mu_c: float = 1.0
    sigma_c: float = 1.0


@dataclass(frozen=True, slots=True)
class GladFit:
    """How long a fit goes on.

    Attributes
    ----------
    tolerance, most, inner
        A climb stops when no probability moves by more than `tolerance`, or after `most`
        sweeps; a sweep updates each row `inner` times.
    rescale
        Whether a sweep ends with the best scale of items against annotators. It ends in the
        same place sooner; without it sweeps are plain coordinate ascent.
    draws, burn_in, seed
        Of the Gibbs chain.
    """

    tolerance: float = 1e-4
    most: int = 2000
    draws: int = 1000
    burn_in: int = 1000
    seed: int = 0
    inner: int = 1
    rescale: bool = True


@dataclass(frozen=True, slots=True)
class GladSvi:
    """Steps and learning rate of Adam, draws of each item at the end, and the seed."""

    steps: int = 10_000
    learning_rate: float = 0.1
    draws: int = 1000
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class GladPosterior:
    """Probabilities and means of items, abilities, and what a fit says about itself."""

    chance: Floats
    item: Floats
    ability: Floats
    diagnostics: dict[str, Any]
    notices: tuple[Notice, ...]
    low: Floats | None = None
    high: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class VoteGraph:
    """Yes/no votes of one task in compressed rows, by item and by annotator.

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

    by_item: _Rows
    by_annotator: _Rows
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


def graph_of(who: AnnotatorVotes) -> VoteGraph:
    """Lay out the votes both ways and find the parts that share neither item nor annotator."""
    row, column = who.answers.tocsr(), who.answers.tocsc()
    answer = np.repeat(np.arange(column.shape[1]), np.diff(column.indptr))
    by_item = _rows(row.indptr, row.indices // 2, row.data, row.indices % 2)
    by_annotator = _rows(column.indptr[::2], column.indices, column.data, answer % 2)
    item_part, annotator_part = _parts(by_item, len(who.annotators))
    known = np.where(who.shares[:, 1] > 0.5, 1, -1)
    anchored = np.zeros(max(int(item_part.max(initial=-1)) + 1, 0), dtype=bool)
    anchored[item_part[who.settled & (item_part >= 0)]] = True
    return VoteGraph(
        by_item=by_item,
        by_annotator=by_annotator,
        side=np.where(who.settled, known, 0),
        item_part=item_part,
        annotator_part=annotator_part,
        anchored=anchored,
    )


def _rows(start: Any, column: Any, weight: Any, label: Any) -> _Rows:
    """Compressed rows with fixed types, whatever the sparse matrix chose."""
    heavy = np.ascontiguousarray(weight, dtype=np.float64)
    return (
        np.ascontiguousarray(start, dtype=np.int64),
        np.ascontiguousarray(column, dtype=np.int64),
        heavy,
        heavy * (label - 0.5),
    )


def _parts(by_item: _Rows, annotators: int) -> tuple[Ints, Ints]:
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
