"""Votes that repeat: one annotator, one item, one task, more than once.

Repeats are real (the same slide shown twice, a mind changed), so they are kept unless the
caller says otherwise, and they are always counted.
"""

import numpy as np

from equipoise.arrays import Bools, InputError, Ints
from equipoise.coding.columns import times
from equipoise.coding.tables import Table
from equipoise.wording import Option, hint


def kept_votes(table: Table, key: Ints | None, repeats: str) -> tuple[Bools, tuple[str, ...]]:
    """Say which rows stay, and what to tell the user.

    Parameters
    ----------
    key
        One number per row, equal for votes that repeat each other; None if anonymous.
    repeats
        ``keep`` all, the ``last`` of each (by time where known), or treat as an ``error``.
    """
    everything = np.ones(len(table), dtype=bool)
    if key is None:
        if repeats != "keep":
            raise InputError(
                f"{table.name}, repeats={repeats!r}", "votes without annotators",
                "a column 'annotator'", "add it, or leave repeats out",
            )  # fmt: skip
        return everything, ()
    ordered = np.sort(key)
    again = int((ordered[1:] == ordered[:-1]).sum())
    if not again:
        return everything, ()
    if repeats == "error":
        raise _refused(table, key, again)
    verb = "vote repeats" if again == 1 else "votes repeat"
    says = f"{again:,} {verb} an (item, annotator, task) seen before"
    if repeats == "keep":
        return everything, (f"{says}; all are kept",)
    return _last(table, key), (f"{says}; only the last of each is kept",)


def _last(table: Table, key: Ints) -> Bools:
    """Keep the row of each key that has the latest time, or stands last in the file."""
    moment: Ints = np.zeros(len(key), dtype=np.int64)
    if "timestamp" in table.columns:
        moment, there = times(table, "timestamp")
        if not there.all():
            row = int(np.flatnonzero(~there)[0])
            raise InputError(
                table.where(row), "a blank timestamp", "a time for every vote",
                "fill it in, or remove the column to keep the last in file order",
            )  # fmt: skip
    order = np.lexsort((moment, key))
    final = np.append(key[order][1:] != key[order][:-1], True)
    keep = np.zeros(len(key), dtype=bool)
    keep[order[final]] = True
    return keep


def _refused(table: Table, key: Ints, again: int) -> InputError:
    order = np.argsort(key, kind="stable")
    later = np.sort(order[1:][key[order][1:] == key[order][:-1]])
    rows = ", ".join(table.place(int(row)).removeprefix("row ") for row in later[:3])
    more = f" and {again - 3:,} more" if again > 3 else ""
    says = f"row {rows} repeats" if again == 1 else f"rows {rows}{more} repeat"
    return InputError(
        table.name, f"{says} an (item, annotator, task)",
        "one vote of each annotator on each item and task",
        hint(
            "remove them, or say {} or {}", Option("repeats", "last"), Option("repeats", "keep")
        ),
    )  # fmt: skip
