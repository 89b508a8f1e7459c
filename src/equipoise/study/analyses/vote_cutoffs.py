"""Vote cut-offs: what is left, and what it says, when thinly rated items are left out.

For every cut-off k only items with at least k votes count. An item of known truth (gold) is not
thinly rated, however many votes it has: it stays at every cut-off. Coverage is the share of
items that are left. Intervals resample items; the change against all items is paired, replicate
by replicate. A cut-off that no item reaches has no items: a value that is undefined, not an
error.

References
----------
Gröger et al., *CleanPatrick: a benchmark for image data cleaning*, appendix J.

Examples
--------
>>> votes = Annotations.from_counts(np.array([[3, 0], [0, 3], [1, 0], [0, 1]]),
...     items=["a", "b", "c", "d"], classes=["no", "yes"])
>>> from equipoise.types.predictions import Predictions
>>> model = Predictions("cnn", ("a", "b", "c", "d"), np.array([0.1, 0.9, 0.6, 0.5]))
>>> done = vote_cutoffs(model, votes.against("yes"), cutoffs=(1, 3, 5), replicates=50)
>>> done.values
array([[0.75],
       [1.  ],
       [ nan]])
>>> done.rows()[-1]["status"]
'no items'
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from equipoise.study.analyses.cuts import Cuts, cut
from equipoise.study.analyses.options import AnalysisKeywords
from equipoise.study.analyses.scoring import Given, affordable, study
from equipoise.study.analyses.words import BRACKETS, ORDER, not_finite, scored_again
from equipoise.study.study import Study
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import InputError, short_repr
from equipoise.types.findings import Chart, Column, Finding, Table, largest_by, spanned
from equipoise.types.numbers import number, percent
from equipoise.types.words import capital, joined

TITLE = "Does it depend on items with few votes?"
ALL = ("on all items", "on these")
CUTOFFS = (1, 3, 5, 7, 10, 15)
NOTE = (
    "Models are scored on the items with at least so many votes; the change is paired with the "
    "value on all items. Items with many votes may be other items, for example hard ones that "
    "were sent to more people, so a change need not be an effect of the votes. Items of known "
    "truth stay at every cut-off."
)
LEGEND = f"Change: of the model that moves most. Spearman: {ORDER}. {BRACKETS}"


@dataclass(frozen=True, eq=False, kw_only=True)
class VoteCutoffs(Cuts):
    """Every model on the items with at least k votes; fields are also those of `Cuts`.

    Attributes
    ----------
    known
        How many items have a known truth, and stay at every cut-off (summed over tasks).
    """

    cut_by = "votes"
    reaching = "with at least so many votes"
    axis = "fewest votes on an item"

    cutoffs: tuple[int, ...]
    known: int

    __repr__ = short_repr

    @property
    def finding(self) -> str:
        """What came out, as a sentence."""
        usable = [c for c in self._cutting if np.isfinite(self.change[c]).any()]
        if not usable:
            return (
                "No cut-off leaves out some of the items and keeps others that can be scored."
            )
        last = usable[-1]
        far = self.change[last]
        m = int(np.argmax(np.where(np.isfinite(far), np.abs(far), -1.0)))
        apart = (self.change_low[last] > 0) | (self.change_high[last] < 0)
        odd = not_finite(self.full, self.values[last : last + 1], self.models, ALL)
        return (
            f"With at least {self.cutoffs[last]} votes per item "
            f"{'or a known truth ' if self.known else ''}"
            f"({percent(self.coverage[last])} of the items) {self.what} changes by at most "
            f"{number(abs(far[m]))} ({self.models[m]}); "
            + "".join(f"{one}; " for one in odd)
            + f"the intervals of {int(apart.sum())} of {int(np.isfinite(far).sum())} models' "
            "changes exclude zero, not adjusted for how many were looked at."
        )

    @property
    def _cutting(self) -> list[int]:
        """Cut-offs that leave out some items and keep others."""
        return [c for c, share in enumerate(self.coverage) if 0 < share < 1]

    def report(self) -> Finding:
        """The finding for every surface."""
        rows, methods = self.rows(), self._methods()
        cutting = {self.cutoffs[c] for c in self._cutting}
        some = [row for row in rows if row["votes"] in cutting]
        table = Table(
            name="vote_cutoffs",
            caption=f"{capital(self.what)}, and its change from all items",
            columns=(
                Column("votes", "votes at least", "count"),
                Column("items", "items", "count"),
                Column("coverage", "share of items", "percent"),
                Column("model", "model", "model"),
                Column("value", self.head, "number", ("low", "high")),
                spanned("change", kind="change"),
                Column("rank", "rank", "rank", brief=False),
                Column("spearman", "Spearman", "number"),
            ),
            rows=rows,
            brief=largest_by(some, "votes", "change"),
            legend=LEGEND,
        )
        scored = ~np.isnan(self.values).all(axis=1)
        several = len(set(self.items[scored].tolist())) > 1
        charts: tuple[Chart, ...] = (self.lines("vote-cutoffs"),) if several else ()
        return Finding(
            key="vote_cutoffs",
            title=TITLE,
            sentence=self.finding,
            tables=(table,),
            charts=charts,
            note=NOTE,
            methods=methods,
            references=("groger2025",) if methods else (),
            notices=self.notices,
        )

    def _methods(self) -> str:
        """What was done, in the words of a paper; nothing where no cut-off showed anything."""
        used = [c for c in self._cutting if not np.isnan(self.values[c]).all()]
        steps = [str(self.cutoffs[c]) for c in used]
        if not steps:
            return ""
        noun = "vote" if steps == ["1"] else "votes"
        known = " or a known truth" if self.known else ""
        return (
            f"{scored_again(self.models)} on items with at least {joined(steps, 'or')} "
            f"{noun}{known} [@groger2025]."
        )


def vote_cutoffs(
    predictions: Given,
    annotations: Annotations,
    *,
    cutoffs: Sequence[int] = CUTOFFS,
    **how: Unpack[AnalysisKeywords],
) -> VoteCutoffs:
    """Score every model on the items with at least k votes.

    Parameters
    ----------
    predictions, annotations
        What models and annotators say.
    cutoffs
        Fewest votes, rising.
    **how
        See `equipoise.study.analyses.options.AnalysisOptions`; replicates resample items.
    """
    steps = _checked(cutoffs)
    found = affordable(study(predictions, annotations, how))
    kept, known = [], 0
    for votes in found.votes:
        gold = np.add.reduceat(votes.annotator < 0, votes.start[:-1]) > 0
        kept.append(gold | (votes.sizes >= np.array(steps)[:, None]))
        known += int(gold.sum())
    return cut(VoteCutoffs, found, kept, cutoffs=steps, known=known)


def analyse(study: Study) -> Finding:
    """Score the models of a study on the items with more votes."""
    return vote_cutoffs(study.predictions, study.annotations, **study.single).report()


def _checked(cutoffs: Sequence[int]) -> tuple[int, ...]:
    steps = tuple(cutoffs) if isinstance(cutoffs, Sequence) else ()
    whole = all(
        isinstance(k, int | np.integer) and not isinstance(k, bool) and k >= 1 for k in steps
    )
    if not steps or not whole or list(steps) != sorted(set(steps)):
        raise InputError(
            "vote_cutoffs, cutoffs",
            f"{cutoffs!r}",
            "rising whole numbers of at least 1",
            f"try {CUTOFFS}",
        )
    return tuple(int(k) for k in steps)
