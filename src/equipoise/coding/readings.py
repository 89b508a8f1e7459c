"""Rankings: rows of one person about one item form a reading with dense ranks from 0.

Equal ranks are ties. Ranks may start anywhere and may have gaps: only their order counts.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from equipoise.arrays import Floats, InputError, Ints
from equipoise.coding.columns import numbers
from equipoise.coding.tables import Table


def reading_columns(table: Table, key: Ints, answers: Mapping[str, Any]) -> dict[str, Ints]:
    """Return `rank` and `reading` for the rows of a tidy table.

    Parameters
    ----------
    key
        One number per row, equal for rows of one reading.
    answers
        The columns made of the labels: `label` and `classes`.
    """
    place = numbers(table, "rank")
    blank = np.flatnonzero(~np.isfinite(place))
    if len(blank):
        raise InputError(
            table.where(blank[0]), f"rank {place[blank[0]]}", "a number", "fill in the rank"
        )
    reading = _by_appearance(np.unique(key, return_inverse=True)[1])
    _refuse_twice(table, reading * len(answers["classes"]) + answers["label"], answers)
    return {"rank": dense_ranks(reading, place), "reading": reading}


def dense_ranks(reading: Ints, place: Floats) -> Ints:
    """Count the distinct places before each one within its reading.

    Examples
    --------
    >>> dense_ranks(np.array([0, 0, 0, 1]), np.array([2., 5., 2., 9.]))
    array([0, 1, 0, 0])
    """
    order = np.lexsort((place, reading))
    starts = np.append(True, reading[order][1:] != reading[order][:-1])
    steps = np.append(True, place[order][1:] != place[order][:-1]) | starts
    level = np.cumsum(steps) - 1
    first = np.maximum.accumulate(np.where(starts, level, 0))
    rank = np.empty(len(place), dtype=np.int64)
    rank[order] = level - first
    return rank


def _by_appearance(codes: Ints) -> Ints:
    """Renumber readings so that the first one in the file is 0."""
    first = np.full(int(codes.max()) + 1, len(codes), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    position = np.empty(len(first), dtype=np.int64)
    position[np.argsort(first, kind="stable")] = np.arange(len(first))
    return position[codes]


def _refuse_twice(table: Table, mention: Ints, answers: Mapping[str, Any]) -> None:
    order = np.argsort(mention, kind="stable")
    twice = order[1:][mention[order][1:] == mention[order][:-1]]
    if len(twice):
        row = int(twice.min())
        raise InputError(
            table.where(row),
            f"class {answers['classes'][answers['label'][row]]!r} twice in one ranking",
            "each class at most once for each item, annotator and task",
            "remove the later mention",
        )
