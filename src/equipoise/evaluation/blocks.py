"""Blocks: hard and soft truth as metrics want it, class by class or as whole distributions.

Metrics of one class against the rest take its mass; the hard label is whether it has more than
half of the votes. Metrics of whole distributions take all classes, also the negative one of a
yes/no question; the hard label is the class with most votes, and classes with equally many
share it. For a yes/no question that is again the strict majority: a tie is negative.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.arrays import Floats
from equipoise.metrics import Block, Truth

HALF = 0.5 + 1e-12
TIE = 1e-12

Pair = tuple[Block, Block]


def majority(shares: Sequence[Floats] | Floats) -> list[Floats]:
    """Whether each class has more than half of the votes."""
    return [(share > HALF).astype(np.float64) for share in shares]


def every_class(shares: Sequence[Floats] | Floats) -> list[Floats]:
    """Shares of all classes; a yes/no question's negative class comes first."""
    return [1.0 - shares[0], shares[0]] if len(shares) == 1 else list(shares)


def plurality(shares: Sequence[Floats] | Floats) -> list[Floats]:
    """The class with most votes, shared by those with equally many.

    Examples
    --------
    >>> np.stack(plurality(np.array([[0.4], [0.4], [0.2]]))).ravel()
    array([0.5, 0.5, 0. ])
    """
    if len(shares) == 1:
        return every_class(majority(shares))
    top = np.maximum.reduce(list(shares))
    first = [(share >= top - TIE).astype(np.float64) for share in shares]
    tied = np.add.reduce(first)
    return [one / tied for one in first]


def pair(shares: Sequence[Floats] | Floats, counts: NDArray[np.uint8], *, whole: bool) -> Pair:
    """Hard and soft block of one kind of label."""
    if whole:
        return _block(plurality(shares), counts), _block(every_class(shares), counts)
    return _block(majority(shares), counts), _block(list(shares), counts)


def _block(masses: list[Any], counts: NDArray[np.uint8]) -> Block:
    return Block(tuple(_truth(mass) for mass in masses), counts)


def _truth(mass: NDArray[Any]) -> Truth:
    """One class; where it varies, mark the items that are 0 or 1 in every replicate."""
    if mass.ndim == 1:
        return Truth(np.ascontiguousarray(mass))
    sure = np.full(len(mass), 2, dtype=np.uint8)
    sure[mass.max(axis=1) == 0] = 0
    sure[mass.min(axis=1) == 1] = 1
    return Truth(mass.astype(np.float64, copy=False), sure)
