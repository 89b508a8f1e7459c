r"""Leave one annotator out: does the result hang on a single person?

For every annotator all models are scored again on the labels that the others give. The shift
of a model is its value without the annotator minus its value with all; its interval resamples
items, paired between folds and models. Cohen's kappa compares the labels that the remaining
votes decide with those of the whole panel,

.. math:: \kappa = \frac{P_o - P_e}{1 - P_e}

on the items that still have votes; a tied yes/no item is negative, a tie among several classes
goes to the first. Items that lose all votes drop out of the fold and are counted. Of more than
a hundred annotators only the hundred with most votes are left out in turn.

References
----------
Gröger et al., *CleanPatrick: a benchmark for image data cleaning*, appendix I.

Examples
--------
>>> votes = Annotations(kind="binary", items=("a", "b", "c"), classes=("no", "yes"),
...     annotators=("ana", "bo"), item=np.array([0, 0, 1, 1, 2, 2]),
...     annotator=np.array([0, 1, 0, 1, 0, 1]), label=np.array([1, 1, 1, 0, 0, 0]))
>>> from equipoise.predictions import Predictions
>>> model = Predictions("cnn", ("a", "b", "c"), np.array([0.9, 0.1, 0.6]))
>>> leave_one_out(model, votes, replicates=50).values
array([[1. ],
       [0.5]])
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

import numpy as np

from equipoise.analyses._decided import decided, decided_kappa
from equipoise.analyses._shifts import largest_finite, not_finite
from equipoise.analyses.options import AnalysisKeywords, as_options
from equipoise.analyses.scoring import (
    Given,
    StudyScorer,
    TaskScorer,
    freeze,
    mean_over_tasks,
    shown,
    study,
)
from equipoise.analyses.words import counted, joined
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, Ints
from equipoise.metrics import titled
from equipoise.ranks import TIE, average_ranks, goodness, kendall_tau_b, spearman

ALL = ("with all annotators", "without some")
MOST = 100  # annotators left out in turn


class Shift(NamedTuple):
    """How far one model moves when one annotator is left out, with its interval."""

    annotator: str
    model: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LeaveOneOut:
    """Every model without every annotator.

    Attributes
    ----------
    task, metric, labels, models, level
        What was scored, and the level of the intervals.
    annotators, votes, lost
        Who was left out, how many votes they gave, and how many items lost all votes,
        each (folds,).
    full, full_ranks
        Value and rank of each model with all annotators, shape (models,).
    values, ranks
        The same without each annotator, shape (folds, models).
    low, high
        Interval of the shift ``values - full``, shape (folds, models).
    spearman, kendall_tau_b, kappa
        Agreement with the order of models, and with the labels, of the whole panel, (folds,).
    notices
        What the user should know, one sentence each.
    """

    task: str
    metric: str
    labels: str
    models: tuple[str, ...]
    level: float
    annotators: tuple[str, ...]
    votes: Ints
    lost: Ints
    full: Floats
    full_ranks: Floats
    values: Floats
    ranks: Floats
    low: Floats
    high: Floats
    spearman: Floats
    kendall_tau_b: Floats
    kappa: Floats
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def shifts(self) -> Floats:
        """Value without the annotator minus value with all, shape (folds, models)."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.values - self.full)

    def shift(self, annotator: int, model: int) -> Shift:
        """One shift, by positions."""
        return Shift(
            self.annotators[annotator],
            self.models[model],
            float(self.shifts[annotator, model]),
            float(self.low[annotator, model]),
            float(self.high[annotator, model]),
        )

    @property
    def largest(self) -> Shift | None:
        """The largest finite shift and who causes it; None when there is none."""
        place = largest_finite(self.shifts)
        return None if place is None else self.shift(*place)

    @property
    def finding(self) -> str:
        """What came out, as a sentence."""
        most, where = self.largest, f" ({self.task})" if self.task else ""
        what = f"{titled(self.metric, self.labels)}{where}"
        said = f"Leaving one annotator out does not move {what} of any model"
        if most is None:
            said = f"Leaving one annotator out gives no finite shift of {what}"
        elif abs(most.value) > 10.0**-TIE:
            said = (
                f"Leaving one annotator out moves {what} by at most {shown(abs(most.value))} "
                f"({most.model}, without {most.annotator})"
            )
        odd = not_finite(self.full, self.values, self.models, ALL)
        return f"{'; '.join([said, *odd, *self._leaders()])}."

    def _leaders(self) -> list[str]:
        """Whether the best stay the best."""
        if len(self.models) < 2 or np.isnan(self.full_ranks).any():
            return []
        first = self.full_ranks == self.full_ranks.min()
        if first.all():
            return ["all models are level"]
        known = self.ranks[~np.isnan(self.ranks).any(axis=1)]
        stays = ((known == known.min(axis=1, keepdims=True)) == first).all(axis=1).sum()
        names = joined([self.models[m] for m in np.flatnonzero(first)])
        keep = "keep sharing" if first.sum() > 1 else "keeps"
        if not len(known):
            return ["no fold has an order of the models"]
        folds = f"{counted(len(known), 'fold')} with an order"
        if len(known) == len(self.annotators):
            folds = f"{len(known)} folds"
        return [f"{names} {keep} rank 1 in {int(stays)} of {folds}"]

    def rows(self) -> list[dict[str, Any]]:
        """One plain dict per annotator and model."""
        shifts = self.shifts
        return [
            {
                "task": self.task,
                "metric": self.metric,
                "labels": self.labels,
                "without": who,
                "votes": int(self.votes[f]),
                "items_lost": int(self.lost[f]),
                "model": model,
                "value": float(self.values[f, m]),
                "shift": float(shifts[f, m]),
                "low": float(self.low[f, m]),
                "high": float(self.high[f, m]),
                "rank": float(self.ranks[f, m]),
                "full_rank": float(self.full_ranks[m]),
                "spearman": float(self.spearman[f]),
                "kendall_tau_b": float(self.kendall_tau_b[f]),
                "kappa": float(self.kappa[f]),
            }
            for f, who in enumerate(self.annotators)
            for m, model in enumerate(self.models)
        ]


@np.errstate(invalid="ignore")  # of two infinite values: undefined
def leave_one_out(
    predictions: Given, annotations: Annotations, **how: Unpack[AnalysisKeywords]
) -> LeaveOneOut:
    """Score every model without every annotator.

    Parameters
    ----------
    predictions, annotations
        What models and annotators say.
    **how
        See `equipoise.analyses.options.AnalysisOptions`; replicates resample items.
    """
    found = study(predictions, annotations, as_options(how))
    who, votes, notices = _chosen(found, annotations)
    folds = [_fold(one, annotations, who) for one in found.subjects]
    values = mean_over_tasks([one.values for one in folds])
    full = mean_over_tasks([one.full() for one in found.subjects])
    low, high = found.ends(values - full, _shifts(found, folds), difference=True)
    good = goodness(np.vstack([full, values]), found.metric.better).T
    ranks = average_ranks(good).T
    wide = np.broadcast_to(good[:, :1], good[:, 1:].shape)
    return LeaveOneOut(
        task=found.task,
        metric=found.metric.name,
        labels=found.asked.labels,
        models=found.models,
        level=found.asked.level,
        annotators=tuple((annotations.annotators or ())[a] for a in who),
        votes=votes,
        lost=np.sum([(one.present == 0).sum(axis=0) for one in folds], axis=0),
        full=full,
        full_ranks=ranks[0],
        values=values,
        ranks=ranks[1:],
        low=low,
        high=high,
        spearman=np.asarray(spearman(good[:, 1:], wide)),
        kendall_tau_b=np.asarray(kendall_tau_b(good[:, 1:], wide)),
        kappa=mean_over_tasks([one.kappa for one in folds]),
        notices=(*found.notices, *notices),
    )


class _Folds(NamedTuple):
    """One task without each annotator: shares by class and presence (items, folds)."""

    shares: list[Floats]
    present: Any
    values: Floats
    kappa: Floats


def _chosen(found: StudyScorer, annotations: Annotations) -> tuple[Ints, Ints, list[str]]:
    """Which annotators are left out in turn, and how many votes they gave."""
    if annotations.annotators is None or len(annotations.annotators) < 2:
        got, do = "a single annotator", "collect votes of others"
        if annotations.annotators is None:
            got, do = "anonymous votes", "look at panel_size, which leaves votes out instead"
        raise InputError("leave_one_out", got, "at least two annotators with ids", do)
    load = found.votes_given(len(annotations.annotators))
    active = np.flatnonzero(load)
    order = active[np.argsort(-load[active], kind="stable")]
    who = np.sort(order[:MOST])
    notices = []
    if len(active) > MOST:
        notices.append(
            f"Of {len(active):,} annotators only the {MOST} with most votes are left out in "
            f"turn; they gave {load[who].sum() / load.sum():.0%} of the votes."
        )
    return who, load[who], notices


def _fold(subject: TaskScorer, annotations: Annotations, who: Ints) -> _Folds:
    people = len(annotations.annotators or ())
    left = np.ones((people, len(who)), dtype=np.uint8)
    left[who, np.arange(len(who))] = 0
    shares, present = subject.panel(people).shares(left)
    values = subject.scored(shares, present).T
    kappa = decided_kappa(decided(shares), decided(list(subject.question.shares)), present > 0)
    return _Folds(shares, present, values, kappa)


def _shifts(found: StudyScorer, folds: list[_Folds]) -> Floats:
    """Replicates of the shifts, shape (folds, models, replicates)."""
    number, parts = len(folds[0].values), []
    for t, (subject, fold) in enumerate(zip(found.subjects, folds, strict=True)):
        counts = subject.item_counts(found.plan)
        full = subject.scored(list(subject.question.shares), counts)
        part = []
        for f in range(number):
            shares = [np.ascontiguousarray(one[:, f]) for one in fold.shares]
            part.append(subject.scored(shares, counts * fold.present[:, f : f + 1]) - full)
            found.asked.tell(t * number + f + 1, len(folds) * number)
        parts.append(np.stack(part))
    return mean_over_tasks(parts)
