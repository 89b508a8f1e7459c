"""Blocks: hard and soft truth as metrics want it, class by class or as whole distributions.

Metrics of one class against the rest take its mass; metrics of whole distributions take all
classes, also the negative one of a yes/no question. The hard label is the same for all of them:
the class with most votes, and classes with equally many share it (``ties="half"``: a yes/no tie
counts 1/2). ``drop`` leaves tied items out for hard labels. ``negative`` is the rule of many
published tables: a class has the item if more than half of the votes are for it, so that a
yes/no tie is negative; whole distributions of several classes share ties as above.

How many replicates are scored at a time depends on the size of the data alone: neither the
engine nor the number of its workers has a say, so they cannot change a result.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.metrics import Block, Truth
from equipoise.read.options import SHARED
from equipoise.types import Bools, Floats

LABELS = SHARED["labels"].choices
HALF = 0.5 + 1e-12
TIE = 1e-12

Pair = tuple[Block, Block]


def majority(shares: Sequence[Floats] | Floats) -> list[Floats]:
    """Whether each class has more than half of the votes."""
    return [(share > HALF).astype(np.float64) for share in shares]


def every_class(shares: Sequence[Floats] | Floats) -> list[Floats]:
    """Shares of all classes; a yes/no question's negative class comes first."""
    return [1.0 - shares[0], shares[0]] if len(shares) == 1 else list(shares)


def hard_labels(
    shares: Sequence[Floats] | Floats, ties: str = "half", *, whole: bool = False
) -> list[Floats]:
    """The class with most votes, by scored class, or of all classes where `whole`.

    Examples
    --------
    >>> np.stack(hard_labels(np.array([[0.4], [0.4], [0.2]]))).ravel()
    array([0.5, 0.5, 0. ])
    >>> hard_labels([np.array([0.5, 0.6])]), hard_labels([np.array([0.5, 0.6])], "negative")
    ([array([0.5, 1. ])], [array([0., 1.])])
    """
    if len(shares) == 1:
        label = majority(shares)[0]
        if ties != "negative":
            label[tied_items(shares)] = 0.5
        return every_class([label]) if whole else [label]
    if ties == "negative" and not whole:
        return majority(shares)
    leading = _leading(shares)
    tied = np.add.reduce(leading, dtype=np.float64)
    return [leads / tied for leads in leading]


def tied_items(shares: Sequence[Floats] | Floats) -> Bools:
    """Which items have several classes with most votes, shaped as one class's shares."""
    if len(shares) == 1:
        return np.asarray(np.abs(shares[0] - 0.5) <= TIE)
    return np.asarray(np.add.reduce(_leading(shares), dtype=np.intp) > 1)


def _leading(shares: Sequence[Floats] | Floats) -> list[Bools]:
    """Which classes have most votes."""
    top = np.maximum.reduce(list(shares)) - TIE
    return [share >= top for share in shares]


def pair(
    shares: Sequence[Floats] | Floats,
    counts: NDArray[np.uint8],
    *,
    whole: bool,
    ties: str = "half",
    pattern: NDArray[np.int32] | None = None,
) -> Pair:
    """Hard and soft block of one kind of label.

    ``shares`` are those of items, or of the patterns of votes that items have.
    """
    hard, soft = hard_labels(shares, ties, whole=whole), list(shares)
    left = counts
    if ties == "drop":
        tied = tied_items(shares)
        tied = tied if pattern is None else tied[pattern]
        left = counts * ~(tied[:, None] if tied.ndim == 1 else tied)
    blocks = (hard, left), (every_class(soft) if whole else soft, counts)
    first, second = (
        Block(tuple(_truth(mass, pattern) for mass in masses), times)
        for masses, times in blocks
    )
    return first, second


def _truth(mass: NDArray[Any], pattern: NDArray[np.int32] | None) -> Truth:
    """One class; where it varies, mark the rows that are 0 or 1 in every replicate."""
    if mass.ndim == 1:
        return Truth(np.ascontiguousarray(mass), pattern=pattern)
    sure = np.full(len(mass), 2, dtype=np.uint8)
    sure[mass.max(axis=1) == 0] = 0
    sure[mass.min(axis=1) == 1] = 1
    return Truth(mass.astype(np.float64, copy=False), sure, pattern)


WIDTH = 128  # replicates per chunk: the inner loops of the kernels vectorise over them
BYTES = 64 * 2**20  # most memory that one chunk's truth may take


def chunk_width(items: int, classes: int) -> int:
    """Replicates per chunk for a task of this size, a multiple of 8 of at most `WIDTH`."""
    fits = BYTES // max(items * classes * 9, 1)
    return int(min(WIDTH, max(8, fits // 8 * 8)))


def chunk_bytes(items: int, classes: int) -> int:
    """Memory of a chunk: soft labels, hard labels, and what they are made with."""
    return 3 * 8 * items * classes * chunk_width(items, classes)
