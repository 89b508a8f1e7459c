"""Reproduction: recomputed rows next to what was published."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

Key = tuple[str, ...]
Tell = Callable[[int, int], None]  # what is done, and how much there is


def silent(done: int, total: int) -> None:
    """Tell nobody how far the work is."""
    del done, total


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
        Published figures by the identifying values; rows without any are absent, and so are
        columns of a row.
    tolerance
        How far a cell may be off and still agree (rounding of the published figure, and Monte
        Carlo error of either): one for all, or one per row by the identifying values.
    notes
        What a reader should know.
    formats
        How columns are shown: of the recomputed and of the published figure; four and three
        decimals where absent.
    """

    title: str
    source: str
    keys: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[Mapping[str, str | float]]
    published: Mapping[Key, Mapping[str, float]]
    tolerance: float | Mapping[Key, float]
    notes: Sequence[str] = ()
    formats: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def key(self, row: Mapping[str, str | float]) -> Key:
        """The identifying values of a row."""
        return tuple(str(row[name]) for name in self.keys)

    def allowed(self, key: Key) -> float:
        """How far the cells of a row may be off."""
        return self.tolerance[key] if isinstance(self.tolerance, Mapping) else self.tolerance

    def compared(self) -> tuple[str, ...]:
        """Columns of which anything was published."""
        named = {column for figures in self.published.values() for column in figures}
        return tuple(column for column in self.columns if column in named)

    def agreement(self) -> tuple[int, int]:
        """How many published cells agree within the tolerance, and how many there are."""
        cells = [
            abs(float(row[column]) - figure) <= self.allowed(key)
            for row in self.rows
            if (key := self.key(row)) in self.published
            for column, figure in self.published[key].items()
        ]
        return sum(cells), len(cells)

    def record(self) -> list[dict[str, str | float | None]]:
        """The rows for a program; where tolerances differ, with them and what was published."""
        rows: list[dict[str, str | float | None]] = [dict(row) for row in self.rows]
        if not isinstance(self.tolerance, Mapping):
            return rows
        for row, given in zip(rows, self.rows, strict=True):
            figures = self.published.get(self.key(given), {})
            for column in self.compared():
                row[f"published_{column}"] = figures.get(column)
            row["tolerance"] = self.tolerance.get(self.key(given))
        return rows
