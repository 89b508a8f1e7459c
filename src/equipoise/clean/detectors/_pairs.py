"""Pairs to be scored: those of the collection, or every item with its nearest."""

from collections.abc import Callable

import numpy as np

from equipoise.clean.collection import Collection, Pairs
from equipoise.clean.detector import name_order
from equipoise.types.arrays import InputError, Ints

Nearest = Callable[[Ints], Ints]  # places in some order to (items, k) places in that order


def pairs_to_score(data: Collection, nearest: Nearest, where: str) -> Pairs:
    """The pairs of the collection, or every item with its nearest, each pair once.

    Proposals are made in the order of names, so that ties fall the same way whatever the order
    of the items; that an item is near to itself says nothing.
    """
    if data.pairs is not None:
        return data.pairs
    if len(data) < 2:
        raise InputError(where, f"{len(data)} items", "two or more", "add images")
    order = name_order(data.items)
    found = nearest(order)
    one = np.repeat(np.arange(len(order)), found.shape[1])
    low, high = np.minimum(one, found.ravel()), np.maximum(one, found.ravel())
    keys = np.unique((low * len(order) + high)[low != high])
    return Pairs(order[keys // len(order)], order[keys % len(order)])
