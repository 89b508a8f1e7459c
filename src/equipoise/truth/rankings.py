"""Ranking stages: partial rankings case by case, and taken apart, for Plackett-Luce."""

from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from equipoise.types import (
    Annotations,
    Bools,
    Floats,
    InputError,
    Ints,
    Names,
    Plausibilities,
    dense_blocks,
    immutable,
    row_weights,
)

_MOST = 1_000_000  # copies of a tied reading
_Cases = dict[int, dict[tuple[tuple[int, ...], ...], float]]  # copies of each reading


@immutable(eq=False)
class Readings:
    """Readings of one task, sorted by what they say; identical ones of a case are merged.

    Attributes
    ----------
    items, classes, task
        Names.
    start, label
        The mentioned classes of case i are ``label[start[i]:start[i + 1]]``.
    mentions
        How often each of them is named, shape (entries,).
    readings, blocks, elements
        First reading of each case, first block of each reading, first element of each block.
    element
        Classes in order, as positions among the mentioned classes of their case.
    copies, tied
        How often each reading occurs, and whether any of its blocks has several classes.
    ordered
        Whether the classes are grades.
    """

    items: Names
    classes: Names
    task: str
    start: Ints
    label: Ints
    mentions: Floats
    readings: Ints
    blocks: Ints
    elements: Ints
    element: Ints
    copies: Floats
    tied: Bools
    ordered: bool = False

    def plausibilities(self, mass: Floats, rest: Floats, **facts: Any) -> Plausibilities:
        """Plausibilities of the mentioned classes, (draws, entries), and of all others."""
        return Plausibilities(
            items=self.items,
            classes=self.classes,
            start=self.start,
            label=self.label,
            mass=mass,
            rest=rest,
            task=self.task,
            ordered=self.ordered,
            **facts,
        )


def collect_readings(
    annotations: Annotations, task: str, *, model: str = "plackett_luce"
) -> Readings:
    """Lay out the readings of a task; plain labels are readings of length one.

    Items of which the task has no rows are left out; `model` is who asks.
    """
    rows = np.flatnonzero(annotations.in_task(task))
    _refuse(annotations, rows)
    if not len(rows):
        raise InputError(f"{model}, task {task!r}", "no readings", "at least one", "check it")
    assert annotations.label is not None
    label = annotations.label[rows]
    reading: Ints = np.arange(len(rows))
    block: Ints = np.zeros(len(rows), dtype=np.int64)
    if annotations.rank is not None and annotations.reading is not None:
        reading, block = annotations.reading[rows], dense_blocks(annotations, rows)
    item, times = annotations.item[rows], _times(annotations, rows, reading)
    order = np.lexsort((label, block, reading, item))
    columns = [column[order].tolist() for column in (item, reading, block, label, times)]
    cases: _Cases = {}
    for (i, _), entries in groupby(zip(*columns, strict=True), key=itemgetter(0, 1)):
        named = [tuple(same) for _, same in groupby(entries, key=itemgetter(2))]
        key = tuple(tuple(entry[3] for entry in same) for same in named)
        case = cases.setdefault(i, {})
        case[key] = case.get(key, 0.0) + named[-1][-1][4]
    return _flat(annotations, task, cases)


def _refuse(annotations: Annotations, rows: Ints) -> None:
    gold = bool(annotations.gold[rows].any())
    if annotations.label is None or gold:
        raise InputError(
            "plackett_luce",
            f"annotations of kind {annotations.kind}" + (" with gold rows" if gold else ""),
            "labels or rankings without gold rows",
            "leave gold rows out, or choose a model for this kind",
        )


def _times(annotations: Annotations, rows: Ints, reading: Ints) -> Floats:
    """How often the reading of each row counts: weight times count, one number a reading."""
    times = row_weights(annotations, rows)
    order = np.argsort(reading, kind="stable")
    uneven = (np.diff(reading[order]) == 0) & (np.diff(times[order]) != 0)
    if uneven.any():
        row = rows[order[np.flatnonzero(uneven)[0]]]
        raise InputError(
            f"plackett_luce, item {annotations.items[annotations.item[row]]!r}",
            "a reading whose rows have different weights or counts",
            "one for all of them",
            "give every row of a reading the same weight and count",
        )
    return times


def _flat(annotations: Annotations, task: str, cases: _Cases) -> Readings:
    """Turn nested readings into flat arrays."""
    label: list[int] = []
    mentions: list[float] = []
    element: list[int] = []
    copies: list[float] = []
    tied: list[bool] = []
    start, readings, blocks, elements = [0], [0], [0], [0]
    for case in cases.values():
        named = sorted({k for reading in case for block in reading for k in block})
        place = {k: number for number, k in enumerate(named)}
        count = np.zeros(len(named))
        for reading, times in sorted(case.items()):
            for block in reading:
                element += [place[k] for k in block]
                elements.append(len(element))
                count[[place[k] for k in block]] += times
            blocks.append(len(elements) - 1)
            copies.append(float(times))
            tied.append(any(len(block) > 1 for block in reading))
        label += named
        mentions += list(count)
        start.append(len(label))
        readings.append(len(copies))
    return Readings(
        items=tuple(annotations.items[i] for i in cases),
        classes=annotations.classes,
        task=task,
        start=np.array(start),
        label=np.array(label),
        mentions=np.array(mentions),
        readings=np.array(readings),
        blocks=np.array(blocks),
        elements=np.array(elements),
        element=np.array(element),
        copies=np.array(copies),
        tied=np.array(tied),
        ordered=annotations.kind == "ordinal",
    )


@immutable(eq=False)
class _Stages:
    """Readings taken apart into waits, for the chains; equal ones of a case are merged.

    Classes are positions among the mentioned classes of their case, then one for all others.

    Attributes
    ----------
    case_wait, case_tie
        First wait and first tie of each case, shape (cases + 1,).
    waits
        Start, what is still awaited, and copies of every wait for the next class.
    ties
        Start, classes of the block followed by all later ones, size of the block, and copies
        of every tied block. The wait for the first class of a small block is among the waits.
    """

    case_wait: Ints
    case_tie: Ints
    waits: tuple[Ints, Ints, Floats]
    ties: tuple[Ints, Ints, Ints, Ints]


def stages(readings: Readings, reliability: float) -> _Stages:
    """Take the readings apart, each counted `reliability` times; ties only whole times."""
    from equipoise.kernels.plackett_luce import EXACT

    wait_start, awaited, wait_copies, case_wait = [0], [], [], [0]
    tie_start, members, tie_size, tie_copies, case_tie = [0], [], [], [], [0]
    for case in range(len(readings.items)):
        waits, ties = _taken_apart(readings, case, EXACT)
        everything = (1 << int(readings.start[case + 1] - readings.start[case] + 1)) - 1
        for ranked in sorted(waits):
            awaited += _bits(everything ^ ranked)
            wait_start.append(len(awaited))
            wait_copies.append(waits[ranked])
        for ranked, block in sorted(ties):
            classes = _bits(block)
            members += classes + _bits(everything ^ ranked ^ block)
            tie_start.append(len(members))
            tie_size.append(len(classes))
            tie_copies.append(_whole(ties[ranked, block] * reliability, readings.items[case]))
        case_wait.append(len(wait_copies))
        case_tie.append(len(tie_copies))
    return _Stages(
        case_wait=np.array(case_wait),
        case_tie=np.array(case_tie),
        waits=(
            np.array(wait_start),
            np.array(awaited, dtype=np.int64),
            np.array(wait_copies, dtype=np.float64) * reliability,
        ),
        ties=(
            np.array(tie_start),
            np.array(members, dtype=np.int64),
            np.array(tie_size, dtype=np.int64),
            np.array(tie_copies, dtype=np.int64),
        ),
    )


def _taken_apart(
    readings: Readings, case: int, exact: int
) -> tuple[dict[int, float], dict[tuple[int, int], float]]:
    """Copies of every wait by the set already ranked, and of every tie by that and its block.

    Sets are whole numbers with a bit per class.
    """
    waits: dict[int, float] = {}
    ties: dict[tuple[int, int], float] = {}
    for reading in range(int(readings.readings[case]), int(readings.readings[case + 1])):
        ranked, copies = 0, float(readings.copies[reading])
        for number in range(int(readings.blocks[reading]), int(readings.blocks[reading + 1])):
            elements = readings.element[
                readings.elements[number] : readings.elements[number + 1]
            ].tolist()
            block = sum(1 << k for k in elements)
            if len(elements) <= exact:
                waits[ranked] = waits.get(ranked, 0.0) + copies
            if len(elements) > 1:
                ties[ranked, block] = ties.get((ranked, block), 0.0) + copies
            ranked |= block
    return waits, ties


def _bits(set_: int) -> list[int]:
    """Members of a set, rising."""
    return [k for k in range(set_.bit_length()) if set_ >> k & 1]


def _whole(copies: float, item: str) -> int:
    if abs(copies - round(copies)) > 1e-9 * copies or not 1 <= round(copies) <= _MOST:
        raise InputError(
            f"plackett_luce, item {item!r}",
            f"tied readings that count {copies:g} times",
            f"a whole number from 1 to {_MOST:,}",
            "round the reliability or the weights: every copy has a hidden order of its own",
        )
    return round(copies)
