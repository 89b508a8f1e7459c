"""Cases: a few items close up, with what was said of them and what that leaves possible.

The least certain item, one in the middle and the most certain one. Per class the mean mass,
quantiles over draws and some of the draws themselves; classes beyond the eighth and those that
nobody mentioned stand together as all others.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import Floats, Ints
from equipoise.plausibilities import Plausibilities

SEED = 0
SHOWN = 8  # classes of a case
DRAWS = 400  # for quantiles
STRIP = 100  # of them kept to be drawn
ROOM = 4_000_000  # masses held at a time
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
NOTHING = 1e-9  # mass that is rounding
READINGS = 40  # readings of a case that are written out
ROLES = ("most ambiguous", "in the middle", "most certain")

Draws = tuple[Floats, Floats]  # (draws, entries of the item) and (draws,) of the rest


def cases(
    annotations: Annotations, made: Plausibilities, task: str, order: Ints
) -> list[dict[str, Any]]:
    """The cases of one task; `order` runs from the least to the most certain item."""
    chosen = dict.fromkeys([int(order[0]), int(order[len(order) // 2]), int(order[-1])])
    roles = ROLES if len(chosen) == 3 else (ROLES[0], ROLES[2])
    certainty, drawn = made.certainty, item_draws(made, list(chosen))
    found = []
    for role, i in zip(roles, chosen, strict=False):
        shown = _masses(made, i, None if drawn is None else drawn[i])
        said = readings(annotations, task, made.items[i])
        first = said.pop("first")
        for one in shown["rows"]:
            one["first"] = first.get(one["class"])
        shown["rows"] = [r for r in shown["rows"] if r["mean"] > NOTHING or r["first"]]
        facts = {"item": made.items[i], "role": role, "certainty": float(certainty[i])}
        found.append({**facts, "spread": drawn is not None, **shown, **said})
    return found


def item_draws(made: Plausibilities, items: Sequence[int]) -> dict[int, Draws] | None:
    """Draws of some items; None where a draw is a single class, or there is only one draw."""
    if made.law is None and made.draws == 1:
        return None
    if made.law is not None and made.law.name == "labels":
        return None
    kept: dict[int, list[Draws]] = {i: [] for i in items}
    for masses in _lots(made):
        for i, many in kept.items():
            entries = slice(int(made.start[i]), int(made.start[i + 1]))
            many.append((masses[0][:, entries].copy(), masses[1][:, i].copy()))
    return {
        i: (np.concatenate([one[0] for one in many]), np.concatenate([one[1] for one in many]))
        for i, many in kept.items()
    }


def _lots(made: Plausibilities) -> Iterator[Draws]:
    """Draws of all items, so many at a time as memory allows, each lot from the next seed."""
    if made.law is None:
        rows = np.linspace(0, made.draws - 1, min(DRAWS, made.draws)).astype(np.intp)
        yield made.mass[rows], made.rest[rows]
        return
    lot = max(1, min(DRAWS, ROOM // max(1, len(made.label))))
    for number, first in enumerate(range(0, DRAWS, lot)):
        some = made.drawn(min(lot, DRAWS - first), seed=SEED + number)
        yield some.mass, some.rest


def _masses(made: Plausibilities, i: int, drawn: Draws | None) -> dict[str, Any]:
    """Mean, quantiles and draws of the most plausible classes, and of all others."""
    entries = slice(int(made.start[i]), int(made.start[i + 1]))
    mean, label = made.mass[:, entries].mean(axis=0), made.label[entries]
    order = np.argsort(-mean, kind="stable")[:SHOWN]
    rows = [
        {
            "class": made.classes[label[k]],
            "mean": float(mean[k]),
            **({} if drawn is None else _spread(drawn[0][:, k])),
        }
        for k in order
    ]
    left = len(made.classes) - len(order)
    rest = 1.0 - float(mean[order].sum())
    if not left or rest < NOTHING:
        return {"rows": rows, "others": None}
    spread = {} if drawn is None else _spread(1.0 - drawn[0][:, order].sum(axis=1))
    return {"rows": rows, "others": {"classes": left, "mean": rest, **spread}}


def _spread(values: Floats) -> dict[str, Any]:
    """Quantiles, and some of the draws to be drawn as a strip."""
    kept = values[np.linspace(0, len(values) - 1, min(STRIP, len(values))).astype(np.intp)]
    return {
        "quantiles": np.quantile(values.clip(0, 1), LEVELS),
        "draws": kept.clip(0, 1).round(4),
    }


def readings(annotations: Annotations, task: str, item: str) -> dict[str, Any]:
    """What was said of an item, row by row: readings of blocks, each with its number.

    A vote is a reading with one block of one class; equal readings of anonymous annotators
    are counted together, most frequent first. ``first`` is the share of readings that name a
    class first, tied ones in equal parts.
    """
    here = annotations.in_task(task) & (annotations.item == annotations.items.index(item))
    rows = np.flatnonzero(here)
    reading = rows if annotations.reading is None else annotations.reading[rows]
    told: dict[tuple[str | None, tuple[tuple[str, ...], ...]], int] = {}
    for number in np.unique(reading):
        own = rows[reading == number]
        key = (_name(annotations, int(own[0])), _blocks(annotations, own))
        times = 1 if annotations.count is None else int(annotations.count[own[0]])
        told[key] = told.get(key, 0) + times
    first: dict[str, float] = {}
    total = sum(told.values())
    for (_, blocks), number in told.items():
        for name in blocks[0]:
            first[name] = first.get(name, 0.0) + number / len(blocks[0]) / total
    lines = [
        {"annotator": who, "blocks": [list(block) for block in blocks], "number": number}
        for (who, blocks), number in sorted(told.items(), key=lambda one: -one[1])
    ]
    left = max(0, len(lines) - READINGS)
    return {"readings": lines[:READINGS], "left_out": left, "first": first}


def _name(annotations: Annotations, row: int) -> str | None:
    """Who said it, where that is known."""
    if annotations.is_gold is not None and annotations.is_gold[row]:
        return "known truth"
    if annotations.annotators is None or annotations.annotator is None:
        return None
    return str(annotations.annotators[annotations.annotator[row]])


def _blocks(annotations: Annotations, rows: Ints) -> tuple[tuple[str, ...], ...]:
    """The classes of one reading in order, those of equal rank together."""
    if annotations.value is not None:
        return ((f"{annotations.value[rows[0]]:g}",),)
    assert annotations.label is not None
    names = [annotations.classes[code] for code in annotations.label[rows]]
    if annotations.rank is None:
        return ((names[0],),)
    places = annotations.rank[rows].tolist()
    return tuple(
        tuple(name for name, place in zip(names, places, strict=True) if place == rank)
        for rank in sorted(set(places))
    )
