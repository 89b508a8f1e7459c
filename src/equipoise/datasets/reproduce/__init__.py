"""Reproductions: published numbers recomputed from raw data. One file each.

A reproduction is a module with a function ``reproduce(tell)``. `CATALOGUE` names its module,
which is loaded when it is needed, because an annex of the product may be its home.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from importlib import import_module
from math import comb
from typing import Any

from equipoise.types import (
    Chart,
    Column,
    Finding,
    Names,
    Progress,
    Report,
    Table,
    columns,
    immutable,
)

__all__ = ["CATALOGUE", "Reproduction", "describe", "recompute", "sign_test", "silent"]

CATALOGUE: Mapping[str, str] = {
    "chexpert-leaderboard": "equipoise.datasets.reproduce.chexpert_leaderboard",
    "cifar10h-certainty": "equipoise.datasets.reproduce.cifar10h_certainty",
    "cifar10n-label-errors": "equipoise.clean.studies.cifar10n_label_errors",
    "dermatology-ddx": "equipoise.datasets.reproduce.dermatology_ddx",
    "enhance-labels": "equipoise.datasets.reproduce.enhance_labels",
    "ordinal-scores": "equipoise.datasets.reproduce.ordinal_scores",
    "rank-stability": "equipoise.datasets.reproduce.rank_stability",
}
Key = Names


def silent(done: int, total: int) -> None:
    """Progress nobody how far the work is."""
    del done, total


@immutable
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
    figures
        How many figures were published, where one is compared with several rows; None is as
        many as there are compared cells.
    charts
        What the paper draws, drawn anew.
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
    figures: int | None = None
    charts: Sequence[Chart] = ()

    def key(self, row: Mapping[str, str | float]) -> Key:
        """The identifying values of a row."""
        return tuple(str(row[name]) for name in self.keys)

    def allowed(self, key: Key) -> float:
        """How far the cells of a row may be off."""
        return self.tolerance[key] if isinstance(self.tolerance, Mapping) else self.tolerance

    def compared(self) -> Names:
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

    def record(self) -> list[dict[str, Any]]:
        """The rows for a program, each beside what was published of it.

        `published` has the figures by column, `agrees` says whether all lie within `tolerance`;
        None where nothing was published.
        """
        rows = []
        for row in self.rows:
            key = self.key(row)
            figures = dict(self.published.get(key, {})) or None
            room = self.allowed(key) if figures else None
            agrees = figures and all(
                abs(float(row[name]) - figure) <= self.allowed(key)
                for name, figure in figures.items()
            )
            rows.append({**row, "published": figures, "tolerance": room, "agrees": agrees})
        return rows

    def verdict(self) -> str:
        """How many published figures come out, in one sentence."""
        agree, cells = self.agreement()
        by_row = isinstance(self.tolerance, Mapping)
        if not cells:
            return (
                "No published figure can be compared: what it was computed from is not public."
            )
        within = "the tolerance of their row" if by_row else f"{self.tolerance:g}"
        if self.figures is None:
            return f"{agree} of {cells} published cells agree within {within}."
        noun = "figure" if self.figures == 1 else "figures"
        rows = f"{self.keys[0]}s" if len(self.keys) == 1 else "rows"
        compared = f"{self.figures} published {noun}, compared with {cells} {rows}"
        return f"{compared}: {agree} agree within {within}."

    def report(self) -> Report:
        """A page: the rows beside what was published, and the charts."""
        compared = self.compared()
        heads = [
            column
            for name in self.columns
            for column in (
                Column(name, name.replace("_", " "), "number"),
                *([Column(f"published_{name}", "published", "number")] * (name in compared)),
            )
        ]
        rows = [
            {**row, **{f"published_{name}": x for name, x in (row["published"] or {}).items()}}
            for row in self.record()
        ]
        table = Table(
            name="recomputed",
            caption="Recomputed, beside what was published",
            columns=(*columns("text", *self.keys), *heads),
            rows=rows,
        )
        finding = Finding(
            key="recomputed",
            title=self.title,
            sentence=self.verdict(),
            more=tuple(self.notes),
            tables=(table,),
            charts=tuple(self.charts),
        )
        return Report(title=self.title, findings=(finding,), scope=f"Published: {self.source}.")


def recompute(name: str, tell: Progress = silent) -> Reproduction:
    """Recompute a published result of the catalogue."""
    reproduction: Reproduction = import_module(CATALOGUE[name]).reproduce(tell)
    return reproduction


def describe(name: str) -> str:
    """The first line about a result of the catalogue."""
    return (import_module(CATALOGUE[name]).__doc__ or "").partition("\n")[0]


def sign_test(wins: int, losses: int) -> float:
    """One-sided binomial sign test, ties left out: P(at least this many wins | fair coin).

    Lionetti et al. apply it to bootstrap replicates. It takes replicates, which a computer
    makes, for data: its p-value shrinks with their number and says nothing about the models. No
    analysis uses it.

    Examples
    --------
    >>> sign_test(540, 460)
    0.00622
    """
    number = wins + losses
    return float(sum(comb(number, k) for k in range(wins, number + 1)) / 2**number)
