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

from equipoise.analyses._shifts import largest_finite, not_finite
from equipoise.analyses.options import AnalysisKeywords, as_options
from equipoise.analyses.scoring import (
    Given,
    StudyScorer,
    TaskScorer,
    freeze,
    mean_over_tasks,
    study,
)
from equipoise.analyses.study import Study
from equipoise.analyses.words import BRACKETS, ORDER, score_title, scored_again
from equipoise.annotations import Annotations
from equipoise.arrays import Bools, Floats, InputError, Ints
from equipoise.evaluation.blocks import HALF
from equipoise.findings import (
    Cell,
    Chart,
    Column,
    Dot,
    Dots,
    Finding,
    Heat,
    Table,
    largest_by,
)
from equipoise.notices import Notice
from equipoise.numbers import change, count, number
from equipoise.ranks import TIE, average_ranks, higher_is_better, kendall_tau_b, spearman
from equipoise.wording import joined

TITLE = "Does it hang on one annotator?"
ALL = ("with all annotators", "without some")
MOST = 100  # annotators left out in turn
DRAWN = 20  # annotators in the charts; all are in the table
NOTE = (
    "Every model is scored again without the votes of one annotator; the shift is the new "
    "value minus that with all. Intervals of the shift come from resampled items, paired with "
    "the whole panel; one that holds zero may be noise. Cohen's kappa compares the labels that "
    "the other annotators decide with those of all."
)
LEGEND = (
    "Shift: of the model that moves most without that annotator. Spearman: "
    + ORDER
    + ". Kappa "
    "of labels: Cohen's kappa of the majority's labels with those of all annotators (1: the "
    "same, 0: no better than guessing). " + BRACKETS
)
FEW_OF_MANY = (
    "Of {annotators:count} annotators only the {most:count} with most votes are left out in "
    "turn; they gave {share:percent} of the votes."
)


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
    active
        How many annotators have votes, left out in turn or not.
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
    active: int
    notices: tuple[Notice, ...] = ()

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
        most, what = self.largest, self._what
        said = f"Leaving one annotator out does not move {what} of any model"
        if most is None:
            said = f"Leaving one annotator out gives no finite shift of {what}"
        elif abs(most.value) > 10.0**-TIE:
            said = (
                f"Leaving one annotator out moves {what} by at most {number(abs(most.value))} "
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
            return ["all models are tied"]
        known = self.ranks[~np.isnan(self.ranks).any(axis=1)]
        stays = ((known == known.min(axis=1, keepdims=True)) == first).all(axis=1).sum()
        names = joined([self.models[m] for m in np.flatnonzero(first)])
        keep = "keep sharing" if first.sum() > 1 else "keeps"
        if not len(known):
            return ["no fold has an order of the models"]
        folds = f"{count(len(known), 'fold')} with an order"
        if len(known) == len(self.annotators):
            folds = f"{len(known)} folds"
        return [f"{names} {keep} rank 1 in {int(stays)} of {folds}"]

    @property
    def _what(self) -> str:
        return score_title(self.metric, self.labels, self.task)

    def rows(self) -> list[dict[str, Cell]]:
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

    def report(self) -> Finding:
        """The finding for every surface."""
        rows = self.rows()
        largest = largest_by(rows, "without", "shift")
        columns = (
            Column("without", "without"),
            Column("votes", "votes", "count"),
            Column("model", "model", "model"),
            Column("value", self._what, "number", brief=False),
            Column("shift", f"shift of {self._what}", "change", ("low", "high")),
            Column("rank", "rank", "rank", brief=False),
            Column("spearman", "Spearman", "number"),
            Column("kendall_tau_b", "Kendall's tau-b", "number", brief=False),
            Column("kappa", "kappa of labels", "number"),
        )
        table = Table(
            name="leave_one_out",
            caption=f"Shift of {self._what} without one annotator",
            columns=columns,
            rows=rows,
            brief=largest,
            legend=LEGEND,
        )
        return Finding(
            key="leave_one_out",
            title=TITLE,
            sentence=self.finding,
            tables=(table,),
            charts=self._charts(),
            note=NOTE,
            methods=self._methods(),
            references=("groger2025", "cohen1960")
            if self._compares_labels
            else ("groger2025",),
            notices=self.notices,
        )

    def _charts(self) -> tuple[Chart, ...]:
        """The largest shift without each annotator, and all; those who move most first."""
        size = np.where(np.isfinite(self.shifts), np.abs(self.shifts), -1.0)
        people = np.argsort(-size.max(axis=1), kind="stable")[:DRAWN]
        most = [self.shift(int(f), int(size[f].argmax())) for f in people]
        dots = Dots(
            name="leave-one-out",
            caption="Largest shift without each annotator; those who move most come first",
            axis=f"shift of {self._what}",
            rows=[
                Dot(one.annotator, one.value, one.low, one.high, one.model, remark=one.model)
                for one in most
            ],
            zero=True,
        )
        if len(self.models) < 2:
            return (dots,)
        heat = Heat(
            name="leave-one-out-shifts",
            caption=f"Shift of {self._what} of every model without each annotator",
            rows=self.models,
            columns=[self.annotators[f] for f in people],
            values=np.asarray(self.shifts[people].T, dtype=np.float64),
            scale="signed",
            row_models=True,
            x="without",
            texts=[[change(one) for one in line] for line in self.shifts[people].T.tolist()],
        )
        return dots, heat

    @property
    def _compares_labels(self) -> bool:
        return bool(np.isfinite(self.kappa).any())

    def _methods(self) -> str:
        """What was done, in the words of a paper."""
        folds = len(self.annotators)
        few = f" of the {count(folds)} with most votes" if folds < self.active else ""
        text = f"{scored_again(self.models)} without each annotator{few} in turn [@groger2025]"
        if self._compares_labels:
            text += (
                ", and the labels of the others compared with those of all by Cohen's kappa "
                "[@cohen1960]"
            )
        return f"{text}."


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
    who, load = _chosen(found, annotations)
    folds = [_fold(one, annotations, who) for one in found.subjects]
    values = mean_over_tasks([one.values for one in folds])
    full = mean_over_tasks([one.full() for one in found.subjects])
    low, high = found.ends(values - full, _shifts(found, folds), difference=True)
    good = higher_is_better(np.vstack([full, values]), found.metric.better).T
    ranks = average_ranks(good).T
    wide = np.broadcast_to(good[:, :1], good[:, 1:].shape)
    return LeaveOneOut(
        task=found.task,
        metric=found.metric.name,
        labels=found.asked.labels,
        models=found.models,
        level=found.asked.level,
        annotators=tuple((annotations.annotators or ())[a] for a in who),
        votes=load[who],
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
        active=int((load > 0).sum()),
        notices=(*found.notices, *_few_of_many(who, load)),
    )


def analyse(study: Study) -> Finding:
    """Leave every annotator of a study out in turn."""
    return leave_one_out(study.predictions, study.annotations, **study.single).report()


class _Folds(NamedTuple):
    """One task without each annotator: shares by class and presence (items, folds)."""

    shares: list[Floats]
    present: Any
    values: Floats
    kappa: Floats


def _chosen(found: StudyScorer, annotations: Annotations) -> tuple[Ints, Ints]:
    """Which annotators are left out in turn, and how many votes everybody gave."""
    if annotations.annotators is None or len(annotations.annotators) < 2:
        got, do = "a single annotator", "collect votes of others"
        if annotations.annotators is None:
            got, do = "anonymous votes", "look at panel_size, which leaves votes out instead"
        raise InputError("leave_one_out", got, "at least two annotators with ids", do)
    load = found.votes_given(len(annotations.annotators))
    active = np.flatnonzero(load)
    order = active[np.argsort(-load[active], kind="stable")]
    return np.sort(order[:MOST]), load


def _few_of_many(who: Ints, load: Ints) -> list[Notice]:
    """Say so when not everybody is left out."""
    active = int((load > 0).sum())
    if active <= len(who):
        return []
    share = float(load[who].sum() / load.sum())
    values = {"annotators": active, "most": len(who), "share": share}
    return [Notice("few_of_many_annotators", FEW_OF_MANY, (), values)]


def _fold(subject: TaskScorer, annotations: Annotations, who: Ints) -> _Folds:
    people = len(annotations.annotators or ())
    left = np.ones((people, len(who)), dtype=np.uint8)
    left[who, np.arange(len(who))] = 0
    shares, present = subject.panel(people).shares(left)
    values = subject.scored(shares, present).T
    kappa = _kappa(_decided(shares), _decided(list(subject.question.shares)), present > 0)
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


def _decided(shares: list[Floats]) -> Ints:
    """The class that the votes decide: a tie is negative, or the first of several classes.

    Examples
    --------
    >>> _decided([np.array([0.5, 0.75])])
    array([0, 1])
    """
    if len(shares) == 1:
        return (shares[0] > HALF).astype(np.int64)
    return np.asarray(np.argmax(np.round(np.stack(shares), 12), axis=0))


def _kappa(labels: Ints, whole: Ints, present: Bools) -> Floats:
    """Cohen's kappa of labels (items, folds) with those of the whole panel, (folds,)."""
    out = np.full(labels.shape[1], np.nan)
    classes = int(max(labels.max(), whole.max())) + 1
    for f, here in enumerate(present.T):
        number = int(here.sum())
        one, two = labels[here, f], whole[here]
        sides = [np.bincount(side, minlength=classes) for side in (one, two)]
        expected = float(sides[0] @ sides[1])
        if expected < number**2:
            seen = float((one == two).sum()) * number
            out[f] = (seen - expected) / (number**2 - expected)
    return out
