"""Consensus: the most plausible class of every item, with its votes, as rows for tables.

Votes are those that annotators gave, gold aside; of rankings a reading is one vote, and none is
counted for a class. Up to twenty classes, each has its plausibility in a column of its own.
"""

import numpy as np

from equipoise.study.analyses.certainty import SURE
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Ints, positions
from equipoise.types.findings import Cell, Column, Finding, Table, columns
from equipoise.types.numbers import count, percent
from equipoise.types.plausibilities import Plausibilities

KINDS = ("binary", "nominal", "ordinal")  # whose votes are for one class
WIDE = 20  # classes that have a column each
TITLE = "What is the consensus?"
NOTE = (
    "The consensus is the class with the largest mean plausibility, its probability that mean. "
    "Where classes share it, the first in the order of the classes is named, and the others "
    "stand beside it."
)


def consensus_rows(annotations: Annotations, made: Plausibilities) -> list[dict[str, Cell]]:
    """One row per item: consensus, probability, certainty, votes, and gold where there is some.

    Examples
    --------
    >>> from equipoise.truth import dirichlet
    >>> votes = Annotations.from_counts(np.array([[3, 2], [9, 0]]), classes=["no", "yes"])
    >>> [(row["consensus"], row["votes"]) for row in consensus_rows(votes, dirichlet(votes))]
    [('no', 5), ('no', 9)]
    """
    found, codes = made.consensus(), {name: k for k, name in enumerate(annotations.classes)}
    items = positions(made.items, annotations.items, where="consensus")
    top = np.full(len(annotations.items), -1)
    top[items] = [codes.get(one.label, -1) for one in found]
    votes, votes_for_it = _votes(annotations, made.task, top)
    known = _gold(annotations, made.task)
    shares = made.mean if len(made.classes) <= WIDE else None
    rows: list[dict[str, Cell]] = []
    for number, (item, one) in enumerate(zip(items.tolist(), found, strict=True)):
        row: dict[str, Cell] = {
            "task": made.task,
            "item": one.item,
            "consensus": one.label,
            "probability": one.probability,
            "tied_with": one.tied_with,
            "certainty": one.certainty,
            "entropy": one.entropy,
            "votes": int(votes[item]),
            "votes_for_it": int(votes_for_it[item]) if annotations.kind in KINDS else None,
        }
        if known:
            row["gold"] = known.get(item, "")
        if shares is not None:
            each = zip(made.classes, shares[number].tolist(), strict=True)
            row |= {f"plausibility of {name}": value for name, value in each}
        rows.append(row)
    return rows


def consensus_finding(annotations: Annotations, made: Plausibilities) -> Finding:
    """The consensus of every item of a task, as a table to take away."""
    rows = consensus_rows(annotations, made)
    open_items = sum(float(str(row["certainty"])) < SURE for row in rows)
    tied = sum(bool(row["tied_with"]) for row in rows)
    even = f" {count(tied, 'item')} {'has' if tied == 1 else 'have'} several." if tied else ""
    share = percent(open_items / (len(rows) or 1))
    table = Table(
        name="consensus",
        caption="Consensus of every item",
        columns=(
            *columns(item="text", consensus="text", probability="number"),
            *columns(tied_with="text", certainty="number", votes="count"),
            *([Column("gold", "gold")] if rows and "gold" in rows[0] else []),
        ),
        rows=rows,
        brief=(),
        download=True,
    )
    return Finding(
        key="consensus",
        title=TITLE,
        sentence=f"{count(len(rows), 'item')} {'has' if len(rows) == 1 else 'have'} a "
        f"consensus; for {share} its certainty is below {SURE:g}.{even}",
        tables=(table,),
        note=NOTE,
        brief=False,
    )


def _votes(annotations: Annotations, task: str, top: Ints) -> tuple[Ints, Ints]:
    """Votes on every item, and how many of them are for its class in `top`, (items,) all."""
    rows = annotations.in_task(task)
    if annotations.is_gold is not None:
        rows = rows & ~annotations.is_gold
    if annotations.reading is not None:
        rows = rows & (np.diff(annotations.reading, prepend=-1) != 0)
    item = annotations.item[rows]
    weight = np.ones(len(item), dtype=np.int64)
    if annotations.count is not None:
        weight = annotations.count[rows].astype(np.int64)
    same = np.zeros(len(item), dtype=bool)
    if annotations.label is not None:
        same = annotations.label[rows] == top[item]
    every, own = (
        np.bincount(item[use], weight[use], len(annotations.items)).astype(np.int64)
        for use in (slice(None), same)
    )
    return every, own


def _gold(annotations: Annotations, task: str) -> dict[int, str]:
    """Known classes by item; empty without gold."""
    if annotations.is_gold is None or annotations.label is None:
        return {}
    rows = annotations.in_task(task) & annotations.is_gold
    pairs = zip(annotations.item[rows].tolist(), annotations.label[rows].tolist(), strict=True)
    return {item: annotations.classes[label] for item, label in pairs}
