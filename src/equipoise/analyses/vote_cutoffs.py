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
>>> from equipoise.predictions import Predictions
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

from equipoise.analyses._shifts import not_finite
from equipoise.analyses.cuts import cut
from equipoise.analyses.options import AnalysisKeywords, as_options
from equipoise.analyses.scoring import Given, TaskScorer, freeze, study
from equipoise.analyses.study import Study
from equipoise.analyses.words import BRACKETS, ORDER, score_head, score_title, scored_again
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, Ints
from equipoise.findings import (
    Band,
    Bar,
    Cell,
    Chart,
    Column,
    Finding,
    Line,
    Lines,
    Table,
    largest_by,
)
from equipoise.notices import Notice
from equipoise.numbers import number, percent
from equipoise.ranks import higher_is_better
from equipoise.votes import Votes
from equipoise.wording import capital, joined

TITLE = "Does it depend on items with few votes?"
ALL = ("on all items", "on these")
CUTOFFS = (1, 3, 5, 7, 10, 15)
DRAWN = 12  # models with a line; all are in the table
NOTE = (
    "Models are scored on the items with at least so many votes; the change is paired with the "
    "value on all items. Items with many votes may be other items, for example hard ones that "
    "were sent to more people, so a change need not be an effect of the votes. Items of known "
    "truth stay at every cut-off."
)
LEGEND = f"Change: of the model that moves most. Spearman: {ORDER}. {BRACKETS}"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class VoteCutoffs:
    """Every model on the items with at least k votes.

    Attributes
    ----------
    task, metric, labels, models, level
        What was scored, and the level of the intervals.
    full
        Value of each model on all items, shape (models,).
    cutoffs, items, coverage
        Fewest votes, how many items have as many (summed over tasks), and which share.
    known
        How many items have a known truth, and stay at every cut-off (summed over tasks).
    values, low, high
        Value of each model and its interval, shape (cutoffs, models).
    change, change_low, change_high
        The value minus that on all items, paired, shape (cutoffs, models).
    ranks, spearman
        Ranks (cutoffs, models), and rank correlation with the order on all items (cutoffs,).
    better
        Whether ``higher`` or ``lower`` values are better.
    notices
        What the user should know, one sentence each.
    """

    task: str
    metric: str
    labels: str
    models: tuple[str, ...]
    level: float
    full: Floats
    cutoffs: tuple[int, ...]
    items: Ints
    coverage: Floats
    known: int
    values: Floats
    low: Floats
    high: Floats
    change: Floats
    change_low: Floats
    change_high: Floats
    ranks: Floats
    spearman: Floats
    better: str = "higher"
    notices: tuple[Notice, ...] = ()

    def __post_init__(self) -> None:
        freeze(self)

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
            f"({percent(self.coverage[last])} of the items) {self._what} changes by at most "
            f"{number(abs(far[m]))} ({self.models[m]}); "
            + "".join(f"{one}; " for one in odd)
            + f"the intervals of {int(apart.sum())} of {int(np.isfinite(far).sum())} models' "
            "changes exclude zero, not adjusted for how many were looked at."
        )

    @property
    def _what(self) -> str:
        return score_title(self.metric, self.labels, self.task)

    @property
    def _cutting(self) -> list[int]:
        """Cut-offs that leave out some items and keep others."""
        return [c for c, share in enumerate(self.coverage) if 0 < share < 1]

    def rows(self) -> list[dict[str, Cell]]:
        """One plain dict per cut-off and model."""
        return [
            {
                "task": self.task,
                "metric": self.metric,
                "labels": self.labels,
                "votes": k,
                "items": int(self.items[c]),
                "coverage": float(self.coverage[c]),
                "status": self._status(c, m),
                "model": model,
                "value": float(self.values[c, m]),
                "low": float(self.low[c, m]),
                "high": float(self.high[c, m]),
                "change": float(self.change[c, m]),
                "change_low": float(self.change_low[c, m]),
                "change_high": float(self.change_high[c, m]),
                "rank": float(self.ranks[c, m]),
                "spearman": float(self.spearman[c]),
            }
            for c, k in enumerate(self.cutoffs)
            for m, model in enumerate(self.models)
        ]

    def _status(self, cutoff: int, model: int) -> str:
        if not self.items[cutoff]:
            return "no items"
        return "undefined" if np.isnan(self.values[cutoff, model]) else "scored"

    def report(self) -> Finding:
        """The finding for every surface."""
        rows, methods = self.rows(), self._methods()
        cutting = {self.cutoffs[c] for c in self._cutting}
        columns = (
            Column("votes", "votes at least", "count"),
            Column("items", "items", "count"),
            Column("coverage", "share of items", "percent"),
            Column("model", "model", "model"),
            Column("value", score_head(self.metric, self.labels), "number", ("low", "high")),
            Column("change", "change", "change", ("change_low", "change_high")),
            Column("rank", "rank", "rank", brief=False),
            Column("spearman", "Spearman", "number"),
        )
        table = Table(
            name="vote_cutoffs",
            caption=f"{capital(self._what)}, and its change from all items",
            columns=columns,
            rows=rows,
            brief=largest_by(
                [row for row in rows if row["votes"] in cutting], "votes", "change"
            ),
            legend=LEGEND,
        )
        return Finding(
            key="vote_cutoffs",
            title=TITLE,
            sentence=self.finding,
            tables=(table,),
            charts=self._charts(),
            note=NOTE,
            methods=methods,
            references=("groger2025",) if methods else (),
            notices=self.notices,
        )

    def _charts(self) -> tuple[Chart, ...]:
        """A line per model over the cut-offs, a band for the best, bars for the items left."""
        scored = ~np.isnan(self.values).all(axis=1)
        if len(set(self.items[scored].tolist())) < 2:
            return ()
        order = np.argsort(-higher_is_better(self.full, self.better), kind="stable")[:DRAWN]
        steps = range(len(self.cutoffs))
        lines = [
            Line(
                self.models[m],
                [(float(c), float(self.values[c, m])) for c in steps],
                self.models[m],
                self._band(int(m)) if m == order[0] else None,
            )
            for m in order
        ]
        return (
            Lines(
                name="vote-cutoffs",
                caption=f"{capital(self._what)} on the items with at least so many votes; "
                f"band: interval of {self.models[order[0]]}; bars: items that are left",
                x="fewest votes on an item",
                y=self._what,
                lines=lines,
                ticks=[(float(c), f"{self.cutoffs[c]}") for c in steps],
                bars=[Bar(f"{self.cutoffs[c]}", float(self.coverage[c])) for c in steps],
                bar_title="items left",
            ),
        )

    def _band(self, model: int) -> Band:
        ends = zip(self.low[:, model], self.high[:, model], strict=True)
        return Band([(float(c), float(low), float(high)) for c, (low, high) in enumerate(ends)])

    def _methods(self) -> str:
        """What was done, in the words of a paper; nothing where no cut-off showed anything."""
        steps = [
            str(self.cutoffs[c]) for c in self._cutting if not np.isnan(self.values[c]).all()
        ]
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
        See `equipoise.analyses.options.AnalysisOptions`; replicates resample items.
    """
    steps = _checked(cutoffs)
    found = study(predictions, annotations, as_options(how))
    votes = [_votes(one) for one in found.subjects]
    gold = [np.add.reduceat(one.annotator < 0, one.start[:-1]) > 0 for one in votes]
    kept = [
        known | (one.sizes >= np.array(steps)[:, None])
        for one, known in zip(votes, gold, strict=True)
    ]
    items = np.sum([one.sum(axis=1) for one in kept], axis=0)
    cuts = cut(found, kept)
    return VoteCutoffs(
        task=found.task,
        metric=found.metric.name,
        labels=found.asked.labels,
        models=found.models,
        level=found.asked.level,
        full=cuts.full,
        cutoffs=steps,
        items=items,
        coverage=items / sum(len(one) for one in gold),
        known=int(sum(one.sum() for one in gold)),
        values=cuts.values,
        low=cuts.low,
        high=cuts.high,
        change=cuts.change,
        change_low=cuts.change_low,
        change_high=cuts.change_high,
        ranks=cuts.ranks,
        spearman=cuts.spearman,
        better=found.metric.better,
        notices=found.notices,
    )


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


def _votes(subject: TaskScorer) -> Votes:
    votes = subject.question.votes
    assert votes is not None
    return votes
