"""Rank stability in words: which kind of redrawing stands in front, and what it says.

In front stand items and annotators where annotators are named, and items, with their votes,
where they are not. Kinds that draw items together with votes or annotators err on the wide
side: redrawn items already bring the noise of their votes along, and it is drawn once more.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from equipoise.analyses.words import REDRAWN, leaders, middle, percent

NOTES = (
    "A model's share of being best counts the redraws in which it is first; models that tie "
    "for first share that redraw evenly.",
    "Soft wins: the share of redraws in which the order by soft labels stays nearer to its own "
    "original order than the order by hard labels does to its own, by rank correlation; a "
    "redraw in which both are equally near counts half.",
)
WIDE = (
    "Items drawn together with votes or annotators err on the wide side, so that an order "
    "looks less stable than it is: redrawn items already bring the noise of their votes along."
)
JOINT = ("items x votes", "items x panel")
FRONT = ("items x panel", "items", "panel", "votes", "posterior", "items x votes")


def rank_notes(kinds: Sequence[str]) -> list[str]:
    """What the columns mean, and which kinds err on which side."""
    return [*NOTES, *([WIDE] if set(kinds) & set(JOINT) else [])]


def in_front(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The row of the kind that stands in front, of those with an order.

    Examples
    --------
    >>> rows = [{"kind": kind, "spearman": 0.5} for kind in ("votes", "items x votes", "items")]
    >>> in_front(rows)["kind"]
    'items'
    """
    known = [row for row in rows if not np.isnan(row["spearman"])]
    place = {kind: number for number, kind in enumerate(FRONT)}
    return min(known, key=lambda row: place.get(row["kind"], len(FRONT)), default=None)


def order_said(row: Mapping[str, Any], models: int, what: str) -> str:
    """How stable the order of the models by something is under one kind, in one sentence."""
    wide = " (which errs on the wide side)" if row["kind"] in JOINT else ""
    lost = (
        f"; in {percent(row['undefined'])} of the redraws there is no order"
        if row["undefined"]
        else ""
    )
    return (
        f"When {REDRAWN[row['kind']]} are drawn anew{wide}, the order of {models} models by "
        f"{what} agrees with the original at a rank correlation of {row['spearman']:.2f} on "
        f"average{middle(row['spearman_low'], row['spearman_high'])}, and "
        f"{leaders(row)}{lost}."
    )
