"""Decisions: predictions that name a class per item, as class probabilities of 0 and 1.

A column whose every cell is a class of the annotations says which class a model chose, not how
much of anything it saw: the class '4' is not twice the class '2'. With two classes the names 0
and 1 are scores as well, and stay scores.
"""

from collections.abc import Sequence

import numpy as np

from equipoise.arrays import Floats, Ints
from equipoise.coding.columns import coded
from equipoise.coding.tables import Table

FEWEST = 3  # classes, below which 0 and 1 are scores


def decided(
    table: Table, columns: Sequence[str], classes: Sequence[str] | None
) -> list[Floats] | None:
    """Probabilities (rows, classes) of each column; None unless all cells are classes.

    Examples
    --------
    >>> import pyarrow
    >>> chosen = Table(name="table", columns={"cnn": pyarrow.array([2, 0])})
    >>> decided(chosen, ["cnn"], ("0", "1", "2"))
    [array([[0., 0., 1.],
           [1., 0., 0.]])]
    >>> decided(chosen, ["cnn"], ("0", "1")) is None
    True
    """
    if classes is None or len(classes) < FEWEST:
        return None
    place = {name: code for code, name in enumerate(classes)}
    found: list[Ints] = []
    for column in columns:
        cells = coded(table, column)
        if (cells.codes < 0).any() or not set(cells.names) <= set(place):
            return None
        found.append(
            np.array([place[name] for name in cells.names], dtype=np.intp)[cells.codes]
        )
    return [np.eye(len(classes))[codes] for codes in found]


def is_decided(values: Floats) -> bool:
    """Whether all probability is on one class, for every item.

    Examples
    --------
    >>> is_decided(np.array([[0.0, 1.0], [1.0, 0.0]])), is_decided(np.array([[0.1, 0.9]]))
    (True, False)
    """
    return values.ndim == 2 and bool(((values == 0) | (values == 1)).all())
