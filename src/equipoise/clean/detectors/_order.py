"""The order in which items are worked on: by name, so that scores do not depend on theirs."""

from collections.abc import Sequence

import numpy as np

from equipoise.arrays import Floats, Ints


def name_order(items: Sequence[str]) -> Ints:
    """Places of the items, sorted by name.

    Examples
    --------
    >>> name_order(("b", "c", "a")).tolist()
    [2, 0, 1]
    """
    return np.array(sorted(range(len(items)), key=items.__getitem__), dtype=np.int64)


def back_in_place(values: Floats, order: Ints) -> Floats:
    """Values in the order of names, in the order that the items have.

    Examples
    --------
    >>> back_in_place(np.array([1.0, 2.0, 3.0]), name_order(("b", "c", "a"))).tolist()
    [2.0, 3.0, 1.0]
    """
    placed = np.empty_like(values)
    placed[order] = values
    return placed
