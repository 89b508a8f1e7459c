"""Pace: how long annotators took over their answers, where that was recorded.

An answer is a row, or one reading of a ranking (its first row tells how long it took). Gold
rows are nobody's answer, and a row without a duration tells nothing.
"""

from dataclasses import dataclass

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import Bools, Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Pace:
    """Durations of the answers to one question.

    Attributes
    ----------
    item, annotator
        Position of the item in the question, and code of the annotator, shape (answers,).
    milliseconds
        How long the answer took, shape (answers,).
    """

    item: Ints
    annotator: Ints
    milliseconds: Floats

    def kept(self, keep: Bools) -> "Pace":
        """Only the answers about some items, which move up to their new positions."""
        use = keep[self.item]
        item = (np.cumsum(keep) - 1)[self.item[use]]
        return Pace(item, self.annotator[use], self.milliseconds[use])

    def medians(self) -> dict[int, float]:
        """Median duration by annotator code.

        Examples
        --------
        >>> Pace(np.zeros(3, int), np.array([0, 0, 2]), np.array([10.0, 30.0, 5.0])).medians()
        {0: 20.0, 2: 5.0}
        """
        order = np.argsort(self.annotator, kind="stable")
        codes, first = np.unique(self.annotator[order], return_index=True)
        parts = np.split(self.milliseconds[order], first[1:])
        return {
            int(code): float(np.median(part)) for code, part in zip(codes, parts, strict=True)
        }


def pace(annotations: Annotations, task: str, items: Ints) -> Pace | None:
    """Durations of one task; None where no annotator or no duration is known.

    Parameters
    ----------
    items
        The items of the question, as positions in ``annotations.items``.
    """
    if annotations.annotator is None or annotations.duration_ms is None:
        return None
    place = np.full(len(annotations.items), -1)
    place[items] = np.arange(len(items))
    use = annotations.in_task(task) & (place[annotations.item] >= 0)
    use &= ~np.isnan(annotations.duration_ms)
    if annotations.is_gold is not None:
        use &= ~annotations.is_gold
    rows = np.flatnonzero(use)
    if annotations.reading is not None:
        rows = rows[np.unique(annotations.reading[rows], return_index=True)[1]]
    if not len(rows):
        return None
    return Pace(
        place[annotations.item[rows]],
        annotations.annotator[rows].astype(np.intp),
        annotations.duration_ms[rows].astype(np.float64),
    )
