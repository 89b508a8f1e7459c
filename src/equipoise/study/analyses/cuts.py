"""Cuts: every model on the items that some cut-off keeps, against its value on all items.

Intervals redraw items; the change against all items is paired, replicate by replicate. A value
is undefined where the items kept are none, or of one class only, not an error.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from equipoise.inference.ranks import average_ranks, higher_is_better, spearman
from equipoise.study.analyses.result import StudyResult, ends_of
from equipoise.study.analyses.scoring import StudyScorer, mean_over_tasks
from equipoise.study.analyses.words import TIES_SHARE
from equipoise.types.arrays import Bools, Floats, Ints
from equipoise.types.findings import Band, Bar, Cell, Line, Lines, rows_of
from equipoise.types.words import capital

DRAWN = 12  # models with a line; all are in the table
Result = TypeVar("Result", bound="Cuts")


@dataclass(frozen=True, eq=False, kw_only=True)
class Cuts(StudyResult):
    """Every model on the items of every cut-off.

    Attributes
    ----------
    cutoffs, items, coverage
        Cut-offs, rising, how many items reach them (summed over tasks), and which share.
    full
        Value of each model on all items, shape (models,).
    values, low, high
        Value on the items kept and its interval, shape (cutoffs, models).
    change, change_low, change_high
        The value minus that on all items, paired, shape (cutoffs, models).
    ranks, spearman
        Ranks (cutoffs, models), and rank correlation with the order on all items (cutoffs,).
    drawn
        Replicates of the values, shape (cutoffs, models, replicates).
    """

    cut_by: ClassVar[str]  # the key of cut-offs in rows
    reaching: ClassVar[str]  # which items a cut-off keeps, in words
    axis: ClassVar[str]

    cutoffs: tuple[float, ...]
    items: Ints
    coverage: Floats
    full: Floats
    values: Floats
    low: Floats
    high: Floats
    change: Floats
    change_low: Floats
    change_high: Floats
    ranks: Floats
    spearman: Floats
    drawn: Floats

    def rows(self) -> list[dict[str, Cell]]:
        """One plain dict per cut-off and model."""
        status = np.where(np.isnan(self.values), "undefined", "scored")
        status = np.where(self.items[:, None] > 0, status, "no items")
        kept = {"items": self.items, "coverage": self.coverage, "status": status}
        value = {"model": None, "value": self.values, "low": self.low, "high": self.high}
        order = {"rank": self.ranks, "spearman": self.spearman}
        axes: dict[str, Sequence[Cell]] = {self.cut_by: self.cutoffs, "model": self.models}
        return rows_of(self.named, axes, kept | value | self.with_ends("change") | order)

    def tick(self, cutoff: int) -> str:
        """A cut-off in words, by its position."""
        return f"{self.cutoffs[cutoff]}"

    def lines(self, name: str, *, ranks: bool = False) -> Lines:
        """Values, with a band for the best model and bars for the items left, or ranks."""
        good = higher_is_better(self.full, self.better)
        order = [int(m) for m in np.argsort(-good, kind="stable")[:DRAWN]]
        best, steps = order[0], range(len(self.cutoffs))
        band = Band(
            [(float(c), float(self.low[c, best]), float(self.high[c, best])) for c in steps]
        )
        what, marks = capital(self.what), TIES_SHARE
        if not ranks:
            marks = f"band: interval of {self.models[best]}; bars: items that are left"
        return Lines(
            name=name,
            caption=f"{'Ranks' if ranks else what} on the items {self.reaching}; {marks}",
            x=self.axis,
            y="rank, 1 is best" if ranks else self.what,
            lines=[
                Line(
                    self.models[m],
                    [
                        (float(c), float(y[m]))
                        for c, y in enumerate(self.ranks if ranks else self.values)
                    ],
                    self.models[m],
                    band if m == best and not ranks else None,
                )
                for m in order
            ],
            ticks=[(float(c), self.tick(c)) for c in steps],
            bars=[] if ranks else [Bar("", float(share)) for share in self.coverage],
            bar_title="" if ranks else "items left",
            downward=ranks,
        )


@np.errstate(invalid="ignore")  # of two infinite values: undefined
def cut(
    kind: Callable[..., Result], found: StudyScorer, kept: Sequence[Bools], **own: Any
) -> Result:
    """Score every model on what each cut-off keeps.

    Parameters
    ----------
    kind, own
        Which result, and what else it holds.
    kept
        For each subject of the study which items each cut-off keeps, shape (cutoffs, items).
    """
    items = np.sum([one.sum(axis=1) for one in kept], axis=0)
    full = mean_over_tasks([one.full() for one in found.subjects])
    values, drawn, whole = _scores(found, kept)
    low, high = found.ends(values, drawn)
    edges = found.ends(values - full, drawn - whole, difference=True)
    good = higher_is_better(values, found.metric.better).T
    first = np.broadcast_to(higher_is_better(full, found.metric.better)[:, None], good.shape)
    order = {"ranks": average_ranks(good).T, "spearman": np.asarray(spearman(good, first))}
    scores = {"full": full, "values": values, "low": low, "high": high, "drawn": drawn, **order}
    coverage = items / sum(one.shape[1] for one in kept)
    changes = ends_of("change", values - full, edges)
    notices = {"notices": found.notices} | own
    return kind(**found.facts, items=items, coverage=coverage, **scores, **changes, **notices)


def _scores(found: StudyScorer, kept: Sequence[Bools]) -> tuple[Floats, Floats, Floats]:
    """Values (cutoffs, models), their replicates, and those on all items."""
    values, replicates, whole = [], [], []
    for t, (subject, keeps) in enumerate(zip(found.subjects, kept, strict=True)):
        shares = list(subject.question.shares)
        counts = subject.item_counts(found.plan)
        whole.append(subject.scored(shares, counts))
        own, drawn = [], []
        for c, those in enumerate(keeps):
            keep = those.astype(np.uint8)[:, None]
            own.append(subject.scored(shares, keep)[:, 0])
            drawn.append(whole[-1] if those.all() else subject.scored(shares, counts * keep))
            found.asked.tell(t * len(keeps) + c + 1, len(kept) * len(keeps))
        values.append(np.stack(own))
        replicates.append(np.stack(drawn))
    return mean_over_tasks(values), mean_over_tasks(replicates), mean_over_tasks(whole)
