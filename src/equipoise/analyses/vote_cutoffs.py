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
from typing import Any, Unpack

import numpy as np

from equipoise.analyses._shifts import not_finite
from equipoise.analyses.cuts import cut
from equipoise.analyses.options import AnalysisKeywords, as_options
from equipoise.analyses.scoring import Given, TaskScorer, freeze, shown, study
from equipoise.analyses.words import percent
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, Ints
from equipoise.ballots import Ballots
from equipoise.metrics import titled

ALL = ("on all items", "on these")
CUTOFFS = (1, 3, 5, 7, 10, 15)


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
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def finding(self) -> str:
        """What came out, as a sentence."""
        usable = [
            c for c, share in enumerate(self.coverage)
            if 0 < share < 1 and np.isfinite(self.change[c]).any()
        ]  # fmt: skip
        if not usable:
            return (
                "No cut-off leaves out some of the items and keeps others that can be scored."
            )
        last = usable[-1]
        far, where = self.change[last], f" ({self.task})" if self.task else ""
        m = int(np.argmax(np.where(np.isfinite(far), np.abs(far), -1.0)))
        apart = (self.change_low[last] > 0) | (self.change_high[last] < 0)
        number = int(np.isfinite(far).sum())
        odd = not_finite(self.full, self.values[last : last + 1], self.models, ALL)
        return (
            f"With at least {self.cutoffs[last]} votes per item "
            f"{'or a known truth ' if self.known else ''}"
            f"({percent(self.coverage[last])} of the items) "
            f"{titled(self.metric, self.labels)}{where} changes by at most "
            f"{shown(abs(far[m]))} ({self.models[m]}); "
            + "".join(f"{one}; " for one in odd)
            + f"the intervals of {int(apart.sum())} of {number} models' changes exclude zero, "
            "not adjusted for how many were looked at."
        )

    def rows(self) -> list[dict[str, Any]]:
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
        notices=found.notices,
    )


def _checked(cutoffs: Sequence[int]) -> tuple[int, ...]:
    steps = tuple(cutoffs) if isinstance(cutoffs, Sequence) else ()
    whole = all(
        isinstance(k, int | np.integer) and not isinstance(k, bool) and k >= 1 for k in steps
    )
    if not steps or not whole or list(steps) != sorted(set(steps)):
        raise InputError(
            "vote_cutoffs, cutoffs", f"{cutoffs!r}",
            "rising whole numbers of at least 1", f"try {CUTOFFS}",
        )  # fmt: skip
    return tuple(int(k) for k in steps)


def _votes(subject: TaskScorer) -> Ballots:
    votes = subject.question.votes
    assert votes is not None
    return votes
