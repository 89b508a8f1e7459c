"""Reproduction: recomputed rows next to what was published."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reproduction:
    """One published table, recomputed.

    Attributes
    ----------
    title, source
        What is reproduced, and where it was published.
    keys, columns
        Names of the identifying and of the numeric columns.
    rows
        Recomputed rows at full precision.
    published
        Published figures by the identifying values; rows without any are absent.
    tolerance
        How far a cell may be off and still agree (rounding of the published figure).
    notes
        What a reader should know.
    """

    title: str
    source: str
    keys: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[Mapping[str, str | float]]
    published: Mapping[tuple[str, ...], Mapping[str, float]]
    tolerance: float
    notes: Sequence[str] = ()

    def agreement(self) -> tuple[int, int]:
        """How many published cells agree within the tolerance, and how many there are."""
        cells = [
            abs(float(row[column]) - self.published[key][column]) <= self.tolerance
            for row in self.rows
            if (key := tuple(str(row[name]) for name in self.keys)) in self.published
            for column in self.columns
        ]
        return sum(cells), len(cells)
