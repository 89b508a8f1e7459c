"""Races: partial rankings laid out case by case, for Plackett-Luce."""

from dataclasses import dataclass

import numpy as np

from equipoise.aggregate._readings import dense_blocks
from equipoise.annotations import Annotations
from equipoise.arrays import Bools, Floats, InputError, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Races:
    """Readings of one task; identical ones of a case are merged.

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
    """

    items: tuple[str, ...]
    classes: tuple[str, ...]
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


def races(annotations: Annotations, task: str) -> Races:
    """Lay out the readings of a task; plain labels are readings of length one."""
    _refuse(annotations)
    rows = np.flatnonzero(annotations.in_task(task))
    assert annotations.label is not None
    label = annotations.label[rows]
    reading: Ints = np.arange(len(rows))
    block: Ints = np.zeros(len(rows), dtype=np.int64)
    if annotations.rank is not None and annotations.reading is not None:
        reading, block = annotations.reading[rows], dense_blocks(annotations, rows)
    item = annotations.item[rows]
    order = np.lexsort((label, block, reading, item))
    cases: dict[int, dict[tuple[tuple[int, ...], ...], int]] = {}
    current: list[list[int]] = []
    last = (-1, -1, -1)
    for i, r, b, k in zip(item[order], reading[order], block[order], label[order], strict=True):
        if (i, r) != last[:2]:
            _close(cases, last[0], current)
            current = []
        if (i, r, b) != last:
            current.append([])
        current[-1].append(int(k))
        last = (i, r, b)
    _close(cases, last[0], current)
    return _flat(annotations, task, cases)


def _refuse(annotations: Annotations) -> None:
    weighted = annotations.weight is not None or annotations.count is not None
    gold = annotations.is_gold is not None and bool(annotations.is_gold.any())
    if annotations.label is None or weighted or gold:
        raise InputError(
            "plackett_luce", f"annotations of kind {annotations.kind}"
            + (" with weights or counts" if weighted else " with gold rows" if gold else ""),
            "labels or rankings without weights, counts or gold rows",
            "leave those columns out, or choose a model of counts",
        )  # fmt: skip


def _close(
    cases: dict[int, dict[tuple[tuple[int, ...], ...], int]], item: int, blocks: list[list[int]]
) -> None:
    """Count one finished reading."""
    if blocks:
        key = tuple(tuple(block) for block in blocks)
        case = cases.setdefault(int(item), {})
        case[key] = case.get(key, 0) + 1


def _flat(
    annotations: Annotations,
    task: str,
    cases: dict[int, dict[tuple[tuple[int, ...], ...], int]],
) -> Races:
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
        for reading, times in case.items():
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
    return Races(
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
    )
