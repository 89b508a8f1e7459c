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
>>> from equipoise.types.predictions import Predictions
>>> model = Predictions("cnn", ("a", "b", "c"), np.array([0.9, 0.1, 0.6]))
>>> leave_one_out(model, votes, replicates=50).values
array([[1. ],
       [0.5]])
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

import numpy as np

from equipoise.inference.ranks import (
    TIE,
    average_ranks,
    higher_is_better,
    kendall_tau_b,
    spearman,
)
from equipoise.study.analyses.options import AnalysisKeywords
from equipoise.study.analyses.result import StudyResult
from equipoise.study.analyses.scoring import (
    Given,
    StudyScorer,
    TaskScorer,
    affordable,
    mean_over_tasks,
    study,
)
from equipoise.study.analyses.words import BRACKETS, ORDER, not_finite, scored_again
from equipoise.study.blocks import hard_labels
from equipoise.study.study import Study
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Bools, Floats, InputError, Ints, short_repr
from equipoise.types.findings import (
    Cell,
    Chart,
    Column,
    Dot,
    Dots,
    Finding,
    Heat,
    Table,
    columns,
    largest_by,
    rows_of,
)
from equipoise.types.notices import Notice
from equipoise.types.numbers import change, count, number
from equipoise.types.words import joined

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
    f"Shift: of the model that moves most without that annotator. Spearman: {ORDER}. Kappa of "
    "labels: Cohen's kappa of the majority's labels with those of all annotators (1: the same, "
    f"0: no better than guessing). {BRACKETS}"
)
COMPARED = (
    ", and the labels of the others compared with those of all by Cohen's kappa [@cohen1960]."
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


@dataclass(frozen=True, eq=False, kw_only=True)
class LeaveOneOut(StudyResult):
    """Every model without every annotator.

    Attributes
    ----------
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
    active
        How many annotators have votes, left out in turn or not.
    """

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

    __repr__ = short_repr

    @property
    def shifts(self) -> Floats:
        """Value without the annotator minus value with all, shape (folds, models)."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.values - self.full)

    def shift(self, annotator: int, model: int) -> Shift:
        """One shift, by positions."""
        each = (one[annotator, model] for one in (self.shifts, self.low, self.high))
        return Shift(self.annotators[annotator], self.models[model], *map(float, each))

    @property
    def _sizes(self) -> Floats:
        """Size of every shift; -1 where it is not finite."""
        return np.where(np.isfinite(self.shifts), np.abs(self.shifts), -1.0)

    @property
    def largest(self) -> Shift | None:
        """The largest finite shift and who causes it; None when there is none."""
        fold, model = np.unravel_index(int(self._sizes.argmax()), self.shifts.shape)
        return None if self._sizes.max() < 0 else self.shift(int(fold), int(model))

    @property
    def finding(self) -> str:
        """What came out, as a sentence."""
        most, what = self.largest, self.what
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
        whole = len(known) == len(self.annotators)
        folds = f"{len(known)} folds" if whole else f"{count(len(known), 'fold')} with an order"
        return [f"{names} {keep} rank 1 in {int(stays)} of {folds}"]

    def rows(self) -> list[dict[str, Cell]]:
        """One plain dict per annotator and model."""
        columns: dict[str, Floats | Ints | None] = {
            "votes": self.votes,
            "items_lost": self.lost,
        }
        columns |= {"model": None, "value": self.values, "shift": self.shifts}
        columns |= {"low": self.low, "high": self.high}
        columns |= {"rank": self.ranks, "full_rank": self.full_ranks[None]}
        for name in ("spearman", "kendall_tau_b", "kappa"):
            columns[name] = getattr(self, name)
        axes = {"without": self.annotators, "model": self.models}
        return rows_of(self.named, axes, columns)

    def report(self) -> Finding:
        """The finding for every surface."""
        rows, what = self.rows(), self.what
        table = Table(
            name="leave_one_out",
            caption=f"Shift of {what} without one annotator",
            columns=(
                *columns(without="text", votes="count", model="model"),
                Column("value", what, "number", brief=False),
                Column("shift", f"shift of {what}", "change", ("low", "high")),
                Column("rank", "rank", "rank", brief=False),
                Column("spearman", "Spearman", "number"),
                Column("kendall_tau_b", "Kendall's tau-b", "number", brief=False),
                Column("kappa", "kappa of labels", "number"),
            ),
            rows=rows,
            brief=largest_by(rows, "without", "shift"),
            legend=LEGEND,
        )
        folds, compared = len(self.annotators), bool(np.isfinite(self.kappa).any())
        few = f" of the {count(folds)} with most votes" if folds < self.active else ""
        again = f"{scored_again(self.models)} without each annotator{few} in turn [@groger2025]"
        return Finding(
            key="leave_one_out",
            title=TITLE,
            sentence=self.finding,
            tables=(table,),
            charts=self._charts(),
            note=NOTE,
            methods=f"{again}{COMPARED if compared else '.'}",
            references=("groger2025", *["cohen1960"] * compared),
            notices=self.notices,
        )

    def _charts(self) -> tuple[Chart, ...]:
        """The largest shift without each annotator, and all; those who move most first."""
        size = self._sizes
        people = np.argsort(-size.max(axis=1), kind="stable")[:DRAWN]
        most = [self.shift(int(f), int(size[f].argmax())) for f in people]
        dots = Dots(
            name="leave-one-out",
            caption="Largest shift without each annotator; those who move most come first",
            axis=f"shift of {self.what}",
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
            caption=f"Shift of {self.what} of every model without each annotator",
            rows=self.models,
            columns=[self.annotators[f] for f in people],
            values=np.asarray(self.shifts[people].T, dtype=np.float64),
            scale="signed",
            row_models=True,
            x="without",
            texts=[[change(one) for one in line] for line in self.shifts[people].T.tolist()],
        )
        return dots, heat


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
        See `equipoise.study.analyses.options.AnalysisOptions`; replicates resample items.
    """
    found = affordable(study(predictions, annotations, how))
    who, load = _chosen(found, annotations)
    folds = [_fold(one, annotations, who) for one in found.subjects]
    values = mean_over_tasks([one.values for one in folds])
    full = mean_over_tasks([one.full() for one in found.subjects])
    low, high = found.ends(values - full, _shifts(found, folds), difference=True)
    good = higher_is_better(np.vstack([full, values]), found.metric.better).T
    ranks = average_ranks(good).T
    panel = good[:, 1:], np.broadcast_to(good[:, :1], good[:, 1:].shape)
    active, notices = int((load > 0).sum()), found.notices
    if active > len(who):
        share = float(load[who].sum() / load.sum())
        some = {"annotators": active, "most": len(who), "share": share}
        notices = (*notices, Notice("few_of_many_annotators", FEW_OF_MANY, (), some))
    return LeaveOneOut(
        **found.facts,
        annotators=tuple((annotations.annotators or ())[a] for a in who),
        votes=load[who],
        lost=np.sum([(one.present == 0).sum(axis=0) for one in folds], axis=0),
        full=full,
        full_ranks=ranks[0],
        values=values,
        ranks=ranks[1:],
        low=low,
        high=high,
        spearman=np.asarray(spearman(*panel)),
        kendall_tau_b=np.asarray(kendall_tau_b(*panel)),
        kappa=mean_over_tasks([one.kappa for one in folds]),
        active=active,
        notices=notices,
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
    if not len(active):
        got, do = "adjudicated gold for every item", "look at gold, which scores annotators"
        raise InputError("leave_one_out", got, "votes that count", do)
    order = active[np.argsort(-load[active], kind="stable")]
    return np.sort(order[:MOST]), load


def _fold(subject: TaskScorer, annotations: Annotations, who: Ints) -> _Folds:
    people = len(annotations.annotators or ())
    left = np.ones((people, len(who)), dtype=np.uint8)
    left[who, np.arange(len(who))] = 0
    shares, present = subject.panel(people).shares(left)
    values = subject.scored(shares, present).T
    labels, whole = _decided(shares, subject.question.shares, subject.question.ties)
    kappa = _kappa(labels, whole, present > 0)
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


def _decided(shares: list[Floats], full: Floats, ties: str) -> tuple[Ints, Ints]:
    """Codes of the hard labels of folds (items, folds), and of the whole panel (items,).

    Classes that share an item are a label of their own: equal ties are the same label.

    Examples
    --------
    >>> _decided([np.array([[0.5, 0.75]])], np.array([[0.5]]), "half")
    (array([[0, 1]]), array([0]))
    """
    both = [np.column_stack([one, all_]) for one, all_ in zip(shares, full, strict=True)]
    labels = np.stack(hard_labels(both, ties))
    every = np.packbits(np.concatenate([labels > 0, labels >= 1]), axis=0)
    _, code = np.unique(every.reshape(len(every), -1), axis=1, return_inverse=True)
    codes = code.reshape(labels.shape[1:])
    return codes[:, :-1], codes[:, -1]


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
